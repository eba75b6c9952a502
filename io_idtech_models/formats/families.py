"""What is done alike with all things of a kind, whichever format they come from: a `Family` for each kind.

A file holds a model of one family, or motions, or both. Who has a thing before him asks its family, never its class;
what only some rooms do with a family (operators, tasks) they keep in a table by family. The modules that know how are
imported when they are first asked: everyone who starts Blender waits for this one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..model.limits.games import Problem
    from .rows import Row


@dataclass(frozen=True, eq=False)
class Family:
    """A kind of thing that files hold."""

    name: str
    describe: Callable[[Any], str]  # what a thing holds, in words
    facts: Callable[[Any], dict[str, Any]]  # what it holds, as plain values
    # What a game, a key of `games.GAMES`, refuses of a thing in a format, or shows otherwise than meant.
    check: Callable[[Row, Any, str], list[Problem]]

    def __repr__(self) -> str:
        """Return the name, for failed tests."""
        return self.name


def _of_model(module: str, function: str) -> Callable[..., Any]:
    """Return what calls a function of a module of `model`, which is imported then."""

    def call(*arguments: Any) -> Any:
        return getattr(import_module(f"...model.{module}", __name__), function)(*arguments)

    return call


_check_vertex = _of_model("limits.vertex", "check")
_check_skeletal = _of_model("limits.skeletal", "check")
_check_motion = _of_model("limits.skeletal", "check_animation")

# Models animated vertex by vertex: `model.vertex.VertexModel`.
VERTEX = Family(
    "vertex",
    _of_model("wording", "describe"),
    _of_model("facts", "vertex_facts"),
    lambda row, model, game: list(_check_vertex(model, game, row.name)),
)
# Models that a skeleton moves: `model.skeletal.SkeletalModel`.
SKELETAL = Family(
    "skeletal",
    _of_model("wording", "describe_skeletal"),
    _of_model("facts", "skeletal_facts"),
    lambda row, model, game: list(_check_skeletal(model, game, row.name, row.is_text)),
)
# What moves skeletons: `model.skeletal.Animation`.
MOTION = Family(
    "motion",
    _of_model("wording", "describe_animation"),
    _of_model("facts", "animation_facts"),
    lambda row, animation, game: list(_check_motion(animation, game, row.name, row.is_text)),
)
