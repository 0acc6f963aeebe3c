"""One default seed for every statistical test; `--soak` runs them over many seeds and the real generator as well."""

import pytest
from hypothesis import settings

from thresher.noise import SeededEntropy, SystemEntropy

DEFAULT_SEED = 20_261_116
SOAK_SEEDS = 25

# Machines are noisy: no test fails for being slow.
settings.register_profile("thresher", deadline=None)
settings.load_profile("thresher")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--soak", action="store_true", help="many seeds and larger counts")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "make_entropy" in metafunc.fixturenames:
        soak = metafunc.config.getoption("soak")
        seeds = range(DEFAULT_SEED, DEFAULT_SEED + (SOAK_SEEDS if soak else 1))
        makers = [pytest.param(lambda seed=seed: SeededEntropy(seed), id=f"seed{seed}") for seed in seeds]
        metafunc.parametrize("make_entropy", [*makers, *([pytest.param(SystemEntropy, id="system")] if soak else [])])


@pytest.fixture
def entropy(make_entropy):
    return make_entropy()


@pytest.fixture
def soak(request: pytest.FixtureRequest) -> bool:
    return request.config.getoption("soak")
