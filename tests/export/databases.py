"""Run exported SQL in SQLite and DuckDB, and in two servers whose addresses are in variables of the environment.

HORNBEAM_POSTGRES is that of PostgreSQL (psycopg), HORNBEAM_MYSQL that of MariaDB or MySQL (pymysql);
`python tests/support/servers.py pytest tests/export/test_sql.py` starts both.
"""

import os
import sqlite3
from contextlib import closing
from urllib.parse import urlsplit

import numpy as np
from differences import Predictions
from random_models import UNSEEN, values

from hornbeam.data.schema import Feature, Kind
from hornbeam.data.table import Table
from hornbeam.export import to_sql
from hornbeam.tree.route import predict_rows, route
from hornbeam.tree.tree import Tree

__all__ = ["DATABASES", "assert_same", "codes", "query_model", "rows_of", "run_query", "run_sql"]

DATABASES = {"sqlite": "SQLite", "duckdb": "duckdb"}
POSTGRES = os.environ.get("HORNBEAM_POSTGRES")  # postgresql://postgres@127.0.0.1/postgres, for example
if POSTGRES:
    DATABASES["postgres"] = "PostgreSQL"
MYSQL = os.environ.get("HORNBEAM_MYSQL")  # mysql://root@127.0.0.1:3306, for example
if MYSQL:
    DATABASES["mysql"] = "MariaDB"


def codes(table: Table, unseen: int = -1) -> np.ndarray:
    """The rows as a matrix of numbers: NaN where missing, `unseen` for categories that are not in the schema."""
    return np.stack([_numbers(column, unseen) for column in table.columns], axis=1)


def _numbers(column: np.ndarray, unseen: int) -> np.ndarray:
    nominal = column.dtype == np.int32
    return np.where(column == -1, np.nan, np.where(column == -2, unseen, column)) if nominal else column


def rows_of(table: Table) -> list[tuple]:
    """The values of the rows; in a column of numbers an unseen category is a number too."""
    unseen = [
        -77 if feature.categories and not isinstance(feature.categories[0], str) else UNSEEN
        for feature in table.schema.features
    ]
    return [
        tuple(text if value == UNSEEN else value for value, text in zip(row, unseen, strict=True))
        for row in values(table)
    ]


def run_sql(database: str, cases: list[tuple[Tree, Table]], **options) -> Predictions:
    """Run the query of each model on its rows."""
    for tree, table in cases:
        leaf, label, p = query_model(database, tree, rows_of(table), **options)
        code = {name: k for k, name in enumerate(tree.schema.classes)}
        yield leaf, np.array([code[name] for name in label]), p


def query_model(database: str, tree: Tree, rows: list[tuple], **options):
    """The result of a database: leaves, labels and probabilities, in the order of the rows."""
    names = [options.get("columns", {}).get(name, name) for name in tree.schema.names]
    query = to_sql(tree, dialect=database, keep=["row id"], **options)
    found = sorted(run_query(database, query, names, tree.schema.features, rows))
    assert [row[0] for row in found] == list(range(len(rows)))
    leaf, label = [row[1] for row in found], [row[2] for row in found]
    return np.array(leaf), label, np.array([row[3:] for row in found], np.float64)


def run_query(database, query, names, features, rows):
    """What a query finds in the table `rows`, whose first column is "row id"."""
    ask = {"sqlite": _ask_sqlite, "duckdb": _ask_duckdb, "postgres": _ask_postgres, "mysql": _ask_mysql}[
        database
    ]
    return ask(query, names, features, rows)


def _ask_sqlite(query, names, features, rows):
    columns = ", ".join(f"{_quoted(name)} {_type(f)}" for name, f in zip(names, features, strict=True))
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute(f'CREATE TABLE rows ("row id" INTEGER, {columns})')
        marks = ", ".join("?" * (len(names) + 1))
        database.executemany(f"INSERT INTO rows VALUES ({marks})", [(i, *row) for i, row in enumerate(rows)])
        return database.execute(query).fetchall()


def _ask_duckdb(query, names, features, rows):
    import duckdb
    import pyarrow as pa

    columns = ", ".join(f"{_quoted(name)} {_type(f)}" for name, f in zip(names, features, strict=True))
    cells = {"row id": list(range(len(rows)))}
    for i, feature in enumerate(features):
        column = [row[i] for row in rows]
        if feature.kind is Kind.NUMERIC:  # NaN and NULL in turn: both are missing
            column = [np.nan if x is None and at % 2 else x for at, x in enumerate(column)]
        cells[f"c{i}"] = column
    arrow = pa.table(cells)
    with duckdb.connect(config={"threads": 1}) as database:
        database.execute(f'CREATE TABLE rows ("row id" INTEGER, {columns})')
        database.register("arrow", arrow)
        database.execute("INSERT INTO rows SELECT * FROM arrow")
        return database.execute(query).fetchall()


def _ask_postgres(query, names, features, rows):
    import psycopg

    types = [_type(feature).replace("DOUBLE", "DOUBLE PRECISION") for feature in features]
    columns = ", ".join(f"{_quoted(name)} {kind}" for name, kind in zip(names, types, strict=True))
    with psycopg.connect(POSTGRES) as database, database.cursor() as cursor:
        cursor.execute(f'CREATE TEMPORARY TABLE rows ("row id" INTEGER, {columns}) ON COMMIT DROP')
        with cursor.copy("COPY rows FROM STDIN") as copy:
            for at, row in enumerate(rows):
                copy.write_row((at, *row))
        return cursor.execute(query).fetchall()


def connect_mysql():
    """Connect to the server of HORNBEAM_MYSQL, in a database of its own."""
    import pymysql

    address = urlsplit(MYSQL)
    place = {"host": address.hostname, "port": address.port, "user": address.username}
    connection = pymysql.connect(**place, charset="utf8mb4")
    with connection.cursor() as cursor:
        cursor.execute("CREATE DATABASE IF NOT EXISTS hornbeam CHARACTER SET utf8mb4")
        cursor.execute("USE hornbeam")
    return connection


def _ask_mysql(query, names, features, rows):
    types = [_type(feature).replace("VARCHAR", "TEXT") for feature in features]
    columns = ", ".join(f"{_quoted(name, '`')} {kind}" for name, kind in zip(names, types, strict=True))
    marks = ", ".join(["%s"] * (len(names) + 1))
    with connect_mysql() as database, database.cursor() as cursor:
        cursor.execute(f"CREATE OR REPLACE TEMPORARY TABLE `rows` (`row id` INTEGER, {columns})")
        cells = [(at, *map(_finite, row)) for at, row in enumerate(rows)]
        cursor.executemany(f"INSERT INTO `rows` VALUES ({marks})", cells)
        cursor.execute(query)
        return list(cursor.fetchall())


def _finite(cell):
    """The largest number for infinity, which MySQL does not have."""
    return np.nan_to_num(cell).item() if cell in (np.inf, -np.inf) else cell


def _quoted(name: str, mark: str = '"') -> str:
    return mark + name.replace(mark, 2 * mark) + mark


def _type(feature: Feature) -> str:
    if feature.kind is Kind.NUMERIC:
        return "DOUBLE"
    if any(isinstance(category, str) for category in feature.categories):
        return "VARCHAR"
    return "BOOLEAN" if isinstance(feature.categories[0], bool) else "BIGINT"


def assert_same(tree: Tree, table: Table, leaf, label, p, dtype=np.float64) -> None:
    """Nodes, labels and probabilities are the tree's own."""
    expected = predict_rows(tree, table)
    assert (leaf == route(tree.skeleton, table)).all()
    assert list(label) == [tree.schema.classes[k] for k in tree.decision(expected)]
    assert (p == expected.astype(dtype)).all()
