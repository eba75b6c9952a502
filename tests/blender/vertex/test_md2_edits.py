"""F2 for MD2: an edit in Blender changes what it touches, and nothing else, in the file."""

import re
from collections import Counter
from typing import Any

import bmesh
import bpy
import numpy as np
import pytest

from io_idtech_models.blender.mesh import attributes as meshes
from io_idtech_models.blender.provenance import first_number
from io_idtech_models.formats.common.normals import decode_direction
from io_idtech_models.formats.md2 import file as md2
from tests import facts, samples_md2
from tests.blender.case import CONTEXT, Case, activate, angle, edited, in_edit_mode, open_case, separated, show_image
from tests.samples import corpus, sample, sample_params
from tests.ui.scene import add_mesh

OPS: Any = bpy.ops  # the stubs know nothing of our own operators
pytestmark = pytest.mark.usefixtures("empty_scene")

# Real models with many frames, skins and seams, and with odd triangles.
WANTED = ("playermodels/tris.md2", "v_blast/tris.md2")
REAL = [c for c in corpus(".md2") if c.path.as_posix().endswith(WANTED)]
FILES = [
    *(pytest.param(sample(name, "md2"), id=name) for name in ("animated", "seams", "unused", "odd_layout")),
    *(pytest.param(file.data, id=f"{file.path.parent.name}-{file.path.stem}") for file in REAL),
]


@pytest.fixture(params=FILES)
def case(request) -> Case:
    return open_case(request.param)


@pytest.fixture(params=[p for p in FILES if p.id != "seams"])
def animated(request) -> Case:
    """A model of five frames or more."""
    return open_case(request.param)


def paths(found, pattern):
    """Return those of some paths that match a pattern as a whole."""
    return {path for path in found if re.fullmatch(pattern, path)}


def triangles_of(case) -> np.ndarray[Any, Any]:
    """Return the file's triangle of each face."""
    mesh = case.surface().data
    faces = meshes.get_attribute(mesh, meshes.FACE_SOURCE, "INT", "FACE")
    assert faces is not None
    return faces - 1 - first_number(mesh)


def are_near(file, vertex, changed) -> bool:
    """Tell whether normals have changed only of a vertex, and of those that share a triangle with it."""
    turned = {int(re.findall(r"\d+", path)[1]) for path in paths(changed, r".*normal.*")}
    return turned <= {vertex, *(v for row in file.triangles["xyz"].tolist() if vertex in row for v in row)}


def middle_vertex(case: Case, frame: int) -> int:
    """Return a vertex of a triangle that is at no end of its frame's box."""
    codes = case.before.vertices[frame, :, :3].astype(int)
    inner = ((codes > codes.min(axis=0)) & (codes < codes.max(axis=0))).sum(axis=1)
    used = np.unique(case.before.triangles["xyz"])
    return int(used[inner[used].argmax()])


# -- positions


def test_a_vertex_moved_in_one_key_inside_the_box(animated):
    frame, vertex = 3, middle_vertex(animated, 3)
    before = animated.before
    low, high = (getattr(before.vertices[frame, :, :3], end)(axis=0) for end in ("min", "max"))
    scale, offset = (before.frames[n][frame] for n in ("scale", "translate"))
    key = animated.surface().data.shape_keys.key_blocks[frame]
    wanted = (low.astype(int) + high) // 2 + (3, -2, 1)
    key.points[vertex].co = wanted * scale + offset
    changed = animated.changed()
    assert changed - paths(changed, rf"frames\[{frame}\]\.normal\[\d+\]") == {f"frames[{frame}].xyz[{vertex}]"}
    assert are_near(before, vertex, changed)
    assert animated.after().vertices[frame, vertex, :3].tolist() == wanted.tolist()


def test_a_vertex_moved_in_one_key_outside_the_box(animated):
    frame, vertex = 2, middle_vertex(animated, 2)
    key = animated.surface().data.shape_keys.key_blocks[frame]
    key.points[vertex].co = (300.0, -150.0, 75.0)
    before, after = animated.before, animated.after()
    changed = animated.changed()
    assert {f"frames[{frame}].scale", f"frames[{frame}].translate"} <= changed
    assert all(path.startswith(f"frames[{frame}].") for path in changed)
    assert are_near(before, vertex, changed)
    wanted = np.array([p.co for p in key.points], np.float32)
    size = np.ptp(wanted, axis=0)
    shown = after.vertices[frame, :, :3] * after.frames["scale"][frame] + after.frames["translate"][frame]
    assert (np.abs(shown - wanted) <= size / 255 * 0.501 + 1e-4).all(), "the closest codes"
    np.testing.assert_allclose(after.frames["scale"][frame] * 255, size, rtol=1e-5)


def positions(file):
    scale, offset = (file.frames[n].astype(np.float64)[:, None] for n in ("scale", "translate"))
    return file.vertices[..., :3] * scale + offset


# -- frames


def test_frames_of_a_model_of_one():
    case = open_case(sample("minimal", "md2"))
    activate(case.surface())
    assert OPS.object.idtech_insert_frame() == {"FINISHED"}
    keys = case.surface().data.shape_keys.key_blocks
    keys[1].points[0].co.z += 1.0
    found, before = facts.facts(case.both()), facts.facts(case.data)
    assert {path: found[path] for path in before} == before
    assert found["frames[1].xyz[0]"] != found["frames[0].xyz[0]"]
    CONTEXT.scene.frame_set(1)
    assert OPS.object.idtech_delete_frame() == {"FINISHED"}
    assert case.dump() == case.data


# -- texture coordinates


def test_a_moved_texture_coordinate(case):
    """One of several corners, shown by triangles that Blender was given, to where no other is."""
    before = case.before
    solid = np.array([len(set(row)) == 3 for row in before.triangles["xyz"].tolist()])
    counts = np.bincount(before.triangles["st"][solid].ravel())
    counts[np.unique(before.triangles["st"][~solid])] = 0
    entry = int(counts.argmax())
    s, t = before.st[entry].tolist()
    taken = before.st.tolist()
    step = next(x for x in range(1, 400) if [s + x, t + 1] not in taken)
    layer = case.surface().data.uv_layers[0].uv
    shown = before.triangles["st"][triangles_of(case)][:, ::-1].ravel()
    for corner in np.flatnonzero(shown == entry).tolist():
        layer[corner].vector.x += step / int(before.header["skin_width"])
        layer[corner].vector.y -= 1 / int(before.header["skin_height"])
    assert case.changed() == {f"st[{entry}]", "commands"}
    assert (case.after().st[entry] - before.st[entry]).tolist() == [step, 1]


def least(row):
    return min(tuple(row[k:] + row[:k]) for k in range(3))


# -- skins


def test_a_renamed_skin_and_another_picture(case):
    slots = case.surface().material_slots
    if not len(slots):
        pytest.skip("no skins")
    show_image(slots[0].material, bpy.data.images.new("other", 17, 19))
    assert case.dump() == case.data, "the source's size of the skin stays"
    slots[0].material.name = "models/new/skin.pcx"
    assert case.changed() == {"skins[0]"}
    assert case.after().skins[0] == b"models/new/skin.pcx"


@pytest.mark.parametrize("name", ["animated", "odd_names", "many_skins"])
def test_skins_in_another_order(name):
    case = open_case(sample(name, "md2"))
    block = case.surface()
    activate(block)
    block.active_material_index = 1
    assert bpy.ops.object.material_slot_move(direction="UP") == {"FINISHED"}
    assert case.changed() == {"skins[0]", "skins[1]"}
    assert case.after().skins[:2].tolist() == case.before.skins[1::-1].tolist()


def test_a_skin_less_and_a_skin_more():
    case = open_case(sample("animated", "md2"))
    block = case.surface()
    activate(block)
    block.active_material_index = 1
    assert bpy.ops.object.material_slot_remove() == {"FINISHED"}
    assert case.changed() == {"skins[1]"}
    block.data.materials.append(bpy.data.materials.new("models/third.pcx"))
    block.data.materials.append(bpy.data.materials.new("models/fourth.pcx"))
    assert case.after().skins.tolist()[1:] == [b"models/third.pcx", b"models/fourth.pcx"]


def test_faces_that_wear_the_second_skin_change_nothing():
    case = open_case(sample("animated", "md2"))
    case.surface().data.polygons[1].material_index = 1
    assert case.dump() == case.data


# -- faces and vertices


def test_a_deleted_face(case):
    before, triangles = case.before, triangles_of(case)
    counts = np.bincount(before.triangles["xyz"].ravel(), minlength=before.vertices.shape[1])
    rich = int(np.flatnonzero((counts[before.triangles["xyz"][triangles]] > 1).all(axis=1))[0])
    edited(case.surface(), lambda bm: bmesh.ops.delete(bm, geom=[bm.faces[rich]], context="FACES_ONLY"))
    after, left = case.after(), np.delete(before.triangles, triangles[rich])
    assert after.triangles["xyz"].tolist() == left["xyz"].tolist()
    assert after.st[after.triangles["st"]].tolist() == before.st[left["st"]].tolist()
    assert after.vertices.tobytes() == before.vertices.tobytes()
    assert {path.split("[")[0] for path in case.changed()} <= {"triangles", "st", "commands"}


def test_a_deleted_face_takes_the_vertices_that_only_it_had():
    case = open_case(sample("animated", "md2"))
    edited(case.surface(), lambda bm: bmesh.ops.delete(bm, geom=[bm.faces[3]], context="FACES"))
    before, after = case.before, case.after()
    assert after.vertices.tobytes() == np.delete(before.vertices, 4, axis=1).tobytes()
    assert after.frames.tobytes() == before.frames.tobytes(), "the boxes too"


def test_an_added_face(case):
    def add(bm):
        first = bm.faces[0].verts[0]
        linked = {e.other_vert(first) for e in first.link_edges}
        far = [v for v in bm.verts if v not in linked and v is not first and v.link_faces]
        bm.faces.new((first, far[0], far[-1]))

    edited(case.surface(), add)
    before, after = case.before, case.after()
    assert after.triangles[: len(before.triangles)].tobytes() == before.triangles.tobytes()
    assert len(after.triangles) == len(before.triangles) + 1
    assert after.vertices.tobytes() == before.vertices.tobytes()
    count = len(before.triangles)
    assert case.changed() <= {f"triangles[{count}].xyz", f"triangles[{count}].st", f"st[{len(before.st)}]", "commands"}


def test_an_added_vertex(case):
    edited(case.surface(), lambda bm: bmesh.ops.poke(bm, faces=[bm.faces[0]], center_mode="MEAN"))
    before, after = case.before, case.after()
    count = before.vertices.shape[1]
    assert after.vertices.shape[1] == count + 1
    assert after.vertices[:, :count].tobytes() == before.vertices.tobytes()
    assert after.frames.tobytes() == before.frames.tobytes(), "it lies inside the boxes"
    kept = [row for row in before.triangles["xyz"].tolist() if row in after.triangles["xyz"].tolist()]
    assert len(kept) >= len(before.triangles) - 1
    assert len(after.triangles) == len(before.triangles) + 2
    wanted = positions(before)[:, before.triangles["xyz"][triangles_of(open_case(case.data))[0]]].mean(axis=1)
    assert np.abs(positions(after)[:, count] - wanted).max() <= np.abs(before.frames["scale"]).max() * 0.51


def test_merged_by_distance(case):
    in_edit_mode(case.surface(), lambda: bpy.ops.mesh.remove_doubles(threshold=0.0001))
    before, after = case.before, case.after()
    if len(after.triangles) == len(before.triangles):
        assert after.vertices.shape[1] <= before.vertices.shape[1]
        same_base(after, before)


def same_base(after, before):
    """Assert that two files show the same triangles in their first frames: Blender merges what lies together there."""

    def shown(file):
        places, texels = positions(file)[0].round(3)[file.triangles["xyz"]], file.st[file.triangles["st"]]
        rows = np.concatenate((places, texels), axis=2).tolist()
        return Counter(least([tuple(corner) for corner in row]) for row in rows)

    assert shown(after) == shown(before)


def test_quads_and_back(case):
    block, before = case.surface(), case.before
    in_edit_mode(block, lambda: bpy.ops.mesh.tris_convert_to_quads(uvs=True))
    quads = case.changed()
    in_edit_mode(block, bpy.ops.mesh.quads_convert_to_tris)
    after = case.after()
    assert after.vertices.tobytes() == before.vertices.tobytes()
    assert len(after.triangles) == len(before.triangles)
    assert texels_of_vertices(after) == texels_of_vertices(before)
    if len(np.unique(before.st, axis=0)) == len(before.st):  # else a triangle cut the other way may use an equal one
        allowed = {path for path in facts.facts(case.data) if path.startswith("triangles") or path == "commands"}
        assert quads <= allowed
        assert case.changed() <= allowed


def test_quads_across_seams_lose_no_vertex_and_show_only_texels_of_the_file(case):
    block = case.surface()
    in_edit_mode(block, bpy.ops.mesh.tris_convert_to_quads, bpy.ops.mesh.quads_convert_to_tris)
    before, after = case.before, case.after()
    assert after.vertices.tobytes() == before.vertices.tobytes()
    assert len(after.triangles) == len(before.triangles)
    assert texels_of_vertices(after) <= texels_of_vertices(before)


def texels_of_vertices(file):
    """Return the pairs of a vertex and a texel that triangles have."""
    texels = file.st[file.triangles["st"]].reshape(-1, 2).tolist()
    return {(v, *t) for v, t in zip(file.triangles["xyz"].ravel().tolist(), texels, strict=True)}


# -- one mesh of several objects


def separate(case: Case, chosen, *, mended: bool = True) -> Any:
    """Separate faces into an object of their own, which is returned; `mended`: without the key that 4.5 adds to it."""
    made = separated(case.surface(), chosen)
    keys = [b.data.shape_keys for b in (made, case.surface())]
    if mended and keys[0] is not None and len(keys[0].key_blocks) > len(keys[1].key_blocks):
        made.shape_key_remove(keys[0].key_blocks[-1])
    return made


def test_the_copy_of_the_first_key_that_blender_45_adds_to_a_separated_part_is_no_frame():
    case = open_case(sample("animated", "md2"))
    made = separate(case, [0], mended=False)
    assert case.dump() == case.data
    made.name = "a"  # which comes before the part that it was of
    assert case.dump() == case.data
    bpy.data.objects.remove(case.surface())
    assert len(case.after().frames) == len(case.before.frames)


def test_a_separated_part_is_joined_on_export(case):
    count = len(case.surface().data.polygons)
    separate(case, range(0, count, 3))
    assert case.both() == case.data


def bridged() -> bytes:
    """Return a model whose first triangle has no area and vertices that no other triangle shares."""
    spec = samples_md2.degenerate()
    spec.triangles = [((1, 4, 1), (0, 3, 6)), *spec.triangles]
    return spec.pack()


@pytest.mark.parametrize("data", [*sample_params("degenerate", "duplicates", "beyond", format_name="md2"), bridged()])
@pytest.mark.parametrize("chosen", [[0], [1, 2], [3]])
def test_triangles_without_area_whose_vertices_part_come_back(data, chosen):
    case = open_case(data)
    separate(case, chosen)
    assert case.both() == case.data


def test_a_separated_part_that_moved(animated):
    made = separate(animated, [0, 1])
    made.location = (0.0, 0.0, 400.0)
    before, after = animated.before, animated.after()
    assert len(after.triangles) == len(before.triangles)
    high = (positions(after)[..., 2] > 200).all(axis=0)
    assert 3 <= high.sum() <= 6
    assert (after.triangles["xyz"][:, :, None] == np.flatnonzero(high)).any(axis=(1, 2)).sum() == 2
    assert after.st[after.triangles["st"]].tolist() == before.st[before.triangles["st"]].tolist()


@pytest.mark.parametrize("data", sample_params("animated"))
def test_of_two_copies_the_one_that_agrees_in_most_frames_is_the_sources_both_ways(data):
    case = open_case(data)
    block = case.surface()
    activate(block)
    bpy.ops.object.duplicate()
    copy = CONTEXT.view_layer.objects.active
    for key in block.data.shape_keys.key_blocks[2:]:
        for point in key.points:
            point.co = key.points[0].co  # inside the frame's box
    activate(block, copy)
    assert bpy.ops.object.join() == {"FINISHED"}
    names = set(facts.facts(data)) - {"commands"}
    kept = {path: value for path, value in facts.facts(case.both()).items() if path in names and ".xyz[" in path}
    assert kept == {path: value for path, value in facts.facts(data).items() if path in kept}


def test_a_second_object_is_part_of_the_mesh():
    case = open_case(sample("seams", "md2"))
    points = [(0, 0, 30), (4, 0, 30), (0, 4, 30)]
    hat = add_mesh("hat", points, [(0, 1, 2)])
    hat.data.materials.append(bpy.data.materials.new("models/hat.pcx"))
    case.collection.objects.link(hat)
    before, after = case.before, case.after()
    assert after.vertices.shape == (2, 11, 4)
    assert after.triangles[:12].tobytes() == before.triangles.tobytes()
    assert after.triangles["xyz"][12:, ::-1].tolist() == [[8, 9, 10]]
    assert after.skins.tolist() == [*before.skins.tolist(), b"models/hat.pcx"]
    shown = positions(after)
    assert np.abs(shown[:, :8] - positions(before)).max() <= after.frames["scale"].max() * 0.51
    assert np.abs(shown[:, 8:] - points).max() <= after.frames["scale"].max() * 0.51
    assert after.vertices[:, :8, 3].tolist() == before.vertices[..., 3].tolist(), "the others keep their normals"
    assert decode_direction(after.vertices[0, 8:, 3]).tolist() == [[0, 0, 1]] * 3


def test_a_duplicated_object_is_more_of_the_mesh(case):
    activate(case.surface())
    bpy.ops.object.duplicate()
    CONTEXT.view_layer.objects.active.location.x = 500.0
    before, after = case.before, case.after()
    count, total = before.vertices.shape[1], len(before.triangles)
    odd = sum(len(set(row)) < 3 for row in before.triangles["xyz"].tolist())
    assert len(after.triangles) in (2 * total, 2 * total - odd)
    assert after.vertices.shape[1] <= 2 * count
    assert after.triangles["xyz"][:total].tolist() == before.triangles["xyz"].tolist()
    assert after.vertices[:, :count, 3].tolist() == before.vertices[..., 3].tolist()
    solid = [row for row in before.triangles["xyz"] if len(after.triangles) == 2 * total or len(set(row)) == 3]
    copied = after.vertices[:, after.triangles["xyz"][total:], 3]
    assert copied.tolist() == before.vertices[:, solid, 3].tolist(), "a copy is lit as its original, in every frame"
    assert np.abs(positions(after)[:, :count] - positions(before)).max() <= after.frames["scale"].max() * 0.51


# -- normals


def test_edited_normals(case):
    mesh = case.surface().data
    points = meshes.corner_points(mesh)
    normals = meshes.corner_normals(mesh).copy()
    mine = points == points[0]
    wanted = -normals[mine].mean(axis=0)
    normals[mine] = wanted / np.linalg.norm(wanted)
    mesh.normals_split_custom_set(normals)
    changed = case.changed()
    vertex = int(meshes.get_attribute(mesh, meshes.CORNER_SOURCE, "INT", "CORNER")[0]) - 1 - first_number(mesh)  # type: ignore[index]
    assert changed
    assert changed <= {f"frames[{f}].normal[{vertex}]" for f in range(len(case.before.frames))}
    code = case.after().vertices[0, vertex, 3]
    assert angle(decode_direction(np.array([code])), normals[mine][:1]).max() < 12


def test_sharp_edges_change_only_their_ends(case):
    mesh = case.surface().data
    edge = next(e for e in mesh.edges if not e.use_edge_sharp)
    edge.use_edge_sharp = True
    ends = set(edge.vertices)
    changed = case.changed()
    assert {int(re.findall(r"\d+", path)[-1]) for path in changed} <= ends
    assert all(".normal[" in path for path in changed)


def test_normals_as_shown():
    case = open_case(sample("seams", "md2"))
    changed = case.changed(normals="SMOOTH")
    assert changed <= {f"frames[{f}].normal[{v}]" for f in range(2) for v in range(8)}
    file = md2.read(case.both(normals="SHOWN"))
    assert file.vertices[0, :, 3].tolist() == case.before.vertices[0, :, 3].tolist(), "the base shows the file's"


def test_flipped_faces(case):
    edited(case.surface(), lambda bm: bmesh.ops.reverse_faces(bm, faces=bm.faces[:2]))
    turned = triangles_of(case)[:2].tolist()
    before, after = case.before, case.after()
    assert after.st.tobytes() == before.st.tobytes()
    for triangle in range(len(before.triangles)):
        flipped = triangle in turned
        for part in ("xyz", "st"):
            row = before.triangles[part][triangle].tolist()
            assert least(after.triangles[part][triangle].tolist()) == least(row[::-1] if flipped else row)
