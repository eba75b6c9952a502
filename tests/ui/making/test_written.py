"""Players made of a character: the same files come of it, and the same is said, as before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from examples import strut
from io_idtech_models.blender.shading.images import image_of
from tests.ui.scene import KEPT_HERE, activate, add_cube, bpy, outcome

pytestmark = [KEPT_HERE, pytest.mark.once, pytest.mark.usefixtures("empty_scene")]


def plain() -> None:
    """Make our mannequin, which holds something and goes along."""
    armature = strut.build()
    held = add_cube("cane")
    held.parent, held.parent_type, held.parent_bone = armature, "BONE", "hand.R"
    held.scale = (0.02, 0.02, 0.02)
    strut.make_action(armature, "runcycle", 10, {"hips.location": [(0, 0, 0), (0, 0, 3), (0.2, 0.5, 5), (0, 0, 6)]})
    strut.make_action(armature, "Fall", 7, {"hips.location": [(0, 0, 0), (0, 0.3, 0)]})
    activate(armature)


def odd() -> None:
    """Make a mannequin with all that is worth a word."""
    plain()
    bpy.data.objects["Strut"].scale = (1.5, 1.5, 1.5)
    body = bpy.data.objects["strut"]
    body.data.materials.clear()
    while body.data.uv_layers:
        body.data.uv_layers.remove(body.data.uv_layers[0])
    gone = body.copy()
    bpy.context.scene.collection.objects.link(gone)
    gone.hide_set(True)
    for name in ("Walk", "Jump"):
        bpy.data.actions.remove(bpy.data.actions[name])


def patched() -> None:
    """Make a mannequin that faces +X, with no hand that is called so, in two meshes and many materials.

    Their names are alike or long, one picture has more colours than a palette, and textures repeat themselves, each at
    another edge.
    """
    hat = add_cube("a hat")  # before the body in the scene
    armature = strut.build()
    armature.rotation_euler.z = np.pi / 2
    for bone in armature.data.bones:
        bone.name = bone.name.replace("hand", "fist")
    hat.parent, hat.parent_type, hat.parent_bone = armature, "BONE", "head"
    hat.scale = (0.05, 0.07, 0.09)
    body = bpy.data.objects["strut"].data
    for name in ("Blue", "blue!", "models/x/Blue.tga", "a coat that is longer than a name", "Strut"):
        body.materials.append(strut.make_material())
        body.materials[-1].name = name
    rows, columns = np.mgrid[0:64, 0:64] / np.float32(63)
    shades = np.stack((rows, columns, rows * columns, np.ones_like(rows)), axis=2)
    picture: Any = image_of(body.materials[1])
    picture.pixels.foreach_set(shades.astype(np.float32).ravel())
    coordinates = np.empty((len(body.loops), 2), np.float32)
    body.uv_layers[0].data.foreach_get("uv", coordinates.ravel())
    edges = {1: (0.0, -0.5), 2: (-0.5, 0.0), 3: (0.0, 0.5), 4: (0.5, 0.0)}
    for face in body.polygons:
        face.material_index = face.index % len(body.materials)
        coordinates[list(face.loop_indices)] += edges.get(face.material_index, (0.0, 0.0))
    body.uv_layers[0].data.foreach_set("uv", coordinates.ravel())
    activate(armature)


QUAKE3: list[dict[str, Any]] = [
    {}, {"fit": False, "scale": 30.0}, {"facing": "X"}, {"facing": "Y"}, {"facing": "-X"}, {"in_place": False},
    {"rows": "LEGS_RUN=runcycle, BOTH_DEATH1=Fall @ 20"}, {"fps": 10.0}, {"close_seams": False}, {"levels": "50, 25"},
    {"keep_shaders": True}, {"torso": "chest", "head": "neck"}, {"hand": "none"},
    {"player": "A Name! of some 30 letters"},
]  # fmt: skip
QUAKE2: list[dict[str, Any]] = [
    {}, {"facing": "X"}, {"rows": "run=runcycle, death1=Fall"}, {"gun": "cane"}, {"skin": "a skin"},
    {"in_place": False}, {"gun": "nothing"}, {"fit": False, "scale": 30.0},
]  # fmt: skip
CASES = [
    *(("player", scene, options) for scene in (plain, odd) for options in QUAKE3),
    *(("quake2_player", scene, options) for scene in (plain, odd) for options in QUAKE2),
    ("quake2_player", patched, {}),
    ("player", patched, {"levels": "50"}),
    ("player", plain, {"head": "head"}),  # the neck moves vertices of the cut, too
]


def called(case: tuple[str, Callable[[], None], dict[str, Any]]) -> str:
    name, scene, options = case
    return "-".join([name, scene.__name__, *(f"{key}={value}" for key, value in options.items())])


@pytest.mark.parametrize("case", CASES, ids=called)
def test_a_player_is_made_as_it_was(case, tmp_path, capfd, as_before):
    name, scene, options = case
    scene()
    make = getattr(bpy.ops.object, f"idtech_make_{name}")
    target = tmp_path / "models/players/strut"
    as_before(outcome(make, tmp_path, capfd, **{"filepath": str(target), "open_result": False} | options))
