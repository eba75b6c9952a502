"""MDC by its operators: models of another format under this name, and tags."""

import numpy as np
import pytest

from io_idtech_models.blender.compat import playing_curves
from tests.samples import load, sample
from tests.ui.scene import bpy, export_bytes, import_model, put

pytestmark = pytest.mark.usefixtures("empty_scene")


def test_an_md3_by_this_name_goes_back_as_one(tmp_path):
    """The game goes by the content, so that under a name of the same kind it stays what it is."""
    import_model(put(tmp_path / "a.mdc", sample("animated")))
    assert export_bytes(tmp_path / "b.mdc") == sample("animated")
    assert load(export_bytes(tmp_path / "b.md3")).source.format == "md3"


def test_an_md3_becomes_an_mdc(tmp_path):
    import_model(put(tmp_path / "a.md3", "animated"))
    assert load(export_bytes(tmp_path / "b.mdc")).source.format == "mdc"


def test_a_turned_tag_changes_in_its_frame_alone(tmp_path):
    data = sample("animated", "mdc")
    import_model(put(tmp_path / "a.mdc", data))
    tag = bpy.data.objects["tag_head"]
    action = tag.animation_data.action
    before = load(data).tags[1].axes

    for curve in playing_curves(tag):
        if curve.data_path == "rotation_quaternion":
            curve.keyframe_points[2].co.y = (1.0, 0.0, 0.0, 0.0)[curve.array_index]
    assert action is not None
    after = load(export_bytes(tmp_path / "b.mdc")).tags[1].axes
    np.testing.assert_allclose(after[2], np.eye(3), atol=1e-6)
    np.testing.assert_array_equal(np.delete(after, 2, axis=0), np.delete(before, 2, axis=0))
