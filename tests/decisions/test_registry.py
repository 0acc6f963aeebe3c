"""A new mechanism is one new file and one line: a toy one is asked through the engine like any other."""

import ast
import json
import re
from fractions import Fraction
from pathlib import Path

import pytest
from cli.running import thresher as command
from engine.clinics import clinic
from plan_text import in_full

import thresher
from thresher.amounts import Epsilon
from thresher.decisions.decision_options import USUAL_MECHANISM
from thresher.decisions.mechanisms import MECHANISMS, mechanism_named
from thresher.errors import ArgumentError, BudgetError, TooDearError
from thresher.noise import SeededEntropy, smallest_epsilon
from thresher.release import Release

SQL = "SELECT ward FROM patients GROUP BY ward HAVING COUNT(*) > 30 AND AVG(age) > 50"
REGION = {"COUNT(*)": 20, "AVG(age)": 20}
# All that somebody writes who adds a mechanism: what it costs, and how it decides.
FILE = '''
"""One look, of which nothing but the sign is told: nobody is uncertain."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from thresher.amounts import Epsilon
from thresher.decisions.look import Look, Mechanism
from thresher.decisions.verdicts import Level, Verdicts
from thresher.noise import discrete_laplace, smallest_epsilon


@dataclass(frozen=True, slots=True)
class ToyLook(Look):
    epsilon: Epsilon
    steps: int
    scale: int = 1
    told: str = "a toy was asked for"
    how = "one noisy look, and a bold answer"

    @property
    def half_width(self):
        return Fraction(self.steps)

    @property
    def clear(self):
        return 2 * self.steps

    def ladder(self):
        return (Level(self.epsilon, self.steps, -self.steps),)

    def decide(self, truth, entropy=None):
        margins = truth.margins()
        noisy = margins + discrete_laplace(self.epsilon, margins.size, 1, entropy)
        bold = np.where(np.asarray(noisy) >= -self.steps, 1, -1).astype(np.int8)
        nothing = np.zeros(margins.size, dtype=np.int64)
        return Verdicts(bold, noisy, nothing, nothing + self.steps, (self.epsilon,), 1, self.epsilon, self.clear)


def priced(asked):
    aim = asked.aim
    steps = min(slack // spread for slack, spread in aim.tolerances)
    return ToyLook(smallest_epsilon(min(aim.first_rate, aim.second_rate), steps + 1), steps)


MECHANISMS = {"toy": Mechanism("toy", priced, frozenset({"levels"}))}
'''


@pytest.fixture
def registered(tmp_path, monkeypatch):
    (tmp_path / "toy_mechanism.py").write_text(FILE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(MECHANISMS, "toy", "toy_mechanism")


@pytest.fixture
def engine(tmp_path):
    with thresher.open(clinic(tmp_path / "clinic")) as opened:
        yield opened


class TestAToyMechanism:
    @pytest.fixture(autouse=True)
    def _registered(self, registered):
        """One file, and one line."""

    def test_it_is_planned_promised_and_explained(self, engine):
        plan = engine.plan(SQL, mechanism="toy", uncertain_region=REGION, miss_rate="0.05", false_alarm_rate="0.05")
        assert plan.epsilon == smallest_epsilon("0.05", 21)
        assert (plan.guarantee.miss_rate, plan.guarantee.half_width) == (Fraction(1, 20), 20)
        told = in_full(plan)
        for line in ("mechanism  toy: one noisy look, and a bold answer", "because    a toy was asked for"):
            assert line in told
        assert f"epsilon    {plan.epsilon}" in told
        assert plan.guarantee.sentence in told
        document = json.loads(json.dumps(plan.document()))
        assert (document["mechanism"], document["epsilon"]) == ("toy", plan.epsilon.to_json())
        assert plan.outlooks() == ()

    def test_it_is_answered_charged_stored_and_given_again(self, engine):
        answer = engine.decide(SQL, mechanism="toy", uncertain_region=REGION, entropy=SeededEntropy(1))
        assert answer.verdicts == ("above", "below", "below", "below")
        assert answer.positives == [("A",)]
        assert answer.mechanism == "toy"
        assert answer.spent_epsilon == answer.planned_epsilon > Epsilon(0)
        again = engine.decide(SQL, mechanism="toy", uncertain_region=REGION)
        assert again.repeated
        assert again == answer == Release.from_bytes(answer.to_bytes(), answer.key)
        assert engine.ledger.balance("patients").spent == answer.spent_epsilon
        engine.ledger.verify()

    def test_it_bounds_false_alarms_without_knowing(self, engine):
        """The complement is taken before it is asked, and its answer is turned back afterwards."""
        options = {"mechanism": "toy", "uncertain_region": REGION, "max_epsilon": 5}
        answer = engine.decide(SQL, bound="false_alarms", entropy=SeededEntropy(1), **options)
        assert answer.verdicts == ("above", "below", "below", "below")
        assert answer.bound == "false_alarms"
        assert "if it does not qualify, it is reported" in answer.guarantee.sentence

    def test_its_answer_is_refined(self, engine, tmp_path):
        declared = (tmp_path / "clinic" / "thresher.toml").read_text()
        (tmp_path / "clinic" / "thresher.toml").write_text(
            declared.replace("count_range", 'version = "1"\ncount_range')
        )
        with thresher.open(tmp_path / "clinic" / "thresher.toml") as other:
            first = other.decide(SQL, mechanism="toy", uncertain_region=REGION, entropy=SeededEntropy(1))
            finer = other.refine(SQL, of=first.key, uncertain_region={"COUNT(*)": 5, "AVG(age)": 5})
        assert finer.refines == first.key
        assert finer.spent_epsilon == max(finer.epsilons) - first.spent_epsilon

    def test_options_in_the_text_are_its_own(self, engine):
        text = SQL.replace("SELECT", "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(mechanism='toy', levels=2)", 1)
        assert engine.plan(text, uncertain_region=REGION).mechanism.name == "toy"

    def test_the_command_line_asks_it_too(self, engine, tmp_path):
        told = command("plan", SQL, "--mechanism", "toy", "--uncertain-region", "20", "--json", cwd=tmp_path / "clinic")
        assert told.returncode == 0, told.stderr
        assert json.loads(told.stdout)["mechanism"] == "toy"
        told = command("ask", SQL, "--mechanism", "toi", "--json", cwd=tmp_path / "clinic")
        assert told.returncode == 2
        assert "Did you mean toy?" in told.stdout + told.stderr

    def test_it_is_refused_like_any_other(self, engine, monkeypatch):
        monkeypatch.setattr(type(engine._source), "fetch", lambda *_: pytest.fail("data were read"))
        asked = {"mechanism": "toy", "uncertain_region": REGION}
        with pytest.raises(TooDearError, match=r"max_epsilon.*With \d+ times the half width"):
            engine.decide(SQL, max_epsilon="0.05", **asked)
        with pytest.raises(BudgetError, match=r"With \d+ times the half width"):
            engine.decide(SQL, mechanism="toy", miss_rate="1e-50", uncertain_region={"COUNT(*)": 5, "AVG(age)": 5})
        for name, value in (("confidence", "0.9"), ("first_epsilon", "0.1")):
            with pytest.raises(ArgumentError, match="does not apply to mechanism toy") as refused:
                engine.plan(SQL, **asked, **{name: value})
            assert refused.value.field == name
        with pytest.raises(ArgumentError, match="Leave it out, or pass mechanism=ppwlm or dppwlm or toy"):
            engine.plan(SQL, mechanism="tslm", levels=3)
        with pytest.raises(ArgumentError, match=r"Did you mean toy\? Pass one of certified, .*, toy"):
            engine.plan(SQL, mechanism="tyo")


def test_without_the_line_it_is_not_there(engine):
    with pytest.raises(ArgumentError, match="there is no such mechanism"):
        engine.plan(SQL, mechanism="toy")


@pytest.mark.parametrize("name", MECHANISMS)
def test_every_line_leads_to_a_mechanism_of_that_name(name):
    assert mechanism_named(name).name == name


SOURCE = Path(thresher.__file__).parent
REGISTRY = "decisions/mechanisms.py"
# The default, and the demo's choice of what to show. The audit names those that it puts on trial.
ELSEWHERE = {"decisions/decision_options.py": {USUAL_MECHANISM}, "demo/tour.py": set(MECHANISMS)}
AUDIT = "audit/"


def home_of(name):
    """The file of a mechanism, or its room if it has one of its own."""
    module = MECHANISMS[name].removeprefix("thresher.").replace(".", "/")
    return module.rpartition("/")[0] + "/" if module.count("/") > 1 else f"{module}.py"


def written(path):
    """The texts in a file that code could look at: all but docstrings."""
    tree = ast.parse(path.read_text())
    nodes = list(ast.walk(tree))
    told = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    return {node.value for node in nodes if isinstance(node, ast.Constant) and id(node) not in told}


def named_outside(files):
    """(file, mechanism) for each text that is a mechanism's name, outside of its home and of the registry."""
    return [
        (str(file), name)
        for file, texts in files.items()
        for name in sorted(set(MECHANISMS) & {text for text in texts if isinstance(text, str)})
        if not file.startswith((REGISTRY, AUDIT, home_of(name))) and name not in ELSEWHERE.get(file, ())
    ]


@pytest.fixture(scope="module")
def sources():
    return {path.relative_to(SOURCE).as_posix(): path for path in sorted(SOURCE.rglob("*.py"))}


def test_no_other_module_knows_a_mechanism_by_its_name(sources):
    texts = {file: written(path) for file, path in sources.items()}
    assert not named_outside(texts)
    # Power: one that asks for a mechanism by its name is found, and every exception is one.
    assert named_outside({"decisions/decision_plan.py": {"dppwlm"}}) == [("decisions/decision_plan.py", "dppwlm")]
    for file, names in ELSEWHERE.items():
        assert names & texts[file], f"{file} is no exception any more"


def test_the_family_that_is_compared_with_is_named_in_its_room_only(sources):
    """Apart from the registry, and from the page that says what is in the rooms."""
    room = {name.rpartition(".")[0] for name in MECHANISMS.values()} - {"thresher.decisions"}
    assert room == {"thresher.decisions.probe"}
    family = re.compile(r"\bprobe|\bProBE", re.IGNORECASE)
    homes = ("decisions/probe/", REGISTRY, "decisions/__init__.py")
    found = [file for file, path in sources.items() if not file.startswith(homes) and family.search(path.read_text())]
    assert not found
    assert family.search("from thresher.decisions.probe import looks")


def test_no_mechanism_is_imported_by_the_room_that_plans(sources):
    """What plans and refines finds a mechanism by its registry; the modules of mechanisms are loaded when used."""
    homes = {name for name in MECHANISMS.values() if name != "thresher.decisions.shift"}
    for file in ("look", "mechanisms", "aim", "decision_plan", "refinement", "refinement_steps", "promise", "words"):
        imported = {
            node.module
            for node in ast.walk(ast.parse(sources[f"decisions/{file}.py"].read_text()))
            if isinstance(node, ast.ImportFrom)
        }
        assert not imported & homes, file
