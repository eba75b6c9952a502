"""Named animations: which frames belong together by their names, and which names frames get."""

import struct

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from io_idtech_models.model.clips import FRAME_NAME_BYTES, Clip, group, numbered
from tests.samples import corpus_params


def counts(frame_names):
    return [(a.name, a.count) for a in group(frame_names)]


def run(name, first, last, digits=1):
    return [f"{name}{i:0{digits}d}" for i in range(first, last + 1)]


# Names of id's player models, m_player.h: 198 frames.
PLAYER = [
    *run("stand", 1, 40, 2), *run("run", 1, 6), *run("attack", 1, 8), *run("pain", 101, 104), *run("pain", 201, 204),
    *run("pain", 301, 304), *run("jump", 1, 6), *run("flip", 1, 12, 2), *run("salute", 1, 11, 2),
    *run("taunt", 1, 17, 2), *run("wave", 1, 11, 2), *run("point", 1, 12, 2), *run("crstnd", 1, 19, 2),
    *run("crwalk", 1, 6), *run("crattak", 1, 9), *run("crpain", 1, 4), *run("crdeath", 1, 5), *run("death", 101, 106),
    *run("death", 201, 206), *run("death", 301, 308),
]  # fmt: skip
PLAYER_RANGES = [
    ("stand", 0, 39), ("run", 40, 45), ("attack", 46, 53), ("pain1", 54, 57), ("pain2", 58, 61), ("pain3", 62, 65),
    ("jump", 66, 71), ("flip", 72, 83), ("salute", 84, 94), ("taunt", 95, 111), ("wave", 112, 122),
    ("point", 123, 134), ("crstnd", 135, 153), ("crwalk", 154, 159), ("crattak", 160, 168), ("crpain", 169, 172),
    ("crdeath", 173, 177), ("death1", 178, 183), ("death2", 184, 189), ("death3", 190, 197),
]  # fmt: skip


def test_the_player_of_quake_2():
    assert len(PLAYER) == 198
    assert [(a.name, a.first, a.first + a.count - 1) for a in group(PLAYER)] == PLAYER_RANGES


@pytest.mark.parametrize(
    ("frame_names", "wanted"),
    [
        ([], []),
        (run("frame", 0, 197, 3), [("frame", 198)]),
        (run("frame", 0, 197), [("frame", 198)]),
        (run("stand", 1, 120, 2), [("stand", 120)]),
        (run("idle", 101, 124) + run("idle", 201, 220), [("idle1", 24), ("idle2", 20)]),
        (run("attack", 1, 8) + run("attack", 101, 108), [("attack", 8), ("attack1", 8)]),
        (run("pain", 1001, 1120), [("pain1", 120)]),
        (["pain", *run("pain", 101, 104)], [("pain", 1), ("pain1", 4)]),
        (run("f", 98, 99, 3) + run("f", 101, 102, 3), [("f", 4)]),
        ([*run("f", 97, 103), "f150", "f250"], [("f", 9)]),
        (["idle", "idle", "walk", "idle"], [("idle", 2), ("walk", 1), ("idle", 1)]),
        (["stand", "stand1", "stand2"], [("stand", 3)]),
        (["stand1", "stand"], [("stand", 1), ("stand", 1)]),
        (["run1", "run3", "run6", "run6", "run10"], [("run", 5)]),
        (run("run", 1, 6) + run("run", 1, 6), [("run", 6), ("run", 6)]),
        (["run3", "run2", "run1"], [("run", 1)] * 3),
        (["Run01", "run02", "RUN03", "run04"], [("run", 4)]),
        (["Run01", "run02"], [("Run", 2)]),
        (["", "", ""], [("", 3)]),
        (["", "stand1"], [("", 1), ("stand", 1)]),
        (["01", "02"], [("", 2)]),
        (["run_01", "run.02", "run 03", "run-04", "run05"], [("run", 5)]),
        (["run_101", "run_102", "run_205"], [("run", 3)]),
        (["f", "f001", "f150"], [("f", 3)]),
        (["f098", "f250"], [("f", 2)]),
        (["_1", "_2"], [("_", 2)]),
        (["-", "-"], [("-", 2)]),
        (["pain1_01", "pain1_02"], [("pain1", 2)]),
        (["0123456789abcdef"] * 2, [("0123456789abcdef", 2)]),
        (["abcdefghijklmn10", "abcdefghijklmn11"], [("abcdefghijklmn", 2)]),
        (["(from 3DSMax)"] * 3, [("(from 3DSMax)", 3)]),
        (["stand01 ", "stand02\t"], [("stand", 2)]),
        (["1" * 40, "1" * 39 + "2"], [("1" * 38, 2)]),
        (["a" * 9 + "01", "a" * 9 + "02"], [("a" * 9, 2)]),
        (["a1", "a2", "a10", "a99", "a100"], [("a", 5)]),
    ],
)  # fmt: skip
def test_names_and_counts(frame_names, wanted):
    assert counts(frame_names) == wanted


@pytest.mark.parametrize(
    ("frame_names", "wanted"),
    [
        (["crstnd01", "crstnd02", "crtstnd03", "crstnd04"], [("crstnd", 4)]),
        (["crstnd01", "crtstnd02", "crtstnd03"], [("crtstnd", 3)]),
        (["crstnd01", "crtstnd02"], [("crstnd", 2)]),
        (["stand1", "satnd2", "stant3", "stnd4", "stand5"], [("stand", 5)]),
        (["pain301", "pain302", "pain03", "pain04"], [("pain3", 4)]),
        (["pain104", "pain205"], [("pain1", 1), ("pain2", 1)]),
        (["crstnd01", "crtstnd03"], [("crstnd", 1), ("crtstnd", 1)]),
        (["crstnd01", "crtstnd01"], [("crstnd", 1), ("crtstnd", 1)]),
        (["run1", "ran2"], [("run", 1), ("ran", 1)]),
        (["walk1", "wak2"], [("walk", 1), ("wak", 1)]),
        (["stand1", "standd2", "stanndd3"], [("stand", 3)]),
        (["stand", "stnd0"], [("stand", 1), ("stnd", 1)]),
        (["stand1", "stuck2"], [("stand", 1), ("stuck", 1)]),
    ],
)
def test_misspellings(frame_names, wanted):
    assert counts(frame_names) == wanted


@pytest.mark.parametrize(
    ("name", "count", "first", "last"),
    [
        ("stand", 40, "stand01", "stand40"),
        ("stand", 120, "stand01", "stand120"),
        ("pain1", 4, "pain101", "pain104"),
        ("pain1", 120, "pain1001", "pain1120"),
        ("pain10", 4, "pain1001", "pain1004"),
        ("door0", 3, "door0_01", "door0_03"),
        ("door0", 120, "door0_01", "door0_120"),
        ("", 3, "01", "03"),
        ("a very long name of an animation", 12, "a very long n01", "a very long n12"),
        ("a very long name of an animation", 100, "a very long_01", "a very long_100"),
        ("läufer läufer läufer", 2, "läufer läuf01", "läufer läuf02"),
        ("läuferlaufläuf", 2, "läuferlaufl01", "läuferlaufl02"),
    ],
)
def test_numbers(name, count, first, last):
    made = numbered(name, count)
    assert (made[0], made[-1], len(made)) == (first, last, count)
    assert max(len(frame.encode()) for frame in made) <= FRAME_NAME_BYTES
    base = first.removesuffix("01").removesuffix("_").removesuffix("0" if count > 99 and name == "pain1" else "")
    assert group(made) == [Clip(base.rstrip(), 0, count)]


def test_no_frames_have_no_numbers():
    assert numbered("run", 0) == []


names = st.text(st.characters(min_codepoint=32, max_codepoint=0x17F), max_size=12)
letters = st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=8)
frame_lists = st.lists(
    names | st.builds(lambda n, i: f"{n}{i}", st.sampled_from(["a", "walk", "wlak", "pain1"]), st.integers(0, 300))
)


@given(frame_lists)
@example(["\n1", "\n2", "1\n"])
def test_every_frame_belongs_to_one_animation(frame_names):
    found = group(frame_names)
    assert [a.first for a in found] == [sum(b.count for b in found[:i]) for i in range(len(found))]
    assert sum(a.count for a in found) == len(frame_names)
    assert all(a.count > 0 for a in found)
    for a in found:
        assert any(name.startswith(a.name) for name in frame_names[a.first : a.first + a.count])


@given(
    st.lists(st.tuples(letters | letters.map(lambda n: n + "1"), st.integers(1, 98)), unique_by=lambda pair: pair[0])
)
def test_numbered_animations_come_back(animations):
    frame_names = [frame for name, count in animations for frame in numbered(name, count)]
    assert counts(frame_names) == animations


@given(names.filter(lambda name: not name or name == name.rstrip("_.- \t") == name.rstrip()), st.integers(1, 1200))
def test_one_animation_comes_back(name, count):
    assert group(numbered(name, count, size=40)) == [Clip(name, 0, count)]


@pytest.mark.parametrize(
    "name_of",
    [
        lambda i: f"frame{i}",
        lambda i: "9" * 16,
        lambda i: str(10**14 + i),
        lambda i: "1" * (i % 16),
        lambda i: f"walk{'xyz'[i % 3]}{i:04d}",
        lambda i: f"crstnd{i % 7:03d}",
        lambda i: "a" * 15 + str(i % 10),
    ],
)
def test_grouping_takes_no_time_for_hostile_names(name_of):
    frame_names = [name_of(i) for i in range(10_000)]
    group(frame_names)  # a quadratic search would take minutes


def frame_names_of(data):
    header = struct.unpack_from("<17i", data)
    size, count, first = header[4], header[10], header[14]
    raw = [data[first + i * size + 24 : first + i * size + 40] for i in range(count)]
    return [name.split(b"\0")[0].decode("latin-1") for name in raw]


@pytest.mark.parametrize("file", corpus_params(".md2"))
def test_real_files(file):
    found = group(frame_names_of(file.data))
    # By eye: none of them has more than the player's 20 animations, or two of one name.
    assert len({a.name.lower() for a in found}) == len(found) <= 20
    assert not any(a.name[-1:] in "_.- " and a.name for a in found)
    if len(found) == 20:
        wanted = [(name, last - first + 1) for name, first, last in PLAYER_RANGES]
        assert [(a.name.replace("crtstnd", "crstnd"), a.count) for a in found] == wanted
