"""Groups, the earlier model, features, deciles and the model card: their numbers by other hands."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from credit import COSTS, lending
from models import halves_of_iris
from sklearn.datasets import load_diabetes
from sklearn.metrics import log_loss, roc_auc_score

import hornbeam
from hornbeam import TreeClassifier, TreeRegressor
from hornbeam.errors import DataError, ParameterError
from hornbeam.evaluation.calibration import wilson
from hornbeam.reporting.reported_model import ReportedModel
from hornbeam.reporting.scored_rows import ScoredRows
from hornbeam.reporting.sections.discrimination import class_grid, decile_grid
from hornbeam.reporting.sections.earlier import earlier_grids, earlier_text
from hornbeam.reporting.sections.features import feature_grid
from hornbeam.reporting.sections.groups import group_grid


def tried(positive="default", **options):
    clf, X, y, _ = lending()
    reported = ReportedModel.of(clf, positive)
    return clf, X, y, reported, ScoredRows.of(reported, X, y, **options)


def first_number(cell):
    return float(cell.split(" ")[0].replace("−", "-").replace(",", ""))


def columns_of(grid):
    return {row[0]: dict(zip(grid.header[1:], map(first_number, row[1:]), strict=True)) for row in grid.rows}


def test_groups_are_those_of_a_groupby():
    clf, X, y, reported, scored = tried(groups="region")
    found = columns_of(group_grid(reported, scored, scored.groups))
    frame = X.assign(
        observed=y == "default",
        predicted=clf.predict_proba(X)[:, 0],
        decided=clf.predict(X) == "default",
        cost=[0 if a == b else COSTS.get((a, b), 1) for a, b in zip(y, clf.predict(X), strict=True)],
    )
    for region, rows in frame.groupby("region"):
        wanted = {
            "Rows": len(rows),
            "True rate": rows.observed.mean(),
            "Mean probability": rows.predicted.mean(),
            "True rate − probability": rows.observed.mean() - rows.predicted.mean(),
            "Decision rate": rows.decided.mean(),
            "True positive rate": rows.decided[rows.observed].mean(),
            "False positive rate": rows.decided[~rows.observed].mean(),
            "Accuracy": (rows.decided == rows.observed).mean(),
            "Cost per row": rows.cost.mean(),
        }
        assert found[region] == pytest.approx(wanted, abs=6e-4)
    assert list(found) == ["east", "north", "south", "all"]


def test_group_intervals_are_wilsons():
    clf, X, _, reported, scored = tried(groups="region")
    grid = group_grid(reported, scored, scored.groups)
    cell = dict(zip(grid.header, grid.rows[0], strict=True))
    decided = clf.predict(X[X["region"] == "east"]) == "default"
    low, high = wilson(decided.mean(), len(decided), 0.9)
    assert cell["Decision rate"] == f"{decided.mean():.3f} ({low:.3f} to {high:.3f})"


def test_groups_may_be_an_array_with_missing_values():
    clf, X, y, *_ = tried()
    given = pd.Series(np.where(X.late > 0, "late", None), name="any late", dtype=object)
    groups = tried(groups=given)[-1].groups
    assert groups.name == "any late"
    assert groups.labels == ("late", "missing")
    html = hornbeam.report(clf, X, y, groups=given, positive="default").text
    assert "By group: any late" in html


def test_groups_that_cannot_be_used_are_refused():
    clf, X, *_ = tried()
    for many in (np.arange(len(X)), "income"):
        with pytest.raises(ParameterError, match="expected 30 at most"):
            tried(groups=many)
    with pytest.raises(ParameterError, match="not a feature of the model"):
        tried(groups="sex")
    with pytest.raises(DataError, match="one value per row"):
        tried(groups=["a", "b"])
    with pytest.raises(DataError, match="groups without test rows"):
        hornbeam.report(clf, groups="region")


def test_groups_of_many_classes_and_regression():
    X, y, X_test, y_test = halves_of_iris()
    reported = ReportedModel.of(TreeClassifier().fit(X, y))
    half = np.arange(len(X_test)) % 2
    scored = ScoredRows.of(reported, X_test, y_test, groups=half)
    found = columns_of(group_grid(reported, scored, scored.groups))
    clf = TreeClassifier().fit(X, y)
    assert found["all"]["Accuracy"] == pytest.approx(clf.score(X_test, y_test), abs=6e-4)
    wanted = log_loss(y_test[half == 1], clf.predict_proba(X_test)[half == 1], labels=clf.classes_)
    assert found["1"]["Log loss"] == pytest.approx(wanted, abs=6e-4)
    X, y = load_diabetes(return_X_y=True)
    reg = TreeRegressor(max_depth=3).fit(X[::2], y[::2])
    reported = ReportedModel.of(reg)
    scored = ScoredRows.of(reported, X[1::2], y[1::2], groups=X[1::2, 1] > 0)
    found = columns_of(group_grid(reported, scored, scored.groups))
    error = (y[1::2] - reg.predict(X[1::2]))[X[1::2, 1] > 0]
    assert found["True"]["Seen − predicted"] == pytest.approx(error.mean(), abs=6e-4)
    assert found["True"]["Mean absolute error"] == pytest.approx(np.abs(error).mean(), abs=6e-4)


def test_an_earlier_model_is_compared_row_by_row():
    clf, X, y, then = lending()
    reported = ReportedModel.of(clf, "default")
    scored = ScoredRows.of(reported, X, y, earlier=then)
    earlier = scored.earlier
    scores, changes, nodes = earlier_grids(reported, scored, earlier)
    found = {row[0]: row for row in scores.rows}
    for model, at in ((then, 1), (clf, 2)):
        p = model.predict_proba(X)
        assert first_number(found["Log loss"][at]) == pytest.approx(log_loss(y, p), abs=6e-4)
        assert first_number(found["Area under the curve"][at]) == pytest.approx(
            roc_auc_score(y == "default", p[:, 0]), abs=6e-4
        )
        assert first_number(found["Accuracy"][at]) == pytest.approx(model.score(X, y), abs=6e-4)
    table = pd.crosstab(then.predict(X), clf.predict(X))
    assert {(row[0], row[1]): int(row[2]) for row in changes.rows} == {
        (a, b): table.loc[a, b] for a in table.index for b in table if a != b and table.loc[a, b]
    }
    changed = then.predict(X) != clf.predict(X)
    leaf = pd.Series(clf.apply(X))[changed].value_counts()
    assert {int(row[0]): int(row[2]) for row in nodes.rows} == leaf.to_dict()
    assert f"changes for {changed.sum()} of them" in earlier_text(reported, scored, earlier)[1]


def test_the_same_model_changes_nothing():
    clf, X, y, _ = lending()
    reported = ReportedModel.of(clf)
    scored = ScoredRows.of(reported, X, y, earlier=clf)
    earlier = scored.earlier
    assert len(earlier_grids(reported, scored, earlier)) == 1
    assert "changes for 0 of them" in earlier_text(reported, scored, earlier)[1]


def test_an_earlier_model_may_have_fewer_columns_but_not_another_target():
    clf, X, y, _ = lending()
    fewer = TreeClassifier(max_leaf_nodes=3).fit(X[["late"]], y)
    for frame in (X, pl.from_pandas(X)):
        assert "Beside the earlier model" in hornbeam.report(clf, frame, y, earlier=fewer).text
    other = TreeClassifier().fit(X, np.where(y == "default", "yes", "no"))
    with pytest.raises(DataError, match="expected the same target"):
        hornbeam.report(clf, X, y, earlier=other)
    with pytest.raises(DataError, match="earlier without test rows"):
        hornbeam.report(clf, earlier=fewer)


def test_an_earlier_model_regression():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    now, then = (TreeRegressor(max_depth=depth).fit(X[::2], y[::2]) for depth in (4, 2))
    reported = ReportedModel.of(now)
    scored = ScoredRows.of(reported, X[1::2], y[1::2], earlier=then)
    scores, nodes = earlier_grids(reported, scored, scored.earlier)
    wanted = np.abs(y[1::2] - then.predict(X[1::2])).mean()
    assert float(scores.rows[1][1]) == pytest.approx(wanted, rel=1e-3)
    assert 0 < len(nodes.rows) <= 10


def test_deciles_are_a_sort_and_a_cut():
    clf, X, y, reported, scored = tried()
    grid = decile_grid(reported, scored)
    assert [row[0] for row in grid.rows] == [str(k) for k in range(1, 11)]
    p = clf.predict_proba(X)[:, 0]
    frame = pd.DataFrame({"p": p, "observed": y == "default"})
    frame["shared"] = frame.groupby("p")["observed"].transform("mean")
    top = frame.sort_values("p", ascending=False)[:50]
    assert first_number(grid.rows[0][2]) == pytest.approx(top.p.mean(), abs=6e-4)
    assert first_number(grid.rows[0][4]) == pytest.approx(top.shared.mean(), abs=6e-4)
    assert first_number(grid.rows[0][5]) == pytest.approx(top.shared.mean() / frame.observed.mean(), abs=6e-3)


def test_classes_one_by_one():
    X, y, X_test, y_test = halves_of_iris()
    clf = TreeClassifier().fit(X, y)
    reported = ReportedModel.of(clf)
    named = clf.predict(X_test)
    for label, row in zip(
        clf.classes_, class_grid(reported, ScoredRows.of(reported, X_test, y_test)).rows, strict=True
    ):
        observed, predicted = (y_test == label).to_numpy(), named == label
        wanted = [observed.sum(), predicted.sum(), predicted[observed].mean(), observed[predicted].mean()]
        assert list(map(float, row[1:5])) == pytest.approx(wanted, abs=6e-4)


def test_features_have_ranges_and_missing_counts():
    clf, X, _, _, scored = tried()
    grid = feature_grid(clf.tree_, scored)
    found = {row[0]: row for row in grid.rows}
    income = X["income"].dropna()
    assert found["income"][5] == f"{income.min():g} to {income.max():g}, median {income.median():g}"
    assert first_number(found["income"][6]) == X["income"].isna().sum()
    assert found["region"][5].count("%") == 3
    assert [float(row[2]) for row in grid.rows] == sorted(clf.feature_importances_.round(3), reverse=True)


def test_features_with_one_value_or_none_are_named():
    n = 20
    columns = {
        "varies": np.arange(n) % 3.0,
        "one <b>": np.ones(n),
        "one or missing": np.where(np.arange(n) % 2, 1.0, np.nan),
        "none": np.full(n, np.nan),
        "category": ["a"] * n,
        "two": ["a", "b"] * (n // 2),
    }
    X, y = pd.DataFrame(columns), ["no", "yes"] * (n // 2)
    clf = TreeClassifier("cart").fit(X, y)
    named = "Features with one value or none in the test rows: one &lt;b&gt;, none, category."
    assert named in hornbeam.report(clf, X, y).text
    unseen = X.assign(category=["b", "c"] * (n // 2))
    assert named.replace(", category", "") in hornbeam.report(clf, unseen, y).text
    for page in (hornbeam.report(clf), hornbeam.report(clf, X[:1], y[:1])):
        assert "one value or none" not in page.text


def test_the_class_of_interest_is_named_everywhere():
    clf, X, y, _ = lending()
    html = hornbeam.report(clf, X, y, positive="default").text
    assert "ROC curve for default" in html
    assert "probability of default" in html
    assert "Probability of repaid" not in html
    with pytest.raises(ParameterError, match="expected one of the classes"):
        hornbeam.report(clf, X, y, positive="ruin")
    with pytest.raises(ParameterError, match="the target is numeric"):
        hornbeam.report(TreeRegressor().fit([[0.0], [1.0]], [0.0, 1.0]), positive=1)


def test_the_card_has_every_part_and_marks_what_the_author_must_say():
    clf, X, y, then = lending()
    card = hornbeam.model_card(
        clf, X, y, positive="default", groups="region", earlier=then, title="Lending"
    ).text
    heads = re.findall(r"^## (.*)$", card, re.MULTILINE)
    assert heads == ["Purpose", "Data", "Scores", "Decision rule", "Groups by region",
                     "Beside the earlier model", "Limits", "Model"]  # fmt: skip
    assert card.count("**TODO (author):**") == 5
    assert clf.tree_.digest in card
    assert "| default | 0 | 5 |" in card
    assert (
        card
        == hornbeam.model_card(
            clf, X, y, positive="default", groups="region", earlier=then, title="Lending"
        ).text
    )


def test_a_card_without_test_rows_and_one_regression():
    clf, *_ = lending()
    assert "No test rows were given, so there are no scores." in str(hornbeam.model_card(clf))
    X, y = load_diabetes(return_X_y=True)
    card = hornbeam.model_card(TreeRegressor(max_depth=2).fit(X, y), X, y).text
    assert "Root mean squared error" in card
    assert "Decision rule" not in card


def test_names_cannot_break_the_card():
    X = pd.DataFrame({"a|b\n# head": [0.0, 1.0] * 9, "<script>": [1.0] * 18})
    card = hornbeam.model_card(TreeClassifier().fit(X, ["*x*", "`y`"] * 9), title="<b>").text
    assert "<script>" not in card
    assert "<b>" not in card
    assert "# head" not in [line[:6] for line in card.splitlines()]
    tables = [line for line in card.splitlines() if line.startswith("|")]
    assert len({len(re.findall(r"(?<!\\)\|", line)) for line in tables[4:8]}) == 1
