"""Files as data: what is declared here are formats that the project does not have, read and written without code."""

import struct
from typing import Any

import numpy as np
import pytest

from io_idtech_models.formats.common import reader, writer
from io_idtech_models.formats.common.chunks import Chain, File, Lump
from io_idtech_models.formats.common.weighted import WeightedVertices
from io_idtech_models.reporting import FormatError
from tests.mdc import INDEX, MDC, mdc, numbers, record, structs
from tests.samples import corpus_params

# -- MDS: a skeleton's frames, whose size its bones give, and meshes of weighted vertices

VERTEX = record(("normal", "<f4", 3), ("st", "<f4", 2), "num_weights", "fixed_parent", ("fixed_dist", "<f4"))
MDS_SURFACE = Chain(
    structs("vertices weights triangles collapse bone_refs"),
    record(
        "ident", ("name", "S64"), ("shader", "S64"), "shader_index", "min_lod", "ofs_header", "num_verts",
        "ofs_vertices", "num_triangles", "ofs_triangles", "ofs_collapse", "num_bone_refs", "ofs_bone_refs", "ofs_end",
    ),
    (
        WeightedVertices("vertices", VERTEX, ("num_verts",), most_bones=128),
        Lump("triangles", INDEX, ("num_triangles", 3)),
        Lump("collapse", INDEX, ("num_verts",)),
        Lump("bone_refs", INDEX, ("num_bone_refs",)),
    ),
    "surfaces",
    "surface",
    back="ofs_header",
)  # fmt: skip
MDS = File(
    structs("frames bones tags", "surfaces", whole=True),
    record(
        ("ident", "S4"), "version", ("name", "S64"), ("lod", "<f4", 2), "num_frames", "num_bones", "ofs_frames",
        "ofs_bones", "torso_parent", "num_surfaces", "ofs_surfaces", "num_tags", "ofs_tags", "ofs_end",
    ),
    (
        Lump("frames", lambda header: np.dtype(f"V{52 + 12 * header['num_bones']}"), ("num_frames",), last=True),
        Lump("bones", np.dtype("u1"), ("num_bones", 80)),
        Lump("tags", record(("name", "S64"), ("torso_weight", "<f4"), "bone"), ("num_tags",)),
        MDS_SURFACE,
    ),
    "MDS",
    b"MDSW",
    4,
)  # fmt: skip

# -- a vehicle's tags, right behind the header

TAG = File(
    structs("tags", whole=True),
    record(("ident", "S4"), "version", "num_tags", "ofs_end"),
    (Lump("tags", record(("name", "S64"), ("place", "<f4", (4, 3))), ("num_tags",), offset=16),),
    "TAG",
    b"TAG3",
    1,
)

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


DECLARED = {".mdc": MDC, ".mds": MDS, ".tag": TAG}


def test_a_declared_format_is_read_and_comes_back():
    found = reader.read(MDC, mdc(b"tail"))
    assert found.tag_names.tolist() == [b"tag_gun"]
    assert found.tags.shape == (2, 1, 6)
    (surface,) = found.surfaces
    assert surface.bases.shape == (1, 3, 4)
    assert surface.delta_frames.tolist() == [-1, 0]
    assert writer.write(MDC, found) == mdc(b"tail")


def test_without_a_layout_lumps_follow_as_declared():
    found = reader.read(MDC, mdc(b"tail"))
    found.layout = {}
    assert writer.write(MDC, found) == mdc().replace(b"gap", b"").replace(
        struct.pack("<4i", 112, 224, 291, 315), struct.pack("<4i", 112, 224, 288, 312)
    ).replace(struct.pack("<i", len(mdc())), struct.pack("<i", len(mdc()) - 3))


def test_a_layout_that_begins_with_another_lump_than_the_header_is_not_kept():
    found = reader.read(MDC, mdc())
    order = found.layout["layout_order"]
    found.layout["layout_order"] = np.append(order[1:], order[:1])
    again = reader.read(MDC, writer.write(MDC, found))
    assert again.layout["layout_order"].tolist() == sorted(order.tolist())


def test_counts_are_those_of_the_arrays():
    found = reader.read(MDC, mdc())
    surface = found.surfaces[0]
    surface.shaders = np.concatenate((surface.shaders, surface.shaders))
    found.surfaces.append(surface)
    found.source_surfaces.append(-1)
    again = reader.read(MDC, writer.write(MDC, found))
    assert [(int(s.header["num_shaders"]), len(s.shaders)) for s in again.surfaces] == [(2, 2)] * 2
    assert again.surfaces[1].st.tobytes() == surface.st.tobytes()


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        (0, 5, "not an MDC file at byte 0: expected IDPC"),
        (4, 3, "unsupported MDC version at byte 4: expected 2, found 3"),
        (76, 0, "model without frames at byte 76: expected 1 or more, found 0"),
        (80, -1, "negative number of names of tags: expected 0 or more, found -1"),
        (84, -5, "negative number of surfaces at byte 84: expected 0 or more, found -5"),
        (84, 2, "header of surface 1 run past the end of the file"),
        (92, 10**9, "frames run past the end of the file at byte 1000000000"),
        (315 + 76, 4, "base frames of surface 0 'box' run past the end of the file"),
        (315 + 96, -400, "shaders of surface 0 'box' run past the end of the file at byte -85"),
    ],
)
def test_broken_files_are_refused(place, value, said):
    broken = bytearray(mdc())
    struct.pack_into("<i", broken, place, value)
    with pytest.raises(FormatError) as error:
        reader.read(MDC, bytes(broken))
    assert said in str(error.value)


def test_a_file_that_ends_anywhere_is_refused():
    for size in range(len(mdc())):
        with pytest.raises(FormatError):
            reader.read(MDC, mdc()[:size])


def test_chains_in_chains_come_back():
    found = reader.read(LEVELS, levels())
    assert [[s.header["name"] for s in level.surfaces] for level in found.levels] == [[b"one", b"two"], [b"one"]]
    assert (found.source_levels, found.source_surfaces) == ([0, 1], [0, 1, 2])
    assert writer.write(LEVELS, found) == levels()
    del found.levels[0]
    found.source_levels, found.source_surfaces = [1], [2]
    assert writer.write(LEVELS, found)[20:] == levels()[20 + 12 + 32 + 20 :]


def test_a_part_of_a_part_says_where_it_lies():
    broken = levels()[:-1]
    with pytest.raises(FormatError, match=r"^triangles of surface 0 'one' of level 1 run past the end"):
        reader.read(LEVELS, broken)


def test_lumps_without_an_offset_stay_where_they_belong():
    data = numbers(b"TAG3", 1, 1, 16 + 112) + b"tag_main".ljust(64, b"\0") + struct.pack("<12f", *range(12))
    found = reader.read(TAG, data)
    assert found.tags["name"].tolist() == [b"tag_main"]
    assert writer.write(TAG, found) == data
    found.layout["layout_gaps"] = np.array([0, 2], np.int64)
    found.layout["layout_filler"] = np.zeros(2, np.uint8)
    assert writer.write(TAG, found) == data


@pytest.mark.parametrize("file", corpus_params(*DECLARED))
def test_real_files_of_formats_that_are_only_declared_come_back(file):
    data = file.path.read_bytes()
    if data.startswith(b"IDP3"):
        pytest.skip("an MD3 by another name")
    declared: Any = DECLARED[file.path.suffix.lower()]
    found = reader.read(declared, data)
    assert writer.write(declared, found) == data
    if "num_frames" in found.header.dtype.names:
        assert len(found.frames) == file.entry["frames"]
