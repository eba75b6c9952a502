"""What a game's log says of a model: what it complains about, and whether it loaded the model at all.

Facts: engines of the kin print, with `developer 1`, a line for each thing that they can't load or show, with the words
of `COMPLAINT` and the names of the files and shaders that it is about (R_LoadMD3, R_AddMD3Surfaces, R_FindShader,
ParseStage, RE_RegisterSkin, CG_ParseAnimationFile, ...); some name none (CG_RegisterClientModelname, RB_CheckOverflow).
Colours are `^` and a digit. `modellist` prints lines of bytes, frames and name (R_Modellist_f).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from ..lexer import fold, without_suffix

COLOR = re.compile(r"\^[0-9a-z]", re.IGNORECASE)
COMPLAINT = re.compile(
    r"warning|error|couldn't|could ?n[o']t|can(?:'t|not)|fail|\bbad\b|no such|not found|missing|unknown|ignor|wrong"
    r"|exceed|more than|too (?:long|many|large|big)|has no|without",
    re.IGNORECASE,
)
# What is said of no name in particular, and means that the model, or all, is not shown.
SEVERE = re.compile(
    r"failed to load (?:model|skin|animation)|skin load failure|CG_RegisterClientModelname|DEFAULT_(?:TEAM_)?MODEL"
    r"|SHADER_MAX_|MAX_QPATH|received signal|(?-i:^(?:Sys_Error|ERROR)\b)|hunk_alloc|VM_Create|wrong version number"
    r"|couldn't load (?:maps/|default\.cfg)|can't find map",
    re.IGNORECASE,
)
HARMLESS = re.compile(r"not present, using \S+ instead", re.IGNORECASE)  # a picture of another kind (R_LoadImage)
LOADED = re.compile(r"^\s*(\d+) : \(\s*\d+\) (\S+)\s*$", re.MULTILINE)
ENDED = re.compile(r"received signal", re.IGNORECASE)
WORD = re.compile(r"[^\s'\",:;()\[\]]+")
LONGEST = 200  # characters of a line that are shown


def lines_of(data: bytes, ended: bool = False) -> list[str]:
    """Return the lines of a log without colours, each once, in the order in which they come first.

    Of a game that was `ended` what it says of that is left out.
    """
    text = COLOR.sub("", data.decode("latin-1"))
    lines = ("".join(c if c.isprintable() else " " for c in line).strip() for line in text.splitlines())
    return list(dict.fromkeys(line for line in lines if line and not (ended and ENDED.search(line))))


def complaints(lines: Iterable[str], about: Collection[str]) -> list[str]:
    """Return the lines that complain about files or shaders, by `known` names, or about all that there is."""
    return [line[:LONGEST] for line in lines if SEVERE.search(line) or _names(line, about)]


def _names(line: str, about: Collection[str]) -> bool:
    if COMPLAINT.search(line) is None or HARMLESS.search(line):
        return False
    return any(known(word) in about for word in WORD.findall(line))


def known(name: str) -> str:
    """Return a file's or shader's name as engines compare it: in lower case, without extension, with slashes."""
    return without_suffix(fold(name.replace("\\", "/").strip(".,")))


def not_loaded(lines: Iterable[str], models: Iterable[str]) -> list[str] | None:
    """Return which models a game did not load; None if the log does not list any."""
    sizes: dict[str, int] = {}
    for line in lines:
        found = LOADED.match(line)
        if found:
            sizes[fold(found[2])] = max(int(found[1]), sizes.get(fold(found[2]), 0))
    return [model for model in models if not sizes.get(fold(model))] if sizes else None
