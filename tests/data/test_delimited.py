"""Text files are read like by the csv module of Python."""

import csv
import gzip
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

pa = pytest.importorskip("pyarrow")

from hornbeam.data.files.delimited import MISSING_MARKS, read_delimited  # noqa: E402
from hornbeam.data.files.tabular import column_type, read_table, write_parts  # noqa: E402
from hornbeam.data.schema import Feature, Kind  # noqa: E402
from hornbeam.errors import DataError, SchemaError  # noqa: E402

CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\0", exclude_categories=["Cc"]), max_size=8)
DELIMITERS = st.sampled_from([",", ";", "\t", "|"])


@given(st.data(), st.integers(1, 4), DELIMITERS)
def test_texts_are_read_back_with_any_delimiter_and_quotes(data, n_columns, delimiter):
    rows = data.draw(
        st.lists(st.lists(CELLS, min_size=n_columns, max_size=n_columns), min_size=1, max_size=6)
    )
    names = [f"c{at}" for at in range(n_columns)]
    file = io.StringIO()
    csv.writer(file, delimiter=delimiter, quoting=csv.QUOTE_ALL).writerows([names, *rows])
    read = read_delimited(
        file.getvalue().encode(), "t", types=dict.fromkeys(names, "text"), delimiter=delimiter
    )

    def expected(cell):
        return None if cell.strip() in MISSING_MARKS else cell.strip()

    # Cells are quoted, because pyarrow skips empty lines, which are rows of one empty cell.
    assert [list(row.values()) for row in read.to_pylist()] == [list(map(expected, row)) for row in rows]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
def test_numbers_are_read_back_exactly(numbers):
    file = io.BytesIO()
    write_parts([{"x": numbers}], file, as_parquet=False)
    assert read_delimited(file.getvalue(), "t", types={"x": "number"})["x"].to_pylist() == numbers


@pytest.mark.parametrize(
    ("cells", "kind", "values"),
    [
        ("1,2", "int64", [1, 2]),
        ("1,2.5", "double", [1.0, 2.5]),
        ("true,false", "bool", [True, False]),
        ("007,x", "dictionary", ["007", "x"]),
        ("01067, 79098,?", "dictionary", ["01067", "79098", None]),  # codes
        ("08,12", "int64", [8, 12]),  # a month
        ("007,8", "int64", [7, 8]),
        ("007,1.5", "double", [7.0, 1.5]),
        ("000.5,100", "double", [0.5, 100.0]),
        ("2020-01-31,2020-02-01", "date32", None),
        ("?,NA", "null", [None, None]),
        (" ?,4", "int64", [None, 4]),
    ],
)
def test_the_type_of_a_column_fits_all_its_cells(cells, kind, values):
    column = read_delimited(("x,y\n" + "".join(f"{c},1\n" for c in cells.split(","))).encode(), "t")["x"]
    assert str(column.type).startswith(kind)
    assert values is None or column.to_pylist() == values


def test_names_may_contain_newlines_and_blank_lines_may_precede_them():
    read = read_delimited(b'\n\n"a\nb",c\n1,2\n', "t")
    assert read.to_pydict() == {"a\nb": [1], "c": [2]}


def test_errors_count_rows_below_the_names():
    with pytest.raises(DataError, match=r"'f.csv' cannot be read: row 3 has 1 values, expected 2"):
        read_delimited(b"\na,b\n1,2\n3,4\n5\n", "f.csv")
    with pytest.raises(DataError, match=r"column 'b', row 2: the value is not a number\."):
        read_delimited(b"a,b\n1,2\n3,x\n", "f.csv", types={"b": "number"})


def test_parquet_files_and_folders_are_read_with_the_given_types(tmp_path):
    from pyarrow import parquet

    for at in (1, 2):
        parquet.write_table(pa.table({"zip": [at, None], "ok": ["true", None]}), tmp_path / f"{at}.parquet")
    read = read_table(str(tmp_path), types={"zip": "text", "ok": "boolean", "other": "text"})
    assert read.to_pydict() == {"zip": ["1", None, "2", None], "ok": [True, None, True, None]}
    with pytest.raises(SchemaError, match=r"Column 'ok' holds string, expected numbers"):
        read_table(str(tmp_path), types={"ok": "number"})
    parquet.write_table(pa.table({"other": [1]}), tmp_path / "3.parquet")
    with pytest.raises(DataError, match=r"3\.parquet' has no column 'ok'"):
        read_table(str(tmp_path))


def test_dictionaries_in_parquet_files_are_cast_by_value(tmp_path):
    from pyarrow import parquet

    path = tmp_path / "d.parquet"
    parquet.write_table(pa.table({"x": pa.array(["3", "5", "3"]).dictionary_encode()}), path)
    assert read_table(str(path), types={"x": "number"})["x"].to_pylist() == [3.0, 5.0, 3.0]


def test_codes_are_found_in_the_first_rows_and_a_named_type_takes_precedence():
    text = (
        b"zip,id\n" + b"01067,5\n" * 200_000
    )  # more than the part that is looked at, which ends within a row
    assert read_delimited(text, "t")["zip"].unique().to_pylist() == ["01067"]
    assert read_delimited(text[:39], "t", types={"zip": "number"})["zip"].to_pylist()[0] == 1067


@pytest.mark.parametrize(
    ("categories", "holds"),
    [((False, True), "boolean"), ((1, 2), "number"), (("a",), "text"), ((1, "a"), "text")],
)
def test_the_column_type_follows_from_the_categories(categories, holds):
    assert column_type(Feature("x", Kind.NOMINAL, categories)) == holds


@pytest.mark.parametrize("n_values", [3, 40_000], ids=["few values", "many values"])
def test_a_file_of_many_blocks_is_read_as_its_bytes_are(tmp_path, n_values):
    rows = "".join(f"{at},v {at * 7919 % n_values} \n" for at in range(200_000))
    content = f"x,c\n{rows}".encode()
    (tmp_path / "rows.csv").write_bytes(content)
    (tmp_path / "rows.csv.gz").write_bytes(gzip.compress(content, 1))
    plain = read_table(str(tmp_path / "rows.csv"))
    assert plain["c"].to_pylist()[::9999] == [f"v {at * 7919 % n_values}" for at in range(0, 200_000, 9999)]
    assert len(plain["c"].unique()) == n_values
    assert read_table(str(tmp_path / "rows.csv.gz")).equals(plain)
    assert read_delimited(content, "rows.csv").equals(plain)


def test_a_compressed_file_may_not_unpack_to_far_more_than_its_size(tmp_path):
    path = tmp_path / "bomb.csv.gz"
    with gzip.open(path, "wb", 9) as file:
        file.write(b"x,y\n")
        for _ in range(140):
            file.write(b"1,2\n" * 250_000)
    with pytest.raises(DataError, match=r"bytes and unpacks to more than 134,217,728; .*unpack it"):
        read_table(str(path))


def test_a_damaged_compressed_file_is_named(tmp_path):
    path = tmp_path / "rows.csv.gz"
    path.write_bytes(gzip.compress(b"x,y\n" + b"1,2\n" * 1000)[:-20])
    with pytest.raises(DataError, match=r"rows\.csv\.gz' cannot be read: "):
        read_table(str(path))


def test_a_name_of_megabytes_is_refused():
    with pytest.raises(
        DataError, match=r"first row of 't' cannot be read: field larger .*131,072 characters"
    ):
        read_delimited(b"x" * 5_000_000 + b",y\n1,2\n", "t")
