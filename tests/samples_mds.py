"""Small MDS files: the figure of `samples_mdm` as Return to Castle Wolfenstein has it, mesh and motion in one.

The writer packs each field with `struct` in the order of the game's headers, and knows nothing of the package.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from random import Random

from tests import samples_mdm
from tests.samples_mdm import OUR_ORDER, TURN, Bone, Frame, MdxSpec, Surface, body, legs, pose_of


@dataclass
class MdsSurface(Surface):
    """A surface whose vertices say of a bone and a distance what nobody reads."""

    ident: int = 8

    def lumps(self) -> dict[str, bytes]:
        verts = b""
        for number, (normal, st, weights) in enumerate(self.verts):
            verts += struct.pack("<5fiif", *normal, *st, len(weights), number % 3, 0.5 * number)
            verts += b"".join(struct.pack("<i4f", bone, weight, *offset) for bone, weight, offset in weights)
        return super().lumps() | {"verts": verts}


@dataclass
class MdsSpec:
    """A whole file; `gap` bytes lie before each lump, and between surfaces."""

    name: bytes = b"models/players/figure/body.mds\0left over"
    lod: tuple[float, float] = (1.0, -1.0)
    bones: list[Bone] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    surfaces: list[Surface] = field(default_factory=list)
    tags: list[tuple[bytes, float, int]] = field(default_factory=list)
    torso_parent: int = 1
    order: tuple[str, ...] = ("frames", "bones", "surfaces", "tags")
    gap: bytes = b""
    end_off: int = 0

    def pack(self) -> bytes:
        bones = [struct.pack("<64siffi", b.name, b.parent, b.torso_weight, b.parent_dist, b.flags) for b in self.bones]
        lumps = {
            "frames": b"".join(frame.pack() for frame in self.frames),
            "bones": b"".join(bones),
            "tags": b"".join(struct.pack("<64sfi", *tag) for tag in self.tags),
        }
        whole, places = b"", {}
        for kind in self.order:
            whole += self.gap
            places[kind] = 120 + len(whole)
            if kind != "surfaces":
                whole += lumps[kind]
            for surface in self.surfaces if kind == "surfaces" else ():
                whole += surface.pack(120 + len(whole), OUR_ORDER, self.gap)
        numbers = (
            len(self.frames), len(self.bones), places["frames"], places["bones"], self.torso_parent,
            len(self.surfaces), places["surfaces"], len(self.tags), places["tags"], 120 + len(whole) + self.end_off,
        )  # fmt: skip
        return struct.pack("<4si64s2f10i", b"MDSW", 4, self.name, *self.lod, *numbers) + whole


def _mds(surface: Surface) -> MdsSurface:
    names = ("name", "shader", "verts", "tris", "collapse", "refs", "min_lod", "shader_index")
    return MdsSurface(**{name: getattr(surface, name) for name in names})


def _bounded(frame: Frame) -> Frame:
    """Return a frame with bounds as the game's files have them: the lower corner first."""
    low, high = ([o + s * 12.5 for o in frame.local_origin] for s in (-1, 1))
    return replace(frame, bounds=(*low, *high))


def figure_spec(count: int = 6) -> MdsSpec:
    """Return the figure: two surfaces, six frames, and two tags, on bones of their own that no vertex follows."""
    bones = [replace(bone, flags=0) for bone in samples_mdm.BONES]
    bones += [Bone(b"tag_mouth\0rest", 2, 1.0, 3.5, 1), Bone(b"tag_belt", 0, 0.0, -4.0, 1)]
    rng = Random(11)
    frames = []
    for number, frame in enumerate(samples_mdm.moving_frames(count)):
        turned = [
            tuple(round((a + 5.0 * number) / TURN) for a in angles)
            for angles in ((20.0, 110.0, -35.0, 60.0, 15.0), (-70.0, 40.0, 80.0, 5.0, -95.0))
        ]
        codes = [*frame.codes, *((*tag[:3], rng.randrange(9), *tag[3:]) for tag in turned)]
        frames.append(_bounded(replace(frame, codes=codes)))
    pose = pose_of(MdxSpec(), 0, exact=True)
    tags = [(b"tag_mouth\0junk", 1.0, 8), (b"tag_belt", 0.5, 9)]
    return MdsSpec(bones=bones, frames=frames, surfaces=[_mds(body(pose)), _mds(legs(pose))], tags=tags)


def figure() -> bytes:
    """Return the figure."""
    return figure_spec().pack()


def tag_that_moves() -> bytes:
    """Return the figure with a tag on a bone that vertices follow."""
    spec = figure_spec(2)
    spec.bones[6] = replace(spec.bones[6], flags=1)
    spec.tags.append((b"tag_hand", 1.0, 6))
    return spec.pack()


def bare() -> bytes:
    """Return a skeleton of one frame, without a surface or a tag."""
    spec = figure_spec(1)
    spec.surfaces, spec.tags, spec.torso_parent = [], [], 77
    return spec.pack()


def odd_layout() -> bytes:
    """Return the figure with every lump where no writer of ours would put it."""
    spec = figure_spec(3)
    return replace(spec, order=("tags", "surfaces", "bones", "frames"), gap=b"gap!", end_off=4).pack()


def odd_weights() -> bytes:
    """Return weights as real files have them: sums that are not 1, a bone twice, the heaviest not first."""
    spec = figure_spec(2)
    verts = spec.surfaces[0].verts
    changes: dict[int, list[samples_mdm.Weight]] = {
        3: [(0, 0.75, (1.0, 2.0, 3.0))],
        9: [(0, 0.5, (4.0, 5.0, 6.0)), (0, 0.5, (4.5, 5.0, 6.0))],
        16: [(1, 1.125, (1.0, 1.0, 1.0)), (0, -0.125, (9.0, 9.0, 9.0))],
    }
    for vertex, change in changes.items():
        normal, st, _ = verts[vertex]
        verts[vertex] = normal, st, change
    return spec.pack()


FILES: tuple[Callable[[], bytes], ...] = (figure, tag_that_moves, bare, odd_layout, odd_weights)
