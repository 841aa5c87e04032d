"""Commands give the same results as the library."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

import hornbeam
from hornbeam import export as exports
from hornbeam.cli.commands.export import _TARGETS
from hornbeam.data.files.tabular import read_table
from hornbeam.evaluation import log_loss, rmse
from hornbeam.export import rules_dict, rules_markdown, rules_text, rules_where

NEW = "new-loans.csv"
OBJECTS = {
    "to_html",
    "to_matrix",
    "to_shap",
    "to_treelite",
}  # exporters of objects in memory, and of notebooks


@pytest.fixture
def rows():
    return read_table(NEW, types={"zip": "text"})


def columns_of(text):
    read = list(csv.DictReader(io.StringIO(text)))
    return {name: [row[name] for row in read] for name in read[0]}


@pytest.mark.parametrize(
    "options", [[], ["--costs", "bad", "good", "4"], ["--balanced"], ["--preset", "c4.5"]]
)
def test_predict_is_the_classifier_s(run, options):
    run("fit", "loans.csv", "-t", "state", "-o", "m.hornbeam", "--nominal", "zip", *options)
    found = columns_of(
        run("predict", "m.hornbeam", NEW, "--interval", "0.8", "--keep", "id", "--leaf").stdout
    )
    clf = hornbeam.load("m.hornbeam")
    X = read_table(NEW, types={"zip": "text"}).select(list(clf.feature_names_in_))
    assert found["prediction"] == clf.predict(X).tolist()
    p, (low, high) = clf.predict_proba(X), clf.predict_interval(X, level=0.8)
    for at, label in enumerate(clf.classes_):
        for name, values in (("p", p), ("low", low), ("high", high)):
            assert np.array_equal(np.array(found[f"{name}_{label}"], float), values[:, at])
    assert found["id"][:2] == ["1601", "1602"]
    assert list(map(int, found["leaf"])) == clf.apply(X).tolist()


def test_predict_writes_parquet_and_json(run, model):
    run("predict", model, NEW, "-o", "answers.parquet")
    said = json.loads(run("predict", model, NEW, "--json").stdout)
    table = pq.read_table("answers.parquet")
    assert said["rows"] == table.num_rows == 200
    assert said["columns"] == table.to_pydict()


def test_columns_may_come_in_any_order_with_others(run, model, rows):
    straight = run("predict", model, NEW, "-q").stdout
    pa_csv.write_csv(rows.select(sorted(rows.column_names, reverse=True)), "turned.csv")
    assert run("predict", model, "turned.csv", "-q").stdout == straight


def test_unseen_categories_and_missing_values_are_predicted(run, model):
    Path("odd.csv").write_text("amount,income,age,purpose,owner,zip\n?,NA,,yacht,,99999\n", encoding="utf-8")
    found = columns_of(run("predict", model, "odd.csv").stdout)
    assert 0 < float(found["p_bad"][0]) < 1


def test_scores_are_those_of_the_library(run, model, rows):
    said = json.loads(run("score", model, NEW, "-t", "state", "--json").stdout)
    clf = hornbeam.load(model)
    p, y = clf.predict_proba(rows.select(list(clf.feature_names_in_))), rows["state"].to_pylist()
    assert said["rows"] == 200
    assert said["model"]["rmse"] == pytest.approx(rmse(y, p))
    assert said["model"]["log_loss"] == pytest.approx(log_loss(y, p))
    base = np.tile([210 / 600, 390 / 600], (200, 1))
    assert said["base_rate"]["rmse"] == pytest.approx(rmse(y, base))


def test_the_mean_cost_is_what_the_decisions_cost(run):
    run("fit", "loans.csv", "-t", "state", "-o", "m.hornbeam", "--costs", "bad", "good", "5")
    said = json.loads(run("score", "m.hornbeam", NEW, "-t", "state", "--json").stdout)
    given = columns_of(run("predict", "m.hornbeam", NEW, "--keep", "state").stdout)
    price = {("bad", "good"): 5, ("good", "bad"): 1}
    bill = sum(price.get(pair, 0) for pair in zip(given["state"], given["prediction"], strict=True))
    assert said["model"]["mean_cost"] == pytest.approx(bill / 200)
    # The base rate always says bad: 5 * 0.35 against 0.65.
    n_good = given["state"].count("good")
    assert said["base_rate"]["mean_cost"] == pytest.approx(n_good / 200)


def test_models_of_numbers_and_booleans_read_their_labels_back(run):
    Path("bits.csv").write_text(
        "x,y,z\n" + "".join(f"{i},{i % 2},{str(i % 3 == 0).lower()}\n" for i in range(60)), encoding="utf-8"
    )
    for target in ("y", "z"):
        assert run("fit", "bits.csv", "-t", target, "-o", "b.hornbeam").exit_code == 0
        assert run("score", "b.hornbeam", "bits.csv", "-t", target).exit_code == 0


def test_diff_ends_with_one_if_anything_differs(run, model):
    assert run("diff", model, model).stdout == "no difference\n"
    assert run("diff", model, model).exit_code == 0
    run("fit", "loans.csv", "-t", "state", "-o", "other.hornbeam", "--max-depth", "2", "--nominal", "zip")
    result = run("diff", model, "other.hornbeam")
    assert result.exit_code == 1
    assert "settings  max_depth: None, now 2" in result.stdout
    said = json.loads(run("diff", model, "other.hornbeam", "--json").stdout)
    assert said["differ"] is True
    assert "max_depth: None, now 2" in said["settings"]


def test_update_counts_and_drift_compares(run, model):
    assert run("update", model, NEW, "-t", "state", "-o", "july.hornbeam").exit_code == 0
    old, new = hornbeam.load(model).tree_, hornbeam.load("july.hornbeam").tree_
    assert (old.rows[0], new.rows[0]) == (600, 800)
    assert np.array_equal(old.skeleton.threshold, new.skeleton.threshold, equal_nan=True)
    said = json.loads(run("drift", model, NEW, "-t", "state", "--json").stdout)
    clf = hornbeam.load(model)
    rows = read_table(NEW, types={"zip": "text"})
    found = clf.drift(rows.select(list(clf.feature_names_in_)), rows["state"])
    assert said["stability_index"] == pytest.approx(found.stability_index)
    lines = run("drift", model, NEW, "-t", "state").stdout.splitlines()
    assert lines[0] == found.summary
    assert lines[-1] == f"... {len(found) - 30} more leaves, with smaller terms of the index; --json has all"
    assert len(lines) == 33
    assert len(set(said["leaves"]["node"])) == len(found) > 30
    largest = sorted(found.node[np.argsort(-found.psi, kind="stable")[:30]].tolist())
    assert [int(line.split()[0]) for line in lines[2:-1]] == largest
    assert run("drift", model, NEW, "--above", "0.0").exit_code == 1
    assert run("drift", model, NEW, "--above", "9.0").exit_code == 0


def test_show_says_what_the_model_is(run, model):
    lines = run("show", model, "--depth", "1").stdout.splitlines()
    assert "rows      600" in lines
    assert "classes   bad 35.0 %, good 65.0 %" in lines
    assert lines[-3] == "0) every row"
    said = json.loads(run("show", model, "--leaves", "--json").stdout)
    assert len(said["leaf_table"]["node"]) == 2 * said["leaves"]
    assert run("show", model, "--all").stdout.count(" leaves below)") == 0


def test_a_class_of_interest_is_shown_everywhere(run, model):
    tree = hornbeam.load(model).tree_
    label = str(tree.schema.classes[0])
    answers = [
        line for line in run("show", model, "--all", "--positive", label).stdout.splitlines() if "··" in line
    ]
    assert len(answers) == tree.n_leaves
    assert all(f" {label} 0." in line for line in answers)
    table = run("show", model, "--leaves", "--positive", label, "--by", "risk").stdout.split("rule\n")[1]
    risks = [float(line.split()[5]) for line in table.splitlines()]
    assert risks == sorted(risks, reverse=True)
    rules = run("rules", model, "--positive", label).stdout.splitlines()
    assert all(f"; {label} 0." in line for line in rules if line.lstrip().startswith("then"))
    refused = run("show", model, "--positive", "nobody")
    assert refused.exit_code != 0
    assert "expected one of the classes" in refused.stderr
    assert run("rules", model, "--positive", label, "--to", "sql").exit_code == 2


def test_stability_counts_changes(run, model):
    options = [model, "loans.csv", "-t", "state", "--refits", "2", "--jobs", "1"]
    said = json.loads(run("stability", *options, "--json").stdout)
    assert said["n_refits"] == 2
    assert said["n_rows"] == sum(said["leaves"]["rows"])
    assert 0 < said["changed_in_50_percent"] == said["changed_in_10_percent"] < said["n_rows"]
    shown = run("stability", *options, "--groups", "zip").stdout
    assert shown.startswith("2 refits on halves of ")
    assert "groups." in shown.splitlines()[0]
    assert run("stability", *options, "--only-seeds").stdout.startswith("2 refits with other seeds on all ")
    refused = run("stability", *options, "--groups", "moon")
    assert (refused.exit_code, "no column 'moon'" in refused.stderr) == (3, True)


def test_study_puts_the_methods_side_by_side(run):
    said = json.loads(run("study", "loans.csv", "-t", "state", "--folds", "3", "--json", "-q").stdout)
    methods = said["methods"]
    assert list(methods) == ["hornbeam", "CART, cost-complexity", "C4.5", "scikit-learn"]
    assert methods["hornbeam"]["rmse"] < methods["scikit-learn"]["rmse"]
    assert len(methods["C4.5"]["rmse_of_folds"]) == 3
    table = run("study", "loans.csv", "-t", "state", "--folds", "3", "-q").stdout.splitlines()
    assert table[0].split() == [
        "3",
        "folds",
        "RMSE",
        "log",
        "loss",
        "0-1",
        "loss",
        "leaves",
        "folds",
        "won-drawn-lost",
    ]
    assert f"{methods['hornbeam']['rmse']:.4f}" in table[1]


@pytest.mark.parametrize("options", [[], ["--node", "1", "--feature", "age"], ["--held-out", "loans.csv"]])
def test_candidates_are_those_of_the_library(run, model, options):
    from hornbeam import candidate_splits
    from hornbeam.data.files.tabular import read_table

    clf, table = hornbeam.load(model), read_table("loans.csv", types={"zip": "text"})
    X, y = table.select(list(clf.feature_names_in_)), table["state"]
    given = dict(zip(options[::2], options[1::2], strict=True))
    expected = candidate_splits(
        clf,
        X,
        y,
        int(given.get("--node", 0)),
        feature=given.get("--feature"),
        held_out=(X, y) if "--held-out" in given else None,
    )
    command = ("candidates", model, "loans.csv", "-t", "state", *options)
    assert run(*command).stdout == f"{expected}\n"
    said = json.loads(run(*command, "--json").stdout)
    assert said["rank"] == [split.rank for split in expected]
    assert said["feature"] == [split.feature for split in expected]


def test_explain_explains_the_chosen_row(run, model, rows):
    clf = hornbeam.load(model)
    why = clf.explain(rows.select(list(clf.feature_names_in_)))[2]
    assert run("explain", model, NEW, "--row", "3").stdout == f"row 3\n{why}\n"
    [said] = json.loads(run("explain", model, NEW, "--row", "3", "--json").stdout)["explanations"]
    assert said.pop("row") == 3
    assert said == json.loads(json.dumps(why.to_dict()))
    beyond = run("explain", model, NEW, "--row", "201")
    assert (beyond.exit_code, beyond.stderr) == (
        3,
        "hornbeam: There is no row 201 in 'new-loans.csv'; it has 200.\n",
    )


def test_every_exporter_is_a_target_or_makes_an_object():
    functions = {function for function, _, _ in _TARGETS.values()}
    assert functions == {name for name in exports.__all__ if name.startswith("to_")} - OBJECTS


@pytest.mark.parametrize("target", sorted(_TARGETS))
def test_every_target_is_written(run, model, target):
    if target in {"onnx", "sql"}:
        pytest.importorskip({"onnx": "onnx", "sql": "sqlglot"}[target])
    suffix = _TARGETS[target][1]
    assert run("export", model, "-o", f"tree{suffix}").exit_code == 0
    assert Path(f"tree{suffix}").stat().st_size > 100


def test_rules_are_the_classifier_s(run, model):
    rules = hornbeam.load(model).rules()
    assert run("rules", model).stdout == rules_text(rules) + "\n"
    assert run("rules", model, "--to", "markdown").stdout == rules_markdown(rules) + "\n"
    assert json.loads(run("rules", model, "--json").stdout) == rules_dict(rules)


def test_rules_as_sql_are_the_classifier_s(run, model):
    pytest.importorskip("sqlglot")
    rules = hornbeam.load(model).rules()
    lines = run("rules", model, "--to", "sql", "--dialect", "sqlite").stdout.splitlines()
    assert lines[1::2] == [f"WHERE {clause}" for clause in rules_where(rules, dialect="sqlite")]
    assert [line.split()[2] for line in lines[::2]] == [*map(rules.label, rules), "good"]


def test_the_form_of_rules_is_what_the_name_says(run, model):
    assert run("rules", model, "-o", "rules.json").stderr == "31 rules, saved as rules.json\n"
    assert json.loads(Path("rules.json").read_text(encoding="utf-8"))["format"] == "hornbeam-rule-list"


def test_simplified_rules_are_those_of_rule_classifier(run, model):
    clf = hornbeam.load(model)
    X = read_table("loans.csv", types={"zip": "text"})
    rules = hornbeam.RuleClassifier(clf.tree_).fit(X.select(list(clf.feature_names_in_)), X["state"]).rules_
    said = run("rules", model, "--simplify", "loans.csv", "-t", "state").stdout
    assert said == rules_text(rules) + "\n"
    assert 1 < len(rules) < clf.tree_.n_leaves
