"""The page of comparisons says what the committed results say."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def comparison():
    """The scripts import each other by bare name."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "benchmarks")
        known = set(sys.modules)
        yield importlib.import_module("comparison")
        for name in {"comparison", "cost_model", "report", "clock"} - known:
            sys.modules.pop(name, None)


def test_the_page_has_the_tables_of_the_files(comparison):
    text = comparison.PAGE.read_text(encoding="utf-8")
    tables = comparison.tables()
    assert all(table in text for table in tables.values())
    assert comparison.page(text, **tables) == text


def test_a_row_by_hand(comparison):
    """As `summary.md` has it; of two columns of one name the first is meant."""
    found = comparison.summary("smoothing")
    assert found["c4.4/raw"]["log loss"] == "4.7192"
    row = next(line for line in comparison.probabilities().splitlines() if "forest of 100" in line)
    assert [cell.strip() for cell in row.split("|")][2:5] == ["0.2221", "0.5535", "0.1492"]


def test_the_prose_quotes_the_studies(comparison):
    """Figures that are said in words on the landing page and elsewhere."""
    smoothing, pruning = comparison.summary("smoothing"), comparison.summary("pruning")
    record = "RMSE: hornbeam/default against it"
    assert smoothing["hornbeam/default"]["sets"] == "144"
    assert smoothing["c4.4/raw"][record] == "130-0-14 (p = 1e-24)"
    assert smoothing["sklearn-forest/rf-10"][record] == "68-0-76 (p = .560)"
    assert smoothing["sklearn-forest/rf-100"][record] == "43-0-101 (p = 1e-06)"
    assert smoothing["sklearn-forest/rf-100"]["0-1 loss"] == "0.1492"
    assert smoothing["hornbeam/default"]["0-1 loss"] == "0.1811"
    assert pruning["hornbeam/every-leaf"][record] == "57-8-84 (p = .028)"
    assert "| **the default** | 125 | 30 |" in comparison.sizes()
