"""Records: what pack writes unpack reads, and nothing else gets in."""

import struct
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from io_idtech_models.model import records
from io_idtech_models.model.records import RecordError
from io_idtech_models.model.records import vertex as record
from tests.samples import load, sample, sample_params

ARRAYS = {
    "codes": np.arange(-6, 6, dtype="<i2").reshape(2, 2, 3),
    "naïve": np.array([1.5, np.nan, -0.0], "<f4"),
    "none": np.zeros((3, 0), "<i8"),
    "one": np.array(77, "<u4"),
}
# Offsets in the record of one int32 array of shape (2, 3) called "ab".
SMALL = records.pack({"ab": np.arange(6, dtype="<i4").reshape(2, 3)})


def model_record(data):
    source = load(data).source
    return record.model_record(source, [record.surface_record(s, {}) for s in source.surfaces], {})


def test_the_layout_is_the_docstrings():
    head = b"IDTR" + struct.pack("<HHH", 1, 1, 2) + b"ab" + b"<i4 " + struct.pack("<HII", 2, 2, 3)
    head += bytes(-len(head) % 8)
    assert head + struct.pack("<6i", *range(6)) == SMALL


def test_arrays_come_back_bit_for_bit():
    found = records.unpack(records.pack(ARRAYS))
    assert list(found) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert (found[name].dtype, found[name].shape) == (array.dtype, array.shape)
        assert found[name].tobytes() == array.tobytes()
        assert not found[name].size or not found[name].flags.writeable


def test_a_record_of_nothing():
    assert records.unpack(records.pack({})) == {}


def test_arrays_in_another_order_of_memory():
    turned = np.arange(6, dtype="<i4").reshape(2, 3).T
    np.testing.assert_array_equal(records.unpack(records.pack({"a": turned}))["a"], turned)


@given(
    st.dictionaries(
        st.text(max_size=5), hnp.arrays(st.sampled_from(sorted(records.DTYPES)), hnp.array_shapes(min_side=0))
    )
)
def test_any_plain_arrays_come_back(arrays):
    found = records.unpack(records.pack(arrays))
    assert {n: (a.dtype, a.shape, a.tobytes()) for n, a in found.items()} == {
        n: (a.dtype, a.shape, a.tobytes()) for n, a in arrays.items()
    }


def spoiled(offset, raw):
    data = bytearray(SMALL)
    data[offset : offset + len(raw)] = raw
    return bytes(data)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "damaged record"),
        (b"PK\3\4" + SMALL[4:], "not a record of version 1"),
        (spoiled(4, b"\2\0"), "not a record of version 1"),
        (spoiled(6, b"\2\0"), "damaged record"),  # two arrays
        (spoiled(8, b"\xff\xff"), "damaged record"),  # a long name
        (spoiled(10, b"\xff"), "damaged record"),  # a name that is no text
        (spoiled(12, b"|O8 "), "array 'ab' of a kind that no record holds"),
        (spoiled(12, b">i4 "), "array 'ab' of a kind that no record holds"),
        (spoiled(12, b"<c8 "), "array 'ab' of a kind that no record holds"),
        (spoiled(12, b"|V9 "), "array 'ab' of a kind that no record holds"),
        (spoiled(16, b"\5\0"), "array 'ab' of a kind that no record holds"),  # five axes
        (spoiled(18, b"\3\0"), "array 'ab' runs past the end of the record"),
        (spoiled(18, b"\xff\xff\xff\xff\xff\xff\xff\xff"), "array 'ab' runs past the end of the record"),
    ],
)
def test_a_damaged_record_is_refused(data, sentence):
    with pytest.raises(RecordError, match=sentence):
        records.unpack(data)


@pytest.mark.parametrize("shape", [(0, 2**32 - 1, 2**32 - 1, 2**32 - 1), (2**32 - 1, 2**32 - 1, 0)])
def test_an_empty_array_of_a_huge_shape_costs_nothing(shape):
    head = b"IDTR" + struct.pack("<HHH", 1, 1, 1) + b"a" + b"<f8 "
    tracemalloc.start()
    with pytest.raises(RecordError):
        records.unpack(head + struct.pack(f"<H{len(shape)}I", len(shape), *shape))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100_000


def test_kinds_and_shapes_are_checked():
    arrays: records.Arrays = {"a": np.zeros((2, 3), np.float32)}
    assert records.checked(arrays, "a", "f", 2, 3) is arrays["a"]
    assert records.checked(arrays, "a", "if", -1, -1) is arrays["a"]
    for kinds, shape in (("i", (2, 3)), ("f", (3, 2)), ("f", (2,)), ("f", (2, 3, -1))):
        with pytest.raises(RecordError, match=r"record's 'a' is float32 \(2, 3\), expected"):
            records.checked(arrays, "a", kinds, *shape)
    with pytest.raises(RecordError, match="record has no 'b'"):
        records.checked(arrays, "b", "f", 1)


@pytest.mark.parametrize("names", [[], [""], ["one"], ["", "größe", "", "日本"], ["same", "same"]])
def test_names_come_back(names):
    assert records.unpack_names(records.pack_names(names)) == names


def test_names_that_no_text_can_hold():
    assert records.unpack_names(records.pack_names(["a\0b", "c\udcff"])) == ["ab", "c?"]


# -- models


def test_a_model_has_frames():
    arrays = dict(records.unpack(model_record(sample("tags_only"))))
    arrays["frame_names"] = arrays["frame_names"][:0]
    arrays["tag_origins"], arrays["tag_axes"] = arrays["tag_origins"][:0], arrays["tag_axes"][:0]
    with pytest.raises(RecordError):
        record.model_source(records.pack(arrays))


def test_a_surface_without_vertices_claims_no_endless_animation():
    arrays = dict(records.unpack(record.surface_record(load(sample("empty_surface")).source.surfaces[1], {})))
    assert record.surface_source(records.pack(arrays))[0].num_vertices == 0
    frames = 2**31
    arrays["codes"] = np.zeros((frames, 0, 4), np.int16)
    with pytest.raises(RecordError):
        record.surface_source(records.pack(arrays))


# -- parts, and what they know of the whole


def part_records(data):
    """Return the records of a model's surfaces and tags, as a .blend has them."""
    source = load(data).source
    wholes = [record.whole_arrays(source, first) for first in (True, False)]
    surfaces = [record.surface_record(s, wholes[i > 0]) for i, s in enumerate(source.surfaces)]
    return surfaces, [record.tag_record(source, i, wholes[1]) for i in range(len(source.tag_names))]


@pytest.mark.parametrize("data", sample_params(format_name="md3"))
def test_parts_know_their_model(data):
    source = load(data).source
    surfaces, tags = part_records(data)
    for index, packed in enumerate(surfaces):
        counts, facts = record.whole_among(record.surface_source(packed)[1])
        assert counts == (len(source.surfaces), len(source.tag_names))
        wanted = {n for n in source.facts if n != "tags" and (index == 0 or not n.startswith("layout_"))}
        assert facts.keys() == wanted
        assert all(np.array_equal(facts[name], source.facts[name]) for name in wanted)
    for index, packed in enumerate(tags):
        name, arrays = record.tag_source(packed)
        assert name == source.tag_names[index]
        assert arrays["tag_origins"].tobytes() == source.tag_origins[:, index].tobytes()
        assert arrays["tag_axes"].tobytes() == source.tag_axes[:, index].tobytes()
        assert np.array_equal(records.facts_among(arrays)["tags"], source.facts["tags"][:, index])


def test_a_part_of_before_knows_nothing_of_its_model():
    source = load(sample("animated")).source
    assert record.whole_among(records.unpack(record.surface_record(source.surfaces[0], {}))) == ((0, 0), {})


def test_a_whole_that_contradicts_itself_is_refused():
    arrays = dict(records.unpack(part_records(sample("animated"))[0][0]))
    arrays["whole.counts"] = arrays["whole.counts"][:1]
    with pytest.raises(RecordError):
        record.whole_among(arrays)


# -- fuzz


@pytest.mark.parametrize("data", sample_params("minimal", "animated", "tags_only"))
def test_every_truncation_is_refused(data):
    whole = model_record(data)
    for end in range(len(whole)):
        with pytest.raises(RecordError):
            record.model_source(whole[:end])
    for tag in part_records(data)[1]:
        for end in range(len(tag)):
            with pytest.raises(RecordError):
                record.tag_source(tag[:end])


RECORDS = [model_record(p.values[0]) for p in sample_params("minimal", "animated", "tags_only", "empty_surface")]
flips = st.lists(st.tuples(st.floats(0, 1), st.binary(min_size=1, max_size=8)), min_size=1, max_size=5)


@given(st.sampled_from(RECORDS), st.booleans(), flips)
def test_flipped_bytes_give_a_source_or_an_error(whole, early, changes):
    data = bytearray(whole)
    for part, raw in changes:
        place = int(part * (min(len(data), 300) if early else len(data)))
        data[place : place + len(raw)] = raw
    try:
        source, _ = record.model_source(bytes(data))
    except RecordError:
        return
    assert all(s.triangles.max(initial=0) < max(s.num_vertices, 1) for s in source.surfaces)
