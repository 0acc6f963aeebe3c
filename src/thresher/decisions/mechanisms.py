"""The mechanisms by name, each with the module that holds it. A new one is a new file and a line here.

    certified   looks that grow sharper until a promise about all groups together is reached; the default
    three-way   fixed levels with the same promise, clear groups left alone: dearer at worst, cheaper for those
    tslm        one look, the line moved by the half width
    tslm-zone   one look, the line and one coin placed so that both rates are kept outside a zone, at the least epsilon
    ppwlm       looks at fixed levels, each at the groups that are still undecided
    dppwlm      the same, with levels chosen by what was seen
    naive, probe-naive, probe, probe-ent    each condition by itself: for comparison only

Reads: nothing. Writes: nothing. Never: a mechanism that is not used, whose module is not loaded.
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
    """The mechanism of this name, or a refusal that lists all."""
    if name not in MECHANISMS:
        near = get_close_matches(name[:_MOST_COMPARED], MECHANISMS, n=1)
        meant = f"Did you mean {near[0]}? " if near else ""
        fix = f"{meant}Pass one of {', '.join(MECHANISMS)}"
        raise ArgumentError("mechanism", name, "there is no such mechanism", fix)
    found: Mechanism = import_module(MECHANISMS[name]).MECHANISMS[name]
    return found


def mechanism_for(options: Options) -> Mechanism:
    """The mechanism that was asked for; refused with options that do not apply to it."""
    mechanism = mechanism_named(options.mechanism)
    for name in _OF_SOME:
        if name in options.given and name not in mechanism.options:
            fit = [other for other in MECHANISMS if name in mechanism_named(other).options]
            rule = f"it does not apply to mechanism {mechanism.name}"
            fix = f"Leave it out, or pass mechanism={' or '.join(fit)}"
            raise ArgumentError(name, options.given[name], rule, fix)
    return mechanism
