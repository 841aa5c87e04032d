"""``hornbeam report`` and ``hornbeam card``: what they compare, and what they refuse."""

from pathlib import Path

import pytest


@pytest.fixture
def models(run):
    """Two models of the loans, the second smaller; the region is a column of the new rows alone."""
    for name, leaves in (("new", "12"), ("old", "3")):
        done = run("fit", "loans.csv", "-t", "state", "--max-leaves", leaves, "-o", f"{name}.hornbeam")
        assert done.exit_code == 0
    lines = Path("new-loans.csv").read_text().splitlines()
    regions = ["region", *("north" if at % 3 else "south" for at in range(len(lines) - 1))]
    Path("rows.csv").write_text(
        "".join(f"{line},{region}\n" for line, region in zip(lines, regions, strict=True))
    )
    return ["new.hornbeam", "rows.csv", "-t", "state"]


def test_a_report_compares_groups_and_models(run, models):
    options = ["--positive", "bad", "--groups", "region", "--earlier", "old.hornbeam"]
    assert run("report", *models, *options, "-o", "page.html").exit_code == 0
    page = Path("page.html").read_text()
    assert "ROC curve for bad" in page
    assert "Test rows by group" in page
    assert "north" in page
    assert "Beside the earlier model" in page


def test_a_card_is_markdown(run, models):
    done = run("card", *models, "--groups", "owner", "--title", "Loans", "-o", "CARD.md")
    assert done.exit_code == 0
    card = Path("CARD.md").read_text()
    assert card.startswith("# Loans\n")
    assert "## Groups by owner" in card


def test_what_cannot_be_compared_is_refused(run, models):
    done = run("report", *models, "--groups", "moon", "-o", "page.html")
    assert done.exit_code == 3
    assert "no column 'moon' to group by" in done.stderr
    done = run("card", *models, "--positive", "ugly", "-o", "CARD.md")
    assert done.exit_code == 3
    assert "expected one of the classes" in done.stderr
