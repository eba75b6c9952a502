"""Choosing models of archives and games: by patterns in scripts, and in the dialog."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from io_idtech_models.blender.player.parts import players_among
from io_idtech_models.blender.roots import is_root
from io_idtech_models.formats import ROWS
from io_idtech_models.game.store import ARCHIVES
from io_idtech_models.tasks.import_.archives import in_archives, kinds_in, models_of
from io_idtech_models.ui.import_ import archives, model_list
from io_idtech_models.ui.operators import space_of
from tests import samples_md5
from tests.packs import Entry, put_files, put_pack, zip_bytes
from tests.samples import put, sample
from tests.samples_player import weapon_files
from tests.ui.player import players
from tests.ui.scene import activate, bpy, counts_after_undo, error_of, import_model
from tests.ui.test_preferences import add, own

__all__ = ["own"]  # the fixture
pytestmark = [pytest.mark.once, pytest.mark.usefixtures("empty_scene")]
run: Any = bpy.ops.import_scene.idtech_archive
from_game: Any = bpy.ops.import_scene.idtech_game
choose: Any = bpy.ops.import_scene.idtech_choose_models
FILES = {
    "models/a/one.md3": sample("animated"),
    "models/a/two.md2": sample("animated", "md2"),
    "models/a/deep/three.md3": sample("nothing"),
    "models/b/arm.md5mesh": samples_md5.arm(),
    "models/b/wave.md5anim": samples_md5.wave(),
    "models/b/notes.txt": b"-",
}
ALL = ["models/a/deep/three.md3", "models/a/one.md3", "models/a/two.md2", "models/b/arm.md5mesh"]


@pytest.fixture
def pack(tmp_path) -> Path:
    return put_pack(tmp_path / "base/pak0.pk3", FILES)


def imported() -> list[str]:
    """Return where the models in the scene came from, in order."""
    return sorted(collection["idtech_file"] for collection in bpy.data.collections if "idtech_file" in collection)


def places(pack: Path, *names: str) -> list[str]:
    return sorted(str(pack / name) for name in names)


# -- scripts


@pytest.mark.parametrize(
    ("models", "wanted"),
    [
        ("**", ALL),
        ("models/a/*", ALL[:3]),
        ("models/a", ALL[:3]),
        ("models/a/*.md3", ["models/a/one.md3"]),
        ("MODELS\\A\\One.MD3", ["models/a/one.md3"]),
        ("**/*.md5mesh, models/a/two.md2,", ["models/b/arm.md5mesh", "models/a/two.md2"]),
        ("models/a, models/a/one.md3", ALL[:3]),
    ],
)
def test_models_by_patterns(pack, models, wanted):
    """One step to undo takes all of them back."""
    bpy.ops.ed.undo_push(message="before")
    before = counts_after_undo()
    assert run("EXEC_DEFAULT", True, filepath=str(pack), models=models) == {"FINISHED"}
    assert imported() == places(pack, *wanted)
    bpy.ops.ed.undo()
    assert counts_after_undo() == before


@pytest.mark.parametrize(
    ("models", "text"),
    [
        ("", "say which models: models='models/weapons2/*', or models='**' for all"),
        (" , ", "say which models: models='models/weapons2/*', or models='**' for all"),
        ("models/c/*", "'pak0.pk3' has no model 'models/c/*'"),
        ("models/b/notes.txt", "'pak0.pk3' has no model 'models/b/notes.txt'"),
        ("models/a/*, nowhere", "'pak0.pk3' has no model 'nowhere'"),
    ],
)
def test_what_matches_nothing_is_an_error(pack, models, text):
    assert error_of(run, filepath=str(pack), models=models) == text
    assert imported() == []


def test_archives_without_models_and_what_is_none(tmp_path):
    empty, broken = put_pack(tmp_path / "a.pk3", {"readme.txt": b"-"}), put(tmp_path / "b.pk3", b"PK\3\4")
    assert error_of(run, filepath=str(empty), models="**") == "'a.pk3' has no model '**'"
    assert "b.pk3: it is no archive, or its end is missing" in error_of(run, filepath=str(broken), models="**")
    assert error_of(run, filepath=str(tmp_path / "c.pk3"), models="**") == "c.pk3: no such archive"


def test_one_report_of_all(tmp_path, capfd):
    """With what can't be read, and names that no game reaches."""
    entries = [Entry(name, data) for name, data in {**FILES, "models/a/bad.md3": b"IDP3"}.items()]
    pack = put(tmp_path / "pak0.pk3", zip_bytes([*entries, Entry("../b.md3", sample("nothing"))]))
    assert "bad.md3: " in error_of(run, filepath=str(pack), models="**")
    assert imported() == places(pack, *ALL), "the rest is there"
    said = capfd.readouterr().out
    assert [said.count(f"{Path(name).name}: ") for name in ALL] == [1] * len(ALL)
    assert said.count("Warning: ") == 1, "textures that are not found"
    assert "pak0.pk3: 1 file left out, no game can reach such names" in said


def test_all_are_selected_and_the_scene_has_room_for_the_longest(pack):
    """Each import makes room in the scene for its own alone, in whatever order."""
    run(filepath=str(pack), models="**")
    scene = bpy.context.scene
    blocks = [block for block in scene.objects if block.type in {"MESH", "ARMATURE"}]
    assert all(block.select_get() for block in blocks)
    together = scene.frame_end

    def end(import_them: Any, **options: Any) -> int:
        scene.frame_end = 250
        import_them(replace_range=True, **options)
        return int(scene.frame_end)

    ends = [end(run, filepath=str(pack), models=name) for name in ALL]
    assert together == max(each for each in ends if each != 250)
    assert end(choose, found=items(pack, *ALL)) == end(choose, found=items(pack, *ALL)[::-1]) == together


# -- archives in the imports of formats


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_imports_of_formats_know_archives(row, pack):
    """File browsers show them, and a script is told how to name a file in one."""
    importer = getattr(getattr(bpy.ops, f"import_{space_of(row)}"), f"idtech_{row.name}")
    shown = importer.get_rna_type().properties["filter_glob"].default.split(";")
    assert {f"*{suffix}" for suffix in (*row.suffixes, *ARCHIVES)} <= set(shown)
    text = error_of(importer, filepath=str(pack))
    assert text.startswith("pak0.pk3: it is an archive: name a file in it, 'pak0.pk3/models/...', or use")


@pytest.fixture
def asked(monkeypatch) -> list[tuple[list[str], dict[str, Any]]]:
    """What the dialog was opened with: no window opens here."""
    found: list[tuple[list[str], dict[str, Any]]] = []

    def ask(models: Any, **given: Any) -> set[str]:
        found.append(([f"{each.folder}/{each.file.name}" for each in models.found], given))
        return {"CANCELLED"}

    for module in (archives, model_list):
        monkeypatch.setattr(module, "ask", ask)
    return found


def test_who_chooses_an_archive_is_asked(pack, asked):
    options = {"scale": 0.5, "weld": False}
    assert bpy.ops.import_scene.idtech_md3(filepath=str(pack), interactive=True, **options) == {"CANCELLED"}
    ((listed, given),) = asked
    assert listed == ALL
    assert (given["space"], given["kind"], given["scale"]) == ("scene", "md3", 0.5)
    assert json.loads(given["options"]) == options
    assert imported() == []
    other = put_pack(pack.parent / "pak1.pk3", {"models/z.md3": sample("nothing")})
    dropped = [{"name": pack.name}, {"name": other.name}]
    assert run(directory=str(pack.parent), files=dropped, interactive=True) == {"CANCELLED"}
    assert asked[1][0] == [*ALL, "models/z.md3"], "those that are dropped are listed together"
    put_files(pack.parent, {"a.md3": sample("nothing")})
    dropped[1] = {"name": "a.md3"}
    text = error_of(bpy.ops.import_scene.idtech_md3, directory=str(pack.parent), files=dropped)
    assert text == "pak0.pk3: an archive can't be imported along with other files"
    assert imported() == []


def test_imports_of_animations_list_animations(pack, asked):
    assert bpy.ops.import_anim.idtech_md5anim(filepath=str(pack), interactive=True) == {"CANCELLED"}
    ((listed, given),) = asked
    assert listed == ["models/b/wave.md5anim"]
    assert given["space"] == "anim"
    empty = put_pack(pack.parent / "a.pk3", {"models/b.md3": sample("nothing")})
    text = error_of(bpy.ops.import_anim.idtech_md5anim, filepath=str(empty), interactive=True)
    assert text == "'a.pk3' has no animations"


def test_the_handler_takes_archives_but_leaves_extensions_to_blender():
    handler = bpy.types.FileHandler.bl_rna_get_subclass_py("IO_FH_idtech_archive")
    suffixes = handler.bl_file_extensions.split(";")
    assert set(suffixes) == set(ARCHIVES) - {".zip"}
    assert handler.bl_import_operator == "import_scene.idtech_archive"
    assert handler.poll_drop(bpy.context)


# -- the dialog


class Items(list[Any]):
    """A collection of Blender's, as far as the dialog uses one."""

    def add(self) -> Any:
        self.append(SimpleNamespace(name="", place="", kind="", chosen=False))
        return self[-1]


def dialog(models: Any) -> Any:
    made = SimpleNamespace(found=Items(), several=False, notes="", index=-1, search="", mark=model_list.KEEP)
    model_list.fill(made, models)
    return made


def listing(*packs: Path) -> Any:
    return in_archives(packs, kinds_in("scene"))


def test_the_list(pack, tmp_path):
    shown = dialog(listing(pack))
    assert [item.name for item in shown.found] == ALL
    assert [item.place for item in shown.found] == [str(pack / name) for name in ALL]
    assert [item.kind for item in shown.found] == ["md3", "md3", "md2", "md5mesh"]
    assert (shown.several, shown.index) == (False, -1)
    single = put_pack(tmp_path / "other/pak1.pk3", {"models/a/one.md3": sample("nothing")})
    assert dialog(listing(single)).index == 0, "there is nothing to choose"
    both = dialog(listing(pack, single))
    assert both.several
    assert sorted(model_list._holder(item) for item in both.found) == ["pak0.pk3"] * 4 + ["pak1.pk3"]


def test_searching_and_marking(pack):
    shown = dialog(listing(pack))
    shape: Any = SimpleNamespace(bitflag_filter_item=1)
    for search, wanted in (("", ALL), ("A .MD3", ALL[:2]), ("deep", ALL[:1]), ("no", [])):
        shown.search = search
        flags, order = model_list.IDTECH_UL_models.filter_items(shape, None, shown, "found")
        assert (flags, order) == ([int(name in wanted) for name in ALL] if search else [], [])
        for mark in ("ALL", "NONE"):
            shown.mark = mark
            model_list._mark_shown(shown, None)
            assert [item.name for item in shown.found if item.chosen] == (wanted if mark == "ALL" else [])
            assert shown.mark == model_list.KEEP, "the button stands out again"


def items(pack: Path, *chosen: str) -> list[dict[str, Any]]:
    kinds = kinds_in("scene")
    return [
        {"name": name, "place": str(pack / name), "kind": kinds[Path(name).suffix], "chosen": name in chosen}
        for name in ALL
    ]


@pytest.mark.parametrize(("ticked", "wanted"), [((ALL[0], ALL[2]), (ALL[0], ALL[2])), ((), (ALL[1],))])
def test_what_has_a_tick_is_imported_or_the_active_row(pack, ticked, wanted):
    for index in (-1, 9):
        assert error_of(choose, found=items(pack), index=index) == "no model is chosen"
    assert choose(found=items(pack, *ticked), index=1) == {"FINISHED"}
    assert imported() == places(pack, *wanted)


def test_options_of_the_import_that_was_asked_are_its_own(pack):
    """What the dialog says counts more than what came before it."""
    given = {"kind": "md3", "options": json.dumps({"relative_keys": True, "scale": 9.0}), "scale": 2.0}
    choose(found=items(pack, "models/a/one.md3", "models/a/two.md2"), **given)
    meshes = [block.data for block in bpy.data.objects if block.type == "MESH"]
    relative = {mesh["idtech_file"][-3:]: mesh.shape_keys.use_relative for mesh in meshes}
    assert relative == {"md3": True, "md2": False}
    for scale in (2.0, 1.0):
        run(filepath=str(pack), models="models/a/one.md3", scale=scale, fit_range=False)
    sizes = [block.dimensions.length for block in bpy.data.objects if block.name.startswith("h_body")]
    assert np.array(sizes) / min(sizes) == pytest.approx([2, 2, 1])


def test_animations_onto_the_active_armature(pack):
    made = import_model(pack / "models/b/arm.md5mesh", animations=False)
    (rig,) = [block for block in made.objects if block.type == "ARMATURE"]
    activate(rig)
    item = {"name": "models/b/wave.md5anim", "place": str(pack / "models/b/wave.md5anim"), "kind": "md5anim"}
    assert choose(found=[{**item, "chosen": True}], space="anim") == {"FINISHED"}
    assert rig.animation_data.action.name == "wave"
    assert len(bpy.data.armatures) == 1


# -- games of the preferences


@pytest.fixture
def game(own, tmp_path) -> Any:
    put_pack(tmp_path / "base/pak0.pk3", FILES)
    put_pack(tmp_path / "base/pak1.pk3", {"models/a/one.md3": sample("nothing")})
    put_pack(tmp_path / "mod/z.pk3", {"models/b/mod.md3": sample("nothing")})
    return add(own, tmp_path / "base", mod=tmp_path / "mod", name="Quake")


@pytest.mark.parametrize("name", ["", "Quake"])
def test_models_of_a_game_are_the_strongest(game, tmp_path, name, capfd):
    (tmp_path / "base/pak2.pk3").write_bytes(b"-")
    assert from_game(game=name, models="**/*.md3") == {"FINISHED"}
    base, mod = tmp_path / "base", tmp_path / "mod"
    wanted = [base / "pak0.pk3" / ALL[0], base / "pak1.pk3" / ALL[1], mod / "z.pk3/models/b/mod.md3"]
    assert imported() == sorted(map(str, wanted))
    assert "'pak2.pk3' is left out: it is no archive" in capfd.readouterr().out


def test_models_of_a_game_errors(game, own, tmp_path):
    assert error_of(from_game, game="Q") == "say which models: models='models/weapons2/*', or models='**' for all"
    text = "the preferences name no game 'Q' whose folder is there"
    assert error_of(from_game, game="Q", models="**") == text
    assert error_of(from_game, models="x/*") == "'Quake' has no model 'x/*'"
    (tmp_path / "none").mkdir()
    (tmp_path / "none/a.pk3").write_bytes(b"-")
    add(own, tmp_path / "none", name="None")
    text = error_of(from_game, game="None", models="**")
    assert text.startswith("'None' has no model '**'; 'a.pk3' is left out: ")
    game.enabled = own.games[1].enabled = False
    assert not from_game.poll()


def test_the_dialog_lists_another_game(game, own, tmp_path):
    put_pack(tmp_path / "two/pak0.pk3", {"models/x.md3": sample("nothing")})
    add(own, tmp_path / "two", name="Two")
    assert [name for name, _, _ in model_list._games(None, None)] == ["Quake", "Two"]
    shown = dialog(models_of("Quake"))
    shown.game = "Two"
    model_list._other_game(shown, None)
    assert [item.name for item in shown.found] == ["models/x.md3"]
    own.games[1].enabled = False
    model_list._other_game(shown, None)
    assert (list(shown.found), shown.notes) == ([], "the preferences name no game 'Two' whose folder is there")


@pytest.mark.parametrize("options", [{}, {"whole_player": False}])
def test_parts_of_players_bring_the_whole_player_once(tmp_path, options):
    """What else was chosen comes as it is."""
    folder = players.game(tmp_path, packed=True)
    pack = tmp_path / "baseq3/pak0.pk3"
    names = [folder.relative_to(pack).as_posix() + f"/{part}.md3" for part in ("head", "lower", "upper")]
    weapon = next(name for name in weapon_files() if name.endswith(".md3"))
    chosen = [{"name": n, "place": str(pack / n), "kind": "md3", "chosen": True} for n in (*names, weapon)]
    assert choose(found=chosen, **options) == {"FINISHED"}
    assert len(players_among(bpy.context.scene.objects)) == (not options)
    roots = [block for block in bpy.context.scene.objects if is_root(block) and "idtech_level" not in block]
    assert len(roots) == (3 if not options else 0)
    assert str(pack / weapon) in imported()
