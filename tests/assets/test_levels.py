"""Levels of detail beside a model's file: what the command line writes, and what is said of those that are there."""

from pathlib import Path

import numpy as np
import pytest

from io_idtech_models.assets.levels import dump_levels, level_files, level_target, stale_levels
from io_idtech_models.formats import by_name
from io_idtech_models.reporting import LimitError
from tests.model.lod.test_collapse import sphere
from tests.model.lod.test_levels import bent, model_of, surface_of
from tests.samples import dump, load, sample

MD3 = by_name("md3")
SHARES = (0.5, 0.25)


def ball(frames=4):
    return dump(model_of(surface_of(*bent(sphere(20, 16), frames))), "md3")


def faces(data):
    return sum(len(surface.triangles) for surface in load(data).surfaces)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "head.md3").write_bytes(ball())
    (tmp_path / "arm.md2").write_bytes(sample("animated", "md2"))
    return tmp_path


def test_levels_are_called_as_games_call_them():
    assert level_target(Path("models/head.md3"), 2) == Path("models/head_2.md3")
    assert level_target(Path("a.b/head.x.MD3"), 1) == Path("a.b/head.x_1.MD3")


def test_what_a_level_has_it_has_from_the_file():
    data = ball()
    (half, quarter), notes = dump_levels(MD3, data, "head", SHARES)
    assert notes == []
    whole = load(data)
    for found, share in ((half, 0.5), (quarter, 0.25)):
        level = load(found)
        assert faces(found) == pytest.approx(share * faces(data), abs=2)
        assert level.frame_names == whole.frame_names
        assert [tag.name for tag in level.tags] == [tag.name for tag in whole.tags]
        assert np.array_equal(level.tags[0].origins, whole.tags[0].origins)
        ways = {way.tobytes() for way in whole.source.surfaces[0].codes.transpose(1, 0, 2)}
        assert {way.tobytes() for way in level.source.surfaces[0].codes.transpose(1, 0, 2)} <= ways


def test_convert_writes_levels_beside_a_model(folder, run):
    assert run("convert", "head.md3", "out/hat.md3", "--levels", "50,25")[::2] == (0, [])
    assert {path.name for path in (folder / "out").iterdir()} == {"hat.md3", "hat_1.md3", "hat_2.md3"}
    assert (folder / "out/hat.md3").read_bytes() == ball()
    wanted, _ = dump_levels(MD3, ball(), "hat", SHARES)
    assert [(folder / f"out/hat_{n}.md3").read_bytes() for n in (1, 2)] == wanted


def test_no_level_is_written_over_another_model(folder, run):
    (folder / "head_1.md3").write_bytes(ball(2))
    status, _, (said,) = run("convert", "head.md3", "head_1.md3", "--to", "md3", "out", "--levels", "50")
    assert status == 2
    assert f"'head.md3' and 'head_1.md3' would both become '{Path('out/head_1.md3')}'" in said
    status, _, (said,) = run("convert", "head_1.md3", "head.md3", "--levels", "50")
    assert status == 2
    assert "'head_1.md3' is an input: it would be written over" in said
    assert run("convert", "head.md3", "head_1.md3", "--to", "md3", "out")[0] == 0


def test_what_can_not_go_is_said(folder, run):
    (folder / "head.md3").write_bytes(sample("minimal"))
    status, (said,), _ = run("convert", "head.md3", "x.md3", "--levels", "50")
    assert status == 0
    assert "'x_1' has 100 % of the faces, not 50: no more can go without a tear" in said


@pytest.mark.parametrize(
    ("model", "levels", "target", "words"),
    [
        ("head", "50", "x.md2", "games read no levels of detail beside '.md2' files"),
        ("head", "50", "x.mdm", "games read no levels of detail beside '.mdm' files"),
        ("head", "25,50", "x.md3", "percentages that fall"),
        ("head", "80,60,40,20", "x.md3", "games take 3 levels"),
        ("hand", "50", "x.md3", "no faces"),
    ],
)
def test_what_is_refused_writes_nothing(folder, run, model, levels, target, words):
    (folder / "hand.md3").write_bytes(sample("tags_only"))
    status, _, err = run("convert", f"{model}.md3", target, "--levels", levels)
    assert status != 0
    assert words in "".join(err)
    assert not list(folder.glob("x*"))


def test_pieces_of_a_surface_that_was_cut_have_their_levels(folder, run):
    (folder / "big.md3").write_bytes(dump(model_of(surface_of(*bent(sphere(50, 40), 2))), "md3"))
    options = ("--levels", "50", "--game", "quake3", "--split-surfaces")
    assert run("convert", "big.md3", "x.md3", *options)[::2] == (0, [])
    whole, level = (load((folder / name).read_bytes()) for name in ("x.md3", "x_1.md3"))
    assert [s.name for s in level.surfaces] == [s.name for s in whole.surfaces] == ["skin", "skin2", "skin3"]


def test_no_levels_asked_for_are_none(tmp_path):
    assert level_files(MD3, b"", tmp_path / "a.md3", ()) == ([], [])
    with pytest.raises(LimitError, match=r"beside '\.md2' files"):
        level_files(by_name("md2"), sample("animated", "md2"), tmp_path / "a.md2", (0.5,))


def test_levels_that_lie_there_from_before(tmp_path):
    target, data = tmp_path / "head.md3", ball()

    def said(*written):
        return list(stale_levels(MD3, data, target, written))

    assert said() == []
    old = tmp_path / "head_1.md3"
    old.write_bytes(b"old")
    text = "'head_1.md3' lies beside it from before, and games show that from afar: make levels of detail anew"
    assert said() == [text]
    assert said(old) == []
    target.write_bytes(b"edited since")
    assert said() == [text]
    target.write_bytes(data)
    assert said() == [], "nothing changes"
    assert list(stale_levels(by_name("md2"), b"", target, ())) == []


@pytest.mark.parametrize("name", ["", "x" * 253 + ".md3", "a\0.md3"])
def test_names_that_can_not_be_are_left_to_who_writes(name):
    assert list(stale_levels(MD3, b"", Path(name), ())) == []
