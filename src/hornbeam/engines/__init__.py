"""Clusters that people have: each adapter is one file and one verb, ``reduce``."""

from hornbeam.engines.dask import DaskEngine
from hornbeam.engines.spark import SparkEngine

__all__ = ["DaskEngine", "SparkEngine"]
