"""What a source needs around it and leaves behind: packages, Java, folders of its own."""

import os
import shutil
import subprocess
import sys

import duckdb
import pytest
from sources.test_failures import PHYSICAL, ROWS, TABLE


def test_the_private_folder_is_removed(put):
    source = put("duckdb", ROWS, TABLE, PHYSICAL)
    source.connect()
    folder = source._folder
    assert os.path.isdir(folder)
    source.close()
    assert not os.path.exists(folder)


def test_the_private_folder_is_removed_though_nobody_closes_the_source(put, tmp_path):
    program = """
import sys
from thresher.config import Declarations
from thresher.sources import open_source
source = open_source(Declarations("duckdb://", "", {}))
source.connect()
print(source._folder, flush=True)
if sys.argv[1] == "raise":
    raise SystemExit(1)
"""
    for how in ("end", "raise"):
        done = subprocess.run([sys.executable, "-c", program, how], capture_output=True, text=True, check=False)
        assert "thresher-duckdb-" in done.stdout, done.stderr
        assert not os.path.exists(done.stdout.strip())


def test_spark_leaves_nothing_in_the_working_folder(spark, tmp_path):
    program = """
from thresher.config import Declarations
from thresher.sources import open_source
source = open_source(Declarations("spark://local[1]", "", {}))
source.connect()
source._spark.sql("SHOW TABLES").collect()
print(source._spark.conf.get("spark.sql.warehouse.dir"))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path, timeout=120
    )
    assert list(tmp_path.iterdir()) == []
    folder = done.stdout.strip().removeprefix("file:")
    assert "thresher-spark-" in folder
    assert not os.path.exists(folder)


@pytest.mark.parametrize(
    ("package", "url", "extra"), [("psycopg", "postgresql://x/y", "postgres"), ("pyspark", "spark://local[1]", "spark")]
)
def test_a_missing_package_is_named(package, url, extra):
    program = f"""
import sys
sys.modules[{package!r}] = None
from thresher.config import Declarations
from thresher.errors import SourceUnavailableError
from thresher.sources import open_source
try:
    open_source(Declarations({url!r}, "", {{}}))
except SourceUnavailableError as error:
    print(error, error.__context__)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert f"pip install 'thresher[{extra}]'" in done.stdout
    assert done.stdout.endswith("None\n")


def test_no_java_is_unavailable_and_silent(tmp_path):
    bash = tmp_path / "bin"
    bash.mkdir()
    for tool in ("bash", "dirname", "env", "ps"):
        if shutil.which(tool):
            (bash / tool).symlink_to(shutil.which(tool))
    program = """
from thresher.config import Declarations
from thresher.errors import SourceUnavailableError
from thresher.sources import open_source
try:
    open_source(Declarations("spark://local[1]", "", {})).connect()
except SourceUnavailableError as error:
    print(error)
"""
    environment = {"PATH": str(bash), "JAVA_HOME": str(tmp_path / "nowhere")}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment)
    assert "Java" in done.stdout
    assert done.stderr == ""


def test_the_duckdb_path_loads_no_heavy_library(put, tmp_path):
    with duckdb.connect(str(tmp_path / "light.duckdb")) as connection:
        connection.execute("CREATE TABLE patients AS SELECT 'a' AS word, 3::BIGINT AS age, 1 AS pid")
    program = f"""
import sys
from fractions import Fraction
from thresher.amounts import Epsilon
from thresher.config import *
from thresher.question import *
from thresher.sources import open_source
kinds = {{"word": Column("word", Listed(("a",))), "age": Column("age", Grid(Fraction(0), Fraction(9), Fraction(1)))}}
table = Table("patients", kinds, Epsilon("1"), contribution=Contribution("pid", 1, 1))
source = open_source(Declarations("duckdb:///{tmp_path}/light.duckdb", "", {{"patients": table}}))
source.check(Declarations("", "", {{"patients": table}}))
need = Need(table, (table.columns["word"],), (("a",),), ALWAYS, (Aggregate("rows"), Aggregate("total", "age")))
print(source.fetch(need).unseal().tolist())
print([name for name in ("pyarrow", "pandas", "polars", "psycopg", "pyspark") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[[1, 3]]\n[]\n", done.stderr
