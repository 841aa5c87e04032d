"""The table of what the kernels reach of the machine."""

import json
import shutil

import pytest
from benchmarks.speed import roofline

pytestmark = pytest.mark.skipif(shutil.which("c++") is None, reason="compiles a program")


def test_the_table_has_every_kernel_and_shares_of_positive_limits(monkeypatch):
    monkeypatch.setattr(roofline, "ROUNDS", 1)
    limits = roofline.limits()
    assert all(limit > 0 for limit in limits)
    measured = {"limits": list(limits), "kernels": [one._asdict() for one in roofline.kernels(20_000)]}
    table = roofline.table(json.loads(json.dumps(measured))).splitlines()
    names = [line.split(" | ")[0].removeprefix("| ") for line in table[2:6]]
    assert names == ["histogram", "partition", "route", "sweep"]
    assert table[2].endswith("% |")
    assert "GB/s" in table[-1]
