"""An animation goes onto a skeleton whose joints were added, taken away, renamed or hung elsewhere since."""

import numpy as np
import pytest

from io_idtech_models.formats import by_name
from io_idtech_models.model.edits.matched import onto
from io_idtech_models.model.skeletal import Skeleton, mismatch
from io_idtech_models.model.transforms import chain, same_turns
from tests import samples_md5


def wave():
    return by_name("md5anim").load(samples_md5.wave(), "x")


def skeleton(names: list[str], parents: list[int], numbers: list[int]) -> Skeleton:
    """Return a skeleton whose joints rest 1 unit from what they hang on, turned by nothing, but for the source's."""
    places = np.array([[float(nth), 0, 0] for nth in range(len(names))])
    turns = np.tile([1.0, 0, 0, 0], (len(names), 1))
    return Skeleton(names, np.array(parents, np.int32), places, turns, np.array(numbers, np.int32))


def places(animation):
    """Return where joints are, by name, and how they are turned."""
    where, turns = chain(animation.parents, animation.positions, animation.rotations)
    return {name: (where[:, nth], turns[:, nth]) for nth, name in enumerate(animation.joint_names)}


def test_the_same_bones_show_the_same():
    given = wave()
    found = onto(given, skeleton(["origin", "limb", "hand"], [-1, 0, 1], [0, 1, 2]))
    assert found.joint_names == ["origin", "limb", "hand"]
    assert found.positions is given.positions and found.source_frames is given.source_frames


@pytest.mark.parametrize(
    ("names", "parents", "numbers"),
    [
        (["origin", "upper arm", "hand", "ring"], [-1, 0, 1, 2], [0, 1, 2, -1]),
        (["origin", "hand"], [-1, 0], [0, 2]),
        (["origin", "upper arm", "hand", "elbow"], [-1, 0, 3, 1], [0, 1, 2, -1]),
        (["origin", "upper arm", "hand", "x"], [3, 0, 1, -1], [0, 1, 2, -1]),
        (["origin", "upper arm", "hand"], [-1, 0, 0], [0, 1, 2]),
    ],
    ids=["more", "less", "between", "above", "elsewhere"],
)
def test_joints_stand_where_they_stood(names, parents, numbers):
    given, wanted = wave(), skeleton(names, parents, numbers)
    found = onto(given, wanted)
    assert not mismatch(wanted, found)
    before, after = places(given), ordered(found)
    for name, (where, turns) in after.items():
        if name in before:
            assert np.abs(where - before[name][0]).max() < 1e-9
            assert same_turns(turns, before[name][1]).max() < 1e-6
    assert found.source_joints is not None and found.source_frames is not None
    assert found.source_joints.tolist() == numbers
    above = [numbers[parent] if parent >= 0 else None for parent in parents]
    own = [None if n < 0 or given.parents[n] < 0 else int(given.parents[n]) for n in numbers]
    stays = [n >= 0 and a == b for n, a, b in zip(numbers, above, own, strict=True)]
    assert (found.source_frames[..., 0] >= 0).all(axis=0).tolist() == stays


def ordered(animation):
    """Return the places of joints of which some come before what they hang on."""
    order = sorted(range(len(animation.parents)), key=lambda joint: depth(animation.parents, joint))
    place = {joint: nth for nth, joint in enumerate(order)}
    parents = np.array([place.get(int(animation.parents[joint]), -1) for joint in order])
    where, turns = chain(parents, animation.positions[:, order], animation.rotations[:, order])
    return {animation.joint_names[joint]: (where[:, nth], turns[:, nth]) for nth, joint in enumerate(order)}


def depth(parents, joint: int) -> int:
    return 0 if parents[joint] < 0 else 1 + depth(parents, parents[joint])


@pytest.mark.parametrize("numbers", [[-1, -1], [3, 9]])
@pytest.mark.parametrize(("parents", "away"), [([0, 3], [3, 1]), ([2, 3], [1, 1]), ([4, 2], [-1, 2])])
def test_a_new_joint_rests_against_what_it_hangs_on(parents, away, numbers):
    """New is what the animation lacks, and it may stand before what it hangs on."""
    names = ["origin", "upper arm", "hand", "ring", "stone"]
    found = onto(wave(), skeleton(names, [-1, 0, 1, *parents], [0, 1, 2, *numbers]))
    assert np.abs(found.positions[:, 3:] - np.outer(away, [1, 0, 0])).max() < 1e-12
    assert np.abs(found.rotations[:, 3:] - [1, 0, 0, 0]).max() < 1e-12
