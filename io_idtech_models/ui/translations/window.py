"""The tables, as Blender looks texts up in them: by a context and the English text.

Blender asks its own catalogue first, and then those of extensions. It asks for labels of operators in the context
"Operator", and for all else in "*"; what would get a wrong word of Blender's own (its German calls a mesh "Masche") is
drawn in our context.
"""

from __future__ import annotations

from typing import Any

import bpy

from . import languages

_translations: Any = bpy.app.translations  # the stubs know little of it
CONTEXT = "idtech"
CONTEXTS = ("*", "Operator", CONTEXT)


def register(package: str) -> None:
    """Give Blender the texts of all languages; a Blender that was built without languages ignores them."""
    made: dict[int, dict[tuple[str, str], str]] = {}  # of languages that have two names
    tables = {}
    for language, parts in languages.LANGUAGES.items():
        if id(parts) not in made:
            texts = languages.texts_of(language)
            made[id(parts)] = {(context, msgid): text for context in CONTEXTS for msgid, text in texts.items()}
        tables[language] = made[id(parts)]
    _translations.register(package, tables)


def unregister(package: str) -> None:
    """Take them back."""
    _translations.unregister(package)


def say(text: str, **values: object) -> str:
    """Return a text in the interface's language, with values for its {placeholders}."""
    return str(_translations.pgettext_iface(text, CONTEXT)).format(**values)


def tip(text: str) -> str:
    """Return a text for a tooltip, which users may want in English where labels are not."""
    return str(_translations.pgettext_tip(text))
