"""Objects of several models that were joined (Ctrl+J): what Blender shows of them is what is written."""

from typing import Any

import numpy as np
import pytest

from io_idtech_models.blender.mesh import attributes
from io_idtech_models.formats import by_name
from tests.samples import PROJECT, SENTINEL
from tests.ui.scene import activate, bpy, export_bytes, import_model

pytestmark = pytest.mark.usefixtures("empty_scene")
STILT = PROJECT / "examples/stilt/players/stilt/tris.md2"
HELMET = PROJECT / "examples/trooper/models/players/toys/trooper/acc/helmet.md3"


GAP = "the scene plays on where keys are missing, the file does not (Delete Frame closes such a gap"


def meshes_of(collection: Any) -> list[Any]:
    return [block for block in collection.objects if block.type == "MESH"]


def joined(*blocks: Any) -> Any:
    """Join objects into the first."""
    activate(*blocks)
    assert bpy.ops.object.join() == {"FINISHED"}
    return blocks[0]


def forget(block: Any) -> None:
    """Let nothing tell which elements of its file those of a mesh were."""
    for name in (attributes.CORNER_SOURCE, attributes.POINT_SOURCE, attributes.FACE_SOURCE):
        block.data.attributes.remove(block.data.attributes[name])


@pytest.mark.parametrize("suffix", ["md3", "mdc", "md2", "mdl"])
def test_elements_of_another_model_are_new_ones(tmp_path, suffix):
    """Numbers count from 0 in each file: those of another model's were taken for the model's own, normals with them."""

    def written(name: str, strangers: bool) -> bytes:
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        own, other = meshes_of(import_model(SENTINEL)), meshes_of(import_model(HELMET))
        for block in [] if strangers else other:
            forget(block)
        joined(*own, *other)
        return export_bytes(tmp_path / f"{name}.{suffix}")

    assert written("a", True) == written("b", False)


@pytest.mark.parametrize("frames", ["AUTO", "SCENE"])
def test_keys_of_two_animated_models_are_written_as_the_scene_plays_them(tmp_path, frames, capfd):
    """Blender puts the keys of one behind those of the other, at the same times, and finds some of them no more."""
    own, other = meshes_of(import_model(SENTINEL)), meshes_of(import_model(STILT))
    mesh = joined(own[0], *other)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 0, 7
    assert len({key.frame for key in mesh.data.shape_keys.key_blocks}) < len(mesh.data.shape_keys.key_blocks)
    activate(mesh)
    capfd.readouterr()
    surfaces = by_name("md3").load(export_bytes(tmp_path / "a.md3", what="SELECTION", frames=frames), "a").surfaces
    assert ("does not play the keys of" in capfd.readouterr().out) == (frames == "AUTO")
    for frame in range(8):
        scene.frame_set(frame)
        shown = attributes.positions(mesh.evaluated_get(bpy.context.evaluated_depsgraph_get()).data)
        written = np.concatenate([surface.positions[frame] for surface in surfaces])
        for one, others in ((shown, written), (written, shown)):
            apart = np.abs(one[:, None] - others[None]).max(axis=2).min(axis=1)
            assert apart.max() < 0.02, frame


@pytest.mark.parametrize("way", ["b-spline", "relative", "gap", "more"])
def test_keys_that_do_not_play_one_after_another(tmp_path, way, capfd):
    import_model(STILT)
    mesh = next(block for block in bpy.context.scene.objects if block.type == "MESH")
    keys = mesh.data.shape_keys
    if way == "b-spline":
        keys.key_blocks[5].interpolation = "KEY_BSPLINE"
    elif way == "relative":
        keys.use_relative = True
    elif way == "gap":
        mesh.shape_key_remove(keys.key_blocks[5])
    else:
        mesh.shape_key_add(from_mix=False)
    capfd.readouterr()
    export_bytes(tmp_path / "a.md2")
    said = capfd.readouterr().out
    assert {
        "b-spline": "it does not play the keys of",
        "relative": "nothing plays its keys, all are written as frames",
        "gap": GAP,
        "more": "keys that no action shows are written as frames, too",
    }[way] in said
    assert (GAP in said) == (way == "gap")
