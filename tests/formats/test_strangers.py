"""Facts of a source come back from a .blend, which can be a stranger's: whatever they are, the model is written.

Of vertex-animated models see `test_formats`.
"""

import re
from typing import Any

import numpy as np
import pytest

from io_idtech_models.formats import by_name
from io_idtech_models.model.transforms import to_matrices
from io_idtech_models.model.weights import skin_by
from io_idtech_models.reporting import LimitError, collected_warnings
from tests.samples import sample

SAMPLES = {
    "md5mesh": ["arm"], "mdm": ["figure"], "mdr": ["handles", "packed_walker"], "mds": ["figure"],
    "iqm": ["arm", "alone", "static"], "md5anim": ["wave"], "mdx": ["walk"],
}  # fmt: skip
QUIET = ("layout", "placeholders")  # which say nothing of what a model is
ALIKE = re.compile("(?:va|spare)[^045]")  # arrays of an IQM that go the way of others, of places and weights


def owners(asset):
    """Return who has facts in what a file holds: a motion, a model, its last mesh, which may borrow of the others."""
    motions = [motion.source for motion in asset.animations[:1]]
    source = asset.model.source if asset.model is not None else None
    return [*motions, *([source, *source.meshes[-1:]] if source is not None else [])]


def shown(asset):
    """Return what a model or a motion is, whatever its source."""
    found = [
        array
        for a in sorted(asset.animations, key=lambda a: a.name)
        for array in (a.positions, to_matrices(a.rotations))
    ]
    if asset.model is not None:
        bind = asset.model.skeleton.bind
        places, axes = bind.positions, to_matrices(bind.rotations)
        for mesh in asset.model.meshes:
            found += [mesh.triangles, mesh.uvs, skin_by(mesh.weights, places, axes)]
    return found


def other_kinds(array):
    """Yield what is no such fact: nothing, of another type, without axes or with one more."""
    yield from (None, array.astype("f8") + np.nan, np.zeros((1,) * (not array.ndim), array.dtype))


def other_values(array):
    """Yield what may be such a fact, of as many elements or not."""
    yield array[:-1] if array.ndim else array
    if array.dtype.kind in "iu":
        limits, rng = np.iinfo(array.dtype), np.random.default_rng(array.size)
        yield from (np.full_like(array, limits.min), np.full_like(array, limits.max), array + array.dtype.type(1))
        most = np.where(rng.random(array.shape) < 0.5, 3, limits.max)  # small numbers are some that could be
        others = rng.integers(0, most, array.shape, array.dtype, endpoint=True)
        yield np.where(rng.random(array.shape) < 0.1, others, array)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", SAMPLES)
def test_a_damaged_fact_is_no_hint(name):
    """What is none means as much as if it were not there; where it could be one, what is written is read again.

    Each fact is tried in the first sample that has it.
    """
    tried: set[Any] = set()
    for called in SAMPLES[name]:
        tried |= try_facts(by_name(name), sample(called, name), tried)


def try_facts(row, data, tried):
    """Damage each fact of a file that was not tried yet, and return which there are."""
    asset = row.unpack(row.read(data), "x")
    wanted, found = shown(asset), set()
    for owner in owners(asset):
        whole = dict(owner.facts)
        found |= {(type(owner), key) for key, array in whole.items() if array.size}
        for key, array in whole.items():
            if ALIKE.fullmatch(key) or (type(owner), key) in tried:
                continue
            for nth, value in enumerate([*other_kinds(array), *other_values(array)]):
                owner.facts = {other: own for other, own in whole.items() if other != key}
                if value is not None:
                    owner.facts[key] = value
                try:
                    with collected_warnings() as said:
                        written = row.dump(asset.content, None, asset.animations)
                except LimitError:
                    assert nth >= 3, key
                    continue
                again = row.unpack(row.read(written), "x")
                if nth == 1 and row.name != "iqm" and not key.startswith(QUIET):
                    assert any("are damaged: written without them" in each for each in said), key
                if nth < 3:
                    for one, other in zip(shown(again), wanted, strict=True):
                        np.testing.assert_allclose(one, other, atol=0.05, err_msg=key)
        owner.facts = whole
    assert row.dump(asset.content, None, asset.animations) == data or row.is_text
    return found
