"""Run `python -m papers`, which measures the tables of the papers again: one command for each paper.

Reads: arguments. Writes: standard output and error. Never: protected data.
"""

import click

from papers.histograms.histograms_report import histograms
from papers.mide.mide_report import mide
from papers.personal.personal_report import personal
from papers.probe.probe_report import probe
from papers.roc.roc_report import roc
from papers.streams.streams_report import streams
from thresher.cli import main


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
def papers() -> None:
    """Measure the tables of the papers again, with remarks on what holds and what does not.

    Data are made up; if a folder of public data sets is named, these are measured too. docs/reproduce.md lists them.

    \b
      python -m papers mide --runs 10
      python -m papers probe --data folder --shape AND3 --json
    """  # noqa: D301 - click reads the backslash


for _report in (mide, probe, histograms, roc, streams, personal):
    papers.add_command(_report)

if __name__ == "__main__":
    main(papers, "python -m papers")
