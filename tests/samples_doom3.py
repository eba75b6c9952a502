"""A character of Doom 3: the example's newt with a newt for a head, and a hat; declared as the game has it."""

from __future__ import annotations

from pathlib import Path

from tests import samples_ase
from tests.packs import put_files

EXAMPLE = Path(__file__).resolve().parent.parent / "examples/newt/models/md5/newt"
NEWT = "models/md5/newt"
DEF = "def/newt.def"
TEXT = f"""// a toy
model newt_base
{{
	mesh	{NEWT}/newt.md5mesh
	skin	newt/gold
	offset	( 0 0 -2 )
	channel	torso	( *spine )

	anim	ik_pose	{NEWT}/idle.md5anim
	anim	idle	{NEWT}/idle.md5anim
	anim	walk1	{NEWT}/walk.md5anim, {NEWT}/walk.md5anim {{
		random_cycle_start
		frame 1	sound_body	snd_step
		frame 12	call	splash
	}}
}}

model newt_head {{ mesh {NEWT}/head.md5mesh }}

entityDef monster_newt_base
{{
	"model"			"newt_base"
	"def_head"		"newt_head"
	"head_joint"		"head"
	"editor_usage"		"Toys only."
}}

entityDef monster_newt
{{
	"inherit"		"monster_newt_base"
	"health"		"12"
	"def_attach"		"newt_hat"
}}
"""
HAT = """entityDef newt_hat
{
	"model"		"models/toys/hat.ase"
	"joint"		"Chest"
	"origin"	"1 2 3"
	"angles"	"0 90 0"
}
"""
SKIN = f"skin newt/gold\n{{\n\tmodel\t{NEWT}/newt.md5mesh\n\n\t{NEWT}/newt\tnewt/gold\n}}\n"
MATERIAL = f"table glow {{ {{ 0, 1 }} }}\nnewt/gold\n{{\n\tdiffusemap\t{NEWT}/newt.tga\n\trgb\tglow[ time ]\n}}\n"


def files() -> dict[str, bytes]:
    """Return the character's files by their names in the game."""
    return {
        DEF: TEXT.encode(),
        "def/hat.def": HAT.encode(),
        "skins/newt.skin": SKIN.encode(),
        "materials/newt.mtr": MATERIAL.encode(),
        "models/toys/hat.ase": samples_ase.pyramid(),
        f"{NEWT}/newt.md5mesh": (EXAMPLE / "newt.md5mesh").read_bytes(),
        f"{NEWT}/head.md5mesh": (EXAMPLE / "newt.md5mesh").read_bytes(),
        f"{NEWT}/idle.md5anim": (EXAMPLE / "idle.md5anim").read_bytes(),
        f"{NEWT}/walk.md5anim": (EXAMPLE / "walk.md5anim").read_bytes(),
        "textures/stone.tga": (EXAMPLE / "newt.tga").read_bytes(),
        f"{NEWT}/newt.tga": (EXAMPLE / "newt.tga").read_bytes(),
    }


def put_character(folder: Path, **changed: bytes | None) -> Path:
    """Write a character's files below a game's folder; `changed` by the file's name: other bytes, None for no file."""
    put_files(folder, files(), changed)
    return folder / DEF
