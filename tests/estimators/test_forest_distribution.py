"""`ForestRegressor(distribution=True)`: a slow reference, the same rows, groups, files and refusals."""

import pickle
from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

import hornbeam
from hornbeam import ForestClassifier, ForestRegressor, TreeRegressor
from hornbeam.data.binning.target_bins import TargetBins
from hornbeam.data.table import Table
from hornbeam.engines import LocalEngine
from hornbeam.ensembles.canonical_rows import CanonicalRows
from hornbeam.ensembles.forest import distribution as module
from hornbeam.ensembles.forest.bootstrap import Bootstrap
from hornbeam.ensembles.forest.distribution import BinCounts
from hornbeam.errors import DataError, ParameterError, StorageError
from hornbeam.estimators.persistence.files import pack, unpack
from hornbeam.recipe import Recipe
from hornbeam.smoothing.distribution import RangeLevels
from hornbeam.tree.route import route
from hornbeam.tree.walk import path
from support.examples import examples

LEVELS = [0.05, 0.1, 0.5, 0.9, 0.95]


def skewed(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 3))
    return X, np.exp(2 * X[:, 0] + (0.3 + X[:, 1]) * rng.normal(size=n))


def fitted(X, y, n_trees=12, **options):
    names = ("n_jobs", "max_samples", "random_state", "max_leaf_nodes")
    parameters = {name: options.pop(name) for name in names if name in options}
    return ForestRegressor(n_trees, distribution=True, **parameters).fit(X, y, **options)


@pytest.fixture(scope="module")
def model():
    return fitted(*skewed(400, 0), 30)


# ---- a slow reference --------------------------------------------------------------------------------------


def by_hand(model, X, y, weight=None, groups=None):
    """Probabilities of each bin out of the bag for each least number of rows; nodes' counts of rows."""
    table = Table.read(X, y, sample_weight=weight, groups=groups, target_kind="numeric")
    rows = CanonicalRows.of(table, Recipe(255))
    table, values = rows.table, rows.table.numeric_target.values
    weight = np.ones(len(values), np.int64) if table.weight is None else table.weight
    bins = TargetBins.cut(values, table.weight)
    code, bootstrap, unit = bins.codes(values), Bootstrap.of(table, None, 0, rows.unit), rows.unit
    n_bins = bins.n_bins
    votes = np.zeros((len(module._LEAST_ROWS), len(values), n_bins))
    n_votes = np.zeros(len(values))
    same = rows.row_hash[:, None] == rows.row_hash if unit is None else np.eye(len(values), dtype=bool)
    for number, tree in enumerate(model.forest_.trees):
        paths = [path(tree.skeleton, node) for node in route(tree.skeleton, table)]
        left = bootstrap.sample(number).n_left
        for row in np.flatnonzero(left):
            for at, least in enumerate(module._LEAST_ROWS):
                enough = [node for node in paths[row] if tree.weight_in_rows[node] >= least] or [0]
                passed = [other for other, nodes in enumerate(paths) if enough[-1] in nodes]
                counts = np.bincount(code[passed], weight[passed], n_bins)
                if unit is None:
                    counts[code[row]] -= 1
                else:
                    own = [other for other in passed if unit[other] == unit[row]]
                    counts -= np.bincount(code[own], weight[own], n_bins)
                votes[at, row] += left[row] * counts / counts.sum()
            n_votes[row] += left[row]
    votes, n_votes = np.stack([same @ one for one in votes]), same @ n_votes
    known = n_votes > 0
    up_to = np.cumsum(votes[:, known] / n_votes[known, None], axis=2)
    total = np.cumsum(np.bincount(code, weight, n_bins))
    thresholds = np.unique(np.searchsorted(total, np.arange(1, 10) / 10 * total[-1]))
    reached = code[known, None] <= thresholds
    losses = [(weight[known, None] * (one[:, thresholds] - reached) ** 2).sum() for one in up_to]
    best = int(np.argmin(losses))
    code, place = code[known], np.arange(known.sum())
    below = np.where(code > 0, up_to[best, place, code - 1], 0)
    scores = bins.within(values[known], below, up_to[best, place, code])
    n_units = int(weight[known].sum()) if groups is None else len(np.unique(table.group[known]))
    return best, RangeLevels.of(*scores, weight[known], n_units), losses


@pytest.mark.parametrize("kind", ["plain", "weighted", "grouped", "weighted groups"])
def test_rows_out_of_the_bag_are_predicted_without_themselves(kind):
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 6, (60, 2)).astype(float), rng.integers(0, 9, 60).astype(float)
    y += X[:, 0]
    options = {}
    if "weighted" in kind:
        options["sample_weight"] = rng.integers(1, 4, 60)
    if "group" in kind:
        options["groups"] = rng.integers(0, 12, 60)
    model = fitted(X, y, 7, **options)
    best, levels, losses = by_hand(model, X, y, options.get("sample_weight"), options.get("groups"))
    assert np.ptp(losses) > 0
    found = model._distribution
    np.testing.assert_allclose(found.levels.low, levels.low, atol=2e-5)
    np.testing.assert_allclose(found.levels.high, levels.high, atol=2e-5)
    least = module._LEAST_ROWS[best]
    for tree, counted in zip(model.forest_.trees, found.counts, strict=True):
        stops = set(counted.node.tolist())
        assert all(tree.weight_in_rows[node] >= least or node == 0 for node in stops)
    # The mean over the trees of the rows that pass the nearest node with rows.
    expected = np.zeros((60, found.bins.n_bins))
    code = found.bins.codes(y)
    weight = options.get("sample_weight", np.ones(60))
    table = model._read(X)
    for tree in model.forest_.trees:
        paths = [path(tree.skeleton, node) for node in route(tree.skeleton, table)]
        for row in range(60):
            enough = [node for node in paths[row] if tree.weight_in_rows[node] >= least] or [0]
            passed = [other for other, nodes in enumerate(paths) if enough[-1] in nodes]
            counts = np.bincount(code[passed], weight[passed], found.bins.n_bins)
            expected[row] += counts / counts.sum() / len(model.forest_.trees)
    np.testing.assert_allclose(model.predict_distribution(X).probability, expected, atol=1e-12)


def test_counts_of_any_node_are_those_below_it():
    X, y = skewed(120, 3)
    tree = TreeRegressor("cart", max_depth=4).fit(X, y).tree_
    node, code = route(tree.skeleton, Table.read(X)), np.arange(120, dtype=np.int32) % 5
    weight = np.arange(1, 121)
    counts = BinCounts.count_rows(tree.skeleton, node, code, weight, 5)
    every = np.arange(tree.n_nodes)
    expected = np.zeros((tree.n_nodes, 5))
    for one, label, steps in zip(node, code, weight, strict=True):
        expected[path(tree.skeleton, one), label] += steps
    np.testing.assert_array_equal(counts.below(every, 5), expected)
    np.testing.assert_array_equal(counts.stop, every)
    above = np.maximum(tree.skeleton.parent, 0).astype(np.int32)
    moved = counts.moved(above, 5)
    assert moved.count.sum() == weight.sum()
    assert not np.isin(moved.node, np.flatnonzero(tree.skeleton.is_leaf)).any()
    np.testing.assert_array_equal(moved.stop[tree.skeleton.is_leaf], above[tree.skeleton.is_leaf])


# ---- the same rows -----------------------------------------------------------------------------------------


@examples(5)
@given(st.integers(0, 2**32 - 1), st.booleans(), st.booleans())
def test_order_threads_weights_and_engines_do_not_matter(seed, weighted, grouped):
    rng = np.random.default_rng(seed)
    X, y = skewed(90, seed)
    X[rng.random(X.shape) < 0.1] = np.nan
    options = {"groups": rng.integers(0, 9, 90)} if grouped else {}
    if weighted:
        options["sample_weight"] = rng.integers(0, 4, 90)
    first = fitted(X, y, 5, **options)
    order = rng.permutation(90)
    moved = {name: value[order] for name, value in options.items()}
    again = fitted(X[order], y[order], 5, n_jobs=2, engine=LocalEngine(2), **moved)
    assert again._distribution.digest == first._distribution.digest
    if weighted:
        repeated = np.repeat(np.arange(90), options["sample_weight"])
        groups = options["groups"][repeated] if grouped else "copies"
        copies = fitted(X[repeated], y[repeated], 5, groups=groups)
        assert copies._distribution.digest == first._distribution.digest


def test_the_means_stay_the_same(model):
    plain = ForestRegressor(30).fit(*skewed(400, 0))
    assert plain.forest_.digest == model.forest_.digest
    assert plain._distribution is None
    assert clone(model).set_params(distribution=False).fit(*skewed(60, 0))._distribution is None


def test_fractional_weights(model):
    X, y = skewed(80, 2)
    weight = np.random.default_rng(0).uniform(0.1, 2.0, 80)
    found = fitted(X, y, sample_weight=weight)
    low, high = found.predict_interval(X, level=0.8)
    assert 0.6 < ((low <= y) & (y <= high)).mean() <= 1
    scaled = fitted(X, y, sample_weight=weight * 1024)
    np.testing.assert_allclose(scaled.predict_quantile(X, LEVELS), found.predict_quantile(X, LEVELS))


def test_files_are_counted_by_the_rows_of_the_sample(tmp_path, model):
    X, y = skewed(400, 0)
    path = tmp_path / "rows.parquet"
    pd.DataFrame(X, columns=["x0", "x1", "x2"]).assign(y=y).to_parquet(path, row_group_size=90)
    whole = fitted(path, "y", 30)
    assert whole._distribution.digest == model._distribution.digest
    sampled = fitted(path, "y", 5, grow_rows=150)
    assert sampled.forest_.trees[0].rows[0] == 400
    assert [one.count.sum() for one in sampled._distribution.counts] == [150] * 5
    frame = pd.read_parquet(path)
    np.testing.assert_array_equal(
        sampled.predict_quantile(path, LEVELS), sampled.predict_quantile(frame, LEVELS)
    )
    assert sampled.predict_interval(path)[0].shape == (400,)
    assert sampled.sample(path, 3).shape == (400, 3)


# ---- predictions -------------------------------------------------------------------------------------------


def test_all_predictions_are_of_one_distribution(model):
    X, y = skewed(300, 8)
    found, quantiles = model.predict_distribution(X), model.predict_quantile(X, LEVELS)
    np.testing.assert_array_equal(found.quantile(LEVELS), quantiles)
    np.testing.assert_array_equal(found.quantile(), model.predict_quantile(X))
    assert (np.diff(quantiles, axis=1) >= 0).all()
    np.testing.assert_allclose(found.probability.sum(axis=1), 1)
    assert (found.cdf(quantiles[:, 3]) >= 0.9 - 1e-9).all()
    drawn = model.sample(X[:20], 3_000, random_state=1)
    np.testing.assert_allclose(
        (drawn <= 4.0).mean(axis=1), model.predict_distribution(X[:20]).cdf(4.0), atol=0.04
    )
    low, high = model.predict_interval(X, level=0.8)
    assert 0.74 < ((low <= y) & (y <= high)).mean() < 0.88
    np.testing.assert_array_equal(low, model.predict_interval(X, level=0.8, kind="row")[0])


def test_ranges_hold_rows_of_new_groups():
    held = {"with groups": [], "without": []}
    for seed in range(3):
        rng = np.random.default_rng(seed)
        group = np.repeat(np.arange(160), 6)
        shift = rng.normal(size=(160, 3))
        X = shift[group, :2] + 0.01 * rng.normal(size=(960, 2))
        y = shift[group, 2] + 0.1 * rng.normal(size=960)
        old = group < 80
        for name, groups in (("with groups", group[old]), ("without", None)):
            low, high = fitted(X[old], y[old], 30, groups=groups).predict_interval(X[~old], level=0.8)
            held[name].append(((low <= y[~old]) & (y[~old] <= high)).mean())
    assert np.mean(held["with groups"]) > 0.78
    assert np.mean(held["without"]) < 0.7


def test_few_rows():
    one = fitted([[0.0]], [3.0], 3)
    assert one.predict_quantile([[5.0]], [0.1, 0.9]).tolist() == [[3.0, 3.0]]
    assert one.predict_interval([[5.0]], level=0.1) == (-np.inf, np.inf)
    same = fitted(np.zeros((30, 1)), np.full(30, 7.0))
    assert same.predict_interval([[0.0]], level=0.8) == (7.0, 7.0)
    group = fitted(np.arange(9.0)[:, None], np.arange(9.0), groups=np.zeros(9))  # in every bag
    assert group.predict_interval([[5.0]], level=0.1) == (-np.inf, np.inf)
    none = Table.read([[0.0]]).slice(0, 0)
    assert same.predict_quantile(none, LEVELS).shape == (0, 5)
    assert len(same.predict_distribution(none)) == 0


# ---- files and refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["model.hornbeam", "model.safetensors", None])
def test_a_file_gives_the_same_distribution(model, tmp_path, name):
    if name is None:
        loaded = pickle.loads(pickle.dumps(model))
    else:
        hornbeam.save(model, tmp_path / name)
        loaded = hornbeam.load(tmp_path / name)
    assert loaded.get_params() == model.get_params()
    assert loaded._distribution.digest == model._distribution.digest
    X, _ = skewed(30, 3)
    np.testing.assert_array_equal(loaded.predict_quantile(X, LEVELS), model.predict_quantile(X, LEVELS))
    assert deepcopy(model)._distribution.digest == model._distribution.digest


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("low", lambda old: old[::-1].copy()),
        ("cells", lambda old: old[::-1].copy()),
        ("cells", lambda old: old + 10**9),
        ("cells", lambda old: np.arange(len(old))),
        ("counts", lambda old: -old),
        ("counts", lambda old: old[1:]),
        ("low_levels", lambda old: old + 1),
        ("other", lambda old: 1),
    ],
)
def test_wrong_values_of_a_file_are_refused(model, name, value):
    packed = pack(model)
    entry = dict(packed.learned["distribution"])
    entry[name] = value(entry.get(name))
    learned = {**packed.learned, "distribution": entry}
    with pytest.raises(StorageError):
        unpack(type(packed)(packed.schema, packed.trees, packed.estimator, packed.settings, learned, "trees"))


def test_a_forest_without_a_distribution_says_how_to_get_one():
    model = ForestRegressor(3).fit(*skewed(60, 0))
    for call in (model.predict_quantile, model.sample, model.predict_interval, model.predict_distribution):
        with pytest.raises(ParameterError, match="fitted with distribution=True"):
            call([[0, 0, 0]])
    assert "distribution" not in pack(model).settings
    assert not hasattr(ForestClassifier(), "predict_quantile")


def test_wrong_arguments(model):
    X, y = skewed(3, 0)
    with pytest.raises(ParameterError, match="kind='mean'"):
        model.predict_interval(X, kind="mean")
    with pytest.raises(ParameterError, match="distribution='yes'"):
        ForestRegressor(distribution="yes").fit(X, y)
    with pytest.raises(ParameterError, match="distribution=False"):
        ForestRegressor(distribution=True, bootstrap=False).fit(X, y)
    with pytest.raises(ParameterError, match="several trees"):
        hornbeam.export.to_python(model, quantiles=[0.5])
    found = model.predict_distribution(X)
    for wrong in ([1.0, 2.0], np.nan, "many", object(), [[1.0, 2.0]] * 3):
        with pytest.raises(DataError):
            found.cdf(wrong)
    for wrong in ("0.5", [0.5, "a"]):
        with pytest.raises(ParameterError, match="q="):
            found.quantile(wrong)
