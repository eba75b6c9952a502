"""What models wear: skins, scripts and pictures of their game, shown, changed, and written as skins."""

from pathlib import Path
from typing import Any

import pytest

from examples import lantern
from io_idtech_models.blender.shading.images import image_of
from io_idtech_models.blender.shading.materials import worn_by
from io_idtech_models.game.folders import Disk
from io_idtech_models.ui import skins
from io_idtech_models.ui.cli import main
from tests import samples_md3, samples_md5, samples_mdm
from tests.packs import put_files, put_pack
from tests.samples import PROJECT, put
from tests.ui.scene import activate, add_cube, bpy, error_of, export_bytes, import_model, png, reopen

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("empty_scene")]
DEFAULT = (
    b'// what he wears\r\nbody,models/cloth.tga\r\n"Arm", "models/metal"  \r\ntag_torso,\r\nmd3_hat,models/hat.md3\r\n'
)
RED = b"body,models/red\narm,models/glass"
SHADERS = b"""
models/metal { { map models/rust.tga rgbGen lightingDiffuse } }
models/glass
{
    cull disable
    { map models/rust.tga
      blendFunc add
      tcMod scroll 0.5 0 }
}
"""
PICTURES = ("models/cloth.png", "models/rust.png", "models/red.png")


def model(*surfaces: bytes) -> bytes:
    """Return an MD3 whose surfaces all have the same shader."""
    spec = samples_md3.minimal()
    first = spec.surfaces[0]
    spec.surfaces = [
        samples_md3.SurfaceSpec(name, first.frames, first.triangles, first.st, [(b"C:\\lambert2", 0)])
        for name in surfaces
    ]
    return spec.pack()


MODEL = model(b"Body", b"arm_L")


def files(folder: Any) -> dict[str, bytes]:
    """Return what a game holds, by names in it."""
    picture = png(folder / "picture.png").read_bytes()
    found = dict.fromkeys(PICTURES, picture)
    part = "models/players/sarge/upper"
    return found | {
        f"{part}.md3": MODEL,
        f"{part}_1.md3": MODEL,
        f"{part}_default.skin": DEFAULT,
        f"{part}_red.skin": RED,
        "scripts/all.shader": SHADERS,
    }


@pytest.fixture(params=["loose", "packed"])
def upper(request, tmp_path):
    """Return the path of a model in a game, loose or in an archive."""
    held = files(tmp_path)
    game = tmp_path / "baseq3"
    if request.param == "packed":
        put_pack(game / "pak0.pk3", held)
        return game / "pak0.pk3/models/players/sarge/upper.md3"
    put_files(game, held)
    return game / "models/players/sarge/upper.md3"


@pytest.fixture
def loose(tmp_path):
    put_files(tmp_path / "baseq3", files(tmp_path))
    return tmp_path / "baseq3/models/players/sarge/upper.md3"


def surfaces(collection: Any) -> list[Any]:
    return [block for block in collection.objects if block.type == "MESH"]


def first_materials(collection: Any) -> list[Any]:
    return [block.data.materials[0] for block in surfaces(collection)]


def picture(material: Any) -> Any:
    return image_of(material)


def worn(collection: Any) -> list[str]:
    """Return the shaders that a model's surfaces wear."""
    return [worn_by(material) for material in first_materials(collection)]


def test_a_model_comes_in_its_default_skin_and_goes_as_it_was(upper, tmp_path):
    collection = import_model(upper)
    assert worn(collection) == ["models/cloth.tga", "models/metal"]
    assert [picture(m).name for m in first_materials(collection)] == (
        ["cloth.png", "rust.png"] if upper.is_file() else ["models/cloth.png", "models/rust.png"]
    )
    assert collection["idtech_skin"] == "default"
    assert collection["md3_hat"] == "models/hat.md3"
    assert export_bytes(tmp_path / "b.md3") == MODEL
    level = import_model(upper.with_name("upper_1.md3"))
    assert worn(level) == ["models/cloth.tga", "models/metal"], "as its model"


@pytest.mark.parametrize("moving", [False, True])
def test_another_skin(upper, tmp_path, moving):
    """Textures move when that is asked for."""
    body, arm = first_materials(import_model(upper, skin="red", moving_textures=moving))
    assert picture(body).name.endswith("red.png")
    assert arm.surface_render_method == "BLENDED"
    assert not arm.use_backface_culling
    drivers = arm.node_tree.animation_data.drivers if arm.node_tree.animation_data else ()
    assert [("frame" in curve.driver.expression) for curve in drivers] == [True] * moving
    assert export_bytes(tmp_path / "b.md3") == MODEL


def test_no_skin_or_one_that_is_not_there(upper, capsys):
    import_model(upper, skin="blue")
    assert "there is no skin 'blue' for 'upper': default, red" in capsys.readouterr().out
    collection = import_model(upper, skin="none")
    assert "idtech_skin" not in collection
    assert "1 texture not found: 'C:\\lambert2'" in capsys.readouterr().out
    (material,) = set(first_materials(collection))
    assert worn_by(material) == "C:\\lambert2"


def test_surfaces_that_a_skin_does_not_list(loose, capsys):
    put(loose, model(b"body", b"belt"))
    _, belt = first_materials(import_model(loose))
    assert "skin 'default' has nothing for 'belt': games show these grey" in capsys.readouterr().out
    assert image_of(belt) is None
    assert worn_by(belt) == ""


# -- the example


LANTERN = PROJECT / "examples" / lantern.PACK / lantern.FOLDER / "lantern.md3"


@pytest.mark.parametrize(("nth", "skin"), [*enumerate(lantern.SKINS)])
def test_the_lantern_comes_in_both_skins_and_goes_as_it_was(tmp_path, capsys, nth, skin):
    collection = import_model(LANTERN, skin=skin)
    assert "5 surfaces, 2 tags, 12 frames\n" in capsys.readouterr().out, "and nothing that it lacks"
    dress = {block.name.rpartition(".")[2]: worn_by(block.data.materials[0]) for block in surfaces(collection)}
    assert dress == {name: lantern.FOLDER + both[nth] for name, both in lantern.WORN.items()}
    glass = next(block.data.materials[0] for block in surfaces(collection) if block.name.endswith("glass"))
    assert glass.surface_render_method == "BLENDED"
    assert export_bytes(tmp_path / "b.md3") == Disk().file(LANTERN).read()
    skin_file = LANTERN.with_name(f"lantern_{skin}.skin")
    assert written(collection, tmp_path / skin_file.name) == Disk().file(skin_file).read()


def test_the_lantern_is_dressed_anew(capsys):
    collection = import_model(LANTERN)
    show(collection, "frost.skin")
    assert {worn_by(m).removeprefix(lantern.FOLDER) for m in first_materials(collection)} == {
        both[1] for both in lantern.WORN.values()
    }
    assert "left" not in capsys.readouterr().out


# -- another skin for what is there


def show(collection: Any, name: str) -> None:
    activate(surfaces(collection)[0])
    assert bpy.ops.object.idtech_show_skin(skin=name) == {"FINISHED"}


def test_who_is_dressed_is_named(upper, capfd):
    """A model alone by its object; of a player, whose other parts are dressed, too, the player."""
    collection = import_model(upper)
    show(collection, "red.skin")
    assert f"'{surfaces(collection)[0].name}' wears 'red'" in capfd.readouterr().out
    tock = PROJECT / "examples/tock/baseq3/models/players/tock/head.md3"
    assert bpy.ops.import_scene.idtech_player(filepath=str(tock)) == {"FINISHED"}
    activate(next(block for block in bpy.data.objects if block.name.startswith("h_")))
    assert bpy.ops.object.idtech_show_skin(skin="default.skin") == {"FINISHED"}
    assert "'tock' wears 'default'" in capfd.readouterr().out


def test_show_skin_dresses_the_whole_model(upper, tmp_path):
    collection = import_model(upper)
    activate(surfaces(collection)[0])
    assert [name for name, _, _ in skins.list_items(None, bpy.context)][:3] == ["0", "default.skin", "red.skin"]
    show(collection, "red.skin")
    assert worn(collection) == ["models/red", "models/glass"]
    assert collection["idtech_skin"] == "red"
    show(collection, "default.skin")
    assert worn(collection) == ["models/cloth.tga", "models/metal"]
    assert len(bpy.data.materials) == 2, "what nobody wears any more is gone"
    assert export_bytes(tmp_path / "b.md3") == MODEL


def test_levels_of_detail_wear_what_their_model_does(upper, tmp_path):
    collection = import_model(upper)
    activate(surfaces(collection)[0])
    assert bpy.ops.object.idtech_make_levels(percentages="50, 25") == {"FINISHED"}
    other_picture(first_materials(collection)[0].node_tree, tmp_path)
    level, edited = bpy.data.collections["upper_2"], first_materials(collection)[0]
    show(collection, "red.skin")
    assert first_materials(level) == first_materials(collection) != [edited]
    show(collection, "default.skin")
    assert first_materials(level) == first_materials(collection)
    assert first_materials(level)[0] == edited
    assert len(bpy.data.materials) == 2


def test_show_skin_dresses_slots_of_objects(loose, tmp_path):
    collection = import_model(loose)
    for block in surfaces(collection):
        slot, own = block.material_slots[0], block.material_slots[0].material
        slot.link = "OBJECT"
        slot.material = own
    show(collection, "red.skin")
    assert [worn_by(b.material_slots[0].material) for b in surfaces(collection)] == ["models/red", "models/glass"]
    assert [block.material_slots[0].link for block in surfaces(collection)] == ["OBJECT"] * 2
    assert written(collection, tmp_path / "upper_other.skin") == RED
    block = surfaces(collection)[0]
    block.material_slots[0].material = bpy.data.materials.new("models/mine")
    show(collection, "default.skin")
    assert block.material_slots[0].material.name == "models/mine"


def test_show_skin_leaves_what_a_modeller_has_chosen(loose, capsys):
    collection = import_model(loose)
    surfaces(collection)[1].data.materials[0] = bpy.data.materials.new("models/mine")
    show(collection, "red.skin")
    assert "'arm_L': materials that were not the import's stay" in capsys.readouterr().out
    assert worn(collection) == ["models/red", "models/mine"]


def other_picture(tree: Any, folder: Path) -> None:
    image = next(node for node in tree.nodes if node.type == "TEX_IMAGE")
    image.image = bpy.data.images.load(str(png(folder / "mine.png")))


EDITS = {
    "another picture": other_picture,
    "a number": lambda tree, _: setattr(tree.nodes["Principled BSDF"].inputs["Roughness"], "default_value", 0.25),
    "a choice": lambda tree, _: setattr(tree.nodes["Image Texture"], "interpolation", "Closest"),
    "a node more": lambda tree, _: tree.nodes.new("ShaderNodeRGB"),
    "a link less": lambda tree, _: tree.links.remove(tree.links[0]),
}


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("options", [{}, {"plain_materials": True}, {"moving_textures": True}], ids=str)
def test_an_edited_material_comes_back_with_its_skin(loose, tmp_path, capsys, edit, options):
    collection = import_model(loose, **options)
    body, arm = first_materials(collection)
    EDITS[edit](body.node_tree, tmp_path)
    name, plain = body.name, arm.name
    show(collection, "red.skin")
    said = "materials that were edited come back when 'default' is shown again: 'models/cloth.tga'"
    assert said in capsys.readouterr().out
    assert plain not in bpy.data.materials, "made anew when it is wanted"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "x.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "x.blend"))
    collection = bpy.data.collections["upper"]
    show(collection, "default.skin")
    assert [worn_by(m) for m in first_materials(collection)] == ["models/cloth.tga", "models/metal"]
    assert first_materials(collection)[0] == bpy.data.materials[name]
    assert not bpy.data.materials[name].use_fake_user
    assert "edited" not in capsys.readouterr().out
    show(collection, "default.skin")
    assert "made anew; materials that were edited are kept in the .blend, unused" in capsys.readouterr().out
    assert first_materials(collection)[0] != bpy.data.materials[name]
    assert export_bytes(tmp_path / "b.md3") == MODEL


def test_what_a_model_wears_survives_saving(upper, tmp_path):
    import_model(upper, skin="red")
    reopen(tmp_path)
    collection = bpy.data.collections["upper"]
    assert worn(collection) == ["models/red", "models/glass"]
    assert export_bytes(tmp_path / "b.md3") == MODEL
    show(collection, "default.skin")


# -- writing skins


def written(collection: Any, path: Path) -> bytes:
    activate(surfaces(collection)[0])
    assert bpy.ops.object.idtech_write_skin(filepath=str(path)) == {"FINISHED"}
    return path.read_bytes()


def test_an_unedited_skin_is_the_same(loose, tmp_path, capfd):
    """Also beside an export."""
    collection = import_model(loose)
    assert written(collection, loose.with_name("upper_default.skin")) == DEFAULT
    assert written(collection, tmp_path / "upper_copy.skin") == DEFAULT, "a new one is like the one that is worn"
    for given, called in (("a b/c", "a b_c"), ("x\\y", "x_y"), ("*", "_"), ("..", "animation"), ("blue.skin", "blue")):
        assert export_bytes(tmp_path / "torso.md3", skin=given) == MODEL
        assert (tmp_path / f"torso_{called}.skin").exists()
        said = f"no file can be called so everywhere, the skin is '{called}' now: '{given}'"
        assert (said in capfd.readouterr().out) == (given != "blue.skin")
    assert export_bytes(tmp_path / "torso.md3", skin="default") == MODEL
    assert (tmp_path / "torso_default.skin").read_bytes() == DEFAULT
    assert not (tmp_path / "torso_red.skin").exists()
    show(collection, "red.skin")
    assert written(collection, tmp_path / "upper_other.skin") == RED


def test_an_edit_changes_its_line(loose, tmp_path):
    collection = import_model(loose)
    body, arm = surfaces(collection)
    arm.data.materials[0].name = "models/gold"
    wanted = DEFAULT.replace(b'"models/metal"', b'"models/gold"')
    assert written(collection, tmp_path / "upper_gold.skin") == wanted
    body.data.materials[0] = bpy.data.materials.new("models/silk.tga")
    wanted = wanted.replace(b"models/cloth.tga", b"models/silk.tga")
    assert written(collection, tmp_path / "upper_gold.skin") == wanted
    body.data.materials[0].name = 'models/"quoted"'
    said = error_of(bpy.ops.object.idtech_write_skin, filepath=str(tmp_path / "a.skin"))
    assert said.startswith("a.skin: ")
    assert not (tmp_path / "a.skin").exists()


def test_a_skin_of_a_model_of_ones_own(tmp_path):
    add_cube("Suit").data.materials.append(bpy.data.materials.new("models/suit"))
    bpy.ops.object.idtech_write_skin(filepath=str(tmp_path / "upper_new.skin"))
    assert (tmp_path / "upper_new.skin").read_bytes() == b"suit,models/suit\n"


def test_an_mdm_in_its_skin(tmp_path):
    names = [surface.name for surface in samples_mdm.figure_spec().surfaces]
    put(tmp_path / "body.mdm", samples_mdm.figure())
    put(tmp_path / "body.mdx", samples_mdm.walk())
    lines = b"".join(name.split(b"\0")[0] + b',"models/cloth"\n' for name in names)
    put(tmp_path / "body_default.skin", lines)
    collection = import_model(tmp_path / "body.mdm")
    assert {worn_by(m) for m in first_materials(collection)} == {"models/cloth"}
    assert export_bytes(tmp_path / "b.mdm") == samples_mdm.figure()


def test_a_skin_declaration_of_doom(tmp_path):
    game = tmp_path / "base"
    path = put(game / "models/md5/arm.md5mesh", samples_md5.arm())
    decl = 'skin arms/gold { model "models/md5/arm.md5mesh" models/md5/arm models/gold }'
    put(game / "skins/a.skin", decl.encode())
    put(game / "materials/a.mtr", b"models/gold { diffusemap models/gold.tga }")
    png(game / "models/gold.png")
    plain = import_model(path)
    assert worn_by(first_materials(plain)[0]) == "models/md5/arm", "none is the usual one"
    gold = import_model(path, skin="arms/gold")
    assert worn_by(first_materials(gold)[0]) == "models/gold"
    assert picture(first_materials(gold)[0]).name == "gold.png"
    show(plain, "arms/gold.skin")
    assert worn_by(first_materials(plain)[0]) == "models/gold"


# -- for other programs


def test_other_formats_get_the_picture_of_a_skin(loose, tmp_path):
    """Their materials are plain, with one picture each."""
    body, arm = first_materials(import_model(loose, skin="red", plain_materials=True))
    assert (picture(arm).name, picture(body).name) == ("rust.png", "red.png")
    kinds = sorted(node.type for node in arm.node_tree.nodes)
    assert kinds == ["BSDF_PRINCIPLED", "OUTPUT_MATERIAL", "TEX_IMAGE"]
    assert main(["convert", str(loose), str(tmp_path / "a.glb"), "--skin", "red"]) == 0
    assert main(["convert", str(tmp_path / "a.glb"), str(tmp_path / "a.blend")]) == 0
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "a.blend"))
    shown = {picture(m).name for m in bpy.data.materials if picture(m) is not None}
    assert shown == {"red", "rust"}
