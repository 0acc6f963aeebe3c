"""What a command loads before it works: modules are counted, not milliseconds (`bench/cold_start.py` has those)."""

import subprocess
import sys

import click
import pytest

from thresher.cli import COMMANDS, commands
from thresher.demo import QUESTION, build

_LOADED = """
import atexit, sys
atexit.register(lambda: print(*sorted(sys.modules), file=sys.stderr))
from thresher.cli import main
main()
"""
# What a price or an answer about a DuckDB database has no use for: each of these costs as much as the answer.
_HEAVY = ("scipy", "pyarrow", "pandas", "matplotlib", "numpy.ma", "concurrent.futures", "psycopg", "pyspark")
# Rooms of other kinds of questions.
_OTHERS = ("audit", "demo", "diagnostics", "mechanisms", "personal", "live", "streams")


@pytest.fixture(scope="module")
def hospital(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cold")
    build(folder)
    return folder


def loaded(folder, *arguments):
    """The modules that a command has loaded when it ends."""
    done = subprocess.run(
        [sys.executable, "-c", _LOADED, *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    return set(done.stderr.split())


def inside(modules, *names):
    return sorted(name for name in modules if any(name == one or name.startswith(one + ".") for one in names))


def test_the_engine_loads_no_family():
    """A family loads when it is first asked for."""
    program = "import sys, thresher.engine; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    modules = set(done.stdout.split())
    assert inside(modules, "thresher.decisions", *(f"thresher.{room}" for room in _OTHERS)) == []
    assert len(inside(modules, "thresher")) <= 100


@pytest.fixture(scope="module", params=["plan", "ask"])
def asked(request, hospital):
    ways = ["--yes"] if request.param == "ask" else []
    return loaded(hospital, request.param, QUESTION, "--uncertain-region", "COUNT(*)=60, AVG(age)=1", *ways)


def test_a_question_loads_nothing_heavy(asked):
    assert inside(asked, *_HEAVY) == []


def test_a_question_loads_its_own_family_only(asked):
    assert inside(asked, *(f"thresher.{room}" for room in _OTHERS)) == []


def test_how_many_modules_of_ours_a_question_loads(asked):
    """Lower this number with the modules."""
    assert len(inside(asked, "thresher")) <= 148


def test_help_loads_no_command(hospital):
    modules = loaded(hospital, "--help")
    assert inside(modules, "numpy", "duckdb", "rich", "thresher.engine") == []
    assert len(inside(modules, "thresher")) <= 6


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_names_commands_that_exist(name):
    """The list is written where commands are named, so that it loads none of them."""
    _, command, _ = commands.resolve_command(click.Context(commands), [name])
    assert command.name == name


def test_a_version_loads_next_to_nothing(hospital):
    modules = loaded(hospital, "--version")
    assert inside(modules, "numpy", "rich", "thresher.engine") == []
    assert len(inside(modules, "thresher")) <= 6
