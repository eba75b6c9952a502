"""OpenGL commands: decoded as the renderers draw them, encoded again, and made from triangles."""

import itertools
import struct
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from io_idtech_models.formats.md2.strips import PARTNERS_EACH_WAY, Commands, _partners, decode, encode, make
from io_idtech_models.reporting import FormatError
from tests.samples import corpus, corpus_params

SIGNALLING_NAN = struct.unpack("<f", b"\x01\x00\x80\x7f")[0]
# A strip of five vertices, a fan of four, and a run that draws nothing.
LIST = [
    (5, [(0.5, 0.25, 3), (0.125, 1.5, 1), (2.5, 3.5, 4), (4.5, 5.5, 0), (6.5, 7.5, 5)]),
    (-4, [(0.75, 8.5, 2), (9.5, 10.5, 3), (-1.0, 11.5, 4), (12.5, -0.0, 5)]),
    (2, [(13.5, 14.5, 1), (15.5, 16.5, 0)]),
]


def packed(runs, end=b"\0\0\0\0"):
    """Return the words of runs (count, vertices) as a file has them."""
    data = b"".join(struct.pack("<i", count) + b"".join(struct.pack("<ffi", *v) for v in run) for count, run in runs)
    return np.frombuffer(data + end, "<i4")


def drawn(counts):
    """Return the triangles that OpenGL draws, as places of vertices: glBegin's definition, one by one."""
    triangles, start = [], 0
    for count in counts:
        for k in range(start, start + abs(count) - 2):
            if count < 0:
                triangles.append((start, k + 1, k + 2))
            else:
                triangles.append((k, k + 1, k + 2) if (k - start) % 2 == 0 else (k + 1, k, k + 2))
        start += abs(count)
    return triangles


def turned(triangle):
    """Return a triangle from its corner on that makes it least, so that equal windings are equal."""
    return min(triangle[k:] + triangle[:k] for k in range(3))


def multiset(corners):
    return Counter(turned(tuple(triangle)) for triangle in corners)


def check_made(triangles, st_ids):
    """Make commands, assert that they draw each triangle as often as it occurs; return vertices per triangle."""
    triangles, st_ids = np.array(triangles).reshape(-1, 3), np.array(st_ids).reshape(-1, 3)
    counts, corners = make(triangles, st_ids)
    assert counts.dtype == np.int32
    assert np.abs(counts).sum() == len(corners)
    wanted = [list(zip(*row, strict=True)) for row in zip(triangles.tolist(), st_ids.tolist(), strict=True)]
    used = list(zip(triangles.reshape(-1)[corners].tolist(), st_ids.reshape(-1)[corners].tolist(), strict=True))
    assert multiset([[used[place] for place in triangle] for triangle in drawn(counts.tolist())]) == multiset(wanted)
    return len(corners) / max(len(triangles), 1)


# -- a list of words


def test_decoding_by_hand():
    commands = decode(packed(LIST), 6)
    assert commands.counts.tolist() == [5, -4, 2]
    assert commands.vertices.tolist() == [3, 1, 4, 0, 5, 2, 3, 4, 5, 1, 0]
    assert commands.coords[[0, 4, 5, 10]].tolist() == [[0.5, 0.25], [6.5, 7.5], [0.75, 8.5], [15.5, 16.5]]
    assert [a.dtype.str for a in (commands.counts, commands.vertices, commands.coords)] == ["<i4", "<i4", "<f4"]
    assert commands.triangles().tolist() == [[0, 1, 2], [2, 1, 3], [2, 3, 4], [5, 6, 7], [5, 7, 8]]


def test_an_end_alone_is_no_commands():
    commands = decode(packed([]), 0)
    assert (commands.vertices.shape, commands.coords.shape, commands.triangles().shape) == ((0,), (0, 2), (0, 3))
    assert encode(commands).tolist() == [0]


@pytest.mark.parametrize("counts", [[], [3], [-3], [7, -6, 1, -2, 3, 8, -1, 4]])
def test_triangles_are_those_of_opengl(counts):
    size = sum(map(abs, counts))
    commands = Commands(np.array(counts, np.int32), np.zeros(size, np.int32), np.zeros((size, 2), np.float32))
    assert multiset(commands.triangles().tolist()) == multiset(drawn(counts))


def test_encoding_gives_the_same_bytes():
    odd = [(-3, [(SIGNALLING_NAN, float("inf"), 0), (-0.0, 1e-45, 5), (float("nan"), 3.0, 2)])]
    words = packed(LIST + odd)
    assert encode(decode(words, 6)).tobytes() == words.tobytes()
    assert encode(decode(words, 6)).dtype == np.int32


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (packed(LIST)[:-2], "OpenGL commands run past their end at word 29: expected 35 words, found 36"),
        (packed(LIST)[:-1], "OpenGL commands have no end at word 36: expected 37 words, found 36"),
        (packed([]) [:0], "OpenGL commands have no end at word 0: expected 1 words, found 0"),
        (packed(LIST, bytes(12)), "words after the end of the OpenGL commands at word 36: expected 37 words, found 39"),
        (packed([(2, [(0, 0, 5), (0, 0, 6)])]), "index at vertex 1 of the OpenGL commands: expected 0 to 5, found 6"),
        (packed([(1, [(0, 0, -1)])]), "index at vertex 0 of the OpenGL commands: expected 0 to 5, found -1"),
        (np.array([2**31 - 1, 0, 0, 0], np.int32), "past their end at word 0: expected 4 words, found 6442450942"),
        (np.array([-(2**31), 0, 0, 0], np.int32), "past their end at word 0: expected 4 words, found 6442450945"),
    ],
)  # fmt: skip
def test_damaged_lists(words, message):
    with pytest.raises(FormatError) as caught:
        decode(words, 6)
    assert message in str(caught.value)


@given(st.lists(st.integers(-3, 9), max_size=60), st.integers(0, 3))
def test_any_words_decode_or_are_refused(values, num_xyz):
    words = np.array(values, np.int32)
    try:
        commands = decode(words, num_xyz)
    except FormatError:
        return
    np.testing.assert_array_equal(encode(commands), words)


# -- made from triangles


def grid(size, diagonal):
    """Return the triangles of size x size squares; `diagonal(x, y)` says which way each is cut."""
    triangles = []
    for y in range(size):
        for x in range(size):
            a, b = y * (size + 1) + x, (y + 1) * (size + 1) + x
            cut = [(a, a + 1, b + 1), (a, b + 1, b)] if diagonal(x, y) else [(a, a + 1, b), (a + 1, b + 1, b)]
            triangles += cut
    return np.array(triangles)


def counts_of(triangles, st_ids=None):
    """Return the counts of commands made from triangles, checked."""
    check_made(triangles, triangles if st_ids is None else st_ids)
    return make(np.array(triangles), np.array(triangles if st_ids is None else st_ids))[0].tolist()


def test_one_triangle_keeps_its_corners():
    counts, corners = make(np.array([[7, 3, 5]]), np.array([[2, 1, 0]]))
    assert (counts.tolist(), corners.tolist()) == ([3], [0, 1, 2])


@pytest.mark.parametrize(
    ("triangles", "counts"),
    [
        ([(0, 1, 2), (2, 1, 3)], [4]),
        ([(0, 1, 2), (2, 1, 3), (2, 3, 4), (4, 3, 5)], [6]),
        ([(2, 1, 0), (3, 1, 2), (4, 3, 2)], [5]),  # as a strip it begins at 4
        ([(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 5)], [-6]),
        ([(2, 1, 0), (3, 2, 0), (4, 3, 0), (5, 4, 0)], [-6]),
        ([(0, k + 1, (k + 1) % 6 + 1) for k in range(6)], [-8]),  # all round
        ([(0, 1, 2), (3, 4, 5)], [3, 3]),
        ([(0, 1, 2), (1, 2, 3)], [3, 3]),  # wound against one another
        ([(0, 1, 2)] * 3, [3, 3, 3]),
        ([(0, 1, 2), (2, 1, 0)], [4]),  # both sides
        ([(4, 4, 4)], [3]),
        ([(0, 1, 1), (1, 1, 2)], [4]),
        ([(0, 1, 2), (1, 0, 3), (1, 0, 4), (0, 1, 5)], [4, 4]),  # four on an edge
    ],
)  # fmt: skip
def test_small_shapes(triangles, counts):
    assert counts_of(triangles) == counts


def test_an_even_strip_of_the_wrong_hand_is_cut():
    # Read from either end the first triangle of this one would be wound the wrong way round.
    triangles = [(2, 1, 0), (3, 1, 2), (4, 3, 2), (5, 3, 4)]
    assert len(counts_of(triangles)) == 2
    assert len(counts_of(triangles[1:])) == len(counts_of(triangles[:-1])) == 1


def test_a_seam_is_not_crossed():
    triangles = [(0, 1, 2), (2, 1, 3)]
    assert counts_of(triangles, [(0, 1, 2), (2, 1, 3)]) == [4]
    assert counts_of(triangles, [(0, 1, 2), (2, 4, 3)]) == [3, 3]
    assert counts_of(triangles, [(0, 0, 0), (0, 0, 0)]) == [4]


@pytest.mark.parametrize("dtype", [np.int16, np.uint16, np.int32])
def test_types_of_files_do_not_overflow(dtype):
    most = np.iinfo(np.int16).max if dtype == np.int16 else 65535
    # In 16 bits, vertex * (most + 1) + id would be equal for corners that are not.
    triangles = np.array([(0, 1, 2), (3, 4, 5), (4, 6, 5)], dtype)
    st_ids = np.array([(0, 1, 2), (0, 1, 2), (1, most, 2)], dtype)
    check_made(triangles, st_ids)
    assert sorted(make(triangles, st_ids)[0].tolist()) == [3, 4]
    assert sorted(make(most - triangles, st_ids)[0].tolist()) == [3, 4]


def test_small_types_do_not_overflow_in_any_numpy():
    # 257 * 256 and 1 * 256 are equal in 16 bits, and so would be the edges of these two.
    triangles, st_ids = np.array([(0, 1, 2), (2, 257, 3)], np.int16), np.array([(0, 0, 0), (0, 0, 255)], np.int16)
    assert make(triangles[:, ::-1], st_ids[:, ::-1])[0].tolist() == [3, 3]
    assert make(triangles, st_ids)[0].tolist() == [3, 3]


def test_long_shapes_are_one_run():
    strip = [(k, k + 1, k + 2) if k % 2 == 0 else (k + 1, k, k + 2) for k in range(1001)]
    assert counts_of(strip) == [1003]
    assert counts_of([(0, k + 1, k + 2) for k in range(1001)]) == [-1003]


def test_regular_and_irregular_surfaces():
    regular, mixed = grid(24, lambda x, y: True), grid(24, lambda x, y: (x * 7 + y * 5 + x * y) % 3 == 0)
    assert check_made(regular, regular) <= 1.05
    assert check_made(mixed, mixed) <= 1.25


def test_many_faces_on_every_edge():
    everything = list(itertools.permutations(range(11), 3))
    assert check_made(everything, everything) <= 1.04


def test_trading_faces_pays_off(monkeypatch):
    surface = grid(24, lambda x, y: (x * 7 + y * 5 + x * y) % 3 == 0)
    traded = check_made(surface, surface)
    monkeypatch.setattr("io_idtech_models.formats.md2.strips.WORK_PER_FACE", 0)
    assert check_made(surface, surface) > traded + 0.02


def test_the_same_triangles_give_the_same_commands():
    surface = grid(12, lambda x, y: (x + y) % 3 == 0)
    first, second = make(surface, surface), make(surface.copy(), surface.copy())
    np.testing.assert_array_equal(first[0], second[0])
    np.testing.assert_array_equal(first[1], second[1])


@pytest.mark.parametrize("triangles", [
    [(0, 1, k + 2) if k % 2 else (1, 0, k + 2) for k in range(600)],
    [(0, 1, 2) if k % 2 else (2, 1, 0) for k in range(600)],
    [(0, 0, 0)] * 600,
])  # fmt: skip
def test_an_edge_of_many_faces_does_not_make_the_search_quadratic(triangles):
    partners = _partners([corner for triangle in triangles for corner in triangle])
    assert max(map(len, partners)) <= 2 * PARTNERS_EACH_WAY + 1
    # Each pair is joined across the edge at least: its partners are near enough for all of them to find one.
    assert check_made(triangles, triangles) <= 2.1


corner_numbers = st.tuples(*[st.integers(0, 6)] * 3)


@given(st.lists(st.tuples(corner_numbers, st.tuples(*[st.integers(0, 1)] * 3)), max_size=40))
def test_any_triangles_are_drawn_once(faces):
    check_made([vertices for vertices, _ in faces], [ids for _, ids in faces])


@given(st.integers(1, 7), st.randoms(use_true_random=False), st.floats(0, 0.4))
def test_any_surface_is_drawn_once(size, random, seams):
    triangles = [turn[k:] + turn[:k] for turn in grid(size, lambda x, y: random.random() < 0.5).tolist()
                 for k in [random.randrange(3)]]  # fmt: skip
    random.shuffle(triangles)
    st_ids = [[corner if random.random() > seams else corner + 1000 for corner in face] for face in triangles]
    check_made(triangles, st_ids)


# -- real files


class Md2:
    """What these tests need of a file."""

    def __init__(self, data):
        header = struct.unpack_from("<17i", data)
        self.num_xyz, num_st, num_tris, num_glcmds = header[6:10]
        ofs_st, ofs_tris, _, ofs_glcmds = header[12:16]
        self.size = np.array(header[2:4])
        self.st = np.array([struct.unpack_from("<2h", data, ofs_st + 4 * i) for i in range(num_st)]).reshape(-1, 2)
        rows = np.array([struct.unpack_from("<6h", data, ofs_tris + 12 * i) for i in range(num_tris)], int)
        self.triangles, self.st_numbers = rows.reshape(-1, 2, 3)[:, 0], rows.reshape(-1, 2, 3)[:, 1]
        self.words = np.frombuffer(data, "<i4", num_glcmds, ofs_glcmds)

    def st_ids(self):
        """Return numbers of texture coordinates that are equal where the texels are, shape (T, 3)."""
        if not len(self.triangles):
            return self.st_numbers
        return np.unique(self.st, axis=0, return_inverse=True)[1].reshape(-1)[self.st_numbers]


# Their lists of commands have no 0 at the end: a header that lacks ofs_end, and a model without commands.
NO_END = {"cube.md2", "malformed_zero_numvertices.md2"}


@pytest.mark.parametrize("file", corpus_params(".md2"))
def test_real_commands_draw_the_triangles_of_their_file(file):
    md2 = Md2(file.data)
    if file.path.name in NO_END:
        with pytest.raises(FormatError, match="OpenGL commands have no end"):
            decode(md2.words, md2.num_xyz)
        return
    commands = decode(md2.words, md2.num_xyz)
    assert encode(commands).tobytes() == md2.words.tobytes()
    assert multiset(commands.vertices[commands.triangles()].tolist()) == multiset(md2.triangles.tolist())


@pytest.mark.parametrize("file", corpus_params(".md2"))
def test_made_commands_draw_the_triangles_of_real_files(file):
    md2 = Md2(file.data)
    if file.path.name not in NO_END:
        check_made(md2.triangles, md2.st_ids())


def test_vertices_per_triangle_over_real_files():
    if not corpus(".md2"):
        pytest.skip("the corpus of real files is not here")
    models = [Md2(file.data) for file in corpus(".md2") if file.path.name not in NO_END]
    vertices = sum(len(make(md2.triangles, md2.st_ids())[1]) for md2 in models)
    assert vertices / sum(len(md2.triangles) for md2 in models) <= 1.39
