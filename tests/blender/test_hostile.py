"""Broken files and records in Blender: refused in a sentence or shown, never a traceback, nothing left behind.

`IDTECH_HOSTILE=300` tries that many files of each format, and all that is wrong of each property; by default it is
fewer, and always the same.
"""

import math
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from fuzz.mutate import MODELS, PAIR, mutated, split_pair
from fuzz.seeds import samples
from io_idtech_models.blender.provenance import RECORD, SKELETON
from io_idtech_models.blender.skeletal.source import MOTION, SKINNED
from tests import samples_character, samples_doom3, samples_wolf, samples_xreal
from tests.ui.player import players
from tests.ui.scene import bpy, counts, operator
from tests.ui.test_life import EXAMPLES

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("empty_scene")]
USUAL = 30
INPUTS = int(os.environ.get("IDTECH_HOSTILE", USUAL))
WHOLE: dict[str, Callable[[Path], Path]] = {
    "player": players.game,
    "wolf": samples_wolf.put_character,
    "et": samples_character.put_character,
    "doom3": samples_doom3.put_character,
    "xreal": samples_xreal.put_player,
}
WRONG = ("abc", -5, "[[1]]", 1e30, math.nan, [1.0, 2.0], {"a": 1}, True)
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
    for _ in range(INPUTS // 2):
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


def own_properties() -> Iterator[tuple[Any, str]]:
    """Yield who has each property of ours, and its name: of each kind of data-block one that has it."""
    seen: set[tuple[type, str]] = set()
    blocks: list[Any] = sorted(bpy.data.user_map(), key=lambda each: (each.id_type, each.name))
    bones = [bone for each in blocks if each.id_type == "ARMATURE" for bone in each.bones]
    posed = [bone for each in blocks if each.id_type == "OBJECT" and each.pose is not None for bone in each.pose.bones]
    for block in (*blocks, *bones, *posed):
        for name in sorted(block.keys()):
            if name.startswith("idtech") and (type(block), name) not in seen:
                seen.add((type(block), name))
                yield block, name


def plain(value: Any) -> Any:
    """Return a property's value as what is set again."""
    return next((getattr(value, way)() for way in ("to_dict", "to_list") if hasattr(value, way)), value)


def wrong_for(own: Any) -> list[Any]:
    """Return what can't stand where something of ours does: all of it, or one of another kind."""
    few = WRONG[isinstance(own, str | bytes) :][:1]
    return [*(few if INPUTS <= USUAL else WRONG)]


@pytest.mark.parametrize("kind", [*EXAMPLES, *WHOLE])
def test_properties_of_another_kind(tmp_path, kind, capfd):
    """What a script or a stranger wrote where ours stand is ignored, or said; with ours back all is as it was."""
    if kind in WHOLE:
        called, given, source = "player" if kind == "player" else "character", "", WHOLE[kind](tmp_path / "game")
        getattr(bpy.ops.import_scene, f"idtech_{called}")(filepath=str(source))
        exports = [getattr(bpy.ops.export_scene, f"idtech_{called}"), bpy.ops.object.idtech_check_game]
    else:
        given, source = f".{kind}", EXAMPLES[kind]
        operator("import", source)(filepath=str(source))
        exports = [operator("export", source)]
    targets: list[dict[str, str]] = [{"filepath": str(tmp_path / f"copy{given}")}, {}]
    found = list(own_properties())
    assert found
    for nth, (block, name) in enumerate(found):
        own = plain(block[name])
        tried, asked = wrong_for(own), list(zip(exports, targets, strict=False))
        if kind in WHOLE and INPUTS <= USUAL:  # a character's export takes long
            tried, asked = [tried[nth // len(asked) % len(tried)]], [asked[nth % len(asked)]]
        for wrong in tried:
            block.pop(name)
            block[name] = wrong
            for export, options in asked:
                attempt(export, **options)
        block.pop(name)
        block[name] = own
    assert "Traceback" not in capfd.readouterr().err
    if kind not in WHOLE:
        assert exports[0](**targets[0]) == {"FINISHED"}
        assert Path(targets[0]["filepath"]).read_bytes() == source.read_bytes()
