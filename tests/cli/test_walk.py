"""What a new user does: from a CSV file to a model in C and in a database, in nine command lines."""

import csv
import ctypes
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import hornbeam

pytest.importorskip("sqlglot")
duckdb = pytest.importorskip("duckdb")


def shell(line: str) -> str:
    words = line.split()
    if words[0] == "hornbeam":
        words[:1] = [sys.executable, "-m", "hornbeam"]
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.long
def test_from_a_csv_file_to_c_and_sql(run):
    shell("hornbeam fit loans.csv --target state --nominal zip -o loans.hornbeam")
    assert "baseline" in shell("hornbeam score loans.hornbeam new-loans.csv --target state")
    shell("hornbeam predict loans.hornbeam new-loans.csv -o answers.csv")
    shell("hornbeam report loans.hornbeam new-loans.csv --target state -o report.html")
    assert "<html" in Path("report.html").read_text(encoding="utf-8")[:2000]
    shell("hornbeam export loans.hornbeam -o loans.c --vectors new-loans.csv")
    shell("gcc -std=c99 -O1 -shared -fPIC loans.c -o loans.so")
    shell("gcc -std=c99 -DTREE_TEST loans.c -o check")
    shell("./check")
    shell("hornbeam export loans.hornbeam -o sqlite.sql --dialect sqlite --table loans --keep id")
    shell("hornbeam export loans.hornbeam -o duckdb.sql --dialect duckdb --table loans --keep id")

    with Path("answers.csv").open(encoding="utf-8", newline="") as file:
        answers = list(csv.DictReader(file))
    expected = [(row["prediction"], float(row["p_bad"]), float(row["p_good"])) for row in answers]
    with Path("new-loans.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(expected) == len(rows) == 200
    assert c_answers(rows) == expected
    assert sqlite_answers(rows) == expected
    assert duckdb_answers() == expected


def c_answers(rows):
    schema = hornbeam.load("loans.hornbeam").tree_.schema
    library = ctypes.CDLL(str(Path("loans.so").absolute()))
    numbers = ctypes.c_double * schema.n_features
    found = []
    for row in rows:
        x = [coded(feature, row[feature.name]) for feature in schema.features]
        p = (ctypes.c_double * 2)()
        library.tree_probabilities(numbers(*x), p)
        found.append((schema.classes[library.tree_class(numbers(*x))], *p))
    return found


def coded(feature, text):
    if text == "":
        return np.nan
    if not feature.categories:
        return float(text)
    value = {"true": True, "false": False}.get(text, text)
    return float(feature.categories.index(value))


def sqlite_answers(rows):
    base = sqlite3.connect(":memory:")
    names = list(rows[0])
    base.execute(f"CREATE TABLE loans ({', '.join(names)})")
    number = {"id", "amount", "income", "age"}
    values = [
        [
            None if row[name] == "" else float(row[name]) if name in number else
            row[name] == "true" if name == "owner" else row[name]
            for name in names
        ]
        for row in rows
    ]  # fmt: skip
    base.executemany(f"INSERT INTO loans VALUES ({', '.join('?' * len(names))})", values)
    found = sorted(base.execute(Path("sqlite.sql").read_text(encoding="utf-8")).fetchall())
    base.close()
    return [(label, *p) for _, _, label, *p in found]


def duckdb_answers():
    with duckdb.connect() as base:
        base.execute(
            "CREATE TABLE loans AS SELECT * FROM read_csv('new-loans.csv', types={'zip': 'VARCHAR'})"
        )
        found = sorted(base.execute(Path("duckdb.sql").read_text(encoding="utf-8")).fetchall())
    return [(label, *p) for _, _, label, *p in found]
