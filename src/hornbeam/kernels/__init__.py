"""Thin Python interfaces of the compiled kernels (``native/``): arrays in, arrays out.

Reading order:

- ``subtree``: rows, growth spec, cells and splits; growing in memory.
- ``levelwise``: histograms and splits of many nodes, for growing level by level.
- ``leafwise``: growing best first, for boosting.
- ``census``, ``encode``: bin boundaries and bin codes.
- ``route``, ``slopes``: routing of rows and prediction.
- ``sweep``: pruning.
- ``stacked_trees``, ``hdp``: smoothing.
- ``lambdas``: gradients of LambdaMART.
- ``elementary``, ``beta``, ``sums``: arithmetic with the same bits on every machine.
- ``slots``, ``pool``: narrow slot maps; a thread pool.
"""
