"""Who gets back what a ladder reserved and did not need: each group, or all of them together.

Reads: a question. Writes: text. Never: data.
"""

from thresher.question import Question, group_keys, grouping_of

# With more groups than this, all are charged the largest level that one reached: a ledger line stays short.
MOST_LISTED = 200


def given_back(question: Question) -> str:
    """What is charged in the end, in words: it depends on whether the keys keep regions of the account apart."""
    grouping, bound = grouping_of(question), question.table.contribution
    loose = [name for name in grouping.columns if name not in grouping.fixed_columns]
    if loose and bound is not None:
        largest = "the largest level" if bound.max_groups == 1 else f"the sum of the {bound.max_groups} largest levels"
        same = [name for name in grouping.columns if name not in loose]
        which = f"all groups of the same {' and '.join(same)}" if same else "all groups"
        are = "is" if len(loose) == 1 else "are"
        return (
            f"at worst; {which} are charged {largest} that they reach, and the rest is given back (group by group only "
            f"if {' and '.join(loose)} {are} declared fixed, which says that all rows of a {bound.unit} share it)"
        )
    if len(question.groups) > MOST_LISTED or group_keys(question) is None:
        return "at worst; all groups are charged the largest level that one of them reaches, and the rest is given back"
    return "at worst; what a group does not need, because it is decided early, is given back to that group"
