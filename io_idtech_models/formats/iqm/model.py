"""IQM structs to models and back; the files themselves are `file`.

A model's skeleton has no scale: see `model.joint_scales`. A file of animations alone is a model without meshes, whose
joints are called by their numbers and stand as in its first frame.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model import steady
from ...model.edits.matched import UNNAMED
from ...model.joint_scales import posed, skeleton_of, stretches, without_rest_scale
from ...model.skeletal import Animation, Scales, SkeletalModel, SkeletalSource, Skeleton, Weights
from ...model.source import Facts
from ...model.transforms import conjugate, multiply, to_matrices
from ...model.weights import skin_by
from ...reporting import FormatError, LimitError
from ..common.joint_tags import with_tag_joints
from ..common.records import Wanted, all_fit, as_bytes, layout_of, passes, records_of, sound
from .channels import ORDER, split_channels
from .file import (
    ALIGNMENTS,
    ANIM,
    BOUNDS,
    EXTENSION,
    HEADER,
    JOINT,
    PLACED,
    POSE,
    Iqm,
    TextWriter,
    channels_of,
    check_joints,
    check_ranges,
    names_at,
)
from .geometry import facts_fit, file_facts, mesh_sources
from .motions import FORMAT, Frames, Origin, from_animations, source_of
from .motions import to_animations as motions_of
from .vertices import Geometry, from_meshes

Doubles = NDArray[np.float64]
NEAR_REST = 1e-4  # of axes, and of the largest coordinate: closer is a bone's rounding
SAME_PLACE, SAME_TURN = 1e-6, 2e-6  # of a joint at rest: rounding; of the largest coordinate, and of a quaternion


def to_model(iqm: Iqm, name: str = "") -> SkeletalModel:
    """Return the model of a file, its source included; inverse of `from_model`.

    Raises:
        FormatError: a vertex is moved by a joint that is not there.
    """
    skeleton = _skeleton(iqm) if len(iqm.joints) or not len(iqm.poses) else _unnamed(iqm)
    facts = _facts(iqm) | file_facts(iqm)
    source = SkeletalSource(FORMAT, skeleton, mesh_sources(iqm, skeleton), facts)
    meshes = [source.mesh(index) for index in range(len(source.meshes))]
    return SkeletalModel(name, source.shown_skeleton(), meshes, source)


def to_animations(iqm: Iqm, name: str = "") -> list[Animation]:
    """Return the animations of a file; those of one without joints hold what joints are scaled at rest."""
    alone = not len(iqm.joints)
    return motions_of(iqm, name, None if alone else _skeleton(iqm), _facts(iqm) | file_facts(iqm) if alone else {})


def _skeleton(iqm: Iqm) -> Skeleton:
    """Return the joints of a file, without their scale, in model space."""
    joints, count = iqm.joints, len(iqm.joints)
    parents = joints["parent"].astype(np.int32)
    turns = joints["rotate"].astype(np.float64)[:, ORDER]
    lengths = steady.lengths(turns)[:, None]
    turns = np.where(lengths > 0, turns / np.where(lengths > 0, lengths, 1.0), np.array([1.0, 0.0, 0.0, 0.0]))
    places, scales = joints["translate"].astype(np.float64), joints["scale"].astype(np.float64)
    found = Skeleton(names_at(iqm.text, joints["name"]), parents, places, turns)
    found.scales = scales if (scales != 1).any() else None
    for joint in range(count):
        parent = int(parents[joint])
        if parent >= 0:
            turns[joint] = multiply(turns[parent], turns[joint])
    axes = steady.products(to_matrices(turns), stretches(found))
    for joint in range(count):
        parent = int(parents[joint])
        if parent >= 0:
            places[joint] = places[parent] + steady.applied(axes[parent], places[joint])
    return found


def _unnamed(iqm: Iqm) -> Skeleton:
    """Return joints for a file that has none: as they are in its first frame."""
    first = motions_of(iqm, "", None, {})
    names = [UNNAMED.format(joint) for joint in range(len(iqm.poses))]
    if first:
        found = skeleton_of(first[0])
    else:
        places, turns, _ = split_channels(iqm.poses["offset"].astype(np.float64)[None])
        still = Animation("", names, iqm.poses["parent"].astype(np.int32), places, turns, 0.0, np.zeros((1, 2, 3)))
        found = skeleton_of(still)
    found.names = names
    return found


def _facts(iqm: Iqm) -> Facts:
    """Return what belongs to the whole file."""
    spare = _spare_frames(iqm.poses, iqm.anims, len(iqm.frames))
    sizes = np.array([len(data) for data in iqm.extension_data], np.int64)
    facts: Facts = {
        "header": as_bytes(iqm.header), "text": iqm.text.copy(), "joints": as_bytes(iqm.joints),
        "poses": as_bytes(iqm.poses), "anims": as_bytes(iqm.anims), "comment": iqm.comment.copy(),
        "extensions": as_bytes(iqm.extensions), "extension_sizes": sizes,
        "extension_data": np.concatenate((np.zeros(0, np.uint8), *iqm.extension_data)),
        "num_frames": np.array([len(iqm.frames)], np.int64), "spare_frames": spare, "spare_codes": iqm.frames[spare],
    }  # fmt: skip
    if len(iqm.bounds):
        facts["spare_bounds"] = as_bytes(iqm.bounds[spare])
    return facts | iqm.layout


def _spare_frames(poses: NDArray[Any], anims: NDArray[Any], count: int) -> NDArray[np.int64]:
    """Return which of so many frames no animation has, (n,)."""
    used = np.full(count, bool(len(poses)) and not len(anims))
    for anim in anims if len(poses) else ():
        used[int(anim["first_frame"]) :][: int(anim["num_frames"])] = True
    return np.flatnonzero(~used)


def _file_fits(facts: Facts) -> bool:
    """Tell whether facts of a file are what `_facts` writes: a .blend can come from a stranger."""
    wanted: Wanted = {
        "header": (HEADER, ()), "text": ("u1", (-1,)), "joints": (JOINT, (-1,)), "poses": (POSE, (-1,)),
        "anims": (ANIM, (-1,)), "comment": ("u1", (-1,)), "extensions": (EXTENSION, (-1,)),
        "extension_sizes": ("i8", (-1,)), "extension_data": ("u1", (-1,)), "num_frames": ("i8", (1,)),
        "spare_frames": ("i8", (-1,)), "spare_codes": ("u2", (-1, -1)),
    }  # fmt: skip
    if not all_fit(facts, wanted) or len(facts["extensions"]) != len(facts["extension_sizes"]):
        return False
    count = len(facts["spare_frames"])
    if len(facts["spare_codes"]) != count:
        return False
    if "spare_bounds" in facts and not all_fit(facts, {"spare_bounds": (BOUNDS, (count,))}):
        return False
    sizes, frames = facts["extension_sizes"], int(facts["num_frames"][0])
    poses, anims, joints = (records_of(facts, *of) for of in (("poses", POSE), ("anims", ANIM), ("joints", JOINT)))
    if not 0 <= frames < 1 << 24 or not passes(check_ranges, anims, "frame", "frames", frames, "animation"):
        return False
    return bool(
        passes(check_joints, joints, "joint", ("translate", "rotate", "scale"))
        and passes(check_joints, poses, "pose", ("offset", "scale"))
        and np.array_equal(facts["spare_frames"], _spare_frames(poses, anims, frames))
        and (not count or int(channels_of(poses).sum()) == facts["spare_codes"].shape[1])
        and np.array_equal(records_of(facts, "extensions", EXTENSION)["num_data"], sizes)
        and int(sizes.sum()) == len(facts["extension_data"])
    )


def _fits(source: SkeletalSource) -> bool:
    facts = source.facts
    return _file_fits(facts) and len(facts["joints"]) in {0, source.skeleton.num_joints} and facts_fit(source)


def from_model(
    model: SkeletalModel, options: Mapping[str, Any] | None = None, animations: Sequence[Animation] = ()
) -> Iqm:
    """Return the structs of a model and its animations; inverse of `to_model` and `to_animations`.

    Options: `write_joints`, also into a file without meshes, which needs none where games know joints by number.
    """
    model = _bound_as_in_file(model)
    lacking = [tag for tag in model.tags if not tag.is_joint_of(model.skeleton)]
    if lacking:  # games look for tags among joints
        model, animations = with_tag_joints(model, animations, lacking, "IQM")
    source = sound(model.source_of(FORMAT), _fits, model.name)
    origin = _origin(model, source, animations)
    facts = None if origin is None else origin.facts
    text = TextWriter(None if facts is None else facts["text"])
    geometry = from_meshes(model, source, text)
    with_joints = bool((options or {}).get("write_joints")) or _asks_for_joints(model, source, animations)
    joints = _joints(model.skeleton, source, text) if with_joints else np.zeros(0, JOINT)
    frames = from_animations(animations, model.skeleton, text, origin)
    for records, what in ((joints, "joint"), (frames.poses, "pose")):
        _refuse_what_no_reader_takes(records, what)
    bounds = _bounds(model, source, frames, geometry, facts)
    header, comment, extensions, data = _whole(facts)
    header["num_vertexes"] = geometry.num_vertices
    return Iqm(
        header, text.text, geometry.meshes, geometry.arrays, geometry.triangles, geometry.adjacency, joints,
        frames.poses, frames.anims, frames.codes, bounds, comment, geometry.data, extensions, data,
        {} if facts is None else _layout(facts), geometry.source_arrays,
    )  # fmt: skip


def _bound_as_in_file(model: SkeletalModel) -> SkeletalModel:
    """Return a model bound in its file's pose where import chose another, and nothing of it was edited.

    What is edited fits the pose in which it is shown: a file holds one place for each vertex, in the pose that it says.
    """
    skeleton, source = model.skeleton, model.source_of(FORMAT)
    if source is None or skeleton.bound is None or skeleton.kept is None or not skeleton.kept.all():
        return model
    if not all(mesh.kept is not None and mesh.kept.all() for mesh in model.meshes):
        return model
    at_home = replace(source, skeleton=replace(source.skeleton, bound=None))
    return replace(model, skeleton=replace(skeleton, bound=None), source=at_home)


def _refuse_what_no_reader_takes(records: NDArray[Any], what: str) -> None:
    """Refuse joints or poses whose places or sizes are beyond what a file of ours reads; raises LimitError."""
    try:
        check_joints(records, what, PLACED[what])
    except FormatError as error:
        raise LimitError(f"this can't be written as an IQM: {error}") from error


def _layout(facts: Facts) -> Facts:
    """Return the layout among a file's facts; nothing where it can't be an IQM's."""
    found = layout_of(facts)
    by_how_much, step, *more = [*found["layout_ends"].tolist(), 0] if found else (0, 0)
    return found if step in ALIGNMENTS and by_how_much <= 0 and more == [0] else {}


def _asks_for_joints(model: SkeletalModel, source: SkeletalSource | None, animations: Sequence[Animation]) -> bool:
    """Tell whether a file has to say what its joints are: not if it is one of animations alone.

    Nor if it is as its source, which did without: its joints stand at rest as in the first frame.
    """
    if source is not None and len(source.facts["joints"]):
        return True
    if not model.meshes:
        return False
    if source is None or not source.meshes or model.skeleton.names != source.skeleton.names:
        return True
    return not all(_stand_as_at_rest(first, model.skeleton) for first in animations[:1] if first.num_frames)


def _stand_as_at_rest(animation: Animation, skeleton: Skeleton) -> bool:
    """Tell whether joints stand in an animation's first frame where a skeleton has them at rest."""
    found, wanted = skeleton_of(animation).bind, skeleton.bind
    near = np.abs(found.positions - wanted.positions) <= NEAR_REST * max(1.0, np.abs(wanted.positions).max(initial=0.0))
    turned = np.abs(to_matrices(found.rotations) - to_matrices(wanted.rotations)) <= NEAR_REST
    return bool(near.all() and turned.all())


def _origin(model: SkeletalModel, source: SkeletalSource | None, animations: Sequence[Animation]) -> Origin | None:
    """Return the file that a model came from; of animations alone the one that the first came from, if it was such."""
    if source is not None:
        return Origin(source.facts, model.skeleton.joints_in(source))
    for animation in animations[:1] if not model.meshes else ():
        found = source_of(animation)
        if found is not None and "header" in found.facts:  # else its model has the file's facts
            found = sound(found, lambda each: _file_fits(each.facts), animation.name)
            return None if found is None else Origin(found.facts, animation.joints_in(found))
    return None


def _whole(
    facts: Facts | None,
) -> tuple[Any, NDArray[np.uint8], NDArray[Any], list[NDArray[np.uint8]]]:
    """Return header, comment and extensions of the file."""
    if facts is None:
        return np.zeros((), HEADER), np.zeros(0, np.uint8), np.zeros(0, EXTENSION), []
    ends = np.cumsum(facts["extension_sizes"])
    data = [facts["extension_data"][end - size : end] for end, size in zip(ends, facts["extension_sizes"], strict=True)]
    return records_of(facts, "header", HEADER), facts["comment"], records_of(facts, "extensions", EXTENSION), data


def _joints(skeleton: Skeleton, source: SkeletalSource | None, text: TextWriter) -> NDArray[Any]:
    """Return the joints of a skeleton, JOINT (J,): the source's numbers where they say the same."""
    records = np.zeros(skeleton.num_joints, JOINT)
    axes = steady.products(to_matrices(skeleton.bind.rotations), stretches(skeleton))
    places, turns, parents = skeleton.bind.positions.copy(), skeleton.bind.rotations.copy(), skeleton.parents
    children = np.flatnonzero(parents >= 0)
    above = parents[children]
    ways = skeleton.bind.positions[children] - skeleton.bind.positions[above]
    places[children] = steady.applied(steady.inverses(axes[above]), ways)
    turns[children] = multiply(conjugate(turns[above]), skeleton.bind.rotations[children])
    turns *= np.where(turns[:, :1] > 0, -1.0, 1.0)
    records["parent"], records["translate"] = parents, places
    records["rotate"][:, ORDER] = turns
    records["scale"] = 1.0 if skeleton.scales is None else skeleton.scales
    written = np.zeros(0, JOINT) if source is None else records_of(source.facts, "joints", JOINT)
    numbers = skeleton.joints_in(source)
    slack = SAME_PLACE * max(float(np.abs(skeleton.bind.positions).max(initial=0.0)), 1e-6)
    for joint, number in enumerate(numbers.tolist()):
        known = 0 <= number < len(written)
        records["name"][joint] = text.offset(skeleton.names[joint], int(written["name"][number]) if known else -1)
        if known:
            _keep_joint(records[joint], written[number], slack)
    return records


def _keep_joint(record: Any, own: Any, slack: float) -> None:
    """Give a joint the source's numbers where they are as good as the same."""
    if (np.abs(record["translate"] - own["translate"]) <= slack).all():
        record["translate"] = own["translate"]
    written = own["rotate"].astype(np.float64)
    length = float(steady.lengths(written))
    turn = written / length if length > 0 else np.array([0.0, 0.0, 0.0, 1.0])
    turn *= np.sign(float(steady.dots(record["rotate"].astype(np.float64), turn)))
    if np.abs(record["rotate"] - turn).max() <= SAME_TURN:
        record["rotate"] = own["rotate"]
    if (np.abs(record["scale"] - own["scale"]) <= SAME_TURN * np.abs(own["scale"])).all():
        record["scale"] = own["scale"]


def _bounds(
    model: SkeletalModel, source: SkeletalSource | None, frames: Frames, geometry: Geometry, facts: Facts | None
) -> NDArray[Any]:
    """Return the bounds of all frames: the source's where nothing moves otherwise; nothing where it has none."""
    none = np.zeros(0, BOUNDS)
    had = (
        facts is None or int(records_of(facts, "header", HEADER)["ofs_bounds"]) != 0 or not int(facts["num_frames"][0])
    )
    if not had or not len(frames.codes) or not model.meshes:
        same = had and len(frames.bounds) and not frames.changed.any()
        return frames.bounds if same else none
    if frames.channels.shape[1] != model.skeleton.num_joints:  # frames without poses
        return frames.bounds
    found, anew = frames.bounds.copy(), frames.changed.copy()
    if not geometry.unchanged and not anew.all():
        kept = np.flatnonzero(~anew)
        after = _boxes([mesh.weights for mesh in model.meshes], model.skeleton, frames.channels[kept])
        joints = model.skeleton.joints_in(source)
        if source is None or not np.array_equal(joints, np.arange(source.skeleton.num_joints)):
            anew[:] = True
        else:
            before = _boxes([mesh.weights for mesh in source.meshes], source.skeleton, frames.channels[kept])
            anew[kept] = before.view("V32") != after.view("V32")
    found[anew] = _boxes([mesh.weights for mesh in model.meshes], model.skeleton, frames.channels[anew])
    return found


def _boxes(tables: Sequence[Weights], skeleton: Skeleton, channels: Doubles) -> NDArray[Any]:
    """Return the bounds of meshes in frames of a file's channels, BOUNDS (F,)."""
    found = np.zeros(len(channels), BOUNDS)
    places, turns, scales = split_channels(channels)
    nobody = np.zeros(skeleton.num_joints, np.bool_)
    moving = Animation("", skeleton.names, skeleton.parents, places, turns, 0.0, np.zeros((len(channels), 2, 3)))
    moving.scales, moving.holds_rest_scale = Scales(scales, nobody, True), True
    positions, axes = posed(without_rest_scale(moving, skeleton))
    for box, own_places, own_axes in zip(found, positions, axes, strict=True):
        points = np.concatenate([np.zeros((0, 3)), *(skin_by(table, own_places, own_axes) for table in tables)])
        if len(points):
            box["min"], box["max"] = points.min(axis=0), points.max(axis=0)
            box["xyradius"] = np.sqrt((points[:, :2] ** 2).sum(axis=1).max())
            box["radius"] = np.sqrt((points**2).sum(axis=1).max())
    return found
