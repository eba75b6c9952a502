"""Texts of a real game's packs: shader scripts and skins, read where they lie."""

import functools
import zipfile

from tests.samples import CORPUS

PACKS = CORPUS / "openarena" / "baseoa"


@functools.cache
def packed(suffix: str) -> dict[str, bytes]:
    """Return the members of all packs that end so, by pack and name, in the order of the packs."""
    found = {}
    for path in sorted(PACKS.glob("*.pk3")):
        with zipfile.ZipFile(path) as pack:
            names = [name for name in pack.namelist() if name.lower().endswith(suffix)]
            found.update({f"{path.name}/{name}": pack.read(name) for name in names})
    return found
