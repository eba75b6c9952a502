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

from io_idtech_models import library
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
