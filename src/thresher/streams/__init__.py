"""Private streams: a noisy count every step, and all that follows from it without further loss.

    counts ─► perturber ─► noisy counts ─┬► smoothers, windows, monitors, alarms (all of it free)
           └► grouper ───► marks ────────┘

In this room:
    counts of steps      step_clock, step_buffer, step_blocks, aggregates
    what is drawn        perturber, grouper, group_deviation, tree, hierarchy, hierarchy_terms, tree_windows
    what follows         smoothers, median_smoother, window_sums, alarms, alarm_lines, monitors
    a declared stream    stream_plan, stream_identity, step_mechanism, derived_values
    what is released     step_release, stream_chart

Ledgers, sources and feeds do not enter: `thresher.live` carries a stream on.
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
