"""The tree does not depend on the engine, its tasks and blocks, or the order of the rows."""

from functools import partial

import numpy as np
import pandas as pd
import pytest

from hornbeam import TreeClassifier
from hornbeam.data.encoded_rows import EncodedRows, EncodingSource
from hornbeam.data.schema import Kind
from hornbeam.data.sources import MemorySource
from hornbeam.data.table import Table
from hornbeam.growing.criterion import Criterion
from hornbeam.growing.grower import Grower
from hornbeam.kernels.subtree import Rows
from hornbeam.tree.evidence.count import evidence_units
from support.strategies_growing import bins_of, random_table

TABLE = random_table(3, n_rows=400, n_classes=3, weights="real", missing=0.1, noise=0.5)
BINS = bins_of(TABLE)
ROWS = Rows(BINS.encode(TABLE), TABLE.target.astype(np.uint16), TABLE.weight)
GROWER = Grower(max_depth=6)
TREE = GROWER.grow(TABLE, BINS)


def digest(engine, *, reverse=False, **settings):
    order = slice(None, None, -1) if reverse else slice(None)
    codes, label, weight, _ = ROWS
    rows = Rows(*(np.ascontiguousarray(array[order]) for array in (codes, label, weight)))
    source = EncodedRows(rows, block=25)
    grown = GROWER.grow_by_level(source, BINS, TABLE.schema, engine, unit=TABLE.unit, **settings)
    return grown.digest


@pytest.mark.parametrize(
    ("n_tasks", "settings"),
    [
        (1, {"gather_rows": 0}),
        (7, {"gather_rows": 60}),
        (7, {"gather_rows": 0, "budget": 40_000}),  # less than one node needs: blocks, and few nodes per pass
        (3, {"gather_rows": 60, "reverse": True}),
    ],
    ids=["sums", "gathered", "blocks", "reversed"],
)
def test_every_engine_grows_the_same_tree(engine_of, n_tasks, settings):
    assert digest(engine_of(n_tasks=n_tasks), **settings) == TREE.digest


@pytest.mark.parametrize(
    ("n_tasks", "settings"), [(3, {"gather_rows": 60}), (16, {"gather_rows": 0, "budget": 40_000})]
)
def test_every_engine_grows_the_same_regression_tree(engine_of, n_tasks, settings):
    values = np.random.default_rng(0).normal(TABLE.target)
    X = np.column_stack([column.astype(float) for column in TABLE.columns])
    table = Table.read(X, values, sample_weight=TABLE.weight * TABLE.unit, target_kind=Kind.NUMERIC)
    bins, source = bins_of(table), MemorySource(table, block=25)
    grower = Grower(Criterion.SQUARED_ERROR, max_depth=6, corrected=True)
    grown = grower.grow_by_level(
        EncodingSource(source, bins),
        bins,
        table.schema,
        engine_of(n_tasks=n_tasks),
        unit=evidence_units(table),
        target=source,
        **settings,
    )
    assert grown.digest == grower.grow(table, bins).digest


@pytest.mark.parametrize("memory", [None, 5_000], ids=["in memory", "level by level"])
def test_every_engine_holds_out_the_same_groups(engine_of, memory, tmp_path):
    rng = np.random.default_rng(4)
    patient = np.repeat(np.arange(30), 8)
    rows = pd.DataFrame(rng.normal(size=(30, 2))[patient], columns=["a", "b"]).assign(
        c=rng.normal(size=240),
        patient=[f"p{number}" for number in patient],
        y=rng.integers(0, 2, 30)[patient],
    )
    rows.to_parquet(tmp_path / "0.parquet", row_group_size=50)
    fit = partial(TreeClassifier().fit, tmp_path, "y", groups="patient", memory=memory)
    expected = fit().tree_
    assert fit(engine=engine_of(n_tasks=3), cache=False).tree_.digest == expected.digest
    assert str(expected.history[0]) == "groups(n=30)"
    if memory is None:
        X = rows.drop(columns="y")
        assert TreeClassifier().fit(X, rows["y"], groups="patient").tree_.digest == expected.digest
