"""The `.mtr` beside a model: of materials that its game lacks, and never in the place of what somebody made."""

import pytest

from io_idtech_models.game.shaders.declaring import is_own
from io_idtech_models.game.shaders.library import DOOM3, ShaderLibrary
from io_idtech_models.game.shaders.model import BUMP, COLOR, DIFFUSE, SPECULAR
from tests.samples import put
from tests.samples_lwo import pyramid
from tests.samples_md5 import MESHES
from tests.ui.scene import bpy, export_bytes, import_model, png, tga

pytestmark = pytest.mark.usefixtures("empty_scene")


def picture(folder, name):
    """Return an image that is saved as a file."""
    return bpy.data.images.load(str((png if name.endswith(".png") else tga)(folder / name)))


def surface_of(material):
    return next(node for node in material.node_tree.nodes if node.type == "BSDF_PRINCIPLED")


def material_of(name, **images):
    """Return a material whose surface shows images by the names of its inputs."""
    material = bpy.data.materials.new(name)
    if material.node_tree is None:
        material.use_nodes = True
    tree, surface = material.node_tree, surface_of(material)
    for socket, image in images.items():
        node = tree.nodes.new("ShaderNodeTexImage")
        node.image = image
        target = surface.inputs[socket.replace("_", " ")]
        if socket == "Normal":
            bumps = tree.nodes.new("ShaderNodeNormalMap")
            tree.links.new(node.outputs["Color"], bumps.inputs["Color"])
            tree.links.new(bumps.outputs["Normal"], target)
        else:
            tree.links.new(node.outputs["Color"], target)
    return material


def cube(material):
    bpy.ops.mesh.primitive_cube_add(size=16)
    bpy.context.object.data.materials.append(material)


def written(folder, name="crate.lwo", **options):
    """Export, and return the library of the text beside the model; None without one."""
    folder.mkdir(parents=True, exist_ok=True)
    format_name = name.rsplit(".", 1)[1]
    operator = getattr(bpy.ops.export_scene, f"idtech_{format_name}")
    assert operator(filepath=str(folder / name), write_materials=True, **options) == {"FINISHED"}
    text = (folder / name).with_suffix(".mtr")
    return ShaderLibrary([("materials/a.mtr", text.read_bytes)], DOOM3) if text.is_file() else None


@pytest.mark.parametrize("name", ["crate.lwo", "crate.ase"])
def test_pictures_of_a_material_stand_in_the_text(tmp_path, name, capfd):
    base = tmp_path / "base"
    images = {
        "Base_Color": picture(base, "textures/my/crate.tga"), "Normal": picture(base, "textures/my/crate_n.tga"),
        "Specular_Tint": picture(tmp_path, "elsewhere/shine.png"),
    }  # fmt: skip
    cube(material_of("textures/my/crate", **images))
    shader = written(base / "models", name).shader("textures/my/crate")
    assert [(stage.role, stage.maps[0]) for stage in shader.stages] == [
        (DIFFUSE, "textures/my/crate.tga"), (BUMP, "textures/my/crate_n.tga"), (SPECULAR, "textures/my/crate_s.tga"),
    ]  # fmt: skip
    said = capfd.readouterr().out
    assert "the picture 'shine.png' has to lie in the game as 'textures/my/crate_s.tga'" in said
    assert "'crate.mtr' goes into the game's folder 'materials'" in said


def test_a_material_without_pictures_has_its_colour(tmp_path):
    material = material_of("textures/red")
    surface_of(material).inputs["Base Color"].default_value = (1.0, 0.0, 0.0, 1.0)
    cube(material)
    shader = written(tmp_path).shader("textures/red")
    assert [stage.maps[0] for stage in shader.stages] == ["_white"]
    assert b"red 1\n\t\tgreen 0\n\t\tblue 0\n" in (tmp_path / "crate.mtr").read_bytes()


@pytest.mark.parametrize(("strength", "lines"), [(1.0, ""), (0.0, None), (0.2, "red 0.4845\n\t\tgreen")])
def test_what_shines_is_added(tmp_path, strength, lines):
    """By the light that nodes reckon with, which pictures have as numbers; what has no strength does not shine."""
    pictures = {name: picture(tmp_path, f"models/{name}.tga") for name in ("lamp", "lamp_g")}
    material = material_of("models/lamp", Base_Color=pictures["lamp"], Emission_Color=pictures["lamp_g"])
    surface_of(material).inputs["Emission Strength"].default_value = strength
    cube(material)
    stages = written(tmp_path).shader("models/lamp").stages
    maps = ["models/lamp.tga", *([] if lines is None else ["models/lamp_g.tga"])]
    assert [stage.maps[0] for stage in stages] == maps
    assert (lines or "") in (tmp_path / "crate.mtr").read_text()


def test_a_light_without_a_picture(tmp_path, capfd):
    material = material_of("models/light")
    surface = surface_of(material)
    surface.inputs["Emission Color"].default_value = (0.0, 1.0, 0.0, 1.0)
    surface.inputs["Emission Strength"].default_value = 4.0
    cube(material)
    assert [stage.maps[0] for stage in written(tmp_path).shader("models/light").stages] == ["_white", "_white"]
    assert "map _white\n\t\tred 0\n\t\tgreen 1\n\t\tblue 0\n" in (tmp_path / "crate.mtr").read_text()
    noise = material.node_tree.nodes.new("ShaderNodeTexNoise")
    material.node_tree.links.new(noise.outputs["Color"], surface.inputs["Emission Color"])
    assert "nodes make what shines" not in capfd.readouterr().out
    written(tmp_path)
    assert "'models/light': nodes make what shines, bake that into a picture" in capfd.readouterr().out


def test_what_only_shines_has_no_colour_of_its_own(tmp_path):
    """As an import shows it: the picture is what is added, and not what lights light."""
    material = material_of("models/fire", Emission_Color=picture(tmp_path, "models/fire.tga"))
    surface = surface_of(material)
    surface.inputs["Base Color"].default_value = (0.0, 0.0, 0.0, 1.0)
    surface.inputs["Emission Strength"].default_value = 1.0
    cube(material)
    stages = written(tmp_path).shader("models/fire").stages
    assert [(stage.role, stage.maps[0]) for stage in stages] == [(DIFFUSE, "_white"), (COLOR, "models/fire.tga")]


def test_an_emission_shader_is_a_light(tmp_path):
    material = material_of("models/lamp")
    tree = material.node_tree
    tree.nodes.remove(surface_of(material))
    light, image = tree.nodes.new("ShaderNodeEmission"), tree.nodes.new("ShaderNodeTexImage")
    image.image = picture(tmp_path, "models/lamp.tga")
    tree.links.new(image.outputs["Color"], light.inputs["Color"])
    tree.links.new(light.outputs[0], tree.get_output_node("ALL").inputs["Surface"])
    cube(material)
    stages = written(tmp_path).shader("models/lamp").stages
    assert [(stage.role, stage.maps[0]) for stage in stages] == [(DIFFUSE, "_white"), (COLOR, "models/lamp.tga")]
    assert "map _white\n\t\tred 0\n\t\tgreen 0\n\t\tblue 0\n" in (tmp_path / "crate.mtr").read_text()


def test_what_light_falls_on_beside_a_light_has_its_picture(tmp_path):
    material = material_of("models/lamp")
    tree = material.node_tree
    tree.nodes.remove(surface_of(material))
    light, plain, image, both = (
        tree.nodes.new(f"ShaderNode{kind}") for kind in ("Emission", "BsdfDiffuse", "TexImage", "AddShader")
    )
    image.image = picture(tmp_path, "models/lamp.tga")
    tree.links.new(image.outputs["Color"], plain.inputs["Color"])
    for place, node in enumerate((plain, light)):
        tree.links.new(node.outputs[0], both.inputs[place])
    tree.links.new(both.outputs[0], tree.get_output_node("ALL").inputs["Surface"])
    cube(material)
    assert [stage.maps[0] for stage in written(tmp_path).shader("models/lamp").stages] == ["models/lamp.tga"]


def test_what_nodes_make_shine_is_left_out_as_is_said(tmp_path, capfd):
    material = material_of("models/lamp")
    tree = material.node_tree
    tree.nodes.remove(surface_of(material))
    light, noise = tree.nodes.new("ShaderNodeEmission"), tree.nodes.new("ShaderNodeTexNoise")
    tree.links.new(noise.outputs["Color"], light.inputs["Color"])
    tree.links.new(light.outputs[0], tree.get_output_node("ALL").inputs["Surface"])
    cube(material)
    assert [stage.role for stage in written(tmp_path).shader("models/lamp").stages] == [DIFFUSE]
    assert "nodes make what shines" in capfd.readouterr().out


def clear_by(kind):
    def clear(material):
        tree = material.node_tree
        mix, other = tree.nodes.new("ShaderNodeMixShader"), tree.nodes.new(kind)
        tree.links.new(surface_of(material).outputs[0], mix.inputs[1])
        tree.links.new(other.outputs[0], mix.inputs[2])
        tree.links.new(mix.outputs[0], tree.get_output_node("ALL").inputs["Surface"])

    return clear


def clear_input(name, value):
    return lambda material: setattr(surface_of(material).inputs[name], "default_value", value)


CLEARED = {
    "a number": clear_input("Alpha", 0.5),
    "transmission": clear_input("Transmission Weight", 1.0),
    "a shader": clear_by("ShaderNodeBsdfTransparent"),
    "glass": clear_by("ShaderNodeBsdfGlass"),
}


@pytest.mark.parametrize("how", CLEARED)
def test_what_one_sees_through_otherwise_is_said(tmp_path, capfd, how):
    material = material_of("models/pane", Base_Color=picture(tmp_path, "models/pane.tga"))
    cube(material)
    written(tmp_path)
    assert "seen through" not in capfd.readouterr().out
    CLEARED[how](material)
    written(tmp_path)
    assert "or add a blend stage: 'models/pane'" in capfd.readouterr().out


def test_alpha_that_cuts_is_tested(tmp_path):
    material = material_of("models/leaf", Base_Color=picture(tmp_path, "models/leaf.tga"))
    node = next(node for node in material.node_tree.nodes if node.type == "TEX_IMAGE")
    material.node_tree.links.new(node.outputs["Alpha"], surface_of(material).inputs["Alpha"])
    cube(material)
    (stage,) = written(tmp_path).shader("models/leaf").stages
    assert stage.alpha_test is not None and stage.role == DIFFUSE


def test_what_the_game_has_is_not_written_again(tmp_path, capfd):
    base = tmp_path / "base"
    put(base / "materials" / "own.mtr", b"textures/known { diffusemap textures/known }\n")
    cube(material_of("textures/known"))
    assert written(base / "models") is None
    assert "the game has all materials of the model: no 'crate.mtr' is written" in capfd.readouterr().out
    bpy.context.object.data.materials.append(material_of("textures/more"))
    bpy.context.object.data.polygons[0].material_index = 1
    library = written(base / "models")
    assert library.shader("textures/more") is not None and library.shader("textures/known") is None


def test_a_text_of_someone_elses_stays(tmp_path, capfd):
    cube(material_of("textures/new"))
    assert written(tmp_path).shader("textures/new") is not None
    text = tmp_path / "crate.mtr"
    assert is_own(text.read_bytes())
    assert written(tmp_path).shader("textures/new") is not None  # its own it writes again
    theirs = text.read_bytes() + b"// mine\n"
    text.write_bytes(theirs)
    capfd.readouterr()
    assert written(tmp_path) is not None
    assert text.read_bytes() == theirs
    said = "'crate.mtr' was made or changed by hand: it stays as it is, and no materials are written"
    assert said in capfd.readouterr().out


def test_nothing_is_written_that_is_not_asked_for(tmp_path):
    import_model(put(tmp_path / "a.lwo", pyramid()))
    export_bytes(tmp_path / "b.lwo")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.lwo", "b.lwo"]


def test_models_with_bones_have_the_option_too(tmp_path):
    import_model(put(tmp_path / "a.md5mesh", MESHES[0]()))
    assert written(tmp_path, "b.md5mesh").names()
