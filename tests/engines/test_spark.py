"""Spark engine: a session that has ended."""

import subprocess
import sys

import pytest

pytest.importorskip("pyspark")

# In a separate process: each process has one session, and the other tests need theirs.
SCRIPT = """
import sys
sys.path.append({tests!r})
from support import passes
from pyspark.sql import SparkSession
from hornbeam.engines import SparkEngine
from hornbeam.errors import EngineError

spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
engine = SparkEngine(spark)
spark.stop()
for call in (lambda: SparkEngine(spark), lambda: engine.parallelism, lambda: engine.reduce(passes.histogram, [1], 1)):
    try:
        call()
    except EngineError as error:
        assert "The Spark session has ended" in str(error), error
    else:
        raise AssertionError("no error")
"""


def test_a_session_that_was_stopped_is_named(request):
    script = SCRIPT.format(tests=str(request.config.rootpath / "tests"))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
