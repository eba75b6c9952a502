"""What holds for every format, whatever its files hold: what is read is written, and broken files are refused."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from io_idtech_models.formats import ROWS, SKELETAL, VERTEX, by_name, identify, rows_of
from io_idtech_models.reporting import FormatError, LimitError, collected_warnings
from tests.facts import differences
from tests.samples import corpus_params, format_of, loose_bytes, sample_params
from tests.small_files import SAMPLES

EVERY = sample_params(family=None)
SUFFIXES = [suffix for row in ROWS for suffix in row.suffixes]
every_sample = pytest.mark.parametrize("data", EVERY)
every_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)


# Real files that no game reads: cut off, of the alpha, or with frames out of order.
UNREADABLE = {
    "ball.md5mesh", "empty.md5mesh", "lamp.md5mesh", "lamp.md5anim", "attack2.md5anim", "InvalidBoneIndex.md5mesh",
}  # fmt: skip


def check_same(data):
    """Assert that a file comes back from its structs and from its model: byte for byte, but for a text's layout."""
    row = format_of(data)
    structs = row.read(data)
    asset = row.unpack(structs, "x")
    with collected_warnings() as said:
        written = row.write(structs), row.dump(asset.content, None, asset.animations)
    assert not [each for each in said if "games" not in each], "what games make of it is said again, no more"
    for found in written:
        assert differences(data, found) == set()
        assert row.is_text or found == data


@every_sample
def test_what_is_read_is_written(data):
    check_same(data)


@pytest.mark.parametrize("data", [param for param in EVERY if format_of(param.values[0]).is_text])
def test_a_byte_order_mark_before_a_text_is_a_blank(data):
    row, marked = format_of(data), b"\xef\xbb\xbf" + data
    assert row.dump(row.load(marked, "x")) == row.dump(row.load(data, "x"))
    assert identify(marked, Path(f"x{row.suffixes[0]}")) == row


@pytest.mark.parametrize("file", corpus_params(*SUFFIXES))
def test_real_files_come_back(file):
    if file.path.name not in UNREADABLE:
        check_same(file.data)
        return
    with pytest.raises(FormatError) as caught:
        format_of(file.data).load(file.data, "x")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("row", rows_of(VERTEX), ids=lambda row: row.name)
def test_codes_of_normals_are_below_those_that_mean_nothing(row):
    normals = np.concatenate((np.eye(3), -np.eye(3), np.random.default_rng(1).normal(size=(500, 3))))
    codes = row.coding.encode(normals, None)
    assert int(codes.max()) < row.coding.size
    shown, wanted = (n / np.linalg.norm(n, axis=1, keepdims=True) for n in (row.coding.decode(codes), normals))
    assert ((shown * wanted).sum(axis=1) > np.cos(np.radians(12))).all()


@every_sample
def test_without_its_layout_a_file_has_the_same_fields(data):
    row = format_of(data)
    structs = row.read(data)
    if not row.is_text and hasattr(structs, "layout"):
        structs.layout = {}
        assert differences(data, row.write(structs)) == set()


@every_sample
def test_a_new_model_has_nothing_that_games_trip_over(data):
    """That is only said of files."""
    row = format_of(data)
    assert row.problems(replace(row.load(data, "x"), source=None)) == []


@pytest.mark.parametrize("data", sample_params(family=SKELETAL, format_name="mdm"))
def test_companions_change_nothing_of_a_file(data):
    row = format_of(data)
    bones = {other.name: next(iter(SAMPLES[other.name].values())) for other in row.skeletal.companions}
    assert row.dump(row.load(data, "x", bones)) == data


@pytest.mark.parametrize("data", [b"", b"hi", b"no model but a text"], ids=len)
@every_row
def test_what_is_no_such_file_is_not_called_cut_off(row, data):
    if row.magic == b"TAG":
        return  # games look at the version alone
    with pytest.raises(FormatError, match=r"^not an .* file at (byte 0|line 1): expected \w+, found '"):
        row.read(data)


@every_row
def test_an_empty_file_is_refused(row):
    with pytest.raises(FormatError) as caught:
        row.read(b"")
    assert "\n" not in str(caught.value)


@every_sample
def test_a_file_that_ends_anywhere_is_refused_or_read(data):
    """In one sentence; what a binary file lacks is a header's or a lump's."""
    row = format_of(data)
    spare = 0 if row.is_text else len(loose_bytes(data)[1])
    for end in range(0, len(data) - spare, max(len(data) // 150, 1)):
        try:
            row.load(data[:end], "x")
        except FormatError as error:
            assert "\n" not in str(error)
        else:
            assert row.is_text, f"cut at {end}"


@given(
    st.sampled_from([param.values[0] for param in EVERY]),
    st.lists(st.tuples(st.floats(0, 1), st.binary(min_size=1, max_size=4)), min_size=1, max_size=4),
)
def test_noise_is_refused_or_written_again(data, noise):
    damaged = bytearray(data)
    for part, raw in noise:
        place = int(part * len(damaged))
        damaged[place : place + len(raw)] = raw
    row = format_of(data)
    try:
        structs = row.read(bytes(damaged))
        with np.errstate(all="ignore"):
            model = row.unpack(structs, "x").content
    except FormatError as error:
        assert "\n" not in str(error)
        return
    assert row.is_text or differences(bytes(damaged), row.write(structs)) == set()
    try:
        row.dump(model)
    except LimitError as error:
        assert "\n" not in str(error)


NAMED = [
    (row.name, kind)
    for row in ROWS
    for kind in row.name_sizes
    if kind != "model" and (kind != "joint" or row.name == "mdx")
]


@pytest.mark.parametrize(("name", "kind"), NAMED)
def test_names_are_as_long_as_the_format_says(name, kind):
    """A longer one is refused, or cut where few games look at it."""
    row = by_name(name)
    size = row.name_sizes[kind]
    for length in (size, size + 1):
        asset = row.unpack(row.read(max(SAMPLES[name].values(), key=len)), "x")
        put_name(asset.content, kind, "n" * length)
        try:
            data = row.dump(asset.content, None, asset.animations)
        except LimitError as error:
            assert length > size and f"has {length} bytes, the format holds {size}" in str(error)
            continue
        assert b"n" * size + b"\0" in data and b"n" * (size + 1) not in data
        assert length == size or kind == "frame", "cut"


def put_name(thing, kind, name):
    """Call the first of a kind in a model or a motion so."""
    if kind == "frame":
        thing.frame_names[0] = name
    elif kind == "joint":
        (thing.joint_names if hasattr(thing, "joint_names") else thing.skeleton.names)[0] = name
    elif kind == "tag":
        thing.tags[0].name = name
    else:
        part = (thing.surfaces if hasattr(thing, "surfaces") else thing.meshes)[0]
        if kind == "surface":
            part.name = name
        elif hasattr(part, "shaders"):
            part.shaders[:1] = [name]
        else:
            part.shader = name


@pytest.mark.parametrize("name", ["mdm", "mds", "mdr", "mdx"])
def test_a_models_own_name_leaves_room_for_its_end(name):
    """No game looks at it: it is cut."""
    row = by_name(name)
    asset = row.unpack(row.read(max(SAMPLES[name].values(), key=len)), "x")
    content = replace(asset.content, source=None, name="n" * 99)
    assert row.read(row.dump(content, None, asset.animations)).header["name"] == b"n" * 63
