"""Exported SQL predicts in SQLite, DuckDB, PostgreSQL and MariaDB as the tree does, with any names and depth."""

import sqlite3
from contextlib import closing

import numpy as np
import pytest

sqlglot = pytest.importorskip("sqlglot", reason="the extra 'test' brings sqlglot")
duckdb = pytest.importorskip("duckdb", reason="the extra 'test' brings duckdb")

from databases import DATABASES, assert_same, query_model, run_sql  # noqa: E402
from hostile import HOSTILE  # noqa: E402
from random_models import batches, models, random_model  # noqa: E402

from hornbeam.data.schema import Feature, Kind, Schema  # noqa: E402
from hornbeam.data.table import Table  # noqa: E402
from hornbeam.errors import ExportError, ParameterError  # noqa: E402
from hornbeam.export import to_sql  # noqa: E402
from hornbeam.export.sql.dialect import DIALECTS, find_dialect, identifier, text_literal  # noqa: E402
from hornbeam.export.sql.select import probability_names  # noqa: E402
from hornbeam.tree import Skeleton  # noqa: E402
from hornbeam.tree.route import predict_rows  # noqa: E402
from hornbeam.tree.tree import Tree  # noqa: E402
from hornbeam.tree.walk import pull_up  # noqa: E402
from support.strategies import chain  # noqa: E402

nan = np.nan


def stump(feature, *, slots=(), threshold=nan, missing_slot=-1, n_children=2):
    leaves = n_children
    skeleton = Skeleton.of(
        [n_children] + [0] * leaves,
        [0] + [-1] * leaves,
        [threshold] + [nan] * leaves,
        missing_slot=[missing_slot] + [-1] * leaves,
        slot_start=[0] + [len(slots)] * (leaves + 1),
        slot_of=slots,
    )
    evidence = np.array([[leaves, 2 * leaves], *[[1, 2]] * leaves])
    return Tree.raw(Schema((feature,), ("no", "yes")), skeleton, evidence)


def leaves(database, tree, cells):
    return query_model(database, tree, [(cell,) for cell in cells])[0].tolist()


@batches
@pytest.mark.parametrize("database", DATABASES)
def test_databases_predict_the_same_bits(database, first, compare):
    cases = models(first)
    compare(f"SQL, {database}", DATABASES[database], cases, run_sql(database, cases))


@pytest.mark.parametrize("database", DATABASES)
@pytest.mark.parametrize(
    "name", ['"; DROP TABLE rows; --', "a'b", "]]>", "x0", "leaf", "SELECT", "source", "\n", "名前"]
)
def test_columns_may_have_any_name(database, name):
    if database == "mysql" and name == "\n":
        pytest.skip("it has no names that end with white space")
    assert leaves(database, stump(Feature(name), threshold=1.5), [1.5, 2.0, None]) == [1, 2, 0]


@pytest.mark.parametrize("database", DATABASES)
def test_infinite_thresholds(database):
    values = [-np.inf, -1e308, 0.0, np.inf, None]
    if database == "mysql":
        pytest.skip("it has no infinities")
    known = stump(Feature("x"), threshold=np.inf, n_children=3, missing_slot=2)
    assert leaves(database, known, values) == [1, 1, 1, 1, 3]
    assert leaves(database, stump(Feature("x"), threshold=-np.inf), values) == [1, 2, 2, 2, 0]


@pytest.mark.parametrize("database", DATABASES)
def test_text_compares_by_every_character(database):
    categories = ("a", "A", "a ", "", "a\0b", "é", "e\u0301")
    if database in ("mysql", "postgres"):  # their text has no zero character
        categories = tuple(category for category in categories if "\0" not in category)
    n = len(categories)
    tree = stump(Feature("colour", Kind.NOMINAL, categories), slots=range(n), n_children=n)
    assert leaves(database, tree, [*categories, "b", "Á", None]) == [*range(1, n + 1), 0, 0, 0]


def test_a_collation_of_the_column_does_not_matter():
    tree = stump(Feature("colour", Kind.NOMINAL, ("a", "A")), slots=[0, 1])
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE TABLE rows (colour TEXT COLLATE NOCASE)")
        database.execute("INSERT INTO rows VALUES ('a'), ('A')")
        assert [row[0] for row in database.execute(to_sql(tree, dialect="sqlite"))] == [1, 2]


@pytest.mark.parametrize("database", DATABASES)
def test_categories_that_are_not_text(database):
    numbers = Feature("n", Kind.NOMINAL, (-3, 10, 2**60, 2**60 + 1))
    assert leaves(database, stump(numbers, slots=[0, 1, 0, 1]), [-3, 10, 2**60, 2**60 + 1, 4, None]) == [
        1, 2, 1, 2, 0, 0,
    ]  # fmt: skip
    truth = Feature("t", Kind.NOMINAL, (False, True))
    assert leaves(database, stump(truth, slots=[1, 0]), [True, False, None]) == [1, 2, 0]
    mixed = Feature("m", Kind.NOMINAL, (1, 2.5, "x"))
    assert leaves(database, stump(mixed, slots=[0, 1, 1]), ["1", "2.5", "x", "y"]) == [1, 2, 2, 0]


@pytest.mark.parametrize("database", DATABASES)
def test_undeclared_ordinal_categories_are_missing(database):
    size = Feature("size", Kind.ORDINAL, ("small", "medium", "large"))
    tree = stump(size, threshold=0.5, n_children=3, missing_slot=2)
    assert leaves(database, tree, ["small", "medium", "large", "huge", None]) == [1, 2, 2, 3, 3]


@pytest.mark.parametrize("database", DATABASES)
def test_a_very_deep_tree(database):
    deep = chain(300)
    tree = Tree.raw(Schema((Feature("x"),), ("a",)), deep, np.zeros((deep.n_nodes, 1), np.int64))
    cells = [-1.0, 0.0, 0.25, 100.0, 149.5, 149.75, 1e9, None]
    table = Table(tree.schema, (np.array(cells, float),))
    assert_same(tree, table, *query_model(database, tree, [(cell,) for cell in cells]))


def test_nesting_is_logarithmic():
    levels = 10
    n_children = [2] * (2**levels - 1) + [0] * 2**levels
    inner = np.array(n_children) > 0
    full = Skeleton.of(n_children, np.where(inner, 0, -1), np.where(inner, 0.5, nan))
    tree = Tree.raw(Schema((Feature("x"),), ("a",)), full, np.zeros((len(inner), 1), np.int64))
    assert leaves("sqlite", tree, [0.0, 1.0, None]) == [2**levels - 1, 2 ** (levels + 1) - 2, 0]


@pytest.mark.parametrize("database", ["sqlite", "duckdb"])
def test_a_single_leaf(database):
    tree = Tree.raw(Schema((), ("no", "yes")), Skeleton.leaf(), np.array([[1, 3]]))
    connect = sqlite3.connect if database == "sqlite" else duckdb.connect
    with closing(connect(":memory:")) as connection:
        connection.execute('CREATE TABLE "a.b" (x INTEGER)')
        connection.execute('INSERT INTO "a.b" VALUES (1), (2)')
        found = connection.execute(to_sql(tree, dialect=database, table=("main", "a.b"))).fetchall()
    assert found == [(0, "yes", 0.25, 0.75)] * 2


def test_sqlite_reads_numbers_exactly():
    rng = np.random.default_rng(7)
    numbers = rng.integers(0, 2**63 - 1, 3_000).view(np.float64)
    numbers = [
        *numbers[np.isfinite(numbers)].tolist(),
        5e-324,
        2.0**-1074 * 3,
        1.7976931348623157e308,
        0.1,
        0.0,
    ]
    with closing(sqlite3.connect(":memory:")) as database:
        for x in numbers:
            written = DIALECTS["sqlite"].number(-x).sql("sqlite")
            assert database.execute(f"SELECT {written}").fetchone() == (-x,)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_can_be_parsed(dialect):
    for seed in (0, 1, 2):
        tree = random_model(seed, max_rows=61)
        [read] = sqlglot.parse(to_sql(tree, dialect=dialect, keep=["id"]), dialect=dialect)
        assert read.named_selects[:3] == ["id", "leaf", "label"]


def shared_chain(n, *, left):
    """A chain of `n` splits that send missing values to every child, which continues left or right."""
    n_children = [2, *([2, 0] if left else [0, 2]) * (n - 1), 0, 0]
    inner = np.array(n_children) > 0
    cuts = np.arange(n)[::-1] if left else np.arange(n)
    threshold = np.full(len(inner), nan)
    threshold[inner] = cuts
    skeleton = Skeleton.of(
        n_children, np.where(inner, 0, -1), threshold, missing_slot=np.where(inner, -2, -1)
    )
    rng = np.random.default_rng(n)
    own = np.where(inner[:, None], 0, rng.integers(1, 9, (len(inner), 3)))
    return Tree.raw(Schema((Feature("x"),), ("a", "b", "c")), skeleton, pull_up(skeleton, own))


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("database", DATABASES)
def test_a_long_chain_of_fractional_splits(database, left):
    tree = shared_chain(120, left=left)
    cells = [-1.0, 0.0, 3.3, 50.0, 118.0, 118.5, 1e9, None]
    table = Table(tree.schema, (np.array(cells, float),))
    assert_same(tree, table, *query_model(database, tree, [(cell,) for cell in cells]))


def test_too_many_waiting_levels_raise(monkeypatch):
    monkeypatch.setattr("hornbeam.export.sql.prediction_tables._MOST_COLUMNS", 50)
    with pytest.raises(
        ExportError, match="Missing values go to every child on 100 levels at a time, expected 50 at most"
    ):
        to_sql(shared_chain(200, left=True))
    assert to_sql(shared_chain(200, left=False))  # here only one level waits


def test_names_that_a_database_cannot_distinguish_raise():
    features = (Feature("Age"), Feature("age"))
    skeleton = Skeleton.of([2, 2, 0, 0, 0], [0, 1, -1, -1, -1], [1.0, 2.0, nan, nan, nan])
    tree = Tree.raw(Schema(features, ("a",)), skeleton, np.array([[3], [2], [1], [1], [1]]))
    with pytest.raises(ExportError, match="named 'Age' and 'age'; duckdb ignores case"):
        to_sql(tree)
    assert '"Age"' in to_sql(tree, dialect="postgres")
    table = Table(tree.schema, (np.array([0.0, 0.0, 2.0]), np.array([1.0, 3.0, 1.0])))
    found = query_model("duckdb", tree, [(0.0, 1.0), (0.0, 3.0), (2.0, 1.0)], columns={"age": "age_2"})
    assert_same(tree, table, *found)
    dotted = stump(Feature("a.b"), threshold=1.0)
    with pytest.raises(ExportError, match=r"named 'a\.b'; no column of bigquery has a dot"):
        to_sql(dotted, dialect="bigquery")
    assert "`a_b`" in to_sql(dotted, dialect="bigquery", columns={"a.b": "a_b"})
    with pytest.raises(ExportError, match="named ''"):
        to_sql(stump(Feature(""), threshold=1.0))
    with pytest.raises(ExportError, match="two categories that are the same as text"):
        to_sql(stump(Feature("m", Kind.NOMINAL, (1, "1")), slots=[0, 1]))
    with pytest.raises(ExportError, match="not valid Unicode"):
        to_sql(stump(Feature("\ud800"), threshold=1.0))


def test_invalid_settings_raise():
    tree = stump(Feature("x"), threshold=1.0)
    with pytest.raises(ParameterError, match="dialect is 'oracle'"):
        to_sql(tree, dialect="oracle")
    with pytest.raises(ParameterError, match="keep is 'id', expected a list"):
        to_sql(tree, keep="id")
    with pytest.raises(ParameterError, match="keep names 'Label'"):
        to_sql(tree, keep=["Label"])
    with pytest.raises(ParameterError, match="columns names \\['y'\\]"):
        to_sql(tree, columns={"y": "x"})
    with pytest.raises(ParameterError, match="table is 'hornbeam_inputs'"):
        to_sql(tree, table="hornbeam_inputs")
    with pytest.raises(ParameterError, match="table is 'Hornbeam_sums0'"):
        to_sql(stump(Feature("x"), threshold=1.0, missing_slot=-2), table="Hornbeam_sums0")
    with pytest.raises(ParameterError, match="up to three"):
        to_sql(tree, table=())


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_reference_of_dbt_is_written_as_it_is(dialect):
    tree = stump(Feature("x"), threshold=1.0)
    reference = "{{ ref('loans') }}"
    assert f"FROM {reference} AS source" in to_sql(tree, table=reference, dialect=dialect)
    plain = to_sql(tree, table="loans", dialect=dialect)
    assert to_sql(tree, table=reference, dialect=dialect) == plain.replace(
        identifier("loans").sql(dialect), reference
    )


def test_what_dbt_would_read_as_a_template_is_refused_beside_a_reference():
    for name in ("{{ x }}", "{% x %}", "{# x"):
        tree = stump(Feature(name), threshold=1.0)
        assert to_sql(tree, table="loans")
        with pytest.raises(ExportError, match="template"):
            to_sql(tree, table="{{ ref('loans') }}")
    for table in ("{{ a }} JOIN {{ b }}", "{{ a } }}", "x {{ a }}"):
        assert identifier(table).sql("duckdb") in to_sql(stump(Feature("x"), threshold=1.0), table=table)


def test_text_of_sql_server_and_mysql_is_compared_as_bytes():
    tree = stump(Feature("colour", Kind.NOMINAL, ("a", "A ")), slots=[0, 1])
    query = to_sql(tree, dialect="tsql")
    assert "CAST(CAST(source.[colour] AS NVARCHAR(MAX)) AS VARBINARY(MAX)) AS x0" in query
    assert "x0 = CAST(CAST(N'A ' AS NVARCHAR(MAX)) AS VARBINARY(MAX))" in " ".join(query.split())
    assert "CAST(CAST(source.`colour` AS CHAR) AS BINARY) AS x0" in to_sql(tree, dialect="mysql")
    zero = stump(Feature("colour", Kind.NOMINAL, ("a\0", "b")), slots=[0, 1])
    with pytest.raises(ExportError, match="zero character, which text of tsql does not"):
        to_sql(zero, dialect="tsql")


@pytest.mark.parametrize("dialect", ["mysql", "redshift", "tsql"])
def test_hostile_text_is_read_back_where_zero_characters_are_refused(dialect):
    for name in HOSTILE:
        if "\0" in name:
            with pytest.raises(ExportError, match="zero character"):
                DIALECTS[dialect].text_literal(name)
            continue
        text, column = DIALECTS[dialect].text_literal(name), identifier(name or "x")
        [read] = sqlglot.parse(f"SELECT {text.sql(dialect)} AS {column.sql(dialect)}", dialect=dialect)
        assert read.selects[0].this.this == name
        assert read.named_selects == [name or "x"]


def test_a_misspelt_column_is_an_error_not_text():
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE TABLE rows (agee REAL)")
        with pytest.raises(sqlite3.OperationalError, match="no such column"):
            database.execute(to_sql(stump(Feature("age"), threshold=1.0), dialect="sqlite"))


def test_labels_keep_their_type():
    for classes in ((0, 1), (False, True), ("0", "1")):
        tree = Tree.raw(Schema((Feature("x"),), classes), chain(1), np.array([[4, 4], [3, 1], [1, 3]]))
        assert query_model("duckdb", tree, [(0.0,), (1.0,)])[1] == list(classes)
    odd = Tree.raw(Schema((), (1, "one")), Skeleton.leaf(), np.array([[1, 0]]))
    assert "'1'" in to_sql(odd)
    assert predict_rows(odd, Table(Schema((Feature("x"),), (1, "one")), (np.zeros(1),))).tolist() == [
        [1.0, 0.0]
    ]


CLASSES = [  # names of classes, and of their columns
    (("no", "yes"), ["p_no", "p_yes"]),
    ((0, 1), ["p_0", "p_1"]),
    ((False, True), ["p_False", "p_True"]),
    ((-1, 1), ["p0", "p_1"]),
    ((0.5, 1.5), ["p0", "p1"]),
    (("paid", "paid late"), ["p_paid", "p1"]),
    (("Default", "default"), ["p0", "p1"]),
    (("select", "from"), ["p_select", "p_from"]),
    (("0", "p0"), ["p_0", "p_p0"]),
    (("", "\u00e4"), ["p_", "p1"]),
    (('x"; DROP TABLE rows; --', "ok"), ["p0", "p_ok"]),
    (("x" * 58, "x" * 59), [f"p_{'x' * 58}", "p1"]),
    (("kept", "ok"), ["p0", "p_ok"]),
]


@pytest.mark.parametrize("missing_slot", [0, -2], ids=["joined", "computed"])
@pytest.mark.parametrize(("classes", "names"), CLASSES, ids=str)
def test_probabilities_are_named_by_class_where_every_database_can(classes, names, missing_slot):
    skeleton = Skeleton.of([2, 0, 0], [0, -1, -1], [1.5, nan, nan], missing_slot=[missing_slot, -1, -1])
    tree = Tree.raw(Schema((Feature("x"),), classes), skeleton, np.array([[5, 5], [4, 1], [1, 4]]))
    expected = ["P_KEPT", "leaf", "label", *names]
    for dialect in DIALECTS:
        [read] = sqlglot.parse(to_sql(tree, dialect=dialect, keep=["P_KEPT"]), dialect=dialect)
        assert read.named_selects == expected
    for database, connect in (("sqlite", lambda: sqlite3.connect(":memory:")), ("duckdb", duckdb.connect)):
        with closing(connect()) as rows:
            rows.execute('CREATE TABLE rows (x DOUBLE PRECISION, "P_KEPT" INTEGER)')
            rows.execute("INSERT INTO rows VALUES (1.0, 7)")
            result = rows.execute(to_sql(tree, dialect=database, keep=["P_KEPT"]))
            assert [column[0] for column in result.description] == expected
            assert result.fetchall()[0][3:] == (0.8, 0.2)


def test_names_of_probabilities_are_words_and_unique():
    classes = ("paid", "paid late", "Default", "default", "left")
    tree = Tree.raw(Schema((), classes), Skeleton.leaf(), np.ones((1, 5), int))
    assert probability_names(tree, keep=["P_LEFT"]) == ["p_paid", "p1", "p2", "p3", "p4"]


def test_literals():
    assert identifier('a "b" c').sql("duckdb") == '"a ""b"" c"'
    assert text_literal("it's").sql("duckdb") == "'it''s'"
    assert text_literal("a\0b").sql("duckdb") == "'a' || CHR(0) || 'b'"
    numbers = [DIALECTS["sqlite"].number(value).sql("sqlite") for value in (0.5, 1 / 3)]
    assert numbers == ["0.5", "6004799503160661.0 / 18014398509481984.0"]


def test_an_unknown_dialect():
    with pytest.raises(
        ParameterError, match="dialect is 'oracle', expected one of bigquery, databricks, duckdb, mysql"
    ):
        find_dialect("oracle")
