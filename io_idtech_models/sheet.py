"""What a model holds, as plain values and as the lines that `info` prints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .formats import AnimationFormat, AnyFormat, SkeletalFormat
from .model.skeletal import Animation, SkeletalModel
from .model.vertex import VertexModel
from .model.words import plural


def facts(row: AnyFormat, model: Any) -> dict[str, Any]:
    """Return what `info` shows of a model or an animation, as plain values."""
    if isinstance(row, SkeletalFormat):
        return {"format": row.name} | _skeletal_facts(model)
    if isinstance(row, AnimationFormat):
        return {"format": row.name} | _animation_facts(model)
    return {"format": row.name} | _vertex_facts(model)


def _joint_facts(names: list[str], parents: list[int]) -> list[dict[str, Any]]:
    return [{"name": name, "parent": parent} for name, parent in zip(names, parents, strict=True)]


def _skeletal_facts(model: SkeletalModel) -> dict[str, Any]:
    meshes = [
        {
            "name": mesh.name,
            "vertices": mesh.num_vertices,
            "triangles": len(mesh.triangles),
            "weights": len(mesh.weights.joints),
            "shader": mesh.shader,
        }
        for mesh in model.meshes
    ]
    return {"joints": _joint_facts(model.skeleton.names, model.skeleton.parents.tolist()), "meshes": meshes}


def _animation_facts(animation: Animation) -> dict[str, Any]:
    joints = _joint_facts(animation.joint_names, animation.parents.tolist())
    return {"frames": animation.num_frames, "frame_rate": animation.frame_rate, "joints": joints}


def _vertex_facts(model: VertexModel) -> dict[str, Any]:
    boxes = [(s.positions[0].min(axis=0), s.positions[0].max(axis=0)) for s in model.surfaces if s.num_vertices]
    surfaces = [
        {
            "name": surface.name,
            "vertices": surface.num_vertices,
            "triangles": len(surface.triangles),
            "shaders": surface.shaders,
        }
        for surface in model.surfaces
    ]
    return {
        "frames": model.num_frames,
        "frame_names": model.frame_names,
        "animations": [{"name": a.name, "first": a.first, "count": a.count} for a in model.animations],
        "skin_size": model.texture_size,
        "mins": [min(float(low[i]) for low, _ in boxes) for i in range(3)] if boxes else None,
        "maxs": [max(float(high[i]) for _, high in boxes) for i in range(3)] if boxes else None,
        "surfaces": surfaces,
        "tags": [{"name": tag.name, "origin": [float(x) for x in tag.origins[0]]} for tag in model.tags],
    }


def table(path: Path, found: dict[str, Any]) -> list[str]:
    """Return the lines that `info` prints of a model or an animation."""
    return _skeletal_table(path, found) if "joints" in found else _vertex_table(path, found)


def _skeletal_table(path: Path, found: dict[str, Any]) -> list[str]:
    joints = found["joints"]
    motion = f", {plural(found['frames'], 'frame')} at {found['frame_rate']:g} per second" if "frames" in found else ""
    lines = [f"{path}: {found['format'].upper()}, {plural(len(joints), 'joint')}{motion}"]
    meshes = found.get("meshes", [])
    if meshes:
        width = max(len("mesh"), *(len(m["name"]) for m in meshes))
        lines.append(f"  {'mesh':{width}}  vertices  triangles  weights  shader")
        lines += [
            f"  {m['name']:{width}}  {m['vertices']:8}  {m['triangles']:9}  {m['weights']:7}  {m['shader'] or '-'}"
            for m in meshes
        ]
    depths: list[int] = []
    for joint in joints:
        depths.append(depths[joint["parent"]] + 1 if joint["parent"] >= 0 else 1)
    return [*lines, *(f"{'  ' * depth}{j['name']}" for j, depth in zip(joints, depths, strict=True))]


def _vertex_table(path: Path, found: dict[str, Any]) -> list[str]:
    surfaces, tags, listed = found["surfaces"], found["tags"], found["frame_names"]
    ends = f" ({listed[0]} ... {listed[-1]})" if len(listed) > 1 else ""
    lines = [f"{path}: {found['format'].upper()}, {plural(found['frames'], 'frame')}{ends}"]
    if found["mins"]:
        low, high = (" ".join(f"{x:.2f}" for x in found[side]) for side in ("mins", "maxs"))
        lines.append(f"  first frame from ({low}) to ({high})")
    if found["skin_size"]:
        lines.append("  skin of {} x {} texels".format(*found["skin_size"]))
    if surfaces:
        width = max(len("surface"), *(len(s["name"]) for s in surfaces))
        lines.append(f"  {'surface':{width}}  vertices  triangles  shaders")
        for s in surfaces:
            shaders = ", ".join(s["shaders"]) or "-"
            lines.append(f"  {s['name']:{width}}  {s['vertices']:8}  {s['triangles']:9}  {shaders}")
    if tags:
        width = max(len("tag"), *(len(t["name"]) for t in tags))
        lines.append(f"  {'tag':{width}}  origin in the first frame")
        lines += [f"  {t['name']:{width}}  {' '.join(f'{x:.2f}' for x in t['origin'])}" for t in tags]
    return [*lines, *_animation_lines(found["animations"])]


def _animation_lines(animations: list[dict[str, Any]]) -> list[str]:
    if not animations:
        return []
    width = max(len("animation"), *(len(a["name"]) for a in animations))
    ranges = [f"  {a['name']:{width}}  {a['first']} - {a['first'] + a['count'] - 1}" for a in animations]
    return [f"  {'animation':{width}}  frames", *ranges]
