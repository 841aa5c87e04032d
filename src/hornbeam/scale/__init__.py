"""Whole fits on rows that do not fit memory, or that stay with an engine."""
