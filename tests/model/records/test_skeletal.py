"""Records of skeletal sources: what is packed comes back, and nothing else gets in."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from io_idtech_models.formats import by_name
from io_idtech_models.model import records
from io_idtech_models.model.records import RecordError
from io_idtech_models.model.records.skeletal import (
    animation_record,
    animation_source,
    mesh_record,
    mesh_source,
    model_record,
    model_source,
)
from tests import samples_md5

MESHES = [pytest.param(make(), id=make.__name__) for make in samples_md5.MESHES]
ANIMS = [pytest.param(make(), id=make.__name__) for make in samples_md5.ANIMS]


def source_of(data: Any) -> Any:
    return by_name("md5mesh" if b"numMeshes" in data else "md5anim").load(data, "x").source


def packed(source: Any) -> bytes:
    """Return the record of a source of either kind."""
    if hasattr(source, "meshes"):
        return model_record(source, [mesh_record(m, {}) for m in source.meshes], {})
    return animation_record(source, {})


def unpacked(data: bytes | bytearray) -> Any:
    """Return the source in a record of either kind; raises RecordError."""
    kind = model_source if b"num_meshes" in data else animation_source
    return kind(bytes(data))[0]


def same(one: Any, other: Any) -> None:
    """Assert that two facts are the same, bit for bit, whatever they are made of."""
    if isinstance(one, np.ndarray):
        assert (one.dtype, one.shape, one.tobytes()) == (other.dtype, other.shape, other.tobytes())
    elif isinstance(one, list):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            same(a, b)
    elif isinstance(one, dict):
        assert list(one) == list(other)
        same(list(one.values()), list(other.values()))
    elif hasattr(one, "__dataclass_fields__"):
        for name in one.__dataclass_fields__:
            same(getattr(one, name), getattr(other, name))
    else:
        assert one == other


# -- what is packed comes back


def test_names_of_any_kind_come_back():
    source = source_of(samples_md5.arm())
    source.skeleton.names = ["", "größe", "日本" * 40]
    source.meshes[0].name, source.meshes[0].shader = "", "a\tb"
    same(unpacked(packed(source)), source)


# -- what contradicts itself is refused


def spoiled(data: bytes, change: Any) -> bytes:
    """Return a record after a change to its arrays."""
    arrays = dict(records.unpack(data))
    change(arrays)
    return records.pack(arrays)


def spoiled_mesh(change: Any) -> bytes:
    """Return the record of `several_meshes` after a change to the arrays of the first mesh."""
    source = source_of(samples_md5.several_meshes())
    parts = [mesh_record(m, {}) for m in source.meshes]
    parts[0] = spoiled(parts[0], change)
    return model_record(source, parts, {})


def put(name, value):
    """Return a change: an array made by `value` of what is there."""
    return lambda arrays: arrays.update({name: value(arrays[name])})


def test_weights_on_a_joint_that_the_model_lacks():
    unpacked(spoiled_mesh(lambda arrays: None))
    with pytest.raises(RecordError):
        unpacked(spoiled_mesh(put("joints", lambda a: a + 1)))


def test_weights_shared_without_end_cost_nothing():
    """A table of ten thousand, all of it for each of as many vertices, would pose a hundred million."""
    many = 10_000

    def share(arrays):
        arrays["uvs"] = np.zeros((many, 2), np.float32)
        arrays["starts"], arrays["counts"] = np.zeros(many, np.int32), np.full(many, many, np.int32)
        arrays["joints"], arrays["factors"] = np.zeros(many, np.int32), np.zeros(many, np.float32)
        arrays["offsets"] = np.zeros((many, 3), np.float32)

    with pytest.raises(RecordError, match="shares weights without end"):
        unpacked(spoiled_mesh(share))


def test_one_kind_is_not_taken_for_another():
    model, motion = packed(source_of(samples_md5.arm())), packed(source_of(samples_md5.wave()))
    for read, data in ((animation_source, model), (model_source, motion), (mesh_source, model), (mesh_source, motion)):
        with pytest.raises(RecordError):
            read(data)


# -- fuzz


RECORDS = [packed(source_of(p.values[0])) for p in (*MESHES, *ANIMS)]
flips = st.lists(
    st.tuples(st.floats(0, 1, exclude_max=True), st.binary(min_size=1, max_size=8)), min_size=1, max_size=5
)


def mutated(whole: bytes, early: bool, changes: list[tuple[float, bytes]]) -> bytes:
    data = bytearray(whole)
    for part, raw in changes:
        place = int(part * (min(len(data), 300) if early else len(data)))
        data[place : place + len(raw)] = raw
    return bytes(data)


@given(st.sampled_from(RECORDS), st.booleans(), flips)
def test_flipped_bytes_give_a_source_or_an_error(whole, early, changes):
    kind = model_source if b"num_meshes" in whole else animation_source
    try:
        source: Any = kind(mutated(whole, early, changes))[0]
    except RecordError:
        return
    for mesh in getattr(source, "meshes", ()):
        assert mesh.triangles.max(initial=0) < max(mesh.num_vertices, 1)
        assert mesh.weights.joints[mesh.weights.entries()[1]].max(initial=-1) < source.skeleton.num_joints


# -- a codec believes a record no more than it must


@pytest.mark.parametrize(
    ("data", "name", "value"),
    [
        (samples_md5.arm(), "orientations", 2.0),
        (samples_md5.arm(), "orientations", np.nan),
        (samples_md5.wave(), "components", 1e300),
        (samples_md5.wave(), "base", np.inf),
        (samples_md5.wave(), "bounds", -1e39),
        (samples_md5.wave(), "components", 1.5),  # turns no joint
    ],
)
def test_numbers_that_no_file_can_hold(data, name, value, caplog):
    row = by_name("md5mesh" if b"numMeshes" in data else "md5anim")
    model = row.load(data, "x")
    model.source.facts[name][...] = value
    found = row.load(row.dump(model), "x")
    assert "the facts of the source of 'x' are damaged: written without them" in caplog.text
    if row.name == "md5mesh":
        np.testing.assert_allclose(found.skeleton.rotations, model.skeleton.rotations, atol=1e-6)
    else:
        np.testing.assert_allclose(found.positions, model.positions, atol=1e-6)


@pytest.mark.parametrize("name", ["st", "biases", "offsets"])
def test_numbers_of_a_mesh_that_no_file_can_hold(name, caplog):
    model = by_name("md5mesh").load(samples_md5.arm(), "x")
    model.source.meshes[0].facts[name][1] = np.nan
    assert b"nan" not in by_name("md5mesh").dump(model)
    assert "are damaged: written without them" in caplog.text


@given(st.integers(0, len(RECORDS) - 1), flips)
def test_a_damaged_source_gives_a_file_that_can_be_read(index, changes):
    make = (*samples_md5.MESHES, *samples_md5.ANIMS)[index]
    row = by_name("md5mesh" if b"numMeshes" in make() else "md5anim")
    model = row.load(make(), "x")
    try:
        model.source = unpacked(mutated(RECORDS[index], False, changes))
    except RecordError:
        return
    row.load(row.dump(model), "x")
