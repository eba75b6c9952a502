"""MDL structs to a model and back; the file itself is `file`.

A model has one surface, whose texture coordinates belong to corners (see `seams`), and a shader for each skin. Its
frames are the file's poses. Groups of poses, and the runs of frames that names tell of, are its animations (`groups`).
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model.pictures import skin_names
from ...model.source import CodedSource
from ...model.vertex import ModelSource, VertexModel
from ..common import quake
from ..common.normals import decode_direction
from ..common.quake import (
    DEFAULT_SIZE,
    Boxes,
    Boxing,
    Size,
    as_one,
    decode_texels,
    lone_source,
    settle_positions,
    shown_box,
    size_of,
    warn_if_damaged,
)
from ..common.records import Wanted, all_fit, as_bytes, decode_name, records_of
from .file import GROUP_HEAD, HEADER, IDENT, POSE, ST, TRIANGLE, VERSION, Mdl
from .groups import frame_facts, group_clips, parts_fit, settle_frames, stored_parts
from .header import MdlOptions, settle_header, traits_of
from .parts import Parts
from .seams import corner_texels, settle_texels
from .skins import settle_skins, shown_skins, skin_facts, skins_fit

log = logging.getLogger(__name__)

FORMAT = "mdl"
CODING = quake.CODING
WOBBLE = 0.5  # units between two codes from which on what stands still is seen to move


def to_model(mdl: Mdl, name: str = "") -> VertexModel:
    """Return the model of a file, its source included; inverse of `from_model`."""
    frame_names = [decode_name(n) for n in mdl.poses["name"].tolist()]
    count = len(frame_names)
    own = _surface_source(mdl, name)
    source = ModelSource(
        [own], FORMAT, frame_names, [], np.zeros((count, 0, 3), np.float32), np.zeros((count, 0, 3, 3), np.float32)
    )
    model = source.shown(name, decode_direction)
    model.animations, model.texture_size = group_clips(mdl.frames, frame_names), size_of(mdl.header)
    model.skins, model.traits = shown_skins(mdl.skins, mdl.pictures, own.shaders), traits_of(mdl.header)
    return model


def _surface_source(mdl: Mdl, name: str) -> CodedSource:
    """Return all facts of a file: a lone mesh of a model is the whole of it."""
    triangles = np.ascontiguousarray(mdl.triangles["vertices"][:, ::-1], np.int32)
    front = np.ascontiguousarray(mdl.triangles["faces_front"])
    facts = {
        "header": as_bytes(mdl.header), "st": as_bytes(mdl.st), "faces_front": front, "tail": mdl.tail,
        **skin_facts(mdl.skins, mdl.pictures), **frame_facts(mdl.frames, mdl.poses),
    }  # fmt: skip
    return CodedSource(
        name,
        triangles,
        _shown_uvs(mdl.header, mdl.st, triangles, front),
        skin_names(name, len(mdl.skins.kinds)),
        mdl.vertices,
        shown_box(mdl.header["scale"])[None],
        shown_box(mdl.header["scale_origin"])[None],
        facts=facts,
    )


def _shown_uvs(
    header: Any, st: NDArray[Any], triangles: NDArray[np.int32], front: NDArray[np.int32]
) -> NDArray[np.float32]:
    size = size_of(header)
    return decode_texels(corner_texels(st, triangles, front, size[0]), size)


def conform(model: VertexModel, options: Mapping[str, Any]) -> VertexModel:
    """Return a model as MDL can hold it: one surface, split along its seams, no tags, skin size known.

    Raises:
        LimitError: there is no surface, or a texture coordinate out of reach.
    """
    whole, own = as_one(model, "MDL"), lone_source(model, FORMAT, _fits)
    shaped = replace(whole, texture_size=_skin_size(model, own, MdlOptions(**options)))
    surface, _, _ = settle_texels(shaped.surfaces[0], own, model.source, shaped.texture_size or (0, 0))
    return replace(shaped, surfaces=[surface])


def _skin_size(model: VertexModel, own: CodedSource | None, options: MdlOptions) -> Size:
    """Return width and height of the skins: as asked for, else a picture's, else the source's, else a default."""
    known = model.texture_size or (DEFAULT_SIZE, DEFAULT_SIZE)
    if own is not None:
        known = size_of(records_of(own.facts, "header", HEADER))
    sizes = (picture.shape[:2] for skin in model.skins for picture in skin.pictures[:1])
    height, width = next((size for size in sizes if size != (1, 1)), (0, 0))
    known = (width, height) if width and height else known
    return options.skin_width or known[0], options.skin_height or known[1]


def _fits(own: CodedSource) -> bool:
    """Tell whether the facts are what `to_model` writes: a .blend can come from a stranger."""
    count, vertices, triangles = len(own.codes), own.num_vertices, len(own.triangles)
    wanted: Wanted = {
        "header": (HEADER, ()), "st": (ST, (vertices,)), "faces_front": ("i4", (triangles,)), "tail": ("u1", (-1,)),
        "poses": (POSE, (count,)), "frame_kinds": ("i4", (-1,)), "frame_counts": ("i4", (-1,)),
        "group_heads": ("u1", (-1, GROUP_HEAD)), "frame_times": ("f4", (-1,)), "skin_kinds": ("i4", (-1,)),
        "skin_counts": ("i4", (-1,)), "skin_times": ("f4", (-1,)), "skin_pictures": ("u1", (-1, -1, -1)),
    }  # fmt: skip
    one_box = len(own.scale) == len(own.offset) == 1 and own.uvs.ndim == 3
    if own.codes.dtype != np.uint8 or not one_box or not all_fit(own.facts, wanted):
        return False
    header = records_of(own.facts, "header", HEADER)
    if not parts_fit(stored_parts(own.facts), count, GROUP_HEAD) or not skins_fit(own.facts, size_of(header)):
        return False
    boxes = zip((own.scale, own.offset), ("scale", "scale_origin"), strict=True)
    st = records_of(own.facts, "st", ST)
    same = all(np.array_equal(shown[0], shown_box(header[name])) for shown, name in boxes)
    return same and np.array_equal(own.uvs, _shown_uvs(header, st, own.triangles, own.facts["faces_front"]))


def from_model(model: VertexModel, options: Mapping[str, Any]) -> Mdl:
    """Return the structs of a model that `conform` gave; inverse of `to_model`.

    Raises:
        LimitError: what the format can't hold; the sentence names the object and the value.
    """
    own = lone_source(model, FORMAT, _fits)
    asked = MdlOptions(**options)
    warn_if_damaged(model, FORMAT, own)
    size = model.texture_size or (DEFAULT_SIZE, DEFAULT_SIZE)
    surface, st, front = settle_texels(model.surfaces[0], own, model.source, size)
    whole = replace(model, surfaces=[surface])
    boxing = Boxing(shared=True, together=True, refit=asked.refit_grid)
    boxes, codes, kept = settle_positions(whole, own, boxing)
    header = np.zeros((), HEADER)[()] if own is None else records_of(own.facts, "header", HEADER)
    header["ident"], header["version"] = IDENT, VERSION
    settle_header(header, whole, surface, own)
    if not kept.all():
        header["scale"], header["scale_origin"] = boxes.scale[0], boxes.offset[0]
        _tell_of_grid(model, own, boxes, refit=asked.refit_grid)
    header["skin_width"], header["skin_height"] = size
    triangles = np.zeros(len(surface.triangles), TRIANGLE)
    triangles["faces_front"], triangles["vertices"] = front, surface.triangles[:, ::-1]
    frames, poses = settle_frames(whole, own, codes)
    tail: NDArray[np.uint8] = np.zeros(0, np.uint8) if own is None or asked.drop_tail else own.facts["tail"]
    skins: Parts = settle_skins(whole, own, size, int(header["flags"]), asked)
    return Mdl(header, skins, st, triangles, frames, poses, codes, tail)


def _tell_of_grid(model: VertexModel, own: CodedSource | None, boxes: Boxes, *, refit: bool) -> None:
    """Say that all positions are coded anew, and of a coarse grid what that looks like."""
    step = float(np.abs(boxes.scale[:1]).max(initial=0.0))
    if own is not None and not refit:
        text = "it outgrows its file's grid, or all of it moved: positions are coded anew, in steps of up to %.3g units"
        log.warning(text, step)
    if step > WOBBLE and model.num_frames > 1:
        text = "positions are whole steps of up to %.3g units: parts that stand still may wobble; MD3 and MD5 are finer"
        log.warning(text, step)
