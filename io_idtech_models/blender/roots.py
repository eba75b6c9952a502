"""Parts of a player: what hangs on a root, an empty that says which part it is, and lies in the space of that.

A root's property `FRAME` says which frame of its file the part shows: shape keys follow it by a driver, tags by two
constraints, which are off while the part shows the frame that the scene stands at (see `blender.player`). An export
writes a part as its root sees it, wherever the player stands and whatever it plays.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .compat import Block, playing_curves
from .curves import playing_strips, stays_put
from .empties import DISPLAY, PREFIX
from .frame_rigs import bones_of_tags, is_frame_rig
from .names import file_name_of
from .playback import playing_values
from .provenance import JOINT, PART, PLAYER, file_lists_tags
from .scene import bending, followed_by, upward
from .vertex_groups import read_groups

if TYPE_CHECKING:
    from collections.abc import Iterator

LEVEL = "idtech_level"  # on the root of a level of detail: its number
FRAME = "frame"
FRAME_PATH, TIME_PATH = f'["{FRAME}"]', "eval_time"  # of a root, and of shape keys
HOME, POSE = "Part Home", "Part Frame"  # constraints of a tag, or of the bone that it became, by name
# On an empty: it shows where a part is at rest; on the bone that this begins with: where that is, 16 numbers.
REST = "idtech_rest"
AT_REST = "Part at Rest"  # a mesh's constraint where bones pose it: it stays where its part is at rest
PLAYED = 1e-3  # of a frame
LEFT_BEHIND = 0.01  # of all weights of a mesh
IDENTITY = np.eye(4)
Matrices = NDArray[np.float64]


def is_root(block: Block) -> bool:
    """Tell whether an object is a part's root."""
    return block.type == "EMPTY" and isinstance(block.get(PART), str)


def is_tag(block: Block) -> bool:
    """Tell whether an object is an empty that is a tag: called tag_*, drawn as arrows, or on a bone."""
    if block.type != "EMPTY" or is_root(block):
        return False
    named = str(block.name).lower().startswith(PREFIX)
    return named or bool(block.empty_display_type == DISPLAY or is_on_bone(block))


def is_on_bone(block: Block) -> bool:
    """Tell whether a bone carries an object. Where that was deleted Blender keeps the kind of parent, and complains."""
    return block.parent is not None and bool(block.parent_type == "BONE")


def tag_bones(rig: Block, empties: Iterable[Block]) -> list[str]:
    """Return the bones of an armature that are tags by their names, where none of the `empties` is one.

    Those of `told_bones` are none.
    """
    shown = {file_name_of(block).lower() for block in empties}
    called = [bone.name for bone in rig.data.bones if bone.name.lower().startswith(PREFIX)]
    told = told_bones(rig) if called else set()
    return [bone for bone in called if bone not in told and bone.lower() not in shown]


def told_bones(rig: Block) -> set[str]:
    """Return the bones of which no name says whether they are tags, but a file, or empties.

    Joints of a file that lists its tags, also of one that was joined to it; bones that were made for tags; and bones on
    which tags hang beside such.
    """
    lists = file_lists_tags(rig.data)
    if not lists and not is_frame_rig(rig):
        return set()
    joints = {bone.name for bone in rig.data.bones if lists and JOINT in bone}
    return joints | bones_of_tags(rig) | bones_with_tags(rig.children)


def bones_with_tags(blocks: Iterable[Block]) -> set[str]:
    """Return the bones of their parent on which objects hang that are tags."""
    return {block.parent_bone for block in blocks if is_on_bone(block) and is_tag(block)}


def root_of(block: Block | None, by_weights: bool = True) -> Block | None:
    """Return the root of the part that an object belongs to, or is; what hangs on a part's tag is another model.

    Not `by_weights`, which takes time to read them: what a player's armature bends is of the part that this hangs on.
    """
    while block is not None and not is_root(block):
        holder = _holder(block, by_weights)
        block = None if holder is None or is_tag(holder) else holder
    return block


def _holder(block: Block, by_weights: bool = True) -> Block | None:
    """Return what an object hangs on; of an armature that poses a player's parts the root of the one it moves with.

    That is the part of the bone that it hangs on or, if bones bend it, of those that it has weights of: None if these
    are several parts'. A bone that stands for a tag carries what that does.
    """
    rig = block.parent
    if rig is None or rig.pose is None:
        return rig
    if block.parent_type == "BONE":
        tags = (each for each in rig.children if each.parent_bone == block.parent_bone and is_tag(each))
        tag = None if block.type == "EMPTY" else next(tags, None)
        if tag is not None and poses_parts(rig):
            return tag
        bone = rig.pose.bones.get(block.parent_bone)
        return (None if bone is None else _part_of(rig, bone)) or rig
    weighted = weighted_parts(block) if by_weights else []
    return rig if not weighted else weighted[0] if len(weighted) == 1 else None


def weighted_parts(block: Block) -> list[Block]:
    """Return the roots of the parts of a player whose bones an object has weights of; none where no such bones bend it.

    What has less than a hundredth of all weights does not count: a brush, or a transfer of weights, leaves that behind.
    """
    rig = next((rig for rig in bending(block) if poses_parts(rig)), None) if block.type == "MESH" else None
    if rig is None:
        return []
    bones = [rig.pose.bones.get(group.name) for group in block.vertex_groups]
    parts = [_part_of(rig, bone) if bone is not None and bone.bone.use_deform else None for bone in bones]
    roots = list(dict.fromkeys(part for part in parts if part is not None))
    if len(roots) < 2:
        return roots
    _, groups, weights = read_groups(block.data)
    of_group = np.array([*(roots.index(part) if part in roots else len(roots) for part in parts), len(roots)])
    shares = np.bincount(of_group[np.minimum(groups, len(parts))], weights, len(roots) + 1)[:-1]
    return [root for root, share in zip(roots, shares, strict=True) if share > LEFT_BEHIND * shares.sum()]


def _part_of(rig: Block, bone: Any) -> Block | None:
    """Return the root of the part of a player that a pose bone moves with; one that was added is of its parent's."""
    found = (bone_root(each) or _begun_root(rig, each) for each in (bone, *bone.parent_recursive))
    return next((root for root in found if root is not None), None)


def _begun_root(rig: Block, bone: Any) -> Block | None:
    """Return the root of the part that begins with a bone of a player's armature, and shows one frame alone."""
    kind = bone.bone.get(PART)
    top = None if kind is None else player_root(rig)
    if top is None:
        return None
    roots = (block for block in top.children_recursive if is_root(block) and LEVEL not in block)
    return next((root for root in roots if (root[PART], root.get(PLAYER)) == (kind, top[PLAYER])), None)


def player_root(block: Block | None) -> Block | None:
    """Return the root that carries the whole player that an object hangs on; None if it hangs on none."""
    found = [above for above in upward(block) if is_root(above) and isinstance(above.get(PLAYER), str)]
    return found[-1] if found else None


def bone_root(bone: Any) -> Block | None:
    """Return the root of the part whose frame a pose bone shows; None of a bone that plays its own alone."""
    shown = bone.constraints.get(POSE)
    return getattr(shown, "target", None)


def posed_parts(rigs: Iterable[Block]) -> list[Block]:
    """Return the roots of the parts whose frames armatures' bones show."""
    found = [bone_root(bone) for rig in rigs for bone in rig.pose.bones]
    return list(dict.fromkeys(root for root in found if root is not None))


def poses_parts(block: Block | None) -> bool:
    """Tell whether an object is an armature whose bones show frames of a player's parts."""
    return block is not None and is_frame_rig(block) and bool(posed_parts([block]))


def owner_of(block: Block) -> Block | None:
    """Return the root of the part that an object goes along with; None if it follows none.

    That is its own (`root_of`); of what hangs on a tag the part that hangs there, too; of what follows another object,
    by a constraint or an armature, that one's.
    """
    own = root_of(block)
    owners = map(_brought_by, _followed(block, False)) if own is None else ()
    return next((owner for owner in owners if owner is not None), own)


def follows(block: Block, other: Block) -> bool:
    """Tell whether an object follows another one, directly or not, by a parent, a constraint or an armature."""
    return other in _followed(block, True)


def goes_with(block: Block, other: Block) -> bool:
    """Tell whether an object follows another one, as part of its model: not by a tag, which carries another model."""
    return other in _followed(block, False)


def _brought_by(leader: Block) -> Block | None:
    """Return the root of the part that goes along with an object; of a tag of what hangs on it."""
    if not is_tag(leader):
        return root_of(leader)
    return next((child for child in leader.children if is_root(child) and LEVEL not in child), None)


def _followed(block: Block, beyond_tags: bool) -> list[Block]:
    """Return what an object follows, and what that follows, the nearest first; if asked for also what carries a tag."""
    found: dict[Block, None] = {}
    waiting = [block]
    while waiting:
        each = waiting.pop(0)
        rigs = [rig for rig in bending(each) if beyond_tags or not poses_parts(rig)]
        if not beyond_tags and each.parent not in bending(each):  # of which `_holder` knows
            weighted = weighted_parts(each)
            rigs += weighted if len(weighted) == 1 else []
        above = each.parent if beyond_tags else _holder(each)
        for leader in (above, *followed_by(each), *rigs):
            if leader is not None and leader not in found:
                found[leader] = None
                waiting += [leader] if beyond_tags or not is_tag(leader) else []
    return list(found)


def frame_root(root: Block) -> Block:
    """Return the root whose property says which frame is shown: levels of detail follow their part's."""
    above = root_of(root.parent) if LEVEL in root else None
    return root if above is None else above


def parts_of(blocks: Iterable[Block]) -> list[Block]:
    """Return the roots whose frames parts among objects show, each once."""
    roots = dict.fromkeys(root for root in map(root_of, blocks) if root is not None)
    return list(dict.fromkeys(frame_root(root) for root in roots))


def plays_rows(root: Block, count: int) -> bool:
    """Tell whether a part, or one that carries it, shows other frames of its file than that which the scene stands at.

    `count` is how many frames the part has. A part that nothing plays stands still.
    """
    parts = dict.fromkeys(frame_root(each) for each in upward(root) if is_root(each))
    carriers = [part for part in parts if part != root and part.animation_data is not None]
    return not _plays_file(root, count) or not all(map(_plays_file, carriers))


def curve_of_frame(root: Block) -> Any | None:
    """Return the curve that says which frame a part shows, of the action that its root plays; None without one."""
    return next((curve for curve in playing_curves(root) if curve.data_path == FRAME_PATH), None)


def _plays_file(root: Block, count: int = 1) -> bool:
    """Tell whether a part shows all frames, one after another, that it has keys for, and `count` at least."""
    curve = curve_of_frame(root)
    if curve is None or not len(curve.keyframe_points) or playing_strips(root.animation_data):
        return False
    first, last = (round(key.co.x) for key in (curve.keyframe_points[0], curve.keyframe_points[-1]))
    return (
        first == 0
        and last >= count - 1
        and all(abs(curve.evaluate(frame) - frame) < PLAYED for frame in range(last + 1))
    )


def is_carried(block: Block, top: Block | None = None) -> bool:
    """Tell whether what an object hangs on, up to a `top` one, could move it; what never comes there is moved, too."""
    while block.parent is not None:
        if block.parent_type != "OBJECT":
            return True
        block = block.parent
        if block == top:
            return False
        if not stays_put(block):
            return True
    return top is not None


def follows_frame(keys: Block) -> bool:
    """Tell whether shape keys show the frame that a root names, or other keys show, and nothing else drives them."""
    leader = _driven_by(keys)
    return leader is not None and (is_root(leader) if hasattr(leader, "parent") else True)


def time_of(keys: Block) -> float:
    """Return the evaluation time of absolute keys: of those that follow a root what that says.

    Undo brings back a time of before drivers were evaluated, which Blender does no sooner than it draws.
    """
    leader = _summed_by(keys)
    told = None if leader is None else leader.get(FRAME) if hasattr(leader, "parent") else leader.eval_time
    return _driven_to(keys, told) if isinstance(told, int | float) else float(keys.eval_time)


def _summed_by(keys: Block) -> Block | None:
    """Return what drives shape keys alone, see `_driven_by`, if its frame is the driver's value; else None."""
    leader = _driven_by(keys)
    return leader if leader is not None and keys.animation_data.drivers[0].driver.type == "SUM" else None


def _driven_to(keys: Block, value: float) -> float:
    """Return what the curve of keys' one driver makes of its value: without keys it leaves that (`evaluate` says 0)."""
    curve = keys.animation_data.drivers[0]
    bent = len(curve.keyframe_points) or any(not modifier.mute for modifier in curve.modifiers)
    return float(curve.evaluate(value) if bent else value)


def times_of(keys: Block, frames: Iterable[int]) -> NDArray[np.float64]:
    """Return the evaluation times of keys that follow a root in some frames, (F,), or none if no curve tells."""
    leader = _summed_by(keys)
    curves = [] if leader is None else playing_curves(leader)
    played = next((curve for curve in curves if curve.data_path == FRAME_PATH), None)
    return np.array([] if played is None else [_driven_to(keys, played.evaluate(frame)) for frame in frames])


def leader_of(keys: Block) -> Block | None:
    """Return the shape keys of another model whose frame shape keys show; None if they follow none."""
    leader = _driven_by(keys)
    return None if leader is None or hasattr(leader, "parent") else leader


def _driven_by(keys: Block) -> Block | None:
    """Return the root, or other object, or the shape keys whose frame is the only thing that drives shape keys."""
    animation = keys.animation_data
    if animation is None or len(animation.drivers) != 1 or len(animation.nla_tracks):
        return None
    curve = animation.drivers[0]
    if curve.data_path != "eval_time" or curve.mute or len(curve.driver.variables) != 1 or keys.use_relative:
        return None
    variable = curve.driver.variables[0]
    target = variable.targets[0]
    if target.id is None or target.data_path not in (FRAME_PATH, TIME_PATH) or variable.type != "SINGLE_PROP":
        return None
    return target.id if (target.data_path == TIME_PATH) == (target.id_type == "KEY") else None


def follow_keys(keys: Block, leader: Block) -> None:
    """Let shape keys show the frame that those of another model show."""
    if keys.animation_data is not None:
        keys.animation_data.action = None
    driver = keys.driver_add("eval_time").driver
    driver.type = "SUM"
    variable = driver.variables.new()
    variable.name = "f"
    target = variable.targets[0]
    target.id_type, target.id, target.data_path = "KEY", leader, TIME_PATH


def follow(holder: Any, path: str, root: Block, expression: str = "", axis: int = -1) -> None:
    """Let a property follow a root's frame, or what an expression makes of it, as `f`."""
    driver = holder.driver_add(path, axis).driver
    driver.type = "SCRIPTED" if expression else "SUM"
    variable = driver.variables.new()
    variable.name = "f"
    variable.targets[0].id = root
    variable.targets[0].data_path = FRAME_PATH
    if expression:
        driver.expression = expression


def own_constraints(block: Block) -> bool:
    """Tell whether an object, a tag, has no constraints but those that show its root's frame."""
    return all(
        (c.name, c.type) in ((HOME, "COPY_TRANSFORMS"), (POSE, "ACTION")) and is_root(c.target or block)
        for c in block.constraints
    )


def tag_frames(tags: Iterable[Block]) -> int:
    """Return how many frames of their part tags show, whatever its meshes have: 1 where that is not told."""
    shown = (tag.constraints.get(POSE) for tag in tags)
    actions = (getattr(hold, "action", None) for hold in shown)
    return max((round(action.frame_range[1]) + 1 for action in actions if action is not None), default=1)


def own_drivers(block: Block) -> bool:
    """Tell whether a tag has no drivers but those of its constraints and locks."""
    animation = block.animation_data
    paths = [] if animation is None else [curve.data_path for curve in animation.drivers]
    own = {f'constraints["{name}"].{what}' for name in (HOME, POSE) for what in ("influence", "eval_time")}
    return all(path in own or path.startswith("lock_") for path in paths)


def hangs_on(block: Block | None, root: Block) -> bool:
    """Tell whether an object is a root, or hangs on it, on another part in between or not."""
    return root in upward(block)


@contextmanager
def showing_whole(root: Block | None, last: int) -> Iterator[None]:
    """Let a part show, in each frame of the scene, the frame of its file with that number, whatever it plays."""
    if root is None or FRAME not in frame_root(root):  # which moves nothing
        yield
        return
    with playing_values(frame_root(root), FRAME_PATH, range(last + 1)):
        yield
