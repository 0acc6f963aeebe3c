"""Declarations that are written and read again are the same; texts that are spoilt are refused, never worse."""

import pytest
from config.written_declarations import FOLDER, FULL, as_text, declarations
from hypothesis import given, settings
from hypothesis import strategies as st

from thresher.config import Declarations, load, read
from thresher.errors import DeclarationError


@given(declarations())
def test_what_is_written_is_read_again(declared):
    found = read(as_text(declared), FOLDER)
    assert found == declared
    for name, table in declared.tables.items():
        assert list(found.tables[name].columns) == list(table.columns)


PIECES = [
    "", " ", "\n", "=", "[", "]", "{", "}", '"', "'", '"""', "#", ",", ".", "-", "0", "1", "9" * 5000, "1e300", "nan",
    "inf", "true", "2024-01-01", "2024-01-01T00:00:00Z", "10:00:00", "\x00", "\ud800", "\\u0000", "é", "\u202e", "___",
    "[[a]]", "[tables]", "[tables.patients]", "a.b.c = 1", "{}", "[]", "0x" + "f" * 5000, "1e99999999999999999999",
    "fixed = true", "unit = 1", "min = 0", "-0", "1_000", "\r", "\x1b", "budget = [[[[1]]]]", "[" * 3000,
]  # fmt: skip


@st.composite
def spoilt(draw):
    """A right text with a few cuts, repeats and foreign pieces."""
    text = FULL
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = draw(st.integers(start, min(len(text), start + draw(st.sampled_from([0, 1, 5, 60])))))
        piece = draw(st.sampled_from([*PIECES, text[start:end] * 2]))
        text = text[:start] + piece + text[end:]
    return text


def outcome(text):
    """The declarations or their refusal; any other exception fails the test."""
    try:
        found = read(text, FOLDER)
    except DeclarationError as error:
        assert error.line is None or 1 <= error.line <= text.count("\n") + 1  # noqa: PT017 - the rest is the point
        assert len(str(error)) < 600  # noqa: PT017
        assert str(error).isprintable()  # noqa: PT017
        return error
    assert isinstance(found, Declarations)
    return found


@settings(max_examples=400)
@given(spoilt())
def test_a_spoilt_text_is_refused_or_read_and_nothing_else_happens(text):
    outcome(text)


VALUES = [
    "5",
    "-1",
    "0.5",
    "nan",
    '""',
    '"x"',
    "true",
    "[]",
    "[1]",
    "{}",
    "{ a = 1 }",
    "2024-01-01",
    "[[1], {}]",
    "1e400",
]


@pytest.mark.parametrize("value", VALUES)
def test_every_setting_takes_a_wrong_value_gracefully(value):
    """Each value of the full file in turn replaced by one of another type."""
    outcomes = []
    for i, line in enumerate(FULL.split("\n")):
        if " = " in line:
            rows = FULL.split("\n")
            rows[i] = f"{line.split(' = ')[0]} = {value}"
            outcomes.append((i + 1, outcome("\n".join(rows))))
    refused = [(line, error) for line, error in outcomes if isinstance(error, DeclarationError)]
    assert len(refused) >= len(outcomes) // 2
    # Where a column turns out wrong, a line that refers to it may be the one that is named.
    assert sum(line == error.line for line, error in refused) >= 0.9 * len(refused)


@settings(max_examples=50)
@given(st.binary(max_size=200))
def test_any_bytes_are_refused(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "bytes.toml"
    path.write_bytes(content)
    with pytest.raises(DeclarationError):
        load(path)
