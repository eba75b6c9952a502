"""What of an action import made: its keys, whatever has become of the bones that they move.

Poses tell less. Bones that are rolled, hang on others or are led by constraints, and models at another scale, show
another pose in each frame though nobody has changed a key.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..compat import Block, is_muted
from ..curves import bone_path, read_keys
from ..leaders import cast
from . import armature
from .bones import KINDS, REST_CHANNELS, WIDTHS
from .source import StoredAction, find_action

Places = dict[tuple[str, int], int]


def frames_as_made(rig: Block, action: Block, times: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell in which of its frames, at `times` (F,), an action shows the keys that import made for them; in none else.

    That is one by one in the file's order. A key elsewhere, of another bone or of anything else, is no edit of one
    frame but of all; one of a bone that was deleted is none.
    """
    known, none = find_action(action), np.zeros(len(times), np.bool_)
    if known is None or len(known.channels) != len(times):
        return none
    count, joints, width = known.channels.shape
    places = _places(rig, known)
    keys = read_keys(
        [curve for role in cast(rig, action).roles for curve in role.curves if _is_there(role.owner, curve)]
    )
    rows = np.array([places.get((curve.data_path, curve.array_index), -1) for curve in keys.curves], np.int64)
    if (rows < 0).any() or any(is_muted(curve) or curve.modifiers for curve in keys.curves):
        return none
    points = keys.of_count(count)
    values = points[:, 1::2].copy()
    for nth in np.flatnonzero((points[:, 0::2] != times).any(axis=1)).tolist():
        values[nth] = [keys.curves[nth].evaluate(time) for time in times.tolist()]
    rest = np.tile(REST_CHANNELS[:width], joints)
    written = np.concatenate((known.channels.reshape(count, -1).T, np.ones((1, count), np.float32)))  # as `_places` say
    lacking = np.setdiff1d([place for place in places.values() if place < len(rest)], rows)
    still = (written[lacking] == rest[lacking, None]).all(axis=0)
    return np.asarray((values == written[rows]).all(axis=0) & still)


def _is_there(owner: Block, curve: Any) -> bool:
    """Tell whether what a curve moves is there."""
    try:
        owner.path_resolve(curve.data_path)
    except ValueError:
        return False
    return True


def _places(rig: Block, known: StoredAction) -> Places:
    """Return which channel of a source's joints each curve is, by path and index: those that have none are behind all.

    These are scales of bones, of formats that have none.
    """
    bones = armature.file_order(rig.data.bones)
    joints, width = known.channels.shape[1:]
    by_name = {name: joint for joint, name in enumerate(known.source.joint_names)}
    kinds = [(kind, index) for kind, size in zip(KINDS, WIDTHS, strict=True) for index in range(size)]
    found: Places = {}
    for bone, number in zip(bones, armature.joint_numbers(bones), strict=True):
        joint: Any = number if 0 <= number < joints else by_name.get(armature.joint_name(bone))
        for channel, (kind, index) in enumerate(kinds) if joint is not None else ():
            place = joint * width + channel if channel < width else joints * width
            found[f"{bone_path(bone.name)}.{kind}", index] = place
    return found
