"""Answers in CSV: no cell that a spreadsheet takes for a formula."""

import csv
import io

import pandas as pd
import pytest

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
