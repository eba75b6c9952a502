"""What holds for every format of static models: ASE and LWO."""

import numpy as np
import pytest

from io_idtech_models.formats import by_name
from io_idtech_models.formats.common.static import known_further
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


@each_format
def test_frames_and_tags_beyond_are_said(name):
    with collected_warnings() as said:
        shaped = ROWS[name].shape(load(sample("animated")))
    assert (shaped.num_frames, shaped.tags) == (1, [])
    assert any(f"{name.upper()} holds one frame, and no tags: left out:" in text for text in said)
    with collected_warnings():
        assert load(ROWS[name].dump(shaped)).num_frames == 1


@pytest.mark.parametrize("mirrored", [False, True])
def test_corners_of_faces_with_new_vertices_begin_with_the_source_s_last_if_they_were_mirrored(mirrored):
    model = load(samples_ase.pyramid())
    (surface,) = model.surfaces
    uvs = np.arange(36, dtype=np.float32).reshape(6, 3, 2)
    surface.source_vertices, surface.mirrored = np.full_like(surface.source_vertices, -1), mirrored
    found = known_further(surface, model.source, lambda index: {"UVChannel_2": uvs})["UVChannel_2"]
    assert np.array_equal(found, uvs[surface.source_triangles][:, :: -1 if mirrored else 1])


@pytest.mark.parametrize("order", [[1, 2, 0], [2, 1, 0]])
def test_corners_of_faces_are_told_by_their_vertices(order):
    model = load(samples_ase.pyramid())
    (surface,) = model.surfaces
    uvs = np.arange(36, dtype=np.float32).reshape(6, 3, 2)
    surface.triangles = surface.triangles[:, order]
    found = known_further(surface, model.source, lambda index: {"UVChannel_2": uvs})["UVChannel_2"]
    assert np.array_equal(found, uvs[surface.source_triangles][:, order])


@each_format
def test_codes_of_another_size_are_a_strangers(name):
    model = load(PYRAMIDS[name]())
    model.source.surfaces[0].codes = model.source.surfaces[0].codes.astype(np.int32)
    with collected_warnings() as said:
        again = load(ROWS[name].dump(model))
    assert said[0] == "the facts of the source of 'sample' are damaged: written without them"
    assert len(again.surfaces[0].triangles) == 6
