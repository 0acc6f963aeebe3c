"""Take outputs of any kind apart into numbers and marks that testers can compare.

`samples` makes a table of all outputs, `output_parts` takes one output apart, `rows` and `fingerprints` help both.

Reads: outputs. Writes: nothing. Never: fails on an output, whatever it is.
"""
