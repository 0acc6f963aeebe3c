"""Live streams: what carries a stream on, step by step, between its feed and the ledger.

In this room: feeds (`feeds`, `table_feed`, `spark_feed`), a stream and its steps as plans (`open_stream`,
`running_stream`, `step_plan`, `secret_state`, `recorded_noise`), where records go (`sinks`), and what is shown
(`stream_pages`).
What a step draws and what follows from it are in `thresher.streams`; how it is charged is in `thresher.charging`.
Reads: feeds and sources, one step at a time, after it is charged. Writes: the ledger, files of records.
Never: a step drawn twice, or handed out before it is stored.
"""
