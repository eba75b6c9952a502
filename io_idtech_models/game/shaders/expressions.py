"""Expressions of Doom 3's materials: numbers, what the game knows (`time`, `parm3`), tables, and operators.

Facts (`idMaterial::ParseTerm` and `ParseExpressionPriority` of dhewm3): `* / %` bind closer than `+ -`, these closer
than comparisons, these closer than `&& ||`, and among equals the right side comes first: `8 - 4 - 2` is 6. `%` works
on whole numbers, and by 0 as by 1. A comparison is 1 or 0.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable

from ..lexer import NUMBER, Cursor, fold, number

MOST_WORDS = 4096  # MAX_EXPRESSION_OPS
SIGNS = {
    "*": 4, "/": 4, "%": 4, "+": 3, "-": 3, ">": 2, ">=": 2, "<": 2, "<=": 2, "==": 2, "!=": 2, "&&": 1, "||": 1,
}  # fmt: skip
RESULTS: dict[str, Callable[[float, float], float]] = {
    "*": operator.mul, "+": operator.add, "-": operator.sub, ">": operator.gt, ">=": operator.ge, "<": operator.lt,
    "<=": operator.le, "==": operator.eq, "!=": operator.ne, "&&": lambda a, b: bool(a) and bool(b),
    "||": lambda a, b: bool(a) or bool(b),
}  # fmt: skip
# What the game knows, while nothing happens: a thing's colour is white, all else is 0.
AT_REST = {
    "time": 0.0, "sound": 0.0, "fragmentprograms": 1.0, **{f"parm{nth}": float(nth < 4) for nth in range(12)},
    **{f"global{nth}": 0.0 for nth in range(8)},
}  # fmt: skip
CONSTANT = frozenset(("fragmentprograms",))


def read(words: Cursor) -> list[str]:
    """Return the words of the expression that begins with the next one, and go on behind it."""
    found: list[str] = []
    closing: list[str] = []
    wanted = True  # a term
    while len(found) < MOST_WORDS:
        word = words.word()
        if wanted and word in {"(", "-"}:
            closing += [")"] if word == "(" else []
        elif wanted and _is_term(word):
            wanted = False
        elif not wanted and word == "[":
            closing.append("]")
            wanted = True
        elif not wanted and closing and word == closing[-1]:
            closing.pop()
        elif not wanted and word in SIGNS:
            wanted = True
        else:
            words.back()
            break
        found.append(word)
    return found


def _is_term(word: str) -> bool:
    return bool(NUMBER.fullmatch(word)) or (word[:1].isalpha() or word[:1] in {"_", "."})


def is_constant(words: list[str]) -> bool:
    """Tell whether an expression is the same at all times."""
    return not any(word[:1].isalpha() or word[:1] == "_" for word in words if fold(word) not in CONSTANT)


def at_rest(name: str) -> float | None:
    """Return what something that the game knows is while nothing happens; None for what it does not know."""
    return AT_REST.get(fold(name))


def value(words: list[str], known: Callable[[str], float | None] = at_rest) -> float | None:
    """Return what an expression comes to, at rest; None where a table or a name is not known, or it has no value."""
    if "[" in words:
        return None
    values: list[float] = []
    signs: list[str] = []
    before = "("
    for word in words:
        if word == "(":
            signs.append(word)
        elif word == "-" and before in {*SIGNS, "("}:
            signs.append("negative")
        elif word == ")":
            if not _applied(values, signs, 0) or not signs:
                return None
            signs.pop()
        elif word in SIGNS:
            if not _applied(values, signs, SIGNS[word]):
                return None
            signs.append(word)
        else:
            term = number(word) if NUMBER.fullmatch(word) else known(word)
            if term is None:
                return None
            negative = bool(signs) and signs[-1] == "negative"
            values.append(-term if negative else term)
            del signs[len(signs) - negative :]
        before = word
    return values[0] if _applied(values, signs, 0) and len(values) == 1 and not signs else None


def _applied(values: list[float], signs: list[str], level: int) -> bool:
    """Apply what binds closer than a level, up to an open parenthesis; returns whether that could be done."""
    while signs and signs[-1] in SIGNS and SIGNS[signs[-1]] > level:
        if len(values) < 2:
            return False
        right, left = values.pop(), values.pop()
        result = _result(signs.pop(), left, right)
        if result is None or not math.isfinite(result):
            return False
        values.append(result)
    return not (signs and signs[-1] == "negative")


def _result(sign: str, left: float, right: float) -> float | None:
    if sign == "/":
        return left / right if right else None
    if sign == "%":
        return math.fmod(int(left), int(right) or 1)
    return float(RESULTS[sign](left, right))
