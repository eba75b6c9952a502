"""What hangs on what, which bones are left and right, and what they are called: a person whose bones are known."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from io_idtech_models.model.rigging.fit import PointSkin
from io_idtech_models.model.rigging.joints import mirrored_tree
from io_idtech_models.model.rigging.names import Bones, name_bones
from io_idtech_models.model.rigging.rig import FrameRig, RigSettings
from io_idtech_models.model.rigging.sides import Plane, Sides, mirror_axis, plane_of
from io_idtech_models.model.rigging.skeleton import _hung_again, part_of
from io_idtech_models.model.rigging.solve import make_rig
from io_idtech_models.model.rigging.tag_bones import with_tags
from io_idtech_models.model.vertex import Tag
from tests.model.rigging.test_make_rig import tube, turn, walker

FRAMES = 40


Joint = tuple[str, tuple[float, float, float], tuple[float, float, float]]  # its parent, where it is, where it ends
MIDDLE: dict[str, Joint] = {
    "pelvis": ("", (0, 0, 40), (0, 0, 48)), "spine": ("pelvis", (0, 0, 48), (0, 0, 64)),
    "head": ("spine", (0, 0, 64), (0, 0, 76)),
}  # fmt: skip
LEFT: dict[str, Joint] = {
    "thigh": ("pelvis", (0, 4, 40), (0, 4, 22)), "shin": ("thigh", (0, 4, 22), (0, 4, 4)),
    "foot": ("shin", (0, 4, 4), (8, 4, 1)), "upper_arm": ("spine", (0, 5, 60), (0, 17, 60)),
    "forearm": ("upper_arm", (0, 17, 60), (0, 27, 60)), "hand": ("forearm", (0, 27, 60), (0, 33, 60)),
}  # fmt: skip


def joints() -> dict[str, Joint]:
    found = dict(MIDDLE)
    for side, sign in (("L", 1), ("R", -1)):
        for name, (parent, (x, y, z), (u, v, w)) in LEFT.items():
            above = parent if parent in MIDDLE else f"{parent}.{side}"
            found[f"{name}.{side}"] = above, (x, y * sign, z), (u, v * sign, w)
    return found


class Person:
    """Tubes on joints, each joint turning as it likes; the right arm holds something."""

    JOINTS = joints()

    def __init__(self, held: float, parts: tuple[str, ...] = (), off: str = "") -> None:
        rng = np.random.default_rng(5)
        names = [name for name in self.JOINTS if not parts or name.split(".")[0] in parts]
        made = {name: tube(*map(np.asarray, self.JOINTS[name][1:]), rings=5) for name in names}
        starts = np.cumsum([0, *(len(points) for points, _ in made.values())])
        self.triangles = np.concatenate(
            [own + start for (_, own), start in zip(made.values(), starts, strict=False)]
        ).astype(np.int32)
        self.places = np.empty((FRAMES, starts[-1], 3), np.float32)
        self.stands: dict[str, list[NDArray[np.float64]]] = {name: [] for name in self.JOINTS}
        for frame in range(FRAMES):
            posed: dict[str, NDArray[np.float64]] = {}
            for name, (parent, head, _) in self.JOINTS.items():
                much = 0.06 if name in {"pelvis", "spine", "head"} else 0.25
                turns = turn(rng.normal(0, min(much, 0.1)), 0) @ turn(rng.normal(0, much), 1)
                if name in {"upper_arm.R", "forearm.R"}:
                    turns = turns @ turn(held, 2)
                own = np.eye(4)
                own[:3, :3], own[:3, 3] = turns, np.array(head) - turns @ head
                if name == off:
                    own[:3, 3] += rng.normal(0, 6, 3)
                posed[name] = posed.get(parent, np.eye(4)) @ own
                self.stands[name].append(posed[name])
            where = [points @ posed[name][:3, :3].T + posed[name][:3, 3] for name, (points, _) in made.items()]
            self.places[frame] = np.concatenate(where)

    def rig(self, *tags: Tag, **settings):
        return make_rig(self.places, self.triangles, tags, RigSettings(**settings))

    def tag(self, name: str, joint: str) -> Tag:
        """Return a tag at a joint's end, which goes along with it."""
        stands = np.stack(self.stands[joint])
        place = stands[:, :3, :3] @ self.JOINTS[joint][2] + stands[:, :3, 3]
        return Tag(name, place.astype("f4"), np.swapaxes(stands[:, :3, :3], 1, 2).astype("f4"))


def parents_of(rig):
    """Return each bone's parent by name, without the tags' bones."""
    return {
        name: rig.names[parent] if parent >= 0 else ""
        for bone, (name, parent) in enumerate(zip(rig.names, rig.parents.tolist(), strict=True))
        if bone not in rig.tag_bones
    }


WHOLE = {name: parent for name, (parent, _, _) in Person.JOINTS.items()}


@pytest.mark.parametrize("held", [0.0, 0.7])
def test_a_person_has_its_bones_whatever_its_arms_do(held):
    """Which is left and right is told by ways along the body: no frame is its own mirror image."""
    rig = Person(held).rig()
    assert parents_of(rig) == WHOLE
    left = [name for name in rig.names if name.endswith(".L")]
    assert all(rig.heads[rig.names.index(name), 1] > 0 for name in left if "hand" not in name)


@pytest.mark.parametrize("axis", [0, 1])
def test_bodies_look_along_x_as_in_games_or_along_y_as_in_blender(axis):
    own = np.random.default_rng(4).normal([0.05, 0.2, 0], [0.1, 0.2, 0.4], (60, 3))
    body = np.concatenate([own, own * [1, -1, 1]]) + np.array([0, 0.3, 0])
    if axis == 0:  # from +X to -Y: its left is +X
        body = np.stack([body[:, 1], -body[:, 0], body[:, 2]], axis=1)
    assert mirror_axis(body[None]) == axis
    plane = plane_of(body, axis, 0.33)
    assert round(plane.at, 2) == 0.3
    assert (plane.aside(body)[:60] > 0).mean() > 0.7
    nose = body[own[:, 0].argmax()]
    assert plane.forward(nose) == plane.forward(body).max()


def test_what_holds_a_weapon_and_no_head_is_no_torso():
    """A turret, or hands before the player's eyes."""
    tag = Tag("tag_weapon", np.zeros((1, 3), "f4"), np.zeros((1, 3, 3), "f4"))
    assert part_of([tag]) == ""
    assert part_of([tag, Tag("tag_head", tag.origins, tag.axes)]) == "torso"


def test_a_torso_hangs_on_its_waist_not_on_its_neck():
    person = Person(0.4, ("spine", "head", "upper_arm", "forearm", "hand"))
    person.places[..., 2] -= 48
    for stands in person.stands.values():
        for stand in stands:
            stand[2, 3] -= 48
    rig = person.rig(person.tag("tag_head", "head"), person.tag("tag_weapon", "hand.R"))
    below = {name: "root" if parent == "spine" else parent for name, parent in WHOLE.items()}
    wanted = {name: below[name] for name in below if name.startswith(("upper", "fore", "hand"))}
    assert parents_of(rig) == {"root": "", "neck": "root", **wanted}


def test_a_body_whose_hand_carries_the_torso_is_a_whole_one():
    """Players that are one model of legs have a torso of nothing in their hand."""
    person = Person(0.4)
    assert parents_of(person.rig(person.tag("tag_torso", "hand.R"))) == WHOLE


def test_legs_hang_on_what_the_torso_stands_on():
    person = Person(0.4, ("pelvis", "thigh", "shin", "foot"))
    rig = person.rig(person.tag("tag_torso", "pelvis"))
    assert parents_of(rig) == {name: WHOLE[name] for name in WHOLE if name.startswith(("pel", "th", "sh", "fo"))
                               and not name.startswith("forearm")}  # fmt: skip


def test_what_comes_off_hangs_where_it_belongs():
    """So that it goes along when the arm is posed; by itself it moves as it likes."""
    for turn_only in (False, True):
        rig = Person(0.0, off="hand.L").rig(turn_only=turn_only)
        assert parents_of(rig) == WHOLE
        hand, arm = (rig.names.index(name) for name in ("hand.L", "forearm.L"))
        own, other = (rig.poses[:, b, :, :3] @ rig.heads[hand] + rig.poses[:, b, :, 3] for b in (hand, arm))
        assert np.linalg.norm(own - other, axis=1).max() > 2


def chain_of(begins, part, *, up=False, cloth=False):
    """Return the names of the left of two limbs on one bone, whose bones begin at such parts of their length."""
    ends = np.array([*begins, 1.0]) * 40
    heads, tails, parents, partners = [[0, 0, 40]], [[0, 0, 44]], [-1], [0]
    for side in (1, -1):
        for nth, (begin, end) in enumerate(pairwise(ends)):
            parents.append(len(parents) - 1 if nth else 0)
            heads.append([0, 5 * side, 40 + begin if up else 40 - begin])
            tails.append([0, 5 * side, 40 + end if up else 40 - end])
            partners.append(len(partners) + len(begins) * side)
    bones = Bones(
        np.array(parents), np.array(heads, float), np.array(tails, float), np.ones(len(parents)),
        np.array(heads, float)[:, 1], np.zeros(len(parents), bool),
        Sides(Plane(1, 0.0), np.array(partners), True), cloth, 0.0, 80.0,
    )  # fmt: skip
    names = name_bones(bones, part)
    assert [name[:-2] + ".R" for name in names[1 : len(begins) + 1]] == names[len(begins) + 1 :]
    return names[1 : len(begins) + 1]


@pytest.mark.parametrize(
    ("part", "begins", "names"),
    [
        ("legs", [0, 0.42, 0.8], "thigh shin foot"),
        ("legs", [0, 0.4, 0.77, 0.9], "thigh shin foot toes"),
        ("legs", [0, 0.13, 0.39, 0.78], "thigh thigh.02 shin foot"),
        ("legs", [0, 0.55], "thigh shin"),
        ("legs", [0, 0.85], "thigh foot"),
        ("torso", [0, 0.43, 0.8], "upper_arm forearm hand"),
        ("torso", [0, 0.17, 0.52, 0.85], "shoulder upper_arm forearm hand"),
        ("torso", [0, 0.15, 0.3, 0.5, 0.8], "shoulder upper_arm upper_arm.02 forearm hand"),
        ("torso", [0, 0.4], "upper_arm forearm"),
        ("", [0, 0.4, 0.8], "thigh shin foot"),
        ("torso", list(np.linspace(0, 0.9, 9)), " ".join(f"bone.{n:02}" for n in range(1, 10))),
    ],
)
def test_bones_of_limbs_are_called_by_where_their_joints_are(part, begins, names):
    assert " ".join(name.removesuffix(".L") for name in chain_of(begins, part)) == names


def test_nothing_is_called_a_spine_where_no_legs_stand():
    unknown = ["bone.01.L", "bone.02.L", "bone.03.L"]
    assert chain_of([0, 0.4, 0.8], "", up=True) == chain_of([0, 0.4, 0.8], "", cloth=True) == unknown


def test_a_flag_has_no_legs():
    """Two corners of it hang down, and swing."""
    places, triangles = walker()
    flat = places * np.array([0.02, 1, 1], np.float32)
    assert any(name.startswith("thigh") for name in make_rig(places, triangles, [], RigSettings()).names)
    assert not any(name.startswith("thigh") for name in make_rig(flat, triangles, [], RigSettings()).names)


@given(st.integers(1, 12), st.integers(0, 2**32 - 1), st.booleans())
def test_partners_hang_on_partners(count, seed, alike):
    """Where both sides cost alike; and always all hang together."""
    rng = np.random.default_rng(seed)
    costs = rng.random((count, count))
    partners = np.where(rng.random(count) < 0.3, -1, np.arange(count))
    mixed = rng.permutation(count)[: 2 * rng.integers(0, count // 2 + 1)]
    partners[mixed[0::2]], partners[mixed[1::2]] = mixed[1::2], mixed[0::2]
    others = np.where(partners < 0, np.arange(count), partners)
    costs = costs + costs.T
    if alike:
        costs = costs + costs[np.ix_(others, others)]
    neighbours = mirrored_tree(costs, partners, int(rng.integers(count)))
    joined = {frozenset((bone, other)) for bone, own in enumerate(neighbours) for other in own}
    assert sum(map(len, neighbours)) == 2 * (count - 1) == 2 * len(joined)
    for one, two in map(tuple, joined if alike else ()):
        alone = (others[one] == one) != (others[two] == two)
        assert alone or frozenset((int(others[one]), int(others[two]))) in joined
    reached, waiting = {0}, [0]
    while waiting:
        new = set(neighbours[waiting.pop()]) - reached
        reached |= new
        waiting += new
    assert len(reached) == count


def test_of_a_pair_each_hangs_on_its_own_where_the_bones_above_are_none():
    """Thighs that nobody took for partners, and shins that are: both would hang on one thigh."""
    pelvis, left, right, left_shin, right_shin = range(5)
    costs = np.full((5, 5), 0.4)
    for one, two in ((pelvis, left), (pelvis, right), (left, left_shin), (right, right_shin)):
        costs[one, two] = costs[two, one] = 0.01
    neighbours = mirrored_tree(costs, np.array([pelvis, -1, -1, right_shin, left_shin]), pelvis)
    assert list(map(sorted, neighbours)) == [[1, 2], [0, 3], [0, 4], [1], [2]]


def test_what_has_come_off_hangs_on_what_it_follows():
    """Hair that lies beside a thigh moves as the head does."""
    rng = np.random.default_rng(8)
    poses = np.zeros((20, 4, 3, 4))
    poses[..., :3] = np.eye(3)
    for frame in range(20):
        for bone, axis in ((1, 0), (2, 2)):
            poses[frame, bone, :, :3] = turn(rng.normal(0, 0.5), axis)
    poses[:, 3] = poses[:, 1]
    rest = np.array([[0, 0, 0], [0, 0, 1], [0, 0.5, -1], [0, 0.4, -0.8]], float)
    parents = np.array([-1, 0, 0, 2])
    order = _hung_again(PointSkin(rest, np.eye(4), poses), parents, np.array([True, False, False, True]))
    assert (parents.tolist(), order) == ([-1, 0, 0, 1], [0, 1, 2, 3])
    kept = np.array([-1, 0, 0, 2])
    _hung_again(PointSkin(rest, np.eye(4), poses), kept, np.array([True, False, False, False]))
    assert kept.tolist() == [-1, 0, 0, 2]


@pytest.mark.parametrize(
    ("loads", "loose", "chain"),
    [([9, 5, 3, 1], [], [0, 2, 3]), ([9, 5, 3, 0.1], [], [0, 2]), ([9, 5, 3, 1], [2], [0, 1])],
    ids=["the deeper", "no scrap", "what holds"],
)
def test_limbs_go_on_with(loads, loose, chain):
    parents = np.array([-1, 0, 0, 2])
    torn = np.isin(np.arange(4), loose)
    none = np.zeros(4)
    sides = Sides(Plane(1, 0.0), np.arange(4), True)
    bones = Bones(
        parents, np.zeros((4, 3)), np.zeros((4, 3)), np.array(loads, float), none, torn, sides, False, 0.0, 1.0
    )
    assert bones.chain(0) == chain


@pytest.mark.parametrize("axis", [0, 1])
def test_flat_bodies_look_where_they_are_narrow(axis):
    """They are nearly their own mirror image both ways, and what they do with their arms and legs is not."""
    body = np.random.default_rng(4).normal(0, [0.05, 0.3, 0.5], (20, 60, 3))
    body = np.concatenate([body, body * [-1, 1, 1]], axis=1)
    assert mirror_axis(body if axis else body[..., [1, 0, 2]]) == axis


@pytest.mark.parametrize(("cuff", "bone"), [(0.3, "hand"), (0.05, "cuff")])
def test_a_weapon_hangs_on_the_hand_though_its_cuff_follows_it_a_little_better(cuff, bone):
    """`cuff`: how far that goes off, where the hand goes off by 0.32."""
    rng = np.random.default_rng(8)
    poses = np.zeros((30, 3, 3, 4))
    poses[..., :3] = np.eye(3)
    swing = rng.normal(0, 5, (30, 3))
    poses[:, 1, :, 3] = swing + cuff * rng.normal(0, 1, (30, 3))
    poses[:, 2, :, 3] = swing + 0.32 * rng.normal(0, 1, (30, 3))
    weights = np.eye(3)[[0, 0, 1, 2, 2, 2]]
    rig = FrameRig(
        ["root", "cuff", "hand"], np.array([-1, 0, 0]), np.zeros((3, 3)), np.ones((3, 3)), rng.normal(0, 5, (6, 3)),
        weights, np.arange(6), poses, 0, np.zeros(30, bool), np.zeros(0, np.int64), [""] * 3,
    )  # fmt: skip
    tag = Tag("tag_weapon", swing.astype("f4"), np.tile(np.eye(3, dtype="f4"), (30, 1, 1)))
    tagged = with_tags(rig, [tag])
    assert tagged.names[tagged.parents[3]] == bone


def test_a_cape_that_hangs_below_the_feet_takes_no_names():
    person = Person(0.0)
    stands = np.stack(person.stands["pelvis"])
    person.places[:, 0] = stands[:, :3, :3] @ [-4, 0, -12] + stands[:, :3, 3]
    assert parents_of(person.rig()) == WHOLE
