"""Test rows in files: the page of rows in memory, whatever the grouping, with few cells in memory."""

import re

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import hornbeam
from hornbeam import TreeClassifier
from hornbeam.data.engine import LocalEngine
from hornbeam.data.files.parquet import scan_parquet
from hornbeam.errors import DataError, ParameterError
from hornbeam.evaluation import row_counts
from hornbeam.evaluation.row_counts import Cells
from hornbeam.reporting.reported_model import ReportedModel
from hornbeam.reporting.scored_rows import ScoredRows
from hornbeam.reporting.sections.features import NO_MEDIANS
from hornbeam.reporting.sections.scores import scores_of
from support.scored_models import KINDS, fitted_model, new_rows, write_files

COLUMNS = ["age", "ward", "dose"]


def without_medians(html: str) -> str:
    """The one figure that needs all rows at once, and the line that says so."""
    return re.sub(r", median [^<]*", "", html).replace(f" {NO_MEDIANS}", "")


@pytest.mark.parametrize("kind", KINDS)
def test_the_page_is_that_of_rows_in_memory(kind, tmp_path):
    model, target = fitted_model(kind)
    rows = new_rows(400, 2)
    folder, X, y = write_files(rows, tmp_path), rows[COLUMNS], rows[target]
    old = fitted_model("fractional" if target == "state" else "numbers")[0]
    options = {"groups": "ward", "earlier": old, **({"positive": "ill"} if target == "state" else {})}
    in_memory = hornbeam.report(model, X, y, **options).text
    card = str(hornbeam.model_card(model, X, y, **options))
    assert "not in the training rows" in in_memory  # a category of the new rows alone
    for n_tasks in (1, 3, 16):
        engine = LocalEngine(n_jobs=2, n_tasks=n_tasks, reverse=n_tasks == 3)
        from_files = hornbeam.report(model, folder, target, engine=engine, **options).text
        assert from_files != in_memory
        assert without_medians(from_files) == without_medians(in_memory)
    of_files = str(hornbeam.model_card(model, folder, target, **options))
    assert of_files.replace(f"{NO_MEDIANS}\n\n", "") == re.sub(", median [^|]*", " ", card)


def test_splits_that_competed_are_tested_on_files(tmp_path):
    model, target = fitted_model("numbers")
    rows, training = new_rows(400, 2), new_rows(900, 1)
    options = {"training": (training[COLUMNS], training[target])}
    from_files = hornbeam.report(model, write_files(rows, tmp_path), target, **options).text
    in_memory = hornbeam.report(model, rows[COLUMNS], rows[target], **options).text
    assert "Gain on test rows" in from_files
    assert without_medians(from_files) == without_medians(in_memory)


@pytest.mark.parametrize("kind", ["slopes", "sloped numbers"])
def test_many_different_rows_of_files_are_rounded(kind, monkeypatch, tmp_path):
    """Of 4,000 different rows 2,000 cells are kept; scores change in the third digit at most."""
    model, target = fitted_model(kind)
    rows = new_rows(4000, 3)
    reported, X, y = ReportedModel.of(model), rows[COLUMNS], rows[target]
    exact = scores_of(reported, ScoredRows.of(reported, X, y))
    monkeypatch.setattr(row_counts, "MOST_CELLS", 2000)
    folder = write_files(rows, tmp_path)
    scored = ScoredRows.of(reported, folder, target)
    assert scored.n_rows == 4000
    assert len(scored.count) <= 2000
    if not model.tree_.is_regression:
        np.testing.assert_allclose(scored.predicted.sum(axis=1), 1.0)
    for one, other in zip(exact, scores_of(reported, scored), strict=True):
        assert other.value == pytest.approx(one.value, abs=4e-3 * abs(one.base or 1))
    assert "binary digits" in hornbeam.report(model, folder, target).text
    assert "binary digits" not in hornbeam.report(model, X, y).text
    assert "no medians" in str(hornbeam.model_card(model, folder, target))


def test_cells_do_not_depend_on_grouping(monkeypatch):
    monkeypatch.setattr(row_counts, "MOST_CELLS", 1000)
    rng = np.random.default_rng(0)
    codes, numbers = rng.integers(0, 3, 5000), rng.normal(size=5000)
    whole = Cells.of([codes], [numbers])
    assert len(whole.count) <= 1000
    assert whole.count.sum() == 5000
    for n_parts in (2, 7, 50):
        parts = [Cells.of([codes[at::n_parts]], [numbers[at::n_parts]]) for at in range(n_parts)]
        total = parts.pop(n_parts // 2)
        for part in parts:
            total += part
        for name in ("keys", "count", "level"):
            np.testing.assert_array_equal(getattr(total, name), getattr(whole, name))
    mean = np.average(whole.numbers[:, 0], weights=whole.count)
    assert mean == pytest.approx(numbers.mean(), abs=1e-3)


def test_files_that_cannot_be_used_are_refused(tmp_path):
    model, target = fitted_model("classes")
    rows = new_rows(60, 2)
    folder = write_files(rows, tmp_path)
    with pytest.raises(DataError, match="y is None"):
        hornbeam.report(model, folder)
    with pytest.raises(ParameterError, match="expected the name of a feature"):
        hornbeam.report(model, folder, target, groups=["a"] * 60)
    weighted = scan_parquet(folder, target=target, sample_weight="weight", schema=model.tree_.schema)
    with pytest.raises(ParameterError, match="expected rows that count 1 each"):
        hornbeam.report(model, weighted)
    unlabelled = scan_parquet(folder, target=None, schema=model.tree_.schema)
    with pytest.raises(DataError, match="the test rows have no labels"):
        hornbeam.report(model, unlabelled)
    scaled = make_pipeline(StandardScaler(), TreeClassifier()).fit(rows[["age"]], rows[target])
    with pytest.raises(ParameterError, match="changes its rows"):
        hornbeam.report(scaled, folder, target)
