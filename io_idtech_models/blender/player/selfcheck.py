"""Does a player that is written play what Blender shows? Compared in a few frames; see `blender.selfcheck`.

A part is written as all frames of its file show it, one by one, each in the scene's frame of that number. While a row
plays, another frame shows than the scene stands at. What follows the scene, or stands in the world, is elsewhere then,
and no file can say that. So parts show a few frames in others of the scene: their points, in the space of their root,
are held against those that are written, and parts that hang on tags against these tags.

Letters in shapes: n vertices.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...model import steady
from ...model.transforms import inverse
from ...model.vertex import Tag, VertexModel
from .. import names
from ..compat import Block
from ..mesh import attributes
from ..playback import playing_values
from ..provenance import PART as KIND
from ..roots import FRAME, FRAME_PATH, root_of
from ..scene import ExportScene, showing, unstretched
from ..selfcheck import Off, is_beyond, tolerance
from ..space import Space, places_in, space_of
from ..vertex.frame_plan import GatherSettings
from ..vertex.movement import pinned
from .assembly import BEFORE, ON_TAGS

Doubles = NDArray[np.float64]
MOST_POINTS = 16  # of a part that are looked for among those that are written
REMEDY = "more than the frame that its root shows moves it, apply or remove that"


@dataclass(eq=False)
class WrittenPart:
    """A part as its file will have it, and what it was made of."""

    root: Block
    blocks: list[Block]  # its meshes
    model: VertexModel
    off: Off = field(default_factory=Off)  # its points
    hung: Off = field(default_factory=Off)  # its root, from where it hangs

    def __post_init__(self) -> None:
        """Choose frames that are others than those of the scene in which they will show: the first two, and later.

        The last, and the one in which tags stand farthest off how they do there: parts on them show what stays behind.
        """
        last = self.model.num_frames - 1
        turned = sum((np.abs(tag.axes - tag.axes[-1]).max(axis=(1, 2)) for tag in self.model.tags), np.zeros(last + 1))
        self.frames = [last, int(turned.argmax()) or last // 2]
        self.plays = last > 0 and FRAME in self.root

    @cached_property
    def tags(self) -> dict[str, Tag]:
        """Return its tags by their names in small letters."""
        return {tag.name.lower(): tag for tag in self.model.tags}

    @property
    def is_on_tag(self) -> bool:
        """Tell whether its root hangs on the tag that games have it on, if they have it on one."""
        kind, bearer = self.root[KIND], self.bearer
        if kind not in BEFORE:
            return True
        called = "" if bearer is None or bearer[KIND] != BEFORE[kind] else names.file_name_of(self.root.parent).lower()
        return called == ON_TAGS[kind]

    @property
    def bearer(self) -> Block | None:
        """Return the root of the part on which its root hangs; None of one that was torn off."""
        return None if self.root.parent is None else root_of(self.root.parent)

    def points(self, look: int) -> Doubles:
        """Return all vertices that are written of the frame that shows, (n, 3)."""
        surfaces, frame = self.model.surfaces, self.frames[look]
        return np.concatenate([np.zeros((0, 3)), *(s.positions[min(frame, len(s.positions) - 1)] for s in surfaces)])

    def tag_of(self, other: WrittenPart) -> Tag | None:
        """Return its tag that another part hangs on: as games have it, else by its root's parent; None if on none."""
        kind = other.root[KIND]
        if BEFORE.get(kind) == self.root[KIND] and ON_TAGS[kind] in self.tags:
            return self.tags[ON_TAGS[kind]]
        return self.tags.get(names.file_name_of(other.root.parent).lower()) if other.bearer == self.root else None


def differences(
    parts: Mapping[str, WrittenPart], export: ExportScene[GatherSettings], points: bool = True
) -> Iterator[str]:
    """Yield what of a player's parts, by their kinds, is not written as it is shown, in sentences.

    Without `points` what is written has not those that show: the tags are compared alone.
    """
    spaces = {kind: space_of(part.blocks, None, export.evaluated) for kind, part in parts.items() if points}
    # Blender evaluates nothing that is hidden, but for what carries something that is not.
    layer = export.view_layer
    rooted = [p for p in parts.values() if any(b.visible_get(view_layer=layer) for b in (p.root, *p.blocks))]
    hangs = [(part, other, tag) for part in rooted for other in rooted if (tag := part.tag_of(other))]
    with ExitStack() as stack:
        stack.enter_context(unstretched())
        for part in parts.values():
            if part.plays:
                stack.enter_context(playing_values(part.root, FRAME_PATH, [float(frame) for frame in part.frames]))
        stack.enter_context(pinned([block for part in parts.values() for block in part.blocks], to_one=False))
        show = stack.enter_context(showing(export.scene))
        first, last = export.scene.frame_start, export.scene.frame_end
        for time in sorted({0, 1, (first + last) // 2, last}):
            look = 0 if time <= 0 else 1  # as what plays there holds its ends
            show(float(time))
            for kind, space in spaces.items():
                far = _distance(parts[kind], look, space, export)
                parts[kind].off.note(far, _where(parts[kind], look))
            for part, other, tag in hangs:
                other.hung.note(_distance_of_tag(tag, look, part, other, export), _where(part, look))
    for kind, part in parts.items():
        if part.off.where:
            yield part.off.sentence(f"'{kind}' is", REMEDY)
        if part.hung.where:
            text, remedy = "is up to {} units off the tag that it hangs on, {}", "move that or the surfaces"
            if not part.is_on_tag:
                text = f"does not hang on '{ON_TAGS[kind]}' of '{BEFORE[kind]}', and is up to {{}} units off that, {{}}"
                remedy = "parent it to that"
            off = text.format(f"{part.hung.far:.3g}", part.hung.where)
            yield f"the root of '{kind}' {off}: games have it on the tag, {remedy}"


def _where(part: WrittenPart, look: int) -> str:
    return f"where frame {part.frames[look]} of '{part.root[KIND]}' shows in another of the scene"


def _distance(part: WrittenPart, look: int, space: Space, export: ExportScene[GatherSettings]) -> float:
    """Return how far what shows of a part is off what is written at most, units; 0 within tolerance."""
    blocks = [block for block in part.blocks if block.visible_get(view_layer=export.view_layer)]
    if len(blocks) < len(part.blocks):
        return 0.0  # Blender evaluates nothing that is hidden
    written = part.points(look)
    shown: list[Doubles] = [np.zeros((0, 3))]
    for block, place in zip(blocks, places_in(space, export, blocks), strict=True):
        mesh = export.evaluated(block).data
        corners = attributes.positions(mesh)[attributes.corner_points(mesh)].astype(np.float64)
        shown.append(steady.applied(place[:3], corners) / export.settings.scale)
    points = np.concatenate(shown)
    if not len(points) or not len(written):  # one shows nothing, the other all of it
        return float(steady.lengths(np.concatenate((points, written))).max(initial=0.0))
    ends = [np.abs(end(points, axis=0) - end(written, axis=0)).max() for end in (np.min, np.max)]
    some = points[:: max(1, len(points) // MOST_POINTS)]
    nearest = (steady.lengths(written - point).min() for point in some)
    far = float(max(*ends, *nearest))
    return far if is_beyond(far, tolerance(written)) else 0.0


def _distance_of_tag(
    tag: Tag, look: int, part: WrittenPart, other: WrittenPart, export: ExportScene[GatherSettings]
) -> float:
    """Return how far a part's points are off at most for where its root is, units; 0 within tolerance.

    Games make each axis of a tag one unit long (R_LerpTag).
    """
    worlds = [np.array(export.evaluated(root).matrix_world, np.float64) for root in (part.root, other.root)]
    here = steady.products(inverse(worlds[0][None])[0], worlds[1])
    nth = min(part.frames[look], len(tag.origins) - 1)
    axes = steady.directions(tag.axes[nth].astype(np.float64))
    points = other.points(0)
    reach = float(steady.lengths(points).max(initial=0.0))
    off = float(steady.lengths(here[:3, 3] / export.settings.scale - tag.origins[nth]))
    far = max(off, reach * float(np.abs(here[:3, :3].T - axes).max()))
    return far if is_beyond(far, tolerance(points)) else 0.0
