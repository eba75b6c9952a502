"""The shape of the house: who may import whom, how long a function may be, what the table of formats must hold.

The package is only parsed here, never imported with Blender.
"""

import ast
import dataclasses
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from io_idtech_models.formats import ROWS, VERTEX, Format
from io_idtech_models.model.limits.games import GAMES
from tests.samples import PROJECT
from tests.small_files import SAMPLES

PACKAGE = PROJECT / "io_idtech_models"
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if "presets" not in path.parts)  # which Blender reads
LONGEST_FUNCTION, LONGEST_MODULE = 60, 600  # smells, not aims
# Modules that only exist inside Blender.
BLENDER = {
    "addon_utils", "aud", "bgl", "bl_math", "bl_operators", "bl_ui", "blf", "bmesh", "bpy", "bpy_extras",
    "bpy_restrict_state", "bpy_types", "cycles", "freestyle", "gpu", "gpu_extras", "idprop", "imbuf", "io_scene_fbx",
    "io_scene_gltf2", "mathutils", "rna_prop_ui",
}  # fmt: skip
CODECS = {f"formats/{path.parent.name}" for path in PACKAGE.glob("formats/*/*file.py")}
# What each room of the package may import besides itself and `reporting`; a room in a room first asks for its own row.
MAY_IMPORT = {
    "reporting": set(),
    "model": set(),
    "game": {"model"},
    "formats": {"formats/codecs", "model"},
    "formats/codecs": CODECS | {"model"},
    "formats/common": {"model"},
    **{codec: {"formats/common", "model"} for codec in CODECS},
    "formats/mdm": {"formats/common", "formats/mdx", "model"},  # the skeleton of an MDM is an MDX's
    "assets": {"formats", "game", "model"},
    "blender": {"model"},
    "blender/mesh": {"blender", "model"},
    "blender/shading": {"blender", "model"},
    "blender/vertex": {"blender", "blender/mesh", "blender/shading", "model"},
    "blender/skeletal": {"blender", "blender/mesh", "blender/shading", "model"},
    "blender/player": {"blender", "blender/mesh", "blender/vertex", "model"},
    "blender/rigging": {"blender", "blender/mesh", "blender/player", "blender/skeletal", "blender/vertex", "model"},
    "blender/exchange": {"blender", "blender/mesh", "blender/vertex", "assets", "model"},
    "tasks": {"assets", "blender", "formats", "game", "model"},
    "cli": {"assets", "formats", "game", "model"},
    "ui": {"assets", "blender", "cli", "formats", "game", "model", "tasks"},
    "library": {"assets", "formats", "game", "model"},
    "__main__": {"cli"},
    "__init__": {"ui"},
}


@cache
def tree(path: Path) -> Any:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


@cache
def nodes(path: Path) -> list[Any]:
    return list(ast.walk(tree(path)))


@cache
def room(path: Path) -> str:
    """Return the room that a module belongs to, the deepest that has a row of its own."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    rooms = ["/".join(parts[: length + 1]) for length in range(len(parts))]
    return next((name for name in reversed(rooms) if name in MAY_IMPORT), rooms[0])


def is_allowed(own: str, other: str) -> bool:
    """Tell whether a room may import another: a row that names one names what lies in it, but for rows of their own."""
    allowed = MAY_IMPORT[own] | {own, "reporting"}
    whole = other.split("/", maxsplit=1)[0]
    return other in allowed or (whole in allowed and whole != own.split("/", maxsplit=1)[0])


@cache
def imports(path: Path) -> list[tuple[str, str, int]]:
    """Return (top-level package, "", line) or ("", part of this package, line) of every import of a module."""
    return list(each_import(path))


def each_import(path: Path):
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield from ((alias.name.split(".")[0], "", node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield str(node.module).split(".")[0], "", node.lineno
        elif isinstance(node, ast.ImportFrom):
            folder = path.parents[node.level - 1]
            assert folder == PACKAGE or PACKAGE in folder.parents, f"line {node.lineno} leaves the package"
            for alias in node.names:
                inner = folder.joinpath(*(node.module or alias.name).split("."))
                yield "", room(inner if inner.with_suffix(".py").exists() else inner / "__init__.py"), node.lineno


def functions(path: Path):
    return [n for n in nodes(path) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]


RULES: list[Any] = []


def rule(check: Any) -> Any:
    """Have a function of a module's path, which returns what it finds fault with, asked of all modules."""
    RULES.append(check)
    return check


@cache
def imported_modules(path: Path) -> set[Path]:
    """Return the modules of the package that a module imports: at its top, late, or for types alone."""
    found = set()
    for node in nodes(path):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = path.parents[node.level - 1].joinpath(*(node.module or "").split("."))
            for alias in node.names:
                inner = (base / f"{alias.name}.py", base / alias.name / "__init__.py")
                places = (*inner, base.with_suffix(".py"), base / "__init__.py")
                found.add(next(place for place in places if place.exists()))
    return found - {path}


def room_parts(path: Path) -> tuple[str, ...]:
    return path.relative_to(PACKAGE).with_suffix("").parts


def tasks_asked(path: Path):
    """Yield the rooms of `tasks` that a module imports from."""
    for module in imported_modules(path):
        parts = room_parts(module)
        if parts[0] == "tasks" and len(parts) > 1:
            yield parts[1]


def knows_blender(path: Path) -> bool:
    return room_parts(path)[0] in {"blender", "tasks", "ui"}


# -- rules


@rule
def imports_run_one_way(path):
    own = room(path)
    return [f"line {line}: {other}" for _, other, line in imports(path) if other and not is_allowed(own, other)]


@rule
def imports_run_in_no_circle(path):
    reached, waiting = set[Path](), [path]
    while waiting:
        new = imported_modules(waiting.pop()) - reached
        reached |= new
        waiting += new
    return ["it imports itself in the end"] if path in reached else []


SHARED_TASKS = {"import_", "export"}  # what all rooms of tasks may build on


@rule
def a_room_has_one_name_through_the_layers(path):
    """What the user does is called the same in `ui` and `tasks`: `ui/skins` asks `tasks/skins`, and no other room.

    Each may ask for what is imported and exported, too. The command line is no room.
    """
    parts = room_parts(path)
    if parts[0] != "ui" or parts[1] == "cli":
        return []
    return [asked for asked in tasks_asked(path) if asked not in {parts[1], *SHARED_TASKS}]


@rule
def exports_and_imports_ask_no_other_room_and_imports_no_export(path):
    parts = room_parts(path)
    if parts[0] != "tasks" or parts[1] not in SHARED_TASKS:
        return []
    return [asked for asked in tasks_asked(path) if asked not in {"import_", parts[1]}]


@rule
def imports_inside_the_package_are_relative(path):
    """An installed extension lives under bl_ext."""
    return [line for name, _, line in imports(path) if name in {"io_idtech_models", "bl_ext", "tests", "tools"}]


@rule
def blender_is_imported_by_three_rooms_only(path):
    return [f"line {n}: {name}" for name, _, n in imports(path) if name in BLENDER and not knows_blender(path)]


@rule
def the_rest_needs_numpy_and_the_standard_library_only(path):
    known = sys.stdlib_module_names | {"numpy"} | (BLENDER if knows_blender(path) else set())
    return [f"line {line}: {name}" for name, _, line in imports(path) if name and name not in known]


@rule
def paths_appear_at_the_edge_alone(path):
    """What is read may lie in an archive: below tasks it is a `GameFile`, which two modules alone turn into a path."""
    turning = {PACKAGE / "game" / "store.py", PACKAGE / "assets" / "storage.py"}
    edge = {"cli", "library", "tasks", "ui", "blender/exchange"}  # other programs' importers take paths
    known = path in turning or room(path) in edge
    return [] if known else [f"line {line}" for name, _, line in imports(path) if name == "pathlib"]


@rule
def one_module_reads_models(path):
    named = [n.lineno for n in nodes(path) if isinstance(n, ast.Attribute) and n.attr == "identify"]
    return [] if path == PACKAGE / "assets" / "load.py" else named


@rule
def operators_read_with_the_users_games(path):
    """A bare `Disk` knows none; the command line has one of its own, and a model's name asks for no game."""
    known = {"tasks/import_/games.py": 1, "ui/export/proposals.py": 1}
    if room(path) not in {"tasks", "ui"}:
        return []
    made = [n.lineno for n in nodes(path) if isinstance(n, ast.Call) and ast.unparse(n.func) == "Disk"]
    return made[known.get(path.relative_to(PACKAGE).as_posix(), 0) :]


@rule
def nobody_asks_for_blenders_version_but_compat(path):
    names = {"bpy.app.version", "bpy.app.version_string", "bpy.app.version_file", "app.version"}
    if path == PACKAGE / "blender" / "compat.py":
        return []
    asked = [n.lineno for n in nodes(path) if isinstance(n, ast.Attribute) and ast.unparse(n) in names]
    return asked + [n.lineno for n in nodes(path) if isinstance(n, ast.ImportFrom) and n.module == "bpy.app"]


@rule
def nobody_asks_for_what_an_undo_leaves_stale(path):
    """See `objects_in`, of `blender.scene`."""
    return [n.lineno for n in nodes(path) if isinstance(n, ast.Attribute) and n.attr == "all_objects"]


@rule
def properties_are_no_texts(path):
    """Blender compiles those of each class anew while the extension is enabled, inherited ones, too."""
    makes = any(isinstance(n, ast.AnnAssign) and isinstance(n.annotation, ast.Call) for n in nodes(path))
    return [n.lineno for n in nodes(path) if makes and isinstance(n, ast.ImportFrom) and n.module == "__future__"]


@rule
def processors_decide_nothing(path):
    """What BLAS, LAPACK and numpy's vector forms compute differs in the last bit: see `model.steady`.

    A skeleton that is looked for in frames is an exception: no file holds what it is found by. A camera's place goes
    into none, too.
    """
    unsteady = {
        "linalg", "matmul", "einsum", "dot", "vdot", "inner", "tensordot", "sin", "cos", "tan", "sinc", "arcsin",
        "arccos", "arctan", "arctan2", "hypot", "cbrt", "exp", "log", "power", "float_power",
    }  # fmt: skip
    allowed = {PACKAGE / "model" / "steady.py", PACKAGE / "model" / "rigging"}
    if path.name == "picture.py" or allowed & {path, path.parent}:
        return
    for node in nodes(path):
        product = isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.MatMult)
        called = isinstance(node, ast.Attribute) and node.attr in unsteady and ast.unparse(node.value) == "np"
        if product or called:
            yield ast.unparse(node)


@rule
def modules_are_not_too_long(path):
    length = len(path.read_text(encoding="utf-8").splitlines())
    return [length] if length > LONGEST_MODULE else []


@rule
def functions_are_not_too_long(path):
    lengths = {n.name: n.end_lineno - n.lineno + 1 for n in functions(path)}
    return [f"{name} {length}" for name, length in lengths.items() if length > LONGEST_FUNCTION]


@rule
def what_is_public_says_what_it_does(path):
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    classes = [n for n in tree(path).body if isinstance(n, ast.ClassDef) and not n.name.startswith("_")]
    public = [n for owner in (tree(path), *classes) for n in owner.body if isinstance(n, kinds)]
    silent = [n.name for n in public if not n.name.startswith("_") and not ast.get_docstring(n)]
    return silent + ["the module"] * (not ast.get_docstring(tree(path)))


@pytest.mark.parametrize("check", RULES, ids=lambda check: check.__name__)
def test_no_module_breaks_a_rule(check):
    assert not [f"{path.relative_to(PACKAGE).as_posix()}: {fault}" for path in MODULES for fault in check(path)]


def test_families_and_formats_never_meet():
    assert not is_allowed("blender/vertex", "blender/skeletal")
    assert not is_allowed("blender/skeletal", "blender/vertex")
    assert not is_allowed("formats/md3", "formats/mdm")
    assert is_allowed("tasks", "blender/skeletal")


def test_enabling_the_extension_imports_nothing():
    body = tree(PACKAGE / "__init__.py").body
    assert not [node.lineno for node in body if isinstance(node, ast.Import | ast.ImportFrom)]
    assert {node.name for node in body if isinstance(node, ast.FunctionDef)} >= {"register", "unregister"}
    simple = (ast.FunctionDef, ast.Expr)
    assert all(isinstance(node, simple) for node in body), "and does nothing either"


def test_formats_work_without_blender():
    code = "import sys, io_idtech_models.formats, io_idtech_models.cli.main; print(sorted(sys.modules))"
    found = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=True).stdout
    assert not BLENDER & set(ast.literal_eval(found))


def test_scripts_keep_to_the_same_lengths():
    folders = ("tools", "examples", "benchmarks", "fuzz", "docs")
    scripts = [path for folder in folders for path in (PROJECT / folder).rglob("*.py")]
    long = {f"{p.name}: {n.name}" for p in scripts for n in functions(p) if n.end_lineno - n.lineno >= LONGEST_FUNCTION}
    assert not long


# -- the table of formats


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_row_is_complete(row):
    fields = dataclasses.fields(Format)
    asked = [f.name for f in fields if f.default is f.default_factory is dataclasses.MISSING]
    assert all(getattr(row, name) for name in asked)
    assert row.name.isidentifier() and row.name.islower()
    assert all(s.startswith(".") and s == s.lower() for s in row.suffixes)
    assert row.suffixes[0] in row.label
    assert all(f.__doc__ for f in (row.read, row.write, row.to_model, row.from_model))
    assert row.family is not VERTEX or row.conform.__doc__
    names = [option.name for option in row.options]
    assert len(set(names)) == len(names)
    for option in row.options:
        assert option.name.isidentifier()
        assert option.label and option.description
        assert isinstance(option.default, bool) or 0 <= option.default <= option.most


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_row_has_samples_a_default_and_a_game(row):
    assert SAMPLES[row.name] and "format" in row.games and len(row.games) > 1
    assert all(data.startswith(row.magic) for data in SAMPLES[row.name].values())


def test_rows_differ():
    assert len({row.name for row in ROWS}) == len(ROWS)
    suffixes = [s for row in ROWS for s in row.suffixes]
    assert len(set(suffixes)) == len(suffixes)


def operator_names(path: Path) -> set[str]:
    """Return what a module gives as `bl_idname`, in a class or a namespace; {} where an f-string has a value."""
    found = []
    for node in nodes(path):
        if isinstance(node, ast.Dict):
            found += [v for k, v in zip(node.keys, node.values, strict=True) if k and ast.unparse(k) == "'bl_idname'"]
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "bl_idname":
            found.append(node.value)
    parts = [value.values if isinstance(value, ast.JoinedStr) else [value] for value in found]
    return {"".join(str(p.value) if isinstance(p, ast.Constant) else "{}" for p in text) for text in parts}


@pytest.mark.parametrize("kind", ["import", "export"])
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_row_has_operators(row, kind):
    # Written out, or made from the table.
    names = {f"{kind}_scene.idtech_{row.name}", kind + "_scene.idtech_{}", "{}_{}.idtech_{}"}
    assert names & {name for path in (PACKAGE / "ui").rglob("*.py") for name in operator_names(path)}


def test_the_limits_are_of_formats_that_there_are():
    known = {row.name for row in ROWS}
    assert all(set(game.formats) <= known for game in GAMES.values())
