"""Materials: one per shader, showing what the game would show; and what surfaces wear by a skin.

A skin gives a model's surfaces other shaders than the model's file does. A surface's first material keeps the name that
the file has for it, so that an export writes that; it shows, and notes, what the skin says. Who renames such a
material, or puts another in its place, says what the surface wears from now on, in the model and in the skin.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import bpy

from ...model.pictures import Palette, Skin
from ...model.surface_look import Layer, Look, Texture
from .. import names
from ..compat import Block
from ..provenance import NODES, PICTURE, STAND_IN, WORN, WORN_GIVEN
from .images import Picture, ReadPixels, image_of, kinds_behind, load_image
from .nodes import show_look
from .pixels import file_of, is_changed, origin_of
from .skins import RATE, show_skin

OwnImage = Callable[[], Picture | None]
# What a skin says that a surface wears whose file gives it a shader ("" for none); None of one that it does not list.
Worn = Callable[[str, str], str | None]


class FindLook(Protocol):
    """What a shader looks like, `worn` if a skin names it; None if there is nothing to show."""

    def __call__(self, name: str, *, worn: bool = False) -> Look | None:
        """Return it."""


def find_nothing(name: str, *, worn: bool = False) -> Look | None:
    """Return None: nothing is known of a shader but its name."""
    return None


@dataclass
class Materials:
    """The materials of one import, made when first asked for."""

    find_look: FindLook = find_nothing
    read_pixels: ReadPixels | None = None
    own_image: OwnImage | None = None  # the picture of a model that names none
    worn: Worn | None = None  # of the skin that the model wears; or None
    plain: bool = False  # one picture each, without layers
    frame_rate: float = 0.0  # at which textures move that do in the game; 0: they stand still
    skins: dict[str, Skin] = field(default_factory=dict)  # that lie in the model's file, by their shaders
    palette: Palette | None = None  # of their numbers
    rate: float = 0.0  # frames per second of the scene, by which skins of several pictures show them; 0: as usual
    made: dict[str, bpy.types.Material] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)  # shaders and pictures that there is nothing to show of
    unlisted: list[str] = field(default_factory=list)  # surfaces that the skin does not list
    _stand_in: bpy.types.Material | None = field(default=None, init=False)
    _dressed: dict[tuple[str, str], bpy.types.Material] = field(default_factory=dict, init=False)

    def of_surface(self, surface: str, shaders: Sequence[str]) -> list[bpy.types.Material]:
        """Return the materials of a surface and the shaders that its file has for it: by the skin, if there is one."""
        own = shaders[0] if shaders else ""
        worn = None if self.worn is None else self.worn(surface, own)
        if self.worn is not None and worn is None:
            self.unlisted.append(surface)
        if not shaders:
            alone = self._stand_in_of(worn) if worn else self.stand_in()
            return [] if alone is None else [alone]
        first = self.get(own) if self.worn is None or worn == own else self._dress(own, worn or "")
        return [first, *(self.get(shader) for shader in shaders[1:])]

    def get(self, shader: str) -> bpy.types.Material:
        """Return the material of a shader."""
        if shader not in self.made:
            self.made[shader] = self._make(shader, shader)
        return self.made[shader]

    def take_skins(self, skins: Sequence[Skin], palette: Palette | None) -> None:
        """Know the skins that lie in a model's file."""
        self.skins |= {skin.name: skin for skin in skins}
        self.palette = palette

    def _make(self, name: str, shader: str, *, worn: bool = False) -> bpy.types.Material:
        material = bpy.data.materials.new(names.fit(name))
        names.remember(material, name)
        if shader in self.skins:
            show_skin(material, self.skins[shader], self.palette, self.rate or RATE, plain=self.plain)
            return material
        look = self.find_look(shader, worn=worn) if shader else None
        if look is not None:
            self.missing += [each for each in look.lacking if each not in self.missing]
        if (look is None or not self._show(material, look.plain() if self.plain else look)) and shader:
            self.missing.append(shader)
        return material

    def _dress(self, shader: str, worn: str) -> bpy.types.Material:
        """Return the material of a shader that shows what a skin says; "": what that does not list shows nothing."""
        if (shader, worn) not in self._dressed:
            material = self._make(shader, worn, worn=True)
            material[WORN], material[WORN_GIVEN] = worn, material.name
            self._dressed[shader, worn] = material
        return self._dressed[shader, worn]

    def _stand_in_of(self, worn: str) -> bpy.types.Material:
        """Return the material of a surface that names no shader: what a skin says that it wears."""
        if ("", worn) not in self._dressed:
            material = self._make(worn, worn, worn=True)
            material[STAND_IN] = material.name
            self._dressed["", worn] = material
        return self._dressed["", worn]

    def stand_in(self) -> bpy.types.Material | None:
        """Return the material of a model without a stored skin, called after the picture it shows, or None."""
        if self._stand_in is None:
            self._stand_in = self._make_stand_in()
        return self._stand_in

    def _make_stand_in(self) -> bpy.types.Material | None:
        picture = None if self.own_image is None else self.own_image()
        if picture is None or load_image(picture, self.read_pixels) is None:
            return None
        material = bpy.data.materials.new(names.fit(picture.stem))
        material[STAND_IN] = material.name
        self._show(material, Look((Layer(Texture(picture)),)))
        return material

    def like(self, material: Block) -> bpy.types.Material | None:
        """Return a new material, as an import makes it for what one of an import shows; None if it can't be told."""
        source = material.get(names.SOURCE)
        if not isinstance(source, str):
            return self._make_stand_in() if STAND_IN in material else None
        worn = material.get(WORN)
        if isinstance(worn, str):
            return self._make(source, worn, worn=True)
        return self._make(source, source, worn=STAND_IN in material)

    def _show(self, material: Block, look: Look) -> bool:
        """Show of a look what can be read; tells whether that shows what the surface is."""
        images: dict[Texture | None, Any] = {texture: self._image(texture) for texture in look.textures}
        layers = tuple(layer for layer in look.layers if layer.texture is None or images[layer.texture] is not None)
        if not layers or (look.base is not None and images[look.base] is None):
            return False
        normal, specular = (None if images.get(t) is None else t for t in (look.normal, look.specular))
        shown = look._replace(layers=layers, normal=normal, specular=specular)
        show_look(material, shown, lambda texture: images[texture], self.frame_rate)
        image = image_of(material)
        if image is not None:
            material[PICTURE], material[NODES] = _stem_of(origin_of(image)), kinds_behind(material)
        return True

    def _image(self, texture: Texture) -> Block | None:
        return load_image(texture.picture, self.read_pixels, texture.name)


def other_picture(material: Block) -> Block | None:
    """Return the image of a material of an import that shows another file than its name meant; else None.

    Files are told apart by their names, for they may have moved. What was painted is none.
    """
    known, image = material.get(PICTURE), image_of(material)
    given = material.get(STAND_IN) or material.get(WORN_GIVEN) or material.get(names.GIVEN)
    if not isinstance(known, str) or image is None or not isinstance(given, str):
        return None
    stem = _stem_of(file_of(image))
    stems = {stem.lower(), _stem_of(stem).lower()}  # Blender unpacks a `rust.pcx` that it can't write to `rust.pcx.png`
    if not stem or known.lower() in stems or not names.is_untouched(material.name, given):
        return None
    return None if is_changed(image) else image  # which takes time to tell


def _stem_of(path: str) -> str:
    return os.path.splitext(os.path.basename(path))[0]  # noqa: PTH119, PTH122 - below tasks paths are texts


def worn_by(material: Block) -> str:
    """Return the shader that a skin has for a surface with a material; "" for what it does not list."""
    worn, given = material.get(WORN), material.get(WORN_GIVEN)
    if isinstance(worn, str) and isinstance(given, str) and names.is_untouched(material.name, given):
        return worn
    return names.file_name_of(material)
