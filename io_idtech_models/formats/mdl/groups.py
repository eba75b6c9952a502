"""Which poses of an MDL are frames by themselves, which are groups that a game plays; names and bounds of poses."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model.clips import Clip, fitted_times, group
from ...model.edits.normals import filled_frames
from ...model.source import CodedSource
from ...model.vertex import VertexModel
from ..common.records import cut_name, records_of
from .file import FRAME_NAME_SIZE, GROUP_HEAD, POSE
from .parts import Parts

Bytes = NDArray[np.uint8]
Facts = dict[str, NDArray[Any]]
GROUP = 1  # the kind of a group that we make


def group_clips(frames: Parts, names: list[str]) -> list[Clip]:
    """Return the animations of a file's poses: each group is one, and of frames between them what their names say."""
    found: list[Clip] = []
    firsts, times, done = frames.firsts.tolist(), frames.times.tolist(), 0
    time_at = 0
    for part in np.flatnonzero(frames.grouped).tolist():
        first, end = firsts[part], firsts[part + 1]
        found += _named(names, firsts[done], first)
        inside = group(names[first:end])
        found.append(Clip(inside[0].name, first, end - first, times=tuple(times[time_at : time_at + end - first])))
        time_at += end - first
        done = part + 1
    return found + _named(names, firsts[done], len(names))


def _named(names: list[str], first: int, end: int) -> list[Clip]:
    return [Clip(clip.name, first + clip.first, clip.count) for clip in group(names[first:end])]


def frame_facts(frames: Parts, poses: NDArray[Any]) -> Facts:
    """Return what a file says of its frames besides their vertices, as facts; see `stored_parts`."""
    own = np.ascontiguousarray(poses).view(np.uint8).reshape(len(poses), POSE.itemsize)
    return {
        "poses": own, "frame_kinds": frames.kinds, "frame_counts": frames.counts, "group_heads": frames.heads,
        "frame_times": frames.times,
    }  # fmt: skip


def stored_parts(facts: Facts) -> Parts:
    """Return the frames that facts tell of, without payloads; inverse of `frame_facts`."""
    kinds, counts, heads = facts["frame_kinds"], facts["frame_counts"], facts["group_heads"]
    return Parts(kinds, counts, heads, facts["frame_times"], np.zeros((0, 0), np.uint8))


def parts_fit(parts: Parts, payloads: int, head: int) -> bool:
    """Tell whether parts of a .blend, which can come from a stranger, are such as a file may have."""
    grouped = parts.grouped
    return bool(
        len(parts.kinds) == len(parts.counts)
        and (parts.counts >= 1).all()
        and (parts.counts[~grouped] == 1).all()
        and int(parts.counts.sum(dtype=np.int64)) == payloads
        and parts.heads.shape == (int(grouped.sum()), head)
        and len(parts.times) == int(parts.counts[grouped].sum(dtype=np.int64))
    )


def settle_frames(model: VertexModel, own: CodedSource | None, codes: Bytes) -> tuple[Parts, NDArray[Any]]:
    """Return the frames of a model, without vertices, and the poses (F,), whose vertices' codes are (F, V, 4).

    A pose keeps its bounds while they would be the same of the codes that it had, and so does a group.
    """
    poses = np.zeros(len(codes), POSE)
    extents = _extents(codes)
    poses["bounds"][:, :, :3] = extents
    hints = [b""] * len(codes)
    if own is not None:
        origins, known = filled_frames(model), model.frames_from() >= 0
        written = records_of(own.facts, "poses", POSE)
        same = known & (_extents(own.codes)[origins] == extents).all(axis=(1, 2))
        poses["bounds"][same] = written["bounds"][origins[same]]
        hints = [bytes(written["name"][i]) if k else b"" for i, k in zip(origins, known, strict=True)]
    poses["name"] = [cut_name(n, FRAME_NAME_SIZE, h) for n, h in zip(model.frame_names, hints, strict=True)]
    return _settle_groups(model, own, extents), poses


def _extents(codes: Bytes) -> Bytes:
    """Return the lowest and highest codes of each pose, (F, 2, 3)."""
    found = np.zeros((len(codes), 2, 3), np.uint8)
    if codes.shape[1]:
        for axis in range(3):
            found[:, 0, axis], found[:, 1, axis] = codes[..., axis].min(axis=1), codes[..., axis].max(axis=1)
    return found


def _settle_groups(model: VertexModel, own: CodedSource | None, extents: Bytes) -> Parts:
    """Return which poses make which frames."""
    members = _members(model, own)
    wanted = model.groups if model.groups is not None else _source_groups(model, own, members)
    stored = None if own is None else stored_parts(own.facts)
    kinds, counts, heads, times = list[int](), list[int](), list[Bytes](), list[NDArray[np.float32]]()
    place = 0
    for clip in sorted(wanted, key=lambda clip: clip.first):
        if clip.first < place or clip.count < 1 or clip.first + clip.count > model.num_frames:
            continue  # it shares frames with the one before it
        lone = clip.first - place
        kinds += [0] * lone
        counts += [1] * lone
        place = clip.first + clip.count
        number = int(members[clip.first]) if (members[clip.first : place] == members[clip.first]).all() else -1
        kind, head, known = _stored_group(own, stored, number, extents[clip.first : place])
        kinds.append(kind)
        counts.append(clip.count)
        heads.append(head)
        times.append(settle_times(fitted_times(clip.times, clip.count), known))
    lone = model.num_frames - place
    return Parts(
        np.array([*kinds, *[0] * lone], np.int32),
        np.array([*counts, *[1] * lone], np.int32),
        np.concatenate([np.zeros((0, GROUP_HEAD), np.uint8), *(head[None] for head in heads)]),
        np.concatenate([np.zeros(0, np.float32), *times]),
        np.zeros((0, 0), np.uint8),
    )


def _members(model: VertexModel, own: CodedSource | None) -> NDArray[np.int64]:
    """Return which part of the source each pose (F,) was in, if that was a group, or -1; new ones as those before."""
    if own is None:
        return np.full(model.num_frames, -1, np.int64)
    stored = stored_parts(own.facts)
    part = np.repeat(np.where(stored.grouped, np.arange(len(stored.kinds)), -1), stored.counts)
    return part[filled_frames(model)]


def _source_groups(model: VertexModel, own: CodedSource | None, members: NDArray[np.int64]) -> list[Clip]:
    """Return the source's groups, as far as their poses still follow one another; those between them belong to them."""
    if own is None:
        return []
    origins, stored = filled_frames(model), stored_parts(own.facts)
    changes = (np.diff(members) != 0) | (np.diff(origins) < 0)
    starts = [0, *(np.flatnonzero(changes) + 1).tolist()]
    found = []
    for first, end in zip(starts, [*starts[1:], model.num_frames], strict=True):
        if members[first] >= 0:
            known = stored.times_of(int(members[first]))
            found.append(Clip("", first, end - first, times=fitted_times(known.tolist(), end - first)))
    return found


def _stored_group(
    own: CodedSource | None, stored: Parts | None, number: int, extents: Bytes
) -> tuple[int, Bytes, NDArray[np.float32]]:
    """Return the kind of a group, its bounds (8,), and the times that it had; of a new one what id's tools write."""
    head: Bytes = np.zeros((2, 4), np.uint8)
    head[0, :3], head[1, :3] = extents[:, 0].min(axis=0), extents[:, 1].max(axis=0)
    if own is None or stored is None or number < 0:
        return GROUP, head.ravel(), np.zeros(0, np.float32)
    first = int(stored.firsts[number])
    before = _extents(own.codes[first : first + int(stored.counts[number])])
    same = (before[:, 0].min(axis=0) == head[0, :3]).all() and (before[:, 1].max(axis=0) == head[1, :3]).all()
    if same:
        head = stored.head_of(number)
    return int(stored.kinds[number]), head.ravel(), stored.times_of(number)


def settle_times(times: tuple[float, ...], known: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return times as the file has them: bit for bit where they are what they were."""
    with np.errstate(over="ignore"):
        found = np.array(times, np.float32)
    count = min(len(found), len(known))
    same = (found[:count] == known[:count]) | (np.isnan(found[:count]) & np.isnan(known[:count]))
    found[:count] = np.where(same, known[:count], found[:count])
    return found
