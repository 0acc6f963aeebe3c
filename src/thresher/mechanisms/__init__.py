"""Hold the private mechanisms that several families share, each with its proof in a `.md` file of the same name.

A function here takes whole numbers, an epsilon and perhaps entropy, and returns a frozen result. No engine and no
ledger is involved: the caller records what is spent. Read in this order:
- `sparse_vector`: compare many queries with thresholds and pay for few answers. `sparse_terms` splits its budget,
  `sparse_accuracy` bounds its errors, and `bounds` finds a range with it.
- `public_grid`, `rank_costs`, `quantiles`: draw quantiles on a public grid. `smooth_median` and `cauchy` are the
  other way in the literature, for comparison.
- `people_limits`: recommend a limit that few people exceed.
- `histograms`: noisy histograms. `compiled` makes its loops fast.
Reads: arrays, entropy. Writes: nothing. Never: a source, a ledger, a draw that `noise/` did not make.
"""
