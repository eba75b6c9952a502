"""The files of a character on their way into its game: which there are, and which of them were edited."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePath
from zlib import crc32

from ... import formats
from ...assets.player import write_into_game
from ...formats import Format
from ...game.character.kinds import Kind, kind_named
from ...model.limits.games import NO_GAME
from ...reporting import ModelError, listed, plural
from ..import_.games import user_disk
from .record import Record

log = logging.getLogger(__name__)
MOST_NAMED = 20  # files in a message


@dataclass(eq=False)
class SavedCharacter:
    """The files of a character, by their paths in its game."""

    name: str
    record: Record
    game: str = NO_GAME  # whose limits are kept
    files: dict[str, bytes] = field(default_factory=dict)
    edited: list[str] = field(default_factory=list)  # which of them are others than they were
    declarations: dict[str, bytes] = field(default_factory=dict)  # what of this the target lacks goes there, too
    models: dict[str, bytes] = field(default_factory=dict)  # as the first part shows them that has the file
    _wider: set[str] = field(default_factory=set)  # which of those that were edited have but wider bounds

    @cached_property
    def kind(self) -> Kind | None:
        """Return which game's character it is."""
        return kind_named(self.record.file)

    def game_for(self, row: Format) -> str:
        """Return the game whose limits a format's files keep: none where it does not read such."""
        return self.game if self.game in row.games else NO_GAME

    def put(self, path: str, data: bytes, is_source: bool, is_wider: bool = False) -> None:
        """Write a file, and note whether it was edited, or has but wider bounds."""
        is_settled = path in self.edited and path not in self._wider
        if not path or (is_source and path in self.edited) or (is_wider and is_settled):
            return  # of two of a file the one that was edited counts
        self.files[path] = data
        self._wider = (self._wider | {path}) if is_wider else (self._wider - {path})
        if not is_source:
            self.note_edited([path])

    def put_model(self, kind: str, data: bytes) -> None:
        """Write a model of the character's own; parts that share it and show other things are said to."""
        path, known = self.record.models[kind], self.record.sums.get(kind)
        row, is_source = formats.by_suffix(PurePath(path)), known == f"{crc32(data):08x}"
        if row is not None and row.is_text and not is_source:
            source = self.source(path, known)
            is_source = source is not None and row.dump(row.load(source, PurePath(path).stem)) == data
            data = source if is_source and source is not None else data
        if self.models.setdefault(path, data) != data:
            text = "'%s' is the file of several parts, and shows what one of them shows: edit all of them alike"
            log.warning(text, PurePath(path).name)
        self.put(path, data, is_source)

    def source(self, path: str, checksum: str | None) -> bytes | None:
        """Return the bytes that a file had: texts can say the same in other letters; None where it is another now."""
        data = self.beside(path)
        return data if data is not None and f"{crc32(data):08x}" == checksum else None

    def beside(self, path: str) -> bytes | None:
        """Return what is by now in a file that came with the character; None where it is gone, or none came."""
        try:
            return user_disk().file(Path(self.record.besides[path])).read()
        except (ModelError, KeyError):
            return None

    def declare(self, declarations: dict[str, bytes]) -> None:
        """Let declarations say something else by now."""
        self.declarations |= declarations
        self.note_edited(declarations)

    def note_edited(self, paths: Iterable[str]) -> None:
        """Note files that are others than they were."""
        self.edited += [path for path in paths if path not in self.edited]

    @property
    def facts(self) -> str:
        """Return what is written, in words."""
        edited = listed([PurePath(path).name for path in self.edited], MOST_NAMED) if self.edited else "nothing"
        return f"{plural(len(self.files.keys() | self.declarations), 'file')}, edited: {edited}"

    def keep_edited(self) -> None:
        """Leave out all that is as it was."""
        self.files = {path: data for path, data in self.files.items() if path in self.edited}
        self.declarations = {path: data for path, data in self.declarations.items() if path in self.edited}


def write(saved: SavedCharacter, target: Path) -> list[str]:
    """Write a character's files below a game's folder, or into an archive, all or none; what else is there stays.

    Of declarations those go along that are not there in other files already; returns what is odd about these.

    Raises:
        ModelError: a file can't be written; all are as they were.
    """
    odd: list[str] = []
    if saved.kind is not None and saved.kind.settled is not None and saved.declarations:
        lacking, odd = saved.kind.settled(user_disk().store(target), saved.declarations)
        there = saved.declarations.keys() - lacking.keys() - saved.files.keys()
        saved.edited = [path for path in saved.edited if path not in there]
        saved.note_edited(lacking.keys() - saved.declarations.keys())  # which got other names
        saved.declarations = lacking
        saved.files |= lacking
    write_into_game(target, saved.files)
    return odd
