"""A mechanism of somebody else's on trial, in a process of its own, which may raise, hang or die.

It is called over and over on each of two neighbouring inputs. That it raised is an output like any other: if it does
so more often on one input, that tells.
Reads: the module that is named. Writes: nothing. Never: lets the visitor take the audit down.
"""

import importlib
import io
import os
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass
from fractions import Fraction
from multiprocessing import get_context
from multiprocessing.connection import Connection
from time import perf_counter
from typing import Any

import numpy as np

from thresher.amounts import Amount, Epsilon, whole_number
from thresher.audit.black_box import tried_by_sampling
from thresher.audit.confidence import CONFIDENCE
from thresher.audit.findings import Finding
from thresher.audit.neighbours import Notion, check_neighbours
from thresher.audit.outputs import fingerprint
from thresher.audit.subjects import MOST_SAMPLES, Pair, Sampled
from thresher.errors import ArgumentError
from thresher.noise import Entropy, SystemEntropy

_FEWEST_SAMPLES = 1_000
_TURN = 0.2
_RAISED = "raised"
Mechanism = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Visit:
    """What became of a visitor: a finding, or why it could not be tried. `raised` counts runs that ended in errors."""

    finding: Finding | None
    failure: str
    raised: tuple[int, int]


class _UnfitError(Exception):
    """The visitor cannot be tried; the text says why."""


def visited(
    mechanism: str,
    here: Any,
    there: Any,
    epsilon: Amount,
    *,
    samples: int = 20_000,
    time_limit: float = 10.0,
    neighbours: Notion = "either",
    confidence: Fraction = CONFIDENCE,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> Visit:
    """Audit `module:function`, called with one input and claimed to lose at most `epsilon`.

    `time_limit` is the longest a single call may take, in seconds; a call that takes longer ends the trial.
    """
    charged, runs = Epsilon.covering(epsilon), checked_samples(samples)
    _check_name(mechanism)
    check_neighbours(here, there, neighbours)
    sides: list[list[Any]] = []
    try:
        with _Room(mechanism, time_limit) as room:
            for data in (here, there):
                sides.append(room.runs(data, runs, lambda done: progress(len(sides) * runs + done, 2 * runs)))
    except _UnfitError as unfit:
        return Visit(None, str(unfit), (0, 0))
    raised = tuple(sum(isinstance(output, str) and output.startswith(_RAISED) for output in side) for side in sides)
    if raised == (runs, runs) and sides[0][0] == sides[1][0]:
        return Visit(None, f"it {sides[0][0]} in every run, on both inputs", (runs, runs))
    outputs = iter(sides)
    subject = Sampled(
        mechanism, "your mechanism", charged, (Pair("as given", here, there),), lambda *_: next(outputs), runs
    )
    return Visit(tried_by_sampling(subject, SystemEntropy(), confidence), "", (raised[0], raised[1]))


def looped(mechanism: Mechanism) -> Callable[[Any, int, Entropy], list[Any]]:
    """A plain function as the `run` of a `Sampled` subject: called once for each run, in this process."""
    return lambda data, runs, _entropy: [mechanism(data) for _ in range(runs)]


def checked_samples(samples: object) -> int:
    runs = whole_number(samples, "samples")  # type: ignore[arg-type]
    if not _FEWEST_SAMPLES <= runs <= 10 * MOST_SAMPLES:
        rule = f"it must lie between {_FEWEST_SAMPLES:,} and {10 * MOST_SAMPLES:,}: fewer tell nothing"
        raise ArgumentError("samples", samples, rule, "Pass 20000")
    return runs


def _check_name(mechanism: str) -> None:
    module, _, function = mechanism.partition(":")
    if not (module and function and all(part.isidentifier() for part in (*module.split("."), *function.split(".")))):
        rule = "it must name a module and a function in it"
        raise ArgumentError("mechanism", mechanism, rule, "Write it as my_module:my_function")


class _Room:
    """A process for the visitor, and the talk with it."""

    def __init__(self, mechanism: str, patience: float) -> None:
        if not 0 < patience <= 86_400:
            raise ArgumentError("time_limit", patience, "it must be above 0, and at most a day", "Pass 10")
        context = get_context("spawn")
        self._ours, theirs = context.Pipe()
        self._patience = patience
        self._process = context.Process(target=_serve, args=(mechanism, os.getcwd(), theirs), daemon=True)
        self._process.start()
        theirs.close()

    def __enter__(self) -> "_Room":
        # Starting Python and importing what the visitor imports takes as long as it takes.
        reply = self._heard(max(self._patience, 60.0), "its module took too long to load")
        if reply != "ready":
            self.__exit__()
            raise ArgumentError("mechanism", reply[0], reply[1], "Check the name; the current folder is searched first")
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.join()
        self._ours.close()

    def runs(self, data: Any, runs: int, progress: Callable[[int], None]) -> list[Any]:
        outputs: list[Any] = []
        while len(outputs) < runs:
            try:
                self._ours.send((data, runs - len(outputs)))
            except OSError:
                raise _UnfitError("it ended its own process") from None
            outputs += self._heard(self._patience + _TURN, f"a call took more than {self._patience:g} s")
            progress(len(outputs))
        return outputs

    def _heard(self, patience: float, otherwise: str) -> Any:
        if not self._ours.poll(patience):
            raise _UnfitError(otherwise)
        try:
            return self._ours.recv()
        except (EOFError, OSError):
            raise _UnfitError("it ended its own process") from None


def _serve(mechanism: str, folder: str, talk: Connection) -> None:
    """The visitor's side: load it, then run it in turns of a fraction of a second."""
    sys.path.insert(0, folder)
    with redirect_stdout(io.StringIO()):
        function = _loaded(mechanism)
        if isinstance(function, tuple):
            talk.send(function)
            return
        talk.send("ready")
        while True:
            try:
                data, most = talk.recv()
            except EOFError:
                return
            talk.send(_turn(function, data, most))


def _loaded(mechanism: str) -> Mechanism | tuple[str, str]:
    """The function, or what is refused and the rule that it breaks."""
    name, _, path = mechanism.partition(":")
    try:
        found: Any = importlib.import_module(name)
    except BaseException as error:  # noqa: BLE001 - whatever a module does when it is loaded
        return mechanism, f"its module could not be loaded ({type(error).__name__})"
    for part in path.split("."):
        found = getattr(found, part, None)
    if not callable(found):
        return mechanism, "its module has no such function"
    function: Mechanism = found
    return function


def _turn(function: Mechanism, data: Any, most: int) -> list[Any]:
    """As many runs as fit in a turn, one at least."""
    outputs: list[Any] = []
    end = perf_counter() + _TURN
    while len(outputs) < most:
        outputs.append(_output(function, data))
        if perf_counter() >= end:
            break
    return outputs


def _output(function: Mechanism, data: Any) -> Any:
    try:
        return plain(function(data))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - that it raised is what came out
        return f"{_RAISED} {type(error).__name__}"


def plain(output: Any) -> Any:
    """Numbers and rows of numbers as they are; anything else as its fingerprint, which any process can send."""
    if isinstance(output, bool | int | float):
        return output
    if isinstance(output, np.generic) and output.dtype.kind in "biuf":
        return output.item()
    if isinstance(output, np.ndarray) and output.dtype.kind in "biuf":
        return tuple(output.ravel().tolist())
    if isinstance(output, tuple | list) and output and all(isinstance(item, bool | int | float) for item in output):
        return tuple(output)
    return fingerprint(output)
