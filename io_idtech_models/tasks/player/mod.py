"""What goes into an archive beside models: pictures and scripts of shaders that their game lacks.

So that one file is all that somebody else, or a game, needs. What the game's own archives have, and nobody has changed,
stays out.

Pictures of other kinds are written anew, by Blender's own writers.
"""

from __future__ import annotations

import logging
import re
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePath
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...assets.belongings import named_by
from ...assets.surface_looks import Looks
from ...blender import names
from ...blender.compat import Block
from ...blender.mesh.surface_names import worn_materials
from ...blender.provenance import MODEL_ID
from ...blender.shading import pixels
from ...blender.shading.edited import waiting
from ...blender.shading.images import image_of
from ...blender.shading.materials import worn_by
from ...blender.shading.pixels import file_of, is_changed, origin_of
from ...game.lexer import without_suffix
from ...game.pictures import tga
from ...game.search import IMAGE_SUFFIXES, SearchPath
from ...game.shaders.library import ShaderLibrary
from ...game.shaders.model import Shader, is_builtin
from ...game.skin import SUFFIX as SKIN
from ...game.skin import read_skin
from ...game.store import GameFile, plain_path, split_at_archive
from ...model.pictures import fitting
from ...reporting import ModelError, listed
from ..import_.games import user_disk
from .making_pictures import picture_name, plain_name

log = logging.getLogger(__name__)

SUFFIXES = (".tga", ".jpg", ".jpeg", ".png")  # of pictures that all games of Quake III's kin, and ioquake3, read
SCRIPT = ".shader"
OWN_ARCHIVE = re.compile(r"pak\d[^/\\]*\.pk3\Z", re.IGNORECASE)  # of a game itself; others are somebody's mod
MOST_LETTERS = 32  # of a new picture's name
Pixels = NDArray[np.uint8]  # (H, W, 3 or 4), the bottom row first
KINDS = {".jpg": "JPEG", ".jpeg": "JPEG", ".png": "PNG"}
QUALITY = 95  # of a JPEG, in percent


@dataclass(eq=False)
class Mod:
    """Files of models by their paths in the game, beyond those of their folder, and what their skins call otherwise."""

    model: GameFile | None  # in whose game they are; None of what came from none
    folder: str  # in the game, where pictures go that are called as no path; "": where these say
    meshes: list[Block]  # that are written
    skin: str = ""  # a new one: what was painted for it gets names of its own
    files: dict[str, bytes] = field(default_factory=dict)
    renamed: dict[str, str] = field(default_factory=dict)  # what all skins name
    of_skin: dict[str, str] = field(default_factory=dict)  # what the new skin names
    scripted: set[str] = field(default_factory=set)  # what scripts that were made for it draw
    _drawn: set[str] = field(default_factory=set)  # pictures that were added, as skins and scripts name them
    _placed: set[str] = field(default_factory=set)  # their paths
    _dotted: list[str] = field(default_factory=list)  # those with a dot that begins no suffix of a picture

    def fill(self, skins: dict[str, bytes]) -> None:
        """Find what skins, by the names of their files, need, and let them name it."""
        if self.looks is not None:
            for path, data in named_by(self.looks.search.model, _is_games, sorted(_shaders_of(skins))):
                self.files[path] = data
        self.draw(skins)

    def draw(self, skins: dict[str, bytes]) -> None:
        """Find what of that the .blend alone has, and let skins name it: painted pictures, texts of scripts."""
        wanted = _shaders_of(skins)
        for text in self.texts:
            self.files[f"scripts/{_script_name(text.name)}"] = text.as_string().encode()
        self._say_several()
        for material in self._materials():
            self._add(material)
        for drawn, image in self._unworn(wanted):
            if is_changed(image) or not _is_at(self._found(drawn), file_of(image)):
                self._put_image(drawn, image, worn=False)
        if self._dotted:
            text = "games end the name of a shader at its last dot, rename the materials: %s"
            log.warning(text, listed(sorted(self._dotted)))
        for name, data in skins.items():
            skins[name] = _renamed(data, self.renamed | (self.of_skin if name.lower().endswith(self._ending) else {}))

    @property
    def _ending(self) -> str:
        return f"_{self.skin}{SKIN}".lower() if self.skin else "\0"

    @cached_property
    def looks(self) -> Looks | None:
        """What shaders come to in the game that the models came from; None if they came from none."""
        return None if self.model is None else Looks(SearchPath(self.model))

    @cached_property
    def texts(self) -> list[Any]:
        """The scripts in the .blend that say what something worn looks like."""
        worn = [worn_by(material) for material in self._materials()]
        scripts = [text for text in bpy.data.texts if text.name.lower().endswith(SCRIPT)]
        return [text for text in scripts if any(_library(text).shader(name) is not None for name in worn if name)]

    def _materials(self) -> list[Block]:
        return list(dict.fromkeys(m for _, m in worn_materials(self.meshes) if m is not None))

    def _say_several(self) -> None:
        """Name pictures that materials show which wear one name: the game has one of a name."""
        shown: dict[str, dict[str | bytes, str]] = {}
        for material in self._materials():
            worn, image = worn_by(material), image_of(material)
            is_written = worn and self.script(worn) is None and (image is not None or self._is_plain(material, worn))
            if is_written:
                seen = pixels.color_of(material).tobytes() if image is None else origin_of(image) or image.name
                name = f"{material.name} in plain colour" if image is None else image.name
                is_path = not self.folder or "/" in worn.replace("\\", "/")  # else each gets a name of its own
                shown.setdefault(_key(worn) if is_path else worn, {}).setdefault(seen, name)
        for pictures in shown.values():
            if len(pictures) > 1:
                text = "one picture of a name is written, give materials other names that show others: %s"
                log.warning(text, listed(list(pictures.values())))

    def _is_plain(self, material: Block, worn: str) -> bool:
        """Tell whether a material without a picture, which was made here, gets one in its colour."""
        return self._found(worn) is None and _is_own(material)

    def painted(self, skins: dict[str, bytes]) -> Iterator[str]:
        """Yield the names of images, of what is worn and of other skins, whose pixels are no file's."""
        worn = {image: None for material in self._materials() if (image := image_of(material)) is not None}
        others = {image: None for _, image in self._unworn(_shaders_of(skins))}
        return (str(image.name) for image in worn | others if is_changed(image))

    def _unworn(self, wanted: Iterable[str]) -> Iterator[tuple[str, Block]]:
        """Yield images in the .blend that no material shows as what it wears, with what skins or scripts call them.

        They are of shaders that are not worn now, and of further stages of scripts. Of several that came from one file
        it is the first, which is what Show Skin would show.
        """
        images: dict[str, Block] = {}
        for image in bpy.data.images:
            images.setdefault(plain_path(origin_of(image)), image)
        kept = {_key(worn_by(material)): image_of(material) for material in waiting(self._models)}
        worn = {_key(worn_by(material)) for material in self._materials()}
        for shader in sorted(wanted):
            script = self.script(shader)
            drawn = ([] if _key(shader) in worn else [shader]) if script is None else _maps(script)
            for name in drawn:
                if _key(name) in self._drawn:
                    continue
                found = self._found(name)
                came = kept.get(_key(name)) or (None if found is None else images.get(plain_path(found.place)))
                if came is not None:
                    yield name, came

    @property
    def _models(self) -> set[str]:
        """The ids of the models that are written."""
        return {mesh.data.get(MODEL_ID, "") for mesh in self.meshes} - {""}

    @property
    def _libraries(self) -> list[ShaderLibrary]:
        """Return the scripts that say what something looks like, those in the .blend first."""
        of_game = None if self.looks is None else self.looks.library
        return [*map(_library, self.texts), *([] if of_game is None else [of_game])]

    def script(self, worn: str) -> Shader | None:
        """Return what a script says of a name."""
        return next((found for each in self._libraries if (found := each.shader(worn)) is not None), None)

    def is_scripted(self, shader: str) -> bool:
        """Tell whether a script draws what goes by a name: the game's, one of the .blend, or one that was made here."""
        return _key(shader) in self.scripted or self.script(shader) is not None

    def replaces(self, path: str) -> bool:
        """Tell whether a file that is added is a picture from the .blend in the place of one that the game has."""
        return path in self._placed and self._found(path) is not None

    def _found(self, name: str) -> GameFile | None:
        return None if self.looks is None else self.looks.find_image(name)

    def take(self, shader: str) -> tuple[str, bytes] | None:
        """Return a picture's suffix and bytes, and take it out of what is added; None where it is not there."""
        key = _bare(shader).lower()
        made = next((path for path in self.files if _bare(path).lower() == key), None)
        if made is not None:
            return Path(made).suffix, self.files.pop(made)
        found = self._found(shader)
        return None if found is None else (found.suffix.lower(), found.read())

    def _add(self, material: Block) -> None:
        """Add the picture of a material, unless the game has it as it is."""
        worn, image = worn_by(material), image_of(material)
        if not worn:
            return
        script = self.script(worn)
        if script is not None:
            self._add_of_script(worn, script, image)
        elif image is None:
            if self._is_plain(material, worn):
                self._put(worn, worn, tga.encode(pixels.picture_of(material)), ".tga")
        elif is_changed(image) or not _is_at(self._found(worn), file_of(image)):
            self._put_image(worn, image)

    def _add_of_script(self, worn: str, script: Shader, image: Block | None) -> None:
        """Add what a script draws with: the picture that came from one of its maps, or the first that is missing."""
        maps = _maps(script)
        if image is None or not maps:
            return
        came = origin_of(image)
        own = next((m for m in maps if _is_at(self._found(m), came)), None)
        lacking = next((m for m in maps if self._found(m) is None), None)
        if own is not None and (is_changed(image) or file_of(image) != came):
            self._put_image(own, image, worn=bool(self.skin))
            if self.skin:
                self._copy_script(worn, own)
        elif own is None and lacking is not None:
            self._put(lacking, lacking, _encoded(image, lacking), _suffix(lacking))
        elif own is None:
            text = "'%s' is drawn by the script '%s', which knows no picture '%s': it is not written"
            log.warning(text, worn, script.file, image.name)

    def _copy_script(self, worn: str, drawn: str) -> None:
        """Let a new skin name a script of its own, which draws its own picture instead of one of another's."""
        body = next((found.body for each in self._libraries if (found := each.find(worn)) is not None), "")
        ending = f"_{plain_name(self.skin)}"
        name, own = without_suffix(worn) + ending, self.of_skin.pop(drawn, drawn)
        text = re.sub(re.escape(drawn), lambda _: own, body, flags=re.IGNORECASE)
        if _key(worn) not in map(_key, self.of_skin):  # spelt in several ways it is one
            path = f"scripts/{self.folder.rpartition('/')[2]}{ending}{SCRIPT}"
            self.files[path] = self.files.get(path, b"") + f"{name}\n{{{text}}}\n".encode()
        self.of_skin[worn] = name
        self.scripted.add(_key(name))

    def _put_image(self, drawn: str, image: Block, *, worn: bool = True) -> None:
        """Add an image where a skin or a script draws it: its file as it is, if games show that, else its pixels.

        What is `worn` as a new skin has a name of its own there.
        """
        came = "" if is_changed(image) else file_of(image)
        file = user_disk().file(Path(came)) if came else None
        suffix = "" if file is None else file.suffix.lower()
        data = None
        if file is not None and suffix in SUFFIXES and _suffix(drawn, suffix) == suffix and file.is_file():
            try:
                data = tga.for_games(file.read()) if suffix == ".tga" else file.read()
            except ModelError as error:
                log.warning("%s: %s", file.name, error)
                return
        elif pixels.pixels_of(image) is None:
            log.warning("the picture '%s' of '%s' can't be read: it is not written", image.name, drawn)
            return
        suffix = _suffix(drawn) if data is None else suffix
        name = drawn
        if worn and self.skin and self._found(drawn) is not None:
            name = f"{_bare(drawn)}_{plain_name(self.skin)}{suffix}"
            self.of_skin[drawn] = name
        self._put(drawn, name, _encoded(image, name) if data is None else data, suffix)

    def _put(self, worn: str, name: str, data: bytes, suffix: str) -> None:
        """Add a picture where a skin names it; what is called as no path goes into the folder."""
        self._drawn.add(_key(worn))
        if self.folder and "/" not in name.replace("\\", "/"):
            own = picture_name(_bare(name), suffix, self.folder, _Taken(self), MOST_LETTERS)
            if worn in self.of_skin:
                name = self.of_skin[worn] = f"{self.folder}/{own}"
            else:
                name = self.renamed.setdefault(worn, f"{self.folder}/{own}")
        if _bare(name) != without_suffix(name):
            self._dotted.append(name)
        path = _bare(name).replace("\\", "/") + suffix
        self.files[path] = data
        self._placed.add(path)


@dataclass(frozen=True)
class _Taken:
    """The names in a folder that a new picture can't have: another's, and what a script of the game draws."""

    mod: Mod

    def __contains__(self, name: object) -> bool:
        """Tell whether a name is taken."""
        stem = without_suffix(str(name)).lower()  # games know pictures by that
        others = {without_suffix(PurePath(path).name).lower() for path in self.mod.files}
        return stem in others or self.mod.script(without_suffix(f"{self.mod.folder}/{name}")) is not None


def _is_at(file: GameFile | None, place: str) -> bool:
    return file is not None and plain_path(file.place) == plain_path(place)


def _bare(name: str) -> str:
    """Return a name without the suffix of a picture: one that engines don't know as such stays (R_LoadImage)."""
    suffix = next((ending for ending in IMAGE_SUFFIXES if name.lower().endswith(ending)), "")
    return name[: len(name) - len(suffix)]


def _key(name: str) -> str:
    """Return what a picture is known by, however it is spelt and ends."""
    return without_suffix(name).replace("\\", "/").lower()


def _maps(script: Shader) -> list[str]:
    """Return the pictures that a script draws with."""
    return [each for stage in script.stages for each in stage.maps if each and not is_builtin(each)]


def _shaders_of(skins: dict[str, bytes]) -> set[str]:
    return {shader for data in skins.values() for shader in read_skin(data).shaders().values()} - {""}


def _is_games(file: GameFile) -> bool:
    """Tell whether a file lies in an archive of a game itself."""
    at = split_at_archive(Path(file.place), lambda path: Path(path).is_file())
    return at is not None and OWN_ARCHIVE.search(Path(at[0]).name) is not None


def _is_own(material: Block) -> bool:
    """Tell whether a material was made here, by no import."""
    return not isinstance(material.get(names.GIVEN), str)


def _library(text: Any) -> ShaderLibrary:
    return ShaderLibrary([(text.name, lambda: text.as_string().encode())])


def _script_name(name: str) -> str:
    return f"{plain_name(name[: -len(SCRIPT)].replace(chr(92), '/').rpartition('/')[2]) or 'own'}{SCRIPT}"


def _suffix(name: str, usual: str = ".tga") -> str:
    """Return how the file of a picture ends that is called so: engines look for what a name says first."""
    own = next((suffix for suffix in SUFFIXES if name.lower().endswith(suffix)), "")
    return own or usual


def _encoded(image: Block, name: str) -> bytes:
    found = pixels.pixels_of(image)
    assert found is not None
    suffix, picture = _suffix(name), fitting(found, tga.LARGEST)
    return tga.encode(picture) if suffix == ".tga" else write(picture, suffix)


def _renamed(data: bytes, names_of: dict[str, str]) -> bytes:
    """Return a skin that names some shaders otherwise, however it spells them."""
    if not names_of:
        return data
    document, others = read_skin(data), {_key(name): new for name, new in names_of.items()}
    for surface, shader in document.shaders().items():
        new = names_of.get(shader, others.get(_key(shader)) if shader else None)
        if new is not None:
            document = document.set_shader(surface, new)
    return document.write()


def moved(skins: dict[str, bytes], mod: Mod, old: str, new: str) -> None:
    """Let skins name pictures in another player's folder, and bring these there: what no script draws.

    Others stay where the game's own players draw them, too: those that were painted are named.
    """
    wanted = {s for data in skins.values() for s in read_skin(data).shaders().values() if _below(s, old)}
    other: dict[str, str] = {}
    lost = []
    taken: dict[str, tuple[str, bytes] | None] = {}  # of a picture that skins spell in several ways once
    for shader in sorted(shader for shader in wanted if not mod.is_scripted(shader)):
        if _key(shader) not in taken:
            taken[_key(shader)] = mod.take(shader)
        found = taken[_key(shader)]
        if found is None:
            lost.append(shader)
            continue
        other[shader] = new + shader[len(old) :]
        mod.files[_bare(other[shader]) + found[0]] = found[1]
    if lost:
        log.warning("pictures that are not there keep their names in the skins: %s", listed(lost))
    shared = sorted(filter(mod.replaces, mod.files))
    if shared:
        text = "painted in the place of pictures that others in the game show, too (New Skin gives them new names): %s"
        log.warning(text, listed(shared))
    for name, data in skins.items():
        skins[name] = _renamed(data, other)


def _below(name: str, folder: str) -> bool:
    return name.replace("\\", "/").lower().startswith(folder.lower() + "/")


def write(picture: Pixels, suffix: str) -> bytes:
    """Return the file of a picture (H, W, 3 or 4), the bottom row first; `suffix` is one of KINDS."""
    height, width, channels = picture.shape
    shown = np.ones((height, width, 4), np.float32)
    np.multiply(picture, np.float32(1 / 255), out=shown[..., :channels])
    image: Any = bpy.data.images.new("encoded", width, height, alpha=channels == 4)
    try:
        image.pixels.foreach_set(shown.ravel())
        image.file_format = KINDS[suffix]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"picture{suffix}"
            image.save(filepath=str(path), quality=QUALITY)
            return path.read_bytes()
    finally:
        bpy.data.images.remove(image)
