"""`TreeClassifier` fitted to files gives the same model as fitted to their rows."""

import logging
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from hornbeam import ForestClassifier, RuleClassifier, TreeClassifier, TreeRegressor, load, save
from hornbeam.data.engine import LocalEngine
from hornbeam.data.files.parquet import ParquetSource, scan_parquet
from hornbeam.data.rows import open_rows
from hornbeam.data.sources import MemorySource
from hornbeam.errors import HornbeamError, ParameterError, SchemaError
from hornbeam.logger import log_progress
from hornbeam.out_of_core.plan import Plan
from hornbeam.tree import Table
from support.recording_engines import Counting

FEATURES = ["dose", "visits", "ward"]


def frame(n=1500, seed=0):
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame(
        {
            "dose": rng.normal(size=n).round(2),
            "visits": rng.integers(0, 9, n),
            "ward": rng.choice(["north", "east", "west"], n),
            "times": rng.integers(1, 4, n),
        }
    )
    ill = (rows["dose"] > 0.3) ^ (rows["ward"] == "east") ^ (rng.random(n) < 0.2)
    rows["is"] = np.where(ill, "ill", "well")
    rows.loc[rng.random(n) < 0.1, "dose"] = np.nan
    return rows


@pytest.fixture(scope="module")
def rows():
    return frame()


@pytest.fixture(scope="module")
def folder(rows, tmp_path_factory):
    place = tmp_path_factory.mktemp("rows")
    for part in range(3):
        some = rows.iloc[part * 500 : (part + 1) * 500]
        some.to_parquet(place / f"part-{part}.parquet", row_group_size=120)
    return place


SETTINGS = [
    {},
    {"preset": "c4.5"},
    {"preset": "cart", "pruning": "cost-complexity"},
    {"class_weight": "balanced", "smoothing": "hgs"},
    {"min_samples_leaf": 0.02, "costs": {("ill", "well"): 3.0}},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_files_and_rows_give_the_same_model(rows, folder, settings):
    features = [*FEATURES, "times"]
    in_memory = TreeClassifier(**settings).fit(rows[features], rows["is"])
    from_files = TreeClassifier(**settings).fit(folder, "is")
    assert from_files.tree_.digest == in_memory.tree_.digest
    assert from_files.tree_.history == in_memory.tree_.history
    for name in ("classes_", "class_weight_", "feature_names_in_"):
        np.testing.assert_array_equal(getattr(from_files, name), getattr(in_memory, name))
    assert from_files.classes_.dtype == np.array(["ill", "well"]).dtype
    assert (from_files.n_features_in_, from_files.n_classes_) == (4, 2)


@pytest.mark.parametrize(
    "source_like",
    [
        lambda folder: folder,
        str,
        lambda folder: f"{folder}/part-*.parquet",
        lambda folder: sorted(folder.glob("*.parquet")),
        lambda folder: scan_parquet(folder, target="is", sample_weight="times"),
    ],
    ids=["folder", "text", "pattern", "list", "source"],
)
def test_paths_patterns_and_sources_give_the_same_tree(rows, folder, source_like):
    X = source_like(folder)
    named = isinstance(X, ParquetSource)
    clf = TreeClassifier("cart").fit(X, *(() if named else ("is", "times")))
    expected = TreeClassifier("cart").fit(rows[FEATURES], rows["is"], rows["times"])
    assert clf.tree_.digest == expected.tree_.digest


def test_predictions_of_files_equal_those_in_memory(rows, folder):
    clf = TreeClassifier(costs={("ill", "well"): 3.0}).fit(folder, "is", "times")
    X = rows[FEATURES]
    for method in ("predict", "predict_proba", "apply", "expected_cost"):
        from_files, in_memory = getattr(clf, method)(folder), getattr(clf, method)(X)
        np.testing.assert_array_equal(from_files, in_memory)
        assert from_files.dtype == in_memory.dtype
    for from_files, in_memory in zip(
        clf.predict_interval(folder, level=0.8), clf.predict_interval(X, level=0.8), strict=True
    ):
        np.testing.assert_array_equal(from_files, in_memory)
    prior = {"ill": 0.01, "well": 0.99}
    np.testing.assert_array_equal(
        clf.predict_proba(folder, base_rates=prior), clf.predict_proba(X, base_rates=prior)
    )
    np.testing.assert_array_equal(clf.predict(X=str(folder)), clf.predict(X))


@pytest.mark.parametrize("model", [TreeClassifier("cart"), ForestClassifier(3), RuleClassifier()], ids=str)
def test_scores_of_files_equal_those_in_memory(rows, folder, model):
    model.fit(rows[FEATURES], rows["is"])
    for weight in (None, "times"):
        expected = model.score(rows[FEATURES], rows["is"], None if weight is None else rows[weight])
        assert model.score(folder, "is", weight) == expected
    source = open_rows(folder, "is", schema=model._schema)
    assert model.score(source) == model.score(folder, "is")
    with pytest.raises(ParameterError, match="expected the name of their column"):
        model.score(folder, rows["is"])


def test_the_score_of_numbers_in_files(rows, folder):
    model = TreeRegressor("cart", max_depth=3).fit(rows[FEATURES[1:]], rows["times"])
    assert model.score(folder, "times") == model.score(rows[FEATURES[1:]], rows["times"])


def test_a_model_fitted_to_files_is_saved_like_any_other(folder, tmp_path):
    clf = TreeClassifier().fit(folder, "is")
    save(clf, tmp_path / "model.hornbeam")
    again = load(tmp_path / "model.hornbeam")
    assert again.tree_.digest == clf.tree_.digest
    np.testing.assert_array_equal(again.predict_proba(folder), clf.predict_proba(folder))
    assert clone(clf).get_params() == clf.get_params()


def test_files_larger_than_memory(rows, folder, tmp_path):
    """Level by level with and without a cache, then grown on a sample."""
    expected = TreeClassifier("cart").fit(rows[FEATURES], rows["is"], rows["times"])
    for cache in (None, False, tmp_path):
        clf = TreeClassifier("cart").fit(folder, "is", "times", memory=30_000, cache=cache)
        assert clf.tree_.digest == expected.tree_.digest
    assert any(tmp_path.iterdir())
    sampled = TreeClassifier("cart").fit(folder, "is", "times", grow_rows=500, engine=LocalEngine(2))
    assert sampled.tree_.rows[0] == 1500


class Mortal(Counting):
    """An engine that fails after some passes."""

    def reduce(self, *arguments, **options):
        if self.n_calls == self.life:
            raise KeyboardInterrupt
        return super().reduce(*arguments, **options)


def test_an_interrupted_fit_continues_from_its_cache(rows, folder, tmp_path):
    expected = TreeClassifier("cart").fit(rows[FEATURES], rows["is"], rows["times"])

    def fit(life):
        engine = Mortal()
        engine.life = life
        clf = TreeClassifier("cart").fit(folder, "is", "times", memory=5_000, cache=tmp_path, engine=engine)
        return clf.tree_.digest, engine.n_calls

    for life in range(8, 12):
        with pytest.raises(KeyboardInterrupt):
            fit(life)
    [checkpoint] = tmp_path.glob("growing-*.checkpoint")
    digest, n_calls = fit(None)
    assert (digest, checkpoint.exists()) == (expected.tree_.digest, False)
    assert (digest, n_calls) < fit(None)  # all passes


def test_beyond_memory_the_default_has_the_splits_and_counts_of_the_rows_in_memory(tmp_path):
    """Within memory everything is equal. `CrossFitted` uses 30,000 rows, so there are more here."""
    rows = frame(33_000)
    rows.to_parquet(tmp_path / "rows.parquet", row_group_size=5_000)
    X, y = rows[[*FEATURES, "times"]], rows["is"]
    for settings in ({}, {"pruning": None}):
        in_memory = TreeClassifier(**settings).fit(X, y).tree_
        assert TreeClassifier(**settings).fit(tmp_path, "is").tree_.digest == in_memory.digest
    by_level = TreeClassifier(pruning=None).fit(tmp_path, "is", memory=100_000).tree_
    np.testing.assert_array_equal(by_level.skeleton.feature, in_memory.skeleton.feature)
    np.testing.assert_array_equal(by_level.skeleton.threshold, in_memory.skeleton.threshold)
    np.testing.assert_array_equal(by_level.evidence, in_memory.evidence)
    bare = TreeClassifier(pruning=None, smoothing="raw")
    digest = bare.fit(X, y).tree_.digest
    assert bare.fit(tmp_path, "is", memory=100_000).tree_.digest == digest


@pytest.mark.parametrize(
    ("estimator", "options", "lines"),
    [
        (TreeClassifier(), {}, ["plan: read all rows, grow in memory", "fitted: "]),
        (
            TreeClassifier(),
            {"memory": 2_000},
            [
                "plan: grow level by level",
                "choosing bins",
                "writing the codes",
                "level 3, ",
                "choosing strengths",
                "fitted: ",
            ],
        ),
        (
            TreeClassifier("cart"),
            {"grow_rows": 500},
            [
                "plan: grow on a sample of 500 rows, count all rows",
                "reading the sample",
                "counting all",
                "fitted: ",
            ],
        ),
        (
            ForestClassifier(3),
            {"grow_rows": 500},
            ["plan: grow on a sample", "3 of 3 trees", "counting all rows"],
        ),
    ],
)
def test_a_fit_of_files_is_logged_without_anything_of_the_data(folder, caplog, estimator, options, lines):
    """Column names, categories, labels and paths are not in the log, at any level."""
    with caplog.at_level(logging.DEBUG, "hornbeam"):
        estimator.fit(folder, "is", "times", **options)
        estimator.predict_to(folder, folder.parent / f"to-{len(lines)}")
    found = [record.getMessage() for record in caplog.records if record.name == "hornbeam"]
    expected = ["3 files, 15 partitions", *lines, "predictions of 1,500 rows: 0 of 15 files are complete"]
    at = iter(found)
    assert all(any(line.startswith(start) for line in at) for start in expected), found
    for secret in (*FEATURES, "is", "times", "north", "east", "west", "ill", "well", "part-", str(folder)):
        assert not any(re.search(rf"\b{re.escape(secret)}\b", line) for line in found), secret


def test_progress_is_logged_once_in_five_seconds(caplog, monkeypatch):
    clock = iter([0.0, 1.0, 5.0, 5.0, 9.0, 10.5, 10.5])
    monkeypatch.setattr("hornbeam.logger.monotonic", lambda: next(clock))
    log = log_progress()
    with caplog.at_level(logging.DEBUG, "hornbeam"):
        for part in range(4):
            log("%d of 4", part)
    assert [(one.levelname, one.getMessage()) for one in caplog.records] == [
        ("DEBUG", "0 of 4"),
        ("INFO", "1 of 4"),
        ("DEBUG", "2 of 4"),
        ("INFO", "3 of 4"),
    ]


def test_the_memory_of_a_plan_is_that_of_the_page(folder):
    """Figures of docs/scale.md: imports, 4.5 times a partition for each thread, 2.5 or 4.5 times the rows."""
    source = scan_parquet(folder, target="is", sample_weight="times")
    width, largest = 8 + 8 + 4 + 12, 120
    for mode, rows, forest, threads, factor in (
        ("in-memory", 1_500, False, 1, 2.5),
        ("sample", 10**6, False, 2, 2.5),
        ("sample", 10**6, True, 1, 4.5),
        ("sample", 10**6, True, 3, 6.5),
    ):
        expected = 2e8 + 4.5 * largest * width * threads + factor * rows * width
        assert Plan(mode, rows, 2**29).peak(source, threads, forest=forest) == expected
    assert Plan("level-wise", 10**7, 10**8).peak(source) == 2e8 + 4.5 * largest * width + 5e7 + 4e7


def test_a_share_of_rows_refers_to_the_rows_grown_on(folder):
    clf = TreeClassifier("cart", min_samples_leaf=0.1).fit(folder, "is", grow_rows=300)
    assert dict(clf.tree_.history[0].parameters)["min_samples_leaf"] == 30


def test_growing_on_a_sample_of_rows_in_memory(rows):
    clf = TreeClassifier("cart").fit(rows[FEATURES], rows["is"], grow_rows=300)
    assert clf.tree_.rows[0] == 1500
    assert [step.name for step in clf.tree_.history] == ["grow", "count-on-all"]
    unnamed = TreeClassifier("cart").fit(MemorySource(Table.read([[1.0], [2.0]], [3, 4])))
    assert unnamed.classes_.tolist() == [3, 4]
    assert not hasattr(unnamed, "feature_names_in_")


def test_a_source_with_class_weights_is_fitted_like_its_files(folder):
    classes = scan_parquet(folder, target="is").schema.classes
    mapping = dict(zip(classes, (1.0, 4.0, 1.0), strict=False))
    for weights in ("balanced", mapping):
        weighted = scan_parquet(folder, target="is", class_weight=weights)
        clf = TreeClassifier("cart", class_weight=weights)
        assert clf.fit(weighted).tree_.digest == clf.fit(folder, "is").tree_.digest
    with pytest.raises(SchemaError, match="other class weights"):
        TreeClassifier("cart", class_weight={classes[0]: 9.0}).fit(weighted)


def test_wrong_arguments_for_files_are_refused(rows, folder):
    with pytest.raises(ParameterError, match="y is a NoneType; expected the name of their column"):
        TreeClassifier().fit(folder)
    with pytest.raises(ParameterError, match="sample_weight is a Series; expected the name"):
        TreeClassifier().fit(folder, "is", rows["times"])
    source = scan_parquet(folder, target="is")
    with pytest.raises(ParameterError, match="X is a Source, which has its labels"):
        TreeClassifier().fit(source, rows["is"])
    with pytest.raises(ParameterError, match="X is a Source, which has no class weights"):
        TreeClassifier(class_weight="balanced").fit(source)
    with pytest.raises(HornbeamError, match="nothing"):
        TreeClassifier().fit(folder / "nothing.parquet", "is")
    with pytest.raises(NotFittedError):
        TreeClassifier().predict(folder)


@pytest.mark.parametrize(
    "use",
    [
        lambda: TreeClassifier().fit(["a", "b"], ["no", "yes"]),
        lambda: TreeClassifier().fit(["a", "b"], "is"),
        lambda: TreeRegressor().fit(["a", "b"], [1.0, 2.0]),
        lambda: TreeRegressor().fit(["a", "b"], "is"),
        lambda: ForestClassifier().fit(["a", "b"], ["no", "yes"]),
        lambda: TreeClassifier().fit([["a"], ["b"]], ["no", "yes"]).predict(["a", "b"]),
    ],
)
def test_a_list_of_strings_may_be_paths_or_values(use):
    with pytest.raises(HornbeamError, match=r"read as paths of files.*values, pass one list per row"):
        use()
