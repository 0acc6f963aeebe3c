"""Noisy histograms: the dissertation, and DPBench."""
