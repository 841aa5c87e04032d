"""Cases that once failed, shrunk and kept by `nox -s attack`."""

import json
from pathlib import Path

import pytest
from benchmarks.attacks.areas import load, names

KEPT = sorted((Path(__file__).parent / "kept").glob("*.json"))


@pytest.mark.parametrize("file", KEPT, ids=lambda file: file.stem)
@pytest.mark.filterwarnings("ignore")  # a case may warn; its judge says what counts
def test_a_kept_case_passes(file):
    said = json.loads(file.read_text(encoding="utf-8"))
    area = load(said["area"])
    for package in area.needs:
        pytest.importorskip(package)
    assert area.judge(said["case"]) is None


def test_every_kept_file_has_an_area():
    assert {file.stem.rpartition("-")[0] for file in KEPT} <= set(names())
