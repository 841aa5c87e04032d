"""The runner finds crashes, hangs, too much memory and wrong verdicts, and shrinks what it finds."""

import json
import os
import time
from argparse import Namespace

import pytest
from benchmarks.attacks.__main__ import plan
from benchmarks.attacks.areas import Area, load, names
from benchmarks.attacks.runner import attack, keep
from benchmarks.attacks.shrink import kind_of, shrink

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="children are forked"),
    pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning"),
]


class Numbered(Area):
    """The case of an index has its number."""

    def case(self, seed, index):
        return {"n": index, "words": ["a", "b"]}


def draw(rng):
    return {"n": int(rng.integers(7))}


def judge(case):
    n = case.get("n", 0)
    if n == 7:
        os.abort()
    if n == 8:
        while True:
            pass
    if n == 9:
        raise KeyError(n)
    if n == 10:
        bytearray(30 * 2**20)
    if n == 11:
        time.sleep(60)
    return f"{n} is too large" if n > 15 else None


AREA = Numbered("made", draw, judge, limit=0.2, patience=3.0, memory=20.0, warm_up=0.0)


@pytest.fixture(scope="module")
def found():
    return attack(AREA, n=20, workers=2)


def test_all_cases_are_judged_though_children_crash(found):
    assert found.n == 20
    indices = [failure["index"] for failure in found.failures]
    assert sorted(indices) == [7, 8, 9, 10, 11, 16, 17, 18, 19]


@pytest.mark.parametrize(
    ("n", "verdict"),
    [
        (7, "crash: exit status -6"),
        (8, "hang: "),  # by processor time, or by the clock where others have the processor
        (9, "KeyError left judge: 9"),
        (10, "MB more for one case"),
        (11, "hang: no answer in 3 s"),
        (17, "17 is too large"),
    ],
)
def test_each_failure_is_named(found, n, verdict):
    said = {failure["verdict"] for failure in found.failures if failure["case"]["n"] == n}
    assert said
    assert all(verdict in one for one in said), said


def test_a_time_budget_ends_the_attack():
    found = attack(Area("made", draw, lambda case: time.sleep(0.01)), seconds=0.3, workers=1)
    assert 0 < found.n < 60  # a child sends results after 0.25 s or 26 cases, and gets more cases once


def test_a_failure_of_each_kind_is_shrunk_and_kept(found, tmp_path):
    some = [failure for failure in found.failures if failure["case"]["n"] in (7, 18)]
    found = attack(AREA, n=0)
    found.failures = some
    said = [json.loads(file.read_text(encoding="utf-8")) for file in keep(AREA, found, tmp_path)]
    assert sorted((one["case"]["n"], len(one["case"])) for one in said) == [(7, 1), (16, 1)]


def test_shrinking_drops_items_and_keys_and_makes_values_smaller():
    case = {"edits": [["set", 40], ["drop", 3], ["set", 17]], "seed": 12, "name": "abcxdef"}

    def fails(tried):
        edits = any(edit[:1] == ["set"] and edit[1:] > [10] for edit in tried.get("edits", []))
        return edits and "x" in tried.get("name", "")

    assert shrink(case, fails) == {"edits": [["set", 11]], "name": "x"}


def test_failures_that_differ_in_numbers_are_of_one_kind():
    assert kind_of("node 3 of 'a' has 1e5 rows") == kind_of("node 12 of 'bc' has -7 rows")
    assert kind_of("KeyError: a") != kind_of("TypeError: a")


def test_ci_tries_a_fixed_number_of_cases_of_every_area():
    areas = [load(name) for name in names()]
    planned = plan(areas, Namespace(ci=True, n=None, seconds=None))
    assert [(area.name, n, seconds) for area, n, seconds in planned] == [
        (area.name, area.in_ci, None) for area in areas
    ]
    assert [area.name for area in areas if not area.in_ci] == ["spark_faults"]


def test_every_area_draws_cases_of_plain_values():
    for name in names():
        area = load(name)
        if not area.missing():
            case = area.case(0, 1)
            assert json.loads(json.dumps(case)) == case
            assert case == area.case(0, 1)
