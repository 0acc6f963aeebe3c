"""Makes the shipped score tables anew: `python tools/make_score_tables.py`, some minutes.

Another version of the solver may propose other scores of the same quality, so the files' bytes may change when nothing
else has; the tests ask that a table made anew verifies and is as good, not that it is the same.
"""

from pathlib import Path

import thresher.decisions
from thresher.decisions.score_design import designed
from thresher.decisions.score_files import FALSE_ALARM_RATES, LEVELS, MISS_RATE, WEIGHTS, file_name, packed


def main() -> None:
    """Overwrites the files in the source tree."""
    for rate in FALSE_ALARM_RATES:
        content = packed([designed(level, MISS_RATE, rate, weight) for level in LEVELS for weight in WEIGHTS])
        (Path(thresher.decisions.__file__).parent / file_name(rate)).write_bytes(content)
        print(f"{file_name(rate)}: {len(content)} bytes", flush=True)


if __name__ == "__main__":
    main()
