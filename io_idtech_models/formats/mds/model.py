"""MDS structs to a model and its animation, and back; the file itself is `file`.

Like an MDM, an MDS says where vertices lie in the space of bones, not where the bones are while it is bound: a model
that was just read stands in its first frame, and `model.bind_pose` finds a pose that suits it better.

**Tags** are bones. `RB_SurfaceAnim` moves vertices by a bone's matrix, but `R_GetBoneTag` hands the rows of a tag's out
as its axes: the inverse rotation. So a tag's bone is shown turned as the game turns what hangs on it; no vertex follows
one in real files, and one that has vertices is shown as these need it.

Tags of a model are bones here, for a tag of MDS has but a name, a bone and a weight.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model.joint_scales import warn_of_lost_scales
from ...model.skeletal import Animation, JointTag, SkeletalModel, SkeletalSource, Skeleton, Traits
from ...model.source import Facts
from ...reporting import LimitError, listed
from ..common.joint_tags import no_traits, with_tag_joints
from ..common.records import (
    Wanted,
    all_fit,
    as_bytes,
    decode_name,
    encode_name,
    finite,
    header_name,
    layout_of,
    records_of,
    sound,
)
from ..common.skinned import Bones
from ..common.wolf import meshes, motion
from ..common.wolf.bones import TAG_FLAG, Kind, names_of, parents_of
from .file import HEADER, IDENT, NAME_SIZE, SURFACE_IDENT, TAG, VERSION, VERTEX, Mds

log = logging.getLogger(__name__)

FORMAT = "mds"
KIND = Kind(FORMAT, HEADER)
MESHES = meshes.Meshes(VERTEX, SURFACE_IDENT)
Mask = NDArray[np.bool_]
Doubles = NDArray[np.float64]


def to_model(mds: Mds, name: str = "") -> SkeletalModel:
    """Return the model of a file, its source included; inverse of `from_model`, with `to_animations`."""
    places, turns = motion.poses_of(mds, KIND, _turned(mds), slice(0, 1))
    skeleton = Skeleton(names_of(mds), parents_of(mds), places[0], turns[0], traits=motion.traits_of(mds))
    followed = np.ascontiguousarray(mds.bones["torso_weight"][mds.tags["bone"]], np.float32)
    facts: Facts = {"header": as_bytes(mds.header), "tags": as_bytes(mds.tags), "followed": followed}
    facts |= mds.layout
    known = [meshes.surface_source(surface, MESHES) for surface in mds.surfaces]
    source = SkeletalSource(FORMAT, skeleton, known, facts, _decode_tags(mds))
    shown = [meshes.decode_mesh(source, index) for index in range(len(known))]
    lod = float(finite(mds.header["lod_scale"])), float(finite(mds.header["lod_bias"]))
    return SkeletalModel(name, source.shown_skeleton(), shown, source, _decode_tags(mds), lod)


def to_animations(mds: Mds, name: str = "") -> list[Animation]:
    """Return the one animation of a file: all its frames."""
    return [motion.to_animation(mds, KIND, name, _turned(mds), mds.layout)]


def _turned(mds: Mds) -> Mask:
    """Tell which bones (B,) are shown turned the other way: tags that move no vertex."""
    moving = [surface.weights["bone"] for surface in mds.surfaces]
    return _tags_that_move_nothing(mds.bones["flags"], moving)


def _tags_that_move_nothing(flags: NDArray[Any], moving: list[NDArray[Any]]) -> Mask:
    found = (flags & TAG_FLAG) != 0
    for bones in moving:
        found[bones] = False
    return np.asarray(found)


def _decode_tags(mds: Mds) -> list[JointTag]:
    nowhere, upright = np.zeros(3, np.float32), np.eye(3, dtype=np.float32)
    return [
        JointTag(decode_name(tag["name"]), int(tag["bone"]), nowhere.copy(), upright.copy(), index, True)
        for index, tag in enumerate(mds.tags)
    ]


def _fits(source: SkeletalSource) -> bool:
    """Tell whether the facts are what `to_model` writes: a .blend can come from a stranger."""
    count = len(source.tags)
    wanted: Wanted = {"header": (HEADER, ()), "tags": (TAG, (count,)), "followed": ("f4", (count,))}
    return all_fit(source.facts, wanted) and all(meshes.mesh_fits(mesh, MESHES) for mesh in source.meshes)


def from_model(model: SkeletalModel, options: Mapping[str, Any], animations: list[Animation]) -> Mds:
    """Return the structs of a model and its animations, one after another; inverse of `to_model`.

    Options: `make_lod`, to order vertices anew for drawing fewer of them from afar where a surface's have changed.

    Raises:
        LimitError: there is no animation, or one has other bones than the model.
    """
    if not animations:
        raise LimitError(f"'{model.name}' has no animation: MDS holds one frame or more")
    for animation in animations:
        warn_of_lost_scales(animation)
    model, animations = with_tag_bones(model, animations, model.source_of(FORMAT) is not None)
    first = animations[0]
    if first.joint_names != model.skeleton.names or not np.array_equal(first.parents, model.skeleton.parents):
        raise LimitError(f"'{first.name}' has other bones than '{model.name}'")
    source = sound(model.source_of(FORMAT), _fits, model.name)
    flags = np.zeros(len(first.parents), np.int32) if first.traits is None else first.traits.flags
    turned = _tags_that_move_nothing(flags, [mesh.weights.joints for mesh in model.meshes])
    _warn_of_moving_tags(model, turned)
    coded = motion.join(animations, KIND, turned)
    header, layout = _header(model, source)
    header["torso_parent"] = coded.torso_parent
    context, make_lod = Bones(model.skeleton, source), bool(options.get("make_lod", False))
    surfaces = [meshes.encode_mesh(mesh, context, MESHES, make_lod) for mesh in model.meshes]
    tags = _encode_tags(model, source, coded.bones)
    sources = [mesh.source_index for mesh in model.meshes]
    return Mds(header, coded.frames, coded.bones, surfaces, tags, layout, sources)


def _header(model: SkeletalModel, source: SkeletalSource | None) -> tuple[Any, Facts]:
    """Return the header and the layout: the source's, but for what the model says otherwise."""
    header, layout = np.zeros((), HEADER), Facts()
    header["lod_scale"], header["name"] = 1.0, header_name(model.name, NAME_SIZE)
    if source is not None:
        header, layout = records_of(source.facts, "header", HEADER), layout_of(source.facts)
    header["ident"], header["version"] = IDENT, VERSION
    if model.lod is not None:
        for name, value in zip(("lod_scale", "lod_bias"), model.lod, strict=True):
            if float(finite(header[name])) != value:
                header[name] = value
    return header, layout


def _encode_tags(model: SkeletalModel, source: SkeletalSource | None, bones: NDArray[Any]) -> NDArray[Any]:
    """Return the tags, TAG (N,): the source's bits where they say the same."""
    tags = np.zeros(len(model.tags), TAG)
    written = np.zeros(0, TAG) if source is None else records_of(source.facts, "tags", TAG)
    for row, tag in zip(tags, model.tags, strict=True):
        known = 0 <= tag.source_index < len(written)
        hint = bytes(written[tag.source_index]["name"]) if known else b""
        row["name"] = encode_name(tag.name, NAME_SIZE, "tag", hint)
        row["bone"], row["torso_weight"] = tag.joint, bones["torso_weight"][tag.joint]
        if known and source is not None and _follows_as_before(tag, row["torso_weight"], model, source):
            row["torso_weight"] = written[tag.source_index]["torso_weight"]
    return tags


def _follows_as_before(tag: JointTag, weight: Any, model: SkeletalModel, source: SkeletalSource) -> bool:
    """Tell whether a tag is on the bone on which the source has it, whose torso weight is still what it was there."""
    before = source.tags[tag.source_index].joint
    same = int(model.skeleton.joints_in(source)[tag.joint]) == before
    return same and bool(weight == source.facts["followed"][tag.source_index])


def _warn_of_moving_tags(model: SkeletalModel, turned: Mask) -> None:
    """Name the tags whose bones move vertices: the game turns what hangs on them the other way."""
    wrong = [tag.name for tag in model.tags if not turned[tag.joint]]
    if wrong:
        log.warning("the bones of tags move vertices, games turn these tags the other way: %s", listed(wrong))


def mixed(legs: Animation, torso: Animation, name: str, aim: tuple[float, float]) -> Animation:
    """Return what a player shows whose legs and torso play two animations: see `motion.mixed`."""
    flags = np.zeros(len(legs.parents), np.int32) if legs.traits is None else legs.traits.flags
    return motion.mixed(legs, torso, name, aim, KIND, _tags_that_move_nothing(flags, []))


def problems(model: SkeletalModel) -> list[str]:
    """Return what the engine trips over in a model that was just read: see `mds`."""
    source = model.source_of(FORMAT)
    return [] if source is None else meshes.problems(model, source, known=True)


def with_tag_bones(
    model: SkeletalModel, animations: list[Animation], of_mds: bool
) -> tuple[SkeletalModel, list[Animation]]:
    """Return a model and its animations with a bone for each tag that has none: themselves where all have theirs.

    A bone is a tag's own if it is flagged as such or called as the tag is, moves no vertex, and the tag stands right on
    it; or, of a model that came from an MDS (`of_mds`), if it still stands there as it did.
    """
    moving = {joint for mesh in model.meshes for joint in np.unique(mesh.weights.joints).tolist()}
    model, animations = _with_flags(model, animations, moving, of_mds)
    lacking = [tag for tag in model.tags if not ((of_mds and tag.kept) or _is_own(tag, model, moving))]
    if not lacking:
        return model, animations
    return with_tag_joints(model, animations, lacking, "MDS", TAG_FLAG)


def _with_flags(
    model: SkeletalModel, animations: list[Animation], moving: set[int], of_mds: bool
) -> tuple[SkeletalModel, list[Animation]]:
    """Return a model and its animations with the bones flagged that are called as the tags that stand on them.

    But for bones that are `moving` vertices.
    """
    skeleton = model.skeleton
    new = [tag for tag in model.tags if not (of_mds and tag.kept) and tag.is_joint_of(skeleton)]
    own = [tag.joint for tag in new if tag.joint not in moving]
    if not own:
        return model, animations

    def flagged(traits: Traits | None) -> Traits:
        found = no_traits(skeleton.num_joints) if traits is None else traits
        flags = found.flags.copy()
        flags[own] |= TAG_FLAG
        return replace(found, flags=flags)

    grown = replace(skeleton, traits=flagged(skeleton.traits))
    return replace(model, skeleton=grown), [replace(each, traits=flagged(each.traits)) for each in animations]


def _is_own(tag: JointTag, model: SkeletalModel, moving: set[int]) -> bool:
    """Tell whether a tag's joint is a bone of its own, and none of those that are `moving` vertices."""
    traits = model.skeleton.traits
    flagged = traits is not None and bool(traits.flags[tag.joint] & TAG_FLAG)
    return tag.stands_on_joint and flagged and tag.joint not in moving
