"""Binning: cut points of numeric features, and the codes of values.

Reading order:

- `bins`: `Bins`, the cut points and category codes of all features.
- `cuts`: the cut points of numeric features, from row counts; a short decimal between two numbers.
- `cells`: intervals of values with row counts, refined in further passes.
- `target_bins`: bins of a numeric target, finer towards both ends.
"""
