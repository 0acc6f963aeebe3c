"""Call a visitor in a separate process, where it may raise, print, hang or die, and collect its outputs.

Calls on the two inputs come in random order, each on a fresh copy, so that neither time nor a changed input tells the
inputs apart. Outputs are taken apart in that process, so that little is sent, whatever was returned.
Reads: the named module. Writes: nothing. Never: lets the visitor write to this process's standard output or error.
"""

import importlib
import os
import pickle
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from time import perf_counter
from typing import Any

import numpy as np

from thresher.audit.outputs.output_parts import OutputParts, error_apart, taken_apart
from thresher.errors import ArgumentError
from thresher.noise import Entropy, SystemEntropy

SIDES = "here", "there"
Mechanism = Callable[[Any], Any]
_TURN = 0.2
_LOADING = 60.0
_READY = "ready"
_LONGEST = 300
_ALONE = 5


class UnfitError(Exception):
    """Say why the visitor cannot be tried. `side` is the input of the call under way, -1 if there is none."""

    def __init__(self, why: str, side: int = -1) -> None:
        super().__init__(why)
        self.side = side


def runs_of(
    mechanism: str, inputs: tuple[Any, Any], runs: int, patience: float, progress: Callable[[int], None]
) -> tuple[list[OutputParts], list[OutputParts]]:
    """Return the outputs of `runs` calls on each input. `patience` is the longest that a call may take, in seconds."""
    packed = tuple(_packed(data, side) for data, side in zip(inputs, SIDES, strict=True))
    try:
        return _outputs(mechanism, packed, shuffled_sides(runs, SystemEntropy()), patience, progress)
    except UnfitError as unfit:
        if unfit.side < 0:
            raise
        other = _tried_alone(mechanism, packed, 1 - unfit.side, patience)
        raise UnfitError(f"{unfit}; {other}", unfit.side) from None


def _tried_alone(mechanism: str, packed: Sequence[bytes], side: int, patience: float) -> str:
    """Say whether the other input stops it as well, because what happens on one input only is a leak."""
    try:
        _outputs(mechanism, packed, bytes([side] * _ALONE), patience, lambda _: None)
    except UnfitError:
        return f"in a new process, so does a call on `{SIDES[side]}`"
    back = f"in a new process, {_ALONE} calls on `{SIDES[side]}` returned"
    return f"{back}. What happens on one input only tells the inputs apart, whatever epsilon is claimed"


def _outputs(
    mechanism: str, packed: Sequence[bytes], order: bytes, patience: float, progress: Callable[[int], None]
) -> tuple[list[OutputParts], list[OutputParts]]:
    outputs: tuple[list[OutputParts], list[OutputParts]] = ([], [])
    with _process(mechanism, packed, order) as (process, talk, at_work):

        def heard(longest: float, otherwise: str) -> Any:
            if not talk.poll(longest):
                raise UnfitError(otherwise + _so_far(at_work), at_work[0])
            try:
                return talk.recv()
            except (EOFError, OSError):
                process.join(1.0)
                ended = f"it ended its own process (exit code {process.exitcode})"
                raise UnfitError(ended + _so_far(at_work), at_work[0]) from None

        # Starting Python and importing the visitor's module may take longer than one call.
        reply = heard(max(patience, _LOADING), "its module took too long to load")
        if reply != _READY:
            raise ArgumentError(*reply)
        while sum(map(len, outputs)) < len(order):
            for side, parts in heard(patience + _TURN, f"a call took more than {patience:g} s"):
                outputs[side].append(parts)
            progress(sum(map(len, outputs)))
    return outputs


def shuffled_sides(runs: int, entropy: Entropy) -> bytes:
    """Return `runs` calls on each side (0 is here, 1 is there) in random order.

    A coin for each call until both sides are full would leave the last calls to one of them.
    """
    ranks = np.argsort(np.frombuffer(entropy.read(16 * runs), dtype=np.uint64), kind="stable")
    return (ranks < runs).astype(np.uint8).tobytes()


def _packed(data: Any, side: str) -> bytes:
    try:
        return pickle.dumps(data)
    except Exception:  # noqa: BLE001 - code of the input may raise anything
        rule = "it cannot be pickled, so it cannot be sent to another process"
        raise ArgumentError(side, f"<{type(data).__name__}>", rule, "Pass lists, tables, numbers or arrays") from None


@contextmanager
def _process(mechanism: str, packed: Sequence[bytes], order: bytes) -> Iterator[tuple[Any, Connection, Any]]:
    context = get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    # The side of the call under way (-1: none), and how many calls returned. It outlives the process.
    at_work = context.RawArray("q", [-1, 0, 0])
    process = context.Process(target=_serve, args=(mechanism, os.getcwd(), packed, order, theirs, at_work), daemon=True)
    try:
        with _uninterrupted():
            process.start()
        theirs.close()
        yield process, ours, at_work
    finally:
        if process.pid is not None:
            _end(process)
        ours.close()


def _end(process: Any) -> None:
    """End the process and all that it has started: it leads a process group."""
    process.kill()
    process.join()
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Keep Ctrl-C from a process that is started here; it is for this process."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _so_far(at_work: Any) -> str:
    side, here, there = at_work
    if side < 0:
        return ""
    return f", on the input `{SIDES[side]}`, after {here:,} calls on `here` and {there:,} on `there` had returned"


def _serve(mechanism: str, folder: str, packed: Sequence[bytes], order: bytes, talk: Connection, at_work: Any) -> None:
    """Load the visitor in its process, call it, and send the outputs five times a second."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "setsid"):
        os.setsid()
    _silence()
    sys.path.insert(0, folder)
    function = _loaded(mechanism)
    if isinstance(function, tuple):
        talk.send(function)
        return
    for data, name in zip(packed, SIDES, strict=True):
        try:
            pickle.loads(data)  # noqa: S301 - our own bytes
        except BaseException as error:  # noqa: BLE001 - code of the input may raise anything
            talk.send((name, type(error).__name__, "it cannot be unpickled in another process", "Pass plain data"))
            return
    talk.send(_READY)
    outputs: list[tuple[int, OutputParts]] = []
    end = perf_counter() + _TURN
    for side in order:
        at_work[0] = side
        outputs.append((side, _output(function, packed[side])))
        at_work[1 + side] += 1
        if perf_counter() >= end:
            talk.send(outputs)
            outputs, end = [], perf_counter() + _TURN
    talk.send(outputs)


def _silence() -> None:
    """Point the streams of the process itself, not only Python's, at nowhere: programs that it starts inherit them."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)


def _loaded(mechanism: str) -> Mechanism | tuple[str, str, str, str]:
    """Return the function, or the parts of an `ArgumentError`: field, value, rule and fix."""
    name, _, path = mechanism.partition(":")
    fix = "Check the name; the current folder is searched first"
    try:
        target: Any = importlib.import_module(name)
    except BaseException as error:  # noqa: BLE001 - code of the module may raise anything
        return "mechanism", mechanism, f"its module could not be loaded ({_one_line(error)})", fix
    for part in path.split("."):
        target = getattr(target, part, None)
    if not callable(target):
        return "mechanism", mechanism, "its module has no such function", fix
    function: Mechanism = target
    return function


def _one_line(error: BaseException) -> str:
    """Return an error in one line. It may be shown, because the module is the caller's own."""
    try:
        text = " ".join(str(error).split())
    except Exception:  # noqa: BLE001 - an error that cannot be printed is an error too
        text = ""
    return f"{type(error).__name__}: {text}"[:_LONGEST] if text else type(error).__name__


def _output(function: Mechanism, packed: bytes) -> OutputParts:
    # A function may change its input, and the next call must not see the change.
    data = pickle.loads(packed)  # noqa: S301 - our own bytes
    try:
        output = function(data)
    except BaseException as error:  # noqa: BLE001 - that it raised is its output
        return error_apart(error)
    return taken_apart(output)
