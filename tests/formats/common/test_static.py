"""What holds for every format of static models: ASE and LWO."""

import numpy as np
import pytest

from io_idtech_models.formats import by_name
from io_idtech_models.formats.common.static import Scale, known_further, settle
from io_idtech_models.model.source import CodedSource
from io_idtech_models.model.vertex import ModelSource, Surface, VertexModel
from io_idtech_models.reporting import LimitError, collected_warnings
from tests import samples_ase, samples_lwo
from tests.samples import CORPUS, load, sample

ROWS = {name: by_name(name) for name in ("ase", "lwo")}
PYRAMIDS = {"ase": samples_ase.pyramid, "lwo": samples_lwo.pyramid}
NAMES = {"ase": "pyramid", "lwo": "textures/stone"}
# They are in no manifest.
REAL = [pytest.param(name, path, id=path.name) for name in ROWS for path in sorted(CORPUS.rglob(f"*.{name}"))]
each_format = pytest.mark.parametrize("name", ROWS)


def corners(surface, values):
    """Return values (V, k) of the corners of triangles, (T, 3, k): whatever the order of vertices."""
    return values[surface.triangles]


@pytest.mark.parametrize(("name", "path"), REAL)
def test_real_files_come_back(name, path):
    model = load(path.read_bytes())
    assert ROWS[name].dump(model) == path.read_bytes()
    assert sum(len(surface.triangles) for surface in model.surfaces) > 0


@pytest.mark.parametrize(("name", "path"), REAL)
def test_real_files_are_written_anew(name, path):
    model = load(path.read_bytes())
    model.source = None
    again = load(ROWS[name].dump(model))
    for old, new in zip(model.surfaces, again.surfaces, strict=True):
        assert (old.name, old.shaders) == (new.name, new.shaders)
        assert np.abs(corners(old, old.positions[0]) - corners(new, new.positions[0])).max() < 2e-6
        assert np.abs(corners(old, old.uvs) - corners(new, new.uvs)).max() < 1e-6


@pytest.mark.parametrize(("field", "what"), [("positions", "a vertex"), ("uvs", "a texture coordinate")])
@pytest.mark.parametrize("value", [np.nan, 2e9])
@each_format
def test_what_no_file_holds_is_refused(name, value, field, what):
    model = load(PYRAMIDS[name]())
    setattr(model.surfaces[0], field, np.full_like(getattr(model.surfaces[0], field), value))
    text = f"'{NAMES[name]}' has {what} that is no number, or beyond 1e\\+09, which {name.upper()}"
    with pytest.raises(LimitError, match=text):
        ROWS[name].dump(model)


MATERIALS = "one material of a surface: others are left out of 'h_body'"


@pytest.mark.parametrize(
    ("called", "lost"),
    [
        ("many_shaders", [MATERIALS, "one frame, and no tags: left out: 2 tags and 2 frames after the first"]),
        ("minimal", ["one frame, and no tags: left out: 1 tag"]),
        ("seamed_cube", ["one frame, and no tags: left out: 1 frame after the first"]),
    ],
)
@each_format
def test_frames_tags_and_materials_beyond_are_said(name, called, lost):
    with collected_warnings() as said:
        shaped = ROWS[name].shape(load(sample(called)))
        assert ROWS[name].shape(shaped) is shaped
    assert (shaped.num_frames, shaped.tags) == (1, [])
    assert said == [f"{name.upper()} holds {text}" for text in lost]
    shaped.surfaces[0].name, shaped.surfaces[0].shaders = "h_body", ["one", "two"]
    with collected_warnings() as said:
        (surface, *_) = ROWS[name].shape(shaped).surfaces
    assert (surface.shaders, said) == (["one"], [f"{name.upper()} holds {MATERIALS}"])
    with collected_warnings():
        assert load(ROWS[name].dump(shaped)).num_frames == 1


@pytest.mark.parametrize(("steps", "stays"), [(0.5, True), (0.7, False)])
def test_colors_stay_while_no_nearer_one_can_be_painted(steps, stays):
    """Blender has 255 steps of each."""
    model = load(sample("colored", "ase"))
    for surface in (surface for surface in model.surfaces if surface.colors is not None):
        surface.colors = surface.colors.copy()
        surface.colors[:, 1] += np.where(surface.colors[:, 1] > 0.5, -1, 1) * np.float32(steps / 255)
    assert (ROWS["ase"].dump(model) == sample("colored", "ase")) is stays


@pytest.mark.parametrize("mirrored", [False, True])
def test_corners_of_faces_with_new_vertices_begin_with_the_source_s_last_if_they_were_mirrored(mirrored):
    model = load(samples_ase.pyramid())
    (surface,) = model.surfaces
    uvs = np.arange(36, dtype=np.float32).reshape(6, 3, 2)
    surface.source_vertices, surface.mirrored = np.full_like(surface.source_vertices, -1), mirrored
    found = known_further(surface, model.source, lambda index: {"UVChannel_2": uvs})["UVChannel_2"]
    assert np.array_equal(found, uvs[surface.source_triangles][:, :: -1 if mirrored else 1])


@pytest.mark.parametrize("order", [[1, 2, 0], [2, 1, 0]])
@pytest.mark.parametrize("number", [0, 1])
def test_corners_of_faces_are_told_by_their_vertices(number, order):
    model = load(samples_ase.several_sets())
    surface, source = model.surfaces[number], model.source
    own = surface.source_triangles - int(source.first_triangles[number])
    uvs = np.arange(6 * len(own), dtype=np.float32).reshape(-1, 3, 2)
    surface.triangles = surface.triangles[:, order]
    found = known_further(surface, source, lambda index: {"UVChannel_2": uvs})["UVChannel_2"]
    assert np.array_equal(found, uvs[own][:, order])


@pytest.mark.parametrize(
    ("place", "by", "stays"),
    [(0.25, 9e-7, True), (0.25, 1.2e-6, False), (-3000.0, 2.9e-3, True), (-3000.0, 3.3e-3, False)],
)
def test_places_stay_as_the_file_has_them_but_for_rounding(place, by, stays):
    """A millionth of the coordinate, or of a unit."""
    codes = np.zeros((1, 3, 4), np.int64)
    codes[0, :, :3] = np.rint(np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0)]) + place * 1e6)
    ones, corners = np.full((1, 3), 1e-6, np.float32), np.zeros((3, 2), np.float32)
    part = CodedSource("s", np.array([(0, 1, 2)], np.int32), corners, [], codes, ones, ones * 0)
    source = ModelSource([part], "x", ["f"], [], np.zeros((1, 0, 3), np.float32), np.zeros((1, 0, 3, 3), np.float32))
    positions = part.decoded_positions(np.zeros(1, np.int64))
    surface = Surface("s", positions.copy(), part.triangles, corners, [], source_vertices=np.arange(3, dtype=np.int32))
    surface.positions[0, 2, 1] += np.float32(by)
    found = settle(VertexModel("x", ["f"], [surface], [], source), surface, source, Scale("X", 1e6, 1e9))
    assert np.array_equal(found[:, :3], codes[0, :, :3]) is stays


DAMAGES = {
    "codes": lambda codes: codes.astype(np.int32),
    "scale": lambda scale: scale * np.array((1, 2, 1), np.float32),
    "offset": lambda offset: offset + np.array((0, 0, 1), np.float32),
}


@pytest.mark.parametrize("field", DAMAGES)
@each_format
def test_codes_of_another_size_or_step_are_a_strangers(name, field):
    model = load(PYRAMIDS[name]())
    part = model.source.surfaces[0]
    setattr(part, field, DAMAGES[field](getattr(part, field)))
    with collected_warnings() as said:
        again = load(ROWS[name].dump(model))
    assert said[0] == "the facts of the source of 'sample' are damaged: written without them"
    assert len(again.surfaces[0].triangles) == 6
