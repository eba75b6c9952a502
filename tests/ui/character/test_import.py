"""Import Character: body, head and gear of a soldier of Enemy Territory, where the game puts them."""

import numpy as np
import pytest

from io_idtech_models.blender import names
from io_idtech_models.blender.provenance import SKIN
from tests.packs import put_pack
from tests.samples import CORPUS
from tests.samples_character import CHAR, TOYS, files, put_character
from tests.ui.character.games import actions, fresh, opened, place, read, rig, roots, run, tag
from tests.ui.scene import bpy, counts, error_of

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("empty_scene")]
REAL = sorted(CORPUS.rglob("*.char"))


# The helmet's skin names a shader that there is none of, as skins do that hide a part.
GREEN = ["helmet.md3: 1 texture not found: 'models/players/toys/trooper/green'"]


def odd(capfd):
    """Return what an import says is odd."""
    return capfd.readouterr().out.strip().split("; ")[1:]


@pytest.mark.parametrize("frame", [0, 47, 80])
@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_parts_stand_where_the_game_puts_them(tmp_path, frame, scale, capfd):
    read(put_character(tmp_path), scale=scale)
    assert odd(capfd) == GREEN
    found = roots()
    assert {kind: names.file_name_of(root.parent) for kind, root in found.items()} == {
        "head": "tag_head", "md3_back": "tag_back", "md3_hat": "tag_mouth",
    }  # fmt: skip
    assert tag("tag_mouth").parent == found["head"]
    bpy.context.scene.frame_set(frame)
    for kind, name in (("head", "tag_head"), ("md3_back", "tag_back")):
        assert np.abs(place(found[kind]) - place(tag(name))).max() < 1e-4, kind
    mouth = np.eye(4)
    mouth[:3, 3] = np.array([1.0, 0.5, 3.0]) * scale
    assert np.abs(place(found["md3_hat"]) - place(tag("tag_head")) @ mouth).max() < 1e-4


def test_animations_are_those_of_the_group(tmp_path):
    path = put_character(tmp_path)
    read(path, animations=False)
    assert not actions() and "Bip01 Spine" in rig().data.bones
    fresh()
    read(path, make_all=True)
    assert {*actions()} == {"body", "stand", "walk", "salute", "extra", "crawl"}
    assert bpy.data.actions["crawl"]["idtech_transition"] == 100


def test_each_part_wears_its_own_skin(tmp_path):
    """Where another one of the body attaches none there is none."""
    path = put_character(tmp_path)
    read(path)
    worn = {c.name.partition(".")[0]: c.get(SKIN) for c in bpy.data.collections}
    assert worn == {"trooper": None, "body": "field", "toy": "green", "pack": None, "helmet": "field"}
    helmet = next(b for b in bpy.data.objects if b.type == "MESH" and b.name.startswith("helmet"))
    assert [m["idtech_worn"] for m in helmet.data.materials] == [f"{TOYS}/green"]
    (tmp_path / TOYS / "body_bare.skin").write_bytes(b"u_body,x\nl_legs,y")
    fresh()
    read(path, skin="bare")
    assert set(roots()) == {"head"}


def test_a_table_that_lies_elsewhere_than_its_frames(tmp_path):
    path = put_character(
        tmp_path, body_aninc=None, toys_anim=files()["animations/toys.anim"].replace(b"toys/body.aninc", b"own.aninc")
    )
    (tmp_path / "animations/own.aninc").write_bytes(b"hop 1 2 3 4 5 6 0")
    read(path, make_all=True)
    assert {*actions()} == {"body", "hop", "extra", "crawl"}


def test_what_is_missing_is_said_once(tmp_path, capfd):
    read(put_character(tmp_path, toy_md3=None, pack_md3=b"IDP3"))
    said = capfd.readouterr().out
    assert said.count("the head 'models/players/hud/toy.md3' is not there") == 1
    assert said.count("md3_back is missing") == 1
    assert "no tag_mouth of the head to hang md3_hat on: it stands at the body's tag_head" in said
    assert {kind: root.parent.name for kind, root in roots().items()} == {"md3_hat": "tag_head"}


def test_a_tag_or_bones_that_the_body_lacks(tmp_path, capfd):
    skin = f"md3_beltl,{TOYS}/acc/pack.md3\nu_body,x\nl_legs,x".encode()
    read(put_character(tmp_path, body_field_skin=skin, body_mdx=b"MDXW"))
    said = capfd.readouterr().out
    assert "no tag_bleft of the body to hang md3_beltl on: it stands at the body's origin" in said
    assert "the body has other bones, or none" in said
    assert roots()["md3_beltl"].parent == rig()


@pytest.mark.parametrize(
    ("body", "said"),
    [(None, f"the body '{TOYS}/body.mdm' is not there"), (b"MDMW", "trooper.char: body.mdm: header run past the end")],
)
def test_without_a_body_there_is_no_character(tmp_path, body, said):
    path = put_character(tmp_path, body_mdm=body)
    before = counts()
    assert said in error_of(run, filepath=str(path))
    assert counts() == before


def test_archives_with_several(tmp_path):
    other = CHAR.replace("allied", "axis")
    pack = put_pack(tmp_path / "etmain/pak0.pk3", files() | {other: files()[CHAR]})
    assert "several characters, say which: 'toys/allied/trooper', 'toys/axis/trooper'" in error_of(
        run, filepath=str(pack)
    )
    assert "no character 'medic'" in error_of(run, filepath=str(pack), character="medic")
    read(pack, character="axis/trooper")
    read(pack, character="axis/trooper.char")
    read(pack / CHAR)
    empty = put_pack(tmp_path / "other/pak0.pk3", {"models/a.md3": b""})
    assert "there is no character in it" in error_of(run, filepath=str(empty))


NO_CORPUS = pytest.param(None, marks=pytest.mark.skip("the corpus of real files is not here"))


@pytest.mark.parametrize("path", REAL or [NO_CORPUS], ids=lambda path: path and path.stem)
def test_real_characters(path, capfd):
    read(path, animations=False)
    said = capfd.readouterr().out
    assert said.count("the head 'models/players/hud/head.md3' is not there") == 1
    assert rig().data.bones
    for kind, root in roots().items():
        assert names.file_name_of(root.parent) == {
            "md3_back": "tag_back", "md3_beltl": "tag_bleft", "md3_hat": "tag_head", "md3_rank": "tag_head",
        }[kind]  # fmt: skip


@pytest.mark.parametrize("name", ["body.mdm", "body_field.skin"])
def test_from_its_body_or_its_skin(tmp_path, name, capfd):
    put_character(tmp_path)
    read(tmp_path / TOYS / name)
    assert odd(capfd) == GREEN
    assert set(roots()) == {"head", "md3_back", "md3_hat"}
    assert next(c for c in bpy.data.collections if "idtech_character" in c).name == "trooper"


def test_a_body_that_no_character_has(tmp_path):
    path = put_character(tmp_path, trooper_char=None)
    (tmp_path / TOYS / "body_bare.skin").write_bytes(b"u_body,x\nl_legs,y\n")
    (tmp_path / "animations/human_base.anim").write_bytes(files()["animations/toys.anim"])
    assert not path.exists()
    opened(tmp_path / TOYS / "body_field.skin")
    assert set(roots()) == {"md3_back", "md3_hat"}, "nothing says which head"
    assert bpy.ops.object.idtech_animation_rename(name="walk", to="stroll") == {"FINISHED"}
    out = tmp_path / "out"
    assert bpy.ops.export_scene.idtech_character(filepath=str(out), edited_only=True) == {"FINISHED"}
    assert [p.relative_to(out).as_posix() for p in out.rglob("*.*")] == ["animations/toys/body.aninc"]


def test_a_skin_of_no_body(tmp_path):
    put_character(tmp_path)
    text = error_of(run, filepath=str(tmp_path / TOYS / "acc/helmet_field.skin"))
    assert "'helmet_field.skin' is no skin of a body" in text
