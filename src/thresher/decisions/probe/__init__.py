"""The ProBE family, FOR COMPARISON ONLY: its promise about false alarms does not hold (`probe.md`).

Every condition is looked at by itself, the miss rate shared out between them, and where too many false alarms are
estimated the question is denied after it was paid for. It enters by the registry of mechanisms like any other.
What may not enter: anything that another mechanism relies on.
"""
