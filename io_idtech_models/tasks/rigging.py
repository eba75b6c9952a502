"""Make Rig from Frames, and Remove Rig: an armature behind the frames of a model, and plain frames again."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from threading import Thread
from typing import TYPE_CHECKING, Any

import numpy as np

from ..assets import convert
from ..assets.load import Loaded
from ..blender import names
from ..blender.compat import Block, Context
from ..blender.frame_rigs import bind_again, is_frame_rig, modifier_of, posed_by, rig_of
from ..blender.linked import LOCAL, THERE, refuse_linked
from ..blender.player.assembly import HEAD, LOWER, UPPER
from ..blender.player.parts import PlayerFound, find_player
from ..blender.provenance import MODEL_ID
from ..blender.roots import player_root, root_of
from ..blender.scene import ExportScene
from ..blender.vertex.frame_plan import GatherSettings
from ..blender.vertex.shown_keys import has_frames
from ..blender.window import mode_of, object_mode, selected, set_mode
from ..reporting import LimitError, Summary, advance, collected_warnings, listed, plural
from .animations.vertex import VertexAnimations
from .export.advice import of_bereft
from .export.left_out import instances_left_out, left_out, taken_along
from .export.plain import framed_model, row_of_levels
from .export.selection import Choice, choose
from .export.selection import part_of as export_part
from .export.subject import subject_of
from .import_.dressing import rate_of

if TYPE_CHECKING:
    from ..assets.export_request import ExportRequest
    from ..blender.rigging.read import FramedModel, Part
    from ..formats import Format
    from ..model.rigging.rig import FrameRig, RigSettings

log = logging.getLogger(__name__)

STEPS = 1000  # of progress
FAR = 0.1  # of a rig's size: what lies farther from the model that it was made of is in another pose, or place


def make(context: Context, settings: RigSettings, this_frame: bool = False) -> tuple[Block, Summary]:
    """Put an armature behind the frames of the active object's model; returns it, and what was done in words.

    `this_frame`: the frame that shows is the rest that is asked for.

    Raises:
        LimitError: there are no frames, or none that a rig can be made of; or no frame shows alone.
    """
    framed = read(context, settings, this_frame)
    return finish(context, framed, solve(framed))


@dataclass(eq=False)
class Framed:
    """What gets a rig: a model, or the parts of a player; and how."""

    name: str
    parts: list[Part]
    settings: list[RigSettings]  # of each part
    chosen: Choice | None  # None: a player
    warnings: list[str]


def read(context: Context, settings: RigSettings, this_frame: bool = False) -> Framed:
    """Read the frames of the active object's model or player, or of the meshes that are selected with it."""
    from ..blender.rigging.read import whole

    player = find_player(context.view_layer.objects.active)
    with collected_warnings() as warnings, object_mode(context):
        if player is not None:
            chosen, parts = None, _player_parts(player, context)
            name = names.file_name_of(player.collection) if player.collection else player.root.name
        else:
            chosen = _chosen(context)
            models = _read_in_own_space([chosen, *_beside(chosen, context)], context)
            _refuse_other_frames(models)
            for text in of_bereft(chosen.whole):
                log.warning("%s", text)
            parts = [whole(model, beside=nth > 0) for nth, model in enumerate(models)]
            name = parts[0].name
        rests = [part.model.shown if this_frame and part.model is not None else -1 for part in parts]
        if this_frame and max(rests) < 0:
            raise LimitError("no frame shows alone: go to the frame that is to be the rest")
    return Framed(name, parts, [replace(settings, rest=rest) for rest in rests], chosen, warnings)


def _read_frames(chosen: Choice, context: Context) -> FramedModel:
    from ..blender.rigging.read import read_model

    export = ExportScene(context.scene, context.view_layer, GatherSettings(frames="KEYS"))
    return read_model(chosen.whole, chosen.collection, export)


def _read_in_own_space(choices: list[Choice], context: Context) -> list[FramedModel]:
    """Return the frames of models in the space in which exports write them, whatever carries all of them."""
    from ..blender.hanging import find_hanging, let_down

    hanging = find_hanging([block for chosen in choices for block in chosen.whole])
    own = hanging if hanging is not None and hanging.has_space else None
    with let_down(own, context.view_layer) as said:
        for text in said:
            log.warning("%s", text)
        return [replace(_read_frames(chosen, context), hung=own is not None) for chosen in choices]


def _beside(chosen: Choice, context: Context) -> list[Choice]:
    """Return other imported models, of which an object is selected too: a weapon that goes with its bearer."""
    if chosen.collection is None:
        return []  # all that is selected is one model
    others = [block for block in selected(context) if has_frames(block) and block not in chosen.whole]
    homes = dict.fromkeys(c for block in others for c in block.users_collection if c.get(MODEL_ID))
    return [choose(context, "AUTO", collection.name) for collection in homes]


def _refuse_other_frames(models: list[FramedModel]) -> None:
    lead = models[0]
    for other in models[1:]:
        if len(other.points) != len(lead.points) or other.plan.times != lead.plan.times:
            text = f"has {len(other.points)} frames and '{lead.name}' {len(lead.points)}"
            raise LimitError(f"'{other.name}' {text}: models that share a rig share their frames; deselect it")


def _player_parts(player: PlayerFound, context: Context) -> list[Part]:
    """Return the parts of a player that are one rig: legs, torso, head."""
    from ..blender.rigging.read import part_of

    found: list[Part] = []
    loose = []
    for kind, name in ((LOWER, "legs"), (UPPER, "torso"), (HEAD, "head")):
        root = player.parts.get(kind)
        if root is None:
            continue
        shown = export_part(context, root)
        keyed = any(has_frames(block) for block in shown.whole)
        part = part_of(name, root, _read_frames(shown, context) if keyed else None, found)
        if part is None:
            loose.append(root.name)
        else:
            found.append(part)
    if all(part.model is None for part in found):
        raise LimitError("no part of this player has frames: a rig is made of these, which are shape keys")
    if loose:
        log.warning("%s: on no tag of the other parts, so there are no bones for it", listed(loose))
    if player.levels:
        log.warning("levels of detail are not posed by the rig: make them anew once it is as you want it")
    return found


def solve(framed: Framed, watch: Callable[[float], None] | None = None) -> list[FrameRig | None]:
    """Find the skeletons. Nothing of Blender is asked for: a thread may do it; `watch` may raise to end it.

    Raises:
        LimitError: there is nothing to find one for.
    """
    from ..model.rigging.solve import make_rig

    sizes = [0 if part.model is None else part.model.points.size for part in framed.parts]
    if not any(sizes):
        raise LimitError("nothing moves by its frames: the meshes have no vertices")
    done, found = 0, []
    for part, settings, size in zip(framed.parts, framed.settings, sizes, strict=True):
        model, share = part.model, Share(watch or _advance, done / sum(sizes), size / sum(sizes))
        found.append(None if model is None else make_rig(model.points, model.triangles, model.tags, settings, share))
        done += size
    return found


@dataclass(frozen=True)
class Share:
    """Tells how much of the whole is done, of how much of one part is."""

    watch: Callable[[float], None]
    first: float
    size: float

    def __call__(self, done: float) -> None:
        """Tell it."""
        self.watch(self.first + self.size * done)


class Solving(Thread):
    """A skeleton that is looked for while the window lives."""

    def __init__(self, framed: Framed) -> None:
        super().__init__(daemon=True)
        self.framed = framed
        self.part = 0.0  # of the work that is done
        self._ended = False
        self._rigs: list[FrameRig | None] | None = None
        self._error: BaseException | None = None

    def run(self) -> None:
        """Look for it."""
        try:
            self._rigs = solve(self.framed, self._watch)
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

    def result(self) -> list[FrameRig | None]:
        """Return what was found; raises what went wrong."""
        if self._error is not None:
            raise self._error
        assert self._rigs is not None
        return self._rigs


def finish(context: Context, framed: Framed, rigs: list[FrameRig | None]) -> tuple[Block, Summary]:
    """Make the armature, and say what it is."""
    from ..blender.rigging.build import build

    with collected_warnings() as warnings, object_mode(context):
        animations = None if framed.chosen is None else VertexAnimations(framed.chosen, context)
        keys = None if animations is None else animations.whole()
        if animations is not None and keys is None and animations.playing():
            text = "no action shows all keys of '%s' one after another: bones pose them otherwise than '%s' plays (%s)"
            how = "undo, let an action do so, and make the rig while that plays"
            log.warning(text, animations.keyed[0].name, animations.playing()[0].name, how)
        built = build(framed.name, framed.parts, rigs, keys, context.scene)
        if animations is not None:
            animations.pair_rigs()
            animations.let_rigs_play()
            if len(framed.parts) > 1:
                animations.play_together()
        context.view_layer.update()
    return built.block, Summary(_said(built.rigs, framed.parts), [*framed.warnings, *warnings])


def export_rigged(
    asked: ExportRequest, row: Format, chosen: Choice, context: Context, settings: GatherSettings, rig: RigSettings
) -> Summary:
    """Write what objects show, frame by frame, as a model with a skeleton that is made for it; the scene gets none.

    Raises:
        ModelError: no skeleton can be made of it, or the model can't be written; the files are as they were.
    """
    with collected_warnings() as warnings, object_mode(context):
        framed = Loaded(row_of_levels(), framed_model(chosen, settings, context))
        found = convert.write(framed, row, asked, convert.Posing(rig=rig, frame_rate=rate_of(context.scene)))
    said = [*warnings, *found.notes, *left_out(chosen), *instances_left_out(context, chosen)]
    return Summary(found.summary, said, taken_along(chosen))


def _advance(part: float) -> None:
    advance(round(STEPS * part), STEPS)


def _chosen(context: Context) -> Choice:
    """Return the model of the active object, or the selected meshes that have frames."""
    active = context.view_layer.objects.active
    chosen = choose(context, "AUTO")
    if chosen.collection is None:
        blocks = [block for block in (active, *selected(context)) if block is not None]
        chosen = Choice(list(dict.fromkeys(block for block in blocks if has_frames(block) or block.type == "EMPTY")))
    return chosen


def _said(rigs: list[FrameRig | None], parts: list[Part]) -> str:
    """Return how many bones a rig has, and how far they alone would be off: what is left is the keys'."""
    from ..model.rigging.rig import explained

    found = [(rig, part.model) for rig, part in zip(rigs, parts, strict=True) if rig is not None and part.model]
    reports = [explained(rig, model.points) for rig, model in found]
    num_tags = sum(len(rig.tag_bones) for rig, _ in found)
    tags = f" and {plural(num_tags, 'tag')}" if num_tags else ""
    frames = max(len(model.points) for _, model in found)
    texts = [f"{plural(sum(report.bones for report in reports), 'bone')}{tags} in {plural(frames, 'frame')}"]
    worst, (_, model) = max(zip(reports, found, strict=True), key=lambda each: each[0].worst)
    sizes = np.array([model.points.size for _, model in found], np.float64)
    rms = float(np.sqrt((np.array([report.rms for report in reports]) ** 2 * sizes).sum() / sizes.sum()))
    where = f"frame {worst.worst_frame} '{model.plan.names[worst.worst_frame]}'"
    texts.append(f"what they don't say (rms {rms:.3g}, at most {worst.worst:.3g} in {where}) stays in the shape keys")
    for rig, model in found:
        if rig.torn.any():
            which = f" of '{model.name}'" if len(found) > 1 else ""
            count, first = plural(int(rig.torn.sum()), "frame"), int(np.flatnonzero(rig.torn)[0])
            texts.append(f"{count}{which} in which the mesh is torn left out of the joints (first: {first})")
    return ", ".join(texts)


def rig_meant(context: Context) -> Block | None:
    """Return the armature, made of frames, of the active object's model; None if it has none."""
    active = context.view_layer.objects.active
    if active is None:
        return None
    if is_frame_rig(active):
        return active
    above = active.parent if is_frame_rig(active.parent) else None
    top = player_root(active)
    carried = [] if top is None else top.children_recursive
    return rig_of(active) or above or next((block for block in carried if is_frame_rig(block)), None)


def frames_meant(context: Context) -> bool:
    """Tell whether the active object's model, or any part of its player, has frames, of which a rig can be made."""
    subject = subject_of(context)
    if subject is None:
        return False
    top = player_root(subject.active)
    blocks = subject.meshes if top is None else top.children_recursive
    return any(has_frames(block) for block in (subject.active, *blocks))


def remove(context: Context) -> Summary:
    """Let the model's keys show all frames by themselves, and remove its armature.

    Raises:
        LimitError: it has no such armature, or that or its meshes lie in another .blend.
    """
    rig = rig_meant(context)
    if rig is None:
        raise LimitError("no rig that was made of frames is active, and no mesh that such a one poses")
    lost = bind_again(rig)
    try:
        return _remove(context, rig, lost)
    except LimitError:
        for block in lost:  # as it was
            block.modifiers.remove(modifier_of(block))
        raise


def _remove(context: Context, rig: Block, lost: list[Block]) -> Summary:
    """Remove an armature, whose modifiers `lost` meshes just got back."""
    from ..blender.rigging.remove import remove as remove_rig

    name, posed = rig.name, posed_by(rig)
    refuse_linked(dict.fromkeys([rig, *posed, *(block.data for block in posed)]), f"{LOCAL}, or remove the rig there")
    if mode_of(context) != "OBJECT":
        set_mode(context, "OBJECT")  # for good: there will be nothing to pose
    with collected_warnings() as warnings:
        active = context.view_layer.objects.active
        shown = [block for block in posed if block.name in context.view_layer.objects]
        context.view_layer.objects.active = shown[0] if active == rig and shown else active
        if lost:
            text = "the Armature modifiers of these were gone, their frames are as '%s' posed them: %s"
            log.warning(text, name, listed([block.name for block in lost]))
        export = ExportScene(context.scene, context.view_layer, GatherSettings(frames="KEYS"))
        meshes = remove_rig(rig, _collections(posed, context), export)
    return Summary(
        f"'{name}' removed: the shape keys of {plural(len(meshes), 'mesh', 'meshes')} hold the frames", warnings
    )


def _collections(posed: list[Block], context: Context) -> dict[Block | None, Any]:
    """Return the collections of models, by the roots of a player's parts, or of the active one by None."""
    roots = dict.fromkeys(map(root_of, posed))
    return {
        root: choose(context, "AUTO").collection if root is None else export_part(context, root).collection
        for root in roots
    }


def hang_selected(context: Context) -> Summary:
    """Let the active rig pose the selected meshes that it was not made of; returns what was done in words.

    Raises:
        LimitError: no mesh is selected, one is bent by another armature, or lies in another .blend.
    """
    from ..blender.rigging.hang import hang

    rig = rig_meant(context)
    if rig is None:
        raise LimitError("no rig that was made of frames is active, and no mesh that such a one poses")
    made = posed_by(rig)
    own = [block for block in selected(context) if block.type == "MESH" and block not in made]
    if not own:
        raise LimitError(f"select the meshes that '{rig.name}' is to pose, then the rig")
    refuse_linked(dict.fromkeys([*own, *(block.data for block in own)]), THERE)
    with object_mode(context):
        export = ExportScene(context.scene, context.view_layer, None)
        away = {block.name: hang(block, rig, export) for block in own}
        context.view_layer.update()
    far = [name for name, off in away.items() if off > FAR * max(rig.dimensions)]
    warnings = [f"{listed(far)} lie far from the model at rest: move and pose them like it, and hang them on it anew"]
    return Summary(f"{listed(list(away))} on '{rig.name}'", warnings if far else [])
