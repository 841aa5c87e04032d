"""Every estimator is saved and loaded with the same predictions, to the bit, and the same parameters."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.frozen import FrozenEstimator

import hornbeam
from hornbeam import (
    BoostedTreesClassifier,
    BoostedTreesRanker,
    BoostedTreesRegressor,
    ForestClassifier,
    ForestRegressor,
    RuleClassifier,
    TreeClassifier,
)
from hornbeam.errors import ParameterError, StorageError
from hornbeam.estimators.persistence.files import pack, unpack
from hornbeam.export import to_c, to_onnx
from hornbeam.smoothing import HGS
from hornbeam.storage.file import decode, encode
from hornbeam.storage.model import Model
from support.examples import examples

pytestmark = pytest.mark.filterwarnings("ignore:the file has no sha256")

RNG = np.random.default_rng(0)
N = 90
ROWS = pd.DataFrame(
    {
        "dose": np.where(RNG.random(N) < 0.1, np.nan, RNG.normal(size=N).round(2)),
        "visits": RNG.integers(0, 9, N),
        "ward": RNG.choice(["north", "east", "west"], N),
    }
)
SCORE = np.nan_to_num(ROWS["dose"].to_numpy()) + (ROWS["ward"] == "east") - RNG.random(N) / 2
LABELS = {
    "words": np.where(SCORE > 0.4, "ill", "well"),
    "three": np.digitize(SCORE, [0.0, 0.8]).astype(np.int8),
    "truth": (SCORE > 0.4).to_numpy(),
}
AMOUNT = np.abs(SCORE.to_numpy()).round(1)

FOREST = {
    "n_estimators": st.integers(1, 4),
    "bootstrap": st.booleans(),
    "smoothing": st.sampled_from(["auto", None, "m-branch"]),
    "missing": st.sampled_from(["own", "learned"]),
    "nominal_split": st.sampled_from(["subset", "multiway"]),
    "max_features": st.sampled_from(["sqrt", 2, 0.5, None]),
    "monotonic_cst": st.sampled_from([None, {"dose": 1}]),
    "random_state": st.sampled_from([None, 3]),
}
BOOSTED = {
    "n_estimators": st.integers(1, 4),
    "min_samples_leaf": st.sampled_from([3, 80]),
    "learning_rate": st.sampled_from([0.1, 1.0]),
    "subsample": st.sampled_from([1.0, 0.5]),
    "max_leaf_nodes": st.sampled_from([None, 4]),
}
STOPPING = {"early_stopping": st.booleans(), "n_iter_no_change": st.just(1)}


def reloaded(estimator):
    """Encode and decode an estimator; it must encode to the same bytes again."""
    data = encode(pack(estimator))
    again = unpack(decode(data))
    assert encode(pack(again)) == data
    return again


def check(again, estimator, left_behind=()):
    assert type(again) is type(estimator)
    assert again.get_params() == estimator.get_params()
    fitted = {name for name in vars(estimator) if name.endswith("_")} - {*left_behind}
    assert {name for name in vars(again) if name.endswith("_")} == fitted
    for name in fitted - {"forest_", "boosted_", "rules_", "source_tree_", "tree_", "smoother_"}:
        was, now = getattr(estimator, name), getattr(again, name)
        np.testing.assert_array_equal(now, was)
        assert np.asarray(now).dtype == np.asarray(was).dtype
    for method in ("predict", "predict_proba", "decision_function"):
        if hasattr(estimator, method):
            was, now = getattr(estimator, method)(ROWS), getattr(again, method)(ROWS)
            np.testing.assert_array_equal(now, was)
            assert now.dtype == was.dtype


@given(st.fixed_dictionaries({}, optional=FOREST), st.sampled_from(list(LABELS)), st.booleans())
@examples(12)
def test_classification_forests(parameters, labels, balanced):
    parameters = {"n_estimators": 3} | parameters
    if labels == "three":
        parameters.pop("monotonic_cst", None)
    clf = ForestClassifier(**parameters, class_weight="balanced" if balanced else None).fit(
        ROWS, LABELS[labels]
    )
    again = reloaded(clf)
    check(again, clf)
    assert again.forest_.digest == clf.forest_.digest
    assert again.smoother_ == clf.smoother_
    np.testing.assert_array_equal(again.feature_importances_, clf.feature_importances_)


@given(st.fixed_dictionaries({}, optional=FOREST))
@examples(8)
def test_regression_forests(parameters):
    reg = ForestRegressor(**{"n_estimators": 3} | parameters).fit(ROWS, AMOUNT)
    again = reloaded(reg)
    check(again, reg)
    assert again.forest_.digest == reg.forest_.digest
    assert again.smoother_ == reg.smoother_


@given(st.fixed_dictionaries({}, optional=BOOSTED | STOPPING), st.sampled_from(list(LABELS)))
@examples(12)
def test_boosted_classifiers(parameters, labels):
    clf = BoostedTreesClassifier(**{"n_estimators": 3} | parameters).fit(ROWS, LABELS[labels])
    again = reloaded(clf)
    check(again, clf)
    assert again.boosted_.digest == clf.boosted_.digest
    assert again.boosted_.schema == clf.boosted_.schema


LOSSES = [("squared_error", None), ("absolute_error", None), ("quantile", 0.9), ("poisson", None)]


@given(st.fixed_dictionaries({}, optional=BOOSTED | STOPPING), st.sampled_from(LOSSES))
@examples(12)
def test_boosted_regressors(parameters, loss):
    name, quantile = loss
    reg = BoostedTreesRegressor(loss=name, quantile=quantile, **{"n_estimators": 3} | parameters).fit(
        ROWS, AMOUNT
    )
    again = reloaded(reg)
    check(again, reg)
    assert again.boosted_.digest == reg.boosted_.digest


@given(st.fixed_dictionaries({}, optional=BOOSTED))
@examples(6)
def test_rankers(parameters):
    ranker = BoostedTreesRanker(**{"n_estimators": 3} | parameters)
    ranker.fit(ROWS, np.clip(AMOUNT.round(), 0, 4), query=np.arange(N) // 9)
    again = reloaded(ranker)
    check(again, ranker)
    assert again.boosted_.digest == ranker.boosted_.digest


def test_the_out_of_bag_score_is_saved_and_the_predictions_are_not():
    clf = ForestClassifier(20, oob_score=True).fit(ROWS, LABELS["words"])
    check(reloaded(clf), clf, {"oob_decision_function_"})
    reg = ForestRegressor(20, oob_score=True).fit(ROWS, AMOUNT)
    check(reloaded(reg), reg, {"oob_prediction_"})


def test_the_temperature_of_a_forest_is_saved():
    clf = ForestClassifier(20).fit(ROWS, LABELS["words"])
    assert clf.temperature_ != 1.0
    assert reloaded(clf).temperature_ == clf.temperature_
    other = ForestClassifier(20, smoothing=None).fit(ROWS, LABELS["words"])
    assert "temperature" not in pack(other).learned  # as files were before there was one
    assert reloaded(other).temperature_ == 1.0
    assert f"temperature: {clf.temperature_}, now not set" in hornbeam.diff(clf, other).settings


def test_columns_without_names_stay_without_names():
    clf = ForestClassifier(2).fit(ROWS[["visits"]].to_numpy(), LABELS["words"])
    assert not hasattr(reloaded(clf), "feature_names_in_")


def test_several_trees_are_binary_in_files_of_any_name(tmp_path):
    clf = ForestClassifier(3).fit(ROWS, LABELS["words"])
    for name in ("model.hornbeam", "model.safetensors"):
        hornbeam.save(clf, tmp_path / name)
        assert hornbeam.load(tmp_path / name).forest_.digest == clf.forest_.digest
    assert (tmp_path / "model.hornbeam").read_bytes() == (tmp_path / "model.safetensors").read_bytes()
    assert not hornbeam.diff(clf, hornbeam.load(tmp_path / "model.hornbeam"))
    with pytest.raises(StorageError, match="a ForestClassifier of 3 trees and a TreeClassifier of 1 tree"):
        hornbeam.diff(clf, TreeClassifier().fit(ROWS, LABELS["words"]))


# --------------------------------------------------------------------------------------------------------- rules


def grown(labels="words"):
    return TreeClassifier("cart", max_depth=4, smoothing=HGS(2.0)).fit(ROWS, LABELS[labels])


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize(
    "given_",
    [
        lambda labels: None,
        lambda labels: TreeClassifier("c4.5", min_samples_leaf=3),
        lambda labels: grown(labels).tree_,
        lambda labels: FrozenEstimator(grown(labels)),
    ],
    ids=["none", "to be grown", "tree", "frozen"],
)
def test_rules(labels, given_):
    clf = RuleClassifier(given_(labels), alpha=0.5).fit(ROWS, LABELS[labels])
    again = reloaded(clf)
    assert again.rules_.to_json() == clf.rules_.to_json()
    assert again.source_tree_.digest == clf.source_tree_.digest
    for method in ("predict", "predict_proba", "apply"):
        np.testing.assert_array_equal(getattr(again, method)(ROWS), getattr(clf, method)(ROWS))
    for was, now in zip(clf.predict_interval(ROWS), again.predict_interval(ROWS), strict=True):
        np.testing.assert_array_equal(now, was)
    assert again.classes_.dtype == clf.classes_.dtype
    assert again.feature_names_in_.tolist() == clf.feature_names_in_.tolist()
    assert type(again.estimator) is type(clf.estimator)
    plain = (clf.alpha, clf.confidence, clf.costs, clf.random_state, clf.n_jobs)
    assert plain == (again.alpha, again.confidence, again.costs, again.random_state, again.n_jobs)
    refitted = again.fit(ROWS, LABELS[labels])
    assert refitted.rules_.to_json() == clf.rules_.to_json(), "the estimator is saved too"


def test_rules_are_text_and_compared_one_by_one():
    clf = RuleClassifier().fit(ROWS, LABELS["words"])
    document = json.loads(encode(pack(clf)))
    assert (document["kind"], document["version"]) == ("rules", [1, 5])
    other = RuleClassifier(alpha=3.0).fit(ROWS, LABELS["words"])
    changed = hornbeam.diff(clf, other).settings
    assert "alpha: 1.0, now 3.0" in changed
    assert any(line.startswith("rules[0]: rule(belief=array([") for line in changed)


RULES = json.loads(encode(pack(RuleClassifier().fit(ROWS, LABELS["words"]))))


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("target",), 2, "a rule names the class 2; expected 0 to 1"),
        (("target",), True, "a rule names the class True"),
        (("size",), -1.0, "the size of a rule is -1.0"),
        (("error",), 2.0, "the error of a rule is 2.0"),
        (("belief", "array"), [0.5, 0.6], "a rule: belief[0] is [0.5, 0.6]"),
        (("belief", "array"), [1.0], "belief of a rule is array([1.])"),
        (("covered", "array"), [1.0, {"float": "nan"}], "covered of a rule is array([ 1., nan])"),
        (("conditions",), [], "a rule is rule("),
        (("conditions", "tuple"), [1], "a condition is 1; expected above, among"),
        (("conditions", "tuple", 0, "parameters", "column"), 3, "a condition has column 3; expected 0 to 2"),
        (("conditions", "tuple", 0, "parameters", "above"), {"float": "nan"}, "above of a condition is nan"),
        (("conditions", "tuple", 0, "parameters", "at_most"), "x", "at_most of a condition is 'x'"),
        (
            ("conditions", "tuple", 0, "parameters", "among"),
            {"tuple": [1, 0]},
            "among of a condition is (1, 0)",
        ),
        (("conditions", "tuple", 0, "parameters", "among"), {"tuple": [99]}, "among of a condition is (99,)"),
        (("conditions", "tuple", 0, "parameters", "missing"), 1, "a condition is condition("),
    ],
)
def test_wrong_rules_are_refused_by_name(place, value, message):
    document = json.loads(json.dumps(RULES))
    del document["sha256"]
    at = document["estimator"]["learned"]["rules"]["tuple"][0]["parameters"]
    for step in place[:-1]:
        at = at[step]
    at[place[-1]] = value
    with pytest.raises(StorageError, match=re.escape(message)):
        unpack(decode(json.dumps(document).encode()))


# ------------------------------------------------------------------------------------------------------- hostile

PACKED = {
    "means": pack(ForestRegressor(2).fit(ROWS, AMOUNT)),
    "forest": pack(ForestClassifier(2).fit(ROWS, LABELS["words"])),
    "boosted": pack(BoostedTreesClassifier(n_estimators=2, min_samples_leaf=3).fit(ROWS, LABELS["three"])),
    "number": pack(BoostedTreesRegressor(loss="poisson", n_estimators=2).fit(ROWS, AMOUNT)),
}


@pytest.mark.parametrize(
    ("which", "part", "changes", "message"),
    [
        ("forest", "settings", {"__class__": 1}, "ForestClassifier has no parameter '__class__'"),
        ("forest", "settings", {"n_jobs": 0}, "n_jobs=0: expected None"),
        ("forest", "learned", {"named": 1}, "a ForestClassifier has learned"),
        ("forest", "learned", {"smoother": "os.system"}, "a ForestClassifier has learned"),
        ("forest", "learned", {"oob_score": "high"}, "a ForestClassifier has learned"),
        ("forest", "learned", {"temperature": "high"}, "a ForestClassifier has learned"),
        ("forest", "learned", {"temperature": 1}, "a ForestClassifier has learned"),
        ("forest", "learned", {"temperature": 0.0}, "the temperature is 0.0; expected a finite number"),
        ("forest", "learned", {"temperature": np.nan}, "the temperature is nan; expected a finite number"),
        ("means", "learned", {"temperature": 0.5}, "a ForestRegressor has learned"),
        ("forest", "learned", {"more": 1}, "a ForestClassifier has learned"),
        ("forest", "learned", {"classes": "int64"}, "the classes do not fit an array of 'int64'"),
        ("forest", "learned", {"class_weight": (1.0,)}, "expected 2 numbers"),
        ("boosted", "learned", {"start": np.zeros(2)}, "start is array([0., 0.]); expected 3 finite numbers"),
        ("boosted", "learned", {"start": np.array([0.0, 1.0, np.nan])}, "expected 3 finite numbers"),
        ("boosted", "learned", {"start": [0.0]}, "a BoostedTreesClassifier has learned"),
        ("boosted", "learned", {"labels": (0, 1)}, "expected 1 finite numbers"),
        ("boosted", "learned", {"labels": (0, 1, 1)}, "The class 1 is listed twice"),
        ("boosted", "learned", {"labels": (0, 1, [])}, "labels is (0, 1, []); expected strings"),
        ("boosted", "learned", {"labels": ()}, "labels is (); expected strings"),
        ("boosted", "learned", {"labels": ("a", "b", "c")}, "the classes do not fit an array of 'int8'"),
        ("number", "learned", {"start": np.array([1e308])}, None),
        ("number", "learned", {"validation_losses": np.zeros((2, 2))}, "validation_losses is array("),
        ("number", "settings", {"loss": "os.system"}, "loss='os.system'"),
        ("number", "settings", {"loss": "quantile", "quantile": "x"}, "quantile='x'"),
    ],
)
def test_a_wrong_ensemble_is_refused_by_name(which, part, changes, message):
    packed = PACKED[which]
    parts = {"settings": dict(packed.settings), "learned": dict(packed.learned)}
    parts[part] |= changes
    forged = Model(packed.schema, packed.trees, packed.estimator, **parts)
    if message is None:  # large, but finite
        assert unpack(decode(encode(forged))).boosted_.start == 1e308
        return
    with pytest.raises(StorageError, match=re.escape(message)):
        unpack(decode(encode(forged)))


def test_trees_that_do_not_form_an_ensemble_are_refused():
    forest, boosted = PACKED["forest"], PACKED["boosted"]
    shell = (forest.estimator, forest.settings, forest.learned)
    with pytest.raises(StorageError, match="a forest needs at least one tree"):
        unpack(decode(encode(Model(forest.schema, (), *shell))))
    shell = (boosted.estimator, boosted.settings, boosted.learned)
    with pytest.raises(StorageError, match="there are 5 trees; expected a multiple of 3"):
        unpack(decode(encode(Model(boosted.schema, boosted.trees[:5], *shell))))
    empty = unpack(decode(encode(Model(boosted.schema, (), *shell))))
    assert empty.predict_proba(ROWS).shape == (N, 3), "no round: the prediction is the start"


@pytest.mark.parametrize("export", [to_c, to_onnx])
def test_exports_refuse_several_trees(export):
    clf = ForestClassifier(2).fit(ROWS, LABELS["words"])
    for model in (clf, clf.forest_):
        with pytest.raises(
            ParameterError,
            match=r"predicts with several trees; expected .* a Tree: .*hornbeam.save.*teacher=model",
        ):
            export(model)
    with pytest.raises(
        ParameterError, match=r"This is a RuleClassifier, which predicts with rules.* Fit a Tree"
    ):
        export(RuleClassifier())
    with pytest.raises(ParameterError, match="predicts with several trees"):
        export(ForestClassifier())
    with pytest.raises(ParameterError, match=r"This is the class TreeClassifier; expected .* not a class"):
        export(TreeClassifier)
    with pytest.raises(ParameterError, match="predicts with rules; expected one tree: print its rules_"):
        export(RuleClassifier().fit(ROWS, LABELS["words"]))
    with pytest.raises(ParameterError, match="This is a TreeClassifier; expected a fitted TreeClassifier"):
        export(TreeClassifier())
    assert to_c(grown()) == to_c(grown().tree_)
