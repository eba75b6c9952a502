"""OpenGL commands of MD2 models: kept, and made anew where triangles or texels changed."""

import warnings
from collections import Counter

import numpy as np
import pytest

from io_idtech_models.formats.md2 import file as md2
from io_idtech_models.formats.md2.strips import decode
from tests import samples_md2
from tests.facts import differences
from tests.formats.md2.edited import edit, move, opened, packed, shift
from tests.samples import corpus_params, dump, load, sample_params
from tests.small_files import SAMPLES

# -- OpenGL commands


def drawn(file):
    """Return how often each triangle is drawn: its vertices and the texels there, from its least corner on."""
    commands = decode(file.glcmds, file.vertices.shape[1])
    size = (int(file.header["skin_width"]), int(file.header["skin_height"]))
    texels = [texel_of(uv, size) for uv in commands.coords.tolist()]
    corners = [(vertex, texel) for vertex, texel in zip(commands.vertices.tolist(), texels, strict=True)]
    return Counter(turned([corners[i] for i in row]) for row in commands.triangles().tolist())


def texel_of(uv, size):
    """Return the texel that coordinates lie in; those of its edge count to it."""
    return tuple(int(np.floor(c * n + 1e-3)) for c, n in zip(uv, size, strict=True))


def turned(corners):
    return min(tuple(corners[k:] + corners[:k]) for k in range(3))


def listed(file):
    """Return how often each triangle is in the file's own list, as `drawn` does."""
    texels = [tuple(t) for t in file.st.tolist()]
    rows = zip(file.triangles["xyz"].tolist(), file.triangles["st"].tolist(), strict=True)
    return Counter(turned([(v, texels[s]) for v, s in zip(xyz, st, strict=True)]) for xyz, st in rows)


PLAIN = [sample_params(name, format_name="md2")[0] for name in SAMPLES["md2"] if name not in {"beyond", "no_size"}]


@pytest.mark.parametrize("data", PLAIN)
def test_remade_commands_draw_the_triangles_of_the_list(data):
    again = dump(load(data), remake_commands=True)
    assert differences(data, again) <= {"commands"}
    file = md2.read(again)
    assert drawn(file) == listed(file)


def test_damaged_commands_are_kept_until_something_changes():
    data = packed("damaged_commands")
    assert md2.read(dump(opened("damaged_commands"))).glcmds.tobytes() == md2.read(data).glcmds.tobytes()
    model = opened("damaged_commands")
    model.surfaces[0].uvs[0, 0] += 0.25
    file = md2.read(dump(model))
    assert drawn(file) == listed(file)


@pytest.mark.parametrize("name", ["no_commands", "animated", "fine_commands", "damaged_commands"])
def test_moving_vertices_and_renaming_skins_keeps_the_commands(name):
    def change(model):
        move(1, 4, 3, 4, -9)(model)
        model.surfaces[0].shaders[0] = "models/other.pcx"
        model.frame_names[0] = "jump01"

    assert "commands" not in edit(name, change)


def coords(file):
    """Return the coordinates of the commands by vertex and texel: a set of pairs each."""
    commands = decode(file.glcmds, file.vertices.shape[1])
    return {(v, *uv) for v, uv in zip(commands.vertices.tolist(), commands.coords.tolist(), strict=True)}


@pytest.mark.parametrize(("texels", "is_kept"), [(0.25, True), (1.75, True), (2.25, False)])
def test_remade_commands_have_the_sources_own_coordinates_within_two_texels(texels, is_kept):
    """The sample's are at the texels' corners, one a quarter beside it."""
    spec = samples_md2.fine_commands()
    width, s = spec.size[0], spec.st[4][0]
    old, new = (s + 0.25) / width, (s + texels) / width
    assert spec.runs is not None
    spec.runs = [(n, [(new if u == old else u, v, vertex) for u, v, vertex in rows]) for n, rows in spec.runs]
    before = md2.read(spec.pack())
    assert (coords(before) != coords(md2.read(packed("fine_commands")))) == (texels != 0.25)
    assert (coords(md2.read(dump(load(spec.pack()), remake_commands=True))) == coords(before)) == is_kept


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_remade_commands_take_no_coordinates_of_a_source_that_has_one_which_is_no_number(value):
    spec = samples_md2.fine_commands()
    before = coords(md2.read(dump(load(spec.pack()), remake_commands=True)))
    runs = [(n, [(u, v, vertex) for u, v, vertex in rows]) for n, rows in spec.runs or []]
    runs[0][1][0] = (value, *runs[0][1][0][1:])
    spec.runs = runs
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = coords(md2.read(dump(load(spec.pack()), remake_commands=True)))
    assert np.isfinite(list(made)).all() and made != before


@pytest.mark.parametrize(("name", "middle"), [("fine_commands", 0.0), ("animated", 0.5), ("no_commands", 0.5)])
def test_new_coordinates_name_texels_as_most_of_the_sources_do(name, middle):
    model = opened(name)
    shift(1, 5, -3)(model)
    file = md2.read(dump(model))
    (s, t), width, height = file.st[1].tolist(), 64, 32
    wanted = (np.float32((s + middle) / width), np.float32((t + middle) / height))
    assert {(2, *wanted)} == {row for row in coords(file) if row[0] == 2}


def test_another_skin_size_alone_changes_the_commands():
    spec = samples_md2.minimal()
    spec.st = [(0, 0), (3, 1), (1, 5)]
    data = spec.pack()
    again = dump(load(data), skin_width=49)
    assert differences(data, again) == {"skin_width", "commands"}, "small texels stay the same"
    assert {round(s * 49 - 0.5, 3) for _, s, _ in coords(md2.read(again))} == {0, 3, 1}


@pytest.mark.parametrize("name", ["no_size", "beyond"])
def test_commands_can_be_made_of_odd_texture_coordinates(name):
    file = md2.read(dump(opened(name), remake_commands=True))
    commands = decode(file.glcmds, 6)
    shown = Counter(turned(row) for row in commands.vertices[commands.triangles()].tolist())
    assert shown == Counter(turned(row) for row in file.triangles["xyz"].tolist())
    assert np.isfinite(commands.coords).all()


def drawn_exactly(file):
    """Return how often each triangle is drawn: its vertices and the coordinates there."""
    commands = decode(file.glcmds, file.vertices.shape[1])
    corners = [(v, tuple(uv)) for v, uv in zip(commands.vertices.tolist(), commands.coords.tolist(), strict=True)]
    return Counter(turned([corners[i] for i in row]) for row in commands.triangles().tolist())


@pytest.mark.parametrize("file", corpus_params(".md2"))
def test_remade_commands_of_real_files(file):
    data = file.data
    again = dump(load(data), remake_commands=True)
    assert differences(data, again) <= {"commands"}
    before, after = md2.read(data), md2.read(again)
    if not len(before.triangles):
        return  # models of nothing, whose commands may have no end
    assert coords(after) <= coords(before)
    old, new = drawn_exactly(before), drawn_exactly(after)
    # Two models have several pairs of coordinates for one vertex and texel: there another of them is drawn.
    gone, come = (sorted((a - b).elements()) for a, b in ((old, new), (new, old)))
    assert len(gone) <= 0.08 * len(before.triangles)
    size = np.array((before.header["skin_width"], before.header["skin_height"]))
    for one, other in zip(gone, come, strict=True):
        assert [v for v, _ in one] == [v for v, _ in other]
        assert (np.abs(np.subtract([uv for _, uv in one], [uv for _, uv in other])) * size).max() < 1
