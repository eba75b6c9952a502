"""What a model holds, as plain values and as the lines that `info` prints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..formats import AnimationFormat, AnyFormat, SkeletalFormat
from ..model.skeletal import Animation, SkeletalModel, Traits
from ..model.vertex import VertexModel
from ..model.wording import plural


def facts(row: AnyFormat, model: Any) -> dict[str, Any]:
    """Return what `info` shows of a model or an animation, as plain values."""
    if isinstance(row, SkeletalFormat):
        return {"format": row.name} | _skeletal_facts(model)
    if isinstance(row, AnimationFormat):
        return {"format": row.name} | _animation_facts(model)
    return {"format": row.name} | _vertex_facts(model)


def _joint_facts(names: list[str], parents: list[int], traits: Traits | None = None) -> list[dict[str, Any]]:
    joints: list[dict[str, Any]] = [{"name": n, "parent": p} for n, p in zip(names, parents, strict=True)]
    if traits is not None:
        for joint, weight, flags in zip(joints, traits.torso_weights.tolist(), traits.flags.tolist(), strict=True):
            joint |= {"torso_weight": round(weight, 6), "flags": flags}
        if 0 <= traits.torso_parent < len(joints):
            joints[traits.torso_parent]["torso_parent"] = True
    return joints


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
    for shown, mesh in zip(meshes, model.meshes, strict=True):
        if mesh.min_lod is not None:
            shown["min_lod"] = mesh.min_lod
    skeleton = model.skeleton
    joints = _joint_facts(skeleton.names, skeleton.parents.tolist(), skeleton.traits)
    found: dict[str, Any] = {"joints": joints, "meshes": meshes}
    if model.lod is not None:
        found |= {"lod_scale": model.lod[0], "lod_bias": model.lod[1]}
    if model.tags:
        found["tags"] = [
            {"name": t.name, "joint": skeleton.names[t.joint], "origin": [float(x) for x in t.origin]}
            for t in model.tags
        ]
    return found


def _animation_facts(animation: Animation) -> dict[str, Any]:
    joints = _joint_facts(animation.joint_names, animation.parents.tolist(), animation.traits)
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
    if "lod_scale" in found:
        lines.append(f"  levels of detail: scale {found['lod_scale']:g}, bias {found['lod_bias']:g}")
    lines += _mesh_lines(found.get("meshes", [])) + _joint_tag_lines(found.get("tags", []))
    depths: list[int] = []
    for joint in joints:
        depths.append(depths[joint["parent"]] + 1 if joint["parent"] >= 0 else 1)
    return [*lines, *(f"{'  ' * depth}{j['name']}{_traits_of(j)}" for j, depth in zip(joints, depths, strict=True))]


def _traits_of(joint: dict[str, Any]) -> str:
    """Return what is special about a joint, to stand behind its name."""
    said = [f"torso {joint['torso_weight']:g}"] if joint.get("torso_weight") else []
    said += ["torso parent"] if joint.get("torso_parent") else []
    said += [f"flags {joint['flags']}"] if joint.get("flags") else []
    return f"  ({', '.join(said)})" if said else ""


def _mesh_lines(meshes: list[dict[str, Any]]) -> list[str]:
    if not meshes:
        return []
    width = max(len("mesh"), *(len(m["name"]) for m in meshes))
    lod = "  min LOD" if any("min_lod" in m for m in meshes) else ""
    lines = [f"  {'mesh':{width}}  vertices  triangles  weights{lod}  shader"]
    for m in meshes:
        least = f"  {m.get('min_lod', ''):7}" if lod else ""
        counts = f"{m['vertices']:8}  {m['triangles']:9}  {m['weights']:7}{least}"
        lines.append(f"  {m['name']:{width}}  {counts}  {m['shader'] or '-'}")
    return lines


def _joint_tag_lines(tags: list[dict[str, Any]]) -> list[str]:
    if not tags:
        return []
    width, joints = (max(len(kind), *(len(t[key]) for t in tags)) for kind, key in (("tag", "name"), ("on", "joint")))
    places = (
        f"  {t['name']:{width}}  {t['joint']:{joints}}  {' '.join(f'{x:.2f}' for x in t['origin'])}" for t in tags
    )
    return [f"  {'tag':{width}}  {'on':{joints}}  at", *places]


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
