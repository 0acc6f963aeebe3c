"""Private streams: noisy counts at every step, and what follows from them without further loss of privacy.

    counts ─► perturber ─► noisy counts ─┬► smoothers, windows, monitors, alarms (all of it free)
           └► grouper ───► marks ────────┘

Read in this order:
    step_release, stream_plan         what a step releases; a declared stream with its price and its promises
    step_mechanism                    the only place of a running stream that opens sealed counts
    perturber, grouper, hierarchy     noise on counts, groups of similar steps, trees of states; the parts of these are
                                      group_deviation, tree, hierarchy_terms; tree_windows is an alternative
    derived_values                    what follows from released numbers: smoothers, median_smoother, window_sums,
                                      alarms, monitors, aggregates
    step_clock, step_buffer           how events become counts of steps; step_blocks checks arrays
    stream_identity, stream_chart     what makes a stream this stream; pictures of records in text

Ledgers, sources and feeds may not enter: `thresher.live` runs a stream.
Reads: true counts of one step at a time. Writes: nothing. Never: a true count in what is shown or stored in the clear.
"""

from thresher.streams.aggregates import Aggregates
from thresher.streams.alarms import Alarm, AlarmWatch, Hysteresis, alarm, tree_alarm
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
