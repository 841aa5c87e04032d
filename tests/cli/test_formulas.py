"""Predictions in CSV: no cell that a spreadsheet takes for a formula."""

import csv
import io
import json
import re
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hornbeam
from hornbeam.data.files.delimited import read_delimited
from hornbeam.data.files.tabular import write_parts
from hornbeam.errors import DataError

TEXTS = ["=1+1", "+cmd", "-x", "@sum", "\tx", "\rx", "-1", "+2.5e3", "plain", "a=b", None]
SAFE = ["'=1+1", "'+cmd", "'-x", "'@sum", "'\tx", "'\rx", "-1", "+2.5e3", "plain", "a=b", ""]


def written(columns):
    sink = io.BytesIO()
    write_parts([columns], sink, as_parquet=False)
    return list(csv.reader(io.StringIO(sink.getvalue().decode(), newline="")))


def test_a_text_that_is_a_formula_gets_an_apostrophe_and_a_number_does_not():
    head, *rows = written({"=name": TEXTS, "-5": [-1.5] * len(TEXTS)})
    assert head == ["'=name", "-5"]
    assert [row[0] for row in rows] == SAFE
    assert {row[1] for row in rows} == {"-1.5"}


def test_predicted_labels_and_kept_columns_are_safe(run):
    rows = pd.DataFrame({"x": [0.0, 1.0] * 20, "note": ["=1+1", "fine"] * 20, "y": ["=no", "@yes"] * 20})
    rows.to_csv("rows.csv", index=False)
    assert run("fit", "rows.csv", "-t", "y", "--drop", "note", "-o", "model.hornbeam").exit_code == 0
    result = run("predict", "model.hornbeam", "rows.csv", "--keep", "note", "-q")
    head, first, second, *_ = csv.reader(io.StringIO(result.stdout, newline=""))
    assert head == ["note", "prediction", "p_=no", "p_@yes"]
    assert first[:2] == ["'=1+1", "'=no"]
    assert second[:2] == ["fine", "'@yes"]


@pytest.mark.parametrize("data", [b'a,b\n"%s",1\n' % (b"x" * 3_000_000), b'a,b\n"%s' % (b"x,1\n" * 700_000)])
def test_a_row_that_is_too_long_is_refused_with_a_remedy(data):
    with pytest.raises(DataError, match="longer than 1 MB, or a quote is opened and never closed; expected"):
        read_delimited(data, "rows.csv")


D, DAY, MOMENT = Decimal, date(2024, 1, 2), datetime(2024, 1, 2, 3, 4, 5)
TYPES = {
    "string": pa.string(),
    "large_string": pa.large_string(),
    "string_view": pa.string_view(),
    "dictionary": pa.dictionary(pa.int32(), pa.string()),
    "dictionary of large": pa.dictionary(pa.int32(), pa.large_string()),
    "binary": pa.binary(),
    "large_binary": pa.large_binary(),
    "binary_view": pa.binary_view(),
    "fixed_size_binary": pa.binary(4),
}
NANOSECONDS = "2024-01-02 03:04:05.000000000"
# kind: Arrow type, the values, as CSV, as JSON
KEPT = {
    **{kind: (arrow, ["=1+1", None], ["'=1+1", ""], ["=1+1", None]) for kind, arrow in TYPES.items()},
    "integer": (pa.int64(), [-1, None], ["-1", ""], [-1, None]),
    "float": (pa.float64(), [-1.5, None], ["-1.5", ""], [-1.5, None]),
    "not finite": (pa.float64(), [float("nan"), float("-inf")], ["nan", "-inf"], [None, None]),
    "half": (pa.float16(), [1.5, None], ["1.5", ""], [1.5, None]),
    "boolean": (pa.bool_(), [True, None], ["true", ""], [True, None]),
    "decimal": (pa.decimal128(5, 2), [D("-1.50"), None], ["-1.50", ""], ["-1.50", None]),
    "date": (pa.date32(), [DAY, None], ["2024-01-02", ""], ["2024-01-02", None]),
    "moment": (pa.timestamp("ns"), [MOMENT, None], [NANOSECONDS, ""], [NANOSECONDS, None]),
    "time": (pa.time32("ms"), [MOMENT.time(), None], ["03:04:05.000", ""], ["03:04:05.000", None]),
    "null": (pa.null(), [None, None], ["", ""], [None, None]),
    "list": (pa.list_(pa.string()), [["=1+1"], None], None, [["=1+1"], None]),
    "struct": (pa.struct({"a": pa.int64()}), [{"a": 1}, None], None, [{"a": 1}, None]),
    "not text": (pa.binary(), [b"\xff\xfe", None], None, None),
}


@pytest.fixture
def small_model(tmp_path):
    hornbeam.save(
        hornbeam.TreeClassifier("cart").fit(pd.DataFrame({"x": [0.0, 1.0]}), ["no", "yes"]),
        tmp_path / "m.hornbeam",
    )
    return "m.hornbeam"


@pytest.mark.parametrize("kind", KEPT)
def test_a_kept_column_of_any_type_of_parquet_is_written_in_every_format(run, small_model, kind):
    arrow, values, in_csv, in_json = KEPT[kind]
    kept = (
        pa.array(values, arrow.value_type).dictionary_encode()
        if kind.startswith("dict")
        else pa.array(values, arrow)
    )
    pq.write_table(pa.table({"x": [0.0, 1.0], "=kept": kept}), "rows.parquet")

    def keep(*options):
        return run("predict", small_model, "rows.parquet", "--keep", "=kept", "-q", *options)

    assert keep("-o", "out.parquet").exit_code == 0
    again = pq.read_table("out.parquet")["=kept"]
    assert again.equals(pq.read_table("rows.parquet")["=kept"]) or kind == "not finite"  # NaN is not NaN
    if in_csv is None:
        for options in [(), ("-o", "out.csv")]:
            refused = keep(*options)
            assert (refused.exit_code, refused.stdout) == (3, "")
            assert re.search("CSV cannot hold the type|not UTF-8 text; only Parquet", refused.stderr)
            assert not Path("out.csv").exists()
    else:
        head, *rows = csv.reader(io.StringIO(keep().stdout, newline=""))
        assert head[:2] == ["'=kept", "prediction"]
        assert [row[0] for row in rows] == in_csv
        assert keep("-o", "out.csv").exit_code == 0
        assert [row[0] for row in csv.reader(io.StringIO(Path("out.csv").read_text()))] == ["'=kept", *in_csv]
    if in_json is None:
        refused = keep("--json")
        assert refused.exit_code == 3
        assert "not UTF-8 text; only Parquet" in refused.stderr
    else:
        assert json.loads(keep("--json").stdout)["columns"]["=kept"] == in_json


def test_a_kept_column_of_any_type_of_csv_is_written_in_every_format(run, small_model):
    values = {
        "text": (["=1+1", "plain"], ["'=1+1", "plain"]),
        "integer": ([1, None], ["1", ""]),
        "number": ([-1.5, None], ["-1.5", ""]),
        "boolean": ([True, False], ["true", "false"]),
        "day": (["2024-01-02", "2024-01-03"], ["2024-01-02", "2024-01-03"]),
        "moment": (["2024-01-02 03:04:05", "2024-01-02 03:04:06"],) * 2,
        "nothing": ([None, None], ["", ""]),
    }
    frame = pd.DataFrame(
        {"x": [0.0, 1.0]} | {name: pd.Series(both[0], dtype=object) for name, both in values.items()}
    )
    frame.to_csv("rows.csv", index=False)
    command = [
        "predict",
        small_model,
        "rows.csv",
        "-q",
        *(part for name in values for part in ("--keep", name)),
    ]
    found = list(csv.DictReader(io.StringIO(run(*command).stdout, newline="")))
    assert {name: [row[name] for row in found] for name in values} == {
        name: both[1] for name, both in values.items()
    }
    columns = json.loads(run(*command, "--json").stdout)["columns"]
    assert {name: columns[name] for name in values} == {name: both[0] for name, both in values.items()}
    assert run(*command, "-o", "out.parquet").exit_code == 0
    table = pq.read_table("out.parquet")
    assert table["text"].to_pylist() == ["=1+1", "plain"]
    assert table["day"].to_pylist() == [date(2024, 1, 2), date(2024, 1, 3)]
