"""Budgets of one's own: "Partitioning-based mechanisms under personalized differential privacy"."""
