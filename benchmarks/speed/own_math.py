"""What our own exp and log cost: fits with them beside fits with those of the C library and of NumPy.

    python -m benchmarks.speed.own_math --json benchmarks/results/speed/own_math.jsonl

Two copies of the package are built. In one, exp and log are replaced by those of the C library and of NumPy, whose last
bits differ between machines. Fits of both take turns, each in a process of its own that stays alive; the least time of
each counts. The goal is a ratio of at most 1.02.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.output import machine

TREE = Path(__file__).parents[2]
KINDS = ["default tree", "regressor", "hgs-loo", "boosting, 2 classes", "boosting, 5 classes", "forest"]
WORKER = """
import sys, time, warnings
import numpy as np
import hornbeam
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X = rng.normal(size=(20_000, 10))
score = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=len(X))
two, five = score > 0.3, np.digitize(score, [-1.5, -0.5, 0.5, 1.5])
fits = {
    "default tree": lambda: hornbeam.TreeClassifier().fit(X, two),
    "regressor": lambda: hornbeam.TreeRegressor().fit(X, score),
    "hgs-loo": lambda: hornbeam.TreeClassifier(smoothing="leave-one-out-hgs").fit(X, two),
    "boosting, 2 classes": lambda: hornbeam.BoostedTreesClassifier().fit(X, two),
    "boosting, 5 classes": lambda: hornbeam.BoostedTreesClassifier(n_estimators=30).fit(X, five),
    "forest": lambda: hornbeam.ForestClassifier(n_estimators=20, random_state=0).fit(X, two),
}
for line in sys.stdin:
    begin = time.process_time()
    fits[line.strip()]()
    print(time.process_time() - begin, flush=True)
"""


def build(home: Path, *, of_the_library: bool) -> Path:
    """Install a copy of the package; `of_the_library` with exp and log of the C library and of NumPy."""
    source = home / "source"
    for name in ("CMakeLists.txt", "LICENSE", "README.md", "pyproject.toml", "native", "src"):
        here = TREE / name
        copy = shutil.copytree if here.is_dir() else shutil.copy
        source.mkdir(parents=True, exist_ok=True)
        copy(here, source / name)
    if of_the_library:
        header = source / "native" / "math" / "elementary.hpp"
        text = header.read_text().replace("#include <cstdint>", "#include <cmath>\n#include <cstdint>")
        for name in ("exp_of", "exp2_of", "log_of", "log2_of", "exp_inside"):
            call = "exp" if name == "exp_inside" else name.removesuffix("_of")
            body = f"inline double {name}(double x) {{ return std::{call}(x); }}\n"
            text, n = re.subn(rf"inline double {name}\(double x\) \{{.*?\n\}}\n", body, text, flags=re.DOTALL)
            assert n == 1, name
        header.write_text(text)
        (source / "src" / "hornbeam" / "kernels" / "elementary.py").write_text(
            "from numpy import exp, exp2, log, log2\n"
        )
    target = home / "package"
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--target",
        str(target),
        str(source),
    ]
    subprocess.run(command, check=True)
    return target


def start(package: Path) -> subprocess.Popen[str]:
    worker = [sys.executable, "-c", WORKER]
    return subprocess.Popen(
        worker, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={"PYTHONPATH": str(package)}
    )


def ask(worker: subprocess.Popen[str], kind: str) -> float:
    """Seconds of the processor that a fit takes."""
    told, heard = worker.stdin, worker.stdout
    assert told is not None
    assert heard is not None
    told.write(kind + "\n")
    told.flush()
    return float(heard.readline())


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", type=Path, help="also write the records to this file")
    options = parser.parse_args()
    records: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        ours = start(build(Path(folder) / "ours", of_the_library=False))
        theirs = start(build(Path(folder) / "theirs", of_the_library=True))
        for kind in KINDS:
            pairs = [(ask(ours, kind), ask(theirs, kind)) for _ in range(options.rounds)]
            best = [min(each) for each in zip(*pairs, strict=True)]
            records.append(
                {
                    "bench": "own math",
                    "fit": kind,
                    "ours": best[0],
                    "library": best[1],
                    "ratio": best[0] / best[1],
                }
            )
            print(f"{kind:<22}{best[0]:8.3f} s{best[1]:8.3f} s{best[0] / best[1]:8.3f}", flush=True)
        for worker in (ours, theirs):
            worker.kill()
    if options.json:
        lines = [*records, {"bench": "about", "command": "python -m benchmarks.speed.own_math", **machine()}]
        options.json.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
