"""How much Blender can bear: its cost for many things of a kind is quadratic, and a small file can hold very many.

Measured on 5.2: 20,000 bones take half a minute, 8,000 materials 2 seconds, 16,000 shape keys one second and each
doubling four times as long.
"""

from __future__ import annotations

from ..errors import LimitError

MOST = {"joints": 4096, "surfaces": 4096, "tags": 4096, "materials": 4096, "frames": 32768}


def refuse_more(**counts: int) -> None:
    """Refuse a model with more of something than Blender can bear; names are those of `MOST`.

    Raises:
        LimitError: the sentence says of what, how many, and how many can be.
    """
    for kind, count in counts.items():
        if count > MOST[kind]:
            raise LimitError(f"the model has {count} {kind}, Blender becomes unusable with more than {MOST[kind]}")
