"""Which languages the interface speaks, besides English: a folder each, of tables by the English texts."""

from __future__ import annotations

from .german import editing, formats, games, motions, options, panel, players

GERMAN = (editing, formats, games, motions, options, panel, players)
LANGUAGES = {"de_DE": GERMAN, "de": GERMAN}  # Blender 4.2 says de_DE, later ones de


def texts_of(language: str) -> dict[str, str]:
    """Return a language's texts by what they stand for."""
    return {msgid: text for part in LANGUAGES[language] for msgid, text in part.TEXTS.items()}
