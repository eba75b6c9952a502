"""Tock, a wind-up tin man: a whole player of Quake III, three MD3s on each other's tags, and all that goes with them.

Legs, torso and head each have a level of detail, made coarser where they are built. The table says which frames are
which: 31 rows, of legs and torso apart, some backwards, some the same. Two skins, an icon each.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from examples import pictures
from examples.built import surface_of, tag_of
from examples.pictures import Array
from examples.shapes import Part
from examples.tock_body import HEIGHT, WIDTH, head, lower, torso_tag, upper, upper_tags
from examples.tock_moves import Legs, Torso, names, poses, rows
from examples.tock_pictures import icon, picture
from io_idtech_models import formats
from io_idtech_models.game.player.animation_edits import make
from io_idtech_models.game.skin import make as make_skin
from io_idtech_models.model.vertex import VertexModel

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
    surface = surface_of(SURFACES[part], [make() for make in shapes], (WIDTH, HEIGHT), FOLDER + "default.tga")
    tags = [tag_of(name, [each[name] for each in placed]) for name in TAGS[part]]
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
