"""Model files with changed content: each is refused with a StorageError, or the model works.

A case names a model, a form of file, edits of its header and arrays, edits of its bytes, and whether the checksum is
the right one. A model that loads is used: predictions, probabilities, intervals, explanations, text, more rows and
fewer, and saved again. `update` and `forget` may be refused with a HornbeamError, everything else must work.
"""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import hornbeam
from benchmarks.attacks.edits import apply, change_bytes, draw_bytes, draw_edit, draw_number, numbers
from benchmarks.attacks.model_files import MODELS, sound, write
from hornbeam.data.schema import Kind, Schema
from hornbeam.data.table import Table
from hornbeam.errors import HornbeamError, StorageError
from hornbeam.estimators.persistence.files import pack
from hornbeam.export import to_text
from hornbeam.smoothing.interval_calibration import calibrate_taught_tree, effective_size
from hornbeam.smoothing.replay import replay, smoothers_of
from hornbeam.storage.file import encode
from hornbeam.tree.evidence.update import add_rows
from hornbeam.tree.route import predict_rows
from hornbeam.tree.tree import Tree

IN_CI = 2000
LIMIT, WARM_UP, MEMORY = 1.0, 120.0, 256


def prepare() -> None:
    """Fit all models once, before processes are forked."""
    warnings.simplefilter("ignore")
    for name in MODELS:
        sound(name)


def draw(rng: np.random.Generator) -> dict[str, Any]:
    name = list(MODELS)[rng.integers(len(MODELS))]
    file = sound(name)
    several = "tree_nodes" in file.arrays
    case: dict[str, Any] = {
        "model": name,
        "form": "tensors" if several or rng.random() < 0.5 else "text",
        "checksum": str(rng.choice(["right", "old", "none"], p=[0.5, 0.25, 0.25])),
        "header": [],
        "arrays": [],
        "bytes": [],
    }
    for _ in range(int(rng.choice([1, 1, 2, 3]))):
        kind = rng.choice(["header", "arrays", "bytes"], p=[0.5, 0.35, 0.15])
        if kind == "header":
            case["header"].append(draw_edit(rng, _part(rng, file.header)))
        elif kind == "arrays":
            case["arrays"].append(draw_number(rng, file.arrays))
        else:
            case["bytes"].append(draw_bytes(rng))
    return case


def _part(rng: np.random.Generator, header: dict[str, Any]) -> dict[str, Any]:
    """The header, or those of its entries that are most of what a model is beside its arrays."""
    if rng.random() < 0.3:
        return header
    return {key: header[key] for key in ("history", "estimator") if header[key]} or header


def judge(case: dict[str, Any]) -> str | None:
    data = _file(case)
    if data is None:
        return None
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder, "model.hornbeam")
        path.write_bytes(data)
        try:
            model = hornbeam.load(path)
        except StorageError:
            return None
        except Exception as error:
            return f"load: {type(error).__name__}: {error}"[:300]
        return use(model, Path(folder))


def _file(case: dict[str, Any]) -> bytes | None:
    """The bytes of a case; None if it makes no sense."""
    if case.get("model") not in MODELS:
        return None
    file = sound(case["model"]).copy()
    for edit in _list(case, "header"):
        apply(edit, file.header)
    for edit in _list(case, "arrays"):
        apply(edit, file.arrays)
    file.arrays = {name: numbers(values) for name, values in file.arrays.items() if isinstance(values, list)}
    written = write(file, str(case.get("form")), str(case.get("checksum")))
    if written is None:
        return None
    data = bytearray(written)
    for edit in _list(case, "bytes"):
        change_bytes(edit, data)
    return bytes(data)


def _list(case: dict[str, Any], name: str) -> list[Any]:
    found = case.get(name)
    return found if isinstance(found, list) else []


# ---- use ---------------------------------------------------------------------------------------------------


def use(model: Any, folder: Path) -> str | None:
    """Use a model that was loaded; what went wrong."""
    for name, act in _uses(model, folder):
        try:
            with np.errstate(all="ignore"):
                act()
        except HornbeamError as error:
            if name not in ("update", "forget", "replay"):
                return f"{name} refused by {type(error).__name__}: {error}"[:300]
        except Exception as error:
            return f"{name}: {type(error).__name__}: {error}"[:300]
    return None


def _uses(model: Any, folder: Path) -> list[tuple[str, Any]]:
    tree = model if isinstance(model, Tree) else getattr(model, "tree_", None)
    uses: list[tuple[str, Any]] = []
    if isinstance(tree, Tree):
        uses += _uses_of_tree(tree)
    if not isinstance(model, Tree):
        uses += _uses_of_estimator(model)
    return [*uses, ("save", lambda: _save(model, folder))]


def _uses_of_tree(tree: Tree) -> list[tuple[str, Any]]:
    table = _table(tree.schema)

    def answers() -> None:
        if tree.schema.features:
            _check(predict_rows(tree, table), not tree.is_regression)

    def sizes() -> None:
        size = effective_size(tree)
        assert ((size >= 0) & (size < np.inf)).all(), "an effective size is no number of rows"

    def more() -> None:
        target = np.zeros(table.n_rows)
        rows = Table.read(_rows(tree.schema), target, schema=tree.schema) if tree.is_regression else None
        if rows is not None:
            replay(smoothers_of(tree.history), add_rows(tree, rows))

    return [
        ("digest", lambda: tree.digest),
        ("text", lambda: to_text(tree)),
        ("answer", answers),
        ("effective size", sizes),
        ("calibration of a taught tree", lambda: calibrate_taught_tree(tree)),
        ("replay", more),
    ]


def _uses_of_estimator(model: Any) -> list[tuple[str, Any]]:
    schema = _schema(model)
    X = _rows(schema)
    y = (
        np.zeros(len(X))
        if not hasattr(model, "classes_")
        else model.classes_[np.arange(len(X)) % len(model.classes_)]
    )

    def predict() -> None:
        predicted = model.predict(X)
        assert len(predicted) == len(X), "as many answers as rows"
        if not hasattr(model, "classes_"):
            assert not np.isnan(predicted).any(), "an answer is no number"

    def interval() -> None:
        lower, upper = model.predict_interval(X)
        assert (lower <= upper).all(), "an interval is none"

    def explain() -> None:
        str(model.explain(X[:2] if isinstance(X, np.ndarray) else X.iloc[:2]))

    def change() -> None:
        model.update(X, y)

    uses = [("repr", lambda: repr(model)), ("predict", predict)]
    if hasattr(model, "predict_proba"):
        uses.append(("predict_proba", lambda: _check(model.predict_proba(X), True)))
    no_ranges = hasattr(model, "forest_") and model._distribution is None
    if hasattr(model, "predict_interval") and not no_ranges:
        uses.append(("predict_interval", interval))
    if hasattr(model, "explain"):
        uses.append(("explain", explain))
    if hasattr(model, "update"):
        uses += [
            ("update", change),
            ("forget", lambda: model.forget(X, y)),
            ("predict after update", predict),
        ]
    return uses


def _schema(model: Any) -> Schema:
    for name in ("tree_", "forest_", "boosted_", "voting_", "rules_"):
        if hasattr(model, name):
            schema: Schema = getattr(model, name).schema
            return schema
    raise TypeError(type(model).__name__)


def _rows(schema: Schema) -> Any:
    """Rows of a schema: numbers, all categories, missing values."""
    n = 6
    if schema.is_numeric:
        column = np.array([0.0, 1.0, -1e300, np.nan, np.inf, 2.5])
        return (
            np.stack([np.roll(column, at) for at in range(schema.n_features)], axis=1)
            if schema.features
            else np.zeros((n, 0))
        )
    columns = {}
    for at, feature in enumerate(schema.features):
        values = [*feature.categories, None] if feature.kind is not Kind.NUMERIC else [0.0, 1.0, np.nan]
        series = [values[(at + row) % len(values)] for row in range(n)]
        columns[feature.name] = pd.Series(series, dtype=float if feature.kind is Kind.NUMERIC else object)
    return pd.DataFrame(columns)


def _table(schema: Schema) -> Table:
    rng = np.random.default_rng(0)
    columns = tuple(
        rng.integers(-2, len(feature.categories), 16, dtype=np.int32)
        if feature.kind is Kind.NOMINAL
        else rng.choice([0.0, 1.0, 2.0, 1e300, -np.inf, np.inf, np.nan], 16)
        for feature in schema.features
    )
    return Table(schema, columns, None, None, 1.0, None)


def _check(answers: Any, probabilities: bool) -> None:
    assert np.isfinite(answers).all(), "an answer is no number"
    if probabilities:
        assert np.abs(answers.sum(axis=1) - 1).max() < 1e-6, "probabilities do not add up to 1"
        assert (answers >= 0).all(), "a probability is below 0"


def _save(model: Any, folder: Path) -> None:
    path = folder / "again.hornbeam"
    packed = pack(model)
    path.write_bytes(encode(packed))
    again = pack(hornbeam.load(path))
    assert [tree.digest for tree in again.trees] == [tree.digest for tree in packed.trees], (
        "another model once it is saved and loaded"
    )
