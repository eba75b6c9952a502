"""Rigged models with edits of every kind at once, mixed with what stays: what is written means what the model did."""

import copy
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from io_idtech_models.formats import by_name
from io_idtech_models.model.bake import bake
from io_idtech_models.model.skeletal import Weights
from io_idtech_models.model.transforms import chain, multiply, same_turns, to_matrices
from io_idtech_models.model.weights import skin_by
from io_idtech_models.reporting import LimitError
from tests.facts import differences
from tests.samples import sample

SEEDS = range(8)
FILES = {  # and how far places may be off, in units, and normals
    ("iqm", "arm"): (2e-3, 0.02), ("iqm", "animated"): (2e-3, 0.02), ("iqm", "static"): (1e-5, 0.02),
    ("mdr", "walker"): (1e-4, 1e-4), ("mdr", "packed_walker"): (0.04, 1e-3), ("mdr", "handles"): (1e-4, 1e-4),
    ("mds", "figure"): (0.05, 1e-3), ("mdm", "figure"): (1e-4, 1e-3), ("md5mesh", "arm"): (1e-4, None),
}  # fmt: skip
MOTIONS = {
    ("md5anim", "wave"): 1e-4, ("md5anim", "roots_wave"): 1e-4, ("md5anim", "gaps_between_channels"): 1e-4,
    ("mdx", "walk"): 0.1, ("mdx", "odd_file"): 0.1,
}  # fmt: skip


def turned(rng, *shape):
    """Return quaternions of some degrees."""
    found = np.concatenate((np.ones((*shape, 1)), rng.uniform(-0.2, 0.2, (*shape, 3))), axis=-1)
    return found / np.linalg.norm(found, axis=-1, keepdims=True)


def some(rng, *shape):
    """Return which of so many are edited: none, some or all."""
    return rng.random(shape) < rng.choice([0.0, 0.3, 1.0], p=[0.25, 0.6, 0.15])


def edited_mesh(mesh, bind, rng, in_place=False, colored=False):
    """Return a mesh with triangles and vertices gone or in another order, and others moved, bound anew, or repainted.

    Vertices move in the pose `bind`, by the offsets of all their weights.
    """
    kept = np.flatnonzero(rng.random(len(mesh.triangles)) < (1.0 if in_place else rng.choice([1.0, 0.7])))
    kept = rng.permutation(kept) if rng.random() < 0.3 and not in_place else kept
    order = np.arange(mesh.num_vertices)
    if rng.random() < 0.5 and not in_place:
        order = rng.permutation(np.unique(mesh.triangles[kept]))
    place = np.full(mesh.num_vertices, -1)
    place[order] = np.arange(len(order))

    def of(array):
        return None if array is None else array[order].copy()

    table, count = mesh.weights.of(order), len(order)
    vertices, entries = table.entries()
    starts = np.cumsum(table.counts) - table.counts
    weights = Weights(
        starts, table.counts.copy(), table.joints[entries], table.factors[entries], table.offsets[entries], table.still
    )
    moved, bound = some(rng, count), some(rng, count)
    axes = to_matrices(bind.rotations)
    weights.joints[bound[vertices]] = weights.joints[:1]
    places = skin_by(table, bind.positions, axes) + np.where(moved[:, None], rng.uniform(-0.5, 0.5, (count, 3)), 0)
    fresh, joints = (moved | bound)[vertices], weights.joints
    away = np.einsum("nji,nj->ni", axes[joints], places[vertices] - bind.positions[joints])
    weights.offsets[fresh] = away[fresh]
    if weights.still is not None:
        weights.still = np.where(
            (moved & (table.counts == 0))[:, None], weights.still + np.float32(0.25), weights.still
        )
    found = replace(
        mesh, uvs=of(mesh.uvs), triangles=place[mesh.triangles[kept]].astype(np.int32), weights=weights,
        source_vertices=of(mesh.source_vertices), kept=of(mesh.kept), normals=of(mesh.normals),
        kept_normals=of(mesh.kept_normals), carried=of(mesh.carried), colors=of(mesh.colors),
        source_triangles=None if mesh.source_triangles is None else mesh.source_triangles[kept],
    )  # fmt: skip
    found.kept[moved | bound] = False
    found.carried = moved & ~bound if rng.random() < 0.5 else found.carried
    painted, new, bent = some(rng, count), some(rng, count), some(rng, count)
    found.uvs[painted] += np.float32(0.125)
    if found.colors is not None:
        found.colors[painted] = found.colors[painted][:, [2, 1, 0, 3]]
    elif colored and rng.random() < 0.3:
        found.colors = rng.integers(0, 256, (count, 4)).astype(np.float32) / np.float32(255)
    if found.normals is not None:
        found.normals[bent] = np.roll(found.normals[bent], 1, axis=1)
        found.kept_normals[bent | new | moved | bound] = False
    found.source_vertices[new], found.kept[new] = -1, False
    if rng.random() < 0.3 and not in_place:
        found.name, found.shader = found.name + "x", "other"
    return found


def edited_motion(motion, moves, rng, in_place=False):
    """Return a motion with frames gone or in another order, and some joints turned, moved or larger in some of them."""
    if rng.random() < 0.4 and not in_place:
        motion = motion.of_frames(rng.integers(0, motion.num_frames, rng.integers(1, motion.num_frames + 2)))
    found = replace(
        motion,
        positions=motion.positions.copy(),
        rotations=motion.rotations.copy(),
        source_frames=motion.source_frames.copy(),
    )
    at = some(rng, *motion.positions.shape[:2])
    if moves:
        found.positions[at] += rng.uniform(-1, 1, (int(at.sum()), 3))
        found.source_frames[at, 0] = -1
    at = some(rng, *motion.positions.shape[:2])
    found.rotations[at] = multiply(found.rotations[at], turned(rng, int(at.sum())))
    half = at & (rng.random(at.shape) < 0.2)  # whose sign means nothing
    found.rotations[half] = rng.choice([-1.0, 1.0], (int(half.sum()), 1)) * (0, 0, 1, 0)
    found.source_frames[at, 1] = -1
    if in_place:
        return found
    if rng.random() < 0.3:
        found.name, found.frame_rate = found.name + "x", 30.0
    return replace(found, source=None, source_frames=None, source_joints=None) if rng.random() < 0.15 else found


def edited(asset, rng, with_motions):
    """Return the model of an asset and its motions, edited."""
    model, motions, colored = asset.model, asset.animations, asset.row.name == "iqm"
    bind = model.skeleton.bind
    meshes = [edited_mesh(mesh, bind, rng, colored=colored) if rng.random() < 0.7 else mesh for mesh in model.meshes]
    if len(meshes) > 1 and rng.random() < 0.3:
        meshes.pop(int(rng.integers(len(meshes))))
    if with_motions:
        moves = asset.row.name != "mds"  # whose bones are as long in every frame
        motions = [edited_motion(motion, moves, rng) if rng.random() < 0.7 else motion for motion in motions]
        if len(motions) > 1 and rng.random() < 0.5:
            motions = [motions[nth] for nth in rng.permutation(len(motions))[: rng.integers(1, len(motions) + 1)]]
    if model.skeleton.scales is not None and rng.random() < 0.5:  # evenly: else space is sheared, which no file holds
        scales = model.skeleton.scales * rng.choice([1.0, 1.0, 1.25], (model.skeleton.num_joints, 1))
        model = replace(model, skeleton=replace(model.skeleton, scales=scales))
    return replace(model, meshes=meshes), motions


def dumped(row, model, motions):
    """Return the bytes of a model in another format, or why it can't be."""
    try:
        return row.dump(model, None, motions)
    except LimitError as error:
        return str(error).encode()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("name", "called"), FILES)
def test_edits_of_rigged_models_are_what_is_read_again(name, called, seed, as_before, caplog):
    """Normals are those of the first frame: other games than MD5's and IQM's have them of the pose that it shows."""
    row, (near, bent) = by_name(name), FILES[name, called]
    rng, whole = np.random.default_rng(seed), seed % 2 == 0
    asset: Any = row.unpack(row.read(sample(called, name)), "x")
    model, motions = edited(asset, rng, not whole)
    data = row.dump(model, None, motions)
    as_before(data)
    as_before(caplog.messages)
    for elsewhere in sorted({"md5mesh", "mdm", "iqm"} - {name}):
        as_before(dumped(by_name(elsewhere), copy.deepcopy(model), motions))
    as_before(dumped(by_name("md3"), bake(model, motions), []))
    again: Any = row.unpack(row.read(data), "x")
    assert row.dump(again.model, None, again.animations) == data
    assert [(m.name, m.shader) for m in again.model.meshes] == [(m.name, m.shader) for m in model.meshes]
    found = {motion.name: motion for motion in again.animations}
    if name == "iqm":
        assert {m.name: (m.frame_rate, m.loops) for m in motions} == {
            m.name: (m.frame_rate, m.loops) for m in found.values()
        }
    ordered = [found.get(motion.name, motion) for motion in motions] if name == "iqm" else again.animations
    surfaces = zip(bake(model, motions).surfaces, bake(again.model, ordered).surfaces, strict=True)
    one: Any
    other: Any
    for nth, (one, other) in enumerate(surfaces):
        np.testing.assert_allclose(other.corner_uvs, one.corner_uvs, atol=1e-6)
        corners = one.positions[:, one.triangles], other.positions[:, other.triangles]
        np.testing.assert_allclose(*corners, atol=near)
        if bent is not None and whole:
            np.testing.assert_allclose(one.normals[0, one.triangles], other.normals[0, other.triangles], atol=bent)
        colors, written = model.meshes[nth].colors, again.model.meshes[nth].colors
        if colors is not None:
            corners = model.meshes[nth].triangles, again.model.meshes[nth].triangles
            np.testing.assert_allclose(colors[corners[0]], written[corners[1]], atol=0.6 / 255)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("name", "called"), MOTIONS)
def test_edits_of_motions_are_what_is_read_again(name, called, seed, as_before, caplog):
    row, rng = by_name(name), np.random.default_rng(seed)
    motion = edited_motion(row.load(sample(called, name), "x"), name != "mdx", rng, in_place=seed % 2 == 0)
    data = row.dump(motion)
    as_before(data)
    as_before(caplog.messages)
    again = row.load(data, "x")
    assert row.dump(again) == data
    assert again.joint_names == motion.joint_names
    shown, wanted = (chain(each.parents, each.positions, each.rotations) for each in (again, motion))
    np.testing.assert_allclose(shown[0], wanted[0], atol=MOTIONS[name, called])
    assert same_turns(shown[1], wanted[1]).max() < 0.01


OF_VERTEX = re.compile(r"(?:lods\[(\d+)\]\.)?surfaces\[(\d+)\]\.verts\[(\d+)\]\.(\w+)")
OF_FRAME = re.compile(r"frames\[(\d+)\]\.(?:(?:bones|angles|ofs)\[(\d+)\]|name)")
FOLLOWS = re.compile(
    r"surfaces\[\d+\]\.(collapse\[\d+\]|min_lod)|frames\[\d+\]\.(bounds|radius|local_origin|parent_offset)"
)
FIELDS = {"fixed_dist": "weights", "fixed_parent": "weights", "verts": "weights"}
ARRAYS = {0: "weights", 1: "st", 2: "normal", 4: "weights", 5: "weights", 6: "colors"}  # of an IQM


def edits_of(mesh, was):
    """Return which vertices (V,) of a mesh have other weights, texture coordinates, normals and colours."""
    new = mesh.source_vertices < 0
    bent = ~mesh.kept if mesh.kept_normals is None else ~mesh.kept_normals
    painted = new if mesh.colors is None else new | (mesh.colors != was.colors).any(axis=1)
    return {"weights": ~mesh.kept, "st": new | (mesh.uvs != was.uvs).any(axis=1), "normal": bent, "colors": painted}


def in_subtrees(edited, parents):
    """Return which joints are edited, or hang on one that is, in each frame, (F, J)."""
    found = edited.copy()
    for joint in np.flatnonzero(parents >= 0):
        found[:, joint] |= found[:, parents[joint]]
    return found


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("name", "called"), [key for key in FILES if key[0] != "md5mesh" and key[1] != "static"])
def test_what_is_not_edited_of_a_rigged_model_keeps_every_bit(name, called, seed, as_before):
    row, data, rng = by_name(name), sample(called, name), np.random.default_rng(seed)
    asset = row.unpack(row.read(data), "x")
    before, bind = asset.model.meshes, asset.model.skeleton.bind
    model = replace(asset.model, meshes=[edited_mesh(mesh, bind, rng, in_place=True) for mesh in before])
    motions = [edited_motion(motion, name != "mds", rng, in_place=True) for motion in asset.animations]
    edits = [edits_of(*pair) for pair in zip(model.meshes, before, strict=True)]
    written = row.dump(model, None, motions)
    as_before(written)
    if name == "iqm":
        check_arrays(row.read(data), row.read(written), edits)
        return
    moved = [in_subtrees((motion.source_frames < 0).any(axis=2), motion.parents) for motion in motions]
    firsts = np.searchsorted([mesh.level for mesh in before], range(8))  # of the meshes of each level of detail
    for path in differences(data, written):
        vertex, frame = OF_VERTEX.fullmatch(path), OF_FRAME.fullmatch(path)
        if vertex:
            mesh = int(vertex[2]) + firsts[int(vertex[1] or 0)]
            assert edits[mesh][FIELDS.get(vertex[4], vertex[4])][int(vertex[3])], path
        elif frame:
            own = np.concatenate(moved)[int(frame[1])]
            assert own.any() if frame[2] is None else own[int(frame[2])], path
        else:
            assert FOLLOWS.fullmatch(path), path


def check_arrays(before, after, edits):
    """Assert that an IQM's arrays have their old rows where vertices are not edited, of meshes that have as many."""
    old, new = ({int(r["type"]): rows for r, rows in zip(f.arrays, f.data, strict=True)} for f in (before, after))
    for mesh, was, edited in zip(after.meshes, before.meshes, edits, strict=True):
        if mesh["num_vertexes"] == was["num_vertexes"]:
            for kind, name in ARRAYS.items():
                rows = [
                    f[kind][m["first_vertex"] :][: m["num_vertexes"]] for f, m in ((old, was), (new, mesh)) if kind in f
                ]
                if len(rows) == 2:
                    same = (rows[0] == rows[1]).all(axis=1)
                    assert (same | edited[name]).all(), (kind, np.flatnonzero(~same & ~edited[name]))
