"""Let the modules of this folder import each other, and make a table of all that they compare."""

import json
import os
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # whichever way pytest imports them

from tally import Tally, table, tally, version


@pytest.fixture
def compare(record_property):
    """A function that compares answers with the trees' own, notes what it finds, and insists on it."""

    def insist(target, runtime, asked, answers, *, trial="random models", bound=0.0, one=1):
        found = tally(Tally(trial, target, version(runtime), bound=bound), asked, answers, one)
        record_property("tally", asdict(found))
        assert found.sound, found

    return insist


@pytest.fixture
def recover(record_property):
    """A function that compares names that came back with those that were written, and notes and insists."""

    def insist(target, runtime, names, found):
        names, found = list(names), list(found)
        lost = sum(name != back for name, back in zip(names, found, strict=False))
        lost += abs(len(names) - len(found))
        note = Tally("hostile names", target, version(runtime), names=len(set(names)), names_lost=lost)
        record_property("tally", asdict(note))
        assert found == names

    return insist


def pytest_terminal_summary(terminalreporter):
    """Print the table; keep it where HORNBEAM_EXPORT_TABLE says, if nothing failed."""
    if hasattr(terminalreporter.config, "workerinput"):
        return  # a worker of xdist has seen a part
    total: dict[tuple[str, str], Tally] = {}
    for report in (*terminalreporter.getreports("passed"), *terminalreporter.getreports("failed")):
        for key, value in report.user_properties if report.when == "call" else ():
            if key == "tally":
                found = Tally(**value)
                at = (found.trial, found.target)
                total[at] = total[at] + found if at in total else found
    for trial in dict.fromkeys(trial for trial, _ in total):
        terminalreporter.section(f"exports: {trial}")
        for line in table([found for found in total.values() if found.trial == trial]):
            terminalreporter.write_line(line)
    path = os.environ.get("HORNBEAM_EXPORT_TABLE")
    if path and total and not terminalreporter.getreports("failed"):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text("".join(f"{json.dumps(asdict(found))}\n" for found in total.values()))
