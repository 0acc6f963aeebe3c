"""Outputs of any kind, taken apart into numbers and marks that testers can compare.

Reads: outputs. Writes: nothing. Never: fails on an output, whatever it is.
"""
