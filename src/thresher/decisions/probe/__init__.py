"""Decide by the ProBE family, FOR COMPARISON ONLY: its promise about false alarms does not hold (`probe.md`).

    apportion                      the miss rate divided between conditions
    probe_conditions, probe_answer  checked arguments; what comes out
    probe_phases, probe_entropy    measurements in two phases; measurements at levels chosen for min-entropy
    probe, looks                   the family on plain arrays; the same as mechanisms of the engine

Each condition is measured by itself. If too many false alarms are estimated, the question is denied, and what was
measured is charged. Read the modules in this order. The mechanisms enter by the registry like all others.
What may not enter: anything that another mechanism relies on.
"""
