"""Compute output laws exactly, for subjects and tests: `noise_laws` and `comparison_laws`.

Reads: nothing. Writes: nothing. Never: a draw.
"""
