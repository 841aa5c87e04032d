"""`update` and `forget` of a classifier: rows are added and removed exactly, and smoothing is applied again."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import DataConversionWarning, NotFittedError

import hornbeam
from hornbeam import Tree, TreeClassifier
from hornbeam.errors import DataError, ParameterError, SchemaError, TreeError
from hornbeam.estimators.persistence.files import pack, unpack
from hornbeam.smoothing import HGS, MEstimate
from hornbeam.smoothing.replay import replay, smoothers_of
from hornbeam.storage.file import decode, encode
from hornbeam.tree import Table, with_belief
from hornbeam.tree.evidence.count import count_at_nodes
from support.examples import examples

nan = float("nan")
X = [[0.0], [0.0], [0.0], [1.0], [1.0], [1.0], [1.0]]
y = ["no", "no", "yes", "yes", "yes", "yes", "no"]


@st.composite
def rows(draw, n, unseen=False):
    """Rows of two numbers and a colour, with ties and missing values, and optionally colours not in training."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    colours = np.array(["red", "green", "blue", "grey", None, *["white"] * unseen], object)
    numbers = rng.choice([0.0, 1.0, 2.0, 3.0, nan], (n, 2))
    X = [[float(a), float(b), c] for (a, b), c in zip(numbers, rng.choice(colours, n), strict=True)]
    likely = np.nan_to_num(numbers[:, 0]) > 1
    return X, np.where(rng.random(n) < 0.3, rng.integers(0, 2, n), likely).astype(int)


@st.composite
def fitted(draw):
    """A fitted estimator with random parameters, its training rows, and weights that its unit can represent."""
    missing = draw(st.sampled_from(["own", "learned", "fractional"]))
    clf = TreeClassifier(
        draw(st.sampled_from(["default", "cart", "c4.5", "c4.4"])),
        missing=missing,
        nominal_split=draw(st.sampled_from(["multiway", "subset"])),
        smoothing=draw(st.sampled_from(["auto", "auto", None, "laplace", "hgs", "gradient-hgs", "m-branch"])),
        class_weight=draw(st.sampled_from([None, "balanced"])),
        monotonic_cst=draw(st.sampled_from([None, [1, -1, 0]])) if missing != "fractional" else None,
    )
    n = draw(st.integers(8, 40))
    X, y = draw(rows(n))
    y[:2] = 0, 1
    kind = draw(st.sampled_from(["none", "whole", "real"]))
    return clf.fit(X, y, sample_weight=(w := weights(draw, kind, n))), (X, y, w), kind


def weights(draw, kind, n):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    if kind == "none":
        return None
    return rng.integers(1, 4, n) if kind == "whole" else rng.uniform(0.2, 3.0, n)


def part(given_rows, at):
    X, y, w = given_rows
    return ([X[i] for i in at], y[at]), {"sample_weight": None if w is None else w[at]}


@examples(60)
@given(fitted(), st.data())
def test_updated_and_forgotten_rows_restore_the_tree(model, data):
    clf, _, kind = model
    before, rows_before = clf.tree_.digest, clf.tree_.rows
    n = data.draw(st.integers(1, 30))
    (X2, y2), w2 = data.draw(rows(n, unseen=True)), weights(data.draw, kind, n)
    assert clf.update(X2, y2, sample_weight=w2) is clf
    assert clf.tree_.rows[0] == rows_before[0] + n
    assert clf.forget(X2, y2, sample_weight=w2) is clf
    assert clf.tree_.digest == before
    assert clf.tree_.rows.tolist() == rows_before.tolist()


@examples(60)
@given(fitted(), st.data())
def test_any_rows_of_training_can_be_forgotten_in_any_order(model, data):
    clf, training, _ = model
    before = clf.tree_.digest
    n = len(training[1])
    order = np.array(data.draw(st.permutations(range(n))))
    at = data.draw(st.integers(1, n - 1))
    for few in (order[:at], order[at:]):
        rest, weight = part(training, few)
        clf.forget(*rest, **weight)
    assert not clf.tree_.evidence.any()
    assert not clf.tree_.rows.any()
    everything, weight = part(training, np.arange(n))
    assert clf.update(*everything, **weight).tree_.digest == before


@examples(40)
@given(fitted(), st.data())
def test_an_update_counts_all_rows_and_smooths_as_before(model, data):
    clf, (X, y, w), kind = model
    tree, shares = clf.tree_, clf._shares
    n = data.draw(st.integers(1, 30))
    (X2, y2), w2 = data.draw(rows(n, unseen=True)), weights(data.draw, kind, n)
    clf.update(X2, y2, sample_weight=w2)
    unit = tree.unit.item(0)
    evidence, n_rows = 0, 0
    for some, labels, weight in ((X, y, w), (X2, y2, w2)):
        steps = np.ones(len(labels)) / unit if weight is None else np.rint(np.divide(weight, unit))
        table = Table.read(some, labels, schema=tree.schema)
        table = Table(tree.schema, table.columns, table.target, steps.astype(np.int64), unit)
        for row in range(table.n_rows):
            given = None if shares is None else [shares]
            [counted] = count_at_nodes([tree.skeleton], table.take([row]), unit=unit, shares=given)
            evidence, n_rows = evidence + counted.evidence, n_rows + counted.rows
    again = Tree.raw(tree.schema, tree.skeleton, evidence, unit=unit, rows=n_rows, decision=tree.decision)
    assert clf.tree_.digest == replay(smoothers_of(tree.history), again).digest
    assert clf.tree_.rows.tolist() == n_rows.tolist()
    assert clf.tree_.skeleton is tree.skeleton


# ------------------------------------------------------------------------------------------- worked numbers


def test_predictions_follow_the_evidence():
    clf = TreeClassifier(smoothing="laplace", costs={("no", "yes"): 3}).fit(X, y)
    assert clf.tree_.evidence.tolist() == [[3, 4], [2, 1], [1, 3]]
    narrow = np.ptp(clf.predict_interval([[1.0]]), axis=0)
    clf.update([[1.0]] * 8, ["yes"] * 8)
    assert clf.tree_.evidence.tolist() == [[3, 12], [2, 1], [1, 11]]
    np.testing.assert_allclose(clf.predict_proba([[1.0]]), [[2 / 14, 12 / 14]])
    np.testing.assert_allclose(clf.expected_cost([[1.0]]), [[12 / 14, 3 * 2 / 14]])
    assert (np.ptp(clf.predict_interval([[1.0]]), axis=0) < narrow).all()
    assert clf.leaves().rows.tolist() == [3, 12]
    np.testing.assert_allclose(clf.leaves().raw[1], [1 / 12, 11 / 12])


def test_an_update_keeps_strengths_and_interval_calibration():
    X, y = load_breast_cancer(return_X_y=True)
    clf = TreeClassifier().fit(X[::2], y[::2])
    steps = smoothers_of(clf.tree_.history)
    assert [type(step).__name__ for step in steps] == ["Borrowing", "IntervalCalibration"]
    assert smoothers_of(clf.update(X[1::2], y[1::2]).tree_.history) == steps
    assert [step.name for step in clf.tree_.history[-3:]] == ["add-rows", "borrowing", "interval-calibration"]


def test_decay_applies_before_new_rows_are_added():
    clf = TreeClassifier(smoothing=None).fit(X, y).update([[1.0], [0.0]], ["yes", "no"], decay=0.5)
    tree = clf.tree_
    np.testing.assert_allclose(tree.evidence * tree.unit, [[2.5, 3.0], [2.0, 0.5], [0.5, 2.5]], atol=1e-12)
    assert tree.rows.tolist() == [9, 4, 5]
    clf.update([[1.0]], ["yes"], decay=0.5, sample_weight=[0.25])
    tree = clf.tree_
    np.testing.assert_allclose(
        tree.evidence * tree.unit, [[1.25, 1.75], [1.0, 0.25], [0.25, 1.5]], atol=1e-12
    )
    clf.forget([[1.0]], ["yes"], sample_weight=[0.25])
    np.testing.assert_allclose((clf.tree_.evidence * clf.tree_.unit)[2], [0.25, 1.25], atol=1e-12)


def test_repeated_decay_removes_a_row():
    clf = TreeClassifier(smoothing=None).fit(X, y)
    for _ in range(200):
        clf.update([[0.0]], ["yes"], decay=0.9)
    np.testing.assert_allclose(clf.predict_proba([[0.0]]), [[0.0, 1.0]], atol=1e-8)
    assert clf.tree_.evidence[0].sum() * clf.tree_.unit[0] == pytest.approx(10.0)


def test_small_weights_are_not_taken_as_shares():
    """In `fit`, weights with a sum of at most 1 are shares; in `update` they are not."""
    clf = TreeClassifier(smoothing=None).fit(X, y, sample_weight=[0.5] * 7)
    clf.update([[0.0]], ["no"], sample_weight=[0.5])
    np.testing.assert_allclose((clf.tree_.evidence * clf.tree_.unit)[1], [1.5, 0.5])
    before = clf.tree_.digest
    assert clf.update(X, y, sample_weight=[0, 0, 0, 0, 0, 0, 2]).forget([X[6]], [y[6]], sample_weight=2)
    assert clf.tree_.digest == before


def test_a_class_left_out_of_fit_is_left_out_of_updates():
    clf = TreeClassifier(class_weight={"no": 1, "yes": 1, "maybe": 0}).fit([*X, [2.0]], [*y, "maybe"])
    before = clf.tree_.digest
    clf.update([[0.0], [0.0]], ["no", "maybe"]).forget([[0.0]], ["no"])
    assert clf.tree_.digest == before


def test_constraints_hold_for_contradicting_rows():
    X, y = np.arange(8.0)[:, None], [0, 0, 0, 1, 0, 1, 1, 1]
    for smoothing in (None, "laplace", "auto"):
        clf = TreeClassifier(monotonic_cst=[1], smoothing=smoothing, pruning=None).fit(X, y)
        clf.update(np.repeat(X, 5, axis=0), np.repeat(1 - np.array(y), 5))
        assert (np.diff(clf.predict_proba(X)[:, 1]) >= 0).all()


def test_evidence_may_outgrow_training_many_times():
    """The unit of fractional trees is small: a few rows are 2**48 steps."""
    clf = TreeClassifier("c4.5").fit([*X, [nan]], [*y, "no"])
    assert clf.tree_.skeleton.missing_slot[0] == -2
    before = clf.tree_.digest
    clf.update(X * 200, y * 200)
    np.testing.assert_allclose((clf.tree_.evidence * clf.tree_.unit)[0], [603 + 1, 804])
    assert clf.forget(X * 200, y * 200).tree_.digest == before


def test_light_rows_beside_a_heavy_one_are_removed_exactly():
    """The unit of real weights does not change for fractional rows, so a weight always has the same integer value."""
    weight = np.array([900.0, 0.1, 0.2, 0.3, 0.7, 1.1, 1.3, 1.7])
    clf = TreeClassifier("c4.4", class_weight="balanced", min_samples_leaf=2)
    clf.fit([*X, [nan]], [*y, "no"], sample_weight=weight)
    assert clf.tree_.skeleton.missing_slot[0] == -2
    for row in (7, 1, 0, 4, 2, 6, 3, 5):
        clf.forget([[*X, [nan]][row]], [[*y, "no"][row]], sample_weight=weight[row])
    assert not clf.tree_.evidence.any()


# ---------------------------------------------------------------------------------------------- saved models


@pytest.mark.parametrize("suffix", ["hornbeam", "safetensors"])
@pytest.mark.parametrize("preset", ["default", "c4.5"])
def test_a_loaded_model_updates_and_forgets(preset, suffix, tmp_path):
    clf = TreeClassifier(preset).fit([*X, [nan]], [*y, "no"])
    hornbeam.save(clf, tmp_path / f"model.{suffix}")
    again = hornbeam.load(tmp_path / f"model.{suffix}")
    more = [[0.0], [nan]], ["yes", "yes"]
    assert again.update(*more).tree_.digest == clf.update(*more).tree_.digest
    hornbeam.save(again, tmp_path / f"later.{suffix}")
    later = hornbeam.load(tmp_path / f"later.{suffix}")
    assert later.forget([[nan]], ["no"]).tree_.digest == clf.forget([[nan]], ["no"]).tree_.digest
    assert pickle.loads(pickle.dumps(later)).update([[nan]], ["no"]).tree_.digest == again.tree_.digest


def test_a_file_without_shares_uses_the_evidence():
    clf = TreeClassifier("c4.5").fit([*X, [nan]], [*y, "no"])
    model = pack(clf)
    del model.learned["shares"]
    again = unpack(decode(encode(model)))
    before = again.tree_.digest
    assert (
        again.update([[nan], [0.0]], ["no", "yes"]).forget([[nan], [0.0]], ["no", "yes"]).tree_.digest
        == before
    )


def test_clones_and_new_fits_start_without_updates():
    clf = TreeClassifier().fit(X, y)
    before = clf.tree_.digest
    clf.update(X, y)
    with pytest.raises(NotFittedError):
        clone(clf).update(X, y)
    assert clf.fit(X, y).tree_.digest == before


# -------------------------------------------------------------------------------------------------- refusals


def test_forgetting_unknown_rows_names_leaf_and_class():
    clf = TreeClassifier(smoothing="laplace").fit(X, y)
    before = clf.tree_
    with pytest.raises(DataError, match="leaf 1 has 2 rows of the class 'no', but 3 are to be forgotten"):
        clf.forget([[0.0]] * 3, ["no"] * 3)
    with pytest.raises(DataError, match="node 0 has 0 rows of the class 'no', but 1 are to be forgotten"):
        clf.forget([[nan]], ["no"])
    heavy = TreeClassifier(smoothing="laplace").fit(X, y, sample_weight=[2, 1, 1, 1, 1, 1, 1])
    with pytest.raises(DataError, match="leaf 1 has fewer rows than are to be forgotten"):
        heavy.forget([[0.0]] * 4, ["no", "no", "no", "yes"])
    assert clf.tree_ is before


@pytest.mark.parametrize("verb", ["update", "forget"])
def test_wrong_rows_are_refused_and_change_nothing(verb):
    clf = TreeClassifier().fit(X, y)
    before = clf.tree_
    for arguments, error, message in (
        (([[0.0]], ["maybe"]), SchemaError, "y has the label 'maybe'"),
        (([[0.0, 1.0]], ["no"]), SchemaError, "features"),
        (([[0.0]], ["no", "yes"]), DataError, "inconsistent numbers of samples"),
        (([[0.0]], None), DataError, "requires y"),
    ):
        with pytest.raises(error, match=message):
            getattr(clf, verb)(*arguments)
    for weight, message in (
        ([0.5], "has 0.5 in row 0, but the tree counts whole rows"),
        ([0.0], "Every row has weight 0"),
        ([-1.0], "zero or more"),
        ([2.0**60], "steps of 1: expected below"),
    ):
        with pytest.raises(DataError, match=message):
            getattr(clf, verb)([[0.0]], ["no"], sample_weight=weight)
    assert clf.tree_ is before


@pytest.mark.parametrize("decay", [0.0, -0.5, 1.5, nan])
def test_a_wrong_decay_is_refused(decay):
    with pytest.raises(ParameterError, match="above 0, up to 1"):
        TreeClassifier().fit(X, y).update(X, y, decay=decay)


def test_overflow_of_the_evidence_is_refused():
    clf = TreeClassifier("c4.5").fit([*X, [nan]], [*y, "no"])
    with pytest.raises(DataError, match="decay the old ones, or grow a new tree"):
        clf.update([[0.0]] * 5000, ["no"] * 5000, sample_weight=63)


def test_a_column_vector_of_labels_warns():
    clf = TreeClassifier().fit(X, y)
    with pytest.warns(DataConversionWarning):
        clf.update(X, np.array(y)[:, None])
    assert clf.tree_.rows[0] == 14


# ------------------------------------------------------------------------------------- user-defined smoothers


def doubtful(tree):
    """A smoother that adds nothing to the history."""
    return with_belief(tree, (tree.belief + 1 / tree.n_classes) / 2, np.ones(tree.n_nodes))


def wrapped(tree):
    """A user-defined smoother around one of Hornbeam, which adds itself to the history."""
    return HGS(3.0)(tree)


@pytest.mark.parametrize("smoothing", [doubtful, wrapped, MEstimate(2.0, [0.1, 0.9])])
def test_a_user_defined_smoother_is_applied_again(smoothing):
    clf = TreeClassifier(smoothing=smoothing).fit(X, y)
    before = clf.tree_.digest
    clf.update([[0.0]] * 4, ["no"] * 4)
    raw = Tree.raw(clf.tree_.schema, clf.tree_.skeleton, clf.tree_.evidence)
    assert clf.tree_.digest == smoothing(raw).digest
    assert clf.forget([[0.0]] * 4, ["no"] * 4).tree_.digest == before


def test_predictions_that_do_not_follow_from_the_history_are_refused():
    clf = TreeClassifier(smoothing=doubtful).fit(X, y).set_params(smoothing="laplace")
    with pytest.raises(TreeError, match=r"history of the tree \(raw\) do not give its"):
        clf.update(X, y)


def test_parameters_set_after_the_fit_change_nothing():
    clf = TreeClassifier(smoothing="hgs").fit(X, y).set_params(smoothing="laplace", preset="c4.5")
    before = clf.tree_.digest
    assert clf.update(X, y).forget(X, y).tree_.digest == before
