"""Live streams: run a declared stream step by step, between its feed and the ledger.

Read in this order:
    running_stream    one stream: each step is charged, drawn, stored, and only then handed out; `open_stream` opens it
    step_plan         a step as a plan that is charged like a question, and the state that the next step goes on from
    secret_state      the seal of that state; recorded_noise: noise that a test can repeat
    feeds             events, counts and ticks; `table_feed` reads a growing table, `spark_feed` a Spark stream
    sinks             files of records; stream_pages: what is shown of a stream

What a step draws and what follows from it are in `thresher.streams`; how it is charged is in `thresher.charging`.
Noise, sums and promises may not be made here.
Reads: feeds and sources, one step at a time, after it is charged. Writes: the ledger, files of records.
Never: a step drawn twice, or handed out before it is stored.
"""
