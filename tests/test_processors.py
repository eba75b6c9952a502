"""What is written does not depend on the processor: not on kernels of BLAS and their threads, nor on vector forms."""

import json
import os
import signal
import subprocess
import sys

import pytest

from tests.samples import PROJECT

# OpenBLAS' names of what it has kernels for, and what numpy is told to do without.
VECTORS = "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL"
PROCESSORS = {
    "old": {"OPENBLAS_CORETYPE": "Prescott", "NPY_DISABLE_CPU_FEATURES": f"{VECTORS} AVX2 FMA3"},
    "middle": {"OPENBLAS_CORETYPE": "Haswell", "NPY_DISABLE_CPU_FEATURES": VECTORS},
    "new": {"OPENBLAS_CORETYPE": "SkylakeX", "OPENBLAS_NUM_THREADS": "2"},
}
ILLEGAL = getattr(signal, "SIGILL", 0)  # instruction


def digests(variables):
    environ = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH"}} | variables
    command = [sys.executable, "-P", "-W", "ignore", "tests/decisive.py"]
    done = subprocess.run(command, cwd=PROJECT, env=environ, check=False, capture_output=True, text=True)
    if variables and done.returncode == -ILLEGAL:  # kernels of a newer processor than this one, whose own are asked
        return digests({})
    done.check_returncode()
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def found():
    return {name: digests(variables) for name, variables in PROCESSORS.items()}


def test_the_same_bytes_on_every_processor(found):
    assert len(found["new"]) > 30
    for name in ("old", "middle"):
        assert {k for k, digest in found[name].items() if digest != found["new"][k]} == set()
