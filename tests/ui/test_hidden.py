"""Notes of the extension: not among the custom properties that Blender lists, and as they were in every .blend."""

from typing import Any

import pytest

from tests.samples import PROJECT, put
from tests.ui.scene import bpy, export_bytes, import_model, reopen

pytestmark = pytest.mark.usefixtures("empty_scene")
TROOPER = PROJECT / "examples/trooper/models/players/toys/trooper/body.mdm"
KINDS = ("objects", "collections", "meshes", "armatures", "materials", "actions", "images")


def owners() -> list[Any]:
    bones = [bone for rig in bpy.data.armatures for bone in rig.bones]
    return [*(block for kind in KINDS for block in getattr(bpy.data, kind)), *bones]


def notes() -> dict[tuple[str, str], Any]:
    """Return all that data-blocks have of the extension."""
    return {
        (f"{type(owner).__name__} {owner.name}", key): owner[key]
        for owner in owners()
        for key in owner.keys()  # noqa: SIM118 - the stubs know no other way
        if key.startswith("idtech") and isinstance(owner[key], str | bytes)
    }


def listed(owner: Any) -> set[str]:
    """Return what Blender's panel of custom properties lists: see rna_prop_ui.draw."""
    declared = {prop.identifier for prop in owner.bl_rna.properties if prop.is_runtime}
    return {key for key in owner.keys() if key not in declared}  # noqa: SIM118


def test_no_record_is_listed(tmp_path):
    import_model(put(tmp_path / "a.md3"))
    import_model(TROOPER)
    assert any(isinstance(value, bytes) for value in notes().values())
    shown = {key: owner[key] for owner in owners() for key in listed(owner) if key.startswith("idtech")}
    assert not [key for key, value in shown.items() if isinstance(value, bytes)]
    assert not {"idtech_model", "idtech_given", "idtech_name"} & set(shown)
    assert {"idtech_file", "idtech_min_lod"} <= set(shown), "what is readable, and may be edited, is"


def test_notes_are_as_they_were(tmp_path, extension):
    """Whatever looks at the declared ones, with the extension or without, in the .blend and out of it."""
    path = put(tmp_path / "a.md3")
    import_model(path)
    before = notes()
    for owner in owners():
        for prop in owner.bl_rna.properties:
            if prop.is_runtime and prop.identifier.startswith("idtech"):
                getattr(owner, prop.identifier)
    assert notes() == before
    extension.unregister()
    try:
        assert notes() == before
        reopen(tmp_path)
        assert notes() == before
    finally:
        extension.register()
    assert notes() == before
    reopen(tmp_path)
    assert notes() == before
    assert export_bytes(tmp_path / "b.md3", what="SCENE") == path.read_bytes()
