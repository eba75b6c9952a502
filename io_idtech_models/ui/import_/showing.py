"""Where imported models go, and what is seen of them.

They are selected, stand side by side if asked, and are framed where views showed nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...blender.compat import Context
from ...blender.linked import is_from_library
from ...blender.scene import objects_in
from ...blender.window import mode_of, selected
from ...model import steady

SOLID = frozenset(("MESH", "ARMATURE", "CURVE", "CURVES", "SURFACE", "META", "FONT", "VOLUME", "POINTCLOUD", "GPENCIL"))
GAP = 0.25  # between models, as a part of the widest
DEPTH = 8.0  # how far a view reaches at least, in sizes of what it frames


class ViewsBefore:
    """What 3D views showed before something was imported."""

    def __init__(self, context: Context) -> None:
        self.views = list(_views(context))
        self.empty = bool(self.views) and _is_empty(context)

    def show(self, context: Context, apart: bool) -> None:
        """Show what came, which is selected: models side by side if `apart`, framed in views that showed nothing."""
        blocks = selected(context)
        if apart:
            stand_apart(context, blocks)
        if self.empty and blocks:
            _frame(context, self.views, blocks)


def import_and_show(context: Context, apart: bool, run: Callable[[], set[str]]) -> set[str]:
    """Import by `run`, which selects what it has made, and show that; returns what `run` does."""
    before = ViewsBefore(context)
    result = run()
    if result == {"FINISHED"}:
        before.show(context, apart)
    return result


def _frame(context: Context, views: list[tuple[Any, Any, Any]], blocks: list[Any]) -> None:
    """Show objects, which are selected, as large as they fit; a view through the camera stays."""
    reach = DEPTH * max(_extent(blocks).max(), 1.0)
    for window, area, region in views:
        space: Any = area.spaces.active
        if space.region_3d.view_perspective == "CAMERA":
            continue
        space.clip_end = max(space.clip_end, reach)
        with context.temp_override(window=window, area=area, region=region):
            bpy.ops.view3d.view_selected()


def _views(context: Context) -> Iterator[tuple[Any, Any, Any]]:
    """Yield windows, 3D views in them that show the scene, and where these draw."""
    for window in context.window_manager.windows:
        if window.view_layer == context.view_layer:
            for area in window.screen.areas:
                regions = [region for region in area.regions if region.type == "WINDOW"]
                if area.type == "VIEW_3D" and regions:
                    yield window, area, regions[0]


def _is_empty(context: Context) -> bool:
    """Tell whether there is nothing to see: no object that has a body, or those alone with which Blender begins."""
    if not bpy.data.filepath and not bpy.data.is_dirty:
        return True
    layer = context.view_layer
    every = list(layer.objects)  # as in `window.selected`
    return not any(block.type in SOLID and block.visible_get(view_layer=layer) for block in every)


def _box(block: Any) -> NDArray[np.float64]:
    """Return the corners of an object's box in the world, (8, 3); of what has no body where it stands."""
    corners = np.array(block.bound_box if block.type in SOLID else np.zeros((8, 3)))
    return steady.applied(np.array(block.matrix_world)[:3], corners)


def _extent(blocks: list[Any]) -> NDArray[np.float64]:
    """Return how large objects are together along the axes, (3,)."""
    corners = np.concatenate([_box(block) for block in blocks])
    return np.asarray(np.ptp(corners, axis=0))


def stand_apart(context: Context, blocks: list[Any]) -> None:
    """Let models stand side by side, the first where it is and the others to its left, in the order of objects given.

    Each hangs on a root of its own, in whose space it is exported: its file does not change.
    """
    from ...blender.hanging import make_root

    if mode_of(context) != "OBJECT":
        return
    groups: dict[Any, list[Any]] = {}
    for block in blocks:
        groups.setdefault(_top(block, set(blocks)), []).append(block)
    context.view_layer.update()
    boxes = [np.concatenate([_box(block) for block in group])[:, 1] for group in groups.values()]
    gap = GAP * max((float(np.ptp(box)) for box in boxes), default=0.0)
    end = None
    for top, box in zip(groups, boxes, strict=True):
        shift = 0.0 if end is None else end + gap - float(box.min())
        end = float(box.max()) + shift
        if shift:
            is_home = isinstance(top, bpy.types.Collection)
            root = make_root(f"{top.name} root", objects_in(top), top) if is_home else top
            root.location.y += shift
    context.view_layer.update()


def _top(block: Any, others: set[Any]) -> Any:
    """Return what carries all that an object hangs on, of others that came with it: a root, or else a collection."""
    from ...blender.roots import is_root

    while block.parent in others:
        block = block.parent
    return block if is_root(block) else block.users_collection[0]


def open_collection(context: Context) -> bpy.types.Collection:
    """Return where imported collections go: the active collection, or the scene's if that can't be changed.

    An imported model's own is no place for another, which would become part of the model: it goes beside.
    """
    from ...blender.provenance import MODEL_ID

    root: bpy.types.Collection = context.scene.collection
    active: bpy.types.Collection | None = context.collection
    while active is not None and active.get(MODEL_ID):
        own = active
        active = next((c for c in (root, *root.children_recursive) if any(child == own for child in c.children)), None)
    if active is None or is_from_library(active):
        return root
    return active


def select(context: Context, blocks: list[bpy.types.Object]) -> None:
    """Select objects, and make the first active, as far as the view layer shows them."""
    context.view_layer.update()  # it has not seen what was linked just now
    present = set(context.view_layer.objects)
    shown = [block for block in blocks if block in present]
    if mode_of(context) != "OBJECT" or not shown:
        return
    deselect(context)
    for block in shown:
        block.select_set(True, view_layer=context.view_layer)
    context.view_layer.objects.active = shown[0]


def deselect(context: Context) -> None:
    """Select nothing."""
    for block in selected(context):
        block.select_set(False, view_layer=context.view_layer)


def show_empty(context: Context, collection: bpy.types.Collection) -> None:
    """Make the collection of a model without objects the active one, and no object: nothing else tells of it."""
    if mode_of(context) != "OBJECT":
        return
    deselect(context)
    context.view_layer.objects.active = None
    layers = [context.view_layer.layer_collection]
    while layers:
        layer = layers.pop()
        if layer.collection == collection:
            context.view_layer.active_layer_collection = layer
            return
        layers += layer.children
