"""One line on a platform: its versions, recorded digests that are equal there, and tests that pass there.

    python benchmarks/machines/check.py "Windows, Wine" --how "zig 0.17" --out windows.json tests/golden tests/storage

Runs pytest on the given paths with the interpreter that runs this file, and writes counts and versions as JSON.
Tests of tests/golden/test_digests.py and test_models.py compare one recorded digest each; they are counted apart.
Options after `--` go to pytest. Ends with an error if a test failed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import sysconfig
from collections import Counter
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pytest

DIGESTS = ("golden/test_digests.py", "golden/test_models.py")
PACKAGES = ("hornbeam", "numpy", "scipy", "scikit-learn", "narwhals")


class Outcomes:
    """Counts what became of every test: of the digests, and of the others."""

    def __init__(self) -> None:
        self.digests: Counter[str] = Counter()
        self.tests: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Count a test once: by its call, or by a set-up that skipped it or failed."""
        if report.when == "call" or (report.when == "setup" and report.outcome != "passed"):
            compared = "written_down[" in report.nodeid and any(path in report.nodeid for path in DIGESTS)
            (self.digests if compared else self.tests)[report.outcome] += 1

    def pytest_collectreport(self, report: Any) -> None:
        """Count a file that cannot be read as one failed test, a skipped one as one skipped."""
        if report.outcome != "passed":
            self.tests[report.outcome] += 1


def about() -> dict[str, Any]:
    """Machine, system, interpreter and libraries."""
    versions = {}
    for name in PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:  # from a folder, or not there
            continue
    libc = " ".join(platform.libc_ver())
    return {
        "machine": platform.machine(),
        "byteorder": sys.byteorder,
        "system": platform.system() + (f", {libc}" if libc.strip() else ""),
        "python": platform.python_version() + ("t" if sysconfig.get_config_var("Py_GIL_DISABLED") else ""),
        **versions,
    }


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("platform", help="its name in the table")
    parser.add_argument("paths", nargs="+", help="tests to run, then options for pytest after --")
    parser.add_argument("--how", required=True, help="compiler, wheel or emulator, in a few words")
    parser.add_argument("--out", type=Path, required=True, help="where the line is written")
    options = parser.parse_args()
    outcomes = Outcomes()
    status = pytest.main(["-q", "--no-header", *options.paths], plugins=[outcomes])
    line = {
        "platform": options.platform,
        "how": options.how,
        **about(),
        "digests": dict(outcomes.digests),
        "tests": dict(outcomes.tests),
        "processor_seconds": round(sum(os.times()[:4])),
    }
    options.out.write_text(json.dumps(line) + "\n", encoding="utf-8")
    print(json.dumps(line))
    return int(status)


if __name__ == "__main__":
    sys.exit(main())
