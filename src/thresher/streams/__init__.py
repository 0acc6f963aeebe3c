"""Private streams: a noisy count every step, and all that follows from it without further loss.

    counts ─► perturber ─► noisy counts ─┬► smoothers, windows, monitors, alarms (all of it free)
           └► grouper ───► marks ────────┘

`hierarchy` does the same at every node of a tree. `stream_plan` makes a plan of a declared stream, `step_mechanism`
draws its steps and `derived_values` shows what follows; `thresher.live` carries it on.
Reads: true counts of one step at a time. Writes: nothing. Never: a true count in what is shown or kept in the clear.
"""

from thresher.streams.aggregates import Aggregates
from thresher.streams.alarm_lines import alarm, tree_alarm
from thresher.streams.alarms import Alarm, AlarmWatch, Hysteresis
from thresher.streams.grouper import Grouper, group, grouper_terms
from thresher.streams.hierarchy import Hierarchy
from thresher.streams.median_smoother import MedianSmoother
from thresher.streams.monitors import Monitor
from thresher.streams.perturber import perturb
from thresher.streams.smoothers import AdaptiveSmoother, AverageSmoother, JamesSteinSmoother
from thresher.streams.tree import Tree
from thresher.streams.tree_windows import TreeWindows
from thresher.streams.window_sums import WindowSums, WindowSumSmoother, backward_means

__all__ = [
    "AdaptiveSmoother",
    "Aggregates",
    "Alarm",
    "AlarmWatch",
    "AverageSmoother",
    "Grouper",
    "Hierarchy",
    "Hysteresis",
    "JamesSteinSmoother",
    "MedianSmoother",
    "Monitor",
    "Tree",
    "TreeWindows",
    "WindowSumSmoother",
    "WindowSums",
    "alarm",
    "backward_means",
    "group",
    "grouper_terms",
    "perturb",
    "tree_alarm",
]
