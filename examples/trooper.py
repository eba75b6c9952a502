"""The Trooper, a toy soldier: an MDM with the MDX of its eighteen bones, a table of three animations, and a skin.

What Enemy Territory asks of a player: it faces +X, its bones are called as the games' are and point along X, parents
come before children, the legs have torso weight 0, the chest and what hangs on it 1, the spine lies between. Surfaces
name no shader: the skin beside the model does. Numbers are rounded so that every machine writes the same bytes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from examples import pictures
from examples.newt import aim, rounded, shared, unit, wave
from examples.pictures import Array, noise
from examples.shapes import ALONG_X, Part, Point, Rect, joined, lathe, moved, shift, turn
from io_idtech_models import formats
from io_idtech_models.game import aninc
from io_idtech_models.model.bounds import set_bounds
from io_idtech_models.model.skeletal import Animation, JointTag, SkeletalModel, Skeleton, SkinnedMesh, Traits, Weights
from io_idtech_models.model.transforms import from_matrices, unchain

MODEL = "models/players/toys/trooper"
SIZE = 256, 256  # of the picture, in pixels
RATE = 20.0
POSE_DECIMALS = 9  # beyond these processors differ

CLOTH: Rect = (0.5, 0.5, 191.5, 127.5)
TROUSERS: Rect = (0.5, 128.5, 191.5, 255.5)
FACE: Rect = (192.5, 0.5, 255.5, 63.5)
HELMET: Rect = (192.5, 64.5, 255.5, 127.5)
BOOT: Rect = (192.5, 128.5, 255.5, 191.5)
GLOVE: Rect = (192.5, 192.5, 255.5, 255.5)

# Each bone: its parent, its torso weight, where it begins at rest and where it points to.
SIDES = (("L", 1.0), ("R", -1.0))
BONES: dict[str, tuple[str, float, Point, Point]] = {
    "Bip01 Pelvis": ("", 0.0, (0, 0, 36), (0, 0, 40)),
    "Bip01 Spine": ("Bip01 Pelvis", 0.0, (0, 0, 39), (0, 0, 44)),
    "Bip01 Spine1": ("Bip01 Spine", 0.4, (0, 0, 43), (0, 0, 48)),
    "Bip01 Spine2": ("Bip01 Spine1", 0.8, (0, 0, 48), (0, 0, 56)),
    "Bip01 Neck": ("Bip01 Spine2", 1.0, (0, 0, 57), (0.5, 0, 60)),
    "Bip01 Head": ("Bip01 Neck", 1.0, (0.5, 0, 60), (0.5, 0, 68)),
}
for _side, _sign in SIDES:
    _y = 7.5 * _sign
    BONES |= {
        f"Bip01 {_side} UpperArm": ("Bip01 Spine2", 1.0, (0, _y, 54.5), (0.5, 1.35 * _y, 44)),
        f"Bip01 {_side} Forearm": (f"Bip01 {_side} UpperArm", 1.0, (0.5, 1.35 * _y, 44), (3.5, 1.45 * _y, 34.5)),
        f"Bip01 {_side} Hand": (f"Bip01 {_side} Forearm", 1.0, (3.5, 1.45 * _y, 34.5), (4.5, 1.45 * _y, 31)),
        f"Bip01 {_side} Thigh": ("Bip01 Pelvis", 0.0, (0, 0.5 * _y, 35), (0.8, 0.55 * _y, 19)),
        f"Bip01 {_side} Calf": (f"Bip01 {_side} Thigh", 0.0, (0.8, 0.55 * _y, 19), (-0.6, 0.55 * _y, 3.5)),
        f"Bip01 {_side} Foot": (f"Bip01 {_side} Calf", 0.0, (-0.6, 0.55 * _y, 3.5), (5.5, 0.6 * _y, 0.8)),
    }
NAMES = tuple(BONES)
TORSO_PARENT = NAMES.index("Bip01 Spine")
TAGS = (
    ("tag_head", "Bip01 Head", (0, 0, 61)), ("tag_weapon", "Bip01 R Hand", (4.6, -10.9, 31)),
    ("tag_back", "Bip01 Spine2", (-5.5, 0, 51)), ("tag_torso", "Bip01 Spine1", (0, 0, 43)),
    ("tag_footleft", "Bip01 L Foot", (0, 4.2, 0)), ("tag_footright", "Bip01 R Foot", (0, -4.2, 0)),
)  # fmt: skip


# -- the skeleton


def rest() -> dict[str, Array]:
    """Return the poses (4, 4) of the bones at rest, in model space."""
    found = {}
    for name, (_, _, start, end) in BONES.items():
        a, b = np.array(start, np.float64), np.array(end, np.float64)
        up = (1.0, 0.0, 0.0) if abs(unit(b - a)[2]) > 0.7 else (0.0, 0.0, 1.0)
        found[name] = aim(a, b, up)
    return found


@dataclass
class Stance:
    """What the trooper does in one frame: turns of bones in model space, in degrees, and how high it stands."""

    turns: dict[str, Point] = field(default_factory=dict)
    height: float = 0.0


def poses(stance: Stance) -> Array:
    """Return the pose of every bone in model space, (bones, 4, 4)."""
    still: dict[str, Array] = rest()
    found: dict[str, Array] = {}
    for name, (parent, _, _, _) in BONES.items():
        x, y, z = stance.turns.get(name, (0.0, 0.0, 0.0))
        place, own = shift(*still[name][:3, 3]), still[name]
        turned = place @ turn(x, y, z) @ np.linalg.inv(place) @ own
        above = found[parent] @ np.linalg.inv(still[parent]) if parent else shift(0, 0, stance.height)
        found[name] = above @ turned
    return np.round(np.array([found[name] for name in NAMES]), POSE_DECIMALS)


def skeleton() -> Skeleton:
    """Return the bones at rest."""
    matrices = poses(Stance())
    parents = np.array([NAMES.index(b[0]) if b[0] else -1 for b in BONES.values()], np.int32)
    weights = np.array([b[1] for b in BONES.values()], np.float32)
    traits = Traits(weights, np.zeros(len(NAMES), np.int32), TORSO_PARENT)
    return Skeleton(list(NAMES), parents, matrices[:, :3, 3], from_matrices(matrices[:, :3, :3]), traits=traits)


# -- the skin


@dataclass
class Piece:
    """A part of a surface and what moves each of its vertices: bones, and a share (V, bones) of each."""

    part: Part
    bones: tuple[str, ...]
    shares: Array


def rigid(part: Part, bone: str) -> Piece:
    """Return a part that one bone moves alone."""
    return Piece(part, (bone,), np.ones((len(part.points), 1)))


def limb(bones: tuple[str, ...], ends: tuple[float, ...], rings: tuple[tuple[float, float], ...], rect: Rect) -> Piece:
    """Return a limb turned about the way of its bones: rings of (radius, way from its start), shared near `ends`."""
    part = lathe([(radius, way) for radius, way in rings], rect, 10)
    ways = part.points[:, 2].copy()
    knots = np.array([BONES[bones[0]][2], *(BONES[bone][3] for bone in bones)], np.float64)
    knots = np.concatenate((2 * knots[:1] - knots[1:2], knots, 2 * knots[-1:] - knots[-2:-1]))  # it reaches beyond
    steps = np.linalg.norm(np.diff(knots, axis=0), axis=1)
    at = np.append(0.0, np.cumsum(steps)) - steps[0]
    centres = np.stack([np.interp(ways, at, knots[:, i]) for i in range(3)], axis=1)
    frames = [rest()[bone] for bone in bones]
    which = np.clip(np.searchsorted(at[2:-2], ways, side="right"), 0, len(bones) - 1)
    across = np.array([frames[i][:3, 1:3] for i in which])
    points = centres + (across @ part.points[:, :2, None])[..., 0]
    axis = np.array([frames[i][:3, 0] for i in which])
    normals = (across @ part.normals[:, :2, None])[..., 0] + axis * part.normals[:, 2:]
    return Piece(Part(points, normals, part.uvs, part.triangles), bones, shared(ways, ends, 3.0))


def head_parts() -> tuple[Part, Part]:
    """Return head and hat about the place where the neck ends, seen from the tag on which games put heads."""
    head = lathe([(1.9, -4.5), (1.9, -2.5), (2.9, -1.5), (3.4, 1.0), (3.2, 3.5)], FACE, 12)
    hat = lathe([(4.6, 3.0), (4.0, 3.4), (3.9, 4.6), (3.0, 6.6), (1.4, 7.6), (0, 7.8)], HELMET, 12)
    return moved(head, shift(0.5, 0, 0) @ turn(z=180)), moved(hat, shift(0.5, 0, 0) @ turn(z=180))


def upper(with_head: bool = True) -> list[Piece]:
    """Return chest, arms, neck and head."""
    trunk = lathe([(5.2, 38), (5.6, 41), (5.2, 45), (6.4, 50), (7.4, 54), (6.2, 57), (2.4, 58.2), (0, 58.3)], CLOTH, 14)
    flat = Part(trunk.points * (0.72, 1, 1), trunk.normals / (0.72, 1, 1), trunk.uvs, trunk.triangles)
    spine = ("Bip01 Spine", "Bip01 Spine1", "Bip01 Spine2")
    pieces = [Piece(flat, spine, shared(trunk.points[:, 2], (43.0, 48.0), 4.0))]
    for part in head_parts() if with_head else ():
        pieces.append(rigid(moved(part, shift(0, 0, 61)), "Bip01 Head"))
    for side, _ in SIDES:
        arm = (f"Bip01 {side} UpperArm", f"Bip01 {side} Forearm")
        rings = ((0.0, -2.2), (2.2, -1.6), (2.6, 0), (2.2, 5), (1.9, 10.8), (2.0, 12.5), (1.5, 20.2), (1.2, 20.9))
        pieces.append(limb(arm, (10.9,), rings, CLOTH))
        fist = lathe([(1.2, -0.6), (1.7, 0.8), (1.7, 2.6), (0.9, 3.8), (0, 4.0)], GLOVE, 8)
        hand = f"Bip01 {side} Hand"
        pieces.append(rigid(moved(fist, rest()[hand] @ ALONG_X), hand))
    return pieces


def lower() -> list[Piece]:
    """Return hips, legs and boots."""
    hips = lathe([(0, 33), (3.5, 33.4), (5.6, 36), (5.5, 39.5)], TROUSERS, 14)
    flat = Part(hips.points * (0.75, 1, 1), hips.normals / (0.75, 1, 1), hips.uvs, hips.triangles)
    pieces = [rigid(flat, "Bip01 Pelvis")]
    for side, _ in SIDES:
        leg = (f"Bip01 {side} Thigh", f"Bip01 {side} Calf")
        rings = ((0.0, -2.5), (3.0, -1.5), (3.3, 1.5), (2.8, 9), (2.3, 16), (2.4, 19), (1.7, 30.5), (1.5, 31.5))
        pieces.append(limb(leg, (16.0,), rings, TROUSERS))
        boot = lathe([(1.4, -2.4), (1.8, -1.2), (1.9, 2.5), (1.6, 5.4), (0.8, 7.0), (0, 7.2)], BOOT, 8)
        foot = f"Bip01 {side} Foot"
        pieces.append(rigid(moved(boot, rest()[foot] @ ALONG_X), foot))
    return pieces


def surface(name: str, pieces: list[Piece]) -> SkinnedMesh:
    """Return a surface of its pieces: offsets and normals in the space of bones, the heaviest weight first."""
    part = joined([piece.part for piece in pieces])
    shares: Array = np.zeros((len(part.points), len(NAMES)))
    base = 0
    for piece in pieces:
        end = base + len(piece.part.points)
        shares[base:end, [NAMES.index(bone) for bone in piece.bones]] = piece.shares
        base = end
    shares = np.round(np.where(shares < 0.04, 0, shares) + 1e-6, 2)
    shares[np.arange(base), shares.argmax(axis=1)] += 1 - shares.sum(axis=1)
    order = np.argsort(-shares, axis=1, kind="stable")
    counts = (shares > 0).sum(axis=1)
    vertices = np.repeat(np.arange(base), counts)
    bones = order[np.arange(len(NAMES)) < counts[:, None]]
    matrices = poses(Stance())
    away = part.points[vertices] - matrices[bones, :3, 3]
    offsets = rounded(np.einsum("nji,nj->ni", matrices[bones, :3, :3], away))
    lengths = np.linalg.norm(part.normals, axis=1)[:, None]
    normals = rounded(np.einsum("nji,nj->ni", matrices[order[:, 0], :3, :3], part.normals / lengths))
    weights = Weights(
        (np.cumsum(counts) - counts).astype(np.int32), counts.astype(np.int32), bones.astype(np.int32),
        np.round(shares[vertices, bones], 2).astype(np.float32), offsets.astype(np.float32),
    )  # fmt: skip
    uvs = np.round(part.uvs / SIZE, 6)
    uvs[:, 1] = 1 - uvs[:, 1]
    triangles = part.triangles.astype(np.int32)
    return SkinnedMesh(name, "", uvs.astype(np.float32), triangles, weights, normals=normals.astype(np.float32))


def tag(name: str, bone: str, place: Point) -> JointTag:
    """Return a tag that looks ahead at rest."""
    pose = rest()[bone]
    origin = pose[:3, :3].T @ (np.array(place, np.float64) - pose[:3, 3])
    place_on, axes = (rounded(values).astype(np.float32) for values in (origin, pose[:3, :3]))
    return JointTag(name, NAMES.index(bone), place_on, axes)


def model() -> SkeletalModel:
    """Return the skeleton with its surfaces and tags."""
    meshes = [surface("u_body", upper()), surface("l_legs", lower())]
    return SkeletalModel("trooper", skeleton(), meshes, tags=[tag(*each) for each in TAGS], lod=(1.0, 0.0))


# -- movement

HOLD: dict[str, Point] = {  # a rifle across the chest
    "Bip01 R UpperArm": (0, -24, 14), "Bip01 R Forearm": (0, -62, 40),
    "Bip01 L UpperArm": (0, -38, -18), "Bip01 L Forearm": (0, -48, -34),
}  # fmt: skip


def stand(time: float) -> Stance:
    """Breathe, and look around."""
    breath = wave(time)
    turns = HOLD | {"Bip01 Spine2": (0, 1.2 * breath, 0), "Bip01 Head": (0, 0, 22 * wave(time + 0.1))}
    return Stance(turns, -0.15 + 0.15 * breath)


def walk(time: float) -> Stance:
    """March: arms hold the rifle, the chest turns against the hips."""
    turns = dict(HOLD)
    for side, late in (("L", 0.0), ("R", 0.5)):
        swing = wave(time + late)
        lift = max(0.0, wave(time + late + 0.25))
        turns[f"Bip01 {side} Thigh"] = (0, -28 * swing - 6 * lift, 0)
        turns[f"Bip01 {side} Calf"] = (0, 8 + 42 * lift, 0)
        turns[f"Bip01 {side} Foot"] = (0, 14 * swing - 16 * lift, 0)
    turns["Bip01 Pelvis"] = (0, 2, 7 * wave(time))
    turns["Bip01 Spine1"] = (0, 2, -8 * wave(time))
    turns["Bip01 Spine2"] = (0, 2, -6 * wave(time))
    return Stance(turns, 0.7 * abs(wave(time)) - 0.9)


def salute(time: float) -> Stance:
    """Lift the right hand to the helmet, and lower it again."""
    share = max(0.0, math.sin(math.pi * time)) ** 0.5
    lifted = {"Bip01 R UpperArm": (-6, -139, -28), "Bip01 R Forearm": (-74, -54, 124)}
    turns: dict[str, Point] = {"Bip01 Head": (0, -3 * share, 0)}
    for bone, (x, y, z) in lifted.items():
        a, b, c = HOLD.get(bone, (0, 0, 0))
        turns[bone] = (a + (x - a) * share, b + (y - b) * share, c + (z - c) * share)
    return Stance(HOLD | turns)


MOVES: tuple[tuple[str, int, bool, Callable[[float], Stance]], ...] = (
    ("stand", 40, True, stand), ("walk", 24, True, walk), ("salute", 20, False, salute),
)  # fmt: skip


def motion(player: SkeletalModel) -> Animation:
    """Return all animations, one after another."""
    frames = [move(f / (count if loops else count - 1)) for _, count, loops, move in MOVES for f in range(count)]
    matrices = np.array([poses(frame) for frame in frames])
    parents = player.skeleton.parents
    places = matrices[..., :3, 3].copy()
    places[:, 0] = rounded(places[:, 0])
    positions, rotations = unchain(parents, places, from_matrices(matrices[..., :3, :3]))
    found = Animation(
        "body", list(NAMES), parents, positions, rotations, RATE, np.zeros((len(frames), 2, 3)),
        traits=player.skeleton.traits,
    )  # fmt: skip
    set_bounds(found, player)
    return replace(found, bounds=np.round(found.bounds, 2))


def table() -> list[aninc.Row]:
    """Return the rows that take the frames apart."""
    rows, first = [], 0
    for name, count, loops, _ in MOVES:
        speed = 60 if name == "walk" else 0
        rows.append(aninc.Row(name, first, count, count if loops else 0, RATE, speed, 150))
        first += count
    return rows


# -- the picture


def picture() -> Array:
    """Return what the trooper wears, (height, width, 3)."""
    width, height = SIZE
    y, x = np.mgrid[0:height, 0:width] + 0.5
    grain = 0.75 + 0.35 * noise(5, 2, height, width)[..., None]
    patches = 0.6 * noise(6, 32, height, width) + 0.4 * noise(7, 16, height, width)
    green, brown, sand = (np.array(c) for c in ((0.20, 0.26, 0.14), (0.27, 0.20, 0.12), (0.48, 0.42, 0.28)))
    camouflage = np.where((patches > 0.60)[..., None], sand, np.where((patches > 0.45)[..., None], green, brown))
    plain = np.where((y > 128)[..., None], np.array((0.23, 0.24, 0.18)), camouflage)
    image: Array = np.where((x < 192)[..., None], plain, np.array((0.10, 0.09, 0.08))) * grain
    image[(x < 192) & (y < 128) & (y > 112)] *= 0.45  # the belt
    face = (x > 192) & (y < 64)
    image[face] = (np.array((0.80, 0.58, 0.44)) * grain)[face]
    for across in (217.0, 231.0):
        eye = face & (np.abs(x - across) < 3) & (np.abs(y - 26) < 2)
        image[eye] = 0.06
    image[face & (np.abs(x - 224) < 6) & (np.abs(y - 42) < 1)] = 0.25
    helmet = (x > 192) & (y > 64) & (y < 128)
    image[helmet] = (green * 1.15 * grain)[helmet]
    return image


SKIN = f'"u_body", "{MODEL}/trooper.tga"\n"l_legs", "{MODEL}/trooper.tga"\n'


def files() -> dict[str, bytes]:
    """Return the example's files by their paths."""
    player = model()
    mdm, mdx, mds = (formats.by_name(name) for name in ("mdm", "mdx", "mds"))
    return {
        f"trooper/{MODEL}/body.mdm": mdm.dump(player, {"make_lod": True}),
        f"trooper/{MODEL}/body.mdx": mdx.dump(motion(player)),
        f"trooper/{MODEL}/body.mds": mds.dump(player, {"make_lod": True}, [motion(player)]),
        f"trooper/{MODEL}/body.aninc": aninc.write_rows(table()).encode("ascii"),
        f"trooper/{MODEL}/body_default.skin": SKIN.encode("ascii"),
        f"trooper/{MODEL}/trooper.tga": pictures.tga(picture()),
    }
