"""Tags of formats whose tags are joints: what a turn can not say of their axes is left out, and said."""

from dataclasses import replace

import numpy as np
import pytest

from io_idtech_models.formats import by_name
from io_idtech_models.model.bake import bake
from io_idtech_models.model.skeletal import JointTag
from io_idtech_models.model.transforms import to_matrices
from io_idtech_models.reporting import collected_warnings
from tests import samples_md5
from tests.samples import load

SCALES = {"plain": (1, 1, 1), "large": (2, 2, 2), "small": (0.5, 0.5, 0.5), "mirrored": (1, -1, 1)}
TURN = to_matrices(np.array([0.8, 0.2, -0.4, 0.4]))  # of a tag's axes, as rows


@pytest.mark.parametrize("scaled", SCALES)
@pytest.mark.parametrize("name", ["mds", "mdr", "iqm"])
def test_a_tag_is_turned_as_it_stands(name, scaled):
    """Of a mirrored one forward and up stay."""
    row, model = by_name(name), load(samples_md5.arm(), "arm")
    clips = [load(samples_md5.wave(), "wave")]
    axes = TURN * np.array(SCALES[scaled])[:, None]
    tag = JointTag("tag_x", 1, np.array((1.0, 2.0, 3.0), np.float32), axes.astype(np.float32))
    with collected_warnings() as warnings:
        data = row.dump(replace(model, tags=[tag]), {}, clips)
    assert any("scaled, sheared or mirrored" in text for text in warnings) == (scaled != "plain")
    upright = replace(model, tags=[replace(tag, axes=TURN.astype(np.float32))])
    found = row.unpack(row.read(data), "a")
    if name == "iqm":  # whose joints are found by their names, and no tags
        joint = found.model.skeleton.names.index("tag_x")
        found.model.tags = [JointTag("tag_x", joint, np.zeros(3, np.float32), np.eye(3, dtype=np.float32))]
    (wanted,), shown = bake(upright, clips).tags, bake(found.model, found.animations).tags[0]
    np.testing.assert_allclose(shown.axes, wanted.axes, atol=2e-3)
    np.testing.assert_allclose(shown.origins, wanted.origins, atol=0.05)
