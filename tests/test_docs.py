"""Docs are tests: what the README and the reference show is what comes out."""

import doctest
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from cli.running import thresher as command

from thresher.config import read
from thresher.question import PublicTable
from thresher.sql.read_question import ask

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
REFERENCE = ROOT / "docs" / "reference"
COMMANDS = REFERENCE / "commands.md"


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


# Commands are shown as they are typed; tests of the command line run them.
@pytest.mark.parametrize("page", sorted({*REFERENCE.glob("*.md")} - {COMMANDS}), ids=lambda page: page.stem)
def test_the_reference_runs(page):
    failed, attempted = doctest.testfile(str(page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert attempted
    assert not failed


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
