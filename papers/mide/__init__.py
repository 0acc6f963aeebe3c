"""Decisions on one count: "MIDE"."""
