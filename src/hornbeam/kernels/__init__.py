"""Thin Python interfaces of the compiled kernels (``native/``): arrays in, arrays out.

Reading order:

- ``subtree``: rows, growth spec, cells and splits; growing in memory.
- ``levelwise``: histograms and splits of many nodes, for growing level by level.
- ``leafwise``: growing best first, for boosting; gradients of LambdaMART.
- ``census``, ``encode``: bin boundaries and bin codes.
- ``route``: routing of rows and prediction; narrow slot maps.
- ``sweep``: pruning.
- ``smoothing``: borrowing in several trees; sampling of an HDP.
- ``elementary``: arithmetic with the same bits on every machine.
- ``pool``: a thread pool.
"""
