"""Trees from LightGBM: every row ends in the same leaf as in LightGBM."""

import numpy as np
import pytest

from hornbeam.errors import InteropError
from hornbeam.interop import from_lightgbm
from hornbeam.interop.input_conventions import OTHER_CATEGORY
from hornbeam.smoothing import HGS
from support.imported_models import N_MODELS, labels, numbers, probes

lightgbm = pytest.importorskip("lightgbm", reason="the extra 'interop' brings LightGBM")

SPECIALS = [
    np.nan,
    np.inf,
    -np.inf,
    0.0,
    -0.0,
    1e-35,
    -1e-35,
    float(np.float32(1e-35)),
    1.1e-35,
    -1.1e-35,
    1e300,
]
CATEGORIES = [*range(-2, 40), 2.7, -0.5, -1.5, 1e9, 1e10, np.nan]


def model(seed):
    """A random booster of two rounds, and its rows."""
    rng = np.random.default_rng(seed)
    X = numbers(rng, int(rng.integers(40, 400)), int(rng.integers(1, 6)))
    nominal = np.flatnonzero(rng.random(X.shape[1]) < 0.4).tolist()
    for column in nominal:
        X[:, column] = rng.integers(0, rng.integers(2, 35), len(X))
        X[rng.random(len(X)) < rng.choice([0.0, 0.1]), column] = np.nan
    n_classes = int(rng.choice([2, 3]))
    settings = {
        "objective": "binary" if n_classes == 2 else "multiclass",
        "num_class": 1 if n_classes == 2 else n_classes,
        "num_leaves": int(rng.integers(2, 40)),
        "min_data_in_leaf": int(rng.integers(1, 10)),
        "min_data_per_group": 1,
        "min_data_in_bin": int(rng.integers(1, 4)),
        "cat_smooth": 1.0,
        "max_cat_to_onehot": int(rng.choice([1, 4, 64])),
        "zero_as_missing": bool(rng.random() < 0.4),
        "use_missing": bool(rng.random() < 0.8),
        "num_threads": 1,
        "verbose": -1,
        "seed": seed,
    }
    data = lightgbm.Dataset(X, labels(rng, X, n_classes), categorical_feature=nominal)
    return rng, lightgbm.train(settings, data, 2), X


@pytest.mark.filterwarnings("ignore:.*categorical_feature")
@pytest.mark.parametrize("seed", range(N_MODELS))
def test_every_row_ends_in_the_same_leaf(seed):
    rng, booster, X = model(seed)
    for tree in range(booster.num_trees()):
        imported = from_lightgbm(booster, index=tree)
        rows = probes(rng, X, imported.skeleton, SPECIALS, CATEGORIES)
        with np.errstate(over="ignore"):
            near = rows.astype(np.float32)
        for some in (rows, near):
            leaves = booster.predict(some, pred_leaf=True).reshape(len(some), -1)[:, tree]
            assert (imported.apply(some) == leaves).all()


def frame(seed, n_rows=300):
    import pandas as pd

    rng = np.random.default_rng(seed)
    data = pd.DataFrame(
        {
            "the dose": rng.normal(size=n_rows),
            "same": pd.Categorical(["z"] * n_rows),
            "colour": pd.Categorical(rng.choice(["red", "green", "blue"], n_rows)),
            "decade": pd.Categorical(rng.integers(0, 6, n_rows) * 10),
        }
    )
    y = np.where((data["the dose"] > 0) ^ (data["colour"] == "red") ^ (data["decade"] == 20), "ill", "well")
    return data, y


@pytest.mark.parametrize("seed", range(3))
def test_categories_of_a_frame_are_matched_by_value(seed):
    import pandas as pd

    data, y = frame(seed)
    clf = lightgbm.LGBMClassifier(
        n_estimators=1, min_child_samples=3, min_data_per_group=1, cat_smooth=1, verbose=-1
    )
    imported = from_lightgbm(clf.fit(data, y))
    assert imported.schema.features[2].categories == ("blue", "green", "red", OTHER_CATEGORY)
    assert imported.schema.classes == ("ill", "well")
    changed = data.copy()
    changed["colour"] = pd.Categorical(np.where(data.index % 3 == 0, "mauve", data["colour"].astype(object)))
    changed["decade"] = (
        changed["decade"].cat.reorder_categories([50, 40, 30, 20, 10, 0]).mask(data.index % 5 == 0)
    )
    for rows in (data, changed):
        ours = imported.apply(rows.rename(columns={"the dose": "the_dose"}))
        assert (ours == clf.predict(rows, pred_leaf=True)[:, 0]).all()


def test_a_counted_tree_can_be_smoothed():
    data, y = frame(0)
    clf = lightgbm.LGBMClassifier(n_estimators=1, verbose=-1).fit(data, y)
    tree = from_lightgbm(clf).count(data.rename(columns={"the dose": "the_dose"}), y)
    assert tree.rows[0] == len(y)
    assert [step.name for step in HGS()(tree).history] == ["lightgbm", "hgs"]


def test_a_model_of_one_leaf_gives_one_leaf():
    X = np.arange(20.0)[:, None]
    booster = lightgbm.train({"objective": "binary", "verbose": -1}, lightgbm.Dataset(X, np.ones(20)), 1)
    imported = from_lightgbm(booster)
    assert imported.skeleton.n_nodes == 1
    assert imported.apply(X).tolist() == [0] * 20


def test_unsupported_models_are_refused():
    X = np.arange(20.0)[:, None]
    booster = lightgbm.train({"objective": "binary", "verbose": -1}, lightgbm.Dataset(X, np.ones(20)), 1)
    with pytest.raises(InteropError, match="no tree 1; expected the index of one of its 1"):
        from_lightgbm(booster, index=1)
    data, y = frame(0)
    data["number"] = np.arange(len(data)) % 3
    clf = lightgbm.LGBMClassifier(n_estimators=1, verbose=-1)
    clf.fit(data, y, categorical_feature=["same", "colour", "decade", "number"])
    with pytest.raises(InteropError, match="the model does not say which"):
        from_lightgbm(clf)
