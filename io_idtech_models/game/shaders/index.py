"""Where in a script which name's body lies, found without reading the bodies.

A file is looked through by one regular expression for its braces. Real files have too many or too few of them (3 of
452): a game drops the file (ioquake3), or what follows, or reads on in the next file. Here a name that stands alone in
its line with a `/` in it, before a brace, begins anew also where the one before it is not closed; a brace too many is
left out. What was put up with is noted at the names that it may concern.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ..lexer import BLANKS, clean, fold, shown, unquoted

# Quake III's braces stand alone; here beside a blank or another brace: `}}`, `{map`. A name may hold one.
BRACES = re.compile(r'(?<![^\x01-\x20])"[^"\n]*"?|(?<![^\x01-\x20{}])[{}]|[{}](?![^\x01-\x20{}])')
BLANK = re.compile(r"[\x00-\x20]+")
DECL_BRACES = re.compile(r'"[^"\n]*"?|[{}]')
DECL_TYPES = frozenset((
    "table", "material", "skin", "sound", "entitydef", "mapdef", "fx", "particle", "articulatedfigure", "pda", "email",
    "video", "audio", "model", "export", "playermodel", "guide", "inlineguide", "camera", "modelexport",
))  # fmt: skip


@dataclass(frozen=True)
class Found:
    """A name, and where its body lies in a text: what stands between its braces."""

    kind: str  # of a declaration; of Quake III's "shader"
    name: str
    place: int  # of the name
    start: int
    end: int
    faults: tuple[str, ...] = ()


Head = tuple[str, str, int]  # kind, name, place


def scan(text: str) -> tuple[str, list[Found]]:
    """Return a shader script of Quake III's kin without its comments, and the shaders in it in order."""
    text = clean(text)
    return text, list(_scan(text, BRACES, _shader_head))


def scan_decls(text: str, default: str) -> tuple[str, list[Found]]:
    """Return a file of Doom 3's declarations without its comments, and these in order; `default` names their kind."""

    def head(text: str, start: int, end: int, lone: bool) -> Head | None:
        return _decl_head(text, start, end, lone, default)

    text = clean(text)
    return text, list(_scan(text, DECL_BRACES, head))


def _scan(text: str, braces: re.Pattern[str], read: Callable[[str, int, int, bool], Head | None]) -> Iterator[Found]:
    depth = start = last = 0
    head: Head | None = None
    for match in braces.finditer(text):
        if match[0] not in {"{", "}"}:
            continue
        place = match.start()
        if match[0] == "{":
            new = read(text, last, place, depth > 0)
            if depth and new is not None:
                if head is not None:
                    yield _found(head, start, new[2], "its closing brace is missing")
                depth = 0
            if not depth:
                head, start = new, place + 1
            depth += 1
        elif depth:
            depth -= 1
            if not depth and head is not None:
                yield _found(head, start, place)
        last = match.end()
    if depth and head is not None:
        yield _found(head, start, len(text), "its closing brace is missing")


def _found(head: Head, start: int, end: int, *faults: str) -> Found:
    return Found(*head, start, end, tuple(f"'{shown(head[1])}': {fault}" for fault in faults))


def _last_word(text: str, start: int, end: int) -> tuple[int, int, int]:
    """Return where the last word before a place begins and ends, and its line begins; no word is empty."""
    end = start + len(text[start:end].rstrip(BLANKS))
    line = max(text.rfind("\n", start, end) + 1, start)
    if end - line > 1 and text[end - 1] == '"':
        return max(text.rfind('"', line, end - 1), line), end, line
    return end - len(BLANK.split(text[line:end])[-1]), end, line


def _shader_head(text: str, start: int, end: int, lone: bool) -> Head | None:
    """Return the name before a brace; a `lone` one has to look like a shader's, and to stand alone in its line."""
    begin, end, line = _last_word(text, start, end)
    name = unquoted(text[begin:end])
    if not name or (lone and ("/" not in name or text[line:begin].strip(BLANKS))):
        return None
    return "shader", name, begin


def _decl_head(text: str, start: int, end: int, lone: bool, default: str) -> Head | None:
    begin, end, line = _last_word(text, start, end)
    name = unquoted(text[begin:end])
    before = [word for word in BLANK.split(text[line:begin]) if word]
    if not before and not lone and line > start:  # the type may stand in a line of its own
        other, stop, _ = _last_word(text, start, line)
        before = [text[other:stop]]
    kind = fold(before[-1]) if before else ""
    if not name or (lone and ("(" in name or "/" not in name or len(before) > (kind in DECL_TYPES))):
        return None
    return (kind if kind in DECL_TYPES else default), name, begin
