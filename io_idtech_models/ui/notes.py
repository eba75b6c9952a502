"""What the extension notes for itself on data-blocks is not listed among their custom properties.

Blender's panel leaves out what an extension has declared: so the notes' names are declared, as texts, and nothing is
ever read or written by these declarations. The notes themselves stay custom properties, in every Blender, with the
extension or without. Numbers that a modeller may edit are not among them: the panel "id Tech" has those.
"""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import StringProperty

# Records are bytes, the others texts. Blender takes no declared text for a property of another kind.
RECORDS = ("idtech_source", "idtech_applied", "idtech_skeleton", "idtech_skinned", "idtech_motion")
TEXTS = (
    "idtech_blend",
    "idtech_given",
    "idtech_name",
    "idtech_model",
    "idtech_checksum",
    "idtech_content",
    "idtech_export",
    "idtech_file_of",
    "idtech_files",
    "idtech_stand_in",
    "idtech_worn",
    "idtech_worn_given",
)
KINDS = ("Object", "Collection", "Mesh", "Armature", "Material", "Action", "Bone", "Image", "Scene")


def attach() -> None:
    """Declare the names."""
    declare: Any = StringProperty
    for kind in KINDS:
        for name in RECORDS:
            setattr(getattr(bpy.types, kind), name, declare(subtype="BYTE_STRING", options={"HIDDEN", "SKIP_SAVE"}))
        for name in TEXTS:
            setattr(getattr(bpy.types, kind), name, declare(options={"HIDDEN", "SKIP_SAVE"}))


def detach() -> None:
    """Undo `attach`; what data-blocks have stays."""
    for kind in KINDS:
        for name in (*RECORDS, *TEXTS):
            delattr(getattr(bpy.types, kind), name)
