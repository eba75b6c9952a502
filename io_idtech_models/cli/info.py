"""What a file holds, as plain values and as the lines that `info` prints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..assets.character import CHARACTER
from ..assets.load import Loaded
from ..formats import MOTION
from ..reporting import listed, plural

MOST_ENTRIES = 20  # of a character's file: an entity of Doom 3 has more, which are the game's


def facts(loaded: Loaded) -> dict[str, Any]:
    """Return what `info` shows of a file, as plain values."""
    row = loaded.row
    found: dict[str, Any] = {"format": row.name}
    if row.has_motions:
        found |= MOTION.facts(loaded.animations[0]) if loaded.animations else {}
    if row.has_model:
        found |= row.family.facts(loaded.model)
    if len(loaded.animations) > 1:
        found["motions"] = [
            {"name": a.name, "frames": a.num_frames, "frame_rate": a.frame_rate} for a in loaded.animations
        ]
    return found


def table(path: Path, found: dict[str, Any]) -> list[str]:
    """Return the lines that `info` prints of a model, an animation, or a character."""
    if found["format"] == CHARACTER:
        return _character_table(path, found)
    return _skeletal_table(path, found) if "joints" in found else _vertex_table(path, found)


def _character_table(path: Path, found: dict[str, Any]) -> list[str]:
    counts = [sum(motion["animations"] for motion in found["motions"]), len(found["motions"])]
    files = plural(counts[1], "file") + " of frames"
    named = "" if found["name"] in (path.stem, path.parent.name) else f" {found['name']}"
    lines = [f"{path}: character{named}, {plural(counts[0], 'animation')} in {files}, skin {found['skin'] or '-'}"]
    lines += [f"  game folder: {found['game_folder']}"] if found["game_folder"] else []
    if 0 < len(found["entries"]) <= MOST_ENTRIES:
        lines.append("  it says: " + "; ".join(f"{key} {value}".strip() for key, value in found["entries"].items()))
    lines += [f"  the game shows it {found['shown']}"] if found["shown"] else []
    lines += [f"  body: {_short(found['body'], found)}"] if found["body"] else []
    lines += [f"  wears: {_short(found['worn'], found)}"] if found["worn"] else []
    lines += _motion_lines(found)
    for piece in found["pieces"]:
        worn = f", wears {_short(piece['worn'], found)}" if piece["worn"] else ""
        own = f", {plural(piece['animations'], 'animation')}" if piece["animations"] else ""
        where = f"on the {piece['on']}'s {piece['tag']}" if piece["tag"] else f"where the {piece['on']} stands"
        lines.append(f"  {piece['kind']} {where}: {_short(piece['file'], found)}{worn}{own}")
    lines += [f"  skins: {', '.join(found['skins'])}"] if found["skins"] else []
    lines += [f"  held instead: {', '.join([*found['choices']][1:])}"] if len(found["choices"]) > 1 else []
    lines += [f"  shown instead: {_short(found['instead'], found)}"] if found["instead"] else []
    lines += [f"  missing or odd: {sentence}" for sentence in found["missing"]]
    return [*lines, *(f"  refused: {sentence}" for sentence in found["refused"])]


def _short(place: str, found: dict[str, Any]) -> str:
    """Return the place of a file as its game calls it, where it lies in the character's."""
    return place.replace("\\", "/").removeprefix(found["game_folder"]) if found["game_folder"] else place


def _motion_lines(found: dict[str, Any]) -> list[str]:
    """Return the lines of files of frames: with their rows, or, where each is an animation, by folders with names."""
    lines = []
    folders: dict[str, list[str]] = {}
    for motion in found["motions"]:
        place = _short(motion["file"], found)
        folder, _, name = place.rpartition("/")
        if not motion["is_animation"]:
            lines.append(f"  frames: {place}, {plural(motion['animations'], 'animation')}")
        elif motion["names"] == [name.rpartition(".")[0]]:
            folders.setdefault(folder, []).append(name)
        else:
            folders.setdefault(folder, []).append(f"{name} as {listed(motion['names'])}")
    return lines + [f"  frames in {folder or '.'}: {'; '.join(files)}" for folder, files in folders.items()]


def _skeletal_table(path: Path, found: dict[str, Any]) -> list[str]:
    joints = found["joints"]
    motion = f", {plural(found['frames'], 'frame')} at {found['frame_rate']:g} per second" if "frames" in found else ""
    lines = [f"{path}: {found['format'].upper()}, {plural(len(joints), 'joint')}{motion}"]
    if "lod_scale" in found:
        lines.append(f"  levels of detail: scale {found['lod_scale']:g}, bias {found['lod_bias']:g}")
    lines += _mesh_lines(found.get("meshes", [])) + _joint_tag_lines(found.get("tags", []))
    return [*lines, *(f"{'  ' * depth}{each['name']}{_traits_of(each)}" for each, depth in _below_parents(joints))]


def _below_parents(joints: list[dict[str, Any]]) -> list[tuple[dict[str, Any], int]]:
    """Return joints, each behind the one that it hangs on, and how deep it hangs: 1 for a root's."""
    children: dict[int, list[int]] = {}
    for number, joint in enumerate(joints):
        children.setdefault(joint["parent"], []).append(number)
    found, waiting = [], [(number, 1) for number in reversed(children.get(-1, []))]
    while waiting:
        number, depth = waiting.pop()
        found.append((joints[number], depth))
        waiting += [(child, depth + 1) for child in reversed(children.get(number, []))]
    return found


def _traits_of(joint: dict[str, Any]) -> str:
    """Return what is special about a joint, to stand behind its name."""
    traits = [f"torso {joint['torso_weight']:g}"] if joint.get("torso_weight") else []
    traits += ["torso parent"] if joint.get("torso_parent") else []
    traits += [f"flags {joint['flags']}"] if joint.get("flags") else []
    return f"  ({', '.join(traits)})" if traits else ""


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
    surfaces, tags, frames = found["surfaces"], found["tags"], found["frame_names"]
    ends = f" ({frames[0]} ... {frames[-1]})" if len(frames) > 1 else ""
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
    for skin in found.get("skins", []):
        lines.append(f"  skin {skin['name']}: {plural(skin['pictures'], 'picture')}{_ends(skin)}")
    for name, value in found.get("traits", {}).items():
        shown = " ".join(f"{x:g}" for x in value) if isinstance(value, list) else f"{value:g}"
        lines.append(f"  {name.replace('_', ' ')}: {shown}")
    return [*lines, *_animation_lines(found["animations"])]


def _animation_lines(animations: list[dict[str, Any]]) -> list[str]:
    if not animations:
        return []
    width = max(len("animation"), *(len(a["name"]) for a in animations))
    ranges = [f"  {a['name']:{width}}  {a['first']} - {a['first'] + a['count'] - 1}{_ends(a)}" for a in animations]
    return [f"  {'animation':{width}}  frames", *ranges]


def _ends(part: dict[str, Any]) -> str:
    """Return when frames or pictures end that a game plays by itself, to stand behind them."""
    return f"  by itself, until {' '.join(f'{time:g}' for time in part['times'])} s" if part.get("times") else ""
