"""Facts that travel as hints: records among them, and what a stranger may have made of them."""

import numpy as np
import pytest

from io_idtech_models.formats import by_name
from io_idtech_models.formats.common.chunks import Piece, survey
from io_idtech_models.formats.common.records import all_fit, as_bytes, layout_fits, layout_of, records_of
from io_idtech_models.model.arrays import numbers_below, numbers_in
from tests import samples_mdm

RECORD = np.dtype([("name", "S6"), ("number", "<i4")])


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 0)])
def test_records_come_back(shape):
    records = np.zeros(shape, RECORD)
    records["number"] = np.arange(records.size).reshape(shape) + 7
    facts = {"things": as_bytes(records)}
    assert facts["things"].shape == (*shape, 10)
    assert all_fit(facts, {"things": (RECORD, shape)})
    assert not all_fit(facts, {"things": (RECORD, (*shape, 1))})
    found = records_of(facts, "things", RECORD)
    np.testing.assert_array_equal(found["number"], records["number"])
    found["number"] += 1
    np.testing.assert_array_equal(records_of(facts, "things", RECORD)["number"], records["number"])


def test_a_name_of_a_record_alone_has_no_padding():
    header = np.zeros((), RECORD)
    header["name"] = b"ab"
    assert bytes(records_of({"header": as_bytes(header)}, "header", RECORD)["name"]) == b"ab"


def test_a_layout_without_ends_is_none():
    facts = survey([Piece(0, 0, 4)], b"abcd") | {"layout_ends": np.zeros(1, np.int64)}
    assert layout_of(facts) == facts
    facts["layout_ends"] = np.zeros(0, np.int64)
    assert not layout_fits(facts)
    assert layout_of(facts) == {}


@pytest.mark.parametrize(
    ("name", "value", "fits"),
    [
        ("layout_empty", [(3, 2**31 - 1), (4, -(2**31))], True),  # offsets that a file's fields hold
        ("layout_empty", [(3, 0), (4, 2**31 + 2)], False),
        ("layout_empty", [(3, -(2**63)), (4, 0)], False),
        ("layout_gaps", [2, 1], True),
        ("layout_gaps", [4, -1], False),
        ("layout_gaps", [2, 2], False),
        ("layout_gaps", [3], False),
    ],
)
def test_a_layout_is_one_that_a_file_can_have(name, value, fits):
    facts = survey([Piece(0, 2, 4), Piece(1, 7, 2)], b"..abcd.ef") | {"layout_ends": np.zeros(1, np.int64)}
    facts[name] = np.array(value, np.int64)
    assert layout_fits(facts) is fits


@pytest.mark.parametrize(("name", "data"), [("mdm", samples_mdm.figure()), ("mdx", samples_mdm.walk())])
def test_a_source_whose_layout_has_no_ends_is_written(name, data):
    row = by_name(name)
    model = row.load(data, "x")
    model.source.facts["layout_ends"] = np.zeros(0, np.int64)
    assert row.read(row.dump(model)).header["ident"] == data[:4]


def test_numbers_of_a_part_are_wide_enough_to_shift():
    firsts = np.array([0, 4, 9])
    numbers = np.array([3, 4, 8, 9, -1], np.int32)
    found = numbers_in(numbers, firsts, 1, 5)
    assert found.tolist() == [-1, 0, 4, -1, -1]
    assert found.dtype == np.int64
    assert numbers_in(None, firsts, 1, 2).tolist() == [-1, -1]
    assert numbers_in(numbers, firsts, -1, 5).tolist() == [-1] * 5
    assert numbers_below(numbers, 4, 5).tolist() == [3, -1, -1, -1, -1]
