"""A short run of the fuzzer of edits: always the same sequences, on samples; see `fuzz.edits`."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fuzz.edits import held, judge, looks, players, session, worker
from fuzz.edits.run import FORMATS
from fuzz.edits.script import SCRIPT
from io_idtech_models.model.bounds import set_bounds
from io_idtech_models.tasks.export import motion
from tests.ui.player.players import active_player
from tests.ui.scene import bpy, first, operator

SEQUENCES = 1  # of each format
pytestmark = [pytest.mark.once, pytest.mark.usefixtures("empty_scene")]


@pytest.fixture(autouse=True)
def samples_alone(monkeypatch, tmp_path):
    monkeypatch.setattr(session, "CORPUS", tmp_path)


@pytest.mark.parametrize("name", FORMATS)
def test_no_edit_goes_wrong_in_silence(name):
    found = [line for line in worker.findings(0, float("inf"), SEQUENCES, [name]) if "finding" in line]
    assert not found, SCRIPT.format(**found[0])


@pytest.mark.parametrize("name", FORMATS)
def test_there_are_models_to_edit(name):
    """One that shows another thing than its file before it is edited is left out."""
    assert not all(map(worker.is_odd, session.subjects([name])))


def let_exports_be_stale(monkeypatch):
    """Let each export write what the first one of its format wrote."""
    old: dict[str, bytes] = {}

    def stale(way, path):
        def export(filepath, **options):
            operator(way, path)(filepath=filepath, **options)
            path.write_bytes(old.setdefault(path.suffix, path.read_bytes()))

        return operator(way, path) if way == "import" else export

    monkeypatch.setattr(session, "operator", stale)


def test_what_is_not_as_shown_is_seen(monkeypatch):
    """A file of what was there before an edit is a finding: else nobody knows that the fuzzer sees anything."""
    let_exports_be_stale(monkeypatch)
    subject = session.Subject("md3", "animated")
    assert not session.run(subject, []).kind
    found = session.run(subject, [("move_vertices", 1), ("move_key", 2)])
    assert (found.kind, "units off in frame" in found.text) == ("silent", True)


@pytest.mark.parametrize("subject", [("mdr", "walker"), ("mdr", "packed_walker"), ("mds", "figure")])
def test_bounds_hold_what_is_added_to_a_model_whose_poses_stay(subject, monkeypatch):
    steps = [("new_cube", 3), ("move_vertices", 3)]
    assert not session.run(session.Subject(*subject), steps).kind

    def keep_all(animation, model):
        set_bounds(animation, model)
        animation.edited = None

    monkeypatch.setattr(motion, "set_bounds", keep_all)
    found = session.run(session.Subject(*subject), steps)
    assert (found.kind, "beyond its bounds" in found.text) == ("bounds", True)


def test_a_file_that_does_not_come_back_is_seen(monkeypatch):
    def spoilt(way, path):
        def export(filepath, **options):
            operator(way, path)(filepath=filepath, **options)
            if path.parent.name == "again":
                path.write_bytes(path.read_bytes() + b"0")

        return operator(way, path) if way == "import" else export

    subject = session.Subject("md3", "animated")
    assert not session.run(subject, []).kind
    monkeypatch.setattr(session, "operator", spoilt)
    found = session.run(subject, [])
    assert (found.kind, found.text) == ("again", "comes back otherwise: a.md3")


def turn_normals(_rng):
    data = first("MESH", bpy.context.scene.objects).data
    data.normals_split_custom_set([(0.0, 0.6, 0.8)] * len(data.loops))


def move_uvs(_rng):
    for each in first("MESH", bpy.context.scene.objects).data.uv_layers[0].uv:
        each.vector.x += 0.3


def rename_material(_rng):
    first("MESH", bpy.context.scene.objects).data.materials[0].name = "another"


def move_tag(_rng):
    for block in bpy.context.scene.objects:
        if block.type == "EMPTY":
            block.location.x += 50.0


@pytest.mark.parametrize(
    ("kind", "edit"),
    [("normals", turn_normals), ("uvs", move_uvs), ("shaders", rename_material), ("hung", move_tag)],
)
@pytest.mark.parametrize("subject", [("md3", "minimal"), ("iqm", "arm")], ids=lambda subject: subject[0])
def test_what_is_worn_lit_or_hung_otherwise_is_seen(monkeypatch, subject, kind, edit):
    """Where a file has all points where Blender shows them."""
    let_exports_be_stale(monkeypatch)
    monkeypatch.setattr(session, "all_operations", lambda: {"edit": edit})
    assert not session.run(session.Subject(*subject), []).kind
    found = session.run(session.Subject(*subject), [("edit", 1)]).kind
    assert found == (kind if (subject[0], kind) != ("iqm", "hung") else "")  # which has no tags


@pytest.mark.parametrize("rise", [0.0, 3.0])
def test_an_edge_that_is_turned_is_seen_where_faces_bend(rise):
    corners = np.array([(0, 0, 0), (10, 0, rise), (10, 10, 0), (0, 10, rise)], float)
    data = bpy.data.meshes.new("leaf")
    data.from_pydata(corners, [], [(0, 1, 2), (0, 2, 3)])
    block = bpy.data.objects.new("leaf", data)
    bpy.context.scene.collection.objects.link(block)
    for triangles, off in (([(0, 1, 2), (0, 2, 3)], False), ([(0, 1, 3), (1, 2, 3)], rise > 0)):
        frames: Any = SimpleNamespace(triangles=lambda _, every=triangles: corners[every])
        assert ("an edge that the file lacks" in judge.edges_off(frames, 0, [block], 0.1)) is off


def test_a_joint_that_stands_elsewhere_is_seen(tmp_path):
    subject = session.Subject("iqm", "arm")
    subject.bring(tmp_path)
    bpy.context.scene.frame_set(0)
    frames = held.loaded(subject.row, tmp_path / "model.iqm", {})
    assert not looks.hung_off(frames, 0, judge.space_of, 0.1)
    limit = first("ARMATURE").pose.bones["hand"].constraints.new("LIMIT_LOCATION")
    limit.use_max_x, limit.max_x = True, -50.0
    bpy.context.view_layer.update()
    assert "joint 'hand' is" in looks.hung_off(frames, 0, judge.space_of, 0.1)


@pytest.mark.parametrize("what", ["a surface", "a tag"])
def test_a_player_that_is_not_as_shown_is_seen(monkeypatch, what):
    def edit_and_judge(*saved):
        upper = active_player().parts["upper"]
        if what == "a tag":
            upper.delta_location.z = 2.0
        else:
            next(block for block in upper.children if block.type == "MESH").delta_location.z = 2.0
        return judge_all(*saved)

    judge_all = players.judge
    monkeypatch.setattr(players, "judge", edit_and_judge)
    found = session.run(session.Subject("player", "own"), [])
    wanted = "'tag_torso' of 'lower' in frame" if what == "a tag" else "'upper' in frame"
    assert (found.kind, found.text.partition(" in frame")[0] + " in frame") == ("silent", wanted)


def test_an_export_that_changes_the_scene_is_seen(monkeypatch):
    def moving(way, path):
        def export(filepath, **options):
            operator(way, path)(filepath=filepath, **options)
            bpy.data.objects[0].location.x += 1.0

        return operator(way, path) if way == "import" else export

    monkeypatch.setattr(session, "operator", moving)
    found = session.run(session.Subject("md3", "animated"), [("move_vertices", 1)])
    assert (found.kind, "location" in found.text) == ("scene", True)


@pytest.mark.parametrize("kind", ["frame", "opened"])
def test_an_export_that_goes_by_what_is_of_no_matter_is_seen(monkeypatch, kind):
    """What follows the frame that is shown, or a name that a .blend gets where it is saved."""

    def following(way, path):
        def export(filepath, **options):
            operator(way, path)(filepath=filepath, **options)
            sign = bpy.context.scene.frame_current if kind == "frame" else len(bpy.data.filepath)
            path.write_bytes(bytes(byte ^ sign & 255 for byte in path.read_bytes()))

        return operator(way, path) if way == "import" else export

    found = session.run(session.Subject("md3", "minimal"), [])
    monkeypatch.setattr(session, "operator", following)
    monkeypatch.setattr(session, "_outcome", lambda row, target: found)
    assert session.run(session.Subject("md3", "minimal"), []).kind == kind
