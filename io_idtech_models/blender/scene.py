"""The scene as imports and exports see it: the one way to show its frames, and to leave it as it was."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import floor
from typing import TYPE_CHECKING, Any, TypeVar

import bpy

from .animated import kept, moved_paths
from .compat import Block
from .simulations import Steps

Settings = TypeVar("Settings")
SHAPES = frozenset(("CURVE", "SURFACE", "FONT", "META"))  # types of objects that would have faces if converted
FACED = SHAPES | {"MESH"}  # that show some
FOLLOWING = frozenset(("CHILD_OF", "COPY_TRANSFORMS", "COPY_LOCATION", "ARMATURE"))  # constraints that take it along

if TYPE_CHECKING:
    from typing import Generic
else:

    class Generic:
        """What `typing.Generic` is to type checkers alone.

        Blender 4.2 as a module crashes at its end, and 4.5 hangs, where a generic dataclass was derived from.
        """

        def __class_getitem__(cls, _settings: Any) -> type:
            """Return the class itself."""
            return cls


def upward(block: Block | None) -> Iterator[Block]:
    """Yield an object, what it hangs on, what that hangs on, and so on; nothing of None."""
    while block is not None:
        yield block
        block = block.parent


def bone_under(block: Block, rig: Block) -> str:
    """Return the bone of an armature that carries an object, or what this hangs on; "" for none.

    A bone carries what hangs on it, and what goes wholly with it, or with what it carries, by a constraint.
    """
    seen = set[Any]()
    each: Any = block
    while each is not None and each not in seen:
        seen.add(each)
        held, bone = held_by(each)
        if held is None and each.parent == rig and each.parent_type == "BONE":
            return str(each.parent_bone)
        if held == rig:
            return bone
        each = each.parent if held is None else held
    return ""


def held_by(block: Block) -> tuple[Block | None, str]:
    """Return what an object goes wholly with by a constraint, and the bone of that, or ""; None and "" for nothing.

    Child Of and Armature come on top of what moves it before: a bone that it hangs on, other constraints.
    """
    holds = [hold for hold in block.constraints if not hold.mute and hold.influence > 0.0]
    for place, hold in reversed(list(enumerate(holds))):
        aim = _aim(hold) if hold.influence == 1.0 else None
        if aim is None or not _is_there(aim):
            continue
        on_bone = any(each.parent is not None and each.parent_type == "BONE" for each in upward(block))
        if hold.type == "COPY_TRANSFORMS" or not (on_bone or any(map(_is_there, _aims(holds[:place])))):
            return aim.target, str(aim.subtarget)
        break
    return None, ""


def followed_by(block: Block) -> list[Any]:
    """Return what constraints let an object follow, wholly or in part: not those that never have any influence."""
    drivers = () if block.animation_data is None else block.animation_data.drivers
    moved = {*moved_paths(block), *(curve.data_path for curve in drivers)}
    holds = [h for h in block.constraints if not h.mute and (h.influence > 0.0 or h.path_from_id("influence") in moved)]
    return [aim.target for aim in _aims(holds)]


def _aims(holds: Iterable[Any]) -> list[Any]:
    """Return what says in constraints which objects and bones take their owner along: a constraint itself, or parts."""
    return [aim for hold in holds if hold.type in FOLLOWING for aim in getattr(hold, "targets", [hold])]


def _is_there(aim: Any) -> bool:
    """Tell whether what a constraint aims at is there: Blender passes over it else."""
    bones = None if aim.target is None else aim.target.pose
    return aim.target is not None and (not aim.subtarget or (bones is not None and aim.subtarget in bones.bones))


def _aim(hold: Any) -> Any:
    """Return what says in a constraint with which object and bone its owner goes wholly; None where it doesn't."""
    if hold.type == "ARMATURE":
        found = [target for target in hold.targets if target.weight > 0.0]
        return found[0] if len(found) == 1 else None
    if hold.type == "CHILD_OF":
        parts = (getattr(hold, f"use_{part}_{axis}") for part in ("location", "rotation", "scale") for axis in "xyz")
        return hold if all(parts) else None
    if hold.type == "COPY_TRANSFORMS":
        in_world = {hold.mix_mode, hold.target_space, hold.owner_space} <= {"REPLACE", "WORLD"}
        return hold if in_world and not hold.head_tail else None
    return None


def objects_in(collection: Any) -> list[Block]:
    """Return the objects of a collection and of those in it, each once.

    Blender's own list of them, `all_objects`, is kept, and not made anew by an undo that changes collections inside: it
    holds freed objects then, and who looks at one crashes (4.2 to 5.2).
    """
    found = dict.fromkeys(collection.objects)
    for child in collection.children_recursive:
        found |= dict.fromkeys(child.objects)
    return list(found)


def bending(block: Block) -> list[Block]:
    """Return the armatures that an object's modifiers bend it by, each once, in the order of the modifiers."""
    rigs = (modifier.object for modifier in block.modifiers if modifier.type == "ARMATURE")
    return list(dict.fromkeys(rig for rig in rigs if rig is not None))


def materials_of(blocks: Iterable[Block]) -> list[Block]:
    """Return the materials in the slots of objects, each once."""
    slots = (slot.material for block in blocks for slot in block.material_slots)
    return list(dict.fromkeys(material for material in slots if material is not None))


def scenes_of(blocks: Iterable[Block], scene: bpy.types.Scene) -> list[bpy.types.Scene]:
    """Return a scene, and the others of this .blend that show some objects as it does: by its range, or a marker."""
    own = {(marker.name, marker.frame) for marker in scene.timeline_markers}

    def follows(other: bpy.types.Scene) -> bool:
        is_as_long = (other.frame_start, other.frame_end) == (scene.frame_start, scene.frame_end)
        return is_as_long or any((marker.name, marker.frame) in own for marker in other.timeline_markers)

    others = dict.fromkeys(each for block in blocks for each in block.users_scene if each.library is None)
    return list(dict.fromkeys([scene, *(each for each in others if follows(each))]))


@dataclass(frozen=True, eq=False)
class ExportScene(Generic[Settings]):
    """What an export looks at, and what its user chose."""

    scene: bpy.types.Scene
    view_layer: bpy.types.ViewLayer
    settings: Settings
    written: list[Any] = field(default_factory=list, kw_only=True)  # of the model gathered last: see `selfcheck`

    @property
    def depsgraph(self) -> Any:
        """Return the view layer's graph, which knows what is shown."""
        return self.view_layer.depsgraph

    def evaluated(self, block: Block) -> Block:
        """Return an object as it is shown."""
        return block.evaluated_get(self.depsgraph)

    def update(self, blocks: list[Block]) -> None:
        """Let Blender evaluate objects as they are now, also those that a script edited.

        It is not told where one removes a vertex group, or a UV map, and shows what modifiers made of it before. All
        others are left alone: simulations would begin anew.
        """
        for block in blocks:
            block.update_from_editmode()
            if block.modifiers and block.type == "MESH" and self._is_stale(block):
                block.update_tag(refresh={"DATA"})
        self.view_layer.update()

    def _is_stale(self, block: Block) -> bool:
        """Tell whether Blender evaluated a mesh object with vertex groups or attributes that are no more."""
        known, shown = self.evaluated(block), block.data.evaluated_get(self.depsgraph)
        lost = {each.name for each in shown.attributes} - {each.name for each in block.data.attributes}
        return bool(lost) or [each.name for each in known.vertex_groups] != [each.name for each in block.vertex_groups]

    @property
    def frame_rate(self) -> float:
        """Return the scene's frames per second."""
        return self.scene.render.fps / self.scene.render.fps_base


@contextmanager
def room_for_others(scene: bpy.types.Scene, alone: bool) -> Iterator[None]:
    """Let what plays in the scene already keep its frames, whatever range is set meanwhile; not if `alone`."""
    first, last = scene.frame_start, scene.frame_end
    animated = not alone and _plays(scene)
    yield
    if animated:
        scene.frame_start, scene.frame_end = min(first, scene.frame_start), max(last, scene.frame_end)


def _plays(scene: bpy.types.Scene) -> bool:
    """Tell whether an action, or a strip, plays on what a scene shows: one that is kept for later plays nothing."""
    if not any(action.users > action.use_fake_user for action in bpy.data.actions):  # ends at the first
        return False
    blocks = list(scene.objects)
    shown: dict[Any, None] = dict.fromkeys([scene, scene.world, *blocks, *(block.data for block in blocks)])
    shown |= dict.fromkeys(materials_of(blocks))
    within = ("shape_keys", "node_tree")
    owners = [*shown, *(getattr(each, name, None) for each in shown for name in within)]
    return any(moved_paths(owner) for owner in dict.fromkeys(owners) if owner is not None)


_showing: list[bpy.types.Scene] = []  # of those that run now


def is_showing() -> bool:
    """Tell whether someone runs through a scene's frames now."""
    return bool(_showing)


@contextmanager
def showing(scene: bpy.types.Scene) -> Iterator[Callable[[float], None]]:
    """Give the function that lets a scene show a time, or what is between two frames; all is as it was afterwards.

    Also what someone set and gave no key, which a frame that is shown undoes. Simulations are played, frame by frame.
    """
    frame, subframe = scene.frame_current, scene.frame_subframe
    steps = Steps(scene)

    def show(time: float) -> None:
        for between in steps.before(floor(time)):
            scene.frame_set(between)
        scene.frame_set(floor(time), subframe=float(time - floor(time)))

    _showing.append(scene)
    with kept():
        try:
            yield show
        finally:
            show(frame + subframe)
            _showing.pop()


@contextmanager
def positioned(rig: Block, position: str) -> Iterator[None]:
    """Let an armature show its pose (POSE), or its rest (REST), meanwhile."""
    before = rig.data.pose_position
    try:
        rig.data.pose_position = position
        yield
    finally:
        rig.data.pose_position = before


def is_stretched() -> bool:
    """Tell whether frames of a scene are not those of actions, by its Time Stretching."""
    scenes: list[Any] = list(bpy.data.scenes)
    return any(scene.render.frame_map_old != scene.render.frame_map_new for scene in scenes)


def say_stretched(scene: Any) -> None:
    """Warn that a scene plays actions and keys slower, or faster, than they are written."""
    if scene.render.frame_map_old != scene.render.frame_map_new:
        text = "Time Stretching (Output > Frame Rate) is left out, keys are written as they are"
        text += " (Scene Range, where an export has that choice, writes it)"
        logging.getLogger(__name__).warning(text)


@contextmanager
def unstretched() -> Iterator[None]:
    """Let frames of scenes be those of actions meanwhile, whatever Time Stretching makes of them; all comes back."""
    found: list[Any] = list(bpy.data.scenes)
    stretched = [(s, s.render.frame_map_old, s.render.frame_map_new) for s in found]
    stretched = [(scene, old, new) for scene, old, new in stretched if old != new]
    try:
        for scene, _, _ in stretched:
            scene.render.frame_map_old = scene.render.frame_map_new = 100
        yield
    finally:
        for scene, old, new in stretched:
            with showing(scene):  # shows its frame once more, as it is stretched
                scene.render.frame_map_old, scene.render.frame_map_new = old, new


# What an import may make; a failed one removes what it made of these.
KINDS = ("objects", "collections", "meshes", "materials", "images", "node_groups", "actions", "armatures")


@contextmanager
def undone_on_failure() -> Iterator[None]:
    """Remove every data-block that was made within, if an exception leaves it."""
    last = _last_number()
    try:
        yield
    except BaseException:
        made = [b for kind in KINDS for b in getattr(bpy.data, kind) if b.session_uid > last]
        bpy.data.batch_remove(made)  # a mesh takes its shape keys along
        raise


def _last_number() -> int:
    """Return the number that no data-block's is above: Blender counts all that are made in a session.

    What is made for that goes again: so it takes no longer the more there is in the .blend.
    """
    probe = bpy.data.speakers.new("idtech")
    number = int(probe.session_uid)
    bpy.data.speakers.remove(probe, do_unlink=False, do_id_user=False, do_ui_user=False)
    return number
