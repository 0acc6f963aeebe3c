"""Testers: each tries to refute one kind of claim about a subject, and says what it found.

Reads: a subject, entropy. Writes: nothing. Never: knows what is right or broken.
"""
