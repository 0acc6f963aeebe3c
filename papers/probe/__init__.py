"""Decisions on AND and OR of counts: "ProBE"."""
