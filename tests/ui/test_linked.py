"""Models that are linked from another .blend, and library overrides of such: edits of them last, or are refused.

Whatever is refused leaves nothing behind, and is said in a sentence.
"""

from functools import cache
from typing import Any

import numpy as np
import pytest

from io_idtech_models.blender.mesh import attributes
from io_idtech_models.blender.mesh.edited_normals import expected_normals
from io_idtech_models.tasks.animations.find import animations_of
from tests.samples import PROJECT
from tests.ui.scene import activate, bpy, export_bytes, operator, stored

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("empty_scene")]
EXAMPLES = PROJECT / "examples"
MODELS = {
    "newt": "newt/models/md5/newt/newt.md5mesh",
    "sentinel": "sentinel/sentinel.md3",
    "rigged": "stilt/players/stilt/tris.md2",  # with bones that are made of its frames
    "stilt": "stilt/players/stilt/tris.md2",
    "tock": "tock/baseq3/models/players/tock/lower.md3",
}
EDITS: dict[str, dict[str, Any]] = {
    "add_tag": {"name": "tag_new"},
    "animation_add": {"name": "nod", "first": 1, "last": 3},
    "animation_duplicate": {},
    "apply_change": {"frames": "ALL", "selected_only": False},
    "add_fact": {"fact": "idtech_flags"},
    "animation_move": {"name": "run", "direction": "UP"},
    "animation_remove": {"name": "run"},
    "animation_rename": {"name": "run", "to": "rush"},
    "choose_game": {"game": "quake3"},
    "delete_frame": {},
    "hang_on_rig": {},
    "hold_still": {"selected_only": False},
    "insert_frame": {},
    "make_levels": {"percentages": "50"},
    "make_rig": {"bones": 4},
    "make_root": {},
    "play": {"legs": "LEGS_RUN", "torso": "TORSO_STAND"},
    "remove_rig": {},
    "show_skin": {"skin": "red.skin"},
}
KINDS = ("objects", "collections", "meshes", "materials", "actions")


@pytest.fixture(scope="module")
def library(tmp_path_factory) -> Any:
    """Return what gives the .blend that has a model, made when it is first asked for, and the collection in it."""

    @cache
    def made(name: str) -> tuple[str, str]:
        path = EXAMPLES / MODELS[name]
        if name == "tock":
            bpy.ops.import_scene.idtech_player(filepath=str(path))
        else:
            operator("import", path)(filepath=str(path))
        if name == "rigged":
            bpy.ops.object.idtech_make_rig(bones=4)
        home = bpy.context.scene.collection.children[0].name
        return stored(tmp_path_factory.mktemp(name)), home

    return made


def brought(stored_as: tuple[str, str], way: str) -> Any:
    """Link a model's collection from a .blend, override it if asked for; returns a mesh of it, which is active."""
    path, home = stored_as
    with bpy.data.libraries.load(path, link=True) as (_, found):
        found.collections = [home]
    linked: Any = found.collections[0]
    bpy.context.scene.collection.children.link(linked)
    if way == "overridden":
        layer = bpy.context.view_layer
        own = linked.override_hierarchy_create(bpy.context.scene, layer, do_fully_editable=True)
        for child in [each for each in bpy.context.scene.collection.children if each.library is not None]:
            bpy.context.scene.collection.children.unlink(child)
        linked = own
    bpy.context.view_layer.update()
    block = next(each for each in linked.all_objects if each.type == "MESH" and each.visible_get())
    activate(block)
    return block


def there() -> dict[str, list[str]]:
    """Return what the .blend has, and which animations the active model lists."""
    found = {kind: sorted(each.name_full for each in getattr(bpy.data, kind)) for kind in KINDS}
    listed = animations_of(bpy.context)
    return found | {"animations": [] if listed is None else [row.name for row in listed.rows()]}


@pytest.mark.parametrize("way", ["linked", "overridden"])
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_lasts_or_is_refused_in_a_sentence(tmp_path, library, name, way, edit):
    block = brought(library(name), way).name
    before = there()
    try:
        done = getattr(bpy.ops.object, f"idtech_{edit}")(**EDITS[edit]) == {"FINISHED"}
    except (RuntimeError, TypeError) as error:  # TypeError: there is no such skin to choose
        assert "Traceback" not in str(error)
        assert isinstance(error, RuntimeError) or edit == "show_skin", "there is no such option"
        done = False
    after = there()
    if not done:
        assert after == before
        return
    path = str(tmp_path / "again.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    activate(bpy.context.scene.objects[block])
    assert there()["animations"] == after["animations"]
    assert set(there()["objects"]) == set(after["objects"])


@pytest.mark.parametrize("way", ["linked", "overridden"])
def test_skins_of_what_is_linked_are_written(tmp_path, library, capfd, way):
    block = brought(library("tock"), way)
    count = sum(each.type == "MESH" for each in block.parent.children)
    capfd.readouterr()
    assert bpy.ops.object.idtech_write_skin(filepath=str(tmp_path / "upper_new.skin")) == {"FINISHED"}
    assert f"{count} surface" in capfd.readouterr().out
    assert block.name in (tmp_path / "upper_new.skin").read_text(encoding="utf-8")


@pytest.mark.parametrize("way", ["linked", "overridden"])
def test_poses_of_a_rig_made_of_frames_are_there_for_who_links_it(tmp_path, way):
    """Saving brings the action of an animation and that of all frames together: in a linked one nobody can."""
    operator("import", EXAMPLES / MODELS["rigged"])(filepath=str(EXAMPLES / MODELS["rigged"]))
    bpy.ops.object.idtech_make_rig(bones=4)
    rig = next(block for block in bpy.data.objects if block.type == "ARMATURE")
    activate(rig)
    bpy.ops.object.idtech_animation_play(name="run")
    bone = rig.pose.bones[2]
    bone.rotation_quaternion = (0.9, 0.4, 0, 0)
    bone.keyframe_insert("rotation_quaternion", frame=2)
    place = str(tmp_path / "posed.blend")
    bpy.ops.wm.save_as_mainfile(filepath=place)
    wanted, home = export_bytes(tmp_path / "direct.md2"), bpy.context.scene.collection.children[0].name
    assert wanted != (EXAMPLES / MODELS["rigged"]).read_bytes()
    bpy.ops.wm.read_homefile(use_empty=True)
    brought((place, home), way)
    assert export_bytes(tmp_path / "linked.md2") == wanted


def test_normals_are_expected_of_an_override_as_of_what_is_linked(library):
    """Who tells whether normals were edited looks at a copy with other points: of an override that is one, too."""
    found: list[Any] = []
    for way in ("linked", "overridden"):
        brought(library("tock"), way)  # whose shape keys are driven by objects
        meshes = [mesh for mesh in bpy.data.meshes if mesh.name == "u_torso"]
        mesh = next(each for each in meshes if bool(each.override_library) == (way == "overridden"))
        points, normals = attributes.positions(mesh), attributes.corner_normals(mesh)
        none = np.zeros(len(mesh.polygons), np.bool_)
        found.append(expected_normals(mesh, normals, points * np.array([1, 2, 3], np.float32), none)[0])
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    assert np.array_equal(found[0], found[1]) and np.abs(found[0] - normals).max() > 0.1
