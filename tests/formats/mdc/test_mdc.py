"""What is special about MDC: base frames and steps, tags' angles, and the game's rule for new models."""

import copy
import math

import numpy as np
import pytest

from io_idtech_models.formats import by_name
from io_idtech_models.formats.mdc import file as mdc
from io_idtech_models.formats.mdc.model import decode_axes, encode_axes
from io_idtech_models.formats.mdc.surfaces import CODING, direction_table
from io_idtech_models.model.source import DELTA_NORMAL
from io_idtech_models.reporting import FormatError, LimitError
from tests.facts import differences
from tests.samples import dump, load, sample, write_read
from tests.samples_mdc import animated, directions, minimal

ROPE = sample("animated", "mdc")
TAG_CODE = math.radians(360 / 32700)


def structs(model):
    return mdc.read(dump(model, "mdc"))


def shown(surface, frame):
    """Return where the engine puts a surface's vertices (`LerpCMeshVertexes`), and how they are coded."""
    base = surface.bases[surface.base_frames[frame], :, :3] / 64
    step = surface.comp_frames[frame]
    return base if step < 0 else base + (surface.steps[step, :, :3].astype(float) - 127) * 0.05


def assert_shown(found, model):
    """Assert that a file shows a model as closely as its steps can."""
    for surface, wanted in zip(found.surfaces, model.surfaces, strict=True):
        places = np.array([shown(surface, frame) for frame in range(model.num_frames)])
        assert np.abs(places - wanted.positions).max() <= 0.0251


# -- normals


def test_the_directions_are_the_formulas():
    np.testing.assert_allclose(direction_table(), directions(), atol=1e-7)
    assert direction_table()[252].tolist() == pytest.approx([math.sin(math.radians(11.25)), 0, 0.98078528])


def test_a_code_of_a_direction_is_the_nearest():
    codes = np.arange(256, dtype=np.uint32) + DELTA_NORMAL
    assert (CODING.encode(CODING.decode(codes), codes) == codes).all()
    random = np.random.default_rng(3).normal(size=(500, 3))
    random /= np.sqrt((random**2).sum(axis=1))[:, None]
    found = CODING.decode(CODING.encode(random, np.full(500, DELTA_NORMAL)))
    assert np.degrees(np.arccos((found * random).sum(axis=1))).max() < 10.7


# -- tags


def test_angles_come_back():
    codes = np.random.default_rng(5).integers(-8100, 8100, (400, 3)).astype(np.int16)
    codes[:, 1:] *= 2
    assert encode_axes(decode_axes(codes)).tolist() == codes.tolist()


@pytest.mark.parametrize("pitch", [8175, -8175])
def test_a_tag_that_looks_straight_up_keeps_its_turn(pitch):
    codes = np.array([[pitch, 700, 1900]], np.int16)
    axes = decode_axes(codes)
    assert np.abs(decode_axes(encode_axes(axes)) - axes).max() < TAG_CODE


def test_codes_of_angles_are_kept_by_value():
    model = load(sample("minimal", "mdc"))
    assert structs(model).tags["angles"][1].tolist() == [[-32700, 32700, 16350]]
    model.tags[0].origins[0] += 1
    assert differences(sample("minimal", "mdc"), dump(model)) == {"frames[0].tags[0].xyz"}
    model.tags[0].axes[:] = decode_axes(np.array([[4001, 16000, -12000], [10, 20, 30]]))
    assert structs(model).tags["angles"].tolist() == [[[4001, 16000, -12000]], [[10, 20, 30]]]


def test_scale_of_tags_is_said_to_be_lost(caplog):
    model = load(sample("animated", "md3"))
    again = write_read(model, "mdc")
    said = [text for text in caplog.messages if "scaled, sheared or mirrored" in text]
    assert said == ["tags are scaled, sheared or mirrored, which MDC can't hold: written without: 'tag_head'"]
    np.testing.assert_allclose(again.tags[0].axes, model.tags[0].axes, atol=1e-4)
    axes = again.tags[1].axes
    np.testing.assert_allclose(axes @ axes.transpose(0, 2, 1), np.tile(np.eye(3), (len(axes), 1, 1)), atol=1e-5)


def test_a_tag_out_of_reach_is_refused():
    model = load(ROPE)
    model.tags[1].origins[2, 1] = 600
    with pytest.raises(LimitError, match=r"'tag_head' is a tag at Y = 600 in frame 2: MDC holds -512 to 511.98 units"):
        dump(model)


# -- which frames are base frames


def drifting(ways):
    """Return a model of one vertex each in two surfaces, new, whose second is so far from its place in each frame."""
    model = load(minimal().pack())
    model.source = model.frame_sources = None
    model.frame_names = [str(f) for f in range(len(ways))]
    (first,) = model.surfaces
    first.positions = np.tile(first.positions[:1], (len(ways), 1, 1))
    first.normals = np.tile(first.normals[:1], (len(ways), 1, 1))
    first.source_vertices, first.source_index = None, -1
    second = copy.copy(first)
    second.positions = first.positions.copy()
    second.positions[..., 1] += np.array(ways)[:, None]
    model.surfaces, model.tags = [first, second], []
    return model


def test_new_models_are_coded_as_the_game_does():
    model = drifting([0, 3, 6.3, 6.4, 1, 7, 12.7, -0.5])
    found = structs(model)
    assert found.surfaces[0].base_frames.tolist() == [0, 0, 0, 1, 1, 1, 1, 2]
    assert found.surfaces[0].comp_frames.tolist() == [-1, 0, 1, -1, 2, 3, 4, -1]
    assert found.surfaces[1].base_frames.tolist() == found.surfaces[0].base_frames.tolist(), "all share their tables"
    assert_shown(found, model)
    assert found.surfaces[0].header["ident"] == 7


def test_a_new_frame_goes_on_from_the_one_before_it():
    model = load(ROPE)
    for surface in model.surfaces:
        surface.positions = surface.positions[[0, 1, 1, 2, 3, 4]]
        surface.positions[2] += (0, 0, 1)
        surface.normals = None
    for tag in model.tags:
        tag.origins, tag.axes = tag.origins[[0, 1, 1, 2, 3, 4]], tag.axes[[0, 1, 1, 2, 3, 4]]
    model.frame_names.insert(2, "new")
    model.frame_sources = np.array([0, 1, -1, 2, 3, 4], np.int32)
    found, before = structs(model), mdc.read(ROPE)
    for surface, own in zip(found.surfaces, before.surfaces, strict=True):
        assert surface.base_frames.tolist() == [0, 0, 0, 0, 1, 1]
        assert surface.comp_frames.tolist() == [-1, 0, 1, 2, -1, 3]
        assert surface.bases.tobytes() == own.bases.tobytes()
        assert surface.steps[[0, 2, 3]].tobytes() == own.steps.tobytes()
        assert (surface.steps[1, :, 2] == own.steps[0, :, 2] + 20).all()


def test_a_model_that_grows_is_coded_like_a_new_one():
    model = load(ROPE)
    for surface in model.surfaces:
        surface.positions, surface.normals = surface.positions * 3, None
    with pytest.raises(LimitError, match="MDC holds -512 to"):
        for surface in model.surfaces:
            surface.positions[0, 0, 0] = 512
        dump(model)
    for surface in model.surfaces:
        surface.positions[0, 0, 0] = 0
    assert_shown(structs(model), model)


def test_an_edit_that_is_the_same_in_all_frames_makes_no_base_frame():
    model = load(ROPE)
    model.surfaces[0].positions[:, 2] += (0, 20, 0)
    model.surfaces[0].normals = None
    changed = differences(ROPE, dump(model))
    assert {path for path in changed if "normal" not in path and not path.startswith("frames")} == {
        f"surfaces[0].frames[{frame}].xyz[2]" for frame in range(5)
    }
    assert len(structs(model).surfaces[0].bases) == 2


def test_a_frame_of_steps_that_was_moved_whole_and_far_becomes_a_base_frame():
    model = load(ROPE)
    for surface in model.surfaces:
        surface.positions[1] += 50
        surface.normals = None
    found = structs(model)
    assert [surface.comp_frames.tolist() for surface in found.surfaces] == [[-1, -1, 0, -1, 1]] * 2
    assert found.surfaces[0].base_frames.tolist() == [0, 1, 0, 2, 2]
    np.testing.assert_allclose(shown(found.surfaces[0], 1), model.surfaces[0].positions[1], atol=1 / 128)


def test_a_frame_of_steps_of_which_a_vertex_was_moved_far_takes_steps_still():
    """From a base frame of its own, in which that vertex alone is elsewhere: the others are exact."""
    model, before = load(ROPE), mdc.read(ROPE)
    for surface in model.surfaces:
        surface.positions[1, 0] += 50
        surface.normals = None
    found = structs(model)
    for surface, own in zip(found.surfaces, before.surfaces, strict=True):
        assert surface.comp_frames.tolist() == own.comp_frames.tolist()
        assert surface.base_frames.tolist() == [0, 1, 0, 2, 2]
        assert surface.bases[1, 1:, :3].tobytes() == own.bases[0, 1:, :3].tobytes()
        assert surface.steps[0, 1:, :3].tobytes() == own.steps[0, 1:, :3].tobytes()
    np.testing.assert_allclose(shown(found.surfaces[0], 1), model.surfaces[0].positions[1], atol=1 / 128)


def test_frames_that_show_one_base_frame_go_on_to_share_it():
    spec = animated()
    for surface in spec.surfaces:
        surface.base_frames, surface.comp_frames, surface.bases = [0] * 5, [-1] * 5, surface.bases[:1]
        surface.steps = []
    model = load(spec.pack())
    model.surfaces[0].positions[2, 0] += 50
    found = structs(model)
    assert [surface.base_frames.tolist() for surface in found.surfaces] == [[0, 0, 1, 0, 0]] * 2
    assert_shown(found, model)


@pytest.mark.parametrize(("frames", "times"), [(300, 1), (60, 2000), (12, 1)])
def test_no_more_frames_share_a_base_frame_than_reading_takes(frames, times):
    """Of a source that has one base frame: shown for long, and by a surface of many vertices."""
    spec = animated()
    for surface in spec.surfaces:
        surface.base_frames, surface.comp_frames, surface.bases = [0] * 5, [-1] * 5, surface.bases[:1]
        surface.steps = []
    model = load(spec.pack())
    chosen = np.zeros(frames, np.int32)
    model.frame_names, model.frame_sources = ["f"] * frames, chosen
    for tag in model.tags:
        tag.origins, tag.axes = tag.origins[chosen], tag.axes[chosen]
    for surface in model.surfaces:
        surface.positions, surface.normals = surface.positions[chosen], None
    new = copy.copy(model.surfaces[0])
    new.positions, new.uvs = np.tile(new.positions, (1, times, 1)), np.tile(new.uvs, (times, 1))
    new.source_index, new.source_vertices, new.source_triangles = -1, None, None
    model.surfaces.append(new)
    found = structs(model)
    assert_shown(found, model)
    used = [np.bincount(surface.base_frames).max() for surface in found.surfaces]
    assert used == [12 if frames == 12 else 4] * 3


def test_a_new_surface_shares_the_tables():
    model = load(ROPE)
    new = copy.copy(model.surfaces[0])
    new.positions, new.normals = new.positions[::-1] * 0.5, new.normals[::-1]
    new.source_index, new.source_vertices, new.source_triangles = -1, None, None
    model.surfaces.append(new)
    found = structs(model)
    assert len({surface.base_frames.tobytes() for surface in found.surfaces}) == 1
    assert_shown(found, model)
    before = mdc.read(ROPE)
    for frame in range(5):
        np.testing.assert_array_equal(shown(found.surfaces[1], frame), shown(before.surfaces[1], frame))


def test_edited_normals_are_coded_in_their_frames_own_way():
    model = load(ROPE)
    surface = model.surfaces[0]
    surface.normals[:, 4] = (0, 0, 1)
    surface.own_normals = np.arange(6) == 4
    found = structs(model).surfaces[0]
    assert found.bases[:, 4, 3].tolist() == [0, 0]
    assert set(found.steps[:, 4, 3].tolist()) <= set(range(252, 256))
    changed = differences(ROPE, dump(model))
    assert all(path.endswith(".normal[4]") for path in changed)


def test_facts_from_a_stranger_are_dropped(caplog):
    model = load(ROPE)
    model.source.surfaces[0].middle = 3
    assert load(dump(model)).num_frames == 5
    assert "the facts of the source of 'sample' are damaged: written without them" in caplog.messages


# -- broken files


def test_frames_that_share_without_end_are_refused():
    spec = animated()
    spec.frames, spec.tags = spec.frames * 200, spec.tags * 200
    for surface in spec.surfaces:
        surface.base_frames, surface.comp_frames = [0] * 1000, [-1] * 1000
    with pytest.raises(FormatError, match="surface 0 lacks frames"):
        mdc.read(spec.pack())


def test_an_md3_by_this_name_stays_one():
    assert by_name("md3").dump(load(sample("animated"))) == sample("animated")
