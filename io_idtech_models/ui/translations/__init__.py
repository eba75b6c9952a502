"""What the window says in other languages than English: a file of texts each, by the English ones.

In a file `texts` are the translations, `same` lists what stays as it is, as names do. It is read when Blender speaks
its language: nobody else waits for it.

Blender asks its own catalogue first, and then those of extensions. It asks for labels of operators in the context
"Operator", and for all else in "*"; what would get a wrong word of Blender's own (its German calls a mesh "Masche") is
drawn in our context.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import bpy

from ...blender.compat import Context

_translations: Any = bpy.app.translations  # the stubs know little of it
_handlers: Any = bpy.app.handlers
CONTEXT = "idtech"
CONTEXTS = ("*", "Operator", CONTEXT)
LANGUAGES = {"de_DE": "german", "de": "german"}  # Blender 4.2 says de_DE, later ones de
AUTOMATIC = "DEFAULT"  # as the system does
_given = {"package": "", "language": ""}  # whose texts Blender has now, and of which of our files


def read(name: str) -> dict[str, Any]:
    """Return a language's file; its keys are in the module's docstring."""
    found: dict[str, Any] = json.loads((Path(__file__).parent / f"{name}.json").read_text(encoding="utf-8"))
    return found


def _spoken() -> str:
    """Return the name of the file of the language that Blender speaks, or ""."""
    context: Context = bpy.context
    language = context.preferences.view.language
    return LANGUAGES.get(_translations.locale if language == AUTOMATIC else language, "")


def register(package: str) -> None:
    """Give Blender the texts of the language that it speaks, now and whenever that becomes another."""
    _given["package"] = package
    _handlers.translation_update_post.append(_handlers.persistent(_follow))
    _follow()


def _follow(*_ignored: object) -> None:
    """Give Blender the texts of a language that it has begun to speak."""
    name = _spoken()
    if not name or name == _given["language"]:
        return
    if _given["language"]:
        _translations.unregister(_given["package"])
    texts = {(context, said): own for context in CONTEXTS for said, own in read(name)["texts"].items()}
    _translations.register(_given["package"], {each: texts for each, file in LANGUAGES.items() if file == name})
    _given["language"] = name


def unregister() -> None:
    """Take them back."""
    _handlers.translation_update_post.remove(_follow)
    if _given["language"]:
        _translations.unregister(_given["package"])
    _given["language"] = ""


def say(text: str, **values: object) -> str:
    """Return a text in the interface's language, with values for its {placeholders}."""
    return str(_translations.pgettext_iface(text, CONTEXT)).format(**values)


def tip(text: str) -> str:
    """Return a text for a tooltip, which users may want in English where labels are not."""
    return str(_translations.pgettext_tip(text))
