"""What mutations start from: the samples of the tests, the examples, and real models where they are at hand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from fuzz import beside
from fuzz.mutate import PAIR, join_pair
from tests.small_files import SAMPLES

PROJECT = Path(__file__).resolve().parent.parent
CORPUS = PROJECT.parent / "shared" / "corpus"
MOST_BYTES = 1 << 20
SMALL = 1 << 14


def samples(kind: str) -> list[bytes]:
    """Return the small files that the tests make of a kind."""
    if kind in beside.KINDS:
        return list(beside.KINDS[kind][1])
    if kind == PAIR:
        return [join_pair(mesh, bones) for mesh in samples("mdm") for bones in samples("mdx")[:2]]
    return list(SAMPLES[kind].values())


def seeds(kind: str) -> list[bytes]:
    """Return all files of a kind to start from, the small ones first; none is larger than `MOST_BYTES`."""
    if kind == PAIR:
        bones = next(iter(_files("mdx")), b"")
        found = samples(kind) + [join_pair(mesh, bones) for mesh in _files("mdm")]
    else:
        found = samples(kind) + list(_files(kind))
    return sorted((data for data in dict.fromkeys(found) if len(data) <= MOST_BYTES), key=len)


def large(kind: str) -> list[bytes]:
    """Return the files that are too large to begin with: each takes as long as hundreds of the others."""
    return [data for data in seeds(kind) if len(data) > SMALL]


def _files(kind: str) -> Iterator[bytes]:
    """Yield the examples and the real files of a format, broken ones too."""
    paths = sorted((PROJECT / "examples").rglob(f"*.{kind}"))
    if (CORPUS / "manifest.json").is_file():
        entries = json.loads((CORPUS / "manifest.json").read_text(encoding="utf-8"))
        paths += [CORPUS / e["path"] for e in entries if e["path"].lower().endswith(f".{kind}")]
    for path in paths:
        yield path.read_bytes()
