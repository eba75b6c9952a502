"""MD3 files: what their fields mean, and what an edit changes; what all formats have in common is in test_formats."""

import itertools
import struct
from dataclasses import replace

import numpy as np
import pytest

from io_idtech_models.formats.md3 import file as md3
from io_idtech_models.reporting import FormatError, LimitError
from tests import samples_md3
from tests.facts import differences
from tests.samples import corpus_params, dump, load, sample
from tests.samples_md3 import FrameSpec, Md3Spec

# -- what the fields mean


def test_every_field_of_the_smallest_model():
    file = md3.read(sample("minimal"))
    header = file.header
    assert (header["name"], header["flags"], header["num_skins"]) == (b"models/minimal/minimal.md3", 0x0A0B0C0D, 77)
    frame = file.frames[0]
    assert frame["name"] == b"stand"
    assert frame["mins"].tolist() == [-15.625, -8.171875, -3.078125]
    assert frame["maxs"].tolist() == [8.078125, 31.296875, 47.046875]
    assert frame["local_origin"].tolist() == [1.5, 2.5, 3.5]
    assert frame["radius"] == 58.5
    tag = file.tags[0, 0]
    assert (tag["name"], tag["origin"].tolist()) == (b"tag_top", [5.5, 6.25, -7.125])
    assert tag["axis"].tolist() == [[0.0, 1.0, 0.25], [-1.0, 0.0, 0.5], [0.75, 0.125, 2.0]]
    surface = file.surfaces[0]
    assert (surface.header["name"], surface.header["flags"]) == (b"tri", 0x01020304)
    assert surface.shaders.tolist() == [(b"models/minimal/skin.tga", 21)]
    assert surface.triangles.tolist() == [[2, 0, 1]]
    assert surface.st.tolist() == [[0.125, 0.25], [0.375, 0.75], [0.875, 0.0625]]
    assert surface.vertices["xyz"].tolist() == [[[64, 131, -197], [-1000, 2003, 3011], [517, -523, 541]]]
    # Zenith is the low byte.
    assert surface.vertices["normal"].tolist() == [[7 + 256 * 201, 64 + 256 * 33, 120 + 256 * 250]]


def test_model_of_the_smallest_file():
    model = load(sample("minimal"), name="thing")
    assert (model.name, model.frame_names, model.num_frames) == ("thing", ["stand"], 1)
    surface, tag = model.surfaces[0], model.tags[0]
    assert (surface.name, surface.shaders) == ("tri", ["models/minimal/skin.tga"])
    assert surface.positions[0, 0].tolist() == [1.0, 131 / 64, -197 / 64]
    assert surface.triangles.tolist() == [[1, 0, 2]], "counter-clockwise"
    assert surface.uvs.tolist() == [[0.125, 0.75], [0.375, 0.25], [0.875, 0.9375]], "from the bottom"
    assert surface.source_vertices.tolist() == [0, 1, 2]
    assert surface.source_triangles.tolist() == [0]
    assert (tag.name, tag.origins.tolist()) == ("tag_top", [[5.5, 6.25, -7.125]])
    assert tag.axes[0, 0].tolist() == [0.0, 1.0, 0.25], "rows: forward first"


def test_a_model_without_a_name_gets_the_one_in_its_file():
    assert load(sample("animated"), name="").name == "models/animated/animated.md3"


def test_tags_are_stored_frame_by_frame():
    tags = load(sample("animated")).tags
    assert [t.name for t in tags] == ["tag_weapon", "tag_head"]
    assert tags[0].origins[:, 0] == pytest.approx([1.1, 2.1, 3.1])
    assert tags[1].origins[:, 2] == pytest.approx([10.7, 11.7, 12.7])
    assert tags[1].axes[:, 0, 2] == pytest.approx([0.0, 0.1, 0.2])


def test_source_numbers_are_unique_in_the_model():
    first, second = load(sample("animated")).surfaces
    assert [*first.source_vertices, *second.source_vertices] == list(range(10))
    assert [*first.source_triangles, *second.source_triangles] == list(range(6))


@pytest.mark.filterwarnings("error")
def test_signalling_numbers_are_no_cause_for_alarm():
    data = sample("minimal").replace(struct.pack("<f", 0.75), struct.pack("<I", 0x7F800001))
    assert np.isfinite(load(data).surfaces[0].uvs).all()
    assert dump(load(data)) == data


def test_frame_count_of_the_header_counts_where_the_vertices_are_there():
    model = load(sample("odd_layout"))
    assert model.surfaces[1].positions.shape == (3, 4, 3)
    assert (model.surfaces[1].positions[0] != model.surfaces[1].positions[2]).any()


def test_a_surface_with_too_few_frames_holds_its_last_one(caplog):
    model = load(sample("short_surface"))
    assert model.surfaces[1].positions.shape == (3, 4, 3)
    assert (model.surfaces[1].positions == model.surfaces[1].positions[0]).all()
    assert "surface 'flag.002' has 1 frames, the model 3" in caplog.text


# -- broken files


@pytest.mark.parametrize("file", corpus_params(".md3", valid=False))
def test_what_is_wrong_with_a_real_file(file):
    with pytest.raises(FormatError) as caught:
        load(file.data)
    assert str(caught.value) == "surface 3 ends inside its header at byte 12956: expected 108, found 0"


def test_lumps_that_share_their_bytes_do_not_decode_to_a_huge_model():
    surface = replace(samples_md3.animated().surfaces[0], shaders=[])
    data = bytearray(Md3Spec([FrameSpec(b"f")], [], [surface] * 40).pack())
    size, step = len(data), len(surface.pack(1, None))
    for start in range(164, size, step):  # the whole file is every surface's shaders
        struct.pack_into("<i", data, start + 76, size // 68)
        struct.pack_into("<i", data, start + 92, -start)
    with pytest.raises(FormatError, match=f"lumps overlap: expected {size} bytes in all, found"):
        md3.read(bytes(data))


# -- limits


@pytest.mark.parametrize(
    ("value", "shown"), [(512.0, "512"), (-600.25, "-600.25"), (np.nan, "nan"), (np.inf, "inf"), (-1e30, "-1e+30")]
)
def test_a_position_out_of_range_names_object_frame_and_value(value, shown):
    model = load(sample("animated"))
    model.surfaces[1].positions[2, 3, 1] = value
    with pytest.raises(LimitError) as caught:
        dump(model)
    assert str(caught.value) == f"'flag.002' has a vertex at Y = {shown} in frame 2: MD3 holds -512 to 511.98 units"


def test_positions_at_the_ends_of_the_range_are_kept_and_rounded_to_nearest():
    model = load(sample("animated"))
    model.surfaces[0].positions[0, 0] = (-512.0, 511.984375, 0.0117)  # 0.7488 of a unit
    assert md3.read(dump(model)).surfaces[0].vertices["xyz"][0, 0].tolist() == [-32768, 32767, 1]


# -- F2: an edit changes what it touches and nothing else


def edit(name, change):
    """Return the paths at which a sample's file differs after `change` of its model."""
    model = load(sample(name))
    change(model)
    return differences(sample(name), dump(model))


def test_a_frame_that_the_source_lacks_is_written_when_one_of_its_vertices_moves():
    model = load(sample("short_surface"))
    assert dump(model) == sample("short_surface")
    model.surfaces[1].positions[2, 3] += (0.0, 0.0, 8.0)
    again = load(dump(model)).surfaces[1].positions
    assert again.tolist() == model.surfaces[1].positions.tolist()


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_what_follows_is_not_taken_for_frames_that_a_surface_lacks(more):
    """Readers go on behind its one frame where there are bytes enough for the two others."""
    file = md3.read(sample("short_surface"))
    only = file.surfaces[1].vertices
    file.layout["layout_tail"] = np.zeros(2 * only.nbytes + more, np.uint8)
    found = md3.read(md3.write(file)).surfaces[1].vertices
    assert len(found) == (1 if more < 0 else 3)
    assert (found == only[0]).all()


@pytest.mark.parametrize("vertices", [4, slice(None)], ids=["one", "all"])
def test_bounds_of_a_changed_frame_are_q3datas(vertices):
    model = load(sample("animated"))
    model.surfaces[0].positions[1, vertices] += (-100.0, 200.0, 300.0)
    frame = md3.read(dump(model)).frames[1]
    points = np.concatenate([s.positions[1] for s in load(dump(model)).surfaces])
    assert frame["mins"].tolist() == points.min(axis=0).tolist()
    assert frame["maxs"].tolist() == points.max(axis=0).tolist()
    assert frame["local_origin"].tolist() == [0, 0, 0]
    assert frame["radius"] == pytest.approx(np.linalg.norm(np.abs(points).max(axis=0)))


def test_appending_a_frame_that_moved_turns_the_normals():
    model = load(sample("seamed_cube"))
    surface = model.surfaces[0]
    model.frame_names.append("turned")
    model.frame_sources = np.append(model.frame_sources, -1)
    surface.positions, surface.normals = np.concatenate((surface.positions, surface.positions[-1:])), None
    turn = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]], np.float32)
    surface.positions[2] = surface.positions[1] @ turn.T
    again = load(dump(model)).surfaces[0]
    np.testing.assert_allclose(again.normals[2], again.normals[1] @ turn.T, atol=np.radians(1.01))


@pytest.mark.parametrize(
    ("name", "change", "paths"),
    [
        ("animated", lambda m: m.surfaces[0].positions.__iadd__(np.float32(0.49 / 64)), set()),  # below half a unit
        ("animated", lambda m: setattr(m.surfaces[1], "name", "Banner"), {"surfaces[1].name"}),
        ("animated", lambda m: setattr(m.tags[1], "name", "torso"), {f"frames[{f}].tags[1].name" for f in range(3)}),
        ("animated", lambda m: m.tags[0].origins.__setitem__((1, 2), 99.0), {"frames[1].tags[0].origin"}),
        ("animated", lambda m: m.tags[1].axes.__setitem__((2, 0, 0), 0.5), {"frames[2].tags[1].axis"}),
        ("animated", lambda m: m.surfaces[1].uvs.__setitem__((2, 1), 0.125), {"surfaces[1].st[2]"}),
        # Beside numbers that are none, whose bits stay.
        ("odd_numbers", lambda m: m.surfaces[0].uvs.__setitem__((5, 0), 0.625), {"surfaces[0].st[5]"}),
        ("many_shaders", lambda m: m.surfaces[0].shaders.__setitem__(1, "new"), {"surfaces[0].shaders[1].name"}),
    ],
)
def test_an_edit_changes_what_it_touches_alone(name, change, paths):
    assert edit(name, change) == paths


def test_swapping_shaders_takes_their_entries_along():
    model = load(sample("many_shaders"))
    model.surfaces[0].shaders[:2] = model.surfaces[0].shaders[1::-1]
    entries = md3.read(dump(model)).surfaces[0].shaders
    assert entries["index"].tolist() == [8, 7, 9]
    assert [bytes(n) for n in entries["name"]] == [
        b"models/a/two.jpg\0old", b"models/a/one.tga", b"models/a/one.tga\0again",
    ]  # fmt: skip


def test_new_vertices_get_the_normals_that_they_show():
    model = load(sample("animated"))
    surface = model.surfaces[0]
    surface.source_vertices = surface.source_vertices.copy()
    surface.source_vertices[2] = -1
    surface.normals = surface.normals.copy()
    surface.normals[:, 2] = (0.0, 0.0, -1.0)
    changed = differences(sample("animated"), dump(model))
    # 1 - (1 - t) is not always t: without a source the last bit of a texture coordinate is a new one.
    assert changed - {"surfaces[0].st[2]"} == {f"surfaces[0].frames[{f}].normal[2]" for f in range(3)}
    assert md3.read(dump(model)).surfaces[0].vertices["normal"][:, 2].tolist() == [128] * 3


def test_mirrored_surface_gets_mirrored_normals():
    model = load(sample("animated"))
    surface = model.surfaces[0]
    before = surface.normals.copy()
    surface.positions = surface.positions * np.array((1, -1, 1), np.float32)
    surface.triangles = np.ascontiguousarray(surface.triangles[:, ::-1])
    surface.mirrored, surface.normals = True, None
    again = load(dump(model)).surfaces[0]
    np.testing.assert_allclose(again.normals, before * (1, -1, 1), atol=np.radians(1.2))


def test_turned_surface_gets_turned_normals():
    model = load(sample("seamed_cube"))
    surface = model.surfaces[0]
    before = surface.normals.copy()
    turn = np.array([[0.8, -0.6, 0], [0.6, 0.8, 0], [0, 0, 1]], np.float32)
    surface.positions, surface.normals = surface.positions @ turn.T, None
    again = load(dump(model)).surfaces[0]
    np.testing.assert_allclose(again.normals, before @ turn.T, atol=np.radians(1.01))


@pytest.mark.parametrize(
    "name", ["animated", "odd_layout", "zero_end", "many_shaders", "short_surface", "empty_surface", "odd_names"]
)
def test_surfaces_in_another_order_copied_or_alone_stay_whole(name):
    model = load(sample(name))
    originals = model.surfaces
    for chosen in (*itertools.permutations(originals), [*originals, originals[0]], *([one] for one in originals), []):
        model.surfaces = list(chosen)
        again = load(dump(model))
        assert [s.name for s in again.surfaces] == [s.name for s in model.surfaces]
        for one, other in zip(again.surfaces, model.surfaces, strict=True):
            assert one.positions.tobytes() == other.positions.tobytes()
            assert one.triangles.tobytes() == other.triangles.tobytes()


@pytest.mark.parametrize(("name", "end"), [("zero_end", 0), ("odd_layout", -12)])
def test_a_last_surface_without_an_end_has_none_when_it_grew(name, end):
    model = load(sample(name))
    model.surfaces[1].shaders.append("models/more")
    assert md3.read(dump(model)).surfaces[1].header["ofs_end"] == end


def test_gaps_stay_when_lumps_grow():
    model = load(sample("odd_layout"))
    model.surfaces[0].shaders.append("models/more")
    data = dump(model)
    again = md3.read(data)
    assert again.layout["layout_filler"].tobytes() == md3.read(sample("odd_layout")).layout["layout_filler"].tobytes()
    assert data.endswith(b"the end")
    assert differences(sample("odd_layout"), data) == {"surfaces[0].shaders[1].name", "surfaces[0].shaders[1].index"}


# -- sources that are not whole


def test_a_lone_surface_keeps_its_own_facts():
    model = load(sample("animated"))
    model.source.facts = {}
    changed = differences(sample("animated"), dump(model))
    assert changed, "bounds, the tags' raw names and the header went with the model's facts"
    assert not [path for path in changed if path.startswith("surfaces")]


def test_a_source_of_another_format_is_no_hint():
    model = load(sample("odd_layout"))
    model.source.format = "md2"
    assert md3.read(dump(model, "md3")).surfaces[0].header["ident"] == b"IDP3"


def test_bounds_are_made_anew_where_a_later_surface_moved():
    data = sample("animated")
    model = load(data)
    first, second = model.surfaces
    moved = second.positions.copy()
    moved[1, 0] = 300.0
    before = md3.read(data).frames
    after = md3.read(dump(replace(model, surfaces=[first, replace(second, stored_positions=moved)]))).frames
    assert after["maxs"][1].tolist() == [300.0, 300.0, 300.0]
    assert after[[0, *range(2, len(after))]].tobytes() == before[[0, *range(2, len(before))]].tobytes()
