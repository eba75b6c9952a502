"""Broken files and records in Blender: refused in a sentence or shown, never a traceback, nothing left behind.

`IDTECH_HOSTILE=300` tries that many files of each format; by default it is fewer, and always the same.
"""

import os
from pathlib import Path
from random import Random
from typing import Any

import pytest

from fuzz.mutate import MODELS, PAIR, mutated, split_pair
from fuzz.seeds import samples
from io_idtech_models.blender.provenance import RECORD, SKELETON
from io_idtech_models.blender.skeletal.source import MOTION, SKINNED
from tests.ui.scene import bpy, counts, operator
from tests.ui.test_life import EXAMPLES

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("empty_scene")]
INPUTS = int(os.environ.get("IDTECH_HOSTILE", "30"))
FRESH = 25  # imports, after which the scene is emptied


def attempt(call: Any, **options: Any) -> str:
    """Call an operator; returns the error that it reports, or ""."""
    try:
        call(**options)
    except RuntimeError as error:
        text = str(error)
        assert "Traceback" not in text, text
        return text
    return ""


def put(folder: Path, kind: str, data: bytes) -> tuple[Path, dict[str, str]]:
    """Write an input; returns the file to import, and the options."""
    options: dict[str, str] = {}
    if kind == PAIR:
        data, bones = split_pair(data)
        options["animation"] = str(folder / "hostile-bones.mdx")
        Path(options["animation"]).write_bytes(bones)
        kind = "mdm"
    path = folder / f"hostile.{kind}"
    path.write_bytes(data)
    return path, options


@pytest.mark.parametrize("kind", MODELS)
def test_mutated_files(tmp_path, kind, capfd):
    rng, files = Random(2026), samples(kind)
    refused = shown = 0
    for index in range(INPUTS):
        if index % FRESH == 0:
            bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        path, options = put(tmp_path, kind, mutated(kind, rng.choice(files), rng.choice(files), rng, 1 << 16))
        before = counts()
        if attempt(operator("import", path), filepath=str(path), **options):
            refused += 1
            assert counts() == before, "something was left behind"
        else:
            shown += 1
    assert "Traceback" not in capfd.readouterr().err
    assert refused + shown == INPUTS
    assert refused, "the mutations break nothing"


def records() -> list[tuple[Any, str]]:
    """Return all records in the .blend: who holds each, and under what name."""
    holders = (bpy.data.collections, bpy.data.meshes, bpy.data.armatures, bpy.data.actions, bpy.data.objects)
    names = (RECORD, SKELETON, SKINNED, MOTION)
    found: list[tuple[Any, str]] = []
    for kind in holders:
        blocks: Any = kind
        found += [(block, name) for block in blocks for name in names if isinstance(block.get(name), bytes)]
    return found


@pytest.mark.parametrize("alone", [False, True], ids=["", "objects alone"])
@pytest.mark.parametrize("kind", EXAMPLES)
def test_records_of_a_stranger(tmp_path, kind, alone, capfd):
    rng = Random(7)
    operator("import", EXAMPLES[kind])(filepath=str(EXAMPLES[kind]))
    if alone:
        for block in bpy.data.objects:
            bpy.context.scene.collection.objects.link(block)
        bpy.data.batch_remove(bpy.data.collections)
    whole = [(block, name, bytes(block[name])) for block, name in records()]
    assert whole
    path = tmp_path / f"copy.{kind}"
    for _ in range(max(INPUTS, 30)):
        block, name, data = rng.choice(whole)
        damaged = bytearray(data)
        for _ in range(rng.choice((1, 1, 3, 20))):
            place = rng.choice((rng.randrange(len(damaged)), rng.randrange(min(len(damaged), 400))))
            damaged[place] = rng.randrange(256)
        block.pop(name)
        block[name] = bytes(damaged if rng.random() < 0.8 else damaged[: rng.randrange(len(damaged))])
        path.unlink(missing_ok=True)
        said = attempt(operator("export", path), filepath=str(path))
        assert path.exists() == (not said)
        if kind in {"md5mesh", "mdm"} and bpy.data.actions:
            motion = tmp_path / ("copy.md5anim" if kind == "md5mesh" else "copy.mdx")
            attempt(operator("export", motion), filepath=str(motion))
        block.pop(name)
        block[name] = data
    assert "Traceback" not in capfd.readouterr().err
    assert operator("export", path)(filepath=str(path)) == {"FINISHED"}
    assert path.read_bytes() == EXAMPLES[kind].read_bytes(), "with the records whole it is as it was"
