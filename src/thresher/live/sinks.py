"""Write records to files: lines of JSON, each written once, and tables.

Reads: records; the end of the file. Writes: the file. Never: a record twice, half a line that stays, a true count.
"""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from thresher.errors import CuratorError
from thresher.streams.step_release import ENDED, StepRecord

_BLOCK = 1 << 16


class JsonLinesFile:
    """A file to which each record is appended as one line.

    After a restart the last whole line says where to go on: half a line, which a crash may leave, is cut off, and
    records that the file has are not written again. `next_step` is the first step after those of the file.
    """

    def __init__(self, path: Path | str, stream: str) -> None:
        self._path, self._stream = Path(path), stream
        self._file: IO[bytes] = self._path.open("ab+")
        self._last = self._resumed()

    @property
    def next_step(self) -> int:
        """Return the first step after those of the file."""
        if self._last is None:
            return 0
        step, kind, steps = self._last
        return step if kind == ENDED else step + steps

    def write(self, record: StepRecord) -> bool:
        """Append the record unless the file has it; say whether it was appended."""
        if record.stream != self._stream:
            raise CuratorError(f"{self._path.name} holds the stream {self._stream}. Name another file")
        this = (record.step, record.kind, record.steps)
        if self._last is not None and (record.step < self._last[0] or this == self._last):
            return False
        line = json.dumps(record.document(), separators=(",", ":"), allow_nan=False).encode() + b"\n"
        self._file.write(line)
        self._file.flush()  # lines that a power cut takes are still in the ledger, and are written again
        self._last = this
        return True

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> "JsonLinesFile":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _resumed(self) -> tuple[int, str, int] | None:
        """Cut off half a line at the end; return the step, kind and length of the last record."""
        tail, start = self._tail()
        whole = tail[: tail.rfind(b"\n") + 1]
        begins = json.dumps({"stream": self._stream}, separators=(",", ":"))[:-1].encode()
        # The file is empty, or holds half of our first line. Otherwise it is another program's file.
        ours = not whole and (begins.startswith(tail) or tail.startswith(begins))
        last = _about(whole.splitlines()[-1], self._stream) if whole else None
        if last is None and not ours:
            self._file.close()
            raise CuratorError(
                f"{self._path.name} does not end with a record of the stream {self._stream}. Name another file"
            )
        self._file.truncate(start + len(whole))
        return last

    def _tail(self) -> tuple[bytes, int]:
        """Return the end of the file with at least one whole line, if there is one, and where this part begins."""
        start = self._file.seek(0, os.SEEK_END)
        tail = b""
        while start > 0 and tail.count(b"\n") < 2:
            size = min(_BLOCK, start)
            start = self._file.seek(start - size)
            tail = self._file.read(size) + tail
        return tail, start


def _about(line: bytes, stream: str) -> tuple[int, str, int] | None:
    """Return the step, kind and length of a record of this stream; None for any other line."""
    try:
        content = json.loads(line)
        last = int(content["step"]), str(content["kind"]), int(content.get("steps", 1))
        return last if content["stream"] == stream else None
    except (ValueError, KeyError, TypeError):
        return None


def record_table(records: Iterable[StepRecord]) -> Any:
    """Return a `pyarrow.Table` with a row for each record and series: the noisy count and the smoothed value.

    Records without values (torn, gap, ended) have one row, whose series and numbers are NULL.
    """
    import pyarrow  # noqa: PLC0415 - slow to import, and many streams never need it

    kinds = {
        "stream": pyarrow.string(),
        "step": pyarrow.int64(),
        "at": pyarrow.string(),
        "kind": pyarrow.string(),
        "series": pyarrow.string(),
        "noisy": pyarrow.int64(),
        "value": pyarrow.float64(),
        "epsilon": pyarrow.string(),
        "stamp": pyarrow.string(),
    }
    columns: dict[str, list[object]] = {name: [] for name in kinds}
    for record in records:
        for series, noisy, value in _rows(record):
            about = (record.stream, record.step, record.at, record.kind)
            row = (*about, series, noisy, value, str(record.epsilon), record.stamp)
            for name, cell in zip(kinds, row, strict=True):
                columns[name].append(cell)
    return pyarrow.table(columns, schema=pyarrow.schema(list(kinds.items())))


def write_parquet(records: Iterable[StepRecord], path: Path | str) -> None:
    """Write the table of the records to a Parquet file, whole or not at all."""
    from pyarrow import parquet  # noqa: PLC0415 - as above

    target = Path(path)
    beside = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        parquet.write_table(record_table(records), beside)
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)


def _rows(record: StepRecord) -> Iterable[tuple[str | None, int | None, float | None]]:
    if record.drawn is None:
        return [(None, None, None)]
    return zip(record.names, record.noisy, record.values, strict=True)
