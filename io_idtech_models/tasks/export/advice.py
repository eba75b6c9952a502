"""What is odd about objects to export though nothing hinders it, and what a modder does about it, in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePath, PurePosixPath
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ... import formats
from ...blender import names
from ...blender.compat import is_muted, playing_curves, plays_others_curves
from ...blender.frame_rigs import is_bereft, is_frame_rig, modifier_of
from ...blender.mesh.attributes import rendered_uv_map
from ...blender.provenance import FILE, MODEL_ID, PICTURE, collection_of, unit_of
from ...blender.scene import bending, materials_of, upward
from ...blender.shading.images import image_node_of, image_of, images_in
from ...blender.shading.pixels import color_of, file_of, is_changed, origin_of
from ...blender.shading.skins import SKIN
from ...blender.takes import used_actions
from ...formats import QUAKE_3, SKELETAL, VERTEX, Format
from ...model import steady
from ...reporting import listed, plural

if TYPE_CHECKING:
    from ...model.skeletal import SkeletalModel, SkeletalSource, Skeleton
    from ...model.vertex import VertexModel

FAR = 4096.0  # units: places travel in eighths as 16 bits (MSG_WriteCoord of Quake and Quake II)
NEAR = 0.01  # of the farthest joint's distance: of nearer ones rounding shows
SAME_SIZE = 1e-3  # parts: factors of joints that all were scaled alike
POSED = 1e-5  # how far from none a pose is that nobody set
UNSCALED = 1e-4  # how far from 1 a scale is that nobody set
NO_SHADER = "without a material a surface has no shader, give it one with the shader's name"
ROOTS = ("models", "textures", "players", "progs")  # of what games' shaders are called by


def advice(blocks: Iterable[Any], row: Format, scale: float, keep_suffixes: bool = False) -> list[str]:
    """Return what there is to say of objects that are exported to a format; `scale` is a game unit's size."""
    meshes = [block for block in blocks if block.type == "MESH"]
    far = _of_places(meshes, scale) if row.family is VERTEX else ()
    came = {(collection_of(mesh) or mesh).name: unit for mesh in meshes if (unit := unit_of(mesh)) != 1.0}
    own = [mesh for mesh in meshes if MODEL_ID not in mesh.data]
    of_pictures = [*_of_painted(meshes, row), *of_other_pictures(meshes, row), *of_turned_pictures(meshes, row)]
    of_dress = (*of_materials(meshes, row, keep_suffixes), *of_pictures)
    return [*_of_tags(meshes, row), *of_dress, *_of_skins(meshes, row), *_of_scale(own), *of_unit(came, scale), *far]


def of_bones_beside(model: SkeletalModel, other: str, named: bool) -> list[str]:
    """Return what is to be said where bones are others than in their file, and `other` files have them, too.

    Files find them by their names there if they are `named`, else by their numbers alone.
    """
    now, source = model.skeleton, model.source
    return [] if source is None else [*_of_size(now, source, other), *_of_joints(now, source, other, named)]


def _of_size(skeleton: Skeleton, source: SkeletalSource, other: str) -> list[str]:
    """Return what is to be said where bones lie farther apart than in their file.

    That is what a scaled armature, or a parent of it, does: the scene is what is written.
    """
    numbers = skeleton.sources
    if numbers is None:
        return []
    own = np.flatnonzero((numbers >= 0) & (numbers < source.skeleton.num_joints))
    if len(own) < 2:
        return []
    before, after = source.skeleton.bind.positions[numbers[own]], skeleton.bind.positions[own]
    lengths = [steady.lengths(places[1:] - places[:1]) for places in (before, after)]
    far = lengths[0] > lengths[0].max() * NEAR
    factors = lengths[1][far] / lengths[0][far] if lengths[0].max() > 0 else np.zeros(0)
    if not len(factors) or factors.max() - factors.min() > SAME_SIZE * factors.max():
        return []
    factor = float(factors[0])
    if abs(factor - 1.0) <= SAME_SIZE:
        return []
    return [f"bones lie {factor:.4g} times as far apart as in the file they came from: games need {other} of that size"]


def _of_joints(skeleton: Skeleton, source: SkeletalSource, other: str, named: bool) -> list[str]:
    """Return what is to be said where joints are others than in their file, and `other` files have them, too."""
    numbers, before = skeleton.sources, source.skeleton
    if numbers is None:
        return []
    was = [before.names[number] if 0 <= number < before.num_joints else "" for number in numbers.tolist()]
    names = [old or name for old, name in zip(was, skeleton.names, strict=True)]  # as the file called them
    now, then = _parents(names, skeleton.parents), _parents(before.names, before.parents)
    found = {
        "added": [name for name in names if name not in then],
        "gone": [name for name in before.names if name not in now],
        "under another parent": [name for name in names if name in then and now[name] != then[name]],
        "renamed": [old for old, name in zip(was, skeleton.names, strict=True) if named and old not in ("", name)],
    }
    if not any(found.values()):
        found["in another order"] = [name for name, old in zip(names, before.names, strict=True) if name != old][:1]
    said = [f"{what} {listed(which)}" for what, which in found.items() if which]
    text = f"joints are others than in the file they came from, games need {other} with the same"
    return [f"{text}: {', '.join(said)}"] if said else []


def _parents(names: Sequence[str], parents: NDArray[Any]) -> dict[str, str]:
    """Return the name of each joint's parent by the joint's own, "" of a root."""
    return {name: names[parent] if parent >= 0 else "" for name, parent in zip(names, parents.tolist(), strict=True)}


def of_actions(blocks: Iterable[Any]) -> list[str]:
    """Return which actions an export of what plays in the scene leaves out, of objects without frames as keys."""
    from ...blender.curves import playing_strips
    from ...blender.takes import loose_actions, moved_by
    from ...blender.vertex.planning import MARKS  # as much again as an import needs
    from ...blender.vertex.shown_keys import has_frames

    moved = [block for block in blocks if block.type in {"MESH", "EMPTY"}]
    if any(has_frames(block) for block in moved):
        return []  # the keys are what is written, and actions show these
    owners = moved_by(moved)
    played, kept = set(), set()
    for owner in owners:
        animation = owner.animation_data
        if animation is not None:
            played.add(animation.action)
            played |= {strip.action for strip in playing_strips(animation)}
            kept |= {s.action for track in animation.nla_tracks for s in track.strips if s.action is not None}
    others = [a for a in (*kept, *loose_actions(owners)) if a not in played and not any(mark in a for mark in MARKS)]
    left = sorted({action.name for action in others})
    text = "what plays in the scene is written, other actions are not (Frames: Actions writes those ticked or named)"
    return [f"{text}: {listed(left)}"] if left else []


def of_unmade(rigs: Iterable[Any], wholes_alone: bool = False) -> Iterator[str]:
    """Yield the animations that armatures keep as they came, and that have no action which could be written.

    `wholes_alone`: but for rows of a file, which are in it.
    """
    from ...blender.skeletal import kept_frames  # which vertex-animated models do without

    for rig in rigs:
        unmade = kept_frames.unmade_of(kept_frames.kept_files(rig), used_actions(rig)).values()
        left = [each.clip.name for each in unmade if each.is_whole or not wholes_alone]
        if left:
            text = "without an action yet left out, Make All Animations (in the sidebar) makes them"
            yield f"'{rig.name}': {plural(len(left), 'animation')} {text}: {listed(left)}"


def of_rest(blocks: Iterable[Any]) -> list[str]:
    """Return that armatures which pose something show their rest, as frames of meshes do then, in a sentence."""
    modifiers = [m for block in blocks for m in block.modifiers if m.type == "ARMATURE" and m.object is not None]
    rigs = dict.fromkeys(modifier.object for modifier in modifiers if modifier.show_viewport)
    resting = [rig for rig in rigs if rig.data.pose_position == "REST" and (used_actions(rig) or _is_posed(rig))]
    text = "armatures show their rest, which is what is written (Armature > Pose > Pose Position shows what they play)"
    return [f"{text}: {listed([rig.name for rig in resting])}"] if resting else []


def of_hidden_rigs(blocks: Iterable[Any]) -> list[str]:
    """Return that meshes show none of what a rig made of their frames does to them, in a sentence."""
    hidden = [block for block in blocks if (rig := modifier_of(block)) is not None and not rig.show_viewport]
    text = "the modifier of a rig made of frames is off in the viewport, and frames are written without it"
    return [f"{text}: {listed([block.name for block in hidden])}"] if hidden else []


def of_bereft(blocks: Iterable[Any]) -> list[str]:
    """Return that meshes show frames without what a rig that was made of these did to them, in a sentence."""
    text = "a rig was made of their frames, and no Armature modifier with it poses them: undo that, or add it again, to"
    left = [block.name for block in blocks if is_bereft(block)]
    return [f"{text}: {listed(left)}"] if left else []


def of_left_behind(blocks: Iterable[Any]) -> list[str]:
    """Return that rigs made of frames are carried about, and what they pose is not: that bends it, in sentences."""
    found = []
    for block in blocks:
        for rig in filter(is_frame_rig, bending(block) if block.type == "MESH" else ()):
            with_it = {*upward(block)}
            movers = [above for above in list(upward(rig))[1:] if above not in with_it and _moves(above)]
            if movers and rig not in with_it and not any(map(_moves, with_it)):
                text = f"'{block.name}' stays behind, and is bent by that, where '{rig.parent.name}' carries its rig"
                found.append(f"{text}: parent it to that, too")
    return found


def _moves(block: Any) -> bool:
    """Tell whether something moves an object, but for what it hangs on as an object."""
    paths = [curve.data_path.removeprefix("delta_") for curve in playing_curves(block) if not is_muted(curve)]
    moved = any(path.startswith(("location", "rotation_", "scale")) for path in paths)
    return moved or block.parent_type != "OBJECT" or any(not constraint.mute for constraint in block.constraints)


def of_pinned(blocks: Iterable[Any]) -> list[str]:
    """Return that meshes show one of their shape keys alone, whose keys are no frames, in a sentence.

    That is how one key is worked on; files have what all of them show as they play.
    """
    from ...blender.vertex.shown_keys import has_frames  # as much again as an import needs

    meshes = (block for block in blocks if block.type == "MESH" and block.data.shape_keys is not None)
    pinned = [mesh.name for mesh in meshes if mesh.show_only_shape_key and not has_frames(mesh)]
    text = "one shape key alone is shown, and all are written as they play (Solo Active Shape Key is on)"
    return [f"{text}: {listed(pinned)}"] if pinned else []


def of_lost_slots(blocks: Iterable[Any]) -> list[str]:
    """Return what stands still for it plays an action that is of something else, in a sentence."""
    still = [block.name for block in blocks if plays_others_curves(block)]
    text = (
        "stand still, of their actions this Blender reads what moves other things alone "
        "(a .blend that 4.4 or later saved has its motions there)"
    )
    return [f"{text}: {listed(still)}"] if still else []


def _is_posed(rig: Any) -> bool:
    """Tell whether an armature's bones were moved by hand."""
    poses = np.empty(16 * len(rig.pose.bones), np.float32)
    rig.pose.bones.foreach_get("matrix_basis", poses)
    return bool(np.abs(poses.reshape(-1, 4, 4) - np.eye(4)).max(initial=0.0) > POSED)


def _of_tags(meshes: list[Any], row: Format) -> Iterator[str]:
    tags = [mesh.name for mesh in meshes if mesh.name.lower().startswith("tag_") and MODEL_ID not in mesh.data]
    if tags and row.tags:
        yield f"meshes that are called as tags are written as surfaces, tags are empties (Add > Empty): {listed(tags)}"


def of_materials(meshes: list[Any], row: Format, keep_suffixes: bool = False) -> Iterator[str]:
    """Yield which meshes of one's own no game can dress, and which materials it can't tell apart."""
    worn = {mesh: _worn(mesh) for mesh in meshes}
    several = [mesh.name for mesh in meshes if len(dict.fromkeys(worn[mesh])) > 1]
    if several and row.family is VERTEX and not row.vertex.uv_splits_vertices:
        text = "faces wear several materials, which become skins, worn one at a time (bake one picture)"
        yield f"{text}: {listed(several)}"
    materials = materials_of(meshes)
    tiled = [image.name for image in images_in(materials) if image.source == "TILED" and len(image.tiles) > 1]
    if tiled:
        yield f"of pictures with several tiles (UDIM) games show the first (bake one picture): {listed(tiled)}"
    yield from _of_nodes(meshes, row)
    if row.vertex.holds_pictures:
        return
    alike = _namesakes(materials, keep_suffixes)
    if alike:
        yield f"materials that look different become one shader, rename them (or Keep .001 in Names): {listed(alike)}"
    embedded = [m.name for m in materials if SKIN in m and any(image.packed_file for image in images_in([m]))]
    if embedded:
        yield f"pictures lie in the .blend alone, save them where the game looks (Image > Save As): {listed(embedded)}"
    own = [mesh for mesh in meshes if MODEL_ID not in mesh.data]
    # A surface of a file may have none: but not some of its faces.
    known = [mesh for mesh in meshes if mesh in own or any(worn[mesh])]
    plain = [mesh.name for mesh in known if mesh.data.polygons and not all(worn[mesh])]
    if plain:
        yield f"{NO_SHADER}: {listed(plain)}"
    made_here = [material for material in materials if names.GIVEN not in material]
    for material in dict.fromkeys([*materials_of(own), *made_here]):
        called, picture = names.file_name_of(material), _picture_of(material)
        if not {"/", "\\"} & set(called) and picture and picture != called:
            yield f"'{called}' is no path of a game, rename the material after its picture: '{picture}'"


def _of_nodes(meshes: list[Any], row: Format) -> Iterator[str]:
    """Yield what nodes do to pictures that no file holds: where they place them, and how they colour them.

    A format that holds pictures says the latter of each that it writes.
    """
    pictured = [material for material in materials_of(meshes) if PICTURE in material or images_in([material])]
    if not pictured:
        return
    from ...blender.shading.between import is_placed_by, is_recoloured  # an export of plain materials does without

    shown = {material: node for material in pictured if (node := image_node_of(material)) is not None}
    placed = dict[str, None]()
    for mesh in meshes:
        layer = rendered_uv_map(mesh.data)
        mine = [material for material in materials_of([mesh]) if material in shown]
        placed |= dict.fromkeys(m.name for m in mine if layer is not None and not is_placed_by(shown[m], layer.name))
    if placed:
        text = (
            "nodes place pictures otherwise than the UV map that is rendered, and files hold that alone (change these)"
        )
        yield f"{text}: {listed(list(placed))}"
    coloured = [] if row.vertex.holds_pictures else [material.name for material in pictured if is_recoloured(material)]
    if coloured:
        text = "nodes make other colours of pictures, games show the files' (bake them, or say it in a shader script)"
        yield f"{text}: {listed(coloured)}"


def _worn(mesh: Any) -> list[Any]:
    """Return the materials that faces of an object's own mesh wear, in the order of its slots; None for none."""
    slots = [slot.material for slot in mesh.material_slots] or [None]
    found = np.zeros(len(mesh.data.polygons), np.int32)
    mesh.data.polygons.foreach_get("material_index", found)
    return [slots[min(int(place), len(slots) - 1)] for place in np.unique(found)]


def of_bare_bones(model: SkeletalModel) -> Iterator[str]:
    """Yield that a model has no mesh, if its file had one: files of animations alone have none."""
    if not model.meshes and (model.source is None or model.source.parts):
        yield "no mesh moves with these bones, and games show nothing (bind one: Armature modifier)"


def of_stripped(model: VertexModel | SkeletalModel, row: Format) -> Iterator[str]:
    """Yield which surfaces had a shader in the file that they came from, and have no material any more."""
    whole: Any = model
    before = [] if model.source is None else [any(_shaders(part)) for part in model.source.parts]
    parts = [part for part in (whole.meshes if row.family is SKELETAL else whole.surfaces) if not any(_shaders(part))]
    bare = [part.name for part in parts if 0 <= part.source_index < len(before) and before[part.source_index]]
    if bare and not row.vertex.holds_pictures:
        yield f"{NO_SHADER}: {listed(list(dict.fromkeys(bare)))}"


def _shaders(part: Any) -> list[str]:
    """Return the shaders of a surface, or the one of a skinned mesh."""
    found: list[str] = [part.shader] if hasattr(part, "shader") else part.shaders
    return found


def _namesakes(materials: Iterable[Any], keep_suffixes: bool) -> list[str]:
    """Return the names of materials that have one name in a file and show different pictures, or colours.

    What a skin says that they wear tells them apart, too.
    """
    from ...blender.shading.materials import worn_by  # an export of lone materials does without

    by_name: dict[tuple[str, str], list[Any]] = {}
    for material in materials:
        by_name.setdefault((names.file_name_of(material, keep_suffixes), worn_by(material)), []).append(material)
    several = [each for each in by_name.values() if len(each) > 1]
    return [material.name for each in several if _differ(each) for material in each]


def _differ(materials: list[Any]) -> bool:
    """Tell whether materials look different: an import that found no picture shows the one that another found."""
    images = {material: image_of(material) for material in materials}
    pictures = {origin_of(image) or image.name for image in images.values() if image is not None}
    plain = [material for material, image in images.items() if image is None]
    if pictures:
        return len(pictures) > 1 or any(names.GIVEN not in material for material in plain)
    return len({color_of(material).tobytes() for material in plain}) > 1


def _of_skins(meshes: list[Any], row: Format) -> list[str]:
    """Return what meshes wear by a skin of their game that no file of the format goes with, in a sentence."""
    from ...blender.shading.materials import worn_by

    dressed = list[str]()
    for mesh in meshes:
        file = mesh.data.get(FILE)
        home = formats.by_suffix(PurePath(file)) if isinstance(file, str) else None
        if home is not None and home.skins != row.skins and not row.vertex.holds_pictures:
            worn = [(worn_by(material), names.file_name_of(material)) for material in materials_of([mesh])]
            dressed += [shader for shader, own in worn if shader not in ("", own)]
    text = "a skin dresses the model, and the file names its own materials, rename these to write what is worn"
    return [f"{text}: {listed(list(dict.fromkeys(dressed)))}"] if dressed else []


def _of_painted(meshes: list[Any], row: Format) -> list[str]:
    """Return which pictures are no file's, in a sentence; those that lie in materials of a file are said otherwise."""
    images = images_in(material for material in materials_of(meshes) if SKIN not in material)
    painted = [image.name for image in images if not row.vertex.holds_pictures and is_changed(image)]
    text = "painted or made here, games show what their files hold, save them (Image > Save As)"
    return [f"{text}: {listed(painted)}"] if painted else []


def of_other_pictures(meshes: list[Any], row: Format) -> list[str]:
    """Return which materials show another picture than their names mean, in a sentence."""
    from ...blender.shading.materials import other_picture

    materials = [] if row.vertex.holds_pictures else materials_of(meshes)
    pairs = [(material, other_picture(material)) for material in materials]
    other = [f"{material.name} ({PurePath(file_of(image)).name})" for material, image in pairs if image is not None]
    text = "games show the picture that a shader is called by, not the one that is shown now, rename these materials"
    return [f"{text}: {listed(other)}"] if other else []


def of_turned_pictures(meshes: list[Any], row: Format) -> list[str]:
    """Return which pictures on disk games show upside down, or stop at, in a sentence."""
    images = images_in(materials_of(meshes)) if row.engine == QUAKE_3 else []
    turned = [image.name for image in images if _is_turned(image)]
    text = "games show these pictures upside down, or refuse them, save them as Targa Raw (Image > Save As)"
    return [f"{text}: {listed(turned)}"] if turned else []


def _is_turned(image: Any) -> bool:
    """Tell whether an image is a file on disk, a TGA, that games of Quake III's kin don't show as Blender does."""
    from ...game.pictures.tga import HEADER, shown_by_games

    path = Path(file_of(image))
    if path.suffix.lower() != ".tga":
        return False
    try:
        with path.open("rb") as file:
            return not shown_by_games(file.read(HEADER.itemsize))
    except OSError:  # it lies in an archive, or is gone
        return False


def _picture_of(material: Any) -> str:
    """Return a material's first picture as a shader would name it, from the game's folder on, or ""."""
    for image in images_in([material]):
        parts = PurePosixPath(image.filepath.replace("\\", "/")).parts
        starts = [place for place, part in enumerate(parts) if part.lower() in ROOTS]
        if starts:
            return str(PurePosixPath(*parts[starts[0] :]).with_suffix(""))
    return ""


def _of_scale(meshes: list[Any]) -> Iterator[str]:
    """Yield which objects have a scale that meshes are shown with, of their own or what they hang on.

    Nothing hinders it, but what is modelled on there has another size.
    """
    scaled = [m for m in meshes if np.abs(np.array(m.matrix_world.to_scale()) - 1).max() > UNSCALED]
    mirrored, others = (
        list(dict.fromkeys(name for mesh in scaled if mesh.matrix_world.is_negative == way for name in _scalers(mesh)))
        for way in (True, False)
    )
    if mirrored:
        text = "mirrored by a negative scale, written as shown with its faces turned, apply it (Object > Apply > Scale)"
        yield f"{text}: {listed(mirrored)}"
    if others:
        yield f"the scale is not applied, it is written as shown (Object > Apply > Scale): {listed(others)}"


def of_unit(came: dict[str, float], scale: float) -> list[str]:
    """Return which models are not written at their files' size, by that of a game unit with which they `came`."""
    text = "'%s' was imported with Scale %.4g and is written with %.4g, %.4g times as large as its file"
    return [
        text % (name, unit, scale, unit / scale)
        for name, unit in came.items()
        if unit != 1.0 and abs(unit / scale - 1) > UNSCALED
    ]


def _scalers(mesh: Any) -> list[str]:
    """Return what mirrors a mesh, or else scales it: the object itself, or what it hangs on."""
    sizes = {block.name: np.array(block.scale) * np.array(block.delta_scale) for block in upward(mesh)}
    turned = [name for name, size in sizes.items() if size.prod() < 0]
    found = [name for name, size in sizes.items() if np.abs(size - 1).max() > UNSCALED]
    return turned or found or [mesh.name]


def _of_places(meshes: list[Any], scale: float) -> Iterator[str]:
    far = [mesh.name for mesh in meshes if _reach(mesh) > FAR * scale]
    if far:
        yield f"farther from the origin than Quake's maps reach ({FAR:g} units), move it there: {listed(far)}"


def _reach(mesh: Any) -> float:
    """Return the largest coordinate of an object's box in the world."""
    return float(np.abs(steady.applied(np.array(mesh.matrix_world)[:3], np.array(mesh.bound_box))).max())
