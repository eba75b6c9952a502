"""The options that an operator was called with, for another call of it."""

from __future__ import annotations

from collections.abc import Set
from typing import Any


def given_options(operator: Any, but: Set[str]) -> dict[str, Any]:
    """Return the options that an operator shows and that were set, apart from some."""
    shown = (prop.identifier for prop in operator.properties.bl_rna.properties if not prop.is_hidden)
    return {
        name: getattr(operator, name) for name in shown if operator.properties.is_property_set(name) and name not in but
    }


def options_of(operator: Any) -> dict[str, Any]:
    """Return the options of an operator that are other than usual, or were set, as a call of it takes them."""
    found: dict[str, Any] = {}
    for prop in operator.properties.bl_rna.properties:
        name = prop.identifier
        if name in {"rna_type", "interactive"}:
            continue
        value = getattr(operator, name)
        if prop.type == "COLLECTION":
            found[name] = [_items(item) for item in value]
        elif operator.properties.is_property_set(name) or value != prop.default:
            found[name] = value
    return {name: value for name, value in found.items() if value != []}


def _items(item: Any) -> dict[str, Any]:
    names = (prop.identifier for prop in item.bl_rna.properties if prop.identifier != "rna_type")
    return {name: getattr(item, name) for name in names}
