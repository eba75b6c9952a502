"""Engines by how they look for files: which archives they take, in which order, and where loose files come.

Facts, in engine source (FS_AddGameDirectory and what sorts for it): of two archives the later in order wins.

- Quake III's kin compare names character by character, letters as capitals (FS_PathCmp): `pak10` comes before `pak2`,
  and `_` after `Z`. Quake III 1.32, Return to Castle Wolfenstein and Enemy Territory 2.60 put the loose folder below
  its archives, ioquake3 and ET: Legacy above them, and take `NAME.pk3dir` folders among the archives.
- Return to Castle Wolfenstein leaves out `mp_*` and puts `sp_*` above all others; its multiplayer game does the
  opposite.
- Doom 3 compares as small letters (idStr::Icmp), and has loose files above.
- Yamagi Quake II has loose files lowest, then pak0 to pak99 as .pak, as .pk2, .pk3, .pkz, .zip, then other names in the
  file system's order, which differs: here by name.
- Q2PRO has loose files lowest, then what begins with `pak` by its number, then other names.
- Quake has loose files lowest, then pak0, pak1 and so on (COM_AddGameDirectory); other archives are none of its.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

NUMBERED = re.compile(r"pak(\d{1,2})(\.[^.]+)\Z")
NUMBER = re.compile(r"pak(\d*)")
YAMAGI = (".pak", ".pk2", ".pk3", ".pkz", ".zip")
# Rank: what names of archives are sorted by, the weakest first.
Rank = Callable[[str], tuple[Any, ...]]


class Family(NamedTuple):
    """Engines that look for files in the same way."""

    label: str
    archives: tuple[str, ...]
    rank: Rank
    loose_above: bool
    folders: tuple[str, ...] = ()  # how folders end that count as archives
    left_out: tuple[str, ...] = ()  # how archives begin that do not count

    def takes(self, name: str) -> bool:
        """Tell whether a file of that name is an archive of theirs."""
        return name.lower().endswith(self.archives) and not name.lower().startswith(self.left_out or ("/",))

    def takes_folder(self, name: str) -> bool:
        """Tell whether a folder of that name counts as an archive."""
        return name.lower().endswith(self.folders or ("/",))


def _by_capitals(name: str) -> tuple[Any, ...]:
    return (name.upper(), name)


def _above(prefix: str) -> Rank:
    return lambda name: (name.lower().startswith(prefix), name.upper(), name)


def _of_yamagi(name: str) -> tuple[Any, ...]:
    lower = name.lower()
    kind = YAMAGI.index("." + lower.rpartition(".")[2])
    found = NUMBERED.match(lower)
    numbered = found is not None and str(int(found[1])) == found[1]
    return (not numbered, kind, int(found[1]) if found is not None and numbered else 0, lower, name)


def _of_q2pro(name: str) -> tuple[Any, ...]:
    found = NUMBER.match(name.lower())
    return (found is None, int((found[1] if found is not None else "") or 0), name.lower(), name)


FAMILIES = {
    "ioquake3": Family("ioquake3, OpenArena, ET: Legacy", (".pk3",), _by_capitals, True, (".pk3dir",)),
    "quake3": Family("Quake III Arena 1.32, Enemy Territory 2.60", (".pk3",), _by_capitals, False),
    "rtcw": Family("Return to Castle Wolfenstein", (".pk3",), _above("sp_"), False, (), ("mp_",)),
    "rtcw-mp": Family("Return to Castle Wolfenstein, multiplayer", (".pk3",), _above("mp_"), False, (), ("sp_",)),
    "doom3": Family("Doom 3, Quake 4", (".pk4",), lambda name: (name.lower(), name), True),
    "yamagi": Family("Quake II, Yamagi", YAMAGI, _of_yamagi, False),
    "q2pro": Family("Quake II, Q2PRO", (".pak", ".pkz"), _of_q2pro, False),
    "quake": Family("Quake, QuakeSpasm", (".pak",), _of_q2pro, False),
}
DEFAULT = "ioquake3"
# The folders of the games themselves, beside which mods have theirs; of several the first counts.
BASES = ("baseq3", "baseoa", "main", "etmain", "base", "q4base", "baseq2", "id1")
BASE_FAMILIES = {
    "baseq2": "yamagi",
    "id1": "quake",
}  # where archives alone do not tell: Yamagi Quake II takes .pk3, too
GUESSES = ((".pk4", "doom3"), (".pak", "yamagi"), (".pkz", "yamagi"), (".pk2", "yamagi"), (".pk3", "ioquake3"))


def guessed(folder: str, names: Iterable[str]) -> str:
    """Return the family of a game folder by its name and what lies in it; "" where nothing tells."""
    own = BASE_FAMILIES.get(folder.lower(), "")
    endings = {"." + name.lower().rpartition(".")[2] for name in names}
    endings |= {".pk3"} if ".pk3dir" in endings else set()
    return own or next((family for suffix, family in GUESSES if suffix in endings), "")
