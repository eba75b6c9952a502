"""An MD3 in Blender, edited and written back, and what then differs from the file it was."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from io_idtech_models.blender.gather import gather
from io_idtech_models.blender.materials import Materials
from io_idtech_models.blender.plan import GatherSettings
from io_idtech_models.blender.vertex import BuildSettings, Built, build
from io_idtech_models.formats import by_name, md3

ROW = by_name("md3")
CONTEXT: Any = bpy.context  # the stubs think that scene and view layer may be missing


@dataclass
class Case:
    """A file in the scene: `before` is what it was, `after()` what an export would write now."""

    data: bytes
    built: Built

    @property
    def before(self) -> md3.Md3:
        return md3.read(self.data)

    @property
    def collection(self):
        return bpy.data.collections[self.built.collection.name]

    def surface(self, index: int):
        return self.built.surfaces[index]

    def dump(self, **settings) -> bytes:
        blocks = list(self.collection.all_objects)
        asked = GatherSettings(**settings)
        return ROW.dump(gather(blocks, self.collection, CONTEXT.scene, CONTEXT.view_layer, asked))

    def after(self, **settings) -> md3.Md3:
        """Export both ways, from curves and by stepping, which must agree."""
        direct, stepped = (self.dump(direct=direct, **settings) for direct in (True, False))
        assert direct == stepped
        return md3.read(direct)


def open_case(data: bytes, **settings) -> Case:
    """Import a file's bytes into the scene."""
    model = ROW.load(data, "model")
    scene = CONTEXT.scene
    built = build(model, BuildSettings(**settings), Materials(lambda name: None), scene, scene.collection)
    CONTEXT.view_layer.update()
    return Case(data, built)


def reopen(case: Case) -> None:
    """Save the .blend and open it again."""
    name = case.built.collection.name
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "case.blend"))
        bpy.ops.wm.save_as_mainfile(filepath=path)
        bpy.ops.wm.open_mainfile(filepath=path)
    case.built.collection = bpy.data.collections[name]


def fields(record: np.dtype[Any]) -> tuple[str, ...]:
    """Return the names of a record's fields."""
    return record.names or ()


def differences(a: md3.Md3, b: md3.Md3) -> set[str]:
    """Return the names of the parts in which two files differ, offsets apart."""
    found = {f"header.{n}" for n in fields(md3.HEADER) if not n.startswith("ofs_") and a.header[n] != b.header[n]}
    found |= {f"frames.{n}" for n in fields(md3.FRAME) if not np.array_equal(a.frames[n], b.frames[n])}
    found |= {f"tags.{n}" for n in fields(md3.TAG) if not np.array_equal(a.tags[n], b.tags[n])}
    for i, (s, t) in enumerate(zip(a.surfaces, b.surfaces, strict=False)):
        names = [n for n in fields(md3.SURFACE) if not n.startswith("ofs_")]
        found |= {f"surface{i}.{n}" for n in names if s.header[n] != t.header[n]}
        for part in ("shaders", "triangles", "st", "vertices"):
            if not np.array_equal(getattr(s, part), getattr(t, part)):
                found.add(f"surface{i}.{part}")
    return found


def angle(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """Return degrees between vectors (n, 3)."""
    a, b = (v / np.linalg.norm(v, axis=-1, keepdims=True) for v in (a.astype(float), b.astype(float)))
    return np.asarray(np.degrees(2 * np.arcsin(np.clip(np.linalg.norm(a - b, axis=-1) / 2, 0, 1))))
