"""Steps of a Spark stream: each micro-batch is stored by step, and a step is counted when the clock says it is over.

Spark's own watermark is not used: it is the largest time of any event less a delay, so one event would close steps for
everybody. Stored are a digest of the unit, the state and the step, in a folder that all of Spark's workers reach. A
micro-batch that is stored twice, because Spark was restarted, counts once. `spark_steps.md` proves what one unit can
change.
Reads: frames of unit, state and time. Writes: the folder. Never: a count of an open step; noise.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pyspark.sql import functions as F  # noqa: N812 - the usual name
from pyspark.sql.window import Window

from thresher.errors import ArgumentError
from thresher.question import Exact

_WHOLE = ("tinyint", "smallint", "int", "bigint")
_KEPT = "who string, state string, step bigint"


@dataclass(frozen=True, slots=True)
class SparkSteps:
    """The steps of one stream. `start` is in microseconds since 1970; `folder` is an address that Spark can write to.

    The rule is that of the buffer of events: a unit counts once in each of at most `max_states` states, the first by
    a digest over `key`, the unit, the step and the state.
    """

    folder: str
    states: tuple[str, ...]
    start: int
    step_seconds: int
    max_states: int = 1
    key: str = ""

    def keep(self, events: Any, first: int, last: int) -> None:
        """Store the events of steps from `first` to `last`; drop others."""
        rows = self.stepped(events).where(F.col("step").between(first, last)).distinct()
        rows.write.mode("append").partitionBy("step").parquet(self._rows)

    def counts(self, session: Any, steps: range) -> Mapping[int, Exact]:
        """Return the counts of each of these steps, sealed, with one row for each state."""
        counts = {step: np.zeros((len(self.states), 1), dtype=np.int64) for step in steps}
        place = {state: n for n, state in enumerate(self.states)}
        if steps and self._there(session):
            rows = session.read.schema(_KEPT).parquet(self._rows)
            for step, state, count in self.counted(rows.where(F.col("step").between(steps[0], steps[-1]))).collect():
                counts[step][place[state], 0] = count
        return {step: Exact(values) for step, values in counts.items()}

    def forget(self, session: Any, before: int) -> None:
        """Remove the stored events of steps before this one."""
        if not self._there(session):
            return
        files, rows = self._files(session)
        for status in files.listStatus(rows):
            name, _, number = status.getPath().getName().partition("=")
            if name == "step" and number.lstrip("-").isdigit() and int(number) < before:
                files.delete(status.getPath(), True)

    def stepped(self, events: Any) -> Any:
        """Return the events as (who, state, step), where all three are known."""
        kinds = {field.name: field.dataType.simpleString() for field in events.schema.fields}
        whole = kinds.get("unit") in _WHOLE
        for field, fits, fix in (
            ("unit", whole or kinds.get("unit") == "string", "Cast it to string or bigint"),
            ("state", kinds.get("state") == "string", "Cast it to string"),
            ("time", kinds.get("time") == "timestamp", "Cast it to timestamp, which has a zone"),
        ):
            if not fits:
                rule = "events have a unit, a state and a time, each of a type with one meaning"
                raise ArgumentError(field, kinds.get(field), rule, fix)
        text = F.concat(F.lit("number:" if whole else "text:"), F.col("unit").cast("string"))
        passed = F.unix_micros("time") - F.lit(self.start)
        length = F.lit(self.step_seconds * 10**6)
        step = F.call_function("div", passed - F.pmod(passed, length), length)
        rows = events.select(F.sha2(text, 256).alias("who"), F.col("state"), step.alias("step"))
        return rows.where(F.col("who").isNotNull() & F.col("step").isNotNull() & F.col("state").isin(*self.states))

    def counted(self, rows: Any) -> Any:
        """Return (step, state, count) of rows (who, state, step). Steps and states without anybody are left out."""
        parts: Sequence[Any] = (
            F.lit(f"{len(self.key)}:{self.key}"),
            F.col("who"),
            F.col("step").cast("string"),
            F.col("state"),
        )
        rank = F.sha2(F.concat_ws(":", *parts), 256)
        place = F.row_number().over(Window.partitionBy("step", "who").orderBy("rank"))
        first = rows.distinct().withColumn("rank", rank).withColumn("place", place)
        return first.where(F.col("place") <= self.max_states).groupBy("step", "state").count()

    @property
    def checkpoint(self) -> str:
        """Return the folder of Spark's progress. It lies beside the stored events: neither is of use alone."""
        return f"{self.folder}/checkpoint"

    @property
    def _rows(self) -> str:
        return f"{self.folder}/rows"

    def _there(self, session: Any) -> bool:
        files, rows = self._files(session)
        return bool(files.exists(rows))

    def _files(self, session: Any) -> tuple[Any, Any]:
        context = session.sparkContext
        rows = context._jvm.org.apache.hadoop.fs.Path(self._rows)
        return rows.getFileSystem(context._jsc.hadoopConfiguration()), rows
