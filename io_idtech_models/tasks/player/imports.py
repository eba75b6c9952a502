"""Whole players of Quake III's kin into the scene: parts on one another's tags, dressed, animations by name."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import bpy

from ... import formats
from ...blender import names
from ...blender.mesh.levels import exclude
from ...blender.player.build import (
    BARREL,
    FLASH,
    GUN,
    PlayerBuilt,
    add_level,
    animate,
    put_together,
    store_files,
)
from ...blender.player.parts import find_player
from ...blender.provenance import FILE, SKIN, note_scale
from ...blender.scene import undone_on_failure
from ...blender.vertex.build import BuildSettings, Built
from ...game.dress import NONE
from ...game.player.animation_cfg import AnimationTable, read
from ...game.player.files import HEAD, PlayerFiles
from ...game.store import GameFile
from ...reporting import LimitError, ModelError, Summary, collected_warnings, listed, plural
from ..import_.dressing import Dressing, Worn, materials_for, rate_of
from ..import_.vertex import import_file
from .play import play

if TYPE_CHECKING:
    from ...game.player.weapons import WeaponFiles

log = logging.getLogger(__name__)

TABLE = "idtech_table"  # on a player's collection: the name of its table of animations, one of its files


@dataclass(frozen=True)
class PlayerOptions:
    """What to bring along; the import operator declares the same options."""

    levels: bool = True  # of detail, hidden
    legs: str = ""  # the rows to show at first; "": all frames, one by one
    torso: str = ""


@dataclass(frozen=True, eq=False)
class PlayerImport:
    """An import of a player: which one, and how."""

    files: PlayerFiles
    settings: BuildSettings
    dressing: Dressing
    options: PlayerOptions
    scene: bpy.types.Scene
    weapon: WeaponFiles | None = None
    _worn: dict[str, Worn] = field(default_factory=dict, init=False)  # by part

    def run(self, into: bpy.types.Collection) -> tuple[PlayerBuilt, Summary]:
        """Bring the player into the scene: what there is of it, and a warning for what is missing.

        Raises:
            ModelError: none of its parts can be read; the .blend is as it was.
        """
        files = self.files
        with collected_warnings() as warnings, undone_on_failure():
            warnings.extend(files.missing)
            collection = bpy.data.collections.new(names.fit(files.name))
            names.remember(collection, files.name)
            note_scale(collection, self.settings.scale)
            collection[FILE], collection[SKIN] = files.folder.place, "" if self.skin == NONE else self.skin
            wanted = self.dressing.skin.lower()
            if wanted not in ("", self.skin):
                there = listed([*files.skins, *sorted(self._partly)])
                log.warning("there is no skin '%s': %s; it wears '%s'", wanted, there, self.skin or NONE)
            player = put_together(collection, self._models(collection))
            warnings.extend(player.loose)
            if self.options.levels:
                self._import_levels(player)
            table = _table(files)
            rate = rate_of(self.scene, self.settings.frame_rate)
            animate(player, [] if table is None else table.clips, rate)
            _keep_files(player, files)
            if table is not None:
                warn_of_frames(table, {kind: part.built.num_frames for kind, part in player.parts.items()})
            self._show(player)
            into.children.link(collection)
            exclude([level.built.collection for level in player.levels], self.scene)
        return player, Summary(_facts(player, self.skin, files.without_icon), list(dict.fromkeys(warnings)))

    @property
    def skin(self) -> str:
        """Return the skin to wear, the usual one if none is wanted, or one that there is not."""
        wanted = self.dressing.skin.lower()
        there = {NONE, *self.files.skins, *self._partly}
        return wanted if wanted in there else next(iter(self.files.skins), "")

    @property
    def _partly(self) -> set[str]:
        """Return the skins that some parts lack."""
        return {name for part in self.files.parts.values() for name in part.skins} - set(self.files.skins)

    def _models(self, into: bpy.types.Collection) -> dict[str, Built]:
        """Return the models of all parts that can be read, and of a weapon; raises ModelError if there is none."""
        wanted = [(kind, part.model(self.skin), self.skin) for kind, part in self.files.parts.items()]
        if self.weapon is not None:
            pieces = ((GUN, self.weapon.model), (BARREL, self.weapon.barrel), (FLASH, self.weapon.flash))
            wanted += [(kind, file, "") for kind, file in pieces if file is not None]
        models: dict[str, Built] = {}
        failed = []
        for kind, file, skin in wanted:
            try:
                models[kind] = self._import(kind, file, into, skin)
            except ModelError as error:
                failed.append(f"{file.name}: {error}")
        if not models.keys() & self.files.parts.keys():
            raise LimitError("; ".join(failed) or f"'{self.files.name}' has no model of a player")
        for text in failed:
            log.warning("%s: this part is missing", text)
        return models

    def _import(self, kind: str, file: GameFile, into: bpy.types.Collection, skin: str) -> Built:
        """Return a part's model in the scene, its levels dressed as it is; its warnings name the file."""
        settings, dressing = replace(self.settings, fit_range=False), replace(self.dressing, skin=skin)
        if kind not in self._worn:
            rate = rate_of(self.scene, settings.frame_rate)
            part = self.files.parts.get(kind)
            own = None if part is None else part.skins.get(skin)
            self._worn[kind] = materials_for(file, formats.by_name("md3"), dressing, rate, skin=own)
        built, summary = import_file(file, settings, self.scene, into, dressing, self._worn[kind])
        for text in summary.warnings:
            log.warning("%s: %s", file.name, text)
        return built

    def _import_levels(self, player: PlayerBuilt) -> None:
        """Bring levels of detail along; what can't be read is named."""
        for kind, part in self.files.parts.items():
            if kind not in player.parts or not part.levels:
                continue
            for _, file in sorted(part.levels.items()):
                try:
                    add_level(player, kind, self._import(kind, file, player.collection, self.skin))
                except ModelError as error:
                    log.warning("%s: %s: this level of detail is missing", file.name, error)

    def _show(self, player: PlayerBuilt) -> None:
        """Let the scene show a player from its first frame to its last, or the rows that are wanted."""
        if self.settings.fit_range and player.num_frames > 1:
            self.scene.frame_start, self.scene.frame_end = 0, player.num_frames - 1
        legs, torso = self.options.legs, self.options.torso
        found = find_player(player.root)
        if (legs or torso) and found is not None:
            try:
                play(found, legs, torso, self.scene, self.settings.fit_range)
            except LimitError as error:
                log.warning("%s: all frames are shown", error)


def _table(files: PlayerFiles) -> AnimationTable | None:
    """Return a player's table of animations; None where it has none, or what can't be read, which is named."""
    if files.table is None:
        return None
    try:
        table = read(files.table.read())
    except ModelError as error:
        log.warning("%s: %s: no animation has a name", files.table.name, error)
        return None
    lacking = table.lacking()
    if lacking:
        log.warning("%s: %s", files.table.name, lacking)
    return table


def warn_of_frames(table: AnimationTable, counts: dict[str, int]) -> None:
    """Say which rows go beyond the frames of their part (R_AddMD3Surfaces); `counts` are those by part."""
    for part, count in counts.items():
        beyond = [row.name for row in table.of_part(part) if row.outside(count)] if part != HEAD else []
        if beyond:
            log.warning("rows go beyond the %d frames of %s, games show frame 0: %s", count, part, listed(beyond))


def _keep_files(player: PlayerBuilt, files: PlayerFiles) -> None:
    """Keep a player's texts in the .blend, from which a save writes what was not edited."""
    kept = [file for part in files.parts.values() for file in part.skins.values()]
    if files.table is not None:
        kept.append(files.table)
        player.collection[TABLE] = files.table.name
    texts = {}
    for file in kept:
        try:
            texts[file.name] = file.read()
        except ModelError as error:
            log.warning("%s: %s", file.name, error)
    store_files(player.collection, texts)


def _facts(player: PlayerBuilt, skin: str, without_icon: list[str]) -> str:
    """Return what was imported, in words."""
    facts = [plural(len(player.parts), "part"), plural(player.num_frames, "frame")]
    facts.append(plural(len(player.rows), "animation"))
    if player.levels:
        facts.append(plural(len(player.levels), "level") + " of detail")
    facts += [f"skin {skin}"] if skin else []
    return ", ".join(facts) + (f"; no icon for {listed(without_icon)}, which games ask for" if without_icon else "")
