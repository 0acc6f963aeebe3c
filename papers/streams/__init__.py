"""Private streams: the dissertation."""
