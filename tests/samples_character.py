"""A character of Enemy Territory: the example's soldier, with a head, a helmet and a pack of its own on his tags."""

from __future__ import annotations

from pathlib import Path

from tests.packs import put_files
from tests.samples_md3 import FrameSpec, Md3Spec, SurfaceSpec, TagSpec

EXAMPLE = Path(__file__).resolve().parent.parent / "examples/trooper/models/players/toys/trooper"
TOYS = "models/players/toys/trooper"
CHAR = "characters/toys/allied/trooper.char"
GROUP, TABLE = "animations/toys.anim", "animations/toys/body.aninc"
DEFINITION = f"""// a toy
characterDef
{{
	skin			"field"

	mesh			"{TOYS}/body.mdm"
	animationGroup		"{GROUP}"
	animationScript		"animations/scripts/toys.script"

	undressedCorpseModel	"{TOYS}/body.mdm"
	undressedCorpseSkin	"default"

	hudhead			"models/players/hud/toy.md3"
	hudheadanims		"animations/toys/head.anim"
	hudheadskin		"models/players/hud/toy_green.skin"
}}
"""
GROUP_TEXT = f"""animgroup
{{
	animfile "animations/toys/body.mdx"
	{{
		#include "{TABLE}"
	}}
	animfile "animations/toys/extra.mdx" // the same frames again
	{{
		crawl	3 5 5 12 20 100 0
	}}
}}
"""
SKIN = f"""md3_back,	"{TOYS}/acc/pack.md3"
md3_hat,	"{TOYS}/acc/helmet.md3"

u_body,		"{TOYS}/trooper.tga"
l_legs,		"{TOYS}/trooper.tga"
"""


HEAD_TABLE = "animations/toys/head.anim"
HEAD_ROWS = "// first length fps loop\n1 3 10 3 // idle\n0 2 0 9\n" + "".join(f"{n % 5} 2 8 0\n" for n in range(16))


def part(name: str, *tags: TagSpec, frames: int = 1) -> bytes:
    """Return a model of a frame, or several of which each lies a unit above the one before: a wedge, and tags."""
    wedge = [(0, 0, 0, 0, 0), (320, 0, 0, 0, 0), (0, 320, 0, 0, 0), (0, 0, 320, 0, 0)]
    triangles = [(0, 1, 2), (0, 2, 3), (0, 3, 1)]
    st = [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (0.5, 0.5)]
    moved = [[(x, y, z + 64 * n, a, b) for x, y, z, a, b in wedge] for n in range(frames)]
    surface = SurfaceSpec(name.encode(), moved, triangles, st, shaders=[(f"{TOYS}/trooper".encode(), 0)])
    named = [FrameSpec(b"only")] * frames
    return Md3Spec(named, [list(tags)] * frames if tags else [], [surface]).pack()


def files() -> dict[str, bytes]:
    """Return the character's files by their names in the game."""
    return {
        CHAR: DEFINITION.encode(),
        GROUP: GROUP_TEXT.encode(),
        HEAD_TABLE: HEAD_ROWS.encode(),
        TABLE: (EXAMPLE / "body.aninc").read_bytes(),
        "animations/toys/body.mdx": (EXAMPLE / "body.mdx").read_bytes(),
        "animations/toys/extra.mdx": (EXAMPLE / "body.mdx").read_bytes(),
        f"{TOYS}/body.mdm": (EXAMPLE / "body.mdm").read_bytes(),
        f"{TOYS}/trooper.tga": (EXAMPLE / "trooper.tga").read_bytes(),
        f"{TOYS}/body_field.skin": SKIN.encode(),
        f"{TOYS}/acc/pack.md3": part("pack"),
        f"{TOYS}/acc/helmet.md3": part("helmet"),
        f"{TOYS}/acc/helmet_field.skin": f"helmet,{TOYS}/green".encode(),
        "models/players/hud/toy.md3": part("head", TagSpec(b"tag_mouth", (1.0, 0.5, 3.0))),
        "models/players/hud/toy_green.skin": f'head, "{TOYS}/trooper.tga"'.encode(),
    }


def put_character(folder: Path, **changed: bytes | None) -> Path:
    """Write a character's files below a game's folder; `changed` by the file's name: other bytes, None for no file."""
    put_files(folder, files(), changed)
    return folder / CHAR
