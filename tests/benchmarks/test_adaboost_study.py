"""AdaBoost beside scikit-learn's: what the committed scores tell."""

from benchmarks.output import read_csv
from benchmarks.quality import adaboost


def test_the_summary_is_that_of_the_scores():
    text = (adaboost.OUT / "summary.md").read_text(encoding="utf-8")
    assert adaboost.report(adaboost.OUT / "scores.csv") == text


def test_the_same_trees_give_the_same_votes():
    rows = read_csv(adaboost.OUT / "scores.csv")
    assert len({row["set"] for row in rows}) == adaboost.N_SETS
    assert all(row["as_ours"] == "1" for row in rows if row["method"] == adaboost.SAME_TREES)
