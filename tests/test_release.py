"""`build.py release` without Blender: notes, what it refuses, the listing, checksums; and what the manifest says."""

import hashlib
import io
import json
import re
import subprocess
import tomllib
import zipfile

import pytest

from tools import package, release
from tools.common import PROJECT, BuildError
from tools.main import main

CHANGELOG = """# Changelog

## [Unreleased]

## [1.1.0] - 2027-01-01

### Added

#### In Blender

- The [panel](docs/sidebar.md#skins), and [this](docs/tutorials/walk.md).

## 1.0.0 - 2026-11-23

All.
"""


def test_notes_are_the_versions_part_of_the_changelog():
    assert release.notes_of(CHANGELOG, "1.1.0") == (
        "# id Tech Models 1.1.0\n\n## Added\n\n### In Blender\n\n"
        "- The [panel](docs/sidebar.html#skins), and [this](docs/tutorials/walk.html).\n"
    )
    assert release.notes_of(CHANGELOG, "1.0.0") == "# id Tech Models 1.0.0\n\nAll.\n"
    assert release.pages(release.notes_of(CHANGELOG, "1.1.0")) == ["docs/sidebar.html", "docs/tutorials/walk.html"]


@pytest.mark.parametrize(
    ("changelog", "message"),
    [
        (CHANGELOG, r"no notes for version 1\.2\.0: write '## \[1\.2\.0\] - DATE'"),
        (CHANGELOG + "\n## [1.2.0] - 2027-02-01\n\n### Added\n", "no notes for version 1.2.0"),
        (CHANGELOG.replace("[Unreleased]\n", "[Unreleased]\n\n- New.\n"), "has notes under 'Unreleased'"),
    ],
)
def test_a_version_without_notes_is_refused(changelog, message):
    with pytest.raises(BuildError, match=message):
        release.notes_of(changelog, "1.2.0")


def test_this_version_has_notes():
    """Else a release would be refused; notes that no version has yet are all right until then."""
    text = re.sub(r"(?s)(## \[Unreleased\]\n).*?(?=\n## )", r"\1", release.CHANGELOG.read_text(encoding="utf-8"))
    notes = release.notes_of(text, package.manifest_version())
    assert all((PROJECT / name).with_suffix(".md").is_file() for name in release.pages(notes))


@pytest.fixture
def finished(tmp_path_factory, monkeypatch):
    """Let this version's notes be written, whatever is new since."""
    path = tmp_path_factory.mktemp("notes") / "CHANGELOG.md"
    path.write_text(CHANGELOG.replace("1.1.0", package.manifest_version()), encoding="utf-8")
    monkeypatch.setattr(release, "CHANGELOG", path)


def git(folder, *words):
    identity = ["-c", "user.name=n", "-c", "user.email=e"]
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


@pytest.mark.usefixtures("finished")
def test_what_is_in_no_commit_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(release, "PROJECT", tmp_path)
    monkeypatch.setattr(release, "OUTPUT", tmp_path / "out")
    with pytest.raises(BuildError, match="git does not know what is committed"):
        release.uncommitted()
    git(tmp_path, "init")
    (tmp_path / "new.py").touch()
    with pytest.raises(BuildError, match=r"in no commit(.|\n)*new\.py"):
        release.build()
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-m", "m")
    assert not release.uncommitted()
    (tmp_path / "new.py").write_text("changed", encoding="utf-8")
    with pytest.raises(BuildError, match=r"in no commit(.|\n)*new\.py"):
        release.build()
    monkeypatch.setattr(release, "fill", lambda folder, *_: (folder / "file").touch())
    assert release.build(dirty=True) == tmp_path / "out"
    assert main(["release", "--clean"]) == 1
    assert "release takes --dirty alone" in capsys.readouterr().err


@pytest.mark.usefixtures("finished")
def test_a_release_that_fails_leaves_the_one_before(tmp_path, monkeypatch):
    def fail(folder, *_):
        (folder / "half").touch()
        raise BuildError("no")

    monkeypatch.setattr(release, "PROJECT", tmp_path)
    monkeypatch.setattr(release, "OUTPUT", tmp_path / "out")
    monkeypatch.setattr(release, "fill", fail)
    (tmp_path / "out").mkdir()
    with pytest.raises(BuildError, match="no"):
        release.build(dirty=True)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def zipped(tmp_path):
    manifest = 'schema_version = "1.0.0"\nid = "io_idtech_models"\nversion = "1.2.3"\nblender_version_min = "4.2.0"\n'
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as packed:
        packed.writestr("blender_manifest.toml", manifest)
    path = tmp_path / "io_idtech_models-1.2.3.zip"
    path.write_bytes(data.getvalue())
    return path


def listing(path, **changes):
    digest = "sha256:" + hashlib.sha256(path.read_bytes()).hexdigest()
    entry = {
        "id": "io_idtech_models", "version": "1.2.3", "blender_version_min": "4.2.0",
        "archive_url": f"./{path.name}", "archive_size": path.stat().st_size, "archive_hash": digest,
    }  # fmt: skip
    return json.dumps({"version": "v1", "blocklist": [], "data": [entry | changes]})


def test_a_listing_has_what_blender_goes_by(tmp_path):
    path = zipped(tmp_path)
    release.check_listing(listing(path), path)
    with pytest.raises(BuildError, match="lists 0 extensions"):
        release.check_listing('{"data": []}', path)


@pytest.mark.parametrize(
    "changes",
    [{"version": "1.2.2"}, {"archive_hash": "sha256:0"}, {"archive_url": "https://example.org/a.zip"},
     {"blender_version_min": None}],
)  # fmt: skip
def test_a_listing_of_something_else_is_refused(tmp_path, changes):
    path = zipped(tmp_path)
    with pytest.raises(BuildError, match=f"the repository's {next(iter(changes))} is "):
        release.check_listing(listing(path, **changes), path)


def test_checksums_are_of_all_files_in_order(tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "c.txt").write_bytes(b"c")
    (tmp_path / "a.txt").write_bytes(b"a")
    sums = [hashlib.sha256(name.encode()).hexdigest() for name in "ac"]
    assert release.checksums(tmp_path) == f"{sums[0]}  a.txt\n{sums[1]}  b/c.txt\n"


# -- what the platform asks of a manifest beyond what Blender's packager refuses


def manifest():
    return tomllib.loads(package.MANIFEST.read_text(encoding="utf-8"))


def test_the_manifest_says_what_the_platform_asks_for():
    found = manifest()
    assert re.fullmatch(r"\d+\.\d+\.\d+", found["version"])
    assert found["website"].startswith("https://")
    assert "Import-Export" in found["tags"]
    assert set(found["permissions"]) == {"files"}
    for text in (found["tagline"], *found["permissions"].values()):
        assert 0 < len(text) <= 64
        assert text[-1].isalnum()
    assert "blender" not in found["name"].lower()


def test_an_update_of_python_modules_is_no_business_of_the_extension():
    """It neither asks a network nor brings wheels: what it does not need it does not ask for."""
    modules = {"http", "urllib", "socket", "ssl", "ftplib", "requests", "pip", "ensurepip"}
    package_files = sorted((PROJECT / "io_idtech_models").rglob("*.py"))
    imports = re.compile(r"^\s*(?:import|from)\s+(\w+)", re.MULTILINE)
    found = {path: set(imports.findall(path.read_text(encoding="utf-8"))) & modules for path in package_files}
    assert not {path: names for path, names in found.items() if names}
    assert "wheels" not in manifest()
