"""The Stilt, a drone that walks on two legs: an MD2 with six animations and two skins, and a third one beside it.

What Quake II asks of a player: `players/stilt/tris.md2` faces +X, stands with its feet at -24, and plays at 10 frames
per second; skins are PCX pictures of 8 bits, each with an icon of 32 x 32 pixels (`rust_i.pcx`). Vertices lie at
multiples of a ten-thousandth of a unit, so that every machine writes the same bytes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from examples import pictures
from examples.pictures import Array, pcx
from examples.shapes import ALONG_X, Part, Point, Rect, beam, lathe, moved, quad, shift, turn
from io_idtech_models import formats
from io_idtech_models.model.clips import numbered
from io_idtech_models.model.edits.normals import smooth_normals
from io_idtech_models.model.vertex import Surface, VertexModel

FOLDER = "players/stilt"
WIDTH, HEIGHT, ICON = 256, 128, 32  # of skins and icons, in pixels
SKINS = ("rust", "moss")  # the file names these, the game finds the third by itself
OTHER = "frost"
ANIMATIONS = (("stand", 10), ("run", 6), ("attack", 4), ("pain1", 4), ("pain2", 4), ("death1", 6))
ONE_DIGIT = frozenset(("run", "attack"))  # id's own players have run1 ... run6

GROUND, ANKLE, HIP = -24.0, 2.6, 6.0  # heights: of the ground, of an ankle above it, of the hips' axle
THIGH, SHIN, STRIDE = 15.0, 17.0, 11.0
POD = (1.0, 0.0, 10.5)  # the middle of the pod, from the hips


def inside(left: float, top: float, right: float, bottom: float) -> Rect:
    """Return the middles of a rectangle's outermost texels: what MD2 stores."""
    return left + 0.5, top + 0.5, right - 0.5, bottom - 0.5


PLATES, EYE, BAND = inside(0, 0, 256, 48), inside(0, 48, 48, 96), inside(0, 96, 96, 112)
TUBE, GUN, PACK = inside(48, 48, 112, 96), inside(112, 48, 176, 88), inside(176, 48, 208, 80)
TOE, GRILLE, DARK = inside(208, 48, 256, 96), inside(112, 88, 176, 112), inside(176, 80, 208, 112)


# -- the drone, a part for each joint


def pod() -> list[Part]:
    """Return the body around its middle: a shell, a ring, the eye, an aerial and a pack of rockets at its left."""
    shell = lathe([(0, -13), (5, -12.2), (9.4, -7.5), (11, 0), (9.6, 6.5), (7.4, 10)], PLATES, 12)
    ring = lathe([(7.4, 10), (6.8, 11.5), (5.3, 9.8)], BAND, 12)
    flat = np.diag((0.9, 1.06, 1.0, 1.0))  # X becomes the model's Z
    shaped = [moved(moved(part, flat), ALONG_X) for part in (shell, ring, lens())]
    foot = [(-1, 0.7, 8), (-1, -0.7, 8), (-4, -0.7, 7), (-4, 0.7, 7)]
    aerial = beam(foot, [(x * 0.2 - 9, y * 0.2, 21) for x, y, _ in foot], [DARK] * 4)
    return [*shaped, aerial, *pack()]


def lens() -> Part:
    """Return the eye, which shows its picture as seen from the front."""
    part = lathe([(5.4, 9.6), (4.6, 10.8), (2.6, 11.9), (0, 12.3)], EYE, 12)
    left, top, right, bottom = EYE
    u = (left + right) / 2 - part.points[:, 1] / 11 * (right - left)
    v = (top + bottom) / 2 + part.points[:, 0] / 11 * (bottom - top)
    return Part(part.points, part.normals, np.stack((u, v), axis=1), part.triangles)


def pack() -> list[Part]:
    """Return the box at the left, with a lid of four tubes in front."""
    back = [(-6.0, y, z) for y, z in ((10.2, -2.5), (16.2, -2.5), (16.2, 4.5), (10.2, 4.5))]
    front = [(7.0, y, z) for _, y, z in back]
    tip = [(7.9, 13.2 + (y - 13.2) * 0.86, 1 + (z - 1) * 0.86) for _, y, z in front]
    sides = [beam(back, front, [DARK, BAND, DARK, DARK]), beam(front, tip, [DARK] * 4)]
    return [*sides, quad([tip[2], tip[3], tip[0], tip[1]], PACK), quad([back[3], back[2], back[1], back[0]], DARK)]


def gun() -> list[Part]:
    """Return the cannon at the right, along +X from its mount, and the arm that holds it."""
    barrel = [(0, -7), (2.6, -6.2), (2.9, 4), (1.6, 5.4), (1.5, 12.6), (2.1, 13.2), (2.1, 15), (1.1, 14.6), (1, 12)]
    near = [(-1.6, 4.4, -1.2), (1.6, 4.4, -1.2), (1.6, 4.4, 1.2), (-1.6, 4.4, 1.2)]
    arm = beam(near, [(x, 0, z) for x, _, z in near], [DARK] * 4)
    return [moved(lathe(barrel, GUN, 7), ALONG_X), arm]


def hips() -> list[Part]:
    """Return the block that the pod stands on, and the axle through it."""
    block = lathe([(0, -3.4), (3.6, -3.0), (5.2, 0), (4.2, 2.6), (2.6, 3.6)], GRILLE, 8)
    axle = lathe([(0, -10.4), (2.6, -10.2), (3.0, -6.6), (3.0, 6.6), (2.6, 10.2), (0, 10.4)], TUBE, 8)
    return [block, moved(axle, turn(x=90))]


def thigh() -> list[Part]:
    """Return the upper leg, from its hip down."""
    return [lathe([(1.5, -THIGH), (2.0, -11), (3.2, -3.5), (2.4, 1.5)], TUBE, 6)]


def shin() -> list[Part]:
    """Return the knee and the lower leg, from the knee down."""
    knee = lathe([(0, -2.5), (2.3, -2.5), (2.6, 0), (2.3, 2.5), (0, 2.5)], DARK, 6)
    return [moved(knee, turn(x=90)), lathe([(0.9, -SHIN), (1.2, -12), (2.1, -5), (1.5, 1)], TUBE, 6)]


def foot() -> list[Part]:
    """Return a foot below its ankle: three toes around a joint."""
    root = [(0.6, 1.5, 0.9), (0.6, -1.5, 0.9), (0.6, -1.7, -2.4), (0.6, 1.7, -2.4)]
    tip = [(8.2, 0.9, -1.5), (8.2, -0.9, -1.5), (8.6, -0.9, -ANKLE), (8.6, 0.9, -ANKLE)]
    toe = beam(root, tip, [TOE, DARK, DARK, DARK])
    short = np.diag((0.62, 0.9, 1.0, 1.0))
    ball = lathe([(0, -ANKLE), (2.4, -2.2), (2.5, -0.8), (0, 1.4)], DARK, 6)
    return [moved(toe, turn(z=24)), moved(toe, turn(z=-24)), moved(toe, turn(z=180) @ short), ball]


PIECES: tuple[tuple[str, Callable[[], list[Part]]], ...] = (
    ("hips", hips), ("pod", pod), ("gun", gun),
    ("thigh_left", thigh), ("shin_left", shin), ("foot_left", foot),
    ("thigh_right", thigh), ("shin_right", shin), ("foot_right", foot),
)  # fmt: skip


# -- movement


@dataclass
class Stance:
    """Where the drone has what, in one frame; angles in degrees, lean forward and to its right are positive."""

    height: float = HIP
    forward: float = 0.0
    lean: float = 0.0
    tilt: float = 0.0
    look: float = 0.0  # of the pod, to the left
    nod: float = 0.0
    recoil: float = 0.0
    left: Point = (1.0, 9.0, 0.0)  # feet, from the ground below the hips
    right: Point = (1.0, -9.0, 0.0)
    toes: tuple[float, float] = (0.0, 0.0)  # how far feet hang down
    knees: float = 0.15  # how far knees point outward
    poses: dict[str, Array] = field(default_factory=dict)


def stances() -> Iterator[Stance]:
    """Yield all frames of all animations."""
    for name, count in ANIMATIONS:
        yield from (MOVES[name](frame, frame / count) for frame in range(count))


def wave(turns: float) -> float:
    """Return the sine of a number of whole turns."""
    return math.sin(2 * math.pi * turns)


def stand(_frame: int, time: float) -> Stance:
    """Breathe, and look around."""
    return Stance(height=HIP - 0.4 + 0.5 * wave(time), look=16 * wave(time + 0.1), nod=3 * wave(2 * time), lean=2.0)


def run(_frame: int, time: float) -> Stance:
    """Run: a foot goes back on the ground, and forward through the air."""
    feet = []
    for side, late in ((1, 0.0), (-1, 0.5)):
        lift = max(0.0, -wave(time + late))
        feet.append((STRIDE * wave(time + late + 0.25), 8.0 * side, 7.5 * lift))
    hang = (3.2 * feet[0][2], 3.2 * feet[1][2])
    bounce = 1.5 * wave(2 * time + 0.1)
    return Stance(HIP - 0.6 + bounce, 1.0, 9.0, 3.0 * wave(time + 0.2), 0.0, -4.0, 0.0, feet[0], feet[1], hang)


def attack(frame: int, _time: float) -> Stance:
    """Shoot: the cannon goes back, the pod with it."""
    kick = (1.0, 0.7, 0.35, 0.1)[frame]
    return Stance(HIP - 1.2 * kick, -1.5 * kick, 3 - 8 * kick, 0.0, -5 * kick, -2.0, 4.5 * kick)


def pain1(frame: int, _time: float) -> Stance:
    """Be hit from the front."""
    hit = (0.7, 1.0, 0.6, 0.2)[frame]
    return Stance(HIP - 3 * hit, -3 * hit, -17 * hit, 4 * hit, 12 * hit, -10 * hit, right=(1 - 4 * hit, -9, 0))


def pain2(frame: int, _time: float) -> Stance:
    """Be hit from the left."""
    hit = (0.6, 1.0, 0.7, 0.25)[frame]
    return Stance(HIP - 2.5 * hit, 0.0, 4 * hit, 19 * hit, -14 * hit, 6 * hit, right=(1, -9 - 3 * hit, 0))


def death1(frame: int, _time: float) -> Stance:
    """Stumble, sink down on folded legs and come to rest on one side."""
    fall = (0.1, 0.3, 0.6, 0.9, 1.05, 1.0)[frame]
    feet = ((4 * fall + 1, 9 + 5 * fall, 0.0), (1 - 3 * fall, -9 - 3 * fall, 0.0))
    return Stance(
        HIP - 21.5 * fall, 3 * fall, 26 * fall, -21 * fall, 25 * fall, 12 * fall, 0.0, *feet, knees=0.15 + 1.2 * fall
    )


MOVES: dict[str, Callable[[int, float], Stance]] = {
    f.__name__: f for f in (stand, run, attack, pain1, pain2, death1)
}  # fmt: skip


def poses(stance: Stance) -> dict[str, Array]:
    """Return the transform of every joint."""
    root = shift(stance.forward, 0, stance.height) @ turn(x=stance.tilt, y=stance.lean)
    found = {"hips": root, "pod": root @ shift(*POD) @ turn(y=stance.nod, z=stance.look)}
    found["gun"] = found["pod"] @ shift(2.0 - stance.recoil, -15.5, -1.0)
    for name, side, place, hang in zip(
        ("left", "right"), (1, -1), (stance.left, stance.right), stance.toes, strict=True
    ):
        ankle = np.array((place[0], place[1], GROUND + ANKLE + place[2]))
        upper, lower = leg((root @ (0, 8.4 * side, 0, 1))[:3], ankle, np.array((-1.0, stance.knees * side, 0.25)))
        found["thigh_" + name], found["shin_" + name] = upper, lower
        found["foot_" + name] = shift(*ankle) @ turn(y=hang) @ turn(z=8 * side)
    return found


def leg(hip: Array, ankle: Array, bend: Array) -> tuple[Array, Array]:
    """Return the transforms of thigh and shin that lead from hip to ankle, with the knee on the side `bend`."""
    way = ankle - hip
    far = math.sqrt(float((way * way).sum()))
    reach = min(max(far, SHIN - THIGH + 0.5), SHIN + THIGH - 0.3)
    way = way / far
    across = bend - way * float((way * bend).sum())
    across = across / math.sqrt(float((across * across).sum()))
    along = (reach * reach + THIGH * THIGH - SHIN * SHIN) / (2 * reach)
    knee = hip + way * along + across * math.sqrt(THIGH * THIGH - along * along)
    side = np.cross(across, way)
    return hanging(hip, knee, side), hanging(knee, ankle, side)


def hanging(top: Array, bottom: Array, side: Array) -> Array:
    """Return the transform (4, 4) of what hangs along -Z from `top` towards `bottom`, with its +Y to `side`."""
    up = (top - bottom) / math.sqrt(float(((top - bottom) ** 2).sum()))
    result = np.eye(4)
    result[:3, 0], result[:3, 1], result[:3, 2], result[:3, 3] = np.cross(side, up), side, up, top
    return result


# -- the model


@dataclass
class Skinned:
    """A rigid piece: vertices shared by the triangles that meet there, which have texture coordinates of their own."""

    points: Array  # (V, 3)
    triangles: Array  # (T, 3)
    uvs: Array  # (T, 3, 2), in fractions of the skin, from its bottom left


def skinned(part: Part) -> Skinned:
    """Return a part without its seams: MD2 has a texture coordinate for each corner, and a normal for each vertex."""
    points, place = np.unique(np.round(part.points, 4) + 0.0, axis=0, return_inverse=True)
    uvs = part.uvs / (WIDTH, HEIGHT)
    uvs = np.stack((uvs[:, 0], 1 - uvs[:, 1]), axis=1)
    return Skinned(points, place.reshape(-1)[part.triangles], uvs[part.triangles])


def model_bytes() -> bytes:
    """Return the MD2 file."""
    pieces = [(joint, skinned(part)) for joint, parts in PIECES for part in parts()]
    bases = np.cumsum([0] + [len(piece.points) for _, piece in pieces])
    triangles = np.concatenate([piece.triangles + base for (_, piece), base in zip(pieces, bases, strict=False)])
    uvs = np.concatenate([piece.uvs for _, piece in pieces])
    frames = []
    for stance in stances():
        pose = poses(stance)
        frames.append(
            np.concatenate([piece.points @ pose[joint][:3, :3].T + pose[joint][:3, 3] for joint, piece in pieces])
        )
    positions = (np.round(np.array(frames), 4) + 0.0).astype(np.float32)
    normals = np.round(smooth_normals(positions, triangles.astype(np.int32)).astype(np.float64), 4)
    # A symmetric shape has normals halfway between two codes: lean them all a little, or noise would choose.
    normals = (normals + np.array((0.00011, 0.00023, 0.00017))).astype(np.float32)
    names = [f"{name}{i + 1}" if name in ONE_DIGIT else text
             for name, count in ANIMATIONS for i, text in enumerate(numbered(name, count))]  # fmt: skip
    skins = [f"{FOLDER}/{name}.pcx" for name in SKINS]
    surface = Surface("stilt", positions, triangles.astype(np.int32), uvs.astype(np.float32), skins, normals)
    model = VertexModel("stilt", names, [surface], [], texture_size=(WIDTH, HEIGHT))
    data: bytes = formats.by_name("md2").dump(model)
    return data


# -- pictures: a ramp of colours (0 to 15) and a shade of it (0 to 1) for each pixel

METAL, BRIGHT, PAINT, SECOND, WARN, GLOW = range(6)


@dataclass
class Canvas:
    """A picture to paint on, with the noise that makes surfaces look used."""

    height: int
    width: int

    def __post_init__(self) -> None:
        """Start with plain metal."""
        self.ramp = np.full((self.height, self.width), METAL)
        self.shade = np.full((self.height, self.width), 0.3)
        self.y, self.x = np.mgrid[0 : self.height, 0 : self.width] + 0.5
        self.grain = 0.5 * self.noise(1, 16) + 0.3 * self.noise(2, 4) + 0.2 * self.noise(3, 1)
        self.wear = 0.55 * self.noise(4, 8) + 0.45 * self.noise(5, 2)

    def noise(self, seed: int, cell: int) -> Array:
        """Return smooth noise of 0 to 1."""
        return pictures.noise(seed, cell, self.height, self.width)

    def fill(self, where: Array, ramp: int, shade: Array | float) -> None:
        """Paint where a mask (height, width) says."""
        self.ramp[where] = ramp
        self.shade[where] = np.broadcast_to(shade, where.shape)[where]

    def within(self, rect: Rect) -> Array:
        """Return the mask of a rectangle."""
        left, top, right, bottom = rect
        mask: Array = (left <= self.x) & (self.x <= right) & (top <= self.y) & (self.y <= bottom)
        return mask

    def plate(self, rect: Rect, ramp: int, bright: float, rivets: bool = True) -> None:
        """Paint a plate: light from above, a dark seam around, bare metal where its edges are worn, and rivets."""
        left, top, right, bottom = rect
        edge = np.minimum(np.minimum(self.x - left, right - self.x), np.minimum(self.y - top, bottom - self.y))
        shade = bright + 0.34 * (self.grain - 0.5) + 0.10 * (bottom - self.y) / (bottom - top)
        shade = shade + np.where(self.y - top < 2.5, 0.10, 0.0) - np.where(bottom - self.y < 2.5, 0.10, 0.0)
        area = self.within(rect)
        self.fill(area, ramp, shade)
        self.fill(area & (edge < 5) & (self.wear - 0.05 * edge > 0.47), BRIGHT, shade * 0.9)
        self.fill(area & (edge < 0.7), METAL, 0.05)
        for x in (left + 3.5, right - 3.5) if rivets else ():
            for y in (top + 3.5, bottom - 3.5):
                self.rivet(x, y)

    def rivet(self, x: float, y: float) -> None:
        """Paint a rivet: a dark ring, and light from the upper left."""
        away = np.sqrt((self.x - x) ** 2 + (self.y - y) ** 2)
        self.fill(away < 1.9, METAL, 0.08)
        self.fill(away < 1.2, BRIGHT, 0.55 + 0.25 * (x - self.x + y - self.y))

    def stripes(self, rect: Rect) -> None:
        """Paint a warning band."""
        area = self.within(rect) & (self.wear < 0.62)
        dark = (self.x + self.y) % 12 < 6
        self.fill(area & dark, METAL, 0.12)
        self.fill(area & ~dark, WARN, 0.72 + 0.3 * (self.grain - 0.5))

    def indices(self) -> Array:
        """Return the number of each pixel's colour."""
        shades = np.floor(np.clip(self.shade, 0, 1) * 15 + 0.5).astype(np.int64)
        return (16 * self.ramp + shades).astype(np.uint8)


def skin_picture() -> Array:
    """Return the skin, as numbers of colours (HEIGHT, WIDTH)."""
    canvas = Canvas(HEIGHT, WIDTH)
    paint_shell(canvas)
    canvas.plate(EYE, METAL, 0.25, False)
    paint_eye(canvas, 24.0, 72.0, 22.5)
    canvas.plate(BAND, METAL, 0.45, False)
    canvas.stripes((BAND[0] + 2, BAND[1] + 3, BAND[2] - 2, BAND[3] - 3))
    for top, bottom, ramp in ((48, 57, METAL), (57, 64, BRIGHT), (64, 86, PAINT), (86, 96, METAL)):
        canvas.plate((48.5, top + 0.5, 111.5, bottom - 0.5), ramp, 0.52, ramp == PAINT)
    canvas.plate(GUN, METAL, 0.46)
    canvas.plate((112.5, 54.5, 175.5, 64.5), SECOND, 0.5)
    canvas.stripes((113, 68, 175, 72))
    canvas.plate(PACK, METAL, 0.3, False)
    for x, y in ((184, 56), (200, 56), (184, 72), (200, 72)):
        paint_tube(canvas, x, y)
    canvas.plate(TOE, PAINT, 0.5, False)
    canvas.plate((224.5, 48.5, 255.5, 95.5), METAL, 0.4, False)
    canvas.plate(GRILLE, METAL, 0.42)
    canvas.fill(canvas.within((118, 93, 170, 107)) & (canvas.x % 6 > 3), METAL, 0.04)
    canvas.plate(DARK, METAL, 0.42)
    return canvas.indices()


def paint_shell(canvas: Canvas) -> None:
    """Paint the pod: plates around it, a lit window at each side, dirt below, which is at both ends of the picture."""
    for i in range(8):
        ramp = SECOND if i in {0, 3, 4, 7} else PAINT
        canvas.plate((32 * i + 0.5, 0.5, 32 * i + 31.5, 29.5), ramp, 0.56)
        canvas.plate((32 * i + 0.5, 30.5, 32 * i + 31.5, 47.5), PAINT if ramp == SECOND else METAL, 0.5)
    for x in (64, 192):
        canvas.plate((x - 14, 14.5, x + 14, 24.5), METAL, 0.3, False)
        canvas.fill(canvas.within((x - 11, 17, x + 11, 22)) & (canvas.x % 8 > 2), GLOW, 0.75)
    canvas.stripes((98, 2, 158, 6))
    below = np.abs(canvas.x - WIDTH / 2) / (WIDTH / 2)
    canvas.shade[:48] *= (1.08 - 0.35 * below * below)[:48]


def paint_eye(canvas: Canvas, x: float, y: float, radius: float) -> None:
    """Paint a lens that glows, with rings and a light of its own."""
    away = np.sqrt((canvas.x - x) ** 2 + (canvas.y - y) ** 2) / radius
    light = 1.0 - 0.72 * away * away + 0.12 * (canvas.grain - 0.5)
    light = light - np.where(np.abs(away - 0.62) < 0.05, 0.22, 0.0) - np.where(np.abs(away - 0.3) < 0.035, 0.15, 0.0)
    canvas.fill(away < 1, GLOW, light)
    spot = np.sqrt((canvas.x - x + 0.3 * radius) ** 2 + (canvas.y - y + 0.35 * radius) ** 2) / radius
    canvas.fill(spot < 0.14, GLOW, 1.0)


def paint_tube(canvas: Canvas, x: float, y: float) -> None:
    """Paint the mouth of a rocket's tube, the rocket in it."""
    away = np.sqrt((canvas.x - x) ** 2 + (canvas.y - y) ** 2)
    canvas.fill(away < 6.6, METAL, 0.55)
    canvas.fill(away < 5.4, METAL, 0.04)
    canvas.fill(away < 3.2, WARN, 0.85 - 0.13 * away)


def icon_picture() -> Array:
    """Return what a menu shows for a skin, (ICON, ICON): the drone from the front."""
    canvas = Canvas(ICON, ICON)
    canvas.fill(canvas.ramp >= 0, METAL, 0.10 + 0.1 * (ICON - canvas.y) / ICON)
    x, y = canvas.x - 16, canvas.y
    for side in (-1, 1):
        canvas.fill((np.abs(x - side * 6) < 1.6) & (y > 18) & (y < 29), BRIGHT, 0.45)
        canvas.fill((np.abs(x - side * 6) < 4.0) & (y > 27) & (y < 30), PAINT, 0.5)
    canvas.fill((np.abs(x - 12) < 2.6) & (np.abs(y - 12) < 3.6), METAL, 0.5)
    canvas.fill((x + 12.5) ** 2 + (y - 13) ** 2 < 6, BRIGHT, 0.5)
    canvas.fill((np.abs(x) < 0.8) & (y < 6), BRIGHT, 0.5)
    round_ = np.sqrt(x * x + (y - 13) ** 2)
    canvas.fill(round_ < 9.2, PAINT, 0.78 - 0.03 * (y - 4))
    canvas.fill((round_ > 8.3) & (round_ < 9.3), METAL, 0.05)
    paint_eye(canvas, 16, 14, 5.4)
    return canvas.indices()


Stops = Sequence[tuple[float, Point]]
GREY: Stops = ((0, (0.02, 0.02, 0.03)), (0.5, (0.27, 0.28, 0.31)), (1, (0.58, 0.59, 0.62)))
SILVER: Stops = ((0, (0.10, 0.09, 0.09)), (0.5, (0.50, 0.47, 0.44)), (1, (0.93, 0.91, 0.88)))
YELLOW: Stops = ((0, (0.12, 0.07, 0.0)), (0.6, (0.86, 0.58, 0.08)), (1, (1.0, 0.88, 0.45)))
COLOURS: dict[str, tuple[Stops, Stops, Stops]] = {  # of paint, second paint and glow
    "rust": (
        ((0, (0.10, 0.03, 0.01)), (0.5, (0.60, 0.24, 0.09)), (1, (0.98, 0.62, 0.38))),
        ((0, (0.10, 0.08, 0.05)), (0.5, (0.62, 0.56, 0.46)), (1, (0.98, 0.94, 0.84))),
        ((0, (0.02, 0.07, 0.16)), (0.55, (0.05, 0.52, 0.78)), (1, (0.88, 1.0, 1.0))),
    ),
    "moss": (
        ((0, (0.03, 0.06, 0.02)), (0.5, (0.27, 0.37, 0.16)), (1, (0.68, 0.78, 0.46))),
        ((0, (0.06, 0.05, 0.03)), (0.5, (0.40, 0.35, 0.24)), (1, (0.84, 0.78, 0.62))),
        ((0, (0.15, 0.04, 0.0)), (0.55, (0.90, 0.42, 0.05)), (1, (1.0, 0.96, 0.72))),
    ),
    "frost": (
        ((0, (0.06, 0.10, 0.14)), (0.5, (0.48, 0.62, 0.72)), (1, (0.92, 0.98, 1.0))),
        ((0, (0.09, 0.10, 0.12)), (0.5, (0.66, 0.69, 0.72)), (1, (1.0, 1.0, 1.0))),
        ((0, (0.12, 0.0, 0.10)), (0.55, (0.80, 0.10, 0.55)), (1, (1.0, 0.86, 0.98))),
    ),
}


def palette(name: str) -> Array:
    """Return the 256 colours of a skin, (256, 3): sixteen ramps of sixteen shades, the last ten of them unused."""
    paint, second, glow = COLOURS[name]
    ramps = (GREY, SILVER, paint, second, YELLOW, glow)
    colours = np.zeros((256, 3))
    for i, stops in enumerate(ramps):
        for j in range(16):
            (low, first), (high, last) = next(p for p in pairwise(stops) if j / 15 <= p[1][0])
            part = (j / 15 - low) / (high - low)
            colours[16 * i + j] = [a + (b - a) * part for a, b in zip(first, last, strict=True)]
    return colours


def files() -> dict[str, bytes]:
    """Return the example's files by their paths."""
    found = {"tris.md2": model_bytes()}
    for name in (*SKINS, OTHER):
        found[f"{name}.pcx"] = pcx(skin_picture(), palette(name))
        found[f"{name}_i.pcx"] = pcx(icon_picture(), palette(name))
    return {f"stilt/{FOLDER}/{name}": data for name, data in found.items()}
