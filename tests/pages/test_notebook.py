"""A notebook without ipywidgets, in a real kernel: Thresher opens there, and what it returns shows itself as HTML."""

import importlib.util
import os
import warnings

import pytest

SHOWN = ("plan", "answer", "again", "balance", "ledger", "diagnosis", "picture", "stream")
CODE = """
import duckdb, thresher
from thresher.noise import SeededEntropy
with duckdb.connect("clinic.duckdb") as made:
    made.execute("CREATE TABLE stays AS SELECT 'stroke' AS ward, ((i % 10) / 10.0)::DECIMAL(3, 1) AS risk, i % 2 AS bad"
                 " FROM range(170) t(i)")
open("thresher.toml", "w").write('''
[source]
url = "duckdb:///clinic.duckdb"
[tables.stays]
budget = "5"
count_range = 200
[tables.stays.columns]
ward = { values = ["eye", "stroke"] }
risk = { min = 0, max = 1, step = 0.1 }
bad = { min = 0, max = 1 }
[streams.events]
states = ["in", "out"]
budget = "1"
epsilon = "0.1"
step_seconds = 60
start = 2026-11-18T00:00:00Z
''')
engine = thresher.open("thresher.toml")
sql = "SELECT ward FROM stays GROUP BY ward HAVING COUNT(*) > 120"
plan = engine.plan(sql, uncertain_region=10)
answer = engine.decide(sql, uncertain_region=10, entropy=SeededEntropy(1))
again = engine.decide(sql, uncertain_region=10)
asked = dict(table="stays", label="bad", score="risk", rows=170, epsilon=1)
diagnosis = engine.plan_diagnosis("roc", **asked)
picture = engine.diagnose("roc", **asked, entropy=SeededEntropy(1))
ledger = engine.ledger
balance = ledger.balance("stays")
stream = engine.stream("events", entropy=SeededEntropy(1))
frame = answer.table.to_pandas()
"""


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    """Runs a cell in a kernel, and returns what the notebook would show; errors fail the test."""
    if importlib.util.find_spec("ipykernel") is None and not os.environ.get("CI"):
        pytest.skip("NO KERNEL: pip install ipykernel jupyter_client")
    folder = tmp_path_factory.mktemp("notebook")
    with warnings.catch_warnings():
        # The kernel's own libraries warn about their future.
        warnings.simplefilter("ignore")
        from jupyter_client.manager import start_new_kernel  # noqa: PLC0415 - for this test only

        manager, client = start_new_kernel(kernel_name="python3", cwd=str(folder))

        def run(code):
            shown = []
            reply = client.execute_interactive(code, timeout=120, output_hook=shown.append)["content"]
            assert reply["status"] == "ok", reply.get("evalue")
            return [message["content"]["data"] for message in shown if message["msg_type"] == "execute_result"]

        yield run
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def test_a_notebook_without_ipywidgets_opens_asks_and_shows(kernel):
    assert importlib.util.find_spec("ipywidgets") is None, "this test is about notebooks without it"
    kernel(CODE)
    page = {}
    for name in SHOWN:
        (data,) = kernel(name)
        page[name] = data["text/html"]
        assert page[name].startswith('<div class="thresher">'), name
    assert "within" in page["plan"]
    assert "stroke" in page["answer"]
    assert "This is the stored answer" in page["again"]
    assert "stays" in page["balance"]
    assert "last entries" in page["ledger"]
    (data,) = kernel("frame")
    assert "stroke" in data["text/html"]
