"""What a processor's arithmetic could decide: run as a script, it prints a digest of each as JSON.

`test_processors.py` runs it with the kernels of several processors.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from io_idtech_models.assets.convert import Posing, convert
from io_idtech_models.assets.export_request import ExportRequest
from io_idtech_models.assets.load import load
from io_idtech_models.formats import by_name
from io_idtech_models.formats.common import normals as _normals
from io_idtech_models.formats.common.wolf import ways as _ways
from io_idtech_models.game.folders import Disk
from io_idtech_models.model import bind_pose as binding
from io_idtech_models.model import steady, torso
from io_idtech_models.model.bounds import set_bounds
from io_idtech_models.model.lod import collapse
from io_idtech_models.model.lod.levels import make_levels
from io_idtech_models.model.vertex import Surface, VertexModel
from tests.samples import CORPUS, PROJECT, SENTINEL

EXAMPLES = PROJECT / "examples"
STILT = EXAMPLES / "stilt" / "players" / "stilt" / "tris.md2"
NEWT = EXAMPLES / "newt" / "models" / "md5" / "newt" / "newt.md5mesh"
TROOPER = next(EXAMPLES.rglob("body.mdm"))
BONES = next(EXAMPLES.rglob("body.mdx"))
Bytes = dict[str, bytes]


def vectors(count: int, width: int) -> Any:
    """Return numbers that look like chance, the same everywhere: fractions of multiples of roots."""
    roots = np.sqrt(np.array([2.0, 3.0, 5.0, 7.0])[:width])
    return np.modf(np.arange(1, count + 1)[:, None] * roots)[0] * 2.0 - 1.0


def normals() -> Bytes:
    """Return the codes of normals, also of those that lie just between codes."""
    free = vectors(20_000, 3)
    table = _normals.latlong_table().astype(np.float64)
    between = table[:-256:7] + table[256::7]
    sides = _normals.direction_table().astype(np.float64)
    edges = (sides[:, None] + sides[None]).reshape(-1, 3)
    return {
        "latlong": _normals.encode_latlong(np.concatenate((free, between, edges))).tobytes(),
        "directions": _normals.encode_direction(np.concatenate((free, between, edges))).tobytes(),
        "table": table.tobytes(),
    }


def angles() -> Bytes:
    """Return the codes of rotations and directions, also of those that lie just between codes."""
    turns = vectors(20_000, 4)
    turns /= steady.lengths(turns)[:, None]
    codes = np.arange(-32768, 32768, 5)
    half = steady.cosines_and_sines((codes + 0.5) * _ways.CODE)
    flat = np.stack((*half, np.zeros(len(codes))), axis=1)
    ways = np.concatenate((vectors(20_000, 3), flat))
    pose = torso.axes(vectors(500, 3) * 180.0)
    return {
        "rotations": _ways.encode_rotations(turns).tobytes(),
        "directions": _ways.encode_directions(ways).tobytes(),
        "coarse": _ways.encode_ways(ways, np.arange(len(ways)) % 2 == 0, True).tobytes(),
        "decoded": _ways.decode_rotations(_ways.encode_rotations(turns)).tobytes(),
        "torso": torso.nearest_turns(pose + 0.2 * vectors(1500, 3).reshape(-1, 3, 3)).tobytes(),
    }


def bind_pose() -> Bytes:
    """Return the pose in which weights agree best, of our own model and of a real one."""
    files = [(TROOPER, BONES)]
    if CORPUS.is_dir():
        files += zip(sorted(CORPUS.rglob("*.mdm")), sorted(CORPUS.rglob("*.mdx")), strict=False)
    found: Bytes = {}
    for model_file, bones in files:
        loaded = load(Disk().file(model_file), [Disk().file(bones)])
        assert loaded.animation is not None
        places = binding.mean_places(loaded.animation.positions)
        fitted = binding.fitted(loaded.model, loaded.model.skeleton.bind, places)
        pose = fitted.skeleton.bind
        found[model_file.name] = pose.positions.tobytes() + pose.rotations.tobytes()
        whole = replace(fitted, source=None, meshes=[replace(m, kept=None, source_index=-1) for m in fitted.meshes])
        found[f"levels of {model_file.name}"] = by_name("mdm").dump(whole, {"make_lod": True})
        found[f"all of {model_file.name}"] = by_name("mdm").dump(whole, {"make_lod": False})
    return found


def levels() -> Bytes:
    """Return how a surface loses its vertices that is its own mirror image."""
    half = vectors(300, 3) * np.array([1.0, 0.2, 1.0])
    points = np.concatenate((half, half * np.array([-1.0, 1.0, 1.0])))
    rows = np.argsort(half[:, 0] * 7 + half[:, 2])
    strip = np.stack((rows[:-2], rows[1:-1], rows[2:]), axis=1)
    triangles = np.concatenate((strip, strip[:, ::-1] + len(half)))
    order = collapse.simplify(points, points[:, :2], None, triangles)
    moving = load(Disk().file(SENTINEL)).model
    shares = (0.5, 0.25)
    files = {
        f"{share:g} of sentinel": by_name("md3").dump(level)
        for share, level in zip(shares, make_levels(moving, shares), strict=True)
    }
    return files | {
        "simplify": order.order.tobytes() + order.collapse.tobytes(),
        "identity": collapse.identity(len(points), points).tobytes(),
    }


def edited(model: VertexModel, turn: Any) -> VertexModel:
    """Return a model whose vertices were moved in all frames, some more, so that normals must follow."""

    def moved(surface: Surface) -> Surface:
        bent = turn + 0.1 * np.eye(3)[::-1] * (np.arange(surface.num_vertices) % 3 == 0)[:, None, None]
        return replace(surface, stored_positions=steady.applied(bent, surface.positions).astype(np.float32))

    return replace(model, surfaces=[moved(surface) for surface in model.surfaces])


def turned() -> Bytes:
    """Return vertex-animated models after edits, as either format."""
    found: Bytes = {}
    quarter = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    slanted = np.array([[0.8, 0.1, -0.3], [0.0, 0.9, 0.2], [0.4, -0.1, 0.7]])
    for path in (SENTINEL, STILT):
        for name, turn in (("quarter", quarter), ("slanted", slanted)):
            model = edited(load(Disk().file(path)).model, turn)
            found |= {f"{path.name} {name} {to}": by_name(to).dump(model) for to in ("md2", "md3")}
    return found


def bounds() -> Bytes:
    """Return an animation whose bounds are all made anew."""
    loaded = load(Disk().file(NEWT))
    row = by_name("md5anim")
    animation = row.load(next(NEWT.parent.glob("walk.md5anim")).read_bytes(), "walk")
    animation.keep_bounds = False
    set_bounds(animation, loaded.model)
    return {"bounds": animation.bounds.tobytes(), "file": row.dump(replace(animation, source=None))}


def conversions() -> Bytes:
    """Return what comes of converting our models into other formats."""
    jobs: tuple[tuple[Path, str, list[Path], dict[str, Any]], ...] = (
        (NEWT, "a.md3", [NEWT.with_name("walk.md5anim")], {}),
        (NEWT, "b.md2", [NEWT.with_name("walk.md5anim")], {}),
        (NEWT, "c.mdm", [NEWT.with_name("walk.md5anim")], {"make_lod": True}),
        (TROOPER, "d.md5mesh", [BONES], {}),
        (TROOPER, "e.md3", [BONES], {}),
        (STILT, "f.md3", [], {}),
        (SENTINEL, "g.md2", [], {}),
        (NEWT, "h.md3", [], {"split_surfaces": True}),
        (NEWT, "i.mdc", [NEWT.with_name("walk.md5anim")], {}),
        (NEWT, "j.mds", [NEWT.with_name("walk.md5anim")], {"make_lod": True}),
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for source, target, animations, options in jobs:
            files = [Disk().file(path) for path in animations]
            game = "quake3" if options.get("split_surfaces") else "format"
            convert(Disk().file(source), ExportRequest(folder / target, game, options, shorten=True), Posing(files))
        return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


PARTS: tuple[Callable[[], Bytes], ...] = (normals, angles, bind_pose, levels, turned, bounds, conversions)


def main() -> None:
    """Print the digests."""
    found = {f"{part.__name__}: {name}": data for part in PARTS for name, data in part().items()}
    json.dump({name: hashlib.sha256(data).hexdigest() for name, data in found.items()}, sys.stdout)


if __name__ == "__main__":
    main()
