r"""Declarations of models changed or made, as text: an edit changes the lines that it is about and no other.

An animation is added behind the last one of its model, indented as that is; one that is there plays other files. A new
model inherits another one, so that nothing need be written into a file that is somebody else's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from ....reporting import LimitError
from ...lexer import BLANKS, DECL_WORDS, decl_key, decode, encode, fold, shown_name, unquoted
from ...shaders.index import Found, scan_decls
from .declarations import ENTITY, INHERIT, MODEL, MOST_FILES, NO_NAME, Anim, Body, read_model, words_of

PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")  # an animation's name; others could not be read again, or not played
BETWEEN = re.compile(r"\w+([ \t]+)")  # what parts `anim` from the name
INDENT = "\t"
LINE = re.compile(r"[^\n]+")


def with_anims(
    data: bytes,
    name: str,
    anims: Mapping[str, Sequence[str]],
    inherits: str = "",
    blocks: Mapping[str, Sequence[str]] | None = None,
) -> bytes:
    """Return a file of declarations in which a model has animations, by name the files that each plays.

    A model that is not there is added at the end; it inherits `inherits`, if that is given. `blocks` are lines between
    the braces of those animations that are new.

    Raises:
        LimitError: a name can't be written in such a file, the file's encoding lacks a letter, or what it leaves open
            would take in what is added, or what follows would undo it.
    """
    for anim, files in anims.items():
        _check(anim, files)
    text, encoding = decode(data)
    found = _found(text, name)
    said = _checked(blocks or {})
    text = _added(text, name, anims, inherits, said) if found is None else _changed(text, found, anims, said)
    if any(each.faults for each in scan_decls(text, ENTITY)[1]) or not _has(text, name, anims):
        raise LimitError(
            "the file's braces, parentheses or quotes are not closed: mend it, then animations can be added"
        )
    return encode(text, encoding, "the file")


def with_blocks(data: bytes, name: str, blocks: Mapping[str, Sequence[str]]) -> bytes:
    """Return a file of declarations in which animations that a model declares itself have other lines in their blocks.

    A line that means the same as one of before is spelt as that is.

    Raises:
        LimitError: a line can't stand there, or has letters that the file's encoding lacks.
    """
    text, encoding = decode(data)
    found = _found(text, name)
    if found is None:
        return data
    said, changes, plain = _checked(blocks), [], scan_decls(text, ENTITY)[0]
    for each in _body(text, found).statements:
        if each.anim is None or each.anim.name not in said:
            continue
        start, end = found.start + each.anim.span[1], found.start + each.end
        line = text[text.rfind("\n", 0, found.start + each.start) + 1 : found.start + each.start]
        indent = line if not line.strip(" \t") else INDENT
        before = [(each[0], text[each.start() : each.end()]) for each in LINE.finditer(plain, start, end)]
        own = {_meant(bare): bare if "*" in old else old for bare, old in before}  # with the comment of its line
        lines = [f"{indent}{INDENT}{own.get(_meant(new), new).strip()}" for new in said[each.anim.name]]
        changes.append((start, end, _line_end(text).join([" {", *lines, f"{indent}}}"]) if lines else ""))
    for start, end, instead in sorted(changes, reverse=True):
        text = text[:start] + instead + text[end:]
    return encode(text, encoding, "the file")


def with_skin(data: bytes, kind: str, name: str, skin: str) -> bytes:
    """Return a file of declarations in which an entity or a model, of the `kind`, wears a skin.

    Raises:
        LimitError: the skin's name can't be written there.
    """
    text, encoding = decode(data)
    plain, every = scan_decls(text, ENTITY)
    found = next((each for each in every if each.kind == kind and decl_key(each.name) == decl_key(name)), None)
    if found is None:
        return data
    if '"' in skin:
        raise LimitError(f"'{skin}' can't be written in a declaration: it has a quote in it")
    body, value = plain[found.start : found.end], f"skin {_spelt(skin)}" if kind == MODEL else f'"{skin}"'
    if kind == MODEL:
        there = [(each.start, each.end) for each in read_model(body).statements if each.word == "skin"]
    else:
        words = [word for word in words_of(body, 1) if not word.is_brace]
        pairs = zip(words[::2], words[1::2], strict=False)
        there = [(word.start, word.end) for key, word in pairs if fold(unquoted(key.text)) == "skin"]
    if there:  # the last counts
        start, end = (found.start + place for place in there[-1])
    else:
        start = end = found.start + len(body.rstrip())
        line = text[text.rfind("\n", 0, start) + 1 : start]
        indent = line[: len(line) - len(line.lstrip(" \t"))] or INDENT
        value = value if kind == MODEL else f'"skin"{INDENT}{value}'
        value = _line_end(text) + indent + value
        value += "" if "\n" in text[end : found.end] else _line_end(text)
    return encode(text[:start] + value + text[end:], encoding, "the file")


def _meant(line: str) -> str:
    """Return a line of a block as it is compared."""
    return " ".join(line.split())


def _checked(blocks: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return lines of blocks, without empty ones; raises LimitError for one that can't stand there."""
    said = {anim: [each for each in lines if each.strip()] for anim, lines in blocks.items()}
    for line in (each for lines in said.values() for each in lines):
        if any(letter in line for letter in "{}\n\r\0") or line.count('"') % 2 or "/*" in line:
            raise LimitError(f"'{line}' can't stand in the block of an animation")
    return said


def _has(text: str, name: str, anims: Mapping[str, Sequence[str]]) -> bool:
    """Tell whether animations are there as they were meant."""
    found = _found(text, name)
    if found is None:
        return False
    there = {anim.name: anim.files for anim in reversed(_anims(_body(text, found)))}
    return all(there.get(anim) == tuple(files) for anim, files in anims.items())


def _body(text: str, found: Found) -> Body:
    return read_model(scan_decls(text, ENTITY)[0][found.start : found.end])


def has_model(data: bytes, name: str) -> bool:
    """Tell whether a file declares a model."""
    return _found(decode(data)[0], name) is not None


def declares(data: bytes, name: str, anim: str) -> bool:
    """Tell whether a file declares an animation of a model with its files, by that model itself."""
    text = decode(data)[0]
    found = _found(text, name)
    return found is not None and any(each.name == anim and each.files for each in _anims(_body(text, found)))


def _check(anim: str, files: Sequence[str]) -> None:
    if not PLAIN.match(anim) or NO_NAME.match(anim):
        raise LimitError(f"'{anim}' can't be the name of an animation: take letters, digits and '_', two letters first")
    if not 0 < len(files) <= MOST_FILES:
        raise LimitError(f"the animation '{anim}' has {len(files)} files: a game takes 1 to {MOST_FILES}")
    for file in files:
        _spelt(file)


def _spelt(name: str) -> str:
    """Return a file's or a declaration's name as such a file spells it; raises LimitError for what none can hold."""
    if not name or any(letter in name for letter in '"\n\r\0'):
        raise LimitError(f"'{name}' can't be written in a declaration: it is empty, or has a quote or a line end in it")
    return name if DECL_WORDS.findall(name) == [name] and not name.startswith(("/", "-")) else f'"{name}"'


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _found(text: str, name: str) -> Found | None:
    """Return where a model is declared, the first time."""
    key = decl_key(name)
    found = scan_decls(text, ENTITY)[1]
    return next((each for each in found if each.kind == MODEL and decl_key(each.name) == key), None)


def _added(
    text: str, name: str, anims: Mapping[str, Sequence[str]], inherits: str, blocks: Mapping[str, Sequence[str]]
) -> str:
    """Return a text with another model at its end, before a NUL that ends it."""
    end, before = _line_end(text), text.partition("\0")[0]
    lines = [f"model {_spelt(name)}", "{"]
    lines += [f"{INDENT}inherit {_spelt(inherits)}"] if inherits else []
    for anim, files in anims.items():
        lines += _lines(anim, files, blocks.get(anim, ()), INDENT)
    apart = "" if not before.strip(BLANKS) else end if before.endswith("\n") else end * 2
    return before + apart + end.join([*lines, "}", ""]) + text[len(before) :]


def _lines(anim: str, files: Iterable[str], block: Sequence[str], indent: str, between: str = " ") -> list[str]:
    """Return the lines of a new animation."""
    line = f"{indent}anim{between}{anim}{between}{', '.join(map(_spelt, files))}"
    return [f"{line} {{", *(f"{indent}{INDENT}{each}" for each in block), f"{indent}}}"] if block else [line]


def _changed(text: str, found: Found, anims: Mapping[str, Sequence[str]], blocks: Mapping[str, Sequence[str]]) -> str:
    """Return a text in which a model that it declares has animations."""
    body = _body(text, found)
    words = [each.word for each in body.statements]
    if INHERIT in words[words.index("anim") if "anim" in words else len(words) :]:
        raise LimitError(
            f"the model '{shown_name(found.name)}' says 'inherit' behind animations, which undoes them: put it first"
        )
    there = {anim.name: anim for anim in reversed(_anims(body))}  # of two of a name the first counts
    changes = []  # from where to where, and what instead
    for name, files in anims.items():
        own = there.get(name)
        if own is not None and own.files and own.files != tuple(files):
            first, last = (found.start + place for place in own.span)
            changes.append((first, last, ", ".join(map(_spelt, files))))
    new = [(name, files) for name, files in anims.items() if name not in there or not there[name].files]
    if new:
        changes.append(_insertion(text, found, body, new, blocks))
    for first, last, instead in sorted(changes, reverse=True):
        text = text[:first] + instead + text[last:]
    return text


def _anims(body: Body) -> list[Anim]:
    return [each.anim for each in body.statements if each.anim is not None]


def _insertion(
    text: str,
    found: Found,
    body: Body,
    new: list[tuple[str, Sequence[str]]],
    blocks: Mapping[str, Sequence[str]],
) -> tuple[int, int, str]:
    """Return where lines of new animations go, twice, and these lines."""
    end = _line_end(text)
    after = next((each for each in reversed(body.statements) if each.anim is not None), None)
    after = after or next(iter(reversed(body.statements)), None)
    if after is None:
        place, indent, between = found.start, INDENT, " "
    else:
        start, place = found.start + after.start, found.start + after.end
        line = text.rfind("\n", 0, start) + 1
        indent = text[line:start] if not text[line:start].strip(" \t") else INDENT
        match = BETWEEN.match(text, start, place) if after.anim is not None else None
        between = " " if match is None else match[1]
    # What else stands in that line, a comment mostly, goes with what is there.
    stop = text.find("\n", place, found.end)
    rest = text[place : found.end if stop < 0 else stop]
    added = [_lines(name, files, blocks.get(name, ()), indent, between) for name, files in new]
    lines = end.join(line for each in added for line in each)
    if stop < 0 or _ends_within(rest):
        return place, place, end + lines + (end if text[place : found.end].strip(BLANKS) or stop < 0 else "")
    place = stop - rest.endswith("\r")
    return place, place, end + lines


def _ends_within(rest: str) -> bool:
    """Tell whether what follows in a line is more than blanks and a comment that ends with it."""
    rest = rest.strip(BLANKS)
    return bool(rest) and not rest.startswith("//")
