"""A model that hangs on another's tag: a head on `tag_head`, a flash on `tag_flash`.

Games carry such a model about by the tag; its file knows nothing of that, and holds it in its own space. So an export
looks at it let down: what carries it is taken away, and put back afterwards. Where its own objects stand as import put
them they are at home at once, however someone hung them up. Where they were moved to the tag their place against the
tag is what the game shows, and counts.

Make Root gives a model an empty that all of it hangs on, in whose space it is written wherever it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from ..model import steady
from ..model.transforms import inverse
from ..reporting import LimitError, listed
from . import names
from .compat import Block, action_parts, playing_curves
from .empties import PREFIX
from .playback import used_actions
from .provenance import MODEL_ID, PART, model_of
from .roots import is_root, is_tag, root_of
from .scene import showing

LOOKS = 4  # frames of the scene
SAME_POSE = 1e-3  # of a model's size, and of axes
AT_HOME = 1e-6  # how far from the identity a matrix is that says nothing
WHOLES = {"COLLECTION", "SCENE"}  # what uses these does so with all that is in them, whatever that is
SIZE = 8.0  # game units across: seen, and smaller than what hangs there


@dataclass(frozen=True, eq=False)
class Carrier:
    """What carries a model: another model's tag, a bone, a root, or whatever else its objects hang on."""

    block: Block
    bone: str  # of an armature, or ""

    @property
    def name(self) -> str:
        """Return what a user knows it by."""
        return self.bone or str(self.block.name)

    @property
    def is_tag(self) -> bool:
        """Tell whether games hang models on it."""
        on_bone = bool(self.bone) and self.bone.lower().startswith(PREFIX)
        return on_bone or is_root(self.block) or is_tag(self.block)


@dataclass(frozen=True, eq=False)
class Hanging:
    """How a model hangs on a carrier."""

    carrier: Carrier
    imported: bool  # the model came from a file, which has a space of its own
    at_home: bool  # its objects stand as import put them, whatever carries them
    held: list[Block]  # the model's objects that hang on something else
    edges: list[Block]  # what hangs on the carrier directly, and the model on it
    whole: set[Block]  # the model, with the armatures that bend it

    @property
    def has_space(self) -> bool:
        """Tell whether the model has a space of its own: from its file, or by its root."""
        return self.imported or is_root(self.carrier.block)

    def along(self) -> list[Block]:
        """Return what stands in the world and belongs there with the model: what it bends, what has a say in it."""
        free = (block for block in self.whole if block.parent is None)
        bent = (b for b in free if any(m.type == "ARMATURE" and m.object in self.held for m in b.modifiers))
        return [*bent, *helpers_of(self.whole, self.carrier.block)]


def find_hanging(blocks: Iterable[Block]) -> Hanging | None:
    """Return how a model, all of its objects, hangs on another; None if it does not.

    What stands in the world on objects that are no model's and no tags stands there on purpose. A root that is among
    the objects, for all of a scene is meant, carries them as it does otherwise.
    """
    whole = {block for block in blocks if not is_root(block)}
    whole |= {m.object for block in whole for m in block.modifiers if m.type == "ARMATURE" and m.object is not None}
    held = [block for block in whole if block.parent is not None and block.parent not in whole]
    held.sort(key=lambda block: str(block.name))
    own = {found for found in map(model_of, whole) if found}
    edges: dict[Block, Carrier] = {}
    for block in held:
        edge = _edge(block, own)
        if edge is not None:
            edges[edge] = Carrier(edge.parent, edge.parent_bone if edge.parent_type == "BONE" else "")
    if not edges:
        return None
    bodies = [block for block in held if block.type != "EMPTY"]
    carrier = next(iter(edges.values()))
    at_home = bool(own) and not is_root(carrier.block) and all(map(_is_at_home, bodies))
    return Hanging(carrier, bool(own), at_home, held, list(edges), whole)


def helpers_of(whole: set[Block], carrier: Block | None) -> list[Block]:
    """Return what stands in the world and has a say in what a model, `whole`, shows: targets of modifiers and the like.

    What carries the model is none of it, but what of the model stands in the world itself, without children, and bends
    nothing. Blender itself knows who uses what, through data and node groups, too.
    """
    uses: dict[Any, list[Any]] = {}
    for used, users in bpy.data.user_map().items():
        for user in users:
            uses.setdefault(user, []).append(used)
    carriers = set[Any]()
    while carrier is not None:
        carriers.add(carrier)
        carrier = carrier.parent
    looked_at, due = set(carriers), [*whole]
    while due:
        found = [each for each in uses.get(due.pop(), ()) if each not in looked_at and each.id_type not in WHOLES]
        looked_at.update(found)
        due += [each for each in found if each not in whole]
    inner = {block for block in whole if block.type == "ARMATURE" or block.children}
    helpers = [each for each in looked_at - inner - carriers if each.id_type == "OBJECT" and each.parent is None]
    return sorted(helpers, key=lambda block: str(block.name))


def _edge(block: Block, own: set[str]) -> Block | None:
    """Return what of an object and all that it hangs on hangs on another model, or on a tag."""
    while block.parent is not None:
        above = block.parent
        carrier = Carrier(above, block.parent_bone if block.parent_type == "BONE" else "")
        other = model_of(above)
        if (other and other not in own) or carrier.is_tag:
            return block
        block = above
    return None


def _is_at_home(block: Block) -> bool:
    """Tell whether an object stands as import puts all: at the origin, and nothing moves it there."""
    off = np.abs(np.array(block.matrix_basis) - np.eye(4)).max()
    return (
        bool(off <= AT_HOME)
        and not block.constraints
        and not any(
            path.removeprefix("delta_").startswith(("location", "rotation_", "scale")) for path in _paths(block)
        )
    )


def _paths(block: Block) -> Iterator[str]:
    """Yield the data paths of all that is animated of an object."""
    animation = block.animation_data
    if animation is None:
        return
    yield from (curve.data_path for curve in (*playing_curves(block), *animation.drivers))
    for action in used_actions(block):
        if action is not animation.action:
            yield from (curve.data_path for _, _, curves in action_parts(action) for curve in curves)


@contextmanager
def let_down(hanging: Hanging | None, view_layer: bpy.types.ViewLayer) -> Iterator[None]:
    """Show a model without what carries it: in its own space, or, where it was moved, in its carrier's."""
    if hanging is None:
        yield
        return
    moved = hanging.held if hanging.at_home else hanging.edges
    before = [(b, b.parent, b.parent_type, b.parent_bone, b.matrix_parent_inverse.copy()) for b in moved]
    made: list[Any] = []
    lead = next((block for block in moved if block.type == "ARMATURE"), moved[0])
    along = hanging.along()
    stood = np.array(lead.matrix_world, np.float64)
    try:
        for block in moved:
            stand = None if hanging.at_home else _stand(hanging.carrier, made)
            _hang(block, stand, "OBJECT", "", block.matrix_parent_inverse.copy())
        view_layer.update()
        with going_along(along, lead, stood, view_layer):
            yield
    finally:
        for how in before:
            _hang(*how)
        for empty in made:
            bpy.data.objects.remove(empty)
        view_layer.update()


@contextmanager
def going_along(
    blocks: list[Block], lead: Block, stood: NDArray[np.float64], view_layer: bpy.types.ViewLayer
) -> Iterator[None]:
    """Let objects that stand in the world go where one of a model went meanwhile, which `stood` elsewhere (4, 4)."""
    way = steady.products(np.array(lead.matrix_world), inverse(stood[None])[0])
    if not blocks or np.abs(way - np.eye(4)).max() <= AT_HOME:
        yield
        return
    stand: Any = bpy.data.objects.new("idtech_stand", None)
    stand.matrix_world = Matrix(way.tolist())
    before = [(block, block.matrix_parent_inverse.copy()) for block in blocks]
    try:
        for block in blocks:
            _hang(block, stand, "OBJECT", "", Matrix())
        view_layer.update()
        yield
    finally:
        for block, hung in before:
            _hang(block, None, "OBJECT", "", hung)
        bpy.data.objects.remove(stand)
        view_layer.update()


def _hang(block: Block, parent: Block | None, kind: str, bone: str, parent_inverse: Matrix) -> None:
    block.parent = parent
    block.parent_type = kind
    block.parent_bone = bone
    block.matrix_parent_inverse = parent_inverse


def _stand(carrier: Carrier, made: list[Any]) -> Block:
    """Return what an object is to hang on in its carrier's place: an empty at the world's origin.

    What hangs on a bone hangs on its tail; a bone that is a joint or a tag of a file is turned against that.
    """
    if not made:
        stand = bpy.data.objects.new("idtech_stand", None)
        made.append(stand)
        if carrier.bone:
            stand.matrix_world = Matrix(to_joint(carrier).tolist())
    return made[0]


def to_joint(carrier: Carrier) -> NDArray[np.float64]:
    """Return where what hangs on a bone begins, its tail, in the space of the joint or tag that the bone is, (4, 4)."""
    from .skeletal.armature import TURN, from_children  # which vertex-animated models do without

    return steady.products(TURN, inverse(from_children(carrier.block.data.bones[carrier.bone])))


def _note(hanging: Hanging) -> str:
    """Return in a sentence in whose space a model is written that hangs on another, or "" where it has a root."""
    name = hanging.carrier.name
    if is_root(hanging.carrier.block):
        return ""
    if not hanging.imported:
        return f"it is written with the motion of '{name}', on which it hangs; 'Make Root' gives it a space of its own"
    if not hanging.at_home:
        return f"it hangs on '{name}', and is written as it stands against that, which is where games draw it"
    return f"it hangs on '{name}', and is written in its own space, as games hang it up"


def followed(blocks: Iterable[Block]) -> str:
    """Return the name of another model's object that one of a model follows by a constraint, or ""."""
    whole = set(blocks)
    own = {found for found in map(model_of, whole) if found}
    targets = {c.target for b in whole for c in b.constraints if not c.mute and getattr(c, "target", None) is not None}
    others = [t for t in targets - whole if not is_root(t) and (is_tag(t) or model_of(t) not in own | {""})]
    return min((str(block.name) for block in others), default="")


@contextmanager
def in_space(choice: str, blocks: Iterable[Block], view_layer: bpy.types.ViewLayer) -> Iterator[list[str]]:
    """Show a model in the space that it is written in, and say in sentences which, if that is not clear.

    `choice` is OWN, WORLD, or AUTO: its own if it has one, for it was imported or has a root, else the world's.
    """
    wanted = list(blocks)
    hanging = None if choice == "WORLD" else find_hanging(wanted)
    note = "" if hanging is None or choice != "AUTO" else _note(hanging)
    follows = followed(wanted) if not note and choice == "AUTO" else ""
    if follows:
        note = (
            f"it follows '{follows}' by a constraint, and is written with that motion: mute it, or 'Make Root' for it"
        )
    own = hanging is not None and (choice == "OWN" or hanging.has_space)
    with as_in_the_scene(wanted if own else (), view_layer) as said, let_down(hanging if own else None, view_layer):
        yield [*([note] if note else []), *said()]


@contextmanager
def as_in_the_scene(blocks: Iterable[Block], view_layer: bpy.types.ViewLayer) -> Iterator[Callable[[], list[str]]]:
    """Give what says in sentences where bones have other poses by now, for their model stands elsewhere, than here.

    Constraints and drivers that work in the world do so, and those that look at what carries the model.
    """
    rigs = [block for block in blocks if block.type == "ARMATURE" and _is_led(block)]
    shown = {rig: _poses(rig, view_layer) for rig in rigs}

    def said() -> list[str]:
        found = []
        for rig, before in shown.items():
            off = np.abs(_poses(rig, view_layer) - before)[..., :3, :]
            size = float(np.ptp(before[..., :3, 3].reshape(-1, 3), axis=0).max(initial=0.0))
            far = float(off[..., 3].max(initial=0.0))
            if far > SAME_POSE * size or off[..., :3].max(initial=0.0) > SAME_POSE:
                found.append(
                    f"'{rig.name}': constraints or drivers of bones work in the world, and show other poses where the "
                    f"model is written, up to {far:.3g} units off what Blender shows: let them work in Local Space, or "
                    "bake the motion (Pose > Animation > Bake Action, with Visual Keying)"
                )
        return found

    yield said


def _is_led(rig: Block) -> bool:
    """Tell whether more than channels may move bones."""
    drivers = rig.animation_data is not None and len(rig.animation_data.drivers) > 0
    return drivers or any(bone.constraints for bone in rig.pose.bones)


def _poses(rig: Block, view_layer: bpy.types.ViewLayer) -> NDArray[np.float32]:
    """Return what bones show in the armature, (F, J, 4, 4), in a few frames of the scene."""
    scene: Any = view_layer.id_data
    frames = {scene.frame_current, *np.linspace(scene.frame_start, scene.frame_end, LOOKS).astype(int).tolist()}
    found = np.empty((len(frames), len(rig.pose.bones), 4, 4), np.float32)
    with showing(scene) as show:
        for poses, frame in zip(found, sorted(frames), strict=True):
            show(frame)
            rig.evaluated_get(view_layer.depsgraph).pose.bones.foreach_get("matrix", poses.reshape(-1))
    return found.swapaxes(-1, -2)


def make_root(name: str, blocks: Iterable[Block], into: bpy.types.Collection) -> Block:
    """Return a new root, an empty in a collection, on which a model's objects hang.

    It takes the place of the model: on another's tag where that hangs on one, else at the world's origin. Tags that
    lay behind while the rest was hung up unmoved come along.

    Raises:
        LimitError: the model has a root, is linked, or parts of it hang on different things.
    """
    whole = list(blocks)
    known = next((root for root in map(root_of, whole) if root is not None), None)
    if known is not None:
        raise LimitError(f"the model hangs on a root already: '{known.name}'")
    linked = [block.name for block in whole if block.library is not None]
    if linked:
        raise LimitError(f"{listed(linked)}: linked from another .blend; make it local, or the root there")
    hanging = find_hanging(whole)
    tops = _tops(whole)
    root: Any = bpy.data.objects.new(names.fit(name), None)
    root.empty_display_type, root.empty_display_size = "PLAIN_AXES", SIZE
    root[PART] = name
    own = next((found for found in map(model_of, whole) if found), "")
    if own:
        root[MODEL_ID] = own
    into.objects.link(root)
    if hanging is None:
        root.parent = next((block.parent for block in tops if block.parent is not None), None)
        for block in tops:
            _hang(block, root, "OBJECT", "", block.matrix_parent_inverse.copy() if block.parent else Matrix())
    else:
        _take_place(root, hanging, tops)
    return root


def _tops(whole: list[Block]) -> list[Block]:
    """Return a model's objects that hang on none of its own; raises LimitError where they hang on different things."""
    inner = set(whole)
    tops = [block for block in whole if block.parent is None or block.parent not in inner]
    above = {block.parent for block in tops if block.parent is not None}
    if len(above) > 1:
        called = " and ".join(sorted(f"'{block.name}'" for block in above))
        raise LimitError(f"parts of the model hang on different objects, parent them to one: {called}")
    return tops


def _take_place(root: Any, hanging: Hanging, tops: list[Block]) -> None:
    """Hang a root where a model hangs, and the model on the root."""
    edge = hanging.edges[0]
    root.parent, root.parent_type, root.parent_bone = edge.parent, edge.parent_type, edge.parent_bone
    if hanging.at_home:
        root.matrix_parent_inverse = edge.matrix_parent_inverse.copy()
        for block in tops:
            _hang(block, root, "OBJECT", "", Matrix())
        return
    turn = np.eye(4)
    if hanging.carrier.bone:
        turn = to_joint(hanging.carrier)
        root.matrix_basis = Matrix(inverse(turn).tolist())
    for block in hanging.edges:
        own = np.array(block.matrix_parent_inverse, np.float64)
        _hang(block, root, "OBJECT", "", Matrix(steady.products(turn, own).tolist()))
