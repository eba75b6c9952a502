"""Small hand-made files of every format, the corpus, and helpers that all tests share.

The writers in `samples_md2` and its like know nothing of the package: they pack each field with `struct`, in the order
of the engine's headers, so that a layout which is wrong in the package can't be wrong here in the same way. Values
differ from one another byte by byte, so that two swapped fields fail a test.
"""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from io_idtech_models import formats
from io_idtech_models.formats import VERTEX, rows_of
from io_idtech_models.model.vertex import VertexModel
from tests.small_files import SAMPLES

PROJECT = Path(__file__).resolve().parent.parent
CORPUS = PROJECT.parent / "shared" / "corpus"
SENTINEL = PROJECT / "examples" / "sentinel" / "sentinel.md3"


def sample(name: str, format_name: str = "md3") -> bytes:
    """Return a sample's file."""
    return SAMPLES[format_name][name]


def sample_params(*names: str, format_name: str = "", family: formats.Family | None = VERTEX) -> list[Any]:
    """Return parameters for `pytest.mark.parametrize`: samples of a family or (None) all, of these names or any."""
    rows = [row.name for row in formats.ROWS if family in {None, row.family} and format_name in {"", row.name}]
    return [
        pytest.param(data, id=f"{row}-{name}")
        for row in rows
        for name, data in SAMPLES[row].items()
        if not names or name in names
    ]


# -- the corpus

# The manifest takes it for valid, but its triangles name vertices that it lacks.
BROKEN = frozenset(("assimp/test/models/MD2/malformed_zero_numvertices.md2",))


@dataclass(frozen=True)
class CorpusFile:
    """A real file and what its manifest says about it."""

    path: Path
    entry: dict[str, Any]

    @property
    def data(self) -> bytes:
        """Return the file."""
        return self.path.read_bytes()

    @property
    def notes(self) -> list[str]:
        """Return what is odd about it."""
        return list(self.entry.get("notes", []))

    def expected(self) -> dict[str, Any]:
        """Return the arrays that the engine computes, by name; empty if nobody computed them."""
        if "expected" not in self.entry:
            return {}
        with np.load(CORPUS / self.entry["expected"]) as arrays:
            return dict(arrays)


@functools.cache
def corpus(suffix: str = ".md3", *, valid: bool = True) -> tuple[CorpusFile, ...]:
    """Return the corpus' valid, or invalid, files of a kind; nothing where there is no corpus."""
    if not (CORPUS / "manifest.json").is_file():
        return ()
    entries = json.loads((CORPUS / "manifest.json").read_text(encoding="utf-8"))
    found = [e for e in entries if e["path"].lower().endswith(suffix)]
    found = [e for e in found if (bool(e.get("invalid")) or e["path"] in BROKEN) is not valid]
    return tuple(CorpusFile(CORPUS / e["path"], e) for e in found)


def corpus_params(*suffixes: str, valid: bool = True) -> list[Any]:
    """Return parameters for `pytest.mark.parametrize`: a file each, or one skip where there is no corpus.

    Without suffixes these are the files of vertex-animated models.
    """
    wanted = suffixes or tuple(suffix for row in rows_of(VERTEX) for suffix in row.suffixes)
    files = [file for suffix in wanted for file in corpus(suffix, valid=valid)]
    if not files:
        return [pytest.param(None, marks=pytest.mark.skip("the corpus of real files is not here"), id="corpus")]
    return [pytest.param(file, id=file.entry["path"]) for file in files]


# -- helpers


def arrays_of(source: Any) -> dict[str, Any]:
    """Return the arrays that a surface of a source has, whichever its kind."""
    return {name: value for name, value in vars(source).items() if isinstance(value, np.ndarray)}


def format_of(data: bytes) -> Any:
    """Return the row of a file's format."""
    return formats.identify(data, Path("a.md5anim" if b"numFrames" in data else ""))


def loose_bytes(data: bytes) -> tuple[bytes, bytes]:
    """Return the bytes of a file that are no part of what it declares: between its lumps, and behind the last."""
    if format_of(data).is_text:
        return b"", b""
    structs = format_of(data).read(data)
    if hasattr(structs, "layout"):
        return structs.layout["layout_filler"].tobytes(), structs.layout["layout_tail"].tobytes()
    return b"", structs.tail.tobytes()


def put(path: Path | str, name: str | bytes = "animated") -> Path:
    """Write a sample of the format that the suffix says (or bytes) as a file."""
    place = Path(path)
    place.parent.mkdir(parents=True, exist_ok=True)
    row = formats.by_suffix(place)
    place.write_bytes(sample(name, "md3" if row is None else row.name) if isinstance(name, str) else name)
    return place


def load(data: bytes, name: str = "sample") -> Any:
    """Return the model in a file's bytes; Any, so that tests need not ask whether its source is there."""
    return format_of(data).load(data, name)


def dump(model: VertexModel, format_name: str = "", **options: Any) -> bytes:
    """Return the file's bytes of a model: of a format, or of the one that it came from."""
    row = format_name or ("md3" if model.source is None else model.source.format)
    data: bytes = formats.by_name(row).dump(model, options)
    return data


def write_read(model: VertexModel, format_name: str = "", **options: Any) -> Any:
    """Return a model as it comes back from a file; its name too, if the file holds it."""
    return load(dump(model, format_name, **options), "")
