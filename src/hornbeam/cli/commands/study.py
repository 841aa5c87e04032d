"""``hornbeam study``: compare methods on a file by cross-validation."""

from functools import partial
from typing import Any

import click

from hornbeam.cli.console import common_options, emit, format_table, progress
from hornbeam.cli.rows import data_argument, jobs_option, reading, target_option
from hornbeam.cli.training import ColumnOptions, read_training, training, with_doubts
from hornbeam.errors import DataError

_MEASURES = {"rmse": "RMSE", "log_loss": "log loss", "zero_one_loss": "0-1 loss"}


@click.command(short_help="Compare methods on your own rows.")
@data_argument
@target_option
@training
@click.option(
    "--kind",
    type=click.Choice(["classification"]),
    help="Says that the target is classes, even of more than 30 different numbers.",
)
@click.option(
    "--folds", type=click.IntRange(min=2), default=5, show_default=True, help="Of the cross-validation."
)
@click.option(
    "--methods",
    type=click.Choice(["usual", "paper"]),
    default="usual",
    show_default=True,
    help="What to compare: the default with other trees; or the six smoothers of the HGS paper on one tree.",
)
@click.option("--seed", type=int, default=0, show_default=True, metavar="N", help="Deals the rows to folds.")
@jobs_option
@reading
@common_options
def study(
    data: str,
    target: str,
    text: dict[str, Any],
    column_options: ColumnOptions,
    kind: str | None,
    folds: int,
    methods: str,
    seed: int,
    jobs: int,
    **_: Any,
) -> None:
    """Compare Hornbeam's default with CART, C4.5 and scikit-learn's tree on the rows of DATA.

    Every row is predicted once, by trees grown without it. The last column counts the folds in which the RMSE of
    a method is less than that of the first, equal, and more. --methods paper repeats the comparison of Zhang,
    Petitjean and Buntine (2020) on your rows: HGS as published, and five other smoothers of one C4.4 tree.

    \b
    hornbeam study adult.csv --target income
    hornbeam study adult.csv --target income --methods paper --folds 10
    """
    found = read_training(data, target, text, column_options, kind=kind)
    checked = None if found.is_regression else found.table()
    with_doubts(found.roles, checked, (*column_options.nominal, *column_options.numeric))
    if found.is_regression:
        raise DataError(
            f"{target!r} is taken for a number, and methods are compared for classes; expected at most 30 different "
            "ones. Pass --kind classification if they are classes, or see hornbeam fit --test-share 0.2 for a number."
        )
    table = found.rows.read()
    n_units, unit = table.n_rows, "row"
    if table.group is not None:
        n_units, unit = len(set(table.group.tolist())), "group"
    if folds > n_units:
        raise DataError(f"{folds} folds of {n_units} {unit}s: expected a {unit} in each fold at least.")
    contest = _paper_methods(seed, jobs) if methods == "paper" else _methods(seed, jobs)
    sums: dict[str, list[Any]] = {name: [] for name in contest}
    leaves: dict[str, list[int]] = {name: [] for name in contest}
    with progress("comparing", folds * len(contest)) as listener:
        for train, test in _folds(table, folds, seed):
            for name, method in contest.items():
                fold_sums, n_leaves = _evaluate(method, train, test)
                sums[name].append(fold_sums)
                leaves[name].append(n_leaves)
                if listener is not None:
                    listener(sum(map(len, leaves.values())))
    _emit(sums, leaves)


def _folds(table: Any, n_folds: int, seed: int) -> Any:
    """Pairs of training rows and test rows, stratified by class; of groups, all rows of each are in one fold."""
    import numpy as np

    random = np.random.default_rng(seed)
    if table.group is None:
        order = random.permutation(table.n_rows)
        order = order[np.argsort(table.target[order], kind="stable")]
        fold_of = np.empty(table.n_rows, np.intp)
        fold_of[order] = np.arange(table.n_rows) % n_folds
    else:
        groups, unit = np.unique(table.group, return_inverse=True)
        fold_of = random.permutation(len(groups))[unit] % n_folds
    for fold in range(n_folds):
        yield tuple(table.take(np.flatnonzero(part)) for part in (fold_of != fold, fold_of == fold))


def _evaluate(method: Any, train: Any, test: Any) -> tuple[Any, int]:
    from hornbeam.evaluation.scores import ScoreSums

    belief, n_leaves = method(train, test)
    weight = None if test.weight is None else test.weight * test.unit
    return ScoreSums.of(
        test.target, belief, labels=range(test.schema.n_classes), sample_weight=weight
    ), n_leaves


def _emit(sums: dict[str, list[Any]], leaves: dict[str, list[int]]) -> None:
    """Show the scores over all rows, the mean number of leaves, and the folds won, drawn and lost."""
    import numpy as np

    from hornbeam.evaluation import Comparison

    names = tuple(sums)
    losses = np.array([[fold.rmse for fold in sums[name]] for name in names]).T
    comparison = Comparison(names, tuple(f"fold {at + 1}" for at in range(len(losses))), losses, "RMSE")
    result, lines = {}, []
    for name in names:
        total = sum(sums[name][1:], sums[name][0])
        scores = {measure: getattr(total, measure) for measure in _MEASURES}
        size = sum(leaves[name]) / len(leaves[name])
        record = comparison.record(name, names[0])
        by_fold = "" if name == names[0] else f"{record.wins}-{record.draws}-{record.losses}"
        result[name] = scores | {"leaves": size, "rmse_of_folds": comparison.of(name)}
        lines.append([name, *(f"{score:.4f}" for score in scores.values()), f"{size:,.0f}", by_fold])
    head = [f"{len(losses)} folds", *_MEASURES.values(), "leaves", "folds won-drawn-lost"]
    emit({"folds": len(losses), "methods": result}, format_table(head, lines))


def _paper_methods(seed: int, n_jobs: int) -> dict[str, Any]:
    """Return the six methods of the HGS paper on its tree, HGS first."""
    from hornbeam.data.threads import n_threads
    from hornbeam.estimators.parameters.fields import TreeClassifierParameters

    smoothers = {
        "HGS": "hgs-published",
        "HDP": "hdp",
        "M-branch": "m-branch",
        "M-estimation": "m-estimate",
        "Laplace": "laplace",
        "MLE": "raw",
    }
    settings = {
        name: TreeClassifierParameters("c4.4", missing="own", smoothing=one, random_state=seed)
        for name, one in smoothers.items()
    }
    return {name: partial(_hornbeam, one, n_threads(n_jobs)) for name, one in settings.items()}


def _methods(seed: int, n_jobs: int) -> dict[str, Any]:
    """Return all methods by name, the default first; each returns probabilities and the number of leaves."""
    from hornbeam.data.threads import n_threads
    from hornbeam.estimators.parameters.fields import TreeClassifierParameters

    settings = {
        "hornbeam": TreeClassifierParameters(random_state=seed),
        "CART, cost-complexity": TreeClassifierParameters(
            "cart", pruning="cost-complexity", random_state=seed
        ),
        "C4.5": TreeClassifierParameters("c4.5"),
    }
    ours = {name: partial(_hornbeam, one, n_threads(n_jobs)) for name, one in settings.items()}
    return {**ours, "scikit-learn": partial(_scikit_learn, seed)}


def _hornbeam(settings: Any, n_jobs: int, train: Any, test: Any) -> tuple[Any, int]:
    from hornbeam.estimators.parameters.recipes import tree_fitter
    from hornbeam.tree.route import predict_rows

    tree = tree_fitter(settings, train).fit(train, n_jobs=n_jobs)
    return predict_rows(tree, test, n_jobs), tree.n_leaves


def _scikit_learn(seed: int, train: Any, test: Any) -> tuple[Any, int]:
    """scikit-learn's tree with default parameters, on one-hot encoded categories."""
    import numpy as np
    from sklearn.tree import DecisionTreeClassifier

    weight = None if train.weight is None else train.weight * train.unit
    tree = DecisionTreeClassifier(random_state=seed).fit(_one_hot(train), train.target, weight)
    belief = np.zeros((test.n_rows, test.schema.n_classes))
    belief[:, tree.classes_] = tree.predict_proba(_one_hot(test))
    return belief, int(tree.get_n_leaves())


def _one_hot(table: Any) -> Any:
    """Numeric columns unchanged, nominal columns one-hot encoded."""
    import numpy as np

    parts = []
    for column, feature in zip(table.columns, table.schema.features, strict=True):
        nominal = feature.is_nominal
        parts.append(column[:, None] == np.arange(len(feature.categories)) if nominal else column[:, None])
    return np.hstack(parts).astype(np.float32)
