"""Tags that are bones, too: empties say where they are, and what they are called; bones alone where no empty does."""

from typing import Any

import numpy as np
import pytest
from mathutils import Vector

from io_idtech_models.blender.frame_rigs import NO_TAG
from io_idtech_models.blender.provenance import LISTS_TAGS
from io_idtech_models.formats import by_name
from io_idtech_models.model.transforms import rotate
from tests.samples import PROJECT, SENTINEL
from tests.ui.scene import activate, bpy, export_bytes, first, import_model

pytestmark = pytest.mark.usefixtures("empty_scene")
TROOPER = PROJECT / "examples/trooper/models/players/toys/trooper/body.mds"
FORMATS = ("md3", "iqm", "mdr", "mds")


def rig_of(source: str) -> Any:
    if source == "file":
        import_model(TROOPER, animations=False)
    else:
        import_model(SENTINEL)
        activate(first("MESH"))
        assert bpy.ops.object.idtech_make_rig() == {"FINISHED"}
        bpy.context.scene.frame_set(0)
    activate(first("ARMATURE"))
    return bpy.context.object


def empties() -> dict[str, Any]:
    return {block.name: block for block in bpy.context.scene.objects if block.type == "EMPTY"}


def shown() -> dict[str, Any]:
    """Return where the scene shows tags, by their names."""
    bpy.context.view_layer.update()
    return {name: np.array(block.matrix_world.translation) for name, block in empties().items()}


def written(path: Any, **options: Any) -> dict[str, Any]:
    """Return where a file has tags in its first frame, or at rest, by their names."""
    row = by_name(path.suffix[1:])
    model = row.load(export_bytes(path, **options), "a")
    if row.name == "md3":
        return {tag.name: tag.origins[0] for tag in model.tags}
    skeleton = model.skeleton
    places, turns = skeleton.bind.positions, skeleton.bind.rotations
    if row.name == "iqm":
        found = [joint for joint, name in enumerate(skeleton.names) if name.startswith("tag_")]
        return {skeleton.names[joint]: places[joint] for joint in found}
    return {t.name: places[t.joint] + rotate(turns[t.joint][None], t.origin[None])[0] for t in model.tags}


def edit(way: str) -> None:
    found = empties()
    weapon = found["tag_weapon"]
    if way == "hung elsewhere":
        weapon.parent_bone = next(bone.name for bone in weapon.parent.data.bones if "tag_" not in bone.name)
    elif way == "moved":
        weapon.location += Vector((1, 2, 3))
    elif way == "renamed":
        weapon.name = "tag_gun"
    elif way == "deleted":
        bpy.data.objects.remove(weapon)


@pytest.mark.parametrize("way", ["none", "hung elsewhere", "moved", "renamed", "deleted"])
@pytest.mark.parametrize("source", ["file", "frames"])
def test_empties_say_which_tags_there_are(tmp_path, source, way, capfd):
    rig_of(source)
    edit(way)
    wanted = shown()
    for suffix in FORMATS if source == "file" else ("md3",):
        capfd.readouterr()
        found = written(tmp_path / f"a.{suffix}")
        said = "bones are called as tags that are no more, games find these there (rename the bones, too): 'tag_weapon'"
        assert (said in capfd.readouterr().out) == (suffix == "iqm" and way in {"renamed", "deleted"})
        extra = {"tag_weapon", "tag_weapon_1"} - wanted.keys() if suffix == "iqm" else set()
        assert wanted.keys() <= found.keys() <= wanted.keys() | extra
        for name, place in wanted.items():
            assert np.abs(found[name] - place).max() < 0.05, (suffix, name)


def names_in(path: Any, **options: Any) -> list[str]:
    """Return what tags a file lists, sorted."""
    return sorted(tag.name for tag in by_name(path.suffix[1:]).load(export_bytes(path, **options), "a").tags)


@pytest.mark.parametrize("source", ["file", "frames"])
@pytest.mark.parametrize("suffix", ["md3", "mdr", "mds"])
def test_a_bone_that_carries_a_tag_is_no_further_one_by_another_name(tmp_path, source, suffix):
    rig = rig_of(source)
    wanted = names_in(tmp_path / f"a.{suffix}")
    bone = empties()["tag_weapon"].parent_bone
    rig.data.bones[bone].name = "tag_gun"
    plain = next(b.name for b in rig.data.bones if not b.name.startswith("tag_"))
    assert names_in(tmp_path / f"b.{suffix}") == wanted
    if source == "file":
        rig.data.bones[plain].name = "tag_neck"
        assert names_in(tmp_path / f"c.{suffix}") == wanted


@pytest.mark.parametrize("suffix", ["mdr", "mds"])
def test_joined_armatures_have_each_tag_once(tmp_path, suffix):
    one = rig_of("file")
    wanted = names_in(tmp_path / f"a.{suffix}")
    other = next(b for b in import_model(TROOPER, animations=False).objects if b.type == "ARMATURE")
    activate(one)
    other.select_set(True)
    assert bpy.ops.object.join() == {"FINISHED"}
    bpy.ops.object.select_all(action="SELECT")
    assert len(empties()) == 2 * len(wanted)
    assert names_in(tmp_path / f"b.{suffix}", what="SELECTION") == sorted(2 * wanted)


@pytest.mark.parametrize("source", ["file", "frames"])
@pytest.mark.parametrize("suffix", ["mdr", "mds", "md3", "mdc"])
def test_tags_that_were_deleted_in_older_blends_do_not_come_back(tmp_path, source, suffix):
    rig = rig_of(source)
    wanted = names_in(tmp_path / f"a.{suffix}")
    rig.data.pop(LISTS_TAGS, None)
    for bone in rig.data.bones:
        bone.pop(NO_TAG, None)
    bpy.data.objects.remove(empties()["tag_weapon"])
    wanted.remove("tag_weapon")
    assert names_in(tmp_path / f"b.{suffix}") == wanted


def test_copies_of_bones_of_tags_are_tags_of_their_own(tmp_path):
    rig = rig_of("frames")
    wanted = names_in(tmp_path / "a.md3")
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.armature.select_all(action="DESELECT")
    made = rig.data.edit_bones["tag_weapon"]
    made.select = made.select_head = made.select_tail = True
    bpy.ops.armature.duplicate()
    bpy.ops.object.mode_set(mode="OBJECT")
    rig.data.bones["tag_weapon.001"].name = "tag_light"
    assert names_in(tmp_path / "b.md3") == sorted([*wanted, "tag_light"])


@pytest.mark.parametrize("suffix", FORMATS)
def test_bones_are_tags_where_nothing_else_says_which_there_are(tmp_path, suffix):
    """As in IQM, from which a model came back without them."""
    import_model(TROOPER, animations=False)
    activate(first("ARMATURE"))
    wanted = shown()
    export_bytes(tmp_path / "a.iqm")
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    import_model(tmp_path / "a.iqm", animations=False)
    assert not empties()
    activate(first("ARMATURE"))
    found = written(tmp_path / f"b.{suffix}")
    assert found.keys() == wanted.keys()
    for name, place in wanted.items():
        assert np.abs(found[name] - place).max() < 0.05, name
