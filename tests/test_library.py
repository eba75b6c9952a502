"""The library without Blender: what scripts rely on, its page of the guide, and the package that pip installs."""

import importlib.util
import inspect
import os
import subprocess
import sys
import typing
import venv
from pathlib import Path

import numpy as np
import pytest

from io_idtech_models import formats, library
from io_idtech_models.formats import ROWS, by_name
from io_idtech_models.formats.md3.file import read
from io_idtech_models.library import ModelError, SkeletalModel, VertexModel, check, load, load_animations, save
from tests.facts import differences
from tests.pages import blocks, lay_out, run_python
from tests.samples import PROJECT
from tests.small_files import SAMPLES
from tools import package

MODELS = [row.name for row in ROWS if row.has_model and row.name != "tag"]
NAMES = {"ase": "several", "lwo": "several", "mdm": "figure", "md5mesh": "arm", "mds": "figure", "mdr": "walker"}
EXAMPLES = PROJECT / "examples"


def put(path, kind, name):
    path.write_bytes(SAMPLES[kind][name])
    return path


@pytest.mark.parametrize("kind", MODELS)
def test_a_model_is_saved_as_it_was_loaded(tmp_path, kind):
    path = put(tmp_path / f"a.{kind}", kind, NAMES.get(kind, "animated"))
    bones = put(tmp_path / "a.mdx", "mdx", "walk") if kind == "mdm" else None
    model = load(path, bones=bones)
    own = load_animations(path) if by_name(kind).has_motions else []
    assert isinstance(model, VertexModel | SkeletalModel)
    assert save(model, tmp_path / f"b.{kind}", animations=own) == []
    if by_name(kind).is_text:
        assert differences(path.read_bytes(), (tmp_path / f"b.{kind}").read_bytes()) == set()
    else:
        assert (tmp_path / f"b.{kind}").read_bytes() == path.read_bytes()


def test_an_edit_changes_what_it_touches(tmp_path):
    model = load(EXAMPLES / "sentinel" / "sentinel.md3")
    assert isinstance(model, VertexModel)
    positions = model.surfaces[0].positions.copy()
    positions[3, 0] += 8
    model.surfaces[0].positions = positions
    save(model, tmp_path / "a.md3")
    before, after = (read(path.read_bytes()) for path in (EXAMPLES / "sentinel" / "sentinel.md3", tmp_path / "a.md3"))
    moved = (before.surfaces[0].vertices["xyz"] != after.surfaces[0].vertices["xyz"]).any(axis=-1)
    assert np.argwhere(moved).tolist() == [[3, 0]]
    assert before.surfaces[1].vertices.tobytes() == after.surfaces[1].vertices.tobytes()


def test_animations_go_along_lie_beside_or_pose(tmp_path):
    newt = EXAMPLES / "newt" / "models" / "md5" / "newt"
    model, walk = load(newt / "newt.md5mesh"), load_animations(newt / "walk.md5anim")
    assert save(model, tmp_path / "a.md5mesh", animations=walk) == ["with 1 file of animations"]
    written = (tmp_path / "walk.md5anim").read_bytes()
    assert differences((newt / "walk.md5anim").read_bytes(), written) == set()
    save(model, tmp_path / "a.iqm", animations=walk)
    assert [(each.name, each.num_frames) for each in load_animations(tmp_path / "a.iqm")] == [("walk", 25)]
    save(model, tmp_path / "a.md3", animations=walk)
    save(model, tmp_path / "b.md3")
    posed, still = load(tmp_path / "a.md3"), load(tmp_path / "b.md3")
    assert isinstance(posed, VertexModel) and isinstance(still, VertexModel)
    assert (posed.num_frames, still.num_frames) == (25, 1)


def test_a_model_from_nowhere_is_saved(tmp_path):
    made = load(put(tmp_path / "a.md3", "md3", "animated"))
    assert isinstance(made, VertexModel)
    made.source = None
    save(made, tmp_path / "b.mdc")
    joined = load(put(tmp_path / "a.md5mesh", "md5mesh", "arm"))
    assert isinstance(joined, SkeletalModel)
    joined.source = None
    save(joined, tmp_path / "b.iqm")
    save(joined, tmp_path / "b.md3")
    assert {path.suffix for path in tmp_path.glob("b.*")} == {".mdc", ".iqm", ".md3"}


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda at: load(at / "no.md3"), "no such file"),
        (lambda at: load(put(at / "a.md3", "md3", "animated").with_suffix(".md4")), "no such file"),
        (lambda at: load(put(at / "wave.md5anim", "md5anim", "wave")), "holds animations alone: load_animations"),
        (lambda at: save(load(put(at / "a.md3", "md3", "animated")), at / "a.txt"), r"can't write '\.txt'"),
        (lambda at: save(load(put(at / "a.md3", "md3", "animated")), at / "a.md5mesh"), "takes a skeleton"),
        (lambda at: save(load(put(at / "a.mds", "mds", "figure")), at / "a.md5mesh"), "bones lie in its animations"),
        (lambda at: save(load(put(at / "a.mds", "mds", "figure")), at / "b.mds"), "has no animation"),
    ],
)
def test_what_can_not_be_is_one_sentence(tmp_path, act, message):
    with pytest.raises(ModelError, match=message) as caught:
        act(tmp_path)
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.glob(".idtech*"))


VERTEX_MODELS = [name for name in MODELS if by_name(name).family is formats.VERTEX]
SKELETAL_MODELS = [name for name in MODELS if by_name(name).family is formats.SKELETAL]


def some(folder, kind):
    """Return a model of a kind, and its animations where its file holds them."""
    path = put(folder / f"a.{kind}", kind, NAMES.get(kind, "animated"))
    model = load(path, bones=put(folder / "a.mdx", "mdx", "walk") if kind == "mdm" else None)
    return model, load_animations(path) if by_name(kind).has_motions else []


@pytest.mark.parametrize("kind", [name for name in VERTEX_MODELS if by_name(name).vertex.several_frames])
def test_frames_are_taken_out_and_put_in(tmp_path, kind):
    """Those that stay are known by what they show, normals too; what an export needs to know of them is its own."""
    model, before = some(tmp_path, kind)[0], some(tmp_path, kind)[0]
    assert isinstance(model, VertexModel) and isinstance(before, VertexModel)
    kept = [1, model.num_frames - 1, 0, 1]
    for surface in model.surfaces:
        surface.positions = np.concatenate([surface.positions[kept], surface.positions[:1] + 1])
        surface.normals = None if surface.normals is None else surface.normals[[*kept, 0]]
    for tag in model.tags:
        tag.origins, tag.axes = tag.origins[[*kept, 0]], tag.axes[[*kept, 0]]
    model.frame_names = [model.frame_names[frame] for frame in (*kept, 0)]
    save(model, tmp_path / f"b.{kind}")
    after = load(tmp_path / f"b.{kind}")
    assert isinstance(after, VertexModel) and after.frame_names == model.frame_names
    for new, old in zip(after.surfaces, before.surfaces, strict=True):
        rounded = 0.0 if kind == "md3" else float(np.ptp(old.positions)) / 200  # a box for each frame, or one for all
        np.testing.assert_allclose(new.positions[:4], old.positions[kept], atol=rounded)
        np.testing.assert_allclose(new.positions[4], old.positions[0] + 1, atol=max(rounded, 0.02))
        assert new.normals is not None and old.normals is not None
        coded = 0.02 if kind == "mdc" else 0.0  # whose codes of one frame depend on others
        np.testing.assert_allclose(new.normals[:4], old.normals[kept], atol=coded)


@pytest.mark.parametrize("kind", MODELS)
def test_a_triangle_is_taken_out(tmp_path, kind):
    model, own = some(tmp_path, kind)
    parts = model.surfaces if isinstance(model, VertexModel) else model.meshes
    count, part = sum(len(each.triangles) for each in parts), parts[0]
    part.triangles = part.triangles[1:]
    if part.uvs.ndim == 3:
        part.uvs = part.uvs[1:]
    save(model, tmp_path / f"b.{kind}", animations=own)
    after = load(tmp_path / f"b.{kind}", bones=tmp_path / "a.mdx" if kind == "mdm" else None)
    found = after.surfaces if isinstance(after, VertexModel) else after.meshes
    assert sum(len(each.triangles) for each in found) == count - 1


@pytest.mark.parametrize("kind", VERTEX_MODELS)
def test_a_vertex_is_put_in(tmp_path, kind):
    model, _ = some(tmp_path, kind)
    assert isinstance(model, VertexModel)
    surface = model.surfaces[0]
    count = surface.positions.shape[1]
    place = surface.positions[:, :1] + 2
    surface.positions = np.concatenate([surface.positions, place], axis=1)
    surface.normals = None if surface.normals is None else np.concatenate([surface.normals, surface.normals[:, :1]], 1)
    surface.uvs = np.concatenate([surface.uvs, surface.uvs[:1]])
    surface.triangles = np.concatenate([surface.triangles, [[0, 1, count]]]).astype(np.int32)
    surface.colors = None
    save(model, tmp_path / f"b.{kind}")
    after = load(tmp_path / f"b.{kind}")
    assert isinstance(after, VertexModel)
    found = np.concatenate([each.positions for each in after.surfaces], axis=1)
    far = np.abs(found - place).max(axis=2).min(axis=1)
    assert far.max() <= max(0.02, np.ptp(found) / 200)


def without_weights(model):
    model.meshes[0].weights.counts = model.meshes[0].weights.counts[1:]


@pytest.mark.parametrize(
    ("kind", "change", "message"),
    [
        ("md3", lambda m: setattr(m, "frame_names", ["a"]), r"'[^']*': '(origins|positions)' has the shape \(3, .*\)"),
        ("md3", lambda m: m.surfaces[0].triangles.__iadd__(99), r"'triangles' has numbers from 99 to .*, there are"),
        ("md3", lambda m: setattr(m.surfaces[0], "uvs", m.surfaces[0].uvs[1:]), r"'positions' has the shape"),
        ("md2", lambda m: setattr(m.surfaces[0], "uvs", m.surfaces[0].uvs[1:]), r"'uvs' has the shape .* by corners, "),
        (
            "iqm",
            lambda m: setattr(m.skeleton, "parents", m.skeleton.parents[1:]),
            r"'parents' has the shape \(2,\), not \(3\)",
        ),
        ("iqm", without_weights, r"the mesh '.*': 'weights.counts' has the shape"),
        ("md5mesh", lambda m: m.meshes[0].weights.joints.__iadd__(9), r"'weights.joints' has numbers from 9 to"),
    ],
)
def test_arrays_that_do_not_go_together_are_named(tmp_path, kind, change, message):
    model, own = some(tmp_path, kind)
    change(model)
    with pytest.raises(ModelError, match=message):
        save(model, tmp_path / f"b.{kind}", animations=own)
    assert not (tmp_path / f"b.{kind}").exists()


@pytest.mark.parametrize("kind", ["iqm", "mds", "mdr"])
def test_frames_of_an_animation_are_taken_out(tmp_path, kind):
    model, own = some(tmp_path, kind)
    poses = [each.positions[:1] for each in own]
    for each in own:
        each.positions, each.rotations, each.bounds = each.positions[:1], each.rotations[:1], each.bounds[:1]
        if each.scales is not None:
            each.scales.values = each.scales.values[:1]
    save(model, tmp_path / f"b.{kind}", animations=own)
    found = load_animations(tmp_path / f"b.{kind}")
    for each, pose in zip(found, poses, strict=True):
        np.testing.assert_allclose(each.positions, pose, atol=0.02)


@pytest.mark.parametrize("kind", [name for name in VERTEX_MODELS if by_name(name).vertex.several_frames])
@pytest.mark.parametrize("way", ["frames", "vertices"])
def test_what_is_moved_about_and_changed_has_the_normals_that_it_is_given(tmp_path, kind, way):
    """Though what says which frame or vertex of the file each was says the old ones."""
    model, _ = some(tmp_path, kind)
    assert isinstance(model, VertexModel)
    for surface in model.surfaces:
        assert surface.normals is not None
        back = (slice(None), slice(None, None, -1)) if way == "vertices" else slice(None, None, -1)
        surface.positions, surface.normals = 2 * surface.positions[back], surface.normals[back]
        if way == "vertices":
            surface.triangles = (surface.num_vertices - 1 - surface.triangles).astype(np.int32)
            surface.uvs = surface.uvs[::-1] if surface.uvs.ndim == 2 else surface.uvs
    save(model, tmp_path / f"b.{kind}")
    after = load(tmp_path / f"b.{kind}")
    assert isinstance(after, VertexModel)
    for new, old in zip(after.surfaces, model.surfaces, strict=True):
        assert new.normals is not None and old.normals is not None
        np.testing.assert_allclose(new.normals, old.normals, atol=0.3 if kind in {"md2", "mdl"} else 0.1)


@pytest.mark.parametrize("frame", [0, 1])
def test_normals_of_one_frame_are_written_there_alone(tmp_path, frame):
    model, _ = some(tmp_path, "md3")
    assert isinstance(model, VertexModel)
    surface = model.surfaces[0]
    assert surface.normals is not None
    surface.normals[frame, 1] = (0.6, 0.0, 0.8)
    save(model, tmp_path / "b.md3")
    before, after = (read((tmp_path / name).read_bytes()).surfaces[0].vertices for name in ("a.md3", "b.md3"))
    assert np.argwhere(before["normal"] != after["normal"]).tolist() == [[frame, 1]]


@pytest.mark.parametrize("kind", SKELETAL_MODELS)
def test_weights_that_are_others_are_written(tmp_path, kind):
    model, own = some(tmp_path, kind)
    assert isinstance(model, SkeletalModel)
    last = model.skeleton.num_joints - 1
    for mesh in model.meshes:
        mesh.weights.joints[:] = last
    save(model, tmp_path / f"b.{kind}", animations=own)
    after = load(tmp_path / f"b.{kind}", bones=tmp_path / "a.mdx" if kind == "mdm" else None)
    assert isinstance(after, SkeletalModel)
    assert all((mesh.weights.joints == last).all() for mesh in after.meshes)


@pytest.mark.parametrize("kind", ["mdm", "mdr"])
def test_a_tag_that_is_moved_is_written_there(tmp_path, kind):
    model, own = some(tmp_path, kind)
    assert isinstance(model, SkeletalModel)
    model.tags[0].origin = model.tags[0].origin + 2
    save(model, tmp_path / f"b.{kind}", animations=own)
    after = load(tmp_path / f"b.{kind}", bones=tmp_path / "a.mdx" if kind == "mdm" else None)
    assert isinstance(after, SkeletalModel)
    if kind == "mdm":  # an MDR's stand on joints
        np.testing.assert_allclose(after.tags[0].origin, model.tags[0].origin, atol=0.01)


@pytest.mark.parametrize("kind", VERTEX_MODELS)
def test_a_model_without_frames_is_none(tmp_path, kind):
    model, _ = some(tmp_path, kind)
    assert isinstance(model, VertexModel)
    model.frame_names = []
    for surface in model.surfaces:
        surface.positions, surface.normals = surface.positions[:0], None
    for tag in model.tags:
        tag.origins, tag.axes = tag.origins[:0], tag.axes[:0]
    with pytest.raises(ModelError, match="the model has no frames"):
        save(model, tmp_path / f"b.{kind}")


@pytest.mark.parametrize("kind", ["iqm", "md5mesh"])
def test_joints_that_are_moved_or_change_places(tmp_path, kind):
    model, _ = some(tmp_path, kind)
    assert isinstance(model, SkeletalModel)
    skeleton = model.skeleton
    places = dict(zip(skeleton.names, skeleton.positions + 3, strict=True))
    owners = [[skeleton.names[joint] for joint in mesh.weights.joints] for mesh in model.meshes]
    order = np.arange(skeleton.num_joints)
    order[[-1, -2]] = order[[-2, -1]]
    if int(skeleton.parents[-1]) != skeleton.num_joints - 2:  # else they are in their order
        back = np.argsort(order).astype(np.int32)
        skeleton.names = [skeleton.names[joint] for joint in order]
        skeleton.parents = np.array([back[joint] if joint >= 0 else -1 for joint in skeleton.parents[order]], np.int32)
        skeleton.rotations, skeleton.positions = skeleton.rotations[order], skeleton.positions[order]
        for mesh in model.meshes:
            mesh.weights.joints = back[mesh.weights.joints]
    skeleton.positions = skeleton.positions + 3
    save(model, tmp_path / f"b.{kind}")
    after = load(tmp_path / f"b.{kind}")
    assert isinstance(after, SkeletalModel)
    for name, place in zip(after.skeleton.names, after.skeleton.positions, strict=True):
        np.testing.assert_allclose(place, places[name], atol=1e-4)
    found = [[after.skeleton.names[joint] for joint in mesh.weights.joints] for mesh in after.meshes]
    assert [sorted(each) for each in found] == [sorted(each) for each in owners]


@pytest.mark.parametrize("kind", ["iqm", "mds", "mdr", "md5mesh"])
def test_poses_that_are_others_are_written(tmp_path, kind):
    model, motions = some(tmp_path, kind)
    if kind == "md5mesh":
        motions = load_animations(put(tmp_path / "wave.md5anim", "md5anim", "wave"))
    for each in motions:
        each.rotations[:] = each.rotations[::-1].copy()  # within the array
    save(model, tmp_path / f"b.{kind}", animations=motions)
    found = load_animations(tmp_path / ("wave.md5anim" if kind == "md5mesh" else f"b.{kind}"))
    for new, old in zip(found, motions, strict=True):
        assert np.abs((new.rotations * old.rotations).sum(axis=-1)).min() > 1 - 1e-4


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda s: setattr(s, "triangles", s.triangles.astype(float)),
            "'triangles' has numbers that are not whole: float64",
        ),
        (lambda s: setattr(s, "triangles", s.triangles.tolist()), "'triangles' is no array of numpy but a list"),
        (lambda s: setattr(s, "uvs", s.uvs.tolist()), "'uvs' is no array of numpy but a list"),
    ],
)
def test_what_is_no_array_is_named(tmp_path, change, message):
    model, _ = some(tmp_path, "md3")
    assert isinstance(model, VertexModel)
    change(model.surfaces[0])
    with pytest.raises(ModelError, match=message):
        save(model, tmp_path / "b.md3")


def test_games_and_options_that_are_none(tmp_path):
    model, _ = some(tmp_path, "md3")
    with pytest.raises(ModelError, match="there is no game 'quake9', only quake, "):
        save(model, tmp_path / "b.md3", game="quake9")
    with pytest.raises(ModelError, match="there is no game 'quake9', only quake, "):
        check(tmp_path / "a.md3", game="quake9")
    with pytest.raises(ModelError, match="MD3 has no option 'split', only split_surfaces, "):
        save(model, tmp_path / "b.md3", options={"split": True})


def test_options_games_and_what_there_is_to_say(tmp_path):
    model = load(EXAMPLES / "sentinel" / "sentinel.md3")
    assert "MD2 holds no tags" in save(model, tmp_path / "a.md2", game="quake2", options={"skin_width": 128})[0]
    assert check(EXAMPLES / "sentinel" / "sentinel.md3", game="quake3") == []
    assert isinstance(model, VertexModel)
    model.surfaces[0].name = "n" * 80
    with pytest.raises(ModelError, match=r"n{64}"):
        save(model, tmp_path / "b.md3")
    assert not (tmp_path / "b.md3").exists()
    assert "are shortened to 63 bytes" in save(model, tmp_path / "b.md3", shorten=True)[0]


def test_files_in_archives_and_game_folders(tmp_path):
    import zipfile

    with zipfile.ZipFile(tmp_path / "pak0.pk3", "w") as pack:
        pack.writestr("models/a.md3", SAMPLES["md3"]["animated"])
        pack.writestr("animations/human/base/body.mdx", SAMPLES["mdx"]["walk"])
    found = load(tmp_path / "pak0.pk3" / "models" / "a.md3")
    assert isinstance(found, VertexModel)
    (tmp_path / "else").mkdir()
    lone = put(tmp_path / "else" / "a.mdm", "mdm", "figure")
    figure = load(lone, game_folders=[tmp_path])
    assert isinstance(figure, SkeletalModel)
    assert figure.skeleton.names == load(lone, bones=put(tmp_path / "b.mdx", "mdx", "walk")).skeleton.names  # type: ignore[union-attr]


def test_all_that_is_declared_is_typed_and_told():
    functions = [getattr(library, name) for name in library.__all__ if inspect.isfunction(getattr(library, name))]
    assert {function.__name__ for function in functions} == {"load", "load_animations", "save", "check"}
    for function in functions:
        assert "Raises" in function.__doc__ or "raises" in function.__doc__ or "errors as" in function.__doc__
        assert set(typing.get_type_hints(function)) == {*inspect.signature(function).parameters, "return"}
    assert (PROJECT / "io_idtech_models" / "py.typed").exists()


# -- the page of the guide

OUTCOMES = {
    "What is in a folder": lambda names, said: "stilt/tris.md2: 34 frames" in said,
    "A model twice as large": lambda names, said: (
        np.abs(twice("large.md3", read(Path("examples/sentinel/sentinel.md3").read_bytes()))).max() <= 1
        and names["notes"] == []
    ),
    "A flag from numbers": lambda names, said: (
        check("flag.md3", game="quake3") == []
        and (len(read(Path("flag.md3").read_bytes()).frames), len(names["front"])) == (20, 80)
    ),
}


def twice(path, before):
    after = read(Path(path).read_bytes())
    return after.surfaces[0].vertices["xyz"].astype(int) - 2 * before.surfaces[0].vertices["xyz"].astype(int)


def test_every_recipe_has_an_outcome():
    assert list(OUTCOMES) == [block.title for block in blocks("library")]


@pytest.mark.parametrize("block", blocks("library"), ids=lambda block: block.title)
def test_recipe(tmp_path, monkeypatch, capsys, block):
    lay_out(tmp_path)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__recipe__"}
    run_python("library", block, names)
    assert OUTCOMES[block.title](names, capsys.readouterr().out.replace(os.sep, "/"))


# -- the package


def run(*command: object, folder: Path) -> str:
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PIP_"))}
    done = subprocess.run(
        [str(word) for word in command], cwd=folder, env=environ, capture_output=True, text=True, check=False
    )
    if "hatchling" in done.stderr and "No matching distribution" in done.stderr and not os.environ.get("CI"):
        pytest.skip("pip reaches no index, and hatchling builds the package")
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.skipif(importlib.util.find_spec("pip") is None, reason="this Python has no pip")
def test_pip_installs_a_command_and_a_package(tmp_path):
    """Into an environment of its own, which has the numpy of this one: a download of it would prove nothing."""
    made = tmp_path / "env"
    venv.create(made, with_pip=False)
    scripts = made / ("Scripts" if os.name == "nt" else "bin")
    python = scripts / ("python.exe" if os.name == "nt" else "python")
    site = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", folder=tmp_path).strip())
    (site / "numpy.pth").write_text(f"{Path(np.__file__).parents[1]}\n", encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    run(*pip, "wheel", "--no-deps", "--wheel-dir", tmp_path / "wheels", PROJECT, folder=tmp_path)
    (wheel,) = (tmp_path / "wheels").iterdir()
    assert wheel.name == f"io_idtech_models-{package.manifest_version()}-py3-none-any.whl"
    run(*pip, "--python", python, "install", "--no-deps", "--no-index", wheel, folder=tmp_path)
    model = put(tmp_path / "animated.md3", "md3", "animated")
    assert "frames" in run(scripts / "idtech", "info", model, folder=tmp_path)
    run(scripts / "idtech", "convert", model, tmp_path / "b.mdc", folder=tmp_path)
    code = (
        "import sys; from io_idtech_models.library import load, save; import io_idtech_models as found; "
        "save(load('b.mdc'), 'c.md3'); print(found.__file__, 'bpy' in sys.modules)"
    )
    place, blender = run(python, "-P", "-c", code, folder=tmp_path).split()
    assert made.resolve() in Path(place).resolve().parents
    assert blender == "False"
    assert (tmp_path / "c.md3").is_file()
