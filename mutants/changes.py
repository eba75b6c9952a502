"""Small changes of Python code that ought to change what it does: what a run of `build.py mutate` chooses from.

What only words a message, a type or a speed is left out, since no test need notice it: annotations, `raise` and
`assert`, f-strings, logging, decorators, `__repr__`, and the keywords in `QUIET_KEYWORDS`. So is what changes nothing:
what is multiplied by 1 or -1 may be divided by it, `reshape` takes any negative number for "as long as need be", and
nothing depends on how much is done at once (`QUIET_NAMES`). A round number that says how much is taken at most is
our own choice, of which one more is as good: it becomes a number that is none.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeGuard

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
}
TWINS = (("any", "all"), ("min", "max"), ("minimum", "maximum"), ("argmin", "argmax"), ("floor", "ceil"))
NAMES = {one: other for pair in TWINS for one, other in (pair, pair[::-1])}
QUIET_KEYWORDS = {"strict", "copy", "stacklevel", "maxsize", "slots", "frozen", "repr", "init"}
QUIET_NAMES = {"CHUNK", "BLOCK", "AT_ONCE", "MOST_SHOWN"}  # the last: characters of a file in a message
LIMITS, FAR_MORE = ("MOST_", "MAX_"), 64
QUIET_CALLS = {"debug", "info", "warning", "error", "cast", "TypeVar"}
QUIET = (ast.Raise, ast.Assert, ast.JoinedStr, ast.Import, ast.ImportFrom)

Edit = Callable[[], None]


@dataclass(frozen=True)
class Mutant:
    """One change: the `number`-th that a file's text allows."""

    path: str
    number: int
    lines: tuple[int, int]  # of the statement's own expressions, first and last
    what: str  # "a < b -> a <= b"
    at_import: bool = False  # what it changes is computed once, when its module is imported or first asked for it

    def __str__(self) -> str:
        return f"{self.path}:{self.lines[0]}: {self.what}"


def mutants(path: str, text: str) -> list[Mutant]:
    """List all changes that a file allows."""
    found, tree = [], ast.parse(text)
    functions = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    bodies = [node.body for node in functions if not any(map(_is_kept, node.decorator_list))]
    late = {line for body in bodies for line in range(body[0].lineno, (body[-1].end_lineno or 0) + 1)}
    for number, (statement, node, edit) in enumerate(_changes(tree)):
        before = ast.unparse(node)
        restore = _kept(node)
        edit()
        what = f"{_short(before)} -> {_short(ast.unparse(node))}"
        restore()
        found.append(Mutant(path, number, _lines(statement), what, statement.lineno not in late))
    return found


def mutated(text: str, number: int) -> str:
    """Return a file's text with one change made."""
    tree = ast.parse(text)
    edit = next(edit for i, (_, _, edit) in enumerate(_changes(tree)) if i == number)
    edit()
    return ast.unparse(tree)


def _is_kept(decorator: ast.expr) -> bool:
    """Return whether what a function returns is computed once."""
    return isinstance(decorator, ast.Name) and decorator.id == "cache"


def _kept(node: ast.AST) -> Edit:
    """Return what takes back a change of this node's own fields."""
    fields = {name: list(value) if isinstance(value, list) else value for name, value in vars(node).items()}
    kind = node.__class__

    def restore() -> None:
        node.__class__ = kind
        vars(node).clear()
        vars(node).update(fields)

    return restore


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 70 else line[:67] + "..."


def _lines(statement: ast.stmt) -> tuple[int, int]:
    """Return the lines of a statement without the block that it heads."""
    body = getattr(statement, "body", None)
    last = body[0].lineno - 1 if body else statement.end_lineno or statement.lineno
    return statement.lineno, max(statement.lineno, last)


def _changes(tree: ast.Module) -> Iterator[tuple[ast.stmt, ast.AST, Edit]]:
    """Walk a file in its order: the statement, the node to be changed, and the change."""
    for statement in tree.body:
        yield from _walk(statement, statement)


def _walk(node: ast.AST, statement: ast.stmt) -> Iterator[tuple[ast.stmt, ast.AST, Edit]]:
    if _is_quiet(node):
        return
    if isinstance(node, ast.stmt):
        statement = node
    if _is_limit(node):
        yield statement, node, _set(node, value=ast.BinOp(node.value, ast.Mult(), ast.Constant(FAR_MORE)))
        return
    for edit in _edits(node):
        yield statement, node, edit
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns", "decorator_list"}:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.UnaryOp) and _is_call(node, "reshape"):
                yield from ((statement, child, edit) for edit in _edits(child))
            elif isinstance(child, ast.AST):
                yield from _walk(child, statement)


def _is_quiet(node: ast.AST) -> bool:
    """Return whether nothing below a node is behaviour that a test should ask for."""
    match node:
        case ast.FunctionDef(name="__repr__") | ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name in QUIET_NAMES
        case ast.keyword(arg=name):
            return name in QUIET_KEYWORDS
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)):
            return name in QUIET_CALLS
        case ast.Expr(value=ast.Call() as call):
            return _is_quiet(call)
    return isinstance(node, QUIET)


def _is_limit(node: ast.AST) -> TypeGuard[ast.Assign]:
    """Return whether a statement says how much of something is taken at most, as a number that is round."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=int(number))):
            return name.startswith(LIMITS) and number >= 1000 and number % 1000 == 0
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.BinOp(op=ast.LShift())):
            return name.startswith(LIMITS)
    return False


def _edits(node: ast.AST) -> list[Edit]:
    """Return the changes of one node's own fields."""
    return EDITS[type(node)](node) if type(node) in EDITS else []


def _of_arithmetic(node: ast.BinOp | ast.AugAssign) -> list[Edit]:
    sides = (node.left, node.right) if isinstance(node, ast.BinOp) else (node.value,)
    # By a text it joins a path or a sentence, and nothing but a crash comes of another operator.
    if any(isinstance(side, ast.JoinedStr) or isinstance(getattr(side, "value", None), (str, bytes)) for side in sides):
        return []
    if isinstance(node.op, (ast.Mult, ast.Div)) and _is_sign(sides[-1]):
        return []
    return [_set(node, op=ARITHMETIC[type(node.op)]())] if type(node.op) in ARITHMETIC else []


def _is_call(node: ast.AST | None, *names: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in names


def _is_sign(node: ast.AST | None) -> bool:
    """Return whether a node is 1 or -1, a choice of such, an array of them, or what `np.sign` says: 0 alone is none."""
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _is_sign(operand)
        case ast.Call(args=[*_, one, other]) if _is_call(node, "where"):
            return _is_sign(one) and _is_sign(other)
        case ast.Call(args=[values]) if _is_call(node, "array"):
            return _is_sign(values)
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            return all(map(_is_sign, parts))
        case ast.Subscript(value=value):
            return _is_sign(value)
    is_one = isinstance(node, ast.Constant) and node.value == 1 and not isinstance(node.value, bool)
    return is_one or _is_call(node, "sign")


def _of_constant(node: ast.Constant) -> list[Edit]:
    if isinstance(node.value, bool):
        return [_set(node, value=not node.value)]
    if not isinstance(node.value, (int, float)) or node.value + 1 == node.value:  # the latter: 1e36 and the like
        return []
    return [_set(node, value=node.value + 1)]


def _of_call(node: ast.Call) -> list[Edit]:
    match node.func:
        case ast.Name(id=name, ctx=ctx) if name in NAMES:
            return [_set(node, func=ast.Name(NAMES[name], ctx))]
        case ast.Attribute(value=owner, attr=name, ctx=ctx) if name in NAMES:
            return [_set(node, func=ast.Attribute(owner, NAMES[name], ctx))]
    return []


def _of_axis(node: ast.keyword) -> list[Edit]:
    if node.arg == "axis" and isinstance(node.value, ast.Constant) and isinstance(node.value.value, int):
        return [_set(node, value=ast.Constant(0 if node.value.value else 1))]
    return []


def _of_if(node: ast.If) -> list[Edit]:
    plain = isinstance(node.test, (ast.Name, ast.Attribute, ast.Call))  # others have changes of their own
    return [_set(node, test=ast.UnaryOp(ast.Not(), node.test))] if plain else []


def _set(node: ast.AST, **fields: object) -> Edit:
    return lambda: vars(node).update(fields)


def _put(node: ast.Compare, i: int, new: type[ast.cmpop]) -> Edit:
    def edit() -> None:
        node.ops[i] = new()

    return edit


def _become(node: ast.AST, other: ast.AST) -> Edit:
    """Change a node into another where it stands, so that what holds it need not be known."""

    def edit() -> None:
        node.__class__ = other.__class__
        vars(node).clear()
        vars(node).update(vars(other))

    return edit


EDITS: dict[type[ast.AST], Callable[[Any], list[Edit]]] = {
    ast.Compare: lambda n: [_put(n, i, new) for i, op in enumerate(n.ops) for new in COMPARISONS[type(op)]],
    ast.BoolOp: lambda n: [_set(n, op=ast.Or() if isinstance(n.op, ast.And) else ast.And())],
    ast.BinOp: _of_arithmetic,
    ast.AugAssign: _of_arithmetic,
    ast.UnaryOp: lambda n: [_become(n, n.operand)],
    ast.Constant: _of_constant,
    ast.keyword: _of_axis,
    ast.Slice: lambda n: [_set(n, **{side: None}) for side in ("lower", "upper") if getattr(n, side) is not None],
    ast.IfExp: lambda n: [_set(n, body=n.orelse, orelse=n.body)],
    ast.Call: _of_call,
    ast.If: _of_if,
    ast.Return: lambda n: [_set(n, value=None)] if n.value and not isinstance(n.value, ast.Constant) else [],
    ast.Expr: lambda n: [_become(n, ast.Pass())] if isinstance(n.value, ast.Call) else [],
    ast.Continue: lambda n: [_become(n, ast.Break())],
    ast.Break: lambda n: [_become(n, ast.Continue())],
}
