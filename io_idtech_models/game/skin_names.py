"""Which skins there are for the parts of a player, by the names of the files in a folder.

A part's skin is called PART_SKIN.skin: `upper_default.skin` of `upper.md3`, `body_soldier.skin` of `body.mdm`. Facts
(CG_FindClientModelFile of Quake III): for a team TEAM (`red`, `blue`, or `default` without teams) PART_SKIN_TEAM.skin
comes first, then in games of teams PART_TEAM.skin, else PART_SKIN.skin.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .lexer import fold, without_suffix

SUFFIX = ".skin"
MODELS = (".md3", ".mdc", ".mds", ".mdm", ".mdr", ".iqm", ".md5mesh")
FIRST = ("default", "red")  # which to show, before any other


def skins_of(part: str, files: Iterable[str]) -> dict[str, str]:
    """Return the skins of a part (`upper`), the one to choose first: names in lower case, and the files' names.

    What is called after a longer name of a model in the folder is that model's: `head_big_red.skin` beside
    `head_big.md3`.
    """
    files = list(files)
    start = fold(part) + "_"
    others = [stem + "_" for stem in map(_stem, files) if stem.startswith(start)]
    found: dict[str, str] = {}
    for file in sorted(files, key=lambda name: (fold(name), name)):
        name = fold(file)
        if name.startswith(start) and name.endswith(SUFFIX) and not name.startswith(tuple(others)):
            found.setdefault(name[len(start) : -len(SUFFIX)], file)
    return {name: found[name] for name in sorted(found, key=rank)}


def shared_skins(parts: Sequence[str], files: Iterable[str]) -> list[str]:
    """Return the names of the skins that all parts have, the one to choose first."""
    files = list(files)
    found = [skins_of(part, files) for part in parts]
    return [name for name in found[0] if all(name in skins for skins in found)] if found else []


def rank(name: str) -> tuple[int, str]:
    """Return by what to sort skins: `default`, then `red`, then all others by name."""
    name = fold(name)
    return (FIRST.index(name) if name in FIRST else len(FIRST)), name


def choose(names: Iterable[str]) -> str | None:
    """Return which of several skins to show; None if there is none."""
    return min(names, key=rank, default=None)


def find_file(part: str, skin: str, files: Iterable[str], team: str = "default", *, teams: bool = False) -> str | None:
    """Return the file that the game takes for a part, a player's skin, and a team; `teams` in games of teams."""
    names = [f"{part}_{skin}_{team}", f"{part}_{team}" if teams else f"{part}_{skin}"]
    known: dict[str, str] = {}
    for file in files:
        known.setdefault(fold(file), file)
    return next((known[key] for name in names if (key := fold(name) + SUFFIX) in known), None)


def _stem(file: str) -> str:
    """Return a model's name without its suffix; "" for other files."""
    name = fold(file)
    return without_suffix(name) if name.endswith(MODELS) else ""
