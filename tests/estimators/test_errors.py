"""Every error message says what was found, what was expected and what to do."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import DataConversionWarning, NotFittedError

from hornbeam import TreeClassifier
from hornbeam.errors import DataError, HornbeamError, ParameterError, SchemaError
from hornbeam.smoothing import HGS

X = np.arange(24.0).reshape(8, 3)
y = np.array([0, 1, 0, 1, 1, 1, 0, 0])

SETTINGS = [  # what was found, what was expected, what to do
    (
        {"preset": "cat"},
        "preset='cat'",
        "one of 'default', 'id3', 'c4.5', 'c4.4', 'cart'",
        "Did you mean 'cart'?",
    ),
    ({"preset": "C4.5"}, "preset='C4.5'", "'c4.5'", "Did you mean 'c4.5'?"),
    ({"preset": None}, "preset=None", "one of 'default'", "Pass preset='default'"),
    ({"preset": ["default"]}, "preset=['default']", "one of 'default'", "Pass preset='default'"),
    ({"criterion": "gin"}, "criterion='gin'", "'entropy', 'gain_ratio', 'gini'", "Did you mean 'gini'?"),
    ({"criterion": 3}, "criterion=3", "one of 'auto', 'entropy'", "Pass criterion='auto'"),
    ({"nominal_split": "multi"}, "nominal_split='multi'", "'multiway', 'subset'", "Did you mean 'multiway'?"),
    ({"missing": None}, "missing=None", "'own', 'learned', 'fractional'", "Pass missing='auto'"),
    ({"max_depth": 0}, "max_depth=0", "at least 1, or None for no limit", "Pass max_depth=1"),
    ({"max_depth": 1.5}, "max_depth=1.5", "whole number, or None", "Pass max_depth=None or max_depth=5"),
    ({"max_depth": True}, "max_depth=True", "whole number, or None", "Pass max_depth=None or max_depth=5"),
    ({"max_leaf_nodes": 1}, "max_leaf_nodes=1", "at least 2, or None", "Pass max_leaf_nodes=2"),
    ({"max_leaf_nodes": "9"}, "max_leaf_nodes='9'", "whole number, or None", "Pass max_leaf_nodes=None"),
    ({"min_samples_split": 1}, "min_samples_split=1", "at least 2", "Pass min_samples_split=2"),
    (
        {"min_samples_split": None},
        "min_samples_split=None",
        "or a share of all rows",
        "Pass min_samples_split=2",
    ),
    ({"min_samples_split": 1.5}, "min_samples_split=1.5", "between 0 and 1", "Pass min_samples_split=2"),
    ({"min_samples_leaf": 0}, "min_samples_leaf=0", "at least 1", "Pass min_samples_leaf=1"),
    ({"min_samples_leaf": 0.0}, "min_samples_leaf=0.0", "between 0 and 1", "Pass min_samples_leaf=1"),
    ({"min_weight_fraction_leaf": 0.6}, "=0.6", "from 0 to 0.5", "Pass min_weight_fraction_leaf=0"),
    ({"min_weight_fraction_leaf": "x"}, "='x'", "a number", "Pass min_weight_fraction_leaf=0.0"),
    (
        {"min_impurity_decrease": -0.1},
        "min_impurity_decrease=-0.1",
        "at least 0",
        "Pass min_impurity_decrease=0",
    ),
    (
        {"min_impurity_decrease": np.nan},
        "min_impurity_decrease=nan",
        "at least 0",
        "Pass min_impurity_decrease=0",
    ),
    (
        {"min_impurity_decrease": None},
        "min_impurity_decrease=None",
        "a number",
        "Pass min_impurity_decrease=0.0",
    ),
    ({"max_bins": 1}, "max_bins=1", "from 2 to 65,535", "Pass max_bins=255"),
    ({"max_bins": 65_536}, "max_bins=65536", "None for every value", "Pass max_bins=255"),
    ({"max_bins": "all"}, "max_bins='all'", "'auto', None for every value", "Pass max_bins=255"),
    ({"max_bins": 2.0}, "max_bins=2.0", "a whole number", "Pass max_bins=255"),
    ({"smoothing": "hsg"}, "smoothing='hsg'", "'hierarchical-shrinkage', 'hgs'", "Did you mean 'hgs'?"),
    ({"smoothing": 1}, "smoothing=1", "None for none, or a step from tree to tree", "Pass smoothing='auto'"),
    ({"smoothing": HGS}, "hgs.HGS'>: expected", "'laplace'", "a step from tree to tree"),
    ({"pruning": "colapse"}, "pruning='colapse'", "'collapse'", "Did you mean 'collapse'?"),
    ({"pruning": lambda tree: None}, "returned None", "a Tree", "takes a tree and returns one"),
    ({"class_weight": "even"}, "'even'", "'balanced', a mapping or None", "Pass a mapping"),
    ({"class_weight": [{0: 1}]}, "is a list", "a mapping of class labels to numbers", "pass one mapping"),
    ({"class_weight": {0: -1}}, "[-1, 1.0]", "finite numbers of zero or more", "Give a class"),
    ({"class_weight": {0: "much"}}, "['much', 1.0]", "finite numbers of zero or more", "Give a class"),
    (
        {"class_weight": {7: 2}},
        "names classes that are not in y: [7]",
        "The classes, [0, 1]",
        "Name classes of y",
    ),
    ({"monotonic_cst": [1]}, "has 1 entries for 3 features", "one each", "Pass a dict"),
    ({"monotonic_cst": [2, 0, 0]}, "=[2, 0, 0]", "1 (rises), -1 (falls) or 0 (free)", "Pass None"),
    ({"monotonic_cst": [0.5, 0, 0]}, "=[0.5, 0, 0]", "1 (rises), -1 (falls) or 0 (free)", "Pass None"),
    ({"monotonic_cst": 1}, "monotonic_cst=1", "for each feature", "Pass None"),
    ({"monotonic_cst": "up"}, "monotonic_cst='up'", "for each feature", "Pass None"),
    ({"monotonic_cst": {"x9": 1}}, "{'x9': 1}", "by feature name", "Name features: 'x9' is not one"),
    ({"monotonic_cst": {"x0": None}}, "None", "for each feature 1 (rises)", "Pass None"),
    ({"n_jobs": 0}, "n_jobs=0", "or -1 for all cores", "Pass n_jobs=1"),
    ({"n_jobs": 1.5}, "n_jobs=1.5", "a whole number of threads", "Pass n_jobs=1"),
    ({"n_jobs": "all"}, "n_jobs='all'", "a whole number of threads", "Pass n_jobs=1"),
]


@pytest.mark.parametrize(("setting", "found", "expected", "advice"), SETTINGS)
def test_a_wrong_parameter_is_refused(setting, found, expected, advice):
    with pytest.raises(ParameterError) as caught:
        TreeClassifier(**setting).fit(X, y)
    for part in (found, "expected" if "class_weight" not in setting else "", expected, advice):
        assert part in str(caught.value)


@pytest.mark.parametrize("setting", [setting for setting, *_ in SETTINGS])
def test_parameters_are_only_checked_in_fit(setting):
    classifier = TreeClassifier().set_params(**setting)
    assert classifier.get_params()[next(iter(setting))] is next(iter(setting.values()))


ROWS = [
    (X, None, None, DataError, "requires y to be passed", "the target y is None", "Pass one label per row"),
    (X, y[:5], None, DataError, "[8, 5]", "inconsistent numbers of samples", "Pass one label"),
    (
        X,
        np.where(y, np.nan, 1.0),
        None,
        DataError,
        "y contains NaN",
        "labels are missing",
        "Leave out the rows",
    ),
    (X, [None, *y[1:]], None, DataError, "y contains NaN", "labels are missing", "Leave out the rows"),
    (X, X[:, 0] / 2, None, DataError, "continuous", "expects discrete classes", "cut it into classes"),
    (X, y * 1j, None, DataError, "y holds complex128", "expected class labels", "name the classes"),
    (X, [*"abc", 1, 2, 3, 4, 5], None, DataError, "got ['int', 'str']", "uniformly", "Convert y to one type"),
    (
        X,
        np.stack([y, y], 1),
        None,
        DataError,
        "shape (8, 2)",
        "should be a 1d array",
        "Pass one label per row",
    ),
    (X[:, 0], y, None, DataError, "got 1D array", "Expected 2D array", "Reshape your data"),
    (X[None], y, None, DataError, "dim 3", "dim <= 2 is required", "Reshape your data"),
    (X[:0], y[:0], None, DataError, "0 sample(s)", "a minimum of 1", "required"),
    (X[:, :0], y, None, DataError, "0 feature(s)", "a minimum of 1", "required"),
    ([[1, 2], [3]], [0, 1], None, DataError, "differ in length", "the same number", "Give every row"),
    (csr_array((10**6, 10**4)), y, None, DataError, "a sparse matrix", "at most 4 GiB", "X.toarray()"),
    (None, y, None, DataError, "X is a NoneType", "expected a 2-D array", "Convert it"),
    ({"a": y}, y, None, DataError, "X is a dict", "expected a 2-D array", "Convert it"),
    (X * 1j, y, None, DataError, "complex128", "Complex data not supported", "Pass real and imaginary parts"),
    (X, y, -np.ones(8), DataError, "-1.0 in row 0", "finite numbers of zero or more", "the weight 0"),
    (X, y, [np.nan] * 8, DataError, "nan in row 0", "finite numbers of zero or more", "the weight 0"),
    (X, y, [1, 2], DataError, "shape == (2,)", "expected (8,)", "Pass one number per row"),
    (X, y, np.ones((8, 2)), DataError, "got 2D array", "must be 1D", "Pass one number per row"),
    (X, y, np.zeros(8), DataError, "Every row has weight 0", "at least one non-zero", "must"),
    (X, y, ["much"] * 8, DataError, "it is a list with other values", "must hold numbers", "Pass one number"),
]


@pytest.mark.parametrize(("X", "y", "weight", "kind", "found", "expected", "advice"), ROWS)
def test_rows_that_cannot_be_used_are_refused(X, y, weight, kind, found, expected, advice):
    with pytest.raises(kind) as caught:
        TreeClassifier().fit(X, y, sample_weight=weight)
    for part in (found, expected, advice):
        assert part in str(caught.value)
    assert isinstance(caught.value, HornbeamError)


def test_constraints_need_two_classes_and_ordered_features():
    with pytest.raises(ParameterError, match="second of two classes; found 3 classes"):
        TreeClassifier(monotonic_cst=[1, 0, 0]).fit(X, np.arange(8) % 3)
    words = pd.DataFrame({"word": list("abcdabcd")})
    with pytest.raises(ParameterError, match="'word', which is nominal; expected features with an order"):
        TreeClassifier(monotonic_cst={"word": 1}).fit(words, y)
    assert TreeClassifier("cart", monotonic_cst=[0, 0, 0]).fit(X, np.arange(8) % 3).tree_.n_leaves > 1


def test_a_column_vector_as_target_warns():
    with pytest.warns(DataConversionWarning, match="column-vector y was passed") as caught:
        classifier = TreeClassifier().fit(X, y[:, None])
    assert classifier.tree_.digest == TreeClassifier().fit(X, y).tree_.digest
    assert len(caught) == 1


def test_strings_in_a_numeric_column_are_refused():
    classifier = TreeClassifier().fit(X, y)
    with pytest.raises(SchemaError, match="'x1' has text in row 0, but the tree was fitted with numbers"):
        classifier.predict([[1.0, "tall", 2.0]])


@pytest.mark.parametrize("method", ["predict", "predict_proba", "apply", "decision_path"])
def test_an_unfitted_estimator_raises_not_fitted(method):
    with pytest.raises(NotFittedError, match="This TreeClassifier instance is not fitted yet"):
        getattr(TreeClassifier(), method)(X)
    with pytest.raises(NotFittedError):
        TreeClassifier().row_predictor()


def test_one_class_is_enough():
    classifier = TreeClassifier().fit(X, ["only"] * 8)
    assert classifier.predict(X[:1]).tolist() == ["only"]
    assert classifier.predict_proba(X[:1]).tolist() == [[1.0]]
