"""`TreeRegressor(distribution=True)`: quantiles, ranges of rows and samples, from fit to file."""

from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import make_friedman1

import hornbeam
from hornbeam import TreeClassifier, TreeRegressor
from hornbeam.errors import DataError, ParameterError, StorageError
from hornbeam.estimators.persistence.files import pack, unpack
from support.examples import examples

LEVELS = [0.05, 0.1, 0.5, 0.9, 0.95]


def skewed(n, seed):
    """Waiting times, longer and more different to the right; a few are far out."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 3))
    return X, np.exp(2 * X[:, 0] + (0.3 + X[:, 1]) * rng.normal(size=n)) + (rng.random(n) < 0.02) * 50


def fitted(X, y, preset="default", **options):
    return TreeRegressor(preset, distribution=True, n_jobs=options.pop("n_jobs", None)).fit(X, y, **options)


@pytest.fixture(scope="module")
def model():
    return fitted(*skewed(600, 0))


def pinball(y, predicted):
    apart = y[:, None] - predicted
    return np.maximum(LEVELS * apart, (np.array(LEVELS) - 1) * apart).mean()


def test_the_means_stay_the_same(model):
    X, y = skewed(600, 0)
    plain = TreeRegressor().fit(X, y)
    assert plain.tree_.digest == model.tree_.digest
    assert plain._distribution is None


def test_borrowing_predicts_quantiles_better_than_the_rows_of_a_leaf():
    X, y = make_friedman1(600, noise=1.0, random_state=0)
    new_X, new_y = make_friedman1(3_000, noise=1.0, random_state=1)
    model = fitted(X, y)
    leaf, new_leaf = model.apply(X), model.apply(new_X)
    own = np.array([np.quantile(y[leaf == one], LEVELS, method="inverted_cdf") for one in new_leaf])
    assert pinball(new_y, model.predict_quantile(new_X, LEVELS)) < 0.8 * pinball(new_y, own)


@pytest.mark.parametrize("preset", ["default", "cart"])
def test_ranges_hold_their_share(preset):
    held = []
    for seed in range(5):
        X, y = skewed(2_300, 10 + seed)
        model = fitted(X[:300], y[:300], preset)
        ranges = [model.predict_interval(X[300:], level=level, kind="row") for level in (0.8, 0.9)]
        held.append([((low <= y[300:]) & (y[300:] <= high)).mean() for low, high in ranges])
    np.testing.assert_allclose(np.mean(held, axis=0), [0.8, 0.9], atol=0.03)


def test_ranges_hold_rows_of_new_groups():
    """Rows of a group have the same shift: without groups the ranges are too narrow."""
    held = {"with groups": [], "without": []}
    for seed in range(2):
        rng = np.random.default_rng(seed)
        group = np.repeat(np.arange(160), 6)
        shift = rng.normal(size=(160, 3))
        X = shift[group, :2] + 0.01 * rng.normal(size=(960, 2))
        y = shift[group, 2] + 0.1 * rng.normal(size=960)
        old = group < 80
        for name, groups in (("with groups", group[old]), ("without", None)):
            low, high = fitted(X[old], y[old], groups=groups).predict_interval(X[~old], level=0.8, kind="row")
            held[name].append(((low <= y[~old]) & (y[~old] <= high)).mean())
    assert np.mean(held["with groups"]) > 0.72
    assert np.mean(held["without"]) < 0.6


def test_samples_have_the_distribution(model):
    X, _ = skewed(40, 5)
    drawn = model.sample(X, 4_000, random_state=1)
    assert drawn.shape == (40, 4_000)
    np.testing.assert_allclose((drawn <= model.predict_quantile(X, [0.3])).mean(), 0.3, atol=0.01)
    np.testing.assert_array_equal(drawn, model.sample(X, 4_000, random_state=1))
    assert (drawn != model.sample(X, 4_000, random_state=2)).any()


def test_one_level_gives_a_vector_and_several_a_matrix(model):
    X, _ = skewed(7, 3)
    many = model.predict_quantile(X, LEVELS)
    assert many.shape == (7, 5)
    np.testing.assert_array_equal(model.predict_quantile(X), many[:, 2])
    np.testing.assert_array_equal(model.predict_quantile(X, np.array([0.5])), many[:, 2:3])


# ---- the same rows -----------------------------------------------------------------------------------------


@examples(6)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_order_threads_and_files_do_not_matter(tmp_path_factory, seed, weighted):
    rng = np.random.default_rng(seed)
    X, y = skewed(120, seed)
    weight = rng.integers(0, 4, 120) if weighted else None
    first = fitted(X, y, sample_weight=weight)
    order = rng.permutation(120)
    again = fitted(X[order], y[order], sample_weight=None if weight is None else weight[order], n_jobs=2)
    assert again._distribution.digest == first._distribution.digest
    if weighted:
        repeated = np.repeat(np.arange(120), weight)
        copies = fitted(X[repeated], y[repeated], groups="copies")
        assert copies._distribution.digest == first._distribution.digest
    path = tmp_path_factory.mktemp("rows") / "rows.parquet"
    columns = {
        "x0": X[:, 0],
        "x1": X[:, 1],
        "x2": X[:, 2],
        "y": y,
        "w": np.ones(120) if weight is None else weight,
    }
    pd.DataFrame(columns).to_parquet(path, row_group_size=50)
    assert fitted(path, "y", sample_weight="w")._distribution.digest == first._distribution.digest


@pytest.mark.parametrize("limit", [{"memory": 3_000}, {"grow_rows": 200}])
def test_all_rows_of_files_are_counted(tmp_path, limit):
    X, y = skewed(500, 2)
    pd.DataFrame({"x0": X[:, 0], "x1": X[:, 1], "x2": X[:, 2], "y": y}).to_parquet(
        tmp_path / "rows.parquet", row_group_size=100
    )
    model = fitted(tmp_path / "rows.parquet", "y", **limit)
    counts = model._distribution.tree.evidence
    np.testing.assert_array_equal(counts.sum(axis=1), model.tree_.evidence[:, 0])
    assert counts[0].sum() == 500
    low, high = model.predict_interval(tmp_path / "rows.parquet", level=0.8, kind="row")
    assert ((low <= y) & (y <= high)).mean() > 0.7
    path = tmp_path / "rows.parquet"
    frame = pd.read_parquet(path)
    np.testing.assert_array_equal(model.predict_quantile(path, LEVELS), model.predict_quantile(frame, LEVELS))
    np.testing.assert_array_equal(model.sample(path, 2), model.sample(frame, 2))


# ---- changes, and files ------------------------------------------------------------------------------------


def test_update_counts_and_forget_restores(model):
    changed, (X, y) = deepcopy(model), skewed(50, 9)
    weight = np.arange(50) % 3
    before = changed._distribution.digest
    changed.update(X, y, sample_weight=weight)
    counts = changed._distribution.tree.evidence
    np.testing.assert_array_equal(counts.sum(axis=1), changed.tree_.evidence[:, 0])
    assert changed._distribution.digest != before
    assert changed.forget(X, y, sample_weight=weight)._distribution.digest == before
    changed.update(X, y, decay=0.5).update(X, y, decay=0.7)
    assert np.isfinite(changed.predict_quantile(X, LEVELS)).all()


def test_rows_that_were_not_counted_change_nothing(model):
    changed, X = deepcopy(model), skewed(600, 0)[0]
    before = changed.tree_.digest, changed._distribution.digest
    counted, leaf = changed._distribution, changed.apply(X[:1])[0]
    empty = counted.bins.high[counted.tree.evidence[leaf] == 0]
    value = empty[np.abs(empty - changed.predict(X[:1])).argmin()]  # a sum without it is possible
    with pytest.raises(DataError, match="of the class"):
        changed.forget(X[:1], [value])
    assert (changed.tree_.digest, changed._distribution.digest) == before


def test_recount_and_edits_count_the_rows_again(model):
    X, y = skewed(600, 0)
    assert deepcopy(model).recount(X, y)._distribution.digest == model._distribution.digest
    assert deepcopy(model).recount(X[:99], y[:99])._distribution.tree.rows[0] == 99
    editor = deepcopy(model).edit(X, y)
    editor.prune(0)
    assert editor.finish()._distribution.tree.n_nodes == 1


@pytest.mark.parametrize("name", ["model.hornbeam", "model.safetensors"])
def test_a_file_gives_the_same_distribution(model, tmp_path, name):
    hornbeam.save(model, tmp_path / name)
    loaded = hornbeam.load(tmp_path / name)
    assert loaded.get_params() == model.get_params()
    assert loaded._distribution.digest == model._distribution.digest
    X, y = skewed(30, 3)
    np.testing.assert_array_equal(loaded.predict_quantile(X, LEVELS), model.predict_quantile(X, LEVELS))
    assert loaded.update(X, y)._distribution.digest == deepcopy(model).update(X, y)._distribution.digest


def test_the_next_fit_without_it_has_none(model):
    again = clone(model).set_params(distribution=False).fit(*skewed(60, 0))
    assert again._distribution is None
    assert "distribution" not in pack(again).settings
    assert "distribution" not in pack(again).learned


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("low", lambda old: old[::-1].copy()),
        ("low", lambda old: old[:-1]),
        ("high", lambda old: np.where(np.arange(len(old)) == 3, np.nan, old)),
        ("cells", lambda old: old[::-1].copy()),
        ("cells", lambda old: old + 10**9),
        ("cells", lambda old: old.astype(float)),
        ("counts", lambda old: -old),
        ("counts", lambda old: old * 2**60),
        ("counts", lambda old: old[1:]),
        ("unit", lambda old: 0.0),
        ("unit", lambda old: "1"),
        ("smoother", lambda old: hornbeam.tree.Step.of("HGS")),
        ("low_levels", lambda old: old + 1),
        ("high_levels", lambda old: old[:5]),
    ],
)
def test_wrong_values_of_a_file_are_refused(model, name, value):
    packed = pack(model)
    entry = dict(packed.learned["distribution"])
    entry[name] = value(entry[name])
    wrong = type(packed)(
        packed.schema,
        packed.trees,
        packed.estimator,
        packed.settings,
        {**packed.learned, "distribution": entry},
    )
    with pytest.raises(StorageError):
        unpack(wrong)


# ---- refusals ----------------------------------------------------------------------------------------------


def test_a_tree_without_a_distribution_says_how_to_get_one():
    model = TreeRegressor().fit(*skewed(60, 0))
    for call in (
        lambda: model.predict_quantile([[0, 0, 0]]),
        lambda: model.sample([[0, 0, 0]]),
        lambda: model.predict_interval([[0, 0, 0]], kind="row"),
    ):
        with pytest.raises(ParameterError, match="fitted with distribution=True"):
            call()


def test_a_teacher_of_ones_own_is_refused():
    with pytest.raises(ParameterError, match="expected teacher='ensemble'"):
        TreeRegressor(distribution=True, teacher=TreeRegressor()).fit(*skewed(60, 0))


def test_wrong_arguments(model):
    X, y = skewed(3, 0)
    for q in (0, 1, "0.5", [0.5, 2], [[0.5]], None):
        with pytest.raises(ParameterError, match="q="):
            model.predict_quantile(X, q)
    with pytest.raises(ParameterError, match="n=0"):
        model.sample(X, 0)
    with pytest.raises(ParameterError, match="kind='rows'"):
        model.predict_interval(X, kind="rows")
    with pytest.raises(ParameterError, match="level=1"):
        model.predict_interval(X, level=1, kind="row")
    with pytest.raises(ParameterError, match="distribution='yes'"):
        TreeRegressor(distribution="yes").fit(X, y)
    assert not hasattr(TreeClassifier(), "predict_quantile")


def test_few_rows():
    one = fitted([[0.0]], [3.0])
    assert one.predict_quantile([[5.0]], [0.1, 0.9]).tolist() == [[3.0, 3.0]]
    assert one.predict_interval([[5.0]], level=0.1, kind="row") == (-np.inf, np.inf)
    same = fitted(np.zeros((30, 1)), np.full(30, 7.0))
    assert same.predict_interval([[0.0]], kind="row") == (7.0, 7.0)


# ---- what people read --------------------------------------------------------------------------------------


def test_explanations_and_leaves_have_the_range_of_rows(model):
    X, _ = skewed(40, 7)
    low, high = model.predict_interval(X, level=0.8, kind="row")
    median, rows = model.predict_quantile(X), model.explain(X, level=0.8)
    found = [(one.row_range.low, one.row_range.median, one.row_range.high) for one in rows]
    np.testing.assert_array_equal(found, np.stack([low, median, high], axis=1))
    assert rows.to_dict()["row_median"] == median.tolist()
    counted = model._distribution.tree
    assert [one.row_range.rows for one in rows] == counted.rows[model.apply(X)].tolist()
    assert [one.row_range.borrowed for one in rows] == counted.borrowed[model.apply(X)].tolist()
    text = str(rows[0].row_range)
    assert text in str(rows[0])
    assert text in rows[0]._repr_html_()
    assert text.startswith("80 % of such rows between ")
    assert rows[0].to_dict()["row_range"]["high"] == high[0]
    leaves = model.leaves(level=0.8, inner=True)
    np.testing.assert_array_equal(leaves.row_range[model.apply(X), 1], median)
    assert leaves.to_dict()["row_low"] == leaves.row_range[:, 0].tolist()
    assert "80 % of rows" in str(leaves)
    assert text.partition(";")[0] in leaves.as_rules()


def test_without_a_distribution_nothing_is_said_of_single_rows():
    X, y = skewed(60, 0)
    plain = TreeRegressor().fit(X, y)
    assert plain.explain(X)[0].row_range is None
    assert "row_range" not in plain.explain(X)[0].to_dict()
    assert "row_low" not in plain.leaves().to_dict() | plain.explain(X).to_dict()
    assert "such rows" not in str(plain.explain(X[:1])) + plain.leaves().as_rules()


def test_a_range_of_few_rows_has_no_bounds():
    one = fitted([[0.0]], [3.0]).explain([[0.0]])[0].row_range
    assert str(one).startswith("too few rows for a range of 90 %, half of them 3 or less; own 1 rows")
    assert one.to_dict()["low"] is None


# ---- trees with terms --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sloped():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(120, 2))
    y = 6 * X[:, 0] + 3 * (X[:, 1] > 0.5) + rng.normal(size=120)
    found = TreeRegressor(teacher="ensemble", max_leaf_nodes=3, slopes=1, distribution=True).fit(X, y)
    assert len(found.tree_.slopes)
    return found, X, y


def test_terms_shift_the_distribution(sloped):
    model, X, _ = sloped
    node, tree = model.apply(X), model.tree_
    terms = model.predict(X) - tree.belief[node, 0]
    assert np.ptp(terms) > 1
    quantiles = model.predict_quantile(X, [0.1, 0.9]) - terms[:, None]
    low, high = model.predict_interval(X, level=0.8, kind="row")
    for one in np.unique(node):  # without its terms, all rows of a node have the same distribution
        np.testing.assert_allclose(
            quantiles[node == one], quantiles[node == one][:1].repeat((node == one).sum(), 0)
        )
        np.testing.assert_allclose(np.ptp((low - terms)[node == one]), 0, atol=1e-9)
    drawn = model.sample(X, 2_000)
    np.testing.assert_allclose((drawn <= model.predict_quantile(X, [0.3])).mean(), 0.3, atol=0.02)
    row = model.explain(X[:1], level=0.8)[0].row_range
    assert (row.low, row.high) == (low[0], high[0])


def test_ranges_of_trees_with_terms_hold_their_share(sloped):
    model, _, _ = sloped
    rng = np.random.default_rng(1)
    X = rng.uniform(size=(4_000, 2))
    y = 6 * X[:, 0] + 3 * (X[:, 1] > 0.5) + rng.normal(size=4_000)
    for level in (0.8, 0.9):  # of 120 rows: the share itself has a deviation of 4 %
        low, high = model.predict_interval(X, level=level, kind="row")
        assert level - 0.08 < ((low <= y) & (y <= high)).mean() < level + 0.08


def test_trees_with_terms_are_counted_updated_and_saved_as_others(sloped, tmp_path):
    model, X, y = sloped
    digest = model._distribution.digest
    again = deepcopy(model)
    again.update(X[:30] + 0.01, y[:30])
    assert again._distribution.digest != digest
    again.forget(X[:30] + 0.01, y[:30])
    assert again._distribution.digest == digest
    hornbeam.save(model, tmp_path / "m.hornbeam")
    loaded = hornbeam.load(tmp_path / "m.hornbeam")
    np.testing.assert_array_equal(loaded.predict_quantile(X, LEVELS), model.predict_quantile(X, LEVELS))
    again.recount(X, y)
    assert again._distribution.digest == digest
    table = pd.DataFrame(X, columns=["x0", "x1"]).assign(y=y)
    table.to_parquet(tmp_path / "rows.parquet", row_group_size=50)
    again.recount(tmp_path / "rows.parquet", "y")
    assert again._distribution.digest == digest


def test_order_and_weights_do_not_matter_to_trees_with_terms(sloped):
    model, X, y = sloped
    order = np.random.default_rng(3).permutation(len(y))
    assert clone(model).fit(X[order], y[order])._distribution.digest == model._distribution.digest
