"""Docs are tests: what the README and the reference show is what comes out."""

import doctest
import inspect
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from cli.running import thresher as command

import thresher.accounting
import thresher.noise
from thresher.config import read
from thresher.ledger import Book, open_book
from thresher.question import PublicTable
from thresher.sql.read_question import ask

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
REFERENCE = ROOT / "docs" / "reference"


def test_the_transcript_in_the_readme_is_what_the_demo_prints():
    printed = command("demo", "--seed", "7").stdout
    shown = re.search(r"```text\n(.*?)```", README, re.DOTALL)[1]
    assert printed == shown


def test_the_first_screen_shows_both_commands():
    first_screen = "\n".join(README.splitlines()[:20])
    assert "make demo" in first_screen
    assert "make test" in first_screen


def test_every_target_the_docs_name_exists_and_every_target_has_help():
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z-]+):.*##", makefile, re.MULTILINE))
    named = {
        name for page in (README, (ROOT / "CHANGELOG.md").read_text()) for name in re.findall(r"`make ([\w-]+)", page)
    }
    assert {"demo", "test", "check", "bench", "soak", "clean"} <= targets
    assert named <= targets


def test_options_of_the_demo_pass_through_make():
    assert "\t@$(BIN)/thresher demo $(ARGS)\n" in (ROOT / "Makefile").read_text()
    assert 'make demo ARGS="--seed 7"' in README


@pytest.mark.parametrize("page", [README, (ROOT / "docs" / "limits.md").read_text()], ids=["README", "limits"])
def test_privacy_is_named_where_an_officer_looks(page):
    assert "differential privacy" in page


def test_python_in_the_readme_runs(tmp_path):
    for block in re.findall(r"```python\n(.*?)```", README, re.DOTALL):
        subprocess.run([sys.executable, "-c", block], check=True, cwd=tmp_path)


@pytest.mark.parametrize("page", sorted(REFERENCE.glob("*.md")), ids=lambda page: page.stem)
def test_the_reference_runs(page):
    failed, attempted = doctest.testfile(str(page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert attempted
    assert not failed


def test_the_reference_lists_every_function_with_its_true_signature():
    page = (REFERENCE / "noise.md").read_text()
    for name in thresher.noise.__all__:
        member = getattr(thresher.noise, name)
        if inspect.isfunction(member):
            parameters = inspect.signature(member).parameters.values()
            shown = ", ".join(p.name if p.default is p.empty else f"{p.name}={p.default}" for p in parameters)
            assert f"`{name}({shown})`" in page


def test_the_reference_lists_the_book_with_its_true_signatures():
    page = (REFERENCE / "ledger.md").read_text()
    methods = {
        f"Book.{name}": method for name, method in inspect.getmembers(Book, inspect.isfunction) if name[0] != "_"
    }
    for name, member in {"open_book": open_book, **methods}.items():
        shown = [p for p in inspect.signature(member).parameters.values() if p.name != "self"]
        written = [p.name if p.default is p.empty else f"{p.name}={p.default!r}" for p in shown]
        keyword = next((i for i, p in enumerate(shown) if p.kind is p.KEYWORD_ONLY), None)
        if keyword is not None:
            written.insert(keyword, "*")
        assert f"`{name}({', '.join(written)})`" in page


def test_the_reference_names_everything_in_accounting():
    page = (REFERENCE / "accounting.md").read_text()
    inner = {
        "AccountLoss",
        "Interval",
        "MinEntropy",
        "RegionLosses",
        "Spending",
        "Values",
        "added",
        "between",
        "coarsened",
    }
    assert {name for name in thresher.accounting.__all__ if name not in page} <= inner | {"spending_from_json"}


def test_links_lead_somewhere():
    for page in [ROOT / "README.md", *ROOT.glob("docs/**/*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_declarations_and_questions_of_the_readme_are_accepted(tmp_path):
    (text,) = re.findall(r"```toml\n(.*?)```", README, re.DOTALL)
    declared = read(text + '[public_tables.wards]\nfile = "wards.csv"\n', tmp_path)
    public = {
        "wards": PublicTable("wards", {"name": ("cardiology", "emergency", "surgery"), "capacity": (Fraction(9),) * 3})
    }
    questions = [*re.findall(r"```sql\n(.*?)```", README, re.DOTALL), *re.findall(r'plan "(SELECT[^"]*)"', README)]
    assert len(questions) == 2
    for question in questions:
        assert ask(question, declared, public).groups == (("cardiology",), ("emergency",), ("surgery",))
