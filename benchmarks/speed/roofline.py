"""What share of the machine the kernels use: bytes and operations of a row, beside what one core can do.

    python -m benchmarks.speed.roofline --json FILE

The machine's limits are measured first, by a C++ program that this script compiles: copying an array that is larger
than the caches (STREAM's copy), incrementing counters that fit the first cache, and steps of dependent loads from an
array of the size of a tree. One thread; the least of several rounds.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.output import machine

ROWS, FEATURES, CODES, CLASSES, ROUNDS = 1_000_000, 20, 255, 2, 7
LIMITS = r"""
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>
template <class Work> double least(Work work) {
    double best = 1e9;
    for (int round = 0; round < 9; ++round) {
        const auto begin = std::chrono::steady_clock::now();
        work();
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        if (took.count() < best) best = took.count();
    }
    return best;
}
int main() {
    const size_t n = size_t{1} << 26, m = size_t{1} << 24;
    std::vector<char> from(n, 1), to(n, 2);
    const double copy = least([&] { std::memcpy(to.data(), from.data(), n); });
    std::vector<uint8_t> code(m);
    uint64_t state = 1;
    for (auto& c : code) c = static_cast<uint8_t>((state = state * 6364136223846793005u + 1442695040888963407u) >> 56);
    std::vector<int32_t> cells(20 * 512);
    const double increments = least([&] {
        for (size_t i = 0; i + 20 <= m; i += 20)
            for (int f = 0; f < 20; ++f) ++cells[f * 512 + 2 * code[i + f] + (i & 1)];
    });
    std::vector<uint32_t> next(1 << 10);
    for (size_t i = 0; i < next.size(); ++i) next[i] = static_cast<uint32_t>((i * 613 + 7) & 1023);
    uint32_t at = 0;
    const double steps = least([&] {
        for (size_t i = 0; i < m; ++i) at = next[at];
    });
    std::printf("%g %g %g %u\n", 2.0 * n / copy, (m / 20 * 20) / increments, m / steps, at + cells[7] + to[9]);
}
"""


class Limits(NamedTuple):
    """What one core can do in a second."""

    bytes_copied: float  # read and written
    increments: float
    dependent_loads: float


class Kernel(NamedTuple):
    """A kernel: its seconds for some items, and what it must do for each of them."""

    name: str
    item: str
    seconds: float
    items: int
    bytes_moved: float
    operations: float
    operation: str


def limits() -> Limits:
    compiler = shutil.which("c++") or shutil.which("g++")
    if compiler is None:
        raise SystemExit("no C++ compiler: the limits of the machine cannot be measured")
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder, "limits.cpp"), Path(folder, "limits")
        source.write_text(LIMITS)
        subprocess.run([compiler, "-O2", "-std=c++17", source, "-o", program], check=True)
        printed = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    return Limits(*map(float, printed.split()[:3]))


def least(call: Callable[[], object], prepare: Callable[[], object] = lambda: None) -> float:
    """The least wall seconds of a call."""
    best = float("inf")
    for _ in range(ROUNDS):
        prepare()
        begin = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - begin)
    return best


def kernels(n_rows: int) -> list[Kernel]:
    from benchmarks.speed.pruning import random_tree
    from hornbeam import TreeClassifier
    from hornbeam.kernels import subtree
    from hornbeam.kernels.subtree import GrowthSpec, Rows, Split
    from hornbeam.kernels.sweep import ExpectedCosts, PruneSweep
    from hornbeam.smoothing import Laplace

    rng = np.random.default_rng(0)
    codes = rng.integers(0, CODES, (n_rows, FEATURES), dtype=np.uint8)
    rows = Rows(codes, rng.integers(0, CLASSES, n_rows).astype(np.uint16), None, None)
    n_codes = np.full(FEATURES, CODES, np.int32)
    spec = GrowthSpec.of(n_codes, np.zeros(FEATURES, np.uint8), None, None, CLASSES, 0, subtree.Rules())
    cells = subtree.empty_cells(rows, spec)
    row_bytes = FEATURES + 2.0
    found = [
        Kernel(
            *("histogram", "row", least(lambda: subtree.histogram(rows, spec, 0, n_rows, cells)), n_rows),
            *(row_bytes, FEATURES, "increments"),
        )
    ]
    side = (np.arange(CODES + 1) > CODES // 2).astype(np.int32)
    split = Split(0, 0.0, CODES // 2, CODES // 2 + 1, 1, 2, side)
    kept = codes.copy(), rows.label.copy()

    def restore() -> None:
        codes[:], rows.label[:] = kept

    seconds = least(lambda: subtree.partition(rows, spec, 0, n_rows, split), restore)
    found.append(Kernel("partition", "row", seconds, n_rows, 2 * row_bytes, row_bytes / 8, "words moved"))

    X = rng.normal(size=(n_rows, FEATURES))
    y = (X[:20_000, 0] + X[:20_000, 1] * X[:20_000, 2] > 0).astype(int)
    tree = TreeClassifier("cart", max_leaf_nodes=500).fit(X[:20_000], y).tree_
    router, out = tree.skeleton.router, np.empty(n_rows, np.int32)
    seconds = least(lambda: router.nodes(X, out))
    depth = float(len(tree.skeleton.levels) - 2)
    found.append(
        Kernel(
            "route", "row", seconds, n_rows, 8.0 * FEATURES + 4, depth, "dependent loads, eight rows at once"
        )
    )

    large = Laplace()(random_tree(n_rows, CLASSES))
    costs = ExpectedCosts(large.evidence, 1.0, large.belief, 1.0 - np.eye(CLASSES))
    shape = large.skeleton.first_child, large.skeleton.n_children
    sweep = PruneSweep(*shape, costs)
    n_nodes = large.n_nodes
    moved = 2 * 8.0 * CLASSES + 2 * 4 + 2 * 8 + 1
    found.append(
        Kernel(
            *("sweep", "node", least(lambda: sweep.decide(0, n_nodes)), n_nodes),
            *(moved, 2.0 * CLASSES * CLASSES, "multiplications and additions"),
        )
    )
    return found


def table(measured: dict[str, Any]) -> str:
    """The measurements in Markdown."""
    limit = Limits(*measured["limits"])
    head = ["kernel", "ns", "bytes", "GB/s", "share of copying", "operations", "share of the limit"]
    lines = [f"| {' | '.join(head)} |", "|---|--:|--:|--:|--:|---|--:|"]
    rates = {"increments": limit.increments, "dependent loads, eight rows at once": 8 * limit.dependent_loads}
    for one in (Kernel(**each) for each in measured["kernels"]):
        speed = one.bytes_moved * one.items / one.seconds
        rate = rates.get(one.operation)
        share = "" if rate is None else f"{one.operations * one.items / one.seconds / rate:.0%}"
        lines.append(
            f"| {one.name} | {1e9 * one.seconds / one.items:.1f} per {one.item} | {one.bytes_moved:.0f} | "
            f"{speed / 1e9:.1f} | {speed / limit.bytes_copied:.0%} | {one.operations:.0f} {one.operation} | {share} |"
        )
    per_second = (
        f"{limit.increments / 1e9:.2f} · 10⁹ increments and {limit.dependent_loads / 1e9:.2f} · 10⁹ loads"
    )
    below = f"One core copies {limit.bytes_copied / 1e9:.1f} GB/s (read and written), and does {per_second} a second."
    return "\n".join([*lines, "", below])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path, help="file for the measurements")
    parser.add_argument("--rows", type=int, default=ROWS)
    options = parser.parse_args()
    measured = {
        "limits": list(limits()),
        "kernels": [one._asdict() for one in kernels(options.rows)],
        "machine": machine(),
    }
    if options.json is not None:
        options.json.write_text(json.dumps(measured) + "\n", encoding="utf-8")
    print(table(measured))


if __name__ == "__main__":
    main()
