"""Clusters for the tests of engines: each is started once, on first use."""

import os
import sys

import pytest

from hornbeam.data.engine import LocalEngine
from hornbeam.engines import DaskEngine, RayEngine, SparkEngine

SETTINGS = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "set_as_default": False}
KINDS = ["local", "dask threads", "dask processes", "spark", "ray"]


@pytest.fixture(scope="session")
def _dask():
    pytest.importorskip("distributed")
    import dask

    with dask.config.set({"distributed.deploy.lost-worker-timeout": "10 minutes"}):
        yield


@pytest.fixture
def dask_threads(_dask):
    from distributed import Client

    with Client(processes=False, **SETTINGS) as client:
        yield client


@pytest.fixture(scope="session")
def _dask_processes(_dask):
    from distributed import Client

    with Client(**SETTINGS) as client:
        yield client


@pytest.fixture
def dask_processes(_dask_processes):
    _dask_processes.wait_for_workers(2)  # an earlier test may have killed one
    return _dask_processes


@pytest.fixture(scope="session")
def spark_cluster():
    """Spark with two executors in separate processes (`nox -s spark`)."""
    sql = pytest.importorskip("pyspark.sql")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        sql.SparkSession.builder.master("local-cluster[2,1,1024]")
        .config("spark.ui.enabled", "false")
        .config("spark.executorEnv.PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
        .getOrCreate()
    )
    yield session
    session.stop()


@pytest.fixture(scope="session")
def ray_cluster():
    """Ray with two worker processes (`nox -s ray`)."""
    ray = pytest.importorskip("ray")
    os.environ["RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"] = "0"  # otherwise a warning, which is an error here
    path = os.pathsep.join(filter(None, sys.path))
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        logging_level="ERROR",
        log_to_driver=False,
        runtime_env={"env_vars": {"PYTHONPATH": path}},
    )
    yield ray
    ray.shutdown()


@pytest.fixture(params=KINDS)
def engine_of(request):
    """A function from an engine's settings to the engine."""
    kind = request.param
    if kind == "local":
        return lambda **settings: LocalEngine(**{"n_jobs": 2} | settings)
    if kind == "spark":
        session = request.getfixturevalue("spark_cluster")
        return lambda **settings: SparkEngine(session, **settings)
    if kind == "ray":
        request.getfixturevalue("ray_cluster")
        return RayEngine
    client = request.getfixturevalue(kind.replace(" ", "_"))
    return lambda **settings: DaskEngine(client, **settings)
