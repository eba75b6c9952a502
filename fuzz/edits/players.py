"""Whole players among the models that are edited: is what a saved player plays what Blender shows of it?

A row of the legs and one of the torso play in Blender, in frames of the scene that show one frame of the files exactly.
Each part's points are held, in the space of its root, against the frames that the saved table gives the row; and where
its own tags have the parts that hang on it against where these hang, as the engine attaches them: along a tag's axes,
whose lengths count for nothing (`R_LerpTag`, `CG_PositionRotatedEntityOnTag`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import bpy as blender
import numpy as np

from fuzz.edits import looks
from fuzz.edits.held import Frames, Points, loaded
from fuzz.edits.judge import FEW_POINTS, LEAST, PART, Verdict, apart, points_of, world_of
from fuzz.edits.panel import call
from io_idtech_models.blender.player.parts import PlayerFound, players_among
from io_idtech_models.blender.roots import FRAME, LEVEL, is_root
from io_idtech_models.formats import by_name
from io_idtech_models.game.player import animation_cfg
from tests.ui.player.players import GAME, PLAYERS, corpus_player, export_player, game, import_player
from tests.ui.scene import activate

bpy: Any = blender
NAME = "player"  # in the place of a format's
LOOKS, PAIRS = 3, 3  # scene frames of a pair of rows, and pairs of rows, that are looked at
FEW = 3  # frames of a row that are compared in full
TOLD = {"lower": "LEGS_", "upper": "TORSO_"}  # how rows of a part alone begin
SLOTS = {"lower": "legs", "upper": "torso"}  # the operator's properties


def names(corpus: Path) -> list[str]:
    """Return the players to begin with, our own first, and those of a real game where it lies among real files."""
    return list(PLAYERS) if GAME.is_relative_to(corpus) else PLAYERS[:1]


def bring(name: str, folder: Path) -> None:
    """Import a player; raises RuntimeError if it can't be read."""
    place = game(folder) if name == "own" else Path(corpus_player(name).parts["upper"].base.place)
    import_player(filepath=str(place), plain_materials=True)


def play_rows(rng: Random) -> None:
    """Let a player's legs and torso play some rows, or all frames."""
    found = players_among(bpy.context.view_layer.objects)
    player = found[rng.randrange(len(found))] if found else None
    if player is None:
        raise LookupError("no player")
    bpy.context.view_layer.objects.active = player.root
    rows = _rows_offered(player)
    call(bpy.ops.object.idtech_play, **{slot: rng.choice(["ALL", *rows[part]]) for part, slot in SLOTS.items()})


def _rows_offered(player: PlayerFound) -> dict[str, list[str]]:
    from io_idtech_models.tasks.player.play import offered

    return {part: [name for name in offered(player, part) if name.startswith(TOLD[part])] for part in SLOTS}


def choose() -> bool:
    """Let the first player of the scene be the one that is meant; tell whether there is one."""
    found = players_among(bpy.context.view_layer.objects)
    if found:
        activate(found[0].root)
    return bool(found)


def save(folder: Path) -> None:
    """Write the player that is meant; raises RuntimeError if that refuses."""
    export_player(filepath=str(folder))


def save_again(saved: Path, folder: Path) -> None:
    """Import a saved player into an empty scene, and write it; raises RuntimeError if either refuses."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    import_player(filepath=str(saved), plain_materials=True)
    choose()
    save(folder)


def judge(_name: str, _folder: Path, saved: Path, seed: int) -> tuple[Verdict, str]:
    """Compare a saved player with what Blender shows; returns what is off most, and of which part."""
    player = players_among(bpy.context.view_layer.objects)[0]
    bpy.context.view_layer.objects.active = player.root
    table = animation_cfg.read((saved / "animation.cfg").read_bytes())
    files = {path.stem: loaded(by_name("md3"), path, {}) for path in saved.glob("*.md3") if path.stem in player.parts}
    rows, rng = _rows_offered(player), Random(seed)
    worst, where = Verdict(), ""
    for _ in range(PAIRS):
        chosen = {part: rng.choice(rows[part]) for part in SLOTS if rows[part]}
        call(bpy.ops.object.idtech_play, **{SLOTS[part]: row for part, row in chosen.items()})
        for frame in _exact_frames(player)[:LOOKS]:
            bpy.context.scene.frame_set(frame)
            for text, verdict in _looks(player, files, table, chosen):
                if verdict.looks.any and not worst.looks.any and not worst.is_off:
                    worst, where = verdict, f"{text} in frame {frame} of {' and '.join(chosen.values())}"
                if verdict.far - verdict.allowed > max(worst.far - worst.allowed, 0.0):
                    worst, where = verdict, f"{text} in frame {frame} of {' and '.join(chosen.values())}"
    return worst, where


def _exact_frames(player: PlayerFound) -> list[int]:
    """Return the scene's frames in which parts show frames of their files, and no mean of two."""
    scene, found = bpy.context.scene, []
    for frame in range(scene.frame_start, min(scene.frame_end, scene.frame_start + 60) + 1):
        scene.frame_set(frame)
        shown = [float(root.get(FRAME, 0.0)) for root in player.parts.values()]
        if all(abs(value - round(value)) < 1e-4 for value in shown):
            found.append(frame)
    return found[:: max(1, len(found) // LOOKS)]


def _looks(
    player: PlayerFound, files: dict[str, Frames], table: Any, chosen: dict[str, str]
) -> Iterator[tuple[str, Verdict]]:
    """Yield what is held against the files, and how far that is off."""
    graph = bpy.context.evaluated_depsgraph_get()
    for part, root in player.parts.items():
        file = files.get(part)
        if file is None:
            continue
        home = np.linalg.inv(world_of(root, graph))
        blocks = [*_meshes_of(root), *_beside(root)]
        places = {block: home @ world_of(block, graph) for block in blocks}
        shown = points_of(blocks, graph, places.__getitem__)
        held = {frame: file.points(frame) for frame in _frames_of(table, part, chosen, file.count)}
        sizes = [np.ptp(points, axis=0).max() for points in held.values() if len(points)]
        allowed = max(LEAST, PART * float(max(sizes, default=0.0)))
        off = {frame: apart(shown, points, FEW_POINTS) for frame, points in held.items()}
        nearest = sorted(off, key=off.__getitem__)[:FEW]
        yield f"'{part}'", Verdict(min(apart(shown, held[frame]) for frame in nearest), 0, allowed)
        alike = [frame for frame, value in off.items() if value <= allowed]
        if alike:
            yield f"'{part}'", Verdict(0.0, 0, allowed, looks=_unlike(file, alike[0], places, allowed))
        for other in player.parts.values():
            tag = next((tag for tag in file.assets[0].model.tags if _is_tag(other.parent, tag.name, root)), None)
            if tag is not None and alike:
                here = home @ world_of(other, graph)
                yield f"'{tag.name}' of '{part}'", Verdict(min(_tag_off(here, tag, f) for f in alike), 0, 2 * allowed)


def _unlike(file: Frames, frame: int, places: dict[Any, Points], allowed: float) -> looks.Off:
    """Return what of a part's meshes, which stand at `places`, a file shows otherwise, but for shaders."""
    return replace(looks.off(file, frame, list(places), lambda block, _: places[block], allowed), shaders="")


def _is_tag(block: Any, name: str, root: Any) -> bool:
    return block is not None and block.parent == root and str(block.name).partition(".")[0] == name


def _tag_off(here: Points, tag: Any, frame: int) -> float:
    """Return how far a part that hangs on a tag is from where the engine puts it, at 8 units from its origin."""
    nth = min(frame, len(tag.origins) - 1)
    axes = np.asarray(tag.axes[nth], np.float64)
    axes = axes / np.maximum(np.sqrt((axes**2).sum(axis=1)), 1e-9)[:, None]
    off = np.sqrt(((here[:3, 3] - tag.origins[nth]) ** 2).sum())
    return float(max(off, 8.0 * np.abs(here[:3, :3].T - axes).max()))


def _frames_of(table: Any, part: str, chosen: dict[str, str], count: int) -> list[int]:
    """Return the frames of a part's file that a row has, as far as they are there; all of a part that plays none."""
    row = next((row for row in table.of_part(part) if row.name == chosen.get(part)), None)
    frames = range(count) if row is None else row.frames
    return [frame for frame in frames if 0 <= frame < count] or [0]


def _meshes_of(root: Any) -> list[Any]:
    """Return the visible meshes that hang on a part's root, but for those of parts and levels on it."""
    found = []
    for block in root.children:
        if is_root(block) or LEVEL in block:
            continue
        of_level = any(LEVEL in collection for collection in block.users_collection)
        if block.type == "MESH" and block.visible_get() and not of_level:
            found.append(block)
        found += _meshes_of(block)
    return found


def _beside(root: Any) -> list[Any]:
    """Return the visible meshes that lie in a part's collection and hang on nothing: written as they stand now."""
    homes = [home for home in root.users_collection if sum(is_root(block) for block in home.all_objects) == 1]
    return [
        block
        for home in homes
        for block in home.all_objects
        if block.type == "MESH" and block.parent is None and not block.constraints and block.visible_get()
    ]
