"""Tags of MDS, which are bones of their own there."""

import numpy as np

from io_idtech_models.formats import by_name
from io_idtech_models.model.skeletal import JointTag
from tests.samples import sample

ROW = by_name("mds")


def test_new_tags_of_one_name_get_bones_of_several():
    asset = ROW.unpack(ROW.read(sample("figure", "mds")), "x")
    model, count = asset.model, asset.model.skeleton.num_joints
    for place in (1.0, 2.0, 3.0):
        axes = np.eye(3, dtype=np.float32)
        model.tags.append(JointTag("tag_weapon", 1, np.array([place, 0.0, 0.0], np.float32), axes))
    found = ROW.read(ROW.dump(model, None, asset.animations))
    assert found.tags["name"].tolist()[-3:] == [b"tag_weapon"] * 3
    assert found.bones["name"].tolist()[count:] == [b"tag_weapon", b"tag_weapon_1", b"tag_weapon_2"]
