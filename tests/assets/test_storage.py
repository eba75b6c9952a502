"""Whole files: writing never harms what was there."""

import os
import re
import stat

import pytest

from io_idtech_models.assets.storage import write_archive, write_file, write_files
from io_idtech_models.reporting import ModelError

POSIX = os.name == "posix"
ROOT = POSIX and os.geteuid() == 0


def names(folder) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_write_and_write_over(tmp_path):
    path = tmp_path / "a.md3"
    write_file(path, b"first")
    assert path.read_bytes() == b"first"
    write_file(path, b"2nd")
    assert path.read_bytes() == b"2nd"
    assert names(tmp_path) == ["a.md3"]


def test_the_target_is_never_seen_half_written(tmp_path, monkeypatch):
    path = tmp_path / "a.md3"
    path.write_bytes(b"old")
    seen = []
    monkeypatch.setattr(os, "fsync", lambda handle: seen.append((path.read_bytes(), names(tmp_path))))
    write_file(path, b"new")
    (content, there), *_ = seen  # it is awaited at all: other tests don't
    assert content == b"old"
    assert len(there) == 2


@pytest.mark.parametrize(
    ("step", "error"),
    [("fsync", OSError(28, "No space left on device")), ("replace", OSError(28, "No space left on device")),
     ("fsync", KeyboardInterrupt())],
)  # fmt: skip
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, step, error):
    path = tmp_path / "a.md3"
    path.write_bytes(b"old")

    def fail(*_arguments, **_options):
        raise error

    monkeypatch.setattr(*((os, "fsync", fail) if step == "fsync" else (type(path), "replace", fail)))
    with pytest.raises((ModelError, KeyboardInterrupt)) as caught:
        write_file(path, b"new")
    assert str(caught.value) == (f"can't write '{path}': no space left on device" if str(error) else "")
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["a.md3"]


@pytest.mark.parametrize("bad", ["fsync", "folder"])
def test_of_several_files_all_are_replaced_or_none(tmp_path, monkeypatch, bad):
    paths = [tmp_path / "a.mdm", tmp_path / "b.mdx", tmp_path / ("none/c.mdx" if bad == "folder" else "c.mdx")]
    for path in paths[:2]:
        path.write_bytes(b"old")
    written = []

    def fill(handle):
        written.append(handle)
        if len(written) == 3:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fill)
    with pytest.raises(ModelError, match=f"^can't write '{re.escape(str(paths[2]))}': no s"):
        write_files([(path, b"new") for path in paths])
    assert len(written) == (2 if bad == "folder" else 3)
    assert [path.read_bytes() for path in paths[:2]] == [b"old", b"old"]
    assert names(tmp_path) == ["a.mdm", "b.mdx"]
    written.extend(range(9))
    write_files([(path, b"new") for path in paths[:2]])
    assert [path.read_bytes() for path in paths[:2]] == [b"new", b"new"]
    assert names(tmp_path) == ["a.mdm", "b.mdx"]


def test_what_cannot_be_written_is_said(tmp_path):
    (tmp_path / "folder.md3").mkdir()
    (tmp_path / "file").write_bytes(b"")
    for place, said in (
        ("folder.md3", "it is a folder"), ("none/a.md3", "no such file or directory"), ("file/a.md3", "can't write"),
        ("a\0b", "there is no such place"),
    ):  # fmt: skip
        with pytest.raises(ModelError, match=said):
            write_file(tmp_path / place, b"")
    assert names(tmp_path) == ["file", "folder.md3"]


@pytest.mark.skipif(ROOT, reason="root may write anything")
def test_a_read_only_file_is_not_replaced(tmp_path):
    path = tmp_path / "a.md3"
    path.write_bytes(b"old")
    path.chmod(0o444)
    with pytest.raises(ModelError, match="read-only"):
        write_file(path, b"new")
    assert path.read_bytes() == b"old"


def test_a_read_only_file_is_said(tmp_path, monkeypatch):
    path = tmp_path / "a.md3"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "access", lambda *_arguments: False)
    with pytest.raises(ModelError, match=r"the file is read-only$"):
        write_file(path, b"new")
    assert path.read_bytes() == b"old"


@pytest.mark.skipif(not POSIX, reason="rights are others there")
def test_rights_are_those_of_the_old_file_or_of_any_new_one(tmp_path):
    old, new = tmp_path / "old.md3", tmp_path / "new.md3"
    old.write_bytes(b"")
    old.chmod(0o640)
    (tmp_path / "plain").write_bytes(b"")
    write_file(old, b"x")
    write_file(new, b"x")
    assert stat.S_IMODE(old.stat().st_mode) == 0o640
    assert new.stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.skipif(not POSIX, reason="links need rights there")
def test_links_stay_links(tmp_path):
    (tmp_path / "real").mkdir()
    target, link = tmp_path / "real/a.md3", tmp_path / "link.md3"
    target.write_bytes(b"old")
    link.symlink_to(target)
    write_file(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    (tmp_path / "loop.md3").symlink_to(tmp_path / "loop.md3")
    with pytest.raises(ModelError, match="can't write"):
        write_file(tmp_path / "loop.md3", b"")


@pytest.mark.parametrize("name", ["new.pk3", "NEW.PAK"])
def test_no_model_becomes_an_archive(tmp_path, name):
    with pytest.raises(ModelError, match="archives are called so"):
        write_file(tmp_path / name, b"-")
    assert not (tmp_path / name).exists()
    write_archive(tmp_path / name, lambda stream: None)


@pytest.mark.parametrize("name", ["pak0.pk3", "PAK0.PAK", "a.zip"])
def test_archives_are_only_read(tmp_path, name):
    archive = tmp_path / name
    archive.write_bytes(b"-")
    for place in (archive / "a.md3", archive / "b/a.md3", archive):
        where = "an archive" if place == archive else "in an archive"
        text = f"can't write '{place}': it is {where}, which is only read; choose another folder"
        with pytest.raises(ModelError, match=re.escape(text)):
            write_files([(tmp_path / "c.md3", b"-"), (place, b"-")])
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert archive.read_bytes() == b"-"


def test_a_folder_that_is_called_like_an_archive_is_one(tmp_path):
    (tmp_path / "pak0.pk3").mkdir()
    write_file(tmp_path / "pak0.pk3/a.md3", b"-")
    assert (tmp_path / "pak0.pk3/a.md3").read_bytes() == b"-"
