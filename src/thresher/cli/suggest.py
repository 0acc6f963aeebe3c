"""`thresher suggest`: buy a recommendation for the limits on one person. For the curator.

Reads: arguments, declarations. Writes: standard output; the ledger, through the engine. Never: charges unasked; changes
thresher.toml.
"""

import click

from thresher.cli.help_pages import ShortHelp
from thresher.cli.opening import opened, versions_option
from thresher.cli.options import config_option, json_option, key_option, yes_option
from thresher.cli.output import show
from thresher.cli.payment import kept, paid


@click.command(cls=ShortHelp)
@click.argument("table", metavar="TABLE[.COLUMN]")
@click.option("--epsilon", metavar="EPSILON", help="What it may cost [a hundredth of the budget].")
@config_option
@key_option
@yes_option
@versions_option
@json_option
def suggest(*, table: str, epsilon: str | None, config: str, key: str | None, yes: bool, as_json: bool) -> None:
    """Recommend limits on one person, for a price. For the curator.

    With COLUMN: for questions that group by it. At most 5 % of the people exceed a limit, with confidence 95 %.
    Nothing is promised about the share of rows. No file is changed.

    \b
      thresher suggest visits.ward --epsilon 0.05
    """  # noqa: D301 - click reads the backslash
    with opened(config) as engine:
        plan = engine.plan_suggestion(table, epsilon=epsilon)
        release = paid(engine, plan, key=key, yes=yes, quiet=as_json)
        with kept(release.key):
            show(release.page() + engine.balance(plan).page(), as_json=as_json)
