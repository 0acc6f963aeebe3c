"""Try to refute a claim: `exact` from the output law or by counting errors, `black_box` from samples of outputs.

`confidence` bounds probabilities from counts; `scores` learns where outputs differ.
Reads: a subject, entropy. Writes: nothing. Never: knows what is right or broken.
"""
