"""Where keys stand: a document is written with known lines, and found again."""

import datetime
import json
import tomllib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.config import read
from thresher.config.places import places_in
from thresher.errors import DeclarationError

names = st.one_of(
    st.sampled_from(["a", "b", "c", "min", "a.b", "", "ä", 'say "x"', "back\\slash", "#", "=", "[x]", "new\nline"]),
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=4),
)
texts = st.sampled_from(
    ["", "plain", "# no comment", "[not a header]", "x = 1", 'q"q"', "b\\", "'", "''", '"""', "]", "}"]
)
scalars = st.one_of(
    st.integers(-5, 5), st.booleans(), texts, st.just(datetime.date(2024, 1, 2)), st.sampled_from([0.5, 1e10, -3.0])
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3), max_leaves=6
)
documents = st.dictionaries(names, st.one_of(values, st.dictionaries(names, values, max_size=4)), max_size=5)


class Writer:
    """Writes a document in the ways TOML has, drawn at random, and remembers the line of everything."""

    def __init__(self, draw):
        self.draw, self.text, self.lines = draw, "", {}

    @property
    def line(self):
        return self.text.count("\n") + 1

    def chance(self):
        return self.draw(st.booleans())

    def blank(self, breaks=False):
        choices = ["", " ", "\t"] + (["\n", "# a = 1 ] }\n", "\n\n  "] if breaks else [])
        self.text += self.draw(st.sampled_from(choices))

    def key(self, name):
        bare = name and all(c.isascii() and (c.isalnum() or c in "_-") for c in name)
        literal = "'" not in name and "\n" not in name and "\x7f" not in name
        ways = ([name] if bare else []) + ([f"'{name}'"] if literal else []) + [basic(name)]
        return self.draw(st.sampled_from(ways))

    def string(self, text):
        ways = [basic(text)]
        if "'" not in text:
            ways += [f"'{text}'", f"'''\n{text}'''"]
        if "\\" not in text and '"' not in text:
            ways += [f'"""\n{text}"""', f'"""\\\n   {text}"""'] if text == text.lstrip() else []
        if text == 'q"q"':
            ways.append('"""q"q""""')
        if text == "''":
            ways.append("'" * 8)  # three, the two, three
        self.text += self.draw(st.sampled_from(ways))

    def value(self, value, steps, inline=False):
        if isinstance(value, str):
            self.string(value)
        elif isinstance(value, dict):
            self.text += "{"
            for i, (name, inner) in enumerate(value.items()):
                self.blank()
                self.pair(name, inner, steps, inline=True)
                self.blank()
                self.text += "," if i < len(value) - 1 else ""
            self.text += "}"
        elif isinstance(value, list):
            self.text += "["
            for i, inner in enumerate(value):
                self.blank(breaks=True)
                self.lines[*steps, i] = self.line
                self.value(inner, (*steps, i))
                self.blank(breaks=True)
                self.text += "," if i < len(value) - 1 or self.chance() else ""
            self.blank(breaks=True)
            self.text += "]"
        else:
            self.text += value.isoformat() if isinstance(value, datetime.date) else json.dumps(value)

    def pair(self, name, value, steps, inline=False):
        """A key and its value; a table of one key may be a dotted key."""
        self.lines[*steps, name] = self.line
        self.text += self.key(name)
        steps = (*steps, name)
        while isinstance(value, dict) and len(value) == 1 and self.chance():
            [(name, value)] = value.items()
            steps = (*steps, name)
            self.lines[steps] = self.line
            self.blank()
            self.text += "."
            self.blank()
            self.text += self.key(name)
        self.blank()
        self.text += "="
        self.blank()
        self.value(value, steps, inline)

    def document(self, document):
        sections = {}
        for name, value in document.items():
            if isinstance(value, dict) and self.chance():
                sections[name] = value
            else:
                self.statement(name, value, ())
        for name, content in sections.items():
            self.blank(breaks=True)
            self.lines[name,] = self.line
            self.text += f"[ {self.key(name)} ]" if self.chance() else f"[{self.key(name)}]"
            self.text += self.draw(st.sampled_from(["\n", " # [x]\n"]))
            for field, value in content.items():
                self.statement(field, value, (name,))

    def statement(self, name, value, steps):
        self.blank(breaks=True)
        self.pair(name, value, steps)
        self.text += self.draw(st.sampled_from(["\n", "  # b = 2\n", "\n\n"]))


def basic(text):
    return json.dumps(text, ensure_ascii=True) if all(ord(c) < 0x10000 and c != "\x7f" for c in text) else wide(text)


def wide(text):
    return '"' + "".join(f"\\U{ord(c):08x}" for c in text) + '"'


@given(st.data(), documents, st.booleans())
def test_every_key_and_element_is_found_on_its_line(data, document, windows):
    writer = Writer(data.draw)
    writer.document(document)
    text = writer.text.replace("\n", "\r\n") if windows else writer.text
    assert tomllib.loads(text) == document, "the writer itself must be right"
    found = places_in(text)
    assert dict(found.lines) == writer.lines
    assert not found.twice


def all_steps(value, steps=()):
    if steps:
        yield steps
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, one in inner:
        yield from all_steps(one, (*steps, step))


LISTS_OF_TABLES = """\
# first
[[fruit]]
name = "apple"

[[fruit.kind]]
name = "red"

[[fruit.kind]]
name = "green"
[fruit.kind.peel]
thick = true

[[fruit]]
name = "plum"
[other.deep]
x.y.z = 1
x.y.w = [
  1,
  [2,
   3], # ]
]
"""


def test_places_are_found_after_reading(tmp_path):
    """What the source refuses later is told with its line."""
    text = """\
[source]
url = "duckdb:///x.db"

[tables."odd.name"]
budget = 1
[tables."odd.name".columns]
age = { min = 0, max = 110 }
"a b" = { values = ["x",
  "y"] }
"""
    found = read(text, tmp_path)
    places = ["source.url", "tables.odd.name", "tables.odd.name.unit", "tables.odd.name.columns.age", "elsewhere"]
    assert [found.line_of(place) for place in places] == [2, 4, 4, 7, None]
    assert found.line_of("tables.odd.name.columns.age.max") == 7
    assert found.line_of("tables.odd.name.columns.a b") == 8
    late = found.located(DeclarationError("tables.odd.name.columns.age", "it is text."))
    assert str(late) == "tables.odd.name.columns.age, line 7: it is text."
    assert found.located(late) is late
    assert found == replace(found, lines={}), "where it stands is no part of what is declared"


def test_lists_of_tables_and_dotted_keys():
    found = places_in(LISTS_OF_TABLES)
    assert set(found.lines) == set(all_steps(tomllib.loads(LISTS_OF_TABLES)))
    assert found.lines["fruit", 0] == 2
    assert found.lines["fruit", 0, "kind", 0, "name"] == 6
    assert found.lines["fruit", 0, "kind", 1] == 8
    assert found.lines["fruit", 0, "kind", 1, "peel", "thick"] == 11
    assert found.lines["fruit", 1, "name"] == 14
    assert found.lines["other", "deep", "x", "y"] == 16
    assert found.lines["other", "deep", "x", "y", "w", 1, 1] == 20


def test_a_tables_own_header_wins_over_one_that_passes_through():
    found = places_in("[a.b.c]\nx = 1\n[a]\ny = 2\n")
    assert (found.lines["a",], found.lines["a", "b"], found.lines["a", "b", "c"]) == (3, 1, 1)


def test_what_is_not_there_is_on_the_line_around_it():
    found = places_in("\n[a]\nb = { c = 1 }\n")
    assert found.line(("a", "b", "missing")) == 3
    assert found.line(("a", "x", "y")) == 2
    assert found.line(("nowhere",)) is None


@pytest.mark.parametrize(
    ("text", "twice"),
    [
        ("a = 1\nb = 2\na = 3\n", {("a",): (1, 3)}),
        ("[a]\n\n[a]\n", {("a",): (1, 3)}),
        ("[t]\na = [\n1,\n]\na = 2", {("t", "a"): (2, 5)}),
        ("x = { a = 1, a = 2 }", {("x", "a"): (1, 1)}),
        ('a = 1\n"a" = 2', {("a",): (1, 2)}),
        ("a = 1\n[a.b]\n", {("a",): (1, 2)}),
        ("a = { c = 1 }\na.b = 2\n", {("a",): (1, 2)}),
    ],
)
def test_a_key_set_twice_is_told_with_both_lines(text, twice):
    assert dict(places_in(text).twice) == twice


@given(st.text(st.sampled_from("ab=.[]{}\"'\\#,\n\r\t 1_é"), max_size=60))
def test_any_text_ends_the_scan_without_an_error(text):
    lines = places_in(text).lines
    assert all(1 <= line <= text.count("\n") + 1 for line in lines.values())
    try:
        content = tomllib.loads(text)
    except ValueError:
        return
    assert set(lines) == set(all_steps(content))


def test_a_megabyte_is_scanned_in_a_moment(measured):
    import time  # noqa: PLC0415

    text = "[t]\n" + "\n".join(f'k{i} = {{ values = ["{i}", "x"], min = {i} }}' for i in range(22_000))
    start = time.perf_counter()
    found = places_in(text)
    measured(f"config: {len(text) / 1e6:.1f} MB of keys placed in {time.perf_counter() - start:.2f} s")
    assert found.lines["t", "k21999", "values", 1] == 22_001
