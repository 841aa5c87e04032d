"""Binning: cut points of numeric features, and the codes of values.

Reading order:

- `bins`: `Bins`, the cut points and category codes of all features.
- `cuts`: the cut points of numeric features, from row counts.
- `cells`: intervals of values with row counts, refined in further passes.
- `edges`: a short decimal between two numbers.
"""
