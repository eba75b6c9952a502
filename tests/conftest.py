"""What tests inside Blender share; elsewhere nothing happens here."""

import importlib.util

import pytest

HAS_BLENDER = importlib.util.find_spec("bpy") is not None
if HAS_BLENDER:
    import bpy  # noqa: F401 - first: bmesh and mathutils exist only after it
# Without Blender these folders can't even be imported.
collect_ignore_glob = [] if HAS_BLENDER else ["blender/*", "ui/*"]


@pytest.fixture(scope="session", autouse=HAS_BLENDER)
def extension():
    """Register the extension for the whole run: a class that stays registered at exit crashes some Blenders.

    That holds for the classes of Blender's own add-ons too, which conversions switch on.
    """
    import addon_utils

    import io_idtech_models

    io_idtech_models.register()
    yield io_idtech_models
    io_idtech_models.unregister()
    for addon in ("io_scene_gltf2", "io_scene_fbx"):
        if addon_utils.check(addon)[1]:
            addon_utils.disable(addon)


@pytest.fixture
def empty_scene():
    """Start from an empty factory scene."""
    import bpy

    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    return bpy.context.scene
