"""ASE in Blender: what comes back letter by letter, and what an edit there changes in the text."""

import numpy as np
import pytest

from tests.samples import load
from tests.samples_ase import CORNERS, colored, pyramid, several
from tests.ui.scene import bpy, export_bytes, opened

pytestmark = pytest.mark.usefixtures("empty_scene")


def test_a_moved_point_changes_rows_alone(tmp_path):
    block = opened(tmp_path / "a.ase", pyramid())["pyramid"]
    mesh = block.data
    keys = mesh.shape_keys.key_blocks[0].data if mesh.shape_keys else mesh.vertices
    (tip,) = [point for point in keys if np.allclose(point.co, CORNERS[4])]
    assert len(keys) == len(CORNERS)
    tip.co.z += 2
    text = export_bytes(tmp_path / "b.ase")
    old, new = pyramid().splitlines(), text.splitlines()
    changed = [line.split() for before, line in zip(old, new, strict=True) if before != line]
    assert [row[1:] for row in changed if row[0] == b"*MESH_VERTEX"] == [[b"4", b"0.0000", b"0.5", b"11.1250"]]
    assert {row[0] for row in changed} <= {b"*MESH_VERTEX", b"*MESH_FACENORMAL", b"*MESH_VERTEXNORMAL"}


def test_an_object_that_is_deleted_leaves_the_others_text(tmp_path):
    blocks = opened(tmp_path / "a.ase", several())
    bpy.data.objects.remove(blocks["none"] if "none" in blocks else blocks["bare"])
    text = export_bytes(tmp_path / "b.ase")
    assert text.startswith(several().split(b"*GEOMOBJECT")[0])
    assert len(load(text).surfaces) == len(load(several()).surfaces) - 1


def test_a_painted_colour_changes_its_row(tmp_path):
    (block,) = opened(tmp_path / "a.ase", colored()).values()
    layer = block.data.color_attributes["Color"]
    keys = block.data.shape_keys.key_blocks[0].data if block.data.shape_keys else block.data.vertices
    (tip,) = [nth for nth, point in enumerate(keys) if np.allclose(point.co, CORNERS[4])]
    layer.data[tip].color_srgb = (0, 1, 0, 1)
    old, new = colored().splitlines(), export_bytes(tmp_path / "b.ase").splitlines()
    changed = [line for before, line in zip(old, new, strict=True) if before != line]
    assert changed == [b"\t\t\t*MESH_VERTCOL 1\t0.0000\t1.0000\t0.0000"]
