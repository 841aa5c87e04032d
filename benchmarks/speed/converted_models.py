"""Engines that only predict: they run a tree that scikit-learn grew.

Each is a peer whose ``fit`` grows scikit-learn's tree and then converts it, so all of them run the same tree.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.speed.peers import Call, Peer, Sklearn
from benchmarks.synthetic import Floats, Labels


class Converted(Sklearn):
    """A tree of scikit-learn in another engine."""

    def fit(self, X: Floats, y: Labels) -> Any:
        return self.convert(self.grow((X, y)), X.shape[1])

    def convert(self, tree: Any, features: int) -> Any:
        """The same tree as the engine wants it."""
        raise NotImplementedError

    def single(self, model: Any, row: Floats) -> dict[str, Call]:
        return Peer.single(self, model, row)


class Treelite(Converted):
    """treelite's general inference library, GTIL."""

    name = "treelite"
    entry = "import treelite.gtil"
    modules = ("sklearn.ensemble", "treelite.sklearn", "treelite.gtil")

    def convert(self, tree: Any, features: int) -> Any:
        import treelite.sklearn
        from sklearn.ensemble import RandomForestClassifier

        # treelite reads forests, not lone trees: dress the tree as a forest of one.
        forest = RandomForestClassifier(n_estimators=1)
        forest.estimators_ = [tree]
        for fact in ("n_features_in_", "n_outputs_", "n_classes_", "classes_"):
            setattr(forest, fact, getattr(tree, fact))
        return treelite.sklearn.import_model(forest), tree.get_n_leaves()

    def n_leaves(self, model: Any) -> int:
        return int(model[1])

    def predict(self, model: Any, X: Floats) -> Any:
        import treelite.gtil

        return treelite.gtil.predict(model[0], X, nthread=self.job.threads)


class OnnxRuntime(Converted):
    """ONNX Runtime on the model that skl2onnx writes; its input is float32."""

    name = "onnxruntime"
    entry = "import onnxruntime"
    modules = ("sklearn.tree", "skl2onnx", "onnxruntime")

    def convert(self, tree: Any, features: int) -> Any:
        import onnxruntime
        import skl2onnx
        from skl2onnx.common.data_types import FloatTensorType

        inputs = [("x", FloatTensorType([None, features]))]
        model = skl2onnx.convert_sklearn(tree, initial_types=inputs, options={"zipmap": False})
        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = self.job.threads
        settings.inter_op_num_threads = 1
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), settings, providers=["CPUExecutionProvider"]
        )
        return session, tree.get_n_leaves()

    def n_leaves(self, model: Any) -> int:
        return int(model[1])

    def predict(self, model: Any, X: Floats) -> Any:
        return model[0].run(["probabilities"], {"x": X.astype(np.float32)})[0]


class M2cgen(Converted):
    """C source by m2cgen, compiled with gcc -O2; the loop over rows is in C too."""

    name = "m2cgen"
    entry = "import m2cgen"
    modules = ("sklearn.tree", "m2cgen")
    loop = """
    void score_rows(double *input, long rows, long features, double *output, long classes) {
        for (long row = 0; row < rows; row++) score(input + row * features, output + row * classes);
    }
    """

    def convert(self, tree: Any, features: int) -> Any:
        import m2cgen

        with deep_recursion():
            source = m2cgen.export_to_c(tree) + self.loop
        return ctypes.CDLL(str(compiled(source))), tree.get_n_leaves()

    def n_leaves(self, model: Any) -> int:
        return int(model[1])

    def predict(self, model: Any, X: Floats) -> Any:
        out = np.empty((len(X), self.job.classes))
        rows, features = X.shape
        model[0].score_rows(
            X.ctypes.data_as(ctypes.c_void_p),
            ctypes.c_long(rows),
            ctypes.c_long(features),
            out.ctypes.data_as(ctypes.c_void_p),
            ctypes.c_long(self.job.classes),
        )
        return out

    def single(self, model: Any, row: Floats) -> dict[str, Call]:
        out = np.empty(self.job.classes)
        score = model[0].score
        source, target = row.ctypes.data_as(ctypes.c_void_p), out.ctypes.data_as(ctypes.c_void_p)
        return {**super().single(model, row), "lean": lambda: score(source, target)}


def compiled(source: str, *flags: str) -> Path:
    """Shared library of a C source, compiled once and kept in the user's cache."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "hornbeam-benchmarks"
    library = cache / f"{hashlib.sha256(source.encode()).hexdigest()[:24]}.so"
    if not library.exists():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as place:
            unit, built = Path(place, "tree.c"), Path(place, "tree.so")
            unit.write_text(source)
            subprocess.run(["gcc", "-O2", *flags, "-shared", "-fPIC", "-o", built, unit], check=True)
            built.replace(library)
    return library


@contextmanager
def deep_recursion(limit: int = 100_000) -> Iterator[None]:
    """m2cgen walks the tree by recursion, several frames a level."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(limit)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
