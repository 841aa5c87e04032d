"""Every Python, NumPy and platform must grow these trees, bit for bit.

Data sets are made of whole numbers from a generator written out below, so nothing depends on a library's
random streams. After a change that is meant to change trees, write the digests anew and say why:

    PYTHONPATH=src:tests python tests/golden/test_digests.py
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hornbeam.data.fixed_point import fixed_point_weights
from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.data.table import Table
from hornbeam.growing.criterion import Criterion
from hornbeam.recipe import PRESETS

FILE = Path(__file__).with_name("digests.json")


def numbers(seed: int) -> Iterator[int]:
    """Knuth's linear congruential generator, its upper 32 bits."""
    state = seed
    while True:
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        yield state >> 32


def make(
    seed: int,
    n_rows: int,
    n_classes: int,
    *,
    numeric: int = 3,
    nominal: int = 0,
    n_values: int = 50,
    n_categories: int = 8,
    holes: int = 0,
    weights: int = 0,
    noise: int = 4,
) -> Table:
    """A class that leans on two features; one value in `holes` is missing, one class in `noise` drawn."""
    stream = numbers(seed)

    def draw(top: int) -> np.ndarray:
        return np.array([next(stream) % top for _ in range(n_rows)])

    names = tuple(f"category {c}" for c in range(n_categories))
    features = [Feature(f"number {f}") for f in range(numeric)]
    features += [Feature(f"name {f}", Kind.NOMINAL, names) for f in range(nominal)]
    columns = [draw(n_values) / 8 for _ in range(numeric)]
    columns += [draw(n_categories).astype(np.int32) for _ in range(nominal)]
    lean = sum(
        (np.floor(column * (at + 1)).astype(int) for at, column in enumerate(columns[:2])), 0 * draw(2)
    )
    target = np.where(draw(noise) == 0, draw(n_classes), lean // 3 % n_classes).astype(np.int32)
    if holes:
        for column in columns:
            column[draw(holes) == 0] = np.nan if column.dtype == np.float64 else -1
    weight, unit = fixed_point_weights((draw(weights) + 1) / 7) if weights else (None, 1.0)
    return Table(Schema(tuple(features), tuple(range(n_classes))), tuple(columns), target, weight, unit, None)


DATA: dict[str, Callable[[], Table]] = {
    "few rows": lambda: make(1, 20, 2),
    "two classes": lambda: make(2, 400, 2),
    "seven classes": lambda: make(3, 400, 7),
    "forty classes": lambda: make(4, 600, 40, noise=2),
    "names": lambda: make(5, 300, 2, numeric=0, nominal=3),
    "names, five classes": lambda: make(6, 300, 5, numeric=0, nominal=3, n_categories=20),
    "numbers and names": lambda: make(7, 400, 3, nominal=2),
    "holes": lambda: make(8, 300, 3, nominal=2, holes=6),
    "weights": lambda: make(9, 300, 4, nominal=1, weights=100),
    "holes and weights": lambda: make(10, 300, 2, nominal=1, holes=9, weights=9),
    "many values": lambda: make(11, 2500, 2, n_values=2**20),
    "noise alone": lambda: make(12, 1500, 3, noise=1, n_values=30, nominal=1, holes=20),
}
# Smoothing is left to its own tests: here is what was grown.
RECIPES = {name: replace(recipe, smoother=None) for name, recipe in PRESETS.items()}
RECIPES["hellinger"] = replace(
    RECIPES["default"], grower=replace(RECIPES["default"].grower, criterion=Criterion.HELLINGER)
)


def digest(name: str, recipe: str) -> str:
    return RECIPES[recipe].fit(DATA[name]()).digest


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("name", DATA)
def test_trees_are_those_written_down(name, recipe):
    assert digest(name, recipe) == json.loads(FILE.read_text(encoding="utf-8"))[name][recipe]


def test_every_data_set_is_written_down():
    written = json.loads(FILE.read_text(encoding="utf-8"))
    assert {name: set(recipes) for name, recipes in written.items()} == {name: set(RECIPES) for name in DATA}


if __name__ == "__main__":
    found = {name: {recipe: digest(name, recipe) for recipe in RECIPES} for name in DATA}
    FILE.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
