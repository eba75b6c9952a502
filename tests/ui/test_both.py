"""A format whose files hold a model and its motions, as MDS and IQM do: what a row and a codec alone give it.

The codec is made here, of MD5's. Nothing outside its two modules, its row and its limits knows of it.
"""

import json
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from io_idtech_models import formats
from io_idtech_models.assets.convert import Posing, convert, problems
from io_idtech_models.assets.export_request import ExportRequest
from io_idtech_models.assets.load import load
from io_idtech_models.cli.info import facts, table
from io_idtech_models.formats import Format, by_name
from io_idtech_models.formats.codecs import CODECS
from io_idtech_models.formats.format import MotionFormat, SkeletalFormat
from io_idtech_models.formats.md5 import anim_file, anim_model, mesh_file, mesh_model
from io_idtech_models.game.folders import Disk
from io_idtech_models.model.limits.games import GAMES, SkeletalLimits
from io_idtech_models.ui import registration
from tests import samples_md5
from tests.samples import load as load_model
from tests.samples import put
from tests.ui.scene import bpy, error_of, import_model

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("empty_scene")]
FILES = {"nod": samples_md5.wave_spec(2).pack(), "wave": samples_md5.wave()}
MOTIONS = {name: anim_file.write(anim_file.read(data)) for name, data in FILES.items()}  # texts as we lay them out


def pack(mesh: bytes, motions: dict[str, bytes]) -> bytes:
    return b"BOTH" + json.dumps([mesh.decode(), {name: data.decode() for name, data in motions.items()}]).encode()


def read(data: bytes) -> Any:
    mesh, motions = json.loads(data[4:])
    return mesh_file.read(mesh.encode()), {name: anim_file.read(text.encode()) for name, text in motions.items()}


def write(structs: Any) -> bytes:
    return pack(mesh_file.write(structs[0]), {name: anim_file.write(anim) for name, anim in structs[1].items()})


def to_animations(structs: Any, _name: str) -> list[Any]:
    return [anim_model.to_model(anim, called) for called, anim in structs[1].items()]


def from_model(model: Any, options: Any, animations: list[Any]) -> Any:
    return mesh_model.from_model(model, options), {a.name: anim_model.from_model(a) for a in animations}


CODEC = {
    "read": read, "write": write, "to_animations": to_animations, "from_model": from_model,
    "to_model": lambda structs, name: mesh_model.to_model(structs[0], name),
}  # fmt: skip
BOTH = Format(
    name="both", label="Both (.both)", engine="Doom 3", suffixes=(".both",), magic=b"BOTH",
    kind=SkeletalFormat(motions=MotionFormat()), is_text=True,
)  # fmt: skip


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    module = ModuleType("both")
    vars(module).update(CODEC)
    monkeypatch.setitem(CODECS, "both", lambda: (module, module))
    for holder in (formats, registration):
        monkeypatch.setattr(holder, "ROWS", (*formats.ROWS, BOTH) if holder is formats else formats.ROWS)
    for game in ("format", "doom3"):
        monkeypatch.setitem(GAMES[game].formats, "both", SkeletalLimits(joints=64, frames=100))
    registration.unregister()
    registration.register()
    yield
    registration.unregister()
    monkeypatch.undo()
    registration.register()


@pytest.fixture
def path(tmp_path):
    return put(tmp_path / "arm.both", pack(samples_md5.arm(), MOTIONS))


def export(path, **options):
    assert bpy.ops.export_scene.idtech_both(filepath=str(path), **options) == {"FINISHED"}
    return path.read_bytes()


@pytest.fixture
def imported(path):
    assert bpy.ops.import_scene.idtech_both(filepath=str(path)) == {"FINISHED"}
    return path


def written(data):
    return {name: anim_file.write(anim) for name, anim in read(data)[1].items()}


def lengths(data):
    return [animation.num_frames for animation in to_animations(read(data), "")]


def test_a_model_comes_with_its_motions_and_goes_with_them(imported, tmp_path):
    """They come onto another armature, too."""
    assert sorted(action.name for action in bpy.data.actions) == ["nod", "wave"]
    assert len(bpy.data.armatures) == 1
    assert written(export(tmp_path / "b.both")) == MOTIONS
    mesh = mesh_file.write(read((tmp_path / "b.both").read_bytes())[0])
    assert mesh == mesh_file.write(mesh_file.read(samples_md5.arm()))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    import_model(put(tmp_path / "a/arm.md5mesh", samples_md5.arm()))
    assert not bpy.data.actions
    assert bpy.ops.import_anim.idtech_both(filepath=str(imported)) == {"FINISHED"}
    assert sorted(action.name for action in bpy.data.actions) == ["nod", "wave"]
    assert len(bpy.data.armatures) == 1


def test_which_motions_are_written(imported, tmp_path):
    rig = next(block for block in bpy.data.objects if block.type == "ARMATURE")
    rig.animation_data.action = bpy.data.actions["wave"]
    assert written(export(tmp_path / "b.both", motions="ACTIVE")) == {"wave": MOTIONS["wave"]}
    assert lengths(export(tmp_path / "b.both", motions="REST")) == [1]
    said = error_of(bpy.ops.export_scene.idtech_both, filepath=str(tmp_path / "c.both"), motions="NLA")
    assert "has no NLA strip" in said
    bpy.data.batch_remove(list(bpy.data.actions))
    assert lengths(export(tmp_path / "b.both")) == [1], "an armature without an action rests"


def test_what_info_shows_and_games_refuse(path):
    loaded = load(Disk().file(path))
    found = facts(loaded)
    assert [motion["name"] for motion in found["motions"]] == ["nod", "wave"]
    assert table(path, found)[0].endswith("BOTH, 3 joints, 2 frames at 24 per second")
    assert any(line.split()[:1] == ["arm"] for line in table(path, found))
    assert not problems(loaded, "doom3")
    GAMES["doom3"].formats["both"] = SkeletalLimits(frames=3)
    assert [str(p) for p in problems(loaded, "doom3")] == ["'wave' has 5 frames, Doom 3 takes 3"]


def test_conversions(path, tmp_path):
    def to(source, target, animations=()):
        disk = Disk()
        posing = Posing([disk.file(tmp_path / name) for name in animations])
        return convert(disk.file(source), ExportRequest(tmp_path / target), posing)

    to(path, "a.md3")
    assert load_model((tmp_path / "a.md3").read_bytes(), "").num_frames == 7
    to(path, "same.both")
    assert written((tmp_path / "same.both").read_bytes()) == MOTIONS
    to(path, "b.md5mesh")
    assert {name: (tmp_path / f"{name}.md5anim").read_bytes() for name in MOTIONS} == MOTIONS
    to(tmp_path / "b.md5mesh", "c.both", ["wave.md5anim"])
    (wave,) = to_animations(read((tmp_path / "c.both").read_bytes()), "")
    wanted = by_name("md5anim").load(MOTIONS["wave"], "wave")
    np.testing.assert_allclose(wave.positions, wanted.positions, atol=1e-5)
    to(tmp_path / "b.md5mesh", "d.both")
    assert lengths((tmp_path / "d.both").read_bytes()) == [1]
