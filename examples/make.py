"""Make the example models: Brazier (MDL), Sentinel (MD3), Stilt (MD2), Newt (MD5), Trooper (MDM, MDX), Lantern, Tock.

(Bloom is an IQM; the Lantern is an MD3 with a shader script and skins, in a pack; Tock is a whole player of Quake III;
the Trooper is a whole character of Enemy Territory, too: `soldier.py`.)

    python examples/make.py [FOLDER]

writes them with their textures into FOLDER (default: beside this script). Shapes, animations and pictures are made from
nothing but numbers, by the module that is called as the model; the package's own codecs write the models.

Every run writes the same bytes, whatever the versions of Python and numpy: coordinates are rounded far more coarsely
than floating-point noise, and pictures are packed here.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent


def files() -> dict[str, bytes]:
    """Return all files by their paths below this folder."""
    if str(HERE.parent) not in sys.path:
        sys.path.insert(0, str(HERE.parent))
    from examples import bloom, brazier, lantern, newt, pennant, sentinel, soldier, stilt, tock, trooper

    parts = brazier, sentinel, stilt, newt, trooper, soldier, lantern, tock, pennant, bloom
    return {name: data for part in parts for name, data in part.files().items()}


def main(arguments: Sequence[str]) -> int:
    """Write the examples; returns the exit status."""
    folder = Path(arguments[0]) if arguments else HERE
    for name, data in files().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        print(f"{path}: {len(data)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
