"""What operators share: the options of all imports, groups of options in dialogs, how operators are made of a format.

What does the work is imported when it is first needed: everyone who starts Blender waits for these modules.
"""

from collections.abc import Iterable, Set
from dataclasses import fields
from typing import Any, TypeVar, cast

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, StringProperty
from bpy_extras.io_utils import ExportHelper, ImportHelper, poll_file_object_drop

from ..blender.compat import Context
from ..formats import Option
from ..model.limits.games import GAMES, NO_GAME
from .translations import CONTEXT

Settings = TypeVar("Settings")
# The stubs want other sets than Blender does, and say that the helpers' `invoke` returns nothing. As Any the helpers
# also stand for the operator that the classes derived from them become part of.
Operator: Any = bpy.types.Operator
Importing: Any = ImportHelper
Exporting: Any = ExportHelper
FINISHED, CANCELLED = {"FINISHED"}, {"CANCELLED"}


class SharedOptions:
    """What every import asks."""

    scale: FloatProperty(
        name="Scale", description="Size of a game unit in the scene", default=1.0, min=0.0001, max=10000.0, precision=4
    )
    fit_range: BoolProperty(
        name="Fit Frame Range",
        description="Let the scene play from the first frame to the last; what is animated already keeps its frames",
        default=True,
    )
    side_by_side: BoolProperty(
        name="Side by Side",
        description="Let several models stand beside one another, each on a root of its own; files do not change by it",
        default=False,
    )
    replace_range: BoolProperty(
        name="Replace Range",
        description="Let the scene play what is imported alone, not what is animated already",
        default=False,
    )


def scale_said(operator: Any) -> float | None:
    """Return the size of a game unit that a call, or a dialog, says; None where that is left to what was imported."""
    return operator.scale if operator.properties.is_property_set("scale") else None


def propose_scale(operator: Any, context: Context) -> None:
    """Let a dialog begin with the size of a game unit with which the active model came, unless a call says one."""
    from ..blender.provenance import unit_of

    active = context.view_layer.objects.active
    if not operator.properties.is_property_set("scale"):
        operator.scale = 1.0 if active is None else unit_of(active)


def settings_from(operator: Any, settings: type[Settings], **others: Any) -> Settings:
    """Return settings, a dataclass, as an operator's options of the same names say; what it lacks keeps its default."""
    declared = (field.name for field in fields(cast(Any, settings)) if field.name not in others)
    return settings(**{name: getattr(operator, name) for name in declared if hasattr(operator, name)}, **others)


def draw_group(layout: bpy.types.UILayout, data: Any, name: str, label: str, options: Iterable[str]) -> Any:
    """Draw those of some options that the operator has, under a heading that folds; returns the place for more."""
    layout.use_property_split = True
    layout.use_property_decorate = False
    header, body = layout.panel(name)
    header.label(text=label, text_ctxt=CONTEXT)
    if body is not None:
        for option in options:
            if hasattr(data, option):
                body.prop(data, option)
    return body


def option_property(option: Option) -> Any:
    """Return the property of a format's own option."""
    if isinstance(option.default, bool):
        return BoolProperty(name=option.label, description=option.description, default=option.default)
    return IntProperty(
        name=option.label, description=option.description, default=option.default, min=0, max=option.most
    )


def keep_noted(operator: Any) -> None:
    """Let Undo come back to here where a user called an export: it notes on a model how that was written, and where.

    Undoing the next edit would take that along. Blender does it for operators with the option UNDO, but offers their
    options then in its panel of the last operation: an export would write its files with each number that is dragged.
    """
    if operator.options.is_invoke:
        bpy.ops.ed.undo_push(message=operator.bl_label)


def may(operator: Any, lack: str) -> bool:
    """Tell whether an operator may be called, since nothing is lacking; else its button's tooltip says what."""
    if lack:
        operator.poll_message_set(lack)
    return not lack


def games_option(games: tuple[str, ...], usual: str = NO_GAME) -> Any:
    """Return the property that says whose limits to keep: of `games`, keys of `limits.games.GAMES`."""
    declare: Any = EnumProperty  # the stubs say that it returns nothing
    return declare(
        name="Game",
        description="Whose limits to keep: what the game would refuse is not written",
        items=tuple((key, GAMES[key].choice or GAMES[key].label, limits_said(key)) for key in games),
        default=usual,
    )  # presets keep it; what Blender remembers of it, of another model, no dialog begins with


def limits_said(game: str) -> str:
    """Return what choosing a game means, in words."""
    return (
        "The format's own limits, which the loaders of most games ignore"
        if game == NO_GAME
        else f"Limits of {GAMES[game].label}"
    )


def file_filter(suffixes: Iterable[str]) -> Any:
    """Return the property that tells the file browser which files to show."""
    declare: Any = StringProperty  # the stubs say that it returns nothing
    return declare(default=";".join(f"*{suffix}" for suffix in suffixes), options={"HIDDEN"})


def takes_drops(context: Context) -> bool:
    """Tell whether files may be dropped here: where objects show, and where there is no area to ask."""
    poll: Any = poll_file_object_drop  # the stubs say that it returns nothing
    return context.area is None or bool(poll(context))


def given_options(operator: Any, but: Set[str]) -> dict[str, Any]:
    """Return the options that an operator shows and that were set, apart from some."""
    shown = (prop.identifier for prop in operator.properties.bl_rna.properties if not prop.is_hidden)
    return {
        name: getattr(operator, name) for name in shown if operator.properties.is_property_set(name) and name not in but
    }


def options_of(operator: Any) -> dict[str, Any]:
    """Return the options of an operator that are other than usual, or were set, as a call of it takes them."""
    found: dict[str, Any] = {}
    for prop in operator.properties.bl_rna.properties:
        name = prop.identifier
        if name in {"rna_type", "interactive"}:
            continue
        value = getattr(operator, name)
        if prop.type == "COLLECTION":
            found[name] = [_items(item) for item in value]
        elif operator.properties.is_property_set(name) or value != prop.default:
            found[name] = value
    return {name: value for name, value in found.items() if value != []}


def _items(item: Any) -> dict[str, Any]:
    names = (prop.identifier for prop in item.bl_rna.properties if prop.identifier != "rna_type")
    return {name: getattr(item, name) for name in names}
