"""Budgets of people as bars: a rule for each part, also for a part of the greatest level alone."""

import pytest

from thresher.views.budget_levels import level_bars


@pytest.mark.parametrize("count", [3, 16, 17, 100])
def test_each_part_but_the_first_has_a_rule(count):
    levels = [n / 10 for n in range(1, count + 1)]
    lines = level_bars(levels, [n % 7 for n in range(1, count + 1)], [levels[1], levels[-1]])
    assert [line.split()[1:3] for line in lines if "─" in line] == [["part", "2"], ["part", "3"]]
    assert max(map(len, lines)) <= 78
