"""What is certified about all groups together, in words: a share, a number of groups, or nothing.

Which of them is said is chosen by what was seen. That is allowed, because all of them are bounds on one event.
Reads: the numbers of a promise. Writes: text. Never: data; a share above the one aimed at.
"""

from collections.abc import Mapping

NOTHING_CERTIFIED = " Nothing is certified about the list as a whole. Each verdict stands for itself."


def of_the_list(facts: Mapping[str, str], *, misses: bool, sure: str, aim: str, share: str) -> str:
    """Return the sentence. In the mirror (not `misses`) it is about groups that are left out, and qualify.

    `sure` is the confidence; `aim` the share aimed at, empty if none is; `share` the one reached, empty if none was.
    """
    whom = "do not qualify are reported" if misses else "qualify are left out"
    if not facts.keys() & {"share", "reported"}:
        return _planned(facts.get("needs", ""), misses=misses, sure=sure, aim=aim, whom=whom)
    if share:
        return f"With confidence {sure}, at most {share} of the groups that {whom}."
    if facts.get("reported") == "0":
        return f"No group is {'reported' if misses else 'left out'}."
    if "wrong_at_most" not in facts:
        return NOTHING_CERTIFIED.strip()
    number = f"With confidence {sure}, {_number(facts, misses=misses)}."
    if not aim:
        return number
    few = f": too few groups {'fail' if misses else 'meet'} the condition"
    why = few if facts.get("short") == "few" else " with the finest measurement allowed"
    return f"{number} The share of {aim} aimed at was not reached{why}."


def _planned(needs: str, *, misses: bool, sure: str, aim: str, whom: str) -> str:
    """Return what an answer will say, before anything is read."""
    aimed = f"Aim for the whole list: with confidence {sure}, at most {aim} of the groups that {whom}"
    if needs:
        return (
            f"{aimed}. This needs about {needs} groups that {'do not ' if misses else ''}qualify; with fewer, "
            "a number or nothing is certified."
        )
    if aim:
        return f"{aimed}; the answer says what was reached."
    which = "reported groups do not qualify" if misses else "groups that are left out qualify"
    return f"The answer also bounds, with confidence {sure}, how many {which}, if the bound is at most half of them."


def _number(facts: Mapping[str, str], *, misses: bool) -> str:
    wrong, among = int(facts["wrong_at_most"]), int(facts["reported"])
    groups = "group" if among == 1 else "groups"
    if not misses:
        which = "qualifies" if wrong < 2 else "qualify"
        return f"{f'at most {wrong:,}' if wrong else 'none'} of the {among:,} {groups} left out {which}"
    if not wrong:
        return "the 1 reported group qualifies" if among == 1 else f"all {among:,} reported groups qualify"
    return f"at most {wrong:,} of the {among:,} reported {groups} {'does' if wrong == 1 else 'do'} not qualify"
