"""Import Character: players of XreaL and Unvanquished, a body with all animations of its folder."""

from pathlib import Path
from typing import Any

import pytest

from io_idtech_models.blender import names
from io_idtech_models.blender.provenance import WORN
from io_idtech_models.tasks.animations.find import of_rig
from tests.samples import CORPUS
from tests.samples_iqm import animated
from tests.samples_xreal import FOLDER, put_player
from tests.ui.scene import bpy

pytestmark = pytest.mark.usefixtures("empty_scene")
run: Any = bpy.ops.import_scene.idtech_character
REAL = CORPUS / "xreal/base/models/players/xsarge/character.cfg"


def read(path: Path, **options: Any) -> None:
    assert run(filepath=str(path), **options) == {"FINISHED"}


def animations() -> list[str]:
    """Return all animations of the player, of which one is made."""
    (rig,) = (block for block in bpy.data.objects if block.type == "ARMATURE")
    return sorted(row.name for row in of_rig(rig).rows())


def test_a_body_with_all_animations(tmp_path, capfd):
    read(put_player(tmp_path))
    said = capfd.readouterr().out
    assert "warning" not in said.lower()
    assert "skin default, 0.83 times as large, as the game shows it" in said
    assert animations() == ["idle", "walk"]
    assert [names.file_name_of(action) for action in bpy.data.actions] == ["idle"]
    (material,) = [m for m in bpy.data.materials if m.get(WORN)]
    assert material[WORN] == f"{FOLDER}/skin"
    pictures = [n.image.name for n in material.node_tree.nodes if n.type == "TEX_IMAGE" and n.image]
    assert [Path(name).name for name in pictures] == ["picture.tga"]


def test_an_iqm_with_its_own_animations(tmp_path):
    path = put_player(tmp_path)
    (path.parent / "newt.iqm").write_bytes(animated().pack())
    read(path)
    assert len(animations()) > 0
    assert "walk" not in animations() or "idle" not in animations()


@pytest.mark.skipif(not REAL.is_file(), reason="no corpus")
def test_a_real_one(capfd):
    read(REAL)
    assert len(animations()) == 17
    said = capfd.readouterr().out
    assert "the skin has 1 line for 4 meshes" in said
    assert "there is no skin" not in said
