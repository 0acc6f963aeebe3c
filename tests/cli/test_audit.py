"""`thresher audit` as people run it: tables, JSON, exit codes, and mechanisms of their own."""

import json
from pathlib import Path

import pytest
from cli.running import process, thresher

VISITORS = Path(__file__).parents[1] / "audit"
MINE = ("--here", "[1, 2, 3]", "--there", "[1, 2, 3, 4]", "--samples", "2000")
ALMOST_SURE = f"0.{'9' * 60}"


def test_a_table_of_what_was_tried():
    done = thresher("audit", "--only", "discrete laplace", "--seed", "3", "--processes", "1")
    assert done.returncode == 0, done.stderr
    assert "must stand" in done.stdout
    assert "must be caught" not in done.stdout
    assert "3 of 3 that ship stand;" in done.stdout
    assert "99.9 % confidence" in " ".join(done.stdout.split())


def test_as_json():
    done = thresher("audit", "--only", "free_retry", "--seed", "3", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    (trial,) = told["trials"]
    assert told["as_expected"] is True
    assert trial["verdict"] == "caught"
    assert trial["finding"]["measured"] > trial["finding"]["claimed"] == 1.0


def test_the_same_seed_measures_the_same():
    runs = [thresher("audit", "--only", "overlapping", "--seed", "5", "--json").stdout for _ in range(2)]
    found = [[trial["finding"] for trial in json.loads(run)["trials"]] for run in runs]
    assert found[0] == found[1]


def test_a_broken_one_that_survives_is_an_exit_code():
    """At such a confidence nothing so subtle can be refuted."""
    done = thresher("audit", "--only", "broken_prune_shared", "--seed", "3", "--confidence", ALMOST_SURE)
    assert done.returncode == 1
    assert "SURVIVES" in done.stdout
    assert "that ship" not in done.stdout
    assert "more than 99.999999 %" in " ".join(done.stdout.split())


class TestYourOwn:
    def mine(self, name, *more, run=thresher):
        return run("audit", "--mechanism", f"visitors:{name}", *MINE, *more, cwd=VISITORS)

    def test_stands(self):
        done = self.mine("right", "--epsilon", "1")
        assert done.returncode == 0, done.stderr
        assert "stands" in done.stdout
        assert "not a proof" in done.stdout

    def test_refuted(self):
        done = self.mine("raises_on_four", "--epsilon", "1", "--json")
        assert done.returncode == 1
        told = json.loads(done.stdout)
        assert told["verdict"] == "refuted"
        assert told["runs_that_raised"] == {"here": 0, "there": 2000}

    def test_unfit(self):
        done = self.mine("hangs", "--epsilon", "1", "--time-limit", "0.5")
        assert done.returncode == 2
        assert "could not be tried" in done.stdout

    def test_not_looked_into(self):
        done = self.mine("gives_a_function", "--epsilon", "1", "--json")
        assert done.returncode == 2
        told = json.loads(done.stdout)
        assert told["verdict"] == "not tried"
        assert "could not be compared" in told["failure"]

    def test_what_it_writes_is_no_part_of_the_report(self):
        """In a process of its own, whose real outputs the visitor and its programs write to."""
        done = self.mine("talks", "--epsilon", "1", "--json", run=process)
        assert json.loads(done.stdout)["verdict"] == "stands"
        assert not done.stderr

    @pytest.mark.parametrize(
        ("arguments", "told"),
        [
            (("--epsilon", "1"), "--epsilon is refused: it needs --mechanism"),
            (("--samples", "2000", "--only", "x"), "--samples is refused: it needs --mechanism"),
            (("--mechanism", "visitors:right", "--seed", "3"), "--seed is refused: it does nothing with --mechanism"),
            (("--mechanism", "visitors:right", "--only", "x"), "--only is refused"),
            (("--mechanism", "visitors:right", "--processes", "2"), "--processes is refused"),
            (("--seed", "3", "attack"), "--seed is refused: write the options of attack after it"),
            (("--mechanism", "visitors:right", "--epsilon", "1", "--here", "1.5", "--there", "7"), "--neighbours any"),
            (("--mechanism", "visitors:right", "--epsilon", "1", "--here", "1.5", "--there", "7"), "= (1.5, 7)"),
            (("--mechanism", "visitors:right", "--here", "1"), "needs --epsilon"),
            (("--mechanism", "visitors:right", "--epsilon", "1", "--here", "1", "--there", "7"), "one record more"),
            (("--mechanism", "visitors:right", "--epsilon", "1", "--here", "{", "--there", "7"), "must be JSON"),
            (("--mechanism", "visitors:right", "--epsilon", "x", "--here", "1", "--there", "2"), "epsilon"),
            (("--mechanism", "visitors", "--epsilon", "1", "--here", "1", "--there", "2"), "my_module:my_function"),
            (("--only", "nothing of the kind"), "no mechanism on trial"),
            (("--confidence", "2"), "0.5 or more"),
        ],
    )
    def test_bad_arguments(self, arguments, told):
        done = thresher("audit", *arguments, cwd=VISITORS)
        assert done.returncode == 2
        assert told in done.stderr
        assert not done.stdout
