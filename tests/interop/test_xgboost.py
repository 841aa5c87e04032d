"""Trees from XGBoost: every row ends in the same leaf as in XGBoost."""

import numpy as np
import pytest

from hornbeam.errors import InteropError
from hornbeam.interop import from_xgboost
from hornbeam.smoothing import HGS
from hornbeam.tree.route import route
from support.imported_models import LARGEST, N_MODELS, labels, numbers, probes

xgboost = pytest.importorskip("xgboost", reason="the extra 'interop' brings XGBoost")

SPECIALS = [np.nan, 0.0, -0.0, 1e-45, -1e-45, 1e-320, 3e38, -3e38]  # XGBoost refuses infinities
CATEGORIES = [*range(40), 2.7, 2.99999999999, 1e6, np.nan]


def model(seed):
    """A random booster of two rounds, its rows and the types of their columns."""
    rng = np.random.default_rng(seed)
    X = numbers(rng, int(rng.integers(20, 400)), int(rng.integers(1, 6)))
    types = np.where(rng.random(X.shape[1]) < 0.4, "c", "float").tolist()
    for column in np.flatnonzero(np.array(types) == "c"):
        X[:, column] = rng.integers(0, rng.integers(2, 35), len(X))
        X[rng.random(len(X)) < rng.choice([0.0, 0.1]), column] = np.nan
    n_classes = int(rng.choice([2, 3]))
    settings = {
        "objective": "binary:logistic" if n_classes == 2 else "multi:softprob",
        "num_class": 1 if n_classes == 2 else n_classes,
        "tree_method": str(rng.choice(["hist", "approx"])),
        "booster": str(rng.choice(["gbtree", "dart"])),
        "max_depth": int(rng.integers(1, 9)),
        "min_child_weight": 0.1,
        "gamma": float(rng.choice([0.0, 0.5])),
        "max_cat_to_onehot": int(rng.choice([1, 4, 64])),
        "nthread": 1,
        "verbosity": 0,
        "seed": seed,
    }
    data = xgboost.DMatrix(X, labels(rng, X, n_classes), feature_types=types, enable_categorical=True)
    return rng, xgboost.train(settings, data, 2), X, types


@pytest.mark.parametrize("seed", range(N_MODELS))
def test_every_row_ends_in_the_same_leaf(seed):
    rng, booster, X, types = model(seed)

    def leaves(rows):
        data = xgboost.DMatrix(rows, feature_types=types, enable_categorical=True)
        return booster.predict(data, pred_leaf=True, strict_shape=True).reshape(len(rows), -1)

    n_trees = leaves(X).shape[1]
    for tree in range(n_trees):
        imported = from_xgboost(booster, index=tree)
        rows = probes(rng, X, imported.skeleton, SPECIALS, CATEGORIES, largest=LARGEST)
        for some in (rows, rows.astype(np.float32)):
            assert (imported.apply(some) == leaves(some)[:, tree]).all()
    with pytest.raises(InteropError, match=f"no tree {n_trees}"):
        from_xgboost(booster, index=n_trees)


def test_categories_below_zero_go_left():
    X = np.repeat([[0.0], [1.0]], 10, axis=0)
    data = xgboost.DMatrix(X, X[:, 0], feature_types=["c"], enable_categorical=True)
    booster = xgboost.train({"max_depth": 1, "objective": "binary:logistic"}, data, 1)
    rows = np.array([[-0.5], [-3.0], [2.0**24], [5.0], [0.0], [1.0], [1.5]])
    changed = xgboost.DMatrix(rows, feature_types=["c"], enable_categorical=True)
    assert (
        from_xgboost(booster).apply(rows).tolist()
        == booster.predict(changed, pred_leaf=True).ravel().tolist()
    )


def frame(seed, n_rows=300):
    import pandas as pd

    rng = np.random.default_rng(seed)
    data = pd.DataFrame(
        {
            "dose": rng.normal(size=n_rows),
            "same": pd.Categorical(["z"] * n_rows),
            "colour": pd.Categorical(rng.choice(["rot", "grün", "blau"], n_rows)),
            "decade": pd.Categorical(rng.integers(0, 6, n_rows) * 10),
            "smokes": rng.random(n_rows) < 0.5,
        }
    )
    ill = (data["dose"] > 0) ^ (data["colour"] == "rot") ^ (data["decade"] == 20) ^ data["smokes"]
    return data, ill.to_numpy().astype(int)


@pytest.mark.parametrize("seed", range(3))
def test_categories_of_a_frame_are_matched_by_value(seed):
    data, y = frame(seed)
    clf = xgboost.XGBClassifier(n_estimators=1, max_depth=6, enable_categorical=True).fit(data, y)
    imported = from_xgboost(clf)
    assert imported.schema.features[2].categories == ("blau", "grün", "rot")
    changed = data.copy()
    changed["decade"] = (
        changed["decade"].cat.reorder_categories([50, 40, 30, 20, 10, 0]).mask(data.index % 5 == 0)
    )
    for rows in (data, changed):
        assert (imported.apply(rows) == clf.apply(rows).reshape(len(rows), -1)[:, 0]).all()


def test_an_unseen_category_that_the_model_refuses_stops():
    import pandas as pd

    data, _ = frame(0)
    y = (data["colour"] == "rot").to_numpy().astype(int)
    clf = xgboost.XGBClassifier(n_estimators=1, max_depth=1, enable_categorical=True).fit(data, y)
    data["colour"] = pd.Categorical(["lila"] * len(data))
    with pytest.raises(xgboost.core.XGBoostError, match="not in the training set"):
        clf.apply(data)
    imported = from_xgboost(clf)
    assert set(route(imported.skeleton, imported.read(data)).tolist()) == {0}


def test_a_counted_tree_can_be_smoothed():
    data, y = frame(0)
    clf = xgboost.XGBClassifier(n_estimators=1, enable_categorical=True).fit(data, y)
    tree = from_xgboost(clf).count(data, y)
    assert tree.evidence[0].tolist() == np.bincount(y).tolist()
    assert [step.name for step in HGS()(tree).history] == ["xgboost", "hgs"]


def test_a_model_of_one_leaf_gives_one_leaf():
    X = np.zeros((10, 1))
    clf = xgboost.XGBClassifier(n_estimators=1).fit(X, np.arange(10) % 2)
    assert from_xgboost(clf).skeleton.n_nodes == 1


def test_unsupported_models_are_refused():
    X, y = np.arange(10.0)[:, None], np.arange(10) % 2
    with pytest.raises(InteropError, match="gblinear"):
        from_xgboost(xgboost.XGBClassifier(n_estimators=1, booster="gblinear").fit(X, y))
    with pytest.raises(InteropError, match=r"missing=-1.0.*NaN"):
        from_xgboost(xgboost.XGBClassifier(n_estimators=1, missing=-1.0).fit(X, y))
