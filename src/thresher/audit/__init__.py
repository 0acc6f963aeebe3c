"""A laboratory: testers that try to refute a promise, known-bad mechanisms they must refute, and attacks.

Reads: mechanisms and made-up or public data. Writes: nothing. Never: protected data, a ledger of an installation.
"""
