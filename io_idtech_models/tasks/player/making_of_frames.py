"""Another character in a player's frames: what hangs on the rig that was made of these gets all of its animations."""

from __future__ import annotations

import numpy as np

from ...blender.compat import Block, Context
from ...blender.player.parts import find_player
from ...blender.player.rig import Rig
from ...blender.scene import ExportScene
from ...blender.skeletal.armature import TURN
from ...blender.vertex.frame_plan import GatherSettings
from ...blender.vertex.shape_keys import frame_blocks
from ...game.player.animation_cfg import AnimationTable
from ...game.player.animation_cfg import read as read_table
from ...model import steady
from ...model.player import cutting
from ...model.player.regions import HEAD, LEGS, PARTS, TORSO
from ...reporting import LimitError
from .making_cuts import Apart, in_game
from .play import num_frames
from .tables import table_file

STANDING = {LEGS: "LEGS_IDLE", TORSO: "TORSO_STAND"}


def in_its_frames(rig: Rig, context: Context) -> Apart:
    """Return a mesh that hangs on a player's rig in that player's frames, with its tags and its table.

    While the legs show their frames the torso stands, and while the torso does the legs: so points near a cut, which
    bones of both may move, are where these two fit.
    """
    from ...blender.rigging.player import parts_of, sample_frames

    player = find_player(rig.armature)
    table = {} if player is None else table_file(player, context)
    if player is None or not table:
        raise LimitError(f"'{rig.armature.name}' poses frames of a player that has no animation.cfg")
    parts = parts_of(rig)
    if not (parts.torso and parts.head):
        raise LimitError(f"'{rig.armature.name}' has no tag_torso in its legs, or no tag_head in its torso")
    roots = {kind: root for kind, root in player.parts.items() if kind in PARTS}
    counts = {kind: num_frames(root) for kind, root in roots.items()}
    if max(counts.get(LEGS, 1), counts.get(TORSO, 1)) < 2:
        raise LimitError("the player's own meshes are gone, and with them how many frames it has: keep them until then")
    text = next(iter(table.values()))
    stand = {kind: _first(read_table(text), kind, row, counts[kind]) for kind, row in STANDING.items()}
    shots = [stand | {LEGS: frame} for frame in range(counts[LEGS])]
    shots += [stand | {TORSO: frame} for frame in range(counts[TORSO])]
    export = ExportScene(context.scene, context.view_layer, GatherSettings())
    sampled = sample_frames(rig, parts, roots, shots, export)
    into = np.repeat(cutting.inverse(sampled.armature[:1]), len(shots), axis=0)

    def tag(bone: str) -> cutting.Joint:
        return cutting.joint(steady.products(into, sampled.bones[bone]), TURN)

    torso = tag(parts.torso)
    held = tag(parts.hand).beside(torso) if parts.hand else np.repeat(np.eye(4)[None], len(shots), axis=0)
    lower = list(range(counts[LEGS]))
    upper = list(range(counts[LEGS], len(shots)))
    frames = {LEGS: lower, TORSO: upper, HEAD: [upper[stand[TORSO]]]}
    names = {kind: _frame_names(roots[kind]) for kind in (LEGS, TORSO)}
    return Apart(in_game(sampled, into), torso, tag(parts.head), held, lower[stand[LEGS]], frames, names, text)


def _first(table: AnimationTable, kind: str, row: str, count: int) -> int:
    """Return the first frame of a row in a part's model; 0 where the table or the model has none such."""
    first = next((each.frames[0] for each in table.of_part(kind) if each.name == row), 0)
    return first if 0 <= first < count else 0


def _frame_names(root: Block) -> list[str]:
    """Return what the frames of a part are called."""
    keyed = [block.data.shape_keys for block in root.children if block.type == "MESH" and block.data.shape_keys]
    return [key.name for key in frame_blocks(keyed[0])] if keyed else ["stand"]
