"""Make the pictures of `docs/audit.md` again: `python -m papers.pictures.audit_pictures` takes some seconds.

Seeded, and drawn from made-up data and exact laws, so the files are the same every time; a test compares them.
"""

from pathlib import Path

from papers.pictures.line_chart import Line, line_chart, log_axis_of, written_to
from thresher.audit.attacks import Method, reconstruct
from thresher.audit.attacks.targets import made_up
from thresher.audit.laws.comparison_laws import gptt_log_ratio
from thresher.noise import SeededEntropy
from thresher.views.count_scatter import count_scatter

_FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
_SEED = 7
_COPIES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
_VARIANTS = {
    "epsilon 1, a quarter of it on the threshold": (0.25, 0.75),
    "epsilon 1, half of it on the threshold": (0.5, 0.5),
}


def pictures() -> dict[str, str]:
    """Return all pictures by the names of their files."""
    return {
        "attack.svg": _attack("made-up-crowded", 4096, None),
        "attack-noisy.svg": _attack("made-up-falling", 2048, "0.5"),
        "endless-loss.svg": _loss(),
    }


def _attack(name: str, cells: int, second_epsilon: str | None) -> str:
    counts = next(one.counts for one in made_up() if one.name == name)[:cells]
    method = Method(both_ways=second_epsilon is not None, passes=10)
    rebuilt = reconstruct(counts, 1, second_epsilon, method, SeededEntropy(_SEED))
    answers = "exact answers" if second_epsilon is None else "noisy answers"
    return count_scatter(f"Counts read off {answers}, claimed epsilon {rebuilt.claimed}", counts, rebuilt.estimates)


def _loss() -> str:
    lines = [
        Line(name, _COPIES, [gptt_log_ratio(copies, *split) for copies in _COPIES]) for name, split in _VARIANTS.items()
    ]
    lines.append(Line("claimed by both", (_COPIES[0], _COPIES[-1]), (1.0, 1.0), dashed=True))
    title = "What a sparse vector without a stop really loses"
    losses = [loss for line in lines for loss in line.ys]
    axes = log_axis_of("positive answers", _COPIES, 2), log_axis_of("privacy loss (epsilon)", losses)
    return line_chart(title, axes, lines)


if __name__ == "__main__":
    written_to(_FOLDER, pictures())
