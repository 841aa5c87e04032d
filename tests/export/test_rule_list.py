"""Rules as text, as plain values, and as conditions in databases."""

import json
import re

import numpy as np
import pytest
from hostile import SURROGATES, column_names, hostile_trees
from random_models import batches, models, values

from hornbeam import RuleClassifier
from hornbeam.data.schema import Feature, Kind
from hornbeam.errors import ParameterError
from hornbeam.recipe import PRESETS
from hornbeam.rules.extract import extract
from hornbeam.tree import Condition, Table

AGE = Feature("age")
COLOURS = Feature("colour", Kind.NOMINAL, ("blue", "green", "red"))
SIZES = Feature("size", Kind.ORDINAL, ("S", "M", "L"))


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        (Condition(0, AGE, at_most=30.5), "age ≤ 30.5"),
        (Condition(0, AGE, above=30.0), "age > 30"),
        (Condition(0, AGE, above=1.0, at_most=2.0), "1 < age ≤ 2"),
        (Condition(0, AGE, above=1.0, missing=True), "age > 1 or missing"),
        (Condition(0, AGE), "age known"),
        (Condition(0, AGE, among=(), missing=True), "age missing"),
        (Condition(0, AGE, among=()), "age impossible"),
        (Condition(0, AGE, missing=True), "age known or missing"),
        (Condition(1, COLOURS, among=(2,)), "colour = red"),
        (Condition(1, COLOURS, among=(0, 2), missing=True), "colour in {blue, red} or missing"),
        (Condition(1, COLOURS, among=()), "colour impossible"),
        (Condition(2, SIZES, above=0.5, at_most=1.5), "S < size ≤ M"),
    ],
)
def test_the_text_of_a_condition(condition, text):
    assert str(condition) == text


def test_rules_name_every_category():
    many = Feature("town", Kind.NOMINAL, tuple(f"t{code:02}" for code in range(60)))
    text = str(Condition(0, many, among=tuple(range(30))))
    assert text == f"town in {{{', '.join(many.categories[:30])}}}"
    text = str(Condition(0, many, among=tuple(range(1, 59)), missing=True))
    assert text == "town not in {t00, t59} or missing"


def test_rules_have_the_probability_of_the_class_of_interest():
    rules = extract(models(0)[0][0])
    label = rules.schema.classes[0]
    for rule, line in zip(rules, rules.to_text(positive=label).splitlines()[1::2], strict=False):
        assert f"{rule.probability[0]:.3f}" in line or rule.probability[0] > 0.999
    assert f"`P({label})`" in rules.to_markdown(positive=label).splitlines()[0]
    with pytest.raises(ParameterError, match="positive='never': expected one of the classes"):
        rules.to_markdown(positive="never")


def test_long_sets_are_cut():
    assert Condition(1, COLOURS, among=(0, 1, 2)).text(2) == "colour in {blue, green, … 1 more}"
    with pytest.raises(ParameterError, match="max_categories=0: expected a whole number"):
        extract(models(0)[0][0]).to_text(max_categories=0)


def read_back(plain, row):
    """Predict a row with the plain values, as their field `reading` explains."""
    kinds = {f["name"]: f for f in plain["features"]}
    cells = dict(zip(kinds, row, strict=True))

    def holds(condition):
        value, feature = cells[condition["feature"]], kinds[condition["feature"]]
        missing = value is None or (feature["kind"] == "ordinal" and value not in feature["categories"])
        if missing:
            return condition.get("missing", False)
        fields = [name for name in ("at_most", "above", "in", "known") if name in condition]
        return bool(fields) and all(
            value <= condition[name] if name == "at_most"
            else value > condition[name] if name == "above"
            else name == "known" or value in condition["in"]
            for name in fields
        )  # fmt: skip

    for rule in plain["rules"]:
        if all(map(holds, rule["if"])):
            return rule["probabilities"]
    return plain["default"]["probabilities"]


@batches
def test_plain_values_are_enough_to_predict(first):
    for tree, table in models(first):
        rules, some = extract(tree, inner=True), table.slice(0, 120)
        plain = json.loads(rules.to_json())
        predicted = [read_back(plain, row) for row in values(some)]
        assert (np.array(predicted) == rules.predict_proba(some)).all()


def test_text_and_markdown_have_lines_for_each_rule():
    for tree, _ in hostile_trees():
        rules = extract(tree)
        lines = rules.to_text().splitlines()
        assert len(lines) == 2 * len(rules) + 1
        assert [int(line.partition(".")[0]) for line in lines[:-1:2]] == list(range(1, len(rules) + 1))
        table = rules.to_markdown().splitlines()
        assert len(table) == len(rules) + 3
        assert {len(re.findall(r"(?<!\\)\|", line)) for line in table} == {9}


def test_a_list_without_rules():
    rules = RuleClassifier().fit([[0.0], [1.0]], ["a", "a"]).rules_
    assert rules.to_text() == "otherwise a, 1.000 (0.342 to 1.000); covers 2 rows, 0 wrong; decides 2"


# ---- databases


def rows_found(database, rules, table, columns=None, qualified=False):
    """The numbers of the rows that each clause finds."""
    import databases

    names = [(columns or {}).get(name, name) for name in rules.schema.names]
    clauses = rules.to_sql(dialect=database, columns=columns, table="rows" if qualified else None)
    parts = [f'SELECT {at}, "row id" FROM rows WHERE {clause}' for at, clause in enumerate(clauses)]
    found = [set() for _ in clauses]
    for begin in range(0, len(parts), 100):  # databases have a limit
        query = " UNION ALL ".join(parts[begin : begin + 100])
        for at, row in databases.run_query(
            database, query, names, rules.schema.features, databases.rows_of(table)
        ):
            found[at].add(row)
    return found


def covered(rules, table):
    holds = [
        np.logical_and.reduce([c.holds_in(table.columns[c.column]) for c in rule.conditions])
        for rule in rules
    ]
    return [set(np.flatnonzero(rows).tolist()) for rows in holds]


@pytest.mark.parametrize("database", ["sqlite", "duckdb"])
def test_clauses_find_the_rows_that_meet_the_conditions(database):
    pytest.importorskip("sqlglot")
    pytest.importorskip("duckdb")
    for tree, table in models(0)[:12]:
        rules, some = extract(tree, inner=True), table.slice(0, 200)
        assert rows_found(database, rules, some) == covered(rules, some)


@pytest.mark.parametrize("database", ["sqlite", "duckdb"])
def test_clauses_of_hostile_names(database):
    pytest.importorskip("sqlglot")
    pytest.importorskip("duckdb")
    for tree, table in hostile_trees():
        rules = extract(tree)
        found = rows_found(database, rules, table, column_names(tree, database), qualified=True)
        assert found == covered(rules, table)


def test_names_that_no_database_has_raise():
    pytest.importorskip("sqlglot")
    for name in ("", "a\0b", *SURROGATES):
        table = Table.read([[0.0]] * 9 + [[1.0]] * 9, ["a"] * 9 + ["b"] * 9, feature_names=[name])
        rules = extract(PRESETS["c4.5"].fit(table))
        with pytest.raises(ValueError, match=r"Pass the name|Rename"):
            rules.to_sql()


def test_a_rule_without_conditions_finds_every_row():
    pytest.importorskip("sqlglot")
    rules = RuleClassifier().fit([[0.0]] * 9 + [[1.0]] * 9, ["a"] * 9 + ["b"] * 9).rules_
    always = type(rules)(rules.schema, (rules.default,), rules.default)
    assert always.to_sql(dialect="duckdb") == ["TRUE"]
