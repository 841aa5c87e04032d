"""Rules for people, for programs, and in real databases: everywhere the same rows."""

import json
import re

import numpy as np
import pytest
from hostile import SURROGATES, hostile_trees, spoken

from hornbeam import RuleClassifier, Table
from hornbeam.data.schema import Feature, Kind
from hornbeam.errors import ParameterError
from hornbeam.export import condition_text, rules_dict, rules_markdown, rules_text, rules_where
from hornbeam.recipe import PRESETS
from hornbeam.rules import extract
from hornbeam.tree import Condition
from parity import batches, models, values

AGE = Feature("age")
COLOURS = Feature("colour", Kind.NOMINAL, ("blue", "green", "red"))
SIZES = Feature("size", Kind.ORDINAL, ("S", "M", "L"))


@pytest.mark.parametrize(
    ("condition", "words"),
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
def test_a_condition_in_words(condition, words):
    assert condition_text(condition) == words


def test_rules_name_every_category():
    many = Feature("town", Kind.NOMINAL, tuple(f"t{code:02}" for code in range(60)))
    told = condition_text(Condition(0, many, among=tuple(range(30))))
    assert told == f"town in {{{', '.join(many.categories[:30])}}}"
    told = condition_text(Condition(0, many, among=tuple(range(1, 59)), missing=True))
    assert told == "town not in {t00, t59} or missing"


def test_rules_of_a_class_of_interest():
    rules = extract(models(0)[0][0])
    label = rules.schema.classes[0]
    for rule, line in zip(rules, rules_text(rules, positive=label).splitlines()[1::2], strict=False):
        assert f"{rule.belief[0]:.3f}" in line or rule.belief[0] > 0.999
    assert f"probability of `{label}`" in rules_markdown(rules, positive=label).splitlines()[0]
    with pytest.raises(ParameterError, match="positive='nobody': expected one of the classes"):
        rules_markdown(rules, positive="nobody")


def test_long_sets_are_cut():
    assert condition_text(Condition(1, COLOURS, among=(0, 1, 2)), 2) == "colour in {blue, green, … 1 more}"
    with pytest.raises(ParameterError, match="max_categories is 0"):
        rules_text(extract(models(0)[0][0]), max_categories=0)


def read_back(plain, row):
    """What a program makes of the plain values, by the text that goes with them."""
    kinds = {f["name"]: f for f in plain["features"]}
    cells = dict(zip(kinds, row, strict=True))

    def holds(condition):
        value, feature = cells[condition["feature"]], kinds[condition["feature"]]
        missing = value is None or (feature["kind"] == "ordinal" and value not in feature["categories"])
        if missing:
            return condition.get("missing", False)
        asked = [name for name in ("at_most", "above", "in", "known") if name in condition]
        return bool(asked) and all(
            value <= condition[name] if name == "at_most"
            else value > condition[name] if name == "above"
            else name == "known" or value in condition["in"]
            for name in asked
        )  # fmt: skip

    for rule in plain["rules"]:
        if all(map(holds, rule["if"])):
            return rule["probabilities"]
    return plain["default"]["probabilities"]


@batches
def test_plain_values_say_it_all(first):
    for tree, table in models(first):
        rules, some = extract(tree, inner=True), table.slice(0, 120)
        plain = json.loads(json.dumps(rules_dict(rules), allow_nan=False))
        said = [read_back(plain, row) for row in values(some)]
        assert (np.array(said) == rules.answer(some)).all()


def test_text_and_markdown_have_a_place_for_each_rule():
    for tree, _ in hostile_trees():
        rules = extract(tree)
        lines = rules_text(rules).splitlines()
        assert len(lines) == 2 * len(rules) + 1
        assert [int(line.partition(".")[0]) for line in lines[:-1:2]] == list(range(1, len(rules) + 1))
        table = rules_markdown(rules).splitlines()
        assert len(table) == len(rules) + 3
        assert {len(re.findall(r"(?<!\\)\|", line)) for line in table} == {9}


def test_a_list_with_no_rules():
    rules = RuleClassifier().fit([[0.0], [1.0]], ["a", "a"]).rules_
    assert rules_text(rules) == "otherwise a, 1.000 (0.342 to 1.000); covers 2 rows, 0 wrong; decides 2"


# ---- databases


def asked_of_databases(database, rules, table, columns=None, qualified=False):
    """The rows that each clause finds, by their number."""
    import databases

    names = [(columns or {}).get(name, name) for name in rules.schema.names]
    clauses = rules_where(rules, dialect=database, columns=columns, table="rows" if qualified else None)
    parts = [f'SELECT {at}, "row id" FROM rows WHERE {clause}' for at, clause in enumerate(clauses)]
    found = [set() for _ in clauses]
    for begin in range(0, len(parts), 100):  # databases have a limit
        query = " UNION ALL ".join(parts[begin : begin + 100])
        for at, row in databases.run(database, query, names, rules.schema.features, databases.rows_of(table)):
            found[at].add(row)
    return found


def covered(rules, table):
    held = [
        np.logical_and.reduce([c.holds_in(table.columns[c.column]) for c in rule.conditions])
        for rule in rules
    ]
    return [set(np.flatnonzero(rows).tolist()) for rows in held]


@pytest.mark.parametrize("database", ["sqlite", "duckdb"])
def test_clauses_find_the_rows_that_meet_the_conditions(database):
    pytest.importorskip("sqlglot")
    pytest.importorskip("duckdb")
    for tree, table in models(0)[:12]:
        rules, some = extract(tree, inner=True), table.slice(0, 200)
        assert asked_of_databases(database, rules, some) == covered(rules, some)


@pytest.mark.parametrize("database", ["sqlite", "duckdb"])
def test_clauses_of_hostile_names(database):
    pytest.importorskip("sqlglot")
    pytest.importorskip("duckdb")
    for tree, table in hostile_trees():
        rules = extract(tree)
        found = asked_of_databases(database, rules, table, spoken(tree, database), qualified=True)
        assert found == covered(rules, table)


def test_names_that_no_database_has_are_refused():
    pytest.importorskip("sqlglot")
    for name in ("", "a\0b", *SURROGATES):
        table = Table.read([[0.0]] * 9 + [[1.0]] * 9, ["a"] * 9 + ["b"] * 9, feature_names=[name])
        rules = extract(PRESETS["c4.5"].fit(table))
        with pytest.raises(ValueError, match=r"Say what|Rename"):
            rules_where(rules)


def test_a_rule_without_conditions_finds_everybody():
    pytest.importorskip("sqlglot")
    rules = RuleClassifier().fit([[0.0]] * 9 + [[1.0]] * 9, ["a"] * 9 + ["b"] * 9).rules_
    always = type(rules)(rules.schema, (rules.default,), rules.default)
    assert rules_where(always, dialect="duckdb") == ["TRUE"]
