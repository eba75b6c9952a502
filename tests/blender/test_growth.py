"""Twice as many parts, twice the work: counted in calls, which are the same on every machine. Time is the benchmarks'.

Only the loops of Python show here. What grows in whole arrays, and in Blender, `benchmarks/growth.py` shows.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import bmesh
import bpy
import numpy as np
import pytest

from benchmarks import grown
from benchmarks.grown import Size
from io_idtech_models.blender.mesh import attributes as meshes
from io_idtech_models.blender.scene import ExportScene
from io_idtech_models.blender.shading.materials import Materials
from io_idtech_models.blender.skeletal import build as skeletal
from io_idtech_models.blender.skeletal import gather as skeletal_gather
from io_idtech_models.blender.skeletal.rig_scene import SkeletalGatherSettings, rig_scene
from io_idtech_models.blender.vertex.frame_plan import GatherSettings
from io_idtech_models.blender.vertex.gather import gather
from io_idtech_models.blender.vertex.sampling import Stage
from io_idtech_models.formats import by_name
from tests.blender.case import CONTEXT, edited, open_case
from tests.ui.scene import add_cube

pytestmark = pytest.mark.once

SIZES = (10, 20, 40)


def calls(run) -> tuple[int, Any]:
    """Return how many functions are called while something runs, those of C among them, and what it returns."""
    count = 0

    def note(frame, event, argument):
        nonlocal count
        count += event in {"call", "c_call"}

    sys.setprofile(note)
    try:
        result = run()
    finally:
        sys.setprofile(None)
    return count, result


def is_linear(counts):
    """Tell whether twice as much takes twice the work, a constant part apart: of a square it would be four times."""
    before, middle, last = counts[-3:]
    return middle - before <= last - middle < 2.1 * (middle - before)


@pytest.fixture(autouse=True)
def warm():
    """Import what is imported when first used, which counts for nothing here."""
    open_case(grown.vertex_file("md3", Size(surfaces=2))).dump()


def vertex_counts(way, **fixed):
    found = []
    for count in SIZES:
        data = grown.vertex_file("md3", Size(**{**fixed, "surfaces": count}))
        brought, case = calls(partial(open_case, data))
        if way == "edited":
            edit(case)
        written, out = calls(case.dump)
        assert (out == data) == (way != "edited")
        found.append(brought if way == "import" else written)
    return found


def edit(case):
    """Move a vertex of each surface, and add a face to each."""
    for block in case.built.surfaces:
        block.data.vertices[3].co.z += 2.0
        block.data.polygons.add(1)
        block.data.loops.add(3)
        face = block.data.polygons[-1]
        face.loop_start = len(block.data.loops) - 3
        face.vertices = (0, 2, 4)
        block.data.update(calc_edges=True)


@pytest.mark.parametrize(("way", "frames"), [("import", 1), ("import", 3), ("export", 1), ("export", 3), ("edited", 1)])
def test_surfaces(way, frames):
    counts = vertex_counts(way, frames=frames)
    assert is_linear(counts), counts


def test_new_objects():
    counts = []
    for count in SIZES:
        case = open_case(grown.vertex_file("md3", Size(surfaces=count)))
        for holder in (case.collection, *(block.data for block in case.built.surfaces)):
            for name in list(holder.keys()):
                del holder[name]
        counts.append(calls(case.dump)[0])
    assert is_linear(counts), counts


def test_faces_of_many_corners_are_looked_up_together(monkeypatch):
    """For a single number numpy may copy all that it is looked up in."""
    looked, counts = np.searchsorted, []
    for rows in SIZES:
        case = open_case(grown.vertex_file("md3", Size(rows=rows, columns=10)))
        (block,) = case.built.surfaces
        edited(block, lambda bm: bmesh.ops.dissolve_faces(bm, faces=[each for each in bm.faces if each.index % 8 < 4]))
        assert [len(face.vertices) for face in block.data.polygons].count(6) == 5 * rows // 2
        seen: list[int] = []
        with monkeypatch.context() as patch:
            patch.setattr(np, "searchsorted", lambda *a, to=seen, **named: to.append(1) or looked(*a, **named))
            case.dump()
        counts.append(len(seen))
    assert len(set(counts)) == 1, counts


@pytest.mark.parametrize("kind", ["meshes", "materials"])
def test_what_else_is_in_the_file_does_not_matter(kind):
    data, counts = grown.vertex_file("md3", Size(surfaces=2, shaders=2, tags=1, frames=2)), []
    for count in SIZES:
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        for _ in range(count):
            block = getattr(bpy.data, kind).new("other")
            if kind == "meshes":
                CONTEXT.scene.collection.objects.link(bpy.data.objects.new("other", block))
        brought, case = calls(partial(open_case, data))
        written, out = calls(case.dump)
        assert out == data
        counts.append((brought, written))
    assert len(set(counts)) == 1, counts


def skeletal_counts(name, sizes):
    """Return how many functions a skeletal model's import calls, and its export."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    row = by_name(name)
    model = grown.skeletal_model(sizes["joints"], sizes["meshes"], 2, 3, sizes["tags"] if row.tags else 0)
    bones = {other.name: other.dump(grown.march(sizes["joints"], 2)) for other in row.skeletal.companions}
    loaded, none = row.load(row.dump(model), "model", bones), Materials()
    settings, into = skeletal.SkeletalSettings(), CONTEXT.scene.collection
    brought, posed = calls(lambda: skeletal.build(loaded, [], settings, none, CONTEXT.scene, into))
    export = rig_scene(CONTEXT.scene, CONTEXT.view_layer, SkeletalGatherSettings(), posed.armature)
    blocks = [posed.armature, *posed.meshes, *posed.tags]
    return brought, calls(lambda: row.dump(skeletal_gather.gather(blocks, export)))[0]


@pytest.mark.parametrize(
    ("name", "what"),
    [("md5mesh", "meshes"), ("md5mesh", "joints"), ("mdm", "meshes"), ("mdm", "joints"), ("mdm", "tags")],
)
def test_skeletal_models(name, what):
    sizes = {"joints": 12, "meshes": 2, "tags": 2}
    for counts in zip(*(skeletal_counts(name, sizes | {what: count}) for count in SIZES), strict=True):
        assert is_linear(counts), counts


def test_frames_and_joints_of_an_animation():
    row = by_name("md5anim")
    for sizes in ([(2 * n, 12) for n in SIZES], [(12, 2 * n) for n in SIZES]):
        files = [row.dump(grown.animation(joints, frames)) for joints, frames in sizes]
        counts = [calls(lambda data=data: row.dump(row.load(data, "move")))[0] for data in files]
        assert is_linear(counts), counts


def keyed_cube(frames):
    """Return a new cube with a key for each frame, and normals of its own."""
    block = add_cube()
    normals = meshes.corner_normals(block.data)
    normals[::3, 0] += 0.75
    block.data.normals_split_custom_set(meshes.unit(normals).tolist())
    base = meshes.positions(block.data)
    for frame in range(frames):
        key = block.shape_key_add(name=f"frame{frame}")
        key.data.foreach_set("co", (base * (1.0 + 0.125 * frame) + np.sin(base * frame)).astype(np.float32).ravel())
    block.data.shape_keys.use_relative = False
    return block


@pytest.mark.usefixtures("empty_scene")
def test_frames_of_a_new_model_are_not_shown_one_by_one(monkeypatch):
    """Blender looks through all keys for each frame that it shows; what comes is the same as if it did."""
    block, shown = keyed_cube(12), []
    show = Stage.show

    def counted(stage, frame, own=False):
        shown.append(frame)
        show(stage, frame, own)

    monkeypatch.setattr(Stage, "show", counted)

    def dump(direct):
        asked = GatherSettings(direct=direct)
        return by_name("md3").dump(gather([block], None, ExportScene(CONTEXT.scene, CONTEXT.view_layer, asked)))

    fast = dump(True)
    few = len(shown)
    assert fast == dump(False)
    assert few <= 2 < 12 <= len(shown) - few
    assert len(by_name("md3").load(fast, "").frame_names) == 12
    assert len(bpy.data.meshes) == 1
