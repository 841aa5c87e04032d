"""Rows that belong together: every estimator holds out and draws whole groups."""

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import hornbeam
from hornbeam import (
    BoostedTreesClassifier,
    BoostedTreesRegressor,
    ForestClassifier,
    ForestRegressor,
    RuleClassifier,
    TreeClassifier,
    TreeRegressor,
)
from hornbeam.errors import DataError, HornbeamWarning, ParameterError
from hornbeam.evaluation import log_loss


def visits(seed=0, patients=60, each=6):
    """Return visits of patients, with a class and a number; each patient has own features and an own effect."""
    rng = np.random.default_rng(seed)
    own, effect = rng.normal(size=(patients, 4)), 1.5 * rng.normal(size=patients)
    patient = np.repeat(np.arange(patients), each)
    X = np.column_stack([own[patient], rng.normal(size=(len(patient), 2))])
    score = 0.8 * X[:, 0] + 0.5 * X[:, 4] + effect[patient]
    return X, (rng.random(len(patient)) < 1 / (1 + np.exp(-score))).astype(int), score.round(2), patient


X, LABELS, NUMBERS, PATIENT = visits()
NAMES = [f"x{at}" for at in range(X.shape[1])]

ESTIMATORS = {
    "tree": (TreeClassifier(), LABELS),
    "cost-complexity": (TreeClassifier("cart", pruning="cost-complexity"), LABELS),
    "readable": (TreeClassifier("readable", max_leaf_nodes=4), LABELS),
    "regressor": (TreeRegressor(), NUMBERS),
    "forest": (ForestClassifier(30), LABELS),
    "forest of numbers": (ForestRegressor(10), NUMBERS),
    "boosted": (BoostedTreesClassifier(n_estimators=20, early_stopping=True), LABELS),
    "boosted numbers": (BoostedTreesRegressor(n_estimators=20, early_stopping=True), NUMBERS),
    "rules": (RuleClassifier(), LABELS),
}


@pytest.mark.parametrize("equal_rows", [False, True])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_order_of_rows_and_names_of_groups_do_not_matter(name, equal_rows):
    """Also if equal rows are in different groups."""
    estimator, y = ESTIMATORS[name]
    values, y = (
        ((X[:, :3] > 0) * 1.0, y if y.dtype == LABELS.dtype else np.round(y)) if equal_rows else (X, y)
    )
    order = np.random.default_rng(1).permutation(len(X))
    names = np.array([f"patient {(7 * number) % 60}" for number in PATIENT])
    fitted, other = (
        predictions(estimator.fit(rows, target, groups=groups), values)
        for rows, target, groups in ((values, y, PATIENT), (values[order], y[order], names[order]))
    )
    np.testing.assert_array_equal(fitted, other)


def predictions(estimator, rows=X):
    """Predict rows: probabilities, or numbers."""
    return estimator.predict_proba(rows) if hasattr(estimator, "predict_proba") else estimator.predict(rows)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_column_of_a_frame_is_no_feature(name):
    estimator, y = ESTIMATORS[name]
    expected = predictions(estimator.fit(X, y, groups=PATIENT))
    frame = pd.DataFrame(X, columns=NAMES).assign(patient=PATIENT)
    fitted = estimator.fit(frame, y, groups="patient")
    assert list(fitted.feature_names_in_) == NAMES
    np.testing.assert_array_equal(expected, predictions(fitted, frame))


@pytest.mark.parametrize("name", sorted({*ESTIMATORS} - {"rules", "cost-complexity"}))
def test_groups_change_the_model(name):
    estimator, y = ESTIMATORS[name]
    with pytest.warns(HornbeamWarning, match="belong together"):
        without = predictions(estimator.fit(X, y))
    assert (without != predictions(estimator.fit(X, y, groups=PATIENT))).any()


@pytest.mark.parametrize("name", ["tree", "readable", "regressor", "forest", "forest of numbers"])
def test_files_give_the_same_model(name, tmp_path):
    estimator, y = ESTIMATORS[name]
    names = np.array([f"p{one}" for one in PATIENT]) if name in ("tree", "forest") else PATIENT
    frame = pd.DataFrame(X, columns=NAMES).assign(patient=names, y=y)
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=97)
    expected = predictions(estimator.fit(X, y, groups=names))
    np.testing.assert_array_equal(
        expected, predictions(estimator.fit(tmp_path, "y", groups="patient"), frame)
    )


def test_copies_are_groups_in_memory_and_in_files(tmp_path):
    rows = np.concatenate([np.arange(len(X)), np.repeat(np.arange(0, len(X), 3), 4)])
    frame, y = pd.DataFrame(X[rows], columns=NAMES), LABELS[rows]
    expected = TreeClassifier().fit(frame, y, groups=rows).tree_.digest
    assert TreeClassifier().fit(frame, y, groups="copies").tree_.digest == expected
    frame.assign(y=y).to_parquet(tmp_path / "rows.parquet", row_group_size=101)
    assert TreeClassifier().fit(tmp_path, "y", groups="copies").tree_.digest == expected


def test_a_weight_is_a_number_of_copies_of_a_row_of_the_group():
    weight = np.random.default_rng(2).integers(1, 4, len(X))
    rows = np.repeat(np.arange(len(X)), weight)
    weighted = TreeClassifier().fit(X, LABELS, weight, groups=PATIENT).tree_
    copied = TreeClassifier().fit(X[rows], LABELS[rows], groups=PATIENT[rows]).tree_
    np.testing.assert_array_equal(weighted.evidence, copied.evidence)


def test_visits_are_predicted_better_than_by_the_base_rate_only_with_groups():
    rows, y, _, patient = visits(0, 100, 20)
    new, truth, *_ = visits(5, 3000, 1)
    base = log_loss(truth, np.tile(np.bincount(y) / len(y), (len(truth), 1)))
    with pytest.warns(HornbeamWarning, match=r"groups=X\[:, 0\]"):
        by_row = TreeClassifier().fit(rows, y)
    without = log_loss(truth, by_row.predict_proba(new))
    known = log_loss(truth, TreeClassifier().fit(rows, y, groups=patient).predict_proba(new))
    assert known < base < without


def test_out_of_bag_rows_are_predicted_without_their_group():
    """Patients have a noise feature each, which identifies them: out-of-bag rows must not be predicted by it."""
    rng = np.random.default_rng(3)
    patient = np.repeat(np.arange(40), 15)
    rows = np.column_stack([rng.normal(size=40)[patient], rng.normal(size=600)])
    y = rng.integers(0, 2, 40)[patient]
    forest = ForestClassifier(50, max_features=None, oob_score=True)
    by_row, by_group = clone(forest).fit(rows, y), clone(forest).fit(rows, y, groups=patient)
    assert by_row.oob_score_ > 0.95
    assert by_group.oob_score_ < 0.75


def test_a_repeated_table_gives_about_the_predictions_of_the_table():
    """Of noise, where copies in the folds would be taken for evidence: the error was three times as large."""
    rng = np.random.default_rng(0)
    rows, new = rng.normal(size=(400, 3)), rng.normal(size=(2000, 3))
    y = rows[:, 0] + rng.normal(size=400)
    once = TreeRegressor().fit(rows, y).predict(new)
    with pytest.warns(HornbeamWarning, match="repeated"):
        repeated = TreeRegressor().fit(np.repeat(rows, 5, axis=0), np.repeat(y, 5)).predict(new)
    error = [np.sqrt(np.mean(np.square(predicted - new[:, 0]))) for predicted in (once, repeated)]
    assert error[1] < 1.2 * error[0]


def test_metadata_is_routed():
    with config_context(enable_metadata_routing=True):
        tree = TreeClassifier().set_fit_request(groups=True)
        pipeline = make_pipeline(StandardScaler(), tree)
        scores = cross_val_score(
            pipeline, X, LABELS, cv=GroupKFold(3), scoring="neg_log_loss", params={"groups": PATIENT}
        )
        fitted = pipeline.fit(X, LABELS, groups=PATIENT)
    assert len(scores) == 3
    scaled = StandardScaler().fit_transform(X)
    assert fitted[-1].tree_.digest == TreeClassifier().fit(scaled, LABELS, groups=PATIENT).tree_.digest


@pytest.mark.parametrize(
    "teacher", ["ensemble", RandomForestClassifier(30, random_state=0), TreeClassifier("cart")]
)
def test_a_teacher_predicts_rows_without_their_group(teacher):
    tree = TreeClassifier(teacher=teacher, max_leaf_nodes=6).fit(X, LABELS, groups=PATIENT)
    assert tree.tree_.n_leaves <= 6


@pytest.mark.filterwarnings("ignore:Column 'x0' and 3 other columns")  # without groups
def test_a_fitted_forest_is_cross_validated_by_group():
    forest = RandomForestClassifier(50, oob_score=True, random_state=0).fit(X, LABELS)
    temperature = [
        dict(step.parameters)["temperature"]
        for groups in (None, PATIENT)
        for step in TreeClassifier(teacher=forest).fit(X, LABELS, groups=groups).tree_.history
        if step.name == "distill"
    ]
    assert temperature[1] > temperature[0]


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (PATIENT[:-1], "shape"),
        (np.where(PATIENT == 0, np.nan, PATIENT), "missing"),
        ([None, *PATIENT[1:].tolist()], "missing"),
        ("patient", "no data frame"),
    ],
)
def test_wrong_groups_are_explained(groups, message):
    with pytest.raises((DataError, ParameterError), match=message):
        TreeClassifier().fit(X, LABELS, groups=groups)


def test_an_absent_column_is_named(tmp_path):
    frame = pd.DataFrame(X, columns=NAMES)
    with pytest.raises(ParameterError, match="no such column"):
        TreeClassifier().fit(frame, LABELS, groups="patient")
    frame.assign(y=LABELS).to_parquet(tmp_path / "rows.parquet")
    with pytest.raises(DataError, match="patient"):
        TreeClassifier().fit(tmp_path, "y", groups="patient")
    with pytest.raises(ParameterError, match="groups"):
        TreeClassifier().fit(tmp_path, "y", groups=PATIENT)


def test_a_single_group_fits():
    for name, (estimator, y) in ESTIMATORS.items():
        if name.startswith("boosted"):  # nothing can be held out
            with pytest.raises(DataError, match="hold out"):
                estimator.fit(X, y, groups=np.zeros(len(X)))
        else:
            assert len(predictions(estimator.fit(X, y, groups=np.zeros(len(X))))) == len(X)


def test_the_card_and_the_report_have_the_number_of_groups():
    fitted = TreeClassifier().fit(X, LABELS, groups=PATIENT)
    card = str(hornbeam.model_card(fitted, X, LABELS))
    assert "trained on 360 rows of 60 groups" in card
    assert "several rows of a group" in card
    assert "<b>groups</b> n = 60" in hornbeam.report(fitted, X, LABELS).text
    card = str(hornbeam.model_card(TreeClassifier("cart").fit(X[:, 4:], LABELS)))
    assert "groups" not in card.partition("## Data")[2][:80]
