"""One suite for every source: random tables and needs give the aggregates of a plain Python loop, and nothing else."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sources import worlds
from sources.places import HERE
from sources.plain_rows import evaluate

NEEDS = 3


@pytest.mark.parametrize("place", HERE)
@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(rnd=st.randoms(use_true_random=False))
def test_every_source_gives_what_plain_python_gives(place, tmp_path_factory, rnd):
    table, rows = worlds.table(rnd), worlds.rows(rnd)
    source = HERE[place](rows, table, tmp_path_factory.mktemp(place))
    try:
        for _ in range(NEEDS):
            need = worlds.need(rnd, table)
            assert source.fetch(need).unseal().tolist() == evaluate(need, rows)
    finally:
        source.close()
