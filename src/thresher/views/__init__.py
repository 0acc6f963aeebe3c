"""Pages for terminals, and pictures of releases, plans and balances.

Reads: pages, releases. Writes: nothing. Never: exact values; text that could steer a terminal.
"""
