"""What all tests share: cases left to another run, how many models hypothesis makes, a disk that nobody waits for.

`IDTECH_GENERATED=500` has hypothesis make that many of each; by default it is fewer, and each run has others.
"""

import gc
import importlib.util
import os
import sys

import pytest
from hypothesis import HealthCheck, settings

from tests.kept import Kept
from tests.remembered import remember
from tests.shares import MARKS, SHARE, others_share

STATUS = pytest.StashKey[int]()
HAS_BLENDER = importlib.util.find_spec("bpy") is not None
if HAS_BLENDER:
    import bpy  # noqa: F401 - first: bmesh and mathutils exist only after it
# Without Blender these folders can't even be imported.
collect_ignore_glob = [] if HAS_BLENDER else ["blender/*", "ui/*"]

settings.register_profile(
    "tests",
    max_examples=int(os.environ.get("IDTECH_GENERATED", "30")),
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
settings.load_profile("tests")


@pytest.fixture(scope="session", autouse=True)
def no_waiting():
    """Let nothing wait for the disk, some milliseconds a file: what is written there before a crash is the system's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda handle: None)
        yield


@pytest.fixture(scope="session", autouse=HAS_BLENDER)
def extension():
    """Register the extension for the whole run."""
    import io_idtech_models
    from io_idtech_models.model import bind_pose
    from io_idtech_models.model.rigging import solve

    remember(solve, "find_skin")  # seconds each, and many tests begin with the same model
    remember(bind_pose, "fit")
    io_idtech_models.register()
    yield io_idtech_models
    io_idtech_models.unregister()


def pytest_configure(config):
    """Declare the marks."""
    for name, meaning in MARKS.items():
        config.addinivalue_line("markers", f"{name}: {meaning}")


def pytest_collection_modifyitems(config, items):
    """Leave out what `SHARE` leaves to others."""
    if not os.environ.get(SHARE):
        return
    nth, _, runs = os.environ[SHARE].partition("/")
    left_out = others_share(items, int(nth) - 1, int(runs))
    config.hook.pytest_deselected(items=[item for item in items if item in left_out])
    items[:] = [item for item in items if item not in left_out]


def pytest_collection_finish():
    """Leave what is there by now, which stays, out of each search for garbage, and have fewer of these."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session, exitstatus):
    """Keep the status for `pytest_unconfigure`."""
    session.config.stash[STATUS] = int(exitstatus)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config):
    """End the process without Blender's own clean-up, when all reports are written.

    Conversions switch on Blender's glTF and FBX add-ons, whose classes stay registered: 4.2 crashes on them at exit and
    4.5 hangs.
    """
    if HAS_BLENDER and STATUS in config.stash:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(config.stash[STATUS])


@pytest.fixture
def as_before(request):
    """Return what asserts that bytes or sentences are those of before: see `tests/kept.py`."""
    return Kept(request.node)


@pytest.fixture
def run(capsys):
    """Return what runs a command without Blender: (status, lines of standard output, lines of standard error)."""
    from io_idtech_models.cli import main as cli

    def call(*argv: object) -> tuple[int, list[str], list[str]]:
        status = cli.main([str(each) for each in argv])
        out, err = capsys.readouterr()
        return status, out.splitlines(), err.splitlines()

    return call


@pytest.fixture(scope="session")
def empty_blend(tmp_path_factory):
    """Return a .blend of Blender's empty scene with one workspace, read in 4 ms where all workspaces take 7."""
    import bpy

    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    for blocks, shown in ((bpy.data.workspaces, bpy.context.workspace), (bpy.data.screens, bpy.context.screen)):
        bpy.data.batch_remove([block for block in blocks if block != shown])
    path = str(tmp_path_factory.mktemp("empty") / "empty.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path, compress=False, copy=True)
    return path


@pytest.fixture
def empty_scene(empty_blend):
    """Start from an empty scene, as Blender has it."""
    import bpy

    bpy.ops.wm.read_homefile(filepath=empty_blend)
    return bpy.context.scene
