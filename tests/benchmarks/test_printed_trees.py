"""The page of printed trees has what the committed results have."""

import pytest

pytest.importorskip("matplotlib", reason="the tables of the guide need what the studies need")

from benchmarks.quality import printed_trees


def test_the_page_has_the_trees_and_tables_of_the_file():
    text, records = printed_trees.PAGE.read_text(encoding="utf-8"), printed_trees.read()
    assert {record["set"] for record in records} == set(printed_trees.SETS)
    for record in records:
        for part in printed_trees.parts(record).values():
            assert part in text


def test_a_table_by_hand():
    models = {
        "tree": {"leaves": 6.0, "RMSE": 0.25, "log loss": 0.5, "0-1 loss": 0.125},
        "forest": {"leaves": None, "RMSE": 0.2, "log loss": 0.4, "0-1 loss": 0.1},
    }
    record = {"set": "a", "models": models, "tree": "0) every row\n", "row": "yes 0.9\n"}
    assert printed_trees.parts(record) == {
        "a-tree": "```text\n0) every row\n```",
        "a-row": "```text\nyes 0.9\n```",
        "a-losses": "| model | leaves | RMSE | log loss | 0-1 loss |\n| --- | --: | --: | --: | --: |\n"
        "| tree | 6 | 0.2500 | 0.5000 | 0.1250 |\n| forest |  | 0.2000 | 0.4000 | 0.1000 |",
    }
