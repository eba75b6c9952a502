"""A player of Quake II made of one rigged character: a model in the frames that the game plays, gun, skin and icon.

The whole character is sampled in all 198 frames; nothing in the scene is changed, but that animations which the
armature keeps become actions where they are played. What it wears becomes one picture, for the game's models have one
each.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import formats
from ...assets.pictures import game_palette
from ...assets.storage import Target
from ...blender.compat import Context
from ...blender.player.rig import CharacterRig, Piece, Sampled, find_rig, sample
from ...blender.scene import ExportScene
from ...blender.vertex.frame_plan import GatherSettings
from ...blender.window import object_mode
from ...formats.vertex_files import dump_for
from ...game.character.quake2 import ANIMATIONS, HOME, INSTEAD, MODEL, NUM_FRAMES, character_of
from ...game.pictures import pcx, tga
from ...game.player.quake2_rows import ROWS, shots_of
from ...game.player.row_layout import Length
from ...game.player.row_matching import Match
from ...game.store import ARCHIVES
from ...model import steady
from ...model.pictures import Matching, match, resized
from ...model.player import cutting
from ...model.player.regions import LEGS, Parts
from ...model.vertex import Surface, VertexModel
from ...reporting import LimitError, Summary, collected_warnings, listed, once, plural
from ..import_.games import user_disk
from .home import home_of, player_name
from .making import FAR, Made, Placing, Played, into_game, length_of, played
from .making_pictures import SIZE, Atlas
from .making_remaster import Moves, bones_of, remaster_files, say_how_far

log = logging.getLogger(__name__)

ICON = 32
FINER = 2  # times the size of the skin: that of the model with bones
MOST_TRIANGLES = 2000  # the game draws more, and slowly
USUAL = "500 to 700"


@dataclass(frozen=True)
class Quake2Options(Placing):
    """What is made of a character; the operator declares the same options."""

    gun: str  # objects that become weapon.md2, by their names: "rifle, scope"
    skin: str
    remaster: bool  # a model with bones, too


@dataclass(eq=False)
class Shown:
    """What a character shows in the player's frames F: its surfaces, with their meshes' numbers, and its bones."""

    pieces: list[tuple[int, Piece]]
    moves: Moves


def make_quake2_player(name: str, target: Target, options: Quake2Options, context: Context) -> tuple[Made, Summary]:
    """Return the files of a player made of the scene's rigged character.

    `target` is where they will lie; the `name` "" is as that is called.

    Raises:
        LimitError: there is no such character, a choice makes no sense, or the game would refuse the result.
    """
    skin = player_name(options.skin or "default")
    with collected_warnings() as warnings, object_mode(context):
        made = Made(home_of(target, name, (HOME,)))
        context.view_layer.update()
        rig = find_rig(context, of_player=False)
        guns = _guns(rig, options.gun)
        seen = _sampled(rig, options, context)
        held = [block in guns for block in rig.meshes]
        if all(held[nth] for nth, _ in seen.pieces):
            raise LimitError("all meshes are the gun's: name those alone that it consists of")
        palette = game_palette(user_disk().file(target))
        if palette is None:
            log.warning(
                "no pics/colormap.pcx of the game was found, whose colours stock Quake II shows: the skin has its own;"
                " name the game's folder in the preferences"
            )
        for stem, is_gun, worn in (("tris", False, skin), ("weapon", True, "weapon")):
            path = f"{made.folder}/{worn}.pcx"
            pieces = [piece for nth, piece in seen.pieces if held[nth] == is_gun]
            if not pieces:
                made.files[f"{stem}.md2"] = _written(_nothing(seen.moves.names, path), stem)
                continue
            atlas = Atlas([piece.material for piece in pieces])
            made.files[f"{stem}.md2"] = _written(_model(pieces, seen.moves.names, path, atlas), stem)
            made.files |= _pictures(atlas.picture(), worn, palette, icon=not is_gun)
            if options.remaster:
                blocks = [block for block, guns_own in zip(rig.meshes, held, strict=True) if guns_own == is_gun]
                found, reached = remaster_files(stem, blocks, rig.armature, seen.moves, (atlas, path), context)
                say_how_far(stem, seen.moves.names, reached, _reach(pieces))
                finer = _pictures(atlas.picture(FINER), worn, palette, icon=False)
                made.files |= found | {f"{INSTEAD}/{name}": data for name, data in finer.items()}
        if not any(held):
            log.warning("no object is the gun: weapon.md2, without which the game refuses a player, shows nothing")
    count = sum(len(piece.surface.triangles) for _, piece in seen.pieces)
    facts = f"'{made.name}' of '{rig.armature.name}': {plural(count, 'triangle')}, {NUM_FRAMES} frames, skin {skin}"
    if count > MOST_TRIANGLES:
        warnings.append(f"{count} triangles, players of the game have {USUAL}: decimate it (modifier Decimate)")
    return made, Summary(facts, once(warnings))


def _guns(rig: CharacterRig, text: str) -> list[Any]:
    """Return the meshes that are the gun: those of the names, else those that are called so; raises LimitError."""
    wanted = [name.strip().lower() for name in text.split(",") if name.strip()]
    there = {str(block.name).lower(): block for block in rig.meshes}
    lost = [name for name in wanted if name not in there]
    if lost:
        raise LimitError(f"the character has no mesh called {listed(lost)}: it has {listed(list(there))}")
    if wanted:
        return [there[name] for name in wanted]
    return [block for name, block in there.items() if any(word in name for word in ("weapon", "gun", "rifle"))]


def _sampled(rig: CharacterRig, options: Quake2Options, context: Context) -> Shown:
    """Return what a character shows in the game's frames and space."""
    chosen = played(rig, options.rows, ROWS, context)
    takes, matches, every = chosen.takes, chosen.matches, rig.bones
    _say_matches(chosen)
    lengths: dict[str, Length] = {name: length_of(take, every) for name, take in takes.items()}
    now = float(context.scene.frame_current)
    lengths[""], takes[""] = Length(now, now), rig.now(now)
    shots, names = shots_of(matches, lengths)
    different = list(dict.fromkeys(shots))
    export = ExportScene(context.scene, context.view_layer, GatherSettings())
    parts = Parts(dict.fromkeys(every.parents, LEGS), "", "", "")
    found: list[tuple[int, Piece]] = []
    order = [different.index(shot) for shot in shots]
    bones, own = bones_of(rig.armature, context) if options.remaster else [], Sampled()
    for nth, block in enumerate(rig.meshes):
        seen = sample(
            CharacterRig(rig.armature, [block]), parts, [(takes[a], time) for a, time in different], bones, export
        )
        found += [(nth, piece) for piece in seen.pieces]
        own, bones = seen if nth == 0 else own, []
    stand = names.index("stand01")
    into = into_game(rig, replace(own, pieces=[piece for _, piece in found]), order[stand], options)
    transforms = np.repeat(into[None], len(order), axis=0)
    if options.in_place:
        _stay(transforms, [piece.surface for _, piece in found], order, matches)
    pieces = [(nth, replace(p, surface=cutting.in_frames(p.surface, transforms, order))) for nth, p in found]
    return Shown(pieces, Moves(names, transforms, order, own.bones, own.rests))


def _stay(
    transforms: NDArray[np.float64], surfaces: Sequence[Surface], order: Sequence[int], matches: dict[str, Match]
) -> None:
    """Take away how far a character goes along in animations that the game repeats and moves by itself; it is named.

    That is the way from the first frame to the last, evenly: it may go faster and slower, and sway.
    """
    far = {}
    for clip in ANIMATIONS:
        if not clip.loop:
            continue
        ends = [order[clip.first], order[clip.last]]
        points = np.concatenate([surface.positions[ends] for surface in surfaces], axis=1).astype(np.float64)
        middles = steady.applied(transforms[clip.first][:3], np.ascontiguousarray(points.mean(axis=1)))
        way = (middles[1] - middles[0])[:2]
        if float(np.abs(way).max()) > FAR:
            far[matches[clip.name].action] = float(np.abs(way).max())
            steps = np.arange(clip.count)[:, None] / (clip.count - 1)
            transforms[clip.first : clip.last + 1, :2, 3] -= steps * way
    for action, units in far.items():
        log.warning(
            "'%s' moves the character by %.0f units, as games do themselves: it is kept in place", action, units
        )


def _say_matches(found: Played) -> None:
    """Say which animations play another one's action, and which actions none plays."""
    instead = [f"{row} by {match.instead}" for row, match in found.matches.items() if match.instead]
    if instead:
        log.warning("no action is called as these animations, they are filled: %s", ", ".join(instead))
    if found.left:
        text = "actions that no animation plays: %s; name them as animation=action, run='%s'"
        log.warning(text, listed(found.left), found.left[0])


def _nothing(names: list[str], path: str) -> VertexModel:
    """Return a model that shows nothing."""
    still = np.zeros((len(names), 3, 3), np.float32)
    up = np.broadcast_to(np.array((0, 0, 1), np.float32), still.shape).copy()
    nothing = Surface("nothing", still, np.array([[0, 1, 2]], np.int32), np.zeros((3, 2), np.float32), [path], up)
    return VertexModel("weapon", names, [nothing], [], texture_size=(8, 8))


def _model(pieces: Sequence[Piece], names: list[str], path: str, atlas: Atlas) -> VertexModel:
    """Return the model of some surfaces, which wear one picture."""
    for piece in pieces:
        piece.surface.uvs = atlas.uvs(piece.surface.uvs, piece.material, piece.surface.name)
        piece.surface.shaders = [path]
    return VertexModel("player", names, [piece.surface for piece in pieces], [], texture_size=(SIZE, SIZE))


def _reach(pieces: Sequence[Piece]) -> NDArray[np.float64]:
    """Return the lowest and the highest coordinates of surfaces in each frame, (F, 2, 3)."""
    low = np.min([piece.surface.positions.min(axis=1) for piece in pieces], axis=0)
    high = np.max([piece.surface.positions.max(axis=1) for piece in pieces], axis=0)
    return np.stack((low, high), axis=1).astype(np.float64)


def _written(model: VertexModel, stem: str) -> bytes:
    """Return a model's file; raises LimitError where the game refuses it."""
    written = dump_for(formats.by_name("md2"), model, "quake2")
    for text in written.notes:
        log.warning("%s.md2: %s", stem, text)
    return written.data


def _pictures(picture: NDArray[np.uint8], name: str, palette: NDArray[np.uint8] | None, icon: bool) -> dict[str, bytes]:
    """Return the files of a skin, by their names: in the game's colours, in all, and its icon.

    The picture (height, width, 3) begins at the top.
    """
    table = _own_palette(picture) if palette is None else palette
    how = Matching(table, avoided=(255,))  # which icons, shown on the screen, have no colour for
    found = {f"{name}.pcx": pcx.encode(match(picture, how), table), f"{name}.tga": tga.encode(picture[::-1])}
    if icon:
        small = resized(picture, ICON, ICON)
        found[f"{name}_i.pcx"] = pcx.encode(match(small, how), table)
    return found


def _own_palette(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return 256 colours: those of a picture if it has so few, or as good as all of them, by a median cut.

    The last is none of them. (P. Heckbert, "Color Image Quantization for Frame Buffer Display", 1982.)
    """
    colors, counts = np.unique(picture.reshape(-1, 3).astype(np.int64), axis=0, return_counts=True)

    def spread(box: NDArray[Any]) -> int:
        return int(np.ptp(colors[box], axis=0).max() * counts[box].sum())

    boxes: list[NDArray[Any]] = [np.arange(len(colors))]
    spreads = [spread(boxes[0])]
    while len(boxes) < 255 and max(spreads):
        widest = spreads.index(max(spreads))
        box, _ = boxes.pop(widest), spreads.pop(widest)
        box = box[np.argsort(colors[box, np.ptp(colors[box], axis=0).argmax()], kind="stable")]
        middle = int(np.searchsorted(np.cumsum(counts[box]), counts[box].sum() / 2))
        halves = np.split(box, [min(max(middle, 1), len(box) - 1)])
        boxes += halves
        spreads += map(spread, halves)
    table = np.zeros((256, 3), np.uint8)
    for number, box in enumerate(boxes):
        shares = counts[box]
        table[number] = ((colors[box] * shares[:, None]).sum(axis=0) + shares.sum() // 2) // shares.sum()
    return table


def open_player(target: Target, name: str, context: Context, into: Any) -> list[Any]:
    """Bring a player that was written to a folder, or into an archive, into the scene; returns its objects.

    Raises:
        ModelError: it can't be read.
    """
    from ..character.imports import CharacterOptions, import_character
    from ..import_.dressing import Dressing

    folder = target / HOME / name if target.name.lower().endswith(ARCHIVES) else target
    files = character_of(user_disk().file(folder / MODEL))
    return import_character(files, CharacterOptions(fit_range=False), Dressing(), context, into)[0].objects
