"""Fits to rows, and predictions of rows, that do not fit memory, or that stay with an engine.

Reading order:

- `plan`: in memory, on a sample, or level by level
- `fit`: the fit by that plan
- `sample`: a random sample of a source
- `predict`: the predictions of a source as Parquet files
"""

from hornbeam.out_of_core.fit import fit
from hornbeam.out_of_core.plan import Plan
from hornbeam.out_of_core.predict import Predictions
from hornbeam.pruning.reduced_error import HeldOutSource
from hornbeam.tree.evidence.count import count_on_all, count_trees_on_all

__all__ = ["HeldOutSource", "Plan", "Predictions", "count_on_all", "count_trees_on_all", "fit"]
