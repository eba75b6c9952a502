"""The command line without Blender: info, check, convert; exit statuses, and one sentence for each error."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from io_idtech_models import formats
from io_idtech_models.cli import main as cli
from io_idtech_models.cli.batch import MODEL_SUFFIXES
from tests.facts import differences
from tests.samples import PROJECT, SENTINEL, corpus_params, load, put, sample
from tests.samples_md3 import minimal

pytestmark = pytest.mark.filterwarnings("error")
KNOWN = ", ".join(MODEL_SUFFIXES)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Work in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


# -- info


def test_info_shows_what_a_model_holds(folder, run):
    put("a.md3")
    status, out, err = run("info", "a.md3")
    assert (status, err) == (0, [])
    assert out[0] == "a.md3: MD3, 3 frames (wave00 ... wave02)"
    assert out[1] == "  first frame from (-10.00 0.00 0.00) to (14.22 15.78 5.16)"
    text = " ".join(" ".join(out).split())
    for row in (
        "h_body 6 4 models/animated/body.tga",
        "flag.002 4 2 models/animated/flag",
        "tag_weapon 1.10 2.20 3.30",
    ):
        assert row in text
    assert "skin of" not in text and "animation " not in text, "which other formats have"


def test_info_of_an_md2(folder, run):
    put("a.md2", sample("animated", "md2"))
    status, out, err = run("info", "a.md2")
    assert (status, err) == (0, [])
    assert out[0] == "a.md2: MD2, 5 frames (stand01 ... run2)"
    assert out[1] == "  first frame from (-8.50 -29.12 -5.12) to (19.50 1.25 15.38)"
    assert out[2] == "  skin of 64 x 32 texels"
    text = [" ".join(line.split()) for line in out]
    assert text[4] == "a 6 4 models/animated/body.pcx, models/animated/other.tga"
    assert text[-3:] == ["animation frames", "stand 0 - 2", "run 3 - 4"]
    (found,) = json.loads("\n".join(run("info", "--json", "a.md2")[1]))
    assert found["skin_size"] == [64, 32]
    wanted = [{"name": "stand", "first": 0, "count": 3}, {"name": "run", "first": 3, "count": 2}]
    assert found["animations"] == wanted


def test_info_shows_each_joint_below_its_parent(run):
    """Also where the file has others between."""
    _, lines, _ = run("info", PROJECT / "examples/newt/models/md5/newt/newt.md5mesh")
    depths = {line.split()[0]: len(line) - len(line.lstrip()) for line in lines[3:]}
    above: dict[str, str] = {}
    chain: list[str] = []
    for name, depth in depths.items():
        chain = [*(each for each in chain if depths[each] < depth), name]
        above[name] = chain[-2] if len(chain) > 1 else ""
    mesh = formats.by_name("md5mesh").read((PROJECT / "examples/newt/models/md5/newt/newt.md5mesh").read_bytes())
    parents = [mesh.names[parent] if parent >= 0 else "" for parent in mesh.parents]
    assert above == dict(zip(mesh.names, parents, strict=True))


def test_info_of_odd_models(folder, run):
    put("hand.md3", "tags_only")
    put("one.md3", "no_shaders")
    status, out, _ = run("info", "hand.md3", "one.md3")
    assert status == 0
    assert "hand.md3: MD3, 3 frames (idle0 ... idle2)" in out
    assert "one.md3: MD3, 1 frame" in out
    assert any(line.split() == ["tri", "3", "1", "-"] for line in out)


def test_info_for_programs(folder, run):
    put("a.md3")
    put("hand.md3", "tags_only")
    status, out, err = run("info", "--json", "a.md3", "hand.md3")
    assert (status, err) == (0, [])
    first, second = json.loads("\n".join(out))
    assert first["file"] == "a.md3"
    assert (first["format"], first["frames"]) == ("md3", 3)
    assert first["frame_names"] == ["wave00", "wave01", "wave02"]
    assert (first["skin_size"], first["animations"]) == (None, [])
    assert first["surfaces"][0] == {
        "name": "h_body", "vertices": 6, "triangles": 4, "shaders": ["models/animated/body.tga"]
    }  # fmt: skip
    assert [tag["name"] for tag in first["tags"]] == ["tag_weapon", "tag_head"]
    assert first["tags"][1]["origin"] == pytest.approx([0.1, 0.2, 10.7])
    assert (second["mins"], second["surfaces"]) == (None, [])


def test_info_says_what_it_cannot_read_and_goes_on(folder, run):
    put("a.md3")
    put("broken.md3", sample("animated")[:200])
    put("text.md3", b"hello")
    status, out, err = run("info", "none.md3", "broken.md3", "text.md3", "a.md3")
    assert status == 1
    assert out[0].startswith("a.md3: MD3")
    assert err[0] == "none.md3: can't read the file: no such file or directory"
    assert err[1].startswith("broken.md3: frames run past the end of the file at byte 108: expected 200 bytes")
    assert err[2].startswith("text.md3: ")
    assert len(err) == 3
    status, out, err = run("info", "--json", "none.md3", "a.md3")
    assert status == 1
    assert [record["file"] for record in json.loads("\n".join(out))] == ["a.md3"]
    assert len(err) == 1


def test_folders_globs_and_repeats(folder, run):
    put("d/a.md3")
    put("d/deep/B.MD3")
    put("d/c.txt", b"")
    put("e/a.md3")
    names = lambda out: [line.split(":")[0] for line in out if ": MD3" in line]  # noqa: E731
    assert names(run("info", "d")[1]) == [str(Path("d/a.md3")), str(Path("d/deep/B.MD3"))]
    assert names(run("info", "*/a.md3")[1]) == [str(Path("d/a.md3")), str(Path("e/a.md3"))]
    assert names(run("info", "**/*.MD3")[1]) == [str(Path("d/deep/B.MD3"))]
    assert names(run("info", "d/a.md3", "./d/a.md3", "d/../d/a.md3", folder / "d/a.md3")[1]) == [str(Path("d/a.md3"))]
    put("a[1].md3")
    assert names(run("info", "a[1].md3")[1]) == ["a[1].md3"], "called like a glob"


@pytest.mark.parametrize("command", ["info", "check"])
def test_nothing_there_is_a_failure(folder, run, command):
    (folder / "empty").mkdir()
    status, out, err = run(command, "empty", "*.md3")
    assert (status, out) == (1, [])
    assert err == ["empty: no model there", "*.md3: no model there"]


def test_a_name_that_is_too_long(folder, run):
    for command in (("info",), ("check",), ("convert", "--to", "md3")):
        status, out, err = run(*command, "x" * 5000 + ".md3")
        assert status in {1, 2}
        assert "Traceback" not in "\n".join(out + err)


def test_names_cannot_command_the_terminal(folder, run):
    spec = minimal()
    spec.surfaces[0].name = b"\x1b[2J\x07\x9b31m\r\n\ttri"
    put("evil.md3", spec.pack())
    for command in ("info", "check"):
        _, out, err = run(command, "evil.md3", "--game=quake3" if command == "check" else "evil.md3")
        assert all(c.isprintable() for line in out + err for c in line)
    assert "tri" in " ".join(run("info", "evil.md3")[1])


# -- check


def test_check_tells_what_is_broken(folder, run):
    put("a.md3")
    put("b.md3", sample("animated")[:-50])
    status, out, err = run("check", "b.md3", "a.md3", "none.md3")
    assert (status, err) == (1, [])
    assert out[0] == "b.md3:"
    assert out[1].startswith("  error: ")
    assert "past the end of the file" in out[1]
    assert out[2:] == ["a.md3: ok", "none.md3:", "  error: can't read the file: no such file or directory"]


def test_check_tells_what_a_game_refuses(folder, run):
    model = formats.by_name("md3").load(sample("minimal"), "m")
    surface = model.surfaces[0]
    surface.positions = surface.positions.repeat(400, axis=1)
    surface.uvs = surface.uvs.repeat(400, axis=0)
    surface.normals = np.repeat(np.asarray(surface.normals), 400, axis=1)
    surface.source_vertices = surface.source_triangles = None
    put("big.md3", formats.by_name("md3").dump(model))
    assert run("check", "big.md3") == (0, ["big.md3: ok"], [])
    status, out, _ = run("check", "big.md3", "--game", "quake3")
    assert (status, out[1]) == (1, "  error: 'tri' has 1200 vertices, Quake III Arena takes 999")
    status, out, _ = run("check", "big.md3", "--game", "etlegacy")
    assert status == 0


def test_what_only_warns_is_no_failure(folder, run):
    put("a.md3", "animated")
    spec = minimal()
    spec.surfaces[0].name = b"arm_l"
    put("arm.md3", spec.pack())
    status, out, _ = run("check", "--game", "quake3", "arm.md3")
    assert (status, out[0]) == (0, "arm.md3:")
    assert out[1].startswith("  warning: 'arm_l' is called 'arm' in Quake III Arena")


def test_check_for_programs(folder, run):
    put("a.md3")
    put("b.md3", b"IDP3")
    status, out, _ = run("check", "--json", "a.md3", "b.md3")
    good, bad = json.loads("\n".join(out))
    assert status == 1
    assert good == {"file": "a.md3", "problems": []}
    assert bad["problems"][0]["severity"] == "error"
    assert "header" in bad["problems"][0]["text"]


@pytest.mark.parametrize("file", corpus_params(valid=False))
def test_broken_real_files_are_one_sentence(run, file):
    status, out, _ = run("check", file.path)
    assert status == 1
    assert len(out) == 2


# -- convert


def test_convert_gives_the_same_bytes(folder, run):
    put("a.md3", "odd_layout")
    status, out, err = run("convert", "a.md3", "new/b.md3")
    assert (status, err) == (0, [])
    assert out == [f"a.md3 -> {Path('new/b.md3')}: 2 surfaces, 2 tags, 3 frames"]
    assert Path("new/b.md3").read_bytes() == sample("odd_layout")


@pytest.mark.parametrize("file", corpus_params())
def test_convert_gives_the_same_bytes_of_real_files(tmp_path, run, file):
    target = tmp_path / f"out{file.path.suffix.lower()}"
    assert run("convert", file.path, target)[0] == 0
    assert target.read_bytes() == file.data


def test_md2_to_md3_and_back(folder, run):
    put("a.md2", "seams")
    assert run("convert", "a.md2", "b.md3") == (0, ["a.md2 -> b.md3: 1 surface, 2 frames"], [])
    options = ("--skin-width", "60", "--skin-height", "32")
    assert run("convert", "b.md3", "c.md2", *options) == (0, ["b.md3 -> c.md2: 1 surface, 2 frames"], [])
    parts = {
        path.split(".")[-1].split("[")[0] for path in differences(sample("seams", "md2"), Path("c.md2").read_bytes())
    }
    assert parts <= {"scale", "translate", "xyz", "st", "commands"}, "names, skins, size, normals are the same"


def test_md3_to_md2_and_back_says_what_is_lost(folder, run):
    put("a.md3")
    status, out, err = run("convert", "a.md3", "b.md2")
    assert (status, err) == (0, [])
    assert out == [
        "a.md3 -> b.md2: 1 surface, 3 frames; MD2 holds no tags, left out: 'tag_weapon', 'tag_head'; "
        "2 surfaces become one, which wears one skin at a time"
    ]
    assert run("convert", "b.md2", "c.md3")[::2] == (0, [])
    assert load(Path("c.md3").read_bytes()).surfaces[0].shaders == ["models/animated/body.tga", "models/animated/flag"]


def test_a_game_that_reads_one_format_alone(folder, run):
    put("a.md2")
    put("b.md3")
    assert run("check", "a.md2", "--game", "quake2") == (0, ["a.md2: ok"], [])
    status, out, _ = run("check", "b.md3", "--game", "quake2")
    assert (status, out) == (1, ["b.md3:", "  error: the model is MD3, which Quake II does not read"])
    status, _, err = run("convert", "a.md2", "c.md3", "--game", "quake2")
    assert (status, err) == (1, ["a.md2: the model is MD3, which Quake II does not read"])
    assert not Path("c.md3").exists()


def test_options_that_one_format_has(folder, run):
    put("a.md2", sample("seams", "md2"))
    options = ("--skin-width", "120", "--skin-height", "16", "--same-box")
    assert run("convert", "a.md2", "b.md2", *options)[::2] == (0, [])
    changed = differences(sample("seams", "md2"), Path("b.md2").read_bytes())
    assert {"skin_width", "skin_height", "commands", "frames[0].scale", "frames[0].translate"} <= changed
    model = load(Path("b.md2").read_bytes())
    assert model.texture_size == (120, 16)
    assert (model.source.surfaces[0].scale[0] == model.source.surfaces[0].scale[1]).all()
    assert run("convert", "a.md2", "c.md2", "--remake-commands")[0] == 0
    assert differences(sample("seams", "md2"), Path("c.md2").read_bytes()) == {"commands"}


@pytest.mark.parametrize("value", ["-1", "32768", "wide", "1.5"])
def test_a_skin_size_that_is_none(run, value):
    status, _, err = run("convert", "a.md2", "b.md2", f"--skin-width={value}")
    assert status == 2
    assert f"'{value}' is no number from 0 to 32767" in err[-1]


def test_many_files(folder, run):
    put("in/a.md3")
    put("in/sub/b.MD3", "minimal")
    put("c.md3", "tags_only")
    status, out, err = run("convert", "in", "c.md3", "--to", "md3", "out")
    assert (status, err) == (0, [])
    assert out[0].startswith(f"[1/3] {Path('in/a.md3')} -> {Path('out/a.md3')}: 2 surfaces")
    assert out[1].startswith(f"[2/3] {Path('in/sub/b.MD3')} -> {Path('out/sub/b.md3')}: 1 surface, 1 tag, 1 frame")
    assert out[3].startswith("3 converted, 0 failed, ")
    assert Path("out/a.md3").read_bytes() == sample("animated")
    assert Path("out/sub/b.md3").read_bytes() == sample("minimal")
    assert Path("out/c.md3").read_bytes() == sample("tags_only")


def test_globs_and_an_existing_folder(folder, run):
    put("in/a.md3")
    put("in/b.md3")
    (folder / "out.md3").mkdir()
    assert run("convert", "in/*.md3", "out.md3", "--to", ".MD3")[0] == 0
    assert sorted(p.name for p in Path("out.md3").iterdir()) == ["a.md3", "b.md3"]


@pytest.mark.parametrize("pattern", ["in/*/a.md3", "./in/**/*.md3", "{folder}/in/*", "in/[de]"])
def test_what_a_glob_matches_keeps_its_folders_below_what_is_no_glob(folder, run, pattern):
    put("in/d/a.md3")
    put("in/e/a.md3")
    put("in/e/notes.txt", b"")
    assert run("convert", pattern.format(folder=folder), "out", "--to", "mdc")[0] == 0
    assert sorted(p.relative_to("out").as_posix() for p in Path("out").rglob("*.*")) == ["d/a.mdc", "e/a.mdc"]


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("more", [[], ["--rig"]])
def test_no_file_goes_in_place_of_what_another_became(folder, run, jobs, more):
    kind = "md3" if more else "iqm"
    names = [put(f"a.{kind}"), put(f"b.{kind}", "animated" if more else "uneven")]
    if more:
        names[1].write_bytes(names[1].read_bytes()[:-64] + bytes(64))  # other places in its last frame
    status, out, err = run("convert", *names, "--to", "md5mesh", "out", "--jobs", jobs, *more)
    assert (status, len(err)) == (1, 1)
    first, second = ("a", "b") if f"b.{kind}: " in err[0] else ("b", "a")
    assert (
        f"md5anim' is what '{first}.{kind}' became, and would be written over: convert it into another folder" in err[0]
    )
    assert not Path(f"out/{second}.md5mesh").exists()
    assert out[-1].startswith("1 converted, 1 failed")
    together = {path.name: path.read_bytes() for path in Path("out").iterdir()}
    assert run("convert", f"{first}.{kind}", "--to", "md5mesh", "alone", *more)[0] == 0
    assert together == {path.name: path.read_bytes() for path in Path("alone").iterdir()}


def test_animations_that_are_alike_may_lie_in_one_folder(folder, run):
    names = [put(f"{name}.iqm", "animated") for name in ("a", "b")]
    status, _, err = run("convert", *names, "--to", "md5mesh", "out")
    assert (status, err) == (0, [])


def test_animations_that_are_written_over_are_named(folder, run):
    put("a.iqm", "animated")
    said = "what was there is written over: 'wave.md5anim'"
    for _ in range(2):
        assert said not in run("convert", "a.iqm", "out/a.md5mesh")[1][0], "the same again is nothing new"
    Path("out/wave.md5anim").write_bytes(b"mine")
    assert said in run("convert", "a.iqm", "out/a.md5mesh")[1][0]


def test_one_bad_file_does_not_stop_the_others(folder, run):
    put("in/a.md3")
    put("in/b.md3", sample("animated")[:300])
    put("in/c.md3")
    status, out, err = run("convert", "in", "out", "--to", "md3")
    assert status == 1
    assert len(err) == 1
    assert err[0].startswith(f"[2/3] {Path('in/b.md3')}: tags run past the end of the file")
    assert out[-1].startswith("2 converted, 1 failed, ")
    assert sorted(p.name for p in Path("out").iterdir()) == ["a.md3", "c.md3"]


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_failure_leaves_no_folders_that_were_not_there(folder, run, jobs):
    put("in/good/a.md3")
    put("in/bad/deep/b.md3", b"hello")
    put("in/worse/c.md3", b"hello")
    (folder / "out/worse").mkdir(parents=True)
    status, _, err = run("convert", "in", "out", "--to", "md2", "--jobs", jobs)
    assert (status, len(err)) == (1, 2)
    found = sorted(path.relative_to(folder / "out").as_posix() for path in (folder / "out").rglob("*"))
    assert found == ["good", "good/a.md2", "worse"]


def test_a_failure_leaves_the_old_output(folder, run):
    put("a.md3", sample("animated")[:300])
    put("b.md3", b"old")
    status, _, err = run("convert", "a.md3", "b.md3")
    assert (status, len(err)) == (1, 1)
    assert Path("b.md3").read_bytes() == b"old"
    assert sorted(p.name for p in folder.iterdir()) == ["a.md3", "b.md3"]


def test_what_the_game_refuses_is_not_written(folder, run):
    put("a.md3", "odd_numbers")
    model = formats.by_name("md3").load(sample("minimal"), "m")
    model.surfaces[0].triangles = model.surfaces[0].triangles.repeat(2000, axis=0)
    model.surfaces[0].source_triangles = None
    put("many.md3", formats.by_name("md3").dump(model))
    status, _, err = run("convert", "many.md3", "b.md3", "--game", "quake3")
    said = "many.md3: 'tri' has 2000 triangles, Quake III Arena takes 1999"
    assert (status, err) == (1, [f"{said}; the option 'Split Surfaces' cuts what is too large"])
    assert not Path("b.md3").exists()
    assert run("convert", "many.md3", "b.md3")[0] == 0


def test_missing_files_and_unknown_kinds(folder, run):
    put("a.txt", b"hello")
    put("a.glb", b"glTF")
    assert run("convert", "none.md3", "b.md3")[::2] == (1, ["none.md3: no such file"])
    status, _, err = run("convert", "a.txt", "b.md3")
    assert (status, len(err)) == (1, 1)
    assert err[0].startswith(f"a.txt: can't read '.txt', only {KNOWN}; use Blender")
    assert run("convert", "a.glb", "b.md3")[0] == 1
    assert not Path("b.md3").exists()


def test_an_animation_alone_is_not_converted(folder, run):
    put("walk.md5anim", b"MD5Version 10")
    for target in ("b.md3", "b.md5mesh"):
        status, _, err = run("convert", "walk.md5anim", target)
        said = "walk.md5anim: an animation is no model: convert a model with '--anim walk.md5anim'"
        assert (status, err) == (1, [said])


def test_the_output_cannot_be_written(folder, run):
    put("a.md3")
    put("file", b"")
    status, _, err = run("convert", "a.md3", "file/b.md3")
    assert (status, len(err)) == (1, 1)
    assert err[0].startswith("a.md3: can't write ")
    (folder / "dir.md3").mkdir()
    status, _, err = run("convert", "a.md3", "dir.md3")
    assert (status, len(err)) == (2, 1)
    assert "is a folder: say with --to SUFFIX" in err[0]


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["a.md3"], "say where to write"),
        (["a.md3", "b.glb"], f"can't write '.glb', only {KNOWN}, .md5anim, .mdx; use Blender for other formats"),
        (["a.md3", "b"], f"can't write 'b', only {KNOWN}"),
        (["a.md3", "--to", "glb"], f"can't write '.glb', only {KNOWN}"),
        (["a.md3", "sub/a.md3", "b.md3"], "several inputs need --to SUFFIX and an output folder"),
        (["sub", "b.md3"], "several inputs need --to SUFFIX"),
        (["a.md3", "sub/a.md3", "--to", "md3", "out"], "would both become"),
        (["a.md3", "a.md3"], "is an input: it would be written over"),
        (["a.md3", "--to", "md3"], "is an input: it would be written over"),
        (
            ["a.md3", "b.md2", "--report", "sub/b.md3"],
            "'sub/b.md3' would be written over by the report: --report takes",
        ),
        (["--report", "sub/b.MD3", "a.md3", "b.md2"], "'sub/b.MD3' would be written over by the report"),
        (["sub", "--to", "md3"], "nothing to convert in 'sub'"),
        (["sub/a.md3", "./sub/../a.md3", "sub", "--to", "md3"], "is an input"),
        (["empty", "--to", "md3", "out"], "nothing to convert in 'empty'"),
        (["*.mdx", "b.md3"], "nothing to convert in '*.mdx'"),
    ],
)
def test_usage_errors_are_one_sentence_and_write_nothing(folder, run, argv, words):
    put("a.md3")
    put("sub/a.md3")
    put("sub/b.md3")
    (folder / "empty").mkdir()
    before = {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    status, out, err = run("convert", *argv)
    assert (status, out, len(err)) == (2, [], 1)
    assert err[0].startswith("convert: ")
    assert words in err[0]
    assert {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()} == before


def test_what_was_there_is_named_where_nobody_named_it(folder, run):
    """Beside what a folder has, and beside a target; the target itself is not, nor is a file of the same bytes."""
    put("sub/a.md3")
    assert "written over" not in run("convert", "sub", "--to", "md2")[1][0]
    assert run("convert", "sub", "--to", "md3")[1][0].endswith("; written over: 'a.md3'")
    assert "written over" not in run("convert", "sub", "--to", "md3")[1][0]
    put("b.md3")
    assert "written over" not in run("convert", "sub/a.md3", "b.md3", "--levels", "60")[1][0]
    assert run("convert", "sub/a.md3", "b.md3", "--levels", "30")[1][0].endswith("; written over: 'b_1.md3'")


def test_files_behind_two_dashes_may_begin_with_one(folder, run):
    put("-e.md3")
    assert run("convert", "--", "-e.md3", "e.mdc")[0] == 0
    assert (folder / "e.mdc").exists()
    for command in ("info", "check"):
        assert run(command, "--", "-e.md3", "e.mdc")[0] == 0


@pytest.mark.skipif(os.name == "nt", reason="there the two are one file")
def test_two_inputs_that_differ_in_their_suffix_alone(folder, run):
    put("a.md3")
    put("a.MD3")
    status, _, err = run("convert", "a.md3", "a.MD3", "out", "--to", "md3")
    assert status == 2
    assert "would both become" in err[0]


REFUSED = "", "info", "convert", "frob", "info --frob x", "check --game doom x", "convert --to"


@pytest.mark.parametrize("argv", [line.split() for line in REFUSED], ids=REFUSED)
def test_what_argparse_refuses(run, argv):
    status, out, err = run(*argv)
    assert (status, out) == (2, [])
    assert err[0].startswith("usage: idtech")


@pytest.mark.parametrize("argv", [["--help"], ["info", "--help"], ["check", "-h"], ["convert", "--help"]])
def test_help(run, argv):
    status, out, err = run(*argv)
    assert (status, err) == (0, [])
    assert out[0].startswith("usage: idtech")
    if argv[0] == "convert":
        text = " ".join(" ".join(out).split())
        known = " ".join(MODEL_SUFFIXES)
        assert f"Reads {known}; writes {known}." in text
        assert "--jobs N" in text


def test_a_report_has_a_line_for_each_file(folder, run):
    put("a.md3")
    Path("broken.md3").write_bytes(b"IDP3 and no more")
    status, *_ = run("convert", "a.md3", "broken.md3", "--to", "md2", "out", "--report", "report.jsonl")
    assert status == 1
    lines = [json.loads(line) for line in Path("report.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [line["source"] for line in lines] == ["a.md3", "broken.md3"]
    assert (lines[0]["error"], lines[1]["done"]) == ("", "")
    assert "3 frames" in lines[0]["done"]
    assert "past the end of the file" in lines[1]["error"]


def test_a_run_that_goes_on_goes_on_with_its_report(folder, run):
    for name in ("a.md3", "b.md3", "c.md3"):
        put(name, "minimal")
    for given in (["a.md3", "b.md3"], ["a.md3", "b.md3", "c.md3", "--skip-existing"]):
        run("convert", *given, "--to", "md2", "out", "--report", "report.jsonl")
    lines = [json.loads(line) for line in Path("report.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [line["source"] for line in lines] == ["a.md3", "b.md3", "c.md3"]


def test_a_report_that_can_not_be_written(folder, run):
    put("a.md3")
    status, out, err = run("convert", "a.md3", "b.md2", "--report", "nowhere/report.jsonl")
    assert (status, out) == (2, [])
    assert err == ["convert: can't write 'nowhere/report.jsonl': no such file or directory"]
    assert not Path("b.md2").exists()


def test_what_is_there_already_is_skipped(folder, run):
    put("a.md3")
    put("sub/c.md3")
    put("out/a.md2", b"old")
    status, out, _ = run("convert", "a.md3", "sub/c.md3", "--to", "md2", "out", "--skip-existing")
    assert status == 0
    assert Path("out/a.md2").read_bytes() == b"old"
    assert Path("out/c.md2").read_bytes().startswith(b"IDP2")
    assert out[0].startswith("[2/2] ")
    assert out[-1].startswith("1 converted, 0 failed, 1 skipped, ")


def test_interruption(folder, run, monkeypatch):
    def stop(_path):
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "load", stop)
    assert run("info", "a.md3")[0] == 130


# -- as a process


def test_interruption_while_modules_are_imported():
    code = (
        "import builtins, runpy, signal\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # which who starts us may have others ignore
        "own = builtins.__import__\n"
        "def slow(name, *rest, **named):\n"
        "    if name == 'numpy': signal.raise_signal(signal.SIGINT)\n"
        "    return own(name, *rest, **named)\n"
        "builtins.__import__ = slow\n"
        "runpy.run_module('io_idtech_models', run_name='__main__')"
    )
    made = process("-c", code)
    assert (made.returncode, made.stdout, made.stderr) == (130, b"", b"")


def process(*argv: object, **options) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(PROJECT), **options.pop("env", {})}
    return subprocess.run([sys.executable, *map(str, argv)], capture_output=True, check=False, env=environment)


def test_runs_without_blender(folder):
    put("a.md3", SENTINEL.read_bytes())
    code = "import sys; sys.modules['bpy'] = None; from io_idtech_models.cli.main import main as run; "
    code += "sys.exit(run(sys.argv[1:]))"
    assert process("-c", code, "convert", "a.md3", "b.md3").returncode == 0
    assert Path("b.md3").read_bytes() == SENTINEL.read_bytes()


def test_exit_status_of_the_process(folder):
    put("a.md3")
    for argv, status in ((("check", "a.md3"), 0), (("check", "none.md3"), 1), (("frob",), 2)):
        assert process("-m", "io_idtech_models", *argv).returncode == status


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_names_that_the_terminal_cannot_show(folder, encoding):
    put("a.md3", "odd_names")
    done = process("-m", "io_idtech_models", "info", "a.md3", env={"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"})
    assert (done.returncode, done.stderr) == (0, b"")
    assert (b"K?rper_?" in done.stdout) == (encoding == "ascii")
    assert ("Körper_ß" in done.stdout.decode(encoding)) == (encoding != "ascii")


@pytest.mark.skipif(os.name == "nt", reason="pipes end otherwise there")
def test_a_reader_that_has_seen_enough(folder):
    for i in range(500):  # more than a pipe holds
        put(f"{i:03d}.md3", "odd_names")
    done = piped("info . | head -n 1")
    assert done.stderr == b""
    assert done.stdout.startswith(b"000.md3: MD3")


def put_many():
    """Put models into a folder, more than are converted before a batch ends."""
    for i in range(40):
        put(f"in/{i:03d}.md3")


def piped(command):
    """Run the command line in a shell, which has to end."""
    return subprocess.run(
        ["bash", "-c", f"{sys.executable} -m io_idtech_models {command}"], timeout=60,
        capture_output=True, check=False, env={**os.environ, "PYTHONPATH": str(PROJECT)},
    )  # fmt: skip


@pytest.mark.skipif(os.name == "nt", reason="pipes end otherwise there")
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_reader_that_has_seen_enough_ends_a_batch(folder, jobs):
    put_many()
    done = piped(f"convert in --to md2 out --jobs {jobs} | true")
    assert (done.stdout, done.stderr) == (b"", b"")
    assert len(list(Path("out").iterdir())) < 40


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no file that is always full")
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_terminal_that_takes_no_more_ends_a_batch(folder, jobs):
    put_many()
    done = piped(f"convert in --to md2 out --jobs {jobs} --report r.jsonl > /dev/full")
    assert (done.returncode, done.stderr.count(b"\n")) == (1, 1)
    assert b"no space left on device" in done.stderr
    told = [json.loads(line)["target"] for line in Path("r.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {str(Path(target)) for target in told} == {str(path) for path in Path("out").iterdir()}
    done = piped("convert in/000.md3 single.md2 >&-")
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(os.name == "nt", reason="no such files there")
@pytest.mark.parametrize("way", ["itself", "a link"])
def test_what_is_no_file_is_not_written_over(folder, run, way):
    put("a.md3")
    os.mkfifo("pipe.md2")
    Path("link.md2").symlink_to("pipe.md2")
    target = "pipe.md2" if way == "itself" else "link.md2"
    status, _, err = run("convert", "a.md3", target)
    assert status == 1
    assert err == [f"a.md3: can't write '{target}': it is not a regular file"]
    assert Path("pipe.md2").is_fifo()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no file that is always full")
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_full_disk_under_a_report_ends_a_batch(folder, jobs):
    put_many()
    done = piped(f"convert in --to md2 out --jobs {jobs} --report /dev/full")
    assert done.returncode == 1
    assert done.stderr.startswith(b"stopped: can't write '/dev/full': no space left on device; ")
    assert len(list(Path("out").iterdir())) < 40
