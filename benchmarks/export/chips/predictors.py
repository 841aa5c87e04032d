"""Everything that can predict with a tree on this machine, each as a call from prepared rows to probabilities.

Rows are prepared before the clock starts, in the form each predictor likes best: a matrix of its own type, a table of
the database, arrays in Node's memory. All of them use one thread.
"""

from __future__ import annotations

import ctypes
import json
import sqlite3
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.export.chips.sources import EMLEARN, TYPES, Source, emlearn, ours
from benchmarks.export.chips.trees import CLASSES, FEATURES, Model
from benchmarks.speed.converted_models import compiled, deep_recursion
from benchmarks.synthetic import Floats
from benchmarks.timing import Lap, Stopwatch
from hornbeam.export import to_javascript, to_onnx, to_python, to_sql, to_treelite

type Answer = Callable[[Stopwatch], Any]
type Maker = Callable[[], Predictor]


@dataclass(frozen=True, slots=True)
class Predictor:
    """How to predict the first `rows` rows: with their probabilities, or with the mean of each class."""

    rows: int
    answer: Answer

    def error(self, truth: Floats) -> float:
        """How far the predictions are from the tree's at most."""
        truth, found = truth[: self.rows], np.asarray(self.answer(Stopwatch()))
        return float(np.abs(found - (truth if found.shape == truth.shape else truth.mean(axis=0))).max())

    def run(self, watch: Stopwatch) -> dict[str, object]:
        """Predict all rows once."""
        self.answer(watch)
        return {}


def timed(call: Callable[[], Any]) -> Answer:
    """Return the predictions of a call, and its time to the watch."""

    def answer(watch: Stopwatch) -> Any:
        with watch("rows"):
            return call()

    return answer


def libraries(model: Model, X: Floats) -> dict[str, Maker]:
    """Hornbeam in Python, and what reads its exports or its twin."""
    small = X.astype(np.float32)
    return {
        "hornbeam predict_proba": lambda: _call(X, model.estimator.predict_proba),
        "scikit-learn predict_proba": lambda: _call(small, model.twin.predict_proba),
        "ONNX Runtime": lambda: _onnx(model, small),
        "treelite (GTIL)": lambda: _treelite(model, X),
        "tl2cgen, compiled": lambda: _tl2cgen(model, X),
        "DuckDB": lambda: _duckdb(model, X),
        "SQLite": lambda: _sqlite(model, X[: len(X) // 4]),
        "JavaScript, Node": lambda: _javascript(model, X),
        "Python export": lambda: _python(model, X[: len(X) // 10]),
    }


def programs(model: Model, X: Floats) -> dict[str, Maker]:
    """C by Hornbeam, emlearn and m2cgen, compiled with gcc -O2, with the loop over rows in C too."""
    made: dict[str, Maker] = {}
    for layout, complete in product(("if", "table", "bins"), (True, False)):
        name = f"C, {layout}{'' if complete else ', missing values allowed'}"
        made[name] = partial(_compiled, partial(ours, model, layout, "float", "float", complete), X)
    for layout, value in EMLEARN:
        made[f"emlearn {layout} {value}"] = partial(_compiled, partial(emlearn, model, layout, value, 8), X)
    return made | {"m2cgen C": partial(_compiled, partial(_m2cgen, model), X)}


def _call(X: Any, call: Callable[[Any], Any]) -> Predictor:
    return Predictor(len(X), timed(partial(call, X)))


def _compiled(make: Callable[[], Source], X: Floats) -> Predictor:
    source = make()
    kind = "float" if source.maker == "emlearn" else source.probabilities
    loop = _LOOP.format(value=source.values, answer=kind, features=FEATURES, classes=CLASSES)
    flags = ("-I", str(source.include)) if source.include else ()
    call = ctypes.CDLL(str(compiled(source.code + loop, *flags))).chip_many
    rows, p = np.ascontiguousarray(X, TYPES[source.values]), np.empty((len(X), CLASSES), TYPES[kind])
    n, x, out = ctypes.c_long(len(X)), ctypes.c_void_p(rows.ctypes.data), ctypes.c_void_p(p.ctypes.data)

    def answer(held: Any = rows) -> Any:  # the pointer alone does not keep them
        call(x, n, out)
        return p

    return Predictor(len(X), timed(answer))


def _m2cgen(model: Model) -> Source:
    import m2cgen

    with deep_recursion():
        code = m2cgen.export_to_c(model.twin)
    call = "\nvoid chip_probabilities(double *x, double *p) { score(x, p); }\n"
    return Source("m2cgen", "nested", "double", "double", True, code + call)


def _onnx(model: Model, X: np.ndarray) -> Predictor:
    import onnxruntime

    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = settings.inter_op_num_threads = 1
    written = to_onnx(model.tree, dtype="float32").SerializeToString()
    session = onnxruntime.InferenceSession(written, settings, providers=["CPUExecutionProvider"])
    (given,) = session.get_inputs()
    return Predictor(len(X), timed(lambda: session.run(["probabilities"], {given.name: X})[0]))


def _treelite(model: Model, X: Floats) -> Predictor:
    import treelite.gtil

    made = to_treelite(model.tree)
    return Predictor(len(X), timed(lambda: treelite.gtil.predict(made, X, nthread=1)[:, 0]))


def _tl2cgen(model: Model, X: Floats) -> Predictor:
    import tl2cgen

    library = Path(tempfile.mkdtemp(), "tree.so")
    tl2cgen.export_lib(to_treelite(model.tree), toolchain="gcc", libpath=library, nthread=1, verbose=False)
    made, rows = tl2cgen.Predictor(library, nthread=1), tl2cgen.DMatrix(X, dtype="float64")
    return Predictor(len(X), timed(lambda: made.predict(rows)[:, 0]))


def _python(model: Model, X: Floats) -> Predictor:
    module: dict[str, Any] = {}
    exec(to_python(model.tree), module)
    ask, rows = module["probabilities"], X.tolist()
    return Predictor(len(X), timed(lambda: [ask(row) for row in rows]))


def _javascript(model: Model, X: Floats) -> Predictor:
    """Node predicts all rows six times and prints the seconds of the best: a new process is cold at first."""
    script = Path(tempfile.mkdtemp(), "tree.js")
    script.write_text(to_javascript(model.tree, name="tree") + _NODE.replace("ROWS", json.dumps(X.tolist())))

    def answer(watch: Stopwatch) -> Any:
        run = subprocess.run(["node", script], capture_output=True, text=True, check=True)
        said = json.loads(run.stdout)
        watch.record("rows", Lap(said["seconds"], said["seconds"]))
        return said["means"]

    return Predictor(len(X), answer)


def _sqlite(model: Model, X: Floats) -> Predictor:
    database = sqlite3.connect(":memory:")
    names = model.tree.schema.names
    database.execute(f"CREATE TABLE rows ({', '.join(f'"{name}" REAL' for name in names)})")
    database.executemany(f"INSERT INTO rows VALUES ({', '.join('?' * FEATURES)})", X.tolist())
    query = _all_of(to_sql(model.tree, dialect="sqlite"))
    return Predictor(len(X), timed(lambda: database.execute(query).fetchone()))


def _duckdb(model: Model, X: Floats) -> Predictor:
    import duckdb
    import pandas as pd

    database = duckdb.connect(config={"threads": 1})
    frame = pd.DataFrame(X, columns=model.tree.schema.names)
    database.register("frame", frame)
    database.execute("CREATE TABLE rows AS SELECT * FROM frame")
    query = _all_of(to_sql(model.tree, dialect="duckdb"))
    return Predictor(len(X), timed(lambda: database.execute(query).fetchone()))


def _all_of(query: str) -> str:
    """Have every probability computed, and none carried over to Python."""
    means = ", ".join(f"avg(p{k})" for k in range(CLASSES))
    return f"SELECT {means} FROM ({query}) AS answers"


_LOOP = """
void chip_many(const {value} *x, long n, {answer} *p)
{{
    for (long i = 0; i < n; ++i)
        chip_probabilities(({value} *)x + i * {features}, p + i * {classes});
}}
"""

_NODE = """
const rows = ROWS;
let seconds = Infinity;
let sums;
for (let turn = 0; turn < 6; ++turn) {
  sums = tree.CLASSES.map(() => 0);
  const begin = process.cpuUsage();
  for (const row of rows) {
    const p = tree.probabilities(row);
    for (let k = 0; k < p.length; ++k) sums[k] += p[k];
  }
  const spent = process.cpuUsage(begin);
  seconds = Math.min(seconds, (spent.user + spent.system) / 1e6);
}
process.stdout.write(JSON.stringify({ seconds, means: sums.map((sum) => sum / rows.length) }));
"""
