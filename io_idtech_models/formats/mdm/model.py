"""MDM structs, with those of an MDX, to models and back; the files themselves are `file`, and `mdx.file`.

An MDM says where vertices lie in the space of bones, not where the bones are while it is bound: a model that was just
read stands in the first frame of its MDX. `model.bind_pose` finds a pose that suits it better.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model.skeletal import (
    JointTag,
    SkeletalModel,
    SkeletalSource,
    Skeleton,
)
from ...model.source import Facts
from ...reporting import FormatError
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
from ..common.wolf import meshes
from ..common.wolf.bones import names_of, parents_of
from ..common.wolf.motion import nothing_turned, poses_of, traits_of
from ..mdx.file import Mdx
from ..mdx.model import KIND as MOTION
from .file import (
    HEADER,
    IDENT,
    NAME_SIZE,
    SURFACE_IDENT,
    TAG,
    VERSION,
    VERTEX,
    Mdm,
    MdmTag,
)

FORMAT = "mdm"
MESHES = meshes.Meshes(VERTEX, SURFACE_IDENT)
PLACEHOLDER = "bone_{:03d}"
Numbers = NDArray[np.int64]


def to_model(mdm: Mdm, mdx: Mdx | None = None, name: str = "") -> SkeletalModel:
    """Return the model of a file and of the MDX that has its bones, its source included; inverse of `from_model`.

    Without an MDX the bones have no names and no parents, and stand at the origin.

    Raises:
        FormatError: the MDX has fewer bones than the model uses.
    """
    skeleton = _skeleton(mdm, mdx)
    facts: Facts = {
        "header": as_bytes(mdm.header),
        "tags": as_bytes(np.array([tag.header for tag in mdm.tags], TAG)),
        "tag_refs": np.concatenate([np.zeros(0, np.int32), *(tag.bone_refs for tag in mdm.tags)]),
        "tag_ref_counts": np.array([len(tag.bone_refs) for tag in mdm.tags], np.int32),
    } | mdm.layout
    if mdx is None:
        facts["placeholders"] = np.ones(1, np.uint8)
    tags = [_decode_tag(tag.header, index) for index, tag in enumerate(mdm.tags)]
    source = SkeletalSource(FORMAT, skeleton, [meshes.surface_source(s, MESHES) for s in mdm.surfaces], facts, tags)
    shown = [meshes.decode_mesh(source, index) for index in range(len(mdm.surfaces))]
    lod = float(finite(mdm.header["lod_scale"])), float(finite(mdm.header["lod_bias"]))
    return SkeletalModel(
        name, source.shown_skeleton(), shown, source, [_decode_tag(t.header, i) for i, t in enumerate(mdm.tags)], lod
    )


def _skeleton(mdm: Mdm, mdx: Mdx | None) -> Skeleton:
    """Return the bones: those of the MDX in its first frame, or placeholders; raises FormatError."""
    used = bones_used(mdm)
    if mdx is None:
        upright = np.tile(np.array([1.0, 0.0, 0.0, 0.0]), (used, 1))
        names = [PLACEHOLDER.format(i) for i in range(used)]
        return Skeleton(names, np.full(used, -1, np.int32), np.zeros((used, 3)), upright)
    if len(mdx.bones) < used:
        raise FormatError("skeleton of another model", expected=f"{used} bones", found=len(mdx.bones))
    places, turns = poses_of(mdx, MOTION, nothing_turned(len(mdx.bones)), slice(0, 1))
    return Skeleton(names_of(mdx), parents_of(mdx), places[0], turns[0], traits=traits_of(mdx))


def bones_used(mdm: Mdm) -> int:
    """Return how many bones an MDX must have for a model."""
    lists = [s.weights["bone"] for s in mdm.surfaces]
    lists += [s.bone_refs for s in mdm.surfaces] + [t.bone_refs for t in mdm.tags]
    highest = [int(values.max()) for values in lists if len(values)] + [int(t.header["bone"]) for t in mdm.tags]
    return max(highest, default=-1) + 1


def _decode_tag(header: Any, index: int) -> JointTag:
    origin, axes = (np.array(header[name], np.float32) for name in ("offset", "axis"))
    return JointTag(decode_name(header["name"]), int(header["bone"]), origin, axes, index, True)


def _fits(source: SkeletalSource) -> bool:
    """Tell whether the facts are what `to_model` writes: a .blend can come from a stranger."""
    tags = len(source.tags)
    wanted: Wanted = {
        "header": (HEADER, ()), "tags": (TAG, (tags,)), "tag_refs": ("i4", (-1,)), "tag_ref_counts": ("i4", (tags,)),
    }  # fmt: skip
    if not all_fit(source.facts, wanted):
        return False
    counts, refs = source.facts["tag_ref_counts"], source.facts["tag_refs"]
    if (counts < 0).any() or int(counts.sum(dtype=np.int64)) != len(refs) or not meshes.are_bones(refs):
        return False
    places = records_of(source.facts, "tags", TAG)
    if not (np.isfinite(places["offset"]).all() and np.isfinite(places["axis"]).all()):
        return False
    return all(meshes.mesh_fits(mesh, MESHES) for mesh in source.meshes)


def from_model(model: SkeletalModel, options: Mapping[str, Any] | None = None) -> Mdm:
    """Return the structs of a model; inverse of `to_model`.

    Options: `make_lod`, to order vertices anew for drawing fewer of them from afar where a surface's have changed.
    """
    source = sound(model.source_of(FORMAT), _fits, model.name)
    header = np.zeros((), HEADER)
    header["lod_scale"], header["name"] = 1.0, header_name(model.name, NAME_SIZE)
    layout: Facts = {}
    if source is not None:
        header, layout = records_of(source.facts, "header", HEADER), layout_of(source.facts)
    header["ident"], header["version"] = IDENT, VERSION
    if model.lod is not None:
        for name, value in zip(("lod_scale", "lod_bias"), model.lod, strict=True):
            if float(finite(header[name])) != value:
                header[name] = value
    context = Bones(model.skeleton, source)
    make_lod = bool((options or {}).get("make_lod", False))
    surfaces = [meshes.encode_mesh(mesh, context, MESHES, make_lod) for mesh in model.meshes]
    tags = [_encode_tag(tag, context) for tag in model.tags]
    sources = [mesh.source_index for mesh in model.meshes]
    return Mdm(header, surfaces, tags, layout, sources, [_source_tag(tag, source) for tag in model.tags])


def _source_tag(tag: JointTag, source: SkeletalSource | None) -> int:
    return tag.source_index if source is not None and 0 <= tag.source_index < len(source.tags) else -1


def _encode_tag(tag: JointTag, bones: Bones) -> MdmTag:
    header = np.zeros((), TAG)
    source, number = bones.source, _source_tag(tag, bones.source)
    written, before = None, np.array([], np.int32)
    header["offset"], header["axis"], header["bone"] = tag.origin, tag.axes, tag.joint
    if source is not None and number >= 0:
        own, joint = records_of(source.facts, "tags", TAG)[number], source.tags[number].joint
        ends = np.cumsum(source.facts["tag_ref_counts"])
        if bones.of_source[joint] == tag.joint:
            written = source.facts["tag_refs"][ends[number] - source.facts["tag_ref_counts"][number] : ends[number]]
            before = np.array([joint], np.int32)
        header["name"] = own["name"]
        if tag.kept:
            header["offset"], header["axis"] = own["offset"], own["axis"]
    header["name"] = encode_name(tag.name, NAME_SIZE, "tag", bytes(header["name"]))
    return MdmTag(header, bones.refs(np.array([tag.joint]), written, before))


def problems(model: SkeletalModel) -> list[str]:
    """Return what the engine trips over in a model that was just read: see `mdm`."""
    source = model.source_of(FORMAT)
    return [] if source is None else meshes.problems(model, source, "placeholders" not in source.facts)
