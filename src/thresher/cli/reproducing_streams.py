"""`thresher reproduce streams`: counts, windows, events and trees of streams, by epsilon, beside what is known of them.

Reads: arguments, a folder of public data. Writes: standard output. Never: a line wider than 78 columns.
"""

import dataclasses
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from thresher.cli.options import json_option, spinning
from thresher.cli.output import say
from thresher.cli.stream_tables import event_tables, tree_tables, unit_tables, window_tables
from thresher.errors import ArgumentError
from thresher.noise import Entropy, SeededEntropy, SystemEntropy
from thresher.reproduce.stream_data import STEPS, StreamSet, campus, loads
from thresher.reproduce.stream_draws import EPSILONS
from thresher.reproduce.stream_files import PublicStreams, public_streams
from thresher.reproduce.stream_monitors import EVENTS, SHARES, EventScore, event_scores
from thresher.reproduce.stream_remarks import event_remarks, tree_remarks, unit_remarks, window_remarks
from thresher.reproduce.stream_trees import BUSY, TreeError, tree_errors
from thresher.reproduce.stream_windows import WindowError, window_errors
from thresher.reproduce.streams import UnitError, unit_errors
from thresher.views.text import paragraph

PARTS = ("counts", "windows", "events", "trees")
_TREE_STEPS = 6_000
_KEY = (
    "all zero: the answer is 0, always. laplace: noise at every step. backward: its mean over so many steps. adaptive:"
    " its mean over as many steps as agree, at 2 or 3 standard deviations. pegasus: groups of steps whose deviation is"
    " below 5 (as printed) or 60 over epsilon of the groups, and the median of a group; average, james-stein: another"
    " middle of it; one-sided: other noise for the groups."
)
_GETTING = (
    "Name the folder with --data or THRESHER_DATA. docs/reproduce.md says which columns the files need and where the"
    " data were published."
)
