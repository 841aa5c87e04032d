"""Fits to rows, and predictions of rows, that do not fit memory, or that stay with an engine.

Reading order:

- `plan`: in memory, on a sample, or level by level
- `fit`: the fit by that plan
- `sample`: a random sample of a source
- `count`: the rows of a source counted at the nodes of one or several trees
- `predict`: the predictions of a source as Parquet files
"""

from hornbeam.out_of_core.count import HeldOutSource, count_on_all, count_trees_on_all
from hornbeam.out_of_core.fit import fit
from hornbeam.out_of_core.plan import Plan
from hornbeam.out_of_core.predict import Predictions
from hornbeam.out_of_core.sample import draw_sample

__all__ = ["HeldOutSource", "Plan", "Predictions", "count_on_all", "count_trees_on_all", "draw_sample", "fit"]
