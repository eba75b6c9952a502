"""Where meshes, tags and bones of a .blend came from: the properties that say it, what they mean, and who claims it.

What a model of Doom 3 was declared as is noted on its armature: a declaration of new animations goes on from that.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..model import records
from .names import GIVEN, is_untouched
from .properties import SCALE, show

RECORD, MODEL_ID, SURFACE_INDEX = "idtech_source", "idtech_model", "idtech_surface"
# On meshes: where the numbers of the model's elements begin, in each model elsewhere, for meshes of several are joined.
# Modifiers mix numbers in single precision, which would round larger ones.
FIRST_NUMBER, BEGINNINGS = "idtech_first_number", 2**20
OWN_ANIMATIONS = "idtech_own_animations"  # on meshes and the collection of a copy: the id of those that it alone has
TAG_INDEX = "idtech_tag"
JOINT = "idtech_joint"  # on a bone: its number in the file
SKELETON = "idtech_skeleton"  # on an armature: the record of its file
LISTS_TAGS = "idtech_lists_tags"  # on an armature: does its file say which tags there are, or are bones by their names
STAND_IN = "idtech_stand_in"  # on a material that is not of the model's file: the name that import gave it
# On a material: the shader that a skin gives the surface, and the name that import gave the material.
WORN, WORN_GIVEN = "idtech_worn", "idtech_worn_given"
PICTURE = "idtech_picture"  # on a material: the name, without its ending, of the picture that import found for it
NODES = "idtech_nodes"  # on such a material: the kinds of nodes between its colour and its pictures
GROUP = "idtech_group"  # on a group of nodes that an import made: which it is
PART = "idtech_part"  # on a part's root (see `roots`): lower, upper, head, or what else games hang on tags
PLAYER = "idtech_player"  # on a player's collection, roots and rows: which player's
CHARACTER = "idtech_character"  # on the collection of a whole character: what its files are called in their game
CHECKSUM = "idtech_checksum"  # on a model's collection: CRC-32 of the file that it came from, in hexadecimal
CONTENT = "idtech_content"  # on a model's collection: the format of its file, where the file's name says another
SKIN = "idtech_skin"  # on a model's collection: the skin that it wears
FILE = "idtech_file"  # on collections, meshes, armatures and tags' empties: the file that they came from
BLEND = "idtech_blend"  # on scenes: where their .blend was saved last
FILE_OF = "idtech_file_of"  # on an action that was exported first: what it was called then, which its copies are not
DECLARED = "idtech_declared"  # on an armature's data: the declared model, its mesh's path in the game, its animations


def file_lists_tags(armature: Any) -> bool:
    """Tell whether the file that an armature came from says which tags there are.

    Up to 1.0.0 that was not noted: there it is one that had some.
    """
    if LISTS_TAGS in armature:
        return bool(armature[LISTS_TAGS])
    record = armature.get(SKELETON)
    try:
        return isinstance(record, bytes) and "tag_names" in records.unpack(record)
    except records.RecordError:
        return False


@dataclass(eq=False)
class Place:
    """Where a mesh's source numbers lie among the model's: number of the mesh + shift, within [first, end)."""

    surface: int  # index among the source's surfaces
    vertex_shift: int
    vertices: range
    triangle_shift: int
    triangles: range

    @classmethod
    def among_own(cls, mesh: Any, count: int, vertices: range, triangles: range) -> Place:
        """Return the place of a mesh among `count` of a whole source: its numbers count from where they begin."""
        index, shift = mesh.get(SURFACE_INDEX), -first_number(mesh)
        valid = isinstance(index, int) and 0 <= index < count
        return cls(index if valid else -1, shift, vertices, shift, triangles)

    def vertex_numbers(self, stored: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return model-wide vertex numbers of stored ones (n,): -1 for new elements and strangers."""
        return _shifted(stored, self.vertex_shift, self.vertices)

    def triangle_numbers(self, stored: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return model-wide triangle numbers of stored ones (n,): -1 for new elements and strangers."""
        return _shifted(stored, self.triangle_shift, self.triangles)


def new_first_number(surfaces: Iterable[tuple[NDArray[Any], ...]]) -> int:
    """Return where a model's numbers begin, by what its surfaces are like: the same where it is imported again."""
    found = 0
    for array in chain.from_iterable(surfaces):
        found = zlib.crc32(np.ascontiguousarray(array).data, found)
    return found % BEGINNINGS


def first_number(mesh: Any) -> int:
    """Return where the numbers of a mesh's elements begin: at 0 where none is noted."""
    found = mesh.get(FIRST_NUMBER, 0)
    return found if isinstance(found, int) and 0 <= found < BEGINNINGS else 0


def _shifted(stored: NDArray[np.int32], shift: int, allowed: range) -> NDArray[np.int64]:
    numbers = stored.astype(np.int64) - 1 + shift
    return np.where((stored > 0) & (numbers >= allowed.start) & (numbers < allowed.stop), numbers, -1)


def is_stand_in(material: Any) -> bool:
    """Tell whether a material is not of the model's file, but one that import showed in its place, and not renamed."""
    given = material.get(STAND_IN)
    return isinstance(given, str) and is_untouched(material.name, given)


def note_file(collection: bpy.types.Collection, blocks: Iterable[Any], path: str, scale: float) -> None:
    """Note on a model's collection, and on each of its objects, the file that it came from.

    And how large a game unit is in the scene, if not 1: see `unit_of`.
    """
    holders = [block if block.data is None else block.data for block in blocks]
    for holder in (collection, *holders):
        holder[FILE] = path
        if scale != 1.0:
            holder[SCALE] = scale
    note_scale(collection, scale)


def note_scale(collection: bpy.types.Collection, scale: float) -> None:
    """Note on a collection how large a game unit was when what it holds was imported, if not 1."""
    if scale != 1.0:
        show(collection, SCALE, scale)


def unit_of(*blocks: Any) -> float:
    """Return how large a game unit is in the scene, as objects or collections were imported: 1 if by no one size."""
    found = {_unit(block) for block in blocks if FILE in block or FILE in (getattr(block, "data", None) or ())}
    return found.pop() if len(found) == 1 else 1.0


def forget_units() -> None:
    """Let what was imported count as large as its files are, whatever size it has in the .blend."""
    for holder in (*bpy.data.collections, *bpy.data.objects, *bpy.data.meshes, *bpy.data.armatures):
        if SCALE in holder:
            del holder[SCALE]


def _unit(block: Any) -> float:
    holders = (block, getattr(block, "data", None), *getattr(block, "users_collection", ()))
    found = next((holder[SCALE] for holder in holders if holder is not None and SCALE in holder), 1.0)
    return found if isinstance(found, float) and 1e-4 <= found <= 1e4 else 1.0


def give_file(action: Any, path: str) -> None:
    """Note on an action the file that it is by now, for it was written there."""
    action[FILE], action[FILE_OF] = path, action.name


def owns_file(action: Any, others: Iterable[Any] | None = None) -> bool:
    """Tell whether an action is what its file holds, not a copy that Blender made of that, among `others` or all."""
    own = action.get(FILE)
    claimants = [each for each in (bpy.data.actions if others is None else others) if each.get(FILE) == own]
    return bool(original(claimants, lambda each: each.get(FILE_OF, each.get(GIVEN))) == action)


def original(claimants: Sequence[Any], noted: Callable[[Any], Any]) -> Any | None:
    """Return which of blocks that say the same of themselves is no copy of another; None where nobody can tell.

    It has the name that is `noted` on it, or else one that is not that, or another's, with a number of Blender's.
    """
    exact = next((block for block in claimants if block.name == noted(block)), None)
    if exact is not None or len(claimants) < 2:
        return exact or next(iter(claimants), None)
    known = {block.name for block in claimants} | {name for block in claimants if isinstance(name := noted(block), str)}
    found = [b for b in claimants if not any(is_untouched(b.name, name) for name in known - {b.name})]
    return found[0] if len(found) == 1 else None


def model_of(block: Any) -> str:
    """Return the id of the model that an object was imported with, or ""."""
    for holder in (block, block.data):
        found = None if holder is None else holder.get(MODEL_ID)
        if isinstance(found, str):
            return found
    return ""


def animations_id(holder: Any) -> Any:
    """Return the id that the animations of a mesh's or a collection's model have: None where that has none."""
    return holder.get(OWN_ANIMATIONS, holder.get(MODEL_ID))


def collection_of(block: Any) -> Any | None:
    """Return the collection that an import made for an object's model, where it lies in such a one."""
    return None if block is None else next((each for each in block.users_collection if each.get(MODEL_ID)), None)


def collections_of(model_ids: Collection[Any]) -> list[Any]:
    """Return the collections that imports made for models of some ids; no id is none's."""
    wanted = {each for each in model_ids if each}
    return [each for each in bpy.data.collections if each.get(MODEL_ID) in wanted] if wanted else []


class Claims:
    """Which of the source's elements are taken, by number: the first that names one has it, for a copy is new."""

    def __init__(self) -> None:
        self.taken: set[int] = set()
        self.faces: dict[int, list[NDArray[Any]]] = {}

    def take(self, number: int) -> bool:
        """Tell whether an element may be what it says: number -1, which is new, or one that none before it took."""
        free = number < 0 or number not in self.taken
        self.taken.add(number)
        return free

    def repeats(self, number: int, faces: NDArray[Any] | None) -> bool:
        """Tell whether a mesh has triangles that another of the same number has: it is a copy, and no part of it.

        `faces` (T,) are the source's triangles that its own were, -1 for new ones.
        """
        own = np.zeros(0, np.int64) if faces is None else faces[faces >= 0]
        others = self.faces.setdefault(number, [])
        again = number >= 0 and any(bool(np.isin(own, other).any()) for other in others)
        others.append(own)
        return again


def note_declared(rig: Any, model: str, mesh: str, anims: Sequence[str]) -> None:
    """Note on an armature which declared model it is, its mesh's path in the game, and which animations that has."""
    rig.data[DECLARED] = json.dumps([model, mesh, list(anims)])


def noted_declared(rig: Any) -> tuple[str, str, list[str]]:
    """Return what was noted: model, mesh and animations; "" and none where nothing was, or it is damaged."""
    try:
        model, mesh, anims = json.loads(str(rig.data.get(DECLARED, "")))
    except (ValueError, TypeError):
        return "", "", []
    if not (isinstance(model, str) and isinstance(mesh, str) and isinstance(anims, list)):
        return "", "", []
    return model, mesh, [each for each in anims if isinstance(each, str)]
