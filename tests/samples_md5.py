"""Small hand-made md5mesh and md5anim files.

They are written by format strings of their own, so that a slip of the package's writer can't hide here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from random import Random
from typing import Any

HALF = math.sqrt(0.5)
Joint = tuple[str, int, tuple[float, float, float], tuple[float, float, float]]

# An arm of three joints along X, the last turned by a right angle about Z; w is dropped, and negative.
ARM: list[Joint] = [
    ("origin", -1, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
    ("upper arm", 0, (8.0, 1.0, 2.0), (0.0, 0.0, 0.0)),
    ("hand", 1, (24.0, 1.0, 2.0), (0.0, 0.0, -HALF)),
]

# A skeleton beside it.
PROPS: list[Joint] = [
    ("prop", -1, (1.0, -20.0, 3.0), (0.1, 0.2, 0.3)),
    ("tip", 3, (9.0, -20.0, 3.0), (0.1, 0.2, 0.3)),
]


@dataclass
class PartSpec:
    """One mesh: rows as they stand in the file."""

    shader: str = "models/md5/arm"
    name: str = "arm"
    verts: list[tuple[float, float, int, int]] = field(default_factory=list)  # s, t, start, count
    tris: list[tuple[int, int, int]] = field(default_factory=list)
    weights: list[tuple[int, float, float, float, float]] = field(default_factory=list)  # joint, bias, offset

    def pack(self) -> str:
        lines = ["mesh {", f"\t// meshes: {self.name}", f'\tshader "{self.shader}"', f"\tnumverts {len(self.verts)}"]
        lines += [f"\tvert {i} ( {s!r} {t!r} ) {a} {n}" for i, (s, t, a, n) in enumerate(self.verts)]
        lines += [f"\tnumtris {len(self.tris)}"]
        lines += [f"\ttri {i} {a} {b} {c}" for i, (a, b, c) in enumerate(self.tris)]
        lines += [f"\tnumweights {len(self.weights)}"]
        lines += [f"\tweight {i} {j} {b!r} ( {x!r} {y!r} {z!r} )" for i, (j, b, x, y, z) in enumerate(self.weights)]
        return "\n".join([*lines, "}", ""])


def box() -> PartSpec:
    """Return a box around the arm: each vertex on one joint, or on two that agree at rest; corners split by texture."""
    verts: list[tuple[float, float, int, int]] = []
    weights: list[tuple[int, float, float, float, float]] = []
    for x in (4.0, 16.0, 28.0):
        for y, z in ((-3.0, -1.0), (5.0, -1.0), (5.0, 5.0), (-3.0, 5.0)):
            start = len(weights)
            if x == 4.0:
                weights.append((0, 1.0, x, y, z))
            elif x == 16.0:
                weights += [(1, 0.625, x - 8.0, y - 1.0, z - 2.0), (0, 0.375, x, y, z)]
            else:  # in the hand's space: turned back by a right angle
                weights.append((2, 1.0, y - 1.0, -(x - 24.0), z - 2.0))
            verts.append((x / 32.0, (y + z) / 16.0, start, len(weights) - start))
    verts.append((0.9375, 0.0625, verts[11][2], 1))  # shares the last vertex's weight
    tris = []
    for ring in (0, 4):
        for i in range(4):
            a, b = ring + i, ring + (i + 1) % 4
            tris += [(a, a + 4, b), (b, a + 4, b + 4)]  # clockwise seen from outside
    tris += [(8, 10, 9), (8, 12, 10)]
    return PartSpec(verts=verts, tris=tris, weights=weights)


@dataclass
class MeshSpec:
    """A whole md5mesh."""

    joints: list[Joint] = field(default_factory=lambda: list(ARM))
    parts: list[PartSpec] = field(default_factory=lambda: [box()])
    command_line: str | None = 'mesh models/arm.mb -dest "no quotes"'.replace('"', "'")
    version: int = 10

    def pack(self) -> bytes:
        lines = [f"MD5Version {self.version}"]
        if self.command_line is not None:
            lines.append(f'commandline "{self.command_line}"')
        lines += ["", f"numJoints {len(self.joints)}", f"numMeshes {len(self.parts)}", "", "joints {"]
        for name, parent, (x, y, z), (a, b, c) in self.joints:
            lines.append(f'\t"{name}"\t{parent} ( {x!r} {y!r} {z!r} ) ( {a!r} {b!r} {c!r} )\t\t// remark')
        lines += ["}", ""]
        return ("\n".join(lines) + "\n" + "\n".join(part.pack() for part in self.parts)).encode()


def arm() -> bytes:
    """Return one mesh on three joints."""
    return MeshSpec().pack()


def several_meshes() -> bytes:
    """Return two meshes, one without a name or shader, and one without any vertex."""
    bare = box()
    bare.shader, bare.name = "", ""
    return MeshSpec(parts=[box(), bare, PartSpec(shader="none", name="nothing")]).pack()


def odd_weights() -> bytes:
    """Return weights as real files have them: of 0, a joint twice, a sum that is not 1, starts that fall, unused."""
    part = box()
    first = len(part.weights)
    part.weights += [
        (1, 0.5, 1.0, 2.0, 3.0), (1, 0.25, 1.5, 2.5, 3.5), (2, 0.0, 4.0, 5.0, 6.0), (0, 0.125, 9.0, 8.0, 7.0),
        (2, 1.0, 77.0, 66.0, 55.0),  # nobody's
    ]  # fmt: skip
    part.verts[3] = (*part.verts[3][:2], first, 4)
    part.verts[0] = (*part.verts[0][:2], first + 1, 1)
    return MeshSpec(parts=[part]).pack()


def several_roots() -> bytes:
    """Return two skeletons in one, and a child that stands before another joint's child."""
    return MeshSpec(joints=[*ARM, *PROPS]).pack()


def no_command_line() -> bytes:
    """Return a file without a command line."""
    return MeshSpec(command_line=None).pack()


def degenerate() -> bytes:
    """Return a triangle that uses a vertex twice, and one that occurs twice."""
    part = box()
    part.tris += [(1, 1, 2), part.tris[0]]
    return MeshSpec(parts=[part]).pack()


def unused() -> bytes:
    """Return vertices that no triangle uses: alone, with the weights of another that is used, and of each other."""
    part = box()
    for s in (0.125, 0.25):
        part.verts.append((s, 0.5, part.verts[5][2], 2))  # those of vertex 5
    first = len(part.weights)
    part.weights += [(2, 1.0, 9.0, 8.0, 7.0)]
    part.verts += [(0.375, 0.5, first, 1), (0.4375, 0.5, first, 1), (0.5, 0.5, first, 1)]
    return MeshSpec(parts=[part, box()]).pack()


LONG = "b" * 80  # more than Blender holds
ODD_NAMES = (
    "", "a", "a", "a.001", "Bone", LONG, LONG, "größe 日本 " * 9, "back\\slash", "tab\tin", "a", " padded ", "[0].x",
)  # fmt: skip


def odd_names() -> bytes:
    """Return joints with names that are empty, repeated, too long for Blender, or in other scripts."""
    names = enumerate(ODD_NAMES)
    joints: list[Joint] = [(name, i - 1, (8.0 * i, 1.0, 2.0), (0.0, 0.0, -0.0625 * i)) for i, name in names]
    part = box()
    part.weights = [(j % len(joints), *rest) for j, (_, *rest) in enumerate(part.weights)]  # type: ignore[misc]
    return MeshSpec(joints=joints, parts=[part]).pack()


def one_place() -> bytes:
    """Return joints that all lie at one place, one of them without any turn against another."""
    turns = [(0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.5, -0.25, 0.125), (0.0, 0.0, -HALF), (-HALF, 0.0, HALF)]
    joints: list[Joint] = [(f"j{i}", i - 1, (3.0, -4.0, 5.0), turn) for i, turn in enumerate(turns)]
    return MeshSpec(joints=joints).pack()


def far_away() -> bytes:
    """Return joints close to one another, 4000 units from the origin."""
    turns = enumerate([(0.1, 0.2, 0.3), (-0.5, 0.5, 0.5), (0.0, -0.7, 0.7)])
    joints: list[Joint] = [(f"j{i}", i - 1, (4000.0 + 0.125 * i, -3999.5, 4000.25), turn) for i, turn in turns]
    return MeshSpec(joints=joints).pack()


def many_axes() -> bytes:
    """Return joints turned every way, among them those whose bones Blender turns the least exactly: along -Y."""
    rng = Random(5)
    joints: list[Joint] = [("root", -1, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))]
    for i in range(30):
        x, y, z, w = (rng.gauss(0, 1) for _ in range(4))
        size = -math.copysign(math.sqrt(x * x + y * y + z * z + w * w), w)
        place = (rng.uniform(-60, 60), rng.uniform(-60, 60), rng.uniform(-60, 60))
        joints.append((f"turned {i}", i // 3, place, (x / size, y / size, z / size)))
    for i, off in enumerate((0.0, 1e-5, 1e-4, 3e-4, 1e-3)):  # X nearly along -Y
        angle = -math.pi / 2 + off
        joints.append((f"down {i}", 0, (9.0, 8.0 * i, 7.0), (0.0, 0.0, -math.sin(angle / 2))))
    return MeshSpec(joints=joints).pack()


@dataclass
class AnimSpec:
    """A whole md5anim: rows as they stand in the file."""

    frame_rate: int = 24
    flags: tuple[int, ...] = (0, 56, 33)
    starts: tuple[int, ...] = (0, 2, 0)
    bounds: list[tuple[float, ...]] = field(default_factory=list)
    base: list[tuple[float, ...]] = field(default_factory=list)
    frames: list[list[float]] = field(default_factory=list)
    joints: list[Joint] = field(default_factory=lambda: list(ARM))
    command_line: str | None = "anim models/wave.mb"

    def pack(self) -> bytes:
        count = len(self.frames[0])
        lines = ["MD5Version 10"]
        if self.command_line is not None:
            lines.append(f'commandline "{self.command_line}"')
        lines += [f"numFrames {len(self.frames)}", f"numJoints {len(self.joints)}", f"frameRate {self.frame_rate}"]
        lines += [f"numAnimatedComponents {count}", "hierarchy {"]
        rows = zip(self.joints, self.flags, self.starts, strict=True)
        lines += [f'\t"{joint[0]}"\t{joint[1]} {flags} {start}\t//' for joint, flags, start in rows]
        pair = "\t( {!r} {!r} {!r} ) ( {!r} {!r} {!r} )"
        lines += ["}", "bounds {", *(pair.format(*row) for row in self.bounds), "}"]
        lines += ["baseframe {", *(pair.format(*row) for row in self.base), "}"]
        for index, frame in enumerate(self.frames):
            lines += [f"frame {index} {{", "\t" + " ".join(repr(v) for v in frame), "}"]
        return ("\n".join(lines) + "\n").encode()


def wave_spec(frames: int = 5) -> AnimSpec:
    """Return the arm in motion: some channels vary, one flagged one does not; the base frame is not frame 0."""
    spec = AnimSpec()
    spec.base = [(0.5, 0.25, 0.125, 0.0, 0.0, 0.0), (8.0, 1.0, 2.0, 0.1, 0.2, 0.3), (16.0, 0.0, 0.0, 0.0, 0.0, -HALF)]
    for frame in range(frames):
        angle = 0.2 * frame
        # hand: Tx and Qz; upper arm: Qx Qy Qz, of which only Qz moves
        spec.frames.append([16.0 + frame, -HALF + 0.01 * frame, 0.125, 0.0, -math.sin(angle / 2)])
        spec.bounds.append((-90.0 - frame, -80.0, -70.0, 60.0, 50.0 + frame, 40.0))
    return spec


def wave() -> bytes:
    """Return an animation of the arm."""
    return wave_spec().pack()


def roots_wave() -> bytes:
    """Return an animation of `several_roots`: both roots and a tip move."""
    spec = AnimSpec(flags=(1, 0, 0, 7, 56), starts=(0, 0, 0, 1, 4), joints=[*ARM, *PROPS])
    spec.base = [(0.0, 0.0, 0.0, 0.0, 0.0, 0.0), (8.0, 1.0, 2.0, 0.0, 0.0, 0.0), (16.0, 0.0, 0.0, 0.0, 0.0, -HALF)]
    spec.base += [(1.0, -20.0, 3.0, 0.1, 0.2, 0.3), (8.0, 0.0, 0.0, 0.0, 0.0, 0.0)]
    for i in range(4):
        spec.frames.append([i * 0.5, 1.0 + i, -20.0 - i, 3.0, -0.1 * i, 0.05 * i, 0.025])
        spec.bounds.append((-100.0, -90.0 - i, -80.0, 100.0, 90.0, 80.0))
    return spec.pack()


def long_bounds() -> bytes:
    """Return more bounds than frames, as real files have."""
    spec = wave_spec()
    spec.bounds += [(-1.0, -2.0, -3.0, 4.0, 5.0, 6.0), (-1.5, -2.5, -3.5, 4.5, 5.5, 6.5)]
    return spec.pack()


def short_bounds() -> bytes:
    """Return fewer bounds than frames."""
    spec = wave_spec()
    del spec.bounds[3:]
    return spec.pack()


def one_frame() -> bytes:
    """Return a pose."""
    return wave_spec(1).pack()


def gaps_between_channels() -> bytes:
    """Return components that no joint uses, and a start for a joint without any."""
    spec = wave_spec()
    spec.starts = (5, 3, 0)
    spec.frames = [[*frame[:2], 123.0 + i, *frame[2:], 456.0 + i] for i, frame in enumerate(spec.frames)]
    return spec.pack()


def no_meshes() -> bytes:
    """Return joints alone."""
    return MeshSpec(parts=[]).pack()


def nothing() -> bytes:
    """Return neither joints nor meshes."""
    return MeshSpec(joints=[], parts=[]).pack()


MESHES: tuple[Any, ...] = (
    arm, several_meshes, odd_weights, several_roots, no_command_line, degenerate, unused, odd_names, one_place,
    far_away, many_axes, no_meshes, nothing,
)  # fmt: skip
ANIMS: tuple[Any, ...] = (wave, roots_wave, long_bounds, short_bounds, one_frame, gaps_between_channels)
