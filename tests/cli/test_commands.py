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
from hornbeam.evaluation import compare, log_loss, probability_rmse
from hornbeam.explain.scorecard import scorecard

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
    "options", [[], ["--costs", "bad", "good", "4"], ["--class-weight", "balanced"], ["--preset", "c4.5"]]
)
def test_predict_is_the_classifier_s(run, options):
    run("fit", "loans.csv", "-t", "state", "-o", "m.hornbeam", "--nominal", "zip", *options)
    found = columns_of(run("predict", "m.hornbeam", NEW, "--level", "0.8", "--keep", "id", "--leaf").stdout)
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
    assert said["model"]["probability_rmse"] == pytest.approx(probability_rmse(y, p))
    assert said["model"]["log_loss"] == pytest.approx(log_loss(y, p))
    share = np.mean(np.array(y) == "bad")
    base = np.tile([share, 1 - share], (200, 1))
    assert said["baseline"]["probability_rmse"] == pytest.approx(probability_rmse(y, base))


@pytest.mark.parametrize("name", ["ForestClassifier", "BoostedTreesClassifier", "RuleClassifier"])
def test_models_of_every_kind_are_scored(run, rows, name):
    size = {} if name == "RuleClassifier" else {"n_estimators": 3}
    X, y = rows.select(["amount", "age", "purpose"]), rows["state"].to_pylist()
    clf = getattr(hornbeam, name)(**size).fit(X, y)
    hornbeam.save(clf, "many.hornbeam")
    said = json.loads(run("score", "many.hornbeam", NEW, "-t", "state", "--json").stdout)
    assert said["model"]["log_loss"] == pytest.approx(log_loss(y, clf.predict_proba(X)))


def test_models_and_columns_are_compared(run, rows, model):
    pytest.importorskip("matplotlib")
    X, y = rows.select(["amount", "age", "purpose"]), np.array(rows["state"].to_pylist())
    forest = hornbeam.ForestClassifier(n_estimators=3).fit(X, y)
    hornbeam.save(forest, "forest.hornbeam")
    tree = hornbeam.load(model)
    p = {
        "loans": tree.predict_proba(rows.select(list(tree.feature_names_in_))),
        "forest": forest.predict_proba(X),
    }
    other = np.round(p["forest"][:, 0] / 2, 3)
    with_other = rows.append_column("p_other", [other])
    pa_csv.write_csv(with_other, "scored.csv")
    options = ["--positive", "bad", "--threshold", "0.3", "--groups", "age", "--costs", "bad", "good", "5"]
    of_models = run("compare", model, "forest.hornbeam", "scored.csv", "-t", "state", "--probability", "p_other",
                    *options, "--subgroups", "owner", "--json", "--plot", "compared.svg")  # fmt: skip
    assert of_models.exit_code == 0, of_models.stderr
    p = {name: values[:, 0] for name, values in p.items()} | {"p_other": other}
    settings = {
        "positive": "bad",
        "thresholds": 0.3,
        "groups": rows["age"].to_pylist(),
        "costs": {("bad", "good"): 5},
    }
    wanted = compare(y, p, subgroups=rows["owner"].to_pylist(), **settings).to_dict()
    said = json.loads(of_models.stdout)["scores"]
    for name in ("score", "model", "rows"):
        assert said[name] == wanted[name]
    for name in ("value", "low", "difference_high"):
        values = [np.nan if value is None else value for value in said[name]]
        np.testing.assert_allclose(values, wanted[name], rtol=1e-9)
    assert Path("compared.svg").read_bytes()[:5] == b"<?xml"
    alone = run("compare", "scored.csv", "-t", "state", "--probability", "p_other", *options)
    assert alone.stdout.strip() == str(compare(y, {"p_other": other}, **settings))


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        ([NEW, "-t", "state"], 2, "Nothing to compare"),
        ([NEW, "-t", "stat", "--probability", "age"], 3, "no column 'stat'"),
        ([NEW, "-t", "state", "--probability", "p"], 3, "no column 'p'"),
        ([NEW, "-t", "state", "--probability", "age"], 3, "'age': Probabilities"),
        (["loans.hornbeam", NEW, "-t", "state", "--positive", "worse"], 3, "positive='worse'"),
        (["loans.hornbeam", NEW, "-t", "state", "--plot", "a.gif"], 2, "expected a name that ends in"),
        (["loans.hornbeam", "-", "-t", "state", "--probability", "p"], 2, "cannot be -"),
        (["numbers.hornbeam", NEW, "-t", "state"], 3, "predicts a number"),
        (["loans.hornbeam", "other.hornbeam", NEW, "-t", "state"], 3, "predicts the classes"),
    ],
)
def test_a_wrong_comparison_is_refused(run, rows, model, args, code, words):
    X = rows.select(["amount", "age"])
    hornbeam.save(hornbeam.TreeRegressor("cart").fit(X, range(len(X))), "numbers.hornbeam")
    hornbeam.save(hornbeam.TreeClassifier("cart").fit(X, rows["purpose"]), "other.hornbeam")
    found = run("compare", *args)
    assert found.exit_code == code
    assert words in found.stderr


def test_the_mean_cost_is_what_the_decisions_cost(run):
    run("fit", "loans.csv", "-t", "state", "-o", "m.hornbeam", "--costs", "bad", "good", "5")
    said = json.loads(run("score", "m.hornbeam", NEW, "-t", "state", "--json").stdout)
    given = columns_of(run("predict", "m.hornbeam", NEW, "--keep", "state").stdout)
    price = {("bad", "good"): 5, ("good", "bad"): 1}
    bill = sum(price.get(pair, 0) for pair in zip(given["state"], given["prediction"], strict=True))
    assert said["model"]["mean_cost"] == pytest.approx(bill / 200)
    # The baseline always decides for bad: a third of the rows costs 5 each otherwise.
    n_good = given["state"].count("good")
    assert said["baseline"]["mean_cost"] == pytest.approx(n_good / 200)


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


def test_probabilities_within_atol_are_equal(run, model):
    run("update", model, NEW, "-t", "state", "-o", "july.hornbeam")
    command = ("diff", model, "july.hornbeam", "--json")
    exact, rough = (json.loads(run(*command, *given).stdout)["belief"] for given in ([], ["--atol", "1"]))
    assert not all("borrows" in line for line in exact)
    assert all("borrows" in line for line in rough)


def test_forget_undoes_an_update(run, model):
    run("update", model, NEW, "-t", "state", "-o", "july.hornbeam")
    done = run("forget", "july.hornbeam", NEW, "-t", "state", "-o", "again.hornbeam")
    assert (done.exit_code, done.stderr) == (0, "200 rows removed, saved as again.hornbeam\n")
    old, new = hornbeam.load(model).tree_, hornbeam.load("again.hornbeam").tree_
    assert np.array_equal(old.evidence, new.evidence)


@pytest.mark.parametrize("command", ["score", "drift", "update", "forget"])
def test_weights_are_those_of_the_column(run, model, command):
    """Weights of two count every row twice."""
    text = Path("loans.csv").read_text(encoding="utf-8").splitlines()
    Path("twice.csv").write_text("\n".join([*text, *text[1:]]), encoding="utf-8")
    weighted = [f"{text[0]},w", *(f"{line},2" for line in text[1:])]
    Path("weighted.csv").write_text("\n".join(weighted), encoding="utf-8")
    if command == "forget":
        assert run("update", model, "twice.csv", "-t", "state", "-o", model).exit_code == 0
    found = []
    for data, options in (("twice.csv", []), ("weighted.csv", ["--weight", "w"])):
        output = ["-o", "m.hornbeam"] if command in ("update", "forget") else []
        done = run(command, model, data, "-t", "state", "--json", *options, *output)
        assert done.exit_code == 0
        said = json.loads(done.stdout)
        counted = hornbeam.load("m.hornbeam").tree_.evidence if output else None
        found.append({"score": said.get("model"), "drift": said.get("stability_index")}.get(command, counted))
    assert found[0] == pytest.approx(found[1])


def test_a_scorecard_is_the_classifier_s(run, model):
    card = scorecard(hornbeam.load(model), positive="good", base_points=500)
    command = ("scorecard", model, "--positive", "good", "--base-points", "500")
    assert run(*command).stdout == f"{card.to_markdown()}\n"
    written = json.loads(run(*command, "--json").stdout)
    assert written == json.loads(run(*command, "--to", "json").stdout)
    assert [*written] == ["positive", "offset", "factor", "segments"]
    assert (written["positive"], written["offset"], written["factor"]) == ("good", card.offset, card.factor)
    assert written["segments"] == [{**one.to_dict(), "terms": []} for one in card]
    assert run(*command, "-o", "card.html").stderr == f"{len(card)} segments, saved as card.html\n"
    assert Path("card.html").read_text(encoding="utf-8") == f"{card.to_html()}\n"
    binned = scorecard(hornbeam.load(model), positive="good", base_points=500, bins=True)
    run(*command, "--bins", "-o", "card.csv")
    assert Path("card.csv").read_bytes() == binned.to_csv().encode()
    refused = run(*command, "--dialect", "sqlite")
    assert (refused.exit_code, "--dialect has no effect with --to markdown" in refused.stderr) == (2, True)


def test_a_scorecard_as_json_has_the_numbers_of_terms(run):
    run("fit", "loans.csv", "-t", "state", "-o", "sloped", "--slopes", "2", "--max-leaf-nodes", "4")
    written = json.loads(run("scorecard", "sloped", "--to", "json").stdout)
    expected = [segment.to_dict() for segment in scorecard(hornbeam.load("sloped"))]
    assert written["segments"] == [{**one, "terms": [*one["terms"]]} for one in expected]
    assert isinstance(written["segments"][0]["terms"][0]["points"], float)


def test_points_that_are_not_finite_are_null(run):
    Path("two.csv").write_text("x,y\n" + "1,no\n" * 9 + "3,yes\n" * 9, encoding="utf-8")
    run("fit", "two.csv", "-t", "y", "-o", "two", "--preset", "cart", "--smoothing", "none")
    written = json.loads(run("scorecard", "two", "--to", "json").stdout)
    assert [segment["points"] for segment in written["segments"]] == [None, None, 487]


def test_a_scorecard_as_sql_is_the_classifier_s(run, model):
    pytest.importorskip("sqlglot")
    expected = scorecard(hornbeam.load(model)).to_sql(dialect="sqlite", table="loans", reasons=3)
    command = ("scorecard", model, "--to", "sql", "--dialect", "sqlite", "--table", "loans", "--reasons", "3")
    assert run(*command).stdout == f"{expected}\n"


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
    assert len(said["leaves"]["node"]) == len(found) > 30
    largest = sorted(found.node[np.argsort(-found.psi, kind="stable")[:30]].tolist())
    assert [int(line.split()[0]) for line in lines[2:-1]] == largest
    assert run("drift", model, NEW, "--above", "0.0").exit_code == 1
    assert run("drift", model, NEW, "--above", "9.0").exit_code == 0


def test_show_says_what_the_model_is(run, model):
    lines = run("show", model, "--max-depth", "1").stdout.splitlines()
    assert "rows      600" in lines
    assert "classes   bad 35.0 %, good 65.0 %" in lines
    assert lines[-3] == "0) every row"
    said = json.loads(run("show", model, "--leaves", "--json").stdout)
    assert len(said["leaf_table"]["node"]) == said["leaves"]
    assert run("show", model, "--all").stdout.count(" leaves below)") == 0
    narrow = hornbeam.load(model).leaves(level=0.5)
    assert run("show", model, "--leaves", "--level", "0.5").stdout.endswith(f"\n\n{narrow}\n")


def test_a_class_of_interest_is_shown_everywhere(run, model):
    tree = hornbeam.load(model).tree_
    label = str(tree.schema.classes[0])
    answers = [
        line for line in run("show", model, "--all", "--positive", label).stdout.splitlines() if "··" in line
    ]
    assert len(answers) == tree.n_leaves
    assert all(f" P({label}) 0." in line for line in answers)
    table = run("show", model, "--leaves", "--positive", label, "--by", "risk").stdout.split("rule\n")[1]
    risks = [float(line.split()[5]) for line in table.splitlines()]
    assert risks == sorted(risks, reverse=True)
    rules = run("rules", model, "--positive", label).stdout.splitlines()
    assert all(f", P({label}) 0." in line for line in rules if line.lstrip().startswith("then"))
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


def test_study_of_the_paper(run):
    options = ["study", "loans.csv", "-t", "state", "--folds", "2", "--methods", "paper", "--json", "-q"]
    methods = json.loads(run(*options).stdout)["methods"]
    assert list(methods) == ["HGS", "HDP", "M-branch", "M-estimation", "Laplace", "MLE"]
    assert len({one["leaves"] for one in methods.values()}) == 1, "one tree"
    assert methods["HGS"]["rmse"] < methods["MLE"]["rmse"]


@pytest.mark.filterwarnings("default:Bayes-risk pruning compares")
def test_published_forms_by_name_and_a_rule_that_cannot_cut(run, tmp_path):
    fit = ["fit", "loans.csv", "-t", "state", "-o", str(tmp_path / "model.hornbeam"), "--preset"]
    forms = ["--smoothing", "hgs-published", "--pruning", "bayes-risk-note"]
    assert "Bayes-risk pruning" not in run(*fit, "c4.4", *forms).stderr
    history = hornbeam.load(tmp_path / "model.hornbeam").tree_.history
    assert [step.name for step in history] == ["grow", "bayes-risk", "gradient-hgs"]
    said = run(*fit, "cart", "--pruning", "bayes-risk").stderr
    assert "warning: Bayes-risk pruning compares training frequencies here. The risk of a node" in said
    assert "so only splits that change no prediction are removed" in said
    assert ".py:" not in said


@pytest.mark.parametrize("options", [[], ["--node", "1", "--feature", "age"], ["--held-out", "loans.csv"]])
def test_candidates_are_those_of_the_library(run, model, options):
    from hornbeam.data.files.tabular import read_table
    from hornbeam.explain.candidates.list_splits import candidate_splits

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
    narrow = clf.explain(rows.select(list(clf.feature_names_in_)), level=0.5)[2]
    assert run("explain", model, NEW, "--row", "3", "--level", "0.5").stdout == f"row 3\n{narrow}\n"
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
    assert run("rules", model).stdout == rules.to_text() + "\n"
    assert run("rules", model, "--to", "markdown").stdout == rules.to_markdown() + "\n"
    assert run("rules", model, "--level", "0.5").stdout == rules.to_text(level=0.5) + "\n"
    assert json.loads(run("rules", model, "--json").stdout) == json.loads(rules.to_json())


def test_rules_as_sql_are_the_classifier_s(run, model):
    pytest.importorskip("sqlglot")
    rules = hornbeam.load(model).rules()
    lines = run("rules", model, "--to", "sql", "--dialect", "sqlite").stdout.splitlines()
    assert lines[1::2] == [f"WHERE {clause}" for clause in rules.to_sql(dialect="sqlite")]
    assert [line.split()[2] for line in lines[::2]] == [*(rule.prediction for rule in rules), "good"]


def test_the_form_of_rules_is_what_the_name_says(run, model):
    assert run("rules", model, "-o", "rules.json").stderr == "31 rules, saved as rules.json\n"
    assert json.loads(Path("rules.json").read_text(encoding="utf-8"))["format"] == "hornbeam-rule-list"


def test_simplified_rules_are_those_of_rule_classifier(run, model):
    clf = hornbeam.load(model)
    X = read_table("loans.csv", types={"zip": "text"})
    rules = hornbeam.RuleClassifier(clf.tree_).fit(X.select(list(clf.feature_names_in_)), X["state"]).rules_
    said = run("rules", model, "--simplify", "loans.csv", "-t", "state").stdout
    assert said == rules.to_text() + "\n"
    assert 1 < len(rules) < clf.tree_.n_leaves


@pytest.mark.parametrize(
    ("words", "output"),
    [
        ("fit loans.csv --target state", "loans.csv"),
        ("predict loans.hornbeam loans.csv", "loans.csv"),
        ("predict loans.hornbeam loans.csv", "./loans.hornbeam"),
        ("report loans.hornbeam loans.csv --target state", "loans.csv"),
        ("update loans.hornbeam loans.csv --target state", "loans.csv"),
        ("export loans.hornbeam --to c", "loans.hornbeam"),
    ],
)
def test_no_input_is_overwritten(run, model, words, output):
    before = {path: Path(path).read_bytes() for path in ("loans.csv", model)}
    done = run(*words.split(), "-o", output)
    assert done.exit_code == 2
    assert "is an input, which would be overwritten: name another file" in done.stderr
    assert {path: Path(path).read_bytes() for path in before} == before


def test_an_update_may_replace_its_model(run, model):
    for command in ("update", "forget"):
        done = run(command, model, "loans.csv", "--target", "state", "-o", model)
        assert done.exit_code == 0, done.stderr


def test_the_workbench_fits_with_the_options_of_fit(run, model, monkeypatch):
    """The server itself runs in tests/web_editor; in a thread it would outlive the streams of this command."""
    pytest.importorskip("starlette")
    opened = []

    def start(estimator, X, y, **settings):
        opened.append((estimator, settings))
        raise KeyboardInterrupt

    monkeypatch.setattr("hornbeam.workbench", start, raising=False)
    options = [
        "--positive",
        "bad",
        "--costs",
        "bad",
        "good",
        "5",
        "--monotonic-cst",
        "income",
        "-1",
        "--preset",
        "cart",
    ]
    run("workbench", "loans.csv", "-t", "state", "--max-leaf-nodes", "6", "--no-browser", *options)
    [(estimator, settings)] = opened
    assert estimator.preset == "cart"
    assert estimator.monotonic_cst == {"income": -1}
    assert estimator.costs == {("bad", "good"): 5.0}
    assert estimator.tree_.n_leaves <= 6
    assert settings["positive"] == "bad"
    assert settings["data"] == "loans.csv, target state"
    refused = run("workbench", "loans.csv", "-t", "state", "--model", model, "--preset", "cart")
    assert refused.exit_code == 2
    assert "--preset is for a tree that is fitted" in refused.stderr
    numeric = run("workbench", "loans.csv", "-t", "amount", "--costs", "1", "2", "5")
    assert numeric.exit_code == 2
    assert "--costs is for classes" in numeric.stderr


def test_a_column_with_one_bad_cell_is_left_out_with_advice(run):
    lines = Path("loans.csv").read_text(encoding="utf-8").splitlines()
    cells = lines[5].split(",")
    cells[2] = "unclear"
    Path("bad.csv").write_text("\n".join([*lines[:5], ",".join(cells), *lines[6:]]), encoding="utf-8")
    done = run("fit", "bad.csv", "-t", "state", "-o", "m.hornbeam")
    assert (
        "'amount' holds numbers, but for 1 of 600 cells, which --null-value TEXT reads as missing"
        in done.stderr
    )
    done = run("fit", "bad.csv", "-t", "state", "-o", "m.hornbeam", "--null-value", "unclear")
    assert "but for" not in done.stderr
    assert "missing   amount 1" in done.stderr


@pytest.mark.parametrize("output", ["model.csv", "model.HTML", "model.onnx"])
def test_the_ending_of_a_model_is_not_that_of_another_file(run, output):
    refused = run("fit", "loans.csv", "-t", "state", "-o", output)
    assert refused.exit_code == 2
    assert "name it model.hornbeam" in refused.stderr
    assert not Path(output).exists()
