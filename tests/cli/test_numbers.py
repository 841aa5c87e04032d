"""A number to estimate, from the command line: what is assumed, and that every command knows it."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import hornbeam
from hornbeam.data.files.tabular import read_table

FIT = ("fit", "homes.csv", "-t", "price", "-o", "homes.hornbeam")
FEATURES = ["size", "town"]


@pytest.fixture
def homes(run):
    """300 homes, some without a size; run stands in a folder of its own."""
    rng = np.random.default_rng(0)
    size, town = np.round(rng.uniform(30, 200, 300)), rng.choice(["Ayr", "Bonn"], 300)
    price = np.round(1000 * size + 40_000 * (town == "Bonn") + rng.normal(0, 9000, 300))
    known = pa.array(size, mask=rng.random(300) < 0.1)
    pa.csv.write_csv(pa.table({"size": known, "town": town, "price": price}), "homes.csv")
    return read_table("homes.csv")


def test_many_numbers_are_a_number_and_the_file_is_the_librarys(run, homes):
    result = run(*FIT, "--max-depth", "3")
    assert result.exit_code == 0
    target, assumed = result.stderr.splitlines()[1:3]
    assert target.startswith("target    price: a number, mean 142994, from 18283 to 247066")
    assert assumed.strip().endswith("values: taken for a number; --kind classification makes them classes")
    reg = hornbeam.TreeRegressor(max_depth=3).fit(homes.select(FEATURES), homes["price"].to_numpy())
    hornbeam.save(reg, "by-hand.hornbeam")
    assert Path("homes.hornbeam").read_bytes() == Path("by-hand.hornbeam").read_bytes()


def test_the_user_may_say_which(run, homes):
    assert "taken for" not in run(*FIT, "--kind", "regression").stderr
    assert isinstance(hornbeam.load("homes.hornbeam"), hornbeam.TreeRegressor)
    few = homes.set_column(2, "price", pa.array(np.arange(300) % 7))
    pa.csv.write_csv(few, "homes.csv")
    run(*FIT)
    assert isinstance(hornbeam.load("homes.hornbeam"), hornbeam.TreeClassifier)
    run(*FIT, "--kind", "regression", "--preset", "cart")
    assert hornbeam.load("homes.hornbeam").preset == "cart"


def test_every_command_knows_numbers(run, homes):
    fitted = json.loads(run(*FIT, "--max-depth", "2", "--test-share", "0.2", "--json").stdout)
    assert fitted["held_out"]["model"]["rmse"] < fitted["held_out"]["baseline"]["rmse"]
    reg = hornbeam.load("homes.hornbeam")
    X, y = homes.select(FEATURES), homes["price"].to_numpy()
    run("predict", "homes.hornbeam", "homes.csv", "-o", "said.csv", "--level", ".9", "--leaf")
    said = read_table("said.csv")
    assert said.column_names == ["prediction", "low", "high", "leaf"]
    np.testing.assert_array_equal(said["prediction"].to_numpy(), reg.predict(X))
    scores = json.loads(run("score", "homes.hornbeam", "homes.csv", "-t", "price", "--json").stdout)
    assert scores["model"]["r2"] == pytest.approx(
        1 - ((y - reg.predict(X)) ** 2).mean() / scores["baseline"]["rmse"] ** 2
    )
    assert "R²" in run("score", "homes.hornbeam", "homes.csv", "-t", "price").stdout
    assert "moved" in run("explain", "homes.hornbeam", "homes.csv", "--row", "2").stdout
    assert run("show", "homes.hornbeam").stdout.splitlines()[2].startswith("target    a number, mean 1")
    assert "smoothed" in run("show", "homes.hornbeam", "--leaves").stdout
    assert run("rules", "homes.hornbeam").stdout.startswith("1. if ")
    assert run("rules", "homes.hornbeam", "--to", "markdown").stdout.startswith("| leaf | if | mean |")
    assert run("rules", "homes.hornbeam", "--to", "sql").exit_code == 2
    assert "population stability" in run("drift", "homes.hornbeam", "homes.csv", "-t", "price").stdout
    assert run("report", "homes.hornbeam", "homes.csv", "-t", "price", "-o", "page.html").exit_code == 0
    assert "Predicted and seen" in Path("page.html").read_text(encoding="utf-8")
    for name in ("tree.c", "tree.js", "tree.json", "tree.md", "tree.pmml", "tree.py", "tree.svg", "tree.dot"):
        assert run("export", "homes.hornbeam", "-o", name).exit_code == 0
    assert run("update", "homes.hornbeam", "homes.csv", "-t", "price", "-o", "more.hornbeam").exit_code == 0
    assert hornbeam.load("more.hornbeam").tree_.rows[0] == reg.tree_.rows[0] + 300
    assert run("diff", "homes.hornbeam", "more.hornbeam").exit_code == 1


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--costs", "a", "b", "5"], "--costs and --class-weight are for classes"),
        (["--preset", "c4.5"], "expected one of 'default', 'cart'"),
    ],
)
def test_what_numbers_have_not_is_refused(run, homes, more, words):
    result = run(*FIT, *more)
    assert result.exit_code != 0
    assert words in result.stderr.replace("\n", " ")


def test_texts_are_no_numbers(run, homes):
    result = run("fit", "homes.csv", "-t", "town", "-o", "m.hornbeam", "--kind", "regression")
    assert result.exit_code != 0
    assert "expected numbers" in result.stderr


def test_old_numbers_fade(run, homes):
    assert run(*FIT).exit_code == 0
    old = hornbeam.load("homes.hornbeam").tree_
    result = run("update", "homes.hornbeam", "homes.csv", "-t", "price", "-o", "m.hornbeam", "--decay", ".5")
    assert result.exit_code == 0
    new = hornbeam.load("m.hornbeam").tree_
    assert new.evidence[0, 0] * new.unit[0] == pytest.approx(1.5 * old.evidence[0, 0] * old.unit[0])


def test_a_study_is_for_classes_and_says_so(run, homes):
    result = run("study", "homes.csv", "-t", "price")
    assert result.exit_code == 3
    assert "'price' is taken for a number, and methods are compared for classes" in result.stderr
    few = homes.set_column(2, "price", pa.array(np.arange(300) % 31))
    pa.csv.write_csv(few, "homes.csv")
    assert run("study", "homes.csv", "-t", "price", "-q").exit_code == 3
    assert (
        run("study", "homes.csv", "-t", "price", "-q", "--folds", "2", "--kind", "classification").exit_code
        == 0
    )


def test_one_leaf_is_not_leaves(run, homes):
    assert "model     1 leaf, depth 0" in run(*FIT, "--min-samples-leaf", "200").stderr
    assert "tree      1 leaf, depth 0" in run("show", "homes.hornbeam").stdout
    assert "1 leaf in c" in run("export", "homes.hornbeam", "-o", "homes.c").stderr


def test_quantiles_of_a_model_with_a_distribution(run, homes):
    assert run(*FIT, "--distribution").exit_code == 0
    done = run(
        "predict", "homes.hornbeam", "homes.csv", "--quantiles", ".1,.5,.975", "--level", "0.8", "--json"
    )
    found, model = json.loads(done.stdout)["columns"], hornbeam.load("homes.hornbeam")
    assert list(found) == ["prediction", "q10", "q50", "q97_5", "low", "high"]
    expected = model.predict_quantile(read_table("homes.csv").select(FEATURES), [0.1, 0.5, 0.975])
    np.testing.assert_array_equal(np.transpose([found[name] for name in ("q10", "q50", "q97_5")]), expected)
    assert (
        "def quantiles(row)" in run("export", "homes.hornbeam", "--to", "python", "--quantiles", ".5").stdout
    )


def test_quantiles_that_cannot_be(run, homes):
    assert run(*FIT).exit_code == 0
    for command, words in (
        (("predict", "homes.hornbeam", "homes.csv", "--quantiles", ".5"), "fitted with distribution=True"),
        (("predict", "homes.hornbeam", "homes.csv", "--quantiles", "x"), "not numbers between commas"),
        (("export", "homes.hornbeam", "--to", "pmml", "--quantiles", ".5"), "has no effect with --to pmml"),
        (("fit", "homes.csv", "-t", "town", "-o", "t.hornbeam", "--distribution"), "is for numbers"),
    ):
        done = run(*command)
        assert done.exit_code != 0
        assert words in done.stderr
