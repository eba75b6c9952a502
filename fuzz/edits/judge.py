"""Does a file show what Blender shows? By the project's codecs and the engines' formulas, without the export's code.

Vertices are matched by place alone: each point of a face that Blender shows has to lie on a vertex of some one frame of
the file, and each vertex of that frame on such a point.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import bpy as blender
import numpy as np
from numpy.typing import NDArray

from fuzz.edits import looks
from fuzz.edits.held import Frames, Points
from io_idtech_models.blender.provenance import PART as ROOT
from io_idtech_models.blender.takes import used_actions
from io_idtech_models.formats import VERTEX, Format

bpy: Any = blender
LOOKS = 4  # frames of the scene
PART = 4e-3  # of what is shown: how far off codes may be
GRIDS = {"md2": 1.2e-2, "mdl": 1.2e-2}  # whose places are bytes
MOST_POINTS, FEW_POINTS = 200, 12  # that are compared; to find out which frame it is
LEAST = 1.0 / 16  # units


@dataclass
class Verdict:
    """How far a file is off, in units, in which frame of the scene, and what it may be off."""

    far: float = 0.0
    frame: int = 0
    allowed: float = 0.0
    edges: str = ""  # which edge of a face it lacks
    uvs: str = ""  # what of its texture coordinates is off, of formats that hold several sets
    looks: looks.Off = field(default_factory=looks.Off)

    @property
    def is_off(self) -> bool:
        """Tell whether the file shows something else."""
        return not self.far <= self.allowed


def world_of(block: Any, graph: Any) -> Points:
    """Return where Blender shows an object in the world, (4, 4)."""
    return np.array(block.evaluated_get(graph).matrix_world, np.float64)


def _root_of(block: Any) -> Any:
    """Return the root that carries an object, or else an armature that bends it; None if none does."""
    root = block.parent
    while root is not None and not isinstance(root.get(ROOT), str):
        root = root.parent
    rigs = (each.object for each in block.modifiers if each.type == "ARMATURE" and each.object is not None)
    return root or next(filter(None, map(_root_of, rigs)), None)


@contextmanager
def no_roots() -> Iterator[None]:
    """Let models lie in the world for a while, not in the space of a root."""
    marks = [(block, block[ROOT]) for block in bpy.data.objects if ROOT in block]
    for block, _ in marks:
        del block[ROOT]
    try:
        yield
    finally:
        for block, mark in marks:
            block[ROOT] = mark


def _has_root(block: Any) -> bool:
    return _root_of(block) is not None


def space_of(block: Any, graph: Any) -> Points:
    """Return what takes an object to where its model has it, (4, 4): into the world, or its root's space."""
    root = _root_of(block)
    world = world_of(block, graph)
    return world if root is None else np.asarray(np.linalg.inv(world_of(root, graph)) @ world)


def shown(frame: int, blocks: list[Any]) -> Points:
    """Return the points of faces that Blender shows of objects in a frame, in their models' spaces, (n, 3)."""
    scene = bpy.context.scene
    for each in range(min(scene.frame_start, frame), frame + 1):  # as it plays: simulations know no other way
        scene.frame_set(each)
    graph = bpy.context.evaluated_depsgraph_get()
    return points_of(blocks, graph, lambda block: space_of(block, graph))


def points_of(blocks: list[Any], graph: Any, place_of: Callable[[Any], Points]) -> Points:
    """Return the points of faces that Blender shows of objects now, (n, 3), each in its place, a matrix (4, 4)."""
    found: list[Points] = [np.zeros((0, 3))]
    for block in blocks:
        held = block.evaluated_get(graph)
        mesh = held.data
        places: NDArray[np.float32] = np.empty((len(mesh.vertices), 3), np.float32)
        corners = np.empty(len(mesh.loops), np.int32)
        if not len(corners):
            continue
        mesh.attributes["position"].data.foreach_get("vector", places.ravel())
        mesh.attributes[".corner_vert"].data.foreach_get("value", corners)
        place = place_of(block)
        found.append(places[np.unique(corners)].astype(np.float64) @ place[:3, :3].T + place[:3, 3])
    return np.concatenate(found)


def shown_edges(blocks: list[Any]) -> Points:
    """Return the middles of all edges of faces that Blender shows now, (n, 3)."""
    graph = bpy.context.evaluated_depsgraph_get()
    found: list[Points] = [np.zeros((0, 3))]
    for block in blocks:
        mesh = block.evaluated_get(graph).data
        if not len(mesh.loops):
            continue
        used, ends = np.empty(len(mesh.loops), np.int32), np.empty(2 * len(mesh.edges), np.int32)
        places: NDArray[np.float32] = np.empty((len(mesh.vertices), 3), np.float32)
        mesh.loops.foreach_get("edge_index", used)
        mesh.edges.foreach_get("vertices", ends)
        mesh.attributes["position"].data.foreach_get("vector", places.ravel())
        place = space_of(block, graph)
        middles = places[ends.reshape(-1, 2)[np.unique(used)]].astype(np.float64).mean(axis=1)
        found.append(middles @ place[:3, :3].T + place[:3, 3])
    return np.concatenate(found)


def edges_off(frames: Frames, frame: int, blocks: list[Any], allowed: float) -> str:
    """Return which edge of faces that Blender shows now a file lacks in a frame, in words; "" if none.

    Nobody sees where what lies flat is cut.
    """
    held, every = frames.triangles(frame), shown_edges(blocks)
    middles = ((held + np.roll(held, 1, axis=1)) / 2).reshape(-1, 3)
    every = every[np.isfinite(every).all(axis=1)]
    for row in every[:: max(1, len(every) // MOST_POINTS)]:
        off = np.sqrt(((middles - row) ** 2).sum(axis=1)).min(initial=np.inf)
        if off > 2 * allowed and not _lies_on(row, held, allowed):
            return f"an edge that the file lacks, around {', '.join(f'{value:.3g}' for value in row)}"
    return ""


def _lies_on(point: Points, triangles: Points, allowed: float) -> bool:
    """Tell whether a point (3,) lies on one of some triangles (n, 3, 3), as far as that is allowed."""
    a, sides = triangles[:, 0], triangles[:, 1:] - triangles[:, :1]  # (n, 2, 3)
    apart = point - a
    inner = np.einsum("nij,nkj->nik", sides, sides)
    solid = np.linalg.det(inner) > 0
    parts = np.linalg.solve(inner[solid], np.einsum("nij,nj->ni", sides[solid], apart[solid])[..., None])[..., 0]
    off = np.sqrt(((np.einsum("ni,nij->nj", parts, sides[solid]) - apart[solid]) ** 2).sum(axis=1))
    return bool(((parts >= 0).all(axis=1) & (parts.sum(axis=1) <= 1) & (off <= allowed)).any())


def shown_uvs(blocks: list[Any]) -> dict[bool, Points]:
    """Return places and texture coordinates (n, 5) of corners that Blender shows, by whether the map is rendered."""
    graph = bpy.context.evaluated_depsgraph_get()
    found: dict[bool, list[Points]] = {True: [np.zeros((0, 5))], False: [np.zeros((0, 5))]}
    for block in blocks:
        held = block.evaluated_get(graph)
        mesh, count = held.data, len(held.data.loops)
        if not count:
            continue
        places: NDArray[np.float32] = np.empty((len(mesh.vertices), 3), np.float32)
        corners = np.empty(count, np.int32)
        mesh.attributes["position"].data.foreach_get("vector", places.ravel())
        mesh.attributes[".corner_vert"].data.foreach_get("value", corners)
        world = space_of(block, graph)
        there = places[corners].astype(np.float64) @ world[:3, :3].T + world[:3, 3]
        for layer in mesh.uv_layers:
            uvs: NDArray[np.float32] = np.empty((count, 2), np.float32)
            layer.uv.foreach_get("vector", uvs.ravel())
            found[layer.active_render].append(np.concatenate((there, uvs), axis=1))
    return {rendered: np.concatenate(parts) for rendered, parts in found.items()}


def uvs_off(frames: Frames, blocks: list[Any], allowed: float) -> str:
    """Return what of the texture coordinates that Blender shows now a file has otherwise, in words; "" if nothing.

    Of corners that are one in Blender since triangles became a quad a file may have others, too.
    """
    surfaces = [surface for surface in frames.assets[0].model.surfaces if len(surface.triangles)]
    held: dict[bool, list[Points]] = {True: [np.zeros((0, 5))], False: [np.zeros((0, 5))]}
    for surface in surfaces:
        there = surface.positions[0][surface.triangles]
        for nth, uvs in enumerate((surface.corner_uvs, *surface.further_uvs.values())):
            for rendered in (
                (True, False) if nth == 0 else (False,)
            ):  # a set that says what is drawn may be no further one
                held[rendered].append(np.concatenate((there, uvs), axis=2).reshape(-1, 5))
    graph = bpy.context.evaluated_depsgraph_get()
    most = max((len(block.evaluated_get(graph).data.uv_layers) for block in blocks), default=0) - 1
    if any(len(surface.further_uvs) > max(most, 0) for surface in surfaces):
        return "more sets of texture coordinates than UV maps"
    for rendered, every in shown_uvs(blocks).items():
        there = np.concatenate(held[rendered])
        here = every[np.isfinite(every).all(axis=1)]
        if not len(here):
            continue
        scale = np.array([1.0] * 3 + [allowed / (looks.UV_PART * max(1.0, float(np.abs(here[:, 3:]).max())))] * 2)
        some = here[:: max(1, len(here) // MOST_POINTS)]
        off = [float(np.sqrt((((there - row) * scale) ** 2).sum(axis=1)).min(initial=np.inf)) for row in some]
        if max(off) > allowed:
            row = ", ".join(f"{value:.3g}" for value in some[int(np.argmax(off))])
            return f"texture coordinates{'' if rendered else ' that games do not draw'} that the file lacks: {row}"
    return ""


def apart(a: Points, b: Points, most: int = MOST_POINTS) -> float:
    """Return how far two sets of points are apart at most: from some of each to the nearest of the other."""
    if not len(a) or not len(b):
        return 0.0 if len(a) == len(b) else float("inf")
    worst = 0.0
    for here, there in ((a, b), (b, a)):
        some = here[:: max(1, len(here) // most)]
        nearest = np.sqrt(((some[:, None] - there[None]) ** 2).sum(axis=-1)).min(axis=1)
        worst = max(worst, float(nearest.max(initial=0.0)))
    return worst


def show_what_is_written(row: Format, blocks: list[Any], as_shown: bool = False) -> None:
    """Let Blender show what an export writes whatever shows: actions of bones as they play, keys that no one pinned.

    `as_shown`: of bones what the scene shows was asked for.
    """
    if row.family is not VERTEX and not as_shown:
        for rig in (block for block in bpy.data.objects if block.type == "ARMATURE" and used_actions(block)):
            rig.data.pose_position = "POSE"
    for block in blocks:
        block.show_only_shape_key = False


def judge(frames: Frames, blocks: list[Any], as_shown: bool = False) -> Verdict:
    """Compare a file with what the scene shows of objects in some of its frames; see `show_what_is_written`."""
    scene = bpy.context.scene
    before = scene.frame_current
    tags = [b for b in scene.objects if b.type == "EMPTY" and not isinstance(b.get(ROOT), str) and b.visible_get()]
    if len({_has_root(block) for block in (*blocks, *tags)}) > 1:
        return Verdict()  # what hangs on no root goes into the space of one as it stands now
    show_what_is_written(frames.row, blocks, as_shown)
    every = np.linspace(scene.frame_start, scene.frame_end, min(LOOKS, scene.frame_end - scene.frame_start + 1))
    worst, uvs, edges, seen, look, hung = Verdict(), "", "", False, looks.Off(), ""
    every_frame = [frames.points(int(n)) for n in np.linspace(0, frames.count - 1, min(frames.count, 8))]
    reach = [points for points in every_frame if len(points)]
    size = float(np.ptp(np.concatenate(reach), axis=0).max()) if reach else 0.0
    step = scene.frame_step
    for frame in sorted({scene.frame_start + (int(each) - scene.frame_start) // step * step for each in every}):
        points = shown(frame, blocks)
        allowed = max(LEAST, GRIDS.get(frames.row.name, PART) * size)
        guesses = [frame, frame - scene.frame_start, *range(frames.count)]
        far, elsewhere = float("inf"), ""
        for guess in dict.fromkeys(g for g in guesses if 0 <= g < frames.count):
            near = far == float("inf") or apart(points, frames.points(guess), FEW_POINTS) <= allowed
            own = apart(points, frames.points(guess)) if near else float("inf")
            far = min(far, own)
            # Of several frames that show the same points one has what hangs on the model where Blender shows it.
            elsewhere = looks.hung_off(frames, guess, space_of, allowed) if own <= allowed else elsewhere
            if far <= allowed and not elsewhere:
                break
        hung = hung or elsewhere
        if far - allowed > worst.far - worst.allowed:
            worst = Verdict(far, frame, allowed)
        if not seen and apart(points, frames.points(0)) <= allowed:
            edges, seen = edges_off(frames, 0, blocks, allowed), True
            look = looks.off(frames, 0, blocks, space_of, allowed)
            uvs = uvs_off(frames, blocks, allowed) if frames.row.vertex.further_uvs else ""
    scene.frame_set(before)
    if frames.row.family is not VERTEX and not look.any and not hung:
        look = looks.off_at_rest(frames, blocks, space_of, max(LEAST, PART * size))
    worst.uvs, worst.edges, worst.looks = uvs, edges, replace(look, hung=hung)
    return worst
