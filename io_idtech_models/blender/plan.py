"""Which frames an export writes: a model's keys, or a stretch of the timeline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..errors import LimitError
from . import names, sampling
from .compat import Block, playing_curves
from .sampling import Plan
from .shape_keys import frame_blocks, positions
from .source import Known, frame_list


@dataclass(frozen=True)
class GatherSettings:
    """How a scene becomes a model; the export operators declare the same options."""

    frames: str = "AUTO"  # AUTO, KEYS, SCENE, RANGE or CURRENT
    frame_start: int = 0
    frame_end: int = 0
    frame_step: int = 1
    scale: float = 1.0
    normals: str = "SOURCE"  # SOURCE, SHOWN or SMOOTH
    keep_suffixes: bool = False
    direct: bool = True  # False: step through the scene even where reading curves would do


def plan_frames(
    blocks: list[Block],
    tag_sources: Sequence[Any],
    collection: bpy.types.Collection | None,
    known: Known | None,
    scene: bpy.types.Scene,
    settings: GatherSettings,
) -> tuple[Plan, NDArray[np.int32]]:
    """Return the frames to export, and the source frame that each was, (F,), -1 = none.

    Raises:
        LimitError: keyed meshes whose keys disagree, or no frame at all.
    """
    keyed = _keyed(blocks, known)
    listed = None if collection is None else frame_list(collection)
    mode = settings.frames
    if mode == "AUTO":
        # Import animates no model of one frame: if something moves it that is the modeller's work.
        own = keyed or (listed is not None and len(listed[0]) > 1)
        mode = "KEYS" if own else "SCENE" if _animated(blocks, tag_sources) else "KEYS" if listed else "CURRENT"
    if mode == "KEYS" and keyed:
        return _key_plan(keyed, known)
    if mode == "KEYS" and listed is not None:
        return _listed_plan(*listed, known)
    if mode == "KEYS":
        mode = "CURRENT"
    return _timeline_plan(keyed, known, scene, mode, settings)


def _keyed(blocks: list[Block], known: Known | None) -> list[Block]:
    """Return the meshes whose shape keys are frames: absolute ones, and those that import made."""
    places = {} if known is None else known.places
    with_keys = [b for b in blocks if b.data.shape_keys is not None and frame_blocks(b.data.shape_keys)]
    return [b for b in with_keys if not b.data.shape_keys.use_relative or b.data.name in places]


def _animated(blocks: list[Block], tag_sources: Sequence[Any]) -> bool:
    """Tell whether anything moves the objects that are exported."""
    for block in (*blocks, *(tag.block for tag in tag_sources)):
        chain = [block]
        while chain[-1].parent is not None:
            chain.append(chain[-1].parent)
        chain += [m.object for m in block.modifiers if getattr(m, "object", None) is not None]
        keys = getattr(block.data, "shape_keys", None)
        if any(sampling.is_moved(b) or b.constraints for b in chain) or (keys is not None and sampling.is_moved(keys)):
            return True
    return False


def _key_plan(keyed: list[Block], known: Known | None) -> tuple[Plan, NDArray[np.int32]]:
    lead = keyed[0]
    blocks = frame_blocks(lead.data.shape_keys)
    listed = [key.name for key in blocks]
    for other in keyed[1:]:
        theirs = [key.name for key in frame_blocks(other.data.shape_keys)]
        if theirs != listed:
            pairs = zip([*listed, "nothing"], [*theirs, "nothing"], strict=False)
            place, (a, b) = next((i, pair) for i, pair in enumerate(pairs) if pair[0] != pair[1])
            raise LimitError(
                f"'{lead.name}' and '{other.name}' list different frames, the first at {place}: '{a}' and '{b}'; "
                "all keyed meshes of a model need the same"
            )
    sources = _sources(listed, positions(blocks), known, lead.data.shape_keys.use_relative)
    shown = [_frame_name(name, s, known) for name, s in zip(listed, sources.tolist(), strict=True)]
    skipped = len(lead.data.shape_keys.key_blocks) - len(blocks)
    keys = list(range(skipped, skipped + len(blocks)))
    return Plan(shown, sampling.key_times(lead.data.shape_keys), keys, keyed=True), sources


def _sources(listed: list[str], at: list[float], known: Known | None, relative: bool) -> NDArray[np.int32]:
    """Return the source frame of each key: by the name that import gave it, else by position if that one is free."""
    sources = np.full(len(listed), -1, np.int32)
    if known is None:
        return sources
    given = {name: frame for frame, name in enumerate(known.key_names)}
    for place, name in enumerate(listed):
        sources[place] = given.get(name, -1)
    taken = set(sources.tolist())
    for place in np.flatnonzero(sources < 0).tolist():
        position = place if relative else at[place]
        if position == int(position) and 0 <= position < known.source.num_frames and int(position) not in taken:
            sources[place] = int(position)
            taken.add(int(position))
    return sources


def _frame_name(key_name: str, source: int, known: Known | None) -> str:
    """Return a frame's name in the file: the source's while the key has the name that import gave it."""
    if known is not None and source >= 0 and source < len(known.key_names) and key_name == known.key_names[source]:
        return known.source.frame_names[source]
    return names.stem_of(key_name)


def _listed_plan(listed: list[str], frames: list[int], known: Known | None) -> tuple[Plan, NDArray[np.int32]]:
    """Plan the frames of a model without keys: its collection says how many there are, and their names."""
    count = len(listed)
    source_names = [] if known is None else known.source.frame_names
    sources = np.array([f if 0 <= f < len(source_names) else -1 for f in frames], np.int32)
    shown = []
    for name, source in zip(listed, sources.tolist(), strict=True):
        same = source >= 0 and source_names[source].replace("\n", " ") == name
        shown.append(source_names[source] if same else name)
    return Plan(shown, [float(i) for i in range(count)], [-1] * count), sources


def _timeline_plan(
    keyed: list[Block], known: Known | None, scene: bpy.types.Scene, mode: str, settings: GatherSettings
) -> tuple[Plan, NDArray[np.int32]]:
    """Plan a stretch of the timeline; markers name its frames, and so do the keys that it shows."""
    start, end, step = scene.frame_start, scene.frame_end, scene.frame_step
    if mode == "RANGE":
        start, end, step = settings.frame_start, settings.frame_end, settings.frame_step
    elif mode == "CURRENT":
        start, end, step = scene.frame_current, scene.frame_current, 1
    times = list(range(start, end + 1, max(step, 1)))
    if not times:
        raise LimitError(f"no frame to export: the range {start} to {end} is empty")
    markers = {marker.frame: marker.name for marker in scene.timeline_markers}
    keys_shown = _keys_at(keyed, times)
    base = _key_plan(keyed, known) if keyed else None
    sources, shown = np.full(len(times), -1, np.int32), []
    for place, (time, key) in enumerate(zip(times, keys_shown, strict=True)):
        name = f"frame{time}"
        if base is not None and key >= 0:
            name, sources[place] = base[0].names[key], base[1][key]
        shown.append(markers.get(time, name))
    return Plan(shown, [float(t) for t in times], [-1] * len(times)), sources


def _keys_at(keyed: list[Block], times: list[int]) -> list[int]:
    """Return the key (in order of frames) that the timeline shows at each time, or -1."""
    if not keyed or keyed[0].data.shape_keys.use_relative:
        return [-1] * len(times)
    keys = keyed[0].data.shape_keys
    place = {position: i for i, position in enumerate(positions(list(keys.key_blocks)))}
    curve = next((c for c in playing_curves(keys) if c.data_path == "eval_time"), None)
    return [place.get(keys.eval_time if curve is None else curve.evaluate(t), -1) for t in times]
