"""Pictures of the Lantern: see `lantern`.

Where a picture has alpha, its colours go on below what is not seen: games blend them apart from each other.
"""

from __future__ import annotations

import numpy as np

from examples import pictures
from examples.pictures import Array, tga

SIZE = 64  # of all of them, in pixels
Y, X = np.mgrid[0:SIZE, 0:SIZE] + 0.5


def noise(seed: int, cell: int) -> Array:
    """Return smooth noise (SIZE, SIZE) of 0 to 1 whose lumps are `cell` pixels wide."""
    return pictures.noise(seed, cell, SIZE, SIZE)


def colored(shade: Array, *colour: float) -> Array:
    """Return a shade (SIZE, SIZE) in a colour."""
    found: Array = shade[..., None] * np.array(colour)
    return found


def mixed(below: Array, above: Array, share: Array) -> Array:
    """Return two pictures, of the second as much as `share` (SIZE, SIZE) says."""
    part = np.clip(share, 0, 1)[..., None]
    found: Array = below * (1 - part) + above * part
    return found


def iron_picture() -> Array:
    """Return wrought iron: hammered plates, bright trim, dark undersides."""
    hammered = 0.55 + 0.5 * noise(11, 8) * noise(12, 4) + 0.15 * noise(13, 2)
    trim = 0.9 + 0.3 * noise(14, 4) - 0.25 * np.abs(Y - 40) / 8
    shade = np.where(Y < 32, hammered, np.where(Y < 48, trim, 0.35 + 0.2 * noise(15, 4)))
    rust = colored(0.6 + 0.5 * noise(17, 2), 0.46, 0.22, 0.1)
    return mixed(colored(shade, 0.42, 0.4, 0.39), rust, 4.0 * (noise(16, 16) * 0.7 + noise(18, 4) * 0.3 - 0.62))


def rime_picture() -> Array:
    """Return the same under rime."""
    white = colored(0.75 + 0.25 * noise(22, 2), 0.86, 0.93, 1.0)
    return mixed(iron_picture() * (0.8, 0.95, 1.1), white, 2.5 * (noise(21, 8) * 0.6 + noise(23, 2) * 0.4 - 0.3))


def sheen_picture() -> Array:
    """Return what iron and glass reflect: a sky above, a bright horizon, and little below."""
    sky = 0.32 * (1 - Y / SIZE) * (1 - Y / SIZE)
    streak = 0.42 / (1 + ((Y - 26) / 3.5) * ((Y - 26) / 3.5))
    lamp = 0.7 / (1 + ((X - 44) * (X - 44) + (Y - 14) * (Y - 14)) / 18)
    return colored(sky, 0.6, 0.75, 1.0) + colored(streak, 1.0, 0.8, 0.55) + colored(lamp, 1.0, 0.97, 0.9)


def glass_picture() -> Array:
    """Return amber glass between lead, with soot below the rim; its alpha is how little shows through."""
    lead = (X % 16 < 1.6) | (Y < 2) | (Y > 62)
    soot = np.clip((22 - Y) / 22, 0, 1)
    colour = mixed(colored(0.8 + 0.3 * noise(31, 8), 0.95, 0.68, 0.3), colored(noise(32, 4), 0.2, 0.15, 0.1), soot)
    alpha = 0.16 + 0.1 * noise(33, 8) + 0.45 * soot * soot
    colour = np.where(lead[..., None], (0.12, 0.11, 0.1), colour)
    return np.dstack((colour, np.where(lead, 0.95, alpha)))


def frosted_picture() -> Array:
    """Return frosted glass: crystals grow from the edges of the panes."""
    lead = (X % 16 < 1.6) | (Y < 2) | (Y > 62)
    edge = np.minimum(np.minimum(X % 16, 16 - X % 16) / 8, np.minimum(Y, SIZE - Y) / 32)
    crystals = np.clip(1.25 - edge + 0.8 * (noise(41, 4) - 0.5) + 0.5 * (noise(42, 2) - 0.5), 0, 1)
    colour = mixed(
        np.array((0.62, 0.76, 0.9)) + 0 * Y[..., None], np.array((0.95, 0.98, 1.0)) + 0 * Y[..., None], crystals
    )
    colour = np.where(lead[..., None], (0.3, 0.33, 0.36), colour)
    return np.dstack((colour, np.where(lead, 0.95, 0.2 + 0.65 * crystals)))


def heat(seed: int) -> Array:
    """Return how hot a flame is (SIZE, SIZE), 0 to 1: a drop that licks upward, black around."""
    up = np.clip((62 - Y) / 58, 0, 1)
    lean = (X - 32) / 32 - 0.25 * up * (noise(seed, 16) - 0.5)
    width = 1.05 * np.sqrt(up) * (1 - up) + 0.0001
    drop = np.clip(1 - (lean / width) * (lean / width), 0, 1)
    hot: Array = drop * np.clip(1.5 - up, 0, 1) * np.where(up > 0, 1, 0)
    return hot


def flame_picture(seed: int, edge: Array, middle: Array) -> Array:
    """Return a flame: white inside, of one colour and then another to its edge, black around it."""
    hot = heat(seed)[..., None]
    found: Array = edge * np.clip(2 * hot, 0, 1) + middle * np.clip(2 * hot - 0.6, 0, 1) * 0.8
    return found


def sparks_picture() -> Array:
    """Return sparks, which rise: few, and black between."""
    dots = np.clip(noise(51, 4) * noise(52, 2) * 5 - 3.6, 0, 1) * np.clip(1 - np.abs(X - 32) / 20, 0, 1)
    return colored(dots, 1.0, 0.62, 0.2)


def cloth_picture(ground: Array, sign: Array) -> Array:
    """Return a torn pennant with a sun; its alpha is 0 where there is no cloth."""
    weave = 0.78 + 0.12 * ((X // 1 + Y // 1) % 2) + 0.2 * (noise(61, 16) - 0.5)
    away = np.sqrt((X - 32) * (X - 32) + 4 * (Y - 20) * (Y - 20))  # it is twice as high as wide where it hangs
    sun = ((away < 9) | ((away > 13) & (away < 17))) & (noise(62, 2) < 0.93)
    hem = (X < 4) | (X > 60) | (Y < 2)
    colour = np.where((sun | hem)[..., None], sign, ground) * weave[..., None]
    torn = 46 + 18 * noise(63, 8) - 0.12 * np.abs(X - 32) < Y
    holes = (noise(64, 8) * 0.75 + noise(65, 4) * 0.25 > 0.83) & (away > 18)
    return np.dstack((colour, np.where(torn | holes, 0.0, 1.0)))


def picture_files() -> dict[str, bytes]:
    """Return the pictures by their names."""
    array = np.array
    images = {
        "iron": iron_picture(),
        "rime": rime_picture(),
        "wax": colored(0.8 + 0.2 * noise(25, 8) - 0.25 * Y / SIZE, 0.95, 0.88, 0.72),
        "sheen": sheen_picture(),
        "glass": glass_picture(),
        "frosted": frosted_picture(),
        "flame": flame_picture(71, array((1.0, 0.36, 0.05)), array((0.7, 0.8, 0.55))),
        "coldflame": flame_picture(72, array((0.05, 0.3, 1.0)), array((0.7, 0.8, 0.3))),
        "sparks": sparks_picture(),
        "cloth": cloth_picture(array((0.5, 0.07, 0.06)), array((0.85, 0.62, 0.2))),
        "coldcloth": cloth_picture(array((0.12, 0.2, 0.42)), array((0.78, 0.84, 0.9))),
    }
    return {f"{name}.tga": tga(image) for name, image in images.items()}
