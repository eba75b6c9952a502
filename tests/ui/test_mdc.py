"""MDC by its operators: models of another format under this name, and tags."""

import numpy as np
import pytest

from io_idtech_models.blender.compat import playing_curves
from tests.samples import load, put, sample
from tests.ui.scene import bpy, export_bytes, import_model

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.mark.parametrize("name", ["mdc", "md3"])
def test_an_md3_goes_into_an_mdc_as_it_is_called(tmp_path, name):
    """The game goes by the content, so that under a name of the same kind it stays what it is."""
    import_model(put(tmp_path / f"a.{name}", sample("animated")))
    data = export_bytes(tmp_path / "b.mdc")
    assert (data == sample("animated")) == (name == "mdc")
    assert load(data).source.format == ("md3" if name == "mdc" else "mdc")
    assert load(export_bytes(tmp_path / "b.md3")).source.format == "md3"


def test_a_turned_tag_changes_in_its_frame_alone(tmp_path):
    data = sample("animated", "mdc")
    import_model(put(tmp_path / "a.mdc", data))
    for curve in playing_curves(bpy.data.objects["tag_head"]):
        if curve.data_path == "rotation_quaternion":
            curve.keyframe_points[2].co.y = (1.0, 0.0, 0.0, 0.0)[curve.array_index]
    before, after = (load(file).tags[1].axes for file in (data, export_bytes(tmp_path / "b.mdc")))
    np.testing.assert_allclose(after[2], np.eye(3), atol=1e-6)
    np.testing.assert_array_equal(np.delete(after, 2, axis=0), np.delete(before, 2, axis=0))
