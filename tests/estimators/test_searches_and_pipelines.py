"""Searches and pipelines of scikit-learn are accepted where models are, or refused with advice."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

import hornbeam
from hornbeam import TreeClassifier
from hornbeam.errors import DataError, ParameterError, StorageError
from hornbeam.export import to_markdown, to_text
from hornbeam.plots.canvas import fitted_tree
from hornbeam.tree.unwrap import unwrap

DRAW = np.random.default_rng(0)
X = pd.DataFrame({"age": DRAW.integers(20, 70, 90).astype(float), "pay": DRAW.lognormal(3, 1, 90)})
Y = np.where((X.age > 40) & (X.pay > 15), "yes", "no")
SEARCHES = [
    GridSearchCV(TreeClassifier(), {"max_depth": [1, 2]}, cv=2),
    RandomizedSearchCV(TreeClassifier(), {"max_depth": [1, 2]}, n_iter=1, cv=2, random_state=0),
    GridSearchCV(make_pipeline("passthrough", TreeClassifier()), {"treeclassifier__max_depth": [2]}, cv=2),
    make_pipeline(GridSearchCV(TreeClassifier(), {"max_depth": [2]}, cv=2)),
]


@pytest.mark.parametrize("search", SEARCHES, ids=lambda search: str(search)[:20])
def test_the_best_model_of_a_search_is_used(search, tmp_path):
    best = unwrap(search.fit(X, Y)).model
    assert isinstance(best, TreeClassifier)
    assert to_text(search) == to_text(best)
    assert to_markdown(search) == to_markdown(best)
    assert fitted_tree(search) is best.tree_
    assert not hornbeam.diff(search, best)
    hornbeam.save(search, tmp_path / "m.hornbeam")
    assert hornbeam.load(tmp_path / "m.hornbeam").predict(X).tolist() == search.predict(X).tolist()
    assert hornbeam.report(search, X, Y).text == hornbeam.report(best, X, Y).text


def test_a_search_without_a_best_model_is_refused():
    search = GridSearchCV(TreeClassifier(), {"max_depth": [1]}, cv=2)
    for unfit in (search, GridSearchCV(TreeClassifier(), {"max_depth": [1]}, cv=2, refit=False).fit(X, Y)):
        with pytest.raises(
            ParameterError, match=r"GridSearchCV has no best_estimator_; expected .* refit=True"
        ):
            hornbeam.report(unfit)


def test_a_report_of_a_pipeline_reads_rows_as_its_model_does():
    pipeline = make_pipeline(MinMaxScaler(), TreeClassifier()).fit(X, Y)
    scaled = pipeline[:-1].transform(X)
    assert hornbeam.report(pipeline, X, Y).text == hornbeam.report(pipeline[-1], scaled, Y).text


def test_a_pipeline_that_changes_rows_is_neither_saved_nor_exported(tmp_path):
    pipeline = make_pipeline(MinMaxScaler(), TreeClassifier()).fit(X, Y)
    for use, error in (
        (lambda: hornbeam.save(pipeline, tmp_path / "m.hornbeam"), StorageError),
        (lambda: to_text(pipeline), ParameterError),
    ):
        with pytest.raises(
            error, match=r"a Pipeline with the steps 'minmaxscaler' before .*Pass pipeline\[-1\]"
        ):
            use()
    with pytest.raises(StorageError, match=r"skops.io.dump\(pipeline, path\)"):
        hornbeam.diff(pipeline, pipeline)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "estimator",
    [
        hornbeam.BoostedTreesClassifier(),
        hornbeam.BoostedTreesRegressor(),
        hornbeam.BoostedTreesRanker(),
        hornbeam.RuleClassifier(),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_estimators_that_fit_in_memory_refuse_a_folder(estimator, tmp_path):
    name = type(estimator).__name__
    with pytest.raises(ParameterError, match=rf"{name} takes rows in memory alone.*pandas\.read_parquet"):
        estimator.fit(tmp_path, "target")


def test_a_column_name_as_target_is_refused_in_memory():
    with pytest.raises(DataError, match=r"y is a str; expected one label per row.*pass the column itself"):
        TreeClassifier().fit(X, "pay")


def test_a_dask_frame_is_refused_without_a_client(tmp_path):
    dd = pytest.importorskip("dask.dataframe")
    frame = dd.from_pandas(X, npartitions=2)
    with pytest.raises(ParameterError, match=r"no current client of Dask.*distributed\.Client"):
        TreeClassifier().fit(frame, Y)
    clf = TreeClassifier().fit(X, Y)
    message = r"lazy frame of dask.*compute\(\) first, or write .* to_parquet"
    with pytest.raises(DataError, match=message):
        clf.explain(frame)
    with pytest.raises(DataError, match=message):
        clf.predict_to(frame, tmp_path / "predictions")
