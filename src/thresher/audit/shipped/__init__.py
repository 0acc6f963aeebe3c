"""Put all mechanisms that ship on trial: one module for each kind of mechanism, with hard neighbouring inputs.

Each module lists its subjects in `subjects()`. `engine_subjects` and `live_subjects` go through SQL or events, a real
ledger and a real database; the others call a mechanism directly.
Reads: nothing. Writes: nothing. Never: sets a charge: it is what the mechanism itself states.
"""
