"""The operators of all formats, made from their rows by the module of the family that their files hold."""

from ..formats import MOTION, SKELETAL, VERTEX, Row
from . import motion_operators, skeletal_operators, vertex_operators

MAKERS = {
    VERTEX: vertex_operators.operators,
    SKELETAL: skeletal_operators.operators,
    MOTION: motion_operators.operators,
}


def operators_of(row: Row) -> tuple[type, ...]:
    """Return the operators of a format, and what lets its files be dropped, where that is not another's."""
    return MAKERS[row.family](row)
