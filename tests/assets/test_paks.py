"""A .pak is written member by member: what is not meant stays byte for byte, and a failure leaves the old one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from io_idtech_models.assets.paks import with_members, write_pak
from io_idtech_models.assets.player import write_player
from io_idtech_models.reporting import LimitError, ModelError
from tests.stores import contents

OLD = {"a/B.md2": b"first", "a/c.pcx": b"\1\2\3", "readme.txt": b""}


def test_a_new_one(tmp_path):
    assert write_pak(tmp_path / "x.pak", OLD)
    assert contents(tmp_path / "x.pak") == OLD


def test_others_stay_and_the_name_is_spelt_as_it_was(tmp_path):
    path = tmp_path / "x.pak"
    path.write_bytes(with_members(b"", OLD))
    assert write_pak(path, {"A/b.MD2": b"second", "new/d.md2": b"4"})
    assert contents(path) == {**OLD, "a/B.md2": b"second", "new/d.md2": b"4"}
    before = path.stat().st_mtime_ns, path.read_bytes()
    assert not write_pak(path, {"a/b.md2": b"second"})
    assert (path.stat().st_mtime_ns, path.read_bytes()) == before


@given(st.dictionaries(st.from_regex(r"[a-z]{1,9}/[a-z]{1,9}\.[a-z]{3}", fullmatch=True), st.binary(max_size=50)))
def test_what_is_written_is_read(members):
    data = with_members(b"", members)
    assert with_members(data, {}) == data
    assert with_members(data, members) == data


@pytest.mark.parametrize("name", ["", "../x", "a/" + "b" * 54, "a//b", "ä.md2", "a\nb"])
def test_names_that_can_not_be_written(tmp_path, name):
    with pytest.raises(LimitError):
        write_pak(tmp_path / "x.pak", {name: b""})
    assert not (tmp_path / "x.pak").exists()


@pytest.mark.parametrize("data", [b"PK\3\4 something else", b"PACK\xff\xff\0\0\x40\0\0\0"])
def test_what_is_damaged_stays(tmp_path, data):
    path = tmp_path / "x.pak"
    path.write_bytes(data)
    with pytest.raises(ModelError, match="can't write into"):
        write_pak(path, {"a": b"1"})
    assert path.read_bytes() == data


def test_more_members_than_games_take(tmp_path):
    with pytest.raises(ModelError, match="4097 members"):
        write_pak(tmp_path / "x.pak", {f"a/{nth}": b"" for nth in range(4097)})


@pytest.mark.parametrize("suffix", [".pak", ".pkz"])
def test_a_players_files_in_an_archive(tmp_path, suffix):
    path = tmp_path / f"mod{suffix}"
    write_player(path, "imp", {"tris.md2": b"1"}, home=("players",))
    assert contents(path) == {"players/imp/tris.md2": b"1"}
    with pytest.raises(LimitError, match=r"only \.pk3 can be written"):
        write_player(path, "imp", {"lower.md3": b"1"})
