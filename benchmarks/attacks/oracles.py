"""What must hold of every fit, whatever its rows and parameters; `ORACLES` lists all of them.

An oracle takes a `Fit` and raises `WrongError`. A `HornbeamError` is a proper refusal of what the oracle asked for.
"""

from __future__ import annotations

import json
import pickle
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from copy import copy, deepcopy
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import hornbeam
from benchmarks.attacks import refits
from benchmarks.attacks.names import tests
from benchmarks.attacks.tables import NOT_IN_PARQUET, Rows
from hornbeam import export
from hornbeam.data.row_order import rows_have_copies
from hornbeam.data.schema import Kind
from hornbeam.errors import HornbeamError
from hornbeam.estimators.persistence.files import pack
from hornbeam.evaluation import stability
from hornbeam.storage.file import decode, encode
from hornbeam.storage.model import Model
from hornbeam.tree import Table
from hornbeam.tree.route import decide_rows, predict_rows
from hornbeam.tree.tree import Tree
from hornbeam.tree.unwrap import with_quantiles
from hornbeam.tree.walk import features_above

FIT_SECONDS = 10.0  # of processor time, for a fit of fewer than 500 rows
SMALL = 1e-9


class WrongError(Exception):
    """An oracle found a difference."""


def expect(holds: Any, words: str) -> None:
    """Raise `WrongError` if something does not hold."""
    if not holds:
        raise WrongError(words)


@dataclass(slots=True)
class Fit:
    """A fitted model, its rows, and how to fit another."""

    kind: str  #: the name of what was fitted
    model: Any
    rows: Rows
    fitted: Callable[..., Any]  #: fits a new estimator to rows, with some settings changed
    settings: dict[str, Any]
    rng: np.random.Generator
    folder: Path

    @property
    def tree(self) -> Tree | None:
        """The tree, if it is the model's only one and its predictions are the tree's."""
        if isinstance(self.model, Tree):
            return self.model
        owner = isinstance(self.model, (hornbeam.TreeClassifier, hornbeam.TreeRegressor))
        return self.model.tree_ if owner else None

    def predictions(self, model: Any = None, X: Any = None) -> Any:
        """Probabilities or numbers of the rows."""
        model, X = self.model if model is None else model, self.rows.X if X is None else X
        if isinstance(model, Tree):
            return predict_rows(model, Table.read(X, schema=model.schema))
        return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)


def trees(model: Any) -> list[Tree]:
    """The trees of a model; none if it cannot be saved."""
    if isinstance(model, Tree):
        return [model]
    try:
        return list(pack(model).trees)
    except HornbeamError:
        return []


def state(model: Any) -> list[str]:
    """The digests of a model's trees, and of the distribution of its target."""
    counted = getattr(model, "_distribution", None)
    return [tree.digest for tree in trees(model)] + ([] if counted is None else [counted.digest])


def same(first: Any, second: Any) -> bool:
    """Whether two arrays are equal to the bit."""
    return np.array_equal(np.asarray(first), np.asarray(second))


# ---- predictions and limits --------------------------------------------------------------------------------


def predictions(fit: Fit) -> None:
    """Predictions are finite, probabilities add up to 1, and `predict` chooses the best class."""
    found = fit.predictions()
    expect(np.isfinite(found).all(), "a prediction is not finite")
    if fit.rows.regression or found.ndim == 1:
        return
    expect((found >= 0).all() and (found <= 1 + 1e-12).all(), "a probability is not between 0 and 1")
    expect(np.abs(found.sum(axis=1) - 1).max() < SMALL, "probabilities do not add up to 1")
    if isinstance(fit.model, Tree):
        return
    score = found * getattr(fit.model, "class_weight_", 1.0)
    if fit.settings.get("costs") is not None:
        if fit.settings.get("class_weight") is not None or not hasattr(fit.model, "expected_cost"):
            return
        score = -fit.model.expected_cost(fit.rows.X)
    classes = list(fit.model.classes_)
    chosen = score[np.arange(len(score)), [classes.index(label) for label in fit.model.predict(fit.rows.X)]]
    expect(
        (chosen >= score.max(axis=1) - 1e-12 * max(1, np.abs(score).max())).all(),
        "predict is not the best class",
    )


def intervals(fit: Fit) -> None:
    """An interval contains its prediction, before and after calibration."""
    if not hasattr(fit.model, "predict_interval") or hasattr(fit.model, "forest_"):
        return  # forests have ranges of rows alone, which the oracle of distributions judges
    _interval(fit, fit.model)
    if hasattr(fit.model, "calibrate_intervals"):
        calibrated = deepcopy(fit.model)
        calibrated.calibrate_intervals(fit.rows.X, fit.rows.y, **fit.rows.options)
        _interval(fit, calibrated)


def _interval(fit: Fit, model: Any) -> None:
    found = fit.predictions(model)
    low, high = (np.reshape(bound, found.shape) for bound in model.predict_interval(fit.rows.X))
    slack = SMALL * max(1, np.abs(found).max())
    expect(np.isfinite(low).all() and np.isfinite(high).all(), "a bound is not finite")
    expect(
        (low <= found + slack).all() and (found <= high + slack).all(), "an interval without its prediction"
    )


def distribution(fit: Fit) -> None:
    """Quantiles rise with their level and are values that rows can have; counts are those of the rows of each node."""
    counted = getattr(fit.model, "_distribution", None)
    if counted is None:
        return
    X, y = fit.rows.X, np.asarray(fit.rows.y, float)
    found = fit.model.predict_quantile(X, [0.001, 0.1, 0.5, 0.9, 0.999])
    expect((np.diff(found, axis=1) >= 0).all(), "quantiles cross")
    drawn, whole = fit.model.sample(X, 3), fit.model.predict_distribution(X)
    if not whole.shift.any():  # terms shift them
        expect(y.min() <= min(found.min(), drawn.min()), "a value below all rows")
        expect(max(found.max(), drawn.max()) <= y.max(), "a value above all rows")
    if hasattr(fit.model, "tree_"):
        total = counted.tree.evidence.sum(axis=1)
        expect((total == fit.model.tree_.evidence[:, 0]).all(), "other counts than rows")
        columns = predict_rows(with_quantiles(fit.model, [0.1, 0.5]), _table(fit))[:, 1:]
        apart = np.abs(columns - found[:, 1:3]).max()
        expect(apart <= SMALL * max(1, np.abs(found).max()), "exported quantiles differ")
    expect(same(whole.quantile([0.1, 0.5]), found[:, 1:3]), "predict_distribution has other quantiles")
    expect((whole.probability >= 0).all(), "a probability below 0")
    expect(np.abs(whole.probability.sum(axis=1) - 1).max() < SMALL, "probabilities do not add up to 1")
    slack = SMALL * max(1, np.abs(found).max())
    expect((whole.cdf(found[:, 3] + slack) >= 0.9 - SMALL).all(), "cdf and quantiles differ")
    inner: Any = None
    for level in (0.5, 0.8):
        low, high = fit.model.predict_interval(X, level=level, kind="row")
        expect(((low <= found[:, 2]) & (found[:, 2] <= high)).all(), "a range without the median")
        if inner is not None:
            expect(
                (low <= inner[0]).all() and (inner[1] <= high).all(), "a wider range does not hold a narrower"
            )
        inner = low, high


def limits(fit: Fit) -> None:
    """Each tree keeps the limits of size, paths and rows that were asked for."""
    most, deepest = fit.settings.get("max_leaf_nodes"), fit.settings.get("max_depth")
    if fit.settings.get("preset") == "readable":
        most, deepest = most or 16, deepest or 7
    for tree in trees(fit.model):
        expect(most is None or tree.n_leaves <= most, f"{tree.n_leaves} leaves, at most {most}")
        expect(deepest is None or tree.depth <= deepest, f"depth {tree.depth}, at most {deepest}")
    if fit.tree is not None:
        _paths(fit, fit.tree)
        _least_rows(fit, fit.tree)
        _prices(fit)
    _directions(fit, fit.model)


def _paths(fit: Fit, tree: Tree) -> None:
    groups = fit.settings.get("interaction_cst")
    most = {"pairwise": 2, "no_interactions": 1}.get(groups) if isinstance(groups, str) else None
    names = list(fit.rows.X.columns)
    forbidden = [
        (names.index(above), names.index(below))
        for above, lower in (fit.settings.get("forbidden_below") or {}).items()
        for below in lower
    ]
    places = [
        *zip(tree.slopes.node, tree.slopes.feature, strict=True)
    ]  # a term interacts with the splits above it
    paths = [[*features_above(tree.skeleton, int(node)), int(feature)] for node, feature in places]
    paths += [
        list(features_above(tree.skeleton, int(leaf))) for leaf in np.flatnonzero(tree.skeleton.is_leaf)
    ]
    for path in paths:
        used = set(path)
        expect(
            not fit.settings.get("once_per_path") or len(path) == len(set(path)), "a feature twice on a path"
        )
        expect(most is None or len(used) <= most, "too many features on a path")
        if isinstance(groups, list):
            rest = set(range(len(names))) - set().union(*groups)
            expect(any(used <= set(group) for group in [*groups, rest]), "features of two groups on a path")
        order = path if not path or path[0] == int(tree.skeleton.feature[0]) else path[::-1]
        for above, below in forbidden:
            expect(
                above not in order or below not in order[order.index(above) + 1 :], "a forbidden split below"
            )


def _prices(fit: Fit) -> None:
    """No row pays more than all columns cost, and each pays what its explanation tells."""
    costs = fit.settings.get("feature_costs")
    if costs is None or not hasattr(fit.model, "path_costs"):
        return
    paid = fit.model.path_costs(fit.rows.X)
    total = sum(given[0] if isinstance(given, tuple) else given for given in costs.values())
    expect(((paid >= 0) & (paid <= total * (1 + 1e-12))).all(), "a path pays more than all columns cost")
    paths = fit.model.explain(fit.rows.X[:1])[0].paths
    expect(len(paths) > 1 or paths[0].price == paid[0], "an explanation with another price")


def _least_rows(fit: Fit, tree: Tree) -> None:
    """Each leaf has the rows that were asked for; a multiway split promises them of two children only."""
    least = fit.settings.get("min_samples_leaf", 1)
    plain = not tree.skeleton.is_fractional and (tree.skeleton.n_children <= 3).all()
    subset = fit.settings.get("nominal_split", "auto") != "multiway" and fit.settings.get("preset") in (
        "default",
        "cart",
    )
    if not isinstance(least, int) or fit.rows.options or fit.settings.get("forced_splits") is not None:
        return
    if plain and subset and fit.settings.get("class_weight") is None and hasattr(fit.model, "apply"):
        counts = np.unique(fit.model.apply(fit.rows.X), return_counts=True)[1]
        expect(
            tree.n_leaves == 1 or counts.min() >= least, f"a leaf of {counts.min()} rows, at least {least}"
        )


def _directions(fit: Fit, model: Any) -> None:
    signs = fit.settings.get("monotonic_cst")
    if signs is not None and len(fit.rows.kinds) == len(signs):
        for at in np.flatnonzero(signs):
            _monotone(fit, int(at), signs[at], model)


def _monotone(fit: Fit, at: int, sign: int, model: Any) -> None:
    if fit.rows.kinds[at] not in ("numbers", "ties", "holes"):
        return
    known = fit.rows.X.iloc[:, at].to_numpy(float)
    known = np.unique(known[np.isfinite(known)])
    if len(known) < 2:
        return
    grid = np.unique(np.concatenate([known, (known[1:] + known[:-1]) / 2, [known[0] - 1, known[-1] + 1]]))[
        :100
    ]
    for row in fit.rng.integers(0, fit.rows.n, 4):
        line = fit.rows.X.iloc[np.full(len(grid), row)].reset_index(drop=True)
        line.isetitem(at, grid)
        found = fit.predictions(model, X=line)
        found = found if found.ndim == 1 else found[:, 1]
        slack = 1e-12 * max(1, np.abs(found).max())
        expect((np.diff(found) * sign).min() >= -slack, "a monotone constraint is broken")


# ---- files, text, reports ----------------------------------------------------------------------------------


def files(fit: Fit) -> None:
    """Saved and loaded, pickled and copied, the model is the same."""
    if isinstance(fit.model, Tree):
        again = [decode(encode(Model.of(fit.model), as_tensors=one)).tree for one in (False, True)]
        expect([tree.digest for tree in again] == state(fit.model) * 2, "another tree after loading")
        return
    found = fit.predictions()
    for suffix in ("hornbeam", "safetensors"):
        path = fit.folder / f"model.{suffix}"
        with suppress(HornbeamError):  # text is for one tree, and some models have no file
            hornbeam.save(fit.model, path)
        if path.exists():
            _is_same(fit, hornbeam.load(path), found, f"after loading {suffix}")
    _is_same(fit, pickle.loads(pickle.dumps(fit.model)), found, "after pickling")


def _is_same(fit: Fit, model: Any, found: Any, when: str) -> None:
    expect(state(model) == state(fit.model), f"another digest {when}")
    expect(same(fit.predictions(model), found), f"other predictions {when}")
    expect(same(model.predict(fit.rows.X), fit.model.predict(fit.rows.X)), f"other decisions {when}")


def texts(fit: Fit) -> None:
    """Whatever describes a model in words or tables works, or is refused."""
    model, X, y, few = fit.model, fit.rows.X, fit.rows.y, fit.rows.X.iloc[:3]
    weights = {name: one for name, one in fit.rows.options.items() if name == "sample_weight"}
    uses: list[Callable[[], Any]] = [
        lambda: repr(model),
        lambda: export.to_text(model),
        lambda: export.to_html(model),
        lambda: json.loads(export.to_json(model)),
        lambda: export.to_markdown(model),
        lambda: export.to_dot(model),
        lambda: export.to_svg(model),
        lambda: export.to_shap(model),
        lambda: str(hornbeam.diff(model, model)),
    ]
    calls: dict[str, Callable[[], Any]] = {
        "_repr_html_": lambda: str(model._repr_html_()),
        "explain": lambda: [str(model.explain(few)), model.explain(few)._repr_html_()],
        "scorecard": lambda: [_card(model, X, bins) for bins in (False, True)],
        "candidate_splits": lambda: str(model.candidate_splits(X, y, held_out=(X, y), **weights)),
        "leaves": lambda: [str(model.leaves()), model.leaves()._repr_html_()],
        "rules": lambda: str(model.rules()),
        "unseen": lambda: model.unseen(X),
        "shap_values": lambda: model.shap_values(few),
        "counterfactuals": lambda: str(model.counterfactuals(few)),
        "drift": lambda: str(model.drift(X, y)),
        "decision_path": lambda: model.decision_path(few),
        "feature_importances_": lambda: expect(
            np.isfinite(model.feature_importances_).all(), "an importance is not finite"
        ),
        "size_path_": lambda: str(model.size_path_),
        "tree_": lambda: copy(model).recount(X, y, **weights),
    }
    uses += [call for name, call in calls.items() if hasattr(model, name)]
    for use in uses:
        with suppress(HornbeamError):
            use()


def _card(model: Any, X: Any, bins: bool) -> None:
    """The points of a scorecard are whole, and as near to the log odds as the card says."""
    card = model.scorecard(bins=bins)
    str(card), card.to_csv(), card._repr_html_(), card.reasons(X.iloc[:3])
    p, points = model.predict_proba(X), card.points(X)
    known = (p > 0).all(axis=1)
    exact = card.offset + card.factor * (np.log(p[known, 1]) - np.log(p[known, 0]))
    expect((points[known] == np.round(points[known])).all(), "points are not whole")
    expect((np.abs(points[known] - exact) <= card.rounding + 1e-6).all(), "points are farther off than said")
    expect(np.isinf(points[~known]).all(), "points of a certain class are finite")


def report(fit: Fit) -> None:
    """The report and the model card work, or are refused."""
    for write in (hornbeam.report, hornbeam.model_card):
        with suppress(HornbeamError):
            write(fit.model, fit.rows.X, fit.rows.y)


# ---- exports -----------------------------------------------------------------------------------------------


@cache
def reader(module: str) -> Any:
    """A module of the tests that runs exported models."""
    tests()  # which makes it importable
    return import_module(module)


def _table(fit: Fit) -> Any:
    return Table.read(fit.rows.X, schema=fit.tree.schema)  # type: ignore[union-attr]


def _exported(fit: Fit) -> dict[str, Any]:
    """The tree to export; with quantiles if the model has the distribution of its target."""
    if getattr(fit.model, "_distribution", None) is None:
        return {"model": fit.tree}
    return {"model": fit.model, "quantiles": [0.1, 0.5, 0.9]}


def python(fit: Fit) -> None:
    """The module of Python predicts what the tree predicts."""
    if fit.tree is not None:
        module: dict[str, Any] = {}
        exec(export.to_python(**_exported(fit), vectors=_table(fit)), module)
        expect(module["check"]() == 0, "the module predicts otherwise")


def c(fit: Fit) -> None:
    """The C source compiles without a warning and predicts what the tree predicts."""
    if fit.tree is None:
        return
    layout = str(fit.rng.choice(["if", "table", "bins"]))
    source, program = fit.folder / "tree.c", fit.folder / "tree"
    source.write_text(export.to_c(**_exported(fit), layout=layout, vectors=_table(fit)), encoding="ascii")  # type: ignore[arg-type]
    flags = ["-O0", "-fsanitize=undefined", "-fno-sanitize-recover", "-DTREE_TEST"]
    _run([*reader("source_runners").GCC, *flags, "-o", str(program), str(source), "-lm"], "the compiler")
    _run([str(program)], f"the program with layout {layout}")


def javascript(fit: Fit) -> None:
    """The module of JavaScript predicts what the tree predicts."""
    if fit.tree is not None:
        source = fit.folder / "tree.js"
        source.write_text(export.to_javascript(**_exported(fit), vectors=_table(fit)), encoding="ascii")
        _run(["node", "-e", f"process.exit(require('{source}').check())"], "the script")


def _run(command: list[str], what: str) -> None:
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    expect(ran.returncode == 0, f"{what} ends with {ran.returncode}: {ran.stderr[-200:]}")


def _compare(fit: Fit, found: Any, labels: Any = None) -> None:
    tree, table = fit.tree, _table(fit)
    assert tree is not None
    wanted = predict_rows(tree, table)
    found = np.asarray(found, float).reshape(wanted.shape)
    bound = 1e-12 * max(1, np.abs(wanted).max()) if len(tree.slopes) else 1e-15 * np.abs(wanted).max()
    expect((np.abs(found - wanted) <= bound).all(), f"predictions differ by {np.abs(found - wanted).max():g}")
    if labels is not None:
        decided = [tree.schema.classes[code] for code in decide_rows(tree, table)]
        equal = [one == other or str(one) == str(other) for one, other in zip(decided, labels, strict=True)]
        tied = np.ptp(np.sort(wanted, axis=1)[:, -2:], axis=1) < 1e-12 if len(tree.slopes) else False
        expect((np.array(equal) | tied).all(), "a class differs")


def sql(fit: Fit) -> None:
    """SQLite and DuckDB predict what the tree predicts."""
    tree = fit.tree
    if tree is None or any("\0" in name or not name for name in tree.schema.names):
        return  # no column of a database has such a name
    databases = reader("databases")
    rows = databases.rows_of(_table(fit))
    if any(isinstance(value, int) and abs(value) >= 2**63 for row in rows for value in row):
        return
    flags = [isinstance(next(iter(one.categories), None), bool) for one in tree.schema.features]
    if any(
        flag and value not in (None, True, False)
        for row in rows
        for flag, value in zip(flags, row, strict=True)
    ):
        return  # a column of true and false has no third value
    for database in databases.DATABASES:
        with suppress(HornbeamError):
            query = export.to_sql(tree, dialect=database, keep=["row id"])
            found = sorted(
                databases.run_query(database, query, tree.schema.names, tree.schema.features, rows)
            )
            first = 2 if tree.is_regression else 3
            labels = None if tree.is_regression else [row[2] for row in found]
            _compare(fit, [row[first:] for row in found], labels)


def onnx(fit: Fit) -> None:
    """The runtime of ONNX predicts what the tree predicts."""
    if fit.tree is not None:
        inputs = {"X": reader("databases").codes(_table(fit))}
        _compare(fit, reader("model_runners").run_session(export.to_onnx(fit.tree), inputs)[-1])


def pmml(fit: Fit) -> None:
    """A reader of PMML predicts what the tree predicts."""
    if fit.tree is not None and not len(fit.tree.slopes):
        rows = reader("databases").rows_of(_table(fit))
        _, predicted, found = reader("pmml_reader").evaluate(export.to_pmml(fit.tree), rows)
        _compare(fit, predicted) if fit.tree.is_regression else _compare(fit, found, predicted)


# ---- other ways to the same model --------------------------------------------------------------------------


def update(fit: Fit) -> None:
    """Rows that are added and taken away again leave the tree as it was."""
    if not hasattr(fit.model, "update") or fit.rows.n < 8:
        return
    model, some = deepcopy(fit.model), fit.rows.take(fit.rng.permutation(fit.rows.n)[: fit.rows.n // 3])
    weights = {name: one for name, one in some.options.items() if name == "sample_weight"}
    model.update(some.X, some.y, **weights)
    try:
        model.forget(some.X, some.y, **weights)
    except HornbeamError as error:
        raise WrongError(f"forget refuses rows that were added: {error}") from error
    expect(
        np.allclose(fit.predictions(model), fit.predictions(), rtol=SMALL, atol=SMALL), "other predictions"
    )
    expect(state(model) == state(fit.model), "another digest")


def order(fit: Fit) -> None:
    """Another order of the rows, on two threads, gives the same model."""
    # Others draw rows by their position, and so does a teacher of the user.
    own_teacher = hasattr(fit.settings.get("teacher"), "fit")
    one_tree = fit.kind in ("TreeClassifier", "TreeRegressor", "Recipe") and not own_teacher
    moved = fit.rows.take(fit.rng.permutation(fit.rows.n)) if one_tree else fit.rows
    again = fit.fitted(moved, n_jobs=2)
    expect(state(again) == state(fit.model), "another digest")
    expect(same(fit.predictions(again), fit.predictions()), "other predictions")


def weights(fit: Fit) -> None:
    """A row of weight 2 is two rows, which are held out together if they are copies."""
    counted = (
        "min_samples_leaf",
        "min_samples_split",
        "max_bins",
        "tolerance",
        "pruning",
        "smoothing",
        "forced_splits",
    )
    untaught = fit.settings.get("preset") != "readable" and fit.kind in ("TreeClassifier", "TreeRegressor")
    if not untaught or fit.rows.options or any(name in fit.settings for name in (*counted, "teacher")):
        return
    times = fit.rng.integers(1, 4, fit.rows.n)
    kind = Kind.NUMERIC if fit.rows.regression else None
    table = Table.read(fit.rows.X, fit.rows.y, sample_weight=times, target_kind=kind)
    groups = "copies" if rows_have_copies(table) else None
    repeated = fit.fitted(fit.rows.take(np.repeat(np.arange(fit.rows.n), times)), groups=groups)
    weighted = fit.fitted(fit.rows, sample_weight=times.astype(float))
    expect(repeated.tree_.n_leaves == weighted.tree_.n_leaves, "another number of leaves")
    first, second = fit.predictions(weighted), fit.predictions(repeated)
    expect(
        np.allclose(first, second, rtol=SMALL, atol=1e-12 * max(1, np.abs(second).max())), "other predictions"
    )


def parquet(fit: Fit) -> None:
    """Rows of a file give the same tree as rows in memory."""
    if fit.kind not in ("TreeClassifier", "TreeRegressor") or NOT_IN_PARQUET & set(fit.rows.kinds):
        return
    frame, path = fit.rows.X.assign(**{"the target": fit.rows.y}), fit.folder / "rows.parquet"
    names = {"sample_weight": "the weight", "groups": "the group"}
    for option, name in names.items():
        if option in fit.rows.options:
            frame[name] = fit.rows.options[option]
    try:
        frame.to_parquet(path, row_group_size=max(1, fit.rows.n // 3))
    except Exception:  # what pandas cannot write
        return
    again = fit.fitted(path, **{option: names[option] for option in fit.rows.options})
    expect(state(again) == state(fit.model), "another digest")
    target = fit.folder / "predictions.parquet"
    again.predict_to(path, target, leaf=True, reasons=int(fit.rng.integers(3)))
    expect(len(pd.read_parquet(target)) == fit.rows.n, "another number of predictions")


# ---- edits and refits --------------------------------------------------------------------------------------


def edits(fit: Fit) -> None:
    """Edits by hand keep a tree that predicts, and undo and redo give the same trees."""
    if fit.tree is None or isinstance(fit.model, Tree):
        return
    X, y = fit.rows.X, fit.rows.y
    editor = deepcopy(fit.model).edit(
        X, y, sample_weight=fit.rows.options.get("sample_weight"), held_out=(X, y)
    )
    expect(editor.tree.digest == fit.tree.digest, "the editor begins with another tree")
    digests = [editor.tree.digest]
    for _ in range(5):
        with suppress(HornbeamError):
            _edit(fit, editor)
        if len(editor.edits) >= len(digests):
            digests.append(editor.tree.digest)
            expect(np.isfinite(predict_rows(editor.tree, _table(fit))).all(), "a prediction is not finite")
    editor.log()
    with suppress(HornbeamError):
        str(editor.score_changes())
    for digest in digests[-2::-1]:
        editor.undo()
        expect(editor.tree.digest == digest, "undo gives another tree")
    for digest in digests[1:]:
        editor.redo()
        expect(editor.tree.digest == digest, "redo gives another tree")
    finished = editor.finish()
    path = fit.folder / "edited.hornbeam"
    hornbeam.save(finished, path)
    expect(state(hornbeam.load(path)) == state(finished), "another tree after loading")
    expect(np.isfinite(fit.predictions(finished)).all(), "a prediction is not finite")
    if fit.settings.get("preset") == "readable":
        _directions(fit, finished)


def _edit(fit: Fit, editor: Any) -> None:
    rng, tree = fit.rng, editor.tree
    node = int(rng.integers(tree.skeleton.n_nodes))
    if len(tree.slopes) and rng.random() < 0.5:
        at = int(rng.integers(len(tree.slopes)))
        _edit_term(rng, editor, int(tree.slopes.node[at]), int(tree.slopes.feature[at]))
        return
    match int(rng.integers(6)):
        case 0:
            editor.prune(node, reason="<b>")
        case 1:
            editor.grow(node, [1, 2, None][rng.integers(3)])
        case 2:
            editor.set_threshold(node, float(rng.normal()))
        case 3:
            editor.shrink(int(rng.integers(1, tree.n_leaves + 1)))
        case 4:
            categories = list(tree.schema.features[int(tree.skeleton.feature[node])].categories)
            editor.set_categories(node, [categories[:1], categories[1:]])
        case 5:
            found = list(editor.candidates(node))
            if found:
                editor.split(node, found[int(rng.integers(len(found)))])


def _edit_term(rng: np.random.Generator, editor: Any, node: int, feature: int) -> None:
    match int(rng.integers(4)):
        case 0:
            editor.drop_term(node, feature)
        case 1:
            editor.round_terms(node, digits=int(rng.integers(1, 4)))
        case 2:
            editor.refit_terms(node, [feature, None][rng.integers(2)])
        case 3:
            effects = [float(one) for one in rng.exponential(size=editor.tree.schema.n_outputs)]
            editor.set_term(node, feature, effects if len(effects) > 2 else effects[0], per=2)


def stable(fit: Fit) -> None:
    """`stability` keeps its laws."""
    if fit.kind == "Recipe" or fit.rows.n > 50:
        return
    found = stability(fit.fitted(None), fit.rows.X, fit.rows.y, n_refits=2, **fit.rows.options)
    words = refits.wrong(found, fit.rows.n)
    expect(words is None, str(words))


ORACLES: dict[str, tuple[float, Callable[[Fit], None]]] = {  # how often each is asked, and the oracle
    "predictions": (1.0, predictions),
    "limits": (1.0, limits),
    "files": (1.0, files),
    "texts": (0.5, texts),
    "python": (1.0, python),
    "intervals": (0.5, intervals),
    "distribution": (1.0, distribution),
    "update": (0.5, update),
    "order": (0.4, order),
    "edits": (0.3, edits),
    "weights": (0.3, weights),
    "parquet": (0.25, parquet),
    "sql": (0.2, sql),
    "onnx": (0.15, onnx),
    "report": (0.1, report),
    "pmml": (0.1, pmml),
    "c": (0.1, c),
    "javascript": (0.1, javascript),
    "stability": (0.05, stable),
}


@contextmanager
def timed() -> Iterator[None]:
    """A fit that takes too long is wrong."""
    begin = time.process_time()
    yield
    seconds = time.process_time() - begin
    expect(seconds < FIT_SECONDS, f"the fit took {seconds:.1f} s of processor time")
