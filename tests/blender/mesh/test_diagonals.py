"""Faces larger than quads are cut into triangles of the source, ear by ear."""

import numpy as np
import pytest

from io_idtech_models.blender.mesh.read import _source_ears


def plainly(places, known):
    """Cut off the first ear that there is, and look at all corners anew."""
    loop, ears = list(range(len(places))), []
    while len(loop) > 3:
        triples = [(loop[i - 1], loop[i], loop[(i + 1) % len(loop)]) for i in range(len(loop))]
        found = next((i for i, t in enumerate(triples) if tuple(sorted(places[c] for c in t)) in known), None)
        if found is None:
            return None
        ears.append(triples[found])
        del loop[found]
    return [*ears, tuple(loop)]


def fan(corners, random):
    """Return the triangles of a polygon that is cut at random."""
    if len(corners) < 3:
        return []
    middle = int(random.integers(1, len(corners) - 1))
    own = (corners[0], corners[middle], corners[-1])
    return [own, *fan(corners[: middle + 1], random), *fan(corners[middle:], random)]


@pytest.mark.parametrize("seed", range(60))
def test_ears_are_cut_as_the_source_was(seed):
    random = np.random.default_rng(seed)
    places = random.permutation(30)[: random.integers(5, 14)].tolist()
    triangles = fan(places, random)
    known = {tuple(sorted(t)) for t in triangles}
    ears = _source_ears(places, known)
    assert ears == plainly(places, known)
    assert ears is not None
    assert {tuple(sorted(places[c] for c in ear)) for ear in ears} == known
    lost = known - {tuple(sorted(triangles[0]))}
    assert _source_ears(places, lost) == plainly(places, lost)
    places[2] = -1
    assert _source_ears(places, known) == plainly(places, known)


def test_a_triangle_that_is_left_over_need_not_be_the_source_s():
    assert _source_ears([5, 6, 7, 8, 9], {(5, 6, 7), (5, 7, 8)}) == [(0, 1, 2), (0, 2, 3), (0, 3, 4)]
    assert _source_ears([5, 6, 7, 8, 9], {(5, 6, 7)}) is None
