"""Animations of models with frames in a .blend on disk: held by what they are of, so that Append and Link bring them.

A fake user keeps an action in its own .blend alone, and of a model that is appended the one that played came along.
While a .blend is saved, and no longer, properties of meshes and armatures point at all that are theirs.
"""

from __future__ import annotations

from typing import Any

import bpy

from .frame_rigs import RIG
from .linked import is_linked
from .provenance import MODEL_ID

HELD = "idtech_actions"  # on a mesh or an armature: what points at its actions, by numbers
MARKS = {"meshes": MODEL_ID, "armatures": RIG}  # what says of which an action is


def hold() -> None:
    """Let meshes and armatures hold their actions; call it before a .blend is saved, and `release` after that."""
    release()
    for kind, mark in MARKS.items():
        own: dict[str, list[Any]] = {}
        for action in bpy.data.actions:
            if action.use_fake_user and not is_linked(action) and isinstance(action.get(mark), str):
                own.setdefault(action[mark], []).append(action)
        for block in getattr(bpy.data, kind) if own else ():
            found = block.get(mark)
            if isinstance(found, str) and found in own and not is_linked(block):
                block[HELD] = {str(number): action for number, action in enumerate(own[found])}


def release() -> None:
    """Let fake users keep what is held, also what Append brought, and had none there."""
    for kind in MARKS:
        for block in getattr(bpy.data, kind):
            if HELD not in block or is_linked(block):
                continue
            held = block[HELD]
            for action in held.values() if hasattr(held, "values") else ():
                if isinstance(action, bpy.types.Action) and not is_linked(action):
                    action.use_fake_user = True
            del block[HELD]
