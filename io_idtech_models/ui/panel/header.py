"""What the active model's file says of it besides its shape, to read and to edit: properties that exports write."""

from collections.abc import Iterator
from typing import Any

import bpy
from bpy.props import StringProperty

from ...blender import properties
from ...blender.compat import Context
from ...formats import ROWS, Format
from ...tasks.export.last_export import LAST, kept_of
from ...tasks.export.subject import Subject, subject_of
from ..bases import CANCELLED, FINISHED, Operator, may
from ..translations import CONTEXT, say, tip
from .main import OfModel, on_both_levels

LABELS = {
    properties.TORSO_WEIGHT: "Torso Weight",
    properties.TORSO_PARENT: "Torso Parent",
    properties.FLAGS: "Bone Flags",
    properties.SCALE_POSITIONS: "Scale Positions",
    properties.REST_SCALE: "Rest Scale",
    properties.MIN_LOD: "Fewest Vertices",
    properties.LOD_SCALE: "LOD Scale",
    properties.LOD_BIAS: "LOD Bias",
    properties.MOST_WEIGHTS: "Most Weights",
    properties.LEAST_WEIGHT: "Least Weight",
    properties.ORPHAN_BONE: "Default Bone",
    properties.FPS: "Frame Rate",
    properties.FRAME_RATE: "Frame Rate",
    properties.LOOP: "Loop Frames",
    properties.MOVE_SPEED: "Move Speed",
    properties.TRANSITION: "Transition",
    properties.REVERSED: "Reversed",
    properties.PRIORITY: "Priority",
    properties.TIMES: "Times of Frames",
    properties.GAME + "flags": "Flags",
    properties.GAME + "sync_type": "Sync Type",
    properties.GAME + "eye_position": "Eye Position",
    properties.GAME + "bounding_radius": "Radius",  # what bounds it: longer ones are cut off
    properties.GAME + "size": "Triangle Size",
}
OF_MODEL = tuple(name for name in LABELS if name.startswith(properties.GAME))
OF_RIG = (
    properties.LOD_SCALE,
    properties.LOD_BIAS,
    properties.MOST_WEIGHTS,
    properties.LEAST_WEIGHT,
    properties.ORPHAN_BONE,
)
OF_BONE = (
    properties.TORSO_WEIGHT,
    properties.TORSO_PARENT,
    properties.FLAGS,
    properties.SCALE_POSITIONS,
    properties.REST_SCALE,
)
OF_ACTION = (
    properties.FPS,
    properties.FRAME_RATE,
    properties.LOOP,
    properties.MOVE_SPEED,
    properties.TRANSITION,
    properties.REVERSED,
    properties.PRIORITY,
    properties.TIMES,
)
# What a model that has none may be given: what files of its format have.
NEW: dict[str, Any] = {
    properties.GAME + "flags": 0,
    properties.GAME + "sync_type": 0,
    properties.MIN_LOD: 0,
    properties.LOD_SCALE: 1.0,
    properties.LOD_BIAS: 0.0,
    properties.TORSO_WEIGHT: 0.0,
    properties.TORSO_PARENT: True,
    properties.FLAGS: 1,
}


def parts_of(subject: Subject) -> Iterator[tuple[str, Any, tuple[str, ...]]]:
    """Yield what can say something of a model: what to call it, the data-block or bone, and the properties' names."""
    rig = subject.rig
    home = subject.home or next(iter(subject.active.users_collection), None)  # of new models exports look there, too
    if home is not None:
        yield "Model", home, OF_MODEL
    if rig is not None:
        yield "Armature", rig, OF_RIG
        bone = rig.data.bones.active
        if bone is not None:
            yield "Bone", bone, OF_BONE
    if subject.active.type == "MESH":
        yield "Surface", subject.active, (properties.MIN_LOD,)
    action = action_of(subject)
    if action is not None:
        yield "Animation", action, OF_ACTION


def action_of(subject: Subject) -> Any | None:
    """Return the action that a model plays."""
    block = subject.rig or subject.active
    keys = getattr(block.data, "shape_keys", None)
    for holder in (block, keys):
        animation = None if holder is None else holder.animation_data
        if animation is not None and animation.action is not None:
            return animation.action
    return None


def format_of(subject: Subject) -> Format | None:
    """Return the format of a model's file, or of one that came from none that in which it was exported last."""
    last = kept_of(subject.holder).get(LAST)
    return subject.row or next((row for row in ROWS if row.name == last), None)


def lacking(subject: Subject, holder: Any) -> list[str]:
    """Return what could be added to a data-block or bone, as far as the model's format writes it."""
    row = format_of(subject)
    if row is None:
        return []
    if isinstance(holder, bpy.types.Collection):
        names = [properties.GAME + name for name in row.vertex.traits]
    elif not (row.skeletal.animation or row).motion.torso:
        names = []
    elif isinstance(holder, bpy.types.Bone):
        names = [properties.TORSO_WEIGHT, properties.TORSO_PARENT, properties.FLAGS]
    elif holder == subject.rig:
        names = [properties.LOD_SCALE, properties.LOD_BIAS]
    else:
        names = [properties.MIN_LOD] if holder == subject.active and subject.active.type == "MESH" else []
    return [name for name in names if name not in holder]


class OBJECT_OT_idtech_add_fact(Operator):  # type: ignore[misc]
    """Give a model, a surface, an armature or a bone a number that exports write."""

    bl_idname = "object.idtech_add_fact"
    bl_label = "Add Number"
    bl_description = "Give the active model, surface, armature or bone this number, which exports write into the file"
    bl_options = {"REGISTER", "UNDO"}

    fact: StringProperty(
        name="Number", description="The property's name: idtech_torso_weight, ...", options={"SKIP_SAVE"}
    )

    @classmethod
    def description(cls, context: Context, properties_: Any) -> str:
        """Return what the number says."""
        return tip(properties.SAID.get(properties_.fact, cls.bl_description))

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Offer it where a model is active."""
        return may(cls, "" if context.view_layer.objects.active is not None else say("No object is active"))

    def execute(self, context: Context) -> set[str]:
        """Add it."""
        subject = subject_of(context)
        for _, holder, _ in () if subject is None else parts_of(subject):
            if subject is not None and self.fact in lacking(subject, holder):
                properties.show(holder, self.fact, NEW[self.fact])
                return FINISHED
        self.report({"ERROR"}, f"'{self.fact}' is there already, or files of this format have no such number")
        return CANCELLED


class HeaderPanel(OfModel):
    """What the file says of the model besides its shape."""

    bl_label = "Header and Flags"

    @classmethod
    def applies(cls, subject: Subject) -> bool:
        """Show it where there is something to say."""
        return any(lacking(subject, h) or any(name in h for name in names) for _, h, names in parts_of(subject))

    def draw(self: Any, context: Context) -> None:
        """Show all that there is, by what it belongs to."""
        subject = subject_of(context)
        layout: Any = self.layout
        layout.use_property_split, layout.use_property_decorate = True, False
        for kind, holder, names in () if subject is None else parts_of(subject):
            shown = [name for name in names if name in holder]
            missing = lacking(subject, holder) if subject is not None else []
            if not shown and not missing:
                continue
            column = layout.column(align=True)
            heading = column.row()
            heading.label(text=kind, text_ctxt=CONTEXT)
            heading.label(text=holder.name, translate=False)
            for name in shown:
                column.prop(holder, f'["{name}"]', text=LABELS[name])
            for name in missing:
                column.operator(OBJECT_OT_idtech_add_fact.bl_idname, text=LABELS[name], icon="ADD").fact = name


VIEW3D_PT_idtech_header, VIEW3D_PT_idtech_part_header = on_both_levels(HeaderPanel, "header")
CLASSES = (OBJECT_OT_idtech_add_fact,)
PANELS = (VIEW3D_PT_idtech_header,)
PARTS = (VIEW3D_PT_idtech_part_header,)
