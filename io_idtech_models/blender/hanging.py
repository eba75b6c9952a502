"""A model that hangs on another's tag: a head on `tag_head`, a flash on `tag_flash`.

Games carry such a model about by the tag; its file knows nothing of that, and holds it in its own space. So an export
looks at it let down: what carries it is taken away, and put back afterwards. Where its own objects stand as import put
them they are at home at once, however someone hung them up. Where they were moved to the tag their place against the
tag is what the game shows, and counts.

Make Root gives a model an empty that all of it hangs on, in whose space it is written wherever it stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from ..model import steady
from ..model.transforms import inverse
from ..reporting import LimitError
from . import names
from .along import AT_HOME, Along, along_with, going_along, hang, way_of
from .compat import Block, action_parts, playing_curves
from .empties import PREFIX
from .joints import TURN, from_children
from .linked import LOCAL, refuse_linked
from .provenance import MODEL_ID, PART, model_of
from .roots import is_carried, is_root, is_tag, root_of
from .scene import bending, upward
from .takes import used_actions

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

    def along(self, view_layer: bpy.types.ViewLayer) -> Along:
        """Return what stands elsewhere and belongs there with the model: what it bends, what has a say in it."""
        every: Iterable[Any] = view_layer.objects  # not all of which may be written
        free = [block for block in every if block.parent is None]
        bent = [b for b in free if any(rig in self.held for rig in bending(b))]
        space = None if self.carrier.bone or self.at_home else self.carrier.block
        found = along_with(self.whole, self.carrier.block, view_layer, bent, space)
        # Bones show what they do in the world frame by frame. What modifiers look at stands still: a mirror's middle.
        moves = found.poses and is_carried(self.edges[0])
        return replace(found, moving=(self.carrier.block, self.carrier.bone) if moves else None)


def find_hanging(blocks: Iterable[Block]) -> Hanging | None:
    """Return how a model, all of its objects, hangs on another; None if it does not.

    What stands in the world on objects that are no model's and no tags stands there on purpose. A root that is among
    the objects, for all of a scene is meant, carries them as it does otherwise.
    """
    whole = {block for block in blocks if not is_root(block)}
    whole |= {rig for block in whole for rig in bending(block)}
    held = [block for block in whole if block.parent is not None and block.parent not in whole]
    held.sort(key=lambda block: str(block.name))
    own = {found for found in map(model_of, whole) if found}
    edges: dict[Block, Carrier] = {}
    for block in held:
        edge = _edge(block, own)
        if edge is not None and whole.isdisjoint(upward(edge.parent)):  # else it goes along: a head on a rig's tag
            edges[edge] = Carrier(edge.parent, edge.parent_bone if edge.parent_type == "BONE" else "")
    if not edges:
        return None
    bodies = [block for block in held if block.type != "EMPTY"]
    carrier = next(iter(edges.values()))
    at_home = bool(own) and not is_root(carrier.block) and all(map(_is_at_home, bodies))
    return Hanging(carrier, bool(own), at_home, held, list(edges), whole)


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
def let_down(hanging: Hanging | None, view_layer: bpy.types.ViewLayer) -> Iterator[list[str]]:
    """Show a model without what carries it: in its own space, or, where it was moved, in its carrier's.

    It yields sentences on what does not go along (see `going_along`).
    """
    if hanging is None:
        yield []
        return
    moved = hanging.held if hanging.at_home else hanging.edges
    before = [(b, b.parent, b.parent_type, b.parent_bone, b.matrix_parent_inverse.copy()) for b in moved]
    made: list[Any] = []
    lead = next((block for block in moved if block.type == "ARMATURE"), moved[0])
    along = hanging.along(view_layer)
    stood = np.array(lead.matrix_world, np.float64)
    beside = [b for b in moved if hanging.at_home and b != lead and b.type != "ARMATURE" and not model_of(b)]
    places = {block: _place_beside(block, lead) for block in beside}
    try:
        for block in moved:
            goes_home = hanging.at_home and block not in places
            stand = None if goes_home else _stand(None if hanging.at_home else hanging.carrier, made)
            hang(block, stand, "OBJECT", "", places.get(block, block.matrix_parent_inverse.copy()))
        view_layer.update()
        if along.space is None:
            way = way_of(lead, stood)
        else:
            way = inverse(np.array(along.space.matrix_world, np.float64)[None])[0]
        with going_along(along, way, view_layer) as said:
            yield said
    finally:
        for how in before:
            hang(*how)
        for empty in made:
            bpy.data.objects.remove(empty)
        along.set_numbers_back()
        view_layer.update()


def _place_beside(block: Block, lead: Block) -> Matrix:
    """Return what brings an object to where it stands beside another once that stands where import put it."""
    worlds = [np.array(each.matrix_world, np.float64) for each in (block, lead)]
    own, home = (np.array(each.matrix_basis, np.float64) for each in (block, lead))
    return Matrix(steady.products(home, inverse(worlds[1][None])[0], worlds[0], inverse(own[None])[0]).tolist())


def _stand(carrier: Carrier | None, made: list[Any]) -> Block:
    """Return what an object is to hang on in its carrier's place: an empty at the world's origin.

    What hangs on a bone hangs on its tail; a bone that is a joint or a tag of a file is turned against that.
    """
    if not made:
        stand = bpy.data.objects.new("idtech_stand", None)
        made.append(stand)
        if carrier is not None and carrier.bone:
            stand.matrix_world = Matrix(to_joint(carrier).tolist())
    return made[0]


def to_joint(carrier: Carrier) -> NDArray[np.float64]:
    """Return where what hangs on a bone begins, its tail, in the space of the joint or tag that the bone is, (4, 4)."""
    return steady.products(TURN, inverse(from_children(carrier.block.data.bones[carrier.bone])))


def _note(hanging: Hanging) -> str:
    """Return in a sentence in whose space a model is written that hangs on another, or "" where it has a root."""
    name = hanging.carrier.name
    if is_root(hanging.carrier.block):
        return ""
    if not hanging.imported:
        return f"it is written with the motion of '{name}', on which it hangs; 'Make Root' gives it a space of its own"
    if not hanging.at_home:
        drawn = ", which is where games draw it" if hanging.carrier.is_tag else ""
        return f"it hangs on '{name}', and is written as it stands against that{drawn}"
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
    with let_down(hanging if own else None, view_layer) as said:
        yield [*([note] if note else []), *said]


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
    refuse_linked([*whole, into], f"{LOCAL}, or make the root there")
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
            hang(block, root, "OBJECT", "", block.matrix_parent_inverse.copy() if block.parent else Matrix())
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
            hang(block, root, "OBJECT", "", Matrix())
        return
    turn = np.eye(4)
    if hanging.carrier.bone:
        turn = to_joint(hanging.carrier)
        root.matrix_basis = Matrix(inverse(turn).tolist())
    for block in hanging.edges:
        own = np.array(block.matrix_parent_inverse, np.float64)
        hang(block, root, "OBJECT", "", Matrix(steady.products(turn, own).tolist()))
