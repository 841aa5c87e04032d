"""The page of comparisons says what the committed results say."""

from __future__ import annotations

from pathlib import Path

from benchmarks.quality import comparison

ROOT = Path(__file__).parents[2]


def test_the_page_has_the_tables_of_the_files():
    text = comparison.PAGE.read_text(encoding="utf-8")
    tables = comparison.tables()
    assert all(table in text for table in tables.values())
    assert comparison.page(text, **tables) == text


def test_a_row_by_hand():
    """As `summary.md` has it; of two columns of one name the first is meant."""
    found = comparison.summary("smoothing")
    assert found["c4.4/raw"]["log loss"] == "4.7192"
    row = next(line for line in comparison.probabilities().splitlines() if "forest of 100" in line)
    assert [cell.strip() for cell in row.split("|")][2:5] == ["0.2221", "0.5535", "0.1492"]


def test_the_prose_quotes_the_studies():
    """Figures that the pages say in words."""
    found, record = comparison.summary("smoothing"), "RMSE: hornbeam/default against it"

    def against(method, measure=record):
        wins, _, losses = found[method][measure].partition(" ")[0].split("-")
        return wins, losses, found[method][measure].partition("p = ")[2].rstrip(")")

    landing, when_not, page = (
        " ".join((ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8").split())
        for name in ("index", "when-not", "comparison")
    )
    raw, ten, hundred = map(against, ("c4.4/raw", "sklearn-forest/rf-10", "sklearn-forest/rf-100"))
    assert f"Measured on {found['hornbeam/default']['sets']} data sets" in landing
    assert f"on {raw[0]} sets and worse ones on {raw[1]} (sign test, p = {raw[2]})" in landing
    assert f"{ten[0]} to {ten[1]} (p = {float(ten[2]):.2f}".replace("= 0.", "= .") in landing
    assert f"is better, on {hundred[1]} sets" in landing
    assert f"RMSE of {hundred[1]} sets" in page
    losses = [
        f"{float(found[name]['0-1 loss']):.3f}" for name in ("sklearn-forest/rf-100", "hornbeam/default")
    ]
    assert f"0-1 loss of {losses[0]}" in when_not
    assert f"our default {losses[1]}" in when_not
    assert f"its RMSE is better on {hundred[1]}." in when_not
    assert "| **the default** | 125 | 30 |" in comparison.sizes()  # "30 leaves or fewer", "125 on the mean"
