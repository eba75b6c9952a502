"""MDM structs to models and back: what a model holds, and what becomes of one that changed or was made anew."""

from dataclasses import replace

import numpy as np
import pytest

from io_idtech_models.formats import by_name
from io_idtech_models.formats.common.skinned import bone_order, heaviest_first
from io_idtech_models.formats.mdm import file as mdm
from io_idtech_models.model.limits.games import ERROR
from io_idtech_models.model.lod import collapse
from io_idtech_models.model.skeletal import JointTag, SkeletalModel, Skeleton, SkinnedMesh, Traits, Weights, skin
from io_idtech_models.model.transforms import rotate, to_matrices
from io_idtech_models.reporting import FormatError
from tests import samples_mdm
from tests.facts import differences
from tests.samples import corpus, corpus_params

MDM = by_name("mdm")
WALK = samples_mdm.walk()


def load(data, bones=WALK):
    return MDM.load(data, "x", {"mdx": bones} if bones else {})


def fresh(model):
    """Return a model as if it had been made, not read."""
    meshes = [
        replace(m, source_index=-1, source_vertices=None, source_triangles=None, kept=None, kept_normals=None)
        for m in model.meshes
    ]
    tags = [replace(tag, source_index=-1, kept=False) for tag in model.tags]
    return replace(model, source=None, skeleton=replace(model.skeleton, sources=None, kept=None), meshes=meshes,
                   tags=tags)  # fmt: skip


def posed(model, mesh):
    return skin(mesh.weights, model.skeleton.positions, model.skeleton.rotations)


# -- what a model holds


def test_vertices_stand_where_the_engine_puts_them():
    spec, pose = samples_mdm.figure_spec(), samples_mdm.pose_of(samples_mdm.MdxSpec(), 0)
    model = load(spec.pack())
    for mesh, own in zip(model.meshes, spec.surfaces, strict=True):
        for place, (_, _, weights) in zip(posed(model, mesh), own.verts, strict=True):
            parts = [(w, samples_mdm.from_bone(pose, bone, offset)) for bone, w, offset in weights]
            np.testing.assert_allclose(place, [sum(w * p[k] for w, p in parts) for k in range(3)], atol=1e-5)
    for tag, wanted in zip(model.tags, spec.tags, strict=True):
        place = rotate(model.skeleton.rotations[tag.joint], tag.origin) + model.skeleton.positions[tag.joint]
        np.testing.assert_allclose(place, samples_mdm.from_bone(pose, wanted.bone, wanted.offset), atol=1e-5)


def test_triangles_face_outward_and_textures_stand_upright():
    spec = samples_mdm.figure_spec()
    model = load(spec.pack())
    mesh = model.meshes[0]
    assert mesh.triangles.tolist() == [list(tri[::-1]) for tri in spec.surfaces[0].tris]
    corners = posed(model, mesh)[mesh.triangles]
    outward = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    middle = np.append(model.skeleton.positions[0][:2], 0)
    assert (np.einsum("ti,ti->t", outward, corners.mean(axis=1) - middle) > 0).all()
    s, t = spec.surfaces[0].verts[9][1]
    assert mesh.uvs[9].tolist() == pytest.approx([s, 1 - t])
    turned = rotate(model.skeleton.rotations[mesh.weights.first_joints()], mesh.normals)
    places = posed(model, mesh)
    flat = (places - places.reshape(6, 7, 3).mean(axis=1).repeat(7, axis=0)) * [1, 1, 0]
    assert (np.einsum("vi,vi->v", flat, turned) > 0).all()


def test_what_else_a_model_holds():
    spec = samples_mdm.figure_spec()
    spec.lod = (0.75, -0.125)
    model = load(spec.pack())
    assert model.skeleton.names[1:3] == ["Bip01 Spine", "Bip01 Head"]
    assert model.skeleton.names[7] == "fuß"
    assert model.skeleton.parents.tolist() == [bone.parent for bone in samples_mdm.BONES]
    assert [(m.name, m.shader, m.min_lod) for m in model.meshes] == [
        ("u_body", "models/figure/body", 21), ("l_legs", "", 9),
    ]  # fmt: skip
    assert [(t.name, t.joint) for t in model.tags] == [("tag_head", 2), ("tag_weapon", 6), ("tag_ubelt", 1)]
    assert model.tags[1].axes.ravel().tolist() == list(samples_mdm.SHEARED)
    assert model.lod == (0.75, -0.125)
    traits = model.skeleton.traits
    assert (traits.torso_weights.tolist(), traits.flags.tolist(), traits.torso_parent) == (
        [0, 0.5, 1, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 0, 1, 0], 1,
    )  # fmt: skip


def test_without_bones():
    model = load(samples_mdm.figure(), None)
    assert model.skeleton.names == [f"bone_{i:03d}" for i in range(8)]
    assert (model.skeleton.parents == -1).all()
    assert model.skeleton.traits is None
    mesh = model.meshes[0]
    table, owners = mesh.weights, mesh.weights.entries()[0]
    means = [np.average(table.offsets[owners == v], 0, table.factors[owners == v]) for v in range(mesh.num_vertices)]
    np.testing.assert_allclose(posed(model, mesh), means, atol=1e-5)


def test_fewer_bones_than_a_model_uses():
    few = samples_mdm.MdxSpec(bones=samples_mdm.BONES[:7], frames=samples_mdm.moving_frames(2, 7))
    with pytest.raises(FormatError, match="skeleton of another model: expected 8 bones, found 7"):
        load(samples_mdm.figure(), few.pack())


def test_numbers_that_blender_can_not_show():
    model = load(samples_mdm.odd_numbers())
    assert np.isfinite(model.meshes[0].uvs).all()
    assert np.isfinite(model.meshes[0].normals).all()
    assert model.meshes[0].uvs[0].tolist() == [3.25, 8.5]


MDXS = {file.path.stem: file for file in corpus(".mdx")}


@pytest.mark.parametrize("file", corpus_params(".mdm"))
def test_poses_are_the_formulas(file):
    checked = 0
    loaded = {name: load(file.data, MDXS[name].data) for name in MDXS}
    poses = {name: _poses(MDXS[name].data) for name in MDXS}
    for key, wanted in file.expected().items():
        name, frame, part, *what = key.split(".")
        if not what:
            continue
        model, number = loaded[name], int(part.lstrip("surfaceg"[:7]).lstrip("tag"))
        places, turns = (values[int(frame.removeprefix("frame"))] for values in poses[name])
        if part.startswith("tag"):
            tag = model.tags[number]
            matrix = to_matrices(turns[tag.joint])
            found = matrix @ tag.origin + places[tag.joint] if what == ["origin"] else tag.axes @ matrix.T
        else:
            table = model.meshes[number].weights
            found = skin(table, places, turns)
            if what == ["normals"]:
                found = rotate(turns[table.first_joints()], model.meshes[number].normals)
        np.testing.assert_allclose(found, wanted, atol=1e-4)
        checked += 1
    assert checked > 300


def _poses(data):
    from io_idtech_models.formats.common.wolf.motion import nothing_turned, poses_of
    from io_idtech_models.formats.mdx import file as mdx
    from io_idtech_models.formats.mdx.model import KIND

    exact = replace(KIND, coarse=False)  # as the corpus's values were computed
    return poses_of(mdx.read(data), exact, nothing_turned(len(mdx.read(data).bones)))


# -- made anew


@pytest.mark.parametrize("make", [samples_mdm.figure, samples_mdm.odd_weights, samples_mdm.odd_facts])
def test_a_model_without_source_shows_the_same(make, caplog):
    before = load(make())
    after = load(MDM.dump(fresh(before)))
    assert [m.name for m in after.meshes] == [m.name.lower() for m in before.meshes]
    assert ("is written in lower case" in caplog.text) is (make is samples_mdm.odd_facts)
    for one, other in zip(before.meshes, after.meshes, strict=True):
        np.testing.assert_allclose(posed(before, one), posed(after, other), atol=1e-5)
        np.testing.assert_array_equal(one.triangles, other.triangles)
        np.testing.assert_allclose(one.uvs, other.uvs, atol=1e-6)
        owners, entries = other.weights.entries()
        same = owners[1:] == owners[:-1]
        assert (np.diff(other.weights.factors[entries])[same] <= 0).all(), "heaviest first"
        turns = before.skeleton.rotations  # turned by other bones they still show what they showed
        shown = [rotate(turns[mesh.weights.first_joints()], mesh.normals) for mesh in (one, other)]
        np.testing.assert_allclose(shown[0], shown[1], atol=1e-5)
        assert other.min_lod == other.num_vertices, "drawn in full"
    firsts = [mesh.weights.first_joints() for mesh in (before.meshes[0], after.meshes[0])]
    assert (firsts[0] != firsts[1]).any(), "some were turned by another"
    for tag, wanted_tag in zip(after.tags, before.tags, strict=True):
        assert (tag.name, tag.joint) == (wanted_tag.name, wanted_tag.joint)
        np.testing.assert_array_equal(tag.axes, wanted_tag.axes)


def test_a_new_vertex_has_its_heaviest_weight_first_and_a_kept_one_the_sources():
    model = load(samples_mdm.figure())
    mesh = model.meshes[0]
    ring = list(range(7, 14))  # whose second weight is the heavier
    mesh.kept[ring[:3]] = False
    mesh.kept_normals[ring[:3]] = False
    before = mdm.read(samples_mdm.figure()).surfaces[0]
    data = MDM.dump(model)
    wanted = {f"surfaces[0].verts[{v}].{what}" for v in ring[:3] for what in ("weights", "normal")}
    assert differences(samples_mdm.figure(), data) == wanted
    after = mdm.read(data).surfaces[0]
    starts = np.cumsum(after.vertices["num_weights"]) - after.vertices["num_weights"]
    assert after.weights["bone"][starts[ring]].tolist() == [0] * 3 + [5] * 4
    first, second = (rotate(model.skeleton.rotations[b], s.vertices["normal"][7]) for b, s in ((5, before), (0, after)))
    np.testing.assert_allclose(first, second, atol=1e-6)


def test_a_new_normal_of_a_kept_vertex_is_in_the_space_of_the_files_first_bone():
    """Blender gives weights the heaviest first; a kept vertex has the file's, whose first may be another."""
    data = samples_mdm.figure()
    model = load(data)
    mesh, before = model.meshes[0], mdm.read(data).surfaces[0].vertices["normal"]
    mesh.weights, mesh.normals = heaviest_first(mesh, model.skeleton, np.zeros(42, np.bool_))
    mesh.kept_normals[:] = False
    found = MDM.dump(model)
    assert all(path.endswith(".normal") for path in differences(data, found))
    np.testing.assert_allclose(mdm.read(found).surfaces[0].vertices["normal"], before, atol=1e-6)


def test_normals_of_a_mesh_without_any_are_smooth():
    model = fresh(load(samples_mdm.figure()))
    model.meshes[0].normals = None
    after = load(MDM.dump(model))
    mesh = after.meshes[0]
    shown = rotate(after.skeleton.rotations[mesh.weights.first_joints()], mesh.normals)
    np.testing.assert_allclose(np.linalg.norm(shown, axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(shown[0], shown[6], atol=1e-6, err_msg="over the seam")
    places = posed(after, mesh)
    flat = (places - places.reshape(6, 7, 3).mean(axis=1).repeat(7, axis=0)) * [1, 1, 0]
    assert (np.einsum("vi,vi->v", flat, shown) > 0).all()


# -- an edited model keeps what it can


def test_other_facts_are_written_and_nothing_else():
    data = samples_mdm.figure()
    model = load(data)
    model.meshes[1].name, model.meshes[1].shader, model.meshes[0].min_lod = "l_boots", "boots", 7
    model.tags[0].name, model.lod = "tag_hat", (0.5, 0.25)
    wanted = {"surfaces[1].name", "surfaces[1].shader", "surfaces[0].min_lod", "tags[0].name", "lod_scale", "lod_bias"}
    assert differences(data, MDM.dump(model)) == wanted


def test_a_tag_that_moved_or_hangs_elsewhere():
    data = samples_mdm.figure()
    model = load(data)
    model.tags[0].origin, model.tags[0].kept = np.array([1, 2, 3], np.float32), False
    model.tags[2].joint, model.tags[2].kept = 7, False
    after = MDM.dump(model)
    assert differences(data, after) == {"tags[0].offset", "tags[2].bone", "tags[2].refs"}
    assert mdm.read(after).tags[2].bone_refs.tolist() == [0, 3, 7]


@pytest.mark.parametrize("place", [0, 1, 3])
def test_a_tag_more(place):
    """It stands where the model has it, and those of the file keep all that is theirs."""
    data = samples_mdm.figure() + b"what follows"
    model = load(data)
    model.tags.insert(place, JointTag("tag_new", 4, np.array([1, 2, 3], np.float32), np.eye(3, dtype=np.float32)))
    written = MDM.dump(model)
    assert written.endswith(b"what follows")
    before, after = mdm.read(data).tags, mdm.read(written).tags
    new = after.pop(place)
    found = new.header["name"].rstrip(b"\0"), new.header["bone"], new.header["offset"].tolist()
    assert found == (b"tag_new", 4, [1, 2, 3])
    one, other = ([(tag.header.tobytes(), tag.bone_refs.tolist()) for tag in tags] for tags in (before, after))
    assert one == other


def with_bones(model, kept):
    """Have a model be on these of its bones, in this order, and return what number each has now, -1 if it is gone."""
    place, old = np.full(8, -1), model.skeleton
    place[kept] = np.arange(len(kept))
    parents = np.where(old.parents[kept] < 0, -1, place[old.parents[kept]]).astype(np.int32)
    model.skeleton = Skeleton(
        [old.names[j] for j in kept], parents, old.positions[kept], old.rotations[kept], np.array(kept, np.int32),
        np.ones(len(kept), np.bool_), old.traits.of(np.array(kept)),
    )  # fmt: skip
    for mesh in model.meshes:
        mesh.weights.joints = place[mesh.weights.joints]
    for tag in model.tags:
        tag.joint = int(place[tag.joint])
    return place


def test_bones_in_another_order():
    """A bone between others: every number is another, and everything still follows the same bones."""
    model = load(samples_mdm.figure())
    place = with_bones(model, [0, 5, 1, 2, 6, 3, 4, 7])
    before, after = mdm.read(samples_mdm.figure()), mdm.read(MDM.dump(model))
    for one, other in zip(before.surfaces, after.surfaces, strict=True):
        np.testing.assert_array_equal(place[one.weights["bone"]], other.weights["bone"])
        np.testing.assert_array_equal(place[one.bone_refs], other.bone_refs)
        assert one.weights["offset"].tobytes() == other.weights["offset"].tobytes()
    assert [t.header["bone"] for t in after.tags] == place[[2, 6, 1]].tolist()
    assert [t.bone_refs.tolist() for t in after.tags] == [place[t.bone_refs].tolist() for t in before.tags]


def test_a_bone_that_is_gone():
    """Vertices that hung on it are written as the model has them now."""
    model = load(samples_mdm.figure())
    table = model.meshes[0].weights
    gone = table.joints == 5
    changed = np.unique(table.entries()[0][np.isin(table.entries()[1], np.flatnonzero(gone))])
    table.joints[gone] = 0
    with_bones(model, [0, 1, 2, 3, 4, 6, 7])
    after = mdm.read(MDM.dump(model)).surfaces[0]
    assert after.bone_refs.tolist() == [0, 1, 2, 5]
    assert set(changed.tolist()) == {*range(7, 21), *range(28, 35)}
    assert after.weights["bone"].max() == 5


# -- level of detail


def without_triangle(model, index=0):
    mesh = model.meshes[index]
    mesh.triangles, mesh.source_triangles = mesh.triangles[1:], mesh.source_triangles[1:]
    return model


def is_valid(surface):
    count = len(surface.vertices)
    assert collapse.problems(surface.collapse, count, int(surface.header["min_lod"])) == []
    for drawn in range(max(1, int(count * collapse.DEAD_SHARE)), count + 1):
        triangles = collapse.drawn(surface.triangles, surface.collapse, drawn)
        assert triangles.max(initial=0) < drawn
    return True


def test_a_surface_with_other_triangles_is_drawn_in_full(caplog):
    data = MDM.dump(without_triangle(load(samples_mdm.figure())))
    first, second = mdm.read(data).surfaces
    assert first.header["min_lod"] == 42
    assert is_valid(first)
    assert (second.header["min_lod"], second.collapse.tolist()) == (9, samples_mdm.figure_spec().surfaces[1].collapse)
    (said,) = caplog.messages
    assert said.endswith("changed: its levels of detail are gone, all is drawn from afar")
    MDM.dump(without_triangle(load(data)))
    assert caplog.messages == [said], "once: by now there are none"


@pytest.mark.parametrize("index", [0, 1])
def test_levels_of_detail_that_are_made(index):
    model = without_triangle(load(samples_mdm.figure()), index)
    before, shown = posed(model, model.meshes[index]), model.meshes[index]
    after = load(MDM.dump(model, {"make_lod": True}))
    surface = mdm.read(MDM.dump(model, {"make_lod": True})).surfaces[index]
    assert is_valid(surface)
    mesh = after.meshes[index]
    corners = [np.sort(np.round(p[t], 3).reshape(len(t), 9), axis=0) for p, t in
               ((before, shown.triangles), (posed(after, mesh), mesh.triangles))]  # fmt: skip
    np.testing.assert_allclose(corners[0], corners[1], atol=2e-3)
    uvs = [np.sort(m.uvs[m.triangles].reshape(-1, 2), axis=0) for m in (shown, mesh)]
    np.testing.assert_allclose(uvs[0], uvs[1], atol=1e-6)
    turned = [np.sort(np.round(rotate(after.skeleton.rotations[m.weights.first_joints()], m.normals), 4), axis=0)
              for m in (shown, mesh)]  # fmt: skip
    np.testing.assert_allclose(turned[0], turned[1], atol=2e-4)
    other = 1 - index
    assert {p for p in differences(samples_mdm.figure(), MDM.dump(model, {"make_lod": True}))
            if p.startswith(f"surfaces[{other}]")} == set()  # fmt: skip


def test_levels_of_detail_are_kept_while_the_vertices_are_the_sources():
    model = load(samples_mdm.figure())
    model.meshes[0].kept[:] = False
    model.meshes[0].uvs += 0.5
    for options in ({}, {"make_lod": True}):
        changed = differences(samples_mdm.figure(), MDM.dump(model, options))
        assert changed
        assert all(path.endswith((".weights", ".st")) for path in changed)


# -- bone references


def skeleton(parents, weights=None, torso_parent=-1):
    count = len(parents)
    traits = None
    if weights is not None:
        traits = Traits(np.array(weights, np.float32), np.zeros(count, np.int32), torso_parent)
    turns = np.tile([1.0, 0, 0, 0], (count, 1))
    names = [f"b{i}" for i in range(count)]
    return Skeleton(names, np.array(parents, np.int32), np.zeros((count, 3)), turns, traits=traits)


@pytest.mark.parametrize(
    ("used", "bones", "wanted"),
    [
        ([3], skeleton([-1, 0, 1, 2]), [0, 1, 2, 3]),
        ([2, 1], skeleton([-1, 0, 0, 2]), [0, 1, 2]),
        ([], skeleton([-1, 0]), []),
        # the torso parent comes along with a torso bone, and only then
        ([3], skeleton([-1, 0, 0, 0], [0, 0, 0, 1], 2), [0, 2, 3]),
        ([1], skeleton([-1, 0, 0, 0], [0, 0, 0, 1], 2), [0, 1]),
        ([3], skeleton([-1, 0, 0, 0], [0, 0, 0, 1], 77), [0, 3]),
        # legs, then bones between, then the torso's, whatever their numbers
        ([1, 2, 3], skeleton([-1, 0, 0, 0], [0, 1, 0.5, 0]), [0, 3, 2, 1]),
        # but never a child before its parent
        ([2, 3], skeleton([-1, 0, 1, 0], [0, 1, 0.5, 0.25]), [0, 3, 1, 2]),
    ],
)
def test_bones_are_listed_in_an_order_that_the_engine_gets_right(used, bones, wanted):
    assert bone_order(np.array(used, np.int64), bones).tolist() == wanted


@pytest.mark.parametrize("file", corpus_params(".mdm"))
def test_fresh_bone_references_do_for_real_models(file):
    model = fresh(load(file.data, MDXS["akimbo"].data))
    weights = model.skeleton.traits.torso_weights
    for part in (read := mdm.read(MDM.dump(model))).surfaces + read.tags:
        refs = part.bone_refs.tolist()
        for at, bone in enumerate(refs):
            assert model.skeleton.parents[bone] in [-1, *refs[:at]]
        full = [weights[bone] == 1 for bone in refs]
        for at, bone in enumerate(refs):
            assert not (0 < weights[bone] < 1 and any(full[:at])), "it would be taken for one of the torso's"


# -- what check says


def test_what_the_engine_trips_over():
    spec = samples_mdm.figure_spec()
    one, two = spec.surfaces
    one.refs, one.name, two.refs, two.collapse[20], two.min_lod = [6, 5, 1, 0], b"U_Body", [7, 0, 3, 4], 25, 0
    assert MDM.problems(load(spec.pack())) == [
        "surface 'U_Body': bone 2 moves vertices, but is no bone reference",
        "surface 'U_Body': bone reference 'tag_hand' comes without its ancestors before it",
        "surface 'U_Body': skins name it 'u_body' and do not find it",
        "surface 'l_legs': min_lod is 0: from afar no vertex would be left to draw (1 or more)",
        "surface 'l_legs': vertex 20 collapses to 25, not to one before it",
        "surface 'l_legs': bone reference 'fuß' comes without its ancestors before it",
    ]
    assert not any("ancestors" in said for said in MDM.problems(load(spec.pack(), None))), "which it does not know"


@pytest.mark.parametrize("file", corpus_params(".mdm"))
def test_real_models_have_no_problems(file):
    assert MDM.problems(load(file.data, MDXS["akimbo"].data)) == []


@pytest.mark.parametrize(("refs", "sound"), [([0, 2, 1], True), ([0, 6, 2], False), ([2], False), ([1, 2, 6], True)])
def test_the_engine_computes_a_parent_but_not_its_own(refs, sound):
    spec = samples_mdm.figure_spec()
    spec.surfaces[0].refs = refs
    assert any("ancestors" in said for said in MDM.problems(load(spec.pack()))) is not sound


def sized(name="bone", weights=1):
    table = Weights(np.arange(4) * weights, np.full(4, weights), np.zeros(4 * weights, np.int64),
                    np.ones(4 * weights, np.float32), np.zeros((4 * weights, 3), np.float32))  # fmt: skip
    own = skeleton([-1, 0])
    own.names[-1] = name
    tag = JointTag("tag", 0, np.zeros(3, np.float32), np.eye(3, dtype=np.float32))
    mesh = SkinnedMesh("m", "", np.zeros((4, 2), np.float32), np.zeros((1, 3), np.int32), table)
    return SkeletalModel("x", own, [mesh], tags=[tag])


@pytest.mark.parametrize("game", ["et", "etlegacy"])
def test_names_in_the_games(game):
    assert MDM.check(sized(name="b" * 63), game) == []
    (long,) = MDM.check(sized(name="b" * 64), game)
    (twice,) = MDM.check(sized(name="b0"), game)
    assert long.severity == twice.severity == ERROR
    found = MDM.check(sized(weights=5), game)
    assert len(found) == (game == "etlegacy"), "its second renderer keeps four"
    tagged = sized()
    tagged.tags[0].name = "t" * 64
    assert [p.severity for p in MDM.check(tagged, game)] == [ERROR]


def test_carried_vertices_keep_the_order_of_their_weights():
    model = load(samples_mdm.odd_weights())
    mesh = model.meshes[0]
    mesh.kept, mesh.carried = np.zeros(mesh.num_vertices, np.bool_), np.ones(mesh.num_vertices, np.bool_)
    mesh.weights.offsets += 1
    before, after = mdm.read(samples_mdm.odd_weights()).surfaces[0], MDM.from_model(model).surfaces[0]
    for name in ("bone", "weight"):
        np.testing.assert_array_equal(after.weights[name], before.weights[name])
    np.testing.assert_allclose(after.weights["offset"], before.weights["offset"] + 1, atol=1e-5)
