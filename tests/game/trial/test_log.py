"""What a game's log says: complaints about a model, and no others."""

import pytest

from io_idtech_models.game.trial.log import complaints, known, lines_of, not_loaded

ABOUT = {
    "models/players/sarge/head", "models/players/sarge/head_default", "models/players/sarge/band",
    "models/players/sarge/animation", "textures/hat",
}  # fmt: skip
# As ioquake3 prints them.
ITS_FAULTS = [
    "R_LoadMD3: models/players/sarge/head.md3 has more than 999 verts on h_head (1204).",
    "R_LoadMD3: models/players/sarge/head.md3 has wrong version (14 should be 15)",
    "R_RegisterMD3: unknown fileid for models/players/sarge/head.md3",
    "R_AddMD3Surfaces: no such frame 3 to 4 for 'models/players/sarge/head.md3'",
    "WARNING: no shader for surface h_hat in skin models/players/sarge/head_default.skin",
    "WARNING: shader models/players/sarge/band in skin models/players/sarge/head_default.skin not found",
    "Couldn't find image file for shader models/players/sarge/band",
    "WARNING: R_FindImageFile could not find 'textures/x.tga' in shader 'textures/hat'",
    "WARNING: unknown general shader parameter 'culll' in 'textures/hat'",
    "unknown token 'LEGS_RUN' in models/players/sarge/animation.cfg",
    "Head skin load failure: models/players/sarge/head_red.skin",
    "CG_RegisterClientModelname( sarge, red, sarge, red  ) failed",
    "RB_EndSurface() - SHADER_MAX_INDEXES hit",
    "ERROR: CM_LoadMap: maps/room.bsp has wrong version number (46 should be 47)",
    "Received signal 11, exiting...",
    "VM_Create on UI failed",
    "Couldn't load default.cfg",
]
NOT_ITS_FAULTS = [
    "Couldn't find image file for shader gfx/2d/crosshair00",
    "WARNING: sound/null.wav is a 8 bit wav file",
    "R_LoadMD3: models/players/sarge/headless.md3 has no frames",
    "Loading models/players/sarge/head.md3 ...",
    "    5148 : (1) models/players/sarge/head.md3",
    'File "models/players/sarge/head.md3" found in "/tmp/x/baseoa/zzz.pk3"',
    "WARNING: models/players/sarge/band.tga not present, using models/players/sarge/band.jpg instead",
    "AL lib: (EE) GetError",
    "error: XDG_RUNTIME_DIR is invalid or not set in the environment.",
]


@pytest.mark.parametrize("line", ITS_FAULTS)
def test_complaints(line):
    assert complaints([line], ABOUT) == [line]


@pytest.mark.parametrize("line", NOT_ITS_FAULTS)
def test_what_is_none(line):
    assert complaints([line], ABOUT) == []


def test_lines_come_once_without_colours_or_what_a_terminal_obeys():
    found = lines_of(b"^1WARNING: a\r\n\x1b[2Jb\n\n^7WARNING: a\nc\xff\n")
    assert found == ["WARNING: a", "[2Jb", "cÿ"]
    assert complaints(["ERROR: " + "a" * 999], ()) == ["ERROR: " + "a" * 193], "200 characters at most"


def test_the_end_that_we_made_is_no_complaint():
    log = b"Received signal 15, exiting...\na"
    assert lines_of(log, ended=True) == ["a"]
    assert len(lines_of(log)) == 2


def test_which_models_were_loaded():
    log = b"  5148 : (3) models/a.md3\n     0 : (1) models/b.md3\n 99 : (1) MODELS/C.md3\n 5247 : Total models\n"
    found = not_loaded(lines_of(log), [f"models/{name}.md3" for name in "Abcd"])
    assert found == ["models/b.md3", "models/d.md3"]
    assert not_loaded(["nothing"], ["models/a.md3"]) is None


def test_names_are_compared_as_engines_do():
    assert known("Models\\A.B\\Hat.TGA.") == "models/a.b/hat"
