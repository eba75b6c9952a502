"""Shaders' names to looks: what a game's scripts and pictures come to, for materials of another program."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from ..game.search import SearchPath, game_name
from ..game.store import GameFile
from ..model.surface_look import HIDDEN, Layer, Look, Texture

if TYPE_CHECKING:
    from ..game.shaders.library import ShaderLibrary

MATERIALS = "materials"
NODRAW = "nodraw"  # what skins say of surfaces that are not to be drawn
SCRIPTS = (("scripts", ".shader"), (MATERIALS, ".mtr"))


class Looks:
    """What the shaders of a model's game look like; scripts are read when the first shader is asked for."""

    def __init__(self, search: SearchPath, endings: tuple[str, ...] = ("",)) -> None:
        self.search, self.endings = search, endings

    @cached_property
    def library(self) -> ShaderLibrary | None:
        """The scripts of the game; None where it has none."""
        for folder, suffix in SCRIPTS:
            files = self.search.scripts(folder, suffix)
            if files:
                from ..game.shaders.library import DOOM3, QUAKE3, library_of

                return library_of(folder, files, DOOM3 if folder == MATERIALS else QUAKE3)
        return None

    def find_image(self, name: str) -> GameFile | None:
        """Return the picture that a name means."""
        return self.search.find_image(name, self.endings)

    def find(self, name: str, *, worn: bool = False) -> Look | None:
        """Return what a shader looks like, `worn` if a skin names it; None if the game shows its default picture.

        A script of which only some pictures are there, for which engines show that too, is shown as far as it goes:
        who has a part of a game wants to see what it is.
        """
        if self.library is None:
            return self._without_scripts(name, worn=worn)
        from ..game.shaders import resolve as resolving
        from .script_looks import look_of

        found = resolving.resolve(name, self.library, self.find_image, worn=worn)
        if found.shows == resolving.NOTHING:
            return _hidden(name)
        if found.shader is None:
            return None
        if found.kind == resolving.PICTURE:
            return None if found.picture is None else _look_of(found.picture)
        look = look_of(found.shader, self.find_image)._replace(lacking=found.absent)
        return look if not found.absent or (look.base is not None and not look.base.reflects) else None

    def _without_scripts(self, name: str, *, worn: bool) -> Look | None:
        """Return what `find` does where a game has no scripts, for which who imports one model need not wait."""
        if not name:
            return None
        picture = self.find_image(name)
        if picture is None:
            return _hidden(name) if worn else None
        return _look_of(picture)


def _hidden(name: str) -> Look:
    """Return what a surface looks like whose skin names neither a shader nor a picture: games draw none of it.

    A bare word, or `nodraw` in any folder, means just that; else something is missing.
    """
    folder, _, word = name.rpartition("/")
    return HIDDEN._replace(lacking=(name,)) if folder and word.lower() != NODRAW else HIDDEN


def _look_of(picture: GameFile) -> Look:
    """Return what a bare picture looks like on a model, whatever its alpha: opaque."""
    return Look((Layer(Texture(picture, name=game_name(picture))),))
