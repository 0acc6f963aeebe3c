"""Thresher: decisions about sensitive data with a promised error rate and the least privacy loss that delivers it."""

__version__ = "0.1.0"
