"""What differs on Windows and macOS, as far as it can be tried elsewhere: names, case, files that others hold open.

What systems do themselves is put on here: a rename that fails as it does on Windows, a file system that folds case.
"""

import builtins
import io
import os
import zipfile
from pathlib import Path

import pytest

from io_idtech_models.assets import storage
from io_idtech_models.assets.load import load as load_file
from io_idtech_models.assets.storage import file_names, write_file, write_files
from io_idtech_models.cli import batch
from io_idtech_models.cli import main as cli
from io_idtech_models.game.folders import Disk
from io_idtech_models.library import load, load_animations, save
from io_idtech_models.reporting import ModelError
from tests.samples import put, sample
from tests.small_files import SAMPLES

MD3 = sample("animated", "md3")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# -- a file that another program holds open: Windows refuses to put another in its place


@pytest.fixture
def held(monkeypatch):
    """Return a set of the names that no rename may end at."""
    found: set[str] = set()
    replace = Path.replace

    def refuse(self, target):
        if Path(target).name in found:
            raise PermissionError(13, "Access is denied")
        return replace(self, target)

    monkeypatch.setattr(type(Path()), "replace", refuse)
    return found


def test_a_file_that_is_open_elsewhere_stays(tmp_path, held):
    path = tmp_path / "a.md3"
    path.write_bytes(b"old")
    held.add("a.md3")
    with pytest.raises(ModelError, match=r"a\.md3': access is denied; another program may have it open$"):
        write_file(path, b"new")
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["a.md3"]


@pytest.mark.parametrize("links", [True, False])
@pytest.mark.parametrize("open_one", ["a.mdm", "b.mdx", "c.aninc"])
def test_of_several_none_is_replaced_if_one_is_open(tmp_path, held, monkeypatch, links, open_one):
    """The last may be open, and is known to be so when the others are there already."""
    if not links:
        monkeypatch.setattr(os, "link", lambda *_: (_ for _ in ()).throw(OSError(95, "Operation not supported")))
    for name in ("a.mdm", "c.aninc"):
        (tmp_path / name).write_bytes(f"old {name}".encode())
    held.add(open_one)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(ModelError, match="access is denied"):
        write_files([(tmp_path / name, b"new") for name in ("a.mdm", "b.mdx", "c.aninc")])
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    held.clear()
    write_files([(tmp_path / name, b"new") for name in ("a.mdm", "b.mdx", "c.aninc")])
    assert {path.read_bytes() for path in tmp_path.iterdir()} == {b"new"}
    assert len(names(tmp_path)) == 3


# -- names that Windows has no files with


@pytest.mark.parametrize("name", ["con.md3", "AUX.md3", "nul", "com1.tar.md3", "lpt9", "a?.md3", "a:b.md3", "prn .md3"])
def test_windows_refuses_some_names_before_anything_is_written(tmp_path, monkeypatch, name):
    monkeypatch.setattr(storage, "WINDOWS", True)
    with pytest.raises(ModelError, match="there are no files called"):
        write_file(tmp_path / name, b"x")
    assert names(tmp_path) == []


@pytest.mark.parametrize("name", ["con.md3", "aux.md3", "a:b.md3"])
def test_other_systems_take_them(tmp_path, monkeypatch, name):
    monkeypatch.setattr(storage, "WINDOWS", False)
    write_file(tmp_path / name, b"x")
    assert names(tmp_path) == [name]
    assert load_file(Disk().file(put(tmp_path / name, MD3))).model is not None


@pytest.mark.parametrize("name", ["console.md3", "com.md3", "com10.md3", "auxiliary.md3", "ä.md3"])
def test_what_only_looks_like_them_is_written_on_windows_too(tmp_path, monkeypatch, name):
    monkeypatch.setattr(storage, "WINDOWS", True)
    write_file(tmp_path / name, b"x")
    assert names(tmp_path) == [name]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (["walk", "run"], ["walk", "run"]),
        (["run/fast", "a\\b", "a:b"], ["run_fast", "a_b", "a_b.001"]),
        (["Run", "run", "RUN"], ["Run", "run.001", "RUN.002"]),
        (["con", "NUL.x", "com1"], ["_con", "_NUL.x", "_com1"]),
        (["", "..", " . "], ["animation", "animation.001", "animation.002"]),
        (["a\0b\n", "straße", "STRASSE"], ["a_b_", "straße", "STRASSE.001"]),
    ],
)
def test_names_of_files_that_are_made_of_animations(wanted, found):
    assert file_names(wanted) == found


def test_animations_get_files_whatever_they_are_called(tmp_path):
    put(tmp_path / "a.md5mesh", SAMPLES["md5mesh"]["arm"])
    put(tmp_path / "wave.md5anim", SAMPLES["md5anim"]["wave"])
    model = load(tmp_path / "a.md5mesh")
    two = load_animations(tmp_path / "wave.md5anim") + load_animations(tmp_path / "wave.md5anim")
    two[0].name, two[1].name = "../run/Fast", ".._run_fast"
    (tmp_path / "out").mkdir()
    save(model, tmp_path / "out" / "b.md5mesh", animations=two)
    assert names(tmp_path / "out") == ["_run_Fast.md5anim", "_run_fast.001.md5anim", "b.md5mesh"]


# -- a file system that folds case


@pytest.fixture
def folding(tmp_path, monkeypatch):
    """Let files below the test's folder be found whatever their case, as Windows and macOS do."""
    root = str(tmp_path)

    def there(path):
        spelt = os.fspath(path) if isinstance(path, str | os.PathLike) else path
        if not isinstance(spelt, str) or not spelt.startswith(root + os.sep):
            return path
        found = root
        for part in Path(spelt).parts[len(tmp_path.parts) :]:
            every = real_listdir(found) if real_isdir(found) else []
            found += os.sep + next((name for name in every if name.lower() == part.lower()), part)
        return found

    real_listdir, real_isdir = os.listdir, os.path.isdir
    asked = [(os, name) for name in ("stat", "lstat", "access", "open", "chmod", "unlink")]
    asked += [(os.path, name) for name in ("isfile", "isdir", "exists")]
    for module, name in (*asked, (io, "open"), (builtins, "open")):
        real = getattr(module, name)
        monkeypatch.setattr(module, name, lambda path, *a, _real=real, **k: _real(there(path), *a, **k))
    monkeypatch.setattr(os, "listdir", lambda path=".": real_listdir(there(path)))
    rename = os.replace
    monkeypatch.setattr(os, "replace", lambda one, two, **k: rename(there(one), there(two), **k))
    monkeypatch.setattr(batch, "FOLDS_CASE", True)
    return tmp_path


def test_a_model_and_what_lies_with_it_are_found_whatever_the_case(folding):
    place = folding / "ETMain" / "Models"
    put(place / "Figure.MDM", SAMPLES["mdm"]["figure"])
    put(place / "BODY.mdx", SAMPLES["mdx"]["walk"])
    spelt = folding / "etmain" / "models" / "figure.mdm"
    model = load(spelt, bones=folding / "etmain" / "models" / "body.MDX")
    save(model, folding / "etmain" / "MODELS" / "FIGURE.mdm")
    assert names(place) == ["BODY.mdx", "Figure.MDM"], "it is replaced, and nothing comes beside it"
    assert (place / "Figure.MDM").read_bytes() == SAMPLES["mdm"]["figure"]


def test_two_that_would_become_one_file_are_refused(folding, run):
    with zipfile.ZipFile(folding / "pak0.pk3", "w") as pack:
        for name in ("one/Crate.md3", "two/crate.md3"):
            pack.writestr(name, MD3)
    inputs = [folding / "pak0.pk3" / name for name in ("one/Crate.md3", "two/crate.md3")]
    status, _, err = run("convert", *inputs, folding / "out", "--to", "mdc")
    assert (status, "would both become" in err[0]) == (batch.USAGE, True)
    assert names(folding) == ["pak0.pk3"]


def test_a_source_is_not_written_over_in_another_case(folding, run):
    put(folding / "a.md3", MD3)
    status, _, err = run("convert", folding / "a.md3", folding / "A.MD3")
    assert (status, "is an input" in err[0]) == (batch.USAGE, True)


# -- text with the ends of lines that Windows has


@pytest.mark.parametrize("kind", ["md5mesh", "md5anim"])
def test_text_with_crlf_is_the_same_model(tmp_path, kind):
    for name, data in SAMPLES[kind].items():
        plain = put(tmp_path / f"{name}.{kind}", data)
        other = put(tmp_path / f"{name}-crlf.{kind}", data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))
        one, two = (load_file(Disk().file(path)) for path in (plain, other))
        assert one.row.family.facts(one.content) | {"name": ""} == two.row.family.facts(two.content) | {"name": ""}


# -- names that no encoding holds, and paths that are long


@pytest.mark.skipif(os.name != "posix", reason="names are text there")
def test_a_name_that_is_no_text_is_read_written_and_said(tmp_path, capsysbinary):
    try:
        path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.md3"))
        path.write_bytes(MD3)
    except OSError:
        pytest.skip("this file system has names of text alone")  # as macOS's
    assert cli.main(["info", str(path)]) == 0
    assert cli.main(["convert", str(path), "--to", "mdc"]) == 0
    assert os.fsencode(tmp_path) + b"/caf\xe9.mdc" in [os.fsencode(found) for found in tmp_path.iterdir()]
    assert cli.main(["info", str(path.with_name("caf\udce9 none.md3"))]) == 1
    capsysbinary.readouterr()


def test_a_path_longer_than_windows_once_took(tmp_path):
    deep = tmp_path.joinpath(*["d" * 60] * 5)
    path = put(deep / "a.md3", MD3)
    assert len(str(path)) > 300
    save(load(path), deep / "b.md3")
    assert (deep / "b.md3").read_bytes() == MD3
