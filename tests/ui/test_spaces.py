"""Models that hang on others: in whose space they are written, and the root that gives them one."""

import numpy as np
import pytest
from mathutils import Matrix, Vector

from io_idtech_models.blender.provenance import JOINT
from io_idtech_models.blender.roots import is_root
from tests.samples import load, put, sample
from tests.ui.scene import (
    activate,
    add_mesh,
    add_tag,
    bpy,
    error_of,
    export_bytes,
    export_model,
    first,
    import_model,
    operator,
)

pytestmark = pytest.mark.usefixtures("empty_scene")
GUN = [(0, 0, 0), (8, 0, 0), (0, 8, 0)]


@pytest.fixture
def said(capfd):
    """Give what operators have reported since it was asked last."""
    return lambda: capfd.readouterr().out


def carrier(folder):
    """Import a model with moving tags; returns one of them."""
    return first("EMPTY", import_model(put(folder / "carrier.md3", "animated")).objects)


def carried(folder, sample="animated", name="carried.md3"):
    """Import a model to hang up; returns its file, its collection and its objects."""
    path = put(folder / name, sample)
    made = import_model(path)
    return path, made, list(made.objects)


def gun():
    """Add a mesh that no import made."""
    return add_mesh("gun", GUN, [(0, 1, 2)])


def shift(folder, path):
    """Export, and return how far the vertices are from where a file has them."""
    return export_model(folder / "out.md3").surfaces[0].positions - load(path.read_bytes(), "").surfaces[0].positions


def hang(blocks, tag, keep=False):
    """Parent objects: as a script does, or as Ctrl+P does, which lets them stand where they are."""
    bpy.context.view_layer.update()
    for block in blocks:
        block.parent = tag
        block.matrix_parent_inverse = tag.matrix_world.inverted() if keep else Matrix()
    bpy.context.view_layer.update()
    activate(blocks[0])


@pytest.mark.parametrize("keep", [False, True], ids=["plain", "kept in place"])
@pytest.mark.parametrize("sample", ["minimal", "animated", "tags_only"])
def test_an_unmoved_model_on_anothers_tag_comes_back(tmp_path, said, sample, keep):
    tag = carrier(tmp_path)
    path, _, blocks = carried(tmp_path, sample)
    hang(blocks, tag, keep)
    before = [block.matrix_world.copy() for block in blocks]
    assert export_bytes(tmp_path / "out.md3") == path.read_bytes()
    assert f"it hangs on '{tag.name}', and is written in its own space" in said()
    bpy.context.view_layer.update()
    assert [block.matrix_world for block in blocks] == before
    assert all(block.parent == tag for block in blocks)
    error_of(bpy.ops.export_scene.idtech_md3, filepath=str(tmp_path / "nowhere" / "out.md3"))
    assert all(block.parent == tag for block in blocks), "what fails hangs it up again, too"


def test_tags_that_stayed_behind_are_its_own_as_well(tmp_path):
    tag = carrier(tmp_path)
    path, _, blocks = carried(tmp_path, "animated")
    hang([block for block in blocks if block.type == "MESH"], tag)
    assert export_bytes(tmp_path / "out.md3") == path.read_bytes()


def test_a_model_that_was_moved_to_the_tag_is_written_as_it_stands_against_that(tmp_path, said):
    tag = carrier(tmp_path)
    path, _, blocks = carried(tmp_path, "minimal")
    hang(blocks, tag, keep=True)
    for block in blocks:
        block.matrix_world = tag.matrix_world @ Matrix.Translation((0.0, 0.0, 2.0))
    found = shift(tmp_path, path)
    assert len(found) == 1
    np.testing.assert_allclose(found, np.broadcast_to((0, 0, 2), found.shape), atol=1 / 64)
    assert "is written as it stands against that, which is where games draw it" in said()


@pytest.mark.parametrize("moved", [False, True], ids=["hung up as it came", "moved there"])
def test_what_a_mirror_is_at_stays_where_it_is_against_the_model(tmp_path, moved):
    """The model is taken off its tag while it is written, and what stands in the world was elsewhere then."""
    tag = carrier(tmp_path)
    path, _, blocks = carried(tmp_path, "minimal")
    hang(blocks, tag, keep=moved)
    if moved:
        blocks[0].matrix_world = tag.matrix_world @ Matrix.Translation((0.0, 0.0, 2.0))
    bpy.context.view_layer.update()
    centre = add_tag("centre", "PLAIN_AXES")
    centre.matrix_world = tag.matrix_world @ Matrix.Translation((20.0, 0.0, 0.0))
    mirror = next(block for block in blocks if block.type == "MESH").modifiers.new("mirror", "MIRROR")
    mirror.mirror_object, mirror.use_mirror_merge = centre, False
    bpy.context.view_layer.update()
    place = centre.matrix_world.copy()
    points = export_model(tmp_path / "out.md3").surfaces[0].positions[0]
    was = load(path.read_bytes(), "").surfaces[0].positions[0] + (0, 0, 2.0 * moved)
    wanted = np.concatenate([was, was * (-1, 1, 1) + (40, 0, 0)])
    assert np.abs(np.sort(points, axis=0) - np.sort(wanted, axis=0)).max() < 1 / 32
    bpy.context.view_layer.update()
    assert centre.parent is None and centre.matrix_world == place


def test_the_world_if_that_is_asked_for(tmp_path, said):
    tag = carrier(tmp_path)
    path, _, blocks = carried(tmp_path, "minimal")
    hang(blocks, tag)
    bpy.context.scene.frame_set(1)
    model = export_model(tmp_path / "out.md3", space="WORLD", frames="CURRENT")
    was = load(path.read_bytes(), "").surfaces[0].positions[0]
    there = [tuple(tag.matrix_world @ Vector(point)) for point in was.tolist()]
    np.testing.assert_allclose(model.surfaces[0].positions[0], there, atol=1 / 64)
    assert "hangs on" not in said()


def test_what_was_built_in_the_world_moves_with_the_tag_and_says_so(tmp_path, said):
    tag = carrier(tmp_path)
    hang([gun()], tag)
    assert export_model(tmp_path / "out.md3", what="SELECTION").num_frames > 1
    assert f"it is written with the motion of '{tag.name}', on which it hangs" in said()
    own = export_model(tmp_path / "own.md3", what="SELECTION", space="OWN")
    np.testing.assert_allclose(own.surfaces[0].positions, [GUN], atol=1 / 64)


def test_what_hangs_on_an_empty_of_ones_own_stands_in_the_world(tmp_path, said):
    """But not if that hangs on a tag."""
    stand = add_tag("stand", "PLAIN_AXES")
    stand.location = 0, 0, 5
    path, _, blocks = carried(tmp_path, "minimal")
    hang(blocks, stand)
    np.testing.assert_allclose(shift(tmp_path, path)[..., 2], 5, atol=1 / 64)
    assert "hangs on" not in said()
    stand.parent = carrier(tmp_path)
    activate(blocks[0])
    assert export_bytes(tmp_path / "out.md3") == path.read_bytes()


@pytest.mark.parametrize("kind", ["md5mesh", "iqm"])
def test_a_rig_on_anothers_tag(tmp_path, kind, said):
    tag = carrier(tmp_path)
    _, _, blocks = carried(tmp_path, {"md5mesh": "arm", "iqm": "animated"}[kind], f"carried.{kind}")
    rig = first("ARMATURE", blocks)
    activate(rig)
    before = export_bytes(tmp_path / f"before.{kind}")
    hang([rig], tag)
    bpy.context.scene.frame_set(1)
    assert export_bytes(tmp_path / f"out.{kind}") == before
    assert "is written in its own space" in said()
    assert rig.parent == tag


@pytest.mark.parametrize("what", ["AUTO", "SCENE"])
@pytest.mark.parametrize("kind", ["md3", "md2", "md5mesh", "iqm", "mds", "mdr"])
def test_a_rooted_model_is_written_alike_wherever_its_root_stands(tmp_path, said, kind, what):
    samples = {"md3": "animated", "md2": "animated", "md5mesh": "arm", "iqm": "arm", "mds": "figure", "mdr": "walker"}
    path = put(tmp_path / f"a.{kind}", sample(samples[kind], kind))
    activate(first("MESH", import_model(path).objects))
    before = export_bytes(tmp_path / f"before.{kind}")
    bpy.ops.object.idtech_make_root()
    root = next(block for block in bpy.data.objects if is_root(block))
    root.location = 10.0, 20.0, 80.0
    said()
    target = tmp_path / f"out.{kind}"
    operator("export", target)(filepath=str(target), what=what)
    assert target.read_bytes() == before
    assert root.name not in said()


def test_what_bones_reach_for_goes_along_whether_it_is_selected_or_not(tmp_path, said):
    rig = first("ARMATURE", import_model(put(tmp_path / "a.iqm", sample("arm", "iqm"))).objects)
    target = add_tag("target", "PLAIN_AXES")
    target.location = 3.0, 2.0, 9.0
    rig.pose.bones[-1].constraints.new("IK").target = target
    activate(rig)
    before = export_bytes(tmp_path / "before.iqm")
    bpy.ops.object.idtech_make_root()
    root = next(block for block in bpy.data.objects if is_root(block))
    for block in (root, target):
        block.location.z += 80.0
    for what, blocks in (("AUTO", []), ("SELECTION", [root, target, *rig.children]), ("SCENE", [])):
        activate(rig, *blocks)
        bpy.ops.export_scene.idtech_iqm(filepath=str(tmp_path / "out.iqm"), what=what)
        assert (tmp_path / "out.iqm").read_bytes() == before, what
        assert "in the world" not in said()


def far_target():
    """Add what a bone looks at in the world, near the root of `led`."""
    target = add_tag("target", "PLAIN_AXES")
    target.location = 12.0, 23.0, 85.0
    return target


def near_target(root):
    """Add what a bone looks at, on the same root."""
    target = add_tag("beside", "PLAIN_AXES")
    target.location, target.parent = (4.0, 3.0, 2.0), root
    return target


def drive(rig, path, root):
    """Let a property follow how high a target stands in the world."""
    curve = rig.pose.bones[1].driver_add(*path)
    curve.driver.expression = "z * 0.01"
    variable = curve.driver.variables.new()
    variable.name, variable.type = "z", "TRANSFORMS"
    variable.targets[0].id, variable.targets[0].transform_type = far_target(), "LOC_Z"


# What bones do that looks at the world, or at what stands there: constraints with their settings, by a root.
IN_THE_WORLD = {
    "limited": lambda _root: ("LIMIT_LOCATION", {"use_max_z": True, "max_z": 84.0}),
    "turned": lambda _root: ("LIMIT_ROTATION", {"use_limit_x": True, "max_x": 0.1}),
    "thin": lambda _root: ("LIMIT_SCALE", {"use_max_x": True, "max_x": 0.5}),
    "squeezed": lambda _root: ("MAINTAIN_VOLUME", {"volume": 0.5}),
    "where it is": lambda _root: ("COPY_LOCATION", {"target": far_target(), "use_x": False}),
    "where one beside is": lambda root: ("COPY_LOCATION", {"target": near_target(root), "use_z": False}),
    "where the root is": lambda root: ("COPY_LOCATION", {"target": root, "use_z": False}),
    "as it": lambda _root: ("COPY_TRANSFORMS", {"target": far_target()}),
    "child of one beside": lambda root: ("CHILD_OF", {"target": near_target(root)}),
    "towards it": lambda _root: ("TRACK_TO", {"target": far_target()}),
    "towards the root": lambda root: ("DAMPED_TRACK", {"target": root}),
    "above it": lambda _root: ("FLOOR", {"target": far_target()}),
    "by its height": lambda _root: (
        "TRANSFORM", {"target": far_target(), "map_to": "LOCATION", "from_max_z": 100.0, "to_max_z": 5.0}
    ),
    "reaching for it": lambda root: ("IK", {"target": far_target(), "pole_target": root, "chain_count": 2}),
    "reaching for one beside": lambda root: ("IK", {"target": near_target(root)}),
    "reaching for the root": lambda root: ("IK", {"target": root}),
    "in a space of its own": lambda _root: (
        "LIMIT_LOCATION", {"use_max_z": True, "max_z": 1.0, "owner_space": "CUSTOM", "space_object": far_target()}
    ),
}  # fmt: skip


NOT_OF_OBJECTS = {"reaching for it", "reaching for one beside", "reaching for the root", "child of one beside"}
FLAT = {"thin", "squeezed", "towards the root"}  # an armature that is scaled unevenly; one at the root has no direction


@pytest.mark.parametrize("carried_by", ["root", "moving root", "leaving root", "moving tag"])
@pytest.mark.parametrize("how", [*sorted(IN_THE_WORLD.keys() - NOT_OF_OBJECTS - FLAT)])
def test_an_armature_does_in_the_world_what_it_is_shown_to(tmp_path, said, how, carried_by):
    check_in_the_world(tmp_path, said, how, carried_by, of_bone=False)


@pytest.mark.parametrize("carried_by", ["root", "moving root", "leaving root", "moving tag"])
@pytest.mark.parametrize("how", [*IN_THE_WORLD, "driven"])
def test_bones_do_in_the_world_what_they_are_shown_to(tmp_path, said, how, carried_by):
    check_in_the_world(tmp_path, said, how, carried_by, of_bone=True)


def check_in_the_world(tmp_path, said, how, carried_by, of_bone):
    """Assert that nothing is said, and what is written is what is shown, seen from the root, or from the tag."""
    rig = first("ARMATURE", import_model(put(tmp_path / "a.iqm", sample("arm", "iqm"))).objects)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 0, 3
    root = carried_rig(rig, carried_by, tmp_path)
    scene.frame_set(0)
    if how == "driven":
        drive(rig, ("location", 1), root)
    else:
        kind, settings = IN_THE_WORLD[how](root)
        owner = rig.pose.bones[1] if of_bone else rig  # a bone hangs on it
        constraint = owner.constraints.new(kind)
        for name, value in settings.items():
            setattr(constraint, name, value)
    shown = [points_of(rig, root, frame) for frame in range(4)]
    scene.frame_set(0)
    before = [(block.name, block.parent, np.array(block.matrix_world)) for block in bpy.data.objects]
    export_bytes(tmp_path / "out.iqm", motions="SCENE")
    assert "work in the world" not in said()
    after = [(block.name, block.parent, np.array(block.matrix_world)) for block in bpy.data.objects]
    assert [row[:2] for row in after] == [row[:2] for row in before]
    np.testing.assert_allclose([row[2] for row in after], [row[2] for row in before], atol=1e-5)
    written = first("ARMATURE", import_model(tmp_path / "out.iqm").objects)
    for frame, wanted in enumerate(shown):
        np.testing.assert_allclose(points_of(written, None, frame), wanted, atol=2e-3, err_msg=f"frame {frame}")


def rooted(path):
    """Import a model with bones, and give it a root that stands elsewhere; returns the armature and its root."""
    rig = first("ARMATURE", import_model(path).objects)
    root = moving_root(rig, "root")
    activate(rig)
    return rig, root


def test_what_bones_do_in_the_world_is_written_where_rest_is_shown(tmp_path):
    rig, _ = rooted(put(tmp_path / "a.iqm", sample("arm", "iqm")))
    limit = rig.pose.bones[1].constraints.new("LIMIT_LOCATION")
    limit.use_max_z, limit.max_z = True, 70.0
    before = export_bytes(tmp_path / "before.iqm")
    rig.data.pose_position = "REST"
    assert export_bytes(tmp_path / "out.iqm") == before
    assert rig.data.pose_position == "REST"


def test_a_length_that_blender_measures_is_not_that_from_elsewhere(tmp_path):
    rig, root = rooted(put(tmp_path / "a.iqm", sample("arm", "iqm")))
    limit = rig.pose.bones[0].constraints.new("LIMIT_DISTANCE")
    limit.target = root
    root.matrix_world.translation = rig.matrix_world @ rig.pose.bones[0].head
    rig.location = -rig.pose.bones[0].head
    bpy.context.view_layer.update()
    assert limit.distance == 0.0
    export_bytes(tmp_path / "out.iqm")
    assert limit.distance == 0.0


def test_bounds_hold_what_bones_bend_beside_the_root(tmp_path):
    rig, _ = rooted(put(tmp_path / "a.md5mesh", "arm"))
    motion = put(tmp_path / "a.md5anim", sample("gaps_between_channels", "md5anim"))
    operator("import", motion)(filepath=str(motion))
    before = export_bytes(tmp_path / "before.md5anim", recompute_bounds=True)
    mesh = first("MESH", rig.children)
    stood = mesh.matrix_world.copy()
    mesh.parent = None
    mesh.matrix_world = stood
    assert export_bytes(tmp_path / "out.md5anim", recompute_bounds=True) == before


def carried_rig(rig, carried_by, folder):
    """Hang an armature on a root or on a tag, and return that."""
    if carried_by == "moving tag":
        tag = carrier(folder)
        hang([rig], tag)
        rig.location.x, tag.location = 2.0, (10.0, 20.0, 80.0)
        return tag
    return moving_root(rig, carried_by)


def moving_root(block, carried_by):
    """Give a model a root that stands elsewhere, that moves, or that moves away."""
    activate(block)
    bpy.ops.object.idtech_make_root()
    root = block.parent
    root.rotation_mode = "XYZ"
    if carried_by != "leaving root":  # which is at home in the frame that the scene shows
        root.location, root.rotation_euler = (10.0, 20.0, 80.0), (0.3, 0.5, 0.2)
    if carried_by != "root":
        root.keyframe_insert("location", frame=0)
        root.keyframe_insert("rotation_euler", frame=0)
        root.location.z, root.rotation_euler.x = 84.0, 1.0
        root.keyframe_insert("location", frame=3)
        root.keyframe_insert("rotation_euler", frame=3)
    return root


def points_of(rig, root, frame):
    """Return the bones' places that show in a frame of the scene, seen from a root, (J, 3)."""
    bpy.context.scene.frame_set(frame)
    depsgraph = bpy.context.evaluated_depsgraph_get()
    shown = rig.evaluated_get(depsgraph)
    space = Matrix() if root is None else root.evaluated_get(depsgraph).matrix_world
    return [space.inverted() @ shown.matrix_world @ bone.matrix.translation for bone in shown.pose.bones]


@pytest.mark.parametrize("carried_by", ["moving root", "moving tag"])
def test_what_hangs_on_a_vertex_is_turned_as_it_is_shown(tmp_path, carried_by):
    """Blender moves it with the vertex, and turns it with nothing."""
    blocks = list(import_model(put(tmp_path / "a.md3", "animated")).objects)
    mesh = first("MESH", blocks)
    hat = add_mesh("hat", GUN, [(0, 1, 2)])
    hat.parent, hat.parent_type, hat.parent_vertices = mesh, "VERTEX", (1, 0, 0)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 0, 3
    if carried_by == "moving tag":
        above = carrier(tmp_path)
        hang(blocks, above)
        mesh.location.x, above.location = 2.0, (10.0, 20.0, 80.0)
    else:
        above = moving_root(mesh, carried_by)
    shown = []
    for frame in range(4):
        scene.frame_set(frame)
        graph = bpy.context.evaluated_depsgraph_get()
        place = above.evaluated_get(graph).matrix_world.inverted() @ hat.evaluated_get(graph).matrix_world
        shown.append([tuple(place @ Vector(point)) for point in GUN])
    scene.frame_set(0)
    activate(mesh, hat, *blocks)
    model = export_model(tmp_path / "out.md3", what="SELECTION", frames="SCENE", space="OWN")
    written = next(surface for surface in model.surfaces if surface.name.startswith("hat")).positions
    np.testing.assert_allclose(written[:, [0, 1, 2]], shown, atol=1 / 32)
    assert (hat.parent, hat.parent_type, hat.parent_vertices[0]) == (mesh, "VERTEX", 1)


@pytest.mark.parametrize(("kind", "name"), [("mds", "figure"), ("mdr", "walker")])
def test_a_tag_on_a_bone_with_relative_parenting_is_where_it_is_shown(tmp_path, kind, name):
    path = put(tmp_path / f"a.{kind}", sample(name, kind))
    made = import_model(path)
    tag, rig = first("EMPTY", made.objects), first("ARMATURE", made.objects)
    stood = tag.matrix_world.copy()
    rig.data.bones[tag.parent_bone].use_relative_parent = True
    bpy.context.view_layer.update()
    assert (tag.matrix_world.translation - stood.translation).length > 1.0
    activate(rig)
    assert export_bytes(tmp_path / f"out.{kind}") != path.read_bytes()
    tag.matrix_world = stood
    assert export_bytes(tmp_path / f"out.{kind}") == path.read_bytes()


@pytest.mark.parametrize("is_of_file", [True, False])
def test_a_bone_that_is_a_tag_stands_as_the_joint_that_it_is(tmp_path, is_of_file):
    """A joint's X is the bone's Y, and so in all formats; bones of one's own armature are no file's joints."""
    rig = first("ARMATURE", import_model(put(tmp_path / "arm.md5mesh", "arm")).objects)
    bpy.ops.import_anim.idtech_md5anim(filepath=str(put(tmp_path / "wave.md5anim", "wave")))
    bone = rig.pose.bones[-1]
    bone.name = "tag_hand"
    for each in () if is_of_file else rig.data.bones:
        del each[JOINT]
    shown = []
    for frame in range(2):
        bpy.context.scene.frame_set(frame)
        axes = np.array((rig.matrix_world @ bone.matrix).to_3x3().normalized().transposed())
        shown.append([axes[1], -axes[0], axes[2]] if is_of_file else axes)
    activate(rig)
    tags = {tag.name: tag for tag in export_model(tmp_path / "out.md3", frames="SCENE").tags}
    np.testing.assert_allclose(tags["tag_hand"].axes[:2], shown, atol=1e-4)


def test_a_model_on_a_bone_that_is_a_tag(tmp_path):
    path, _, blocks = carried(tmp_path, "minimal")
    rig = first("ARMATURE", import_model(put(tmp_path / "body.md5mesh", "arm")).objects)
    bone = rig.pose.bones[-1]
    bpy.context.view_layer.update()
    for block in blocks:
        block.parent, block.parent_type, block.parent_bone = rig, "BONE", bone.name
        block.matrix_parent_inverse = Matrix()
    activate(blocks[0])
    assert export_bytes(tmp_path / "out.md3") == path.read_bytes()
    # moved to the joint: a joint's X is the bone's Y
    joint = rig.matrix_world @ bone.matrix @ Matrix(((0, -1, 0, 0), (1, 0, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)))
    for block in blocks:
        block.matrix_world = joint @ Matrix.Translation((0.0, 3.0, 0.0))
    found = shift(tmp_path, path)
    np.testing.assert_allclose(found, np.broadcast_to((0, 3, 0), found.shape), atol=1 / 64)


class TestMakeRoot:
    def make(self):
        assert bpy.ops.object.idtech_make_root() == {"FINISHED"}
        return bpy.context.view_layer.objects.active

    @pytest.mark.parametrize("keep", [False, True], ids=["plain", "kept in place"])
    def test_of_a_model_on_a_tag(self, tmp_path, keep, said):
        tag = carrier(tmp_path)
        path, made, blocks = carried(tmp_path, "animated")
        hang(blocks, tag, keep)
        bpy.context.view_layer.update()
        before = [np.array(block.matrix_world) for block in blocks]
        root = self.make()
        bpy.context.view_layer.update()
        assert root.parent == tag
        assert root.name in made.objects
        np.testing.assert_allclose([np.array(block.matrix_world) for block in blocks], before, atol=1e-5)
        activate(blocks[0])
        assert export_bytes(tmp_path / "out.md3") == path.read_bytes()
        assert "hangs on" not in said()

    def test_of_a_gun_that_was_built(self, tmp_path, said):
        block = gun()
        hang([block], carrier(tmp_path))
        self.make()
        activate(block)
        model = export_model(tmp_path / "out.md3", what="SELECTION")
        np.testing.assert_allclose(model.surfaces[0].positions, [GUN], atol=1 / 64)
        assert "hangs on" not in said()

    def test_in_the_world_and_carried_off(self, tmp_path):
        """One is enough, and makes no player of it."""
        path, _, blocks = carried(tmp_path, "animated")
        activate(blocks[0])
        root = self.make()
        root.location, root.rotation_euler = (5, 6, 7), (0, 0, 1)
        activate(blocks[0])
        assert export_bytes(tmp_path / "out.md3") == path.read_bytes()
        assert not bpy.ops.object.idtech_play.poll()
        assert f"the model hangs on a root already: '{root.name}'" in error_of(bpy.ops.object.idtech_make_root)

    def test_of_a_rig(self, tmp_path):
        _, _, blocks = carried(tmp_path, "arm", "carried.md5mesh")
        activate(first("ARMATURE", blocks))
        before = export_bytes(tmp_path / "before.md5mesh")
        self.make().location = 1, 2, 3
        activate(blocks[0])
        assert export_bytes(tmp_path / "out.md5mesh") == before
        assert export_bytes(tmp_path / "world.md5mesh", space="WORLD") != before


def test_what_hangs_on_the_tag_of_a_rooted_model_is_no_part_of_that(tmp_path):
    body_path, body, body_blocks = carried(tmp_path, "animated", "body.md3")
    activate(body_blocks[0])
    bpy.ops.object.idtech_make_root()
    tag = next(block for block in body.objects if block.name.startswith("tag_"))
    path, _, blocks = carried(tmp_path, "minimal")
    hang([*blocks, gun()], tag)
    assert export_bytes(tmp_path / "out.md3") == path.read_bytes()
    activate(body_blocks[0])
    assert export_bytes(tmp_path / "out.md3") == body_path.read_bytes()


class TestSideBySide:
    def spans(self, blocks):
        bpy.context.view_layer.update()
        bodies = [block for block in blocks if block.type == "MESH"]
        ends = [(block.matrix_world @ Vector(corner)).y for block in bodies for corner in block.bound_box]
        return min(ends), max(ends)

    def test_models_stand_apart_and_their_files_stay(self, tmp_path):
        names = ["a.md3", "b.md3", "c.md3"]
        for name, called in zip(names, ("animated", "seamed_cube", "minimal"), strict=True):
            put(tmp_path / name, called)
        files = [{"name": name} for name in names]
        bpy.ops.import_scene.idtech_md3(directory=str(tmp_path), files=files, side_by_side=True)
        homes = [bpy.data.collections[name[0]] for name in names]
        spans = [self.spans(home.all_objects) for home in homes]
        assert spans[0][1] < spans[1][0] < spans[1][1] < spans[2][0]
        for home, name in zip(homes, names, strict=True):
            activate(first("MESH", home.objects))
            assert export_bytes(tmp_path / "out.md3") == (tmp_path / name).read_bytes()

    def test_rigs(self, tmp_path):
        for name in ("a.md5mesh", "b.md5mesh"):
            put(tmp_path / name, "arm")
        files = [{"name": name} for name in ("a.md5mesh", "b.md5mesh")]
        bpy.ops.import_scene.idtech_md5mesh(directory=str(tmp_path), files=files, side_by_side=True)
        one, other = (bpy.data.collections[name] for name in "ab")
        assert self.spans(one.objects)[1] < self.spans(other.objects)[0]
        out = []
        for home in (one, other):
            activate(first("ARMATURE", home.objects))
            out.append(export_bytes(tmp_path / "out.md5mesh"))
        assert out[0] == out[1]

    def test_one_stays_where_it_is(self, tmp_path):
        made = import_model(put(tmp_path / "a.md3"), side_by_side=True)
        assert {block.type for block in made.objects} == {"MESH", "EMPTY"}
        assert all(block.parent is None for block in made.objects)
