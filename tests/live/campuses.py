"""Made-up campuses for running streams: declarations, and counts that follow from the step."""

from pathlib import Path

from thresher.config import Declarations, load

STATES = ("library", "gym", "hall")
DECLARATIONS = """
[ledger]
url = "sqlite:///ledger.db"

[streams.campus]
states = ["library", "gym", "hall"]
start = 2026-01-01T00:00:00Z
step_seconds = 300
epsilon = "0.5"
budget = "0.5"
windows = [4, 12]

[streams.campus.alarms.crowd]
kind = "high"
series = "library"
threshold = 300
window = 4
on_steps = 2
off_steps = 3
"""
LARGE = (179_424_673, 179_424_691, 198_491_317)
PEGASUS = 'mechanism = "pegasus"\ntheta = 200\nwindows'


def campus(folder: Path, *changes: tuple[str, str]) -> Declarations:
    """The campus declared in a folder, with some of its text changed."""
    text = DECLARATIONS
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    (folder / "thresher.toml").write_text(text)
    return load(folder / "thresher.toml")


def counts(step: int) -> list[int]:
    """Numbers that stand out: nobody meets them by chance in a file, not even among the digits of its hashes."""
    return [LARGE[step % 2], LARGE[2], 15 * (step % 2)]
