"""A character of Return to Castle Wolfenstein: the figure of the MDS tests, with a head and gear."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests import samples_mds
from tests.packs import put_files
from tests.samples_character import EXAMPLE, TOYS, part
from tests.samples_md3 import TagSpec
from tests.samples_mdm import Bone

NAME = "boss"
FOLDER = f"models/players/{NAME}"
TABLE = """VERSION 2
SKELETAL
STARTANIMS
// name first length loop fps speed
idle	0	4	4	15	0
walk_1	2	3	3	20	-1
ENDANIMS
"""
BODY_SKIN = """playerscale 1.25
tag_head,
md3_beltr,acc/pouch.md3
md3_back,acc/sack
u_body,models/players/boss/boss.tga
l_legs,models/players/boss/boss.tga
"""
HEAD_SKIN = """md3_part,face.md3
md3_hat,acc/helmet.md3
head,models/players/boss/boss.tga
"""


def body() -> bytes:
    """Return the figure with the tags that a head and gear hang on: its own two, under the game's names."""
    spec = samples_mds.figure_spec()
    first, second = len(spec.bones) - 2, len(spec.bones) - 1
    spec.bones[first] = replace(spec.bones[first], name=b"tag_head")
    spec.bones[second] = replace(spec.bones[second], name=b"tag_back")
    spec.bones.append(Bone(b"tag_bright", 0, 0.0, 2.0, 1))
    spec.frames = [replace(frame, codes=[*frame.codes, frame.codes[second]]) for frame in spec.frames]
    spec.tags = [(b"tag_head", 1.0, first), (b"tag_back", 0.5, second), (b"tag_bright", 0.0, second + 1)]
    return spec.pack()


def files() -> dict[str, bytes]:
    """Return the character's files by their names in the game."""
    return {
        f"{FOLDER}/wolfanim.cfg": TABLE.encode(),
        f"{FOLDER}/body.mds": body(),
        f"{FOLDER}/body_default.skin": BODY_SKIN.encode(),
        f"{FOLDER}/head_default.skin": HEAD_SKIN.encode(),
        f"{TOYS}/trooper.tga": (EXAMPLE / "trooper.tga").read_bytes(),
        f"{FOLDER}/face.md3": part("head", TagSpec(b"tag_mouth", (1.0, 0.5, 3.0))),
        f"{FOLDER}/acc/pouch.mdc": part("pouch"),
        f"{FOLDER}/acc/sack.skin": b"md3_part,pack.md3\npack,x",
        f"{FOLDER}/acc/pack.md3": part("pack"),
        f"{FOLDER}/acc/helmet.md3": part("helmet"),
    }


def put_character(folder: Path, **changed: bytes | None) -> Path:
    """Write a character's files below a game's folder; `changed` by the file's name: other bytes, None for no file."""
    put_files(folder, files(), changed)
    return folder / FOLDER / "wolfanim.cfg"
