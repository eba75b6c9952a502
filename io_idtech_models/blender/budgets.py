"""How much Blender can bear: its cost for many things of a kind is quadratic, and a small file can hold very many.

Measured on 5.2: 20,000 bones take half a minute, 8,000 materials 2 seconds, 16,000 shape keys one second and each
doubling four times as long. Bones of 1e18 units keep their axes on 4.2, 4.5 and 5.2; those of 1e21 lose them: the
square of their length is beyond single precision.

The most of `vertices in all frames` is MD3's maximum, of which an import takes 10 GB of memory and an export 16; two
million `joints in all frames` take 3 GB, and the largest animation of a game has a quarter of a million.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..reporting import LimitError

VERTICES, JOINTS, PIXELS = "vertices in all frames", "joints in all frames", "pixels in all skins"
MOST = {"joints": 4096, "surfaces": 4096, "tags": 4096, "materials": 4096, "pictures": 4096, "frames": 32768} | {
    VERTICES: 1024 * 4096 * 32,
    JOINTS: 1 << 22,
    PIXELS: 1 << 27,  # of which Blender takes four bytes each, and a moment ago sixteen
}
REACH = 1e15  # Blender's units


def refuse_more(**counts: int) -> None:
    """Refuse a model with more of something than Blender can bear; names are those of `MOST`.

    Raises:
        LimitError: the sentence says of what, how many, and how many can be.
    """
    for kind, count in counts.items():
        if count > MOST[kind]:
            raise LimitError(f"the model has {count} {kind}, Blender becomes unusable with more than {MOST[kind]}")


def refuse_to_write(surfaces: int) -> None:
    """Refuse a model of more surfaces than an import of its file would take; raises LimitError."""
    most = MOST["surfaces"]
    if surfaces > most:
        raise LimitError(f"{surfaces} surfaces: no import takes more than {most} back, join objects first (Ctrl+J)")


def refuse_farther(what: str, places: NDArray[Any]) -> None:
    """Refuse places (..., 3), in Blender's units, farther out than its bones can be; `what` lies there.

    Raises:
        LimitError: a place is beyond `REACH`, or no number.
    """
    farthest = float(np.abs(places).max(initial=0.0))
    if not farthest <= REACH:
        raise LimitError(f"{what} reach {farthest:g} units, Blender's armatures work up to {REACH:g}")
