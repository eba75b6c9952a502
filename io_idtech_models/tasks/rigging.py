"""Make Rig from Frames, and Remove Rig: an armature behind the frames of a model, and plain frames again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import Thread
from typing import TYPE_CHECKING

import numpy as np

from ..blender.compat import Block, Context
from ..blender.frame_rigs import is_frame_rig, posed_by, rig_of
from ..blender.scene import ExportScene
from ..blender.vertex.frame_plan import GatherSettings
from ..blender.vertex.shape_keys import num_before
from ..blender.vertex.shown_keys import has_frames, shown_key
from ..blender.window import mode_of, object_mode, selected, set_mode
from ..model.wording import listed, plural
from ..reporting import LimitError, Summary, advance, collected_warnings
from .animations.vertex import VertexAnimations
from .export.selection import Choice, choose

if TYPE_CHECKING:
    from ..blender.rigging.read import FramedModel
    from ..model.rigging.rig import Rig
    from ..model.rigging.settings import RigSettings

STEPS = 1000  # of progress
FAR = 0.1  # of a rig's size: what lies farther from the model that it was made of is in another pose, or place


def make(context: Context, settings: RigSettings) -> tuple[Block, Summary]:
    """Put an armature behind the frames of the active object's model; returns it, and what was done in words.

    Raises:
        LimitError: there are no frames, or none that a rig can be made of.
    """
    framed = read(context)
    return finish(context, framed, solve(framed, settings))


@dataclass(eq=False)
class Framed:
    """A model whose rig is to be made."""

    chosen: Choice
    model: FramedModel
    warnings: list[str]


def read(context: Context) -> Framed:
    """Read the frames of the active object's model, or of the meshes that are selected with it."""
    from ..blender.rigging.read import read_model

    chosen = _chosen(context)
    with collected_warnings() as warnings, object_mode(context):
        export = ExportScene(context.scene, context.view_layer, GatherSettings(frames="KEYS"))
        return Framed(chosen, read_model(chosen.whole, chosen.collection, export), warnings)


def solve(framed: Framed, settings: RigSettings, watch: Callable[[float], None] | None = None) -> Rig:
    """Find the skeleton. Nothing of Blender is asked for: a thread may do it; `watch` may raise to end it."""
    from ..model.rigging.solve import make_rig

    model = framed.model
    return make_rig(model.points, model.triangles, model.tags, settings, watch or _advance)


class Solving(Thread):
    """A skeleton that is looked for while the window lives."""

    def __init__(self, framed: Framed, settings: RigSettings) -> None:
        super().__init__(daemon=True)
        self.framed, self.settings = framed, settings
        self.part = 0.0  # of the work that is done
        self._ended = False
        self._rig: Rig | None = None
        self._error: BaseException | None = None

    def run(self) -> None:
        """Look for it."""
        try:
            self._rig = solve(self.framed, self.settings, self._watch)
        except BaseException as error:  # noqa: BLE001 - it is raised where the result is asked for
            self._error = error

    def _watch(self, part: float) -> None:
        self.part = part
        if self._ended:
            raise LimitError("ended")

    def end(self) -> None:
        """End it, and wait for that."""
        self._ended = True
        if self.ident is not None:
            self.join()

    def result(self) -> Rig:
        """Return what was found; raises what went wrong."""
        if self._error is not None:
            raise self._error
        assert self._rig is not None
        return self._rig


def finish(context: Context, framed: Framed, rig: Rig) -> tuple[Block, Summary]:
    """Make the armature, and say what it is."""
    from ..blender.rigging.build import build

    chosen = framed.chosen
    with collected_warnings() as warnings, object_mode(context):
        animations = VertexAnimations(chosen, context)
        built = build(framed.model, rig, animations.whole(), context.scene)
        animations.pair_rigs()
        context.view_layer.update()
    return built.block, Summary(_said(built.rig, framed.model), [*framed.warnings, *warnings])


def _advance(part: float) -> None:
    advance(round(STEPS * part), STEPS)


def this_frame(context: Context) -> int:
    """Return the frame of the active object's model that shows now.

    Raises:
        LimitError: none shows alone.
    """
    lead: Block = next((block for block in _chosen(context).whole if has_frames(block)), None)
    number = -1 if lead is None else shown_key(lead.data.shape_keys) - num_before(lead.data.shape_keys)
    if number < 0:
        raise LimitError("no frame shows alone: go to the frame that is to be the rest")
    return number


def _chosen(context: Context) -> Choice:
    """Return the model of the active object, or the selected meshes that have frames."""
    active = context.view_layer.objects.active
    chosen = choose(context, "AUTO")
    if chosen.collection is None:
        blocks = [block for block in (active, *selected(context)) if block is not None]
        chosen = Choice(list(dict.fromkeys(block for block in blocks if has_frames(block) or block.type == "EMPTY")))
    return chosen


def _said(rig: Rig, model: FramedModel) -> str:
    """Return how many bones a rig has, and how far they alone would be off: what is left is the keys'."""
    from ..model.rigging.report import explained

    report = explained(rig, model.points)
    tags = f" and {plural(len(rig.tag_bones), 'tag')}" if len(rig.tag_bones) else ""
    texts = [f"{plural(report.bones, 'bone')}{tags} in {plural(len(model.points), 'frame')}"]
    frame = report.worst_frame
    texts.append(f"what they don't say (rms {report.rms:.3g}, at most {report.worst:.3g} in frame {frame} "
                 f"'{model.plan.names[frame]}') stays in the shape keys")  # fmt: skip
    if report.torn:
        first = int(np.flatnonzero(rig.torn)[0])
        texts.append(
            f"{plural(report.torn, 'frame')} in which the mesh is torn left out of the joints (first: {first})"
        )
    return ", ".join(texts)


def rig_meant(context: Context) -> Block | None:
    """Return the armature, made of frames, of the active object's model; None if it has none."""
    active = context.view_layer.objects.active
    if active is None:
        return None
    if is_frame_rig(active):
        return active
    above = active.parent if is_frame_rig(active.parent) else None
    return rig_of(active) or above


def remove(context: Context) -> Summary:
    """Let the model's keys show all frames by themselves, and remove its armature.

    Raises:
        LimitError: it has no such armature.
    """
    from ..blender.rigging.remove import remove as remove_rig

    rig = rig_meant(context)
    if rig is None:
        raise LimitError("no rig that was made of frames is active, and no mesh that such a one poses")
    name = rig.name
    posed = posed_by(rig)
    if mode_of(context) != "OBJECT":
        set_mode(context, "OBJECT")  # for good: there will be nothing to pose
    with collected_warnings() as warnings:
        active = context.view_layer.objects.active
        context.view_layer.objects.active = posed[0] if active == rig and posed else active
        collection = choose(context, "AUTO").collection if posed else None
        export = ExportScene(context.scene, context.view_layer, GatherSettings(frames="KEYS"))
        meshes = remove_rig(rig, collection, export)
    return Summary(
        f"'{name}' removed: the shape keys of {plural(len(meshes), 'mesh', 'meshes')} hold the frames", warnings
    )


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
