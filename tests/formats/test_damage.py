"""Each number of small files, damaged in turn: which damage is refused, and with which sentence."""

import re
import struct
from collections import Counter

import pytest

from io_idtech_models.formats import by_name
from io_idtech_models.reporting import FormatError, collected_warnings
from tests.damaged import kind_of
from tests.samples import sample

FILES = [
    ("md2", "minimal"), ("md3", "minimal"), ("md3", "animated"), ("mdl", "groups"), ("mdc", "minimal"),
    ("tag", "vehicle"), ("iqm", "arm"), ("iqm", "stills"), ("mdr", "handles"), ("mdr", "packed_walker"),
    ("mds", "bare"), ("mds", "figure"), ("mdm", "figure"), ("mdx", "one_frame"), ("lwo", "smooth"),
    ("lwo", "several_sets"), ("lwo", "old_object"), ("lwo", "long_indices"),
    ("md5mesh", "arm"), ("md5anim", "wave"), ("ase", "pyramid"), ("ase", "several_sets"),
]  # fmt: skip
WORDS = 200  # of a file that are damaged: its first, which are counts and offsets, and others evenly spread
EXTREMES = (-(2**31), -1, 0, 2**31 - 1)
NUMBER = re.compile(rb"(?<![\w.])[-+]?\d[\w.+-]*")


def damaged_words(data, size, order):
    """Yield copies of a file in which one integer, or single, is another: the next ones, and what nothing has."""
    count = len(data) // size
    first = min(count, WORDS // 2)
    rest = range(first, count, max((count - first) // (WORDS // 2), 1))
    for place in (size * word for word in (*range(first), *rest)):
        old = data[place : place + size]
        number = int.from_bytes(old, order, signed=True)
        near = (*EXTREMES, number - 1, number + 1)
        news = {(value % 2 ** (8 * size)).to_bytes(size, order) for value in near}
        if size == 4:
            news |= {struct.pack("<f" if order == "little" else ">f", value) for value in (float("nan"), float("inf"))}
        for new in sorted(news - {old}):
            yield place, data[:place] + new + data[place + size :]


def damaged_numbers(data):
    """Yield copies of a text in which one number is another, no number, or not there, or a line is gone."""
    lines = data.splitlines(keepends=True)
    for nth in range(len(lines)):
        yield nth, b"".join(lines[:nth] + lines[nth + 1 :])
    found = list(NUMBER.finditer(data))
    for match in found[:: max(len(found) // (WORDS // 2), 1) if len(data) > 2000 else 1]:
        number = int(float(match[0])) if re.fullmatch(rb"[-+.\de]+", match[0]) else 0
        for new in (*(b"%d" % n for n in (-1, number - 1, number + 1, 2**31 - 1, 2**31)), b"1.5", b"nan", b"x", b""):
            yield match.start(), data[: match.start()] + new + data[match.end() :]


@pytest.mark.parametrize(("name", "called"), FILES)
def test_what_is_refused_is_what_was(name, called, as_before):
    """Of each kind of sentence there is the number, and the last."""
    row, data = by_name(name), sample(called, name)
    if row.is_text:
        copies = damaged_numbers(data)
    else:
        copies = damaged_words(data, 2 if name == "lwo" else 4, "big" if name == "lwo" else "little")
    kinds, last = Counter[str](), dict[str, str]()
    for place, copy in copies:
        try:
            with collected_warnings() as warnings:
                row.read(copy)
            said = "; ".join(["is read", *dict.fromkeys(warnings)])
        except FormatError as error:
            said = str(error)
        kinds[kind_of(said)] += 1
        last[kind_of(said)] = said if said == "is read" else f"{place}: {said}"
    as_before([f"{kinds[kind]} x {last[kind]}" for kind in sorted(kinds)])
