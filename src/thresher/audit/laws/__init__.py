"""Output laws that can be computed exactly, for subjects and tests.

Reads: nothing. Writes: nothing. Never: a draw.
"""
