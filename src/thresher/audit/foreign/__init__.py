"""Mechanisms of other people on trial: called in a process of their own, on two neighbouring inputs.

Reads: the module that is named. Writes: nothing. Never: lets a mechanism take the audit down.
"""
