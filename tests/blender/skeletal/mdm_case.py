"""An MDM in Blender with its MDX files, edited and written back, and what then differs from the files."""

from __future__ import annotations

from typing import Any

import bpy as blender
import numpy as np
from numpy.typing import NDArray

from io_idtech_models.formats import by_name
from io_idtech_models.model import bind_pose as binding
from io_idtech_models.model.skeletal import Pose, skin
from io_idtech_models.model.transforms import chain, rotate, to_matrices
from tests import samples_mdm
from tests.blender.case import CONTEXT, vertices_of
from tests.blender.skeletal.rigged import Rigged, bring, shown

bpy: Any = blender  # the stubs make each object's data a union
MDM, MDX = by_name("mdm"), by_name("mdx")
RUN = samples_mdm.MdxSpec(frames=samples_mdm.moving_frames(4, seed=9)[1:], name=b"run")
MOTIONS = {"walk": samples_mdm.walk(), "run": RUN.pack()}


def open_figure(
    data: bytes | None = None,
    motions: dict[str, bytes] | None = None,
    bind: int | None = None,
    bare: bool = False,
    **settings: Any,
) -> Rigged:
    """Import a model with animations by name: bound in a frame of the first, or else as fits best.

    `bare`: the bones are not known.
    """
    files = MOTIONS if motions is None else motions
    data = samples_mdm.figure() if data is None else data
    first = next(iter(files.values()), None)
    model = MDM.load(data, "figure", {} if bare or first is None else {"mdx": first})
    found = [] if bare else [MDX.load(file, name) for name, file in files.items()]
    if found and bind is None:
        model = binding.fitted(model, model.skeleton.bind, binding.mean_places(found[0].positions))
    elif found:
        one = found[0]
        model = binding.bound_in(model, Pose(*chain(one.parents, one.positions[bind], one.rotations[bind])))
    return bring(data, {} if bare else files, model, found, settings)


# -- what the engine shows


def engine(figure: Rigged, name: str, frame: int, data: bytes | None = None) -> list[NDArray[Any]]:
    """Return where the engine puts the vertices of each surface in a frame of a file, (V, 3)."""
    places, turns = pose(figure, name, frame)
    meshes = MDM.load(data or figure.data, "x", {"mdx": figure.motions[name]}).meshes
    return [skin(mesh.weights, places, turns) for mesh in meshes]


def pose(figure: Rigged, name: str, frame: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return positions (B, 3) and rotations (B, 4) of a frame of a file in model space."""
    one = MDX.load(figure.motions[name], name)
    places, turns = chain(one.parents, one.positions[frame : frame + 1], one.rotations[frame : frame + 1])
    return places[0], turns[0]


def off_the_engine(figure: Rigged, wanted: list[NDArray[Any]], scale: float = 1.0) -> list[NDArray[Any]]:
    """Return how far the scene shows each surface's vertices, at its corners, from where they are wanted."""
    found, base = [], 0
    for index, places in enumerate(wanted):
        block = figure.mesh(index)
        points, vertices = vertices_of(block)
        found.append(np.linalg.norm(shown(block)[points] - scale * places[vertices - base], axis=1))
        base += len(places)
    return found


def off_the_tags(figure: Rigged, name: str, frame: int, scale: float = 1.0) -> float:
    """Return how far the scene shows tags from where the engine has them: origins, and axes where they are turns."""
    places, turns = pose(figure, name, frame)
    worst = 0.0
    for tag in MDM.load(figure.data, "x", {"mdx": figure.motions[name]}).tags:
        block = figure.tag(tag.name)
        matrix = np.array(block.evaluated_get(CONTEXT.evaluated_depsgraph_get()).matrix_world)
        origin = scale * (rotate(turns[tag.joint], tag.origin) + places[tag.joint])
        worst = max(worst, float(np.abs(matrix[:3, 3] - origin).max()))
        if np.allclose(tag.axes @ tag.axes.T, np.eye(3), atol=1e-4):
            axes = tag.axes @ to_matrices(turns[tag.joint]).T
            worst = max(worst, float(np.abs(matrix[:3, :3].T - axes).max()))
    return worst


def restart() -> None:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
