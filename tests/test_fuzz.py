"""A short run of the fuzzer: always the same inputs, in a process without Blender."""

import os
import subprocess
import sys
from random import Random

import pytest

from fuzz.layouts import records
from fuzz.mutate import KINDS, PAIR, join_pair, mutated, split_pair
from fuzz.seeds import samples
from fuzz.trials import Trials, minimised
from io_idtech_models.formats import by_name
from tests.samples import PROJECT
from tests.small_files import SAMPLES
from tools import children
from tools.main import main as build_main

WORKER = PROJECT / "fuzz" / "worker.py"
INPUTS = 20  # of each kind: an eighth of a second of a processor
ENVIRON = {**os.environ, "PYTHONPATH": str(PROJECT), "OPENBLAS_NUM_THREADS": "1"}
every_kind = pytest.mark.parametrize("kind", KINDS)


def test_no_input_breaks_a_promise():
    command = [sys.executable, "-P", "-W", "ignore", str(WORKER), "short", str(INPUTS), *KINDS]
    result = subprocess.run(command, capture_output=True, text=True, env=ENVIRON, check=False)
    assert (result.stdout[:4000], result.returncode) == ("", 0), result.stderr[-2000:]


@every_kind
def test_mutations_come_back_and_differ(kind):
    files = samples(kind)

    def some():
        rng = Random(7)
        return [mutated(kind, rng.choice(files), rng.choice(files), rng, 1 << 16) for _ in range(100)]

    made = some()
    assert made == some()
    assert len(set(made)) > 60, "small files can become the same in few ways"
    assert max(map(len, made)) <= 1 << 16


@pytest.mark.parametrize("kind", ["md2", "md3", "mdm", "mdx"])
def test_records_cover_what_a_file_holds(kind):
    for data in SAMPLES[kind].values():
        known = bytearray(len(data))
        for part in records(kind, data):
            for start in range(part.offset, part.offset + part.count * part.stride, part.stride):
                end = min(start + part.dtype.itemsize, len(data))
                known[start:end] = b"x" * (end - start)
        layout = by_name(kind).read(data).layout
        filled = sum(len(layout.get(name, b"")) for name in ("layout_filler", "layout_tail"))
        weights = 3 * len(data) // 4 if kind == "mdm" else 0  # these follow one another in no even steps
        assert known.count(0) <= filled + weights


def test_pairs():
    assert split_pair(join_pair(b"mesh", b"bones")) == (b"mesh", b"bones")
    assert split_pair(b"\0") == (b"", b"")
    assert len(samples(PAIR)) >= len(samples("mdm"))


def test_a_smaller_input_that_fails_alike():
    data = bytes(range(1, 200)) + b"needle" + b"x" * 300
    assert minimised(data, lambda small: b"needle" in small, 1000) == b"needle"
    assert minimised(b"abcdef", lambda small: len(small) == 6 and small[2:3] == b"c", 100) == b"\0\0c\0\0\0"
    assert minimised(data, lambda small: True, 0) == data


# A stand-in for the worker: answers to what stands in the file.
CHILD = """
import sys, time, pathlib, os
for line in sys.stdin:
    text = pathlib.Path(line.split()[1]).read_text()
    if text == "hang": time.sleep(60)
    if text == "crash": os._exit(3)
    print(("stale " if text == "grow" else "ready ") + ("" if text == "fine" else "Name | what it said"), flush=True)
"""


def test_a_tester_survives_what_it_tries(monkeypatch):
    tester = Trials([sys.executable, "-c", CHILD], ENVIRON)
    try:
        monkeypatch.setattr("fuzz.trials.PATIENCE", 30.0)
        assert tester.result("md2", b"fine") == ("", "")
        assert tester.result("md2", b"fails") == ("Name", "what it said")
        assert tester.result("md2", b"grow") == ("Name", "what it said")
        assert tester.result("md2", b"crash") == ("Crash3", "the process ended with 3")
        assert tester.fails_so("md2", "Name", b"fails")
        monkeypatch.setattr("fuzz.trials.PATIENCE", 0.2)
        assert tester.result("md2", b"hang")[0] == "Hang"
        monkeypatch.setattr("fuzz.trials.PATIENCE", 30.0)
        assert tester.result("md2", b"fine") == ("", "")
    finally:
        tester.close()


def test_build_py_passes_its_arguments_on(monkeypatch):
    monkeypatch.setattr(children, "run_fuzzer", len)
    assert build_main(["fuzz", "--minutes", "2"]) == 2


def test_without_atheris_inputs_are_made_blindly(tmp_path):
    (tmp_path / "findings").mkdir()
    code = (
        "import sys; sys.modules['atheris'] = None; sys.path.insert(0, sys.argv[1])\n"
        "from pathlib import Path; from fuzz import worker\n"
        "worker.fuzz('md3', Path(sys.argv[2]), ['in', '-runs=200', '-seed=3', '-timeout=20'])"
    )
    subprocess.run([sys.executable, "-c", code, str(PROJECT), str(tmp_path)], check=True, timeout=120)
    (counted,) = tmp_path.glob("count-*")
    tried, read = map(int, counted.read_text(encoding="ascii").split())
    assert 0 < read < tried, "samples are read, most of what was made of them is not"
    assert tried > 200
    assert not list((tmp_path / "findings").iterdir())
