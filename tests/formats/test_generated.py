"""Models made at random, through bytes and back: what is written means what it meant, or is refused with a sentence."""

import contextlib

import numpy as np
import pytest
from hypothesis import given

from io_idtech_models import formats
from io_idtech_models.formats.md2 import file as md2
from io_idtech_models.formats.md2 import strips as _glcmds
from io_idtech_models.model.skeletal import skin
from io_idtech_models.model.transforms import chain, same_turns
from io_idtech_models.reporting import LimitError
from tests.strategies import animations, rest_pose, skeletal_models, vertex_models

MD2, MD3 = formats.by_name("md2"), formats.by_name("md3")
MD5MESH, MD5ANIM = formats.by_name("md5mesh"), formats.by_name("md5anim")
MDM, MDX = formats.by_name("mdm"), formats.by_name("mdx")
CODE = np.radians(360 / 65536)
# Overflows of extreme numbers are no surprise here.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def held(name, size=64):
    """Return a name as a field of so many bytes holds it."""
    return name.replace("\0", "").encode("utf-8", "replace")[: size - 1].decode("utf-8", "ignore")


def written(name):
    """Return a name as a text holds it."""
    return "".join(c for c in name if c not in '"\r\n\0').encode("utf-8", "replace").decode("utf-8")


def dumped(row, model):
    """Return a model's bytes, None if the format can't hold it."""
    with contextlib.suppress(LimitError):
        return row.dump(model)
    return None


def corners_of(surfaces, name):
    """Return a value of the corners of all surfaces' triangles."""
    if name == "uvs":
        return np.concatenate([surface.corner_uvs for surface in surfaces])
    return np.concatenate([getattr(s, name)[:, s.triangles] for s in surfaces], axis=1)


def close(found, wanted, part=1e-6, off=1e-6):
    return np.abs(found - wanted) <= off + part * np.abs(wanted)


# -- vertex models


@given(vertex_models())
def test_md3(model):
    data = dumped(MD3, model)
    if data is None:
        reach = max((float(np.abs(s.positions).max(initial=0)) for s in model.surfaces), default=0)
        texts = [model.name, *(t.name for t in model.tags)]
        texts += [text for s in model.surfaces for text in (s.name, *s.shaders)]
        assert reach > 511 or max(len(text.encode("utf-8", "replace")) for text in texts) > 63
        return
    again = MD3.load(data, "")
    assert again.name == held(model.name)
    assert again.frame_names == [held(name, 16) for name in model.frame_names]
    assert [s.name for s in again.surfaces] == [held(s.name) for s in model.surfaces]
    assert [s.shaders for s in again.surfaces] == [[held(n) for n in s.shaders] for s in model.surfaces]
    for found, wanted in zip(again.surfaces, model.surfaces, strict=True):
        assert len(found.triangles) == len(wanted.triangles)
        corners = [corners_of([surface], "positions") for surface in (found, wanted)]
        assert (np.abs(np.subtract(*corners)) <= 1 / 128 + 1e-5).all()
        assert close(found.corner_uvs, wanted.corner_uvs).all()
        if wanted.normals is not None and found.num_vertices == wanted.num_vertices:
            plain = found.normals / np.linalg.norm(found.normals, axis=-1, keepdims=True)
            off = np.linalg.norm(plain - wanted.normals, axis=-1)
            assert np.degrees(off).max(initial=0) < 1.02
    for found, wanted in zip(again.tags, model.tags, strict=True):
        assert found.name == held(wanted.name)
        assert np.array_equal(found.origins, wanted.origins)
        assert np.array_equal(found.axes, wanted.axes)
    assert MD3.dump(again) == data


@given(vertex_models())
def test_md2(model):
    data = dumped(MD2, model)
    if data is None:
        return
    assert model.surfaces
    again, file = MD2.load(data, model.name), md2.read(data)
    assert again.frame_names == [held(name, 16) for name in model.frame_names]
    assert again.tags == []
    skins = [held(name) for surface in model.surfaces for name in surface.shaders]
    assert set(again.surfaces[0].shaders) == set(skins)
    wanted = corners_of(model.surfaces, "positions")
    found = corners_of(again.surfaces, "positions")
    assert found.shape == wanted.shape
    step = np.abs(file.frames["scale"])[:, None, None]
    assert (np.abs(found - wanted) <= step * 0.51 + 1e-6 * np.abs(wanted) + 1e-30).all()
    size, wanted_uvs = np.array(again.texture_size), corners_of(model.surfaces, "uvs")
    off = np.abs((again.surfaces[0].corner_uvs - wanted_uvs) * size)
    past = np.maximum(-wanted_uvs, wanted_uvs - 1) * size  # texels beyond an edge: up to one becomes the edge's own
    assert (off <= np.where((past > 0) & (past < 1), 1.0, 0.51) + 1e-2).all(), "the closest texel"
    commands = _glcmds.decode(file.glcmds, file.vertices.shape[1])
    drawn = np.sort(commands.vertices[commands.triangles()], axis=1)
    assert sorted(drawn.tolist()) == sorted(np.sort(file.triangles["xyz"], axis=1).tolist())
    assert MD2.dump(again) == data


# -- skeletal models


def sorted_weights(mesh):
    """Return the weights of each vertex as a list of tuples, the heaviest first."""
    table = mesh.weights
    found = []
    for start, count in zip(table.starts.tolist(), table.counts.tolist(), strict=True):
        own = range(start, start + count)
        rows = [(-float(table.factors[i]), int(table.joints[i]), *table.offsets[i].tolist()) for i in own]
        found.append(sorted(rows))
    return found


@given(skeletal_models())
def test_md5mesh(model):
    data = dumped(MD5MESH, model)
    assert data is not None
    again = MD5MESH.load(data, model.name)
    assert again.skeleton.names == [written(name) for name in model.skeleton.names]
    assert np.array_equal(again.skeleton.parents, model.skeleton.parents)
    assert close(again.skeleton.positions, model.skeleton.positions).all()
    assert same_turns(again.skeleton.rotations, model.skeleton.rotations).max(initial=0) < 1e-3
    for found, wanted in zip(again.meshes, model.meshes, strict=True):
        assert found.shader == written(wanted.shader)
        assert np.array_equal(found.triangles, wanted.triangles)
        assert close(found.uvs, wanted.uvs).all()
        assert sorted_weights(found) == sorted_weights(wanted)
    assert MD5MESH.dump(again) == data


@given(animations())
def test_md5anim(animation):
    data = dumped(MD5ANIM, animation)
    assert data is not None
    again = MD5ANIM.load(data, animation.name)
    assert again.joint_names == [written(name) for name in animation.joint_names]
    assert again.frame_rate == round(animation.frame_rate)
    assert again.num_frames == animation.num_frames
    assert close(again.positions, animation.positions, off=2e-4).all()
    assert same_turns(again.rotations, animation.rotations).max(initial=0) < 2e-3
    assert close(again.bounds, animation.bounds).all()
    assert MD5ANIM.dump(again) == data


@given(skeletal_models())
def test_mdm_and_mdx(model):
    data, bones = dumped(MDM, model), dumped(MDX, rest_pose(model))
    if data is None or bones is None:
        return
    again = MDM.load(data, model.name, {"mdx": bones})
    assert again.skeleton.names == [held(name) for name in model.skeleton.names]
    assert np.array_equal(again.skeleton.parents, model.skeleton.parents)
    assert same_turns(again.skeleton.rotations, model.skeleton.rotations).max(initial=0) < 2 * CODE
    for found, wanted in zip(again.meshes, model.meshes, strict=True):
        assert (found.name, found.shader) == (held(wanted.name.lower()), held(wanted.shader))
        assert np.array_equal(found.triangles, wanted.triangles)
        assert close(found.uvs, wanted.uvs).all()
        assert sorted_weights(found) == sorted_weights(wanted)
        check_places(found, wanted, again.skeleton, model.skeleton)
    for found, wanted in zip(again.tags, model.tags, strict=True):
        assert (found.name, found.joint) == (held(wanted.name), wanted.joint)
        assert np.array_equal(found.origin, wanted.origin)
        assert np.array_equal(found.axes, wanted.axes)
    assert MDM.dump(again) == data


def check_places(found, wanted, bones, before):
    """Assert that vertices stand where they stood, as closely as angles of 16 bits and several roots allow."""
    if (before.parents < 0).sum() > 1:
        return
    shown, was = (skin(m.weights, s.positions, s.rotations) for m, s in ((found, bones), (wanted, before)))
    reach = np.abs(before.positions).max(initial=0) * len(before.parents) + np.abs(wanted.weights.offsets).max(
        initial=0
    )
    factors = np.abs(wanted.weights.factors).max(initial=0) * 8
    assert np.abs(shown - was).max(initial=0) <= 1e-3 + reach * factors * 8 * CODE


@given(animations())
def test_mdx(animation):
    data = dumped(MDX, animation)
    if data is None:
        assert not len(animation.parents)
        return
    again = MDX.load(data, animation.name)
    assert again.joint_names == [held(name) for name in animation.joint_names]
    assert np.array_equal(again.parents, animation.parents)
    _, shown = chain(again.parents, again.positions, again.rotations)
    _, was = chain(animation.parents, animation.positions, animation.rotations)
    assert same_turns(shown, was).max(initial=0) < 2 * CODE
    root = int(np.flatnonzero(animation.parents < 0)[0])
    assert close(again.positions[:, root], animation.positions[:, root]).all()
    ways = np.linalg.norm(animation.positions, axis=-1)
    still = np.flatnonzero((animation.parents >= 0) & (np.ptp(ways, axis=0) <= 1e-6 * ways.max(axis=0)))
    off = np.linalg.norm((again.positions - animation.positions)[:, still], axis=-1)
    near = 2 * CODE + np.sqrt(2) * np.pi / 4095  # the turns that are taken back, and half a step of the table each way
    assert (off <= 0.011 + near * ways[:, still]).all()
    assert MDX.dump(again) == data
