"""Edits of MD2 models' texture coordinates, vertices and triangles change what they touch, and nothing else."""

import numpy as np

from io_idtech_models.formats.common.normals import decode_direction
from io_idtech_models.formats.md2 import file as md2
from tests.facts import differences
from tests.formats.md2.edited import edit, opened, packed, shift
from tests.samples import dump, write_read

# -- texture coordinates


def test_a_move_below_half_a_texel_changes_nothing():
    assert edit("animated", lambda m: m.surfaces[0].uvs.__iadd__(np.float32(0.49 / 64))) == set()


def test_moving_one_corner_of_an_entry_makes_a_new_one():
    entry = 4  # of two corners
    assert (md2.read(packed("animated")).triangles["st"] == entry).sum() == 3
    changed = edit("animated", shift(entry, -7, 2, first_only=True))
    assert changed == {"st[6]", "triangles[0].st", "commands"}


def test_a_corner_that_moves_to_another_entrys_texel_shares_it():
    model = opened("animated")
    model.surfaces[0].uvs[0, 0] = model.surfaces[0].uvs[3, 2]
    data = dump(model)
    assert differences(packed("animated"), data) == {"triangles[0].st", "commands"}
    assert md2.read(data).triangles["st"][0, 2] == md2.read(packed("animated")).triangles["st"][3, 0]


def without_first_triangle(name):
    model = opened(name)
    surface = model.surfaces[0]
    surface.triangles, surface.uvs = surface.triangles[1:], surface.uvs[1:]
    surface.source_triangles = surface.source_triangles[1:]
    return md2.read(dump(model))


def test_entries_that_nobody_ever_used_stay_and_those_that_lost_their_last_corner_go():
    before, after = md2.read(packed("unused")), without_first_triangle("unused")
    gone = set(before.triangles["st"][0].tolist()) - set(before.triangles["st"][1:].ravel().tolist())
    kept = [i for i in range(len(before.st)) if i not in gone]
    assert gone and {0, 2, 8} <= set(kept)
    assert after.st.tolist() == before.st[kept].tolist()
    assert after.st[after.triangles["st"]].tolist() == before.st[before.triangles["st"][1:]].tolist()


def test_removing_triangles_where_indices_reach_beyond_the_table_renumbers_nothing():
    before, after = md2.read(packed("beyond")), without_first_triangle("beyond")
    assert after.triangles.tobytes() == before.triangles[1:].tobytes()
    assert after.st.tobytes() == before.st.tobytes()


def test_a_new_skin_size_moves_texels_along():
    model = opened("animated")
    again = write_read(model, skin_width=256, skin_height=64)
    assert again.texture_size == (256, 64)
    off = np.abs(again.surfaces[0].uvs - model.surfaces[0].uvs) * (256, 64)
    assert off.max() <= 0.5001
    assert dump(opened("animated"), skin_width=64, skin_height=32) == packed("animated")


# -- vertices and triangles


def test_a_new_triangle_uses_the_entries_that_are_there():
    model = opened("animated")
    surface = model.surfaces[0]
    surface.triangles = np.concatenate((surface.triangles, [(1, 0, 4)])).astype(np.int32)
    uvs = [surface.uvs[0, 1], surface.uvs[0, 2], (0.25, 0.75)]
    surface.uvs = np.concatenate((surface.uvs, [uvs])).astype(np.float32)
    surface.source_triangles = np.append(surface.source_triangles, np.int32(-1))
    changed = differences(packed("animated"), dump(model))
    assert changed == {"triangles[4].xyz", "triangles[4].st", "st[6]", "commands"}


def test_a_new_vertex_has_the_closest_of_the_162_normals():
    model = opened("animated")
    surface = model.surfaces[0]
    surface.source_vertices = surface.source_vertices.copy()
    surface.source_vertices[2] = -1
    surface.normals = surface.normals.copy()
    surface.normals[:, 2] = (0.1, 0.05, -2.0)
    data = dump(model)
    assert differences(packed("animated"), data) == {f"frames[{f}].normal[2]" for f in range(5)}
    code = int(md2.read(data).vertices[0, 2, 3])
    assert decode_direction(np.array([code], np.uint8))[0].tolist() == [0, 0, -1]
