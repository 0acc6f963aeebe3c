"""The tables of the papers, measured anew: made-up data, public stand-ins for theirs, and remarks from the numbers.

Nothing here is a release: errors are counted against the truth.
Reads: public files. Writes: nothing. Never: protected data, a ledger.
"""

from thresher.reproduce.dataset import DataSet
from thresher.reproduce.mide import FINE, MECHANISMS, WHOLE, Grid, Row, Settings, Table, settings_of, table_of
from thresher.reproduce.remarks import remarks_on
from thresher.reproduce.standins import StandIns, stand_ins
from thresher.reproduce.synthetic import Reference, reference, synthetic

__all__ = [
    "FINE",
    "MECHANISMS",
    "WHOLE",
    "DataSet",
    "Grid",
    "Reference",
    "Row",
    "Settings",
    "StandIns",
    "Table",
    "reference",
    "remarks_on",
    "settings_of",
    "stand_ins",
    "synthetic",
    "table_of",
]
