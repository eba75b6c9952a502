"""What models and motions hold: in words, for summaries, and as the plain values that `info` shows programs, too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..reporting import plural

if TYPE_CHECKING:
    from .skeletal import Animation, SkeletalModel, Traits
    from .vertex import VertexModel


def _joint_facts(names: list[str], parents: list[int], traits: Traits | None = None) -> list[dict[str, Any]]:
    joints: list[dict[str, Any]] = [{"name": n, "parent": p} for n, p in zip(names, parents, strict=True)]
    if traits is not None:
        for joint, weight, flags in zip(joints, traits.torso_weights.tolist(), traits.flags.tolist(), strict=True):
            joint |= {"torso_weight": round(weight, 6), "flags": flags}
        if 0 <= traits.torso_parent < len(joints):
            joints[traits.torso_parent]["torso_parent"] = True
    return joints


def skeletal_facts(model: SkeletalModel) -> dict[str, Any]:
    """Return the joints, meshes, tags and levels of detail of a model that a skeleton moves."""
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
        if mesh.level:
            shown["level"] = mesh.level
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


def animation_facts(animation: Animation) -> dict[str, Any]:
    """Return the frames, the rate and the joints of a motion."""
    joints = _joint_facts(animation.joint_names, animation.parents.tolist(), animation.traits)
    return {"frames": animation.num_frames, "frame_rate": animation.frame_rate, "joints": joints}


def vertex_facts(model: VertexModel) -> dict[str, Any]:
    """Return a vertex-animated model's frames, surfaces, tags, named animations, and its first frame's box."""
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
    found = {
        "frames": model.num_frames,
        "frame_names": model.frame_names,
        "animations": [
            {"name": a.name, "first": a.first, "count": a.count} | ({"times": list(a.times)} if a.times else {})
            for a in model.animations
        ],
        "skin_size": model.texture_size,
        "mins": [min(float(low[i]) for low, _ in boxes) for i in range(3)] if boxes else None,
        "maxs": [max(float(high[i]) for _, high in boxes) for i in range(3)] if boxes else None,
        "surfaces": surfaces,
        "tags": [{"name": tag.name, "origin": [float(x) for x in tag.origins[0]]} for tag in model.tags],
    }
    if model.skins:
        found["skins"] = [
            {"name": s.name, "pictures": len(s.pictures)} | ({"times": list(s.times)} if s.times else {})
            for s in model.skins
        ]
    if model.traits:
        found["traits"] = {n: list(v) if isinstance(v, tuple) else v for n, v in model.traits.items()}
    return found


def describe(model: VertexModel) -> str:
    """Return "2 surfaces, 1 tag, 20 frames"; of surfaces and tags goes unsaid what it has none of."""
    counts = ((len(model.surfaces), "surface"), (len(model.tags), "tag"))
    return ", ".join([*(plural(count, noun) for count, noun in counts if count), plural(model.num_frames, "frame")])


def describe_skeletal(model: SkeletalModel) -> str:
    """Return "2 meshes, 24 joints, 1200 vertices", and how many more levels of detail there are."""
    near = model.nearest().meshes
    vertices = sum(mesh.num_vertices for mesh in near)
    found = [plural(len(near), "mesh", "meshes"), plural(model.skeleton.num_joints, "joint"), f"{vertices} vertices"]
    levels = max((mesh.level for mesh in model.meshes), default=0)
    return ", ".join([*found, *([f"{plural(levels, 'level')} of detail"] if levels else [])])


def describe_animation(animation: Animation) -> str:
    """Return "40 frames at 24 per second, 24 joints"."""
    frames, joints = plural(animation.num_frames, "frame"), plural(len(animation.joint_names), "joint")
    return f"{frames} at {animation.frame_rate:g} per second, {joints}"
