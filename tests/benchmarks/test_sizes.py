"""The study of small trees: tables by hand, and the guide has those of the committed scores."""

import numpy as np
import pytest
from benchmarks.quality.studies import sizes
from benchmarks.quality.studies.report import Scores
from benchmarks.quality.studies.sets import Fold, StudySet
from benchmarks.quality.studies.size_peers import (
    DEPTHS,
    binary,
    encoded,
    limit,
    linear_tree,
    linear_trees,
    n_numbers_of_lmt,
)
from sklearn.preprocessing import StandardScaler

from hornbeam import TreeClassifier

RESULTS = sizes.PAGE.parents[2] / "benchmarks" / "results" / "sizes" / "scores.csv"


@pytest.mark.parametrize("name", ["blind", "tuned"])
def test_the_guide_has_the_tables_of_the_file(name):
    scores = sizes.part(Scores.read_csv(RESULTS), name == "blind")
    assert sizes.guide_table(scores) in sizes.PAGE.read_text(encoding="utf-8")


def test_the_summary_has_the_models_that_can_be_read():
    scores = Scores.read_csv(RESULTS)
    text = RESULTS.with_name("summary.md").read_text(encoding="utf-8")
    for some in (scores, sizes.part(scores, blind=True), sizes.part(scores, blind=False)):
        assert sizes.peers_table(some) in text


def test_the_guide_has_the_models_that_can_be_read():
    assert sizes.guide_peers(Scores.read_csv(RESULTS)) in sizes.PAGE.read_text(encoding="utf-8")


def test_tuned_and_blind_sets_are_all_sets():
    scores = Scores.read_csv(RESULTS)
    tuned, blind = sizes.part(scores, blind=False), sizes.part(scores, blind=True)
    assert {entry.name for entry in tuned.entries} <= sizes.TUNED
    assert not sizes.TUNED & {entry.name for entry in blind.entries}
    assert len(tuned.entries) + len(blind.entries) == len(scores.entries)
    assert len(tuned.lines) + len(blind.lines) == len(scores.lines)


def test_sizes_are_limits():
    assert limit("leaves-8") == {"max_leaf_nodes": 8}
    deep, wide = sizes.readable("depth-3", 2), sizes.readable("leaves-32", 3)
    assert (deep.max_depth, deep.max_leaf_nodes, deep.slopes) == (3, 8, 2)
    assert (wide.max_depth, wide.max_leaf_nodes, wide.slopes) == (64, 32, 3)


def test_peers_get_numbers_without_gaps():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {
            "number": [1.0, np.nan, 3.0, 100.0] * 10,
            "category": pd.Categorical(["a", "b", None, "a"] * 10),
        }
    )
    fold = Fold(StudySet("toy", frame, np.arange(40) % 2, ("no", "yes")), 0)
    train, test = encoded(fold)
    assert train.shape == (36, 4), "a number, and a column each for a, b and missing"
    assert np.isfinite(train).all()
    assert np.isfinite(test).all()
    np.testing.assert_array_equal(train[:, 1:].sum(axis=1), 1.0)
    known = frame["number"].to_numpy()[fold.train]
    assert (train[np.isnan(known), 0] == np.nanmedian(known)).all()
    assert all(
        part.dtype == bool and len(part) == rows for part, rows in zip(binary(fold), (36, 4), strict=True)
    )


def test_numbers_that_a_reader_meets():
    """Two leaves with a term each: a split, two probabilities, and two slopes with their centres."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 1))
    y = (rng.random(400) < 1 / (1 + np.exp(-3 * X[:, 0]))).astype(int)
    model = TreeClassifier("readable", max_leaf_nodes=2, slopes=1).fit(X, y)
    assert sizes._of_tree("x", model, model.predict_proba(X), 0.0).numbers == 1 + 2 + 2 * 2
    three = TreeClassifier(max_leaf_nodes=2).fit(X, y + (X[:, 0] > 1))
    assert sizes._of_tree("x", three, three.predict_proba(X), 0.0).numbers == 1 + 2 * 2


def test_numbers_of_a_logistic_model_tree():
    """A cut, and in each of two leaves an intercept and two coefficients, which Weka prints for both classes."""
    leaf = (
        "LM_1:\nClass 0 :\n-0.65 + \n[a0] * 0.27 +\n[a1=v2] * 1.5\n\n"
        "Class 1 :\n0.65 + \n[a0] * -0.27 +\n[a1=v2] * -1.5\n\n"
    )
    text = "a0 <= 2.5: LM_1:1/1 (9)\na0 > 2.5: LM_2:1/2 (8)\n" + 2 * leaf
    assert n_numbers_of_lmt(text, 2) == 1 + 2 * 3
    assert n_numbers_of_lmt(": LM_1:1/1 (9)\n" + leaf, 3) == 2 * 3, "of three classes each has its own"


def test_linear_trees_of_smaller_depth_are_cut_from_one():
    pytest.importorskip("lineartree")
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = (X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=200) > 0).astype(int)
    fold = Fold(StudySet("toy", pd.DataFrame(X, columns=["a", "b"]), y, ("no", "yes")), 0)
    outcomes = list(linear_trees(fold, frozenset(f"depth-{depth}" for depth in DEPTHS)))
    assert outcomes[0].leaves < outcomes[-1].leaves
    train, test = encoded(fold)
    scale = StandardScaler().fit(train)
    model = linear_tree().set_params(max_depth=DEPTHS[0]).fit(scale.transform(train), fold.y_train)
    np.testing.assert_array_equal(outcomes[0].probabilities, model.predict_proba(scale.transform(test)))
    assert outcomes[0].leaves == len(model._leaves)
    pure = sum(not hasattr(leaf.model, "coef_") for leaf in model._leaves.values())
    assert outcomes[0].numbers == 4 * outcomes[0].leaves - 1 - 2 * pure, (
        "a leaf has three, a pure one has one"
    )


def test_the_guide_has_the_record_against_the_default_tree():
    summary = RESULTS.with_name("summary.md").read_text(encoding="utf-8").split("| leaves-16 | sets |")[1]
    row = next(line for line in summary.splitlines() if line.startswith("| plain/default |"))
    *_, squared, log, wrong, _ = (cell.strip() for cell in row.split("|"))
    records = [[int(n) for n in cell.split()[0].split("-")] for cell in (squared, log, wrong)]
    (won, _, lost), (won_log, _, lost_log), (won_class, draws, lost_class) = records
    text = " ".join(sizes.PAGE.read_text(encoding="utf-8").split())
    assert f"is {won}-{lost} by RMSE" in text
    assert (
        f"{won_log}-{lost_log} by log loss, and {won_class}-{lost_class} with {draws} draws by 0-1 loss"
        in text
    )
