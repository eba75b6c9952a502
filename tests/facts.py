"""The fields of a file by readable paths, so that tests can say what differs between two files and what must not."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from io_idtech_models.formats.ase import file as ase
from io_idtech_models.formats.iqm import file as iqm
from io_idtech_models.formats.iqm.file import name_at
from io_idtech_models.formats.lwo import file as lwo
from io_idtech_models.formats.md2 import file as md2
from io_idtech_models.formats.md3 import file as md3
from io_idtech_models.formats.md5 import anim_file as md5anim
from io_idtech_models.formats.md5 import mesh_file as md5mesh
from io_idtech_models.formats.mdc import file as mdc
from io_idtech_models.formats.mdl import file as mdl
from io_idtech_models.formats.mdm import file as mdm
from io_idtech_models.formats.mdr import file as mdr
from io_idtech_models.formats.mds import file as mds
from io_idtech_models.formats.mdx import file as mdx
from io_idtech_models.formats.tag import file as tag_file

Facts = dict[str, Any]
OFFSETS = ("num_", "ofs_", "version")


def facts(data: bytes) -> Facts:
    """Return every field of a file that means something, by a path: "surfaces[0].frames[2].xyz[5]".

    Offsets and counts are left out; names are whole fields, with what stands behind their NUL. Of texts these are the
    numbers, in single precision, and the strings.
    """
    return READERS.get(data[:4], _tag)(data)


def differences(before: bytes, after: bytes) -> set[str]:
    """Return the paths of `facts` at which two files of a format differ."""
    if before == after:
        return set()
    old, new = facts(before), facts(after)
    return {path for path in old.keys() | new.keys() if old.get(path) != new.get(path)}


def moved_frames(data: bytes, place: Callable[[int], int | None], count: int | None = None) -> Facts:
    """Return a file's facts as they are when its frames stand at other places or (None) are gone, and `count` are left.

    Without a count it is as it was: some surfaces of an MD3 declare fewer frames than their model has.
    """
    moved = {}
    for path, value in facts(data).items():
        found = re.search(r"(?<=frames\[)\d+", path)
        at = place(int(found[0])) if found else None
        if found and at is not None:
            moved[path[: found.start()] + str(at) + path[found.end() :]] = value
        elif not found:
            moved[path] = struct.pack("<i", count) if count and path.endswith(".num_frames") else value
    return moved


def _record(prefix: str, record: Any, dtype: np.dtype[Any], names: Sequence[str] | None) -> Facts:
    array = np.array([record], dtype)
    return {prefix + name: array[name].tobytes() for name in names or ()}


def _rows(path: str, array: Any) -> Facts:
    return {f"{path}[{i}]": row.tobytes() for i, row in enumerate(array)}


def _md2(data: bytes) -> Facts:
    file = md2.read(data)
    found = _record("", file.header, md2.HEADER, ("skin_width", "skin_height"))
    found |= {"commands": file.glcmds.tobytes()} | _rows("skins", file.skins) | _rows("st", file.st)
    for t, triangle in enumerate(file.triangles):
        found |= _record(f"triangles[{t}].", triangle, md2.TRIANGLE, md2.TRIANGLE.names)
    for f, frame in enumerate(file.frames):
        found |= _record(f"frames[{f}].", frame, md2.FRAME, md2.FRAME.names)
        found |= _rows(f"frames[{f}].xyz", file.vertices[f, :, :3]) | _rows(
            f"frames[{f}].normal", file.vertices[f, :, 3:]
        )
        found[f"frames[{f}].padding"] = file.padding[f].tobytes()
    return found


def _md3(data: bytes) -> Facts:
    file = md3.read(data)
    found = _record("header.", file.header, md3.HEADER, ("name", "flags", "num_skins"))
    for f, frame in enumerate(file.frames):
        found |= _record(f"frames[{f}].", frame, md3.FRAME, md3.FRAME.names)
        for t, tag in enumerate(file.tags[f]):
            found |= _record(f"frames[{f}].tags[{t}].", tag, md3.TAG, md3.TAG.names)
    for s, surface in enumerate(file.surfaces):
        at = f"surfaces[{s}]."
        found |= _record(at, surface.header, md3.SURFACE, ("ident", "name", "flags", "num_frames"))
        for i, shader in enumerate(surface.shaders):
            found |= _record(f"{at}shaders[{i}].", shader, md3.SHADER, md3.SHADER.names)
        found |= _rows(f"{at}triangles", surface.triangles) | _rows(f"{at}st", surface.st)
        for f, frame in enumerate(surface.vertices):
            for name in ("xyz", "normal"):
                found |= _rows(f"{at}frames[{f}].{name}", frame[name])
    return found


def _mdl(data: bytes) -> Facts:
    file = mdl.read(data)
    found = _record("", file.header, mdl.HEADER, _own_fields(mdl.HEADER)) | {"tail": file.tail.tobytes()}
    for called, parts in (("skins", file.skins), ("groups", file.frames)):
        grouped = parts.grouped
        found |= _rows(f"{called}.kind", parts.kinds[grouped]) | _rows(f"{called}.count", parts.counts[grouped])
        found |= _rows(f"{called}.head", parts.heads) | _rows(f"{called}.time", parts.times)
    found |= _rows("pictures", file.skins.payloads) | _rows("st", file.st)
    for t, triangle in enumerate(file.triangles):
        found |= _record(f"triangles[{t}].", triangle, mdl.TRIANGLE, mdl.TRIANGLE.names)
    grouped = np.repeat(np.cumsum(file.frames.grouped) * file.frames.grouped, file.frames.counts)
    for f, pose in enumerate(file.poses):
        found |= _record(f"frames[{f}].", pose, mdl.POSE, mdl.POSE.names)
        found[f"frames[{f}].group"] = int(grouped[f])
        found |= _rows(f"frames[{f}].xyz", file.vertices[f, :, :3])
        found |= _rows(f"frames[{f}].normal", file.vertices[f, :, 3:])
    return found


def _mdc(data: bytes) -> Facts:
    """Return the fields; of base frames and steps what each frame is made of, whatever their numbers."""
    file = mdc.read(data)
    found = _record("header.", file.header, mdc.HEADER, ("name", "flags", "num_skins"))
    found |= _rows("tag_names", file.tag_names)
    for f, frame in enumerate(file.frames):
        found |= _record(f"frames[{f}].", frame, mdc.FRAME, mdc.FRAME.names)
        for t, tag in enumerate(file.tags[f]):
            found |= _record(f"frames[{f}].tags[{t}].", tag, mdc.TAG, mdc.TAG.names)
    for s, surface in enumerate(file.surfaces):
        at = f"surfaces[{s}]."
        found |= _record(at, surface.header, mdc.SURFACE, ("ident", "name", "flags"))
        for i, shader in enumerate(surface.shaders):
            found |= _record(f"{at}shaders[{i}].", shader, mdc.SHADER, mdc.SHADER.names)
        found |= _rows(f"{at}triangles", surface.triangles) | _rows(f"{at}st", surface.st)
        for f, (base, step) in enumerate(zip(surface.base_frames, surface.comp_frames, strict=True)):
            codes, normals = surface.bases[base], surface.bases[base, :, 3:]
            steps = surface.steps[step] if step >= 0 else np.zeros((len(codes), 0), np.uint8)
            for v, row in enumerate(codes):
                found[f"{at}frames[{f}].xyz[{v}]"] = row[:3].tobytes() + steps[v, :3].tobytes()
            found |= _rows(f"{at}frames[{f}].normal", steps[:, 3:] if step >= 0 else normals)
    return found


def _tag(data: bytes) -> Facts:
    file = tag_file.read(data)
    found = _record("", file.header, tag_file.HEADER, ("ident",))
    for t, tag in enumerate(file.tags):
        found |= _record(f"tags[{t}].", tag, tag_file.TAG, tag_file.TAG.names)
    return found


def _own_fields(dtype: np.dtype[Any]) -> list[str]:
    return [name for name in dtype.names or () if not name.startswith(OFFSETS)]


def _skinned(at: str, surface: Any, header: np.dtype[Any]) -> Facts:
    found = _record(at, surface.header, header, _own_fields(header))
    counts = surface.vertices["num_weights"]
    ends = np.cumsum(counts)
    for v, vertex in enumerate(surface.vertices):
        found[f"{at}verts[{v}].normal"] = vertex["normal"].tobytes()
        found[f"{at}verts[{v}].st"] = vertex["st"].tobytes()
        found[f"{at}verts[{v}].weights"] = surface.weights[ends[v] - counts[v] : ends[v]].tobytes()
    return found | _rows(f"{at}triangles", surface.triangles) | {f"{at}refs": surface.bone_refs.tobytes()}


def _mdm(data: bytes) -> Facts:
    file = mdm.read(data)
    found = _record("", file.header, mdm.HEADER, _own_fields(mdm.HEADER)) | _surfaces(file.surfaces)
    for t, tag in enumerate(file.tags):
        found |= _record(f"tags[{t}].", tag.header, mdm.TAG, _own_fields(mdm.TAG))
        found[f"tags[{t}].refs"] = tag.bone_refs.tobytes()
    return found


def _surfaces(surfaces: Any) -> Facts:
    """Return the fields of surfaces of MDM and MDS."""
    found: Facts = {}
    for s, surface in enumerate(surfaces):
        at = f"surfaces[{s}]."
        found |= _skinned(at, surface, mdm.SURFACE) | _rows(f"{at}collapse", surface.collapse)
        own = surface.vertices.dtype.names[3:]
        for v, vertex in enumerate(surface.vertices if own else ()):
            found |= _record(f"{at}verts[{v}].", vertex, surface.vertices.dtype, own)
    return found


def _mdr(data: bytes) -> Facts:
    file = mdr.read(data)
    found = _record("", file.header, mdr.HEADER, _own_fields(mdr.HEADER))
    for f, frame in enumerate(file.frames):
        found |= _record(f"frames[{f}].", frame["info"], frame["info"].dtype, frame["info"].dtype.names)
        found |= _rows(f"frames[{f}].bones", frame["bones"])
    for n, lod in enumerate(file.lods):
        for s, surface in enumerate(lod.surfaces):
            found |= _skinned(f"lods[{n}].surfaces[{s}].", surface, mdr.SURFACE)
    for t, tag in enumerate(file.tags):
        found |= _record(f"tags[{t}].", tag, mdr.TAG, mdr.TAG.names)
    return found


def _mdx(data: bytes) -> Facts:
    file = mdx.read(data)
    return _record("", file.header, mdx.HEADER, _own_fields(mdx.HEADER)) | _moved(file)


def _mds(data: bytes) -> Facts:
    file = mds.read(data)
    found = _record("", file.header, mds.HEADER, _own_fields(mds.HEADER)) | _moved(file) | _surfaces(file.surfaces)
    for t, tag in enumerate(file.tags):
        found |= _record(f"tags[{t}].", tag, mds.TAG, mds.TAG.names)
    return found


def _moved(file: Any) -> Facts:
    """Return the fields of bones and their frames."""
    found: Facts = {}
    for b, bone in enumerate(file.bones):
        found |= _record(f"bones[{b}].", bone, mdx.BONE, _own_fields(mdx.BONE))
    for f, frame in enumerate(file.frames):
        found |= _record(f"frames[{f}].", frame["info"], mdx.FRAME_INFO, _own_fields(mdx.FRAME_INFO))
        found |= _rows(f"frames[{f}].angles", frame["bones"]["angles"])
        found |= _rows(f"frames[{f}].ofs", frame["bones"]["ofs_angles"])
    return found


def _iqm(data: bytes) -> Facts:
    file = iqm.read(data)
    found = {"flags": int(file.header["flags"]), "comment": file.comment.tobytes()}
    for kind, records, own in (
        ("meshes", file.meshes, ("name", "material")),
        ("joints", file.joints, ("name",)),
        ("anims", file.anims, ("name",)),
    ):
        for nth, record in enumerate(records):
            at = f"{kind}[{nth}]."
            found |= {at + name: name_at(file.text, int(record[name])) for name in own}
            found |= _record(at, record, records.dtype, [n for n in records.dtype.names or () if n not in own])
    for nth, (record, array) in enumerate(zip(file.arrays, file.data, strict=True)):
        custom = int(record["type"]) - iqm.CUSTOM
        kind = name_at(file.text, custom) if custom >= 0 else str(record["type"])
        found[f"arrays[{nth}]"] = (kind, *(int(record[name]) for name in ("flags", "format", "size")))
        found |= _rows(f"arrays[{nth}]", array)
    found |= _rows("triangles", file.triangles) | _rows("adjacency", file.adjacency)
    found |= _rows("frames", file.frames) | _rows("bounds", file.bounds)
    for nth, pose in enumerate(file.poses):
        found |= _record(f"poses[{nth}].", pose, iqm.POSE, iqm.POSE.names)
    for nth, (record, contents) in enumerate(zip(file.extensions, file.extension_data, strict=True)):
        found[f"extensions[{nth}]"] = name_at(file.text, int(record["name"])), contents.tobytes()
    return found


def _md5(data: bytes) -> Facts:
    return _of_block("", md5mesh.read(data) if b"numMeshes" in data else md5anim.read(data))


def _of_block(prefix: str, block: Any) -> Facts:
    found: Facts = {}
    for name, value in vars(block).items():
        if isinstance(value, np.ndarray):
            single = value.astype(np.float32) if value.dtype.kind == "f" else value
            found |= _rows(prefix + name, single)
        elif isinstance(value, list):
            for i, item in enumerate(value):
                at = f"{prefix}{name}[{i}]"
                found |= {at: item} if isinstance(item, str) else _of_block(f"{at}.", item)
        else:
            found[prefix + name] = value
    return found


def _ase(data: bytes) -> Facts:
    """Return the words of a text, by their lines."""
    lines = ase.write(ase.read(data)).splitlines()
    return {f"lines[{i}]": b" ".join(line.split()) for i, line in enumerate(lines)}


def _lwo(data: bytes) -> Facts:
    """Return what each chunk holds, and what lies behind them."""
    found = lwo.read(data)
    facts = {f"chunk[{i}]": data[each.start : each.stop] for i, each in enumerate(found.chunks)}
    return facts | {"head": data[:12], "tail": data[found.chunks[-1].stop if found.chunks else 12 :]}


READERS: dict[bytes, Callable[[bytes], Facts]] = {
    md2.IDENT: _md2, md3.IDENT: _md3, mdc.IDENT: _mdc, mdl.IDENT: _mdl, mdm.IDENT: _mdm, mdr.IDENT: _mdr,
    mds.IDENT: _mds, mdx.IDENT: _mdx, iqm.MAGIC[:4]: _iqm, b"MD5V": _md5, ase.IDENT[:4]: _ase,
    lwo.FORM: _lwo,
}  # fmt: skip
