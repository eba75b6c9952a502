"""A player of our own, small and odd: tags scaled and turning, a table with comments, skins in several spellings."""

from __future__ import annotations

from math import cos, sin

from tests.samples_md3 import FrameSpec, Md3Spec, SurfaceSpec, TagSpec

NAME = "grunt"
FOLDER = f"models/players/{NAME}"
# Rows of the table as it has them: the legs' count on behind the torso's.
TABLE = b"""// animation config file\r
sex\tm\r
headoffset 1 0 2   // of the icon\r
footsteps boot\r
\r
// first, num, loop, fps\r
0\t2\t0\t10\t// BOTH_DEATH1\r
1\t1\t0\t10\t// BOTH_DEAD1\r
2\t2\t0\t12\t// BOTH_DEATH2\r
3\t1\t0\t10\t// BOTH_DEAD2\r
4\t2\t0\t10\t// BOTH_DEATH3\r
5\t1\t0\t10\t// BOTH_DEAD3\r
\r
6\t3\t0\t18\t// TORSO_GESTURE\r
9  6  0  15  // TORSO_ATTACK\r
15 6 0 15 // TORSO_ATTACK2\r
21 5 0 20 // TORSO_DROP\r
26 4 0 20 // TORSO_RAISE\r
30 4 4 12.5 // TORSO_STAND\r
34 1 1 15 // TORSO_STAND2\r
\r
37 4 4 20 // LEGS_WALKCR\r
41 4 4 15 // LEGS_WALK\r
45 6 6 24 // LEGS_RUN\r
51 -4 4 18 // LEGS_BACK\r
55 4 2 15 // LEGS_SWIM\r
59 2 0 15 // LEGS_JUMP\r
61 1 0 15 // LEGS_LAND\r
59 -2 0 15 // LEGS_JUMPB\r
62 1 0 15 // LEGS_LANDB\r
63 2 2 7 // LEGS_IDLE\r
65 2 2 0 // LEGS_IDLECR\r
67 3 3 15 // LEGS_TURN\r
35 2 0 15 // TORSO_GETFLAG\r
35 2 0 15 // TORSO_GUARDBASE\r
35 2 0 15 // TORSO_PATROL\r
35 2 0 15 // TORSO_FOLLOWME\r
35 2 0 15 // TORSO_AFFIRMATIVE\r
35 2 0 15 // TORSO_NEGATIVE\r
"""
LOWER_FRAMES, UPPER_FRAMES = 39, 37
SKINS = {
    "default": "{part},models/players/grunt/{part}.tga\r\n// worn by all\r\ntag_torso,\r\n",
    "red": '"{part}" models/players/grunt/red.tga',
}


def _tag(name: bytes, frame: int, scale: float, height: float) -> TagSpec:
    """Return a tag that turns about z and nods, and is `scale` long."""
    a, b = 0.07 * frame + height / 10, 0.03 * frame
    rows = (
        (cos(a) * cos(b), sin(a) * cos(b), -sin(b)),
        (-sin(a), cos(a), 0.0),
        (cos(a) * sin(b), sin(a) * sin(b), cos(b)),
    )
    origin = (0.5 * frame, 1.0 - 0.25 * frame, height + 0.125 * frame)
    return TagSpec(name, origin, [scale * value for row in rows for value in row])


def _part(name: str, count: int, tags: dict[bytes, tuple[float, float]], step: int = 1) -> bytes:
    """Return a part: a bar that leans more and more, and its tags: name, scale and height."""
    bar = [(0, 0, 0), (640, 0, 64), (0, 640, 128), (64, 64, 1280)][:: 1 if step == 1 else -1]
    frames = [
        [(x + 8 * f, y - 4 * f * i, z + i, 40 + i, 3 * f % 256) for i, (x, y, z) in enumerate(bar)]
        for f in range(count)
    ]
    surface = SurfaceSpec(
        name.encode(), frames, [(0, 1, 2), (0, 2, 3), (0, 3, 1)], [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (0.5, 0.5)]
    )
    specs = [[_tag(tag, f, *values) for tag, values in tags.items()] for f in range(count)]
    return Md3Spec(
        [FrameSpec(b"%s%02d" % (name.encode(), f)) for f in range(count)],
        specs if tags else [],
        [surface],
        f"{FOLDER}/{name}.md3".encode(),
    ).pack()


def player_files() -> dict[str, bytes]:
    """Return the files of the player's folder, by name."""
    lower = {b"tag_torso": (1.5, 10.0)}
    upper = {b"tag_torso": (1.0, 0.0), b"tag_head": (0.85, 12.0), b"tag_weapon": (8.0, 6.0), b"tag_flag": (1.0, 5.0)}
    files = {
        "lower.md3": _part("l_legs", LOWER_FRAMES, lower),
        "lower_1.md3": _part("l_legs", LOWER_FRAMES, lower, -1),
        "upper.md3": _part("u_torso", UPPER_FRAMES, upper),
        "head.md3": _part("h_head", 1, {b"tag_head": (1.0, 0.0)}),
        "animation.cfg": TABLE,
    }
    surfaces = {"lower": "l_legs", "upper": "u_torso", "head": "h_head"}
    for skin, text in SKINS.items():
        files |= {f"{part}_{skin}.skin": text.format(part=name).encode() for part, name in surfaces.items()}
    return files


def weapon_files() -> dict[str, bytes]:
    """Return the files of a weapon, by their names in the game."""
    held = {b"tag_barrel": (1.0, 2.0), b"tag_flash": (2.0, 9.0)}
    folder = "models/weapons2/club"
    return {
        f"{folder}/club.md3": _part("club", 1, held),
        f"{folder}/club_barrel.md3": _part("barrel", 1, {}),
        f"{folder}/club_flash.md3": _part("flash", 1, {}),
    }
