"""Objects that share a name, of which one is linked from a library: each is what it is."""

from __future__ import annotations

from typing import Any

import bpy as blender
import numpy as np
import pytest

from io_idtech_models.blender.scene import ExportScene
from io_idtech_models.blender.skeletal.gather import gather as gather_skeletal
from io_idtech_models.blender.skeletal.rig_scene import SkeletalGatherSettings, rig_scene
from io_idtech_models.blender.vertex.frame_plan import GatherSettings
from io_idtech_models.blender.vertex.gather import gather
from tests import samples_md5
from tests.blender.case import CONTEXT, append
from tests.blender.skeletal.rigged import open_rig
from tests.blender.vertex.md3_case import open_case
from tests.samples import SENTINEL

bpy: Any = blender  # the stubs make each object's data a union
pytestmark = pytest.mark.usefixtures("empty_scene")


def exported(blocks: list[Any], direct: bool, collection: Any = None) -> Any:
    settings = GatherSettings(direct=direct)
    return gather(blocks, collection, ExportScene(CONTEXT.scene, CONTEXT.view_layer, settings))


def square(name: str, offset: float) -> Any:
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([(offset, 0, 0), (offset + 8, 0, 0), (offset, 8, 0)], [], [(0, 1, 2)])
    mesh.uv_layers.new()
    block = bpy.data.objects.new(name, mesh)
    CONTEXT.scene.collection.objects.link(block)
    block.modifiers.new("wave", "WAVE").height = 1.0
    return block


@pytest.mark.parametrize("direct", [True, False])
def test_stepped_each_has_its_own_positions(tmp_path, direct):
    square("square", 100.0)
    (other,) = append(tmp_path, "objects", ["square"], link=True)
    own = square("square", 0.0)
    CONTEXT.scene.collection.objects.link(other)
    assert own.name == other.name == "square"
    CONTEXT.scene.frame_end = 5
    for blocks in ([own, other], [other, own]):
        low = [float(surface.positions[..., 0].min()) for surface in exported(blocks, direct).surfaces]
        assert low == [float(block.data.vertices[0].co.x) for block in blocks]


@pytest.mark.parametrize("direct", [True, False])
def test_tags_of_one_name(tmp_path, direct):
    tag = bpy.data.objects.new("tag_hand", None)
    CONTEXT.scene.collection.objects.link(tag)
    tag.location.x = 100.0
    (other,) = append(tmp_path, "objects", ["tag_hand"], link=True)
    own = bpy.data.objects.new("tag_hand", None)
    for block in (own, other):
        CONTEXT.scene.collection.objects.link(block)
    model = exported([other, own, square("square", 0.0)], direct)
    assert [float(t.origins[0, 0]) for t in model.tags] == [100.0, 0.0]


@pytest.mark.parametrize("direct", [True, False])
def test_the_same_model_linked_beside_itself(tmp_path, direct):
    """Local edits stay local: the linked one's surfaces are further ones, as the file has them."""
    name = open_case(SENTINEL.read_bytes()).collection.name
    (library,) = append(tmp_path, "collections", [name], link=True)
    case = open_case(SENTINEL.read_bytes())
    CONTEXT.scene.collection.children.link(library)
    for key in case.surface().data.shape_keys.key_blocks:
        key.points[0].co.z += 1.0
    blocks = [*case.collection.all_objects, *library.all_objects]
    assert len({block.name for block in blocks}) < len(blocks)
    model = exported(blocks, direct, case.collection)
    before = case.row.load(SENTINEL.read_bytes(), "x").surfaces
    count = len(before)
    assert len(model.surfaces) == 2 * count
    moved = np.abs(model.surfaces[0].positions - before[0].positions).max(axis=(0, 2))
    assert (moved > 0.9).sum() == (before[0].positions[0] == before[0].positions[0, 0]).all(axis=1).sum()
    for found, wanted in zip(model.surfaces[count:], before, strict=True):
        assert found.positions.shape == wanted.positions.shape
        assert np.array_equal(found.positions, wanted.positions)


def test_skinned_meshes_of_one_name(tmp_path):
    (other,) = append(tmp_path, "objects", [open_rig(samples_md5.arm()).mesh().name], link=True)
    case = open_rig(samples_md5.arm())
    case.collection.objects.link(other)
    assert other.name == case.mesh().name
    for vertex in case.mesh().data.vertices:
        vertex.co.z += 5.0
    export = rig_scene(CONTEXT.scene, CONTEXT.view_layer, SkeletalGatherSettings(), case.rig)
    found = gather_skeletal([case.rig, case.mesh(), other], export)
    assert len(found.meshes) == 2
    assert (found.meshes[0].kept is None) or not found.meshes[0].kept.any()
