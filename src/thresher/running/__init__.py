"""Running streams: what carries a stream on, step by step, between its feed and the ledger.

Reads: feeds and sources, one step at a time, after it is charged. Writes: the ledger.
Never: a step drawn twice, or handed out before it is stored.
"""
