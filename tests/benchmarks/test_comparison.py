"""The page of comparisons says what the committed results say."""

from __future__ import annotations

from pathlib import Path

from benchmarks.pages import page
from benchmarks.quality import comparison

ROOT = Path(__file__).parents[2]


def test_the_page_has_the_tables_of_the_files():
    text = comparison.PAGE.read_text(encoding="utf-8")
    tables = comparison.tables()
    assert all(table in text for table in tables.values())
    assert page(text, **tables) == text


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
    assert "| 42-9-93 (p = 1e-05) |" in pruned
    assert "on 93 sets of 144" in page


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


def test_the_prose_has_the_ratios_of_the_speeds():
    page = " ".join(comparison.PAGE.read_text(encoding="utf-8").split())
    theirs, fastest = [], []
    for run in ("100k-2-full", "100k-5-full", "1m-2-full", "1m-2-depth8"):
        ratios = comparison.lines(f"speed/grow-{run}.jsonl")[-1]["ratios"]
        least = min((ratio, name) for name, ratio in ratios.items() if name in comparison.LIBRARIES)
        fastest.append(f"{least[0]:.2g} times" + (" as long" if not fastest else ""))
        fastest[-1] += f" ({comparison.LIBRARIES[least[1]].removesuffix(', 1 round')})"
        theirs.append(f"{ratios.get('sklearn-entropy', 0):.0f} times")
    first, second, third, _ = theirs
    assert (
        f"scikit-learn takes {first} as long as Hornbeam in the first column, {second} in the second" in page
    )
    assert f"and {third} in the third" in page
    assert f"{', '.join(fastest[:3])} and {fastest[3]}" in page
