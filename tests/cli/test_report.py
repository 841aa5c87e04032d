"""``hornbeam report`` and ``hornbeam model-card``: what they compare, and what they refuse."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def models(run):
    """Two models of the loans, the second smaller; the region is a column of the new rows alone."""
    for name, leaves in (("new", "12"), ("old", "3")):
        done = run("fit", "loans.csv", "-t", "state", "--max-leaf-nodes", leaves, "-o", f"{name}.hornbeam")
        assert done.exit_code == 0
    lines = Path("new-loans.csv").read_text(encoding="utf-8").splitlines()
    regions = ["region", *("north" if at % 3 else "south" for at in range(len(lines) - 1))]
    Path("rows.csv").write_text(
        "".join(f"{line},{region}\n" for line, region in zip(lines, regions, strict=True)), encoding="utf-8"
    )
    return ["new.hornbeam", "rows.csv", "-t", "state"]


def test_a_report_compares_groups_and_models(run, models):
    options = ["--positive", "bad", "--groups", "region", "--earlier", "old.hornbeam"]
    assert run("report", *models, *options, "-o", "page.html").exit_code == 0
    page = Path("page.html").read_text(encoding="utf-8")
    assert "ROC curve for bad" in page
    assert "Test rows by group" in page
    assert "north" in page
    assert "Beside the earlier model" in page


def test_a_report_compares_other_models_and_the_decisions_of_today(run, models):
    rows = pd.read_csv("rows.csv")
    rows.assign(
        score=rows["amount"].rank(pct=True), now=np.where(rows["amount"] > 9000, "bad", "good")
    ).to_csv("rows.csv", index=False)
    options = [
        "--positive",
        "bad",
        "--comparison",
        "old.hornbeam",
        "--probability",
        "score",
        "--today",
        "now",
    ]
    for command, output in (("report", "page.html"), ("model-card", "CARD.md")):
        assert run(command, *models, *options, "-o", output).exit_code == 0
        text = Path(output).read_text(encoding="utf-8")
        assert "Beside other models" in text
        assert "The decisions in use today have an accuracy of" in text
    for name in ("new", "old", "score"):
        assert f"| {name} |" in text
    done = run("report", *models, "--today", "region", "-o", "page.html")
    assert (done.exit_code, "today has no class in" in done.stderr) == (3, True)
    done = run("report", *models, "--today", "moon", "-o", "page.html")
    assert (done.exit_code, "There is no column 'moon'" in done.stderr) == (3, True)
    done = run("report", models[0], "-", *models[2:], "--comparison", "old.hornbeam", "-o", "page.html")
    assert (done.exit_code, "cannot be -" in done.stderr) == (2, True)


def test_a_report_may_refit_the_model(run, models):
    options = ["--training", "loans.csv", "--stability", "-o", "page.html"]
    assert run("report", *models, *options).exit_code == 0
    assert '<section id="stability"' in Path("page.html").read_text(encoding="utf-8")
    done = run("report", *models, "--stability", "-o", "page.html")
    assert (done.exit_code, "stability=True needs the rows of the fit" in done.stderr) == (3, True)


def test_weights_of_training_rows_need_the_rows(run, models):
    done = run("report", *models, "--training-weight", "amount", "-o", "page.html")
    assert (done.exit_code, "--training-weight COL is a column of --training FILE" in done.stderr) == (
        2,
        True,
    )
    weighted = ["--training", "loans.csv", "--training-weight", "amount"]
    assert run("report", *models, *weighted, "-o", "page.html").exit_code == 0


def test_a_report_has_the_title_and_the_level(run, models):
    options = ["--title", "Loans of July", "--level", "0.5", "-o", "page.html"]
    assert run("report", *models, *options).exit_code == 0
    page = Path("page.html").read_text(encoding="utf-8")
    assert "Loans of July" in page
    assert "50 %" in page


def test_a_card_is_markdown(run, models):
    done = run("model-card", *models, "--groups", "owner", "--title", "Loans", "-o", "CARD.md")
    assert done.exit_code == 0
    card = Path("CARD.md").read_text(encoding="utf-8")
    assert card.startswith("# Loans\n")
    assert "## Groups by owner" in card


def test_what_cannot_be_compared_is_refused(run, models):
    done = run("report", *models, "--groups", "moon", "-o", "page.html")
    assert done.exit_code == 3
    assert "no column 'moon' to group by" in done.stderr
    done = run("model-card", *models, "--positive", "ugly", "-o", "CARD.md")
    assert done.exit_code == 3
    assert "expected one of the classes" in done.stderr


def test_an_earlier_model_may_have_other_columns(run, models):
    done = run("fit", "loans.csv", "-t", "state", "--drop", "income", "-o", "small.hornbeam")
    assert done.exit_code == 0
    for command, output in (("report", "page.html"), ("model-card", "CARD.md")):
        done = run(command, "small.hornbeam", *models[1:], "--earlier", "new.hornbeam", "-o", output)
        assert done.exit_code == 0
        assert "earlier" in Path(output).read_text(encoding="utf-8").lower()
    lines = [line.split(",") for line in Path("rows.csv").read_text(encoding="utf-8").splitlines()]
    at = lines[0].index("income")
    Path("fewer.csv").write_text(
        "".join(",".join(line[:at] + line[at + 1 :]) + "\n" for line in lines), encoding="utf-8"
    )
    done = run(
        "report", "small.hornbeam", "fewer.csv", "-t", "state", "--earlier", "new.hornbeam", "-o", "page.html"
    )
    assert done.exit_code == 3
    assert "income" in done.stderr


def test_score_counts_the_decisions_that_predict_makes(run):
    import json

    import pandas as pd

    costs = ["--costs", "bad", "good", "10"]
    assert run("fit", "loans.csv", "-t", "state", *costs, "-o", "m.hornbeam").exit_code == 0
    said = json.loads(run("score", "m.hornbeam", "new-loans.csv", "-t", "state", "--json", "-q").stdout)
    assert run("predict", "m.hornbeam", "new-loans.csv", "-o", "said.csv").exit_code == 0
    wrong = (pd.read_csv("said.csv").iloc[:, 0] != pd.read_csv("new-loans.csv")["state"]).mean()
    assert said["model"]["zero_one_loss"] == pytest.approx(wrong)


def test_a_name_that_says_pickle_is_refused_before_the_fit(run):
    done = run("fit", "loans.csv", "-t", "state", "-o", "m.pkl")
    assert done.exit_code == 3
    assert not Path("m.pkl").exists()


def test_a_report_has_the_splits_that_competed(run, models):
    assert run("report", *models, "--training", "loans.csv", "-o", "page.html").exit_code == 0
    page = Path("page.html").read_text(encoding="utf-8")
    assert page.count('<details class="competitors">') > 3
    assert "Gain on test rows" in page


def test_one_folder_is_enough_for_a_model_with_the_column_of_its_name(run, tmp_path):
    pytest.importorskip("pyarrow")
    rng = np.random.default_rng(0)
    for year in (2023, 2024):
        folder = tmp_path / "rows" / f"year={year}"
        folder.mkdir(parents=True)
        x = rng.random(60)
        frame = pd.DataFrame({"x": x, "y": np.where(x + 0.3 * (year == 2024) > 0.6, "yes", "no")})
        frame.to_parquet(folder / "a.parquet")
    assert run("fit", "rows", "-t", "y", "-o", "m.hornbeam").exit_code == 0
    one = "rows/year=2023"
    for arguments in (
        ("report", "m.hornbeam", one, "-t", "y", "-o", "r.html", "--training", "rows"),
        ("candidates", "m.hornbeam", one, "-t", "y"),
        ("rules", "m.hornbeam", "--simplify", one, "-t", "y"),
    ):
        done = run(*arguments)
        assert done.exit_code == 0, done.output


@pytest.mark.parametrize("option", ["--held-out", "--training"])
def test_addresses_in_options_show_no_credentials(run, tmp_path, option):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"x": [1.0, 2.0] * 10, "y": ["no", "yes"] * 10})
    frame.to_parquet(tmp_path / "rows.parquet")
    assert run("fit", "rows.parquet", "-t", "y", "-o", "m.hornbeam").exit_code == 0
    command = ("candidates",) if option == "--held-out" else ("report", "-o", "r.html")
    address = "s3://KEY:se/cret@bucket/rows.parquet?endpoint_override=localhost:1"
    done = run(command[0], "m.hornbeam", "rows.parquet", "-t", "y", *command[1:], option, address)
    assert done.exit_code != 0
    assert "cret" not in f"{done.output}{done.stderr}"
