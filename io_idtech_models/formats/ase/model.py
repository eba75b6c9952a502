"""ASE to a model of one frame and back; the file itself is `file`.

Of an edited model the text of its file stays, word for word, but for what the edit touched: numbers of points, texture
coordinates and normals that changed, names, references to materials. Where faces changed the mesh of an object is
written anew. An object whose parts wear several materials, and which lost a part or whose faces changed, becomes one
for each.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model import steady
from ...model.source import CodedSource, Facts
from ...model.vertex import ModelSource, Surface, VertexModel
from ...reporting import FormatError, LimitError, listed, plural
from ..common.records import Wanted, all_fit, warn_damaged
from ..common.static import (
    CODING,
    MILLION,
    SHADE,
    Scale,
    decode_normals,
    is_whole,
    known_further,
    one_frame,
    own_source,
    say_strangers,
    settle,
    settle_further,
    show_further,
)
from .file import LARGEST, Ase, Material, Mesh, Object, read
from .materials import shader_of, unplaced
from .parts import STEP, Part, meshed, parts_of, unturned
from .sets import Sets, can_patch, in_mesh, numbered, patch_sets, say_numbers
from .text import HEAD, Edits, NewMesh, material_text, materials_text, mesh_text, object_text, quoted

log = logging.getLogger(__name__)

FORMAT = "ase"
SCALE = Scale("ASE", MILLION, LARGEST)
NEAR_UV = 1e-8  # of a texture coordinate as the file has it: an offset or angle undone
BLOCK: Wanted = {"block": ("u1", (-1,)), "of_object": ("i8", (2,))}
LAYOUT: Wanted = {"layout_between": ("u1", (-1,)), "layout_lengths": ("i8", (-1,))}

__all__ = ["CODING", "conform", "from_model", "to_model"]


def to_model(ase: Ase, name: str = "") -> VertexModel:
    """Return the model of a file, its source included; inverse of `from_model`."""
    shapes = meshed(ase)
    known: list[Any] = []
    shown: list[Part] = []
    between, done = [], 0
    for number, shape in enumerate(shapes):
        between.append(ase.text[done : shape.span[0]])
        done = shape.span[1]
        block = np.frombuffer(ase.text[slice(*shape.span)], np.uint8)
        if shape.ref >= max(len(ase.materials), 1):
            text = "'%s' names material %d, of %d: games refuse it or crash"
            log.warning(text, shape.name, shape.ref, len(ase.materials))
        if shape.mesh is not None and shape.mesh.normals is not None and not shape.placed:
            log.warning("'%s' has no *NODE_TM before its *MESH: Doom 3 lights it wrongly", shape.name)
        if shape.mesh is not None and shape.mesh.misfits:
            count = plural(len(shape.mesh.misfits), "set")
            log.warning(
                "'%s' has %s of texture coordinates that are none of its faces': kept, but not shown", shape.name, count
            )
        for nth, part in enumerate(parts_of(ase, shape, number)):
            facts: Facts = {"block": block, "of_object": np.array([number, nth], np.int64)}
            facts |= {} if part.colors is None else {"colors": part.colors}
            shown.append(part)
            known.append(_surface_source(shape.name + (f"_{nth}" if nth else ""), part, facts))
    between.append(ase.text[done:])
    facts = {
        "head": np.frombuffer(between[0], np.uint8),
        "layout_between": np.frombuffer(b"".join(between[1:]), np.uint8),
        "layout_lengths": np.array([len(text) for text in between[1:]], np.int64),
    }
    source = ModelSource(
        known, FORMAT, [""], [], np.zeros((1, 0, 3), np.float32), np.zeros((1, 0, 3, 3), np.float32), facts
    )
    model = source.shown(name, decode_normals)
    for surface, part in zip(model.surfaces, shown, strict=True):
        surface.colors = None if part.colors is None else part.colors.copy()
        show_further(surface, part.uv_name, part.further)
    return model


def _surface_source(name: str, part: Part, facts: Facts) -> CodedSource:
    scale = np.full((1, 3), STEP, np.float32)
    shaders = [part.shader] if part.shader else []
    return CodedSource(
        name, part.triangles, part.uvs, shaders, part.codes, scale, np.zeros((1, 3), np.float32), facts=facts
    )


def conform(model: VertexModel, options: Mapping[str, Any]) -> VertexModel:
    """Return a model as ASE can hold it: a frame, no tags, one material for a surface; itself if it is so."""
    return one_frame(model, "ASE")


@dataclass(eq=False)
class Known:
    """What a source tells of its file: the text, what is in it, and which part of which object each surface was."""

    ase: Ase
    shapes: list[Object]
    parts: list[list[Part]]  # of each object
    owners: dict[int, tuple[int, int]]  # by the surface's index: object, part


def _known(source: ModelSource | None, name: str) -> Known | None:
    """Return what a source tells of its file; None where it does not, or where it is damaged, which is said."""
    if source is None or "head" not in source.facts:
        return None
    fits = all(isinstance(s, CodedSource) and all_fit(s.facts, BLOCK) for s in source.surfaces)
    if not fits or not all_fit(source.facts, {"head": ("u1", (-1,))}):
        warn_damaged(name)
        return None
    own = {i: surface for i, surface in enumerate(source.surfaces) if i not in source.strangers}
    numbers = {index: surface.facts["of_object"].tolist() for index, surface in own.items()}
    blocks = {numbers[index][0]: surface.facts["block"].tobytes() for index, surface in own.items()}
    order = sorted(blocks)
    try:
        ase = read(_whole_text(source.facts, blocks))
    except FormatError:
        warn_damaged(name)
        return None
    shapes = meshed(ase)
    parts = [parts_of(ase, shape, number) for number, shape in enumerate(shapes)]
    owners = {index: (order.index(number), part) for index, (number, part) in numbers.items()}
    if len(shapes) != len(order) or not all(
        0 <= part < len(parts[shape]) and _same(source.surfaces[index], parts[shape][part])
        for index, (shape, part) in owners.items()
    ):
        warn_damaged(name)
        return None
    return Known(ase, shapes, parts, owners)


def _whole_text(facts: Facts, blocks: Mapping[int, bytes]) -> bytes:
    """Return the text of a file, of which some objects may be missing; what lay between them may be, too."""
    head = facts["head"].tobytes()
    if not all_fit(facts, LAYOUT) or not (facts["layout_lengths"] >= 0).all():
        return head + b"\n".join(blocks[number] for number in sorted(blocks)) + b"\n"
    between, ends = facts["layout_between"].tobytes(), np.cumsum(facts["layout_lengths"]).tolist()
    texts = [head]
    for number, (start, end) in enumerate(zip([0, *ends], ends, strict=False)):
        texts += (blocks.get(number, b""), between[start:end])
    return b"".join(texts)


def _same(surface: Any, part: Part) -> bool:
    """Tell whether a source's surface is what its text says: a .blend can come from a stranger."""
    pairs = ((surface.triangles, part.triangles), (surface.codes, part.codes), (surface.uvs, part.uvs))
    scaled = bool((surface.scale == STEP).all()) and not surface.offset.any()
    colors = surface.facts.get("colors") is part.colors is None
    if "colors" in surface.facts and part.colors is not None:
        colors = np.array_equal(surface.facts["colors"], part.colors)
    return scaled and colors and all(np.array_equal(one, other) for one, other in pairs)


@dataclass(eq=False)
class Settled:
    """A surface as the file says it: V vertices."""

    surface: Surface
    codes: NDArray[np.int64]  # (V, 4)
    colors: NDArray[np.float32] | None = None  # (V, 4) the file's where these are as good as the same
    sets: Sets = field(default_factory=Sets)
    part: Part | None = None
    own: CodedSource | None = None

    @property
    def shader(self) -> str:
        """Return the name of its material."""
        return self.surface.shaders[0] if self.surface.shaders else ""

    def is_whole(self, source: ModelSource) -> bool:
        """Tell whether it has the faces and vertices that it has in its file, in their order."""
        return self.part is not None and is_whole(self.surface, self.part.triangles, source)


def from_model(model: VertexModel, options: Mapping[str, Any]) -> Ase:
    """Return the file of a model that `conform` gave; inverse of `to_model`. No option changes it.

    Raises:
        LimitError: a position or texture coordinate that is no number, or beyond all; the sentence names the surface.
    """
    source = own_source(model, FORMAT)
    known = _known(source, model.name)
    settled = [_settle(model, surface, source) for surface in model.surfaces]
    faint = [
        each.surface.name for each in settled if each.colors is not None and (each.colors[:, 3] < 1.0 - SHADE).any()
    ]
    if faint:
        log.warning("ASE holds no opacity of colours of vertices: left out of %s", listed(faint))
    writing = _Writing(known)
    if known is not None and source is not None:
        say_strangers(model, source)
        _claim(settled, source, known)
    for each in settled:
        each.sets = _sets(each, known, source)
    if known is not None and source is not None:
        for number, shape in enumerate(known.shapes):
            own = [each for each in settled if each.part is not None and each.part.number == number]
            writing.edit(shape, known.parts[number], own, source)
    for each in settled:
        if each.part is None:
            writing.add(each)
    return read(writing.text())


def _claim(settled: list[Settled], source: ModelSource, known: Known) -> None:
    """Tell each surface which part of the file it is: a copy of one that was there before is none."""
    taken = set()
    for each in settled:
        index = each.surface.source_index
        if index in known.owners and index not in taken:
            taken.add(index)
            shape, part = known.owners[index]
            own = source.surfaces[index]
            assert isinstance(own, CodedSource)
            each.part, each.own = known.parts[shape][part], own


def _sets(each: Settled, known: Known | None, source: ModelSource | None) -> Sets:
    """Return the sets of texture coordinates of a surface, by their channels."""
    surface, before = each.surface, dict[str, NDArray[np.float32]]()
    if known is not None and source is not None:
        owners, parts = known.owners, known.parts
        held = {index: parts[shape][part].further for index, (shape, part) in owners.items()}
        before = known_further(surface, source, lambda index: held.get(index, {}))
    further = settle_further(surface, before, SCALE)
    mesh = None if each.part is None or known is None else known.shapes[each.part.number].mesh
    sets = numbered(surface.uv_name, further, mesh, before)
    say_numbers(surface.name, surface.uv_name, sets, further)
    return sets


def _settle(model: VertexModel, surface: Surface, source: ModelSource | None) -> Settled:
    """Return a surface with the codes of its vertices: the source's where they still say the same."""
    codes = settle(model, surface, source, SCALE)
    colors = None if surface.colors is None else surface.colors.copy()
    if source is None or colors is None or surface.source_vertices is None:
        return Settled(surface, codes, colors)
    for part, places, own in source.vertex_parts(surface.source_vertices):
        known = part.facts.get("colors")
        if known is not None and known.shape == (part.num_vertices, 4):
            same = (np.abs(colors[places] - known[own]) <= SHADE).all(axis=1)
            colors[places[same]] = known[own[same]]
    return Settled(surface, codes, colors)


class _Writing:
    """A file that is written: the text that was there, and what changes in it."""

    def __init__(self, known: Known | None) -> None:
        self.ase = Ase(HEAD) if known is None else known.ase
        self.edits = Edits(self.ase.text)
        self.refs = {shader_of(m): i for i, m in reversed(list(enumerate(self.ase.materials))) if not m.parts}
        self.new: list[str] = []
        self.blocks: list[bytes] = []

    def ref(self, shader: str) -> int:
        """Return the number of a material of that name: one that is there, or a new one."""
        found = self.refs.get(shader)
        if found is None or (found < len(self.ase.materials) and not self._tiles(found)):
            found = self.refs[shader] = len(self.ase.materials) + len(self.new)
            self.new.append(shader)
        return found

    def _tiles(self, ref: int) -> bool:
        return bool(self.ase.materials[ref].u_tiling and self.ase.materials[ref].v_tiling)

    def material(self, ref: int) -> Material | None:
        """Return the material of a number that was there."""
        return self.ase.materials[ref] if ref < len(self.ase.materials) else None

    def add(self, each: Settled) -> None:
        """Write a surface as an object of its own."""
        ref = self.ref(each.shader)
        self.blocks.append(object_text(each.surface.name, _new_mesh(each, None, self.material(ref)), ref))

    def edit(self, shape: Object, parts: list[Part], own: list[Settled], source: ModelSource) -> None:
        """Write what of an object changed; `own` are those of its parts that are still there."""
        whole = len(own) == len(parts) and all(each.is_whole(source) for each in own)
        renamed = [each for each in own if each.own is not None and each.surface.shaders[:1] != each.own.shaders]
        if len(parts) > 1 and (not whole or renamed):
            for each in own:
                each.part = None
            own = []
        if not own:
            self._remove(shape)
            return
        if renamed:
            self._wear(shape, renamed[0])
        name = own[0].surface.name
        if own[0].own is not None and name != own[0].own.name:
            for start, end in shape.name_spans:
                self.edits.put(start, end, b'"%s"' % quoted(name).encode())
        if whole and not renamed and _patched(self.edits, shape, own, self.material(shape.ref)):
            return
        if len(parts) > 1:
            for each in own:
                each.part = None
            self._remove(shape)
            return
        self._replace(shape, own[0])

    def _remove(self, shape: Object) -> None:
        start, end = shape.span
        end += self.ase.text[end : end + 1] == b"\n"
        self.edits.drop(start, end)

    def _wear(self, shape: Object, each: Settled) -> None:
        """Write which material an object wears now."""
        ref = self.ref(each.shader)
        if shape.ref_span is not None:
            self.edits.put(*shape.ref_span, b"%d" % ref)
        else:
            end = shape.span[1] - 1
            self.edits.put(end, end, b"\t*MATERIAL_REF %d\n" % ref)
        shape.ref = ref

    def _replace(self, shape: Object, each: Settled) -> None:
        """Write the mesh of an object anew."""
        assert shape.mesh is not None
        if shape.mesh.cfaces is not None and each.colors is None:
            log.warning("'%s' is written anew, without its colors of vertices", shape.name)
        if shape.mesh.misfits:
            log.warning("'%s' is written anew, without texture coordinates that are none of its faces'", shape.name)
        mesh = _new_mesh(each, shape, self.material(shape.ref))
        self.edits.put(*shape.mesh.span, mesh_text(mesh))

    def text(self) -> bytes:
        """Return the file."""
        ase, added = self.ase, b"".join(self.blocks)
        if self.new and ase.list_end is not None:
            first = len(ase.materials)
            texts = [material_text(first + nth, shader) for nth, shader in enumerate(self.new)]
            self.edits.put(ase.list_end, ase.list_end, b"".join(texts))
            if ase.count_span is not None:
                self.edits.put(*ase.count_span, b"%d" % (first + len(self.new)))
        elif self.new:
            place = min((shape.span[0] for shape in ase.objects), default=len(ase.text))
            self.edits.put(place, place, materials_text(self.new))
        text = self.edits.applied()
        gap = b"\n" if added and not text.endswith(b"\n") else b""
        return text + gap + added


def _patched(edits: Edits, shape: Object, own: list[Settled], material: Material | None) -> bool:
    """Write the numbers of an object that changed, and nothing else; False where its vertices parted, or gained some.

    All parts have the faces and vertices of the file.
    """
    mesh, parts = shape.mesh, [each.part for each in own if each.part is not None]
    assert mesh is not None
    codes = np.concatenate([each.codes for each in own])
    old = np.concatenate([part.codes[0] for part in parts])
    uvs = np.concatenate([each.surface.uvs for each in own])
    shifted = (uvs != np.concatenate([part.uvs for part in parts])).any(axis=1)
    turned = codes[:, 3] != old[:, 3]
    if mesh.normals is None:
        turned &= np.concatenate([_own_normals(each) for each in own])
    points, tverts = (np.concatenate([getattr(part, name) for part in parts]) for name in ("points", "tverts"))
    moved = (codes[:, :3] != old[:, :3]).any(axis=1)
    if (mesh.normals is None and turned.any()) or (mesh.tfaces is None and shifted.any()):
        return False
    if moved.any() and _apart(points, codes[:, :3]):
        return False
    if shifted.any() and _apart(tverts, uvs):
        return False
    sets = in_mesh([(part.faces, each.sets) for part, each in zip(parts, own, strict=True)], len(mesh.faces))
    if sets is None or not can_patch(mesh, sets) or not _patched_colors(edits, mesh, parts, own):
        return False
    patch_sets(edits, mesh, sets)
    found = unplaced(material, uvs) if shifted.any() else None
    if shifted.any() and found is None:
        log.warning("'%s' has a material that does not tile: its texture coordinates stay as they were", shape.name)
    elif found is not None and not (np.abs(found) <= LARGEST).all():
        raise LimitError(f"'{shape.name}' has texture coordinates beyond {LARGEST:g}, which ASE holds")
    which, first = np.unique(points[moved], return_index=True)
    new = codes[moved, :3][first]
    other = new != old[moved, :3][first]
    edits.millionths(mesh.points.spans[which][other], new[other])
    if found is not None:
        which, first = np.unique(tverts[shifted], return_index=True)
        new_uvs, before = found[shifted][first], mesh.tverts.values[which, :2]
        other = np.abs(new_uvs - before) > NEAR_UV * np.maximum(np.abs(before), 1.0)
        edits.numbers(mesh.tverts.spans[which, :2][other], new_uvs[other])
    if mesh.normals is not None and mesh.face_normals is not None and (moved.any() or turned.any()):
        _patch_normals(edits, shape, own, turned, moved)
    return True


def _patched_colors(edits: Edits, mesh: Mesh, parts: list[Part], own: list[Settled]) -> bool:
    """Write the colours that changed; False where vertices of one row have several, or there are no rows."""
    now, before = [], []
    for part, each in zip(parts, own, strict=True):
        known = np.ones((len(each.codes), 4), np.float32) if part.colors is None else part.colors
        now.append(known if each.colors is None else each.colors)
        before.append(known)
    colors = np.concatenate(now)[:, :3].astype(np.float64)
    painted = (colors != np.concatenate(before)[:, :3]).any(axis=1)
    if not painted.any():
        return True
    rows = np.concatenate([part.cverts for part in parts])
    if mesh.cfaces is None or _apart(rows, colors):
        return False
    which, first = np.unique(rows[painted], return_index=True)
    edits.millionths(mesh.colors.spans[which].reshape(-1, 2), _millionths(colors[painted][first]))
    return True


def _patch_normals(
    edits: Edits, shape: Object, own: list[Settled], turned: NDArray[np.bool_], moved: NDArray[np.bool_]
) -> None:
    """Write the normals of corners whose vertices' did turn, and of faces a vertex of which moved."""
    mesh, start = shape.mesh, 0
    assert mesh is not None and mesh.normals is not None and mesh.face_normals is not None
    for each in own:
        assert each.part is not None
        triangles, faces = each.part.triangles, each.part.faces
        end = start + len(each.codes)
        corners = turned[start:end][triangles]
        rows = (faces[:, None] * 3 + np.arange(3))[corners]
        values = unturned(shape, decode_normals(each.codes[triangles[corners], 3]))
        edits.millionths(mesh.normals.spans[rows].reshape(-1, 2), _millionths(values))
        sides = moved[start:end][triangles].any(axis=1)
        values = unturned(shape, _face_normals(each, sides))
        edits.millionths(mesh.face_normals.spans[faces[sides]].reshape(-1, 2), _millionths(values))
        start = end


def _millionths(values: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.rint(values.ravel() * MILLION).astype(np.int64)


def _own_normals(each: Settled) -> NDArray[np.bool_]:
    own = each.surface.own_normals
    return np.zeros(len(each.codes), np.bool_) if own is None else own


def _apart(rows: NDArray[np.int64], values: NDArray[Any]) -> bool:
    """Tell whether vertices that have one row of the file differ in its values (n, k)."""
    _, first, inverse = np.unique(rows, return_index=True, return_inverse=True)
    return bool((values != values[first][inverse.reshape(-1)]).any())


def _face_normals(each: Settled, faces: Any) -> NDArray[np.float64]:
    """Return the normals of some faces, (n, 3)."""
    a, b, c = each.surface.positions[0].astype(np.float64)[each.surface.triangles[faces]].transpose(1, 0, 2)
    found = steady.crossed(b - a, c - a)
    lengths = steady.lengths(found)[:, None]
    return np.where(lengths > 0, found / np.where(lengths > 0, lengths, 1.0), (0.0, 0.0, 1.0))


def _new_mesh(each: Settled, shape: Object | None, material: Material | None) -> NewMesh:
    """Return a surface as a mesh that is written anew, for an object whose `*NODE_TM` is kept, or a new one."""
    shape = Object((0, 0)) if shape is None else shape
    tverts = unplaced(material, each.surface.uvs)
    if tverts is None:
        tverts = unplaced(None, each.surface.uvs)
    assert tverts is not None
    if not (np.abs(tverts) <= LARGEST).all():
        raise LimitError(f"'{each.surface.name}' has texture coordinates beyond {LARGEST:g}, which ASE holds")
    return NewMesh(
        each.codes[:, :3] / MILLION,
        tverts,
        each.surface.triangles,
        unturned(shape, decode_normals(each.codes[:, 3])),
        unturned(shape, _face_normals(each, slice(None))),
        each.colors,
        each.sets.drawn,
        each.sets.further,
    )
