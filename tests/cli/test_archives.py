"""The command line on archives and games: `pak0.pk3/models/a.md3` is a file as any other."""

import json
from pathlib import Path

import pytest

from tests import samples_mdm
from tests.packs import Entry, put_files, put_pack, zip_bytes
from tests.samples import sample

pytestmark = pytest.mark.filterwarnings("error")
MODEL = sample("animated")
FILES = {
    "models/Weapons2/bfg/bfg.md3": MODEL, "models/weapons2/gun/gun.MD3": MODEL, "models/weapons2/gun/gun_1.md3": MODEL,
    "models/ammo.md3": MODEL, "models/players/x/tris.md2": sample("animated", "md2"), "scripts/a.shader": b"",
    "models/players/x/x.obj": b"v 0 0 0",
}  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Work in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


@pytest.fixture(params=["pak0.pk3", "pak0.pak"])
def pack(request, folder):
    return put_pack(Path(request.param), FILES)


def test_info_of_a_member(pack, run):
    status, out, err = run("info", f"{pack}/models/Weapons2/bfg/bfg.md3")
    assert (status, err) == (0, [])
    assert out[0] == f"{pack}/models/Weapons2/bfg/bfg.md3: MD3, 3 frames (wave00 ... wave02)"
    assert run("info", f"{pack}/MODELS/weapons2/BFG/bfg.MD3")[0] == 0


def test_info_of_a_whole_archive_a_folder_in_it_and_a_pattern(pack, run):
    def models(*arguments: str) -> list[str]:
        status, out, err = run("info", "--json", *arguments)
        assert (status, err) == (0, [])
        return [Path(each["file"]).as_posix().removeprefix(f"{pack}/") for each in json.loads("\n".join(out))]

    weapons = ["models/Weapons2/bfg/bfg.md3", "models/Weapons2/gun/gun.MD3", "models/Weapons2/gun/gun_1.md3"]
    assert [name.lower() for name in models(str(pack))] == [
        "models/ammo.md3", "models/players/x/tris.md2", *map(str.lower, weapons)
    ]  # fmt: skip
    for argument in ("models/weapons2", "models/weapons2/*", "models/WEAPONS2/**", "models/w*", "**/*_?.md3"):
        found = [name.lower() for name in models(f"{pack}/{argument}")]
        assert found == [name.lower() for name in (weapons[2:] if "_" in argument else weapons)], argument
    assert models(str(pack), f"{pack}/models/*.md3").count("models/ammo.md3") == 1, "once"


def test_archives_by_a_pattern(folder, run):
    for name in ("a.pk3", "b.pk3", "c.pk4"):
        put_pack(folder / "base" / name, {"models/x.md3": MODEL})
    for pattern in ("base/*.pk3", "base/?.pk3/models", "base/[ab].pk3/models/x.md3"):
        status, out, err = run("info", "--json", pattern)
        assert (status, err) == (0, [])
        names = [Path(each["file"]).as_posix() for each in json.loads("\n".join(out))]
        assert names == ["base/a.pk3/models/x.md3", "base/b.pk3/models/x.md3"]
    assert len(json.loads("\n".join(run("info", "--json", "base/*")[1]))) == 3


def test_a_folder_called_as_an_archive(folder, run):
    put_files(folder, {"pak0.pk3/models/a.md3": MODEL})
    assert run("info", "pak0.pk3/models/a.md3")[0] == 0
    assert run("info", "pak0.pk3")[0] == 0


def test_what_is_not_there_is_said(pack, run):
    for name in ("none.md3", "models/none.md3"):
        status, _, err = run("info", f"{pack}/{name}")
        assert (status, err) == (1, [f"{pack}/{name}: no such file in the archive"])
    status, _, err = run("info", f"{pack}/models/*.mdm", f"{pack}/scripts")
    assert status == 1
    assert err == [f"{pack}/models/*.mdm: no model there", f"{pack}/scripts: no model there"]
    _, _, err = run("convert", f"{pack}/models/none.md3", "out.md2")
    assert err == [f"{pack}/models/none.md3: no such file in the archive"]


def test_a_damaged_archive_is_said_and_the_others_go_on(pack, run):
    Path("bad.pk3").write_bytes(pack.read_bytes()[:-30])
    status, out, err = run("info", "bad.pk3", f"{pack}/models/ammo.md3", "bad.pk3/models/a.md3")
    assert status == 1
    assert len(err) == 2
    assert all(line.startswith("bad.pk3") and "archive" in line for line in err)
    assert out[0].startswith(f"{pack}/models/ammo.md3: MD3")
    status, _, err = run("convert", "bad.pk3", "out", "--to", "md2")
    assert status == 2
    assert err[0].startswith("convert: 'bad.pk3': ")


def test_names_that_no_game_can_reach_are_said(folder, run):
    Path("p.pk3").write_bytes(zip_bytes([Entry("../../evil.md3", MODEL), Entry("good.md3", MODEL)]))
    status, _, err = run("convert", "p.pk3", "out", "--to", "md2")
    assert (status, err) == (0, ["p.pk3: 1 file left out, no game can reach such names: '../../evil.md3'"])
    assert written(folder) == ["out/good.md2", "p.pk3"]


def test_check_of_an_archive(pack, run):
    status, out, _ = run("check", "--json", "--game", "quake3", pack)
    assert status in {0, 1}
    assert len(json.loads("\n".join(out))) == 5


def test_convert_a_member(pack, run):
    status, out, err = run("convert", f"{pack}/models/ammo.md3", "ammo.md2")
    assert (status, err) == (0, [])
    assert out[0].startswith(f"{pack}/models/ammo.md3 -> ammo.md2: ")
    assert run("info", "ammo.md2")[0] == 0


@pytest.mark.parametrize("jobs", [1, 2])
def test_convert_a_whole_archive_keeps_its_folders(pack, run, folder, jobs):
    before = pack.read_bytes()
    status, out, err = run("convert", pack, "out", "--to", "md2", "--jobs", jobs, "--report", "report.jsonl")
    assert (status, err) == (0, [])
    names = ["models/Weapons2/bfg/bfg.md2", "models/weapons2/gun/gun.md2", "models/weapons2/gun/gun_1.md2"]
    names += ["models/ammo.md2", "models/players/x/tris.md2"]
    assert sorted(map(str.lower, written(folder / "out"))) == sorted(map(str.lower, names))
    assert out[-1].startswith("5 converted, 0 failed")
    assert pack.read_bytes() == before
    assert len(Path("report.jsonl").read_text(encoding="utf-8").splitlines()) == 5
    again = run("convert", pack, "out", "--to", "md2", "--skip-existing")[1]
    assert again[-1].startswith("0 converted, 0 failed, 5 skipped")


@pytest.mark.parametrize(
    ("argument", "names"),
    [
        ("models/weapons2/*", ["bfg/bfg.md2", "gun/gun.md2", "gun/gun_1.md2"]),
        ("models/weapons2", ["bfg/bfg.md2", "gun/gun.md2", "gun/gun_1.md2"]),
        ("models/weapons2/gun/*_1*", ["gun_1.md2"]),
        ("**/gun/*.md3", ["models/weapons2/gun/gun.md2", "models/weapons2/gun/gun_1.md2"]),
        ("models/ammo.md3", ["ammo.md2"]),
    ],
)
def test_what_an_output_folder_keeps(pack, run, folder, argument, names):
    status, _, err = run("convert", f"{pack}/{argument}", "out", "--to", "md2")
    assert (status, err) == (0, [])
    assert [name.lower() for name in written(folder / "out")] == names


def test_a_file_that_two_arguments_mean_keeps_most_of_its_path(pack, run, folder):
    for arguments in ((pack, f"{pack}/models/ammo.md3"), (f"{pack}/models/ammo.md3", pack)):
        assert run("convert", *arguments, "out", "--to", "md2")[0] == 0
        assert "out/models/ammo.md2" in written(folder)
        assert "out/ammo.md2" not in written(folder)


def test_an_archive_is_never_written_into(pack, run):
    before = pack.read_bytes()
    for arguments in ((pack, "--to", "md2"), (f"{pack}/models/ammo.md3", f"{pack}/models/ammo.md2")):
        status, _, err = run("convert", *arguments)
        assert status == 2
        assert "is in an archive, which is only read: say where to write" in err[0]
    status, _, err = run("convert", f"{pack}/models/ammo.md3", f"{pack}/models", "--to", "md2")
    assert status == 2, "two inputs, and nowhere to write"
    assert pack.read_bytes() == before


def test_two_archives_with_one_name_are_not_written_over_each_other(folder, run):
    for name in ("a.pk3", "b.pk3"):
        put_pack(folder / name, {"models/x.md3": MODEL})
    status, _, err = run("convert", "a.pk3", "b.pk3", "out", "--to", "md2")
    assert status == 2
    assert "would both become" in err[0]


def test_what_blender_reads_is_no_member(pack, run):
    status, _, err = run("convert", f"{pack}/models/players/x/x.obj", "x.md3")
    assert status == 1
    assert "can't read '.obj' in an archive" in err[0]


def test_the_bones_of_a_model_in_the_games_archives(folder, run):
    put_pack(folder / "et/etmain/pak0.pk3", {"animations/human/base/body.mdx": samples_mdm.walk()})
    put_pack(folder / "mod.pk3", {"models/players/x/body.mdm": samples_mdm.figure()})
    put_files(folder, {"desk/body.mdm": samples_mdm.figure()})
    for model in ("desk/body.mdm", "mod.pk3/models/players/x/body.mdm"):
        (lost,) = json.loads("\n".join(run("info", "--json", model)[1]))
        (found,) = json.loads("\n".join(run("info", "--json", "--game-folder", "et/etmain", model)[1]))
        assert lost["joints"][0]["name"] != found["joints"][0]["name"]
        assert run("convert", model, "a.md5mesh")[0] == 1
        status, _, err = run("convert", model, "a.md5mesh", "--game-folder", "et/etmain", "--engine", "quake3")
        assert (status, err) == (0, [])
    motion = ("--anim", "et/etmain/pak0.pk3/animations/human/base/body.mdx")
    assert run("convert", "desk/body.mdm", "b.md5mesh", *motion)[::2] == (0, [])


def test_the_engine_says_which_of_two_files_counts(folder, run):
    put_pack(folder / "et/etmain/pak0.pk3", {"animations/human/base/body.mdx": b"damaged"})
    bones = {"et/etmain/animations/human/base/body.mdx": samples_mdm.walk()}
    put_files(folder, {"desk/body.mdm": samples_mdm.figure(), **bones})
    command = ("convert", "desk/body.mdm", "a.md5mesh", "--game-folder", "et/etmain")
    assert [run(*command, *more)[0] for more in ((), ("--engine", "ioquake3"), ("--engine", "quake3"))] == [0, 0, 1]


def test_an_engine_that_is_none(folder, run):
    assert run("info", "--engine", "nobody", "a.md3")[0] == 2
