"""A player of Quake III made of one rigged character: its meshes, its armature, and its actions.

The whole character is sampled at the frames that the rows ask for, then taken apart; see `blender.player.rig`,
`model.player.cutting` and `game.player.row_layout`. Nothing in the scene is changed, but that animations which the
armature keeps become actions where a row plays them.
A row plays the action that it is told to, or one that is called as it is; of kept frames it is made then.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import isclose
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ... import formats
from ...assets.levels import level_name
from ...assets.storage import Target
from ...blender.compat import Context
from ...blender.player.rig import CharacterRig, Sampled, find_rig, sample
from ...blender.rig_settling import settle_near
from ...blender.roots import poses_parts
from ...blender.scene import ExportScene
from ...blender.skeletal.kept_frames import kept_files, unmade_of
from ...blender.takes import Take, used_actions
from ...blender.vertex.frame_plan import GatherSettings
from ...blender.window import object_mode
from ...formats.format import SPLIT
from ...formats.vertex_files import MUST_LIST, dump_for
from ...game.player.animation_edits import make as make_table
from ...game.player.row_layout import Layout, Length, lay_out
from ...game.player.row_matching import QUAKE3, Match, Rows, chosen_rows, match_rows
from ...game.skin import make as make_skin
from ...model import steady
from ...model.lod.levels import make_levels, shares_of
from ...model.player import cutting
from ...model.player.regions import HEAD, LEGS, TORSO, Bones, Parts, is_hand, propose, side_of
from ...model.vertex import VertexModel
from ...reporting import LimitError, Summary, collected_warnings, listed, once, plural
from ..import_.kept_frames import make_each
from .home import home_of
from .making_cuts import Apart, in_game, in_its_frames, models_of
from .making_pictures import Wardrobe

log = logging.getLogger(__name__)

Doubles = NDArray[np.float64]
FACING = {"X": 0, "-Y": 1, "-X": 2, "Y": 3}  # how many quarter turns bring a character to face +X
FAR = 12.0  # units that a character may go along in a loop: games move it by themselves
CLOSED = 1e-3  # of a curve's value: so near are the ends of an action that ends as it begins
GAME = "quake3"
MOST_TRIANGLES = 10_000  # games draw more, and slowly
USUAL = "1,000 to 3,000"
LEVEL_FILE = re.compile(r"(?:lower|upper|head)_[123]\.md3\Z", re.IGNORECASE)
NOT_SAID = f"is cut, {MUST_LIST}"  # they do


@dataclass(frozen=True)
class Placing:
    """How a character stands in its game; the operators declare the same options."""

    rows: str  # "LEGS_RUN=Run, ...": actions that rows play; others by their names
    fit: bool  # as high as a player of the game, feet on the ground
    scale: float  # game units of a unit in the scene, where it is not fitted
    facing: str  # a key of FACING, or AUTO: as its bones say
    in_place: bool  # what goes along while it repeats stays where it begins


@dataclass(frozen=True)
class MakingOptions(Placing):
    """What is made of a character; the operator declares the same options."""

    torso: str  # the bone that the torso begins with; "": by the bones' names
    head: str
    hand: str  # that holds the weapon
    fps: float
    close_seams: bool  # edges of cuts stay with the tags
    keep_shaders: bool  # of materials that are called as a path
    levels: str  # percentages of levels of detail


@dataclass(eq=False)
class Made:
    """A player's files, by their names in its folder."""

    folder: str  # in the game
    files: dict[str, bytes] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Return what games call it."""
        return self.folder.rpartition("/")[2]


@dataclass(eq=False)
class _Character:
    """A character in its frames, and how it stands in the game."""

    parts: Parts
    layout: Layout
    sampled: Sampled
    into: Doubles  # (F, 4, 4) from the scene into the game

    def joint(self, bone: str, length: float = 0.0) -> cutting.Joint:
        """Return a bone that carries a tag; turned by nothing where it rests."""
        stand = self.layout.shot("LEGS_IDLE")
        poses = steady.products(self.into, self.sampled.bones[bone])
        rest = steady.products(self.into[stand], self.sampled.armature[stand], self.sampled.rests[bone])
        return cutting.joint(poses, rest, length)

    def taken_apart(self, bones: Any) -> Apart:
        """Return it as it is to be cut, with its armature's bones.

        The weapon is held at the middle of the hand, or at the end of the arm.
        """
        torso, head = self.joint(self.parts.torso), self.joint(self.parts.head)
        hand = self.parts.hand
        along = 0.5 if is_hand(hand) else 1.0 if hand != self.parts.torso else 0.0
        stand, aim = self.layout.shot("LEGS_IDLE"), self.layout.shot("TORSO_ATTACK")
        holds = self.joint(hand, along * bones[hand].length).beside(torso)
        held = cutting.aimed(holds, aim, torso.matrices[stand])
        frames = {LEGS: self.layout.lower, TORSO: self.layout.upper, HEAD: [self.layout.shot("TORSO_STAND")]}
        table = make_table(self.layout.rows).write()
        return Apart(in_game(self.sampled, self.into), torso, head, held, stand, frames, self.layout.names, table)


def make_player(name: str, target: Target, options: MakingOptions, context: Context) -> tuple[Made, Summary]:
    """Return the files of a player made of the scene's rigged character.

    `target` is where they will lie; the `name` "" is as that is called.

    Raises:
        LimitError: there is no such character, a part has no faces, a choice makes no sense, or the game would refuse
            the result.
    """
    shares = shares_of(options.levels) if options.levels.strip() else []
    with collected_warnings() as warnings, object_mode(context):
        made = Made(home_of(target, name))
        context.view_layer.update()
        rig = find_rig(context)
        if poses_parts(rig.armature):
            found = in_its_frames(rig, context)
        else:
            found = _look(rig, options, context).taken_apart(rig.armature.data.bones)
        wardrobe = Wardrobe(made.folder, options.keep_shaders)
        models = models_of(found, wardrobe, options.close_seams)
        for part, model in models.items():
            _write_part(made, part, model, shares)
        made.files["animation.cfg"] = found.table
        made.files["icon_default.tga"] = wardrobe.icon
        made.files |= wardrobe.files
    counts = [sum(len(surface.triangles) for surface in model.surfaces) for model in models.values()]
    frames = f"{len(found.frames[LEGS])} frames of legs, {len(found.frames[TORSO])} of the torso"
    facts = f"'{made.name}' of '{rig.armature.name}': {plural(sum(counts), 'triangle')}, {frames}"
    if sum(counts) > MOST_TRIANGLES:
        text = f"{sum(counts)} triangles take long to make and to draw, players of the game have {USUAL}: decimate it"
        warnings.append(f"{text} (modifier Decimate)")
    return made, Summary(facts, once(warnings))


def stale_files(target: Target, made: Made) -> list[str]:
    """Name the levels of detail that lie in a player's folder from before: games show them from afar."""
    old = target.iterdir() if target.is_dir() else ()
    there = sorted(path.name for path in old if LEVEL_FILE.match(path.name) and path.name.lower() not in made.files)
    text = (
        "levels of detail of another player lie there, and games show them from afar: delete them, or make new ones: "
    )
    return [text + listed(there)] if there else []


def _look(rig: CharacterRig, options: MakingOptions, context: Context) -> _Character:
    """Look at a character in all frames that its rows ask for."""
    parts = _parts(rig.bones, options)
    chosen = played(rig, options.rows, QUAKE3, context)
    takes, matches = chosen.takes, chosen.matches
    _say_matches(chosen)
    export = ExportScene(context.scene, context.view_layer, GatherSettings())
    bones = rig.bones
    lengths = {name: length_of(take, bones) for name, take in takes.items()}
    now = float(context.scene.frame_current)
    lengths[""], takes[""] = Length(now, now), rig.now(now)
    layout = lay_out(matches, lengths, options.fps, export.frame_rate)
    shots = [(takes[action], time) for action, time in layout.shots]
    sampled = sample(rig, parts, shots, list(dict.fromkeys((parts.torso, parts.head, parts.hand))), export)
    stand = layout.shot("LEGS_IDLE")
    into = into_game(rig, sampled, stand, options, sampled.bones[parts.torso][stand, :3, 3])
    found = _Character(parts, layout, sampled, np.repeat(into[None], len(shots), axis=0))
    _settle_travel(found, matches, options.in_place)
    return found


def proposed_bones(context: Context) -> tuple[str, str, str]:
    """Return the bones of torso, head and right hand of the scene's character; "" where their names don't say it."""
    with collected_warnings():
        try:
            parts = propose(find_rig(context).bones)
        except LimitError:
            return "", "", ""
    return parts.torso, parts.head, parts.hand


def keeps_frames(context: Context) -> bool:
    """Tell whether the scene's character is posed by a player's rig: rows, bones, size and place are that player's."""
    with collected_warnings():
        try:
            return poses_parts(find_rig(context).armature)
        except LimitError:
            return False


def _parts(bones: Bones, options: MakingOptions) -> Parts:
    parts = propose(bones, options.torso, options.head, options.hand)
    if options.hand or is_hand(parts.hand):
        return parts
    hand = parts.hand or parts.torso
    log.warning("no bone's name says right hand: the weapon hangs on '%s', choose the hand's bone", hand)
    return Parts(parts.regions, parts.torso, parts.head, hand)


def _say_matches(found: Played) -> None:
    """Say which rows play another row's action, and which actions no row plays."""
    instead = [f"{row} by {match.instead}" for row, match in found.matches.items() if match.instead]
    if instead:
        log.warning("no action is called as these rows, they are filled: %s", ", ".join(instead))
    if found.left:
        text = "actions that no row plays: %s; name them as rows=action, LEGS_RUN='%s'"
        log.warning(text, listed(found.left), found.left[0])


def length_of(take: Take, bones: Bones) -> Length:
    """Return how long an action lasts, and whether it ends as it begins, wherever it went meanwhile.

    `bones` are the character's: where those stand that carry all others is how far it goes along.
    """
    first, last = take.times[0], take.times[-1]
    travels = {"location", *(f'pose.bones["{bpy.utils.escape_identifier(name)}"].location' for name in bones.carriers)}
    channels: dict[tuple[int, str], list[tuple[float, float]]] = {}  # ends of curves, those of a quaternion together
    for nth, role in enumerate(take.roles):
        for curve in role.curves:
            ends = float(curve.evaluate(first)), float(curve.evaluate(last))
            channels.setdefault((nth, str(curve.data_path)), []).append(ends)
    staying = {place: each for place, each in channels.items() if place[1] not in travels} or channels
    closed = bool(take.action.use_cyclic) or all(_meet(path, each) for (_, path), each in staying.items())
    return Length(first, last, closed)


def _meet(path: str, ends: Iterable[tuple[float, float]]) -> bool:
    """Tell whether a channel ends as it begins; of a quaternion either sign says the same."""
    signs = (1.0, -1.0) if path.endswith("rotation_quaternion") else (1.0,)
    return any(all(isclose(a, sign * b, rel_tol=CLOSED, abs_tol=CLOSED) for a, b in ends) for sign in signs)


def into_game(rig: CharacterRig, seen: Sampled, stand: int, placing: Placing, middle: Doubles | None = None) -> Doubles:
    """Return what brings a character into the game, (4, 4): facing +X, of a player's height, on the ground.

    It stands in the frame `stand`. `middle` (3,) is what of it comes to the player's own place, else all its points'.
    """
    if placing.facing in FACING:
        turn = cutting.QUARTERS[FACING[placing.facing]]
    else:
        across: Any = np.zeros(3)
        for bone in rig.armature.data.bones:
            across = across + side_of(bone.name) * np.array(bone.head_local, np.float64)
        turn = cutting.facing(steady.applied(seen.armature[stand, :3, :3][None], across[None])[0])
    if not placing.fit:
        return cutting.into_game(turn, placing.scale, np.zeros(3))
    every = [piece.surface.positions[stand][piece.surface.triangles].reshape(-1, 3) for piece in seen.pieces]
    points = np.concatenate(every).astype(np.float64)
    return cutting.fitted(turn, points, points.mean(axis=0) if middle is None else middle)


def _settle_travel(found: _Character, matches: dict[str, Match], in_place: bool) -> None:
    """Name actions of the legs in which the character goes along, which games do by themselves; and take that away.

    What is taken away is the way from the first frame to the last, evenly: it may go faster and slower, and sway.
    """
    torso, still = found.joint(found.parts.torso).matrices[:, :2, 3], found.into[0, :2, 3].copy()
    far: dict[str, float] = {}
    for row in found.layout.rows:
        if row.loop and row.name.startswith("LEGS_"):
            shots = [found.layout.lower[frame] for frame in sorted(row.frames)]
            way = torso[shots[-1]] - torso[shots[0]]
            units = float(np.abs(way).max())
            if units > FAR:
                far.setdefault(matches[row.name].action, units)
                if in_place:  # rows of one action share frames
                    found.into[shots, :2, 3] = still - np.linspace(np.zeros(2), way, len(shots))
    instead = "it is kept in place" if in_place else "make it stay in place"
    for action, units in far.items():
        log.warning("'%s' moves the character by %.0f units, as games do themselves: %s", action, units, instead)


def _write_part(made: Made, part: str, model: VertexModel, shares: Sequence[float]) -> None:
    """Add a part's model, its levels of detail and its skin to the files."""
    row = formats.by_name("md3")
    written = dump_for(row, model, GAME, {SPLIT: True}, shorten=True)
    for text in written.notes:
        if NOT_SAID not in text:
            log.warning("%s.md3: %s", part, text)
    made.files[f"{part}.md3"] = written.data
    worn = {surface.name: surface.shaders[0] for surface in written.model.surfaces}
    made.files[f"{part}_default.skin"] = make_skin(worn, [tag.name for tag in model.tags]).write()
    if shares:
        coded = row.load(written.data, part)
        for number, level in enumerate(make_levels(coded, shares, _edges(coded)), 1):
            made.files[f"{level_name(part, number)}.md3"] = row.dump(level)


def _edges(model: VertexModel) -> list[NDArray[np.bool_]]:
    """Return which vertices lie where the model is cut, (V,) of each surface: at edges that one triangle alone has."""
    starts = np.cumsum([0, *(surface.num_vertices for surface in model.surfaces)])
    points = np.concatenate([surface.some_positions(slice(0, 1))[0] for surface in model.surfaces])
    different, places = np.unique(points, axis=0, return_inverse=True)
    places = places.reshape(-1)
    corners = np.concatenate([s.triangles + first for s, first in zip(model.surfaces, starts, strict=False)])
    edges = places[corners[:, ((0, 1), (1, 2), (2, 0))].reshape(-1, 2)]
    kinds, counts = np.unique(np.sort(edges, axis=1), axis=0, return_counts=True)
    open_places = np.zeros(len(different), np.bool_)
    open_places[kinds[counts == 1].ravel()] = True
    held = open_places[places]
    return [held[first:last] for first, last in pairwise(starts)]


@dataclass(frozen=True, eq=False)
class Played:
    """What a player plays of a character's actions."""

    takes: dict[str, Take]  # all that the character has, by name
    matches: dict[str, Match]  # by row
    left: list[str]  # the names of those that no row plays


def played(rig: CharacterRig, text: str, rows: Rows, context: Context) -> Played:
    """Return which action each row plays: those that `text` says, others by their names.

    Of animations that the armature keeps (`blender.skeletal.kept_frames`) those are made that a row plays.

    Raises:
        LimitError: the text makes no sense, or an animation can't be made.
    """
    settle_near([rig.armature])
    takes = rig.takes()
    kept = unmade_of(kept_files(rig.armature), used_actions(rig.armature))
    unmade = {row.clip.name: key for key, row in kept.items() if row.said is not None and row.clip.name not in takes}
    called = sorted({*takes, *unmade})
    matches = match_rows(called, chosen_rows(text, called, rows), rows)
    wanted = {match.action for match in matches.values()}
    made, failed = make_each(rig.armature, [key for name, key in unmade.items() if name in wanted], context.scene)
    if failed:
        raise LimitError("; ".join(failed))
    if made:
        takes = rig.takes()
        given = {name: str(made[key].name) for name, key in unmade.items() if key in made}
        matches = {row: replace(match, action=given.get(match.action, match.action)) for row, match in matches.items()}
    return Played(takes, matches, [name for name in called if name not in wanted])
