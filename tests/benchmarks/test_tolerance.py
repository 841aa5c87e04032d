"""The guide's table of tolerances is that of the committed results."""

from benchmarks.quality import tolerance


def test_the_guide_has_the_table_of_the_file():
    assert tolerance.table(tolerance.read()) in tolerance.PAGE.read_text(encoding="utf-8")


def test_a_row_by_hand():
    records = [
        {"leaves": [10.0, 8, 6, 5, 3, 2], "log loss": [0.5, 0.504, 0.5, 0.55, 0.56, 0.6]},
        {"leaves": [30.0, 9, 6, 3, 3, 1], "log loss": [0.4, 0.4, 0.4, 0.4, 0.44, 0.6]},
    ]
    row = tolerance.table(records).splitlines()[3]
    assert row == "| 1 % | 8 | 0.55 | 0.4 % | 0.4 % | 2 |"
