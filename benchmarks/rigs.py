"""What bones say of frames: `python3 build.py bench --rig [FILE ...]`.

For models of frames: how many bones, how far off they are, how much farther in animations that were kept from the
search, and how many seconds of the processor it takes. For models that have bones, in their own animations: how many of
these are found again from the frames alone, beside what as many random vertices would find, and how many hang on what
they hang on there. Last, how the time grows with points and frames.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.models import CORPUS, EXAMPLES
from io_idtech_models.assets.load import Loaded, animations_beside, load
from io_idtech_models.formats import VERTEX
from io_idtech_models.game.folders import Disk
from io_idtech_models.model.bake import bake
from io_idtech_models.model.clips import group
from io_idtech_models.model.joint_scales import posed, without_rest_scale
from io_idtech_models.model.rigging.fit import PointSkin, best_poses, fit_poses, moments_of
from io_idtech_models.model.rigging.joints import upward
from io_idtech_models.model.rigging.points import points_of
from io_idtech_models.model.rigging.rig import FrameRig, Report, RigSettings, explained
from io_idtech_models.model.rigging.solve import make_rig
from io_idtech_models.model.vertex import VertexModel
from io_idtech_models.model.weights import Weights

Doubles = NDArray[np.float64]

FOUND = 0.02  # of the size: as near a bone is one of the model's
LOOKED_AT = 12  # frames in which bones are compared with the model's
DRAWS = 20  # of random vertices
MOST_FRAMES = 400  # of a model with bones
KEPT = 4  # each so many-th animation is kept from the search
GROWN = (1, 2, 4, 8)  # times as many points, or frames
SOUGHT = (
    "**/playermodels/tris.md2", "**/lower.md3", "**/lower.mdc", "**/progs/player.mdl", "**/dog.mdl", "**/horse.md2",
    "**/gun.md2", "**/flag.md2", "**/flame2.mdl", "**/xsarge/body.md5mesh", "**/mrfixit.iqm", "**/tyrant_view.md5mesh",
)  # fmt: skip


@dataclass
class Case:
    """Vertices in frames (F, V, 3), and the triangles (T, 3) that join them."""

    name: str
    positions: NDArray[np.float32]
    triangles: NDArray[np.int32]
    names: list[str]
    joints: Doubles | None = None  # (F, J, 3) those that are known
    owners: NDArray[np.int64] | None = None  # (V,) which of all joints of a skeleton moves each vertex most
    parents: NDArray[np.int64] | None = None  # of all these

    @property
    def size(self) -> float:
        """Return how large it is, in units: the diagonal, in the median of its frames."""
        return float(np.median(np.linalg.norm(np.ptp(self.positions, axis=1), axis=1))) or 1.0


def known() -> list[Path]:
    """Return the examples, and real models where they are at hand."""
    real = [path for pattern in SOUGHT for path in sorted(CORPUS.glob(pattern))[:1]] if CORPUS.is_dir() else []
    return [*EXAMPLES, *real]


def measure(paths: Iterable[Path]) -> None:
    """Print what there is to say of models."""
    print(f"{'model':34} {'frames':>6} {'points':>6} {'size':>6}  bones    rms  worst  kept   seconds")
    cases = [case for path in paths if (case := _case(path)) is not None]
    for case in cases:
        rig, report, seconds = _made(case.positions, case.triangles)
        kept = "" if case.joints is not None else _kept_from_the_search(case)
        said = f"{case.name:34} {len(case.positions):6} {len(rig.rest):6} {case.size:6.0f} {report.bones:6}"
        print(f"{said} {report.rms:6.3f} {report.worst:6.2f} {kept:>5} {seconds:9.2f}", flush=True)
        if case.joints is not None:
            print("   " + _known_joints(case, rig) + _known_tree(case, rig), flush=True)
    for line in _growth():
        print(line, flush=True)


def _case(path: Path) -> Case | None:
    """Return what a file shows; None of one in which nothing moves."""
    loaded = load(Disk().file(path))
    name = "/".join(path.parts[-2:])
    if loaded.row.family is VERTEX:
        return _of_frames(name, loaded.model) if loaded.model.num_frames > 1 and loaded.model.surfaces else None
    return _of_bones(name, loaded)


def _of_frames(name: str, model: VertexModel) -> Case:
    positions, triangles, _ = points_of(model.surfaces, model.num_frames)
    return Case(name, positions, triangles, list(model.frame_names))


def _of_bones(name: str, loaded: Loaded) -> Case | None:
    """Return a model that its skeleton moves as frames, on the grid of an MD3."""
    file = loaded.file
    motions = loaded.animations
    beside = loaded.row.skeletal.animation
    if file is not None and not motions and loaded.row.has_model and beside is not None:
        motions = [motion for motion, _ in animations_beside(file, beside, loaded.model)]
    motions = [motion for motion in motions if motion.num_frames > 1]
    if loaded.model is None or not loaded.model.nearest().meshes or not motions:
        return None
    case = _of_frames(name, bake(loaded.model.nearest(), motions))
    used = np.unique(np.concatenate([mesh.weights.joints for mesh in loaded.model.nearest().meshes]))
    case.joints = np.concatenate([posed(without_rest_scale(motion, loaded.model.skeleton))[0] for motion in motions])[
        :, used
    ]
    case.owners = np.concatenate([_strongest(mesh.weights) for mesh in loaded.model.nearest().meshes])
    case.parents = loaded.model.skeleton.parents.astype(np.int64)
    every = max(1, -(-len(case.positions) // MOST_FRAMES))
    case.positions = (np.round(case.positions[::every] * 64) / 64).astype(np.float32)
    case.joints = case.joints[::every]
    return case


def _strongest(weights: Weights) -> NDArray[np.int64]:
    """Return the joint that moves each vertex most, (V,)."""
    strongest = np.zeros(len(weights.counts), np.int64)
    vertices = np.repeat(np.arange(len(weights.counts)), weights.counts)
    order = np.argsort(weights.factors, kind="stable")  # of several that are assigned the last counts
    strongest[vertices[order]] = weights.joints[order]
    return strongest


def _made(positions: NDArray[np.float32], triangles: NDArray[np.int32]) -> tuple[FrameRig, Report, float]:
    begun = time.process_time()
    rig = make_rig(positions, triangles, [], RigSettings())
    return rig, explained(rig, positions), time.process_time() - begun


def _kept_from_the_search(case: Case) -> str:
    """Return how many times farther off bones are in animations that they were not looked for in."""
    clips = group(case.names)
    if len(clips) < KEPT:
        clips = []
        stretch = max(1, len(case.names) // (2 * KEPT))
        kept = (np.arange(len(case.names)) // stretch) % KEPT == KEPT - 1
    else:
        kept = np.zeros(len(case.names), np.bool_)
        for clip in clips[KEPT - 1 :: KEPT]:
            kept[clip.first : clip.last + 1] = True
    if not kept.any() or kept.all():
        return ""
    rig, report, _ = _made(case.positions[~kept], case.triangles)
    points = np.zeros(len(rig.rest), np.int64)
    points[rig.of_vertex] = np.arange(len(rig.of_vertex))
    places = case.positions[kept][:, points].astype(np.float64)
    skin = PointSkin(rig.rest, rig.weights, best_poses(moments_of(places, rig.rest, rig.weights**2)))
    skin.poses = fit_poses(skin, places, passes=8)
    return f"{skin.rms(places) / max(report.rms, 1e-9):.2f}"


def _known_joints(case: Case, rig: FrameRig) -> str:
    """Return how many of the model's joints were found, and how near the nearest is, beside as many random vertices."""
    frames = np.unique(np.linspace(0, len(case.positions) - 1, LOOKED_AT).astype(int))
    joints = case.joints[frames] if case.joints is not None else np.zeros((len(frames), 0, 3))
    heads = (rig.poses[frames][..., :3] @ rig.heads[None, :, :, None])[..., 0] + rig.poses[frames][..., 3]
    found, median = _nearness(joints, heads, case.size)
    rng = np.random.default_rng(1)
    count = case.positions.shape[1]
    drawn = [case.positions[frames][:, rng.choice(count, min(rig.num_bones, count))] for _ in range(DRAWS)]
    by_chance = np.mean([_nearness(joints, each.astype(np.float64), case.size) for each in drawn], axis=0)
    return (
        f"of {joints.shape[1]} joints {found:.0%} within 2 % of the size (by chance {by_chance[0]:.0%}); "
        f"bones {median:.2%} from the nearest in the median (by chance {by_chance[1]:.2%})"
    )


def _known_tree(case: Case, rig: FrameRig) -> str:
    """Return how many bones hang on what moves as a joint does that theirs hangs on, or the same."""
    assert case.owners is not None
    assert case.parents is not None
    weights = rig.weights[rig.of_vertex]
    moved = [int(np.bincount(case.owners, weights[:, bone]).argmax()) for bone in range(rig.num_bones)]
    hung = [(moved[bone], moved[parent]) for bone, parent in enumerate(rig.parents.tolist()) if parent >= 0]
    right = sum(above in upward(case.parents, own) for own, above in hung)
    return f"; of {len(hung)} bones {right} hang as there"


def _nearness(joints: Doubles, places: Doubles, size: float) -> tuple[float, float]:
    distances = np.linalg.norm(joints[:, :, None] - places[:, None], axis=3).mean(axis=0) / size
    return float((distances.min(axis=1) < FOUND).mean()), float(np.median(distances.min(axis=0)))


def _growth() -> Iterator[str]:
    """Yield how the time grows with the points and the frames of a bar that bends."""
    for name, cases in (("points", [(400 * n, 200) for n in GROWN]), ("frames", [(400, 100 * n) for n in GROWN])):
        seconds = [min(_made(*_bar(*case))[2] for _ in range(2)) for case in cases]
        power = np.polyfit(np.log(GROWN), np.log(seconds), 1)[0]
        listed = ", ".join(f"{s:.2f} s" for s in seconds)
        yield f"{name} {', '.join(str(case[name == 'frames']) for case in cases)}: {listed}; as n to the {power:.2f}"


def _bar(points: int, frames: int) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
    """Return a bar of five parts that bend one after another."""
    rings = points // 4
    x = np.repeat(np.linspace(0, 50, rings), 4)
    rest = np.stack([x, np.tile([1, -1, -1, 1], rings), np.tile([1, 1, -1, -1], rings)], axis=1).astype(np.float64)
    found = np.empty((frames, len(rest), 3), np.float32)
    for frame in range(frames):
        own = rest.copy()
        for part in range(4, 0, -1):
            angle = 0.5 * np.sin(frame / 9 + part)
            bent = x >= 10 * part
            c, s = np.cos(angle), np.sin(angle)
            away = own[bent] - [10 * part, 0, 0]
            own[bent] = np.stack([away[:, 0] * c - away[:, 2] * s, away[:, 1], away[:, 0] * s + away[:, 2] * c], 1)
            own[bent] += [10 * part, 0, 0]
        found[frame] = own
    cells = np.arange(len(rest) - 4)
    beside = cells - cells % 4 + (cells + 1) % 4
    triangles = np.concatenate([np.stack([cells, beside, cells + 4], 1), np.stack([beside, beside + 4, cells + 4], 1)])
    return found, triangles.astype(np.int32)
