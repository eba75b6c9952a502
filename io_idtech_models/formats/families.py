"""What is done alike with all things of a kind, whichever format they come from: a `Family` for each kind.

A file holds a model of one family, or motions, or both. Who has a thing before him asks its family, never its class;
what only some rooms do with a family (operators, tasks) they keep in a table by family. The modules that know how are
imported when they are first asked: everyone who starts Blender waits for this one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..model.limits.games import Problem


class Family:
    """A kind of thing that files hold."""

    name: str

    def describe(self, thing: Any) -> str:
        """Return what a thing holds, in words."""
        raise NotImplementedError

    def facts(self, thing: Any) -> dict[str, Any]:
        """Return what a thing holds, as plain values."""
        raise NotImplementedError

    def check(self, thing: Any, game: str, format_name: str, is_text: bool) -> list[Problem]:
        """Return what a game, a key of `games.GAMES`, refuses of a thing in a format, or shows otherwise than meant."""
        raise NotImplementedError

    def __repr__(self) -> str:
        """Return the name, for failed tests."""
        return self.name


class _Vertex(Family):
    """Models animated vertex by vertex: `model.vertex.VertexModel`."""

    name = "vertex"

    def describe(self, thing: Any) -> str:
        from ..model.facts import describe

        return describe(thing)

    def facts(self, thing: Any) -> dict[str, Any]:
        from ..model.facts import vertex_facts

        return vertex_facts(thing)

    def check(self, thing: Any, game: str, format_name: str, is_text: bool) -> list[Problem]:
        from ..model.limits.checks import check_vertex

        return list(check_vertex(thing, game, format_name, is_text))


class _Skeletal(Family):
    """Models that a skeleton moves: `model.skeletal.SkeletalModel`."""

    name = "skeletal"

    def describe(self, thing: Any) -> str:
        from ..model.facts import describe_skeletal

        return describe_skeletal(thing)

    def facts(self, thing: Any) -> dict[str, Any]:
        from ..model.facts import skeletal_facts

        return skeletal_facts(thing)

    def check(self, thing: Any, game: str, format_name: str, is_text: bool) -> list[Problem]:
        from ..model.limits.checks import check_skeletal

        return list(check_skeletal(thing, game, format_name, is_text))


class _Motion(Family):
    """What moves skeletons: `model.skeletal.Animation`."""

    name = "motion"

    def describe(self, thing: Any) -> str:
        from ..model.facts import describe_animation

        return describe_animation(thing)

    def facts(self, thing: Any) -> dict[str, Any]:
        from ..model.facts import animation_facts

        return animation_facts(thing)

    def check(self, thing: Any, game: str, format_name: str, is_text: bool) -> list[Problem]:
        from ..model.limits.checks import check_animation

        return list(check_animation(thing, game, format_name, is_text))


VERTEX, SKELETAL, MOTION = _Vertex(), _Skeletal(), _Motion()
