"""Properties by their data paths, as F-curves name them: `a.b["c"].d`, or custom ones, `a.b["c"]["d"]`."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

import bpy

from .compat import Block

CUSTOM = re.compile(r'(.*)\["((?:[^"\\]|\\.)*)"\]\Z')


def value_at(owner: Block, path: str) -> Any:
    """Return what a property is, arrays as tuples; None if there is none, as where a curve is left over."""
    with suppress(ValueError, TypeError, ReferenceError):
        value = owner.path_resolve(path)
        return value if isinstance(value, bool | int | float | str) else tuple(value)
    return None


def set_value(owner: Block, path: str, value: Any) -> None:
    """Set a property; some can be animated, but not set, and stay as they are, as does what was removed."""
    with suppress(ValueError, TypeError, AttributeError, ReferenceError):
        holder, name = _holder(owner, path)
        if CUSTOM.match(path):
            holder[name] = value
        else:
            setattr(holder, name, value)


def reset_value(owner: Block, path: str) -> None:
    """Give a property its default; a custom one has it where Blender shows it, and else stays."""
    with suppress(ValueError, TypeError, AttributeError, KeyError):
        holder, name = _holder(owner, path)
        if CUSTOM.match(path):
            value, default = holder[name], holder.id_properties_ui(name).as_dict()["default"]
            # Of an array without defaults of its own Blender says one number.
            is_one = hasattr(value, "to_list") and isinstance(default, bool | int | float)
            holder[name] = [default] * len(value) if is_one else default
            return
        kind = holder.bl_rna.properties[name]
        setattr(holder, name, kind.default_array if kind.is_array else kind.default)


def _holder(owner: Block, path: str) -> tuple[Any, str]:
    """Return what has a property, and what that calls it."""
    custom = CUSTOM.match(path)
    if custom is not None:
        return owner.path_resolve(custom[1]) if custom[1] else owner, bpy.utils.unescape_identifier(custom[2])
    place, _, name = path.rpartition(".")
    return owner.path_resolve(place) if place else owner, name
