"""The same bits on every machine: digests of all kinds of models on sixty fixed data sets.

    python -m benchmarks.machines.same_bits write sets.npz                # sixty data sets, by whole numbers alone
    python -m benchmarks.machines.same_bits digests sets.npz --out a.json # fit every model on every set
    python -m benchmarks.machines.same_bits compare a.json b.json ...     # differences from the first file, if any
    python -m benchmarks.machines.same_bits here sets.npz --out DIR       # digests under other settings of this machine

`here` runs `digests` in processes that see another processor: the C library without FMA and AVX2, three kinds of BLAS
kernels, NumPy without its vector code. Another Python, another compiler or an emulated machine runs `digests` itself
(benchmarks/machines/run.sh); `compare` then reads the files of all of them. A digest covers what a model file stores,
and the probabilities and intervals that the model gives for its rows.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

N_SETS = 60
SETTINGS = {
    "as it is": {},
    "glibc without FMA and AVX2": {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-AVX512F,-FMA,-AVX,-FMA4"},
    "BLAS for Haswell": {"OPENBLAS_CORETYPE": "Haswell"},
    "BLAS for Prescott": {"OPENBLAS_CORETYPE": "Prescott"},
    "BLAS for SkylakeX": {"OPENBLAS_CORETYPE": "SkylakeX"},
    "NumPy without AVX-512": {"NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR"},
    "NumPy without AVX2": {"NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR"},
}
SMOOTHERS = ["raw", "laplace", "m-estimate", "m-branch", "hierarchical-shrinkage", "hgs"]
SMOOTHERS += ["gradient-hgs", "leave-one-out-hgs"]


def make_set(number: int) -> dict[str, np.ndarray]:
    """A data set of numbers, some of them missing, and of categories; a class and a number depend on a few columns."""
    stream = np.random.Philox(key=[2026, number])
    n_rows, n_classes = 60 + 3 * number, 2 + number % 4

    def draw(top: int, n: int) -> np.ndarray:
        return (stream.random_raw(n) >> np.uint64(32)).astype(np.int64) % top

    whole = draw(1000, 4 * n_rows).reshape(n_rows, 4)
    codes = draw(6, 2 * n_rows).reshape(n_rows, 2)
    score = 3 * whole[:, 0] + 2 * whole[:, 1] * (codes[:, 0] > 2) + draw(1500, n_rows)
    X = np.column_stack((whole / (7 + number), codes)).astype(np.float64)
    if number % 3 == 0:
        X[draw(12, X.size).reshape(X.shape) == 0] = np.nan
    return {
        "X": X,
        "y": score * n_classes // (score.max() + 1),
        "z": score / (3 + number % 5),
        "weight": 1 + draw(40, n_rows) / 16,
        "query": np.sort(draw(8, n_rows)),
    }


def fits(sets: dict[str, np.ndarray], number: int) -> dict[str, Callable[[], Any]]:
    """Every kind of model, as a function that fits it and returns it with its rows."""
    import hornbeam

    X, y, z, weight = (sets[name] for name in ("X", "y", "z", "weight"))
    words = X.astype(object)
    words[:, 4:] = np.array(list("abcdef?"))[np.nan_to_num(X[:, 4:], nan=6.0).astype(int)]
    given = {"sample_weight": weight} if number % 2 else {}
    tree, few, boosted = (
        hornbeam.TreeClassifier,
        {"random_state": 0, "n_jobs": 1, "n_estimators": 10},
        {"n_estimators": 10},
    )
    models = {
        "tree": lambda: tree().fit(X, y, **given),
        "tree, tolerance 0.05": lambda: tree(tolerance=0.05).fit(X, y, **given),
        "C4.5": lambda: tree("c4.5").fit(X, y, **given),
        "CART, cost-complexity": lambda: tree("cart", pruning="cost-complexity").fit(X, y, **given),
        "regressor": lambda: hornbeam.TreeRegressor().fit(X, z, **given),
        "forest": lambda: hornbeam.ForestClassifier(**few).fit(X, y, **given),
        "forest of numbers": lambda: hornbeam.ForestRegressor(**few).fit(X, z, **given),
        "boosting": lambda: hornbeam.BoostedTreesClassifier(**boosted).fit(X, y, **given),
        "boosting of numbers": lambda: hornbeam.BoostedTreesRegressor(**boosted).fit(X, z, **given),
        "ranker": lambda: hornbeam.BoostedTreesRanker(**boosted).fit(
            X, np.minimum(y, 4), query=sets["query"]
        ),
        "adaboost": lambda: hornbeam.AdaBoostClassifier(20, resample=True).fit(X, y, **given),
        "forest that votes": lambda: hornbeam.ForestClassifier(**few, voting="hard").fit(X, y, **given),
        "rules": lambda: hornbeam.RuleClassifier().fit(X, y),
        "distilled": lambda: tree(teacher=hornbeam.ForestClassifier(**few)).fit(X, y),
        "readable": lambda: tree("readable", max_leaf_nodes=6).fit(X, y, **given),
        "readable of numbers": lambda: hornbeam.TreeRegressor("readable", max_leaf_nodes=6).fit(
            X, z, **given
        ),
        "smoothing hdp": lambda: tree(smoothing="hdp").fit(X, y),  # of whole rows only
    }
    smoothed = {
        f"smoothing {name}": lambda name=name: tree(smoothing=name).fit(X, y, **given) for name in SMOOTHERS
    }
    plain = {name: lambda fit=fit: (fit(), X) for name, fit in (models | smoothed).items()}
    return plain | {"tree, nominal columns": lambda: (tree().fit(words, y, **given), words)}


def digest(model: Any, X: np.ndarray) -> str:
    """Hash the numbers that a model file stores, but no names of parameters, and what the model predicts."""
    from hornbeam.estimators.persistence.files import pack
    from hornbeam.storage.layout import arrays_of
    from hornbeam.storage.values import encode

    content = pack(model)
    learned = {name: encode(one, name) for name, one in content.learned.items() if name != "smoother"}
    sha = hashlib.sha256(json.dumps(learned, sort_keys=True).encode())
    for name, array in arrays_of(content).items():
        sha.update(f"{name} {array.shape}".encode() + array.tobytes())
    for name in ("predict_proba", "predict_interval", "predict"):
        no_ranges = hasattr(model, "forest_") and model._distribution is None
        if hasattr(model, name) and not (name == "predict_interval" and no_ranges):
            sha.update(np.ascontiguousarray(getattr(model, name)(X)).astype("<f8").tobytes())
    return sha.hexdigest()[:16]


def digests(path: Path, only: int | None) -> dict[str, Any]:
    warnings.simplefilter("ignore")
    import scipy
    import sklearn

    import hornbeam

    file, found, begin = np.load(path), {}, time.process_time()
    for number in range(N_SETS if only is None else only):
        sets = {name: file[f"{name}{number}"] for name in ("X", "y", "z", "weight", "query")}
        for kind, fit in fits(sets, number).items():
            found[f"{number}: {kind}"] = digest(*fit())
    return {
        "digests": found,
        "data": hashlib.sha256(b"".join(file[name].tobytes() for name in sorted(file.files))).hexdigest()[
            :16
        ],
        "machine": platform.machine(),
        "byteorder": sys.byteorder,
        "libc": " ".join(platform.libc_ver()),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "hornbeam": hornbeam.__version__,
        "processor_seconds": round(time.process_time() - begin, 1),
    }


def compare(paths: list[Path]) -> int:
    """Print how many digests of each file equal those of the first one."""
    runs = {path.stem: json.loads(path.read_text()) for path in paths}
    (_, first), *_ = runs.items()
    wrong = 0
    for name, run in runs.items():
        common = run["digests"].keys() & first["digests"].keys()
        other = sorted(key for key in common if run["digests"][key] != first["digests"][key])
        wrong += len(other)
        about = {key: value for key, value in run.items() if key != "digests"}
        print(json.dumps({"run": name, "equal": len(common) - len(other), "of": len(common), **about}))
        if other:
            print(f"  {len(other)} differ in {name}: {', '.join(other[:8])}", file=sys.stderr)
    return int(wrong > 0)


def here(path: Path, folder: Path, only: int | None) -> None:
    """Run `digests` under every setting of this machine."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, setting in SETTINGS.items():
        command = [sys.executable, __file__, "digests", str(path), "--out", str(folder / f"{name}.json")]
        if only is not None:
            command += ["--sets", str(only)]
        subprocess.run(command, env={**os.environ, **setting}, check=True, stderr=subprocess.DEVNULL)
        print(name, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["write", "digests", "compare", "here"])
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, help="where digests are written")
    parser.add_argument("--sets", type=int, help="only the first so many sets")
    options = parser.parse_args()
    path = options.paths[0]
    if options.what == "write":
        np.savez(
            path, **{f"{name}{n}": values for n in range(N_SETS) for name, values in make_set(n).items()}
        )
    elif options.what == "digests":
        text = json.dumps(digests(path, options.sets), indent=1) + "\n"
        options.out.write_text(text) if options.out else print(text, end="")
    elif options.what == "here":
        here(path, options.out or Path(), options.sets)
    else:
        return compare(options.paths)
    return 0


if __name__ == "__main__":
    sys.exit(main())
