"""What goes along with a model that is written elsewhere than it stands: what it looks at, and the world itself.

A model that hangs on a tag or a root is written in the space of that (see `hanging`), and a character where its game
shows it. It is moved there meanwhile. Targets of its constraints and modifiers have to be moved as it was, and what its
bones do in the world they have to do in a world that was: Blender's constraints know spaces of one's own for that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from ..model import steady
from ..model.transforms import inverse
from .compat import Block
from .scene import positioned, showing, upward

LOOKS = 4  # frames of the scene
SAME_POSE = 1e-3  # of a model's size
AT_HOME = 1e-6  # how far from the identity a matrix is that says nothing
WHOLES = {"COLLECTION", "SCENE"}  # what uses these does so with all that is in them, whatever that is

Poses = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Along:
    """What has to go along with a model that is moved, for it to look as it did."""

    whole: set[Block]  # the model
    carriers: set[Block]  # what carries it, and stays where it is
    blocks: list[Block]  # what stands in the world, or on what carries it, and belongs there with the model
    moving: tuple[Block, str] | None  # what the model is let down from, or a bone of it, if that may move
    readers: list[Any]  # targets of drivers that read where some of `blocks` stand in the world
    space: Block | None  # that of which the model is written in, where that is an object's
    poses: dict[Block, Poses]  # what objects show that more than channels may move: see `_poses`
    numbers: list[tuple[Any, str, Any]]  # of their constraints: each, a name, and what it is

    def look(self, view_layer: bpy.types.ViewLayer) -> dict[Block, Poses]:
        """Return what they show where the model went, in the way of `poses`."""
        return _poses(self.poses, view_layer, self.space, is_there=True)

    def set_numbers_back(self) -> None:
        """Let constraints have the numbers of before: a length that is 0 Blender measures anywhere, and keeps."""
        for constraint, name, value in self.numbers:
            if getattr(constraint, name) != value:
                setattr(constraint, name, value)


def along_with(
    whole: set[Block],
    carrier: Block | None,
    view_layer: bpy.types.ViewLayer,
    bent: Iterable[Block] = (),
    space: Block | None = None,
) -> Along:
    """Return what goes along with a model, `whole`, that is about to be moved: what it bends, what has a say in it.

    That are targets of modifiers and the like. What carries the model is none of it, but what of the model stands in
    the world itself, without children, and bends nothing. Blender itself knows who uses what, through data and node
    groups, too.
    """
    uses: dict[Any, list[Any]] = {}
    for used, users in bpy.data.user_map().items():
        for user in users:
            uses.setdefault(user, []).append(used)
    carriers = set(upward(carrier))
    looked_at, due = set(carriers), [*whole]
    while due:
        found = [each for each in uses.get(due.pop(), ()) if each not in looked_at and each.id_type not in WHOLES]
        looked_at.update(found)
        due += [each for each in found if each not in whole]
    inner = {block for block in whole if block.type == "ARMATURE" or block.children}
    helpers = [each for each in looked_at - inner - carriers if each.id_type == "OBJECT"]
    free = [b for b in helpers if b.parent is None]
    beside = [b for b in helpers if b.parent in carriers and b.parent_type == "OBJECT" and b not in whole]
    readers = [target for each in (*looked_at, *whole) for target in _readers(each) if target.id in free]
    blocks = dict.fromkeys([*bent, *sorted([*free, *beside], key=lambda block: str(block.name))])
    numbers = [(each, name, getattr(each, name)) for _, each in _constraints(whole) for name in _numbers(each)]
    poses = _poses(filter(_is_led, whole), view_layer, space)
    return Along(whole, carriers, [*blocks], None, readers, space, poses, numbers)


def _readers(user: Any) -> Iterator[Any]:
    """Yield the targets of a data-block's drivers that read where objects stand in the world."""
    animation = getattr(user, "animation_data", None)
    for curve in () if animation is None else animation.drivers:
        for variable in curve.driver.variables:
            if variable.type == "TRANSFORMS":
                yield from (target for target in variable.targets if target.transform_space == "WORLD_SPACE")


def _is_led(block: Block) -> bool:
    """Tell whether more than channels may move an object, or its bones."""
    drivers = block.animation_data is not None and len(block.animation_data.drivers) > 0
    return drivers or any(True for _ in _constraints([block]))


def _constraints(blocks: Iterable[Block]) -> Iterator[tuple[Any, Any]]:
    """Yield the constraints of objects and of their bones, each with whose it is."""
    for block in blocks:
        for owner in (block, *(() if block.pose is None else block.pose.bones)):
            yield from ((owner, constraint) for constraint in owner.constraints)


def _numbers(constraint: Any) -> list[str]:
    """Return the names of a constraint's numbers."""
    every = constraint.bl_rna.properties.items()
    return [name for name, prop in every if prop.type == "FLOAT" and not prop.is_array and not prop.is_readonly]


def _poses(
    blocks: Iterable[Block], view_layer: bpy.types.ViewLayer, space: Block | None, is_there: bool = False
) -> dict[Block, Poses]:
    """Return what objects show in a few frames of the scene, (F, 1 + J, 4, 4): each in a space, and its bones in it.

    Where one stands in the world is in that space, once it is let down there. Without a space the first says nothing.
    """
    scene: Any = view_layer.id_data
    frames = {scene.frame_current, *np.linspace(scene.frame_start, scene.frame_end, LOOKS).astype(int).tolist()}
    counts = {block: 1 if block.pose is None else 1 + len(block.pose.bones) for block in blocks}
    found = {block: np.empty((len(frames), count, 4, 4), np.float32) for block, count in counts.items()}
    if not found:
        return {}
    with ExitStack() as stack, showing(scene) as show:
        for block in found:
            if block.pose is not None:
                stack.enter_context(positioned(block, "POSE"))  # what plays is written, where rest is shown, too
        for nth, frame in enumerate(sorted(frames)):
            show(frame)
            way = np.eye(4)
            if space is not None and not is_there:
                world = np.array(space.evaluated_get(view_layer.depsgraph).matrix_world, np.float64)
                way = inverse(world[None])[0]
            for block, poses in found.items():
                shown = block.evaluated_get(view_layer.depsgraph)
                place = np.eye(4) if space is None else steady.products(way, np.array(shown.matrix_world, np.float64))
                poses[nth, 0] = place.T
                if block.pose is not None:
                    shown.pose.bones.foreach_get("matrix", poses[nth, 1:].reshape(-1))
    return {block: poses.swapaxes(-1, -2) for block, poses in found.items()}


@contextmanager
def going_along(along: Along, way: NDArray[np.float64], view_layer: bpy.types.ViewLayer) -> Iterator[list[str]]:
    """Let go the `way` (4, 4) that a model went in the world what belongs there with it.

    It yields sentences on what shows otherwise there all the same, as by drivers that work in the world.
    """
    if along.moving is None and np.abs(way - np.eye(4)).max() <= AT_HOME:
        yield _said(along, along.look(view_layer))
        return
    world = _World(along, way)
    try:
        world.take_along()
        view_layer.update()
        yield _said(along, world.lead(view_layer))
    finally:
        world.bring_back()
        view_layer.update()


def way_of(block: Block, stood: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the way (4, 4) that an object went in the world, which `stood` elsewhere (4, 4)."""
    return steady.products(np.array(block.matrix_world, np.float64), inverse(stood[None])[0])


def _said(along: Along, shown: dict[Block, Poses]) -> list[str]:
    found = []
    for block, before in along.poses.items():
        off = np.abs(shown[block] - before)[..., :3, :]
        far = off.max(axis=(0, 1, 2))
        size = max(1.0, float(np.ptp(before[..., :3, 3].reshape(-1, 3), axis=0).max()), *block.dimensions)
        reach = float(max(far[3], far[:3].max() * size))
        if reach > SAME_POSE * size:
            found.append(
                f"'{block.name}': constraints or drivers work in the world, and show it otherwise where the model is "
                f"written, up to {reach:.3g} units off what Blender shows: let them work in Local Space, or bake the "
                "motion (Animation > Bake Action, with Visual Keying)"
            )
    return found


class _World:
    """The world, moved as a model was: an empty that stands for its origin, and carries what goes along."""

    def __init__(self, along: Along, way: NDArray[np.float64]) -> None:
        self.along = along
        self.made: list[Any] = []
        self.origin = self._empty(way)
        self.carriers = {
            block: self._empty(steady.products(way, np.array(block.matrix_world, np.float64)))
            for block in along.carriers
        }
        if along.moving is not None:
            self._let_move(way, *along.moving)
        self.moved = {*along.whole, *along.blocks, *self.made}
        self.hung = [(b, b.parent, b.parent_type, b.parent_bone, b.matrix_parent_inverse.copy()) for b in along.blocks]
        self.changed: list[tuple[Any, str, Any]] = []

    def _empty(self, place: NDArray[np.float64]) -> Any:
        self.made.append(bpy.data.objects.new("idtech_stand", None))
        self.made[-1].matrix_world = Matrix(place.tolist())
        return self.made[-1]

    def _let_move(self, way: NDArray[np.float64], carrier: Block, bone: str) -> None:
        """Let the origin move against a carrier as the world does: a model that is let down stands still meanwhile."""
        chain = [way, carrier.matrix_world, *([carrier.pose.bones[bone].matrix] if bone else [])]
        stand = self._empty(steady.products(*(np.array(each, np.float64) for each in chain)))
        self._follow(self.origin, stand, self._empty(np.eye(4)), carrier, bone)
        for block, empty in self.carriers.items():
            self._follow(empty, self.origin, block)

    def _follow(self, empty: Block, above: Block, target: Block, space: Block | None = None, bone: str = "") -> None:
        """Let an empty stand as another one sees it as an object stands in the world, or as a space's owner sees it."""
        hang(empty, above, "OBJECT", "", Matrix())
        empty.matrix_basis = Matrix()
        copy = empty.constraints.new("COPY_TRANSFORMS")
        copy.target, copy.owner_space = target, "LOCAL"
        if space is not None:
            copy.target_space, copy.space_object, copy.space_subtarget = "CUSTOM", space, bone

    def take_along(self) -> None:
        """Hang on the origin what goes along, which stands on it as it stood in the world, or on what carried it."""
        for block, above, _, _, own in self.hung:
            if above is None:
                hang(block, self.origin, "OBJECT", "", Matrix())
            else:
                hang(block, self.carriers[above], "OBJECT", "", own)
        for reader in self.along.readers:
            self._set(reader, {"transform_space": "LOCAL_SPACE"})  # as the origin sees it

    def lead(self, view_layer: bpy.types.ViewLayer) -> dict[Block, Poses]:
        """Let constraints work in this world, where poses are nearer those of before for it; return what shows then.

        Not all of a kind's are: some know no spaces, and go by their targets. So each kind is tried.
        """
        kinds: dict[str, list[Any]] = {}
        for owner, constraint in _constraints(self.along.poses):
            if owner not in self.along.poses or self.along.space is not None:
                kinds.setdefault(constraint.type, []).append(constraint)
        alike = sum(AT_HOME * poses.size * (1.0 + np.abs(poses).max()) for poses in self.along.poses.values())
        shown = self.along.look(view_layer)
        for constraints in kinds.values():
            for changes in (self._targets, self._spaces):
                before = len(self.changed)
                for constraint in constraints if self._off(shown) > alike else ():
                    self._set(constraint, changes(constraint))
                if len(self.changed) == before:
                    continue
                view_layer.update()
                now = self.along.look(view_layer)
                if self._off(now) < self._off(shown):
                    shown = now
                else:
                    self._undo(before)
                    view_layer.update()
        return shown

    def _off(self, shown: dict[Block, Poses]) -> float:
        """Return how far poses are off those of before, all bones together."""
        pairs = ((shown[block], before) for block, before in self.along.poses.items())
        return sum(float(np.abs(poses - before).sum(dtype=np.float64)) for poses, before in pairs)

    def _targets(self, constraint: Any) -> dict[str, Any]:
        """Return what a constraint looks at that carries the model, with what stands here for it."""
        pointers = [name for name, prop in constraint.bl_rna.properties.items() if prop.type == "POINTER"]
        blocks = {} if getattr(constraint, "subtarget", "") else {name: getattr(constraint, name) for name in pointers}
        return {name: self.carriers[block] for name, block in blocks.items() if block in self.carriers}

    def _spaces(self, constraint: Any) -> dict[str, Any]:
        """Return what to set of a constraint for it to take this world for the world."""
        if "CUSTOM" in (constraint.owner_space, constraint.target_space):
            return {}
        targets = list(upward(getattr(constraint, "target", None)))
        goes_along = not targets or any(target in self.moved for target in targets)
        names = ("owner_space", "target_space") if goes_along else ("owner_space",)
        found = {name: "CUSTOM" for name in names if getattr(constraint, name) == "WORLD"}
        return {"space_object": self.origin, **found} if found else {}

    def _set(self, constraint: Any, values: dict[str, Any]) -> None:
        for name, value in values.items():
            self.changed.append((constraint, name, getattr(constraint, name)))
            setattr(constraint, name, value)

    def _undo(self, first: int = 0) -> None:
        while len(self.changed) > first:
            setattr(*self.changed.pop())

    def bring_back(self) -> None:
        """Undo all of it."""
        self._undo()
        for how in self.hung:
            hang(*how)
        for empty in self.made:
            bpy.data.objects.remove(empty)


def hang(block: Block, parent: Block | None, kind: str, bone: str, parent_inverse: Matrix) -> None:
    """Let an object hang on another, on a bone of it, or on nothing."""
    block.parent = parent
    block.parent_type = kind
    block.parent_bone = bone
    block.matrix_parent_inverse = parent_inverse
