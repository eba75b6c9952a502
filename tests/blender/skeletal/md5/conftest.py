"""The models to edit."""

import pytest

from tests import samples_md5
from tests.blender.skeletal.md5.edited import WAVES, XSARGE, Subject, subject
from tests.blender.skeletal.rigged import MESH, open_rig


@pytest.fixture(params=["arm", "xsarge"])
def case(request) -> Subject:
    """Return each of the models to edit."""
    if request.param == "arm":
        return subject(open_rig(samples_md5.arm(), WAVES))
    if not XSARGE.is_dir():
        pytest.skip("the corpus of real files is not here")
    motions = {name: (XSARGE / f"{name}.md5anim").read_bytes() for name in ("run", "walk")}
    model = open_rig((XSARGE / "body.md5mesh").read_bytes(), motions)
    return subject(model, bone="Spine.1", child=MESH.load(model.data, "x").skeleton.names[12], close=0.2)


@pytest.fixture
def arm() -> Subject:
    return subject(open_rig(samples_md5.arm(), WAVES))
