import inspect
import pickle
import re

import pytest

from thresher import errors
from thresher.errors import AnalystError, ArgumentError, BugError, CuratorError, EntropyError, ThresherError


def test_the_tree_drawn_in_the_docstring_is_the_tree_of_classes():
    drawn = {}
    stack: list[tuple[int, str]] = []
    for line in errors.__doc__.splitlines():
        if match := re.match(r"^([ │├└─]*)(\w+Error)\b", line):
            depth, name = len(match[1]), match[2]
            stack = [entry for entry in stack if entry[0] < depth]
            drawn[name] = stack[-1][1] if stack else "Exception"
            stack.append((depth, name))
    real = {
        name: next(base.__name__ for base in cls.__mro__[1:] if issubclass(base, Exception))
        for name, cls in inspect.getmembers(errors, inspect.isclass)
        if cls.__module__ == errors.__name__
    }
    assert drawn == real


def test_exit_codes_follow_the_contract():
    assert (AnalystError.exit_code, ArgumentError.exit_code, CuratorError.exit_code) == (2, 2, 4)
    assert EntropyError.exit_code == 4
    assert BugError.exit_code not in (0, 2, 3, 4)


def test_an_argument_error_names_field_value_rule_and_fix():
    error = ArgumentError("miss_rate", 0.7, "it must be below 0.5", "Pass 0.05")
    assert str(error) == "miss_rate = 0.7 is refused: it must be below 0.5. Pass 0.05."
    assert isinstance(error, ValueError)
    assert isinstance(error, ThresherError)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)  # noqa: S301


class Hostile:
    def __repr__(self):
        raise RuntimeError("no")


@pytest.mark.parametrize("value", ["x" * 10**6, list(range(10**5)), 10**3000, Hostile()])
def test_messages_stay_short_whatever_was_passed(value):
    assert len(str(ArgumentError("size", value, "rule", "fix"))) < 300
