"""What the level phase costs beside the bare histogram kernel: the same partitions, levels and subtraction.

    python -m benchmarks.scale.levels --rows 2000000 --features 20 --depth 8 --rounds 5

All variants take turns, round after round, on one thread; the best round of each counts, in CPU seconds of
the process. `bare` counts rows whose slots are known; `afresh` also sends every row down from the root, as a
task on a cluster does; `recalled` goes on from the last level; `grow` is the whole of `Grower.grow_by_level`.
With --regression the target is numeric, and squares are added up too: for corrected splits, and for the evidence.
"""

import argparse
import json
import time

import numpy as np

from hornbeam.data.binning.bins import Bins
from hornbeam.data.encoded_rows import EncodedRows
from hornbeam.data.engine import LocalEngine
from hornbeam.data.numeric_target import NumericTarget
from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.data.sources import MemorySource
from hornbeam.data.table import Table
from hornbeam.growing.criterion import Criterion
from hornbeam.growing.grower import Grower
from hornbeam.growing.levelwise import counting
from hornbeam.growing.levelwise.task_context import NodeOfRowCache, TaskContext
from hornbeam.kernels import levelwise, subtree
from hornbeam.kernels.subtree import Rows
from hornbeam.tree.evidence.count import evidence_units


def made(n_rows, n_features, regression):
    """Codes of 255 bins, and classes or numbers that lean on the first ten of them; the options of growing."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 255, (n_rows, n_features), dtype=np.uint8)
    score = rng.normal(0, 60, n_rows)
    for f in range(min(10, n_features)):
        score += codes[:, f] / (f + 1)
    edges = tuple(np.arange(254) + 0.5 for _ in range(n_features))
    bins = Bins(edges, None, np.full(n_features, 255, np.int32), np.zeros(n_features, bool))
    features = tuple(Feature(f"x{f}") for f in range(n_features))
    if not regression:
        label = (score > np.median(score)).astype(np.uint16)
        return EncodedRows(Rows(codes, label, None)), bins, Schema(features, ("no", "yes")), {}
    schema, target = Schema(features, (), Kind.NUMERIC), NumericTarget.of(score)
    rows = Rows(codes, np.empty(0, np.uint16), None, target.numerators())
    table = Table(schema, (score,) * n_features, numeric_target=target)  # only the target is read
    return (
        EncodedRows(rows),
        bins,
        schema,
        {"unit": evidence_units(table), "target": MemorySource(table)},
    )


def orders_of(grower, source, bins, schema, options):
    """What the passes of one tree were asked to count."""
    orders, count = [], counting._count_cells

    def listen(partitions, order):
        orders.append(order)
        return count(partitions, order)

    counting._count_cells = listen
    try:
        grower.grow_by_level(source, bins, schema, LocalEngine(), gather_rows=0, **options)
    finally:
        counting._count_cells = count
    return orders


def variants(grower, source, bins, schema, options):
    """The contestants, by name."""
    orders, partitions = orders_of(grower, source, bins, schema, options), source.partitions()
    slots = [
        [
            o.slot_of_node[levelwise.descend(source.read(u).codes, o.context.spec, o.context.code_tree)]
            for u in partitions
        ]
        for o in orders
    ]

    def bare():
        for order, known in zip(orders, slots, strict=True):
            terms = order.context.spec
            cells = subtree.zero_cells(terms, order.n_slots, weighted=False)
            for unit, mine in zip(partitions, known, strict=True):
                rows = source.read(unit)
                subtree.histogram(rows, terms, 0, rows.n_rows, cells, mine)

    def counted(room):
        memory = NodeOfRowCache(room)
        for order in orders:
            context = TaskContext(source, order.context.spec, order.context.code_tree, memory)
            cells = subtree.zero_cells(context.spec, order.n_slots, weighted=False)
            squares = np.zeros(levelwise.SQUARE_PARTS * order.n_slots, np.int64)
            for partition in partitions:
                context.count(partition, source.read(partition), order.slot_of_node, cells, squares)

    def grow(gather_rows):
        return grower.grow_by_level(source, bins, schema, LocalEngine(), gather_rows=gather_rows, **options)

    return {
        "bare": bare,
        "afresh": lambda: counted(0),
        "recalled": lambda: counted(1 << 40),
        "grow": lambda: grow(0),
        "grow at home": lambda: grow(1 << 40),
    }


def main():
    """Measure, and print one record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    for name, default in (("rows", 2_000_000), ("features", 20), ("depth", 8), ("rounds", 5)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--regression", action="store_true")
    options = parser.parse_args()
    grower = Grower(max_depth=options.depth)
    if options.regression:
        grower = Grower(Criterion.SQUARED_ERROR, max_depth=options.depth, corrected=True)
    named = variants(grower, *made(options.rows, options.features, options.regression))
    seconds = {name: [] for name in named}
    for _ in range(options.rounds):
        for name, run in named.items():
            begin = time.process_time()
            run()
            seconds[name].append(time.process_time() - begin)
    best = {name: round(min(times), 4) for name, times in seconds.items()}
    ratios = {name: round(figure / best["bare"], 2) for name, figure in best.items()}
    print(json.dumps(vars(options) | {"seconds": best, "ratios": ratios}))


if __name__ == "__main__":
    main()
