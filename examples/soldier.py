"""The Trooper as a whole character of Enemy Territory: what its game's `.char` names, with gear on his tags.

Body, frames and table are the Trooper's; the body alone is another one, without the head: the game puts that on
`tag_head`, a helmet on the head's `tag_mouth`, a pack on `tag_back`. The head has frames of its own, in which it looks
about, and a table of them. A game takes the folder as it is.
"""

from __future__ import annotations

import math

from examples.built import surface_of, tag_of
from examples.shapes import Part, joined, lathe, moved, shift, turn
from examples.trooper import CLOTH, MODEL, SIZE, TAGS, TROUSERS, head_parts, lower, skeleton, surface, tag, upper
from io_idtech_models import formats
from io_idtech_models.game.character.et.head import NAMES
from io_idtech_models.model.skeletal import SkeletalModel
from io_idtech_models.model.vertex import VertexModel

CHAR, GROUP, HEAD_TABLE = "characters/toys/allied/trooper.char", "animations/toys.anim", "animations/toys/head.anim"
SCRIPT = "animations/scripts/toys.script"
HEAD = "models/players/hud/trooper"
SHADER = f"{MODEL}/trooper.tga"
GEAR_TAGS = (  # that stock Enemy Territory asks for, beside the Trooper's
    ("tag_weapon2", "Bip01 L Hand", (4.6, 10.9, 31)), ("tag_bright", "Bip01 Pelvis", (0, -5.5, 38)),
    ("tag_bleft", "Bip01 Pelvis", (0, 5.5, 38)), ("tag_ubelt", "Bip01 Pelvis", (0, 0, 38)),
)  # fmt: skip
MOUTH = (3.5, 0.0, 0.5)  # where the head has its tag
LOOK = 12  # frames in which the head turns to a side and back

DEFINITION = f"""characterDef
{{
	skin			"field"

	mesh			"{MODEL}/soldier.mdm"
	animationGroup		"{GROUP}"
	animationScript		"{SCRIPT}"

	undressedCorpseModel	"{MODEL}/soldier.mdm"
	undressedCorpseSkin	"field"

	hudhead			"{HEAD}.md3"
	hudheadanims		"{HEAD_TABLE}"
	hudheadskin		"{HEAD}_field.skin"
}}
"""
ANIMATIONS = f"""animgroup
{{
	animfile "{MODEL}/body.mdx"
	{{
		#include "{MODEL}/body.aninc"
	}}
}}
"""
MOVEMENTS = {  # of the game, whatever is in hand, and what he plays then (BG_AnimParseAnimScript)
    "idle": "stand", "walk": "walk", "walkbk": "walk", "run": "walk", "runbk": "walk", "strafeleft": "walk",
    "straferight": "walk",
}  # fmt: skip
SKIN = f"""md3_back, "{MODEL}/acc/pack.md3"
md3_hat, "{MODEL}/acc/helmet.md3"
"u_body", "{SHADER}"
"l_legs", "{SHADER}"
"""


def body() -> SkeletalModel:
    """Return the Trooper without his head."""
    meshes = [surface("u_body", upper(with_head=False)), surface("l_legs", lower())]
    tags = [tag(*each) for each in (*TAGS, *GEAR_TAGS)]
    return SkeletalModel("soldier", skeleton(), meshes, tags=tags, lod=(1.0, 0.0))


def looks() -> list[float]:
    """Return how far the head is turned in each frame, in degrees: ahead, to the left and back, to the right."""
    return [0.0, *(side * 38.0 * math.sin(math.pi * f / (LOOK - 1)) for side in (1, -1) for f in range(LOOK))]


def head() -> VertexModel:
    """Return the head, which looks about."""
    plain, poses = head_parts()[0], [turn(z=angle) for angle in looks()]
    names = [f"look{nth:02d}" for nth in range(len(poses))]
    tags = [tag_of("tag_mouth", [pose @ shift(*MOUTH) for pose in poses])]
    return VertexModel(f"{HEAD}.md3", names, [surface_of("head", [moved(plain, p) for p in poses], SIZE, SHADER)], tags)


def gear(name: str, part: Part) -> VertexModel:
    """Return a model of one frame that hangs on a tag."""
    return VertexModel(f"{MODEL}/acc/{name}.md3", ["only"], [surface_of(name, [part], SIZE, SHADER)], [])


def pack() -> Part:
    """Return a pack with a rolled blanket, behind the tag on the back."""
    bag = lathe([(0, -6.5), (3.2, -6.2), (3.6, 0), (3.2, 4.4), (0, 4.8)], CLOTH, 10)
    blanket = lathe([(0, -6.0), (1.7, -5.8), (1.7, 5.8), (0, 6.0)], TROUSERS, 10)
    flat = Part(bag.points * (0.7, 1.25, 1), bag.normals / (0.7, 1.25, 1), bag.uvs, bag.triangles)
    return joined([moved(flat, shift(-2.0, 0, 0)), moved(blanket, shift(-2.0, 0, 6.0) @ turn(x=90))])


def head_table() -> str:
    """Return the rows of the head's frames: looks to the left and right by name, all others ahead."""
    left, right = f"1\t{LOOK}\t12\t0", f"{LOOK + 1}\t{LOOK}\t12\t0"
    known = {"HD_IDLE1": "0\t1\t10\t1", "HD_IDLE2": left, "HD_IDLE3": right, "HD_LEFT": left, "HD_RIGHT": right}
    rows = "".join(f"{known.get(name, known['HD_IDLE1'])}\t// {name}\n" for name in NAMES)
    return f"// first\tlength\tfps\tloop\n{rows}"


def script() -> str:
    """Return the script that says what he plays while he moves."""
    plays = "\n".join(
        f"\t{movement}\n\t{{\n\t\tdefault\n\t\t{{\n\t\t\tboth {name}\n\t\t}}\n\t}}"
        for movement, name in MOVEMENTS.items()
    )
    return f"animations\n\nstate relaxed\n{{\n{plays}\n}}\n"


def files() -> dict[str, bytes]:
    """Return the example's files by their paths."""
    mdm, md3 = formats.by_name("mdm"), formats.by_name("md3")
    hat = moved(head_parts()[1], shift(*(-way for way in MOUTH)))
    texts = {
        CHAR: DEFINITION,
        GROUP: ANIMATIONS,
        HEAD_TABLE: head_table(),
        SCRIPT: script(),
        f"{MODEL}/soldier_field.skin": SKIN,
        f"{HEAD}_field.skin": f'"head", "{SHADER}"\n',
    }
    models = {
        f"{MODEL}/soldier.mdm": mdm.dump(body(), {"make_lod": True}),
        f"{HEAD}.md3": md3.dump(head()),
        f"{MODEL}/acc/helmet.md3": md3.dump(gear("helmet", hat)),
        f"{MODEL}/acc/pack.md3": md3.dump(gear("pack", pack())),
    }
    found = models | {name: text.encode("ascii") for name, text in texts.items()}
    return {f"trooper/{name}": data for name, data in found.items()}
