"""What a failed import made goes again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import bpy

# What an import may make; a failed one removes what it made of these.
KINDS = ("objects", "collections", "meshes", "materials", "images", "node_groups", "actions", "armatures")


@contextmanager
def undone_on_failure() -> Iterator[None]:
    """Remove every data-block that was made within, if an exception leaves it."""
    last = _last_number()
    try:
        yield
    except BaseException:
        made = [b for kind in KINDS for b in getattr(bpy.data, kind) if b.session_uid > last]
        bpy.data.batch_remove(made)  # a mesh takes its shape keys along
        raise


def _last_number() -> int:
    """Return the number that no data-block's is above: Blender counts all that are made in a session.

    What is made for that goes again: so it takes no longer the more there is in the .blend.
    """
    probe = bpy.data.speakers.new("idtech")
    number = int(probe.session_uid)
    bpy.data.speakers.remove(probe, do_unlink=False, do_id_user=False, do_ui_user=False)
    return number
