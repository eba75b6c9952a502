"""A change of one frame, applied to others: how far its vertices stand from where they were goes to other frames.

Where they were is where an application left them last, which the mesh keeps for every frame that one touched, or else
where the file had them. So an application that is repeated adds nothing, and what one brought to another frame is no
change of that frame. Where neither is known (frames that a modeller made) the present state is remembered: what
changes from then on can be applied.

Letters in shapes: F frames, P points.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...model import records
from ..compat import Block
from ..mesh import attributes
from ..properties import write_bytes
from . import shape_keys
from .known_frames import source_frames
from .source import StoredSource

log = logging.getLogger(__name__)

APPLIED = "idtech_applied"  # on a mesh: where points of frames stood after a change was applied, by the keys' names
CONSTANT, LINEAR, SMOOTH = "CONSTANT", "LINEAR", "SMOOTH"
PROBES = 5  # frames that are asked for the scale of an import
NEAR = 1e-6  # of a model's size: what is closer did not move
AS_GOOD = 1e-5  # or only by what an armature errs in single precision
Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Spread:
    """To which frames a change goes, how much of it, and of which points."""

    present: int  # the frame that was changed
    frames: range
    falloff: str = CONSTANT
    selected_only: bool = False

    def weights(self) -> NDArray[np.float64]:
        """Return how much of a change each of the frames gets: all at the present one, with a falloff none at the ends.

        A range that the present frame is no part of falls off from its nearer end.
        """
        frames = np.array(self.frames, np.float64)
        if self.falloff == CONSTANT or not len(frames):
            return np.ones(len(frames))
        before, behind = self.present - frames[0], frames[-1] - self.present
        reach = np.where(frames < self.present, max(before, 1.0), max(behind, 1.0))
        found = np.clip(1.0 - np.abs(frames - self.present) / reach, 0.0, 1.0)
        soft: NDArray[np.float64] = found * found * (3.0 - 2.0 * found)
        return soft if self.falloff == SMOOTH else found


def spread(block: Block, known: StoredSource | None, wanted: Spread) -> int | None:
    """Apply what changed in the present frame of a mesh to others; return how many points that moved.

    None: nothing tells where points were, and the present state is remembered from now on.
    """
    mesh = block.data
    keys = shape_keys.frame_blocks(mesh.shape_keys)
    before = Before(mesh, known)
    present = shape_keys.read([keys[wanted.present]], len(mesh.vertices))[0]
    was = before.of(wanted.present)
    if was is None or before.is_stale:
        before.kept[keys[wanted.present].name] = present
        before.store()
        return None
    offsets = present - was
    moved = _moved(mesh, present, offsets, wanted.selected_only)
    if not moved.any():
        return 0
    for frame, weight in zip(wanted.frames, wanted.weights().tolist(), strict=True):
        if frame == wanted.present or weight == 0:
            continue
        places, there = shape_keys.read([keys[frame]], len(present))[0], before.of(frame)
        step = (offsets[moved] * np.float32(weight)).astype(np.float32)
        places[moved] += step
        keys[frame].points.foreach_set("co", places.ravel())
        if there is None:
            there = places
        else:
            there[moved] += step
        before.kept[keys[frame].name] = there
        if frame == 0 and not mesh.shape_keys.use_relative:
            mesh.attributes["position"].data.foreach_set("vector", places.ravel())
    was[moved] = present[moved]
    before.kept[keys[wanted.present].name] = was
    before.store()
    mesh.update()
    return int(moved.sum())


def _moved(mesh: Block, present: Floats, offsets: Floats, selected_only: bool) -> NDArray[np.bool_]:
    """Return which points (P,) were moved, and are selected if that counts."""
    size = float(np.ptp(present, axis=0).max()) if len(present) else 0.0
    moved = np.asarray((np.abs(offsets) > NEAR * max(size, 1.0)).any(axis=1))
    if selected_only:
        selected = np.zeros(len(present), np.bool_)
        mesh.vertices.foreach_get("select", selected)
        moved &= selected
    return moved


def settle(block: Block, known: StoredSource | None) -> float:
    """Put points that lie as good as where the file has them just there; returns by what import has scaled it."""
    before = Before(block.data, known)
    if before.surface is None or before.scale is None:
        return 1.0
    for frame, key in enumerate(before.keys):
        places, source = shape_keys.read([key], len(block.data.vertices))[0], before.from_source(frame)
        if source is None:
            continue
        near = np.abs(places - source).max(axis=1) <= AS_GOOD * max(float(np.abs(source).max(initial=0.0)), 1.0)
        places[near] = source[near]
        key.points.foreach_set("co", places.ravel())
        if frame == 0 and not block.data.shape_keys.use_relative:
            attributes.write_positions(block.data, places)
    block.data.update()
    return before.scale


def rename(mesh: Block, renamed: dict[str, str]) -> None:
    """Let what a mesh keeps follow the names of its frames."""
    if APPLIED in mesh:
        before = Before(mesh, None)
        before.kept = {renamed.get(name, name): places for name, places in before.kept.items()}
        before.store()


def renew(mesh: Block) -> None:
    """Let changes of a mesh's frames count from now on, if some were applied: all of these are others."""
    if APPLIED in mesh:
        before = Before(mesh, None)
        before.kept = before.present()
        before.store()


class Before:
    """Where the points of a mesh were, in each of its frames."""

    def __init__(self, mesh: Block, known: StoredSource | None) -> None:
        self.mesh, self.keys = mesh, shape_keys.frame_blocks(mesh.shape_keys)
        self.kept: dict[str, Floats] = {}
        self.vertices: NDArray[np.int64] = np.full(len(mesh.vertices), -1, np.int64)  # what each was in the file
        self._find_source(known)
        self.is_stale = not self._recall()  # what was kept is of other points: the present state is, from now on

    def _find_source(self, known: StoredSource | None) -> None:
        """Find which frames and vertices of its file the mesh has."""
        self.surface = None
        told = None if known is None else known.vertices_of(self.mesh)
        if known is None or told is None:
            return
        self.frames = source_frames(self.mesh, self.keys, shape_keys.positions(self.keys), known)
        self.surface, self.vertices[attributes.corner_points(self.mesh)] = told
        self.scale = self._scale()

    def of(self, frame: int) -> Floats | None:
        """Return where points were, (P, 3); those that are new where they are; None where nothing tells."""
        found = self.kept.get(self.keys[frame].name)
        if found is not None:
            return found
        if self.surface is None or self.scale is None or self._has_strangers():
            return None
        return self.from_source(frame)

    def _has_strangers(self) -> bool:
        """Tell whether a frame that was touched has another name now: then it may be any."""
        return not self.kept.keys() <= {key.name for key in self.keys}

    def from_source(self, frame: int, scale: float | None = None) -> Floats | None:
        """Return where the file had points in a frame, (P, 3), new ones where they are; None of a frame it lacks."""
        number = int(self.frames[frame])
        if self.surface is None or number < 0:
            return None
        places: Floats = shape_keys.read([self.keys[frame]], len(self.vertices))[0]
        own = self.vertices >= 0
        decoded = self.surface.decoded_positions(np.array([number]), self.vertices[own])[0]
        factor = np.float32(self.scale if scale is None else scale)
        places[own] = decoded if factor == 1 else decoded * factor
        return places

    def _scale(self) -> float | None:
        """Return by what the import has scaled the file's positions; None where most are not theirs any more."""
        own = self.vertices >= 0
        if self.surface is None or not own.any():
            return None
        found = []
        for frame in np.unique(np.linspace(0, len(self.keys) - 1, PROBES).astype(int)).tolist():
            source = self.from_source(frame, 1.0)
            if source is None:
                continue
            shown = shape_keys.read([self.keys[frame]], len(own))[0]
            large = np.abs(source) > 0.1 * np.abs(source).max(initial=0.0)
            large &= own[:, None]
            if not large.any():
                continue
            scale = float(f"{np.median(shown[large].astype(np.float64) / source[large]):.5g}")
            same = np.abs(shown[own] - source[own] * np.float32(scale)).max(axis=1)
            if np.mean(same <= NEAR * max(float(np.abs(shown).max()), 1.0)) > 0.5:
                found.append(scale)
        return float(np.median(found)) if found else None

    def store(self) -> None:
        """Keep with the mesh what was applied."""
        listed = list(self.kept)
        places = np.stack([self.kept[name] for name in listed]).astype(np.float32)
        vertices: NDArray[np.int32] = self.vertices.astype(np.int32)
        arrays: records.Arrays = {"names": records.pack_names(listed), "places": places, "vertices": vertices}
        write_bytes(self.mesh, APPLIED, records.pack(arrays))

    def _recall(self) -> bool:
        """Recall where points stood after applications, by the keys' names; where they stand if these were others."""
        data, count = self.mesh.get(APPLIED), len(self.mesh.vertices)
        if not isinstance(data, bytes):
            return True
        try:
            arrays = records.unpack(data)
            listed = records.unpack_names(records.checked(arrays, "names", "u", -1))
            places = records.checked(arrays, "places", "f", len(listed), count, 3)
            before = records.checked(arrays, "vertices", "i", count) if "vertices" in arrays else self.vertices
            if self.surface is None:
                self.vertices = before.astype(np.int64)  # nobody has looked which they are
            elif (before >= 0).any() and not np.array_equal(before, self.vertices):
                raise records.RecordError("points in another order, or others")
        except records.RecordError:
            log.warning("'%s' has other vertices than when a change was applied", self.mesh.name)
            self.kept = self.present()
            return False
        self.kept = dict(zip(listed, np.array(places, np.float32), strict=True))
        return True

    def present(self) -> dict[str, Floats]:
        """Return where points stand, by the keys' names."""
        return dict(zip((key.name for key in self.keys), shape_keys.read(self.keys, len(self.vertices)), strict=True))
