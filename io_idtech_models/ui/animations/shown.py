"""What the list shows: a copy of the animations, made when they change and not when they are drawn.

The copy lies on the window manager, where undo leaves it alone. A handler notes that it is old; the panel, which is
drawn then, has it made anew as soon as it may. A click and a new name reach us by the message bus, for properties with
callbacks crash Blender 4.2 at exit. Windows that show other scenes have lists of their own.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import bpy
from bpy.props import BoolProperty, CollectionProperty, FloatProperty, IntProperty, PointerProperty, StringProperty

from ...blender.compat import Context
from ..translations import say

PropertyGroup: Any = bpy.types.PropertyGroup
# On the window manager: of the scene that the first window shows, and of those that others show.
HOLDERS = ("idtech_animations", "idtech_animations_2", "idtech_animations_3")
CHANGES = ("ADD", "REMOVE", "DUPLICATE", "MOVE", "RENAME")
_owner = object()  # of the message bus' subscriptions
_app: Any = bpy.app


class IDTECH_PG_animation(PropertyGroup):  # type: ignore[misc]
    """A row of the list."""

    name: StringProperty(name="Name", description="What files call the animation; double click to rename it")
    known: StringProperty()  # the name as it is, until someone changes the other
    action: StringProperty()  # what Blender calls it
    first: IntProperty()
    last: IntProperty()
    rate: FloatProperty()
    loop: IntProperty()
    whole: BoolProperty()
    can: StringProperty()  # what can be done with it, with blanks between


class IDTECH_PG_animations(PropertyGroup):  # type: ignore[misc]
    """The list, of one model."""

    rows: CollectionProperty(type=IDTECH_PG_animation)
    index: IntProperty(name="A click plays it, a double click renames it")  # Blender shows the name alone
    can_add: BoolProperty()
    unmade: IntProperty()  # how many have no action yet
    why: StringProperty()  # not all can be done


class _State:
    """Of which object, what it plays, and how many actions each list was made, and which of them are wanted anew."""

    made_of = dict[str, tuple[Any, ...]]()  # by the names of HOLDERS; none of one that is old
    index = dict[str, int]()  # as it was put there
    wanted = set[str]()


def _key(context: Context) -> tuple[Any, ...]:
    """Return what shows at no cost that the list is another."""
    active = context.view_layer.objects.active
    shown = None if active is None else (active.session_uid, *_played(active))
    return (shown, len(bpy.data.actions), context.scene.session_uid)


def _played(block: Any) -> Iterator[int]:
    """Yield what an object and its shape keys play: Blender's own buttons end that, too."""
    for owner in (block, getattr(block.data, "shape_keys", None)):
        animation = getattr(owner, "animation_data", None)
        yield 0 if animation is None or animation.action is None else animation.action.session_uid


def holder_of(context: Context) -> str:
    """Return which of HOLDERS is the list of what a window shows."""
    every = dict.fromkeys((window.scene, window.view_layer) for window in context.window_manager.windows)
    place = list(every).index(own) if (own := (context.scene, context.view_layer)) in every else 0
    return HOLDERS[min(place, len(HOLDERS) - 1)]


def is_old(context: Context) -> bool:
    """Tell whether the list has to be made anew."""
    return _State.made_of.get(holder_of(context)) != _key(context)


def _windows() -> Iterator[Context]:
    """Let one window after another be the context's, of those that show other scenes; without any it is as it is."""
    context: Any = bpy.context
    seen = set[str]()
    for window in context.window_manager.windows:
        with context.temp_override(window=window):
            if holder_of(context) not in seen:
                seen.add(holder_of(context))
                yield context
    if not seen:
        yield context


def listing(context: Context) -> Any:
    """Return the list for drawing, which is made anew in a moment where it is old; None until there is one."""
    name = holder_of(context)
    if is_old(context):
        _State.wanted.add(name)
        if not _app.timers.is_registered(_soon):
            _app.timers.register(_soon, first_interval=0.0)
    return getattr(context.window_manager, name, None)


def _soon() -> None:
    wanted, _State.wanted = _State.wanted, set()
    _release()  # of what was appended
    context: Any = bpy.context
    for each in _windows():
        if holder_of(each) in wanted:
            refresh(each)
    for window in context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                area.tag_redraw()


def refresh(context: Context) -> None:
    """Let the list show the animations of the active object's model as they are now."""
    from ...tasks.animations.find import animations_of

    if getattr(context, "view_layer", None) is None:
        return
    name = holder_of(context)
    holder = getattr(context.window_manager, name, None)
    if holder is None:
        return
    _State.made_of[name] = _key(context)
    animations = animations_of(context)
    rows = [] if animations is None else animations.rows()
    holder.rows.clear()
    holder.can_add = animations is not None and "ADD" in animations.can
    holder.unmade = sum(row.unmade is not None for row in rows)
    holder.why = "" if animations is None else animations.why
    names = Counter(row.label for row in rows)
    for row in rows:
        item = holder.rows.add()
        is_one_of_several = names[row.label] > 1 and not (row.whole or row.by_names) and row.unmade is None
        item.name = item.known = row.key if is_one_of_several else row.label
        item.action, item.first, item.last = row.key, row.first, row.last
        item.rate, item.loop, item.whole = row.frame_rate, row.loop, row.whole
        item.can = " ".join(what for what in CHANGES if animations is not None and animations.can_do(what, row))
    playing = None if animations is None else animations.playing_row(rows)
    index = next((nth for nth, row in enumerate(rows) if row is playing), -1)
    _State.index[name] = holder.index = index


def lack_of(context: Context, what: str, name: str) -> str:
    """Return why something, one of `CHANGES`, can't be done with an animation of the list, or ""."""
    holder = getattr(context.window_manager, holder_of(context))
    item = next((row for row in holder.rows if row.action == name), None)
    if item is not None and what in item.can.split():
        return ""
    return say("Click an animation in the list first") if item is None or item.whole else say(holder.why)


def _on_index() -> None:
    """Play the animation that was clicked."""
    for context in _windows():
        name = holder_of(context)
        holder = getattr(context.window_manager, name)
        if holder.index != _State.index.get(name, -1) and 0 <= holder.index < len(holder.rows):
            _State.index[name] = holder.index
            item = holder.rows[holder.index]
            _call(context, "idtech_animation_play", name="All Frames" if item.whole else item.action)


def _on_name() -> None:
    """Rename the animation whose name was typed over."""
    for context in _windows():
        holder = getattr(context.window_manager, holder_of(context))
        changed = next((item for item in holder.rows if item.name != item.known), None)
        if changed is None:
            continue
        to, changed.known = changed.name, changed.name
        if "RENAME" in changed.can.split() and to.strip():
            _call(context, "idtech_animation_rename", name=changed.action, to=to)
        refresh(context)


def _call(context: Any, operator_name: str, **options: Any) -> None:
    """Call an operator, which undo takes back; what it refuses it reports."""
    try:
        getattr(bpy.ops.object, operator_name)("EXEC_DEFAULT", True, **options)
    except RuntimeError as error:
        text = str(error).removeprefix("Error: ").strip()
        context.window_manager.popup_menu(lambda menu, _context: menu.layout.label(text=text), title="", icon="ERROR")
        refresh(context)


def _listen(*_ignored: Any) -> None:
    """Be told of clicks and names: Blender forgets who listens with every file."""
    bpy.msgbus.clear_by_owner(_owner)
    clicked, named = (IDTECH_PG_animations, "index"), (IDTECH_PG_animation, "name")
    for where, notify in ((clicked, _on_index), (named, _on_name)):
        key: Any = where
        bpy.msgbus.subscribe_rna(key=key, owner=_owner, args=(), notify=notify)
    _State.made_of.clear()


def _on_change(_scene: Any, depsgraph: Any = None) -> None:
    """Note that actions changed."""
    if depsgraph is not None and depsgraph.id_type_updated("ACTION"):
        _State.made_of.clear()


def _on_undo(*_ignored: Any) -> None:
    _State.made_of.clear()


def _hold(*_ignored: Any) -> None:
    """Let the animations of models with frames go along with Append, which looks into what is saved now."""
    from ...blender.held_actions import hold

    hold()


def _release(*_ignored: Any) -> None:
    """Take that back in what is open."""
    from ...blender.held_actions import release

    release()


def watch() -> None:
    """Begin to follow what changes."""
    declare: Any = PointerProperty  # the stubs say that it returns nothing
    for name in HOLDERS:
        setattr(bpy.types.WindowManager, name, declare(type=IDTECH_PG_animations))
    for handlers, function in _handlers():
        handlers.append(_app.handlers.persistent(function))
    _listen()


def unwatch() -> None:
    """End it."""
    bpy.msgbus.clear_by_owner(_owner)
    if _app.timers.is_registered(_soon):
        _app.timers.unregister(_soon)
    for handlers, function in _handlers():
        handlers.remove(function)
    for name in HOLDERS:
        delattr(bpy.types.WindowManager, name)
    for each in (_State.made_of, _State.index, _State.wanted):
        each.clear()


def _handlers() -> list[tuple[Any, Any]]:
    all_ = _app.handlers
    return [
        (all_.depsgraph_update_post, _on_change),
        (all_.undo_post, _on_undo),
        (all_.redo_post, _on_undo),
        (all_.load_post, _listen),
        (all_.save_pre, _hold),
        (all_.save_post, _release),
        (all_.load_post, _release),
    ]


CLASSES = (IDTECH_PG_animation, IDTECH_PG_animations)
