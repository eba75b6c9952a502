"""Hang on Rig: a modder's own meshes on the skeleton that was made of another model's frames."""

from __future__ import annotations

from ..blender.compat import Context
from ..blender.frame_rigs import posed_by
from ..blender.scene import ExportScene
from ..blender.window import object_mode, selected
from ..model.wording import listed
from ..reporting import LimitError, Summary
from .rigging import rig_meant

FAR = 0.1  # of the rig's size: what lies farther from the model that it was made of is in another pose, or place


def hang_selected(context: Context) -> Summary:
    """Let the active rig pose the selected meshes that it was not made of; returns what was done in words.

    Raises:
        LimitError: no mesh is selected, or one is bent by another armature.
    """
    from ..blender.rigging.hang import hang

    rig = rig_meant(context)
    if rig is None:
        raise LimitError("no rig that was made of frames is active, and no mesh that such a one poses")
    made = posed_by(rig)
    own = [block for block in selected(context) if block.type == "MESH" and block not in made]
    if not own:
        raise LimitError(f"select the meshes that '{rig.name}' is to pose, then the rig")
    with object_mode(context):
        export = ExportScene(context.scene, context.view_layer, None)
        away = {block.name: hang(block, rig, export) for block in own}
        context.view_layer.update()
    far = [name for name, off in away.items() if off > FAR * max(rig.dimensions)]
    warnings = [f"{listed(far)} lie far from the model at rest: move and pose them like it, and hang them on it anew"]
    return Summary(f"{listed(list(away))} on '{rig.name}'", warnings if far else [])
