"""Which games have characters, how the files that name them are called, and who finds the rest: a row for each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ...model.clips import Clip
from ...reporting import LimitError, listed
from ..aninc import RowEdit
from ..dress import SkinDecl
from ..skin import SUFFIX as SKIN
from ..store import GameFile, Store
from . import quake2, wolf
from .doom3 import FOLDER, SUFFIX, own
from .doom3 import files as doom3
from .et import files as et
from .et import texts
from .files import CharacterFiles, files_below, game_of
from .xreal import NAME as XREAL_FILE
from .xreal import files as xreal

MODELS = "models"  # the folder of most games' models


@dataclass(frozen=True)
class Kind:
    """Characters of a game."""

    end: str  # of the name of the file that names one, in lower case
    folder: str  # of the game, below which they lie
    find: Callable[[GameFile, str], CharacterFiles]  # from that file, in a skin; raises ModelError
    place: Callable[[GameFile], str]  # what tells it apart from others: "temperate/axis/medic"
    names: Callable[[GameFile], list[str]] | None = None  # of the characters in such a file, where it may have several
    also: tuple[str, ...] = ()  # ends of further files that it is found from, which name no character by themselves
    above: str = ""  # what the folder around that of such a file is called, which does not lie in MODELS; "": anything
    is_model: bool = False  # the file is a model by itself, too
    find_named: Callable[[GameFile, str, str], CharacterFiles] | None = None  # one of these, in a skin, by its name
    # Texts, by their paths in the game, that edits of rows change; by the path of the one that has the tables.
    with_rows: Callable[[Mapping[str, bytes], str, Sequence[RowEdit]], dict[str, bytes]] | None = None
    # The file that names one and has its rows, with some of them named otherwise or new, and without others.
    with_runs: Callable[[bytes, Sequence[tuple[str, Clip]], Iterable[str]], bytes] | None = None
    # A character and the materials that it wears -> texts that declare it, where the game's files declare others, too.
    declared: Callable[[CharacterFiles, Iterable[str]], dict[str, bytes]] | None = None
    # A game's folder and such texts -> those that it lacks, and sentences on what is odd there.
    settled: Callable[[Store, Mapping[str, bytes]], tuple[dict[str, bytes], list[str]]] | None = None
    # Such texts, a model, files by new animations' names, and what these do -> texts that declare these, too.
    with_animations: (
        Callable[[Mapping[str, bytes], str, Mapping[str, list[str]], Mapping[str, list[str]]], dict[str, bytes]] | None
    ) = None
    # Such texts, a model, and what the game does with animations of it, by their names -> texts that say so.
    with_notes: (
        Callable[[Mapping[str, bytes], str, Mapping[str, Mapping[str, Sequence[str]]]], dict[str, bytes]] | None
    ) = None
    # Such texts, others that declare a skin, a character, and that skin -> texts in which it wears it.
    with_worn: Callable[[Mapping[str, bytes], Mapping[str, bytes], str, str], dict[str, bytes]] | None = None
    # Such texts, and the name of a skin -> that skin, if they declare it.
    find_skin: Callable[[Mapping[str, bytes], str], SkinDecl | None] | None = None
    scales: bool = False  # it reads how large joints are from files beside animations
    pack: str = ".pk3"  # how archives end that are written for the game
    takes_actions: bool = False  # a new animation of the body is a file of its own beside the others
    skin_in_order: bool = False  # the body's skin names no surfaces: its lines are these, one after another
    # A skin, kinds that are gone, paths of new ones by their kinds, and the body's folder -> the skin with these.
    with_parts: Callable[[bytes, Iterable[str], Mapping[str, str], str], bytes] | None = None
    places: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # by kinds: on which piece, and on which tag
    head_attaches: bool = False  # the head's skin attaches what hangs on the head, instead of the body's
    with_skin: Callable[[bytes, str], bytes] | None = None  # the file that names one, where it names another skin


KINDS = (
    Kind(
        et.SUFFIX,
        et.HOME,
        et.character_of,
        et.place_of,
        also=(et.BODY_SUFFIX, SKIN),
        with_rows=texts.with_rows,
        with_skin=texts.with_skin,
        with_parts=texts.with_parts,
        places=et.PLACES,
    ),
    Kind(
        wolf.TABLE,
        wolf.HOME,
        wolf.character_of,
        wolf.place_of,
        with_parts=wolf.with_parts,
        places=et.PLACES,
        head_attaches=True,
        with_runs=wolf.with_runs,
    ),
    Kind(
        SUFFIX,
        FOLDER,
        doom3.character_of,
        doom3.place_of,
        names=doom3.names_in,
        also=(".md5mesh",),
        find_named=doom3.character_of,
        declared=own.texts_of,
        settled=own.settled,
        with_animations=own.with_animations,
        with_notes=own.with_notes,
        with_worn=own.with_skin,
        find_skin=own.find_skin,
        pack=".pk4",
        takes_actions=True,
    ),
    Kind(XREAL_FILE, xreal.HOME, xreal.character_of, xreal.place_of, takes_actions=True, skin_in_order=True),
    Kind(
        quake2.MODEL,
        quake2.HOME,
        quake2.character_of,
        quake2.place_of,
        above=quake2.HOME,
        is_model=True,
        scales=True,
        pack=".pak",
    ),
)


def kind_of(file: GameFile) -> Kind | None:
    """Return the kind of character that a file names, or None."""
    return next((kind for kind in KINDS if file.name.lower().endswith(kind.end) and _lies_there(file, kind)), None)


def kind_named(name: str) -> Kind | None:
    """Return the kind of character that a file of a name, or a path, names, or None."""
    name = name.lower()
    by_end = (kind for kind in KINDS if name.endswith(kind.end))
    return next(by_end, None) or next((kind for kind in KINDS if name.endswith(kind.also)), None)


def _lies_there(file: GameFile, kind: Kind) -> bool:
    """Tell whether a file lies where those that name characters of a kind do."""
    around = file.layer.parent
    if not kind.above or around is None:
        return not kind.above
    top = around.parent
    return around.name.lower() == kind.above and (top is None or top.name.lower() != MODELS)


def character_of(file: GameFile, skin: str = "", name: str = "") -> CharacterFiles:
    """Return the character that a file names, in the skin that it names, or another one; of several one by its name.

    Raises:
        ModelError: the file can't be read, or names none.
    """
    kind = _kind_for(file)
    if kind is None:
        known = listed([f"*{kind.end}" for kind in KINDS])
        raise LimitError(f"this is no file of a character, pick one of these in a game's folder: {known}")
    if name and kind.find_named is not None:
        return kind.find_named(file, skin, name)
    return kind.find(file, skin)


def names_in(file: GameFile) -> list[str]:
    """Return the characters that a file names, where it may name several; that is "" where it names one."""
    kind = kind_of(file)
    return [""] if kind is None or kind.names is None else kind.names(file)


def characters_in(store: Store) -> list[GameFile]:
    """Return the files that name the characters of a game's folder or archive."""
    found = [(kind, file) for kind in KINDS for file in files_below(store, kind.folder, kind.end)]
    return [file for kind, file in found if _lies_there(file, kind)]


def place_of(file: GameFile) -> str:
    """Return what tells a character apart from others of its game, by the file that names it: its name, and folders."""
    kind = kind_of(file)
    return file.place if kind is None else kind.place(file)


def without_end(name: str) -> str:
    """Return the name, or the path, of a file that names a character as `place_of` has it; another name as it is."""
    end = next((kind.end for kind in KINDS if name.lower().endswith(kind.end)), "")
    return name[: len(name) - len(end)].rstrip("/") or name


def home_of(file: GameFile) -> Store | None:
    """Return the folder of the game of a file that names a character, with all its layers, or None."""
    kind = _kind_for(file)
    return None if kind is None else game_of(file, kind.folder)


def _kind_for(file: GameFile) -> Kind | None:
    """Return the kind of character that a file names, or that is found from it."""
    name = file.name.lower()
    return kind_of(file) or next((each for each in KINDS if name.endswith(each.also)), None)
