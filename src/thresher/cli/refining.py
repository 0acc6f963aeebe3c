"""`thresher refine`: a stored answer made sharper, for the difference in price.

Reads: arguments, declarations. Writes: standard output; the ledger, through the engine. Never: charges unasked.
"""

import json

import click

import thresher
from thresher.cli.asking import answer_json, answer_page, confirm, explanation
from thresher.cli.options import config_option, json_option, question_text, sharper_options, spinning, wishes
from thresher.cli.output import say


@click.command("refine")
@click.argument("sql")
@click.option("--of", required=True, metavar="KEY", help="The key of the answer to go on from; every answer prints it.")
@config_option
@sharper_options
@click.option("--given-seen", is_flag=True, help="Rates that hold given all that was seen: dearer than asking anew.")
@click.option("--plan", "only_plan", is_flag=True, help="Show price and promise, and stop there.")
@click.option("--yes", "-y", is_flag=True, help="Pay without being asked.")
@click.option("--all", "every", is_flag=True, help="List groups that are below as well.")
@click.option("--analyst", default="", help="On whose behalf, if the curator gives budgets to analysts.")
@json_option
@click.pass_context
def refine_command(
    context: click.Context,
    *,
    sql: str,
    of: str,
    config: str,
    given_seen: bool,
    only_plan: bool,
    yes: bool,
    every: bool,
    analyst: str,
    as_json: bool,
) -> None:
    """Sharpen a stored answer: a smaller half width, smaller rates, or as far as --max-epsilon alone pays for.

    Only the difference to what was paid is charged. What is left out stays as it was. What is coarser than the answer
    is free, and so is another threshold of a single condition, if the measurement is sharp enough for it. An answer is
    refined once: go on from its refinement, whose key is printed.

    \b
      thresher refine "SELECT ward FROM stays GROUP BY ward HAVING COUNT(*) > 120" --of monday --uncertain-region 5
    """  # noqa: D301 - click reads the backslash
    with thresher.open(config, analyst=analyst) as engine:
        plan = engine.plan_refinement(question_text(sql), of=of, given_seen=given_seen, **wishes(context))
        if only_plan:
            say(json.dumps(plan.document(), indent=2) if as_json else explanation(str(plan)))
            return
        release = engine.stored(plan)
        if release is None:
            if plan.epsilon and not yes:
                confirm(engine, plan, "thresher refine --plan")
            with spinning(quiet=as_json) as progress:
                release = engine.answer(plan, progress=progress)
        balance = engine.balance(plan)
        try:
            say(answer_json(release, balance, plan) if as_json else answer_page(release, balance, every=every))
        except OSError as error:
            error.add_note("The answer is paid for and stored: the same refinement again is free")
            raise
