"""Arithmetic that gives the same bits on every processor: what decides what a file holds is computed with this alone.

numpy hands products and decompositions of matrices to BLAS and LAPACK, whose kernels differ from processor to processor
in the order of sums and in fused steps; its sines and arc tangents have vector forms that differ in the last bit. A tie
then goes the other way, or a last digit differs. Here are only sums and products in a fixed order, and roots, which
IEEE 754 says exactly. Where the fast way is needed it may propose (`proposed`), but what is as good within a stated
tolerance is compared anew, and of equals the lowest number wins.

Letters in shapes: n any number.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Doubles = NDArray[np.float64]
Indices = NDArray[np.int64]

STEP = 2.0**-40  # closer, as a part of the whole, two numbers that are compared are one: about 1e-12
NEAR_HALF = 1e-6  # of a step: where an angle is looked at again
PROPOSAL = 1e-4  # how far off the largest, as a part of it, products in single precision are looked at again
SWEEPS = 12  # of Jacobi's rotations; real matrices need five
TINY, STEEPEST = 1e-300, 1e150  # a square below is 0; the square of a slope must be a number
# Sines and cosines: the quarter turns are taken off in two parts, the first with so few bits that small multiples are
# exact (Cody and Waite 1980); what is left is within an eighth of a turn, where these terms of Taylor's series suffice.
HALF_PI_HIGH, HALF_PI_LOW = float.fromhex("0x1.921fb544p+0"), float.fromhex("0x1.0b4611a626331p-34")
SINE_TERMS = (-1 / 6, 1 / 120, -1 / 5040, 1 / 362880, -1 / 39916800, 1 / 6227020800, -1 / 1307674368000)
COSINE_TERMS = (1 / 24, -1 / 720, 1 / 40320, -1 / 3628800, 1 / 479001600, -1 / 87178291200, 1 / 20922789888000)
# Arc tangents: the slope is brought near 0 by the nearest of these angles, and Taylor's series does the rest.
TABLE_STEPS = 8
TABLE = np.array([
    0.0, 0.12435499454676144, 0.24497866312686414, 0.3587706702705722, 0.4636476090008061, 0.5585993153435624,
    0.6435011087932844, 0.7188299996216245, 0.7853981633974483,
])  # fmt: skip  # of the slopes 0/8 to 8/8
ARC_TERMS = tuple((-1) ** k / (2 * k + 1) for k in range(1, 8))
QUARTER, HALF = np.pi / 2, np.pi


def dots(a: Array, b: Array) -> Doubles:
    """Return the products of vectors (..., n) with others, (...), summed from the first component to the last."""
    total = np.multiply(a[..., 0], b[..., 0], dtype=np.float64)
    for axis in range(1, a.shape[-1]):
        total = total + np.multiply(a[..., axis], b[..., axis], dtype=np.float64)
    return np.asarray(total)


def lengths(vectors: Array) -> Doubles:
    """Return how long vectors (..., n) are, (...)."""
    return np.asarray(np.sqrt(dots(vectors, vectors)))


def directions(vectors: Array) -> Doubles:
    """Return vectors (..., n) made one unit long; those that have no length stay as they are."""
    return np.asarray(vectors / np.maximum(lengths(vectors), TINY)[..., None])


def products(*matrices: Array) -> Doubles:
    """Return the products (..., i, k) of two or more small matrices (..., i, j), (..., j, k), the first two first."""
    return reduce(_product, matrices)


def _product(a: Array, b: Array) -> Doubles:
    total = np.multiply(a[..., :, 0, None], b[..., 0, None, :], dtype=np.float64)
    for step in range(1, a.shape[-1]):
        total += a[..., :, step, None] * b[..., step, None, :]
    return total


def applied(matrices: Array, vectors: Array) -> Doubles:
    """Return vectors (..., n) as matrices (..., n, n), or (..., n, n + 1) with a way as the last column, take them."""
    size = vectors.shape[-1]
    parts = [np.asarray(vectors[..., axis], np.float64, order="C") for axis in range(size)]  # strided, numpy is slow
    shape = np.broadcast_shapes(matrices.shape[:-2], vectors.shape[:-1])
    result, total, term = np.empty((*shape, size)), np.empty(shape), np.empty(shape)
    for row in range(size):
        np.multiply(matrices[..., row, 0], parts[0], out=total)
        for axis in range(1, size):
            np.multiply(matrices[..., row, axis], parts[axis], out=term)
            np.add(total, term, out=total)
        if matrices.shape[-1] > size:
            np.add(total, matrices[..., row, size], out=total)
        result[..., row] = total
    return result


def crossed(a: Array, b: Array) -> Doubles:
    """Return the cross products (..., 3) of vectors (..., 3)."""
    ax, ay, az = (a[..., axis].astype(np.float64) for axis in range(3))
    bx, by, bz = (b[..., axis].astype(np.float64) for axis in range(3))
    return np.stack((ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx), axis=-1)


def cofactors(matrices: Array) -> Doubles:
    """Return the matrices (..., 3, 3) of cofactors: the inverse transposed, times the determinant."""
    a, b, c = (matrices[..., row, :] for row in range(3))
    return np.stack((crossed(b, c), crossed(c, a), crossed(a, b)), axis=-2)


def determinants(matrices: Array) -> Doubles:
    """Return the determinants (...) of matrices (..., 3, 3)."""
    return dots(matrices[..., 0, :], crossed(matrices[..., 1, :], matrices[..., 2, :]))


def inverses(matrices: Array) -> Doubles:
    """Return the inverses of matrices (..., 3, 3); of one that is flat what is not finite."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.swapaxes(cofactors(matrices), -1, -2) / determinants(matrices)[..., None, None])


def singular_values(matrices: Array) -> tuple[Doubles, Doubles, Doubles]:
    """Return U (n, 3, 3), the singular values (n, 3), the largest first, and V (n, 3, 3) of matrices (n, 3, 3).

    The matrix is U diag(values) V transposed (Jacobi's one-sided rotations, Hestenes 1958). U and V are orthogonal;
    where a value is 0 the column of U is one that completes it.
    """
    columns = np.swapaxes(np.asarray(matrices, np.float64), -1, -2).copy()  # (n, column, 3)
    turned = np.broadcast_to(np.eye(3), columns.shape).copy()
    for _ in range(SWEEPS):
        turns = [_turn_pair(columns, turned, p, q) for p, q in ((0, 1), (0, 2), (1, 2))]
        if not any(turns):
            break
    values = lengths(columns)
    order = np.argsort(-values, axis=1, kind="stable")
    columns, turned = (np.take_along_axis(part, order[..., None], axis=1) for part in (columns, turned))
    values = np.take_along_axis(values, order, axis=1)
    return np.swapaxes(_completed(columns, values), -1, -2), values, np.swapaxes(turned, -1, -2)


def _turn_pair(columns: Doubles, turned: Doubles, p: int, q: int) -> bool:
    """Turn two columns of each matrix, in place, so that they stand upright on one another; tell if any had to."""
    a, b, product = (dots(columns[:, i], columns[:, k]) for i, k in ((p, p), (q, q), (p, q)))
    open_ = np.abs(product) > 2.0**-52 * np.sqrt(a * b)
    if not open_.any():
        return False
    with np.errstate(over="ignore"):
        slope = np.clip((b - a) / (2.0 * np.where(open_, product, 1.0)), -STEEPEST, STEEPEST)
    tangent = np.where(slope < 0, -1.0, 1.0) / (np.abs(slope) + np.sqrt(1.0 + slope * slope))
    cosine = np.where(open_, 1.0 / np.sqrt(1.0 + tangent * tangent), 1.0)[:, None]
    sine = np.where(open_[:, None], cosine * tangent[:, None], 0.0)
    for part in (columns, turned):
        first, second = part[:, p].copy(), part[:, q].copy()
        part[:, p] = cosine * first - sine * second
        part[:, q] = sine * first + cosine * second
    return True


def _completed(columns: Doubles, values: Doubles) -> Doubles:
    """Return columns (n, column, 3) at length 1; those of no length complete the others."""
    least = np.maximum(values[:, :1] * 2.0**-50, TINY)
    full = values > least
    unit = columns / np.where(full, values, 1.0)[..., None]
    unit[~full[:, 0], 0] = (1.0, 0.0, 0.0)
    bare = ~full[:, 1]
    if bare.any():
        first = unit[bare, 0]
        aside = np.eye(3)[np.abs(first).argmin(axis=1)]
        upright = crossed(first, aside)
        unit[bare, 1] = upright / lengths(upright)[:, None]
    bare = ~full[:, 2]
    last = crossed(unit[bare, 0], unit[bare, 1])
    unit[bare, 2] = np.where(dots(last, columns[bare, 2])[:, None] < 0, -last, last)
    return np.asarray(unit)


def nearest_rotations(matrices: Array, mirrored: bool = False) -> Doubles:
    """Return the rotations (..., 3, 3) nearest to matrices (..., 3, 3): their polar factors (Higham 1986).

    Of a matrix that mirrors, the nearest that does not; or, if `mirrored` may stay, its own factor.
    """
    flat = np.asarray(matrices, np.float64).reshape(-1, 3, 3)
    left, _, right = singular_values(flat)
    if not mirrored:
        over = determinants(left) * determinants(right) < 0
        left[over, :, 2] *= -1.0
    return products(left, np.swapaxes(right, -1, -2)).reshape(np.shape(matrices))


def cosines_and_sines(radians: Array) -> tuple[Doubles, Doubles]:
    """Return cosines and sines (...) of angles (...) of up to some thousand turns, within a unit of the last bit."""
    angles = np.asarray(radians, np.float64)
    quarters = np.rint(angles / QUARTER)
    rest = (angles - quarters * HALF_PI_HIGH) - quarters * HALF_PI_LOW
    square = rest * rest
    sine = rest + rest * square * _series(SINE_TERMS, square)
    cosine = 1.0 - (0.5 * square - square * square * _series(COSINE_TERMS, square))
    turn = quarters.astype(np.int64) & 3
    swapped = (turn & 1).astype(np.bool_)
    cosines = np.where(swapped, sine, cosine) * np.where((turn == 1) | (turn == 2), -1.0, 1.0)
    sines = np.where(swapped, cosine, sine) * np.where(turn >= 2, -1.0, 1.0)
    return cosines, sines


def _series(terms: tuple[float, ...], square: Doubles) -> Doubles:
    total = np.full(np.shape(square), terms[-1])
    for term in reversed(terms[:-1]):
        total = total * square + term
    return total


def angles_of(y: Array, x: Array) -> Doubles:
    """Return the angles (...) of points from the X axis, -pi to pi, as `arctan2` does; of the origin 0."""
    y, x = np.asarray(y, np.float64), np.asarray(x, np.float64)
    wide, high = np.abs(x), np.abs(y)
    steep = high > wide
    run, rise = np.where(steep, high, wide), np.where(steep, wide, high)
    run = np.where(run > 0, run, 1.0)
    nearest = np.rint(rise / run * TABLE_STEPS)
    slope = nearest / TABLE_STEPS
    # The tangent of a difference, without a quotient of quotients: exact where the point lies on the slope.
    left = (rise - slope * run) / (run + slope * rise)
    square = left * left
    angles = TABLE[nearest.astype(np.int64)] + (left + left * square * _series(ARC_TERMS, square))
    angles = np.where(steep, QUARTER - angles, angles)
    angles = np.where(x < 0, HALF - angles, angles)
    return np.asarray(np.where(y < 0, -angles, angles))


def whole_steps(y: Array, x: Array, step: float) -> Indices:
    """Return the angles (...) of points from the X axis in steps of so many radians, rounded to whole ones.

    numpy's own arc tangent proposes; what is near to the middle between two steps is looked at again.
    """
    steps = np.asarray(np.arctan2(y, x) / step)
    found = np.asarray(np.rint(steps).astype(np.int64))
    open_ = np.abs(np.abs(steps - found) - 0.5) < NEAR_HALF
    if open_.any():
        found[open_] = np.rint(np.rint(angles_of(y[open_], x[open_]) / (step * STEP)) * STEP).astype(np.int64)
    return found


def cube_roots(values: Array) -> Doubles:
    """Return the cube roots (...) of numbers, exact where they have at most twenty binary places behind the point."""
    sizes = np.abs(np.asarray(values, np.float64))
    parts, exponents = np.frexp(sizes)
    thirds = -(-exponents // 3)
    parts = np.ldexp(parts, exponents - 3 * thirds)  # an eighth to 1
    roots = 0.4 + 0.6 * parts
    for _ in range(4):  # Halley's iteration, each step of which triples the digits
        cubes = roots * roots * roots
        roots = roots * (cubes + 2.0 * parts) / (2.0 * cubes + parts)
    roots = np.ldexp(roots, thirds)
    short = np.rint(roots * 2.0**20) / 2.0**20
    roots = np.where(short * short * short == sizes, short, roots)
    return np.asarray(np.where(sizes > 0, np.copysign(roots, values), 0.0))


def rounded(values: Array, whole: float = 1.0) -> Doubles:
    """Return numbers (...) to be compared, without the digits that rounding may have made: `whole` is their size."""
    return np.asarray(np.rint(np.asarray(values, np.float64) / (whole * STEP)))


def proposed(a: Array, b: Array) -> Array:
    """Return the product of matrices (n, k) and (k, m) the fast way, whose last digits no one may rely on."""
    product: Array = a @ b
    return product


def largest_products(vectors: Array, table: Array) -> Indices:
    """Return for vectors (n, 3) which row (n,) of a table (m, 3) has the largest product; of equals the first."""
    shown = proposed(vectors.astype(np.float32), table.astype(np.float32).T)
    best = shown.max(axis=1)
    found: Indices = shown.argmax(axis=1).astype(np.int64)
    near = shown >= (best - PROPOSAL * np.abs(best))[:, None]
    open_ = np.flatnonzero(near.sum(axis=1) != 1)
    if len(open_):
        exact = dots(vectors[open_, None, :], table[None])
        found[open_] = rounded(exact, float(np.abs(exact).max(initial=1.0))).argmax(axis=1)
    return found


def nearest_before(points: Array, first: int, last: int) -> Indices:
    """Return for the points `first` to `last` of (n, 3) the nearest among those before each; of equals the first.

    `first` is 1 or more.
    """
    before = np.asarray(points[:last], np.float64)
    rows = np.arange(first, last)
    squares = dots(before, before)
    # Squares of distances, less what is the same for all in a row; what comes near to the least is compared anew.
    away = squares - 2 * proposed(before[first:], before.T)
    away[np.arange(last)[None] >= rows[:, None]] = np.inf
    size = float(squares.max(initial=0.0))
    row, other = np.nonzero(away <= (away.min(axis=1) + 1e-9 * size)[:, None])
    off = before[rows[row]] - before[other]
    exact = rounded(dots(off, off), max(size, TINY))
    order = np.lexsort((other, exact, row))
    starts = np.flatnonzero(np.diff(row[order], prepend=-1))
    nearest: Indices = other[order][starts]
    return nearest
