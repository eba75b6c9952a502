"""What must hold for every input, however broken: the promises that fuzzing tries to break.

- Only a `FormatError` or a `LimitError` comes out, or a result, within time and memory; numpy warns of nothing.
- What Blender would be given are numbers, and indices of what there is.
- What reads also writes; only a `LimitError` may come instead. What was written reads back with every field equal, a
  NaN equal to itself, and is written again as the same bytes. So it is after a source's facts went through a record.
- What else a model goes through in an import, a check or a conversion says something or raises one of the two.
"""

from __future__ import annotations

import copy
import dataclasses
import re
import warnings
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from fuzz import beside
from fuzz.guard import BrokenError, Budget
from fuzz.mutate import PAIR, TEXTS, split_pair
from io_idtech_models import formats
from io_idtech_models.formats import MOTION, SKELETAL, VERTEX, rows_of
from io_idtech_models.formats.md3.file import Md3
from io_idtech_models.formats.md5.anim_file import Md5Anim
from io_idtech_models.model import bind_pose as binding
from io_idtech_models.model.bake import bake
from io_idtech_models.model.bounds import set_bounds
from io_idtech_models.model.edits.matched import animation_with_origin, skeleton_with_origin
from io_idtech_models.model.edits.split_surfaces import split_surfaces
from io_idtech_models.model.edits.weld import weld_classes
from io_idtech_models.model.limits.games import VertexLimits
from io_idtech_models.model.lod.levels import make_levels
from io_idtech_models.model.records import skeletal as skeletal_record
from io_idtech_models.model.records import vertex as record
from io_idtech_models.model.skeletal import SkeletalModel, at_rest
from io_idtech_models.model.vertex import VertexModel
from io_idtech_models.reporting import LimitError, ModelError, collected_warnings

# Where things lie is the writer's business.
DERIVED = ("filesize", "ofs_", "layout", "source_", "frame_size")
FEW_JOINTS = 32  # for which a pose is fitted
FEW = VertexLimits(60, 70, None)  # of a surface that is cut
UNWRITTEN = "[\r\0]"
SMALL, SELDOM = 1 << 12, 16  # larger inputs go through everything once in so many: conversions take their time


def check(kind: str, data: bytes, budget: Budget) -> bool:
    """Try everything with an input; returns whether it could be read.

    Raises:
        BrokenError: a promise is broken; and any other exception that is not the input's fault.
    """
    if kind in beside.KINDS:
        return beside.check(kind, data, budget)
    row, parts = (formats.by_name("mdm"), split_pair(data)) if kind == PAIR else (formats.by_name(kind), (data,))
    with collected_warnings(), warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        try:
            with budget.spent("reading", len(data)):
                structs, asset = _read(row, parts)
        except ModelError:
            return False
        for thing in {id(each): each for each in (asset.content, *asset.animations)}.values():
            _check_numbers(thing)
        try:
            with budget.spent("writing", len(data)):
                written = _dump(row, asset)
        except LimitError:
            written = None
        if written is not None:
            _check_return(kind, row, structs, written, (written, *parts[1:]))
            _check_record(row, asset, written)
        if len(data) <= SMALL or zlib.crc32(data) % SELDOM == 0:
            _check_uses(row, asset.content, budget, len(data))
    return True


def _read(row: Any, parts: tuple[bytes, ...]) -> tuple[Any, Any]:
    """Return a file's structs and what it holds, all of it decoded."""
    structs = row.read(parts[0])
    names = getattr(row, "companions", ())
    others = [formats.by_name(n).read(part) for n, part in zip(names, parts[1:], strict=False)] or [None] * len(names)
    asset = row.unpack(structs, "name", others)
    for surface in asset.model.surfaces if isinstance(asset.model, VertexModel) else ():
        if surface.normals is None or surface.positions.shape != surface.normals.shape:
            raise BrokenError("as many normals as positions")
    return structs, asset


def _dump(row: Any, asset: Any) -> bytes:
    """Return the file of what one holds; raises LimitError."""
    found: bytes = row.dump(asset.content, None, asset.animations)
    return found


def _check_return(kind: str, row: Any, structs: Any, written: bytes, parts: tuple[bytes, ...]) -> None:
    """Assert that what was written has every field, and is written again as the same bytes."""
    try:
        again, asset = _read(row, parts)
    except ModelError as error:
        raise BrokenError(f"what was written is refused: {error}") from error
    different = next(differences(_plain(structs), _plain(again), single=kind in TEXTS), None)
    if different is not None:
        raise BrokenError(f"came back otherwise: {different}")
    if _dump(row, asset) != written:
        raise BrokenError("a second writing gives other bytes")


def _plain(structs: Any) -> Any:
    """Return structs without what is written otherwise on purpose.

    That is where a joint starts that has no numbers, and the frames that an MD3's surface lacks.
    """
    if isinstance(structs, Md3):
        count = np.arange(len(structs.frames))
        filled = [replace(s, vertices=s.vertices[np.minimum(count, len(s.vertices) - 1)]) for s in structs.surfaces]
        return replace(structs, surfaces=filled)
    if isinstance(structs, Md5Anim):
        return replace(structs, starts=np.where(structs.flags, structs.starts, 0))
    return structs


def differences(a: Any, b: Any, path: str = "", single: bool = False) -> Iterator[str]:
    """Yield the paths at which two structs of a file differ; floats as `single` precision, else bit by bit."""
    if dataclasses.is_dataclass(a):
        for field in dataclasses.fields(a):
            if not field.name.startswith(DERIVED):
                yield from differences(getattr(a, field.name), getattr(b, field.name), f"{path}.{field.name}", single)
    elif isinstance(a, list):
        if len(a) != len(b):
            yield f"{path} ({len(a)}, {len(b)})"
        for one, other in zip(a, b, strict=False):
            yield from differences(one, other, f"{path}[]", single)
    elif isinstance(a, np.ndarray | np.void):
        yield from _array_differences(np.asarray(a), np.asarray(b), path, single)
    elif a != b and not (single and isinstance(a, str) and _as_text(a) == _as_text(b)):
        yield path


def _as_text(name: str) -> str:
    """Return a name without what no text holds: as is said where it matters."""
    return re.sub(UNWRITTEN, "", name).strip()


def _array_differences(a: Any, b: Any, path: str, single: bool) -> Iterator[str]:
    if a.dtype.names:
        for name in a.dtype.names:
            if not name.startswith(DERIVED):
                yield from _array_differences(a[name], b[name], f"{path}.{name}", single)
        return
    if single and a.dtype.kind == "f":
        a, b = a.astype(np.float32) + 0, b.astype(np.float32) + 0  # no sign of a zero in texts
    if a.shape != b.shape or a.tobytes() != b.tobytes():
        yield path


# -- the model


def _check_numbers(model: Any) -> None:
    """Assert that a model's arrays are numbers and its indices those of what there is."""
    for name, values, limit in _values(model):
        if limit is not None and values.size and not 0 <= int(values.min()) <= int(values.max()) < limit:
            raise BrokenError(f"{name} are out of their range")
        if limit is None and not np.isfinite(values).all():
            raise BrokenError(f"{name} are no numbers")


def _values(model: Any) -> Iterator[tuple[str, Any, int | None]]:
    """Yield arrays of a model and the limit of those that are indices."""
    if isinstance(model, VertexModel):
        for surface in model.surfaces:
            yield "triangles", surface.triangles, surface.num_vertices
            yield from ((name, getattr(surface, name), None) for name in ("positions", "normals", "uvs"))
        for tag in model.tags:
            yield from ((name, getattr(tag, name), None) for name in ("origins", "axes"))
    elif isinstance(model, SkeletalModel):
        joints = model.skeleton.num_joints
        yield "parents", model.skeleton.parents + 1, joints + 1
        yield from ((name, getattr(model.skeleton, name), None) for name in ("positions", "rotations"))
        for mesh in model.meshes:
            yield "triangles", mesh.triangles, mesh.num_vertices
            yield "joints", mesh.weights.joints, joints
            yield "starts", mesh.weights.starts + mesh.weights.counts, len(mesh.weights.joints) + 1
            yield from (("uvs", mesh.uvs, None), ("normals", mesh.uvs if mesh.normals is None else mesh.normals, None))
            yield from (("factors", mesh.weights.factors, None), ("offsets", mesh.weights.offsets, None))
        for own in model.tags:
            yield "joints of tags", np.array([own.joint]), joints
            yield from (("origin", own.origin, None), ("axes", own.axes, None))
    else:
        yield "parents", model.parents + 1, len(model.joint_names) + 1
        yield from ((name, getattr(model, name), None) for name in ("positions", "rotations", "bounds"))


def _check_record(row: Any, asset: Any, written: bytes) -> None:
    """Assert that all is written as it was after its sources' facts lay in a .blend."""
    again = replace(
        asset,
        model=None if asset.model is None else _from_record(asset.model),
        animations=[_from_record(each) for each in asset.animations],
    )
    if _dump(row, again) != written:
        raise BrokenError("the source's record gives other bytes")


def _from_record(thing: Any) -> Any:
    """Return a model or a motion with the source that its record gives."""
    source, again = thing.source, copy.copy(thing)
    if isinstance(thing, VertexModel):
        surfaces = [record.surface_record(surface, {}) for surface in source.surfaces]
        again.source = record.model_source(record.model_record(source, surfaces, {}))[0]
    elif isinstance(thing, SkeletalModel):
        meshes = [skeletal_record.mesh_record(mesh, {}) for mesh in source.meshes]
        again.source = skeletal_record.model_source(skeletal_record.model_record(source, meshes, {}))[0]
    else:
        again.source = skeletal_record.animation_source(skeletal_record.animation_record(source, {}))[0]
    return again


def _check_uses(row: Any, model: Any, budget: Budget, size: int) -> None:
    """Run what a model goes through elsewhere; a LimitError says something, too."""
    for use in (_problems, _show, _convert, _rewrite, _fit):
        with suppress(LimitError), budget.spent(f"use in {use.__name__}", size):
            use(row, model)


def _problems(row: Any, model: Any) -> None:
    row.problems(model)
    for game in row.games[:2]:
        row.check(model, game)


def _show(row: Any, model: Any) -> None:
    """Do what an import does before Blender comes in."""
    if isinstance(model, VertexModel):
        for surface in model.source.surfaces if model.source else ():
            weld_classes(surface.places(), surface.triangles)
    elif isinstance(model, SkeletalModel):
        set_bounds(at_rest(model.skeleton, "rest"), model)


def _convert(row: Any, model: Any) -> None:
    """Make a file of another format; of an animation one that is all new."""
    if row.family is VERTEX:
        other = next(each for each in rows_of(VERTEX) if each is not row)
        other.load(other.dump(model), "name")
    elif row.family is SKELETAL:
        for each in rows_of(SKELETAL):
            with suppress(LimitError):
                each.dump(model if each is row else skeleton_with_origin(model))
        rows_of(VERTEX)[-1].dump(bake(model, []))
    else:
        row.load(row.dump(replace(model, source_frames=None)), "name")
        next(each for each in rows_of(MOTION) if each is not row and not each.has_model).dump(
            animation_with_origin(model)
        )


def _rewrite(row: Any, model: Any) -> None:
    """Make a file without the source."""
    bare = copy.copy(model)
    bare.source = None
    row.load(row.dump(bare), "name")


def _fit(row: Any, model: Any) -> None:
    """Do what takes long in large models: levels of detail, pieces, and the pose in which weights agree best."""
    if row.vertex.level_files:
        whole = row.load(row.dump(model), "name")
        pieces, _ = split_surfaces(whole, range(len(whole.surfaces)), FEW)
        for each in (pieces, *make_levels(whole, (0.5, 0.1))):
            row.dump(each)
    if not isinstance(model, SkeletalModel) or model.skeleton.num_joints > FEW_JOINTS:
        return
    if row.skeletal.bind_pose_missing:
        row.dump(replace(model, source=None), {"make_lod": True})
        binding.fitted(model, model.skeleton.bind)
