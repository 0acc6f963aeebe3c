"""Some 200 questions of every family, asked on made-up tables with seeded noise, and what is to stay as it is of each.

What is written of a case is one line for each fact: its price, the key of its answer, the parts of its two identities
and of what the ledger stored, each as a short hash. `test_golden.py` compares them with `golden.txt`.
"""

import hashlib
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta

import pyarrow as pa

from thresher.asks.diagnosis import DiagnosisAsk
from thresher.charging import key_of
from thresher.config import load
from thresher.engine import Engine
from thresher.errors import ArgumentError
from thresher.noise import SeededEntropy
from thresher.sources import open_source

DECLARED = """
[source]
url = "memory://"
[ledger]
url = "sqlite:///ledger.db"
[tables.stays]
unit = "pid"
max_groups_per_unit = 2
max_rows_per_group = 2
count_range = 500
budget = "1000000"
max_epsilon_per_question = "100"
version = "1"
[tables.stays.columns]
ward = { values = ["eye", "stroke", "surgery"], fixed = true }
year = { values = [2023, 2024] }
age = { min = 0, max = 110, step = 1 }
cost = { min = -10, max = 90, step = 0.5, missing = 0 }
band = { bands_of = "age", edges = [0, 18, 65, 110] }
smoker = { values = [true, false] }
seen = { first = 2024-01-01, last = 2024-12-31 }
note = { text = true }
[tables.visits]
count_range = 300
budget = "1000000"
max_epsilon_per_question = "100"
snapshot = true
[tables.visits.columns]
building = { public_table = "buildings", column = "number" }
ward = { values = ["eye", "stroke", "surgery"] }
age = { min = 0, max = 110 }
[tables.loans]
budget = "1000000"
max_epsilon_per_question = "100"
[tables.loans.columns]
bad = { min = 0, max = 1 }
risk = { min = 0, max = 1, step = 0.01 }
paid = { min = 0, max = 50 }
guessed = { min = 0, max = 50 }
[tables.patients]
unit = "pid"
budget_column = "allows"
budget_roster = { table = "roster", column = "allows" }
[tables.patients.columns]
ward = { values = ["eye", "stroke", "surgery"] }
age = { min = 0, max = 110 }
allows = { min = 0, max = 1, step = 0.1, fixed = true }
[public_tables.buildings]
[public_tables.roster]
[streams.plain]
start = 2026-01-01T00:00:00Z
step_seconds = 300
states = ["library", "gym"]
epsilon = "0.1"
budget = "1000"
[streams.grouped]
start = 2026-01-01T00:00:00Z
step_seconds = 300
states = ["library", "gym", "pool"]
epsilon = "0.4"
budget = "1000"
mechanism = "pegasus"
windows = [2, 3]
[streams.grouped.alarms.crowded]
kind = "high"
series = "gym"
threshold = 100
window = 2
[streams.planted]
start = 2026-01-01T00:00:00Z
step_seconds = 300
epsilon = "0.4"
budget = "1000"
protect = 3
mechanism = "pegasus"
prune = "estimate"
cutoff = 4
[streams.planted.tree]
campus = ["north", "south"]
north = ["library", "gym"]
south = ["pool"]
[streams.known]
start = 2026-01-01T00:00:00Z
step_seconds = 60
states = ["library", "gym"]
epsilon = "0.2"
budget = "1000"
protect = "unit"
max_states_per_unit = 2
"""
STATES = {"plain": [10, 200], "grouped": [10, 200, 30], "planted": [10, 200, 30], "known": [7, 8]}

OF_STAYS = (
    "SELECT ward FROM stays GROUP BY ward HAVING COUNT(*) > 60",
    "SELECT ward FROM stays GROUP BY ward HAVING COUNT(*) <= 60",
    "SELECT ward FROM stays GROUP BY ward HAVING COUNT(DISTINCT pid) >= 40",
    "SELECT ward FROM stays GROUP BY ward HAVING COUNT(age) < 70",
    "SELECT ward FROM stays GROUP BY ward HAVING SUM(age) > 3000",
    "SELECT ward FROM stays GROUP BY ward HAVING SUM(cost) < 900",
    "SELECT ward FROM stays GROUP BY ward HAVING AVG(age) > 40",
    "SELECT ward FROM stays GROUP BY ward HAVING AVG(age) <= 40",
    "SELECT ward FROM stays GROUP BY ward HAVING AVG(cost) >= 12.5",
    "SELECT ward FROM stays GROUP BY ward HAVING NOT AVG(age) < 40",
    "SELECT ward, year FROM stays GROUP BY ward, year HAVING COUNT(*) > 30",
    "SELECT year, ward FROM stays GROUP BY year, ward HAVING COUNT(*) > 30",
    "SELECT band FROM stays GROUP BY band HAVING COUNT(*) > 30",
    "SELECT smoker FROM stays WHERE seen >= '2024-07-01' GROUP BY smoker HAVING COUNT(*) > 30",
    "SELECT ward FROM stays WHERE note <> 'x' AND age BETWEEN 20 AND 80 GROUP BY ward HAVING COUNT(*) > 20",
    "SELECT ward FROM stays WHERE age IS NULL OR year = 2024 GROUP BY ward HAVING COUNT(*) > 20",
    "SELECT ward FROM stays WHERE ward IN ('eye', 'stroke') GROUP BY ward HAVING COUNT(*) > 20",
    "SELECT ward FROM stays GROUP BY ward HAVING COUNT(*) > 60 AND AVG(age) > 40",
    "SELECT ward FROM stays GROUP BY ward HAVING COUNT(*) > 60 OR SUM(age) < 3000",
    "SELECT ward FROM stays GROUP BY ward HAVING COUNT(*) BETWEEN 20 AND 90",
    "SELECT ward FROM stays GROUP BY ward HAVING COUNT(*) FILTER (WHERE smoker) > 0.3 * COUNT(*)",
    "SELECT ward FROM stays GROUP BY ward HAVING COUNT(*) FILTER (WHERE age > 65) > 20 AND NOT (COUNT(*) > 90)",
    "SELECT ward FROM stays GROUP BY ward HAVING SUM(age) - 40 * COUNT(age) > 0 AND COUNT(DISTINCT pid) > 5",
    "SELECT ward FROM stays GROUP BY ward HAVING COUNT(*) >= 0",
)
OF_VISITS = (
    "SELECT building FROM visits GROUP BY building HAVING COUNT(*) > 40",
    "SELECT building FROM visits WHERE building < 3 GROUP BY building HAVING COUNT(*) > 40",
    "SELECT building FROM visits JOIN buildings ON visits.building = buildings.number GROUP BY building "
    "HAVING COUNT(*) > buildings.seats",
    "SELECT building FROM visits JOIN buildings ON visits.building = buildings.number GROUP BY building "
    "HAVING AVG(age) > buildings.seats",
    "SELECT ward FROM visits JOIN buildings ON visits.building = buildings.number WHERE buildings.seats > 30 "
    "GROUP BY ward HAVING COUNT(*) > 20",
    "SELECT ward, building FROM visits GROUP BY ward, building HAVING COUNT(*) > 10",
    "SELECT ward FROM visits GROUP BY ward HAVING COUNT(*) > 50 AND AVG(age) > 40",
    "SELECT ward FROM visits GROUP BY ward HAVING SUM(age) > 1500 OR COUNT(*) < 30",
)
COUNTED, AVERAGED, JOINED = OF_STAYS[0], OF_STAYS[6], OF_STAYS[17]
MANY = "SELECT age FROM stays GROUP BY age HAVING COUNT(*) > 6"
# Options by themselves, for a question with one condition and for one with two.
OPTIONS = (
    {"miss_rate": "0.01"},
    {"miss_rate": "0.6"},
    {"false_alarm_rate": 0.2},
    {"miss_rate": "0.01", "false_alarm_rate": "0.02", "bound": "misses"},
    {"uncertain_region": 20},
    {"uncertain_region": "10%"},
    {"uncertain_region": "5%", "bound": "false_alarms"},
    {"max_epsilon": "1.5"},
    {"confidence": "0.9", "mechanism": "three-way"},
    {"confidence": "0.9", "mechanism": "certified", "uncertain_region": "30%"},
    {"mechanism": "tslm"},
    {"mechanism": "tslm-zone"},
    {"mechanism": "ppwlm"},
    {"mechanism": "ppwlm", "levels": 3},
    {"mechanism": "ppwlm", "levels": 3, "first_epsilon": "0.001", "bound": "false_alarms"},
    {"mechanism": "dppwlm"},
    {"mechanism": "dppwlm", "levels": 5, "first_epsilon": "0.002"},
    {"mechanism": "naive"},
    {"mechanism": "probe-naive"},
    {"mechanism": "probe"},
    {"mechanism": "probe-ent", "bound": "false_alarms"},
    {"show": "values"},
    {"show": "values", "bound": "false_alarms"},
    {"show": "values", "uncertain_region": "10%"},
)
REFINED = (
    (COUNTED, {"mechanism": "tslm", "uncertain_region": 40}, ({"uncertain_region": 20}, {"uncertain_region": 10})),
    (COUNTED, {"mechanism": "tslm", "uncertain_region": 40}, ({"max_epsilon": "3"},)),
    (COUNTED, {"mechanism": "tslm", "uncertain_region": 40, "bound": "false_alarms"}, ({"uncertain_region": 15},)),
    (COUNTED, {"mechanism": "ppwlm", "uncertain_region": 40}, ({"uncertain_region": 20}, {"miss_rate": "0.01"})),
    (COUNTED, {"mechanism": "dppwlm", "uncertain_region": 40}, ({"uncertain_region": 20},)),
    (COUNTED, {"uncertain_region": "20%"}, ({"uncertain_region": "10%"},)),
    (OF_STAYS[1], {"mechanism": "tslm", "uncertain_region": 40}, ({"uncertain_region": 20, "given_seen": True},)),
    (JOINED, {"mechanism": "tslm", "uncertain_region": "20%"}, ({"uncertain_region": "10%"},)),
    (OF_VISITS[0], {"mechanism": "tslm", "uncertain_region": 40}, ({"uncertain_region": 20},)),
)
PERSONAL = (
    (
        "SELECT ward, COUNT(*) FROM patients GROUP BY ward",
        ({}, {"share": "0.05"}, {"share": "0.05", "confidence": "0.9"}),
    ),
    ("SELECT ward, SUM(age) FROM patients GROUP BY ward", ({"share": "0.05"}, {"share": "0.05", "leftovers": True})),
    ("SELECT ward FROM patients WHERE age > 20 GROUP BY ward", ({"share": "0.05"}, {"share": "0.01"})),
    (
        "SELECT ward FROM patients GROUP BY ward HAVING COUNT(*) > 40",
        (
            {"share": "0.05"},
            {"share": "0.05", "miss_rate": "0.01"},
            {"share": "0.05", "false_alarm_rate": "0.2", "leftovers": True},
        ),
    ),
    ("SELECT ward FROM patients GROUP BY ward HAVING SUM(age) < 900", ({"share": "0.05"}, {"leftovers": True})),
)
SCORED, FITTED = {"label": "bad", "score": "risk"}, {"actual": "paid", "fitted": "guessed"}
DIAGNOSES = (
    ("roc", {**SCORED, "epsilon": "0.5"}),
    ("roc", {**SCORED, "epsilon": "0.5", "rows": 180, "thresholds": "fixed", "depth": 4}),
    ("roc", {**SCORED, "epsilon": "0.5", "histogram": "hb"}),
    ("binned", {**SCORED, "epsilon": "0.5"}),
    ("binned", {**SCORED, "epsilon": "2", "depth": 3}),
    ("residuals", {**FITTED, "epsilon": "1"}),
    ("residuals", {**FITTED, "epsilon": "1", "rows": 180}),
)


@dataclass
class Case:
    """What is written of one question: its name, and its facts by name."""

    name: str
    facts: dict = field(default_factory=dict)


def cases(folder) -> Iterator[Case]:
    """Ask everything, in order. Decisions are run beside the ledger; the rest is charged in one ledger in `folder`."""
    path = folder / "thresher.toml"
    path.write_text(DECLARED)
    declared = load(path)
    source = open_source(declared, tables())
    source.check(declared)
    with Engine(declared, source) as engine:
        yield from _decisions(engine, source)
        yield from _refinements(engine)
        yield from _others(engine)
        yield from _steps(engine)


def tables():
    """Made by arithmetic, so that they are the same everywhere. Some people have far too many rows and wards."""
    rows = range(420)
    pid = [n if n < 240 else n % 30 for n in rows]
    wards = ["eye", "stroke", "stroke", "surgery", "stroke", "undeclared"]
    age = [None if n % 23 == 0 else (n * 37) % 120 for n in rows]
    stays = {
        "pid": pid,
        "ward": [wards[(p * 7) % 6] if n % 50 else "eye" for n, p in enumerate(pid)],
        "year": [2023 + (n * 5 // 3) % 2 for n in rows],
        "age": age,
        "cost": [None if n % 31 == 0 else ((n * 53) % 400) / 4 - 5 for n in rows],
        "smoker": [n % 3 == 0 for n in rows],
        "seen": [date(2024, 1, 1) + timedelta(days=(n * 11) % 380) for n in rows],
        "note": ["x" if n % 5 == 0 else f"note {n % 7}" for n in rows],
    }
    visits = {
        "building": [1 + (n * 7) % 5 for n in range(200)],
        "ward": [wards[n % 4] for n in range(200)],
        "age": [(n * 37) % 120 for n in range(200)],
    }
    loans = {
        "bad": [int((n * 29) % 100 < n // 2) for n in range(180)],
        "risk": [((n * 17) % 101) / 100 for n in range(180)],
        "paid": [(n * 13) % 51 for n in range(180)],
        "guessed": [(n * 13 + n % 7) % 51 for n in range(180)],
    }
    patients = {
        "pid": list(range(150)),
        "ward": [wards[n % 4] for n in range(150)],
        "age": [(n * 37) % 120 for n in range(150)],
        "allows": [(0.1, 0.2, 0.5)[n % 3] for n in range(150)],
    }
    buildings = {"number": [1, 2, 3, 4], "seats": [20, 35, 35, 60]}
    made = {"stays": stays, "visits": visits, "loans": loans, "patients": patients, "buildings": buildings}
    return {name: pa.table(columns) for name, columns in made.items()} | {
        "roster": pa.table({"allows": patients["allows"]})
    }


def _decisions(engine, source) -> Iterator[Case]:
    for sql in (*OF_STAYS, *OF_VISITS):
        for options in ({}, {"bound": "false_alarms"}, {"show": "values"}):
            yield _asked(engine, source, sql, _measurable(options))
    for sql in (COUNTED, AVERAGED, JOINED):
        for options in OPTIONS:
            yield _asked(engine, source, sql, _measurable(options))
    turned = {"bound": "false_alarms", "miss_rate": "0.1", "false_alarm_rate": "0.05"}
    for options in ({}, turned, {"confidence": "0.98"}, {"mechanism": "three-way"}):
        yield _asked(engine, source, MANY, options)


def _measurable(options):
    """Methods that measure each condition have no usual width."""
    needs = options.get("show") == "values" or options.get("mechanism", "").startswith(("probe", "naive"))
    return {"uncertain_region": "20%", **options} if needs else options


def _asked(engine, source, sql, options) -> Case:
    name = f"decision: {sql} {shown(options)}".strip()
    try:
        plan = engine.plan(sql, **options)
    except ArgumentError as refused:
        return Case(name, {"refused": f"{refused.field}: {refused.rule}"})
    release, _ = plan.run(None if plan.need is None else source.fetch(plan.need), entropy(name))
    return Case(name, {**facts_of(plan, plan.written_key), **stored(release.to_bytes())})


def _refinements(engine) -> Iterator[Case]:
    for number, (sql, options, steps) in enumerate(REFINED):
        key = f"refined {number}"
        yield answered(engine, f"decision: {sql} {shown(options)} {key}", engine.plan(sql, **options), key)
        for sharper in steps:
            plan = engine.plan_refinement(sql, of=key, **sharper)
            yield answered(engine, f"refinement: of {key} {shown(sharper)}", plan)
            key = key_of(plan)
    moved = OF_STAYS[0].replace("60", "80")
    yield answered(engine, "refinement: of refined 1, read again", engine.plan_refinement(moved, of="refined 1"))


def _others(engine) -> Iterator[Case]:
    for sql, each in PERSONAL:
        for options in each:
            plan = engine.plan_personal(sql, **options)
            yield answered(engine, f"personal: {sql} {shown(options)}".strip(), plan)
    for kind, options in DIAGNOSES:
        plan = engine.planned(DiagnosisAsk(kind, {"table": "loans", **options}))
        yield answered(engine, f"diagnosis: {kind} {shown(options)}", plan)


def _steps(engine) -> Iterator[Case]:
    for name, counts in STATES.items():
        stream = engine.stream(name, entropy=entropy(name))
        for step in (0, 1, 2, 5):
            stream.put_counts(step, [count + step for count in counts])
            identity = stream.plan.identity
            facts = {
                "price": str(stream.plan.step_epsilon),
                "key": identity.key_of(step),
                **parts("question", identity.of_step(step).question),
            }
            found = engine.ledger.recalled(stream.plan.account, identity.key_of(step))
            yield Case(f"stream: {name}, step {step}", {**facts, **stored(found.body)})
        yield Case(f"stream: {name}, its state", {"state": digest(engine.ledger.state(stream.plan.state_name))})


def answered(engine, name, plan, key=None) -> Case:
    """Have it charged, and write what the ledger holds then."""
    release = engine.answer(plan, key=key, entropy=entropy(name))
    body = release.to_bytes()
    if plan.cost is not None:
        found = engine.ledger.answered(plan.account, key_of(plan, key), plan.identity.question)
        assert plan.recall(found.body, "again").to_bytes() == found.body == body
    return Case(name, {**facts_of(plan, key), **stored(body)})


def facts_of(plan, key) -> dict:
    """What is known of a plan before it is run."""
    return {
        "family": plan.family,
        "account": plan.account,
        "price": str(plan.epsilon),
        "key": key_of(plan, key),
        **parts("question", plan.identity.question),
        **{f"measurement.{part}": digest(text.encode()) for part, text in plan.identity.parts.items()},
        "measurement": digest(plan.identity.measurement.encode()),
    }


def entropy(name) -> SeededEntropy:
    return SeededEntropy(zlib.crc32(name.encode()))


def parts(name, text):
    """The whole text, and each part of the document that it is."""
    document = json.loads(text) if text else {}
    found = {f"{name}.{part}": digest(json.dumps(value).encode()) for part, value in document.items()}
    return {**found, name: digest(text.encode())}


def stored(body):
    """The bytes, and each field of the release that they hold."""
    document = json.loads(body)
    found = {f"stored.{part}": digest(json.dumps(value).encode()) for part, value in document.items()}
    return {**found, "stored": digest(body)}


def digest(data):
    return hashlib.sha256(data).hexdigest()[:8]


def shown(options):
    return ", ".join(f"{name}={value}" for name, value in options.items())
