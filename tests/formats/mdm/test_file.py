"""MDM files: structs, and what is wrong with damaged ones. Models are in test_mdm_model."""

import struct
import tracemalloc

import numpy as np
import pytest

from io_idtech_models.formats.mdm import file as mdm
from io_idtech_models.reporting import FormatError
from tests import samples_mdm

HUGE = 2**31 - 1


def place_of_surface(data: bytes, index: int) -> int:
    """Return where a surface begins; plain arithmetic, no package."""
    start = int(struct.unpack_from("<i", data, 84)[0])
    for _ in range(index):
        start += struct.unpack_from("<i", data, start + 172)[0]
    return start


def patched(data: bytes, place: int, value: float) -> bytes:
    """Return a file with another 32-bit number at a place."""
    raw = struct.pack("<f" if isinstance(value, float) else "<i", value)
    return data[:place] + raw + data[place + 4 :]


# -- what is read is written


def test_a_file_is_read_field_by_field():
    spec = samples_mdm.figure_spec()
    spec.lod, spec.surfaces[0].shader_index = (0.75, -0.125), 7
    file = mdm.read(spec.pack())
    assert bytes(file.header["name"]).startswith(spec.name)
    assert (file.header["lod_scale"], file.header["lod_bias"]) == spec.lod
    for surface, own in zip(file.surfaces, spec.surfaces, strict=True):
        head = surface.header
        assert [bytes(head[n]) for n in ("name", "shader")] == [own.name, own.shader]
        assert [int(head[n]) for n in ("ident", "shader_index", "min_lod")] == [9, own.shader_index, own.min_lod]
        ends = np.cumsum(surface.vertices["num_weights"])
        for vertex, (normal, st, weights) in enumerate(own.verts):
            found = surface.weights[ends[vertex] - len(weights) : ends[vertex]]
            assert surface.vertices["num_weights"][vertex] == len(weights)
            assert surface.vertices["normal"][vertex].tolist() == [np.float32(x) for x in normal]
            assert surface.vertices["st"][vertex].tolist() == [np.float32(x) for x in st]
            for row, (bone, weight, offset) in zip(found, weights, strict=True):
                assert (row["bone"], row["weight"], row["offset"].tolist()) == (bone, np.float32(weight), list(offset))
        assert surface.triangles.tolist() == [list(tri) for tri in own.tris]
        assert (surface.collapse.tolist(), surface.bone_refs.tolist()) == (own.collapse, own.refs)
    for tag, wanted in zip(file.tags, spec.tags, strict=True):
        assert (bytes(tag.header["name"]), tag.header["bone"]) == (wanted.name, wanted.bone)
        assert (tag.header["offset"].tolist(), tag.header["axis"].ravel().tolist()) == (
            list(wanted.offset), list(wanted.axis),
        )  # fmt: skip
        assert tag.bone_refs.tolist() == wanted.refs


@pytest.mark.parametrize("make", [samples_mdm.figure, samples_mdm.odd_layout])
def test_parts_that_go_and_change_places(make):
    """What lies between lumps stays with them; the others are as they were."""
    before = mdm.read(make())
    file = mdm.read(make())
    file.surfaces.reverse()
    file.source_surfaces = [1, 0]
    del file.tags[1], file.source_tags[1]
    data = mdm.write(file)
    after = mdm.read(data)
    names = [bytes(s.header["name"]) for s in before.surfaces]
    assert [bytes(s.header["name"]) for s in after.surfaces] == names[::-1]
    assert [bytes(t.header["name"]) for t in after.tags] == [bytes(before.tags[i].header["name"]) for i in (0, 2)]
    for one, other in zip(before.surfaces, after.surfaces[::-1], strict=True):
        assert one.weights.tobytes() == other.weights.tobytes()
        np.testing.assert_array_equal(one.triangles, other.triangles)
    for index, surface in enumerate(after.surfaces):
        assert surface.header["ofs_header"] == -place_of_surface(data, index)


# -- damage

NUM_SURFACES = 80
SURFACE = {
    "num_verts": 144, "ofs_verts": 148, "num_triangles": 152, "ofs_triangles": 156, "ofs_collapse": 160,
    "num_bone_refs": 164, "ofs_bone_refs": 168, "ofs_end": 172,
}  # fmt: skip


def test_the_weight_that_is_wrong_is_named():
    """The second weight of a vertex in the middle: its byte is found by walking through all before."""
    spec = samples_mdm.figure_spec()
    vertex = 16
    weights = spec.surfaces[0].verts[vertex][2]
    weights[1] = (70_000, *weights[1][1:])
    before = sum(24 + 20 * len(own) for _, _, own in spec.surfaces[0].verts[:vertex])
    data = spec.pack()
    start = place_of_surface(data, 0)
    place = start + struct.unpack_from("<i", data, start + SURFACE["ofs_verts"])[0] + before + 24 + 20
    with pytest.raises(FormatError, match=f"weight of vertex {vertex} of surface 0 'u_body' at byte {place}:"):
        mdm.read(data)


def peak_of(data: bytes, said: str = " of surface 0") -> int:
    """Return how much memory it takes to refuse a file."""
    tracemalloc.start()
    try:
        with pytest.raises(FormatError, match=said):
            mdm.read(data)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("field", ["num_verts", "num_triangles", "num_bone_refs"])
def test_hostile_counts_cost_nothing(field):
    data = samples_mdm.figure()
    for value in (HUGE, 2**24):
        assert peak_of(patched(data, place_of_surface(data, 0) + SURFACE[field], value)) < 1 << 20


def test_surfaces_that_share_their_lumps_are_refused():
    """A small file would become a huge model; it is refused before it does."""
    big = samples_mdm.figure_spec()
    big.tags, big.surfaces = [], big.surfaces[:1]
    data = bytearray(big.pack())
    first = place_of_surface(bytes(data), 0)
    count, end = 2000, len(data)
    heads = b""
    for index in range(count):
        head = bytearray(data[first : first + 176])
        for field in ("ofs_verts", "ofs_triangles", "ofs_collapse", "ofs_bone_refs"):
            old = struct.unpack_from("<i", head, SURFACE[field])[0]
            struct.pack_into("<i", head, SURFACE[field], old + first - (end + 176 * index))
        struct.pack_into("<i", head, SURFACE["ofs_end"], 176)
        heads += bytes(head)
    struct.pack_into("<2i", data, NUM_SURFACES, count, end)
    shared = bytes(data) + heads
    assert len(mdm.read(patched(shared, NUM_SURFACES, 1)).surfaces) == 1
    assert peak_of(shared, "lumps overlap") < 12 * len(shared)


def test_a_vertex_chain_of_any_length():
    """Vertices are found by their weights, whose number differs; far more than the reader looks at in one go."""
    spec = samples_mdm.figure_spec()
    part = spec.surfaces[1]
    part.verts = [((0.0, 0.0, 1.0), (v / 999, 0.0), [(0, 1.0, (float(v), 0.0, 0.0))] * (v % 97)) for v in range(999)]
    part.collapse = [0] * 999
    found = mdm.read(spec.pack()).surfaces[1]
    assert found.vertices["num_weights"].tolist() == [v % 97 for v in range(999)]
    owners = np.repeat(np.arange(999), found.vertices["num_weights"])
    np.testing.assert_array_equal(found.weights["offset"][:, 0], owners)
