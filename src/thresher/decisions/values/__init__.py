"""Plan and measure `show="values"`: the noisy numbers behind verdicts, measured together if that is cheaper.

    measures, strategies            the numbers behind conditions; blocks of numbers that are measured together
    smooth_tails, block_rates       tails as if noise were continuous; the epsilon of each block
    values_planner, values_plan     the cheapest strategy that was found; the plan of a question
    values_look, values_shown,      noise and verdicts; the numbers with their half widths; the plan in words
    values_text

Read them in this order. The default measures one margin for each group, which is cheaper and shows only the verdict.
What may not enter: sources, SQL, the ledger; a mechanism that decides by margins.
"""
