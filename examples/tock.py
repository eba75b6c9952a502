"""Tock, a wind-up tin man: a whole player of Quake III, three MD3s on each other's tags, and all that goes with them.

Legs, torso and head each have a level of detail, made coarser where they are built. The table says which frames are
which: 31 rows, of legs and torso apart, some backwards, some the same. Two skins, an icon each.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from examples import pictures
from examples.pictures import Array
from examples.shapes import Part
from examples.tock_body import HEIGHT, WIDTH, head, lower, torso_tag, upper, upper_tags
from examples.tock_moves import Legs, Torso, names, poses, rows
from examples.tock_pictures import icon, picture
from io_idtech_models import formats
from io_idtech_models.game.player.animation_edits import make
from io_idtech_models.game.skin import make as make_skin
from io_idtech_models.model.vertex import Surface, Tag, VertexModel

FOLDER = "models/players/tock/"
GAME = "tock/baseq3/"
SKINS = ("default", "red")
SURFACES = {"lower": "l_legs", "upper": "u_torso", "head": "h_head"}
TAGS: dict[str, tuple[str, ...]] = {
    "lower": ("tag_torso",),
    "upper": ("tag_torso", "tag_head", "tag_weapon", "tag_flag"),
    "head": (),
}
LEVELS = 2


def build_surface(name: str, frames: list[Part]) -> Surface:
    """Return a surface of the package's model, with the positions and normals of every frame."""
    positions = np.round(np.array([frame.points for frame in frames]), 4).astype(np.float32)
    normals = np.array([frame.normals for frame in frames])
    normals = np.round(normals / np.sqrt((normals**2).sum(axis=2))[..., None], 4)
    # A symmetric shape has normals halfway between two codes: lean them all a little, or noise would choose.
    normals = (normals + np.array((0.00011, 0.00023, 0.00017))).astype(np.float32)
    u, v = (frames[0].uvs / (WIDTH, HEIGHT)).T
    uvs = np.round(np.stack((u, 1 - v), axis=1), 6).astype(np.float32)
    return Surface(name, positions, frames[0].triangles.astype(np.int32), uvs, [FOLDER + "default.tga"], normals)


def build_tag(name: str, places: list[Array]) -> Tag:
    """Return a tag of the package's model; the columns of a transform are the tag's forward, left and up."""
    frames = np.round(np.array(places), 5) + 0.0
    axes = np.ascontiguousarray(np.swapaxes(frames[:, :3, :3], 1, 2), np.float32)
    return Tag(name, frames[:, :3, 3].astype(np.float32), axes)


def legs_tags(pose: Legs) -> dict[str, Array]:
    """Return the tag of the legs."""
    return {"tag_torso": torso_tag(pose)}


def model(part: str, detail: int) -> VertexModel:
    """Return the model of a part at a level of detail, with the same frames and tags at all of them."""
    shapes: list[Callable[[], Part]]
    placed: list[dict[str, Array]]
    if part == "head":
        shapes, placed, frames = [partial(head, detail)], [{}], ["head"]
    elif part == "lower":
        legs = [pose for pose in poses(0) if isinstance(pose, Legs)]
        shapes, placed, frames = [partial(lower, pose, detail) for pose in legs], list(map(legs_tags, legs)), names(0)
    else:
        torsos = [pose for pose in poses(1) if isinstance(pose, Torso)]
        shapes = [partial(upper, pose, detail) for pose in torsos]
        placed, frames = list(map(upper_tags, torsos)), names(1)
    surface = build_surface(SURFACES[part], [make() for make in shapes])
    tags = [build_tag(name, [each[name] for each in placed]) for name in TAGS[part]]
    return VertexModel(f"{FOLDER}{part}.md3", frames, [surface], tags)


def player_files() -> dict[str, bytes]:
    """Return the player's files by their names in its folder."""
    found: dict[str, bytes] = {}
    for part, surface in SURFACES.items():
        for detail in range(LEVELS):
            end = f"_{detail}" if detail else ""
            found[f"{part}{end}.md3"] = formats.by_name("md3").dump(model(part, detail))
        for skin in SKINS:
            worn = make_skin({surface: f"{FOLDER}{skin}.tga"}, TAGS[part])
            found[f"{part}_{skin}.skin"] = worn.write()
    for skin in SKINS:
        found[f"{skin}.tga"] = pictures.tga(picture(skin))
        found[f"icon_{skin}.tga"] = pictures.tga(icon(skin))
    return found | {"animation.cfg": make(rows(), ("sex\tn", "footsteps\tmech")).write()}


def files() -> dict[str, bytes]:
    """Return the example's files by their paths."""
    return {GAME + FOLDER + name: data for name, data in player_files().items()}
