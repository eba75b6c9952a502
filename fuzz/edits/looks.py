"""What faces wear, how they are lit, and what hangs on a model: does a file show of these what Blender shows?

As in `judge`, things are matched by place alone: each corner of a face that Blender shows has to have a corner of the
file where it lies, with its texture coordinates, its shader, and a normal that is about its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy as blender
import numpy as np
from numpy.typing import NDArray

from fuzz.edits.held import Frames, Points
from io_idtech_models.blender import names
from io_idtech_models.blender.mesh import attributes
from io_idtech_models.blender.skeletal.armature import joint_name
from io_idtech_models.blender.takes import used_actions
from io_idtech_models.formats import VERTEX, Format
from io_idtech_models.model.weights import skin_by

bpy: Any = blender
UV_PART = 1e-3  # of the largest texture coordinate: how far off those of a file may be
PIXELS = {"md2", "mdl"}  # which have their texture coordinates in whole pixels
ONE_SHADER = {"md2", "mdl"}  # whose faces all wear the same
SHADE = 0.01  # of a colour's part, from 0 to 1
# Degrees that codes of normals may be off; formats that are not here have none, or none that an export makes.
TURNED = {"md3": 7.0, "mdc": 12.0, "md2": 15.0, "mdl": 15.0, "iqm": 20.0, "mdm": 20.0, "mds": 20.0, "mdr": 20.0}
THIN = 1e-3  # a triangle's height, as a part of its longest side
SQUARE, TWISTED = 0.01, 0.05  # of a tag's axes
ROUNDED = 1e-4  # of where a tag stands: what is lost on ways through other spaces
MOVED = 1e-3  # of the farthest coordinate: by which most points are off in another frame
ALIKE = 0.999  # of a cosine
BASE = "fuzz_base"  # attribute: where points are in the frame that Blender's normals were set for
FLAT = 1e-6  # what a scale does to a volume, where it leaves none
MOST_CORNERS = 120  # that are compared


@dataclass
class Corners:
    """Corners of faces in one frame: of a file, or as Blender shows them."""

    places: Points  # (n, 3)
    uvs: Points  # (n, 2); nan where there are none
    normals: Points  # (n, 3) unit; nan where there are none
    shaders: NDArray[Any]  # (n,) names
    colors: Points  # (n, 4); nan where there are none


def _joined(parts: list[Corners]) -> Corners:
    none = Corners(np.zeros((0, 3)), np.zeros((0, 2)), np.zeros((0, 3)), np.zeros(0, object), np.zeros((0, 4)))
    every = [none, *parts]
    return Corners(
        np.concatenate([each.places for each in every]),
        np.concatenate([each.uvs for each in every]),
        np.concatenate([each.normals for each in every]),
        np.concatenate([each.shaders for each in every]),
        np.concatenate([each.colors for each in every]),
    )


def held(frames: Frames, frame: int) -> Corners:
    """Return the corners that a file has in a frame."""
    model, parts = frames.assets[0].model, []
    if frames.row.family is VERTEX:
        for surface in model.surfaces:
            nth = min(frame, len(surface.positions) - 1)
            normals = surface.some_normals(np.array([nth]))
            lit = None if normals is None else normals[0]
            shader = surface.shaders[0] if surface.shaders else ""
            parts.append(_corners(surface, surface.positions[nth], surface.corner_uvs, shader, lit))
        return _joined(parts)
    return bent(frames, frames.pose(frame))


def bent(frames: Frames, place: tuple[Points, Points], resting: bool = False) -> Corners:
    """Return the corners of a file's meshes while joints stand and turn as `place` says, see `Frames.pose`.

    With the normals of vertices that but one joint moves, which turns them; `resting`: of all, for it is as at rest.
    """
    parts = []
    for mesh in (mesh for mesh in frames.assets[0].model.meshes if not mesh.level):
        places, axes, normals = skin_by(mesh.weights, *place), place[1], None
        if mesh.normals is not None and len(axes):
            normals = np.einsum("nij,nj->ni", axes[mesh.weights.first_joints()], mesh.normals)
            normals /= np.maximum(np.sqrt((normals**2).sum(axis=1)), 1e-12)[:, None]
            normals[mesh.weights.counts == 0] = np.nan
            if not resting:
                normals[mesh.weights.counts > 1] = np.nan
        parts.append(_corners(mesh, places, mesh.uvs[mesh.triangles], mesh.shader, normals))
    return _joined(parts)


def _corners(part: Any, places: Any, uvs: Any, shader: str, normals: Any) -> Corners:
    flat = np.asarray(part.triangles).reshape(-1)
    count = len(flat)
    return Corners(
        np.asarray(places, np.float64)[flat].reshape(-1, 3),
        np.asarray(uvs, np.float64).reshape(-1, 2),
        np.full((count, 3), np.nan) if normals is None else np.asarray(normals, np.float64)[flat].reshape(-1, 3),
        np.full(count, shader, object),
        np.full((count, 4), np.nan)
        if part.colors is None
        else np.asarray(part.colors, np.float64)[flat].reshape(-1, 4),
    )


def note_base(block: Any) -> None:
    """Let a mesh with frames remember where its points are in the first: the normals that Blender has are of that."""
    if block.type == "MESH" and block.data.shape_keys is not None:
        attributes.set_attribute(block.data, BASE, "FLOAT_VECTOR", "POINT", attributes.positions(block.data))


def shown(blocks: list[Any], space_of: Callable[[Any, Any], Points]) -> Corners:
    """Return the corners that Blender shows now, each object's in its model's space."""
    graph = bpy.context.evaluated_depsgraph_get()
    parts = []
    for block in blocks:
        mesh = block.evaluated_get(graph).data
        count = len(mesh.loops)
        if not count:
            continue
        places, normals = np.empty((len(mesh.vertices), 3), np.float32), np.empty((count, 3), np.float32)
        corners, uvs = np.empty(count, np.int32), np.full((count, 2), np.nan, np.float32)
        mesh.attributes["position"].data.foreach_get("vector", places.ravel())
        mesh.attributes[".corner_vert"].data.foreach_get("value", corners)
        mesh.corner_normals.foreach_get("vector", normals.ravel())
        for layer in (layer for layer in mesh.uv_layers if layer.active_render):
            layer.uv.foreach_get("vector", uvs.ravel())
        space = space_of(block, graph)
        turned = np.full((count, 3), np.nan)
        if _shows_its_base(block, places, normals) and abs(np.linalg.det(space[:3, :3])) > FLAT:
            turned = normals.astype(np.float64) @ np.linalg.inv(space[:3, :3])
            lengths = np.sqrt((turned**2).sum(axis=1))
            turned /= np.where(lengths > 0, lengths, np.nan)[:, None]  # there is none where faces cancel out
            turned[_unsteady(block, normals)] = np.nan
        slots, totals = np.empty(len(mesh.polygons), np.int32), np.empty(len(mesh.polygons), np.int32)
        mesh.polygons.foreach_get("material_index", slots)
        mesh.polygons.foreach_get("loop_total", totals)
        worn = [slot.material for slot in block.evaluated_get(graph).material_slots] or list(mesh.materials) or [None]
        called = np.array(["" if m is None else names.file_name_of(m) for m in worn], object)
        parts.append(
            Corners(
                places[corners].astype(np.float64) @ space[:3, :3].T + space[:3, 3],
                uvs.astype(np.float64),
                turned,
                np.repeat(called[np.clip(slots, 0, len(called) - 1)], totals),
                _painted(mesh, corners),
            )
        )
    return _joined(parts)


def _painted(mesh: Any, corners: NDArray[np.int32]) -> Points:
    """Return the colours of corners, (n, 4), of the layer that is rendered."""
    layers, found = mesh.color_attributes, np.full((len(corners), 4), np.nan)
    if 0 <= layers.render_color_index < len(layers):
        layer = layers[layers.render_color_index]
        values: NDArray[np.float32] = np.empty((len(layer.data), 4), np.float32)
        layer.data.foreach_get("color_srgb", values.ravel())
        found[:] = values if layer.domain == "CORNER" else values[corners]
    return found


def _shows_its_base(block: Any, places: NDArray[np.float32], normals: NDArray[np.float32]) -> bool:
    """Tell whether an object, at `places`, shows the frame that its normals belong to, most of them as at first.

    Of what is animated the normals of other frames are a file's own, and of what is posed each game's.
    """
    keys = block.data.shape_keys
    if keys is None and block.find_armature() is None:
        return True
    base: NDArray[np.float32] = np.empty((len(block.data.vertices), 3), np.float32)
    block.data.attributes["position"].data.foreach_get("vector", base.ravel())
    if base.shape != places.shape or not np.allclose(base, places, atol=1e-4):
        return False
    if keys is None:
        return True
    noted = attributes.get_attribute(block.data, BASE, "FLOAT_VECTOR", "POINT")
    if noted is not None and np.median(np.abs(noted - base).max(axis=1)) > MOVED * max(1.0, float(np.abs(base).max())):
        return False  # another frame is the first by now
    first = attributes.get_attribute(block.data, attributes.SHOWN_NORMAL, "FLOAT_VECTOR", "CORNER")
    if first is None or first.shape != normals.shape:
        return True
    return bool(np.median((first * normals).sum(axis=1)) > ALIKE)


def _unsteady(block: Any, normals: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Tell which corners show other normals as an armature has them, in the pose in which they were set.

    These of faces between points at one place are what the last digit makes of them.
    """
    if block.find_armature() is None or len(block.data.loops) != len(normals):
        return np.zeros(len(normals), np.bool_)
    own = np.empty_like(normals)
    block.data.corner_normals.foreach_get("vector", own.ravel())
    return np.asarray((own * normals).sum(axis=1) < ALIKE)


def has_flat_faces(row: Format, path: Path) -> bool:
    """Tell whether some triangle of a file with vertices that move has no area at first."""
    if row.family is not VERTEX:
        return False
    for surface in row.load(path.read_bytes(), "a").surfaces:
        a, b, c = np.asarray(surface.positions[0], np.float64)[surface.triangles].transpose(1, 0, 2)
        sides = np.stack([((p - q) ** 2).sum(axis=1) for p, q in ((a, b), (b, c), (c, a))])
        if (np.sqrt((np.cross(b - a, c - a) ** 2).sum(axis=1)) <= THIN * sides.max(axis=0)).any():
            return True
    return False


@dataclass
class Off:
    """What of a file is off, in words: "" if nothing is."""

    uvs: str = ""
    shaders: str = ""
    normals: str = ""
    hung: str = ""
    colors: str = ""

    @property
    def any(self) -> bool:
        """Tell whether anything is."""
        return bool(self.uvs or self.shaders or self.normals or self.hung or self.colors)


@dataclass(frozen=True)
class Slack:
    """How far what is compared may be off."""

    places: float  # units
    uvs: Points  # (2,)
    degrees: float | None  # of normals; None: these are not compared
    shaders: bool = True  # whether these are compared
    colors: bool = False


def unlike(there: Corners, here: Corners, slack: Slack) -> Off:
    """Return what corners that are here have not there; places are judged elsewhere."""
    found = Off()
    for nth in range(0, len(here.places), max(1, len(here.places) // MOST_CORNERS)):
        if not np.isfinite(here.places[nth]).all() or np.isnan(here.normals[nth]).any():
            continue  # of a face without area
        near = np.sqrt(((there.places - here.places[nth]) ** 2).sum(axis=1)) <= 2 * slack.places
        alike = near
        if np.isfinite(here.uvs[nth]).all():
            alike = near & (np.abs(there.uvs - here.uvs[nth]) <= slack.uvs).all(axis=1)
        where = ", ".join(f"{value:.3g}" for value in here.places[nth])
        if near.any() and not alike.any():
            found.uvs = f"texture coordinates {here.uvs[nth].round(4)} at {where}: {there.uvs[near][:3].round(4)}"
        if slack.shaders and alike.any() and not (there.shaders[alike] == here.shaders[nth]).any():
            found.shaders = f"shader '{here.shaders[nth]}' at {where}: {sorted(set(there.shaders[alike]))[:3]}"
        if slack.colors and alike.any() and np.isfinite(here.colors[nth]).all():
            held = np.nan_to_num(there.colors[alike], nan=1.0)  # games show what has none as if it was white
            if np.abs(held - here.colors[nth]).max(axis=1).min() > SHADE:
                found.colors = f"a colour {here.colors[nth].round(3)} at {where}: {there.colors[alike][:3].round(3)}"
        cosines = there.normals[near] @ here.normals[nth]
        if slack.degrees is not None and near.any() and np.isfinite(cosines).all():
            turned = float(np.degrees(np.arccos(np.clip(cosines.max(), -1, 1))))
            if turned > slack.degrees:
                found.normals = f"a normal at {where} that is {turned:.3g} degrees off"
    return found


def slack_of(here: Corners, allowed: float, row: Format | None = None, size: tuple[int, int] | None = None) -> Slack:
    """Return how far what a format writes may be off, whose pictures are of some `size` (None: of any format)."""
    largest = max(1.0, float(np.abs(here.uvs[np.isfinite(here.uvs)]).max(initial=0.0)))
    step = np.full(2, UV_PART * largest)
    if row is not None and row.name in PIXELS and size is not None:
        step = np.maximum(0.75 / np.maximum(size, 1), step)
    degrees = max(TURNED.values()) if row is None else TURNED.get(row.name)
    colors = row is not None and (row.vertex.colors or row.skeletal.colors)
    return Slack(allowed, step, degrees, row is None or row.name not in ONE_SHADER, colors)


def off(frames: Frames, frame: int, blocks: list[Any], space_of: Callable[[Any, Any], Points], allowed: float) -> Off:
    """Compare a frame of a file with what Blender shows now."""
    here = shown(blocks, space_of)
    slack = slack_of(here, allowed, frames.row, getattr(frames.assets[0].model, "texture_size", None))
    return unlike(held(frames, frame), here, slack)


def off_at_rest(frames: Frames, blocks: list[Any], space_of: Callable[[Any, Any], Points], allowed: float) -> Off:
    """Compare a file's meshes, as they are bound to joints, with what Blender shows of them without a pose."""
    rigs = [(block.data, block.data.pose_position) for block in bpy.context.scene.objects if block.type == "ARMATURE"]
    for data, _ in rigs:
        data.pose_position = "REST"
    bpy.context.view_layer.update()
    here, there = shown(blocks, space_of), bent(frames, frames.rest(), resting=True)
    for data, position in rigs:
        data.pose_position = position
    bpy.context.view_layer.update()
    far = [np.sqrt(((there.places - own) ** 2).sum(axis=1)).min(initial=np.inf) for own in here.places]
    if max(far, default=0.0) > allowed / 10:
        return Off()  # the file has no rest, and Blender's is none of its
    return unlike(there, here, slack_of(here, allowed, frames.row))


def hung_off(frames: Frames, frame: int, space_of: Callable[[Any, Any], Points], allowed: float) -> str:
    """Return which tag or joint stands elsewhere than its empty or bone, in words; "" if none."""
    graph = bpy.context.evaluated_depsgraph_get()
    if frames.row.family is VERTEX:
        return _tag_off(frames, frame, lambda block: space_of(block, graph), allowed)
    skeleton, (places, _) = frames.assets[0].model.skeleton, frames.pose(frame)
    number = {name: nth for nth, name in enumerate(skeleton.names)}
    for rig in (b for b in bpy.context.scene.objects if b.type == "ARMATURE" and used_actions(b)):
        space = space_of(rig, graph)
        for bone in rig.evaluated_get(graph).pose.bones:
            nth = number.get(joint_name(rig.data.bones[bone.name]), -1)
            head = space[:3, :3] @ np.array(bone.head, np.float64) + space[:3, 3]
            if nth >= 0 and np.sqrt(((places[nth] - head) ** 2).sum()) > 2 * allowed:
                return f"joint '{bone.name}' is {np.sqrt(((places[nth] - head) ** 2).sum()):.3g} units off in {frame}"
    return ""


def _tag_off(frames: Frames, frame: int, place_of: Callable[[Any], Points], allowed: float) -> str:
    """Return which tag of a file stands where no empty of its name does, in words; "" if none."""
    empties = [block for block in bpy.context.scene.objects if block.type == "EMPTY" and block.visible_get()]
    for tag in frames.assets[0].model.tags:
        nth = min(frame, len(tag.origins) - 1)
        unit = _unit_rows(np.asarray(tag.axes[nth], np.float64))
        square = np.abs(unit @ unit.T - np.eye(3)).max() < SQUARE  # others Blender shows as near as it can
        found = []
        for place in (place_of(block) for block in empties if names.file_name_of(block) == tag.name):
            far = float(np.sqrt(((place[:3, 3] - tag.origins[nth]) ** 2).sum()))
            far -= ROUNDED * float(np.abs(place[:3, 3]).max())  # some samples' stand where single precision ends
            twist = float(np.abs(_unit_rows(place[:3, :3].T) - unit).max()) if square else 0.0
            found.append((far > 2 * allowed or twist > TWISTED, f"{far:.3g} units and {twist:.3g} of its axes"))
        if not found:
            return f"tag '{tag.name}' is none in Blender"
        if all(is_off for is_off, _ in found):
            return f"tag '{tag.name}' is off in frame {frame}: {found[0][1]}"
    return ""


def _unit_rows(axes: Points) -> Points:
    return np.asarray(axes / np.maximum(np.sqrt((axes**2).sum(axis=1)), 1e-12)[:, None])
