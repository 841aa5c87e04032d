"""Trees on the emulated chip and on the desk; files of models."""

from __future__ import annotations

import shutil
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from benchmarks.export import storage
from benchmarks.export.chips import predictors
from benchmarks.export.chips.board import GCC, QEMU, Board
from benchmarks.export.chips.sources import ours
from benchmarks.export.chips.trees import Model, at_thresholds, readings, with_holes
from benchmarks.timing import Stopwatch

needs_board = pytest.mark.skipif(
    not (shutil.which(GCC[0]) and shutil.which(QEMU[0])),
    reason="a cross compiler and an emulator: gcc-arm-none-eabi and qemu-system-arm",
)


@needs_board
@pytest.mark.parametrize("source", [("if", "int16", "uint8", False), ("bins", "float", "float", True)])
def test_the_board_answers_as_the_tree_and_holds_what_it_weighs(source, tmp_path: Path) -> None:
    model = Model.grow(10)
    made = ours(model, *source)
    X, _ = readings(40, seed=1)
    X = np.vstack([X, at_thresholds(model, X)])
    X = X if made.complete else with_holes(X)
    board = Board(made, tmp_path)
    run, truth = board.run(X), model.estimator.predict_proba(X)
    assert (run.classes == truth.argmax(axis=1)).all()
    assert np.abs(run.probabilities - truth).max() <= made.bound
    assert 0 < run.stack < 200
    (small, no_ram), (large, none) = (board.weigh(f"chip_{name}") for name in ("class", "probabilities"))
    assert 100 < small < large < 1000
    assert no_ram == none == 0


def test_rows_at_thresholds_lie_on_both_sides() -> None:
    model = Model.grow(10)
    X, _ = readings(300, seed=1)
    moved = at_thresholds(model, X)
    changed = (moved != X).sum(axis=1)
    assert changed.max() == 1
    cuts = model.tree.skeleton.threshold
    beside = np.isin(moved, np.floor(cuts)), np.isin(moved, np.floor(cuts) + 1)
    assert all(side.any(axis=1).sum() > 100 for side in beside)


@pytest.mark.parametrize(
    ("name", "bound"),
    [
        ("C, bins", 2**-25),
        ("hornbeam predict_proba", 0.0),
        ("Python export", 0.0),
        ("scikit-learn predict_proba", 0.0),
    ],
)
def test_a_predictor_answers_as_the_tree(name: str, bound: float) -> None:
    """Four of the predictors, which need nothing more; the benchmark itself checks them all."""
    model = Model.grow(10)
    X, _ = readings(400, seed=1)
    makers = predictors.programs(model, X) | predictors.libraries(model, X)
    predictor, watch = makers[name](), Stopwatch()
    assert predictor.error(model.estimator.predict_proba(X)) <= bound
    assert predictor.run(watch) == {}
    assert watch.parts["rows"].wall > 0


def test_models_come_back_from_their_files(tmp_path: Path) -> None:
    X, _ = readings(50)
    for shelf in islice(storage.shelves(100), 4):
        found = shelf.turn(tmp_path / shelf.name, X, Stopwatch())
        assert found["same"]
        assert found["nodes"] == 99
        assert 20 < found["bytes"] / 99 < 200
