"""A kernel gives the same numbers compiled and plain, and works where there is no compiler."""

import inspect
import subprocess
import sys

import numpy as np
import pytest

from thresher.mechanisms.compiled import compiled, compiler


@pytest.fixture
def no_compiler(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)  # an import of it now fails
    compiler.cache_clear()
    yield
    compiler.cache_clear()


def _rounding_sum(values):
    total = 0.0
    for i in range(values.size):
        total += values[i] * 0.1
    return total


def test_compiled_and_plain_give_the_same_bits():
    pytest.importorskip("numba")
    values = np.random.default_rng(1).random(1000)
    kernel = compiled(_rounding_sum)
    assert inspect.unwrap(kernel) is _rounding_sum
    assert kernel(values).hex() == float(_rounding_sum(values)).hex()
    reordered = float((values * 0.1).sum())  # what a compiler that may reorder would give: the comparison sees it
    assert reordered.hex() != kernel(values).hex()


def test_without_a_compiler_the_same_python_runs(no_compiler):
    assert compiler() is None
    calls = []
    assert compiled(calls.append)(5) is None  # no compiler could compile this
    assert calls == [5]


def test_importing_the_mechanisms_does_not_load_the_compiler():
    program = "import thresher.mechanisms.histograms, sys; print('numba' in sys.modules)"

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
