"""The main job on made-up data: a hospital, its declarations, and a question with its truth beside the answer.

Reads: nothing. Writes: a folder. Never: real data.
"""

from thresher.demo.hospital import Hospital, build
from thresher.demo.tour import QUESTION, Tour, tour

__all__ = ["QUESTION", "Hospital", "Tour", "build", "tour"]
