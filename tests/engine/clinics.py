"""Small clinics to ask about, written to a folder: rows as Python values, declarations as text."""

import duckdb

COLUMNS = """
[tables.patients.columns]
ward = { values = ["A", "B", "C", "D"] }
age = { min = 0, max = 110, step = 1 }
"""

DECLARATIONS = (
    """
[source]
url = "duckdb:///clinic.duckdb"
[ledger]
url = "sqlite:///ledger.db"
[tables.patients]
count_range = 100
budget = "10"
snapshot = true
"""
    + COLUMNS
)

ROWS = [("A", 80)] * 60 + [("B", 3)] * 40 + [("C", 50)] * 5


def clinic(folder, rows=ROWS, declarations=DECLARATIONS):
    """A folder with `clinic.duckdb` and `thresher.toml`; returns the path of the latter."""
    folder.mkdir(parents=True, exist_ok=True)
    with duckdb.connect(str(folder / "clinic.duckdb")) as connection:
        connection.execute("CREATE TABLE patients (ward VARCHAR, age INTEGER)")
        if rows:
            connection.executemany("INSERT INTO patients VALUES (?, ?)", rows)
    path = folder / "thresher.toml"
    path.write_text(declarations)
    return path
