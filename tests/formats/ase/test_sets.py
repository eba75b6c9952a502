"""Further sets of texture coordinates in an ASE: which there are, and what an edit of them changes in the text."""

from difflib import unified_diff
from typing import Any

import numpy as np
import pytest

from io_idtech_models.formats import by_name
from io_idtech_models.formats.ase.file import read
from io_idtech_models.reporting import LimitError
from tests.samples import load
from tests.samples_ase import (
    CORNERS,
    FACES,
    HARD,
    LIGHT,
    LIGHT_FACES,
    TFACES,
    TVERTS,
    MaterialSpec,
    MeshSpec,
    channel,
    pack,
    several_sets,
)

ROW = by_name("ase")


def changes(before, after):
    """Return the words of lines that go and that come."""
    lines = list(unified_diff(before.decode().splitlines(), after.decode().splitlines(), lineterm="", n=0))[2:]
    return [[line[1:].split() for line in lines if line[0] == sign] for sign in "-+"]


def of_file(tverts, tfaces):
    """Return what a set says of corners, (T, 3, 2)."""
    return np.array(tverts, np.float32)[:, :2][np.array(tfaces)]


def channels(data):
    """Return the channels of each mesh in the order of the file, the drawn one last."""
    shapes: Any = [shape.mesh for shape in read(data).objects]
    return [[each.channel for each in (*mesh.further, mesh.drawn)] for mesh in shapes]


def lit(model, edit):
    """Edit the surfaces of the mesh with three sets."""
    for surface in model.surfaces[:2]:
        edit(surface)
    return ROW.dump(model)


def test_the_last_set_is_drawn_and_the_others_are_there():
    model = load(several_sets())
    one, other, plain = model.surfaces
    for surface, faces in ((one, [0, 1, 4]), (other, [2, 3, 5])):
        assert (surface.uv_name, list(surface.further_uvs)) == ("UVChannel_5", ["UVChannel_1", "UVChannel_3"])
        drawn = of_file(TVERTS, TFACES)[faces][..., ::-1]
        assert np.array_equal(surface.corner_uvs, drawn)
        assert np.array_equal(surface.further_uvs["UVChannel_1"], of_file(TVERTS, TFACES)[faces])
        assert np.array_equal(surface.further_uvs["UVChannel_3"], of_file(LIGHT, LIGHT_FACES)[faces])
    # The material's offset and tiling are the drawn set's.
    assert (plain.uv_name, list(plain.further_uvs)) == ("UVChannel_2", ["UVChannel_1"])
    assert np.array_equal(plain.further_uvs["UVChannel_1"], of_file(TVERTS, TFACES))
    assert not np.array_equal(plain.corner_uvs, of_file(TVERTS, TFACES))
    assert ROW.dump(model) == several_sets()


def test_a_coordinate_that_moves_changes_its_row():
    model = load(several_sets())
    model.surfaces[1].further_uvs["UVChannel_3"][2, 1] = (0.5, 0.75)
    gone, come = changes(several_sets(), ROW.dump(model))
    assert gone == [["*MESH_TVERT", "16", "1.0000", "-0.7500", "0.0000"]]
    assert come == [["*MESH_TVERT", "16", "0.5000", "0.7500", "0.0000"]]


def test_corners_of_one_row_that_part_make_its_lists_anew_and_no_other():
    model = load(several_sets())
    model.surfaces[2].further_uvs["UVChannel_1"][0, 0] = (4, 5)
    gone, come = changes(several_sets(), ROW.dump(model))
    assert {row[0] for row in gone + come} == {"*MESH_NUMTVERTEX", "*MESH_TVERT", "*MESH_TFACE"}
    assert np.array_equal(load(ROW.dump(model)).surfaces[2].further_uvs["UVChannel_1"][0, 0], (4, 5))
    assert channels(ROW.dump(model)) == [[1, 3, 5], [1, 2]]


def test_sets_go_come_and_are_called_otherwise():
    def rename(surface):
        surface.further_uvs = {n.replace("_3", "_4"): uvs for n, uvs in surface.further_uvs.items()}

    data = lit(load(several_sets()), rename)
    assert changes(several_sets(), data) == [
        [["*MESH_MAPPINGCHANNEL", "3", "{"]], [["*MESH_MAPPINGCHANNEL", "4", "{"]],
    ]  # fmt: skip
    data = lit(load(several_sets()), lambda surface: surface.further_uvs.pop("UVChannel_3"))
    whole = channel(3, LIGHT, LIGHT_FACES)
    assert data.decode("latin-1") == several_sets().decode("latin-1").replace(whole, "")
    data = lit(load(several_sets()), lambda surface: surface.further_uvs.pop("UVChannel_1"))
    assert channels(data) == [[3, 5], [1, 2]] and not changes(several_sets(), data)[1]
    data = lit(load(several_sets()), lambda surface: surface.further_uvs.update(UVChannel_2=surface.corner_uvs))
    assert (changes(several_sets(), data)[0], channels(data)) == ([], [[1, 3, 2, 5], [1, 2]])
    assert np.array_equal(load(data).surfaces[1].further_uvs["UVChannel_2"], load(data).surfaces[1].corner_uvs)


def test_a_name_without_a_number_is_the_next_that_is_free(caplog):
    def edit(surface):
        surface.further_uvs["light"] = surface.corner_uvs + np.float32(1)
        surface.further_uvs["UVChannel_2"] = surface.corner_uvs

    assert channels(lit(load(several_sets()), edit))[0] == [1, 3, 4, 2, 5]
    assert caplog.messages == [
        f"'{name}': ASE has numbers for names of UV maps: 'light' is UVChannel_4" for name in ("lit", "lit_1")
    ]


@pytest.mark.parametrize("parts", [1, 2])
def test_another_set_is_drawn_where_the_mesh_is_written_anew(parts):
    model = load(several_sets())
    for surface in model.surfaces[:parts]:
        drawn, surface.uvs = surface.corner_uvs, surface.corner_uvs.reshape(-1, 2)
        count = 3 * len(surface.triangles)
        surface.positions = surface.positions[:, surface.triangles.ravel()]
        surface.normals = surface.normals[:, surface.triangles.ravel()]
        surface.triangles = np.arange(count, dtype=np.int32).reshape(-1, 3)
        surface.source_vertices = np.full(count, -1, np.int32)
        surface.uvs = surface.further_uvs.pop("UVChannel_3").reshape(-1, 2)
        surface.uv_name, surface.further_uvs["UVChannel_5"] = "UVChannel_3", drawn
    data = ROW.dump(model)
    again = {surface.name: surface for surface in load(data).surfaces}
    for surface in model.surfaces[:2]:
        found = again[surface.name]
        assert (found.uv_name, list(found.further_uvs)) == (surface.uv_name, list(surface.further_uvs))
        assert np.abs(found.corner_uvs - surface.corner_uvs).max() < 1e-6
        for name, corners in surface.further_uvs.items():
            assert np.abs(found.further_uvs[name] - corners).max() < 1e-6
    assert channels(data)[-1][-1] == (3 if parts == 2 else 5)


def test_new_files_have_the_drawn_set_last(caplog):
    model = load(several_sets())
    model.source = None
    data = ROW.dump(model)
    assert channels(data) == [[1, 3, 5], [1, 3, 5], [1, 2]] and not caplog.messages
    assert data.index(b"*MESH_MAPPINGCHANNEL 3") < data.index(b"*MESH_MAPPINGCHANNEL 5")
    for old, new in zip(model.surfaces, load(data).surfaces, strict=True):
        assert all(np.abs(new.further_uvs[name] - uvs).max() < 1e-6 for name, uvs in old.further_uvs.items())
    model.surfaces[0].further_uvs["UVChannel_3"][0, 0, 0] = np.nan
    with pytest.raises(LimitError, match="'lit' has a texture coordinate that is no number"):
        ROW.dump(model)


def test_what_was_not_shown_stays_also_where_faces_change():
    model = load(several_sets())
    surface = model.surfaces[2]
    surface.further_uvs, surface.shown_uvs = {}, ()
    assert ROW.dump(model) == several_sets()
    surface.triangles, surface.source_triangles = surface.triangles[1:], surface.source_triangles[1:]
    again = load(ROW.dump(model)).surfaces[2]
    assert np.abs(again.further_uvs["UVChannel_1"] - of_file(TVERTS, TFACES)[1:]).max() < 1e-6
    surface.source_triangles[2] = -1  # a new one has the drawn coordinates
    again = load(ROW.dump(model)).surfaces[2]
    assert np.abs(again.further_uvs["UVChannel_1"][2] - again.corner_uvs[2]).max() < 1e-6


def test_corners_that_were_shown_as_one_or_not_at_all_keep_what_the_file_says():
    model = load(several_sets())
    surface, uvs = model.surfaces[2], model.surfaces[2].further_uvs["UVChannel_1"]
    surface.shown_corners = np.arange(18, dtype=np.int32).reshape(6, 3)
    surface.shown_corners[0] = -1
    surface.shown_corners[1, 2] = surface.shown_corners[2, 2]
    uvs[0], uvs[1, 2] = 9, uvs[2, 2]
    assert ROW.dump(model) == several_sets()
    uvs[1, 2], uvs[2, 2] = 9, 9
    assert np.array_equal(load(ROW.dump(model)).surfaces[2].further_uvs["UVChannel_1"][1:], uvs[1:])


def test_sets_that_are_none_of_the_faces_are_kept(caplog):
    short = channel(2, TVERTS, TFACES[1:])
    mesh = MeshSpec("odd", CORNERS, FACES, TVERTS, TFACES, HARD, more=short + channel(3, TVERTS, TFACES))
    mesh.more += channel(3, LIGHT, LIGHT_FACES)
    data = pack([MaterialSpec()], [mesh])
    model = load(data)
    assert caplog.messages == [
        "'odd' has 2 sets of texture coordinates that are none of its faces': kept, but not shown"
    ]
    (surface,) = model.surfaces
    assert (surface.uv_name, list(surface.further_uvs)) == ("UVChannel_3", ["UVChannel_1"])
    assert ROW.dump(model) == data
    surface.triangles, surface.source_triangles = surface.triangles[1:], surface.source_triangles[1:]
    surface.further_uvs["UVChannel_1"] = surface.further_uvs["UVChannel_1"][1:]
    assert channels(ROW.dump(model)) == [[1, 3]]
    assert caplog.messages[1:] == ["'odd' is written anew, without texture coordinates that are none of its faces'"]


def test_a_list_that_comes_again_behind_a_further_set_is_drawn():
    """Engines draw the list that they read last, also where the mesh's own is said again behind a channel."""
    again = channel(1, LIGHT, LIGHT_FACES).replace("\t\t*MESH_MAPPINGCHANNEL 1 {\n", "").removesuffix("\t\t}\n")
    mesh = MeshSpec("again", CORNERS, FACES, TVERTS, TFACES, HARD, more=channel(2, TVERTS, TFACES) + again)
    data = pack([MaterialSpec()], [mesh])
    model = load(data)
    (surface,) = model.surfaces
    assert (surface.uv_name, list(surface.further_uvs)) == ("UVChannel_1", ["UVChannel_2"])
    assert np.array_equal(surface.corner_uvs, of_file(LIGHT, LIGHT_FACES))
    assert ROW.dump(model) == data


def test_formats_with_one_set_say_so():
    from io_idtech_models.formats.vertex_files import dump_for

    model = load(several_sets())
    notes = dump_for(by_name("md3"), model, "format").notes
    assert "MD3 holds one set of texture coordinates: left out: 'UVChannel_1', 'UVChannel_3'" in notes
    assert not [note for note in dump_for(ROW, model, "format").notes if "one set" in note]
