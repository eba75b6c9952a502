"""Players imported, edited and saved: the same files come of it, and the same is said, as before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from io_idtech_models.blender.player.parts import find_player
from tests.ui.player.players import export_player, game, import_player, mesh_of, tag_of
from tests.ui.scene import KEPT_HERE, activate, bpy, outcome, places, png, tga

pytestmark = [KEPT_HERE, pytest.mark.once, pytest.mark.usefixtures("empty_scene")]


def called(options: dict[str, Any]) -> str:
    return "-".join(f"{name}={value}" for name, value in options.items())


def moved(player: Any) -> None:
    """Move points of a mesh, in its first frame where it has several."""
    mesh = mesh_of(player, "upper").data
    points = mesh.shape_keys.key_blocks[0].data if mesh.shape_keys else mesh.vertices
    for point in list(points)[:2]:
        point.co.z += 3.0


def wear(player: Any, image: Any, name: str = "My Paint") -> None:
    """Give the head another material, which shows a picture."""
    material = bpy.data.materials.new(name)
    material.use_nodes = True
    node = material.node_tree.nodes.new("ShaderNodeTexImage")
    node.image = image
    material.node_tree.links.new(
        node.outputs["Color"], material.node_tree.nodes["Principled BSDF"].inputs["Base Color"]
    )
    mesh_of(player, "head").data.materials[0] = material


def painted(player: Any) -> None:
    wear(player, bpy.data.images.load(str(png(Path(bpy.app.tempdir, "paint.png")))))


def called_as_a_path(player: Any) -> None:
    wear(player, bpy.data.images.load(str(tga(Path(bpy.app.tempdir, "paint.tga")))), "models/players/grunt/other.tga")


def generated(player: Any) -> None:
    wear(player, bpy.data.images.new("Made Here", 8, 4, alpha=True), "models/mapobjects/crate")


def gone(player: Any) -> None:
    path = png(Path(bpy.app.tempdir, "gone.png"))
    wear(player, bpy.data.images.load(str(path)))
    path.unlink()
    bpy.data.images["gone.png"].reload()


def unpainted(player: Any) -> None:
    mesh_of(player, "head").data.materials.clear()


def in_red(player: Any) -> None:
    red(player)
    painted(player)


def tagged(player: Any) -> None:
    tag = tag_of(player.parts["lower"], "tag_torso")
    tag.animation_data_clear()
    tag.location.z += 5.0


def with_frame(player: Any) -> None:
    activate(player.parts["lower"])
    bpy.context.scene.frame_set(2)
    assert bpy.ops.object.idtech_insert_frame() == {"FINISHED"}


def without_head(player: Any) -> None:
    bpy.data.objects.remove(mesh_of(player, "head"))


def scaled(player: Any) -> None:
    player.root.scale = (2.0, 1.0, 1.0)
    player.parts["head"].location.z += 4.0
    player.parts["upper"].rotation_euler.z = 0.5


def red(player: Any) -> None:
    activate(player.root)
    assert bpy.ops.object.idtech_show_skin(skin="red.skin") == {"FINISHED"}


def untouched(player: Any) -> None:
    pass


EDITS = (
    untouched, moved, painted, called_as_a_path, generated, gone, unpainted, in_red, tagged, with_frame,
    without_head, scaled, red,
)  # fmt: skip
SAVES: list[dict[str, Any]] = [
    {"normals": "SHOWN"}, {"normals": "SMOOTH"}, {"percentages": "50, 25"}, {"percentages": "x"}, {"player": "other"},
    {"new_skin": "blue"}, {"triangles": 20}, {"triangles": 2}, {"game": "ioquake3"},
    {"filepath": "pack.pk3", "player": "other"},
]  # fmt: skip
IMPORTS: list[dict[str, Any]] = [
    {}, {"weapon": "club"}, {"levels": False}, {"legs": "LEGS_RUN", "torso": "TORSO_ATTACK"}, {"legs": "none"},
    {"scale": 0.5}, {"frame_rate": 30, "legs": "LEGS_WALK"}, {"side_by_side": True}, {"weapon": "none"},
]  # fmt: skip
LACKING: list[dict[str, Any]] = [
    {"head_md3": None}, {"lower_md3": b"IDP3"}, {"animation_cfg": None}, {"animation_cfg": b"0 1 2 x"},
    {"upper_default_skin": None}, {"head_default_skin": b"h_head,"}, {"lower_1_md3": None}, {"lower_1_md3": b"x"},
    {"lower_1_md3": None, "head_1_md3": b"x"},
]  # fmt: skip


def imported(folder: Any, packed: bool = False, **options: Any) -> Any:
    import_player(filepath=str(game(folder, packed) / "head.md3"), **options)
    return find_player(bpy.context.view_layer.objects.active)


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.__name__)
@pytest.mark.parametrize("packed", [False, True], ids=["loose", "packed"])
def test_an_edited_player_is_saved_as_it_was(edit, packed, tmp_path, capfd, as_before):
    edit(imported(tmp_path / "a", packed))
    as_before(outcome(export_player, tmp_path / "b", capfd, filepath=str(tmp_path / "b/saved")))
    as_before(outcome(export_player, tmp_path / "c", capfd, filepath=str(tmp_path / "c/saved.pk3")))


@pytest.mark.parametrize("options", SAVES, ids=called)
def test_a_player_is_saved_as_it_was_with_each_option(options, tmp_path, capfd, as_before):
    moved(imported(tmp_path / "a", weapon="club"))
    path = tmp_path / "b" / options.get("filepath", "saved")
    as_before(outcome(export_player, tmp_path / "b", capfd, **options | {"filepath": str(path)}))


def shown() -> list[str]:
    """Return what the scene is."""
    scene = bpy.context.scene
    scene.frame_set(7)
    return [*places(), f"frames {scene.frame_start} to {scene.frame_end}"]


@pytest.mark.parametrize("options", IMPORTS, ids=called)
def test_a_player_is_imported_as_it_was_with_each_option(options, tmp_path, capfd, as_before):
    said = outcome(import_player, tmp_path, capfd, filepath=str(game(tmp_path) / "upper.md3"), **options)
    as_before([line for line in said if line.startswith(("Info", "Warning", "Error"))] + shown())


@pytest.mark.parametrize("changed", LACKING, ids=called)
def test_what_a_player_lacks_is_said_as_it_was(changed, tmp_path, capfd, as_before):
    said = outcome(import_player, tmp_path, capfd, filepath=str(game(tmp_path, **changed) / "upper.md3"))
    as_before([line for line in said if line.startswith(("Info", "Warning", "Error"))] + shown())
