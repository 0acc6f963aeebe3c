"""Records are written once, whatever happens to the writer in between."""

import json
import random

import numpy as np
import pyarrow.parquet
import pytest

from thresher.amounts import Epsilon
from thresher.errors import CuratorError
from thresher.live.sinks import JsonLinesFile, record_table, write_parquet
from thresher.streams.step_release import ENDED, GAP, RELEASED, TORN, NoisyStep, StepRecord


def record(step: int, kind: str = RELEASED, stream: str = "campus") -> StepRecord:
    drawn = NoisyStep(np.array([step - 5, 3])) if kind == RELEASED else None
    values = (step + 0.5, 3.0) if kind == RELEASED else ()
    return StepRecord(stream, step, f"at {step}", kind, ("gym", "library"), Epsilon("0.1"), drawn, values)


RECORDS = [record(0), record(1, TORN), record(2, GAP), *(record(step) for step in range(3, 40)), record(40, ENDED)]


def written(path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_each_record_is_one_line(tmp_path):
    path = tmp_path / "campus.jsonl"
    with JsonLinesFile(path, "campus") as sink:
        assert all(sink.write(each) for each in RECORDS)
        assert not any(sink.write(each) for each in RECORDS)
        assert written(path) == [each.document() for each in RECORDS]


def test_cut_anywhere_and_started_again_it_is_the_same_file(tmp_path, trials):
    """A crash leaves any number of bytes of what was being written."""
    whole = tmp_path / "whole.jsonl"
    with JsonLinesFile(whole, "campus") as sink:
        for each in RECORDS:
            sink.write(each)
    content, dice = whole.read_bytes(), random.Random(3)
    for cut in [0, 1, 5, 20, len(content), *(dice.randrange(len(content)) for _ in range(trials(100, 2000)))]:
        path = tmp_path / "cut.jsonl"
        path.write_bytes(content[:cut])
        with JsonLinesFile(path, "campus") as sink:
            lines = content[:cut].count(b"\n")
            assert sink.next_step == min(lines, len(RECORDS) - 1)
            for each in RECORDS[max(0, lines - 3) :]:
                sink.write(each)
        assert path.read_bytes() == content


def test_a_stream_whose_budget_was_raised_goes_on_after_its_end(tmp_path):
    path = tmp_path / "campus.jsonl"
    for each in (record(0), record(1, ENDED), record(1, ENDED), record(1), record(2)):
        with JsonLinesFile(path, "campus") as sink:
            sink.write(each)
            assert sink.next_step == (each.step if each.kind == ENDED else each.step + 1)
    assert [(line["step"], line["kind"]) for line in written(path)] == [
        (0, RELEASED),
        (1, ENDED),
        (1, RELEASED),
        (2, RELEASED),
    ]


@pytest.mark.parametrize(
    "content", [b"hello", b"hello\n", b'{"stream":"other","step":3,"kind":"gap"}\n', b"[]\n", b"{}\n"]
)
def test_a_file_of_something_else_is_left_as_it_is(content, tmp_path):
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(CuratorError, match="Name another file"):
        JsonLinesFile(path, "campus")
    assert path.read_bytes() == content


def test_lines_longer_than_a_block_are_found(tmp_path):
    path, names = tmp_path / "wide.jsonl", tuple(f"room {n}" for n in range(20_000))
    drawn = NoisyStep(np.arange(20_000))
    wide = [StepRecord("w", n, "", RELEASED, names, Epsilon("1"), drawn, (0.5,) * 20_000) for n in range(3)]
    for each in wide:
        with JsonLinesFile(path, "w") as sink:
            assert sink.next_step == each.step
            assert sink.write(each)
    with path.open("ab") as file:
        file.write(b"x" * 200_000)
    with JsonLinesFile(path, "w") as sink:
        assert sink.next_step == 3
    assert len(written(path)) == 3


def test_another_stream_is_refused(tmp_path):
    with JsonLinesFile(tmp_path / "campus.jsonl", "campus") as sink, pytest.raises(CuratorError, match="campus"):
        sink.write(record(0, stream="other"))


def test_the_table_has_a_row_for_each_series(tmp_path):
    table = record_table(RECORDS)
    assert table.num_rows == 2 * 38 + 3
    assert table.slice(0, 3).to_pylist() == [
        dict(zip(table.column_names, ("campus", 0, "at 0", RELEASED, *rest), strict=True))
        for rest in (("gym", -5, 0.5, "0.1", ""), ("library", 3, 3.0, "0.1", ""))
    ] + [dict(zip(table.column_names, ("campus", 1, "at 1", TORN, None, None, None, "0.1", ""), strict=True))]
    write_parquet(iter(RECORDS), tmp_path / "campus.parquet")
    assert pyarrow.parquet.read_table(tmp_path / "campus.parquet").equals(table)
    assert [path.name for path in tmp_path.iterdir()] == ["campus.parquet"]


def test_a_table_that_fails_leaves_the_old_one(tmp_path):
    path = tmp_path / "campus.parquet"
    write_parquet(RECORDS[:1], path)

    def breaking():
        yield RECORDS[0]
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_parquet(breaking(), path)
    assert pyarrow.parquet.read_table(path).num_rows == 2
