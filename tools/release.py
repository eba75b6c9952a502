"""All that goes out with a version: ``build.py release`` makes ``dist/release``, the same bytes from the same commit.

The folder can be put on any static host as it is. Below it lie ``repository``, which Blender takes as a remote
repository of extensions (the zip, and the listing that Blender's own tool makes of it), ``docs``, the guide as a site,
``NOTES.md`` and ``SHA256SUMS``, which ``sha256sum -c`` reads.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from . import environments, package, site
from .common import PACKAGE, PROJECT, BuildError, indented, say

CHANGELOG = PROJECT / "CHANGELOG.md"
OUTPUT = PROJECT / "dist" / "release"
TEMPLATE = Path(__file__).with_name("repository.html")  # Blender's own says when it was made
REPOSITORY, DOCS, NOTES, SUMS = "repository", "docs", "NOTES.md", "SHA256SUMS"
UNRELEASED = "Unreleased"
HEADING = re.compile(r"^## \[?([^\]\s]+)\]?[^\n]*$", re.MULTILINE)
PAGE_LINK = re.compile(r"\]\(docs/([\w/-]+)\.md(#[^)]*)?\)")
LEFT_OUT = shutil.ignore_patterns(".*")  # of the site: notes of Sphinx to itself


def build(dirty: bool = False) -> Path:
    """Build the release and return its folder; ``dirty`` takes files as they are, committed or not.

    Raises:
        BuildError: the version has no notes, there are changes that no commit holds, or a part can't be made. What was
            there of an earlier release stays.
    """
    version = package.manifest_version()
    notes = notes_of(CHANGELOG.read_text(encoding="utf-8"), version)
    changes = "" if dirty else uncommitted()
    if changes:
        raise BuildError(
            "these changes are in no commit (release --dirty takes them as they are):\n" + indented(changes)
        )
    unfinished = OUTPUT.with_name(OUTPUT.name + ".part")
    shutil.rmtree(unfinished, ignore_errors=True)
    (unfinished / REPOSITORY).mkdir(parents=True)
    try:
        fill(unfinished, version, notes)
        shutil.rmtree(OUTPUT, ignore_errors=True)
        unfinished.rename(OUTPUT)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    say(f"Built {OUTPUT.relative_to(PROJECT)}, version {version}.")
    return OUTPUT


def fill(folder: Path, version: str, notes: str) -> None:
    """Make the parts of a release in a folder."""
    environment = environments.for_conversion()
    zipped = shutil.copy(package.build_zip(), folder / REPOSITORY)
    package.validate(Path(zipped), environment)
    python = environments.prepare(environment)
    generate(folder / REPOSITORY, [python, str(package.find_packager(environment))])
    shutil.copytree(site.build().parent, folder / DOCS, ignore=LEFT_OUT)
    (folder / NOTES).write_bytes(notes.encode())
    missing = [name for name in pages(notes) if not (folder / name).is_file()]
    if missing:
        raise BuildError(f"the notes of {version} link to {missing[0]}, which the guide does not have.")
    (folder / SUMS).write_bytes(checksums(folder).encode())


def uncommitted() -> str:
    """Return what ``git`` knows of changes that no commit holds; raises BuildError where it can't tell."""
    command = ["git", "status", "--porcelain"]
    try:
        result = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, encoding="utf-8", check=False)
    except OSError as error:
        raise BuildError(f"git, which knows what is committed, can't be run: {error.strerror}. See --dirty.") from error
    if result.returncode:
        raise BuildError("git does not know what is committed. See --dirty.\n" + indented(result.stderr))
    return result.stdout.rstrip()


def sections(changelog: str) -> dict[str, str]:
    """Return the texts below the headings ``## [VERSION] - DATE``, by version."""
    pieces = HEADING.split(changelog)
    return {pieces[i]: pieces[i + 1].strip() for i in range(1, len(pieces), 2)}


def notes_of(changelog: str, version: str) -> str:
    """Return a version's release notes: its text in the changelog, with links to the guide's site.

    Raises:
        BuildError: it has none, or there is something that no version has yet.
    """
    found = sections(changelog)
    if found.get(UNRELEASED):
        raise BuildError(f"{CHANGELOG.name} has notes under '{UNRELEASED}': put them under the version that has them.")
    text = found.get(version, "")
    if not re.search(r"^(?!#)\S", text, re.MULTILINE):  # a heading alone is no note
        raise BuildError(
            f"{CHANGELOG.name} has no notes for version {version}: write '## [{version}] - DATE' and what is new."
        )
    raised = re.sub(r"^#(?=##)", "", text, flags=re.MULTILINE)
    return f"# id Tech Models {version}\n\n" + PAGE_LINK.sub(r"](docs/\1.html\2)", raised) + "\n"


def pages(notes: str) -> list[str]:
    """Return the pages of the guide's site that notes link to."""
    return re.findall(r"\]\((docs/[^)#]+)", notes)


def generate(folder: Path, packager: Sequence[str]) -> None:
    """Have Blender's packager list the zip in a folder, for Blender (``index.json``) and for people (``index.html``).

    Raises:
        BuildError: it can't, or lists something else than is there.
    """
    options = ["--repo-dir", str(folder), "--html", "--html-template", str(TEMPLATE)]
    package.run_packager([*packager, "server-generate", *options])
    (zipped,) = folder.glob("*.zip")
    check_listing((folder / "index.json").read_text(encoding="utf-8"), zipped)


def check_listing(text: str, zipped: Path) -> None:
    """See that a listing has what Blender goes by; it leaves out what it finds at fault, and says that all is well."""
    manifest = package.contents(zipped)["blender_manifest.toml"].decode()
    expected = {
        "id": PACKAGE,
        "version": package.manifest_version(manifest),
        "blender_version_min": package.manifest_value(manifest, "blender_version_min"),
        "archive_url": "./" + zipped.name,  # beside the listing, wherever that lies
        "archive_size": zipped.stat().st_size,
        "archive_hash": "sha256:" + hashlib.sha256(zipped.read_bytes()).hexdigest(),
    }
    listed = json.loads(text)["data"]
    if len(listed) != 1:
        raise BuildError(f"the repository lists {len(listed)} extensions in place of one.")
    for key, value in expected.items():
        if listed[0].get(key) != value:
            raise BuildError(f"the repository's {key} is {listed[0].get(key)!r} in place of {value!r}.")


def checksums(folder: Path) -> str:
    """Return a line for each file in a folder, as ``sha256sum`` writes and checks them."""
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    lines = [f"{hashlib.sha256(files[name].read_bytes()).hexdigest()}  {name}\n" for name in sorted(files)]
    return "".join(lines)
