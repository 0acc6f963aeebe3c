"""One default seed for every statistical test; `--soak` runs them over many seeds and the real generator as well."""

import functools
import os
from collections.abc import Iterator

import pytest
from hypothesis import settings

from thresher.ledger.stores import sqlite
from thresher.noise import SeededEntropy, SystemEntropy

DEFAULT_SEED = 20_261_116
SOAK_SEEDS = 25

# Machines are noisy: no test fails for being slow.
settings.register_profile("thresher", deadline=None)
settings.load_profile("thresher")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--soak", type=float, default=0.0, metavar="SHARE", help="large counts and many seeds; 0.1 for a tenth of them"
    )


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Give each process whole files, so that what a module builds is built once, and one process all that needs Spark.

    Starting Spark costs more than most files, and each process that meets a test with Spark would start its own.
    """
    if config.getoption("dist") != "load":
        return None
    from xdist.scheduler import LoadFileScheduling  # noqa: PLC0415 - only where several processes run

    @functools.cache
    def unit_of(file: str) -> str:
        needs_spark = file.startswith("tests/sources/") or "from sources.conftest" in (
            config.rootpath / file
        ).read_text("utf-8")
        return "files that need Spark" if needs_spark else file

    class OneSpark(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return unit_of(super()._split_scope(nodeid))

    return OneSpark(config, log)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("soak"):
        left = [item for item in items if item.get_closest_marker("soak")]
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if item not in left]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "make_entropy" in metafunc.fixturenames:
        share = metafunc.config.getoption("soak")
        seeds = range(DEFAULT_SEED, DEFAULT_SEED + max(1, round(SOAK_SEEDS * share)))
        makers = [pytest.param(lambda seed=seed: SeededEntropy(seed), id=f"seed{seed}") for seed in seeds]
        metafunc.parametrize("make_entropy", [*makers, *([pytest.param(SystemEntropy, id="system")] if share else [])])


@pytest.fixture(scope="session", autouse=True)
def unsynced() -> Iterator[pytest.MonkeyPatch]:
    """Let ledgers of this process leave the syncing to the system, which is safe unless the power fails.

    Power cuts, crashes and disk errors are tried on processes of their own, which sync as the product does.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sqlite, "SYNCHRONOUS", "OFF")
        patch.setattr(os, "fsync", lambda file: None)
        yield patch


@pytest.fixture
def entropy(make_entropy):
    return make_entropy()


@pytest.fixture
def soak(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("soak"))


@pytest.fixture
def trials(request: pytest.FixtureRequest):
    """How often to try: the first number, or when soaking the asked share of the second, if that is more."""
    share = request.config.getoption("soak")
    return lambda small, large: max(small, round(large * share))


@pytest.fixture
def measured(request: pytest.FixtureRequest):
    """A line for the end of the test run: a figure that was seen, not one that is asserted."""
    return lambda text: request.node.user_properties.append(("measured", text))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = terminalreporter.stats.get("passed", [])
    lines = [text for report in reports for name, text in report.user_properties if name == "measured"]
    if lines:
        terminalreporter.section("measured")
        for line in sorted(set(lines)):
            terminalreporter.write_line(line)
