"""How far games show vertices from where Blender does, where a file can't hold all that moves them: in words.

Lost weights and an uneven scale show in motion alone. So the two are compared in frames of the actions that the
armature plays or keeps, where nothing but curves moves it, else in the pose that it shows.

Letters in shapes: F frames, J joints, V vertices.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from ...model import steady
from ...model.skeletal import SkinnedMesh, Weights
from ...model.transforms import inverse
from ...reporting import plural
from ..compat import Block, playing_curves
from ..curves import read_keys
from ..joints import TURN_BACK
from ..leaders import curves_of, slot_of
from ..spans import span_between
from ..takes import used_actions
from . import armature, bone_scales, channels
from .gather_motion import is_free, read_channels
from .rig_scene import ExportRig, RigScene, SkeletalGatherSettings

log = logging.getLogger(__name__)
Doubles = NDArray[np.float64]
SEEN = 1e-4  # units that are no rounding
MOST_FRAMES = 64  # to compare, of all actions together
MOST_ACTIONS = 16  # of which frames are compared
MOST_CELLS = 1_000_000  # weights in all frames of one comparison


def say(rig: ExportRig, meshes: list[SkinnedMesh], export: RigScene) -> None:
    """Say how far vertices are off that lose weights, and meshes whose armature is scaled unevenly."""
    if not rig.losses and not rig.uneven:
        return
    settings = export.settings
    world = np.array(rig.block.matrix_world, np.float64)
    shown = [(where, poses, _placed(poses, world, settings.scale)) for where, poses in _poses(rig, export)]
    for name in dict.fromkeys(loss.name for loss in rig.losses):
        own = [loss for loss in rig.losses if loss.name == name]
        count = sum(len(loss.full.counts) for loss in own)
        off, where = _farthest(
            (max(_apart((loss.full, game), (loss.written, game)) for loss in own), where) for where, _, game in shown
        )
        text = "'%s': %s weights, %s: up to %.3g units off %s; %s"
        lose = f"{plural(count, 'vertex', 'vertices')} {'loses' if count == 1 else 'lose'}"
        limits, keeping = _limits(np.concatenate([loss.written.counts for loss in own]), settings)
        log.warning(text, name, lose, limits, off, where, keeping)
        _note(export, off, name, keeping)
    if rig.uneven:
        off, where = _farthest(
            (max((_apart((m.weights, blender), (m.weights, game)) for m in meshes), default=0.0), where)
            for where, poses, game in shown
            for blender in [_in_units(_scaled(rig, poses, world), settings.scale)]
        )
        text = "'%s' is scaled unevenly: in the game its meshes will bend otherwise, up to %.3g units off %s"
        if off > SEEN:
            log.warning(text + "; apply its scale", rig.block.name, off, where)
            _note(export, off)


def _limits(counts: NDArray[np.int32], settings: SkeletalGatherSettings) -> tuple[str, str]:
    """Return what takes weights of vertices, which are written with so many, (n,), and what to do to keep them.

    Of vertices that have room for more it is that their weights are small.
    """
    most, held = settings.most_weights, settings.holds.weights
    is_full = counts >= most if most else np.zeros(len(counts), np.bool_)
    limits, ways = list[str](), list[str]()
    if is_full.any():
        limits.append(f"more than {most}")
        ways += ["raise Most Weights"] * (not held or most < held)
    if not is_full.all():
        limits.append(f"below {settings.least_weight:g}")
        ways.append("lower Least Weight")
    alone = f"a vertex has at most {held} there (Weights > Limit Total shows how that looks)"
    return " or ".join(limits), f"{' or '.join(ways)} to keep more weights" if ways else alone


def _note(export: RigScene, off: float, name: str = "", keeping: str = "") -> None:
    """Note that it has been said how far meshes are off, all or those of one name, and what keeps their weights."""
    for written in export.written:
        if not name or written.block.name == name:
            written.said, written.keeping = max(written.said, off), written.keeping or keeping


def _farthest(found: Iterable[tuple[float, str]]) -> tuple[float, str]:
    """Return the largest distance, and where that is, the first of equal ones."""
    return max(found, key=lambda each: each[0])


def _placed(poses: Doubles, world: Doubles, scale: float) -> Doubles:
    """Return joints (F, J, 4, 4) as a file has them, of `poses` in the space of an armature that stands at `world`."""
    return _in_units(armature.placed(poses, world)[0], scale)


def _in_units(matrices: Doubles, scale: float) -> Doubles:
    """Return matrices (F, J, 4, 4) whose places are in the file's units."""
    found = matrices.copy()
    found[..., :3, 3] /= scale
    return found


def _scaled(rig: ExportRig, poses: Doubles, world: Doubles) -> Doubles:
    """Return what Blender does to the places that weights name in the space of joints, (F, J, 4, 4)."""
    rest = armature.rest_matrices(rig.block.data)
    before = steady.products(np.array([rest[name] for name in rig.joints]).reshape(-1, 4, 4), TURN_BACK)
    bound = armature.placed(before, world)[0]
    return steady.products(world, poses, inverse(before), inverse(world), bound)


def _apart(*shown: tuple[Weights, Doubles]) -> float:
    """Return how far two ways to show the same vertices, weights and poses (F, J, 4, 4), are apart at most."""
    (a, first), (b, second) = shown
    step = max(1, len(first) * (len(a.joints) + len(b.joints)) // MOST_CELLS)
    worst = 0.0
    for frame in range(0, len(first), step):
        off = steady.lengths(_skin(a, first[frame]) - _skin(b, second[frame]))
        worst = max(worst, float(off.max(initial=0.0)))
    return worst


def _skin(weights: Weights, poses: Doubles) -> Doubles:
    """Return where poses (J, 4, 4) of joints, which may be any maps, put vertices, (V, 3)."""
    owners, entries = weights.entries()
    own = poses[weights.joints[entries]]
    moved = (steady.applied(own[:, :3, :3], weights.offsets[entries]) + own[:, :3, 3]) * weights.factors[entries, None]
    return np.stack([np.bincount(owners, moved[:, axis], len(weights.counts)) for axis in range(3)], axis=1)


def _poses(rig: ExportRig, export: RigScene) -> list[tuple[str, Doubles]]:
    """Return where poses are, in words, and joints in the armature's space there, (F, J, 4, 4); the present ones first.

    Of several actions each is looked at in fewer frames.
    """
    block = rig.block
    playing = None if block.animation_data is None else block.animation_data.action
    actions = [each for each in (playing, *used_actions(block)) if each is not None] if playing_curves(block) else []
    chosen = list(dict.fromkeys(actions))[:MOST_ACTIONS]
    each = (_played(rig, export, action, MOST_FRAMES // len(chosen)) for action in chosen)
    found = [poses for poses in each if poses is not None]
    if found:
        return found
    pose = export.evaluated(rig.block).pose.bones
    buffer = np.empty(16 * len(pose), np.float32)
    pose.foreach_get("matrix", buffer)
    places = {bone.name: place for place, bone in enumerate(pose)}
    order = [places[name] for name in rig.joints]
    matrices = buffer.reshape(-1, 4, 4).transpose(0, 2, 1)[order].astype(np.float64)
    return [("in the pose shown", steady.products(matrices, TURN_BACK)[None])]


def _played(rig: ExportRig, export: RigScene, action: Block, most: int) -> tuple[str, Doubles] | None:
    """Return poses of an action in so many frames at most; None if it moves no bone, or more than its curves counts."""
    block, own = rig.block, export.bones
    keys = read_keys(curves_of(action, slot_of(block, action)))
    span = span_between(action, keys.ends())
    if span is None or not is_free(block, own) or own.names != list(rig.joints):
        return None
    count = min(most, span.last - span.first + 1)
    frames = np.unique(span.first + np.arange(count) * (span.last - span.first) // max(count - 1, 1))
    read = read_channels(block, own, frames, keys)
    if read is None:
        return None
    total = None if read[1] is None else own.even_total(read[1])
    if read[1] is not None and total is None:
        return None
    positions, rotations = channels.from_channels(read[0], own.maps)
    if total is not None:
        positions = positions * bone_scales.above(own.parents, total)[..., None]
    matrices = armature.chained(armature.joint_matrices(positions, rotations), own.parents)
    return f"in '{action.name}'", matrices
