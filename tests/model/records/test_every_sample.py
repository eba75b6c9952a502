"""What a .blend keeps of every sample's source: it comes back, and each damage of it is refused or read as before."""

from typing import Any

import numpy as np
import pytest

from io_idtech_models.formats import SKELETAL, VERTEX, by_name
from io_idtech_models.model.records import RecordError, pack, pack_facts, skeletal, unpack, vertex
from tests.damaged import outcomes, plain
from tests.small_files import SAMPLES

EVERY = [(name, called) for name, files in SAMPLES.items() for called in files]
DAMAGED = [
    ("md3", "animated"), ("md2", "seams"), ("mdl", "groups"), ("mdc", "animated"), ("lwo", "several_sets"),
    ("md5mesh", "arm"), ("mdm", "figure"), ("iqm", "animated"), ("mds", "figure"), ("md5anim", "wave"), ("mdx", "walk"),
]  # fmt: skip
EXTRA: dict[str, Any] = {"own": np.arange(3)}


def loaded(name, called):
    row = by_name(name)
    return row, row.unpack(row.read(SAMPLES[name][called]), "x")


def records_of(name, called):
    """Yield the records of a sample's source: what reads one, the record, and what it must come to."""
    row, asset = loaded(name, called)
    for motion in asset.animations:
        yield skeletal.animation_source, skeletal.animation_record(motion.source, EXTRA), motion.source
    if row.family is SKELETAL:
        source = asset.model.source
        source.skeleton.bound = source.skeleton.bind  # as of a model that is bound elsewhere than it stands
        parts = [skeletal.mesh_record(mesh, EXTRA) for mesh in source.meshes]
        yield from zip([skeletal.mesh_source] * len(parts), parts, source.meshes, strict=True)
        yield skeletal.model_source, skeletal.model_record(source, parts, EXTRA), source
    elif row.family is VERTEX:
        source = asset.model.source
        parts = [vertex.surface_record(surface, EXTRA) for surface in source.surfaces]
        yield from zip([vertex.surface_source] * len(parts), parts, source.surfaces, strict=True)
        yield vertex.model_source, vertex.model_record(source, parts, EXTRA), source
        for index, tag in enumerate(source.tag_names):
            extra = EXTRA | vertex.whole_arrays(source, index == 0)
            yield vertex.tag_source, vertex.tag_record(source, index, extra), tag


@pytest.mark.parametrize(("name", "called"), EVERY)
def test_a_source_comes_back_from_its_record(name, called):
    for read, record, source in records_of(name, called):
        found, arrays = read(record)
        wanted = plain(source)
        if read is skeletal.model_source:
            wanted["skeleton"].pop("traits", None)  # which are among the facts
        assert plain(found) == wanted
        assert arrays["own"].tolist() == [0, 1, 2]
        if read is vertex.tag_source:
            whole = loaded(name, called)[1].model.source
            counts, facts = vertex.whole_among(arrays)
            assert counts == (len(whole.surfaces), len(whole.tag_names))
            assert facts.keys() <= whole.facts.keys()


def others(array):
    """Yield what may stand for an array: more or fewer numbers, of another kind or shape, and extreme ones."""
    yield from (np.moveaxis(np.moveaxis(array, axis, 0)[:-1], 0, axis) for axis in range(array.ndim))
    yield from (array[:0], array.reshape(-1), array[..., None], np.concatenate((array, array[:1])))
    yield from (np.full(array.shape, value, kind) for value, kind in ((7, "i8"), (1e30, "f8")))
    if array.dtype.kind == "f":
        values: Any = (np.nan, np.inf, -1e30, 3.4e38, 1.0)
    else:
        yield from (array + array.dtype.type(1), array - array.dtype.type(1), array[::-1], array.astype("i8") + 2**40)
        values = (np.iinfo(array.dtype).max, np.iinfo(array.dtype).min, 0, 1)
    yield from (np.full(array.shape, value, array.dtype) for value in values)


def damages(record):
    """Yield which array of a record is another, and the record so changed; facts are another's matter."""
    arrays = unpack(record)
    (fact,) = pack_facts({"": EXTRA["own"]})
    for name in (name for name in arrays if name != "own" and not name.startswith(fact)):
        yield f"{name}: gone", pack({other: array for other, array in arrays.items() if other != name})
        for other in others(arrays[name]):
            yield f"{name}: another", pack(arrays | {name: other})


@pytest.mark.parametrize(("name", "called"), DAMAGED)
def test_a_damaged_record_is_refused_or_read_as_it_was(name, called, as_before):
    for nth, (read, record, _) in enumerate(records_of(name, called)):

        def found(data, read=read):
            try:
                return read(data)[0]
            except RecordError as error:
                return str(error)

        as_before([f"{nth}: {read.__name__}", *outcomes(damages(record), found)[0]])
