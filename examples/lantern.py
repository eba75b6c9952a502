"""The Lantern, which swings from its hook: an MD3 of five surfaces in a pack with a script and two skins.

Each surface is there for something that a bare picture can't do: iron that reflects, glass that blends, a flame that is
added, flickers and scrolls, cloth with holes. The pack is stored, not deflated: zlib's versions pack differently.
"""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Callable

import numpy as np

from examples.built import surface_of, tag_of
from examples.lantern_pictures import SIZE, picture_files
from examples.pictures import Array
from examples.shapes import Part, Point, Rect, beam, grid, joined, lathe, moved, quad, shift, turn
from io_idtech_models import formats
from io_idtech_models.model.vertex import Surface, VertexModel

FOLDER = "models/mapobjects/lantern/"
PACK = "lantern/baseq3/lantern.pk3"
SKINS = ("default", "frost")
NUM_FRAMES = 12
WHOLE: Rect = (0, 0, SIZE, SIZE)
PLATE, TRIM, DARK = (0, 0, 64, 32), (0, 32, 64, 48), (0, 48, 64, 64)  # in the picture of iron
BOTTOM, HANG = -14.0, 27.0  # of its body, and how far its middle hangs below the hook

SCRIPT = """\
// The Lantern. Its skins give each surface one of these, or one of the second half.

models/mapobjects/lantern/iron
{
	{
		map models/mapobjects/lantern/iron.tga
		rgbGen lightingDiffuse
	}
	{
		map models/mapobjects/lantern/sheen.tga
		blendFunc add
		tcGen environment
	}
}

models/mapobjects/lantern/glass
{
	cull none
	{
		map models/mapobjects/lantern/glass.tga
		blendFunc blend
		rgbGen lightingDiffuse
	}
	{
		map models/mapobjects/lantern/sheen.tga
		blendFunc add
		rgbGen const ( 0.4 0.4 0.4 )
		tcGen environment
	}
}

models/mapobjects/lantern/flame
{
	cull none
	surfaceparm nomarks
	{
		clampMap models/mapobjects/lantern/flame.tga
		blendFunc add
		rgbGen wave sin 0.9 0.1 0 3
	}
	{
		map models/mapobjects/lantern/sparks.tga
		blendFunc add
		tcMod scroll 0.05 0.7
	}
}

models/mapobjects/lantern/cloth
{
	cull none
	{
		map models/mapobjects/lantern/cloth.tga
		alphaFunc GE128
		rgbGen lightingDiffuse
	}
}

// What the skin "frost" wears instead.

models/mapobjects/lantern/frosted
{
	cull none
	{
		map models/mapobjects/lantern/frosted.tga
		blendFunc blend
		rgbGen lightingDiffuse
	}
}

models/mapobjects/lantern/coldflame
{
	cull none
	surfaceparm nomarks
	{
		clampMap models/mapobjects/lantern/coldflame.tga
		blendFunc add
		rgbGen wave sin 0.9 0.1 0 1
	}
}

models/mapobjects/lantern/coldcloth
{
	cull none
	{
		map models/mapobjects/lantern/coldcloth.tga
		alphaFunc GE128
		rgbGen lightingDiffuse
	}
}
"""
WORN = {  # by surfaces and skins; rime and wax are bare pictures, and no script says more of them
    "iron": ("iron", "rime.tga"),
    "candle": ("wax.tga", "wax.tga"),
    "glass": ("glass", "frosted"),
    "flame": ("flame", "coldflame"),
    "cloth": ("cloth", "coldcloth"),
}


# -- the lantern, its middle at the origin


def iron() -> Part:
    """Return the body: base, four posts, cap, and the ring that it hangs from."""
    round_ = [
        lathe([(0.0, BOTTOM), (9.0, BOTTOM)], DARK, 12, 2),
        lathe([(9.0, BOTTOM), (9.4, -12.0)], TRIM, 12, 3),
        lathe([(9.4, -12.0), (6.0, -11.2)], PLATE, 12, 2),
        lathe([(6.0, -11.2), (0.0, -11.2)], DARK, 12, 2),
        lathe([(0.0, 9.5), (8.6, 9.5)], DARK, 12, 2),
        lathe([(8.6, 9.5), (8.9, 10.6)], TRIM, 12, 3),
        lathe([(8.9, 10.6), (6.2, 12.2), (3.4, 15.4), (2.6, 17.6)], PLATE, 12, 2),
        lathe([(2.6, 17.6), (3.2, 18.8)], TRIM, 12, 1),
        lathe([(3.2, 18.8), (1.4, 20.2), (0.0, 20.4)], DARK, 12, 1),
    ]
    rod = beam(square(0.7, -7.0, BOTTOM - 0.8), square(0.7, 7.0, BOTTOM - 0.8), [TRIM] * 4)
    return joined([*round_, *map(post, range(4)), ring(23.4, 3.4), moved(rod, turn(z=90.0))])


def square(half: float, x: float, z: float) -> list[Point]:
    """Return the end of a bar along X."""
    return [(x, half, z + half), (x, -half, z + half), (x, -half, z - half), (x, half, z - half)]


def post(nth: int) -> Part:
    """Return a bar from the base to the cap."""
    sides = ((0.5, 0.5), (0.5, -0.5), (-0.5, -0.5), (-0.5, 0.5))
    near, far = ([(7.6 + a, b, z) for a, b in sides] for z in (-12.0, 9.8))
    return moved(beam(near, far, [TRIM] * 4), turn(z=90.0 * nth + 45.0))


def ring(z: float, radius: float, sides: int = 10) -> Part:
    """Return a ring that stands upright."""
    parts = []
    for nth in range(sides):
        near, far = (
            [
                (a * math.cos(angle), b, z + a * math.sin(angle))
                for a, b in ((radius + 0.5, 0.5), (radius + 0.5, -0.5), (radius - 0.5, -0.5), (radius - 0.5, 0.5))
            ]
            for angle in (2 * math.pi * end / sides for end in (nth, nth + 1))
        )
        parts.append(beam(near, far, [TRIM] * 4))
    return joined(parts)


def candle() -> Part:
    """Return the candle in the middle."""
    side = lathe([(2.2, -11.2), (1.8, -6.6)], PLATE, 8)
    return joined([side, lathe([(1.8, -6.6), (0.0, -6.9)], TRIM, 8)])


def glass() -> Part:
    """Return the panes, which are round."""
    return lathe([(6.0, -11.0), (7.0, -1.0), (6.2, 9.3)], WHOLE, 12, 2)


def flame() -> Part:
    """Return three pictures of the flame that stand across each other."""
    one = quad([(0, -4.5, 6.5), (0, -4.5, -7.5), (0, 4.5, -7.5), (0, 4.5, 6.5)], WHOLE)
    return joined([moved(one, turn(z=60.0 * nth + 10.0)) for nth in range(3)])


def cloth(frame: int) -> Part:
    """Return the pennant below, which sways."""
    down, across = np.mgrid[0:9, 0:5] / np.array((8.0, 4.0))[:, None, None]
    phase = 2 * math.pi * frame / NUM_FRAMES
    angles = phase - 3.5 * down + 0.8 * across
    waves, slopes = (np.array([[f(a) for a in row] for row in angles.tolist()]) for f in (math.sin, math.cos))
    x = 1.9 * down * waves
    points = np.stack((x, 11.0 * (across - 0.5), BOTTOM - 0.8 - 22.0 * down), axis=2)
    # d x / d down over how long the cloth is, and d x / d across over how wide.
    steep, aside = (1.9 * waves - 1.9 * 3.5 * down * slopes) / 22.0, 1.9 * 0.8 * down * slopes / 11.0
    return grid(points, np.stack((np.ones_like(x), -aside, steep), axis=2), WHOLE)


SURFACES: dict[str, Callable[[int], Part]] = {
    "iron": lambda frame: iron(),
    "candle": lambda frame: candle(),
    "glass": lambda frame: glass(),
    "flame": lambda frame: flame(),
    "cloth": cloth,
}
TAGS = {"tag_hook": shift(0, 0, HANG), "tag_flame": shift(0, 0, -6.6)}


# -- the model


def pose(frame: int) -> Array:
    """Return how the lantern hangs from its hook, which is the origin."""
    phase = 2 * math.pi * frame / NUM_FRAMES
    return turn(x=3.0 * math.sin(phase), y=1.5 * math.cos(phase)) @ shift(0, 0, -HANG)


def build_surface(name: str, make: Callable[[int], Part]) -> Surface:
    """Return a surface of the package's model, as it swings."""
    frames = [moved(make(frame), pose(frame)) for frame in range(NUM_FRAMES)]
    return surface_of(name, frames, SIZE, FOLDER + WORN[name][0])


def model_bytes() -> bytes:
    """Return the MD3 file."""
    names = [f"swing{i + 1:02d}" for i in range(NUM_FRAMES)]
    surfaces = [build_surface(name, make) for name, make in SURFACES.items()]
    tags = [tag_of(name, [pose(frame) @ place for frame in range(NUM_FRAMES)]) for name, place in TAGS.items()]
    model = VertexModel(FOLDER + "lantern.md3", names, surfaces, tags)
    data: bytes = formats.by_name("md3").dump(model)
    return data


# -- the pack


def skin_bytes(nth: int) -> bytes:
    """Return the skin file of a skin by its number."""
    return "".join(f"{surface},{FOLDER}{names[nth]}\n" for surface, names in WORN.items()).encode()


def pack_files() -> dict[str, bytes]:
    """Return what is in the pack, by names."""
    found = {"lantern.md3": model_bytes(), **picture_files()}
    found |= {f"lantern_{skin}.skin": skin_bytes(nth) for nth, skin in enumerate(SKINS)}
    return {"scripts/lantern.shader": SCRIPT.encode()} | {FOLDER + name: data for name, data in found.items()}


def pack(files: dict[str, bytes]) -> bytes:
    """Return a .pk3 whose bytes depend on nothing but the files."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name, data in sorted(files.items()):
            entry = zipfile.ZipInfo(name, (1999, 12, 2, 0, 0, 0))
            entry.create_system, entry.external_attr = 3, 0o644 << 16  # else this system's
            archive.writestr(entry, data)
    return stream.getvalue()


def files() -> dict[str, bytes]:
    """Return the example's files by their paths."""
    return {PACK: pack(pack_files())}
