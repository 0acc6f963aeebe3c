"""CSV: every line is read on its own, so that no line can change what another one holds."""

import csv
import io
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sources.places import declared
from sources.test_catalogue import AGE, refused, table

from thresher.config import Listed, PublicDeclaration
from thresher.errors import DeclarationError
from thresher.question import ALWAYS, Aggregate, Need
from thresher.sources import open_source
from thresher.sources.csv_lines import LONGEST_LINE


def rows_of(folder, content):
    """Return all rows of a CSV file, as the source sees them."""
    (rows,) = rows_of_each(folder, [content])
    return rows


def rows_of_each(folder, contents):
    """Return all rows of each of several CSV files, which one source declares as tables of their own."""
    files = {f"t{number}": folder / f"t{number}.csv" for number in range(len(contents))}
    for file, content in zip(files.values(), contents, strict=True):
        file.write_bytes(content)
    source = open_source(declared("duckdb://", public=[PublicDeclaration(name, file=files[name]) for name in files]))
    catalogue = source.catalogue()
    rows = [source._rows(source._relations[name], [column.name for column in catalogue[name]], 10**6) for name in files]
    source.close()
    return rows


def test_lines_that_are_no_rows_are_passed_over(tmp_path):
    text = 'age,word\n5,a\nx,a\n"7",a\n1,2,3,4\n,a\n 8,a\n1e1,"a"\n2020-01-01,a\n0x10,a\n9d,a\n'
    (tmp_path / "patients.csv").write_text(text)
    made = replace(table(age=AGE, word=Listed(("a",))), file=tmp_path / "patients.csv")
    source = open_source(declared("duckdb://", made))
    source.check(source._declarations)
    need = Need(made, (), ((),), ALWAYS, (Aggregate("present", "age"), Aggregate("total", "age")))
    # 5, 7 and 1e1 are numbers in every database.
    assert source.fetch(need).unseal().tolist() == [[3, 22]]
    source.close()


def test_a_stray_quote_takes_its_own_line_and_no_other(tmp_path):
    good = b"1,a\n2,b\n3,c\n"
    assert rows_of(tmp_path, b"n,w\n" + good) == [("1", "a"), ("2", "b"), ("3", "c")]
    for stray in (b'9,"x', b'"9,x', b'9,x"', b'9,"x"y', b'"', b'9,""x"', b"9", b"9,x,y", b"\xff,x", b"\x1f"):
        contents = (stray + b"\n" + good, good + stray + b"\n", good + stray)
        for found in rows_of_each(tmp_path, [b"n,w\n" + content for content in contents]):
            assert found == [("1", "a"), ("2", "b"), ("3", "c")], stray


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_a_carriage_return_takes_nothing_from_the_next_line(tmp_path, end):
    """Whatever ends the header: else a CR in one line would eat a byte of the next one, or join all lines into one."""
    good = end.join([b"1,a", b"2,b", b"3,c", b""])
    expected = [("1", "a"), ("2", "b"), ("3", "c")]
    assert rows_of(tmp_path, b"n,w" + end + good) == expected
    for stray in (b"\r", b"\r\r\n", b"\n", b"x\r", b"\rx", b"\n,9" + end, b"9\r\r" + end, b"x\n\r" + end):
        found = rows_of(tmp_path, b"n,w" + end + stray + good)
        assert [row for row in found if row in expected] == expected or not stray.endswith(end), (end, stray)
        assert {row for row in found if row[0] in ("1", "2", "3")} <= set(expected), (end, stray)


def test_a_header_with_a_nul_is_refused(tmp_path):
    with pytest.raises(DeclarationError, match="holds a NUL"):
        rows_of(tmp_path, b"\0,b\n1,2\n")


def test_fields_mean_what_they_say(tmp_path):
    content = 'n,w,v\r\n"a,b","say ""hi""",\r\n"",☃,"""é"""\r\n'.encode()
    assert rows_of(tmp_path, content) == [("a,b", 'say "hi"', None), ("", "☃", '"é"')]
    for delimiter in ";\t|":
        swapped = content.replace(b",", delimiter.encode())
        assert rows_of(tmp_path, swapped) == [(f"a{delimiter}b", 'say "hi"', None), ("", "☃", '"é"')]


def test_a_line_that_is_too_long_is_passed_over(tmp_path):
    for length in (LONGEST_LINE, LONGEST_LINE + 1, 2_000_000, 2_097_152, 40_000_000):
        content = b"n,w\n1,a\n2," + b"x" * (length - 2) + b"\n3,c\n"
        assert [row[0] for row in rows_of(tmp_path, content)] == ["1", *["2"] * (length <= LONGEST_LINE), "3"]


LINES = st.lists(st.sampled_from([b"a", b'"', b",", b"\r", b"\x1f", b"\0", b"\xff", b"\xc3\xa9", b"#", b" "])).map(
    b"".join
)


@settings(max_examples=60, deadline=None)
@given(lines=st.lists(LINES, max_size=12))
def test_the_rows_of_a_file_are_the_rows_of_its_lines(lines, tmp_path_factory):
    ended = [line + b"\n" for line in lines]
    contents = [b"n,w\n" + line for line in [b"".join(ended), *ended]]
    together, *alone = rows_of_each(tmp_path_factory.mktemp("lines"), contents)
    assert together == [row for rows in alone for row in rows]


@settings(max_examples=60, deadline=None)
@given(rows=st.lists(st.lists(st.text('ab",;é ☃#', min_size=1), min_size=3, max_size=3), max_size=12))
def test_what_python_writes_is_read_back(rows, tmp_path_factory):
    written = io.StringIO()
    csv.writer(written).writerows([["x", "y", "z"], *rows])
    assert rows_of(tmp_path_factory.mktemp("rows"), written.getvalue().encode()) == [tuple(row) for row in rows]


def test_headers_that_cannot_be_told_apart_are_refused(tmp_path):
    for header in ("a,a", "a,A", "a,,b", ""):
        (tmp_path / "patients.csv").write_text(f"{header}\n1,2\n")
        source = open_source(declared("duckdb://", replace(table(a=AGE), file=tmp_path / "patients.csv")))
        assert "two columns share a name, or one has none" in refused(source)
        source.close()
    (tmp_path / "patients.csv").write_text("a,b\n1,2\n")
    (tmp_path / "patients2.csv").write_text("b,a\n1,2\n")
    source = open_source(declared("duckdb://", replace(table(a=AGE), file=tmp_path / "patients*.csv")))
    assert "the headers of patients.csv and patients2.csv differ" in refused(source)
    source.close()


@pytest.mark.parametrize("name", ["patients.csv", "patients.tsv", "patients.arrow"])
def test_spark_reads_no_csv(name, spark, tmp_path):
    (tmp_path / name).write_text("age\n1\n")
    source = open_source(declared("spark://local[2]", replace(table(age=AGE), file=tmp_path / name)))
    assert "convert it to Parquet, or read it with DuckDB" in refused(source)
    source.close()


def test_public_values_have_types_though_the_file_has_none(tmp_path):
    text = "n,price,code,open,name,nothing\n1,0.50,007,true,x,\n-2,,01,FALSE,1,\n,3,1,,,\n"
    (tmp_path / "places.csv").write_text(text)
    source = open_source(declared("duckdb://", public=[PublicDeclaration("places", file=tmp_path / "places.csv")]))
    assert source.public_table("places").columns == {
        "n": (Fraction(1), Fraction(-2), None),
        "price": (Fraction(1, 2), None, Fraction(3)),
        "code": ("007", "01", "1"),
        "open": (True, False, None),
        "name": ("x", "1", None),
        "nothing": (None, None, None),
    }
    source.close()
