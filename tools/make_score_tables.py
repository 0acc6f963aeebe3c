"""Makes the shipped score tables: `python tools/make_score_tables.py`, about half a minute.

Another version of the solver may propose other scores of the same quality, so the file's bytes may change when nothing
else has; the tests ask that a table made anew verifies and is as good, not that it is the same.
"""

from pathlib import Path

import thresher.decisions
from thresher.decisions.score_design import designed
from thresher.decisions.shipped_scores import FALSE_ALARM_RATE, FILE_NAME, LEVELS, MISS_RATE, WEIGHTS, packed


def main() -> None:
    """Overwrites the file in the source tree."""
    tables = [designed(level, MISS_RATE, FALSE_ALARM_RATE, weight) for level in LEVELS for weight in WEIGHTS]
    content = packed(tables)
    (Path(thresher.decisions.__file__).parent / FILE_NAME).write_bytes(content)
    print(
        f"{FILE_NAME}: {len(tables)} tables, {sum(table.values.size for table in tables)} scores, {len(content)} bytes"
    )


if __name__ == "__main__":
    main()
