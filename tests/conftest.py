"""What tests inside Blender share, and which cases of a test are left to another run."""

import importlib.util
import os
import sys

import pytest

STATUS = pytest.StashKey[int]()
HAS_BLENDER = importlib.util.find_spec("bpy") is not None
if HAS_BLENDER:
    import bpy  # noqa: F401 - first: bmesh and mathutils exist only after it
# Without Blender these folders can't even be imported.
collect_ignore_glob = [] if HAS_BLENDER else ["blender/*", "ui/*"]


@pytest.fixture(scope="session", autouse=HAS_BLENDER)
def extension():
    """Register the extension for the whole run."""
    import io_idtech_models

    io_idtech_models.register()
    yield io_idtech_models
    io_idtech_models.unregister()


def pytest_collection_modifyitems(config, items):
    """Leave out most of the real files where `tests.samples.FEW` is set, and what `SHARE` leaves to others."""
    from tests.samples import FEW, RICH, CorpusFile, corpus_paths
    from tests.shares import SHARE, others_share

    def is_left_out(item) -> bool:
        given = getattr(item, "callspec", None)
        found = [str(value.path) for value in given.params.values() if isinstance(value, CorpusFile)] if given else []
        found += [path for path in corpus_paths() if path in given.id] if given and "/" in given.id else []
        return bool(found) and not any(name.endswith(RICH) for name in found)

    left_out = {item for item in items if is_left_out(item)} if os.environ.get(FEW) else set()
    if os.environ.get(SHARE):
        nth, _, runs = os.environ[SHARE].partition("/")
        left_out |= others_share([item for item in items if item not in left_out], int(nth) - 1, int(runs))
    if left_out:
        config.hook.pytest_deselected(items=[item for item in items if item in left_out])
        items[:] = [item for item in items if item not in left_out]


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
def empty_scene():
    """Start from an empty factory scene."""
    import bpy

    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    return bpy.context.scene
