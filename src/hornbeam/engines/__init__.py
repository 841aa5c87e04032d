"""Engines that run the passes of a fit over the rows, here or on a cluster; and the protocol of rows.

Reading order:

- `hornbeam.data.engine`: the protocol, with one method, ``reduce``, and an engine of threads.
- `hornbeam.data.sources`: the protocol of rows in partitions.
- `spark`: Spark; the shorter example.
- `dask`: Dask.
- `dask_rows`: dask collections as rows of a fit and of predictions.
- `dask_checks`: checks of a Dask cluster, and its errors in plain words.
- `ray`: Ray.
"""

from hornbeam.data.engine import Engine, LocalEngine
from hornbeam.data.sources import Source
from hornbeam.engines.dask import DaskEngine
from hornbeam.engines.ray import RayEngine
from hornbeam.engines.spark import SparkEngine

__all__ = ["DaskEngine", "Engine", "LocalEngine", "RayEngine", "Source", "SparkEngine"]
