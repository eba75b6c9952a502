"""What `build.py mutate` changes, what it chooses, and what it calls caught."""

import ast
import shutil
import sys

import pytest

from mutants.changes import mutants, mutated
from mutants.run import Room, choose, run
from tests.samples import PROJECT

TINY = """\
def share(values, limit):
    \"\"\"Not 1 but 2.\"\"\"
    found = [value for value in values if value < limit]
    return sum(found)
"""
TEST = """\
from io_idtech_models.formats.tiny import share

def test_limit():
    assert share([1, 5], 3) == 1

def test_none():
    assert share([], 3) == 0
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a < b", {"a <= b", "a >= b"}),
        ("a == b", {"a != b"}),
        ("a < b is c", {"a <= b is c", "a >= b is c", "a < b is not c"}),
        ("a and b", {"a or b"}),
        ("any(a)", {"all(a)", "pass"}),
        ("np.minimum(a, b)", {"np.maximum(a, b)", "pass"}),
        ("x = a.max(axis=1)", {"x = a.min(axis=1)", "x = a.max(axis=0)", "x = a.max(axis=2)"}),
        ("x = a + b", {"x = a - b"}),
        ("x += a", {"x -= a"}),
        ("x = not a", {"x = a"}),
        ("x = True", {"x = False"}),
        ("x = 3", {"x = 4"}),
        ("x = a[b:c]", {"x = a[:c]", "x = a[b:]"}),
        ("x = a if b else c", {"x = c if b else a"}),
        ("if a:\n    pass", {"if not a:\n    pass"}),
        ("def f():\n    return a", {"def f():\n    return"}),
        ("while a:\n    break", {"while a:\n    continue"}),
        ("MOST_ROWS = 2000", {"MOST_ROWS = 2000 * 64"}),
        ("MAX_SIZE = 1 << 20", {"MAX_SIZE = (1 << 20) * 64"}),
        ("MAX_INDEX = 65535", {"MAX_INDEX = 65536"}),
        ("MOST = 256", {"MOST = 257"}),
        # What says, and does nothing, is left alone.
        ("raise Error(f'{a + 1}', 2)", set()),
        ("assert a < 1", set()),
        ("_log.warning('%d', a + 1)", set()),
        ("x: Literal[1] = a", set()),
        ("x = folder / 'name'", set()),
        ("x = zip(a, b, strict=True)", set()),
        ("x = field(default=a, init=False)", set()),
        # What changes nothing, too.
        (
            "x = a * np.where(b, -1.0, 1.0)[:, None]",
            {
                "x = a * np.where(b, 1.0, 1.0)[:, None]",
                "x = a * np.where(b, -2.0, 1.0)[:, None]",
                "x = a * np.where(b, -1.0, 2.0)[:, None]",
            },
        ),
        ("x *= np.sign(a)", set()),
        ("x = 1e36", set()),
        ("x = a / [1, -1]", {"x = a / [2, -1]", "x = a / [1, 1]", "x = a / [1, -2]"}),
        ("x = a.reshape(-1)", {"x = a.reshape(1)"}),
        ("CHUNK = 1 << 20", set()),
        ("MOST_SHOWN = 40", set()),
        ("def __repr__(self):\n    return a + 1", set()),
        ("if TYPE_CHECKING:\n    x = 1", set()),
    ],
)
def test_changes(before, after):
    found = mutants("a.py", before)
    assert {mutated(before, mutant.number) for mutant in found} == after
    assert len(found) == len(after)


def test_a_statement_has_its_own_lines_and_says_what_changed():
    text = "if (a and\n    b):\n    c = (d <\n        e)\n"
    assert [(str(m), m.lines) for m in mutants("a.py", text)] == [
        ("a.py:1: a and b -> a or b", (1, 2)),
        ("a.py:3: d < e -> d <= e", (3, 4)),
        ("a.py:3: d < e -> d >= e", (3, 4)),
    ]
    assert ast.unparse(ast.parse(text)) != mutated(text, 0)


def tiny_project(tmp_path):
    (tmp_path / "io_idtech_models" / "formats").mkdir(parents=True)
    (tmp_path / "io_idtech_models" / "formats" / "tiny.py").write_text(TINY, encoding="utf-8")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_tiny.py").write_text(TEST, encoding="utf-8")
    shutil.copytree(PROJECT / "mutants", tmp_path / "mutants")
    return tmp_path


def test_the_choice_is_the_seeds_and_one_of_a_statement(tmp_path):
    project = tiny_project(tmp_path)
    room = Room("tiny", ("formats",), ("tests",), sys.executable)
    chosen = [choose([room], project, 10, seed) for seed in (1, 1, 2, 3, 4)]
    assert chosen[0] == chosen[1]
    assert len({tuple(mutant.number for _, mutant in each) for each in chosen}) > 1
    assert all(sorted(mutant.lines[0] for _, mutant in each) == [3, 4] for each in chosen)
    assert not choose([room], project, 10, 1, only="md3")


def test_what_is_computed_once_is_reached_by_all_that_reach_the_module():
    """The first test that asks for the module reaches its head, the second what it asks for alone."""
    text = "LIMIT = 3\nclass A:\n    size = 4\ndef share(value, most=5):\n    return value + most\n"
    text += "@cache\ndef table():\n    return [6]\n"
    reach = {"a.py": {line: ["first"] for line in (1, 2, 3, 4, 8)} | {5: ["second"]}}
    room = Room("tiny", (), (), "", reach=reach, times={"first": 1.0, "second": 0.0})
    found = {mutant.what: room.tests_of(mutant) for mutant in mutants("a.py", text)}
    assert found == {
        "3 -> 4": ["second", "first"],
        "4 -> 5": ["second", "first"],
        "5 -> 6": ["second", "first"],
        "return value + most -> return": ["second"],
        "value + most -> value - most": ["second"],
        "return [6] -> return": ["second", "first"],
        "6 -> 7": ["second", "first"],
    }


def test_who_is_caught(tmp_path, monkeypatch, capsys):
    """Limits are never met in these tests, so that one of three mutants survives; nor does line 4 have tests."""
    project = tiny_project(tmp_path)
    path = "io_idtech_models/formats/tiny.py"
    names = ["tests/test_tiny.py::test_none", "tests/test_tiny.py::test_limit"]
    times = dict.fromkeys(names, 0.0)
    room = Room("tiny", ("formats",), ("tests",), sys.executable, reach={path: {3: names}}, times=times)
    monkeypatch.setattr(Room, "measure", lambda *_: None)
    every = [(room, mutant) for mutant in mutants(path, TINY)]
    survivors = [str(mutant) for mutant in run([room], project, tmp_path, every)]
    assert survivors == [f"{path}:3: value < limit -> value <= limit", f"{path}:4: return sum(found) -> return"]
    assert "SURVIVED, no test reaches it (0)" in capsys.readouterr().out
    assert (project / path).read_text(encoding="utf-8") == TINY
