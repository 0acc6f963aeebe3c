"""Mechanisms known to be wrong, so that the audit can be shown to catch them. Every function here is `broken_...`.

Reads: entropy. Writes: nothing. Never: imported by anything but the audit; a contract of the project forbids it.
"""
