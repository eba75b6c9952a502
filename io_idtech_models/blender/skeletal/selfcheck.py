"""Does the file of a rigged model show what Blender shows? Compared in a few frames; see `blender.selfcheck`.

What can be off has two halves, which are told apart because their remedies differ. Of the *mesh*: Blender's own pose
of the bones, put through the weights that are written, against the evaluated points: a modifier behind the armature,
keys of the object's own, an armature modifier that does more or less than a game. Of the *motion*: the joints as the
file has them against the bones as they are posed.

Letters in shapes: F frames, J joints, V vertices, P points.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model import steady
from ...model.joint_scales import posed
from ...model.skeletal import Animation, SkeletalModel, Skeleton, changed_frames
from ...model.transforms import inverse
from ...model.weights import skin_by
from ...reporting import listed, plural
from ..compat import Block, playing_curves
from ..curves import curve_points, is_still, stays_put
from ..frame_rigs import rig_of
from ..mesh import attributes
from ..scene import bending, bone_under, showing
from ..selfcheck import Off, is_beyond, spread, tolerance
from ..takes import influences
from . import armature, source_weights
from .rig_scene import RigScene, WrittenMesh
from .scalers import Scalers

Doubles = NDArray[np.float64]
SAID = 1.05  # times what has been said already
SAME_SHAPE = 2e-3  # of axes: Blender's rounding, and the files'


@dataclass(frozen=True, eq=False)
class Motion:
    """Something that an armature plays: how to let it play, and in which frames of the scene."""

    name: str
    play: Callable[[], AbstractContextManager[None]]
    times: NDArray[Any]  # (F,)
    animation: Animation | None = None  # as the file has it, frame by frame; None: it is not written here

    @cached_property
    def is_proven(self) -> bool:
        """Tell whether each of its frames is one of the source's."""
        return self.animation is None or not changed_frames(self.animation).any()


def differences(
    export: RigScene,
    model: SkeletalModel,
    motions: Iterable[Motion],
    meshes: bool = True,
    others: Callable[[], Iterable[Motion]] = list,
) -> list[str]:
    """Return what of a gathered model and its motions is not written as it is shown, in sentences.

    `meshes`: the model itself is written, too. `others` gives what else it plays, which is of matter to meshes alone
    that more than bones move. What records prove to be the source's is not shown.
    """
    every = list(motions)
    doubtful = [w for w in export.written if meshes and not _is_proven(w, export.rig)]
    odd = [written for written in doubtful if not _is_led_alone(written.block, export.rig)]
    due = [*every, *(others() if odd else ())] if doubtful else [motion for motion in every if not motion.is_proven]
    if not (due or doubtful) or not _is_evaluated(export):
        return []
    check = _Check(export, model.skeleton, doubtful)
    export.view_layer.update()  # gathering has looked at meshes without their armature
    check.look("in the pose shown", None, None)
    with showing(export.scene) as show:
        for motion in due:
            with motion.play():
                for frame in _frames_of(motion, len(due), doubtful, odd):
                    show(float(motion.times[frame]))
                    check.look(f"in frame {motion.times[frame]:g} of '{motion.name}'", motion, frame)
    return check.sentences()


def _is_evaluated(export: RigScene) -> bool:
    """Tell whether Blender computes the armature's pose: not while it is hidden with all that it moves."""
    blocks = [export.rig, *(written.block for written in export.written)]
    return any(block.visible_get(view_layer=export.view_layer) for block in blocks)


def lone_pose(export: RigScene, model: SkeletalModel) -> list[str]:
    """Return in a sentence that an armature is posed by hand, of which a file without motions knows nothing."""
    check = _Check(export, model.skeleton, [])
    export.view_layer.update()
    far = check.distance(check.joints(), *_parts(check.bind))
    if not is_beyond(far, check.allowed):
        return []
    text = f"'{export.rig.name}' is posed by hand, up to {far:.3g} units from its rest, and no motion is written"
    return [f"{text}: key the pose, or choose Scene Range"]


def _frames_of(motion: Motion, motions: int, doubtful: list[WrittenMesh], odd: list[WrittenMesh]) -> list[int]:
    """Return the frames of a motion that plays to look at: those that changed, where no mesh is in doubt.

    Those that more than bones move, the `odd` ones, often begin to move with the motion: modifiers that play do.
    """
    if not doubtful and motion.animation is not None:
        return spread(np.flatnonzero(changed_frames(motion.animation)), motions)
    frames = spread(np.arange(len(motion.times)), motions)
    frames += [0, len(motion.times) - 1] if odd and len(motion.times) else []
    keyed = [curve_points(curve)[0] for written in doubtful for curve in _own_curves(written.block)]
    if keyed and len(motion.times):  # what moves by curves of its own may do so between any two others
        frames += [0, *spread(np.flatnonzero(np.isin(motion.times, np.rint(np.concatenate(keyed)))), motions)]
    return sorted(set(frames))


def _own_curves(block: Block) -> list[Any]:
    """Return the curves that move a mesh object beside its bones: its own, and those of what it follows."""
    rigs = bending(block)
    bones = {*rigs, *(rig.data for rig in rigs)}
    owners = [owner for owner in influences(block) if owner not in bones]
    return [curve for owner in owners for curve in playing_curves(owner)]


class _Check:
    """What is found while frames are shown."""

    def __init__(self, export: RigScene, skeleton: Skeleton, doubtful: list[WrittenMesh]) -> None:
        self.export, self.doubtful = export, doubtful
        self.scale = export.settings.scale
        self.home = inverse(export.homes[export.rig][None])[0]
        self.bind = armature.joint_matrices(skeleton.bind.positions, skeleton.bind.rotations)
        self.reach = _reaches(skeleton, export.written)
        self.meshes: dict[Block, Off] = {written.block: Off() for written in doubtful}
        self.bare: dict[Block, bool] = {}  # is the vertex that is farthest off one without weights
        self.changed: dict[Block, str] = {}  # topology, and where
        self.motions: dict[str, Off] = {}
        # By motion: what scales bones where joints have another size or shape; of files that say once how far joints
        # lie from their parents those that lie elsewhere, and those that have no parent.
        self.scaled: dict[str, Scalers] = {}
        self.slid: dict[str, dict[str, float]] = {}  # with how far at most
        self.rootless: dict[str, set[str]] = {}
        rest = [skin_by(w.mesh.weights, *_parts(self.bind)) for w in export.written]
        self.allowed = tolerance(np.concatenate([*rest, skeleton.bind.positions.reshape(-1, 3)]))

    def look(self, where: str, motion: Motion | None, frame: int | None) -> None:
        """Compare what the scene shows just now; `frame` of a motion says what the file has there."""
        joints = self.joints()
        if motion is not None and frame is not None and not motion.is_proven:
            self._compare_joints(joints, motion, frame, where)
        for written in self.doubtful:
            self._compare_mesh(written, joints, where)

    def joints(self) -> Doubles:
        """Return where Blender's pose puts what lies in the space of joints, (J, 4, 4) in the file's units."""
        rig, names = self.export.rig, self.export.listed.names
        shown = self.export.evaluated(rig)
        buffer = np.empty(16 * len(shown.pose.bones), np.float32)
        shown.pose.bones.foreach_get("matrix", buffer)
        places = {bone.name: place for place, bone in enumerate(shown.pose.bones)}
        poses = buffer.reshape(-1, 4, 4).transpose(0, 2, 1)[[places[name] for name in names]].astype(np.float64)
        world = np.array(shown.matrix_world, np.float64)
        moved = steady.products(world, poses, inverse(self.export.listed.rest), self.home)
        moved[:, :3, 3] /= self.scale
        return steady.products(moved, self.bind)

    def _compare_joints(self, joints: Doubles, motion: Motion, frame: int, where: str) -> None:
        assert motion.animation is not None
        order = self._order_in(motion.animation)
        if order is None:
            return
        written_places, written_axes = (v[0] for v in posed(motion.animation.of_frames(np.array([frame]))))
        places, axes = written_places[order], written_axes[order]
        shown, written = (steady.products(each.swapaxes(-1, -2), each) for each in (joints[:, :3, :3], axes))
        other = ~np.isclose(shown, written, atol=SAME_SHAPE).all(axis=(1, 2))
        names = self.export.listed.names
        if other.any():
            scalers = self.scaled.setdefault(motion.name, Scalers())
            rig = self.export.rig
            scalers.look(rig, self.export.evaluated(rig), (names[joint] for joint in np.flatnonzero(other)))
        if self.export.settings.holds.one_length:
            above, shown_places = motion.animation.parents[order], written_places.copy()
            shown_places[order] = joints[:, :3, 3]
            ways = [steady.lengths(each[order] - each[above]) for each in (shown_places, written_places)]
            slid_by = np.abs(ways[0] - ways[1])
            slid = (above >= 0) & (slid_by > self.allowed)
            apart = (above < 0) & (steady.lengths(joints[:, :3, 3] - places) > self.allowed)
            apart &= np.count_nonzero(above < 0) > 1  # a lone one has a place in each frame
            before = self.slid.setdefault(motion.name, {})
            for joint in np.flatnonzero(slid).tolist():
                before[names[joint]] = max(before.get(names[joint], 0.0), float(slid_by[joint]))
            self.rootless.setdefault(motion.name, set()).update(names[joint] for joint in np.flatnonzero(apart))
        found = self.motions.setdefault(motion.name, Off())
        found.note(self.distance(joints, places, axes), where)

    def _order_in(self, animation: Animation) -> NDArray[np.intp] | None:
        """Return which of a motion's joints the armature's are, (J,); None if some are none of them."""
        names = self.export.listed.names
        if len(animation.joint_names) == len(names):  # games need no names, and some formats have none
            return np.arange(len(names))
        places = {name: place for place, name in enumerate(animation.joint_names)}
        found = [places.get(name, -1) for name in names]
        return np.array(found) if min(found, default=0) >= 0 else None

    def distance(self, joints: Doubles, places: Doubles, axes: Doubles) -> float:
        """Return how far joints (J, 4, 4) are from places (J, 3) and axes (J, 3, 3), or what they move, at most."""
        off = steady.lengths(places - joints[:, :3, 3])
        turned = np.abs(axes - joints[:, :3, :3]).max(axis=(-1, -2), initial=0.0) * self.reach
        return float(np.maximum(off, turned).max(initial=0.0))

    def _compare_mesh(self, written: WrittenMesh, joints: Doubles, where: str) -> None:
        shown = self.export.evaluated(written.block)
        if not written.topology.is_of(shown.data):
            self.changed.setdefault(written.block, where)
            return
        if written.held is not None:
            written.held.look(shown.data, where)
        world = np.array(shown.matrix_world, np.float64)
        points = attributes.positions(shown.data)[written.points].astype(np.float64)
        points = steady.applied(world[:3], points) / self.scale
        off = steady.lengths(skin_by(written.mesh.weights, *_parts(joints)) - points)
        allowed = self.allowed + SAID * written.said
        kept = None if written.of_source is None else written.of_source.copy()
        if kept is not None and is_beyond(float(off[kept].max(initial=0.0)), allowed):
            plain = self._plain(written, joints)
            kept &= off <= allowed + self._excused(written, joints, plain)
            off[kept] = np.minimum(off, steady.lengths(plain - points))[kept]
        far = float(off.max(initial=0.0))
        if is_beyond(far, allowed):
            if far > self.meshes[written.block].far:
                points, _, factors = written.groups
                self.bare[written.block] = written.points[int(off.argmax())] not in points[factors > 0]
            self.meshes[written.block].note(far, where)

    def _excused(self, written: WrittenMesh, joints: Doubles, plain: Doubles) -> Doubles:
        """Return how far off vertices (V,) may be that have the source's weights: what these disagree by themselves."""
        mesh, stored = written.mesh, self.export.stored
        excused = np.full(len(plain), np.inf)  # of what was carried: gathering moves its places as they were
        if stored is not None and mesh.kept is not None and mesh.source_vertices is not None:
            largest = float(steady.lengths(joints[:, :3, :3].transpose(0, 2, 1)).max(initial=1.0))
            own = source_weights.disagreement(stored.source, mesh.source_vertices, steady.lengths(plain))
            excused[mesh.kept] = (SAID * largest * own)[mesh.kept]
        return excused

    def _plain(self, written: WrittenMesh, joints: Doubles) -> Doubles:
        """Return where Blender puts the vertices (V, 3) of a file that it can't show as they are, by groups alone.

        Weights of real files need not sum to 1, nor agree on where a vertex lies at rest: that is no edit.
        """
        points, bones, factors = written.groups
        count = len(written.positions)
        factors = factors / np.maximum(np.bincount(points, factors, count), steady.TINY)[points]
        moves = steady.products(joints, inverse(self.bind))[bones]
        places = steady.applied(self.export.homes[written.block][:3], written.positions.astype(np.float64)) / self.scale
        moved = steady.applied(moves[:, :3], places[points]) * factors[:, None]
        found = np.stack([np.bincount(points, moved[:, axis], count) for axis in range(3)], axis=1)
        return np.asarray(found[written.points], np.float64)

    def sentences(self) -> list[str]:
        """Return what was found, in sentences."""
        rig = self.export.rig
        found = []
        for block, where in self.changed.items():
            text = "has other vertices or faces there than at rest, which is what is written"
            found.append(f"'{block.name}' {text} ({where}): {_cause(block, rig)}")
        losing = {written.block: written.keeping for written in self.doubtful if written.keeping}
        for block, off in self.meshes.items():
            if off.where and block not in self.changed:
                cause = _cause(block, rig, losing.get(block, ""))
                if self.bare.get(block):
                    cause = "vertices without weights hang on one bone there: weight them to what moves them"
                found.append(off.sentence(f"'{block.name}' is", cause))
        held = dict.fromkeys(written.held for written in self.doubtful if written.held is not None)
        found += [text for each in held for text in each.sentences()]
        for written in self.doubtful:
            count, degrees = written.normals
            if count:
                what = f"normals of {plural(count, 'vertex', 'vertices')} are written up to {degrees:.0f} degrees off"
                found.append(
                    f"'{written.block.name}': {what} what Blender shows at rest; Normals: As Shown writes those"
                )
        for name, off in self.motions.items():
            if is_beyond(off.far, self.allowed):
                found.append(off.sentence(f"the bones of '{rig.name}' are", self._remedy(name)))
        return found

    def _remedy(self, motion: str) -> str:
        """Return what helps where a motion is written otherwise than its bones are posed."""
        rig, scalers = self.export.rig, self.scaled.get(motion)
        found = [] if scalers is None else scalers.remedies(rig, self.export.settings.holds.stretches)
        slid = self.slid.get(motion, {})
        if scalers is not None:  # scale moves what hangs on bones, too: what is off by most without that is named
            above = {name: {bone.name for bone in rig.pose.bones[name].parent_recursive} for name in slid}
            most = self.motions[motion].far / 2
            slid = {name: far for name, far in slid.items() if far > most and not scalers.bones & above[name]}
        if slid:
            text = "the file has each joint as far from its parent in all frames, let these turn alone"
            found.append(f"{text}: {listed(sorted(slid))}")
        elif self.rootless.get(motion):
            text = "the file has all joints without a parent in one place, Add Origin Joint gives these one"
            found.append(f"{text}: {listed(sorted(self.rootless[motion]))}")
        return ", and ".join(found) or "bake the motion (Pose > Animation > Bake Action)"


def _parts(joints: Doubles) -> tuple[Doubles, Doubles]:
    return joints[:, :3, 3], joints[:, :3, :3]


def _reaches(skeleton: Skeleton, written: list[WrittenMesh]) -> Doubles:
    """Return how far from each joint the vertices lie that it moves, (J,)."""
    reach = np.zeros(skeleton.num_joints)
    for each in written:
        weights = each.mesh.weights
        _, entries = weights.entries()
        np.maximum.at(reach, weights.joints[entries], steady.lengths(weights.offsets[entries].astype(np.float64)))
    return reach


def _is_proven(written: WrittenMesh, rig: Block) -> bool:
    """Tell whether a mesh is the source's, vertex by vertex, and nothing but its armature moves it, as a game does."""
    kept = written.mesh.kept
    return kept is not None and bool(kept.all()) and not written.said and _is_led_alone(written.block, rig)


def _is_led_alone(block: Block, rig: Block) -> bool:
    """Tell whether nothing but its armature moves a mesh, by its weights."""
    if block.data.shape_keys is not None or len(block.modifiers) != 1:
        return False
    if not is_plain(block.modifiers[0], rig) or _odd_bones(rig):
        return False
    hung = block.parent == rig and block.parent_type == "OBJECT"
    return hung and stays_put(block) and is_still(block.data)


def is_plain(modifier: Any, rig: Block) -> bool:
    """Tell whether a modifier lets an armature move a mesh by its weights, and does nothing else."""
    plain = modifier.type == "ARMATURE" and modifier.object == rig and modifier.show_viewport
    special = ("use_deform_preserve_volume", "use_bone_envelopes", "use_multi_modifier", "vertex_group")
    return plain and modifier.use_vertex_groups and not any(getattr(modifier, name) for name in special)


def _cause(block: Block, rig: Block, losing: str = "") -> str:
    """Return what most likely does it, and what to do; `losing` says that of weights where the file lacks some."""
    armatures = [m for m in block.modifiers if m.type == "ARMATURE"]
    shown = [m for m in armatures if m.show_viewport and m.object == rig]
    visible = [m for m in block.modifiers if m.show_viewport]
    behind = visible[visible.index(shown[0]) + 1 :] if shown else []
    others = [m.name for m in behind if m.type != "ARMATURE"]
    if not shown and (armatures or not bone_under(block, rig)):  # what a bone carries needs none
        hidden = listed([m.name for m in armatures]) or "none"
        return f"no armature modifier of it is on in the viewport (it has {hidden}), the game moves it by its weights"
    if len([m for m in armatures if m.show_viewport]) > 1:
        return "several armature modifiers move it, a game moves it once: remove all but one"
    if others:
        text = "work on the pose, the file has them as at rest: move them above it, or apply them"
        return f"modifiers behind the armature ({listed(others)}) {text}"
    keys = block.data.shape_keys
    if not shown:
        return _own_motion(block)
    if losing and is_still(block) and (keys is None or is_still(keys)):
        return _oddness(shown[0]) or _odd_bones(rig) or losing
    return _oddness(shown[0]) or _odd_bones(rig) or _own_motion(block)


def _oddness(modifier: Any) -> str:
    """Return what of an armature modifier no game knows, or ""."""
    if modifier.vertex_group:
        return f"'{modifier.name}' is limited to the vertex group '{modifier.vertex_group}', which no game knows"
    if modifier.use_deform_preserve_volume:
        return f"'{modifier.name}' preserves volume, games blend without: turn that off to see what they show"
    if modifier.use_bone_envelopes:
        return f"'{modifier.name}' bends by envelopes, which no game knows: bind it with weights"
    return ""


def _odd_bones(rig: Block) -> str:
    """Return what of bones bends meshes otherwise than by weights, and what to do, or ""."""
    bendy = [bone.name for bone in rig.data.bones if bone.use_deform and bone.bbone_segments > 1]
    if bendy:
        return f"bendy bones bend, a game's are stiff, give them one segment or add bones: {listed(bendy)}"
    spread_out = [bone.name for bone in rig.data.bones if bone.use_deform and bone.use_envelope_multiply]
    if spread_out:
        return (
            f"envelopes change the weights of bones, turn Multiply Vertex Group with Envelope off: {listed(spread_out)}"
        )
    return ""


def _own_motion(block: Block) -> str:
    """Return what moves a mesh beside its armature, in words."""
    keys = block.data.shape_keys
    if rig_of(block) is not None:
        return "its shape keys hold what its bones don't say of the frames; MD3 and its kin hold that, too"
    if keys is not None:
        return "its shape keys play, which a file of bones can't; MD3 and its kin hold such"
    if block.animation_data is not None or block.constraints or block.parent_type != "OBJECT":
        return "the object moves by itself, beside its bones: let a bone move it"
    return "something beside the weights of its bones moves it: apply it, or weight its vertices to a bone that does so"
