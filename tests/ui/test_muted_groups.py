"""Curves that are muted with their group: before Blender 4.4 they play nothing, from then on the group has no say."""

from typing import Any

import pytest

from io_idtech_models.blender.compat import HAS_SLOTS, playing_curves
from tests.samples import put, sample
from tests.ui.scene import activate, bpy, export_bytes, import_model

pytestmark = pytest.mark.usefixtures("empty_scene")


def mute_by_group(curve: Any) -> None:
    """Mute a curve with a group of its own."""
    action = curve.id_data
    bags = [bag for layer in getattr(action, "layers", ()) for strip in layer.strips for bag in strip.channelbags]
    holder = next((bag for bag in bags if any(curve == each for each in bag.fcurves)), action)  # Blender 4.2 has none
    curve.group = holder.groups.new("muted")
    curve.group.mute = True


def moved(made: Any) -> list[Any]:
    """Return the curves of what moves a model."""
    owners = [*made.objects, *(block.data.shape_keys for block in made.objects if block.type == "MESH")]
    return [curve for owner in owners if owner is not None for curve in playing_curves(owner)]


@pytest.mark.parametrize(
    ("kind", "name", "path"),
    [("iqm", "arm", "rotation_quaternion"), ("md3", "animated", "location"), ("md2", "animated", "value")],
)
def test_they_are_written_as_they_play(tmp_path, kind, name, path):
    as_keys = kind == "md2"
    made = import_model(put(tmp_path / f"a.{kind}", sample(name, kind)), **({"relative_keys": True} if as_keys else {}))
    options = {"frames": "SCENE"} if as_keys else {}
    activate(*made.objects)
    curves = [curve for curve in moved(made) if path in curve.data_path]
    target = tmp_path / f"out.{kind}"
    before = export_bytes(target, **options)
    for curve in curves:
        curve.mute = True
    bpy.context.scene.frame_set(bpy.context.scene.frame_current)
    muted = export_bytes(target, **options)
    assert muted != before
    for curve in curves:
        curve.mute = False
        mute_by_group(curve)
    assert export_bytes(target, **options) == (before if HAS_SLOTS else muted)
