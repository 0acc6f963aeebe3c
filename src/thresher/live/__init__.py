"""Running streams: what carries a stream on, step by step, between its feed and the ledger.

In this room: feeds (lines, tables, Spark), a stream's state and its seal, its steps as plans, and where records go.
What a step draws and what follows from it are in `thresher.streams`; how it is charged is in `thresher.charging`.
Reads: feeds and sources, one step at a time, after it is charged. Writes: the ledger.
Never: a step drawn twice, or handed out before it is stored.
"""
