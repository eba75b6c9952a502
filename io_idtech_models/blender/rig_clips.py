"""Actions of an armature that was made of frames: one that shows them all, the whole, and a clip for each animation.

So an animation's poses exist twice. What was changed in one of the two is taken to the other (`rig_settling`): each
clip has a stamp of what both held when they were last alike, and the whole has those stamps, too.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import bpy

from . import names, spans
from .compat import Block, new_curves, slot_name
from .curves import moved_bones
from .frame_rigs import CLIP, RIG, RIG_ALL, RIG_KEYS, rig_actions, rig_id, whole_of
from .playback import call_tracks, keep, let_go
from .rig_poses import ActionPoses, curves_of, write
from .roots import bone_root

FRAMES = "idtech_rig_frames"  # on a clip: when the whole shows its first frame, and how many frames it has
STAMP = "idtech_rig_stamp"  # on a clip: checksums of its own and the whole's poses when they were alike, and how often
SETTLED = "idtech_rig_settled"  # on the whole: of each clip which it is, what the whole held there, and how often
UNNAMED = "frames"  # what an animation without a name is called


@dataclass(frozen=True, eq=False)
class ClipWanted:
    """An animation of a model: what it is called, when the whole shows it, and the action that plays its keys alone."""

    name: str
    first: int
    count: int
    keys: Block | None = None

    def is_of(self, clip: Block) -> bool:
        """Tell whether a clip is this animation's: by the action of its keys, or where that has none by its name."""
        if self.keys is not None:
            return bool(clip.get(RIG_KEYS) == self.keys)
        same = names.file_name_of(clip) == self.name
        return RIG_KEYS not in clip and same and frames_in_whole(clip) == (self.first, self.count)


def pair(rig: Block, wanted: Iterable[ClipWanted]) -> None:
    """Let an armature have a clip for each animation of its keys, called as that is, and no other."""
    whole = whole_of(rig)
    if whole is None:
        return
    left, every = clips_of(rig), ActionPoses(whole)
    for each in wanted:
        clip = next((clip for clip in left if each.is_of(clip)), None)
        if clip is None:
            add(rig, each, every, whole)
            continue
        left.remove(clip)
        if names.file_name_of(clip) != each.name:
            old, clip.name = clip.name, names.fit(each.name) or UNNAMED
            names.remember(clip, each.name)
            call_tracks(rig, old, clip)
    for clip in left:
        remove(rig, clip)
    note_settled(rig, whole)


def add(rig: Block, wanted: ClipWanted, every: ActionPoses, whole: Block) -> None:
    """Make an action of an animation's frames; the armature keeps it."""
    action: Block = bpy.data.actions.new(names.fit(wanted.name) or UNNAMED)
    names.remember(action, wanted.name)
    new_curves(action, "OBJECT", slot_name(rig))
    action[RIG], action[RIG_ALL], action[FRAMES] = rig_id(rig), whole, [wanted.first, wanted.count]
    action[CLIP] = uuid.uuid4().hex[:8]
    if wanted.keys is not None:
        action[RIG_KEYS] = wanted.keys
    action.use_fake_user = True
    spans.set_range(action, 0, wanted.count - 1)
    keep(rig, action)
    renew(action, every)


def add_like(rig: Block, clips: Iterable[Block], whole: Block) -> None:
    """Make clips of an armature's own whole, of the animations that another's clips are of."""
    every = ActionPoses(whole)
    for clip in clips:
        wanted = ClipWanted(names.file_name_of(clip), *frames_in_whole(clip), clip.get(RIG_KEYS))
        add(rig, wanted, every, whole)


def remove(rig: Block, action: Block) -> None:
    """Remove the action of an animation, and the track that keeps it."""
    let_go(rig, action)
    bpy.data.actions.remove(action)


def clips_of(rig: Block) -> list[Block]:
    """Return the actions of an armature's animations."""
    return [action for action in rig_actions(rig) if frames_in_whole(action)[1]]


def frames_in_whole(action: Block) -> tuple[int, int]:
    """Return when the whole shows a clip's first frame, and how many it has: none of what is no clip."""
    found = action.get(FRAMES)
    try:
        first, count = (int(number) for number in found) if found is not None else (0, 0)
    except (TypeError, ValueError):  # not as `_add` writes it
        return 0, 0
    return first, max(count, 0)


def span_in_whole(clip: Block) -> tuple[int, int]:
    """Return when the whole shows a clip's frames: the first, and the one behind the last."""
    first, count = frames_in_whole(clip)
    return first, first + count


def whole_curves(rigs: Iterable[Block], root: Block | None) -> list[Any]:
    """Return the curves that show all frames of a model, or of the part of a player that has a root."""
    found = []
    for rig in rigs:
        whole = whole_of(rig)
        others = {bone.name for bone in rig.pose.bones if bone_root(bone) not in (None, root)}
        curves = [] if whole is None else curves_of(whole)
        found += [curve for curve in curves if others.isdisjoint(moved_bones([curve]))]  # constraints of theirs, too
    return found


def rewrite(rigs: Iterable[Block], order: list[Any]) -> None:
    """Give clips the frames that they have in a new order of the whole's: places of frames by the old one's."""
    for rig in rigs:
        whole = whole_of(rig)
        every = None if whole is None else ActionPoses(whole)
        for clip in clips_of(rig) if every is not None else ():
            first, count = frames_in_whole(clip)
            places = [place for place, frame in enumerate(order) if first <= frame <= first + count - 1]
            if not places:
                remove(rig, clip)
                continue
            clip[FRAMES] = [places[0], len(places)]
            if len(places) != count:
                spans.resize(clip, len(places))
            if every is not None:
                renew(clip, every, cut=True)
        if whole is not None:
            note_settled(rig, whole)


def renew(clip: Block, every: ActionPoses, cut: bool = False) -> None:
    """Give a clip the whole's poses; `cut`: and nothing before or behind its frames, or between two of them."""
    first, count = frames_in_whole(clip)
    write(clip, every.at(first, count), 0, whole=True, cut=cut)
    times = 1 + max([stamp_of(clip)[2], *(often for _, often in settled_of(clip[RIG_ALL]).values())])
    clip[STAMP] = " ".join((*checksums(clip, every), str(times)))


def checksums(clip: Block, every: ActionPoses) -> tuple[str, str]:
    """Return the checksums of a clip's poses, and of those of the same frames in the whole."""
    first, count = frames_in_whole(clip)
    return ActionPoses(clip).at(0, count).checksum(), every.at(first, count).checksum()


def stamp_of(clip: Block) -> tuple[str, str, int]:
    """Return what a clip and the whole held when they were last alike, and how often they were settled."""
    own, whole, times = (*str(clip.get(STAMP, "")).split(), "", "", "")[:3]
    return own, whole, int(times) if times.isdecimal() else 0


def id_of(clip: Block) -> str:
    """Return which clip one is; of an older .blend a checksum of its name. Several may be of the same frames."""
    found = clip.get(CLIP)
    return found if isinstance(found, str) else f"{crc32(clip.name.encode()):08x}"


def note_settled(rig: Block, whole: Block) -> None:
    """Note on the whole what clips' stamps say of it."""
    stamps = ((id_of(clip), *stamp_of(clip)[1:]) for clip in clips_of(rig))
    whole[SETTLED] = " ".join(f"{own}:{poses}:{times}" for own, poses, times in stamps)


def settled_of(whole: Block) -> dict[str, tuple[str, int]]:
    """Return what the whole held of clips when they were settled, and how often they were, as it knows."""
    noted = (each.split(":") for each in str(whole.get(SETTLED, "")).split())
    return {each[0]: (each[1], int(each[2])) for each in noted if len(each) == 3 and each[2].isdecimal()}
