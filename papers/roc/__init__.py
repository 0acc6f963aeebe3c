"""Private ROC curves: the dissertation."""
