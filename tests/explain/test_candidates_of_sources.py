"""Candidate splits of files and sources: the table of rows in memory, bit for bit, and that of a slow twin."""

import re
from dataclasses import replace

import numpy as np
import pytest

from hornbeam import TreeClassifier, TreeRegressor
from hornbeam.data.engine import LocalEngine
from hornbeam.data.numeric_target import NumericTarget
from hornbeam.data.schema import Kind
from hornbeam.data.sources import MemorySource
from hornbeam.data.table import Table
from hornbeam.errors import DataError, ParameterError, SchemaError
from hornbeam.explain.candidates.list_splits import candidate_splits
from hornbeam.growing.criterion import Criterion, Missing, Nominal
from hornbeam.growing.grower import Grower
from support.examples import examples
from support.reference_candidates import check_chosen, check_scan, exactly
from support.strategies_growing import OF_CLASSES, bins_of, random_table


def drawn_table(seed: int, n_rows: int) -> Table:
    """Numbers and categories with ties and missing values, weights or none; a numeric target in one table of three."""
    rng = np.random.default_rng(seed)
    table = random_table(
        seed,
        n_rows=n_rows,
        n_classes=int(rng.choice([2, 2, 3, 4])),
        n_numeric=int(rng.integers(0, 3)),
        n_nominal=int(rng.integers(1, 3)),
        n_categories=int(rng.integers(2, 7)),
        n_values=int(rng.choice([2, 6, 1000])),
        missing=rng.choice([0.0, 0.1, 0.5]),
        weights=str(rng.choice(["none", "whole", "real"])),
        noise=rng.choice([0.1, 0.5, 1.0]),
    )
    return as_numbers(table, rng) if seed % 3 == 0 else table


def as_numbers(table: Table, rng) -> Table:
    values = table.target + rng.normal(size=table.n_rows).round(2) + rng.choice([0.0, 1e3])
    schema = replace(table.schema, classes=(), target_kind=Kind.NUMERIC)
    measured = NumericTarget.of(values, table.weight, table.unit)
    return replace(table, schema=schema, target=None, numeric_target=measured)


def drawn_grower(seed: int, table: Table, **settings) -> Grower:
    """Every criterion, every treatment of nominal features and missing values, limits and monotone constraints."""
    rng = np.random.default_rng([seed, 1])
    numeric = table.numeric_target is not None
    missing = Missing(rng.choice([Missing.OWN, Missing.LEARNED, *[Missing.FRACTIONAL] * (not numeric)]))
    monotone = None
    if (numeric or table.schema.n_classes == 2) and missing is not Missing.FRACTIONAL and seed % 4 == 0:
        monotone = tuple(
            0 if feature.kind is Kind.NOMINAL else int(rng.integers(-1, 2))
            for feature in table.schema.features
        )
    return Grower(
        criterion=Criterion.SQUARED_ERROR if numeric else Criterion(rng.choice(OF_CLASSES)),
        nominal_split=Nominal(rng.choice(list(Nominal))),
        missing=missing,
        min_samples_leaf=int(rng.choice([1, 1, 3])),
        min_weight_leaf=float(rng.choice([0.0, 2.0])),
        monotonic_cst=monotone,
        corrected=bool(rng.integers(2)),
        **settings,
    )


def in_blocks(table: Table, seed: int) -> tuple[MemorySource, LocalEngine]:
    """The rows in small partitions, which tasks of any number take from the last to the first."""
    return MemorySource(table, block=2 + seed % 7), LocalEngine(n_tasks=1 + seed % 3, reverse=bool(seed % 2))


def test_tables_equal_the_slow_twin_and_those_of_sources():
    for seed in range(examples(300).max_examples):
        table = drawn_table(seed, n_rows=4 + seed % 9)
        grower = drawn_grower(seed, table)
        check_scan(table, grower)
        tree = grower.grow(table, bins_of(table))
        source, engine = in_blocks(table, seed)
        node = seed // 2 % tree.n_nodes if seed % 2 else 0
        in_memory = candidate_splits(tree, table, None, node, held_out=table)
        counted = candidate_splits(tree, source, None, node, held_out=source, engine=engine)
        assert exactly(counted) == exactly(in_memory), seed
        assert tree.skeleton.feature[node] < 0 or counted[0].chosen, seed


@pytest.mark.parametrize("seed", [0, 1, 4])
def test_all_splits_of_a_feature_at_deep_nodes(seed):
    table = drawn_table(seed, n_rows=60)
    tree = drawn_grower(seed, table, max_depth=3).grow(table, bins_of(table))
    check_chosen(tree, tree, table)
    source, engine = MemorySource(table, block=25), LocalEngine(n_tasks=2)
    for node in range(1, tree.n_nodes, 2):
        for feature in range(table.schema.n_features):
            in_memory = candidate_splits(tree, table, None, node, feature=feature)
            counted = candidate_splits(tree, source, None, node, feature=feature, engine=engine)
            assert exactly(counted) == exactly(in_memory)


# ---- files


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two Parquet files of small row groups, and all their rows as a frame."""
    pd, pq = pytest.importorskip("pandas"), pytest.importorskip("pyarrow.parquet")
    import pyarrow as pa

    rng = np.random.default_rng(4)
    rows = pd.DataFrame(
        {
            "income": rng.normal(30, 9, 900).round(1),
            "home": rng.choice(["owns", "rents", None], 900),
            "age": rng.integers(18, 90, 900).astype(float),
            "weight": rng.choice([0.0, 0.5, 1.0, 2.0], 900),
        }
    )
    rows.loc[rng.random(900) < 0.1, "age"] = np.nan
    score = rows.income + 9 * (rows.home == "rents") + rng.normal(0, 9, 900)
    rows["paid"] = np.where(score > 35, "yes", "no")
    rows["amount"] = score.round(2)
    place = tmp_path_factory.mktemp("rows")
    for at, part in enumerate((rows[:500], rows[500:])):
        pq.write_table(
            pa.Table.from_pandas(part, preserve_index=False), place / f"{at}.parquet", row_group_size=120
        )
    return place, rows


FEATURES = ["income", "home", "age"]


@pytest.mark.parametrize("preset", ["default", "cart", "c4.5"])
@pytest.mark.parametrize("class_weight", [None, {"yes": 3.0, "no": 0.7}])
def test_files_give_the_table_of_rows_in_memory(folder, preset, class_weight):
    place, rows = folder
    X, y, weight = rows[FEATURES], rows.paid, rows.weight
    clf = TreeClassifier(preset, max_depth=3, class_weight=class_weight, smoothing=None)
    clf.fit(X, y, sample_weight=weight)
    for node in range(min(5, clf.tree_.n_nodes)):
        in_memory = candidate_splits(clf, X, y, node, sample_weight=weight, held_out=(X, y, weight))
        in_files = candidate_splits(
            clf,
            place,
            "paid",
            node,
            sample_weight="weight",
            held_out=(place, "paid", "weight"),
            engine=LocalEngine(n_jobs=2),
        )
        assert exactly(in_files) == exactly(in_memory)
        if clf.tree_.skeleton.feature[node] >= 0:
            assert in_files[0].chosen
            assert in_files[0].association == 1


def test_files_with_a_numeric_target(folder):
    place, rows = folder
    reg = TreeRegressor(max_depth=3, smoothing=None).fit(rows[FEATURES], rows.amount)
    for node in range(3):
        in_memory = candidate_splits(
            reg, rows[FEATURES], rows.amount, node, held_out=(rows[FEATURES], rows.amount)
        )
        in_files = candidate_splits(
            reg, [place / "0.parquet", place / "1.parquet"], "amount", node, held_out=(str(place), "amount")
        )
        assert exactly(in_files) == exactly(in_memory)
        assert in_files[0].chosen


def test_associations_with_the_split_of_the_tree_at_another_feature_or_threshold(folder):
    _, rows = folder
    clf = TreeClassifier("cart", max_depth=1).fit(rows[FEATURES], rows.paid)
    editor = clf.edit(rows[FEATURES], rows.paid)
    best = candidate_splits(clf, rows[FEATURES], rows.paid)
    alike = max(
        candidate_splits(clf, rows[FEATURES], rows.paid, feature="age"), key=lambda one: one.association
    )
    mine = next(one for one in best if one.feature == "age")
    assert 0 <= mine.association <= alike.association <= 1
    editor.set_threshold(0, clf.tree_.skeleton.threshold[0] + 0.01)
    edited = editor.candidates(0)
    assert edited.chosen is None or edited.chosen.association == 1
    assert edited[0].association == pytest.approx(1.0)


# ---- errors


def test_wrong_sources_are_refused(folder):
    place, rows = folder
    clf = TreeClassifier("cart", max_depth=2).fit(rows[FEATURES], rows.paid)
    table = Table.read(rows[FEATURES], rows.paid, schema=clf.tree_.schema)
    other = Table.read(rows[["age"]], rows.paid)
    leaf = clf.apply(rows[FEATURES])[0]
    elsewhere = table.take(np.flatnonzero(clf.apply(rows[FEATURES]) != leaf))
    weighted = TreeClassifier("cart", max_depth=2, class_weight={"yes": 2.0}).fit(rows[FEATURES], rows.paid)
    for arguments, error, words in [
        ((clf, place, rows.paid), ParameterError, "expected the name of their column"),
        ((clf, place / "none.parquet", "paid"), DataError, "none.parquet"),
        ((clf, MemorySource(table), rows.paid), ParameterError, "Pass y=None"),
        ((clf, MemorySource(other), None), SchemaError, "schema=tree.schema"),
        ((weighted, MemorySource(table), None), SchemaError, "other class weights than those of the fit"),
        ((clf, MemorySource(table), None, 99), ParameterError, "node=99"),
        ((clf, MemorySource(elsewhere), None, leaf), DataError, f"reaches node {leaf}"),
    ]:
        with pytest.raises(error, match=re.escape(words)):
            candidate_splits(*arguments)


def test_unseen_categories_of_files_have_the_words_of_memory(folder, tmp_path):
    _, rows = folder
    clf = TreeClassifier("cart", max_depth=2).fit(rows[FEATURES], rows.paid)
    new = rows.assign(home=np.where(rows.age > 80, "camps", rows.home))
    new.to_parquet(tmp_path / "rows.parquet", index=False)
    said = []
    for X, y in ((new[FEATURES], new.paid), (tmp_path, "paid")):
        with pytest.raises(DataError, match=r"have a category of 'home' .* Leave these rows out") as caught:
            candidate_splits(clf, X, y)
        said.append(str(caught.value))
    assert said[0] == said[1]
