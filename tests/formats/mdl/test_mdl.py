"""MDL: what is special about it; what all formats have in common is in `tests/formats`."""

import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from io_idtech_models.formats import by_name, identify
from io_idtech_models.formats.mdl import file as mdl
from io_idtech_models.formats.mdl.header import mean_area
from io_idtech_models.formats.vertex_files import dump_for
from io_idtech_models.model.clips import Clip
from io_idtech_models.model.pictures import Skin, quake_palette
from io_idtech_models.reporting import FormatError, LimitError
from tests import samples_mdl
from tests.facts import differences
from tests.samples import corpus, dump, load, sample
from tests.samples_mdl import GroupSpec, PoseSpec

TENTH = float(np.array(0.1, np.float32))


def read(name):
    return mdl.read(sample(name, "mdl"))


def structs(model, **options):
    return mdl.read(dump(model, "mdl", **options))


# -- reading


def test_every_field_of_the_smallest_file():
    file = read("minimal")
    assert file.header["scale"].tolist() == [0.5, 0.125, 0.0625]
    assert file.header["scale_origin"].tolist() == [-3.5, 11.25, 97.75]
    assert (file.header["bounding_radius"], file.header["size"]) == (81.5, 7.625)
    assert file.header["eye_position"].tolist() == [1.25, -2.5, 22.75]
    assert file.pictures.shape == (1, 8, 16)
    assert file.pictures[0, 1, :2].tolist() == [49, 52]
    assert file.st["st"].tolist() == [[3, 7], [15, 1], [9, 5]]
    assert file.triangles["vertices"].tolist() == [[2, 0, 1]]
    assert file.poses["bounds"].tolist() == [[[7, 64, 33, 0], [201, 131, 250, 0]]]
    assert file.vertices.tolist() == [[[7, 131, 250, 5], [17, 90, 33, 77], [201, 64, 120, 161]]]


def test_groups_are_counted_as_one_frame_and_hold_several_poses():
    file = read("groups")
    assert file.frames.kinds.tolist() == [0, 7, -1, 0, 0]
    assert file.frames.counts.tolist() == [1, 2, 1, 1, 1]
    assert file.frames.times.tolist() == pytest.approx([0.1, 0.1, -0.5])
    assert file.frames.heads[1].tolist() == [9, 8, 7, 6, 5, 4, 3, 2]
    assert len(file.poses) == 6
    assert file.skins.counts.tolist() == [2, 1, 1]


def test_a_model_of_half_life_is_refused_by_its_name():
    for ident in (b"IDST", b"IDSQ"):
        with pytest.raises(FormatError, match="Half-Life"):
            identify(ident, Path("barney.mdl")).read(ident + struct.pack("<i", 10) + bytes(300))


def test_another_format_of_that_suffix_goes_by_its_content():
    assert identify(sample("animated", "md3"), Path("laser.mdl")).name == "md3"


# -- meaning


def test_vertices_on_the_seam_lie_half_a_skin_further_on_the_back():
    model, file = load(sample("odd_seams", "mdl")), read("odd_seams")
    back = file.triangles["faces_front"] == 0
    texels = (model.surfaces[0].uvs[:, ::-1, 0] * 31 - 0.5).round().astype(int)
    own = file.st["st"][file.triangles["vertices"], 0]
    moved = (file.st["on_seam"][file.triangles["vertices"]] != 0) & back[:, None]
    assert moved.any()
    assert not moved.all()
    assert (texels == own + np.where(moved, 15, 0)).all()


def test_groups_and_names_make_the_animations():
    assert load(sample("groups", "mdl")).animations == [
        Clip("burn", 0, 1), Clip("burn", 1, 2, times=(TENTH, TENTH)),
        Clip("glow", 3, 1, times=(-0.5,)), Clip("glow", 4, 2),
    ]  # fmt: skip


def test_skins_are_the_shaders():
    model = load(sample("groups", "mdl"), "fire")
    assert model.surfaces[0].shaders == [skin.name for skin in model.skins] == ["fire_0", "fire_1", "fire_2"]
    assert model.skins[0].names == ["fire_0_0", "fire_0_1"]
    assert [len(skin.pictures) for skin in model.skins] == [2, 1, 1]
    assert model.skins[1].times == ()


# -- writing


def anew(name, **changes):
    """Return a sample's model without its source."""
    return replace(load(sample(name, "mdl")), source=None, **changes)


def test_a_new_models_grid_is_as_small_as_it_can_be():
    model = anew("animated")
    file = structs(model)
    assert file.vertices[..., :3].min(axis=(0, 1)).tolist() == [0, 0, 0]
    assert file.vertices[..., :3].max(axis=(0, 1)).tolist() == [255, 255, 255]
    found = load(mdl.write(file)).surfaces[0].positions
    assert np.abs(found - model.surfaces[0].positions).max() <= file.header["scale"].max() / 2 * 1.001


def test_a_new_models_numbers_are_those_of_ids_tools():
    model = anew("animated", traits={})
    header = structs(model).header
    reach = np.abs(model.surfaces[0].positions).max(axis=(0, 1))
    assert header["bounding_radius"] == pytest.approx(np.linalg.norm(reach))
    a, b, c = model.surfaces[0].positions[0][model.surfaces[0].triangles].transpose(1, 0, 2)
    assert header["size"] == pytest.approx(np.linalg.norm(np.cross(b - a, c - a), axis=1).mean() / 2)
    assert (header["flags"], header["sync_type"]) == (0, 0)


def test_a_seam_of_a_new_model_splits_its_vertices():
    file = structs(anew("seams"))
    assert len(file.st) > 8
    assert not file.st["on_seam"].any()
    assert (file.triangles["faces_front"] == 1).all()
    assert np.allclose(load(mdl.write(file)).surfaces[0].uvs, load(sample("seams", "mdl")).surfaces[0].uvs)


def test_a_model_without_a_picture_gets_one():
    file = structs(anew("animated", skins=[], texture_size=None))
    assert file.pictures.shape == (1, 256, 256)
    assert structs(anew("animated", skins=[]), skin_width=64, skin_height=48).pictures.shape == (1, 48, 64)


def moved(name, frame, vertex, by):
    model = load(sample(name, "mdl"))
    model.surfaces[0].positions[frame, vertex] += by
    return model


def test_a_vertex_beyond_the_grid_codes_all_anew_and_says_so(caplog):
    model = moved("animated", 1, 4, [200.0, 0.0, 0.0])
    before = load(sample("animated", "mdl")).surfaces[0].positions
    file = structs(model)
    assert "outgrows its file's grid" in caplog.text
    found = load(mdl.write(file)).surfaces[0].positions
    assert np.abs(found - model.surfaces[0].positions).max() <= file.header["scale"].max() / 2 * 1.001
    assert np.abs(found - before)[[0, 2, 3, 4]].max() <= file.header["scale"].max() / 2 * 1.001


def test_refitting_the_grid_is_asked_for(caplog):
    file = structs(load(sample("animated", "mdl")), refit_grid=True)
    assert file.vertices[..., :3].max(axis=(0, 1)).tolist() == [255, 255, 255]
    assert "outgrows" not in caplog.text


def test_the_numbers_follow_the_model_only_where_they_did_before():
    plain = anew("animated", traits={})
    source = load(dump(plain, "mdl"))
    before = mdl.read(dump(source))
    source.surfaces[0].positions[0, 4, 0] -= 1.0
    assert structs(source).header["size"] == before.header["size"], "which says roughly how large triangles are"
    source.surfaces[0].positions *= 0.5
    after = structs(source)
    assert after.header["size"] == pytest.approx(before.header["size"] / 4, rel=0.05)
    assert after.header["bounding_radius"] == pytest.approx(before.header["bounding_radius"] / 2, rel=0.01)
    assert structs(moved("animated", 0, 4, [2.5, 0.0, 0.0])).header["size"] == np.float32(7.625)


@pytest.mark.parametrize(("off", "follows"), [(1.005, True), (0.995, True), (1.05, False)])
def test_numbers_follow_that_a_tool_reckoned_before_places_were_rounded(off, follows):
    source = mdl.read(dump(anew("animated", traits={}), "mdl"))
    source.header = before = source.header.copy()
    for name in ("bounding_radius", "size"):
        before[name] *= np.float32(off)
    model = load(bytes(mdl.write(source)))
    assert structs(model).header == before, "which nobody edited"
    model.surfaces[0].positions *= 0.5
    after = structs(model).header
    assert (after["size"] < before["size"] / 3) == follows
    assert (after["bounding_radius"] < before["bounding_radius"] * 0.6) == follows


def test_numbers_of_the_header_are_edited():
    model = load(sample("animated", "mdl"))
    model.traits |= {"flags": 0x4000, "eye_position": (1.0, 2.0, 3.5), "size": 0.25}
    assert differences(sample("animated", "mdl"), dump(model)) == {"flags", "eye_position", "size"}
    for model.traits["flags"] in (2**31 - 1, -(2**31)):
        assert structs(model).header["flags"] == model.traits["flags"]


@pytest.mark.parametrize("value", [(1.0, 2.0), float("nan"), 2.0**31, "eight", None])
def test_numbers_that_the_header_can_not_hold_stay_as_they_were(value, caplog):
    model = load(sample("animated", "mdl"))
    model.traits["flags"] = value
    assert dump(model) == sample("animated", "mdl")
    assert ("'flags' can't be" in caplog.text) == (value is not None)


def test_a_frame_inserted_into_a_group_joins_it():
    model = load(sample("torch", "mdl"))
    surface = model.surfaces[0]
    model.frame_names.insert(2, "new")
    surface.positions, surface.normals = np.insert(surface.positions, 2, surface.positions[1], axis=0), None
    model.frame_sources = np.array([0, 1, -1, 2], np.int32)
    file = structs(model)
    assert (file.frames.kinds.tolist(), file.frames.counts.tolist()) == ([1], [4])
    assert file.frames.times.tolist() == pytest.approx([0.1, 0.2, 0.3, 0.4])


def test_groups_are_what_the_model_says():
    model = load(sample("groups", "mdl"))
    groups = [Clip("", 1, 3, times=(0.1, 0.1)), Clip("", 3, 2, times=(1.0,)), Clip("", 5, 9, times=(1.0,))]
    for model.groups, count in ((groups, 1), ([*groups[:2], Clip("", 4, 1, times=(0.5,))], 1)):
        file = structs(model)
        assert file.frames.counts.tolist() == [1, 3, 1, count]
        assert file.frames.kinds.tolist() == [0, 1, int(model.groups[2].first == 4), 0]
        times = [0.1, 0.1, 0.2, *([0.5] if model.groups[2].first == 4 else [])]
        assert file.frames.times.tolist() == pytest.approx(times), "a frame lasts a tenth of a second"


def test_groups_that_lie_apart_in_the_source_are_not_joined():
    spec = samples_mdl.animated()
    poses = [pose for pose in spec.frames if isinstance(pose, PoseSpec)]
    spec.frames = [GroupSpec(poses[:2], [0.5, 1.0]), GroupSpec(poses[2:4], [0.25, 0.5]), poses[4]]
    data = spec.pack()
    assert dump(load(data)) == data


def test_the_bytes_at_the_end_are_kept_or_dropped():
    data = sample("tailed", "mdl")
    assert dump(load(data)) == data
    assert dump(load(data), drop_tail=True) == sample("animated", "mdl")


# -- texture coordinates


def test_a_vertex_whose_corners_all_move_keeps_its_seam():
    model, before = load(sample("seams", "mdl")), read("seams")
    (surface,) = model.surfaces
    surface.uvs[surface.triangles == 2] += np.array([1 / 32, 0], np.float32)
    file = structs(model)
    assert file.st["on_seam"].tolist() == before.st["on_seam"].tolist()
    assert np.argwhere(file.st["st"] != before.st["st"]).tolist() == [[2, 0]]
    assert np.allclose(load(mdl.write(file)).surfaces[0].uvs, surface.uvs)


def test_a_corner_that_moves_alone_splits_its_vertex():
    model = load(sample("seams", "mdl"))
    (surface,) = model.surfaces
    surface.uvs[0, 0] += np.array([3 / 32, 1 / 8], np.float32)
    file = structs(model)
    assert len(file.st) == 9
    assert file.st[8]["on_seam"] == 0
    assert file.st[:8].tobytes() == read("seams").st.tobytes()
    assert (file.vertices[:, 8] == file.vertices[:, surface.triangles[0, 0]]).all()
    assert np.allclose(load(mdl.write(file)).surfaces[0].uvs, surface.uvs)


def test_what_no_texel_has_is_refused():
    model = load(sample("seams", "mdl"))
    model.surfaces[0].uvs[0, 0, 0] = np.nan
    with pytest.raises(LimitError, match="texture coordinate"):
        dump(model)


def test_another_size_of_skin_moves_the_texels_along():
    model = load(sample("seams", "mdl"))
    file = structs(model, skin_width=64, skin_height=16)
    assert file.pictures.shape == (1, 16, 64)
    assert np.abs(load(mdl.write(file)).surfaces[0].uvs - model.surfaces[0].uvs).max() <= 0.5 / 8


# -- pictures


def painted(name="crate"):
    """Return a model whose skins have colours in place of their numbers, and these skins."""
    model = load(sample("animated", "mdl"), name)
    model.skins = [
        replace(skin, pictures=[quake_palette()[picture] for picture in skin.pictures], times=())
        for skin in model.skins
    ]
    return model, model.skins


def test_a_painted_pixel_gets_the_nearest_number_and_the_others_keep_theirs():
    model, skins = painted()
    assert (structs(model).pictures == read("animated").pictures).all()
    skins[1].pictures[0][3, 5] = quake_palette()[77] + [1, 0, 1]
    after = structs(model).pictures
    assert np.argwhere(after != read("animated").pictures).tolist() == [[1, 3, 5]]
    assert (quake_palette()[after[1, 3, 5]] == quake_palette()[77]).all()


def test_a_skin_with_several_pictures_becomes_a_group():
    model = load(sample("animated", "mdl"))
    model.skins[0].pictures.append(model.skins[1].pictures[0])
    model.skins[0].times = (0.5,)
    file = structs(model)
    assert (file.skins.kinds.tolist(), file.skins.counts.tolist()) == ([1, 0], [2, 1])
    assert file.skins.times.tolist() == pytest.approx([0.5, 1.0])


def test_a_new_skin_of_another_size_takes_the_size_of_the_first(caplog):
    model, skins = painted()
    skins.append(Skin("new", [np.full((16, 32, 3), quake_palette()[200], np.uint8)]))
    after = structs(model).pictures
    assert after.shape == (3, 8, 16)
    assert (after[2] == 200).all()
    assert "'new', 32 x 16, is written as 16 x 8" in caplog.text


def test_full_brights_are_avoided_on_demand():
    model, skins = painted()
    skins[0].pictures[0][:] = quake_palette()[246]
    assert (structs(model).pictures[0] >= 224).all()
    assert (structs(model, avoid_full_brights=True).pictures[0] < 224).all()


@pytest.mark.parametrize(
    ("name", "asked", "wanted"), [("player", False, False), ("player", True, True), ("ogre", False, True)]
)
def test_a_players_shirt_and_trousers_are_not_matched_unasked(name, asked, wanted):
    model, skins = painted(name)
    skins[0].pictures[0][:] = quake_palette()[24] + [1, 1, 0]
    assert (structs(model, player_colors=asked).pictures[0, 0, 0] in range(16, 32)) is wanted


def test_holes_are_transparent_where_a_flag_says_so():
    model = load(sample("animated", "mdl"))
    picture = np.full((8, 16, 4), 255, np.uint8)
    picture[..., :3], picture[2, 2, 3] = quake_palette()[5], 0
    model.skins[0].pictures = [picture]
    for model.traits["flags"], number in ((~0x4000, 5), (0x4000, 255)):
        assert structs(model).pictures[0, 2, 2] == number


def test_names_of_skins_are_not_in_the_file():
    model = load(sample("animated", "mdl"))
    model.surfaces[0].shaders = ["x" * 99, "y" * 99]
    assert by_name("mdl").check(model, "quake") == []
    assert dump_for(by_name("mdl"), model, "quake").data == sample("animated", "mdl")


@pytest.mark.skipif(not corpus(".mdl"), reason="the corpus of real files is not here")
def test_quakes_palette_is_librequakes():
    path = (
        next(file.path for file in corpus(".mdl") if "LibreQuake" in str(file.path)).parent.parent / "gfx/palette.lmp"
    )
    assert quake_palette().tobytes() == path.read_bytes()
    assert len({tuple(color) for color in quake_palette().tolist()}) == 244


def test_skins_of_a_size_that_is_no_multiple_of_a_word():
    skins = [samples_mdl.SkinSpec([samples_mdl.picture(first, (5, 3))]) for first in (2, 101)]
    data = replace(samples_mdl.animated(), size=(5, 3), skins=skins).pack()
    assert dump(load(data, "mdl"), "mdl") == data


def test_the_mean_area_of_no_triangles_is_none():
    (surface,) = load(sample("animated", "mdl"), "mdl").surfaces
    assert mean_area(surface) > 0
    surface.triangles = surface.triangles[:0]
    assert mean_area(surface) == 0
