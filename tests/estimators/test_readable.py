"""The preset "readable" and trees with a teacher: size, slopes, reproducibility, parameters, files, regression."""

from time import process_time

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, make_classification
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_predict

import hornbeam
from hornbeam import ForestClassifier, TreeClassifier, TreeRegressor
from hornbeam.data.table import Table
from hornbeam.ensembles.canonical_rows import CanonicalRows
from hornbeam.ensembles.distillation.teacher import fit_teacher
from hornbeam.errors import HornbeamWarning, ParameterError, SchemaError
from hornbeam.estimators.methods.column_names import required_columns
from hornbeam.evaluation import probability_rmse
from hornbeam.recipe import Recipe
from hornbeam.smoothing.interval_calibration import interval
from hornbeam.tree.evidence.count import count_rows

IRIS = load_iris(return_X_y=True)


def lending(n=400, seed=0):
    """Rows with numeric and nominal features, missing values and two classes."""
    rng = np.random.default_rng(seed)
    late, income = rng.poisson(1.0, n).astype(float), rng.lognormal(10, 0.5, n)
    job = rng.choice(["manager", "clerk", "none"], n)
    odds = -2 + 0.6 * late - 0.8 * (np.log(income) - 10) + 0.9 * (job == "none")
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-odds)), "bad", "good")
    late[rng.random(n) < 0.05] = np.nan
    return pd.DataFrame({"late": late, "income": income, "job": pd.Categorical(job)}), y


def test_the_preset_is_small_and_has_slopes():
    X, y = lending()
    tree = TreeClassifier("readable").fit(X, y).tree_
    assert 1 < tree.n_leaves <= 16
    assert tree.depth <= 7
    assert 0 < len(tree.slopes) <= 2 * tree.n_leaves
    assert tree.evidence[0].tolist() == [(y == "bad").sum(), (y == "good").sum()]


@pytest.mark.parametrize("slopes", [0, 1, 3])
def test_limits_are_obeyed(slopes):
    X, y = lending()
    tree = TreeClassifier("readable", max_leaf_nodes=5, max_depth=3, slopes=slopes).fit(X, y).tree_
    assert tree.n_leaves <= 5
    assert tree.depth <= 3
    assert all(len(tree.slopes.of_node(node)) <= slopes for node in range(tree.n_nodes))


def test_a_leaf_has_its_share_of_the_rows():
    X, y = lending()
    tree = TreeClassifier("readable", slopes=0, min_weight_fraction_leaf=0.3).fit(X, y).tree_
    assert 2 <= tree.n_leaves <= 3
    assert tree.rows[1:].min() > 0.2 * len(y)  # the share is that of real and synthetic rows


@pytest.mark.parametrize("size", [{"preset": "readable", "max_leaf_nodes": 100}, {"teacher": "ensemble"}])
def test_limits_of_larger_trees_are_obeyed(size):
    X, y = lending()
    tree = TreeClassifier(**size, max_depth=4, min_weight_fraction_leaf=0.05).fit(X, y).tree_
    assert 2 < tree.depth <= 4
    assert tree.n_leaves <= 20


def test_the_order_of_the_rows_and_threads_change_nothing():
    X, y = lending()
    order = np.random.default_rng(1).permutation(len(y))
    one = TreeClassifier("readable", max_leaf_nodes=6).fit(X, y)
    two = TreeClassifier("readable", max_leaf_nodes=6, n_jobs=3).fit(X.iloc[order], y[order])
    assert one.tree_.digest == two.tree_.digest


@pytest.mark.long
def test_probabilities_are_better_than_those_of_the_same_number_of_leaves():
    X, y = load_breast_cancer(return_X_y=True)
    losses = [
        probability_rmse(y, cross_val_predict(classifier, X, y, method="predict_proba", cv=3))
        for classifier in (TreeClassifier("readable", max_leaf_nodes=4), TreeClassifier(max_leaf_nodes=4))
    ]
    assert losses[0] < losses[1] - 0.03


@pytest.mark.long
def test_means_are_better_than_those_of_the_same_number_of_leaves():
    X, y = load_diabetes(return_X_y=True)
    errors = [
        ((cross_val_predict(regressor, X, y, cv=3) - y) ** 2).mean()
        for regressor in (TreeRegressor("readable", max_leaf_nodes=8), TreeRegressor(max_leaf_nodes=8))
    ]
    assert errors[0] < 0.95 * errors[1]


def test_the_slopes_of_a_linear_target_are_its_coefficients():
    rng = np.random.default_rng(0)
    X = rng.random((500, 3))
    y = 3 * X[:, 0] - 2 * X[:, 2]
    regressor = TreeRegressor("readable", max_leaf_nodes=2).fit(X, y)
    slopes = regressor.tree_.slopes
    assert set(slopes.feature.tolist()) == {0, 2}
    np.testing.assert_allclose(slopes.slope[:, 0], np.where(slopes.feature == 0, 3, -2), rtol=0.05)
    assert regressor.score(X, y) > 0.99


@pytest.mark.parametrize("offset", [0.0, 101_325.0, -1e7])
def test_means_far_from_0_are_predicted_as_well(offset):
    rng = np.random.default_rng(0)
    X = rng.random((400, 2))
    y = 2 * X[:, 0] + X[:, 1]
    regressor = TreeRegressor("readable", max_leaf_nodes=3).fit(X, y + offset)
    assert np.abs(regressor.predict(X) - offset - y).max() < 0.3
    assert len(regressor.tree_.slopes)


def test_classes_at_random_have_no_terms():
    rng = np.random.default_rng(0)
    X = rng.random((300, 4))
    assert not len(TreeClassifier("readable", max_leaf_nodes=4).fit(X, rng.random(300) < 0.5).tree_.slopes)


def test_a_far_value_leaves_the_terms_of_its_feature():
    rng = np.random.default_rng(0)
    X = rng.random((500, 1))
    y = rng.random(500) < 1 / (1 + np.exp(-6 * (X[:, 0] - 0.5)))
    X[:5] = -1e30
    slopes = TreeClassifier("readable", max_leaf_nodes=2).fit(X, y).tree_.slopes
    assert len(slopes)
    assert (slopes.low > -1).all()


def test_a_file_gives_the_same_predictions(tmp_path):
    X, y = lending()
    classifier = TreeClassifier("readable", max_leaf_nodes=4).fit(X, y)
    hornbeam.save(classifier, tmp_path / "m.hornbeam")
    loaded = hornbeam.load(tmp_path / "m.hornbeam")
    assert loaded.tree_.digest == classifier.tree_.digest
    np.testing.assert_array_equal(loaded.predict_proba(X), classifier.predict_proba(X))


def test_columns_of_slopes_are_needed_too():
    X, y = lending()
    classifier = TreeClassifier("readable", max_leaf_nodes=2).fit(X, y)
    split, sloped = classifier.tree_.skeleton.feature[0], classifier.tree_.slopes.feature
    only_in_a_slope = X.columns[sloped[sloped != split][0]]
    with pytest.raises(SchemaError, match=str(only_in_a_slope)):
        classifier.select_columns(X.drop(columns=only_in_a_slope))
    assert only_in_a_slope in required_columns(classifier.rules())


def test_weights_count_as_copies_in_the_evidence():
    X, y = lending(200)
    weight = np.random.default_rng(0).integers(1, 4, len(y))
    tree = TreeClassifier("readable", max_leaf_nodes=3).fit(X, y, sample_weight=weight).tree_
    assert (tree.evidence[0] * tree.unit).tolist() == [weight[y == "bad"].sum(), weight[y == "good"].sum()]


@pytest.mark.long
def test_all_rows_are_counted_and_a_sample_is_learned():
    rng = np.random.default_rng(0)
    X = rng.random((25_000, 2))
    y = rng.random(25_000) < X[:, 0]
    tree = TreeClassifier("readable", max_leaf_nodes=3).fit(X, y).tree_
    assert tree.rows[0] == 25_000


def test_the_sample_of_many_equal_rows_has_rows_of_every_kind():
    X = np.repeat([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], 6_000, axis=0)
    rate = np.repeat([0.1, 0.3, 0.6, 0.9], 6_000)
    y = np.tile(np.arange(6_000), 4) < 6_000 * rate
    predicted = TreeClassifier("readable", max_leaf_nodes=4).fit(X, y).predict_proba(X)[:, 1]
    np.testing.assert_allclose(predicted, rate, atol=0.02)


def test_the_order_of_rows_in_equal_bins_changes_nothing():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_500, 1))  # more rows than are binned exactly
    y = X[:, 0] + rng.normal(size=len(X)) > 0
    order = rng.permutation(len(y))
    one, two = (
        TreeClassifier("readable", max_leaf_nodes=2).fit(X[rows], y[rows]) for rows in (slice(None), order)
    )
    assert one.tree_.digest == two.tree_.digest


@pytest.mark.parametrize("value", [np.inf, -np.inf, 1e300, 1e-300])
def test_extreme_values_are_no_error(value):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2))
    y = X[:, 0] + X[:, 1] + rng.normal(size=100) > 0
    if np.isfinite(value):
        X[:, 1] *= value
    else:
        X[:3, 1] = value
    classifier = TreeClassifier("readable", max_leaf_nodes=3).fit(X, y)
    assert np.isfinite(classifier.predict_proba(X)).all()


def test_a_few_infinite_values_do_not_remove_the_slopes_of_a_feature():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (300, 1))
    y = rng.random(300) < 1 / (1 + np.exp(-2 * X[:, 0]))
    X[:3] = np.inf
    assert len(TreeClassifier("readable", max_leaf_nodes=2).fit(X, y).tree_.slopes)


@pytest.mark.parametrize("light", [1e-9, 1e-3])
def test_weights_may_differ_by_any_factor(light):
    X, y = lending(200)
    weight = np.where(np.arange(200) % 2, 1.0, light)
    classifier = TreeClassifier("readable", max_leaf_nodes=3).fit(X, y, sample_weight=weight)
    assert len(classifier.tree_.slopes)


def test_terms_of_hundreds_of_categories_are_in_order():
    rng = np.random.default_rng(0)
    code = np.where(rng.random(1800) < 0.5, rng.integers(0, 6, 1800), np.arange(1800) % 600)
    X = pd.DataFrame({"town": pd.Categorical([f"c{number}" for number in code])})
    X["noise"] = rng.normal(size=1800)
    y = np.where(code < 6, 100.0 * code, 0.0) + X["noise"]
    slopes = TreeRegressor("readable", max_leaf_nodes=4, slopes=3).fit(X, y).tree_.slopes
    assert (slopes.category >= 0).sum() > 1


def test_a_feature_may_have_hundreds_of_categories():
    rng = np.random.default_rng(0)
    town = rng.integers(0, 600, 3000)
    rate = np.where(np.arange(600) % 2, 0.9, 0.1)
    y = rng.random(3000) < rate[town]
    X = pd.DataFrame(
        {"town": pd.Categorical([f"town {number}" for number in town]), "noise": rng.random(3000)}
    )
    classifier = TreeClassifier("readable", max_leaf_nodes=4).fit(X[:2000], y[:2000])
    assert classifier.tree_.skeleton.feature[0] == 0
    assert probability_rmse(y[2000:], classifier.predict_proba(X[2000:])) < 0.45


def test_classes_that_are_told_apart_with_certainty_do_no_harm():
    X = np.repeat([[0.0], [1.0]], 300, axis=0)
    probabilities = TreeClassifier("readable").fit(X, X[:, 0]).predict_proba(X)
    assert probabilities[:300, 0].min() > 0.99
    assert np.isfinite(probabilities).all()


def test_one_class_is_one_leaf():
    classifier = TreeClassifier("readable").fit([[1.0], [2.0], [3.0]], ["a", "a", "a"])
    assert classifier.tree_.n_leaves == 1
    assert classifier.predict_proba([[2.0]]).tolist() == [[1.0]]


@pytest.mark.parametrize("n", [2, 3, 7])
def test_a_few_rows_are_enough(n):
    X, y = np.arange(n, dtype=float)[:, None], np.arange(n) % 2
    assert TreeClassifier("readable").fit(X, y).predict_proba(X).shape == (n, 2)


def test_a_column_without_values_is_ignored():
    X, y = lending(100)
    X["empty"] = np.nan
    classifier = TreeClassifier("readable", max_leaf_nodes=3).fit(X, y)
    assert 3 not in classifier.tree_.skeleton.feature


def test_twenty_rows_give_few_leaves_without_slopes():
    """They gave 16 leaves with 31 slopes before leaves had a least number of rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 4))
    tree = TreeClassifier("readable").fit(X, X[:, 0] + rng.normal(size=20) > 0).tree_
    assert tree.rows[tree.skeleton.is_leaf].min() >= 5
    assert len(tree.slopes) == 0


def test_constraints_that_constrain_nothing_are_accepted():
    X, y = lending(60)
    expected = TreeClassifier("readable", max_leaf_nodes=3).fit(X, y).tree_.digest
    free = ([0] * X.shape[1], np.zeros(X.shape[1], int), {X.columns[0]: 0}, {})
    for signs in free:
        model = TreeClassifier("readable", max_leaf_nodes=3, monotonic_cst=signs).fit(X, y)
        assert model.tree_.digest == expected
    with pytest.raises(ParameterError, match="monotonic_cst"):
        TreeClassifier("readable", monotonic_cst="rising").fit(X, y)


def test_few_rows_of_many_classes_have_a_forest_as_teacher():
    """Boosting would grow 150 trees for each class: 18 s for 300 rows of 50 classes."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(300, 4)), np.arange(300) % 50
    rows = CanonicalRows.of(Table.read(X, y), Recipe())
    assert not fit_teacher(rows).teacher.boosted
    begin = process_time()
    TreeClassifier("readable").fit(X, y)
    assert process_time() - begin < 10


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"criterion": "entropy"}, "squared distance to the teacher, which is 'gini'"),
        ({"smoothing": "laplace"}, "The teacher's mean prediction at each node takes the place of smoothing"),
        ({"tolerance": 0.1}, "pruned by its fidelity to the teacher"),
        ({"pruning": "collapse"}, "pruning=None is fidelity=1.0"),
        ({"missing": "fractional"}, "need each row at one node"),
        (
            {"forced_splits": {"feature": 0, "threshold": 1.0}},
            "its splits are those that explain the teacher",
        ),
    ],
)
@pytest.mark.parametrize("leaves", [4, None])
def test_parameters_without_a_use_are_refused_with_a_reason(parameters, reason, leaves):
    tree = TreeClassifier(teacher="ensemble", max_leaf_nodes=leaves, **parameters)
    with pytest.raises(ParameterError, match=f"(?i)a tree with a teacher does not use it; .*{reason}"):
        tree.fit(*IRIS)


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"nominal_split": "multiway"}, "makes two branches at each split"),
        ({"missing": "own"}, "sends missing values to the better branch"),
        ({"min_impurity_decrease": 0.1}, "compares whole trees"),
        ({"max_bins": 8}, "has 64 bins of each feature"),
    ],
)
def test_parameters_of_growing_have_no_use_in_a_search(parameters, reason):
    with pytest.raises(ParameterError, match=f"Up to max_leaf_nodes=64 a search with lookahead {reason}"):
        TreeClassifier("readable", **parameters).fit(*IRIS)


def test_values_that_ask_for_what_a_teacher_does_anyway():
    X, y = lending(100)
    expected = TreeClassifier("readable", max_leaf_nodes=3).fit(X, y).tree_.digest
    same = {"criterion": "gini", "nominal_split": "subset", "missing": "learned", "pruning": None}
    for name, value in same.items():
        assert (
            TreeClassifier("readable", max_leaf_nodes=3, **{name: value}).fit(X, y).tree_.digest == expected
        )


def taught_tree(X, y, **parameters):
    return TreeClassifier(teacher=ForestClassifier(30), **parameters).fit(X, y).tree_


def test_parameters_of_growing_have_an_effect_on_a_tree_of_any_size():
    X, y = lending(200)
    X["place"] = pd.Categorical(np.array(list("abcd"))[np.arange(200) % 4])
    y = np.where((X["place"] == "c") | (X["place"] == "b"), "bad", y)
    tree = taught_tree(X, y)
    place = list(X.columns).index("place")
    multiway = taught_tree(X, y, nominal_split="multiway").skeleton
    assert set(tree.skeleton.n_children[tree.skeleton.feature == place]) == {2}
    assert set(multiway.n_children[multiway.feature == place]) == {4}
    few = taught_tree(X, y, max_bins=3).skeleton
    income = few.threshold[few.feature == list(X.columns).index("income")]
    assert len(np.unique(income)) <= 2
    assert tree.skeleton.n_children.max() == 3  # a branch of missing values
    assert taught_tree(X, y, missing="learned").skeleton.n_children.max() == 2


def test_the_least_gain_is_that_of_the_probabilities_of_the_teacher():
    """Two halves with the probabilities .1 and .9: Gini's impurity falls by 2 (.4)^2 = .32."""
    X = np.repeat([0.0, 1.0], 100)[:, None]

    class Halves:
        classes_ = np.array([0, 1])

        def predict_proba(self, X):
            yes = np.where(X[:, 0] > 0.5, 0.9, 0.1)
            return np.column_stack([1 - yes, yes])

    for least, n_leaves in ((0.31, 2), (0.33, 1)):
        model = TreeClassifier(teacher=Halves(), slopes=0, min_impurity_decrease=least)
        assert model.fit(X, np.arange(200) % 2).tree_.n_leaves == n_leaves


def test_without_pruning_all_leaves_within_the_limit_are_kept():
    X, y = make_classification(300, 6, flip_y=0.2, random_state=0)
    tree = taught_tree(X, y, pruning=None, slopes=0)
    assert tree.digest == taught_tree(X, y, fidelity=1.0, slopes=0).digest
    assert 25 < tree.n_leaves <= 30


@pytest.mark.parametrize("leaves", [None, 100, 16])
@pytest.mark.parametrize("least", [{"min_samples_leaf": 12}, {"min_samples_split": 40}])
def test_nodes_have_enough_real_rows_at_any_size(leaves, least):
    X, y = make_classification(300, 6, flip_y=0.2, random_state=0)
    for weight in (None, np.arange(300) % 3 + 1.0):
        model = TreeClassifier(teacher="ensemble", max_leaf_nodes=leaves, **least).fit(X, y, weight)
        tree = model.tree_
        rows = tree.weight_in_rows * (len(y) / tree.weight_in_rows[0])
        leaf = tree.skeleton.is_leaf
        assert tree.n_leaves > 2
        if "min_samples_leaf" in least:
            assert rows[leaf].min() >= 12 - 1e-9
        else:
            assert rows[~leaf].min() >= 40 - 1e-9


@pytest.mark.parametrize(("n", "most"), [(100, 16), (300, 30)])
def test_a_tree_without_a_limit_has_a_leaf_for_ten_rows(n, most):
    X, y = make_classification(n, 6, flip_y=0.2, random_state=0)
    tree = taught_tree(X, y)
    step = dict(tree.history[0].parameters)
    assert step["leaves"] == tree.n_leaves <= step["max_leaf_nodes"] == most
    with pytest.warns(HornbeamWarning, match="repeated"):
        copies = taught_tree(np.repeat(X, 2, axis=0), np.repeat(y, 2))
    assert dict(copies.history[0].parameters)["max_leaf_nodes"] == most
    larger = taught_tree(X, y, max_leaf_nodes=70, slopes=0)
    assert dict(larger.history[0].parameters)["max_leaf_nodes"] == 70
    assert larger.n_leaves > most


@pytest.mark.parametrize("regression", [False, True])
def test_a_tree_without_a_limit_has_terms_at_its_root(regression):
    X, y = make_classification(300, 6, flip_y=0.1, random_state=0)
    kind, target = (TreeRegressor, X[:, 0] - X[:, 1] + y) if regression else (TreeClassifier, y)
    tree = kind(teacher="ensemble").fit(X, target).tree_
    assert 0 < len(tree.slopes) <= 8
    assert set(tree.slopes.node) == {0}
    for slopes in (0, False) if regression else (0, None, False):
        assert len(kind(teacher="ensemble", slopes=slopes).fit(X, target).tree_.slopes) == 0
    assert len(kind(teacher="ensemble", max_leaf_nodes=8).fit(X, target).tree_.slopes) == 0


@pytest.mark.long
def test_terms_at_the_root_make_a_tree_of_any_size_better():
    """Against a tree of as many leaves without terms, and against one of many more."""
    losses = np.zeros((4, 3))
    for seed in range(4):
        X, y = make_classification(500, 8, n_informative=5, flip_y=0.1, random_state=seed)
        for at, more in enumerate(({}, {"slopes": 0}, {"slopes": 0, "max_leaf_nodes": 100_000})):
            model = TreeClassifier(teacher="ensemble", **more)
            losses[seed, at] = log_loss(y, cross_val_predict(model, X, y, method="predict_proba", cv=3))
    own, small, large = losses.mean(axis=0)
    assert own < small - 0.02
    assert own < large


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"slopes": 4}, "slopes=4: expected 'auto', or a whole number from 0 to 3"),
        ({"slopes": "many"}, "slopes='many': expected"),
        ({"teacher": None}, "teacher=None: slopes and the preset 'readable' need a teacher"),
        ({"teacher": "boosting"}, "teacher='boosting': expected 'auto', 'ensemble', an estimator or None"),
    ],
)
def test_wrong_parameters_are_explained(parameters, message):
    with pytest.raises(ParameterError, match=message):
        TreeClassifier("readable", **parameters).fit(*IRIS)


def test_files_are_read_into_memory(tmp_path):
    pytest.importorskip("pyarrow")
    X, y = lending(200)
    X.assign(state=y).to_parquet(tmp_path / "rows.parquet")
    one = TreeClassifier("readable", max_leaf_nodes=3).fit(X, y)
    two = TreeClassifier("readable", max_leaf_nodes=3).fit(tmp_path / "rows.parquet", "state")
    assert one.tree_.digest == two.tree_.digest


@pytest.mark.parametrize("regression", [False, True])
def test_files_beyond_memory_teach_with_a_sample_and_are_all_counted(tmp_path, regression):
    pytest.importorskip("pyarrow")
    X, y = lending(2000)
    if regression:
        y = 2 * X["income"] + 1000 * X["late"].fillna(0)
    X.assign(state=y).to_parquet(tmp_path / "rows.parquet", row_group_size=300)
    model = TreeRegressor("readable") if regression else TreeClassifier("readable")
    tree = model.fit(tmp_path / "rows.parquet", "state", memory=20_000).tree_
    assert tree.n_leaves > 3
    assert len(tree.slopes) > 0
    assert tree.rows[0] == 2000
    rows = Table.read(X, y, schema=tree.schema)
    assert np.array_equal(count_rows(tree.skeleton, rows).evidence, tree.evidence)


def test_a_teacher_without_slopes_gives_a_plain_tree():
    tree = TreeClassifier(teacher="ensemble", max_leaf_nodes=4).fit(*IRIS).tree_
    assert len(tree.slopes) == 0
    assert 1 < tree.n_leaves <= 4


def test_each_leaf_has_its_least_number_of_real_rows():
    X, y = make_classification(300, 6, flip_y=0.2, random_state=0)
    for least, parameters in ((1, {}), (30, {"min_samples_leaf": 30}), (30, {"min_samples_leaf": 0.1})):
        tree = TreeClassifier("readable", **parameters).fit(X, y).tree_
        rows = (tree.evidence * tree.unit)[tree.skeleton.is_leaf].sum(axis=1)
        assert len(rows) > 1
        assert rows.min() >= least


@pytest.mark.parametrize("kind", ["readable", "slopes", "distilled", "of numbers"])
def test_intervals_are_calibrated_by_fit_and_again_on_demand(kind):
    X, y = lending(300)
    number = np.where(y == "bad", 1.0, 0.0) + X["income"].to_numpy() / 1e5
    if kind == "distilled":
        model = TreeClassifier(teacher=ForestClassifier(30), max_leaf_nodes=4).fit(X, y)
    elif kind == "of numbers":
        model, y = TreeRegressor("readable", max_leaf_nodes=4).fit(X, number), number
    else:
        parameters = {"slopes": 1} if kind == "slopes" else {"preset": "readable"}
        model = TreeClassifier(**parameters, max_leaf_nodes=4).fit(X, y)
    step, before = model.tree_.history[-1], model.predict_interval(X)
    assert step.name == "interval-calibration"
    assert model.calibrate_intervals(X, y).tree_.history[-1] == step
    np.testing.assert_array_equal(model.predict_interval(X), before)


def test_intervals_stay_calibrated_when_rows_are_added():
    X, y = lending(300)
    clf = TreeClassifier("readable", max_leaf_nodes=4).fit(X, y)
    step = clf.tree_.history[-1]
    assert clf.update(*lending(100, seed=1)).tree_.history[-1] == step


def test_intervals_of_leaves_found_in_noise_cover_the_base_rate():
    """Rows counted in full cover .63 of such leaves at 1,000 to 3,000 rows."""
    held = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(1500, 5)), rng.random(1500) < 0.3
        tree = TreeClassifier("readable").fit(X, y).tree_
        low, high = (bound[tree.skeleton.is_leaf, 1] for bound in interval(tree))
        held.append((low <= 0.3) & (high >= 0.3))
    assert 0.8 < np.concatenate(held).mean() <= 1.0


@pytest.mark.parametrize(("rows", "least"), [(569, 10), (400, 8), (120, 5)])
def test_readable_leaves_have_enough_real_rows(rows, least):
    """2 % of the rows, from 5 to 10; all real rows are counted, though the search uses a sample."""
    X, y = load_breast_cancer(return_X_y=True)
    tree = TreeClassifier("readable").fit(X[:rows], y[:rows]).tree_
    assert tree.rows[tree.skeleton.is_leaf].min() >= least
    few = TreeClassifier("readable", min_samples_leaf=2).fit(X[:rows], y[:rows]).tree_
    assert 2 <= few.rows[few.skeleton.is_leaf].min() < least
