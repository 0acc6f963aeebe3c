"""The tables of the papers, measured anew: made-up data, public stand-ins for theirs, and remarks from the numbers.

A room for each paper, and one for the pictures of the docs. This package is not in the wheel: it imports Thresher, and
Thresher never imports it. Nothing here is a release: errors are counted against the truth.
Reads: public files. Writes: nothing. Never: protected data, a ledger.
"""
