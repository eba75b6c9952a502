"""The Newt, a fire salamander of a monster's size: an MD5 of 21 joints with two animations, idle and walk.

What Doom 3 asks of a model: it faces +X, stands on z = 0, its joints point along X, and an animation that loops ends
with its first frame. Where two joints meet the skin follows both, so that it bends without a crease. Offsets are
multiples of a ten-thousandth of a unit, so that every machine writes the same bytes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from examples import pictures
from examples.pictures import Array, noise
from examples.shapes import Part, Point, Rect, grid, joined, lathe, moved, shift, turn
from io_idtech_models import formats
from io_idtech_models.model.bounds import set_bounds
from io_idtech_models.model.skeletal import Animation, SkeletalModel, Skeleton, SkinnedMesh, Weights, looped
from io_idtech_models.model.transforms import from_matrices, unchain

FOLDER = "models/md5/newt"
DECLARATION = f"""// the Newt, and a monster that looks like it
model newt
{{
	mesh	{FOLDER}/newt.md5mesh
	channel	torso	( *origin )
	anim	ik_pose	{FOLDER}/idle.md5anim
	anim	idle	{FOLDER}/idle.md5anim {{
		random_cycle_start
	}}
	anim	walk	{FOLDER}/walk.md5anim {{
		frame 1	sound_body	snd_step
		frame 13	sound_body	snd_step
	}}
}}

entityDef monster_newt
{{
	"spawnclass"		"idAI"
	"model"			"newt"
	"editor_usage"		"A fire salamander of a monster's size."
}}
"""
SIZE = 256, 128  # of the picture, in pixels
RATE = 24.0
ANIMATIONS = (("idle", 48), ("walk", 24))
NUDGE = 1.3e-5  # what lies halfway between two steps is rounded up, whatever the noise

BODY: Rect = (0.5, 0.5, 255.5, 79.5)
LEG: Rect = (0.5, 82.5, 95.5, 126.5)
TOE: Rect = (98.5, 82.5, 159.5, 126.5)
EYE: Rect = (164.5, 84.5, 204.5, 124.5)

# The body along X, from the tail's tip to the snout: half its width, half its height, its middle above the ground.
OUTLINE = (
    (-50, 0.0, 0.0, 5.2), (-48, 0.5, 0.9, 5.2), (-43, 1.0, 1.7, 5.4), (-37, 1.5, 2.4, 5.9), (-31, 2.1, 2.9, 6.5),
    (-25, 2.8, 3.3, 7.3), (-19, 3.5, 3.7, 8.2), (-14, 4.4, 4.2, 8.9), (-10, 5.4, 4.6, 9.3), (-5, 6.3, 5.0, 9.5),
    (1, 6.6, 5.2, 9.7), (7, 6.2, 5.0, 10.0), (12, 5.4, 4.5, 10.4), (15, 4.7, 4.0, 10.8), (18, 4.5, 3.8, 11.1),
    (21, 5.0, 3.9, 11.4), (25, 5.9, 3.9, 11.4), (29, 5.5, 3.3, 11.2), (32, 4.2, 2.5, 11.0), (34, 2.5, 1.5, 10.8),
    (35, 0.0, 0.0, 10.7),
)  # fmt: skip
TAIL_AT, TAIL_BEND = -11.0, math.radians(9.0)  # at rest it points a little aside: half a turn has no sign in MD5
# Joints along the body, from tail to head, and where each ends and the next begins.
CHAIN = ("tail3", "tail2", "tail1", "hips", "spine", "chest", "neck", "head")
ENDS = (-34.0, -22.0, TAIL_AT, -3.0, 6.0, 13.0, 19.0)
SOFT = 7.0  # over how much of the body two joints share the skin
SIDES = 12

UPPER, LOWER, ANKLE = 7.6, 7.2, 1.6  # lengths of a leg's bones; height of an ankle
LEGS = (("front_left", "chest", 11.5, 1), ("front_right", "chest", 11.5, -1),
        ("back_left", "hips", -9.0, 1), ("back_right", "hips", -9.0, -1))  # fmt: skip
STEP, LIFT = 6.5, 3.6  # half a step's length; how high feet are lifted


# -- the skeleton


def aim(start: Array, end: Array, up: Point | Array = (0.0, 0.0, 1.0)) -> Array:
    """Return the pose (4, 4) of a joint that points along its X from `start` to `end`, its Z on the side `up`."""
    x = unit(end - start)
    y = unit(np.cross(np.array(up, np.float64), x))
    result = np.eye(4)
    result[:3, 0], result[:3, 1], result[:3, 2], result[:3, 3] = x, y, np.cross(x, y), start
    return result


def unit(vector: Array) -> Array:
    """Return a vector of length 1."""
    return vector / math.sqrt(float((vector * vector).sum()))


def spine_at(x: float) -> Array:
    """Return the middle of the body at rest, (3,)."""
    z = float(np.interp(x, [row[0] for row in OUTLINE], [row[3] for row in OUTLINE]))
    back = max(0.0, TAIL_AT - x)
    return np.array((x + back * (1 - math.cos(TAIL_BEND)), back * math.sin(TAIL_BEND), z))


def body_at_rest() -> dict[str, Array]:
    """Return the poses of the joints along the body: those of the tail point back, the others ahead."""
    points = {name: spine_at(x) for name, x in zip(CHAIN, (-50.0, *ENDS), strict=True)}
    points["head_end"], points["tail0"] = spine_at(35.0), spine_at(TAIL_AT)
    poses = {name: aim(points[name], points[after])
             for name, after in zip(CHAIN[3:], (*CHAIN[4:], "head_end"), strict=True)}  # fmt: skip
    for i in (1, 2, 3):  # a point of the tail lies where its joint ends
        poses[f"tail{i}"] = aim(points[f"tail{i - 1}"], points[f"tail{i}"])
    return {"origin": np.eye(4)} | poses


PARENTS = {
    "hips": "origin", "spine": "hips", "chest": "spine", "neck": "chest", "head": "neck",
    "tail1": "hips", "tail2": "tail1", "tail3": "tail2",
} | {f"{part}_{leg}": f"{above}_{leg}" if above else root
     for leg, root, _, _ in LEGS for part, above in (("upper", ""), ("lower", "upper"), ("foot", "lower"))}  # fmt: skip
NAMES = ("origin", *PARENTS)


@dataclass
class Stance:
    """What the newt does in one frame: turns of joints in degrees, and where its feet are."""

    height: float = 0.0
    turns: dict[str, tuple[float, float, float]] | None = None  # about a joint's own X, Y and Z
    feet: dict[str, Point] | None = None  # ahead, outward and up, from where they are at rest


def poses(stance: Stance) -> dict[str, Array]:
    """Return the pose (4, 4) of every joint in model space."""
    rest, turns = body_at_rest(), stance.turns or {}
    found = {"origin": np.eye(4)}
    for name in PARENTS:
        if name not in rest:
            continue
        parent = PARENTS[name]
        x, y, z = turns.get(name, (0.0, 0.0, 0.0))
        found[name] = found[parent] @ np.linalg.inv(rest[parent]) @ rest[name] @ turn(x, y, z)
        if name == "hips":
            found[name] = shift(0, 0, stance.height) @ found[name]
    for leg, root, at, side in LEGS:
        socket = np.array((*(spine_at(at) + np.array((0.0, 4.2 * side, -1.2))), 1.0))
        shoulder = (found[root] @ np.linalg.inv(rest[root]) @ socket)[:3]
        ahead, outward, up = (stance.feet or {}).get(leg, (0.0, 0.0, 0.0))
        ankle = np.array((at + (3.0 if root == "chest" else -2.0) + ahead, (13.0 + outward) * side, ANKLE + up))
        _pose_leg(found, leg, shoulder, ankle, side, up)
    return found


def _pose_leg(found: dict[str, Array], leg: str, shoulder: Array, ankle: Array, side: int, up: float) -> None:
    """Find poses of a leg's joints: its elbow points up and outward, its toes outward, and down while lifted."""
    way = ankle - shoulder
    far = min(math.sqrt(float((way * way).sum())), UPPER + LOWER - 0.2)
    way = unit(way)
    pole = np.array((-0.25, 0.5 * side, 1.0))
    across = unit(pole - way * float((way * pole).sum()))
    along = (far * far + UPPER * UPPER - LOWER * LOWER) / (2 * far)
    elbow = shoulder + way * along + across * math.sqrt(UPPER * UPPER - along * along)
    end = elbow + unit(ankle - elbow) * LOWER
    toes = np.array((0.75, 0.65 * side, -0.09 * up))
    found[f"upper_{leg}"] = aim(shoulder, elbow, across)
    found[f"lower_{leg}"] = aim(elbow, end, across)
    found[f"foot_{leg}"] = aim(end, end + toes)


# -- the skin


@dataclass
class Skin:
    """A part of the skin and what moves each of its vertices: names of joints, and a share (V, joints)."""

    part: Part
    joints: Sequence[str]
    shares: Array


def whole(part: Part, joint: str) -> Skin:
    """Return a part that one joint moves alone."""
    return Skin(part, (joint,), np.ones((len(part.points), 1)))


def shared(at: Array, ends: Sequence[float], soft: float) -> Array:
    """Return shares (n, joints) of a chain of joints at places (n,) along it: two share what lies near an end."""
    steps = [np.clip((at - end) / soft + 0.5, 0, 1) for end in ends]
    past = [np.ones_like(at), *(s * s * (3 - 2 * s) for s in steps), np.zeros_like(at)]
    return np.stack([a - b for a, b in pairwise(past)], axis=1)


def tube(centres: Array, sizes: Array, up: Array, rect: Rect, sides: int) -> Part:
    """Return a tube through centres (n, 3) of half-widths and half-heights (n, 2); the seam is below, X is along."""
    ways = np.gradient(centres, axis=0)
    ways /= np.linalg.norm(ways, axis=1)[:, None]
    left = np.cross(up, ways)
    left /= np.linalg.norm(left, axis=1)[:, None]
    above = np.cross(ways, left)
    angles = 2 * np.pi * np.arange(sides + 1) / sides
    across, high = -np.sin(angles)[:, None, None], -np.cos(angles)[:, None, None]
    spokes = across * left * sizes[:, :1] + high * above * sizes[:, 1:]
    # At a tip spokes have no length: there the next ring's tell what is outside.
    radial = across * left + high * above
    return grid(centres + spokes, radial, rect)


def along(part: Part, rect: Rect, places: Array) -> Array:
    """Return where along a tube, of which `places` (n,) are its rings, each vertex lies, (V,)."""
    column = (part.uvs[:, 0] - rect[0]) / (rect[2] - rect[0]) * (len(places) - 1)
    return np.interp(column, np.arange(len(places)), places)


def body() -> list[Skin]:
    """Return the body from tail to snout, and the eyes."""
    rows = np.array(OUTLINE, np.float64)
    xs = np.sort(np.concatenate((rows[:, 0], (rows[5:-1, 0] + rows[6:, 0]) / 2)))
    sizes = np.stack([np.interp(xs, rows[:, 0], rows[:, i]) for i in (1, 2)], axis=1)
    sizes[1:-1] = 0.25 * sizes[:-2] + 0.5 * sizes[1:-1] + 0.25 * sizes[2:]
    part = tube(np.array([spine_at(x) for x in xs]), sizes, np.array((0.0, 0.0, 1.0)), BODY, SIDES)
    shares = shared(along(part, BODY, xs), ENDS, SOFT)
    return [Skin(part, CHAIN, shares), *(whole(eye(side), "head") for side in (1, -1))]


def eye(side: int) -> Part:
    """Return an eye, which shows its picture from outside."""
    part = lathe([(1.75, -0.6), (1.6, 0.5), (1.0, 1.3), (0.0, 1.6)], EYE, 8)
    left, top, right, bottom = EYE
    u = (left + right) / 2 + part.points[:, 0] / 3.6 * (right - left)
    v = (top + bottom) / 2 + part.points[:, 1] / 3.6 * (bottom - top)
    part = Part(part.points, part.normals, np.stack((u, v), axis=1), part.triangles)
    return moved(part, shift(27.0, 4.2 * side, 13.4) @ turn(x=-58.0 * side) @ turn(y=14.0))


def leg(name: str, root: str, rest: dict[str, Array]) -> list[Skin]:
    """Return a leg from inside the body to its ankle, and its foot."""
    names = (root, f"upper_{name}", f"lower_{name}", f"foot_{name}")
    shoulder, elbow, ankle = (rest[n][:3, 3] for n in names[1:])
    places = np.array((-1.5, 0.0, 2.2, 4.4, 6.2, 7.6, 9.0, 10.8, 12.8, 14.4, 15.6))
    knots = np.array((-1.5, 0.0, UPPER, UPPER + LOWER, UPPER + LOWER + 1))
    inward, below = shoulder + 1.5 * unit(shoulder - elbow), ankle + unit(ankle - elbow)
    corners = np.array((inward, shoulder, elbow, ankle, below))
    centres = np.stack([np.interp(places, knots, corners[:, i]) for i in range(3)], axis=1)
    centres[1:-1] = 0.2 * centres[:-2] + 0.6 * centres[1:-1] + 0.2 * centres[2:]
    width = np.interp(places, (-1.5, 1.0, 7.6, 14.4, 15.6), (3.0, 2.9, 2.2, 1.6, 0.9))
    part = tube(centres, np.stack((width, width), axis=1), rest[names[1]][:3, 2], LEG, 7)
    skins = [Skin(part, names, shared(along(part, LEG, places), (0.0, UPPER, UPPER + LOWER), 5.0))]
    for spread in (-34.0, 0.0, 34.0):
        xs = np.array((-1.2, 0.0, 2.2, 4.0, 5.0, 5.3))
        half = np.array([(0.0, 0.0), (1.1, 0.9), (0.75, 0.7), (0.85, 0.6), (0.5, 0.4), (0.0, 0.0)])
        line = np.stack((xs, np.zeros(6), half[:, 1] - ANKLE + 0.05), axis=1)
        toe = tube(line, half, np.array((0.0, 0.0, 1.0)), TOE, 5)
        skins.append(whole(moved(toe, rest[names[3]] @ turn(z=spread)), names[3]))
    return skins


# -- the model


def rounded(values: Array, decimals: int = 4) -> Array:
    """Return numbers rounded as every machine does."""
    result: Array = np.round(values + NUDGE / 10 ** (decimals - 4), decimals) + 0.0
    return result


def skeleton() -> Skeleton:
    """Return the joints as the newt stands in its first frame."""
    found = poses(Stance())
    matrices = np.array([found[name] for name in NAMES])
    parents = np.array([NAMES.index(PARENTS[n]) if n in PARENTS else -1 for n in NAMES], np.int32)
    return Skeleton(list(NAMES), parents, rounded(matrices[:, :3, 3]), rounded(from_matrices(matrices[:, :3, :3]), 8))


def model() -> SkeletalModel:
    """Return the skeleton with its skin."""
    bones, rest = skeleton(), poses(Stance())
    skins = body() + [skin_ for name, root, _, _ in LEGS for skin_ in leg(name, root, rest)]
    part = joined([skin_.part for skin_ in skins])
    shares: Array = np.zeros((len(part.points), len(NAMES)))
    base = 0
    for skin_ in skins:
        end = base + len(skin_.part.points)
        shares[base:end, [NAMES.index(name) for name in skin_.joints]] = skin_.shares
        base = end
    shares = np.round(np.where(shares < 0.02, 0, shares) + NUDGE / 10, 3)
    shares[np.arange(base), shares.argmax(axis=1)] += 1 - shares.sum(axis=1)
    vertices, joints = np.nonzero(shares)
    counts = np.bincount(vertices, minlength=base)
    matrices = np.array([rest[name] for name in NAMES])
    away = part.points[vertices] - matrices[joints, :3, 3]
    offsets = rounded(np.einsum("nji,nj->ni", matrices[joints, :3, :3], away))
    weights = Weights(
        (np.cumsum(counts) - counts).astype(np.int32), counts.astype(np.int32), joints.astype(np.int32),
        np.round(shares[vertices, joints], 3).astype(np.float32), offsets.astype(np.float32),
    )  # fmt: skip
    uvs = np.round(part.uvs / SIZE, 6)
    uvs[:, 1] = 1 - uvs[:, 1]
    mesh = SkinnedMesh("skin", f"{FOLDER}/newt", uvs.astype(np.float32), part.triangles.astype(np.int32), weights)
    return SkeletalModel("newt", bones, [mesh])


# -- movement


def wave(turns: float) -> float:
    """Return the sine of a number of whole turns."""
    return math.sin(2 * math.pi * turns)


def idle(time: float) -> Stance:
    """Breathe, look around, and let the tail sway."""
    breath, look = wave(2 * time), 17 * wave(time + 0.03)
    turns = {
        "chest": (0.0, 1.2 * breath, 0.0),
        "neck": (0.0, -2.0 * breath, 0.45 * look),
        "head": (4 * wave(time + 0.2), 3 * wave(2 * time + 0.15), 0.55 * look),
        "tail1": (0.0, 0.0, 5 * wave(time + 0.31)),
        "tail2": (0.0, 0.0, 11 * wave(time + 0.21)),
        "tail3": (0.0, 0.0, 18 * wave(time + 0.11)),
    }
    return Stance(0.25 * breath, turns)


def walk(time: float) -> Stance:
    """Trot: feet that lie across from one another move together, and the body winds between them."""
    feet = {}
    for name, late in (("front_left", 0.0), ("back_right", 0.0), ("front_right", 0.5), ("back_left", 0.5)):
        phase = (time + late) % 1.0
        through = (phase - 0.6) / 0.4
        if through < 0:  # on the ground, going back as fast as the newt goes ahead
            feet[name] = (STEP * (1 - 2 * phase / 0.6), 0.0, 0.0)
        else:
            ease = through * through * (3 - 2 * through)
            feet[name] = (STEP * (2 * ease - 1), 1.2 * wave(through / 2), LIFT * wave(through / 2))
    bend = wave(time - 0.08)
    turns = {
        "hips": (2.5 * wave(time + 0.1), 0.0, -17 * bend),
        "spine": (0.0, 0.0, 14 * bend),
        "chest": (-2.5 * wave(time + 0.1), 0.0, 14 * bend),
        "neck": (0.0, 1.5 * wave(2 * time), -7 * bend),
        "head": (0.0, -2.5 * wave(2 * time), -4 * bend),
        "tail1": (0.0, 0.0, 15 * wave(time - 0.11)),
        "tail2": (0.0, 0.0, 15 * wave(time - 0.26)),
        "tail3": (0.0, 0.0, 17 * wave(time - 0.41)),
    }
    return Stance(0.3 * wave(2 * time + 0.1) - 0.2, turns, feet)


MOVES: dict[str, Callable[[float], Stance]] = {"idle": idle, "walk": walk}


def steady(values: Array, least: float) -> Array:
    """Return values (F, ...) of which those stand still that change by less than `least`."""
    return np.where(np.ptp(values, axis=0) < least, values[0], values)


def animations(bones: SkeletalModel) -> Iterator[Animation]:
    """Yield the animations, each with its first frame once more at its end, and with the bounds of the skin."""
    parents = bones.skeleton.parents
    for name, count in ANIMATIONS:
        frames = [poses(MOVES[name](frame / count)) for frame in range(count)]
        matrices = np.array([[frame[joint] for joint in NAMES] for frame in frames])
        positions, rotations = unchain(parents, matrices[..., :3, 3], from_matrices(matrices[..., :3, :3]))
        rotations = np.where(rotations[..., :1] > 0, -rotations, rotations)[..., 1:]
        positions, rotations = rounded(steady(positions, 2e-4)), rounded(steady(rotations, 3e-5), 8)
        w = -np.sqrt(1 - (rotations * rotations).sum(axis=-1, keepdims=True))
        rotations = np.concatenate((w, rotations), axis=-1)
        motion = Animation(name, list(NAMES), parents, positions, rotations, RATE, np.zeros((count, 2, 3)))
        set_bounds(motion, bones)
        yield looped(replace(motion, bounds=rounded(motion.bounds)))


# -- the picture


def picture() -> Array:
    """Return what the newt wears, (height, width, 3): black with orange spots, pale below."""
    width, height = SIZE
    y, x = np.mgrid[0:height, 0:width] + 0.5
    grain = 0.6 * noise(1, 4, height, width) + 0.4 * noise(2, 2, height, width)
    spots = 0.6 * noise(3, 16, height, width) + 0.4 * noise(4, 8, height, width)
    dark = np.array((0.075, 0.08, 0.10)) + 0.09 * grain[..., None]
    orange = np.array((0.98, 0.50, 0.05)) * (0.72 + 0.38 * grain)[..., None]
    pale = np.array((0.62, 0.50, 0.30)) * (0.6 + 0.5 * grain)[..., None]
    side = np.abs(y - 40) / 40  # 0 at the back, 1 below
    image: Array = np.where((spots - 0.18 * side > 0.50)[..., None], orange, dark)
    below = np.clip((side - 0.70) / 0.16, 0, 1)[..., None]
    image = image * (1 - below) + pale * below
    image *= np.where((x > 226) & (np.abs(side - 0.60) < 0.018), 0.25, 1.0)[..., None]  # the mouth
    limbs = y > 81
    image[limbs] = np.where((spots > 0.60)[..., None], orange, dark)[limbs]
    fingers = np.clip((x - 128) / 24, 0, 1)[..., None]
    tips = limbs & (x > 97) & (x < 162)
    image[tips] = (image * (1 - fingers) + orange * fingers)[tips]
    paint_eye(image, x, y)
    return image


def paint_eye(image: Array, x: Array, y: Array) -> None:
    """Paint an eye: a slit in amber, with a light."""
    left, top, right, bottom = EYE
    across, down = x - (left + right) / 2, y - (top + bottom) / 2
    away = np.sqrt(across * across + down * down) / 20
    area = (x > 162) & (y > 82)
    amber = np.array((1.0, 0.78, 0.18)) * np.clip(1.1 - 0.5 * away, 0, 1)[..., None]
    image[area] = np.where((away < 0.72)[..., None], amber, np.array((0.03, 0.03, 0.04)))[area]
    image[area & (np.abs(across) / 4.0 + np.abs(down) / 13.0 < 1)] = 0.01
    image[area & (np.sqrt((across + 5) ** 2 + (down + 5) ** 2) < 2.6)] = 1.0


def files() -> dict[str, bytes]:
    """Return the example's files by their paths."""
    newt = model()
    found = {"newt.md5mesh": formats.by_name("md5mesh").dump(newt)}
    for animation in animations(newt):
        found[f"{animation.name}.md5anim"] = formats.by_name("md5anim").dump(animation)
    found["newt.tga"] = pictures.tga(picture())
    return {f"newt/{FOLDER}/{name}": data for name, data in found.items()} | {"newt/def/newt.def": DECLARATION.encode()}
