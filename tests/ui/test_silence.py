"""Nothing in silence: whatever an export drops or changes is said, in the words of docs/reliability.md."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from examples import strut
from io_idtech_models.blender.compat import HAS_SLOTS, action_parts, playing_curves, slot_curves
from io_idtech_models.blender.frame_rigs import posed_by, whole_of
from io_idtech_models.blender.player.rows import frame_curve
from io_idtech_models.blender.provenance import RECORD
from io_idtech_models.blender.rig_clips import clips_of
from io_idtech_models.blender.rig_poses import curves_of
from io_idtech_models.game.player.row_matching import PHRASES
from io_idtech_models.ui import cli, rigging
from tests import samples_ase, samples_character, samples_doom3, samples_md5, samples_mdm, samples_quake2, samples_xreal
from tests.blender.case import in_edit_mode, show_image
from tests.blender.vertex.test_md3_edits import leaf
from tests.samples import PROJECT, SENTINEL, put, sample
from tests.samples_wolf import put_character
from tests.ui import test_any_edit as edits
from tests.ui.player.players import brought, game, mesh_of, saved, tag_of
from tests.ui.scene import (
    activate,
    add_cube,
    add_mesh,
    add_object,
    add_tag,
    bpy,
    copy_of,
    first,
    import_frames,
    import_model,
    operator,
    png,
)

pytestmark = pytest.mark.usefixtures("empty_scene")
NEWT = PROJECT / "examples/newt/models/md5/newt/newt.md5mesh"
STILT = PROJECT / "examples/stilt/players/stilt/tris.md2"
TOCK = PROJECT / "examples/tock/baseq3/models/players/tock/lower.md3"
TROOPER = PROJECT / "examples/trooper/models/players/toys/trooper/body.mdm"


def rows() -> list[str]:
    """Return the sentences of the table in the docs."""
    text = (PROJECT / "docs/reliability.md").read_text(encoding="utf-8").partition("## Nothing in silence")[2]
    cells = [line.split("|") for line in text.partition("\n## ")[0].splitlines() if line.startswith("| ")]
    return [row[3].strip() for row in cells[2:]]


def pattern(sentence: str) -> str:
    """Return what a sentence of the table means: any names, any numbers."""
    found = re.escape(sentence)
    found = re.sub(r"(?<![\w])'[^']*'(?!s\b)", "'[^\n]*'", found)
    found = re.sub(r"\d+(\\\.\d+)?", r"[\\d.]+", found)
    return re.sub(r"(vertices|frames|objects|corners|edges|surfaces)", r"\1?", found).removesuffix("b")


CASES: dict[str, Callable[[Path], Any]] = {}


def says(*words: str, to: str = "", **options: Any) -> Any:
    """Let a function prepare the case of the rows with these words, one each; then a file is exported, if any."""

    def keep(prepare: Callable[[Path], Any]) -> None:
        def case(folder: Path) -> None:
            prepare(folder)
            if to:
                export(folder / to, **options)

        assert not CASES.keys() & set(words)
        CASES.update(dict.fromkeys(words, case))

    return keep


def export(path: Path, **options: Any) -> None:
    """Export; an error is said, too."""
    try:
        operator("export", path)(filepath=str(path), **options)
    except RuntimeError as error:
        print(error)  # noqa: T201 - what is said is what is looked at


@pytest.mark.parametrize("sentence", rows())
def test_it_is_said(tmp_path, capfd, sentence):
    (case,) = [case for words, case in CASES.items() if words in sentence]
    case(tmp_path)
    said = capfd.readouterr().out
    assert re.search(pattern(sentence), said), said


def test_what_has_no_room_in_the_report_comes_before_it(tmp_path, capfd):
    trooper()
    for block in bpy.context.scene.objects:
        if block.type == "MESH":
            block.shape_key_add(name="Basis")
            block.shape_key_add(name="b")
    capfd.readouterr()
    export(tmp_path / "a.md5mesh", what="SCENE")
    before, last = capfd.readouterr().out.strip().rsplit("Warning: ", 1)
    assert "'u_body' has normals of its own" in last
    assert "(and 1 such: 'l_legs')" in last
    assert "MD5MESH can't say which vertices go from afar" in last, "which has room now"
    kept = [line.partition("a.md5mesh: ")[2] for line in before.strip().splitlines()]
    assert [text[:16] for text in kept] == ["'l_legs' has nor", "'l_legs' is writ"]


def test_who_brings_a_scale_is_named_and_can_apply_it(tmp_path, capfd):
    parent, block = add_cube("parent"), add_cube("child")
    block.parent, parent.scale = parent, (2, 2, 2)
    activate(parent)
    for named in ("parent", "child", ""):  # whose child keeps its size as a scale of its own
        export(tmp_path / "a.md3", what="VISIBLE")
        told = re.findall(r"the scale is not applied.*: (.*)", capfd.readouterr().out)
        assert told == ([f"'{named}'"] if named else [])
        if named:
            activate(bpy.data.objects[named])
            bpy.ops.object.transform_apply(location=False, rotation=False)


def test_what_plays_along_is_said_where_it_is_written_itself_too(tmp_path, capfd):
    import_model(NEWT)
    hat = add_cube("hat")
    hat.shape_key_add(name="Basis")
    key = hat.shape_key_add(name="open")
    for frame in (0, 12):
        key.value = frame / 12
        key.keyframe_insert("value", frame=frame)
    hat.data.shape_keys.animation_data.action.name = "opening"
    export(tmp_path / "b.md2", frames="ACTIONS", what="SCENE", actions="walk,opening")
    said = capfd.readouterr().out
    assert re.search("plays 'opening' from the beginning beside each action that is written .*'walk'", said)


def test_a_picture_in_a_group_of_nodes_is_said_too(tmp_path, capfd):
    group, material = bpy.data.node_groups.new("baked", "ShaderNodeTree"), bpy.data.materials.new("models/a")
    group.nodes.new("ShaderNodeTexImage").image = bpy.data.images.new("a.tga", 4, 4)
    material.use_nodes = True
    material.node_tree.nodes.new("ShaderNodeGroup").node_tree = group
    add_cube().data.materials.append(material)
    operator("export", tmp_path / "a.md3")(filepath=str(tmp_path / "a.md3"))
    assert "save them (Image > Save As): 'a.tga'" in capfd.readouterr().out


def test_a_picture_that_blender_unpacked_beside_the_blend_is_no_other_one(tmp_path, capfd):
    """Which it calls as its file, and what it can write behind that: `rust.pcx.png`."""
    stilt = PROJECT / "examples/stilt"
    import_model(Path(shutil.copytree(stilt, tmp_path / "stilt")) / "players/stilt/tris.md2")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    bpy.ops.file.unpack_all(method="WRITE_LOCAL")
    assert [*tmp_path.glob("textures/*.pcx.*")]
    capfd.readouterr()
    export(tmp_path / "b.md2")
    assert "b.md2: 1 surface" in (said := capfd.readouterr().out)
    assert "not the one that is shown now" not in said


def test_what_moves_a_picture_that_files_hold_is_said_too(tmp_path, capfd):
    add_mapped()
    export(tmp_path / "a.mdl")
    assert "nodes place pictures otherwise" in capfd.readouterr().out


def test_every_case_has_a_row():
    assert len(set(rows())) == len(rows()) == len(CASES)
    assert all(any(words in sentence for sentence in rows()) for words in CASES)


# -- what one call prepares

says("in its own space, as games hang it up", to="a.md2")(lambda _: on_tag(*import_model(SENTINEL).objects))
says("is written with the motion of", to="a.md2")(lambda _: on_tag(add_cube()))
says("set without a key", to="a.md5anim")(lambda _: setattr(newt()[0].pose.bones["head"].location, "z", 9.0))
says("loose vertices", to="a.md3")(lambda _: add_cube().data.vertices.add(3))
says("has no UV map", to="a.md2")(lambda _: add_cube(uvs=False))
says("called as tags are written as surfaces", to="a.md3")(lambda _: add_cube(name="tag_a"))
says("without a material a surface has no shader", to="a.md3")(lambda _: add_cube())
says("units off what Blender shows, in frame", to="a.md5mesh")(lambda _: trooper()[1].modifiers.new("c", "WAVE"))
says("is a copy of a surface", to="a.md3", what="SCENE")(
    lambda _: copy_of(first("MESH", import_model(SENTINEL).objects))
)
says("is cut to fit", to="a.md3", frames="MARKERS")(lambda _: markers("a name that is longer than sixteen bytes"))
says("before the first marker", to="a.md3", frames="MARKERS")(lambda _: markers("walk"))
says("markers without a frame", to="a.md3", frames="MARKERS")(lambda _: markers("walk", "a"))
says("has no place for", to="a.md3")(lambda folder: import_model(put(folder / "b.mdl")))
says("pictures lie in the .blend alone", to="a.md2")(lambda folder: import_model(put(folder / "b.mdl")))
says("no groups of frames", to="a.md3")(lambda folder: import_model(put(folder / "b.mdl", "torch")))
says("is a copy: written", to="a.md5mesh", what="SCENE")(lambda _: copy_of(newt()[1]))
says("has no tags", "has normals of its own", "no torso weights", "go from afar", to="a.md5mesh", what="SCENE")(
    lambda _: trooper()
)
says("hard edges will be smooth", to="a.md2", what="SCENE")(lambda _: bpy.ops.mesh.primitive_cube_add())
says("its levels of detail are gone", to="a.mdm", what="SCENE")(
    lambda _: in_edit_mode(trooper()[1], bpy.ops.mesh.subdivide)
)
says("': scale of bones is lost", to="a.md5anim", game="doom3")(lambda _: scaled(2.0, 2.0, 2.0))
says("uneven scale of bones", to="a.md5anim", game="doom3")(lambda _: scaled(1.0, 2.0, 1.0))
says("MD5 only whole numbers", to="a.md5anim", frame_rate=23.976)(lambda _: newt())
says("no more can go without a tear", to="a.md3", levels="MAKE", percentages="20")(lambda _: add_cube("a"))
says("weights of no bone", to="a.md5mesh", what="SCENE")(
    lambda _: newt()[1].vertex_groups.new(name="b").add([0], 1.0, "REPLACE")
)
says("where its keys are", to="a.md5anim")(lambda _: newt()[0].pose.bones[0].keyframe_insert("location", frame=51))


@says("whose faces changed", to="a.md3", what="SCENE")
def _(_):
    block = first("MESH", import_model(SENTINEL).objects)
    in_edit_mode(block, lambda: bpy.ops.mesh.subdivide(number_cuts=2, smoothness=0.5))


says("names of shaders are shortened")(lambda folder: long_named(folder, "a.md3"))
says("names of animations are shortened")(lambda folder: long_named(folder, "a.md2"))
says("games call a player as its folder")(lambda folder: make_player(folder / "models/players", player="rex"))
says("its files name pictures in")(lambda folder: make_player(folder, player="rex"))
says("none of its own", to="a.md3")(lambda _: beside("hung"))
says("no part of the active model", to="a.md3")(lambda _: beside("selected"))


# -- what all formats leave out


@says("hidden objects left out", to="a.md3", what="SCENE")
def _(folder):
    for block in import_model(SENTINEL).objects:
        if block.type == "MESH":
            block.hide_set(True)
    add_cube()


@says("what is drawn from afar is left out", to="a.md2")
def _(folder):
    import_model(SENTINEL)
    activate(first("MESH"))
    bpy.ops.object.idtech_make_levels(percentages="50")


@says("taken along", "they are not selected", to="a.md3", what="SELECTION")
def _(folder):
    add_tag("tag_a")
    add_cube()
    export(folder / "a.md3")


@says("only meshes are written (Object > Convert > Mesh", to="a.md3", what="SCENE")
def _(folder):
    add_cube()
    curve = bpy.data.objects.new("a", bpy.data.curves.new("a", "CURVE"))
    bpy.context.scene.collection.objects.link(curve)


def on_tag(*blocks):
    """Hang objects on a tag, of which the first is active."""
    tag = add_tag("tag_a")
    for block in blocks:
        block.parent = tag
    activate(blocks[0])


@says("as it stands against that", to="a.md2")
def _(folder):
    blocks = list(import_model(SENTINEL).objects)
    on_tag(*blocks)
    blocks[0].location = 0, 0, 8


@says("does not turn with it", to="a.md3", frames="KEYS")
def _(_):
    mesh, hat = first("MESH", import_model(SENTINEL).objects), add_cube("hat")
    hat.parent, hat.parent_type = mesh, "VERTEX"
    activate(mesh)
    bpy.ops.object.idtech_make_root()
    mesh.parent.keyframe_insert("location", frame=0)
    activate(mesh)


@says("by a constraint, and is written with that motion", to="a.md2", what="SELECTION")
def _(folder):
    block, tag = add_cube(), add_tag("tag_a")
    block.constraints.new("COPY_LOCATION").target = tag
    activate(block)


@says("the scale is not applied", to="a.md3")
def _(folder):
    add_cube().scale = 2, 2, 2


@says("was imported with Scale", to="a.md2")
def _(folder):
    made = import_model(put(folder / "a.md3", SENTINEL.read_bytes()), scale=0.5)
    made.objects.link(add_cube("z, a mesh of one's own beside it"))


@says("mirrored by a negative scale", to="a.md3")
def _(folder):
    add_cube().scale = -1, 1, 1


@says("has no faces", to="a.md3", what="SCENE")
def _(folder):
    add_mesh("dust", [(0, 0, 0), (1, 1, 1)], [])
    add_cube()


@says("of the player that this one is a copy of")
def _(folder):
    player = brought(game(folder), levels=True)
    activate(player.root, *player.root.children_recursive)
    bpy.ops.object.duplicate()
    saved(folder)


@says("plays nothing: frames are posed as in", to="a.md2")
def _(folder):
    import_frames(PROJECT / "examples/stilt/players/stilt/tris.md2")
    bpy.ops.object.idtech_make_rig()
    bpy.context.object.animation_data.action = None


def rigged_stilt() -> Any:
    """Import a model and make it a rig, which is active and plays an animation then; returns that."""
    import_frames(PROJECT / "examples/stilt/players/stilt/tris.md2")
    bpy.ops.object.idtech_make_rig(bones=4)
    rig = next(block for block in bpy.data.objects if block.type == "ARMATURE")
    activate(rig)
    bpy.ops.object.idtech_animation_play(name="run")
    return rig


@says("does not show are not written", to="a.md2")
def _(folder):
    rig = rigged_stilt()
    rig.pose.bones[2].rotation_quaternion = (0.9, 0.4, 0, 0)
    rig.pose.bones[2].keyframe_insert("rotation_quaternion", frame=2)
    rigging.unwatch()  # as where Blender saves without the extension
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "posed.blend"))
    rigging.watch()
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.ops.wm.link(directory=f"{folder / 'posed.blend'}/Collection", filename="stilt", instance_collections=False)
    bpy.context.view_layer.objects.active = bpy.data.objects["stilt"]


@says("the action that poses all frames of", to="a.md2")
def _(folder):
    rig = rigged_stilt()
    for action in [whole_of(rig), *clips_of(rig)]:
        bpy.data.actions.remove(action)


@says("is made anew of its animations", to="a.md2")
def _(folder):
    bpy.data.actions.remove(whole_of(rigged_stilt()))


@says("in no animation: there it rests", to="a.md2")
def _(folder):
    rig = rigged_stilt()
    for action in [whole_of(rig), clips_of(rig)[0]]:
        bpy.data.actions.remove(action)


@says("bones are as they stand: click that", to="a.md2", frames="ACTIONS")
def _(folder):
    bpy.data.actions.remove(clips_of(rigged_stilt())[0])


@says("muted curves count as if they were not", to="a.md2")
def _(folder):
    curves_of(clips_of(rigged_stilt())[0])[0].mute = True


@says("plays strips beside", to="a.md2")
def _(folder):
    animation = rigged_stilt().animation_data
    animation.nla_tracks.new().strips.new("run", 0, animation.action)
    animation.action_blend_type = "ADD"


@says("stays behind, and is bent by that", to="a.md3", what="SCENE")
def _(folder):
    rig, cube, tag = rigged_stilt(), add_cube(), add_object("tag_weapon")
    rig.parent = tag
    for frame in (0, 5):
        tag.location.x = frame
        tag.keyframe_insert("location", frame=frame)
    cube.modifiers.new("Rig", "ARMATURE").object = rig


@says("no Armature modifier with it poses them", to="a.md2")
def _(folder):
    rig = rigged_stilt()
    (mesh,) = posed_by(rig)
    mesh.modifiers.clear()
    activate(mesh)


@says("no animations of its model that", to="a.md2")
def _(folder):
    rig = rigged_stilt()
    rig.animation_data.action = rig.animation_data.action.copy()
    rig.pose.bones[2].keyframe_insert("rotation_quaternion", frame=1.5)  # a copy as it was is as good as gone
    bpy.ops.object.idtech_animation_play(name="stand")


@says("constraints let them follow the model in part", to="a.md2")
def _(folder):
    leader = import_frames(PROJECT / "examples/stilt/players/stilt/tris.md2")
    follower = add_cube("follower")
    for target in (leader, add_object("other")):
        follower.constraints.new("CHILD_OF").target = target
    activate(leader)


@says("the modifier of a rig made of frames is off", to="a.md2")
def _(folder):
    block = import_frames(PROJECT / "examples/stilt/players/stilt/tris.md2")
    bpy.ops.object.idtech_make_rig()
    block.modifiers["Rig"].show_viewport = False


@says("is no path of a game", to="a.md3")
def _(folder):
    material = bpy.data.materials.new("Material.001")
    material.use_nodes = True
    node = material.node_tree.nodes.new("ShaderNodeTexImage")
    node.image = bpy.data.images.new("skin", 4, 4)
    node.image.filepath = str(folder / "baseq3" / "models" / "x" / "skin.tga")
    add_cube().data.materials.append(material)


@says("has other vertices or faces there", to="a.mdm")
def _(folder):
    rig, block = trooper()
    block.modifiers.new("c", "DECIMATE").ratio = 0.5
    rig.data.pose_position = "REST"  # else the pose shown may be the one that is said


@says("keys that stand still", to="b.md3")
def _(folder):
    import_model(put(folder / "a.md3"))
    first("MESH").data.shape_keys.animation_data_clear()


@says("nothing plays its keys", to="b.md3")
def _(folder):
    import_model(put(folder / "a.md3"))
    for block in (b for b in bpy.data.objects if b.type == "MESH"):
        block.data.shape_keys.animation_data_clear()


@says("a driver holds its keys still", to="b.md3")
def _(folder):
    import_model(put(folder / "a.md3"))
    for block in (b for b in bpy.data.objects if b.type == "MESH"):
        block.data.shape_keys.driver_add("eval_time").driver.expression = "0.5"


@says("keys that no action shows", to="b.md3")
def _(folder):
    import_model(put(folder / "a.md3"))
    for block in (b for b in bpy.data.objects if b.type == "MESH"):
        block.shape_key_add(name="added", from_mix=False)


def let_move(block: Any) -> None:
    """Let an object move by curves of its own, from frame 5 to 15."""
    block.keyframe_insert("location", frame=5)
    block.location.x = 9.0
    block.keyframe_insert("location", frame=15)


@says("it moves beyond the frames", to="b.md3")
def _(folder):
    import_model(put(folder / "a.md3"))
    bpy.context.scene.frame_end = 20
    let_move(first("MESH"))


@says("armatures show their rest", to="b.md3")
def _(folder):
    newt()[0].data.pose_position = "REST"


@says("games show these pictures upside down", to="b.md3")
def _(folder):
    image = bpy.data.images.new("a", 4, 4)
    image.filepath_raw, image.file_format = str(folder / "a.tga"), "TARGA"
    image.save()
    material = bpy.data.materials.new("textures/a")
    show_image(material, bpy.data.images.load(str(folder / "a.tga")))
    add_cube().data.materials.append(material)


@says("a skin dresses the model", to="b.md2")
def _(folder):
    put(folder / "a_default.skin", b"hull,models/a.png")
    put(folder / "models" / "a.png", b"")
    import_model(put(folder / "a.md3", SENTINEL.read_bytes()))


@says("nodes place pictures otherwise", to="b.md3")
def _(folder):
    add_mapped()


def add_mapped() -> None:
    """Add a cube with a picture that a node scales."""
    material = add_pictured()
    nodes, links = material.node_tree.nodes, material.node_tree.links
    coordinates, mapping = nodes.new("ShaderNodeTexCoord"), nodes.new("ShaderNodeMapping")
    links.new(coordinates.outputs["UV"], mapping.inputs[0])
    links.new(mapping.outputs[0], nodes["Image Texture"].inputs[0])
    mapping.inputs["Scale"].default_value = (4.0, 4.0, 1.0)


def add_pictured() -> bpy.types.Material:
    """Add a cube that shows a picture; returns its material."""
    material, image = bpy.data.materials.new("textures/a"), bpy.data.images.new("a", 4, 4)
    show_image(material, image)
    add_cube().data.materials.append(material)
    return material


@says("nodes make other colours", to="b.md3")
def _(folder):
    tree = add_pictured().node_tree
    hue = tree.nodes.new("ShaderNodeHueSaturation")
    tree.links.new(tree.nodes["Image Texture"].outputs["Color"], hue.inputs["Color"])
    tree.links.new(hue.outputs["Color"], tree.nodes["Principled BSDF"].inputs["Base Color"])


@says("one shape key alone is shown", to="b.md3")
def _(folder):
    block = add_cube()
    block.shape_key_add(name="Basis")
    block.shape_key_add(name="up").data[0].co.z += 40.0
    block.show_only_shape_key = True


@says("surfaces of other files are written anew", to="b.ase", what="SCENE")
def _(folder):
    for name in ("a", "c"):
        import_model(put(folder / f"{name}.ase", samples_ase.pyramid()))


@says("seen through in Blender", to="b.lwo", write_materials=True)
def _(folder):
    add_pictured().node_tree.nodes["Principled BSDF"].inputs["Alpha"].default_value = 0.5


@says("nodes make what shines", to="b.lwo", write_materials=True)
def _(folder):
    tree = add_pictured().node_tree
    surface = tree.nodes["Principled BSDF"]
    surface.inputs["Emission Strength"].default_value = 1.0
    tree.links.new(tree.nodes.new("ShaderNodeTexNoise").outputs["Color"], surface.inputs["Emission Color"])


@says("Doom 3 takes these for names", to="b.lwo", write_materials=True, what="SCENE")
def _(folder):
    for name in ("textures/a", "Textures/A.tga"):
        add_cube().data.materials.append(bpy.data.materials.new(name))


@says("corners have several colours", to="b.lwo", what="SCENE")
def _(folder):
    painted = add_cube().data.color_attributes.new("painted", "BYTE_COLOR", "CORNER")
    for corner in painted.data[:4]:
        corner.color = (1.0, 0.0, 0.0, 1.0)


@says("not as shown: turned edges", to="b.md3", what="SCENE")
def _(folder):
    import_model(put(folder / "a.md3", leaf(bent=True)))
    edits.in_edit_mode("edge_rotate", edits.ALL, {})([first("MESH")])


@says("more than keys moves it", to="b.md2")
def _(folder):
    import_model(put(folder / "a.md2", sample("animated", "md2")))
    block = first("MESH")
    activate(block)
    bpy.ops.object.idtech_animation_play(name="run")
    block.keyframe_insert("location", frame=0)
    block.location.x = 9.0
    block.keyframe_insert("location", frame=1)


@says("whatever is written", to="b.iqm")
def _(folder):
    rig, _ = newt()
    target = add_tag("target")
    rig.pose.bones[0].constraints.new("COPY_ROTATION").target = target
    target.keyframe_insert("rotation_euler", frame=0)
    for name in ("one", "other"):
        rig.animation_data_create().action = bpy.data.actions.new(name)
        rig.animation_data.action.use_fake_user = True
        rig.pose.bones[0].keyframe_insert("location", frame=0)


@says("from the beginning beside each action", to="b.md2", frames="ACTIONS", what="SCENE")
def _(folder):
    import_model(STILT)
    hat = add_cube("hat")
    for frame in (0, 30):
        hat.location.x = frame
        hat.keyframe_insert("location", frame=frame)


@says("other parts of the player", to="b.iqm")
def _(folder):
    brought(TOCK.parent, frame_rate=24, levels=False)
    bpy.ops.object.idtech_make_rig()


@says("faces wear several materials", to="b.md2", what="SCENE")
def _(folder):
    block = add_cube()
    for name in ("one", "other"):
        block.data.materials.append(bpy.data.materials.new(name))
    block.data.polygons[0].material_index = 1


@says("levels of detail that the armature does not move", to="b.mdr")
def _(folder):
    bpy.ops.object.armature_add(radius=8)
    rig, block = bpy.context.object, add_cube()
    block.vertex_groups.new(name="Bone").add(range(8), 1.0, "REPLACE")
    block.modifiers.new("rig", "ARMATURE").object = rig
    activate(rig, block)
    bpy.ops.object.idtech_make_levels(percentages="50")


@says("is posed by hand", to="b.iqm")
def _(folder):
    rig, _ = newt()
    rig.animation_data_clear()
    for action in list(bpy.data.actions):
        bpy.data.actions.remove(action)
    rig.pose.bones[0].location.x = 9.0


def push_down(rig: Any) -> None:
    """Put the action that an armature plays into an NLA strip, which plays at half its speed."""
    animation = rig.animation_data
    strip = animation.nla_tracks.new().strips.new("b", 0, animation.action)
    strip.scale = 2.0
    animation.action = None


@says("others that move its bones are left out", to="a.md5anim", what="ALL")
def _(folder):
    action = newt()[0].animation_data.action
    if not HAS_SLOTS:
        pytest.skip("this Blender's actions have no slots")
    curves = slot_curves(action, action.slots.new("OBJECT", "d"))
    curves.new('pose.bones["head"].location', index=0).keyframe_points.insert(4, 1.0)


@says("stand still, of their actions", to="b.md3")
def _(folder):
    if HAS_SLOTS:
        pytest.skip("this Blender reads all slots")
    import_model(put(folder / "a.md3", SENTINEL.read_bytes()))
    tag = next(block for block in bpy.context.scene.objects if block.type == "EMPTY")
    tag.animation_data.action.id_root = "KEY"


@says("plays on where keys are missing", to="b.md3")
def _(folder):
    import_model(put(folder / "a.md3", SENTINEL.read_bytes()))
    for mesh in [block for block in bpy.context.scene.objects if block.type == "MESH"]:
        mesh.shape_key_remove(mesh.data.shape_keys.key_blocks[5])


@says("it does not play the keys", to="b.md3")
def _(folder):
    import_model(put(folder / "a.md3"))
    keys = first("MESH").data.shape_keys
    keys.use_relative = True
    for key in list(keys.key_blocks)[1:3]:
        key.value = 0.5


@says("NLA strips play on", "10: NLA strips play", to="a.md5anim")
def _(folder):
    push_down(newt()[0])
    export(folder / "a.md5anim", what="ALL")


@says("is solo, strips of others are left out", to="a.md5anim", what="NLA")
def _(folder):
    rig, _ = newt()
    push_down(rig)
    tracks = rig.animation_data.nla_tracks
    tracks.new().strips.new("c", 0, tracks[-2].strips[0].action)
    tracks[-1].is_solo = True


@says("which are written as they play", to="a.md5anim", what="ALL")
def _(folder):
    rig, _ = newt()
    rig.driver_add("location", 0).driver.expression = "frame"
    bpy.context.scene.frame_end += 10


@says("farther from the origin", to="a.md2")
def _(folder):
    add_cube().location.x = 5000


@says("more than a file holds", to="a.md3")
def _(folder):
    mesh = add_cube().data
    mesh.uv_layers.new(name="b")
    mesh.color_attributes.new("c", "BYTE_COLOR", "CORNER")


@says("is a part of its model", to="a.md3", what="SCENE")
def _(folder):
    collection = import_model(SENTINEL)
    bpy.context.scene.collection.objects.link(first("MESH", collection.objects))
    bpy.data.collections.remove(collection)


@says("don't tell of their model", to="a.md3", what="SCENE")
def _(folder):
    for _ in range(2):
        collection = import_model(SENTINEL)
        for block in collection.objects:
            if block.type == "MESH":
                bpy.context.scene.collection.objects.link(block)
        bpy.data.collections.remove(collection)


# -- frames


@says("at the origin in", to="a.md3", frames="RANGE", frame_start=0, frame_end=3)
def _(folder):
    block = add_cube()
    block.shape_key_add(name="Basis")
    for name in ("one", "two"):
        key = block.shape_key_add(name=name)
        for point in list(key.points)[:4]:
            point.co = (0.0, 0.0, 0.0)
        key.value = 1.0
        key.keyframe_insert("value", frame=1)
        key.value = 0.0
        key.keyframe_insert("value", frame=0)
    block.data.shape_keys.key_blocks["two"].mute = True


@says("point into the mesh", to="a.md3", frames="RANGE", frame_start=0, frame_end=1)
def _(folder):
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=2, radius=20.0)
    block = bpy.context.object
    bpy.ops.object.select_all(action="DESELECT")  # so that all that is visible is meant
    points = np.array([vertex.co for vertex in block.data.vertices])
    block.data.normals_split_custom_set_from_vertices((points * (0.05, 0.05, 0.03)).tolist())
    block.shape_key_add(name="Basis")
    far = block.shape_key_add(name="far")
    far.data.foreach_set("co", (points + np.sin(points[:, [1, 2, 0]] * 0.9) * 14.0).astype(np.float32).ravel())
    for frame in (0, 1):
        far.value = float(frame)
        far.keyframe_insert("value", frame=frame)


@says("mirrored in some frames", to="a.md3", frames="RANGE", frame_start=0, frame_end=2)
def _(folder):
    block = add_cube()
    block.keyframe_insert("scale", frame=0)
    block.scale.x = -1.0
    block.keyframe_insert("scale", frame=2)


def markers(*names: str) -> None:
    """Give a cube that moves markers in its ten frames, from the fourth on."""
    block, scene = add_cube(), bpy.context.scene
    scene.frame_start, scene.frame_end = 0, 9
    block.keyframe_insert("location", frame=0)
    block.location.x = 9
    block.keyframe_insert("location", frame=9)
    for index, name in enumerate(names):
        scene.timeline_markers.new(name, frame=3 + index * 20)


def long_named(folder: Path, target: str) -> None:
    """Convert a model whose names are too long, in an animation whose name is."""
    part = samples_md5.box()
    part.shader = "models/" + "x" * 70
    (folder / "a.md5mesh").write_bytes(samples_md5.MeshSpec(parts=[part]).pack())
    (folder / "a long walk forward.md5anim").write_bytes(samples_md5.wave())
    given = [str(folder / "a.md5mesh"), "--anim", str(folder / "a long walk forward.md5anim"), str(folder / target)]
    assert cli.main(["convert", *given]) == 0


@says("this model did not bring", to="a.md3", frames="ACTIONS")
def _(folder):
    whole = first("MESH", import_model(SENTINEL).objects).data.shape_keys.animation_data.action
    whole.use_fake_user = True
    made = whole.copy()
    for name in ("idtech_whole", "idtech_model"):
        del made[name]
    own = whole.copy()
    del own["idtech_whole"]
    own.use_fake_user = made.use_fake_user = True


@says("that nothing uses", to="a.md5anim", what="ALL")
def _(folder):
    newt()
    bpy.data.actions[0].copy()


@says("that another model came with", to="a.md5anim", what="ALL")
def _(folder):
    newt()
    left = bpy.data.actions[0].copy()
    left["idtech_made_for"], left.use_fake_user = "another", True


@says("choose them, or rename these curves", to="a.md5anim", what="ALL")
def _(folder):
    rig, _ = newt()
    for name in ("wave", "nod"):
        action = bpy.data.actions[0].copy()
        action.name, action.use_fake_user = name, True
    rig.data.bones["head"].name = "skull"


def renamed(name: str) -> Any:
    """Return a copy of what moves the bones of `newt`, which calls them all the same, and otherwise."""
    action = bpy.data.actions[0].copy()
    action.name, action.use_fake_user = name, True
    for _, _, curves in action_parts(action):
        for curve in curves:
            curve.data_path = 'pose.bones["b"].location'
    return action


@says("move none of the bones of", to="a.md5anim", what="ALL")
def _(folder):
    newt()
    renamed("jump")


@says("moves nothing of this model", to="a.md5anim", what="ACTIVE")
def _(folder):
    rig, _ = newt()
    rig.animation_data.action = renamed("jump")


@says("other channels than their rotation mode", to="a.md5anim", what="ACTIVE")
def _(folder):
    rig, _ = newt()
    rig.pose.bones["head"].rotation_mode = "XYZ"


@says("no two of a model are called alike", to="a.md5anim", what="ALL")
def _(folder):
    rig, _ = newt()
    for name in ("Walk", "Walk.001"):
        action = bpy.data.actions.new(name)
        action.use_fake_user, rig.animation_data.action = True, action
        rig.pose.bones[0].keyframe_insert("location", frame=0)


@says("posed though no curve moves it", to="a.md5anim")
def _(folder):
    rig, _ = newt()
    rig.animation_data.action = rig.animation_data.action.copy()
    for _, _, curves in action_parts(rig.animation_data.action):
        for curve in curves:
            curve.data_path = curve.data_path.replace('pose.bones["head"]', 'pose.bones["b"]')
    rig.pose.bones["head"].location.z = 9.0


@says("MD2 holds no tags", "MDL holds no tags", to="a.mdl", what="SCENE")
def _(folder):
    add_cube()
    add_tag("tag_a")
    export(folder / "a.md2", what="SCENE")


@says("no run of the model", to="a.mdl")
def _(folder):
    (block,) = import_model(put(folder / "b.mdl", "torch")).objects
    action = bpy.data.actions["flame"]
    action.use_frame_range = False
    (curve,) = (c for _, _, curves in action_parts(action) for c in curves)
    curve.keyframe_points[-1].co.y = 0.5
    activate(block)


@says("has no times that can be read", to="a.mdl")
def _(folder):
    (block,) = import_model(put(folder / "b.mdl", "torch")).objects
    bpy.data.actions["flame"]["idtech_times"] = "slow"
    activate(block)


@says("pictures that take turns, and no times", to="a.mdl")
def _(folder):
    (block,) = import_model(put(folder / "b.mdl", "groups")).objects
    del block.data.materials[0]["idtech_times"]
    activate(block)


@says("idtech_times) of 0 or less", "idtech_times) that do not rise", to="a.mdl", game="quake")
def _(folder):
    (block,) = import_model(put(folder / "b.mdl", "groups")).objects
    block.data.materials[0]["idtech_times"] = [0.5, 0.2]
    activate(block)


@says("outgrows its file's grid", "may wobble", to="a.mdl")
def _(folder):
    (block,) = import_model(put(folder / "b.mdl")).objects
    block.data.shape_keys.key_blocks[1].points[4].co.x += 300.0


@says("is written as 16 x 8", to="a.mdl")
def _(folder):
    (block,) = import_model(put(folder / "b.mdl")).objects
    material = block.data.materials[1]
    next(n for n in material.node_tree.nodes if n.type == "TEX_IMAGE").image = bpy.data.images.new("a", 32, 16)


@says("no picture that can be read")
def _(folder):
    given = [str(put(folder / "b.md2")), str(folder / "a.mdl")]
    assert cli.main(["convert", *given]) == 0


@says("surfaces become one", to="a.md2", what="SCENE")
def _(folder):
    for name in "abc":
        block = add_cube(name)
        block.data.materials.append(bpy.data.materials.new(name))


# -- bones


def newt(path: Path = NEWT) -> tuple[Any, Any]:
    """Import a model with bones; returns its armature, which is active, and a mesh."""
    import_model(path)
    activate(first("ARMATURE"))
    return first("ARMATURE"), first("MESH")


def trooper() -> tuple[Any, Any]:
    """As `newt`, of a model with tags and torso."""
    return newt(TROOPER)


@says("has no names of animations, they follow", to="a.mdr", what="SCENE", motions="ALL")
def _(folder):
    newt()


@says("plays, and is written, other animations are not", to="a.mdm", what="SCENE", write_animation=True)
def _(folder):
    newt()


@says("bones are written at rest, animations are not", to="a.mdm", what="SCENE", write_animation=True)
def _(folder):
    newt()[0].animation_data.action = None


@says("animations are files of their own", to="a.md5mesh", what="SCENE")
def _(folder):
    trooper()


def rows_of_a_table(folder: Path) -> None:
    """Give a model's file of frames a table, and import them."""
    (folder / "a.mdm").write_bytes(samples_mdm.figure())
    (folder / "a.mdx").write_bytes(samples_mdm.walk())
    (folder / "a.aninc").write_text("b 0 2 0 15 0 0 0\nc 2 4 0 15 0 0 0\n", encoding="utf-8")
    bpy.ops.import_scene.idtech_mdm(filepath=str(folder / "a.mdm"))
    activate(first("ARMATURE"))


@says("left out, bones of the model move them", to="a.md5mesh", what="COLLECTION")
def _(folder):
    rig, _ = newt()
    block = add_cube()
    block.parent, block.parent_type, block.parent_bone = rig, "BONE", rig.data.bones[0].name
    bpy.context.view_layer.update()
    activate(rig)


@says("no bone moves them", to="a.md5mesh")
def _(folder):
    rig, _ = newt()
    add_cube().parent = rig
    bpy.context.view_layer.update()
    activate(rig)


@says("tags, of which games take the first", to="a.md3")
def _(folder):
    add_cube()
    for _ in range(2):
        add_tag("tag_a")


@says("whose actions were deleted go from its table", to="a.mdx")
def _(folder):
    rows_of_a_table(folder)
    bpy.ops.object.idtech_animation_remove(name="b")


@says("and no rows of a table", to="b.mdx", what="SCENE")
def _(folder):
    rows_of_a_table(folder)


def cut_all_frames(folder, last):
    """Import rows of a table, and let the action of all frames end earlier."""
    rows_of_a_table(folder)
    action = bpy.data.actions["a"]
    action.frame_end = last
    for _, _, curves in action_parts(action):
        for curve in curves:
            for point in [point for point in curve.keyframe_points if point.co[0] > last][::-1]:
                curve.keyframe_points.remove(point)


@says("are without those that", to="a.mdx")
def _(folder):
    cut_all_frames(folder, 1)


@says("in all frames of 'a.mdx' now, and these are written", to="a.mdx")
def _(folder):
    cut_all_frames(folder, 3)


@says("which were edited, where nobody edited their own actions", to="a.mdx")
def _(folder):
    rows_of_a_table(folder)
    for curve in next(curves for _, _, curves in action_parts(bpy.data.actions["a"])):
        curve.keyframe_points[1].co[1] += 0.3


@says("has another number of frames in all of", to="a.mdx")
def _(folder):
    cut_all_frames(folder, 3)
    for curve in next(curves for _, _, curves in action_parts(bpy.data.actions["c"])):
        curve.keyframe_points[1].co[1] += 0.3


@says("not the one that is shown now", to="a.md3")
def _(folder):
    import_model(SENTINEL)
    node = next(n for n in bpy.data.objects["hull"].material_slots[0].material.node_tree.nodes if n.type == "TEX_IMAGE")
    node.image = bpy.data.images.load(str(png(folder / "mine.tga")))
    activate(bpy.data.objects["hull"])


@says("one picture of a name is written")
def _(folder):
    player = brought(game(folder))
    for number, part in enumerate(("lower", "upper")):
        block = mesh_of(player, part)
        own = block.material_slots[0].material = bpy.data.materials.new(f"models/own{'.tga' if number else ''}")
        show_image(own, bpy.data.images.new(f"own {number}", 4, 4))
    activate(player.root)
    bpy.ops.export_scene.idtech_player(filepath=str(folder / "a.pk3"))


@says("end the name of a shader at its last dot")
def _(folder):
    player = brought(game(folder))
    mesh_of(player, "head").material_slots[0].material = bpy.data.materials.new("models/own/armor.front")
    activate(player.root)
    bpy.ops.export_scene.idtech_player(filepath=str(folder / "a.pk3"))


def skin_of_torch(folder: Path) -> Any:
    """Import a model whose skin lies in its file; returns the material."""
    (block,) = import_model(put(folder / "b.mdl", "torch")).objects
    activate(block)
    return block.material_slots[0].material


@says("nodes change its picture", to="a.mdl")
def _(folder):
    tree = skin_of_torch(folder).node_tree
    surface = next(node for node in tree.nodes if node.type == "BSDF_PRINCIPLED")
    link = next(iter(surface.inputs["Base Color"].links))
    paler = tree.nodes.new("ShaderNodeHueSaturation")
    tree.links.new(link.from_socket, paler.inputs["Color"])
    tree.links.new(paler.outputs["Color"], surface.inputs["Base Color"])


@says("what the model's file had stays", to="a.mdl")
def _(folder):
    picture = png(folder / "gone.png")
    for node in skin_of_torch(folder).node_tree.nodes:
        if node.type == "TEX_IMAGE":
            node.image = bpy.data.images.load(str(picture))
    picture.unlink()
    bpy.data.images["gone.png"].reload()


@says("texture coordinates change", to="a.md3", frames="SCENE")
def _(_folder):
    warp = add_cube().modifiers.new("warp", "UV_WARP")
    for frame in (1, 6):
        warp.offset = (frame / 12, 0.0)
        warp.keyframe_insert("offset", frame=frame)


@says("import found no pictures of these", to="a.mdl")
def _(folder):
    import_model(put(folder / "a.md2", sample("animated", "md2")))
    for material in bpy.data.materials:
        material.name = "progs/gun"  # as the other game calls it


@says("painted or made here", to="a.md3")
def _(folder):
    material = bpy.data.materials.new("models/a")
    show_image(material, bpy.data.images.new("a.tga", 4, 4))
    add_cube().data.materials.append(material)


@says("no mesh moves with these bones", to="a.md5mesh")
def _(folder):
    import_model(put(folder / "arm.md5mesh", samples_md5.arm()))
    bpy.data.batch_remove([block for block in bpy.context.scene.objects if block.type == "MESH"])


def body_of_frames(folder, frames):
    """Import a body with a table, whose action shows other ones of its frames."""
    path = put_character(folder)
    bpy.ops.import_scene.idtech_mds(filepath=str(path.parent / "body.mds"))
    for curve in playing_curves(first("ARMATURE")):
        keyed = [key.co.y for key in curve.keyframe_points]
        curve.keyframe_points.clear()
        curve.keyframe_points.add(len(frames))
        curve.keyframe_points.foreach_set("co", [x for at, was in enumerate(frames) for x in (at, keyed[was])])


says("have another number of frames now", to="models/players/boss/body.mds")(
    lambda folder: body_of_frames(folder, [0, 1, 2, 3])
)
says("for all of theirs are gone", to="models/players/boss/body.mds")(lambda folder: body_of_frames(folder, [0, 1, 5]))
says("no such table lies beside", to="a.mds")(lambda folder: body_of_frames(folder, [0, 0, 1, 2, 3, 4, 5]))


@says("animations that came from no file of this model are not written")
def _(folder):
    rows_of_a_table(folder)
    rig = first("ARMATURE")
    rig.animation_data.action = bpy.data.actions.new("dance")
    rig.pose.bones[0].keyframe_insert("location", frame=0)
    bpy.ops.object.idtech_export_again()


@says("in the table, which holds no quotes", to="a.mdx")
def _(folder):
    rows_of_a_table(folder)
    bpy.data.actions["b"].name = 'b"c'


@says("whose own export writes rows into the files", to="a.mdx")
def _(folder):
    at = samples_character.put_character(folder / "game")
    assert bpy.ops.import_scene.idtech_character(filepath=str(at)) == {"FINISHED"}
    activate(next(b for b in bpy.data.objects if b.type == "ARMATURE" and "idtech_rows" in b.data))


@says("rows of a table are left", to="a.mdx", what="ALL")
def _(folder):
    rows_of_a_table(folder)
    bpy.ops.object.idtech_animation_remove(name="a")


@says("has an action any more: it stays as it is", to="a.mdx")
def _(folder):
    rows_of_a_table(folder)
    for name in "bc":
        bpy.ops.object.idtech_animation_remove(name=name)


@says("has an action any more: written without one", to="b.mdx")
def _(folder):
    rows_of_a_table(folder)
    for name in "bc":
        bpy.ops.object.idtech_animation_remove(name=name)


@says("with which the rows of its table go", to="b.mdx")
def _(folder):
    rows_of_a_table(folder)
    bpy.ops.object.idtech_animation_duplicate(name="a", copy="d")


@says("has rows of frames that are no longer there", to="a.mdx")
def _(folder):
    rows_of_a_table(folder)
    bpy.ops.object.idtech_animation_play(name="b")


@says("games need its animations, exported anew, with the same", to="a.mdm", what="SCENE")
def _(folder):
    rows_of_a_table(folder)
    bpy.ops.object.mode_set(mode="EDIT")
    first("ARMATURE").data.edit_bones.new("b").tail = (0.0, 0.0, 5.0)
    bpy.ops.object.mode_set(mode="OBJECT")


@says("bones are called as tags that are no more", to="a.iqm", what="SCENE")
def _(folder):
    newt(TROOPER.with_suffix(".mds"))
    bpy.data.objects.remove(bpy.data.objects["tag_back"])


@says("shown in some frames alone", to="a.md3")
def _(folder):
    block = first("MESH", import_model(SENTINEL).objects)
    for frame, hides in ((0, False), (5, True)):
        block.hide_viewport = hides
        block.keyframe_insert("hide_viewport", frame=frame)
    bpy.context.scene.frame_set(0)


@says("Time Stretching", to="a.md3")
def _(folder):
    import_model(SENTINEL)
    bpy.context.scene.render.frame_map_new = 200


@says("several tiles (UDIM)", to="a.mdl")
def _(folder):
    cube = add_cube()
    image = bpy.data.images.new("tiled", 16, 16, tiled=True)
    image.tiles.new(1002)
    material = bpy.data.materials.new("skin")
    show_image(material, image)
    cube.data.materials.append(material)


@says("that lie in other collections")
def _(folder):
    block = first("MESH", import_model(SENTINEL).objects)
    block.users_collection[0].objects.unlink(block)
    bpy.context.scene.collection.objects.link(block)
    activate(next(each for each in bpy.data.objects if each.type == "MESH" and each != block))
    export(folder / "a.md3")


@says("beside the file, games show them grey")
def _(folder):
    for file in (TOCK, TOCK.with_name("lower_default.skin")):
        put(folder / file.name, file.read_bytes())
    first("MESH", import_model(folder / TOCK.name).objects).name = "trousers"
    export(folder / TOCK.name)


@says("with it and no other animation", to="a.md5mesh", what="SCENE", game="quake2remaster", write_animations=True)
def _(folder):
    newt()


@says("times as far apart as they are at rest", to="a.iqm", what="SCENE", motions="ALL")
def _(folder):
    newt()
    bpy.ops.import_anim.idtech_md5anim(filepath=str(NEWT.with_name("walk.md5anim")), scale=2.0)


@says("copies of bones are no tags by their names", to="a.mds", what="SCENE")
def _(folder):
    newt(TROOPER.with_suffix(".mds"))
    activate(first("ARMATURE"))
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.armature.select_all(action="DESELECT")
    bone = bpy.context.object.data.edit_bones["tag_back"]
    bone.select = bone.select_head = bone.select_tail = True
    bpy.ops.armature.duplicate()
    bpy.ops.object.mode_set(mode="OBJECT")


@says("sharp edges", to="a.md5mesh", what="SCENE")
def _(folder):
    _, block = newt()
    block.data.polygons.foreach_set("use_smooth", np.zeros(len(block.data.polygons), bool))


@says("become one shader", to="a.md3", what="SCENE")
def _(folder):
    for color in ((1, 0, 0, 1), (0, 0, 1, 1)):
        bpy.ops.mesh.primitive_cube_add()
        material = bpy.data.materials.new("Material")
        material.use_nodes = True
        material.node_tree.nodes["Principled BSDF"].inputs["Base Color"].default_value = color
        bpy.context.object.data.materials.append(material)


@says("shape keys are mixed", to="a.md5mesh", what="SCENE")
def _(folder):
    _, block = newt()
    block.shape_key_add(name="Basis")
    block.shape_key_add(name="b")


def widely_weighted() -> tuple[Any, Any]:
    """Import a model of which some vertices hang on six bones; returns its armature and mesh."""
    rig, block = newt()
    for bone in list(rig.data.bones)[:6]:
        group = block.vertex_groups.get(bone.name) or block.vertex_groups.new(name=bone.name)
        group.add(range(12), 0.3, "REPLACE")
    return rig, block


@says("lose weights, more than 4 or below", to="a.md5mesh", what="SCENE")
def _(folder):
    _, block = widely_weighted()
    used = {each.group for vertex in list(block.data.vertices)[12:15] for each in vertex.groups}
    unused = next(group for group in block.vertex_groups if group.index not in used)
    unused.add(range(12, 15), 0.01, "REPLACE")


@says("a vertex has at most 4 there", to="a.iqm", what="SCENE")
def _(folder):
    widely_weighted()


@says("sum to 1", to="a.md5mesh", what="SCENE")
def _(folder):
    rig, _ = newt(put(folder / "a.md5mesh", samples_md5.odd_weights()))
    rig.location = (50.0, 0.0, 0.0)


@says("scaled unevenly", to="a.md5mesh", what="SCENE")
def _(folder):
    rig, _ = newt()
    rig.scale = (1.0, 1.0, 2.0)


@says("in lower case", to="a.mdm", what="SCENE")
def _(folder):
    rig, _ = trooper()
    block = add_cube("Hat")
    block.vertex_groups.new(name=rig.data.bones[0].name).add(range(8), 1.0, "REPLACE")
    block.modifiers.new("a", "ARMATURE").object = rig


@says("a tag is an empty", to="a.mdm", what="SCENE")
def _(folder):
    trooper()
    add_tag("tag_a")


def scaled(*size: float) -> None:
    """Scale a bone in the action that plays."""
    rig, _ = newt()
    bone = rig.pose.bones[-1]
    bone.scale = size
    bone.keyframe_insert("scale", frame=0)


@says("is from before", to="md5/a.md5anim", game="quake2remaster")
def _(folder):
    newt()
    (folder / "md5").mkdir()
    (folder / "md5/a.md5scale").write_bytes(b"{}")


@says("plays at")
def _(folder):
    trooper()
    for action in bpy.data.actions:
        action["idtech_frame_rate"] = 21.5
    export(folder / "a.mdx", what="CHOSEN", actions=bpy.data.actions[0].name, game="et")


@says("against their parents", to="a.mdx")
def _(folder):
    rig, _ = trooper()
    bone = next(bone for bone in rig.pose.bones if bone.parent is not None)
    bone.location = (0.0, 2.0, 0.0)
    bone.keyframe_insert("location", frame=1)


@says("several root bones", to="a.mdx")
def _(folder):
    rig, _ = trooper()
    activate(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    bone = rig.data.edit_bones.new("alone")
    bone.head, bone.tail = (9.0, 9.0, 9.0), (9.0, 9.0, 12.0)
    bpy.ops.object.mode_set(mode="OBJECT")


@says("a quote, line end or NUL", to="a.md5mesh", what="SCENE")
def _(folder):
    rig, _ = newt()
    rig.data.bones[0].name = 'a "b"'


@says("skin files must list its pieces", to="a.md3", game="quake3", split_surfaces=True)
def _(folder):
    points = np.random.default_rng(1).uniform(-9, 9, (1200, 3))
    add_mesh("a", points, np.arange(1200).reshape(-1, 3).tolist())


@says("by which games know")
def _(folder):
    add_cube("a")
    bpy.ops.export_scene.idtech_md3(filepath=str(folder / "a.foo"))


@says("are written with one model alone", to="a.md3", what="SCENE")
def _(folder):
    import_model(SENTINEL)
    bpy.ops.object.idtech_make_levels(percentages="50")
    import_model(put(folder / "b.md3", "minimal"))


@says("where the model shows", to="a.md3")
def _(folder):
    import_model(SENTINEL)
    bpy.ops.object.idtech_make_levels(percentages="50")
    for block in bpy.data.collections["sentinel_1"].objects:
        if block.type == "MESH":
            one, other = block.data.shape_keys.key_blocks[:2]
            one.name, other.name, one.name = "-", one.name, other.name


@says("lies beside it from before", to="a.md3")
def _(folder):
    add_cube("a")
    (folder / "a_1.md3").write_bytes(b"old")


@says("files can't be written stay as they were")
def _(folder):
    for path in NEWT.parent.iterdir():
        put(folder / path.name, path.read_bytes())
    import_model(folder / NEWT.name)
    for action in bpy.data.actions:
        if "idtech_file" in action:
            action["idtech_file"] = str(folder / "gone" / "a.md5anim")
    bpy.ops.object.idtech_export_again()


def save_character(folder: Path) -> None:
    bpy.ops.export_scene.idtech_character(filepath=str(folder / "saved"))


def make_player(folder: Path, **options: Any) -> None:
    """Make a player of a mannequin, which is in the scene or built now."""
    if "Strut" not in bpy.data.objects:
        strut.build()
    bpy.ops.object.idtech_make_player(filepath=str(folder / "strut"), open_result=False, **options)


@says("shows frames unevenly")
def _(folder):
    bpy.ops.import_scene.idtech_player(filepath=str(TOCK))
    curve: Any = frame_curve(bpy.data.actions["LEGS_RUN"])
    curve.keyframe_points.insert(2.0, 0.0)
    bpy.ops.export_scene.idtech_player(filepath=str(folder / "tock"))


@says("and left as they are", "and written over as they are in Blender")
def _(folder):
    player = game(folder)
    brought(player)
    for name in ("upper_red.skin", "animation.cfg"):
        (player / name).write_bytes((player / name).read_bytes() + b"// mine")
    bpy.ops.export_scene.idtech_player(filepath=str(player))


@says("can't repeat")
def _(folder):
    bpy.ops.import_scene.idtech_player(filepath=str(TOCK))
    bpy.data.actions["LEGS_RUN"]["idtech_loop"] = 99
    bpy.ops.export_scene.idtech_player(filepath=str(folder / "tock"))


@says("files have the model's own size")
def _(folder):
    bpy.ops.import_scene.idtech_player(filepath=str(TOCK))
    bpy.data.objects["lower"].scale = (2, 2, 2)
    bpy.ops.export_scene.idtech_player(filepath=str(folder / "tock"))


@says("no action is called as these rows")
def _(folder):
    strut.build()
    for name in ("Walk", "Jump", "Death", "Shoot"):
        bpy.data.actions.remove(bpy.data.actions[name])
    rows = [name for name in PHRASES if name != "LEGS_BACK"]
    make_player(folder, rows=", ".join(f"{name}=Run" for name in rows))


@says("actions that no row plays")
def _(folder):
    strut.make_action(strut.build(), "Juggle", 4, {"head.location": [(0, 0, 0), (0, 0, 0.1)]})
    make_player(folder)


@says("that no bone moves")
def _(folder):
    strut.build()
    add_cube("a").parent = bpy.data.objects["Strut"]
    make_player(folder)


@says("are no meshes on its bones")
def _(folder):
    rig = strut.build()
    add_cube("a").constraints.new("CHILD_OF").target = rig
    make_player(folder)


@says("no bone's name says right hand")
def _(folder):
    strut.build().data.bones["hand.R"].name = "stump"
    make_player(folder)


@says("it is kept in place")
def _(folder):
    strut.make_action(strut.build(), "walk", 10, {"hips.location": [(0, 0, 0), (0, 0, 2)]})
    bpy.data.actions.remove(bpy.data.actions["Walk"])
    make_player(folder)


@says("it wears a plain grey")
def _(folder):
    strut.build()
    bpy.data.objects["strut"].data.materials.clear()
    make_player(folder)


@says("a plain one is written")
def _(folder):
    strut.build()
    tree = bpy.data.objects["strut"].data.materials[0].node_tree
    ramp = tree.nodes.new("ShaderNodeValToRGB")
    tree.links.new(ramp.outputs[0], tree.nodes["Principled BSDF"].inputs["Base Color"])
    tree.nodes.remove(next(node for node in tree.nodes if node.type == "TEX_IMAGE"))
    make_player(folder)


@says("a plain colour is written")
def _(folder):
    strut.build()
    image = bpy.data.images["strut"]
    image.unpack(method="REMOVE")
    image.source, image.filepath = "FILE", str(folder / "gone.png")
    make_player(folder)


@says("levels of detail of another player")
def _(folder):
    make_player(folder, levels="50")
    make_player(folder)


@says("games show that one from afar", to="a.md3")
def _(folder):
    block = add_cube()
    bpy.ops.object.idtech_make_levels(percentages="50")
    block.data.vertices[0].co.z += 9


@says("the character's frames keep the names")
def _(folder):
    bpy.ops.import_scene.idtech_character(filepath=str(samples_character.put_character(folder / "game")))
    first("ARMATURE").data.bones["Bip01 Head"].name = "Skull"
    save_character(folder)


@says("moves where the game hangs it")
def _(folder):
    bpy.ops.import_scene.idtech_character(filepath=str(samples_character.put_character(folder / "game")))
    bpy.context.scene.frame_end = 20
    root = next(block for block in bpy.data.objects if block.get("idtech_part") == "md3_hat")
    let_move(first("MESH", root.children))
    save_character(folder)


@says("its file no motion: written at rest")
def _(folder):
    path = samples_doom3.put_character(folder / "game")
    bpy.ops.import_scene.idtech_character(filepath=str(path), character="monster_newt")
    head = next(b for b in bpy.data.objects if b.type == "ARMATURE" and b.parent.get("idtech_part") == "head")
    head.pose.bones[0].location.x = 2.0
    activate(head)
    save_character(folder)


@says("tags stand still on their bones", to="b.mds")
def _(folder):
    rig, _ = trooper()
    first("EMPTY", rig.children).constraints.new("COPY_ROTATION").target = add_tag("tag_leader")
    activate(rig)


@says("stands off where the game hangs it")
def _(folder):
    bpy.ops.import_scene.idtech_character(filepath=str(samples_character.put_character(folder / "game")))
    next(block for block in bpy.data.objects if block.get("idtech_part") == "md3_hat").location.z = 3.0
    save_character(folder)


@says("attaches none of these, which are shown")
def _(folder):
    path = samples_character.put_character(folder / "game")
    (folder / "game" / samples_character.TOYS / "body_bare.skin").write_bytes(b"u_body,x\nl_legs,y\n")
    bpy.ops.import_scene.idtech_character(filepath=str(path))
    activate(first("MESH", bpy.context.view_layer.objects.active.children))
    bpy.ops.object.idtech_show_skin(skin="bare.skin")
    save_character(folder)


@says("constraints let them follow tags")
def _(folder):
    bpy.ops.import_scene.idtech_character(filepath=str(samples_character.put_character(folder)))
    free = [b for b in bpy.data.objects if b.type == "EMPTY" and b.name.startswith("tag_") and not b.children]
    add_cube("hat").constraints.new("COPY_TRANSFORMS").target = free[0]
    activate(first("ARMATURE"))
    bpy.ops.export_scene.idtech_character(filepath=str(folder / "a.pk3"))


@says("left out, models on roots of their own")
def _(folder):
    bpy.ops.import_scene.idtech_character(filepath=str(samples_character.put_character(folder / "game")))
    body = bpy.context.view_layer.objects.active
    import_model(SENTINEL)
    activate(bpy.data.objects["hull"])
    bpy.ops.object.idtech_make_root()
    bpy.data.objects["hull"].parent.parent = first("ARMATURE")
    activate(body)
    save_character(folder)


@says("no part of the character takes them")
def _(folder):
    bpy.ops.import_scene.idtech_character(filepath=str(samples_character.put_character(folder / "game")))
    hat = next(block for block in bpy.data.objects if block.get("idtech_part") == "md3_hat")
    first("MESH", hat.children).parent = None
    save_character(folder)


@says("no more on the root of")
def _(folder):
    bpy.ops.import_scene.idtech_character(filepath=str(samples_character.put_character(folder / "game")))
    hat = next(block for block in bpy.data.objects if block.get("idtech_part") == "md3_hat")
    add_cube("own").parent = hat
    first("MESH", [b for b in hat.children if b.name != "own"]).parent = add_tag("elsewhere")
    save_character(folder)


@says("more than actions moves")
def _(folder):
    bpy.ops.import_scene.idtech_character(filepath=str(samples_character.put_character(folder / "game")))
    rig = first("ARMATURE")
    rig.pose.bones[1].constraints.new("COPY_LOCATION").target = add_tag("lead")
    activate(rig)
    save_character(folder)


@says("bones are scaled without a key")
def _(folder):
    bpy.ops.import_scene.idtech_character(filepath=str(samples_character.put_character(folder / "game")))
    rig = first("ARMATURE")
    rig.pose.bones[2].scale = 0.5, 0.5, 0.5
    activate(rig)
    save_character(folder)


@says("is scaled as an object, which no file says")
def _(folder):
    bpy.ops.import_scene.idtech_character(filepath=str(samples_character.put_character(folder / "game")))
    first("ARMATURE").scale = 2.0, 2.0, 2.0
    save_character(folder)


@says("whose motion goes into its animations")
def _(folder):
    bpy.ops.import_scene.idtech_character(filepath=str(samples_character.put_character(folder / "game")))
    first("ARMATURE").parent = cart = add_tag("cart")
    let_move(cart)
    save_character(folder)


@says("constraints or drivers work in the world", to="a.md5mesh", what="SCENE")
def _(_: Path) -> None:
    rig, _ = newt()
    curve = rig.pose.bones["head"].driver_add("location", 1)
    variable = curve.driver.variables.new()
    variable.name, variable.type, curve.driver.expression = "height", "TRANSFORMS", "height * 0.1"
    variable.targets[0].id, variable.targets[0].bone_target = rig, rig.data.bones[0].name
    variable.targets[0].transform_type = "LOC_Z"
    activate(rig)
    bpy.ops.object.idtech_make_root()
    rig.parent.location.z = 80.0


@says("scaled on its root, which no file says")
def _(folder):
    path = samples_doom3.put_character(folder / "game")
    bpy.ops.import_scene.idtech_character(filepath=str(path), character="monster_newt")
    rig = next(b for b in bpy.data.objects if b.type == "ARMATURE" and b.parent["idtech_part"] == "monster_newt root")
    rig.location.z = 5.0
    activate(rig)
    save_character(folder)


@says("the name by which games hang models on it")
def _(folder):
    tag_of(brought(game(folder)).parts["lower"], "tag_torso").name = "tag_belt"
    saved(folder)


@says("more than the frame that its root shows moves it")
def _(folder):
    block = mesh_of(brought(game(folder)), "upper")
    let_move(block)
    saved(folder)


@says("does not hang on ")
def _(folder):
    head = brought(game(folder)).parts["head"]
    head.parent, head.location.z = None, 90.0
    bpy.context.view_layer.update()
    saved(folder)


@says("units off the tag that it hangs on")
def _(folder):
    brought(game(folder)).parts["head"].delta_location.z = 3.0
    saved(folder)


@says("lacks tags on which games hang models")
def _(folder):
    bpy.data.objects.remove(tag_of(brought(game(folder)).parts["upper"], "tag_weapon"))
    saved(folder)


@says("the source of mesh", to="a.md3", what="SCENE")
def _(folder):
    collection = import_model(SENTINEL)
    for holder in (collection, *(block.data for block in collection.objects if block.type == "MESH")):
        del holder[RECORD]
        holder[RECORD] = b"nonsense"


@says("instances are left out", to="a.md3", what="VISIBLE")
def _(folder):
    add_cube("plate").instance_type = "VERTS"
    add_cube("stone").parent = bpy.data.objects["plate"]


def beside(what):
    """Make a mesh beside an imported model of which a mesh is active."""
    active, block = first("MESH", import_model(SENTINEL).objects), add_cube("hat")
    block.parent = active if what == "hung" else None
    activate(active)
    block.select_set(what != "hung")


@says("another one has the number of", to="a.md3")
def _(folder):
    activate(add_cube("a"))
    bpy.ops.object.idtech_make_levels(percentages="50")
    bpy.context.scene.collection.children.link(bpy.data.collections["a_1"].copy())


@says("whose model was deleted or joined", to="a.md3")
def _(folder):
    activate(add_cube("a"))
    bpy.ops.object.idtech_make_levels(percentages="50")
    bpy.data.objects.remove(bpy.data.objects["a"])
    activate(add_cube("b"))


@says("lines of skins go by the order of meshes")
def _(folder):
    bpy.ops.import_scene.idtech_character(filepath=str(samples_xreal.put_player(folder)))
    block = first("MESH")
    block.data.materials.append(bpy.data.materials.new("new"))
    block.data.polygons[0].material_index = 1
    save_character(folder)


def monster(folder: Path, action: str) -> Any:
    """Import a monster, and return its action of a name, which it plays."""
    path = samples_doom3.put_character(folder)
    bpy.ops.import_scene.idtech_character(filepath=str(path), character="monster_newt")
    activate(next(block for block in bpy.data.objects if block.type == "ARMATURE" and block.name.startswith("newt")))
    bpy.ops.object.idtech_animation_play(name=action)
    return bpy.data.actions[action]


@says("is the file of several parts")
def _(folder):
    path = samples_doom3.put_character(folder / "game")
    text = path.read_text(encoding="utf-8")
    worn = '"def_attach"\t"newt_hat"\n\t"def_attach2"\t"newt_bow"'
    bow = samples_doom3.HAT.replace("newt_hat", "newt_bow")
    path.write_text(text.replace('"def_attach"\t\t"newt_hat"', worn) + bow, encoding="utf-8")
    bpy.ops.import_scene.idtech_character(filepath=str(path), character="monster_newt")
    hats = [block for block in bpy.data.objects if block.type == "MESH" and block.parent.type == "EMPTY"]
    for mesh in hats:
        mesh.data.vertices[0].co.x += 9.0 * hats.index(mesh)
        mesh.data.update()
    save_character(folder)


@says("is the file of these, too")
def _(folder):
    monster(folder, "idle")["idtech_frame_rate"] = 12.0
    save_character(folder)


@says("for which the game refuses the model")
def _(folder):
    monster(folder, "walk1")["idtech_frame_commands"] = "400 sound_body snd_step"
    save_character(folder)


@says("keeps its name in the table")
def _(folder):
    bpy.ops.import_scene.idtech_character(filepath=str(samples_character.put_character(folder)))
    activate(first("ARMATURE"))
    bpy.ops.object.idtech_animation_rename(name="walk", to="stand")
    save_character(folder)


@says("has no more: rows may show them")
def _(folder):
    bpy.ops.import_scene.idtech_character(filepath=str(samples_character.put_character(folder)))
    activate(first("ARMATURE"))
    bpy.ops.object.idtech_animation_play(name="body")
    bpy.data.actions["body"].frame_end = 69
    save_character(folder)


@says("by the numbers in its table")
def _(folder):
    path = PROJECT / "examples/trooper/characters/toys/allied/trooper.char"
    bpy.ops.import_scene.idtech_character(filepath=str(path))
    activate(bpy.data.objects["head"])
    bpy.ops.object.idtech_animation_play(name="All Frames")
    bpy.context.scene.frame_set(6)
    bpy.ops.object.idtech_insert_frame()
    save_character(folder)


@says("is worn, but what declares it is gone")
def _(folder):
    monster(folder, "idle")
    skins = folder / "skins/newt.skin"
    skins.write_bytes(skins.read_bytes() + b"skin newt/red { model models/md5/newt/newt.md5mesh a b }")
    activate(next(block for block in bpy.data.objects if block.type == "MESH" and block.parent.name.startswith("newt")))
    bpy.ops.object.idtech_show_skin(skin="newt/red.skin")
    (folder / samples_doom3.DEF).unlink()
    save_character(folder)


@says("has 256 colours, and the nearest")
def _(folder):
    bpy.ops.import_scene.idtech_character(filepath=str(samples_quake2.put_player(folder)), skin="moss")
    bpy.data.images["moss.pcx"].pixels[:16] = [0.93, 0.01, 0.87, 1.0] * 4
    save_character(folder)


def test_a_key_that_is_shown_alone_is_said_of_models_of_bones_that_become_frames(tmp_path, capfd):
    """Their keys are no frames, also where they were imported."""
    _, mesh = newt()
    mesh.shape_key_add(name="Basis")
    mesh.shape_key_add(name="high").data[0].co.z += 9.0
    mesh.active_shape_key_index, mesh.show_only_shape_key = 1, True
    activate(mesh)
    capfd.readouterr()
    export(tmp_path / "a.md3", frames="CURRENT")
    assert (
        f"one shape key alone is shown, and all are written as they play (Solo Active Shape Key is on): '{mesh.name}'"
        in (capfd.readouterr().out)
    )
