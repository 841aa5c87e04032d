"""Files as people really have them."""

import gzip
from pathlib import Path

import pytest

import hornbeam

ROWS = "".join(f"{i},{'ab'[i % 2]},{'yes' if i % 2 else 'no'}\n" for i in range(30))


@pytest.fixture
def fit(run):
    def command(data: bytes, *options: str):
        Path("data.csv").write_bytes(data)
        return run("fit", "data.csv", "-t", "y", "-o", "m.hornbeam", *options)

    return command


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "'data.csv' is empty"),
        (b"\n \n\n", "'data.csv' is empty"),
        (b"x,y\n", "has column names, but no rows"),
        (b"y\nno\nyes\n", "No column is left to learn 'y' from: there is no other"),
        (b"x,y\n1,no\n2\n3,yes\n", "row 2 has 1 values, expected 2, one for each name."),
        (b"x,y\n1,no,5\n", "row 1 has 3 values, expected 2"),
        (b"x,x,y\n1,2,no\n", "two columns named 'x'"),
        (b"x,z\n1,no\n", "There is no column 'y' in 'data.csv'. Its columns are 'x', 'z'."),
        (b"x,y\ncaf\xe9,no\nth\xe9,yes\n", "Column 'x' of 'data.csv' is not UTF-8"),
        (b"PK\x03\x04\x00\x00zip", "is not a text file"),
        (b"PAR1 no parquet at all", "cannot be read as Parquet"),
        (b"x,y\n1,\n2,\n", "Column 'y' has no values"),
        (b"x,y\n1,0.5\n2,0.25\n", "Unknown label type: continuous"),
        (b"x,y\n1,no\n1,yes\n", "No column is left to learn 'y' from: 'x' has one value only"),
    ],
)
def test_what_cannot_be_used_is_told_in_one_line(fit, data, words):
    result = fit(data, "-q")
    assert result.exit_code == 3
    assert words in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not Path("m.hornbeam").exists()


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf" + f"x,z,y\n{ROWS}".encode(),
        f"x,z,y\n{ROWS}".replace("\n", "\r\n").encode(),
        f"\n\nx,z,y\n{ROWS}".encode(),
        f" x , z , y \n{ROWS}".replace(",", " , ").encode(),
        f'"x","z","y"\n{ROWS}'.encode(),
        f"x;z;y\n{ROWS}".replace(",", ";").encode(),
        f"x,z,y\n{ROWS}".rstrip().encode(),
    ],
    ids=["BOM", "CRLF", "blank lines", "blanks", "quotes", "semicolons", "no last newline"],
)
def test_other_manners_of_writing_are_the_same_rows(fit, data):
    assert fit(data, "--numeric", "x").exit_code == 0
    found = hornbeam.load("m.hornbeam").tree_
    assert fit(f"x,z,y\n{ROWS}".encode(), "--numeric", "x").exit_code == 0
    assert found.digest == hornbeam.load("m.hornbeam").tree_.digest


def test_quoted_newlines_delimiters_and_quotes_are_values(fit):
    assert fit(b'z,y\n"a\nb, ""c""",no\nplain,yes\n' + b"plain,yes\n" * 3).exit_code == 0
    [feature] = hornbeam.load("m.hornbeam").tree_.schema.features
    assert feature.categories == ('a\nb, "c"', "plain")


def test_missing_marks_are_missing_and_can_be_others(fit):
    data = b"x,z,y\n" + b"1,a,no\n?,b,yes\n3, NA,no\n4,a,yes\n" * 10
    assert "missing   x 10, z 10" in fit(data).stderr
    assert "missing" not in fit(data, "--null-value", "none of these").stderr


def test_decimal_commas_and_other_encodings_are_read(fit):
    data = "größe;y\n" + "1,5;no\n2,5;yes\n" * 5
    assert fit(data.encode("latin-1"), "--decimal", ",", "--encoding", "latin-1").exit_code == 0
    tree = hornbeam.load("m.hornbeam").tree_
    assert tree.schema.names == ("größe",)
    assert tree.skeleton.threshold[0] == 2.0


def test_compressed_files_are_read(run):
    Path("loans.csv.gz").write_bytes(gzip.compress(Path("loans.csv").read_bytes()))
    assert run("fit", "loans.csv.gz", "-t", "state", "-o", "m.hornbeam").exit_code == 0


def test_a_column_without_a_name_gets_one(fit):
    result = fit(
        b",x,y\n" + b"".join(b"%d,%d,%s\n" % (i, i % 5, b"ny"[i % 2 : i % 2 + 1]) for i in range(30))
    )
    assert "warning: 'column 1' numbers the rows: left out" in result.stderr


def test_new_rows_that_do_not_fit_are_told(run, model):
    head = "amount,income,age,purpose,owner,zip\n"
    for row, words in (
        ("much,1,2,car,true,01067", "column 'amount', row 1: the value is not a number."),
        ("1,1,2,car,perhaps,01067", "column 'owner', row 1: the value is not a boolean."),
    ):
        Path("new.csv").write_text(f"{head}{row}\n", encoding="utf-8")
        result = run("predict", model, "new.csv")
        assert result.exit_code == 3
        assert words in result.stderr
    Path("new.csv").write_text("amount,income,age,purpose,owner\n1,1,2,car,true\n", encoding="utf-8")
    assert "There is no column 'zip' in 'new.csv'" in run("predict", model, "new.csv").stderr
    Path("new.csv").write_text(f"state,{head}worse,1,1,2,car,true,01067\n", encoding="utf-8")
    assert "y has the label 'worse'" in run("score", model, "new.csv", "-t", "state").stderr
