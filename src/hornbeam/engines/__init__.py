"""Engines that run the passes of a fit on a cluster.

Reading order:

- `hornbeam.data.engine`: the protocol, with one method, ``reduce``.
- `spark`: Spark; the shorter example.
- `dask`: Dask.
- `dask_rows`: dask collections as rows of a fit and of predictions.
- `dask_checks`: checks of a Dask cluster, and its errors in plain words.
- `ray`: Ray.
"""

from hornbeam.engines.dask import DaskEngine
from hornbeam.engines.ray import RayEngine
from hornbeam.engines.spark import SparkEngine

__all__ = ["DaskEngine", "RayEngine", "SparkEngine"]
