"""Frames that are renamed, moved, or copied among others stay what the file has: positions and normals to the bit."""

from __future__ import annotations

import numpy as np
import pytest

from tests.samples import PROJECT, load
from tests.ui.scene import activate, bpy, export_model, first, import_model

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("empty_scene")]
STILT = PROJECT / "examples/stilt/players/stilt/tris.md2"
ops = bpy.ops.object


def at_frame(frame, operator):
    ops.idtech_animation_play(name="All Frames")
    bpy.context.scene.frame_set(frame)
    assert operator() == {"FINISHED"}


def rename_key(frame):
    first("MESH").data.shape_keys.key_blocks[frame].name = "mine"


SWAPPED = (("pain1", "x"), ("pain2", "pain1"), ("x", "pain2"))
EDITS = {
    "delete": lambda: at_frame(12, ops.idtech_delete_frame),
    "insert": lambda: at_frame(12, ops.idtech_insert_frame),
    "move": lambda: ops.idtech_animation_move(name="stand", direction="DOWN"),
    "remove": lambda: ops.idtech_animation_remove(name="attack"),
    "duplicate": lambda: ops.idtech_animation_duplicate(name="stand", copy="again"),
    "rename": lambda: ops.idtech_animation_rename(name="run", to="dash"),
    "swap names": lambda: [ops.idtech_animation_rename(name=old, to=new) for old, new in SWAPPED],
    "rename in Blender's list": lambda: rename_key(20),
}  # fmt: skip
WAYS = [
    ("delete", "rename"), ("rename", "delete"), ("insert", "rename"), ("move", "rename"), ("remove", "rename"),
    ("duplicate",), ("duplicate", "rename"), ("rename", "duplicate", "delete"), ("swap names",),
    ("delete", "swap names", "move"), ("delete", "rename in Blender's list"),
    ("remove", "duplicate", "rename", "insert"),
]  # fmt: skip


def looks(model):
    """Return positions and normals of each frame, as bytes."""
    (surface,) = model.surfaces
    triangles = surface.triangles
    return [
        (np.round(places[triangles], 4).tobytes(), np.round(normals[triangles], 4).tobytes())
        for places, normals in zip(surface.positions, surface.normals, strict=True)
    ]


@pytest.mark.parametrize("way", WAYS, ids=" then ".join)
def test_frames_are_those_of_the_file(way, tmp_path):
    before = looks(load(STILT.read_bytes()))
    import_model(STILT)
    activate(first("MESH"))
    for edit in way:
        EDITS[edit]()
    after = export_model(tmp_path / "a.md2", frames="KEYS")
    strangers = [name for name, look in zip(after.frame_names, looks(after), strict=True) if look not in before]
    assert not strangers
