"""Every fit warns once about columns that should not be features, with the caller as the place."""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import cross_val_score
from sklearn.tree import DecisionTreeClassifier

import hornbeam
from hornbeam import TreeClassifier
from hornbeam.errors import HornbeamWarning
from hornbeam.estimators.inputs.fit_warnings import warn_about_classes
from hornbeam.estimators.parameters.recipes import tree_fitter
from hornbeam.tree import Table

RNG = np.random.default_rng(0)
N = 300
PLAIN = pd.DataFrame(
    {"age": RNG.integers(18, 80, N), "income": RNG.normal(2000, 500, N), "job": RNG.choice(list("abc"), N)}
)
LABEL = np.where(PLAIN["age"] + RNG.normal(0, 20, N) > 50, "yes", "no")
NUMBER = PLAIN["income"].to_numpy() / 100 + RNG.normal(0, 3, N)
GRADE = RNG.integers(0, 3, N)

ESTIMATORS = [
    (hornbeam.TreeClassifier(), LABEL),
    (hornbeam.TreeRegressor(), NUMBER),
    (hornbeam.ForestClassifier(5), LABEL),
    (hornbeam.ForestRegressor(5), NUMBER),
    (hornbeam.BoostedTreesClassifier(n_estimators=3), LABEL),
    (hornbeam.BoostedTreesRegressor(n_estimators=3), NUMBER),
    (hornbeam.RuleClassifier(), LABEL),
    (hornbeam.BoostedTreesRanker(n_estimators=3), GRADE),
]


def warnings_of(fit, *args, **kwargs):
    with warnings.catch_warnings(record=True, action="always") as caught:
        fit(*args, **kwargs)
    return caught


@pytest.mark.parametrize(("estimator", "y"), ESTIMATORS, ids=lambda one: type(one).__name__)
def test_every_estimator_warns_once_and_points_to_its_caller(estimator, y):
    X = PLAIN.assign(customer=[f"C-{i}" for i in range(N)], site="north", row=range(1, N + 1))
    [warning] = warnings_of(estimator.fit, X, y)
    assert warning.category is HornbeamWarning
    assert warning.filename == __file__
    assert str(warning.message) == (
        "2 columns are doubtful: 'customer' has 300 different values in 300 rows (an identifier?); 'row' numbers the "
        "rows. Leave them out of X, in pandas X.drop(columns=['customer', 'row']), or keep them and ignore "
        "hornbeam.errors.HornbeamWarning."
    )


@pytest.mark.parametrize(("estimator", "y"), ESTIMATORS, ids=lambda one: type(one).__name__)
def test_ordinary_columns_do_not_warn(estimator, y):
    assert warnings_of(estimator.fit, PLAIN, y) == []


def test_a_copy_of_the_target_warns():
    coded = PLAIN.assign(churned=np.where(LABEL == "yes", 1, 0))
    with pytest.warns(
        HornbeamWarning, match=r"'churned' alone gives the class of 100 % of the rows \(a copy of the tar"
    ):
        hornbeam.TreeClassifier().fit(coded, LABEL)
    with pytest.warns(HornbeamWarning, match=r"'euros' has a correlation of 1.0000 with the target \(a copy"):
        hornbeam.TreeRegressor().fit(PLAIN.assign(euros=NUMBER * 1.1 - 4), NUMBER)


def test_the_suggested_code_removes_the_columns():
    X = PLAIN.assign(key=RNG.permutation(N))
    with pytest.warns(HornbeamWarning, match=r"in pandas X.drop\(columns=\['key'\]\), or"):
        hornbeam.TreeClassifier().fit(X, LABEL)
    assert warnings_of(hornbeam.TreeClassifier().fit, X.drop(columns=["key"]), LABEL) == []
    array = np.column_stack([RNG.normal(size=N), np.arange(N)])
    with pytest.warns(
        HornbeamWarning, match=r"Column 'x1' numbers the rows. .* np.delete\(X, \[1\], axis=1\), or"
    ):
        hornbeam.TreeClassifier().fit(array, LABEL)
    assert warnings_of(hornbeam.TreeClassifier().fit, np.delete(array, [1], axis=1), LABEL) == []


def test_a_long_list_of_findings_is_shortened():
    X = PLAIN.assign(**{f"c{i}": RNG.permutation(N) for i in range(8)})
    with pytest.warns(
        HornbeamWarning, match=r"8 columns.*'c4' has another .*; and 3 more\..*'c4', \.\.\.\]\)"
    ):
        hornbeam.TreeClassifier().fit(X, LABEL)


def test_constant_columns_do_not_warn():
    X = PLAIN.assign(site="north", year=2026, empty=np.nan)
    assert warnings_of(hornbeam.TreeClassifier().fit, X, LABEL) == []


def test_no_value_of_the_data_is_printed():
    X = PLAIN.assign(customer=[f"secret-{i}" for i in range(N)], site="secret-site", copy=LABEL)
    [warning] = warnings_of(hornbeam.TreeClassifier().fit, X, LABEL)
    assert "secret" not in str(warning.message)
    assert "yes" not in str(warning.message)


def test_rows_of_weight_zero_do_not_count():
    X = PLAIN.assign(key=np.where(np.arange(N) < 10, 7, np.arange(N)))
    weight = (np.arange(N) >= 10).astype(int)
    assert warnings_of(hornbeam.TreeClassifier().fit, X, LABEL) == []
    with pytest.warns(HornbeamWarning, match="'key' numbers the rows"):
        hornbeam.TreeClassifier().fit(X, LABEL, weight)


def test_rules_of_a_fitted_tree_do_not_warn():
    X = PLAIN.assign(key=RNG.permutation(N))
    with pytest.warns(HornbeamWarning, match="'key'"):
        tree = hornbeam.TreeClassifier("c4.5").fit(X, LABEL)
    assert warnings_of(hornbeam.RuleClassifier(FrozenEstimator(tree)).fit, X, LABEL) == []


def test_columns_of_other_libraries_are_checked_unless_frozen():
    X = np.column_stack([PLAIN["age"], np.arange(N)])
    other = DecisionTreeClassifier(max_depth=3, random_state=0)
    with pytest.warns(HornbeamWarning, match="'x1' numbers the rows"):
        hornbeam.SmoothedClassifier(other).fit(X, LABEL)
    frozen = FrozenEstimator(other.fit(X, LABEL))
    assert warnings_of(hornbeam.SmoothedClassifier(frozen).fit, X, LABEL) == []


def test_growing_on_a_sample_does_not_warn_twice():
    X = PLAIN.assign(key=RNG.permutation(N))
    assert len(warnings_of(hornbeam.TreeClassifier().fit, X, LABEL, grow_rows=100)) == 1


def test_files_are_checked_for_nominal_identifiers(tmp_path):
    pytest.importorskip("pyarrow")
    X = PLAIN.assign(customer=[f"C-{i}" for i in range(N)], is_=LABEL)
    X.to_parquet(tmp_path / "rows.parquet")
    [warning] = warnings_of(hornbeam.TreeClassifier().fit, str(tmp_path), "is_")
    assert "'customer' has 300 different values in 300 rows" in str(warning.message)
    assert warning.filename == __file__


def test_a_warning_names_a_file_whose_path_begins_like_that_of_hornbeam():
    place = f"{Path(hornbeam.__file__).parent}_mine.py"
    names = {"fit": hornbeam.TreeClassifier().fit}
    exec(compile("def mine(X, y):\n    fit(X, y)", place, "exec"), names)
    [warning] = warnings_of(names["mine"], PLAIN.assign(key=RNG.permutation(N)), LABEL)
    assert warning.filename == place


def test_cross_validation_does_not_warn():
    assert warnings_of(cross_val_score, hornbeam.TreeClassifier("cart"), PLAIN, LABEL, cv=3) == []


def test_the_warning_does_not_change_the_tree():
    X = PLAIN.assign(customer=[f"C-{i}" for i in range(N)])
    with pytest.warns(HornbeamWarning):
        warned = hornbeam.TreeClassifier().fit(X, LABEL)
    with warnings.catch_warnings(action="ignore"):
        assert hornbeam.TreeClassifier().fit(X, LABEL).tree_.digest == warned.tree_.digest


@pytest.mark.parametrize(("n_rows", "n_classes"), [(1000, 1000), (3000, 3000), (3000, 300)])
def test_targets_of_many_classes_are_announced_before_the_fit(n_rows, n_classes):
    """Fits of these sizes took 1.6 to 2.0 GB; the warning, made an error here, comes first."""
    X = np.random.default_rng(0).normal(size=(n_rows, 2))
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="y has .* classes")
        with pytest.raises(HornbeamWarning, match=r"the fit may need up to \d\.\d GB"):
            TreeClassifier().fit(X, np.arange(n_rows) % n_classes)


def test_targets_of_some_classes_are_not_announced():
    """Few classes, or many rows of each; and one tree of 500 classes, without the trees of cross-validation."""
    for n_rows, n_classes, preset in ((60, 50, "default"), (4000, 100, "default"), (1000, 500, "cart")):
        table = Table.read(np.zeros((n_rows, 1)), np.arange(n_rows) % n_classes)
        with warnings.catch_warnings(action="error"):
            warn_about_classes(table, tree_fitter(TreeClassifier(preset), table))
