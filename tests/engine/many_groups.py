"""Any number of groups with the same rows, in memory, and an engine that asks about them."""

import pyarrow as pa

import thresher

DECLARED = """
[source]
url = "memory://"
[ledger]
url = "{ledger}"
[limits]
max_groups = 20000
[tables.t]
count_range = 100
budget = "1000"
snapshot = true
{more}
[tables.t.columns]
g = {{ min = 0, max = {last} }}
x = {{ min = 0, max = 9 }}
"""


def declared(folder, groups, more="", ledger=None):
    """The path of declarations for so many groups; their ledger lies in the folder unless another is named."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "thresher.toml"
    ledger = ledger or f"sqlite:///{folder / 'ledger.db'}"
    path.write_text(DECLARED.format(last=max(groups - 1, 1), more=more, ledger=ledger))
    return path


def table_of(counts, x=0):
    """As many rows of each group as said; `x` for all of them, or a list for each row of a group."""
    g = [group for group, rows in enumerate(counts) for _ in range(rows)]
    xs = [x] * len(g) if isinstance(x, int) else x * len(counts)
    return {"t": pa.table({"g": pa.array(g, pa.int64()), "x": pa.array(xs, pa.int64())})}


def groups_in_memory(folder, groups, rows):
    """An engine on groups that all have these rows."""
    return thresher.open(declared(folder, groups), tables=table_of([len(rows)] * groups, rows))
