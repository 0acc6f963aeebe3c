"""The mechanisms by name, each with the module that holds it. A new one is a new file and a line here.

    certified   finer and finer looks until a promise about all groups together is reached; the default
    three-way   the same promise at fixed levels; clear groups are left alone: dearer at worst, cheaper for those groups
    tslm        one look, with the threshold moved by the half width
    tslm-zone   one look; threshold and one coin are placed so that both rates hold outside a zone, at the least epsilon
    ppwlm       looks at fixed levels, each at the groups that are still undecided
    dppwlm      as ppwlm, with levels chosen by what was seen
    naive, probe-naive, probe, probe-ent    each condition is measured by itself: for comparison only

Reads: nothing. Writes: nothing. Never: loads the module of a mechanism that is not used.
"""

from difflib import get_close_matches
from importlib import import_module

from thresher.decisions.decision_options import Options
from thresher.decisions.look import Mechanism
from thresher.errors import ArgumentError

_ROOM = "thresher.decisions"
MECHANISMS: dict[str, str] = {
    "certified": f"{_ROOM}.regimes",
    "three-way": f"{_ROOM}.regimes",
    "tslm": f"{_ROOM}.shift",
    "tslm-zone": f"{_ROOM}.shift",
    "ppwlm": f"{_ROOM}.ladder",
    "dppwlm": f"{_ROOM}.adaptive_ladder",
    "naive": f"{_ROOM}.probe.looks",
    "probe-naive": f"{_ROOM}.probe.looks",
    "probe": f"{_ROOM}.probe.looks",
    "probe-ent": f"{_ROOM}.probe.looks",
}
# Options that apply to some mechanisms only.
_OF_SOME = ("confidence", "levels", "first_epsilon")
_MOST_COMPARED = 60


def mechanism_named(name: str) -> Mechanism:
    """Return the mechanism of this name; the refusal lists all names."""
    if name not in MECHANISMS:
        near = get_close_matches(name[:_MOST_COMPARED], MECHANISMS, n=1)
        meant = f"Did you mean {near[0]}? " if near else ""
        fix = f"{meant}Pass one of {', '.join(MECHANISMS)}"
        raise ArgumentError("mechanism", name, "there is no such mechanism", fix)
    mechanism: Mechanism = import_module(MECHANISMS[name]).MECHANISMS[name]
    return mechanism


def mechanism_for(options: Options) -> Mechanism:
    """Return the mechanism that was asked for. Options that do not apply to it are refused."""
    mechanism = mechanism_named(options.mechanism)
    for name in _OF_SOME:
        if name in options.given and name not in mechanism.options:
            others = [other for other in MECHANISMS if name in mechanism_named(other).options]
            rule = f"it does not apply to mechanism {mechanism.name}"
            fix = f"Leave it out, or pass mechanism={' or '.join(others)}"
            raise ArgumentError(name, options.given[name], rule, fix)
    return mechanism
