"""Refusals name flags on the command line, and arguments in Python."""

import click
import pytest

from thresher.amounts import Epsilon
from thresher.cli.flags import by_flags
from thresher.errors import ArgumentError, BudgetError, QuestionError, TooDearError


@click.command()
@click.option("--miss-rate")
@click.option("--output", "-o")
@click.option("--key")
@click.option("--from", "feed")
@click.option("--yes", is_flag=True)
@click.argument("sql")
def command(**_):
    """Do nothing."""


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (ArgumentError("miss_rate", 2, "too large", "Pass 1"), "--miss-rate = 2 is refused: too large. Pass 1."),
        (ArgumentError("output", "x", "no", "y"), "--output = 'x' is refused: no. y."),
        (ArgumentError("from", "x", "no", "y"), "--from = 'x' is refused: no. y."),
        (ArgumentError("yes", False, "it costs", "Pass it"), "--yes was not given: it costs. Pass it."),
        (ArgumentError("yes", True, "idle", "Leave it"), "--yes is refused: idle. Leave it."),
        (ArgumentError("key", None, "one is needed", "Pass it"), "--key was not given: one is needed. Pass it."),
        (ArgumentError("key", "k", "no", "Did you mean l?"), "--key = 'k' is refused: no. Did you mean l?"),
        (ArgumentError("sql", "x", "or miss_rate", "key=1"), "sql = 'x' is refused: or --miss-rate. --key 1."),
        (ArgumentError("share", 2, "too large", "a key"), "share = 2 is refused: too large. a key."),
        (ArgumentError("key", "miss_rate", "bad", "y"), "--key = 'miss_rate' is refused: bad. y."),
        (ArgumentError("miss_rate, key", 2, "no", "y"), "--miss-rate, --key = 2 is refused: no. y."),
        (ArgumentError("key", 2, "per_miss_rate or miss_rate_of", "y"), "per_miss_rate or miss_rate_of. y."),
        (QuestionError("rule", "HAVING miss_rate > 1"), "HAVING miss_rate > 1 [rule]"),
        (TooDearError("miss_rate", Epsilon("2"), Epsilon("1")), "the --miss-rate."),
        (BudgetError("a", *[Epsilon("1")] * 3, "Set miss_rate=0.2"), "Set --miss-rate 0.2."),
    ],
)
def test_options_of_the_command_are_named_as_they_are_typed(error, says):
    assert says in by_flags(error, command)


def test_a_command_without_options_changes_nothing():
    error = ArgumentError("key", 1, "no_thing", "key=2")
    assert by_flags(error, click.Command("bare")) == str(error)
