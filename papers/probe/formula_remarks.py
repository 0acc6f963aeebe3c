"""Derive remarks on the tables of formulas from their numbers.

Reads: tables. Writes: nothing. Never: a sentence that holds whatever was measured.
"""

from collections.abc import Mapping, Sequence

from papers.probe.formulas import FALSE_ALARM_RATE, Cell

Tables = Mapping[str, Mapping[str, Sequence[Cell]]]


def formula_remarks(made_up: Tables, public: Tables) -> tuple[str, ...]:
    """Return remarks on where certified costs more than ProBE, for each kind of data, and on whose promises held."""
    kinds = (("made-up groups", made_up), ("public data", public))
    dear = [_against_probe(kind, tables) for kind, tables in kinds if _cells(tables)]
    return (*dear, _promises([*_cells(made_up), *_cells(public)])) if dear else ()


def _cells(tables: Tables) -> list[tuple[str, Mapping[str, Cell]]]:
    return [
        (f"{shape} on {name.split(':')[0]}", {cell.method: cell for cell in cells})
        for name, rows in tables.items()
        for shape, cells in rows.items()
    ]


def _against_probe(kind: str, tables: Tables) -> str:
    """Compare means of answered runs, for questions of which ProBE answered a run."""
    silent, dearer, times = 0, [], []
    for question, by_method in (cells := _cells(tables)):
        ours, theirs = by_method["certified"].epsilon, by_method["probe"].epsilon
        if ours is None or theirs is None:
            silent += 1
        elif ours > theirs:
            dearer.append(f"{question}, {ours:.3g} against {theirs:.3g}")
        else:
            times.append(theirs / ours)
    compared = len(cells) - silent
    told = f"On {kind}, ProBE denies every run of {silent} of {len(cells)} questions."
    if not compared:
        return told
    share = f"{len(dearer)} ({'; '.join(dearer)})" if dearer else "none"
    told += f" Of the {compared} that both answer, certified is dearer in {share}."
    return f"{told} Elsewhere it costs {min(times):,.1f} to {max(times):,.1f} times less." if times else told


def _promises(cells: Sequence[tuple[str, Mapping[str, Cell]]]) -> str:
    theirs = [by_method["probe"] for _, by_method in cells]
    ours = [by_method["certified"] for _, by_method in cells]
    rate = f"{float(FALSE_ALARM_RATE):g}"
    return (
        f"ProBE breaks its promise in {_share(theirs, 'broken')} answers and denies"
        f" {sum(cell.denied for cell in theirs):,} of {sum(cell.runs for cell in theirs):,} runs; certified breaks its"
        f" own in {_share(ours, 'broken')}, and certifies more than {rate} in {_share(ours, 'wider')}."
    )


def _share(cells: Sequence[Cell], count: str) -> str:
    answered = sum(cell.runs - cell.denied for cell in cells)
    return f"{sum(getattr(cell, count) for cell in cells):,} of {answered:,}"
