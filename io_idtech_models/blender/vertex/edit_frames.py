"""Inserting and deleting frames of a whole model: keys of all surfaces, curves of all tags.

Models that show the frame of another one's number, as a player's gun in Quake II does, get and lose frames along with
it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import bpy
import numpy as np

from ...reporting import LimitError, listed
from .. import names, rig_clips, rig_settling
from ..compat import Block, play, playing_curves, share_action
from ..curves import curve_points, is_still, value_path
from ..frame_rigs import posed_by, rigs_of
from ..linked import THERE, refuse_linked
from ..mesh import attributes
from ..provenance import MODEL_ID, collection_of
from ..roots import FRAME, follow, follow_keys, follows_frame, frame_root, leader_of, player_root, root_of, tag_frames
from ..scene import ExportScene, bending, objects_in, scenes_of
from . import clips, shape_keys, source, spread
from .apart import stand_alone
from .frame_plan import GatherSettings
from .gather_tags import find_tags
from .planning import plan_frames
from .shape_keys import KeyFinder
from .shown_keys import is_slowed, keys_at, refuse_doubled


@dataclass(eq=False)
class FrameModel:
    """The parts of a model that know its frames, and which one the scene shows."""

    meshes: list[Block]  # those that have keys
    still: list[Block]  # those that have none
    tags: list[Block]
    collection: bpy.types.Collection | None
    scene: bpy.types.Scene
    count: int
    current: int
    times: list[float]
    in_step: list[FrameModel] = field(default_factory=list)  # models whose frames follow this one's
    leader: Block | None = None  # the object whose frame this model shows

    def every(self) -> list[FrameModel]:
        """Return the model and those in step with it."""
        return [self, *self.in_step]


def model_frames(blocks: list[Block], collection: bpy.types.Collection | None, scene: bpy.types.Scene) -> FrameModel:
    """Return the frames of a model, and of those in step with it.

    Raises:
        LimitError: the objects have no frames, or their keys disagree.
    """
    model = _own_frames(blocks, collection, scene)
    model.in_step = _in_step(model.meshes, scene)
    return model


def _own_frames(blocks: list[Block], collection: bpy.types.Collection | None, scene: bpy.types.Scene) -> FrameModel:
    keyed = [b for b in blocks if b.type == "MESH" and b.data.shape_keys is not None]
    entries = find_tags(blocks)
    is_listed = collection is not None and source.frame_list(collection) is not None
    known = source.find(collection, [b.data for b in blocks if b.type == "MESH"])
    # Whose keys were all deleted, or meshes, so that tags alone show them.
    was_keyed = known is not None and (any(b.type == "MESH" for b in blocks) or tag_frames(blocks) > 1)
    if not (keyed or is_listed or was_keyed):
        posed = [rig.name for block in blocks for rig in (block, *bending(block)) if rig.type == "ARMATURE"]
        text = "a model of bones has no frames but the keys of its actions: insert and delete these (Dope Sheet)"
        raise LimitError(f"'{posed[0]}': {text}" if posed else "no model with frames is active")
    view_layer = bpy.context.view_layer
    assert view_layer is not None
    export = ExportScene(scene, view_layer, GatherSettings(frames="KEYS"))
    plan = plan_frames(keyed, entries, collection, known, export)
    still = [b for b in blocks if b.type == "MESH" and b.data.shape_keys is None]
    if keyed and not plan.held and not still:
        text = "relative shape keys are no frames: with Relative off (Object Data Properties > Shape Keys) each is one"
        raise LimitError(f"{listed([block.name for block in keyed])}: {text}")
    keyed = plan.held
    time = float(scene.frame_current)
    if keyed and follows_frame(keyed[0].data.shape_keys):
        root = root_of(keyed[0])
        shown = -1 if root is None else round(float(frame_root(root).get(FRAME, time)))
    else:
        shown = keys_at(KeyFinder(keyed[0].data.shape_keys), [time])[0] if keyed else -1
    current = (
        shown if 0 <= shown < len(plan.times) else int(np.argmin(np.abs(np.array(plan.times) - scene.frame_current)))
    )
    tags = [entry.block for entry in entries if not entry.bone]
    model = FrameModel(keyed, still, tags, collection, scene, len(plan.times), current, plan.times)
    model.leader = leading(keyed[0]) if keyed else None
    return model


def one_of_each_mesh(blocks: list[Block]) -> list[Block]:
    """Return objects without those that share their mesh, and its frames, with one before them."""
    return list({block.data: block for block in reversed(blocks)}.values())[::-1]


def leading(block: Block) -> Block | None:
    """Return the object whose frames another one shows, as a player's gun does its body's; None if it shows its own."""
    keys = block.data.shape_keys if block.type == "MESH" else None
    leader = None if keys is None else leader_of(keys)
    every: Any = () if leader is None else bpy.data.objects
    return next((each for each in every if each.type == "MESH" and each.data.shape_keys == leader), None)


def _in_step(keyed: list[Block], scene: bpy.types.Scene) -> list[FrameModel]:
    """Return the other models that show the frames of some meshes."""
    leaders = {block.data.shape_keys for block in keyed}
    every: Any = bpy.data.objects if keyed else ()
    others = [b for b in every if b.type == "MESH" and b.data.shape_keys is not None and b not in keyed]
    followers: list[Block] = [block for block in others if leader_of(block.data.shape_keys) in leaders]
    models: dict[Any, list[Block]] = {}
    for block in followers:
        home = collection_of(block)
        models.setdefault(home or block, []).append(block)
    return [
        _own_frames(own, None, scene) if home in own else _own_frames(objects_in(home), home, scene)
        for home, own in models.items()
    ]


def refuse_linked_frames(model: FrameModel) -> None:
    """Raise LimitError if a part of the model lies in another .blend, which has its frames then, or is an override."""
    models = model.every()
    holders = [block.data for each in models for block in (*each.meshes, *each.still)]
    holders += [action for each in models for action in _actions(each)]
    refuse_linked(holders, THERE)


def fill_gaps(blocks: list[Block]) -> None:
    """Let absolute keys of meshes lie one in each frame again, before frames are inserted, deleted or moved.

    Behind a key that was removed by Blender's own button the scene plays on, and shows a mix of its neighbours: that
    becomes a frame, so that tags and actions, which have it still, agree with the keys.

    Raises:
        LimitError: keys lie at one place, or all apart, or their mesh is linked.
    """
    for block in one_of_each_mesh([b for b in blocks if b.type == "MESH" and b.data.shape_keys is not None]):
        keys = block.data.shape_keys
        found = [] if keys.use_relative else shape_keys.frame_blocks(keys)
        places = [round(at) for at in shape_keys.positions(found)]
        missing = sorted(set(range(places[-1] + 1 if places else 0)) - set(places))
        if MODEL_ID not in block.data or places == list(range(len(places))):
            continue
        refuse_linked_mesh(block)
        refuse_doubled(block)
        if is_slowed(found):
            raise LimitError(f"keys of '{block.name}' lie more than a frame apart (Re-Time Shape Keys?): undo that")
        shape_keys.add_shown(block, missing)


def refuse_linked_mesh(block: Block) -> None:
    """Raise LimitError if an object's mesh lies in another .blend, which has its frames then, or is an override."""
    refuse_linked([block.data], THERE)


def _actions(model: FrameModel) -> list[Any]:
    """Return the actions that move the model."""
    owners = [*model.tags, *(block.data.shape_keys for block in model.meshes)]
    found = [owner.animation_data.action for owner in owners if owner.animation_data is not None]
    return [action for action in dict.fromkeys(found) if action is not None]


def insert(model: FrameModel, place: int) -> None:
    """Insert a copy of a frame behind it; raises LimitError if the model is linked."""
    refuse_linked_frames(model)
    order = list(range(model.count))
    order.insert(place + 1, place)
    _rewrite(model, order, range(place + 1, place + 2))


def delete(model: FrameModel, place: int) -> None:
    """Delete a frame.

    Raises:
        LimitError: it is the only one, or the model is linked.
    """
    refuse_linked_frames(model)
    if model.count == 1:
        raise LimitError("the model's only frame can't be deleted")
    _rewrite(model, [frame for frame in range(model.count) if frame != place], range(0))


def rewrite(model: FrameModel, order: list[int], copies: range) -> None:
    """Give the model the frames of `order`; at the places of `copies` are new ones, of an animation of their own.

    Raises:
        LimitError: the model is linked.
    """
    refuse_linked_frames(model)
    _rewrite(model, order, copies, copies)


def rename(meshes: list[Block], wanted: dict[int, str]) -> None:
    """Give frames, by their numbers, other names; actions of relative keys follow."""
    if not meshes:
        return
    lead = meshes[0].data.shape_keys
    old = [key.name for key in shape_keys.frame_blocks(lead)]
    others = [name for frame, name in enumerate(old) if frame not in wanted]
    fresh = dict(zip(wanted, names.unique([*others, *wanted.values()], "frame")[len(others) :], strict=True))
    playing = {block.data.shape_keys.animation_data.action for block in meshes if block.data.shape_keys.animation_data}
    for block in meshes:
        blocks = shape_keys.frame_blocks(block.data.shape_keys)
        for stage in ({frame: f"idtech frame {frame}" for frame in fresh}, fresh):
            for frame, name in stage.items():
                blocks[frame].name = name
        spread.rename(block.data, {old[frame]: name for frame, name in fresh.items()})
        source.know_keys(block.data, {name: old[frame] for frame, name in fresh.items()})
    if lead.use_relative:
        paths = {value_path(old[frame]): value_path(name) for frame, name in fresh.items()}
        ids = clips.model_ids(meshes, None)
        clips.rename_paths([a for a in clips.model_actions(ids, whole=True) if a not in playing], paths)


def _rewrite(model: FrameModel, order: list[int], new: range, copies: range = range(0)) -> None:
    """Give the model the frames of `order`; at the places of `new` are copies, and of `copies` for curves, too."""
    rigs = rigs_of([block for each in model.every() for block in each.meshes])
    _refuse_others(model, rigs)
    for each in model.every():
        stand_alone([*each.meshes, *each.still, *each.tags], each.collection)
    rig_settling.settle(rigs)
    root = root_of(model.meshes[0]) if model.meshes else None
    played = _played(model)
    end = None if played is None else float(played.frame_range[1])
    for curve in rig_clips.whole_curves(rigs, None if root is None else frame_root(root)):
        _retime(curve, model.times, order)
    _rewrite_model(model, order, new, copies)
    for follower in model.in_step:
        _rewrite_model(follower, _order_in_step(follower, model.count, order), new, copies)
    rig_clips.rewrite(rigs, clips.without_copies(order, copies))
    in_a_row = bool(model.meshes) and model.times == [float(time) for time in range(model.count)]
    if end is not None and _played(model) is None:  # what played had that frame alone, and went with it
        played = _play_whole(model)
    span = None if played is None or end is None else (end, round(float(played.frame_range[1]) - end))
    blocks = [*model.meshes, *model.still, *model.tags]
    is_alone = model.count == 1 and not _moves_more(model.scene, blocks)
    for scene in scenes_of(blocks, model.scene):
        if in_a_row:
            clips.move_markers(scene, model.count, order)
        _fit_range(scene, model.count, len(order), span, is_alone)


def _moves_more(scene: bpy.types.Scene, blocks: Sequence[Block]) -> bool:
    """Tell whether anything in a scene is animated beside some objects."""
    others = [block for block in scene.objects if block not in blocks]
    parts = (p for b in others for p in (b, b.data, getattr(b.data, "shape_keys", None)) if p is not None)
    return not all(map(is_still, parts))


def _fit_range(scene: bpy.types.Scene, count: int, now: int, played: tuple[float, int] | None, is_alone: bool) -> None:
    """Let a scene that ran to the end of a model's frames, or of what plays, do so still.

    The model had `count` frames, and has others `now`; of what plays the last frame was, and is later by, `played`.
    One `is_alone` that had one frame and moves alone in its scene.
    """
    if scene.frame_end - scene.frame_start == count - 1:
        scene.frame_end += now - count
    elif played is not None and abs(played[0] - scene.frame_end) <= 1.0:
        scene.frame_end += played[1]
    elif is_alone:  # it had no range, and begins to move: the scene's holds its frames
        scene.frame_start, scene.frame_end = min(scene.frame_start, 0), max(scene.frame_end, now - 1)


def _played(model: FrameModel) -> Any | None:
    """Return the action that plays a model's keys; None of a player's part, whose root has the frame that shows."""
    players = (mesh.data.shape_keys.animation_data for mesh in model.meshes)
    return next((player.action for player in players if player is not None and player.action is not None), None)


def _play_whole(model: FrameModel) -> Any | None:
    """Let a model play the action of all its frames, which is returned; None if there is none."""
    every = clips.model_actions(clips.model_ids(model.meshes, model.collection), whole=True)
    whole = next((action for action in every if action.get(clips.WHOLE)), None)
    for keys in (block.data.shape_keys for block in model.meshes if whole is not None):
        play(keys, whole)
    return whole


def _order_in_step(follower: FrameModel, count: int, order: list[int]) -> list[int]:
    """Return the frames of a model in step with another one, of `count` frames, which gets those of `order`.

    Where it has no frame of a number it shows its first, as games do; behind all of those that it has it needs none.
    What it has beyond the other's frames stays at its end.
    """
    found = list(order)
    if follower.count < count:
        while found and found[-1] >= follower.count:
            found.pop()
    found = [frame if frame < follower.count else 0 for frame in found]
    return [*found, *range(count, follower.count)] or [0]


def _rewrite_model(model: FrameModel, order: list[int], new: range, copies: range) -> None:
    """Give one model the frames of `order`: keys of its surfaces, the actions over them, curves of tags."""
    new, copies = (range(min(each.start, len(order)), min(each.stop, len(order))) for each in (new, copies))
    for curve in [curve for block in model.tags for curve in playing_curves(block)]:
        _retime(curve, model.times, order)
    for nth, block in enumerate(one_of_each_mesh(model.meshes)):
        old = [key.name for key in shape_keys.frame_blocks(block.data.shape_keys)]
        listed = _new_names([old[frame] for frame in order], new)
        _rewrite_keys(block, order, listed, model.leader)
        source.know_keys(block.data, {listed[place]: old[order[place]] for place in new}, copies=True)
        if nth == 0:
            ids = clips.model_ids(model.meshes, model.collection)
            clips.rewrite(block.data.shape_keys, ids, old, order, listed, copies)
    if model.collection is not None:
        _relist(model.collection, order, new)
    if model.still and not model.meshes:
        _add_keys(model, len(order), new)


def _refuse_others(model: FrameModel, rigs: list[Block]) -> None:
    """Raise LimitError where a rig poses another model, too, which has the same frames, and is no part of a player."""
    own = [block for each in model.every() for block in each.meshes]
    for rig in rigs:
        others = [m.name for m in posed_by(rig) if m not in own and player_root(m) is None]
        if others:
            text = "and has its frames: Remove Rig, change the frames of both, and make it anew"
            raise LimitError(f"'{rig.name}' poses {listed(others)}, too, {text}")


def _rewrite_keys(block: Block, order: list[int], listed: list[str], leader: Block | None) -> None:
    """Give a mesh the frames of `order`; it goes on following the root of a player's part, or another model's keys."""
    root = root_of(block) if follows_frame(block.data.shape_keys) else None
    shape_keys.rewrite(block, order, listed)
    if leader is not None:  # whose keys may be new ones by now
        follow_keys(block.data.shape_keys, leader.data.shape_keys)
        return
    if root is not None:
        follow(block.data.shape_keys, "eval_time", frame_root(root))


def _new_names(listed: list[str], new: range) -> list[str]:
    """Return the names of keys, all different; those at `new` give way to the others."""
    if not new:
        return names.unique(listed, "frame")  # a model in step may show its first frame several times
    others = listed[: new.start] + listed[new.stop :]
    given = [f"{names.stem_of(listed[place])}.001" for place in new]
    found = names.unique([*others, *given], "frame")
    return [*found[: new.start], *found[len(others) :], *found[new.start : len(others)]]


def _add_keys(model: FrameModel, count: int, new: range) -> None:
    """Give a model of one frame, which has no keys, a key for each of its present frames, to be edited apart."""
    found = None if model.collection is None else source.frame_list(model.collection)
    shown = [""] * count if found is None else found[0]
    known = source.find(model.collection, [block.data for block in model.still])
    if known is not None and found is not None:
        shown = [known.key_names[s] if 0 <= s < len(known.key_names) else n for n, s in zip(*found, strict=True)]
    listed = _new_names(names.unique(shown, "frame"), new)
    lead = None
    for block in one_of_each_mesh(model.still):
        points = attributes.positions(block.data)
        shape_keys.add_absolute(block, listed, np.repeat(points[None], count, axis=0))
        if lead is None:
            lead = block.data.shape_keys
            action = bpy.data.actions.new(block.name)
            shape_keys.animate_absolute(lead, action, action.name, count)
        else:
            share_action(block.data.shape_keys, lead)
    if model.collection is not None:
        source.clear_frame_list(model.collection)


def _relist(collection: bpy.types.Collection, order: list[int], new: range) -> None:
    listed = source.frame_list(collection)
    if listed is None:
        return
    shown, sources = listed
    if any(frame >= len(shown) for frame in order):  # it is of no model with these keys
        source.clear_frame_list(collection)
        return
    kept = [-1 if place in new else sources[frame] for place, frame in enumerate(order)]
    source.set_frame_list(collection, [shown[frame] for frame in order], kept)


def _retime(curve: Any, times: list[float], order: list[int]) -> None:
    """Move a tag's keys to the new times of their frames: those of frames that are gone go, copies are added.

    A curve that has no key in some frame gets one in each, of what it shows there; a single key says the same of all.
    """
    if len(curve.keyframe_points) < 2 or times != [times[0] + i for i in range(len(times))]:
        return
    old = dict(zip(*(part.tolist() for part in curve_points(curve)), strict=True))
    kinds = np.empty(len(curve.keyframe_points), np.int32)
    curve.keyframe_points.foreach_get("interpolation", kinds)
    shown = [old[time] if time in old else curve.evaluate(time) for time in times]
    kept = np.array([(times[0] + place, shown[frame]) for place, frame in enumerate(order)], np.float32)
    curve.keyframe_points.clear()
    curve.keyframe_points.add(len(kept))
    curve.keyframe_points.foreach_set("co", kept.ravel())
    curve.keyframe_points.foreach_set("interpolation", np.full(len(kept), kinds[0], np.int32))
    curve.update()


def hold_still(block: Block, selected_only: bool) -> int:
    """Copy where vertices of a mesh of this .blend stand in the present frame into all; return how many that were."""
    mesh = block.data
    keys = shape_keys.frame_blocks(mesh.shape_keys)
    chosen = np.ones(len(mesh.vertices), np.bool_)
    if selected_only:
        mesh.vertices.foreach_get("select", chosen)
    frames = shape_keys.read(keys, len(mesh.vertices))
    if mesh.shape_keys.use_relative:
        present = block.active_shape_key_index - shape_keys.num_before(mesh.shape_keys)
    else:
        positions = np.array(shape_keys.positions(keys))
        present = int(np.argmin(np.abs(positions - mesh.shape_keys.eval_time)))
    frames[:, chosen] = frames[min(max(present, 0), len(keys) - 1), chosen]
    for key, positions in zip(keys, frames, strict=True):
        key.points.foreach_set("co", positions.ravel())
    if not mesh.shape_keys.use_relative and chosen.size:
        mesh.attributes["position"].data.foreach_set("vector", frames[0].ravel())
    mesh.update()
    return int(chosen.sum())
