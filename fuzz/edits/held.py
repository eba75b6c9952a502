"""What a file holds, by the project's codecs and the engines' formulas."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from io_idtech_models.formats import VERTEX, Format, by_name
from io_idtech_models.model.joint_scales import posed
from io_idtech_models.model.skeletal import at_rest
from io_idtech_models.model.weights import skin_by

Points = NDArray[np.float64]


@dataclass
class Frames:
    """The points that a file shows, frame by frame: by a function of the frame's number."""

    assets: list[Any]
    row: Format
    found: dict[int, Points] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """Return how many frames there are."""
        if self.row.family is VERTEX:
            return len(self.assets[0].model.frame_names)
        return sum(each.num_frames for each in self._motions) or 1

    @property
    def _motions(self) -> list[Any]:
        return [motion for asset in self.assets for motion in asset.animations]

    def points(self, frame: int) -> Points:
        """Return the places of all vertices of faces in a frame, (n, 3)."""
        if frame not in self.found:
            self.found[frame] = self._made(frame)
        return self.found[frame]

    def _parts(self, frame: int) -> list[tuple[Points, Any]]:
        model = self.assets[0].model
        if self.row.family is VERTEX:
            parts = [(s.positions[min(frame, len(s.positions) - 1)], s.triangles) for s in model.surfaces]
        else:
            place = self.pose(frame)
            parts = [(skin_by(mesh.weights, *place), mesh.triangles) for mesh in model.meshes if not mesh.level]
        return [(np.asarray(points, np.float64), triangles) for points, triangles in parts if len(triangles)]

    def _made(self, frame: int) -> Points:
        used = [points[np.unique(triangles)] for points, triangles in self._parts(frame)]
        return np.concatenate(used) if used else np.zeros((0, 3))

    def triangles(self, frame: int) -> Points:
        """Return the corners of all triangles in a frame, (n, 3, 3)."""
        return np.concatenate([np.zeros((0, 3, 3)), *(points[corners] for points, corners in self._parts(frame))])

    def pose(self, frame: int) -> tuple[Points, Points]:
        """Return where joints are in a frame, (J, 3), and what they do to their space, (J, 3, 3)."""
        for motion in self._motions:
            if frame < motion.num_frames:
                places, axes = posed(motion.of_frames(np.array([frame])))
                return places[0], axes[0]
            frame -= motion.num_frames
        return self.rest()

    def rest(self) -> tuple[Points, Points]:
        """Return where joints are while meshes are bound to them, as `pose` does."""
        places, axes = posed(at_rest(self.assets[0].model.skeleton, ""))
        return places[0], axes[0]


def loaded(row: Format, path: Path, others: dict[str, Path]) -> Frames:
    """Read a file and those that lie beside it, by their formats."""
    structs = {name: by_name(name).read(place.read_bytes()) for name, place in others.items()}
    companions = [structs.get(other.name) for other in row.skeletal.companions]
    asset = row.unpack(row.read(path.read_bytes()), "a", companions)
    motions = [by_name(name).unpack(found, "a") for name, found in structs.items()]
    return Frames([asset, *motions], row)
