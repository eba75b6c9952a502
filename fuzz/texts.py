"""Mutations of id's texts, word by word."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

TOKEN = re.compile(rb'\s+|"[^"\n]*"?|[(){}]|[^\s(){}"]+')
NUMBER = re.compile(rb"[-+]?[0-9][0-9.eE+-]*$")
NUMBERS = (
    b"nan", b"-nan", b"inf", b"-inf", b"1e38", b"3.4028235e38", b"1e39", b"1e308", b"1e999", b"1e-46", b"-0.0", b"0",
    b"-1", b"1", b"2", b"63", b"64", b"4096", b"4097", b"65536", b"2147483647", b"2147483648", b"-2147483649",
    b"18446744073709551616", b"9" * 400, b"9" * 5000, b"0x10", b"1_000", b"1.5", b".", b"-", b"1e", b"1.0000001",
    b"0.70710678", b"1.01", b"0.99999999999",
)  # fmt: skip
WORDS = (
    b"{", b"}", b"(", b")", b'"', b'""', b"//", b"/*", b"*/", b"\0", b"\xff", b"\r", b"\x0b", b"\xc2\xa0", b"mesh",
    b"joints", b"vert", b"tri", b"weight", b"frame", b"numverts", b"bounds", b"MD5Version", b"numbones ", b"\\",
    b":", b",", b"[", b"null", b"true", b"NaN", b"scale_positions",
    b"tag_x", b"md3_x", b"map", b"x/y\n{", b"add(", b"time", b"implicitMap -", b"blendFunc", b"tcMod", b"alphaTest",
    b"animfile a.mdx {", b'#include "t.aninc"', b"characterDef {", b"skin",
    b"LEGS_RUN", b"nonsegmented", b"STARTANIMS", b"ENDANIMS",
    b"*MESH {", b"*GEOMOBJECT {", b"*MESH_NUMFACES", b"*MESH_TFACELIST {", b"*MESH_NORMALS {", b"*MATERIAL_REF",
    b"*GROUP", b"*SUBMATERIAL 1 {", b"*MESH_MTLID", b"*UVW_U_TILING", b"*TM_ROW1",
    b"*MESH_NUMCVERTEX", b"*MESH_CVERTLIST {", b"*MESH_CFACELIST {", b"*MESH_CFACE", b"*MESH_VERTCOL",
)  # fmt: skip
MOST = 1 << 18  # bytes that a repetition may come to


def mutated(data: bytes, rng: Random) -> bytes:
    """Return a text with one thing wrong."""
    change = rng.choice(CHANGES)
    if change in (_lines_repeated, _lines_dropped, _lines_swapped):
        return b"".join(change(data.splitlines(keepends=True) or [b"\n"], rng))
    tokens = TOKEN.findall(data) or [b" "]
    return b"".join(change(tokens, rng))


def _words(tokens: list[bytes]) -> list[int]:
    return [i for i, token in enumerate(tokens) if not token.isspace()] or [0]


def _number(tokens: list[bytes], rng: Random) -> list[bytes]:
    places = [i for i, token in enumerate(tokens) if NUMBER.match(token)]
    if places:
        # The first are counts.
        tokens[rng.choice(places[:12] if rng.random() < 0.3 else places)] = rng.choice(NUMBERS)
    return tokens


def _moved(tokens: list[bytes], rng: Random) -> list[bytes]:
    """Change a number that is no count to another: a text that can still be read."""
    places = [i for i, token in enumerate(tokens) if b"." in token and NUMBER.match(token)]
    for _ in range(min(len(places), rng.choice((1, 3, 20)))):
        tokens[rng.choice(places)] = b"%.9g" % (rng.uniform(-1, 1) * rng.choice((1, 1, 1e-3, 64, 1e-30, 1e30)))
    return tokens


def _nudged(tokens: list[bytes], rng: Random) -> list[bytes]:
    """Change a number a little: counts and indices that miss by one."""
    places = [i for i, token in enumerate(tokens) if token.lstrip(b"-").isdigit() and len(token) < 9]
    if places:
        place = rng.choice(places[:12] if rng.random() < 0.3 else places)
        tokens[place] = b"%d" % (int(tokens[place]) + rng.choice((1, -1, 2, -2, 100)))
    return tokens


def _swapped(tokens: list[bytes], rng: Random) -> list[bytes]:
    words = _words(tokens)
    a, b = rng.choice(words), rng.choice(words)
    tokens[a], tokens[b] = tokens[b], tokens[a]
    return tokens


def _repeated(tokens: list[bytes], rng: Random) -> list[bytes]:
    place = rng.choice(_words(tokens))
    times = min(rng.choice((2, 2, 3, 100, 20000)), MOST // (len(tokens[place]) + 1) + 1)
    tokens[place] = (rng.choice((b" ", b"")) if times > 3 else b" ").join([tokens[place]] * times)
    return tokens


def _dropped(tokens: list[bytes], rng: Random) -> list[bytes]:
    tokens[rng.choice(_words(tokens))] = b""
    return tokens


def _replaced(tokens: list[bytes], rng: Random) -> list[bytes]:
    tokens[rng.choice(_words(tokens))] = rng.choice(WORDS)
    return tokens


def _inserted(tokens: list[bytes], rng: Random) -> list[bytes]:
    times = rng.choice((1, 1, 1, 50, 10000))
    tokens.insert(rng.randrange(len(tokens) + 1), rng.choice((b" ", b"")).join([rng.choice(WORDS)] * times))
    return tokens


def _one_line(tokens: list[bytes], rng: Random) -> list[bytes]:
    blank = rng.choice((b" ", b"\t", b"\n\n\n", b"\r"))
    return [blank if token.isspace() else token for token in tokens]


def _lines_repeated(lines: list[bytes], rng: Random) -> list[bytes]:
    start, end = _span(lines, rng)
    part = lines[start:end]
    times = min(rng.choice((1, 1, 2, 500)), MOST // (sum(map(len, part)) + 1) + 1)
    return lines[:end] + part * times + lines[end:]


def _lines_dropped(lines: list[bytes], rng: Random) -> list[bytes]:
    start, end = _span(lines, rng)
    return lines[:start] + lines[end:]


def _lines_swapped(lines: list[bytes], rng: Random) -> list[bytes]:
    a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[a], lines[b] = lines[b], lines[a]
    return lines


def _span(lines: list[bytes], rng: Random) -> tuple[int, int]:
    start = rng.randrange(len(lines))
    return start, start + rng.choice((1, 1, 2, 5, 20))


CHANGES: tuple[Callable[[list[bytes], Random], list[bytes]], ...] = (
    _number, _number, _moved, _moved, _moved, _nudged, _nudged, _swapped, _repeated, _dropped, _replaced, _inserted,
    _one_line, _lines_repeated, _lines_dropped, _lines_swapped,
)  # fmt: skip
