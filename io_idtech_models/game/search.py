"""Finding files as the games do: by names relative to the game folder, whatever their case and extension.

The game folder is the one above `models/` (or, for Quake II's players, above `players/`): names in models count from
there. With its archives, and the game's base folder beside a mod's, it is one `Store` (see `folders`). A name that a
file gives is data of a stranger: it is looked up in listings, never opened as a path, and what it finds must lie inside
the game folder (or, by its bare file name, beside the model; or in a game that the user has told us of), also after
links are followed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from .folders import Union, home_of
from .store import GameFile, Store, name_parts, split_name

# ioquake3's order (R_LoadImage: tga jpg jpeg png pcx ...), then what else Blender reads. Quake II's engines too take
# these in place of a pcx (Yamagi's r_retexturing: tga png jpg; Q2PRO's r_texture_formats: png jpg tga).
IMAGE_SUFFIXES = (".tga", ".jpg", ".jpeg", ".png", ".pcx", ".webp", ".dds", ".bmp", ".tif", ".tiff")
# Pictures beside a skin that are none: icons of players of Quake II and III, and what Q2PRO lets glow.
NO_SKINS, ICON = ("_i", "_glow"), "icon_"
# Doom 3's and its kin's materials name pictures by what they are for; a shader without a script has the diffuse one.
DIFFUSE_ENDINGS = ("", "_d", "_diffuse", "_local")
SAYS_NOTHING = "tris"  # the name of nearly every model of Quake II
MAX_SKINS = 256


@dataclass
class SearchPath:
    """Where the files that a model names may lie: its game folder, and the folder beside it."""

    model: GameFile

    @cached_property
    def _game(self) -> Store | None:
        return game_folder(self.model)

    @cached_property
    def _beside(self) -> Store:
        return self.model.folder

    def find_image(self, name: str, endings: tuple[str, ...] = ("",)) -> GameFile | None:
        """Return the picture that a shader or skin name means: in the game folder, beside the model, or in other games.

        `endings` are tried behind the name, one after another.
        """
        plain = next((name[: -len(s)] for s in IMAGE_SUFFIXES if name.lower().endswith(s)), name)
        spelt = (name if not ending else plain + ending for ending in endings)
        return next((found for found in map(self._find_image, spelt) if found is not None), None)

    def _find_image(self, name: str) -> GameFile | None:
        parts = name_parts(name)
        if not parts:
            return None
        spellings = list(image_spellings(parts[-1]))
        found = None if self._game is None else self._game.find_first(parts[:-1], spellings)
        found = found or self._beside.find_first((), spellings)
        if found is None:
            others = (game.find_first(parts[:-1], spellings) for game in self.model.layer.elsewhere)
            found = next((file for file in others if file is not None), None)
        return found

    def companions(self, suffix: str, usual: str) -> list[GameFile]:
        """Return the files that may go with a model: those beside it, then the one where the game, or another, has it.

        Beside it: the one called as the model is, the one called as the file `usual`ly is, then the others by name.
        """
        names = [name for name in self._beside.names() if name.lower().endswith(suffix)]
        *folders, last = name_parts(usual) or [""]
        wanted = (self.model.stem.lower(), split_name(last)[0].lower())
        names.sort(key=lambda name: (*(split_name(name)[0].lower() != stem for stem in wanted), name.lower()))
        found = [self._beside.find_first((), [name]) for name in names]
        games = [self._game, *self.model.layer.elsewhere]
        found += [game.find_first(folders, [last]) for game in games if game is not None]
        return list(dict.fromkeys(file for file in found if file is not None))

    def companion_places(self, usual: str) -> list[str]:
        """Return where `companions` looks, for a message."""
        places = [f"'{self._beside.place}'"]
        return places if self._game is None else [*places, f"'{self._game.place_of(usual)}'"]

    def scripts(self, folder: str, suffix: str) -> list[GameFile]:
        """Return the files of a kind right below a folder of the game, else of others: the strongest layers' first.

        Within a layer they come by their names; of those of one name only the strongest layer's is there.
        """
        for game in (self._game, *self.model.layer.elsewhere):
            inside = (
                [] if game is None else [file for store in game.below([folder]) for file in _lying_in(store, suffix)]
            )
            if inside:
                return inside
        return []

    def own_image(self) -> GameFile | None:
        """Return the picture of a model that names none: the one called as it is, else the only one beside it."""
        own = self._beside.find_first((), [self.model.stem + suffix for suffix in IMAGE_SUFFIXES])
        return own or (self._pictures[0] if len(self._pictures) == 1 else None)

    def other_skins(self) -> list[GameFile]:
        """Return the pictures beside the model that a player may choose from, in order of their names.

        What is called like another model in the folder is that model's (`weapon.pcx` beside `weapon.md2`).
        """
        suffix, own = self.model.suffix.lower(), self.model.stem.lower()
        files = (split_name(name.lower()) for name in self._beside.names())
        others = {stem for stem, ending in files if ending == suffix} - {own}
        return [file for file in self._pictures if file.stem.lower() not in others]

    @cached_property
    def _pictures(self) -> list[GameFile]:
        """The pictures beside the model, icons and the like left out: of those of one name the first that games try."""
        ranked = []
        for name in self._beside.names():
            stem, dot, suffix = name.lower().rpartition(".")
            if stem and dot + suffix in IMAGE_SUFFIXES and not is_no_skin(stem):
                ranked.append((stem, IMAGE_SUFFIXES.index(dot + suffix), name))
        found: dict[str, GameFile] = {}
        for stem, _, name in sorted(ranked):
            file = self._beside.find_first((), [name]) if stem not in found else None
            if file is not None:
                found[stem] = file
            if len(found) == MAX_SKINS:
                break
        return list(found.values())


def _lying_in(folder: Store, suffix: str) -> list[GameFile]:
    files = [file for below, file in folder.walk() if not below and file.name.lower().endswith(suffix)]
    layers = (list(group) for _, group in groupby(files, key=lambda file: file.layer))
    return [file for layer in layers for file in sorted(layer, key=lambda file: (file.name.lower(), file.name))]


def model_name(file: GameFile) -> str:
    """Return what to call a model: its file's name without the extension, or its folder's where that says nothing."""
    return file.stem if file.stem.lower() != SAYS_NOTHING else file.layer.name or file.stem


def game_folder(file: GameFile) -> Store | None:
    """Return the game folder that a file lies in, with all its layers, or None: see `folders.home_of`."""
    folder = file.folder
    if isinstance(folder, Union):
        return folder.root
    home = home_of(file.layer)
    return None if home is None else home[0]


def game_name(file: GameFile) -> str:
    """Return what a model calls a file: its path in the game's folder, or its bare name where there is none."""
    home = home_of(file.layer)
    return file.name if home is None else "/".join([*home[1], file.name])


def image_spellings(name: str) -> Iterator[str]:
    """Yield the file names that a picture's name may mean: its extension is only a hint."""
    stem, dot, suffix = name.rpartition(".")
    known = dot and f".{suffix.lower()}" in IMAGE_SUFFIXES
    if known:
        yield name
    # A name that ends in no known extension may hold a dot of its own.
    for base in dict.fromkeys((stem if known or (dot and len(suffix) <= 4) else name, name)):
        yield from (base + ending for ending in IMAGE_SUFFIXES if base)


def is_no_skin(stem: str) -> bool:
    """Tell whether a picture beside a model is for something else, by its name in lower case."""
    return stem.startswith(ICON) or stem.endswith(NO_SKINS)
