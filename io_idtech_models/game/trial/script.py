"""What a game is told to show a model: settings that it reads before it opens its window, and commands on the map.

Facts: `autoexec.cfg` is read before the renderer starts (Com_Init, Com_ExecuteCfg), `+set` on the command line counts
above it; `wait N` lets N frames pass (Cmd_Wait_f). Cheats, which third person and `give` are, work on maps that
`devmap` starts. `testmodel` belongs to the game's code on the client, and comes to nothing before that is loaded.
`modellist` prints what is loaded (R_Modellist_f): a model that could not be has 0 bytes. With a `fixedtime` frames do
not depend on the machine, nor does what they show.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ...reporting import LimitError
from .subject import PLAIN, Player, Subject, Thing, Weapon

SETTINGS = "autoexec.cfg"
SCRIPT = "idtech-try.cfg"
LOADING, RAISING, MOMENT = 60, 50, 10  # frames: until the map stands, a weapon is raised, a command has had effect
SCREENSHOTS = "screenshots"
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
USUAL = {
    "r_fullscreen": "0",
    "r_mode": "-1",
    "r_allowSoftwareGL": "1",
    "r_lodbias": "-2",  # the model itself, from however far: levels of detail are files of their own
    "com_hunkmegs": "256",
    "com_introplayed": "1",
    "logfile": "2",
    "developer": "1",
    "con_notifytime": "0",  # which lets a developer's messages not cover the view
    "net_enabled": "0",
    "cl_motd": "0",
    "sv_pure": "0",
    "g_gametype": "0",
    "bot_enable": "0",
    "fraglimit": "0",
    "timelimit": "0",
    "cg_deferPlayers": "0",
    "cg_forceModel": "0",
}
FOR_PICTURES = {  # nothing that depends on the machine, or hides the model
    "fixedtime": "20",
    "com_maxfps": "0",
    "s_initsound": "0",
    "in_mouse": "0",
    "in_joystick": "0",
    "r_gamma": "1",
    "r_ignorehwgamma": "1",
    "r_ext_multisample": "0",
    "r_picmip": "0",
    "r_postProcess": "0",  # of ioquake3's newer renderer, which lets the eye get used to light as time goes by
    "r_toneMap": "0",
    "r_autoExposure": "0",
    "cg_draw2D": "0",
    "cg_shadows": "0",
    "cg_bobup": "0",
    "cg_bobpitch": "0",
    "cg_bobroll": "0",
    "cg_runpitch": "0",
    "cg_runroll": "0",
}
OF_THE_ROOM = {"r_overBrightBits": "0", "r_mapOverBrightBits": "0"}  # whose light is as it is to look
NARROW = {"cg_fov": "60"}  # degrees: what stands before the camera fills the picture


@dataclass(frozen=True)
class View:
    """How a model is shown."""

    angle: float = 180.0  # degrees from behind a player around it: 180 sees its face
    distance: float = 80.0  # units from a player
    size: tuple[int, int] = (1280, 720)  # pixels of the game's window
    picture: bool = False  # take one, and end
    cvars: Mapping[str, str] = field(default_factory=dict)  # further settings of the engine, which count above all


def settings(subject: Subject, view: View, in_room: bool = True) -> str:
    """Return the script that is read before the game's window opens; raises LimitError for a setting that is none."""
    found = USUAL | (OF_THE_ROOM if in_room else {})
    found["r_customwidth"], found["r_customheight"] = map(str, _window(subject, view))
    if view.picture:
        found |= FOR_PICTURES | ({} if isinstance(subject, Weapon) else NARROW)
    if isinstance(subject, Player):
        for name in ("model", "headmodel", "team_model", "team_headmodel"):
            found[name] = subject.label
    return _lines(f'set {name} "{value}"' for name, value in {**found, **_checked(view.cvars)}.items())


def _window(subject: Subject, view: View) -> tuple[int, int]:
    """Return the pixels of the window: the camera looks over a player's head, so that pictures need what is below."""
    width, height = view.size
    return (width, height * 17 // 10) if view.picture and isinstance(subject, Player) else (width, height)


def picture(shot: bytes, view: View) -> bytes:
    """Return a screenshot, a TGA whose rows come from the bottom up, with as many rows as a picture is to have."""
    start, width, height = 18 + shot[0], *struct.unpack_from("<2H", shot, 12)
    kept = min(view.size[1], height)
    rows = shot[start : start + width * kept * (shot[16] // 8)]
    return shot[:14] + struct.pack("<H", kept) + shot[16:start] + rows


def commands(subject: Subject, view: View) -> str:
    """Return the script that is run on the map; it takes the picture, if there is to be one, and ends the game."""
    found = [f"wait {LOADING}"]
    if isinstance(subject, Thing):  # who flies, and is seen by nobody
        found += ["team s", f"wait {RAISING}", f"testmodel {subject.path}"]
    elif isinstance(subject, Weapon):
        found += _taking(subject.number)
    else:
        found += _taking(subject.weapon) if subject.weapon else []
        found += [f"set cg_thirdPersonRange {view.distance:g}", f"set cg_thirdPersonAngle {view.angle:g}"]
        found += ["set cg_thirdPerson 1"]
    found += [f'set {name} "{value}"' for name, value in _checked(view.cvars).items() if name.lower().startswith("cg_")]
    found += [f"wait {RAISING if view.picture else MOMENT}", "modellist"]
    if view.picture:
        found += ["screenshot silent", f"wait {MOMENT}", "quit"]
    return _lines(found)


def _taking(weapon: int) -> list[str]:
    return ["give weapons", "give ammo", f"wait {RAISING}", f"weapon {weapon}", f"wait {RAISING}"]


def _checked(cvars: Mapping[str, str]) -> Mapping[str, str]:
    """Return settings, none of which can be more than one; raises LimitError."""
    for name, value in cvars.items():
        if NAME.match(name) is None or set(value) - PLAIN - {" "}:
            raise LimitError(f"'{name} {value}' is no setting of a game: a name, and a plain value")
    return cvars


def _lines(lines: Iterable[str]) -> str:
    return "\n".join(lines) + "\n"
