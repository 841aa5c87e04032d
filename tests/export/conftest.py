"""Imports between the modules of this folder, and a table of all comparisons."""

import json
import os
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # pytest's importlib mode does not add the folder

from differences import ParityCount, count_differences, table, version


@pytest.fixture
def compare(record_property):
    """A function that asserts that predictions are the trees' own, and records the comparison."""

    def assert_equal(target, runtime, cases, predictions, *, trial="random models", bound=0.0, one=1):
        found = count_differences(
            ParityCount(trial, target, version(runtime), bound=bound), cases, predictions, one
        )
        record_property("parity", asdict(found))
        assert found.sound, found

    return assert_equal


@pytest.fixture
def recover(record_property):
    """A function that asserts that names are read back unchanged, and records the comparison."""

    def assert_equal(target, runtime, names, found):
        names, found = list(names), list(found)
        lost = sum(name != back for name, back in zip(names, found, strict=False))
        lost += abs(len(names) - len(found))
        note = ParityCount("hostile names", target, version(runtime), names=len(set(names)), names_lost=lost)
        record_property("parity", asdict(note))
        assert found == names

    return assert_equal


def pytest_terminal_summary(terminalreporter):
    """Print the table; write it to the file HORNBEAM_EXPORT_TABLE if no test failed."""
    if hasattr(terminalreporter.config, "workerinput"):
        return  # a worker of xdist has only a part of the reports
    total: dict[tuple[str, str], ParityCount] = {}
    for report in (*terminalreporter.getreports("passed"), *terminalreporter.getreports("failed")):
        for key, value in report.user_properties if report.when == "call" else ():
            if key == "parity":
                found = ParityCount(**value)
                at = (found.trial, found.target)
                total[at] = total[at] + found if at in total else found
    for trial in dict.fromkeys(trial for trial, _ in total):
        terminalreporter.section(f"exports: {trial}")
        for line in table([found for found in total.values() if found.trial == trial]):
            terminalreporter.write_line(line)
    path = os.environ.get("HORNBEAM_EXPORT_TABLE")
    if path and total and not terminalreporter.getreports("failed"):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(
            "".join(f"{json.dumps(asdict(found))}\n" for found in total.values()), encoding="utf-8"
        )
