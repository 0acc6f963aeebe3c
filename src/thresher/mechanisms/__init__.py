"""Primitives that families share, each with its proof beside it: integers in, frozen results out, no engine.

Reads: arrays, entropy. Writes: nothing. Never: a source, a ledger, a draw that `noise/` did not make.
"""
