"""Everything that ships, put on trial: one file for each room of mechanisms, each with hard neighbouring inputs.

Reads: nothing. Writes: nothing. Never: a claim of its own: what is charged is what the mechanism itself says.
"""
