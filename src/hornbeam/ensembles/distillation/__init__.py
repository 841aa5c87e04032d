"""Distillation of any classifier into one tree.

1. `synthetic_rows`: new rows near the training rows.
2. `distillation`: parameters and procedure.
"""
