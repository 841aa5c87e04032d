"""Coverage of the intervals of `compare`: the recorded study, and a small one."""

from pathlib import Path

import pytest
from benchmarks.quality.compared import WORLDS, judge, read, table
from scipy.stats import binom

RECORDED = read(Path(__file__).parents[2] / "benchmarks/results/coverage/compared.jsonl")
#: Worlds of enough rows, and of the class of interest in enough of them.
LARGE = ("usual 500", "equal 500", "rare 2000", "leaves 500", "three 60", "three 300", "grouped 400")


def test_the_study_has_every_world():
    assert {line["world"] for line in RECORDED} == set(WORLDS)
    assert {line["sets"] for line in RECORDED} == {2000}
    assert table(RECORDED).count("\n") == 9


@pytest.mark.parametrize("world", LARGE)
def test_intervals_of_ninety_percent_hold_in_88_to_92(world):
    [line] = [line for line in RECORDED if line["world"] == world]
    assert {name: one for name, one in line["intervals"].items() if not 0.88 <= one["held"] <= 0.92} == {}
    assert min(one["given"] for one in line["intervals"].values()) == 2000


def test_in_hard_worlds_they_hold_in_86_or_more():
    shares = {
        (line["world"], name): one["held"] for line in RECORDED for name, one in line["intervals"].items()
    }
    assert min(shares.values()) >= 0.86
    too_often = {name.removesuffix(" difference") for (_, name), share in shares.items() if share > 0.94}
    assert too_often <= {"cost per row", "cost per row value", "net benefit", "alerts per 1,000"}


def test_rows_of_groups_alone_do_not():
    for line in RECORDED:
        shares = [one["rows_alone"] for one in line["intervals"].values() if "rows_alone" in one]
        assert not shares or min(shares) < 0.6


@pytest.mark.parametrize("world", ["usual 60", "grouped 100"])
def test_a_small_study(world):
    n_sets = 100
    least = binom.ppf(0.001, n_sets, 0.87) / n_sets
    found = judge(world, n_sets, 11, population=60_000)["intervals"]
    for name in ("log loss", "Brier score", "area under the curve", "calibration in the large"):
        one = found[f"{name} difference"]
        assert one["held"] >= least, name
        assert one.get("rows_alone", 0) < one["held"]
