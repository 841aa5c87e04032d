"""The headline scores against scikit-learn, slow twins and worked numbers."""

import re

import numpy as np
import pytest
from credit import lending
from models import halves_of_iris
from scipy.stats import ks_2samp
from sklearn.metrics import roc_auc_score

from hornbeam import TreeClassifier, model_card, report
from hornbeam.errors import DataError
from hornbeam.evaluation import brier_score, log_loss, scores
from hornbeam.evaluation.discrimination import area_under_curve
from hornbeam.evaluation.score_intervals import class_scores
from hornbeam.reporting.reported_model import ReportedModel
from hornbeam.reporting.scored_rows import ScoredRows
from hornbeam.tree.evidence.base_rate import base_rate


def noisy(n, n_classes, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).round(1)
    y = ((X[:, 0] + rng.normal(size=n)) * 1.3).round().astype(int) % n_classes
    return X, y


def trial_of(n_classes, **settings):
    X, y = noisy(600, n_classes)
    clf = TreeClassifier(smoothing="hgs", pruning=None, min_samples_leaf=20, **settings).fit(X[:300], y[:300])
    reported = ReportedModel.of(clf)
    return clf, reported, ScoredRows.of(reported, X[300:], y[300:]), X[300:], y[300:]


@pytest.mark.parametrize("n_classes", [2, 4])
def test_values_are_those_of_other_hands(n_classes):
    clf, reported, scored, X, y = trial_of(n_classes)
    p = clf.predict_proba(X)
    found = {score.name: score for score in class_scores(scored, base_rate(reported.tree))}
    assert found["log loss"].value == pytest.approx(log_loss(y, p), rel=1e-12)
    assert found["Brier score"].value == pytest.approx(brier_score(y, p), rel=1e-12)
    assert found["accuracy"].value == clf.score(X, y)
    area = roc_auc_score(y, p[:, 1]) if n_classes == 2 else roc_auc_score(y, p, multi_class="ovr")
    assert found["area under the curve"].value == pytest.approx(area, rel=1e-12)
    rates = np.broadcast_to(base_rate(reported.tree), p.shape)
    assert found["log loss"].base == pytest.approx(log_loss(y, rates, labels=clf.classes_), rel=1e-12)
    assert found["log loss"].gain == pytest.approx(found["log loss"].base - found["log loss"].value)


def test_the_error_of_the_area_is_delongs():
    """Placements counted pair by pair, as in the paper, with n for n - 1."""
    rng = np.random.default_rng(1)
    observed, predicted = rng.random(60) < 0.4, rng.random(60).round(1)
    wins = np.sign(predicted[observed][:, None] - predicted[~observed][None, :]) / 2 + 0.5
    variance = wins.mean(axis=1).var() / observed.sum() + wins.mean(axis=0).var() / (~observed).sum()
    area, influence = area_under_curve(observed, predicted)
    assert area == pytest.approx(wins.mean())
    assert np.sqrt((influence**2).sum()) / len(influence) == pytest.approx(np.sqrt(variance))


def test_intervals_hold_the_truth_about_as_often_as_they_say():
    """A thousand test sets from one tree that is right: 90 % intervals of its log loss."""
    rng = np.random.default_rng(2)
    predicted = np.repeat([0.1, 0.3, 0.8], 100)
    truth = -(predicted * np.log(predicted) + (1 - predicted) * np.log(1 - predicted)).mean()
    inside = 0
    for _ in range(1000):
        target = (rng.random(300) < predicted).astype(np.int32)
        rows = np.column_stack([1 - predicted, predicted]), target.astype(np.intp), np.ones(300, int)
        scored = ScoredRows(target, *rows, stop=None, drift=None, values=None, source=None)
        score = class_scores(scored, np.array([0.6, 0.4]))[0]
        inside += score.low <= truth <= score.high
    assert 872 <= inside <= 928


def test_costs_are_those_of_the_decisions():
    costs = [[0, 1], [6, 0]]
    clf, reported, scored, X, y = trial_of(2, costs=costs)
    score = class_scores(scored, base_rate(reported.tree), reported.costs)[0]
    assert score.name == "cost per row"
    assert score.value == pytest.approx(
        np.mean([costs[a][b] for a, b in zip(y, clf.predict(X), strict=True)])
    )
    always = min(np.mean([costs[a][b] for a in y]) for b in (0, 1))
    assert score.base == pytest.approx(always)


def test_the_summary_leads_with_the_costs():
    """Four leaves of ten rows: 9, 5, 2 and 0 rows of ten are bad; a missed bad row costs 4, a refused good one 1."""
    X = np.repeat([[0], [1], [2], [3]], 10, axis=0)
    y = np.array(["good", "bad"])[np.concatenate([np.arange(10) < n for n in (9, 5, 2, 0)]).astype(int)]
    clf = TreeClassifier("cart", costs={("bad", "good"): 4, ("good", "bad"): 1}, smoothing=None).fit(X, y)
    refused = clf.predict(X) == "bad"
    paid = (refused & (y == "good")).sum() + 4 * (~refused & (y == "bad")).sum()
    constant = min((y == "good").sum(), 4 * (y == "bad").sum())
    for text in (report(clf, X, y).text, model_card(clf, X, y).text):
        said = re.search(
            r"On 40 test rows its decisions cost ([\d.]+) .*?per row\. .*?always (\w+), which costs ([\d.]+)",
            text,
        )
        assert (float(said[1]), said[2], float(said[3])) == (paid / 40, "bad", constant / 40)
        assert text.index("its decisions cost") < text.index("decisions are right for")
        assert text.index("Cost per row") < text.index("Log loss")
    assert next(iter(scores(clf, X, y).model)) == "mean_cost"
    plain = TreeClassifier("cart").fit(X, y)
    assert "On 40 test rows its decisions are right for" in report(plain, X, y).text


def test_accuracy_is_that_of_the_decisions():
    clf, reported, scored, X, y = trial_of(2, costs=[[0, 1], [6, 0]])
    found = {score.name: score for score in class_scores(scored, base_rate(reported.tree), reported.costs)}
    assert found["accuracy"].value == clf.score(X, y) != np.mean(clf.predict_proba(X).argmax(axis=1) == y)


def test_gini_and_ks_are_those_of_other_hands():
    clf, reported, scored, X, y = trial_of(2)
    found = {score.name: score for score in class_scores(scored, base_rate(reported.tree), positive=1)}
    p = clf.predict_proba(X)[:, 1]
    assert found["Gini"].value == pytest.approx(2 * roc_auc_score(y, p) - 1)
    assert found["KS"].value == pytest.approx(ks_2samp(p[y == 1], p[y == 0], alternative="less").statistic)
    for name in ("Gini", "KS"):
        assert found[name].low < found[name].value < found[name].high
    flipped = {score.name: score for score in class_scores(scored, base_rate(reported.tree), positive=0)}
    assert flipped["Gini"].value == pytest.approx(found["Gini"].value)


def test_one_class_alone_has_no_area():
    X, y, X_test, y_test = halves_of_iris()
    reported = ReportedModel.of(TreeClassifier().fit(X, y))
    scored = ScoredRows.of(reported, X_test[:3], y_test[:3])
    area = class_scores(scored, base_rate(reported.tree))[-1]
    assert np.isnan(area.value)


def test_the_summary_compares_with_the_decisions_of_today():
    clf, X, y, _ = lending()
    today = np.where(X["late"] > 1, "default", "repaid")
    prices = {("default", "repaid"): 5.0, ("repaid", "default"): 1.0}
    own, theirs = (
        np.array([prices.get(pair, 0.0) for pair in zip(y, named, strict=True)])
        for named in (clf.predict(X), today)
    )
    gain = theirs - own
    half = 1.6448536 * gain.std(ddof=1) / np.sqrt(len(gain))
    said = (
        f"The decisions in use today cost {theirs.mean():.3f}; those of this tree are better than them, the difference "
        f"is {gain.mean():.3f} ({gain.mean() - half:.3f} to {gain.mean() + half:.3f})."
    )
    for text in (report(clf, X, y, today=today).text, model_card(clf, X, y, today=today).text):
        assert said in text
    for wrong, message in (
        (today[1:], "one value per row"),
        (["fine", *today[1:]], "no class in 1 row"),
    ):
        with pytest.raises(DataError, match=message):
            report(clf, X, y, today=wrong)
    with pytest.raises(DataError, match="today without test rows"):
        report(clf, today=today)
