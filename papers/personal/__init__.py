"""Personal budgets: "Partitioning-based mechanisms under personalized differential privacy"."""
