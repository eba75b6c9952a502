"""Finding files as the games do: by names relative to the game folder, whatever their case and extension.

The game folder is the one above `models/` (or, for Quake II's players, above `players/`): names in models count from
there. A name that a file gives is data of a stranger: it is looked up in folder listings, never opened as a path, and
what it finds must lie inside the game folder (or, by its bare file name, beside the model), also after links are
followed.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

# ioquake3's order (R_LoadImage: tga jpg jpeg png pcx ...), then what else Blender reads. Quake II's engines too take
# these in place of a pcx (Yamagi's r_retexturing: tga png jpg; Q2PRO's r_texture_formats: png jpg tga).
IMAGE_SUFFIXES = (".tga", ".jpg", ".jpeg", ".png", ".pcx", ".webp", ".dds", ".bmp", ".tif", ".tiff")
# Pictures beside a skin that are none: a Quake II player's icon, and what Q2PRO lets glow.
NO_SKINS = ("_i", "_glow")
# Doom 3's and its kin's materials name pictures by what they are for; a shader without a script has the diffuse one.
DIFFUSE_ENDINGS = ("", "_d", "_diffuse", "_local")
TOP_FOLDERS = ("models", "players")
SAYS_NOTHING = "tris"  # the name of nearly every model of Quake II
MAX_NAME = 1024
MAX_LISTED = 1 << 16  # files of a folder that are looked at
MAX_SKINS = 256


def name_parts(name: str) -> list[str]:
    """Return the folders and the file of a name in a game file; none for a name that would lead outside.

    Engines drop a leading slash and refuse `..` and `::` (FS_FOpenFileRead); drive letters never occur in game paths.
    """
    if len(name) > MAX_NAME or "\0" in name or ":" in name:
        return []
    parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".")]
    return [] if any(part.strip(" .") == "" for part in parts) else parts


@dataclass
class Folder:
    """A folder in which names are looked up whatever their case; listings are read once.

    Paths are strings here and links the exception: a small model has dozens of names looked up, most of them in vain.
    """

    path: Path
    _listings: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    _known: dict[tuple[str, ...], list[str]] = field(default_factory=dict)

    @cached_property
    def _real(self) -> Path:
        return self.path.resolve()

    def _listing(self, folder: str) -> dict[str, list[str]]:
        """Return the names in a folder by their lower-case spelling, in order of characters."""
        if folder not in self._listings:
            listing: dict[str, list[str]] = {}
            try:
                names = os.listdir(folder)  # noqa: PTH208 - names, not paths: much faster
            except OSError:
                names = []
            for name in sorted(names[:MAX_LISTED]):
                listing.setdefault(name.lower(), []).append(name)
            self._listings[folder] = listing
        return self._listings[folder]

    def names(self) -> list[str]:
        """Return the names in this folder, in order of their lower-case spelling."""
        listing = self._listing(str(self.path))
        return [name for key in sorted(listing) for name in listing[key]]

    def find(self, parts: list[str]) -> Path | None:
        """Return the file of that name inside this folder, or None."""
        return self.find_first(parts[:-1], parts[-1:])

    def find_first(self, folders: Sequence[str], names: Sequence[str]) -> Path | None:
        """Return the file inside this folder, below the given ones, that has the first of the names that there is."""
        places = [(place, self._listing(place)) for place in self._places(folders)]
        for name in names:
            key = name.lower()
            for place, listing in places:
                for path in _spelt(place, name, listing[key]) if key in listing else ():
                    if self._is_inside(path, stat.S_ISREG):
                        return Path(path)
        return None

    def _places(self, folders: Sequence[str]) -> list[str]:
        """Return the folders that names one below the other mean."""
        key = tuple(folders)
        if key not in self._known:
            found = [str(self.path)]
            for name in key:
                listed = [(place, self._listing(place).get(name.lower(), [])) for place in found]
                found = [path for place, names in listed for path in _spelt(place, name, names)]
                found = [path for path in found if self._is_inside(path, stat.S_ISDIR)]
            self._known[key] = found
        return self._known[key]

    def _is_inside(self, path: str, is_kind: Callable[[int], bool]) -> bool:
        """Tell whether what lies in a folder inside this one is of a kind, and inside too once links are followed."""
        try:
            found = os.lstat(path)
            # What is no link lies where its folder does. (On Windows there are others than symbolic ones.)
            if not stat.S_ISLNK(found.st_mode) and not getattr(found, "st_reparse_tag", 0):
                return is_kind(found.st_mode)
            there = Path(path).resolve()
            return is_kind(there.stat().st_mode) and there.is_relative_to(self._real)
        except (OSError, RuntimeError):  # links in a circle
            return False


def _spelt(place: str, name: str, names: list[str]) -> list[str]:
    """Return the paths of names in a folder that a name means but for case: as it is given first."""
    if len(names) > 1:
        names = sorted(names, key=lambda other: other != name)
    return [os.path.join(place, each) for each in names]  # noqa: PTH118 - a path object takes ten times as long


@dataclass
class SearchPath:
    """Where the files that a model names may lie: its game folder, and the folder beside it. Archives may follow.

    Models that are read one after another share `folders`, so that these are listed once for all. No longer than that:
    files change.
    """

    model: Path
    folders: dict[Path, Folder] = field(default_factory=dict)

    @cached_property
    def _game(self) -> Folder | None:
        found = game_folder(self.model)
        return None if found is None else self._folder(found)

    @cached_property
    def _beside(self) -> Folder:
        return self._folder(self.model.parent)

    def _folder(self, path: Path) -> Folder:
        if path not in self.folders:
            self.folders[path] = Folder(path)
        return self.folders[path]

    def find_image(self, name: str, endings: tuple[str, ...] = ("",)) -> Path | None:
        """Return the picture that a shader or skin name means: in the game folder, else beside the model.

        `endings` are tried behind the name, one after another.
        """
        plain = next((name[: -len(s)] for s in IMAGE_SUFFIXES if name.lower().endswith(s)), name)
        spelt = (name if not ending else plain + ending for ending in endings)
        return next((found for found in map(self._find_image, spelt) if found is not None), None)

    def _find_image(self, name: str) -> Path | None:
        parts = name_parts(name)
        if not parts:
            return None
        spellings = list(image_spellings(parts[-1]))
        found = None if self._game is None else self._game.find_first(parts[:-1], spellings)
        return found or self._beside.find_first((), spellings)

    def companions(self, suffix: str, usual: str) -> list[Path]:
        """Return the files that may go with a model: those beside it, then the one where the game has it.

        Beside it: the one called as the model is, the one called as the file `usual`ly is, then the others by name.
        """
        names = [Path(name) for name in self._beside.names() if name.lower().endswith(suffix)]
        wanted = (self.model.stem.lower(), Path(usual).stem.lower())
        ranked = sorted(names, key=lambda name: (*(name.stem.lower() != stem for stem in wanted), name.name.lower()))
        found = [self._beside.find([name.name]) for name in ranked]
        if self._game is not None:
            found.append(self._game.find(name_parts(usual)))
        return list(dict.fromkeys(path for path in found if path is not None))

    def companion_places(self, usual: str) -> list[str]:
        """Return where `companions` looks, for a message."""
        places = [f"'{self.model.parent}'"]
        return places if self._game is None else [*places, f"'{self._game.path / usual}'"]

    def skin_file(self) -> Path | None:
        """Return the skin that says what a model's surfaces wear: MODEL_default.skin, else the first MODEL_*.skin."""
        stem = self.model.stem.lower() + "_"
        names = [n for n in self._beside.names() if n.lower().startswith(stem) and n.lower().endswith(".skin")]
        names.sort(key=lambda name: (name.lower() != stem + "default.skin", name.lower()))
        return next((path for path in (self._beside.find([name]) for name in names) if path), None)

    def own_image(self) -> Path | None:
        """Return the picture of a model that names none: the one called as it is, else the only one beside it."""
        own = (self._beside.find([self.model.stem + suffix]) for suffix in IMAGE_SUFFIXES)
        pictures = self._pictures
        return next((path for path in own if path), pictures[0] if len(pictures) == 1 else None)

    def other_skins(self) -> list[Path]:
        """Return the pictures beside the model that a player may choose from, in order of their names.

        What is called like another model in the folder is that model's (`weapon.pcx` beside `weapon.md2`).
        """
        suffix, own = self.model.suffix.lower(), self.model.stem.lower()
        files = (Path(name.lower()) for name in self._beside.names())
        others = {file.stem for file in files if file.suffix == suffix} - {own}
        return [path for path in self._pictures if path.stem.lower() not in others]

    @cached_property
    def _pictures(self) -> list[Path]:
        """The pictures beside the model, icons and the like left out: of those of one name the first that games try."""
        ranked = []
        for name in self._beside.names():
            stem, dot, suffix = name.lower().rpartition(".")
            if stem and dot + suffix in IMAGE_SUFFIXES and not stem.endswith(NO_SKINS):
                ranked.append((stem, IMAGE_SUFFIXES.index(dot + suffix), name))
        found: dict[str, Path] = {}
        for stem, _, name in sorted(ranked):
            path = self._beside.find([name]) if stem not in found else None
            if path is not None:
                found[stem] = path
            if len(found) == MAX_SKINS:
                break
        return list(found.values())


def model_name(path: Path) -> str:
    """Return what to call a model: its file's name without the extension, or its folder's where that says nothing."""
    if path.stem.lower() != SAYS_NOTHING:
        return path.stem
    folder = Path(os.path.abspath(path)).parent  # noqa: PTH100 - links stay: it is called as the user calls it
    return folder.name or path.stem


def game_folder(model: Path) -> Path | None:
    """Return the folder above the innermost `models` folder in a model's path, else above `players`; None without.

    The innermost: someone may keep games in a folder called `models`, and what is beside that is no game's.
    """
    absolute = Path(os.path.abspath(model))  # noqa: PTH100 - links stay: the game sees the path as it is spelt
    for top in TOP_FOLDERS:
        for folder in absolute.parents:
            if folder.name.lower() == top:
                return folder.parent
    return None


def image_spellings(name: str) -> Iterator[str]:
    """Yield the file names that a picture's name may mean: its extension is only a hint."""
    stem, dot, suffix = name.rpartition(".")
    known = dot and f".{suffix.lower()}" in IMAGE_SUFFIXES
    if known:
        yield name
    # A name that ends in no known extension may hold a dot of its own.
    for base in dict.fromkeys((stem if known or (dot and len(suffix) <= 4) else name, name)):
        yield from (base + ending for ending in IMAGE_SUFFIXES if base)
