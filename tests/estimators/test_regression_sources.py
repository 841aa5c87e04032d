"""`TreeRegressor` fitted to files and sources: the tree of the same rows in memory."""

import numpy as np
import pandas as pd
import pytest

from hornbeam import TreeClassifier, TreeRegressor, load, save
from hornbeam.data.engine import LocalEngine
from hornbeam.data.schema import Kind
from hornbeam.data.sources import MemorySource
from hornbeam.data.table import Table
from hornbeam.errors import DataError, ParameterError

pytest.importorskip("pyarrow")

from hornbeam.data.files.parquet import scan_parquet

FEATURES = ["area", "rooms", "town"]
SMALL = 10_000  # bytes: these rows do not fit
WEIGHTS = [None, "times", "shares", "normal"]


def frame(n=600, seed=0):
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame(
        {
            "area": rng.normal(size=n).round(2),
            "rooms": rng.integers(1, 9, n),
            "town": rng.choice(["Bern", "Graz", "Ulm", None], n),
            "times": rng.integers(0, 4, n),  # rows of weight 0 are dropped
            "shares": rng.exponential(size=n),
        }
    )
    rows["normal"] = rows["shares"] / rows["shares"].sum()
    rows["price"] = (
        1e5 * rows["rooms"] + 3e4 * (rows["town"] == "Graz") * rows["area"] + rng.normal(size=n) * 1e4
    )
    rows.loc[rng.random(n) < 0.1, "area"] = np.nan
    return rows


ROWS = frame()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("homes")
    for part in range(3):
        ROWS.iloc[part * 200 : (part + 1) * 200].to_parquet(place / f"{part}.parquet", row_group_size=70)
    return place


def opened(folder, weight=None):
    return scan_parquet(
        folder, target="price", sample_weight=weight, features=FEATURES, target_kind=Kind.NUMERIC
    )


def in_memory(weight=None, **parameters):
    return TreeRegressor(**parameters).fit(
        ROWS[FEATURES], ROWS["price"], None if weight is None else ROWS[weight]
    )


@pytest.mark.parametrize("weight", WEIGHTS)
def test_a_source_has_the_units_of_all_rows_in_memory(folder, weight):
    source = opened(folder, weight)
    table = Table.read(
        ROWS[FEATURES],
        ROWS["price"],
        sample_weight=None if weight is None else ROWS[weight],
        target_kind=Kind.NUMERIC,
    )
    parts = [source.read(partition) for partition in source.partitions()]
    assert {(part.numeric_target.unit, part.numeric_target.square_unit, part.unit) for part in parts} == {
        (table.numeric_target.unit, table.numeric_target.square_unit, table.unit)
    }
    np.testing.assert_array_equal(
        np.concatenate([part.numeric_target.values for part in parts]), table.numeric_target.values
    )
    assert source.schema == table.schema


@pytest.mark.parametrize("weight", WEIGHTS)
def test_files_larger_than_memory(folder, tmp_path, weight):
    """Level by level, with and without a cache, for several groups of partitions."""
    parameters = {"smoothing": "m-branch", "max_depth": 5}
    expected = in_memory(weight, **parameters).tree_
    engines = (LocalEngine(n_tasks=1), LocalEngine(n_tasks=3, reverse=True), LocalEngine(n_tasks=16))
    for cache, engine in zip((None, False, tmp_path), engines, strict=True):
        options = {"memory": SMALL, "cache": cache, "engine": engine}
        reg = TreeRegressor(**parameters).fit(opened(folder, weight), **options)
        assert reg.tree_.digest == expected.digest
        assert reg.tree_.history == expected.history
    assert any(tmp_path.iterdir())
    again = TreeRegressor(**parameters).fit(opened(folder, weight), memory=SMALL, cache=tmp_path)
    assert again.tree_.digest == expected.digest


@pytest.mark.parametrize("settings", [{}, {"preset": "cart", "pruning": "cost-complexity"}], ids=str)
def test_files_that_fit_memory_give_the_model_of_their_rows(folder, settings):
    features = [name for name in ROWS if name not in ("price", "times")]
    expected = TreeRegressor(**settings).fit(ROWS[features], ROWS["price"], ROWS["times"])
    reg = TreeRegressor(**settings).fit(folder, "price", "times")
    assert reg.tree_.digest == expected.tree_.digest
    assert reg.feature_names_in_.tolist() == features
    np.testing.assert_array_equal(reg.predict(folder), expected.predict(ROWS[features]))


def test_cross_fitted_smoothing_by_level_does_not_depend_on_the_engine(folder):
    one, other = (
        TreeRegressor().fit(opened(folder), memory=SMALL, engine=engine)
        for engine in (LocalEngine(), LocalEngine(2, n_tasks=5, reverse=True))
    )
    assert one.tree_.digest == other.tree_.digest
    assert one.tree_.history[-1].name == other.tree_.history[-1].name


def test_growing_on_a_sample_counts_all_rows(folder):
    reg = TreeRegressor("cart", min_samples_leaf=0.1).fit(opened(folder), grow_rows=200)
    assert reg.tree_.rows[0] == len(ROWS)
    assert reg.tree_.belief[0, 0] == pytest.approx(ROWS["price"].mean())
    assert dict(reg.tree_.history[0].parameters)["min_samples_leaf"] == 20
    rows = TreeRegressor("cart").fit(ROWS[FEATURES], ROWS["price"], grow_rows=200)
    assert [step.name for step in rows.tree_.history] == ["grow", "count-on-all"]


def test_a_model_fitted_to_files_is_saved_like_any_other(folder, tmp_path):
    reg = TreeRegressor("cart", max_depth=3).fit(folder, "price", memory=SMALL)
    save(reg, tmp_path / "model.hornbeam")
    np.testing.assert_array_equal(load(tmp_path / "model.hornbeam").predict(folder), reg.predict(folder))


def test_wrong_targets_are_refused(folder, tmp_path):
    with pytest.raises(ParameterError, match="X is a Source with a nominal target; expected a numeric one"):
        TreeRegressor().fit(MemorySource(Table.read([[1.0], [2.0]], ["a", "b"])))
    with pytest.raises(ParameterError, match="X is a Source with a numeric target; expected a nominal one"):
        TreeClassifier().fit(opened(folder))
    with pytest.raises(DataError, match=r"not numbers.*Class labels need a classifier"):
        TreeRegressor().fit(folder, "town")
    with pytest.raises(ParameterError, match="class_weight was given, and the target is numeric"):
        scan_parquet(folder, target="price", target_kind=Kind.NUMERIC, class_weight="balanced")
    holes = ROWS[["rooms", "price"]].copy()
    holes.loc[3, "price"] = np.nan
    holes.to_parquet(tmp_path / "holes.parquet")
    with pytest.raises(DataError, match="Input y contains NaN"):
        TreeRegressor().fit(tmp_path, "price")
