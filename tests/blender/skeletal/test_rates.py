"""The scene plays as fast as an animation that comes."""

from dataclasses import replace

import pytest

from io_idtech_models.formats import by_name
from tests import samples_md5
from tests.blender.case import CONTEXT
from tests.blender.skeletal.rigged import MESH, bring

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.mark.parametrize(("rate", "shown"), [(24.0, 24.0), (12.5, 12.5), (23.976, 23.976), (1e12, 3276700000.0)])
def test_the_scene_plays_at_the_rate_of_the_first(rate, shown):
    motion = replace(by_name("md5anim").load(samples_md5.wave(), "wave"), frame_rate=rate)
    bring(samples_md5.arm(), {"wave": b""}, MESH.load(samples_md5.arm(), "arm"), [motion], {})
    render = CONTEXT.scene.render
    assert render.fps / render.fps_base == pytest.approx(shown, rel=1e-5)
    assert (render.fps_base == 1.0) == (rate == 24.0)
