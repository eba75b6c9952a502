"""Products of matrices in pieces so small that BLAS makes each on one thread.

Threads that wait for one another cost more than what they share in products of this size: three times as long on two
processors. OpenBLAS starts them where rows, columns and what is summed over multiply to more than 2^18.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]

ALONE = 2**18
FEWEST = 4  # rows of a piece: where there would be fewer the whole is so large that threads are worth it


def product(a: NDArray[Any], b: NDArray[Any]) -> Doubles:
    """Return the product (m, n) of matrices (m, k) and (k, n)."""
    rows = ALONE // max(b.shape[0] * b.shape[1], 1)
    if rows >= len(a) or rows < FEWEST:
        return np.asarray(a @ b)
    found = np.empty((len(a), b.shape[1]))
    for start in range(0, len(a), rows):
        np.matmul(a[start : start + rows], b, out=found[start : start + rows])
    return found
