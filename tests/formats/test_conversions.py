"""One format's models written as another's, and back again: what stays, how closely, and what is said to be lost."""

import numpy as np
import pytest

from io_idtech_models import formats
from io_idtech_models.formats.md2 import file as md2
from io_idtech_models.reporting import LimitError
from tests import samples_md2, samples_md3
from tests.samples import SENTINEL, corpus_params, load, sample, sample_params
from tests.small_files import SAMPLES

MD2, MD3 = formats.by_name("md2"), formats.by_name("md3")
STEP = 1 / 64  # of MD3's positions
TEXELS = 256  # of a skin of which nothing is known


def degrees(a, b):
    a, b = (np.asarray(v, np.float64) / np.linalg.norm(v, axis=-1, keepdims=True) for v in (a, b))
    return np.degrees(2 * np.arcsin(np.clip(np.linalg.norm(a - b, axis=-1) / 2, 0, 1)))


def steps_of(data):
    """Return the size of the steps of an MD2's boxes, (F, 1, 3)."""
    return np.abs(md2.read(data).frames["scale"])[:, None]


def corners_of(surface):
    """Return positions of corners in all frames, (F, T, 3, 3)."""
    return surface.positions[:, surface.triangles]


# What MD3 can't hold: places beyond 512 units.
FAR = {"odd_numbers", "odd_names"}
SAMPLES_TO_MD3 = sample_params(*(SAMPLES["md2"].keys() - FAR), format_name="md2")
KEPT = SAMPLES["md3"].keys() - {"tags_only", "nothing", "odd_names", "odd_numbers"}
SAMPLES_TO_MD2 = sample_params(*KEPT, format_name="md3")


def check_to_md3(data):
    """Assert that an MD2 becomes an MD3 that shows the same, and return that."""
    model = load(data)
    written = MD3.dump(model)
    again, (before,) = load(written), model.surfaces
    (after,) = again.surfaces
    assert again.frame_names == [name[:15] for name in model.frame_names]
    assert (after.name, after.shaders, again.tags) == (before.name, before.shaders, [])
    assert len(after.triangles) == len(before.triangles)
    assert np.abs(corners_of(after) - corners_of(before)).max(initial=0) <= STEP / 2 + 1e-5
    np.testing.assert_allclose(after.corner_uvs, before.corner_uvs, rtol=1e-6, atol=1e-6)
    count = before.num_vertices
    assert np.abs(after.positions[:, :count] - before.positions).max(initial=0) <= STEP / 2 + 1e-5
    assert degrees(after.normals[:, :count], before.normals).max(initial=0) <= 1.01, "a step of MD3's normals"
    corners = (surface.normals[:, surface.triangles] for surface in (after, before))
    assert degrees(*corners).max(initial=0) <= 1.01
    return written


@pytest.mark.parametrize("data", SAMPLES_TO_MD3)
def test_md2_to_md3(data):
    check_to_md3(data)


@pytest.mark.parametrize("file", corpus_params(".md2"))
def test_real_md2_to_md3_and_back(file):
    data = file.data
    model = load(data)
    if np.abs(model.surfaces[0].positions).max(initial=0) > 512:
        with pytest.raises(LimitError, match="MD3 holds -512 to 511"):
            MD3.dump(model)
        return
    written = check_to_md3(data)
    width, height = (max(n, 1) for n in model.texture_size)
    back = MD2.dump(load(written), {"skin_width": width, "skin_height": height})
    (before,), (after,) = model.surfaces, load(back).surfaces
    wanted = corners_of(before)
    step = np.concatenate((steps_of(data), steps_of(back))).max() / 2 if wanted.size else 0
    assert np.abs(corners_of(after) - wanted).max(initial=0) <= STEP / 2 + step + 1e-4
    assert np.abs(after.corner_uvs - before.corner_uvs).max(initial=0) * max(width, height) <= 1e-2, "the same texels"
    assert load(back).frame_names == model.frame_names
    assert after.shaders == before.shaders
    assert md2.read(back).header["skin_width"] == width


def check_to_md2(data, **options):
    """Assert that an MD3 becomes an MD2 that shows the same, and return that."""
    model = load(data)
    written = MD2.dump(model, options)
    again = load(written)
    (after,) = again.surfaces
    assert again.frame_names == [name.encode()[:15].decode(errors="ignore") for name in model.frame_names]
    shaders = [name for surface in model.surfaces for name in surface.shaders]
    assert after.shaders == (shaders if len(model.surfaces) == 1 else list(dict.fromkeys(shaders)))
    wanted = np.concatenate([corners_of(surface) for surface in model.surfaces], axis=1)
    off = np.abs(corners_of(after) - wanted).reshape(len(wanted), -1, 3)
    assert (off <= steps_of(written) * 0.501 + 1e-5).all()
    uvs = np.concatenate([surface.corner_uvs for surface in model.surfaces])
    size = np.array(again.texture_size)
    outside = (uvs < 0) | (uvs > 1)
    off = np.abs((after.corner_uvs - uvs) * size)
    assert (off <= np.where(outside, 0.751, 0.501)).all(), "the closest texel, or the one at the edge"
    return written


@pytest.mark.parametrize("data", SAMPLES_TO_MD2)
def test_md3_to_md2(data):
    written = check_to_md2(data)
    assert load(written).texture_size == (TEXELS, TEXELS)
    assert load(check_to_md2(data, skin_width=37, skin_height=512)).texture_size == (37, 512)


@pytest.mark.parametrize(
    "file", [p for p in corpus_params(".md3")[::2] if p.values[0] is None or load(p.values[0].data).surfaces]
)
def test_real_md3_to_md2_and_back(file):
    data = file.data
    written = check_to_md2(data)
    model, again = load(data), load(MD3.dump(load(written)))
    wanted = np.concatenate([corners_of(surface) for surface in model.surfaces], axis=1)
    (after,) = again.surfaces
    off = np.abs(corners_of(after) - wanted).reshape(len(wanted), -1, 3)
    assert (off <= steps_of(written) / 2 + STEP / 2 + 1e-4).all()
    assert again.frame_names == [name.encode()[:15].decode(errors="ignore") for name in model.frame_names]
    assert again.tags == []
    # A point has one normal in MD2: where an edge is hard that is between the two that MD3 has.
    before = np.concatenate([surface.normals[:, surface.triangles] for surface in model.surfaces], axis=1)
    turned = degrees(after.normals[:, after.triangles], before)
    smooth = np.concatenate([_is_smooth(surface)[surface.triangles] for surface in model.surfaces])
    assert turned[:, smooth].max(initial=0) <= 12.0, "the closest of 162 directions"


def _is_smooth(surface):
    """Tell which vertices (V,) are alone at their place."""
    places = surface.positions.transpose(1, 0, 2).reshape(surface.num_vertices, -1)
    _, group, count = np.unique(places, axis=0, return_inverse=True, return_counts=True)
    return count[group.reshape(-1)] == 1


def test_the_closest_direction_and_code():
    """A vertex without neighbours at its place has the same normal, as closely as either format can say it."""
    model = load(SENTINEL.read_bytes())
    surface = model.surfaces[0]
    smooth = _is_smooth(surface)[surface.triangles]
    again = load(MD2.dump(model)).surfaces[0]
    count = len(surface.triangles)
    turned = degrees(again.normals[:, again.triangles[:count]], surface.normals[:, surface.triangles])[:, smooth]
    assert turned.max(initial=0) <= 11.0


def test_seams_become_vertices_and_vertices_seams():
    cube = MD3.dump(load(sample("seams", "md2")))
    assert load(cube).surfaces[0].num_vertices == 24
    file = MD2.dump(load(cube), {"skin_width": 60, "skin_height": 32})
    (surface,), (before,) = load(file).surfaces, load(sample("seams", "md2")).surfaces
    assert surface.num_vertices == 8
    assert surface.triangles.tolist() == before.triangles.tolist()
    np.testing.assert_allclose(surface.uvs, before.uvs, atol=1e-6)
    codes = [[n for *_, n in samples_md2.CUBE_CORNERS]] * 2
    assert md2.read(file).vertices[..., 3].tolist() == codes, "the very directions"


def test_surfaces_of_one_skin_need_no_word(caplog):
    spec = samples_md3.animated()
    spec.tags = []
    spec.surfaces[1].shaders = spec.surfaces[0].shaders
    (surface,) = load(MD2.dump(load(spec.pack()))).surfaces
    assert (surface.shaders, caplog.messages) == (["models/animated/body.tga"], [])
    assert (surface.num_vertices, len(surface.triangles)) == (10, 6)


def test_a_model_of_tags_alone_is_refused():
    with pytest.raises(LimitError, match="nothing to export: MD2 holds one mesh, and there is none"):
        MD2.dump(load(sample("tags_only")))


def test_a_model_beyond_md3s_reach_is_refused():
    model = load(sample("animated", "md2"))
    model.surfaces[0].positions[2, 1, 0] = 600.0
    with pytest.raises(LimitError, match="'sample' has a vertex at X = 600 in frame 2: MD3 holds -512 to 511"):
        MD3.dump(model)


def test_animations_of_an_md3_are_in_its_frames_names():
    again = load(MD2.dump(load(SENTINEL.read_bytes())))
    assert [(a.name, a.first, a.count) for a in again.animations] == [("hover", 0, 20)]


def test_moved_vertices_take_their_normals_along():
    """An edited model is converted with the normals that its own format would have."""
    model = load(sample("seams", "md2"))
    turn = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]], np.float32)
    surface = model.surfaces[0]
    wanted = surface.normals @ turn.T
    surface.positions, surface.normals = surface.positions @ turn.T, None  # as Blender gives it
    again = load(MD3.dump(model)).surfaces[0]
    assert degrees(again.normals[:, :8], wanted).max() <= 12


def test_frames_chosen_and_reordered_keep_their_normals():
    model = load(sample("animated", "md2"))
    order = np.array([4, 0, 2])
    (surface,) = model.surfaces
    before = surface.normals[order].copy()
    model.frame_names = [model.frame_names[i] for i in order]
    surface.positions, surface.normals = surface.positions[order].copy(), None
    model.frame_sources = order.astype(np.int32)
    again = load(MD3.dump(model))
    assert again.frame_names == ["run2", "stand01", "stand03"]
    assert degrees(again.surfaces[0].normals[:, :6], before).max() <= 1.01
