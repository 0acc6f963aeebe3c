"""Show Thresher on made-up data, whose truth may be shown beside each answer.

Read first `hospital` (the data and its declarations) and `tour` (what `thresher demo` does with it). `campus` and
`replaying` are `thresher demo stream`; `eight_people` and `methods` are `thresher demo personal`. Pages are drawn in
`cli/`. No real data enters, and no mechanism: each of them comes from the room that users call as well.
Reads: nothing. Writes: a folder. Never: real data.
"""

from thresher.demo.hospital import Hospital, build
from thresher.demo.tour import QUESTION, Tour, tour

__all__ = ["QUESTION", "Hospital", "Tour", "build", "tour"]
