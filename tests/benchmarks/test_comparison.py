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


def test_both_tables_of_the_page_have_the_same_default():
    """The table of sizes once had the default of an earlier run."""
    scores = comparison.summary("smoothing")[comparison.DEFAULT]
    row = next(line for line in comparison.sizes().splitlines() if "**the default**" in line)
    assert [cell.strip() for cell in row.split("|")][5] == scores["RMSE"]


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
    pruned = comparison.sizes()
    assert "| **the default** | 116 | 29 |" in pruned  # "30 leaves or fewer"
    assert "30 leaves or fewer on half of 144 sets, 116 on the mean" in when_not
    assert "| 40-5-99 (p = 6e-07) |" in pruned
    assert "on 99 sets of 144" in page


def test_pages_have_the_measured_price_of_the_default():
    """How many times as long a default fit takes as one that chooses nothing on held-out rows."""
    ratios = {
        n: 1 / comparison.lines(f"speed/default-{n}.jsonl")[-1]["ratios"]["asks nobody"]
        for n in (300, 500, 1000, 10_000, 50_000, 1_000_000)
    }
    few, more, thousand, ten, fifty, million = (f"{ratio:.2g}" for ratio in ratios.values())
    large = f"{ten} times as long as a tree without that at 10,000 rows, {fifty} times at 50,000 and {million} times"
    assert large in " ".join(comparison.PAGE.read_text(encoding="utf-8").split())
    guide = " ".join((ROOT / "docs/guide/smoothing.md").read_text(encoding="utf-8").split())
    assert f"takes {few} times as long as one without at 300 rows" in guide
    assert (
        f"{more} times at 500, {thousand} times at 1,000, {ten} times at 10,000, {fifty} times at 50,000"
        in guide
    )


def test_the_page_has_what_was_measured_again():
    page = " ".join(comparison.PAGE.read_text(encoding="utf-8").split())
    for run in ("100k-2", "100k-5", "1m-2"):
        grown = comparison.lines(f"speed/grow-{run}-full-again.jsonl")[-1]["seconds"]
        ours, theirs = grown["hornbeam"], grown["sklearn-entropy"]
        assert (
            f"{ours:.2f} for Hornbeam and {theirs:.2f} for scikit-learn: {theirs / ours:.0f} times as fast"
            in page
        )
    row = comparison.lines("speed/predict-single-again.jsonl")[-1]["seconds"]
    usual, lean = (
        [1e6 * row[way][of] for of in ("hornbeam", "sklearn-entropy")] for way in ("usual", "lean")
    )
    assert f"Hornbeam {usual[0]:.0f} µs and scikit-learn {usual[1]:.0f} in the usual way" in page
    assert f"{lean[0]:.1f} and {lean[1]:.1f} in the leanest" in page
