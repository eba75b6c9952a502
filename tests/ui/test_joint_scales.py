"""The file beside an animation that scales its joints: imported with it, and written for the game that reads it."""

import json
from typing import Any

import numpy as np
import pytest

from io_idtech_models.blender.properties import SCALE_POSITIONS
from tests import samples_md5
from tests.samples import put
from tests.ui.scene import bpy, error_of, first

pytestmark = pytest.mark.usefixtures("empty_scene")
import_mesh, export_mds = bpy.ops.import_scene.idtech_md5mesh, bpy.ops.export_scene.idtech_mds
import_anim, export_anim = bpy.ops.import_anim.idtech_md5anim, bpy.ops.export_anim.idtech_md5anim
TREE = {"upper arm": {"scale_positions": True, "1": 2.0, "3": 0.1}, "hand": {"0": 0.0, "4": 1.25}}


@pytest.fixture
def folder(tmp_path):
    """Return a folder with a model, its animation and the scale of that."""
    put(tmp_path / "arm.md5mesh", samples_md5.arm())
    put(tmp_path / "wave.md5anim", samples_md5.wave())
    put(tmp_path / "wave.md5scale", json.dumps(TREE).encode())
    return tmp_path


def tree_of(text: bytes | str) -> Any:
    return json.loads(text, parse_float=lambda t: float(np.float32(t)))


@pytest.mark.parametrize("way", ["beside the model", "on its own", "onto the armature"])
def test_it_comes_with_its_animation_and_back(folder, way):
    if way != "on its own":
        import_mesh(filepath=str(folder / "arm.md5mesh"), animations=way == "beside the model")
    if way != "beside the model":
        import_anim(filepath=str(folder / "wave.md5anim"))
    assert first("ARMATURE").data.bones["upper arm"][SCALE_POSITIONS]
    out = folder / "out"
    out.mkdir()
    export_anim(filepath=str(out / "wave.md5anim"), game="quake2remaster")
    assert sorted(p.name for p in (out / "md5").iterdir()) == ["wave.md5anim", "wave.md5scale"]
    assert tree_of((out / "md5/wave.md5scale").read_bytes()) == tree_of(json.dumps(TREE))


def test_other_games_read_none(folder, capfd):
    import_mesh(filepath=str(folder / "arm.md5mesh"))
    for call, name, options in ((export_anim, "x.md5anim", {"game": "doom3"}), (export_mds, "x.mds", {})):
        capfd.readouterr()
        assert call(filepath=str(folder / name), **options) == {"FINISHED"}
        assert "joints have none: in frame 0 of the file that of 'hand'" in capfd.readouterr().out
    assert not (folder / "x.md5scale").exists()


def test_none_is_written_without_scale_and_a_file_from_before_is_said(folder, capfd):
    (folder / "wave.md5scale").unlink()
    import_mesh(filepath=str(folder / "arm.md5mesh"))
    export_anim(filepath=str(folder / "wave.md5anim"), game="quake2remaster")
    assert [p.name for p in (folder / "md5").iterdir()] == ["wave.md5anim"]
    put(folder / "md5/wave.md5scale", b"{}")
    export_anim(filepath=str(folder / "wave.md5anim"), game="quake2remaster")
    assert "'wave.md5scale' is from before, no joint is scaled now" in capfd.readouterr().out
    assert (folder / "md5/wave.md5scale").read_bytes() == b"{}"


@pytest.mark.parametrize("data", [b"{", b'{"hand": 1}', b'{"hand": {"0": "x"}}'])
def test_a_broken_file_is_said_and_its_animation_comes(folder, data, capfd):
    put(folder / "wave.md5scale", data)
    assert import_mesh(filepath=str(folder / "arm.md5mesh")) == {"FINISHED"}
    assert "'wave.md5scale' is left out: " in capfd.readouterr().out
    assert [a.name for a in bpy.data.actions] == ["wave"]
    export_anim(filepath=str(folder / "md5/wave.md5anim"), game="format")


def test_all_actions_have_their_own_and_repeated_frames_repeat_it(folder):
    put(folder / "nod.md5anim", samples_md5.wave_spec(2).pack())
    import_mesh(filepath=str(folder / "arm.md5mesh"))
    out = folder / "md5"
    out.mkdir()
    export_anim(filepath=str(out / "any.md5anim"), what="ALL", loop=True, game="quake2remaster")
    assert sorted(p.name for p in out.iterdir()) == ["nod.md5anim", "wave.md5anim", "wave.md5scale"]
    assert tree_of((out / "wave.md5scale").read_bytes())["hand"] == {"0": 0.0, "4": 1.25, "5": 0.0}


def test_what_one_animation_scales_is_as_it_was_in_another(folder):
    put(folder / "nod.md5anim", samples_md5.wave_spec(2).pack())
    import_mesh(filepath=str(folder / "arm.md5mesh"), animations=False)
    rig, out = first("ARMATURE"), folder / "md5"
    out.mkdir()

    def written() -> bytes:
        assert rig.pose.bones["hand"].scale.x == 1.0
        export_anim(filepath=str(out / "nod.md5anim"), game="quake2remaster")
        assert [path.name for path in out.iterdir()] == ["nod.md5anim"]
        return bytes((out / "nod.md5anim").read_bytes())

    import_anim(filepath=str(folder / "nod.md5anim"))
    before = written()
    for name, play in (("nod.001", import_anim), ("nod", bpy.ops.object.idtech_animation_play)):
        import_anim(filepath=str(folder / "wave.md5anim"))
        bpy.context.scene.frame_set(4)
        assert rig.pose.bones["hand"].scale.x == 1.25
        play(**({"filepath": str(folder / "nod.md5anim")} if play == import_anim else {"name": name}))
        assert rig.animation_data.action.name == name
        assert written() == before


def test_a_failed_export_leaves_both(folder):
    put(folder / "md5/wave.md5scale", b"old")
    import_mesh(filepath=str(folder / "arm.md5mesh"))
    first("ARMATURE").data.bones["hand"].name = "h" * 60
    said = error_of(export_anim, filepath=str(folder / "md5/wave.md5anim"), game="quake2remaster")
    assert "Quake II remaster takes 47" in said
    assert (folder / "md5/wave.md5scale").read_bytes() == b"old"
