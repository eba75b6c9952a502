"""Files as data: what is declared is read and written without code."""

import struct
from dataclasses import field, make_dataclass
from typing import Any

import numpy as np
import pytest

from io_idtech_models.formats.common import chunks
from io_idtech_models.formats.common.chunks import Chain, File, Lump
from io_idtech_models.formats.mdc.file import MDC
from io_idtech_models.formats.tag.file import TAG_FILE as TAG
from io_idtech_models.reporting import FormatError

INDEX = np.dtype("<i4")


def structs(names: str, *chains: str, inner: tuple[str, ...] = (), whole: bool = False) -> Any:
    """Return a dataclass of a header and what is named; of a whole file with its layout and its parts' sources."""
    fields: list[Any] = ["header", *names.split(), *chains]
    extra: list[Any] = [("layout", dict, field(default_factory=dict))] * whole
    sources: list[Any] = [(f"source_{name}", list, field(default_factory=list)) for name in (*chains, *inner) if whole]
    return make_dataclass("Structs", [*fields, *extra, *sources], eq=False)


def record(*fields: Any) -> np.dtype[Any]:
    """Return a record; what has no type is an int32."""
    return np.dtype([(f, "<i4") if isinstance(f, str) else f for f in fields])


def numbers(text: bytes, *rest: int) -> bytes:
    return text + struct.pack(f"<{len(rest)}i", *rest)


def mdc(tail: bytes = b"") -> bytes:
    """Return an MDC of two frames, the second a delta, with a gap before its tags and a tail."""
    triangle, shader = numbers(b"", 0, 2, 1), numbers(b"skin".ljust(64, b"\0"), 3)
    lumps = [triangle, shader, struct.pack("<6f", *range(6)), struct.pack("<12h", *range(12)), bytes(range(12))]
    lumps += [struct.pack("<2h", 0, 0), struct.pack("<2h", -1, 0)]
    places = [124]
    for lump in lumps:
        places.append(places[-1] + len(lump))
    head = numbers(numbers(b"", 7) + b"box".ljust(64, b"\0"), 0, 1, 1, 1, 3, 1, *places)
    surface = head + b"".join(lumps)
    frames = 2 * struct.pack("<10f16s", *range(10), b"(from ASE)")
    tags = b"tag_gun".ljust(64, b"\0"), struct.pack("<12h", *range(12))
    at = [112, 112 + len(frames), 112 + len(frames) + 64 + 3, 112 + len(frames) + 64 + 3 + 24]
    header = numbers(b"IDPC" + numbers(b"", 2) + b"m".ljust(64, b"\0"), 0, 2, 1, 1, 0, *at, at[3] + len(surface))
    return header + frames + tags[0] + b"gap" + tags[1] + surface + tail


# -- levels of detail, each a chain of surfaces: MDR's shape

LEVELS = File(
    structs("", "levels", inner=("surfaces",), whole=True),
    record(("ident", "S4"), "version", "num_levels", "ofs_levels", "ofs_end"),
    (
        Chain(
            structs("", "surfaces"),
            record("num_surfaces", "ofs_surfaces", "ofs_end"),
            (
                Chain(
                    structs("triangles"),
                    record(("name", "S8"), "num_triangles", "ofs_triangles", "ofs_end"),
                    (Lump("triangles", INDEX, ("num_triangles", 3)),),
                    "surfaces",
                    "surface",
                ),
            ),
            "levels",
            "level",
        ),
    ),
    "LEVELS",
    b"LODS",
    7,
)


def levels() -> bytes:
    """Return two levels of detail of two and one surfaces; a level's and a surface's end lie behind a gap."""
    part = numbers(b"one\0\0\0\0\0", 1, 20, 32) + numbers(b"", 0, 1, 2)
    small = numbers(b"two\0\0\0\0\0", 0, 20, 20)
    first = numbers(b"", 2, 12, 12 + 32 + 20 + 4) + part + small + b"mind"
    second = numbers(b"", 1, 16, 48) + b"gap!" + part
    return numbers(numbers(b"LODS", 7), 2, 20, 20 + len(first) + len(second)) + first + second


def test_a_declared_format_is_read_and_comes_back():
    found = chunks.read(MDC, mdc(b"tail"))
    assert found.tag_names.tolist() == [b"tag_gun"]
    assert found.tags["xyz"].shape == (2, 1, 3)
    (surface,) = found.surfaces
    assert surface.bases.shape == (1, 3, 4)
    assert surface.comp_frames.tolist() == [-1, 0]
    assert chunks.write(MDC, found) == mdc(b"tail")


def test_without_a_layout_lumps_follow_as_declared():
    found = chunks.read(MDC, mdc(b"tail"))
    found.layout = {}
    assert chunks.write(MDC, found) == mdc().replace(b"gap", b"").replace(
        struct.pack("<4i", 112, 224, 291, 315), struct.pack("<4i", 112, 224, 288, 312)
    ).replace(struct.pack("<i", len(mdc())), struct.pack("<i", len(mdc()) - 3))


def test_a_layout_that_begins_with_another_lump_than_the_header_is_not_kept():
    found = chunks.read(MDC, mdc())
    order = found.layout["layout_order"]
    found.layout["layout_order"] = np.append(order[1:], order[:1])
    again = chunks.read(MDC, chunks.write(MDC, found))
    assert again.layout["layout_order"].tolist() == sorted(order.tolist())


def test_counts_are_those_of_the_arrays():
    found = chunks.read(MDC, mdc())
    surface = found.surfaces[0]
    surface.shaders = np.concatenate((surface.shaders, surface.shaders))
    found.surfaces.append(surface)
    found.source_surfaces.append(-1)
    again = chunks.read(MDC, chunks.write(MDC, found))
    assert [(int(s.header["num_shaders"]), len(s.shaders)) for s in again.surfaces] == [(2, 2)] * 2
    assert again.surfaces[1].st.tobytes() == surface.st.tobytes()


def test_the_first_part_of_a_chain_ends_where_it_does():
    """Where the file had none whose end could be kept."""
    found = chunks.read(MDC, mdc(b"tail"))
    surfaces, found.surfaces, found.source_surfaces = found.surfaces, [], []
    found = chunks.read(MDC, chunks.write(MDC, found))
    found.surfaces, found.source_surfaces = surfaces, [-1]
    assert chunks.write(MDC, found) == mdc(b"tail")


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        (84, 2, "header of surface 1 run past the end of the file"),
        (92, 10**9, "frames run past the end of the file at byte 1000000000"),
        (315 + 76, 4, "base frames of surface 0 'box' run past the end of the file"),
        (315 + 96, -400, "shaders of surface 0 'box' run past the end of the file at byte -85"),
    ],
)
def test_broken_files_are_refused_by_what_is_wrong_where(place, value, said):
    broken = bytearray(mdc())
    struct.pack_into("<i", broken, place, value)
    with pytest.raises(FormatError, match=said):
        chunks.read(MDC, bytes(broken))


def test_chains_in_chains_come_back():
    found = chunks.read(LEVELS, levels())
    assert [[s.header["name"] for s in level.surfaces] for level in found.levels] == [[b"one", b"two"], [b"one"]]
    assert (found.source_levels, found.source_surfaces) == ([0, 1], [0, 1, 2])
    assert chunks.write(LEVELS, found) == levels()
    del found.levels[0]
    found.source_levels, found.source_surfaces = [1], [2]
    assert chunks.write(LEVELS, found)[20:] == levels()[20 + 12 + 32 + 20 :]


def test_a_part_of_a_part_says_where_it_lies():
    broken = levels()[:-1]
    with pytest.raises(FormatError, match=r"^triangles of surface 0 'one' of level 1 run past the end"):
        chunks.read(LEVELS, broken)


def test_lumps_without_an_offset_stay_where_they_belong():
    data = numbers(b"TAG3", 1, 1, 16 + 112) + b"tag_main".ljust(64, b"\0") + struct.pack("<12f", *range(12))
    found = chunks.read(TAG, data)
    assert found.tags["name"].tolist() == [b"tag_main"]
    assert chunks.write(TAG, found) == data
    found.layout["layout_gaps"] = np.array([0, 2], np.int64)
    found.layout["layout_filler"] = np.zeros(2, np.uint8)
    assert chunks.write(TAG, found) == data
