"""PCX pictures come out pixel by pixel as they were written, and broken ones do no harm."""

import random
import struct
from typing import Any

import numpy as np
import pytest

from io_idtech_models.game.folders import Disk
from io_idtech_models.game.pictures import pcx
from io_idtech_models.reporting import FormatError, ModelError, collected_warnings
from tests.samples import CORPUS

RNG = np.random.default_rng(3)
PALETTE = RNG.permuted(np.tile(np.arange(256, dtype=np.uint8)[:, None], 3), axis=0)
EGA = RNG.integers(0, 256, (16, 3), dtype=np.uint8)
MARK = b"\x0c"


def pack_runs(data: bytes, most: int = 63) -> bytes:
    """Return bytes as runs, those of one byte only where it would be taken for a count."""
    out = bytearray()
    at = 0
    while at < len(data):
        count = 1
        while count < most and data[at + count : at + count + 1] == data[at : at + 1]:
            count += 1
        if count > 1 or data[at] >= 0xC0:
            out.append(0xC0 + count)
        out.append(data[at])
        at += count
    return bytes(out)


def header(width, height, bits=8, planes=1, stride=None, encoding=1, corner=(0, 0), ega=b"", manufacturer=10):
    x, y = corner
    line = (width * bits + 7) // 8 if stride is None else stride
    facts = (manufacturer, 5, encoding, bits, x, y, x + width - 1, y + height - 1, 300, 301, ega, 0, planes, line, 1)
    return struct.pack("<4B6H48sBBHH58x", *facts)


def picture(lines, across=False, tail=None, **facts):
    """Return a file of lines (height, planes, bytes): each line run by run, or with runs across their ends."""
    height, planes, line = lines.shape
    whole = lines.tobytes()
    parts = [whole] if across else [whole[i : i + planes * line] for i in range(0, len(whole), planes * line)]
    body = b"".join(parts if facts.get("encoding") == 0 else map(pack_runs, parts))
    facts = {"width": line, "height": height, "planes": planes, "stride": line} | facts
    return header(**facts) + body + (MARK + PALETTE.tobytes() if tail is None else tail)


def noise(height, width, planes=1, least=0, most=256):
    return RNG.integers(least, most, (height, planes, width), dtype=np.uint8)


def decoded(data, warnings=()):
    """Return a file's pixels; the warnings must be these, by words in them."""
    with collected_warnings() as texts:
        pixels = pcx.decode(data, "skin.pcx")
    assert len(texts) == len(warnings), texts
    assert all("'skin.pcx'" in text and word in text for text, word in zip(texts, warnings, strict=True))
    assert pixels.dtype == np.uint8
    return pixels


KINDS = {
    "all values": np.arange(256, dtype=np.uint8).reshape(4, 1, 64),
    "noise": noise(37, 53),
    "only what must be runs": noise(31, 29, least=0xC0),
    "around the first count": noise(31, 29, least=0xBE, most=0xC2),
    "flat": np.full((40, 1, 200), 7, np.uint8),
    "flat and high": np.full((40, 1, 200), 255, np.uint8),
    "one pixel": np.array([[[200]]], np.uint8),
    "longer than a chunk": noise(300, 200),
}


@pytest.mark.parametrize("across", [False, True], ids=["by line", "across lines"])
@pytest.mark.parametrize("lines", KINDS.values(), ids=KINDS)
def test_eight_bits_with_a_palette(lines, across):
    assert np.array_equal(decoded(picture(lines, across)), PALETTE[lines[:, 0]])


@pytest.mark.parametrize("across", [False, True])
@pytest.mark.parametrize("planes", [3, 4])
def test_planes_of_eight_bits_are_colours(planes, across):
    lines = noise(9, 7, planes)
    assert np.array_equal(decoded(picture(lines, across, tail=b"")), lines.transpose(0, 2, 1))


@pytest.mark.parametrize("planes", [1, 3])
def test_without_runs(planes):
    lines = noise(9, 7, planes)
    expected = PALETTE[lines[:, 0]] if planes == 1 else lines.transpose(0, 2, 1)
    assert np.array_equal(decoded(picture(lines, encoding=0)), expected)


@pytest.mark.parametrize("stride", [5, 6, 9, 20])
@pytest.mark.parametrize("planes", [1, 3])
def test_lines_may_be_longer_than_the_picture(planes, stride):
    lines = noise(9, stride, planes)
    expected = (PALETTE[lines[:, 0]] if planes == 1 else lines.transpose(0, 2, 1))[:, :5]
    assert np.array_equal(decoded(picture(lines, width=5)), expected)


@pytest.mark.parametrize("facts", [{"stride": 0}, {"stride": 4}, {"corner": (7, 300)}], ids=str)
def test_lines_that_say_less_than_they_need_and_a_corner_that_is_not_zero(facts):
    lines = noise(9, 5)
    assert np.array_equal(decoded(picture(lines, **facts)), PALETTE[lines[:, 0]])


def test_a_count_of_zero_stands_for_nothing():
    data = header(3, 1) + bytes([1, 0xC0, 200, 0xC0, 5, 2, 0xC0, 0xFF, 3]) + MARK + PALETTE.tobytes()
    assert np.array_equal(decoded(data), PALETTE[[[1, 2, 3]]])


@pytest.mark.parametrize(("bits", "planes"), [(1, 1), (2, 1), (4, 1), (1, 2), (1, 3), (1, 4)])
@pytest.mark.parametrize("width", [1, 8, 13])
def test_fewer_bits_with_the_headers_palette(bits, planes, width):
    colours = RNG.integers(0, 1 << (bits * planes), (5, width))
    stride = (width * bits + 7) // 8 + 1
    lines = np.zeros((5, planes, stride), np.uint8)
    for (y, x), colour in np.ndenumerate(colours):
        for plane in range(planes):
            value = int(colour) >> (bits * plane) & ((1 << bits) - 1)
            place = x * bits
            lines[y, plane, place // 8] |= value << (8 - bits - place % 8)
    data = picture(lines, width=width, bits=bits, ega=EGA.tobytes(), tail=b"")
    assert np.array_equal(decoded(data), EGA[colours])


def test_one_bit_without_colours_is_black_and_white():
    data = picture(np.array([[[0b10100000]]], np.uint8), width=3, bits=1, tail=b"")
    assert decoded(data)[0].tolist() == [[255] * 3, [0] * 3, [255] * 3]


# -- what games accept


def test_a_palette_is_where_games_look_with_its_mark_or_without():
    lines = noise(9, 5, least=0x10)
    for between in (b"", b"\0", b"junk", b"anything" * 100 + MARK):
        data = picture(lines, tail=between + PALETTE.tobytes())
        assert np.array_equal(decoded(data), PALETTE[lines[:, 0]])


def test_without_a_palette_it_is_grey():
    lines = noise(60, 50, least=0x10, most=0xC0)
    for tail in (b"", b"junk"):
        assert np.array_equal(decoded(picture(lines, tail=tail), ["grey"]), lines[:, 0, :, None].repeat(3, axis=2))
    small = np.arange(16, dtype=np.uint8).reshape(1, 1, 16) * 17
    assert decoded(picture(small, bits=4, width=32, tail=b""), ["grey"])[0, 2:4].tolist() == [[17] * 3] * 2


def test_a_palette_of_one_colour_is_one():
    assert (decoded(picture(noise(3, 3), tail=MARK + bytes([9]) * 768)) == 9).all()


def test_lines_that_are_missing_are_black():
    lines = noise(10, 50, most=0xC0)
    body = picture(lines, tail=b"")[:-120]  # no runs: 50 bytes a line
    pixels = decoded(body + MARK + PALETTE.tobytes(), ["ends after 7 of its 10 lines"])
    assert np.array_equal(pixels[:7], PALETTE[lines[:7, 0]])
    assert not pixels[7:].any()
    pixels = decoded(body, ["grey", "ends after 7"])
    assert np.array_equal(pixels[:7, :, 0], lines[:7, 0])
    assert not pixels[7:].any()


def test_the_last_line_needs_no_padding():
    lines = noise(4, 8, 3, most=0xC0)
    data = picture(lines, width=5, tail=b"")[:-3]
    assert np.array_equal(decoded(data), lines.transpose(0, 2, 1)[:, :5])
    assert not decoded(data[:-1], ["3 of its 4"])[3].any()


def test_a_count_at_the_very_end_is_dropped():
    data = header(3, 2) + bytes([1, 2, 3, 4, 5, 0xC1])
    assert decoded(data, ["grey", "1 of its 2"])[0, :, 0].tolist() == [1, 2, 3]


# -- runs


def slow_runs(body: bytes) -> list[int]:
    """Return the values of runs, byte by byte."""
    values: list[int] = []
    at = 0
    while at < len(body):
        if body[at] < 0xC0:
            values.append(body[at])
            at += 1
        else:
            values += body[at + 1 : at + 2] * (body[at] - 0xC0)
            at += 2
    return values


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 64, 1 << 15])
def test_runs_of_random_bytes(monkeypatch, chunk):
    monkeypatch.setattr(pcx, "CHUNK", max(chunk, 2))
    for length in (0, 1, 2, 3, 10, 200):
        for least in (0, 0xB8, 0xC0):
            body = RNG.integers(least, 256, length, dtype=np.uint8)
            expected = slow_runs(body.tobytes())
            for size in {0, 1, len(expected) // 2, len(expected), len(expected) + 9}:
                values = np.zeros(size, np.uint8)
                done = pcx.decode_runs(body, values)
                assert done == min(size, len(expected))
                assert values[:done].tolist() == expected[:done]
                assert not values[done:].any()


# -- broken files

GOOD = picture(noise(9, 5))
WRONG = {
    "empty": b"",
    "only half a header": GOOD[:64],
    "only a header": GOOD[:128],
    "a PNG": b"\x89PNG\r\n\x1a\n" + bytes(200),
    "another manufacturer": header(5, 9, manufacturer=11) + GOOD[128:],
    "an unknown encoding": header(5, 9, encoding=2) + GOOD[128:],
    "sixteen bits": header(5, 9, bits=16) + GOOD[128:],
    "no bits": header(5, 9, bits=0) + GOOD[128:],
    "no planes": header(5, 9, planes=0) + GOOD[128:],
    "two planes of bytes": header(5, 9, planes=2) + GOOD[128:],
    "255 planes": header(5, 9, planes=255) + GOOD[128:],
    "no width": header(0, 9, corner=(1, 0)) + GOOD[128:],
    "no height": header(5, 0, corner=(0, 1)) + GOOD[128:],
    "corners swapped": GOOD[:4] + struct.pack("<4H", 5, 9, 0, 0) + GOOD[12:],
    "too wide": header(4097, 9) + bytes(100_000),
    "too high": header(5, 4097) + bytes(100_000),
    "the largest of all": GOOD[:4] + struct.pack("<4H", 0, 0, 65535, 65535) + GOOD[12:],
    "more than the file holds": header(4096, 4096) + GOOD[128:],
    "more planes than the file holds": header(4096, 4096, planes=4) + GOOD[128:],
    "lines longer than the file": header(5, 4096, stride=65535) + GOOD[128:],
    "more than anyone needs": header(1, 4096, stride=65535, planes=4) + bytes(20_000_000),
    "more than the file holds without runs": header(400, 400, encoding=0) + bytes(30_000),
}


@pytest.mark.parametrize("data", WRONG.values(), ids=WRONG)
def test_a_broken_file_is_refused(data, monkeypatch):
    monkeypatch.setattr(np, "zeros", None)  # and nothing is allocated before that
    with pytest.raises(FormatError) as caught:
        pcx.decode(data)
    assert caught.value.expected and caught.value.found


@pytest.mark.parametrize("lines", [noise(9, 5), noise(9, 5, 3)], ids=["palette", "planes"])
def test_any_file_gives_a_picture_or_an_error(lines):
    good = picture(lines)
    cuts = [good[:length] for length in range(len(good))]
    dice = random.Random(4)
    for _ in range(500):
        data = bytearray(good)
        for _ in range(dice.randint(1, 4)):
            data[dice.randrange(130)] = dice.choice((0, 1, 2, 4, 8, 0x7F, 0xC0, 0xFF, dice.randrange(256)))
        cuts.append(bytes(data))
    for data in cuts:
        try:
            with collected_warnings():
                pixels = pcx.decode(data)
        except FormatError:
            continue
        assert pixels.ndim == 3 and pixels.shape[2] in (3, 4)


# -- files


def test_a_file_is_read_by_its_name_and_its_first_byte(tmp_path):
    for name in ("a.pcx", "B.PCX"):
        path = tmp_path / name
        path.write_bytes(GOOD)
        pixels: Any = pcx.read(Disk().file(path))
        assert np.array_equal(pixels, pcx.decode(GOOD))
    for name, data in (("a.png", GOOD), ("c.pcx", b"\x89PNG"), ("d.pcx", b"")):
        path = tmp_path / name
        path.write_bytes(data)
        assert pcx.read(Disk().file(path)) is None, name


def test_warnings_name_the_file(tmp_path):
    path = tmp_path / "cut.pcx"
    path.write_bytes(GOOD[:-800])
    with collected_warnings() as texts:
        pcx.read(Disk().file(path))
    assert texts and all("'cut.pcx'" in text for text in texts)


def test_a_file_that_can_not_be_read_is_an_error(tmp_path, monkeypatch):
    with pytest.raises(ModelError, match="can't read"):
        pcx.read(Disk().file(tmp_path / "nowhere.pcx"))
    (tmp_path / "folder.pcx").mkdir()
    with pytest.raises(ModelError, match="can't read"):
        pcx.read(Disk().file(tmp_path / "folder.pcx"))
    monkeypatch.setattr(pcx, "MAX_FILE", 100)
    (tmp_path / "large.pcx").write_bytes(GOOD)
    with pytest.raises(FormatError, match="too many bytes"):
        pcx.read(Disk().file(tmp_path / "large.pcx"))


REAL = sorted(CORPUS.rglob("*.pcx"))


@pytest.mark.skipif(not REAL, reason="the corpus of real files is not here")
def test_real_skins():
    sizes = {}
    for path in REAL:
        data = path.read_bytes()
        with collected_warnings() as texts:
            pixels = pcx.read(Disk().file(path))
        assert pixels is not None
        assert not texts
        height, width, _ = pixels.shape
        values = np.array(slow_runs(data[128:-769])[: width * height], np.uint8)  # as games read them
        colours = np.frombuffer(data[-768:], np.uint8).reshape(256, 3)
        assert np.array_equal(pixels, colours[values].reshape(height, width, 3))
        sizes[path.parent.name] = (width, height)
    assert sizes == {"crosshair": (128, 128), "v_rail": (308, 181), "invisibility": (296, 132)}


def test_this_writer_is_right():
    assert pack_runs(b"\x01\x01\x02\xc0\xff\xff") == b"\xc2\x01\x02\xc1\xc0\xc2\xff"
    assert pack_runs(bytes(70)) == b"\xff\x00\xc7\x00"
    assert len(header(1, 1)) == 128
    assert GOOD[:12] == b"\x0a\x05\x01\x08\0\0\0\0\x04\0\x08\0"


@pytest.mark.parametrize("size", [(1, 1), (3, 5), (32, 32), (7, 200)])
@pytest.mark.parametrize("kinds", [1, 2, 256])
def test_what_is_written_is_read(size, kinds):
    numbers = RNG.integers(0, kinds, size, dtype=np.uint8)
    data = pcx.encode(numbers, PALETTE)
    wanted = header(size[1], size[0], stride=size[1] + size[1] % 2)
    assert (data[:12], data[16:128]) == (wanted[:12], wanted[16:]), "all but dots per inch, which no reader asks"
    np.testing.assert_array_equal(pcx.decode(data), PALETTE[numbers])
    assert data[-769:] == MARK + PALETTE.tobytes()
    width = size[1]
    assert data[128:-769] == b"".join(pack_runs(line.tobytes() + line[-1:].tobytes() * (width % 2)) for line in numbers)


def test_numbers_and_palette_are_as_they_were_written():
    numbers = RNG.integers(0, 256, (5, 7), dtype=np.uint8)
    found = pcx.numbers_of(pcx.encode(numbers, PALETTE))
    assert found is not None
    assert (found[0] == numbers).all()
    assert (found[1] == PALETTE).all()


@pytest.mark.parametrize(
    "data",
    [b"", picture(noise(3, 4, planes=3), planes=3, tail=b""), picture(noise(3, 4), tail=b""),
     header(8, 1, bits=1, ega=EGA.tobytes()) + b"\x0f" + bytes(2)],
)  # fmt: skip
def test_what_has_no_palette_of_256_colours_has_no_numbers(data):
    assert pcx.numbers_of(data) is None
