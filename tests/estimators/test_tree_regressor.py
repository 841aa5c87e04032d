"""TreeRegressor: predictions, intervals, errors, saving and exports."""

import re
import sqlite3
import subprocess

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.model_selection import cross_val_predict

import hornbeam
from hornbeam import TreeRegressor
from hornbeam.data.table import Table
from hornbeam.errors import DataError, ExportError, ParameterError, StorageError
from hornbeam.export import to_c, to_python, to_sql, to_text


@pytest.fixture(scope="module")
def diabetes():
    return load_diabetes(return_X_y=True)


@pytest.fixture(scope="module")
def mixed():
    """Numbers, categories and missing values."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"age": rng.integers(18, 80, 300).astype(float), "town": rng.choice(["Ayr", "Bonn", "Cork"], 300)}
    )
    y = X["age"] + 10.0 * (X["town"] == "Bonn") + rng.normal(size=300)
    X.loc[::17, "age"] = np.nan
    return X, y


def test_cross_fitted_means_are_better_than_raw_ones(diabetes):
    X, y = diabetes
    errors = [
        ((cross_val_predict(TreeRegressor(p), X, y, cv=5) - y) ** 2).mean() for p in ("default", "cart")
    ]
    assert errors[0] < 0.75 * errors[1]


def test_tolerance_gives_smaller_trees():
    X, y = make_friedman1(400, noise=1.0, random_state=0)
    sizes = [
        TreeRegressor(**p).fit(X, y).tree_.n_leaves for p in ({"pruning": None}, {}, {"tolerance": 0.05})
    ]
    assert sizes[0] > sizes[1] >= sizes[2]


def test_the_tuned_tree_is_the_same_in_any_order(diabetes):
    X, y = diabetes
    order = np.random.default_rng(1).permutation(len(y))
    one, other = TreeRegressor().fit(X, y), TreeRegressor(n_jobs=2).fit(X[order], y[order])
    assert one.tree_.digest == other.tree_.digest


def test_a_row_of_weight_two_is_two_rows_for_the_tuned_tree(diabetes):
    X, y = diabetes[0][:150], diabetes[1][:150]
    times = np.random.default_rng(2).integers(1, 3, 150)
    one = TreeRegressor(random_state=1).fit(X, y, sample_weight=times)
    other = TreeRegressor(random_state=1)
    other.fit(np.repeat(X, times, axis=0), np.repeat(y, times), groups="copies")
    np.testing.assert_allclose(one.tree_.belief, other.tree_.belief)
    assert one.tree_.skeleton.threshold.tolist() == pytest.approx(
        other.tree_.skeleton.threshold.tolist(), nan_ok=True
    )


def test_frames_with_categories_and_missing_values(mixed):
    X, y = mixed
    reg = TreeRegressor().fit(X, y)
    assert reg.score(X, y) > 0.9
    assert reg.feature_names_in_.tolist() == ["age", "town"]
    unseen = reg.predict(pd.DataFrame({"age": [30.0], "town": ["Delft"]}))
    assert y.min() < unseen[0] < y.max()


def test_intervals_contain_the_means_of_their_nodes():
    """A step function with noise: in about 9 of 10 trees the true mean of a leaf is within its interval."""
    inside = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        x = rng.random((120, 1))
        y = np.where(x[:, 0] > 0.5, 1.0, 0.0) + rng.normal(size=120)
        low, high = (
            TreeRegressor("cart", max_depth=1, min_samples_leaf=30).fit(x, y).predict_interval([[0.1], [0.9]])
        )
        inside += [low[0] <= 0 <= high[0], low[1] <= 1 <= high[1]]
    assert 0.8 <= np.mean(inside) <= 0.97


def test_more_rows_give_narrower_intervals(diabetes):
    X, y = diabetes
    few, many = (
        TreeRegressor("cart", max_depth=1).fit(X[:n], y[:n]).predict_interval(X[:1]) for n in (50, 400)
    )
    assert many[1] - many[0] < few[1] - few[0]


def test_leaves_are_listed(diabetes):
    leaves = TreeRegressor("cart", max_depth=1).fit(*diabetes).leaves()
    assert "90 % interval" in repr(leaves).splitlines()[0]
    assert len(repr(leaves).splitlines()) == 3
    assert set(leaves.to_dict()) == {"node", "rows", "borrowed", "rule", "raw", "prediction", "low", "high"}
    assert (leaves.low < leaves.probability).all()


def test_constraints_hold_after_smoothing():
    rng = np.random.default_rng(0)
    X = rng.random((300, 2))
    y = X[:, 0] + 0.5 * rng.normal(size=300)
    reg = TreeRegressor(monotonic_cst=[1, 0]).fit(X, y)
    grid = np.linspace(0, 1, 50)
    for other in (0.2, 0.8):
        assert (np.diff(reg.predict(np.c_[grid, np.full(50, other)])) >= 0).all()


# ---- errors


@pytest.mark.parametrize(
    ("y", "words"),
    [
        ([1.0, np.nan], "Input y contains NaN"),
        ([1.0, np.inf], "Input y contains infinity"),
        ([1.0, 1e200], r"expected numbers up to 1e\+140"),
        (["a", "b"], "not numbers"),
        ([[1.0, 2.0], [3.0, 4.0]], "1d array"),
        ([1.0], "inconsistent numbers of samples"),
    ],
)
def test_wrong_targets_are_refused(y, words):
    with pytest.raises(DataError, match=words):
        TreeRegressor().fit([[0.0], [1.0]], y)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"preset": "c4.5"}, r"preset='c4\.5': expected one of 'default', 'cart'"),
        ({"missing": "fractional"}, "missing='fractional' shares out rows of classes"),
        ({"smoothing": "laplace"}, "smoothing='laplace': expected one of"),
        ({"pruning": "error-based"}, "pruning='error-based': expected one of 'auto'"),
    ],
)
def test_wrong_parameters_are_refused(settings, words):
    with pytest.raises(ParameterError, match=words):
        TreeRegressor(**settings).fit([[0.0], [1.0]], [0.0, 1.0])


@pytest.mark.parametrize("weighted", [False, True])
def test_files_give_the_tree_of_their_rows(mixed, tmp_path, weighted):
    X, y = mixed
    frame = X.assign(y=y, w=np.arange(len(y)) % 3)
    for at in range(3):
        frame.iloc[at * len(y) // 3 : (at + 1) * len(y) // 3].to_parquet(
            tmp_path / f"{at}.parquet", index=False
        )
    weight = frame["w"].to_numpy() if weighted else None
    here = TreeRegressor().fit(X if weighted else frame[[*X.columns, "w"]], y, weight)
    there = TreeRegressor().fit(str(tmp_path), "y", "w" if weighted else None)
    assert there.tree_.digest == here.tree_.digest
    assert there.feature_names_in_.tolist() == here.feature_names_in_.tolist()
    assert_array_equal(there.predict(tmp_path), here.predict(frame[there.feature_names_in_]))


def test_files_that_exceed_the_memory_give_the_tree_of_their_rows(mixed, tmp_path):
    X, y = mixed
    X.assign(y=y).to_parquet(tmp_path / "rows.parquet")
    there = TreeRegressor("cart", max_depth=3).fit(tmp_path / "rows.parquet", "y", memory=1000)
    assert there.tree_.digest == TreeRegressor("cart", max_depth=3).fit(X, y).tree_.digest
    with pytest.raises(ParameterError, match="y is a ndarray; expected the name of their column"):
        TreeRegressor().fit(tmp_path / "rows.parquet", np.asarray(y))


# ---- saved and exported


@pytest.mark.parametrize("name", ["model.hornbeam", "model.safetensors"])
def test_saved_and_loaded(mixed, tmp_path, name):
    reg = TreeRegressor(max_depth=3).fit(*mixed)
    hornbeam.save(reg, tmp_path / name)
    again = hornbeam.load(tmp_path / name)
    assert again.tree_.digest == reg.tree_.digest
    assert again.get_params() == reg.get_params()
    np.testing.assert_array_equal(again.predict(mixed[0]), reg.predict(mixed[0]))


@pytest.mark.filterwarnings("ignore:the file has no sha256")
def test_a_forged_file_is_refused(diabetes, tmp_path):
    path = tmp_path / "model.hornbeam"
    hornbeam.save(TreeRegressor("cart", max_depth=1).fit(*diabetes), path)
    text_of = re.sub(r'  "sha256": "[0-9a-f]*",\n', "", path.read_text(encoding="utf-8"))
    for old, new, words in (
        ('"kind": "regression tree"', '"kind": "tree"', "no classes"),
        ('"kind": "regression tree"', '"kind": "forest"', "kind is 'forest'"),
        ('"n_classes": 0', '"n_classes": 2', "expected 0: the target"),
        ('"name": "TreeRegressor"', '"name": "TreeClassifier"', "another kind of trees|no parameter"),
    ):
        path.write_text(text_of.replace(old, new))
        with pytest.raises(StorageError, match=words):
            hornbeam.load(path)


def test_the_text_export_shows_means(diabetes):
    X, y = diabetes
    words = to_text(TreeRegressor("cart", max_depth=1).fit(X, y).tree_)
    assert len(words.splitlines()) == 3
    assert f"{y.std():.4g}" not in words
    assert "rows, deviation" in words


def test_python_sql_and_c_exports_predict_the_same(mixed, tmp_path):
    pytest.importorskip("sqlglot", reason="the extra [sql] brings it")
    X, y = mixed
    tree = TreeRegressor(max_depth=4).fit(X, y).tree_
    rows = Table.read(X, schema=tree.schema)
    expected = TreeRegressor(max_depth=4).fit(X, y).predict(X)
    module = {}
    exec(to_python(tree, vectors=rows), module)
    assert module["check"]() == 0
    connection = sqlite3.connect(":memory:")
    X.to_sql("rows", connection, index=False)
    found = pd.read_sql(to_sql(tree, dialect="sqlite"), connection)
    connection.close()
    np.testing.assert_array_equal(found["mean"], expected)
    for layout in ("if", "table", "bins"):
        source = tmp_path / "tree.c"
        source.write_text(to_c(tree, layout=layout, vectors=rows))
        build = [
            "cc",
            "-std=c99",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-DTREE_TEST",
            str(source),
            "-o",
            str(tmp_path / "tree"),
        ]
        subprocess.run(build, check=True)
        assert subprocess.run([tmp_path / "tree"], check=False).returncode == 0


def test_small_fixed_point_is_for_probabilities(diabetes):
    tree = TreeRegressor("cart", max_depth=1).fit(*diabetes).tree_
    with pytest.raises(ExportError, match="probability='uint8' cannot hold"):
        to_c(tree, probability="uint8")
