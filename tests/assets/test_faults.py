"""Faults while a file is written: the old one is whole, nothing stays behind, one sentence is said."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from tests.processes import HEARING
from tests.samples import PROJECT, SENTINEL

resource = pytest.importorskip("resource", reason="limits of processes are POSIX")
OLD = b"the old file"
ENVIRON = {**os.environ, "PYTHONPATH": str(PROJECT)}
ARGUMENTS = [sys.executable, "-m", "io_idtech_models", "convert"]


def convert(target: Path | str, *options: str, limit: int = 0, cwd: Path | None = None) -> tuple[int, list[str]]:
    """Convert the example; returns the exit status and the lines of standard error."""

    def limited() -> None:
        if limit:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    command = [*ARGUMENTS, str(SENTINEL), str(target), *options]
    done = subprocess.run(command, capture_output=True, check=False, cwd=cwd, env=ENVIRON, preexec_fn=limited)
    return done.returncode, done.stderr.decode("utf-8").splitlines()


def heard(*command: str, **options: Any) -> Any:
    """Start a program that hears Ctrl+C, and return it when it has said something."""
    pipe = subprocess.PIPE
    process: Any = subprocess.Popen([*HEARING, *command], stdout=pipe, stderr=pipe, env=ENVIRON, **options)
    process.stdout.readline()
    return process


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def target(tmp_path: Path) -> Path:
    path = tmp_path / "old.md2"
    path.write_bytes(OLD)
    return path


def test_no_room_left(target):
    status, said = convert(target, limit=1000)
    assert (status, len(said)) == (1, 1)
    assert "can't write" in said[0]
    assert target.read_bytes() == OLD
    assert names_in(target.parent) == ["old.md2"]


KILL = "os.kill(os.getpid(), signal.SIGKILL)"


@pytest.mark.parametrize(
    ("sync", "write"),
    [
        (f"lambda _: {KILL}", "storage.write_file(target, b'new' * 100000)"),
        (
            f"lambda _: done.append(1) or len(done) == 3 and {KILL}",
            "storage.write_files([(target.with_name(n), b'new') for n in ('old.md2', 'b.mdx', 'c.aninc')])",
        ),
    ],
    ids=["a file", "the last of several"],
)
def test_killed_in_the_middle(target, sync, write):
    """A process that writes beside the target is killed while it waits for the disk."""
    script = (
        "import os, signal, sys\nfrom pathlib import Path\nfrom io_idtech_models.assets import storage\n"
        f"target, done = Path(sys.argv[1]), []\nos.fsync = {sync}\n{write}"
    )
    done = subprocess.run([sys.executable, "-c", script, str(target)], check=False, env=ENVIRON)
    assert done.returncode == -signal.SIGKILL
    assert target.read_bytes() == OLD
    (left,) = set(names_in(target.parent)) - {"old.md2"}
    assert left.startswith(".idtech-")
    assert left.endswith(".part"), "its name, of a file or of the one folder of several, tells what it is"


def test_ctrl_c(target, tmp_path):
    script = (
        "import os, signal, sys, time\nfrom pathlib import Path\nfrom io_idtech_models.assets import storage\n"
        "def wait(_):\n    print('writing', flush=True)\n    time.sleep(60)\n"
        "os.fsync = wait\nstorage.write_file(Path(sys.argv[1]), b'new')\n"
    )
    with heard(sys.executable, "-c", script, str(target)) as process:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
    assert target.read_bytes() == OLD
    assert names_in(tmp_path) == ["old.md2"]


@pytest.mark.parametrize("name", ["x" * 300 + ".md2", "d" * 300 + "/a.md2"])
def test_a_path_that_is_too_long(tmp_path, name):
    status, said = convert(tmp_path / name)
    assert (status, len(said)) == (1, 1)
    assert "name too long" in said[0]
    assert names_in(tmp_path) == []


def test_any_name_will_do(tmp_path):
    name = "модель 模型\U0001f916 a b'c %s.md2"
    status, said = convert(tmp_path / name)
    assert (status, said) == (0, [])
    assert names_in(tmp_path) == [name]


def test_a_read_only_folder(tmp_path):
    # Root may write anywhere, so he becomes someone else when all is imported and read.
    script = """
import os, sys, tempfile
from pathlib import Path
from typing import Any
from io_idtech_models.assets import storage
from io_idtech_models.reporting import ModelError
os.chdir(sys.argv[1])
if os.geteuid() == 0:
    os.setegid(65534)
    os.seteuid(65534)
for name in ("old.md2", "new.md2"):
    try:
        storage.write_file(Path(name), b"new")
    except ModelError as error:
        print(error)
"""
    folder = Path(tempfile.mkdtemp())  # pytest's own is for its owner alone
    try:
        (folder / "old.md2").write_bytes(OLD)
        folder.chmod(0o555)
        command = [sys.executable, "-c", script, str(folder)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=ENVIRON)
        (old, new) = done.stdout.splitlines()
        assert new == "can't write 'new.md2': permission denied"
        assert old in {"can't write 'old.md2': permission denied", "can't write 'old.md2': the file is read-only"}
        assert (folder / "old.md2").read_bytes() == OLD
        assert names_in(folder) == ["old.md2"]
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)


def test_a_batch_goes_on_where_it_was_stopped(tmp_path):
    source = tmp_path / "in"
    for index in range(6):
        (source / f"{index}").mkdir(parents=True)
        (source / f"{index}" / "a.md3").write_bytes(SENTINEL.read_bytes() if index != 3 else b"IDP3")
    command = [*ARGUMENTS, str(source), "--to", "md2", str(tmp_path / "out"), "--skip-existing"]
    with heard(*command) as process:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    done = subprocess.run(command, check=False, capture_output=True, env=ENVIRON)
    assert done.returncode == 1, "one is broken"
    made = sorted(path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*.md2"))
    assert made == [f"{index}/a.md2" for index in range(6) if index != 3]
    assert b"1 failed" in done.stdout
    assert not list((tmp_path / "out").rglob("*.part"))


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ctrl_c_in_a_batch(tmp_path, jobs):
    source = tmp_path / "in"
    source.mkdir()
    for index in range(400):
        (source / f"{index:03d}.md3").write_bytes(SENTINEL.read_bytes())
    command = [*ARGUMENTS, str(source), "--to", "md2", str(tmp_path / "out"), "--jobs", jobs]
    with heard(*command, start_new_session=True) as process:
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: the whole group
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"Traceback" not in said
    (line,) = said.splitlines()
    assert line.startswith(b"stopped: ")
    assert line.endswith(b"--skip-existing goes on from here")
    assert b", 0 failed, " in line
    made = names_in(tmp_path / "out")
    assert 0 < len(made) < 400
    assert all(name.endswith(".md2") for name in made), "no half of a file"
    left = [path for path in sorted(source.iterdir()) if f"{path.stem}.md2" not in made]
    for path in left[10:]:  # a few show it
        path.unlink()
    done = subprocess.run([*command, "--skip-existing"], check=False, capture_output=True, env=ENVIRON)
    assert done.returncode == 0
    assert f"{len(left[:10])} converted, 0 failed, {len(made)} skipped".encode() in done.stdout
    assert len(names_in(tmp_path / "out")) == len(made) + len(left[:10])


def test_several_processes_convert_like_one(tmp_path):
    source = tmp_path / "in"
    source.mkdir()
    for index in range(12):
        data = SENTINEL.read_bytes()
        (source / f"{index:02d}.md3").write_bytes(data[: len(data) // 2] if index == 5 else data)
    command = [*ARGUMENTS, str(source), "--to", "md2"]
    for jobs in ("1", "3"):
        report = tmp_path / f"report{jobs}"
        options = [str(tmp_path / jobs), "--jobs", jobs, "--report", str(report)]
        done = subprocess.run([*command, *options], check=False, capture_output=True, env=ENVIRON)
        assert done.returncode == 1
        assert b"11 converted, 1 failed" in done.stdout
        assert len(report.read_text(encoding="utf-8").splitlines()) == 12
    one, several = ({p.name: p.read_bytes() for p in (tmp_path / jobs).iterdir()} for jobs in ("1", "3"))
    assert one == several
    assert len(one) == 11
