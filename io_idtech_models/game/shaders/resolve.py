"""What an engine makes of a shader's name on a model: a script, a bare picture, or one of two ways to show neither.

Facts (`R_FindShader` of ioquake3 and ET: Legacy, `RE_RegisterSkin`, `R_AddMD3Surfaces`, `idMaterial::SetDefaultText`):

- The name, without extension, is looked up in the scripts, then as a picture: as it is given, and with other
  extensions.
- A bare picture is opaque whatever its alpha, lit, and seen from the front.
- Neither: a model's own shader shows the engine's default picture. A shader that a skin names is not drawn at all,
  which is why skins hide surfaces with `nodraw`.
- A script with a word that the engine does not know, or a picture that is not there, shows the default picture as well.
- Doom 3 makes a material for any name, of the picture of that name; here it is a diffuse one, as Doom 3's are named by
  their diffuse picture, and what is not there shows the default picture.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from .library import DOOM3, ShaderLibrary
from .model import DIFFUSE, IMPLICIT, Gen, Shader, Stage, is_builtin

T = TypeVar("T")
SCRIPT, PICTURE, MISSING = "script", "picture", "missing"
DEFAULT_PICTURE, NOTHING = "default", "nothing"


@dataclass(frozen=True)
class Resolved(Generic[T]):
    """What a name comes to.

    `shader` is what a script says (SCRIPT), or what the engine makes of the bare `picture` (PICTURE); None if MISSING.
    `shows` says what is seen instead of it: "" nothing else, `default` the engine's default picture, or `nothing`.
    `absent` are the names of pictures in a script that are not there.
    """

    kind: str
    name: str
    shader: Shader | None = None
    picture: T | None = None
    shows: str = ""
    absent: tuple[str, ...] = ()


def resolve(
    name: str, library: ShaderLibrary | None, find_image: Callable[[str], T | None], *, worn: bool = False
) -> Resolved[T]:
    """Return what the engine makes of a name; `worn` if it comes from a skin, and not from the model itself.

    `find_image` returns the picture that a name means, whatever its extension, or None.
    """
    missing = NOTHING if worn else DEFAULT_PICTURE
    if not name:
        return Resolved(MISSING, name, shows=DEFAULT_PICTURE)  # R_FindShader: the default shader itself
    shader = None if library is None else library.shader(name)
    if shader is not None:
        named = (name for stage in shader.stages if not stage.is_cube for name in stage.maps)
        pictures = (name for name in named if name and not is_builtin(name))
        absent = tuple(dict.fromkeys(each for each in pictures if find_image(each) is None))
        return Resolved(SCRIPT, name, shader, shows=_instead(shader, absent, library), absent=absent)
    picture = find_image(name)
    doom = library is not None and library.rules == DOOM3
    if picture is None:
        return Resolved(MISSING, name, shows=DEFAULT_PICTURE if doom else missing)
    return Resolved(PICTURE, name, implicit(name, lit_by_material=doom), picture)


def implicit(name: str, *, lit_by_material: bool) -> Shader:
    """Return what engines make of a bare picture on a model: opaque, lit, from the front; or Doom 3's."""
    stage = Stage((name,), rgb_gen=Gen("lightingdiffuse"))
    if lit_by_material:
        stage = Stage((name,), role=DIFFUSE)
    return Shader(name, IMPLICIT, stages=[stage])


def _instead(shader: Shader, absent: tuple[str, ...], library: ShaderLibrary | None) -> str:
    """Return what is seen instead of a script.

    Doom 3 shows its default picture in the one stage that lacks its own. What is a word that it does not know may be
    one of Quake 4's.
    """
    if library is not None and library.rules == DOOM3:
        return ""
    broken = shader.unknown or absent or not (shader.stages or shader.sky)
    return DEFAULT_PICTURE if broken else ""
