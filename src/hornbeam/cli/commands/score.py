"""``hornbeam score``: scores of a model on rows with labels."""

from typing import Any

import click

from hornbeam.cli.console import common_options, emit
from hornbeam.cli.rows import (
    ModelFile,
    data_argument,
    model_argument,
    reading,
    target_option,
    weight_option,
)


@click.command(short_help="Score a model on labelled rows.")
@model_argument
@data_argument
@target_option
@weight_option
@reading
@common_options
def score(model: str, data: str, target: str, weight: str | None, text: dict[str, Any], **_: Any) -> None:
    """Score MODEL, of any kind, on the rows of DATA, beside a prediction without features.

    That is always the class shares of these rows, or their mean. Scores of classes are losses, less is better. The
    RMSE of probabilities is over rows and classes: the root of the Brier score divided by the number of classes.

    \b
    hornbeam score income.hornbeam test.csv --target income
    """
    from hornbeam.data.rows import read_rows
    from hornbeam.evaluation import scores

    estimator = _read(model)
    fitted = getattr(estimator, getattr(estimator, "_fitted", ""), estimator)  # it has the schema
    X, y, sample_weight = ModelFile(fitted, data, text, target, weight).open()
    found = scores(estimator, X if y is None else read_rows(X, y, sample_weight, schema=fitted.schema))
    emit(scores_dict(found), repr(found))


def _read(path: str) -> Any:
    """Read a model; one tree without scikit-learn, as a `Tree`."""
    from hornbeam import load
    from hornbeam.storage.file import read_any

    saved = read_any(path)
    is_tree = getattr(saved, "estimator", "") in (None, "TreeClassifier", "TreeRegressor")
    return saved.tree if is_tree else load(path)


def scores_dict(found: Any) -> dict[str, Any]:
    """Return scores as plain values."""
    return {"rows": found.n_rows, "model": found.model, "baseline": found.baseline}
