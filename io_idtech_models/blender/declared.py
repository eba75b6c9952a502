"""What a model of Doom 3 was declared as, noted on its armature: what a declaration of new animations goes on from."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

DECLARED = "idtech_declared"  # on an armature's data: the declared model, its mesh's path in the game, its animations


def note(rig: Any, model: str, mesh: str, anims: Sequence[str]) -> None:
    """Note on an armature which declared model it is, its mesh's path in the game, and which animations that has."""
    rig.data[DECLARED] = json.dumps([model, mesh, list(anims)])


def noted(rig: Any) -> tuple[str, str, list[str]]:
    """Return what was noted: model, mesh and animations; "" and none where nothing was, or it is damaged."""
    try:
        model, mesh, anims = json.loads(str(rig.data.get(DECLARED, "")))
    except (ValueError, TypeError):
        return "", "", []
    if not (isinstance(model, str) and isinstance(mesh, str) and isinstance(anims, list)):
        return "", "", []
    return model, mesh, [each for each in anims if isinstance(each, str)]
