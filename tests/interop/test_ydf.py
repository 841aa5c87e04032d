"""Trees from YDF: every row ends in the same leaf as in YDF, and the counts are the same."""

import numpy as np
import pandas as pd
import pytest

from hornbeam.errors import InteropError
from hornbeam.interop import from_ydf
from hornbeam.interop.input_conventions import OTHER_CATEGORY
from hornbeam.smoothing import HGS
from support.imported_models import LARGEST, N_MODELS, around, labels, numbers

ydf = pytest.importorskip("ydf", reason="the extra 'interop' brings YDF")

WORDS = np.array(["red", "green", "blue", "grey", "pink", "mauve", "teal", "gold"])


@pytest.fixture(autouse=True)
def quiet():
    ydf.verbose(0)


def frame(rng):
    """Numbers, a discretised number, words, integers as categories, and booleans."""
    X = numbers(rng, int(rng.integers(40, 300)), 3)
    n_rows = len(X)
    word = rng.choice(WORDS[: rng.integers(2, 9)], n_rows).astype(object)
    word[rng.random(n_rows) < rng.choice([0.0, 0.1])] = None
    code = rng.integers(-1, rng.integers(2, 8), n_rows)
    data = {
        "a": X[:, 0],
        "b": X[:, 1],
        "word": word,
        "cut": X[:, 2],
        "code": code,
        "flag": rng.random(n_rows) < 0.5,
    }
    signal = np.column_stack([X, word == "red", code % 2, data["flag"]]).astype(float)
    return pd.DataFrame(data), signal


def model(seed):
    rng = np.random.default_rng(seed)
    data, signal = frame(rng)
    y = np.array(["no", "yes", "maybe"])[labels(rng, signal, int(rng.choice([2, 3])))]
    features = [
        ydf.Feature("a"),
        ydf.Feature("b"),
        ydf.Feature("word", ydf.Semantic.CATEGORICAL, min_vocab_frequency=int(rng.choice([1, 20]))),
        ydf.Feature("cut", ydf.Semantic.DISCRETIZED_NUMERICAL),
        ydf.Feature("code", ydf.Semantic.CATEGORICAL, min_vocab_frequency=1),
        ydf.Feature("flag"),
    ]
    shared = {"label": "y", "features": features, "min_examples": int(rng.integers(1, 6)), "num_threads": 1}
    shared["allow_na_conditions"] = bool(rng.random() < 0.3)
    shared["missing_value_policy"] = str(rng.choice(["GLOBAL_IMPUTATION", "LOCAL_IMPUTATION"]))
    algorithm = str(rng.choice(["CART", "ONE_HOT", "RANDOM"]))
    match rng.integers(3):
        case 0:
            shared["categorical_algorithm"] = algorithm
            learner = ydf.CartLearner(validation_ratio=0.0, max_depth=8, **shared)
        case 1:
            shared["categorical_algorithm"] = algorithm
            learner = ydf.RandomForestLearner(num_trees=2, compute_oob_performances=False, **shared)
        case _:
            learner = ydf.GradientBoostedTreesLearner(
                num_trees=2, validation_ratio=0.0, early_stopping="NONE", **shared
            )
    return rng, learner.train(data.assign(y=y)), data, y


def probes(rng, data, skeleton):
    """The rows, and copies of some of them with one value replaced."""
    rows = [data]
    values = {
        "word": [*WORDS, "never seen", None, OTHER_CATEGORY],
        "code": [*range(-3, 10), 1000],
        "flag": [False, True],
    }
    for at, name in enumerate(["a", "b", "word", "cut", "code", "flag"]):
        if name not in values:
            near = around(np.unique(skeleton.threshold[skeleton.feature == at]))
            values[name] = [*near[np.abs(near) <= LARGEST], np.nan, np.inf, -np.inf, 0.0]
        changed = data.iloc[rng.integers(0, len(data), len(values[name]))].copy()
        changed[name] = pd.Series(values[name], changed.index, dtype=data[name].dtype)
        rows.append(changed)
    return pd.concat(rows, ignore_index=True)


@pytest.mark.parametrize("seed", range(N_MODELS))
def test_every_row_ends_in_the_same_leaf(seed):
    rng, forest, data, y = model(seed)
    for tree in range(forest.num_trees()):
        imported = from_ydf(forest, index=tree)
        rows = probes(rng, data, imported.skeleton)[list(imported.schema.names)]
        assert (imported.apply(rows) == forest.predict_leaves(rows.assign(y=y[0]))[:, tree]).all()
    with pytest.raises(InteropError, match="no tree"):
        from_ydf(forest, index=forest.num_trees())


def cart(data, y, **settings):
    learner = ydf.CartLearner(label="y", validation_ratio=0.0, **settings)
    return learner.train(data.assign(y=y))


def test_the_counts_equal_those_of_counting_the_rows():
    rng = np.random.default_rng(1)
    data, signal = frame(rng)
    y = labels(rng, signal, 3)
    imported = from_ydf(cart(data, y))
    assert imported.schema.classes == (0, 1, 2)
    assert (imported.tree.evidence == imported.count(data[list(imported.schema.names)], y).evidence).all()
    assert [step.name for step in HGS()(imported.tree).history] == ["ydf", "hgs"]


def test_weighted_and_boosted_models_have_no_counts():
    rng = np.random.default_rng(2)
    data, signal = frame(rng)
    y = labels(rng, signal, 2)
    weighted = cart(data.assign(w=rng.random(len(data))), y, weights="w")
    assert from_ydf(weighted).tree is None
    boosted = ydf.GradientBoostedTreesLearner(
        label="y", num_trees=1, validation_ratio=0.0, early_stopping="NONE"
    )
    assert from_ydf(boosted.train(data.assign(y=y))).tree is None


def test_values_outside_the_dictionary_are_one_category():
    data = pd.DataFrame({"word": ["a"] * 30 + ["b"] * 30 + list("cdefgh")})
    y = ["no"] * 30 + ["yes"] * 30 + ["no"] * 6
    imported = from_ydf(cart(data, y, min_vocab_frequency=10))
    assert imported.schema.features[0].categories == ("a", "b", OTHER_CATEGORY)
    assert imported.read([["b"], ["c"], ["zzz"], [None]]).columns[0].tolist() == [1, 2, 2, -1]


def test_oblique_splits_are_refused():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 2))
    data = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": X.sum(axis=1) > 0})
    learner = ydf.RandomForestLearner(label="y", num_trees=1, split_axis="SPARSE_OBLIQUE")
    with pytest.raises(InteropError, match=r"NumericalSparseOblique.*axis-aligned"):
        from_ydf(learner.train(data))
