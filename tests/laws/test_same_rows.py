"""Each public function with rows gives one result for every form of them: arrays, frames, files, sources, tables."""

import re
import warnings
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import issparse

import hornbeam
from hornbeam import evaluation, export
from hornbeam.data.files.parquet import scan_parquet
from hornbeam.data.schema import Kind
from hornbeam.data.table import Table
from hornbeam.errors import HornbeamError

pl = pytest.importorskip("polars")
pytest.importorskip("pyarrow")

_RNG = np.random.default_rng(5)
ARRAY = _RNG.normal(size=(240, 3)).round(2)
ARRAY[_RNG.random(ARRAY.shape) < 0.03] = np.nan
NAMES = ["x0", "x1", "x2"]  # those of an array, so that all forms have one schema
FRAME = pd.DataFrame(ARRAY, columns=NAMES)
COLUMNS = {
    "is": np.where((ARRAY[:, 0] > 0.2) ^ (_RNG.random(240) < 0.15), "yes", "no"),
    "dose": (np.nan_to_num(ARRAY[:, 1]) + (ARRAY[:, 2] > 0)).round(3),
    "times": _RNG.integers(1, 4, 240),
}
TREE = hornbeam.TreeClassifier("cart", max_depth=3)
FOREST = hornbeam.ForestClassifier(3, random_state=0)
BOOSTED = hornbeam.BoostedTreesClassifier(n_estimators=2)

type Arguments = tuple[Any, Any, Any]  # X, target and weights


# ---- forms of the same rows; `target` and `weight` are names of COLUMNS, or None


def _frame(X: Any, target: str | None, weight: str | None) -> Arguments:
    return X, COLUMNS.get(target), COLUMNS.get(weight)


def _files(place: Path, target: str | None, weight: str | None) -> Arguments:
    file = place / f"{target}-{weight}.parquet"
    if not file.exists():
        named = {name: COLUMNS[name] for name in (target, weight) if name is not None}
        FRAME.assign(**named).to_parquet(file, row_group_size=70)
    return file, target, weight


def _source(place: Path, target: str | None, weight: str | None) -> Arguments:
    kind = Kind.NUMERIC if target == "dose" else Kind.NOMINAL
    file = _files(place, target, weight)[0]
    return scan_parquet(file, target=target, sample_weight=weight, target_kind=kind), None, None


def _table(place: Path, target: str | None, weight: str | None) -> Arguments:
    kind = Kind.NUMERIC if target == "dose" else Kind.NOMINAL
    X, y, times = _frame(ARRAY, target, weight)
    return Table.read(X, y, sample_weight=times, target_kind=kind), None, None


FORMS: dict[str, Callable[[Path, str | None, str | None], Arguments]] = {
    "array": lambda place, *names: _frame(ARRAY, *names),
    "pandas": lambda place, *names: _frame(FRAME, *names),
    "polars": lambda place, *names: _frame(pl.DataFrame(dict(FRAME)), *names),
    "path": _files,
    "source": _source,
    "table": _table,
}


# ---- functions of the place for files, X, the target and the weights


@cache
def _fitted(model: Any) -> Any:
    return model.fit(ARRAY, COLUMNS["dose" if isinstance(model, hornbeam.TreeRegressor) else "is"])


def _fit(model: Any) -> Callable[..., Any]:
    def fit(place, X, y, weight):
        fitted = type(model)(**model.get_params(deep=False)).fit(X, y, weight)
        if hasattr(fitted, "rules_"):
            return str(fitted.rules_)
        trees = getattr(fitted, "forest_", None) or getattr(fitted, "boosted_", None)
        return fitted.tree_.digest if trees is None else [tree.digest for tree in trees.trees]

    return fit


def _method(model: Any, name: str) -> Callable[..., Any]:
    return lambda place, X, y, weight: getattr(_fitted(model), name)(X)


def _of_tree(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda place, X, y, weight: function(_fitted(TREE), X)


def _predict_to(place, X, y, weight):
    folder = place / f"predictions-{len(list(place.iterdir()))}"
    _fitted(TREE).predict_to(X, folder)
    return pd.read_parquet(folder).to_dict("list")


def _evidence(name: str) -> Callable[..., Any]:
    def changed(place, X, y, weight):
        model = hornbeam.TreeClassifier("cart", max_depth=3).fit(ARRAY, COLUMNS["is"], COLUMNS["times"])
        return getattr(model, name)(X, y, sample_weight=weight).tree_.digest

    return changed


def _candidates(place, X, y, weight):
    return _fitted(TREE).candidate_splits(X, y, sample_weight=weight)


def _held_out(place, X, y, weight):
    return _fitted(TREE).candidate_splits(ARRAY, COLUMNS["is"], held_out=(X, y, weight))


def _report(place, X, y, weight):
    """Medians need the values of all rows, so the page has none for files."""
    page = hornbeam.report(_fitted(TREE), X, y).text
    return re.sub(r", median [-.0-9]+| There are no medians, because the rows are not in memory\.", "", page)


def _methods(model: Any, names: str) -> dict[str, tuple[Callable[..., Any], str | None, str | None]]:
    return {f"{type(model).__name__}.{name}": (_method(model, name), None, None) for name in names.split()}


# Each function, with the names of the target and of the weights that it takes.
FUNCTIONS: dict[str, tuple[Callable[..., Any], str | None, str | None]] = {
    "TreeClassifier.fit": (_fit(TREE), "is", "times"),
    "TreeRegressor.fit": (_fit(hornbeam.TreeRegressor("cart")), "dose", "times"),
    "ForestClassifier.fit": (_fit(FOREST), "is", "times"),
    "ForestRegressor.fit": (_fit(hornbeam.ForestRegressor(3, random_state=0)), "dose", "times"),
    "BoostedTreesClassifier.fit": (_fit(BOOSTED), "is", "times"),
    "RuleClassifier.fit": (_fit(hornbeam.RuleClassifier()), "is", "times"),
    **_methods(
        TREE,
        "predict predict_proba predict_log_proba predict_interval expected_cost apply decision_path explain "
        "shap_values counterfactuals unseen drift",
    ),
    **_methods(hornbeam.TreeRegressor("cart", max_depth=3), "predict predict_interval explain shap_values"),
    **_methods(FOREST, "predict predict_proba unseen"),
    **_methods(BOOSTED, "predict predict_proba decision_function"),
    **_methods(hornbeam.RuleClassifier(), "predict predict_proba predict_interval apply"),
    "TreeClassifier.drift of classes": (
        lambda place, X, y, weight: _fitted(TREE).drift(X, y),
        "is",
        None,
    ),
    "TreeClassifier.predict_to": (_predict_to, None, None),
    "TreeClassifier.update": (_evidence("update"), "is", "times"),
    "TreeClassifier.forget": (_evidence("forget"), "is", "times"),
    "TreeClassifier.edit": (lambda place, X, y, weight: _fitted(TREE).edit(X, y).tree.digest, "is", None),
    "candidate_splits": (_candidates, "is", "times"),
    "candidate_splits of held-out rows": (_held_out, "is", "times"),
    "report": (_report, "is", None),
    "evaluation.stability": (
        lambda place, X, y, weight: evaluation.stability(TREE, X, y, n_refits=2),
        "is",
        None,
    ),
    "RuleSet.predict_proba": (_of_tree(lambda clf, X: clf.rules().predict_proba(X)), None, None),
    "export.to_matrix": (_of_tree(export.to_matrix), None, None),
}

# What is refused, by function and form. Remove an entry when it starts to work.
_ALL_ROWS = "computes with all rows in memory, many times: read a sample"
_OWN_TARGET = "`class_weight` of an estimator is read with y: a Table has its own"
_OWN_UNIT = "reads weights in steps of the tree, to remove rows exactly: files and tables have their own"
GAPS: dict[str, tuple[str, str]] = {
    "TreeClassifier.fit": ("table", _OWN_TARGET),
    "TreeRegressor.fit": ("table", _OWN_TARGET),
    "ForestClassifier.fit": ("table", _OWN_TARGET),
    "ForestRegressor.fit": ("table", _OWN_TARGET),
    "BoostedTreesClassifier.fit": ("path source table", _ALL_ROWS),
    "RuleClassifier.fit": ("path source table", _ALL_ROWS),
    "TreeClassifier.update": ("path source table", _OWN_UNIT),
    "TreeClassifier.forget": ("path source table", _OWN_UNIT),
    "evaluation.stability": ("path source table", _ALL_ROWS),
}


def plain(result: Any) -> Any:
    """A result as values that can be compared."""
    if issparse(result):
        return plain(result.toarray())
    if isinstance(result, np.ndarray):
        return str(result.dtype), result.shape, repr(result.tolist())
    if hasattr(result, "to_dict"):
        return plain(result.to_dict())
    if is_dataclass(result):
        return {field.name: plain(getattr(result, field.name)) for field in fields(result)}
    if isinstance(result, dict):
        return {key: plain(value) for key, value in result.items()}
    if isinstance(result, list | tuple):
        return [plain(value) for value in result]
    return repr(result)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("rows")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_form_of_rows_gives_the_result_of_the_array(name, place):
    """Forms in GAPS are refused with an error that says so."""
    function, target, weight = FUNCTIONS[name]
    refused = GAPS.get(name, ("", ""))[0].split()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # names of columns that an array does not have
        expected = plain(function(place, *FORMS["array"](place, target, weight)))
        for form, make in FORMS.items():
            arguments = make(place, target, weight)
            if form in refused:
                with pytest.raises(HornbeamError):
                    function(place, *arguments)
            else:
                assert plain(function(place, *arguments)) == expected, form


def test_what_is_refused_exists():
    assert GAPS.keys() <= FUNCTIONS.keys()


def test_a_source_with_columns_in_another_order_is_read_by_name(place):
    file = FORMS["path"](place, None, None)[0]
    reversed_columns = scan_parquet(file, target=None, features=NAMES[::-1])
    for name in ("predict_proba", "apply", "drift"):
        expected = plain(getattr(_fitted(TREE), name)(ARRAY))
        assert plain(getattr(_fitted(TREE), name)(reversed_columns)) == expected
