"""The keys of F-curves, read once: what Blender says of each curve, whatever the others are like."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from io_idtech_models.blender.compat import curves_for
from io_idtech_models.blender.curves import add_curve, read_keys

TIMES: dict[str, list[float]] = {
    "usual": [0, 1, 2],
    "early": [-3.5, 1],
    "none": [],
    "also usual": [0.25, 4, 9],
    "one": [40],
}


@pytest.fixture
def curves():
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    owner = bpy.data.objects.new("owner", None)
    return curves_for(bpy.data.actions.new("action"), owner, "owner")


@pytest.mark.parametrize("names", [TIMES, ["none", "usual"], ["usual", "also usual"], ["one", "none"], ["none"], []])
def test_keys_are_what_each_curve_has(curves, names):
    made = []
    for nth, name in enumerate(names):
        add_curve(curves, "location", nth, np.array(TIMES[name]), np.arange(len(TIMES[name])) + 10.0 * nth)
        made.append(curves[nth])
    keys = read_keys(made)
    assert keys.counts().tolist() == [len(TIMES[name]) for name in names]
    ranges = [tuple(curve.range()) for curve in made if len(curve.keyframe_points)]
    wanted = (min(first for first, _ in ranges), max(last for _, last in ranges)) if ranges else None
    assert keys.ends() == wanted
    for count in (1, 2, 3):
        found = keys.of_count(count)
        assert found.shape == (len(made), 2 * count)
        for name, row, nth in zip(names, found, range(len(made)), strict=True):
            if len(TIMES[name]) == count:
                np.testing.assert_array_equal(row[0::2], TIMES[name])
                np.testing.assert_array_equal(row[1::2], np.arange(count) + 10.0 * nth)
            else:
                assert np.isnan(row).all()
