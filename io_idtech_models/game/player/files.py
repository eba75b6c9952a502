"""Which files make a player of Quake III and its kin, wherever they lie: found from any one of them, or its folder.

Facts (CG_RegisterClientModelname, CG_FindClientModelFile and CG_FindClientHeadFile of Quake III, R_RegisterMD3 of it
and of Enemy Territory; RtCW's and World of Padman's players):

- A player is a folder `models/players/NAME` with `lower.md3`, `upper.md3` and `head.md3`, `animation.cfg`, for each
  skin `PART_SKIN.skin` of every part and `icon_SKIN.tga`. Games refuse one that lacks any of these. A head may lie in
  `models/players/heads/NAME/NAME.md3` with its skins, a body in `models/players/characters/NAME`.
- `PART_1.md3` and `PART_2.md3` (of Enemy Territory `_3` too) are levels of detail. Games count those that they find and
  take the count for the highest number, so that there must be no gap.
- World of Padman's lie in `models/wop_players`, and may have a head for each skin: `head_SKIN.md3`. Return to Castle
  Wolfenstein's have skins `body_SKIN.skin` for both parts of a body, a head that `md3_part` in `head_SKIN.skin` names,
  and `wolfanim.cfg`. Tremulous has players of one part, `nonseg.md3`.
- Names count whatever their case, and each file is the one of the strongest layer (see `folders`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from ...reporting import ModelError
from ..folders import Union, home_of
from ..search import IMAGE_SUFFIXES
from ..skin import SUFFIX, choose, rank, read_skin, skins_of
from ..store import Folder, GameFile, Store, name_parts
from .animation_cfg import LOWER, UPPER, WHOLE

HEAD = "head"
PARTS = (LOWER, UPPER, HEAD)
TABLES = ("animation.cfg", "wolfanim.cfg")
READ, NOT_READ = (".md3",), (".mdc", ".mdr", ".iqm")  # formats of parts: games take the former where there are both
FOLDERS = (("models", "players"), ("models", "wop_players"))
HEADS, CHARACTERS = "heads", "characters"  # folders among the players that are none
LEVELS = 3
LEVEL = re.compile(r"[1-9]\Z")
PART = re.compile(r"(lower|upper|head)(_[1-3])?\.md3\Z")
HEAD_OF_SKIN = "md3_part"

MOST_SHOWN = 6  # files in a sentence


@dataclass(frozen=True)
class PartFiles:
    """The files of a part: its model, the same coarser, and what it wears."""

    base: GameFile
    levels: dict[int, GameFile] = field(default_factory=dict)  # `lower_1.md3` by 1; there may be gaps
    skins: dict[str, GameFile] = field(default_factory=dict)  # by the skins' names in lower case
    variants: dict[str, GameFile] = field(default_factory=dict)  # other models of the part, by the skins that have them

    def model(self, skin: str = "") -> GameFile:
        """Return the model that a skin has."""
        return self.variants.get(skin.lower(), self.base)


@dataclass(frozen=True)
class PlayerFiles:
    """What there is of a player."""

    name: str  # its folder's
    folder: Store  # as the game sees it
    parts: dict[str, PartFiles]  # by `lower`, `upper`, `head`, or `nonseg`; those that there are
    table: GameFile | None  # of animations
    skins: list[str]  # that all parts have, the one to show first
    icons: dict[str, GameFile]  # by skin
    missing: list[str]  # what a game refuses it for, or shows otherwise, a sentence each
    without_icon: list[str]  # skins without an icon, which games ask for

    @property
    def path(self) -> str:
        """Return what its files' names in the game begin with: "models/players/sarge"."""
        found = _path(self.folder)
        return "/".join(found or (*FOLDERS[0], self.name))


def player_of(file: GameFile) -> PlayerFiles | None:
    """Return the player that a file belongs to, whichever of its files that is; None if there is no model of one."""
    return player_in(file.layer)


def is_of_whole(file: GameFile) -> bool:
    """Tell whether a file is a part's model of a player that has a body and a head."""
    if not PART.match(file.name.lower()) or not file.is_file():
        return False
    found = player_of(file)
    return found is not None and HEAD in found.parts and len(found.parts) > 1


def named_by(file: GameFile) -> PlayerFiles | None:
    """Return the player that a file belongs to, with that file where it lies, also where the game takes another one.

    What else lies there, and is another file in the game, is named.
    """
    found = player_of(file)
    around = file.layer.around
    if found is None or not isinstance(around, Union):
        return found
    led = around.led_by(file.layer)
    hidden = [name for name in led.hidden() if name.lower().endswith((*READ, SUFFIX, ".cfg")) and name != file.name]
    for kind, part in found.parts.items():
        if part.base.name.lower() == file.name.lower():
            found.parts[kind] = replace(part, base=file)
        levels = {nth: file if each.name.lower() == file.name.lower() else each for nth, each in part.levels.items()}
        found.parts[kind] = replace(found.parts[kind], levels=levels)
    if hidden:
        found.missing.append(f"{hidden_in(led)}, which are shown: {shortened(hidden)}")
    return found


def hidden_in(led: Union) -> str:
    """Return the beginning of a sentence on files of the archive, or the folder, that leads."""
    return f"the game takes other files than '{led.layers[0].place}' has"


def shortened(names: list[str]) -> str:
    """Return the first few names."""
    return f"{', '.join(names[:MOST_SHOWN])}{' ...' if len(names) > MOST_SHOWN else ''}"


def player_in(folder: Store) -> PlayerFiles | None:
    """Return the player in a folder, or in the one around it; None if neither has a model of one."""
    for place in (folder, folder.parent):
        if place is not None:
            found = _Found(place.around)
            if found.parts:
                return found.player()
    return None


def players_in(store: Store) -> list[PlayerFiles]:
    """Return all players of a game: of its folder with its archives, of what it sees (a `Union`), or of one archive.

    They come by their names, each with the files of all layers of its game. What has a body is a player; a head alone,
    or pictures, are none.
    """
    found = []
    store = store.disk.whole(store) if isinstance(store, Folder) else store
    for folders in FOLDERS:
        bodies = {tuple(map(str.lower, inner[::-1])): inner for at in store.below(folders) for inner in _bodies(at)}
        places = (store.below((*folders, *bodies[name])) for name in sorted(bodies))
        found += [_Found(place[0].around) for place in places if place]
    players = [each.player() for each in found if each.parts]
    for player in players if isinstance(store, Union) and store.stronger else ():
        hidden = player.folder.hidden() if isinstance(player.folder, Union) else []
        if hidden and isinstance(player.folder, Union):
            player.missing.append(f"{hidden_in(player.folder)}, whose own are shown: {shortened(hidden)}")
    return players


def _bodies(players: Store) -> Iterable[tuple[str, ...]]:
    """Yield the folders below that have a body, each once."""
    wanted = {part + suffix for part in (LOWER, UPPER, WHOLE) for suffix in READ}
    seen = {inner for inner, file in players.walk() if inner and file.name.lower() in wanted}
    return [inner for inner in sorted(seen) if len(inner) == 1 + (inner[0].lower() == CHARACTERS)]


def _path(folder: Store) -> tuple[str, ...] | None:
    """Return the names that lead to a folder from its game's; None where it lies in no game."""
    if isinstance(folder, Union):
        return folder.parts
    home = home_of(folder)
    return None if home is None else home[1]


class _Found:
    """What a folder has of a player."""

    def __init__(self, folder: Store) -> None:
        self.folder = folder
        self.names = [name.lower() for name in folder.names()]
        self.there = frozenset(self.names)
        self.missing: list[str] = []
        self.is_wolf = TABLES[1] in self.there or any(
            name.startswith("body_") and name.endswith(SUFFIX) for name in self.names
        )
        found = {part: self._part(part) for part in (*PARTS, WHOLE)}
        self.parts = {part: files for part, files in found.items() if files is not None}
        if self.parts and HEAD not in self.parts and WHOLE not in self.parts:
            elsewhere = self._head_elsewhere()
            self.parts |= {} if elsewhere is None else {HEAD: elsewhere}

    def player(self) -> PlayerFiles:
        """Return all of it."""
        table = self._file(*TABLES)
        self._say_what_parts_lack()
        if table is None and (LOWER in self.parts or WHOLE in self.parts):
            self._miss(f"no {TABLES[0]}: games refuse a player without, and no frame has a name")
        skins = self._shared_skins()
        icons: dict[str, GameFile] = {}
        for skin in skins:
            icon = self._file(*(f"icon_{skin}{suffix}" for suffix in IMAGE_SUFFIXES))
            icons |= {} if icon is None else {skin: icon}
        without_icon = [] if self.is_wolf or WHOLE in self.parts else [skin for skin in skins if skin not in icons]
        return PlayerFiles(self.folder.name, self.folder, self.parts, table, skins, icons, self.missing, without_icon)

    def _miss(self, what: str) -> None:
        self.missing.append(f"'{self.folder.name}' has {what}")

    def _file(self, *names: str) -> GameFile | None:
        """Return the first file of these names that there is."""
        wanted = [name for name in names if name.lower() in self.there]
        return self.folder.find_first((), wanted) if wanted else None

    def _part(self, part: str) -> PartFiles | None:
        base = self._file(*(stem + suffix for stem in self._stems(part) for suffix in READ))
        skins = self._skins(part)
        variants = self._variants(skins) if part == HEAD else {}
        if base is None:
            first = choose(variants)
            if first is None:
                return None
            base = variants[first]
        levels = {nth: self._file(f"{base.stem}_{nth}{base.suffix}") for nth in range(1, LEVELS + 1)}
        return PartFiles(base, {nth: file for nth, file in levels.items() if file is not None}, skins, variants)

    def _stems(self, part: str) -> list[str]:
        """Return what the model of a part may be called: in the folder of heads as its own folder."""
        around = self.folder.parent
        lies_among_heads = part == HEAD and around is not None and around.name.lower() == HEADS
        return [part, self.folder.name] if lies_among_heads else [part]

    def _skins(self, part: str) -> dict[str, GameFile]:
        names = skins_of(part, self.names)
        if self.is_wolf and part in (LOWER, UPPER):
            names |= skins_of("body", self.names)
        files = {name: self._file(names[name]) for name in sorted(names, key=rank)}
        return {name: file for name, file in files.items() if file is not None}

    def _variants(self, skins: dict[str, GameFile]) -> dict[str, GameFile]:
        """Return the heads of skins that have their own."""
        found: dict[str, GameFile] = {}
        for skin, file in skins.items():
            names = [f"{HEAD}_{skin}{suffix}" for suffix in READ]
            own = None if LEVEL.match(skin) else self._file(*names)
            if own is None and self.is_wolf:
                own = self._head_named_by(file)
            found |= {} if own is None else {skin: own}
        return found

    def _head_named_by(self, skin: GameFile) -> GameFile | None:
        """Return the head that a skin of Return to Castle Wolfenstein names; its last letter counts for nothing."""
        try:
            named = read_skin(skin.read()).attached("rtcw").get(HEAD_OF_SKIN, "")
        except ModelError as error:
            self.missing.append(f"'{skin.name}': {error}")
            return None
        *folders, last = name_parts(named) or [""]
        stem = last[: last.rfind(".")] if "." in last else last
        return self.folder.find_first(folders, [stem + suffix for suffix in READ]) if stem else None

    def _head_elsewhere(self) -> PartFiles | None:
        """Return the head of the player's name in the folder of heads."""
        name, around = self.folder.name, self.folder.parent
        if around is not None and around.name.lower() == CHARACTERS:
            around = around.parent
        base = None if around is None else around.find_first((HEADS, name), [name + suffix for suffix in READ])
        if base is None:
            return None
        folder = base.folder
        found = skins_of(HEAD, folder.names())
        files = {skin: folder.find_first((), [file]) for skin, file in found.items()}
        return PartFiles(base, {}, {skin: file for skin, file in files.items() if file is not None})

    def _say_what_parts_lack(self) -> None:
        for part in () if WHOLE in self.parts else PARTS:
            if part in self.parts:
                self._say_gaps(self.parts[part])
                continue
            other = self._file(*(part + suffix for suffix in NOT_READ))
            levels = [name for name in self.names if name in {f"{part}_{nth}.md3" for nth in range(1, LEVELS + 1)}]
            if other is not None:
                self._miss(f"'{other.name}', which is of a format that can't be read here")
            elif levels:
                self._miss(f"no {part}.md3 for {levels[0]} to be a level of: games crash, and refuse the player")
            else:
                self._miss(f"no {part}.md3: games refuse a player without")

    def _say_gaps(self, part: PartFiles) -> None:
        gap = next(nth for nth in range(1, LEVELS + 2) if nth not in part.levels)
        beyond = [file for nth, file in part.levels.items() if nth > gap]
        if beyond:
            between = f"{part.base.stem}_{gap}{part.base.suffix}"
            self._miss(f"{beyond[0].name}, but no {between}: games crash where a level of detail is left out")

    def _shared_skins(self) -> list[str]:
        """Return the names of the skins that all parts have; says which are of some alone."""
        every = [files.skins for files in self.parts.values()]
        names = sorted({skin for skins in every for skin in skins}, key=rank)
        shared = [name for name in names if all(name in skins for skins in every)]
        for name in names:
            lacking = [part for part, files in self.parts.items() if name not in files.skins]
            if lacking:
                parts = " and ".join(f"{part}_{name}{SUFFIX}" for part in lacking)
                self._miss(f"no {parts}: games refuse the skin '{name}'")
        if not names:
            self._miss("no skin: games refuse a player without; its models wear what they name themselves")
        return shared
