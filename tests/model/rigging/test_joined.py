"""Parts that hang on one another's tags, as one skeleton: what each does by itself is what it does in the whole."""

import numpy as np
import pytest

from io_idtech_models.model.rigging.joined import PartRig, join
from io_idtech_models.model.rigging.rig import FrameRig, rig_matrices

RANDOM = np.random.default_rng(7)


def moves(frames, count):
    """Return random turns and ways, (frames, count, 4, 4)."""
    axes = np.linalg.qr(RANDOM.normal(size=(frames, count, 3, 3)))[0]
    axes[np.linalg.det(axes) < 0] *= -1
    found = np.zeros((frames, count, 4, 4))
    found[..., :3, :3], found[..., :3, 3], found[..., 3, 3] = axes, RANDOM.normal(size=(frames, count, 3)) * 10, 1
    return found


def part(name, frames, above=None, beside=False, poses=None):
    """Return a part of two bones, of which the second carries a tag."""
    tags = moves(frames, 1)
    own = moves(frames, 3) if poses is None else poses
    rig = FrameRig(
        names=["root", "bone.01", "tag_a"], parents=np.array([-1, 0, 1]), heads=RANDOM.normal(size=(3, 3)),
        tails=RANDOM.normal(size=(3, 3)), rest=RANDOM.normal(size=(5, 3)), weights=np.ones((5, 3)) / 3,
        of_vertex=np.arange(5), poses=own[..., :3, :], rest_frame=1, torn=np.zeros(frames, bool),
        tag_bones=np.array([2]), groups=["", "", "tags"],
    )  # fmt: skip
    return PartRig(name, rig, tags, np.ones((frames, 1, 3)), above, beside)


def test_one_part_is_itself():
    (only,) = [part("legs", 4)]
    joined = join([only])
    assert joined.rig.names == only.rig.names
    assert joined.roots == []
    assert np.array_equal(joined.rig.poses, only.rig.poses)
    assert np.array_equal(joined.parts[0].own(joined.rig.poses, joined.parts[0].stands).poses, only.rig.poses)


def test_what_hangs_moves_with_its_tag_as_by_itself():
    legs, torso = part("legs", 4), part("torso", 6, (0, 0))
    head = PartRig("head", None, moves(1, 0), np.ones((1, 0, 3)), (1, 0))
    joined = join([legs, torso, head])
    rig = joined.rig
    assert rig.names == ["root", "bone.01", "tag_a", "torso", "torso.00", "torso.01", "tag_a.002", "head"]
    assert rig.parents.tolist() == [-1, 0, 1, 2, 3, 4, 5, 6]
    assert joined.roots == [3, 7]
    assert rig.tag_bones.tolist() == [2, 6]
    assert len(rig.poses) == 6
    for frame in range(6):
        stand = legs.tags[min(frame, 3), 0]
        rest = legs.tags[1, 0]
        own = stand @ rig_matrices(torso.rig.poses[frame]) @ np.linalg.inv(rest)
        assert np.allclose(rig_matrices(rig.poses[frame, 4:7]), own)
        assert np.allclose(rig_matrices(rig.poses[frame, 3]), stand @ np.linalg.inv(rest))
        assert np.allclose(joined.tags[frame, 1], stand @ torso.tags[frame, 0])
    assert np.allclose(joined.tag_rests[1], legs.tags[1, 0] @ torso.tags[1, 0])
    back = joined.parts[1].own(rig.poses, joined.parts[1].stands)
    assert np.allclose(back.poses, torso.rig.poses)


@pytest.mark.parametrize("bone", [0, 1])
def test_another_model_hangs_on_the_bone_that_it_follows(bone):
    bearer = part("tris", 8)
    held = np.repeat(rig_matrices(bearer.rig.poses[:, bone])[:, None], 3, axis=1)
    weapon = part("weapon", 8, beside=True, poses=held)
    joined = join([bearer, weapon])
    assert joined.rig.parents.tolist() == [-1, 0, 1, bone, 3, 4]
    assert joined.rig.names[3:5] == ["weapon.00", "weapon.01"]
    assert np.array_equal(joined.rig.poses[:, 3:], weapon.rig.poses)
