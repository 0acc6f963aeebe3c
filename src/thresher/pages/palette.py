"""Colours of all pictures, each as a pair: on light paper, and on dark paper.

SVG pictures (`views/svg.py`) and those that matplotlib draws (`diagnostics/canvas.py`) take them from here, so that
both look alike. Reads: nothing. Writes: nothing.
"""

Pair = tuple[str, str]

PAPER: Pair = ("#ffffff", "#0d1117")
INK: Pair = ("#1f2328", "#e6edf3")
QUIET: Pair = ("#59636e", "#9198a1")
RULE: Pair = ("#d8dee4", "#30363d")
DANGER: Pair = ("#b3261e", "#ff8a80")
# Six series, which people who see few colours can tell apart too.
SERIES: tuple[Pair, ...] = (
    ("#0072b2", "#56b4e9"),
    ("#d55e00", "#ff9d5c"),
    ("#00795c", "#3ecfa4"),
    ("#a03f78", "#e59cc6"),
    ("#8a6d00", "#f0c94a"),
    ("#5d6470", "#9aa2ae"),
)
