"""Models that stand where another stands and show the frame that it shows, as a player's gun in Quake II does."""

from __future__ import annotations

import bpy

from .. import names
from ..compat import Block
from ..provenance import MODEL_ID, PART
from ..roots import follow_keys
from ..vertex.build import Built
from .assembly import PartBuilt


def stand_with(built: Built, kind: str, body: Built) -> PartBuilt:
    """Hang a model on a new root where another model stands, and let it show the frame of that one's number."""
    root: Block = bpy.data.objects.new(names.fit(built.collection.name), None)
    root.empty_display_type, root.empty_display_size = "PLAIN_AXES", 4.0
    root[PART] = kind
    root[MODEL_ID] = built.collection.get(MODEL_ID, "")
    built.collection.objects.link(root)
    for block in (*built.surfaces, *built.tags):
        block.parent = root
    keyed = [block for block in body.surfaces if block.data.shape_keys is not None]
    root.parent = next(iter([*keyed, *body.surfaces]), None)
    for block in built.surfaces if keyed else ():
        if block.data.shape_keys is not None:
            follow_keys(block.data.shape_keys, keyed[0].data.shape_keys)
    return PartBuilt(kind, root, built)
