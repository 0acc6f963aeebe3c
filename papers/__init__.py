"""Measure the tables of the papers again: on made-up data and on public stand-ins, with remarks from the numbers.

    mide, probe, histograms, roc, streams, personal    one package for each paper, with a command in its `*_report.py`
    residuals                                          models for residual plots
    pictures                                           the pictures of the docs
    report                                             what all commands share: start here

This package is not in the wheel: it imports Thresher, and Thresher never imports it. Nothing here is a release: errors
are counted against the truth.
Reads: public files. Writes: nothing. Never: protected data, a ledger.
"""
