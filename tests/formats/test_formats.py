"""What holds for vertex-animated models of every format: their sources, broken files, frames that come and go."""

import itertools
import re
from typing import Any

import numpy as np
import pytest

from io_idtech_models.formats import by_name
from io_idtech_models.reporting import FormatError
from tests.facts import differences, facts, moved_frames
from tests.samples import arrays_of, corpus, corpus_params, dump, format_of, load, loose_bytes, sample, sample_params

everything = pytest.mark.parametrize("data", sample_params())
# Samples that have three frames or more.
LONG = sample_params(
    "animated", "odd_layout", "zero_end", "tags_only", "odd_names", "unused", "repeated_names", "padded_frames",
    "beyond", "flat", "mirrored", "odd_numbers", "degenerate", "no_triangles",
)  # fmt: skip


# -- F1: the same bytes


def test_all_real_files_were_read():
    if not corpus():
        pytest.skip("the corpus of real files is not here")
    assert {s: len(corpus(s)) for s in (".md2", ".md3")} == {".md2": 15, ".md3": 39}
    assert {s: len(corpus(s, valid=False)) for s in (".md2", ".md3")} == {".md2": 2, ".md3": 1}
    assert {s: sum(bool(file.expected()) for file in corpus(s)) for s in (".md2", ".md3")} == {".md2": 10, ".md3": 29}


@pytest.mark.parametrize("file", corpus_params())
def test_real_files_hold_what_the_manifest_says(file):
    model, entry = load(file.data), file.entry
    counts = {"frames": model.num_frames, "tags": len(model.tags), "surfaces": len(model.surfaces)}
    counts["verts"] = sum(surface.num_vertices for surface in model.surfaces)
    assert {name: entry[name] for name in counts if name in entry} == {n: counts[n] for n in counts if n in entry}


@pytest.mark.parametrize("file", corpus_params())
def test_real_files_show_what_the_engine_computes(file):
    model = load(file.data)
    is_mdc = model.source.format == "mdc"
    for key, wanted in file.expected().items():
        place = {kind: int(number) for kind, number in re.findall(r"(frame|surface|tag)(\d+)", key)}
        surface: Any = model.surfaces[place.get("surface", 0)] if model.surfaces else None
        what = key.rpartition(".")[2]
        if what == "corner_texcoords":
            found = surface.corner_uvs[:, ::-1] * [1, -1] + [0, 1]
        elif "tag" in place:
            found = getattr(model.tags[place["tag"]], {"origin": "origins", "axis": "axes"}[what])[
                place.get("frame", 0)
            ]
        else:
            found = getattr(surface, what)[place["frame"]]
        near = 2e-5 if is_mdc else 0 if what == "positions" else 1e-6
        np.testing.assert_allclose(found, wanted, rtol=0, atol=near, err_msg=key)


@everything
def test_models_share_nothing_with_their_source(data):
    model = load(data)
    for surface in model.surfaces:
        for array in (surface.positions, surface.triangles, surface.uvs, surface.normals):
            array[...] = 0
    for tag in model.tags:
        tag.origins[...] = tag.axes[...] = 0
    fresh = load(data)
    assert model.source is not None
    for one, other in zip(model.source.surfaces, fresh.source.surfaces, strict=True):
        arrays = arrays_of(other)
        assert {"triangles", "uvs", "scale"} < arrays.keys()
        for name, wanted in arrays.items():
            assert getattr(one, name).tobytes() == wanted.tobytes(), name


@everything
def test_texture_coordinates_belong_to_corners_where_vertices_need_no_copies_for_them(data):
    wanted = 2 if format_of(data).vertex.uv_splits_vertices else 3
    assert {surface.uvs.ndim for surface in load(data).surfaces} <= {wanted}


@pytest.mark.parametrize(
    ("name", "called", "least"), [("md3", "seamed_cube", 0.999), ("md2", "seams", 0), ("mdl", "seams", 0)]
)
def test_normals_point_out_of_the_faces(name, called, least):
    surface = load(sample(called, name)).surfaces[0]
    a, b, c = (surface.positions[0][surface.triangles[:, i]] for i in range(3))
    faces = np.cross(b - a, c - a)
    faces /= np.linalg.norm(faces, axis=1)[:, None]
    assert np.einsum("ti,tci->tc", faces, surface.normals[0][surface.triangles]).min() > least


# What only the source's facts say: names that are cut, an MDL's vertices on seams, and texels beyond single precision.
ONLY_KEPT = ("odd_names", "mdl-seams", "mdl-odd_seams", "mdl-far_texels")


@pytest.mark.parametrize("data", [p for p in sample_params() if not str(p.id).endswith(ONLY_KEPT)])
def test_a_model_without_its_source_is_written_anew(data):
    model = load(data)
    model.source = None
    row = format_of(data)
    fresh = row.dump(model)
    again = load(fresh)
    assert again.num_frames == model.num_frames
    assert [len(s.triangles) for s in again.surfaces] == [len(s.triangles) for s in model.surfaces]
    assert [s.num_vertices for s in again.surfaces] == [s.num_vertices for s in model.surfaces]
    assert loose_bytes(fresh) == (b"", b"")
    assert dump(again) == fresh


# -- broken files


def check_damaged(data):
    """Assert that a file gives a FormatError, or a model that comes back with every field as it was."""
    try:
        model = load(data)
    except FormatError:
        return
    assert differences(data, dump(model)) == set()


@pytest.mark.parametrize("data", sample_params("minimal", "short_header", "tags_only", "no_vertices"))
def test_each_flipped_byte_gives_a_model_or_a_format_error(data):
    for place in range(len(data)):
        broken = bytearray(data)
        broken[place] ^= 0xFF
        check_damaged(bytes(broken))


# -- sources from a stranger


def damaged(array):
    """Return what a stranger may put where a fact should be."""
    yield None
    for dtype, value in (("f8", np.nan), ("f4", np.inf), ("i8", 2**63 - 1), ("i8", -(2**63)), ("u1", 255), ("i4", 4)):
        yield np.full(array.shape, value, dtype)
        yield np.full((3, *array.shape[1:]), value, dtype)
    yield np.full(array.shape, 255).astype(array.dtype)
    yield np.zeros(array.shape, array.dtype)
    yield from (array[:-1], array.reshape(-1), np.zeros((), "i4"))
    if array.dtype.kind in "iu":
        yield from (-array - 1, array[::-1], array * 0 + 1)
    if array.dtype == np.int64 and array.ndim == 2:
        yield from (array * (1, 2**40) + (0, 2**31), array * (1, 0) - (0, 2**31 + 9))


def fact_owners(model):
    return [model.source.facts, *(surface.facts for surface in model.source.surfaces)]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("format_name", ["mdl", "md2", "md3", "mdc", "tag"])
def test_no_damaged_fact_breaks_an_export(format_name):
    """Each damage of each fact is tried on one of the samples that have it, and the next on the next."""
    names = ("animated", "odd_layout", "tags_only", "short_surface", "empty_surface", "beyond", "no_skins", "vehicle")
    load = by_name(format_name).load
    places: dict[Any, Any] = {}
    for param in sample_params(*names, format_name=format_name):
        for index, own in enumerate(fact_owners(load(param.values[0], "x"))):
            for key, nth in ((key, nth) for key, array in own.items() for nth, _ in enumerate(damaged(array))):
                places.setdefault((index > 0, key, nth), []).append((*param.values, index))
    for turn, ((_, key, nth), those) in enumerate(places.items()):
        data, index = those[turn % len(those)]
        original, model = load(data, "x"), load(data, "x")
        target = fact_owners(model)[index]
        value = next(itertools.islice(damaged(target.pop(key)), nth, None))
        if value is not None:
            target[key] = value
        again = load(dump(model), "x")
        for one, other in zip(again.surfaces, original.surfaces, strict=True):
            assert one.triangles.tobytes() == other.triangles.tobytes(), (key, value)
            off = 0.0 if format_name == "md3" else 0.3  # half a step of a box made anew
            np.testing.assert_allclose(one.positions, other.positions, rtol=0, atol=off, err_msg=key)


@pytest.mark.parametrize("format_name", ["md3", "mdc", "tag"])
def test_a_part_that_came_alone_has_no_layout(format_name, caplog):
    data = sample("vehicle" if format_name == "tag" else "animated", format_name)
    model = by_name(format_name).load(data, "x")
    model.source.facts = {name: own for name, own in model.source.facts.items() if not name.startswith("layout_")}
    again = by_name(format_name).load(dump(model), "x")
    assert [tag.name for tag in again.tags] == [tag.name for tag in model.tags]
    assert [record.getMessage() for record in caplog.records] == (
        [] if format_name == "tag" else ["'x' is a part of its model: bounds are made anew"]
    )


@pytest.mark.parametrize("format_name", ["mdl", "md2", "md3"])
def test_codes_of_another_kind_are_no_hint(format_name, caplog):
    model, original = (load(sample("animated", format_name)) for _ in range(2))
    for surface, own in zip(model.surfaces, model.source.surfaces, strict=True):
        assert surface.normals is not None  # decoded while the codes are sound, as in a .blend
        own.codes = own.codes.astype("f4")
    for one, other in zip(load(dump(model)).surfaces, original.surfaces, strict=True):
        np.testing.assert_allclose(one.positions, other.positions, rtol=0, atol=0.3)
    assert "are damaged: written without them" in caplog.text


# -- an edit of a normal


@pytest.mark.parametrize("data", sample_params("animated"))
def test_one_normal_that_is_edited_is_all_that_changes(data):
    model = load(data)
    surface = model.surfaces[0]
    surface.own_normals = np.arange(surface.num_vertices) == 2
    surface.normals[:, 2] *= -1
    changed = {path.rpartition("frames[")[2] for path in differences(data, dump(model))}
    assert changed == {f"{frame}].normal[2]" for frame in range(model.num_frames)}


# -- F2: frames come and go, the others keep every bit


def without_frame(model, frame):
    del model.frame_names[frame]
    for surface in model.surfaces:
        surface.positions = np.delete(surface.positions, frame, axis=0)
        surface.normals = np.delete(surface.normals, frame, axis=0)
    for tag in model.tags:
        tag.origins, tag.axes = np.delete(tag.origins, frame, axis=0), np.delete(tag.axes, frame, axis=0)
    model.frame_sources = np.delete(model.frame_sources, frame)


def with_frame(model, at):
    """Insert a copy of the frame before, as the operator does."""
    model.frame_names.insert(at, "new")
    for surface in model.surfaces:
        surface.positions = np.insert(surface.positions, at, surface.positions[at - 1], axis=0)
        surface.normals = None
    for tag in model.tags:
        tag.origins = np.insert(tag.origins, at, tag.origins[at - 1], axis=0)
        tag.axes = np.insert(tag.axes, at, tag.axes[at - 1], axis=0)
    model.frame_sources = np.insert(model.frame_sources, at, -1)


@pytest.mark.parametrize("data", LONG)
def test_deleting_a_frame_keeps_the_others_bit_for_bit(data):
    model = load(data)
    without_frame(model, 1)
    assert facts(dump(model)) == moved_frames(data, lambda f: None if f == 1 else f - (f > 1), model.num_frames)


@pytest.mark.parametrize("data", LONG)
def test_inserting_a_frame_keeps_the_others_bit_for_bit(data):
    model = load(data)
    with_frame(model, 2)
    found, wanted = facts(dump(model)), moved_frames(data, lambda f: f + (f > 1), model.num_frames)
    assert {path: found[path] for path in wanted} == wanted
    for path in found.keys() - wanted.keys():
        assert "frames[2]" in path
        if re.search(r"xyz|normal|\]\.origin$|scale|translate|padding", path):
            assert found[path] == found[path.replace("frames[2]", "frames[1]")], path
    assert load(dump(model)).frame_names[2] == "new"


@pytest.mark.parametrize("data", LONG)
def test_frames_in_another_order_take_their_facts_along(data):
    model = load(data)
    count = model.num_frames
    order = np.roll(np.arange(count), 1)
    model.frame_names = [model.frame_names[i] for i in order]
    for surface in model.surfaces:
        surface.positions, surface.normals = surface.positions[order], surface.normals[order]
    for tag in model.tags:
        tag.origins, tag.axes = tag.origins[order], tag.axes[order]
    model.frame_sources = order.astype(np.int32)
    assert facts(dump(model)) == moved_frames(data, order.tolist().index)


@pytest.mark.parametrize("data", LONG)
def test_renaming_a_frame(data):
    model = load(data)
    model.frame_names[2] = "stop"
    assert differences(data, dump(model)) == {"frames[2].name"}


@pytest.mark.parametrize("data", sample_params("animated"))
@pytest.mark.parametrize(("name", "cut"), [("a long frame name", "a long frame na"), ("ü" * 8, "ü" * 7)])
def test_a_frame_name_that_is_too_long_is_cut_and_said(data, name, cut, caplog):
    model = load(data)
    names = list(model.frame_names)
    model.frame_names[1] = name
    names[1] = cut
    assert load(dump(model)).frame_names == names
    assert caplog.messages == [f"frame name '{name}' is cut to 15 bytes"]
