"""Animations of models with frames in a .blend on disk: held by what they are of, so that Append and Link bring them.

A fake user keeps an action in its own .blend alone, and of a model that is appended the one that played came along.
While a .blend is saved, and no longer, properties of meshes and armatures point at all that are theirs.
"""

from __future__ import annotations

import uuid
from typing import Any

import bpy

from .frame_rigs import RIG
from .linked import is_linked
from .names import place_among_copies
from .provenance import MODEL_ID, OWN_ANIMATIONS, animations_id

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
            found = animations_id(block) if mark == MODEL_ID else block.get(mark)
            if isinstance(found, str) and found in own and not is_linked(block):
                block[HELD] = {str(number): action for number, action in enumerate(own[found])}


def release() -> None:
    """Let fake users keep what is held, also what Append brought, and had none there.

    A model that was appended twice has animations of its own.
    """
    meshes: dict[tuple[Any, ...], list[Any]] = {}
    for kind in MARKS:
        for block in getattr(bpy.data, kind):
            if HELD not in block or is_linked(block):
                continue
            held = block[HELD]
            every = held.values() if hasattr(held, "values") else ()
            actions = tuple(a for a in every if isinstance(a, bpy.types.Action) and not is_linked(a))
            for action in actions:
                action.use_fake_user = True
            if kind == "meshes":
                meshes.setdefault(actions, []).append(block)
            del block[HELD]
    places = {actions: max(place_among_copies(block.name) for block in own) for actions, own in meshes.items()}
    for actions in sorted(places, key=places.__getitem__, reverse=True):  # the first keeps what others leave
        _tell_apart(meshes[actions], actions)


def _tell_apart(meshes: list[Any], actions: tuple[Any, ...]) -> None:
    """Let meshes have the actions that they hold for themselves, where others of the same model have other ones."""
    ids = set(map(animations_id, meshes))
    others = [mesh for mesh in bpy.data.meshes if mesh not in meshes and not is_linked(mesh)]
    theirs = [action for action in bpy.data.actions if action not in actions and not is_linked(action)]
    if actions and any(animations_id(m) in ids for m in others) and any(a.get(MODEL_ID) in ids for a in theirs):
        fresh = uuid.uuid4().hex
        for action in actions:
            action[MODEL_ID] = fresh
        for mesh in meshes:
            mesh[OWN_ANIMATIONS] = fresh
