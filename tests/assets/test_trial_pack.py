"""The archive of a trial, and the room: what is in them, and that it is the same everywhere."""

import io
import math
import struct
import zipfile

import numpy as np

from io_idtech_models.assets.trial import pack
from io_idtech_models.game.folders import Disk
from io_idtech_models.game.pictures import tga
from io_idtech_models.game.trial import room
from io_idtech_models.game.trial.subject import out_of_reach

LUMPS = {1: 72, 2: 16, 3: 36, 4: 48, 5: 4, 6: 4, 7: 40, 8: 12, 9: 8, 10: 44, 11: 4, 13: 104, 15: 8}  # sizes of records


def test_a_pack_holds_the_files(tmp_path):
    files = {"models/b.md3": b"b", "models/a.md3": b"a" * 99, "scripts/ä.shader": b""}
    with zipfile.ZipFile(io.BytesIO(pack(files))) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == files
        assert archive.testzip() is None
    (tmp_path / "a.pk3").write_bytes(pack(files))
    assert Disk().file(tmp_path / "a.pk3" / "models" / "a.md3").read() == b"a" * 99


def test_a_pack_is_the_same_for_the_same_files():
    assert pack({"b": b"1", "a": b"2"}) == pack({"a": b"2", "b": b"1"})
    (entry,) = zipfile.ZipFile(io.BytesIO(pack({"a": b"1"}))).infolist()
    assert (entry.date_time, entry.create_system, entry.compress_type) == ((1980, 1, 1, 0, 0, 0), 0, 0)


def test_paths_that_are_too_long_for_games():
    assert out_of_reach({"a" * 63: b"", "a" * 64: b"", "ä" * 32: b""}) == ["a" * 64, "ä" * 32]


def test_the_room_is_a_map():
    level = room.level()
    assert struct.unpack_from("<4si", level) == (b"IBSP", 46)
    places = [struct.unpack_from("<2i", level, 8 + 8 * lump) for lump in range(17)]
    ends = [8 + 8 * 17, *(place + length for place, length in places)]
    assert [place for place, _ in places] == [-(-end // 4) * 4 for end in ends[:-1]], "one behind the other"
    assert len(level) == -(-ends[-1] // 4) * 4
    assert all(places[lump][1] % size == 0 and places[lump][1] for lump, size in LUMPS.items())
    counts = {lump: places[lump][1] // size for lump, size in LUMPS.items()}
    assert (counts[8], counts[9], counts[10], counts[11], counts[13]) == (6, 36, 24, 36, 6)
    assert counts[2] == 37
    assert counts[15] == 9 * 9 * 7, "as many points as engines look for"
    assert level[slice(places[0][0], sum(places[0]))].count(b"info_player_deathmatch") == 1, "one place to stand"


def test_its_walls_are_solid_and_nothing_else_is():
    level = room.level()
    (place, _), (brushes, _), (sides, _) = (struct.unpack_from("<2i", level, 8 + 8 * lump) for lump in (2, 8, 9))

    def walls_at(point):
        found = 0
        for brush in range(6):
            first, count, _ = struct.unpack_from("<3i", level, brushes + 12 * brush)
            planes = [struct.unpack_from("<i", level, sides + 8 * side)[0] for side in range(first, first + count)]
            spelt = [struct.unpack_from("<4f", level, place + 16 * plane) for plane in planes]
            found += all(np.dot(plane[:3], point) <= plane[3] for plane in spelt)
        return found

    middle = (np.array(room.LOW) + room.HIGH) / 2
    assert walls_at(middle) == 0
    for axis in range(3):
        for end, away in ((room.LOW, -1), (room.HIGH, 1)):
            point = middle.copy()
            point[axis] = end[axis] - away
            assert walls_at(point) == 0
            point[axis] = end[axis] + away
            assert walls_at(point) == 1


def test_its_walls_face_inward():
    level = room.level()
    (vertices, _), (indices, _), (surfaces, length) = (
        struct.unpack_from("<2i", level, 8 + 8 * n) for n in (10, 11, 13)
    )
    for at in range(surfaces, surfaces + length, 104):
        first, _, first_index, count = struct.unpack_from("<4i", level, at + 12)
        normal = struct.unpack_from("<3f", level, at + 84)
        for corner in range(0, count, 3):
            picks = struct.unpack_from("<3i", level, indices + 4 * (first_index + corner))
            a, b, c = (struct.unpack_from("<3f", level, vertices + 44 * (first + pick)) for pick in picks)
            u, v = [b[n] - a[n] for n in range(3)], [c[n] - a[n] for n in range(3)]
            cross = (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])
            assert sum(x * y for x, y in zip(cross, normal, strict=True)) < 0, "clockwise is the front"
            on_a, on_b, on_c = (struct.unpack_from("<2f", level, vertices + 44 * (first + pick) + 12) for pick in picks)
            for near, far, way in ((on_a, on_b, u), (on_a, on_c, v)):
                assert 128 * math.dist(near, far) == math.dist(way, (0, 0, 0)), "the picture covers 128 units"


def test_the_rooms_picture_is_one():
    data = room.picture()
    assert len(data) == 18 + 64 * 64 * 3
    shown = tga.decode(data)
    assert shown.shape == (64, 64, 3)
    dark = (shown == 170).all(axis=2)
    assert (
        np.flatnonzero(dark.all(axis=0)).tolist() == np.flatnonzero(dark.all(axis=1)[::-1]).tolist() == [0, 16, 32, 48]
    )
    assert (shown[~dark] == 235).all()
    assert set(room.files()) == {"maps/idtech-room.bsp", "textures/idtech/room.tga"}
