"""The skins of a character as its surfaces wear them by now.

Some name meshes; the lines of others go by the order of a body's meshes, as XreaL reads them.
"""

from __future__ import annotations

import logging
from pathlib import Path, PurePath
from typing import Any

from ...blender.compat import Block
from ...blender.provenance import FILE, SKIN
from ...blender.shading.materials import worn_by
from ...blender.skeletal.rig_scene import RigScene
from ...game.character.files import BODY, HEAD
from ...game.character.kinds import character_of
from ...game.lexer import decl_key
from ...game.skin import SUFFIX, SURFACE, read_skin
from ...reporting import ModelError, listed
from ..export.skin_files import skin_of, skin_worn
from ..import_.games import user_disk
from .record import Record, worn_in
from .saved import SavedCharacter

log = logging.getLogger(__name__)


class SkinsSaved:
    """The skins of a character on their way into files."""

    def __init__(self, saved: SavedCharacter) -> None:
        self.saved, self.record = saved, saved.record
        self.declared = ""  # another one that is declared, and worn by now
        self.body = ""  # the path of the one that the body wears
        self.bent: RigScene | None = None  # what was gathered of the body, if it has bones

    def save(self, kind: str, home: Any, meshes: list[Block], pieces: Any, bent: RigScene | None = None) -> None:
        """Write the skin of a part, as its surfaces wear it; `bent` is what was gathered of one with bones."""
        saved, record = self.saved, self.record
        self.bent = bent if kind == BODY else self.bent
        path = record.skins.get(kind, "")
        old = record.texts.get(path)
        known = PurePath(path).stem.removeprefix(f"{PurePath(record.models.get(kind, '')).stem}_")
        worn = known if home is None else str(home.get(SKIN, known))
        if kind == BODY and saved.kind is not None and saved.kind.skin_in_order and old is not None:
            data = _in_order(bent, old)
            saved.put(path, data, data == old)
            _say_of_others(bent, record, path)
        elif kind == BODY and saved.kind is not None and saved.kind.with_worn is not None:
            worn = record.skin if home is None else str(home.get(SKIN, record.skin))
            self.declared = worn if worn != record.skin else ""
        elif path and worn and worn != known and kind == BODY:
            self._other(path, worn, meshes, pieces)
        elif old is not None:
            data = skin_of(meshes, old, pieces)[0]
            saved.put(path, data, data == old)
            self.body = path if kind == BODY else self.body

    def _other(self, path: str, worn: str, meshes: list[Block], pieces: Any) -> None:
        """Let a character wear another skin: its file names that, and the skin that it wore stays."""
        saved, record = self.saved, self.record
        found = skin_worn(meshes[0]) if meshes else None
        other = PurePath(path).with_name(f"{PurePath(record.models[BODY]).stem}_{worn}{SUFFIX}").as_posix()
        old = None if found is None else found.read()
        data = skin_of(meshes, old, pieces)[0]
        saved.put(other, data, data == old)
        self.body = other
        if saved.kind is None or saved.kind.with_skin is None:
            log.warning("'%s' is worn: who plays the character chooses it in the game", worn)
        elif record.file in record.texts:
            saved.put(record.file, saved.kind.with_skin(record.texts[record.file], worn), is_source=False)

    def attaching(self) -> dict[str, str]:
        """Return the paths of the skins that say what hangs on the body, and on the head."""
        heads = self.saved.kind is not None and self.saved.kind.head_attaches
        return {BODY: self.body, HEAD: self.record.skins.get(HEAD, "") if heads else self.body}

    def declare(self, collection: Any) -> None:
        """Let the declaration name the skin that is worn by now, which goes along with its materials."""
        kind, record, place = self.saved.kind, self.record, str(collection.get(FILE, ""))
        if not self.declared or kind is None or kind.with_worn is None:
            return
        more: dict[str, bytes] = {}
        try:
            files = character_of(user_disk().file(Path(place)), self.declared, record.name)
            more = kind.declared(files, worn_in(collection, files)) if kind.declared is not None else {}
        except ModelError:
            log.warning("'%s' is worn, but what declares it is gone: it does not go along", self.declared)
        self.saved.declare(kind.with_worn(self.saved.declarations, more, record.name, self.declared))

    def say_hidden(self) -> None:
        """Name materials that the body shows in Blender, and in whose place the skin that it wears shows others."""
        kind, name = self.saved.kind, self.declared or self.record.skin
        skin = None if kind is None or kind.find_skin is None else kind.find_skin(self.saved.declarations, name)
        if skin is None or self.bent is None:
            return
        hidden: dict[str, str] = {}
        for written in self.bent.written:
            shown = skin.worn(written.mesh.shader)
            seen = "" if written.material is None else worn_by(written.material)
            if seen and decl_key(seen) != decl_key(shown):
                hidden[written.mesh.shader] = shown
        for material, shown in hidden.items():
            text = "'%s' is not seen in the game, where the skin '%s' shows '%s' in its place: give it a line there"
            log.warning(text, material, name, shown)


def _in_order(export: RigScene | None, old: bytes) -> bytes:
    """Return a skin whose lines are the meshes that an export has gathered, one after another, with what these wear."""
    if export is None or export.stored is None:
        return old
    skin = read_skin(old)
    lines = [entry.value for entry in skin.entries if entry.kind == SURFACE]
    if len(lines) < len(export.stored.source.meshes):  # then the meshes wear their own
        return old
    of_shader: dict[str, set[str]] = {}  # what meshes of one shader wear, which all show the same in Blender
    for written in export.written:
        if written.mesh.source_index >= 0:
            of_shader.setdefault(written.mesh.shader, set()).add(lines[written.mesh.source_index])
    worn: list[tuple[str, str]] = []
    for written in export.written:
        mesh, material = written.mesh, written.material
        wears = "" if material is None else worn_by(material)
        if mesh.source_index >= 0 and (not wears or wears in of_shader[mesh.shader]):
            wears = lines[mesh.source_index]
        worn.append((mesh.name, wears or mesh.name))
    return skin.set_in_order(worn).write()


def _say_of_others(export: RigScene | None, record: Record, path: str) -> None:
    """Name the skins beside that of a path which are not worn, and whose lines are of other meshes by now."""
    if export is None or export.stored is None:
        return
    known = range(len(export.stored.source.meshes))
    if [written.mesh.source_index for written in export.written] == [*known]:
        return
    folder = PurePath(record.models[BODY]).parent
    others = [each for each in map(PurePath, record.besides) if each.suffix == SUFFIX and each.parent == folder]
    left = [each.name for each in others if each.name.startswith(f"{BODY}_") and each != PurePath(path)]
    if left:
        text = "lines of skins go by the order of meshes, which is another now, put these in that order: %s"
        log.warning(text, listed(left))
