"""Every Python, NumPy and platform must give these models and their predictions, bit for bit.

Smoothed, pruned and distilled trees, forests, boosting, rankers and rules, on the first data sets of
`benchmarks/machines/same_bits.py`. After a change that is meant to change models, write the digests anew and say why:

    PYTHONPATH=src:. python tests/golden/test_models.py
"""

import json
import warnings
from functools import cache
from pathlib import Path

import pytest

pytest.importorskip("sklearn")
from benchmarks.machines.same_bits import digest, fits, make_set

FILE = Path(__file__).with_name("models.json")
N_SETS = 6
KINDS = list(fits(make_set(0), 0))
data_set = cache(make_set)


def found(number: int, kind: str) -> str:
    with warnings.catch_warnings():  # small sets: a warning is not what is compared here
        warnings.simplefilter("ignore")
        return digest(*fits(data_set(number), number)[kind]())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("number", range(N_SETS))
def test_models_are_those_written_down(number, kind):
    assert found(number, kind) == json.loads(FILE.read_text(encoding="utf-8"))[str(number)][kind]


def test_every_model_is_written_down():
    written = json.loads(FILE.read_text(encoding="utf-8"))
    assert {name: set(kinds) for name, kinds in written.items()} == {
        str(number): set(KINDS) for number in range(N_SETS)
    }


if __name__ == "__main__":
    written = {str(number): {kind: found(number, kind) for kind in KINDS} for number in range(N_SETS)}
    FILE.write_text(json.dumps(written, indent=2) + "\n", encoding="utf-8")
