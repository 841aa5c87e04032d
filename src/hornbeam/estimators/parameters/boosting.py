"""Translation of the parameters of boosted trees into a `Boosting` trainer."""

from typing import Any

from hornbeam.checks import is_whole
from hornbeam.data.binning.bins import MOST_BINS
from hornbeam.data.table import Table
from hornbeam.ensembles.boosting.early_stopping import EarlyStopping
from hornbeam.ensembles.boosting.losses import Loss
from hornbeam.ensembles.boosting.trainer import Boosting
from hornbeam.errors import ParameterError
from hornbeam.estimators.parameters.validators import (
    integer,
    is_named,
    limit,
    monotone_signs,
    number,
    parameter_error,
    resolve_features,
    resolve_seed,
    resolve_trees,
)
from hornbeam.growing.leafwise import Leafwise

# Up to this many rows and classes "auto" chooses the number of rounds by folds: more trees, and no row is lost.
_FEW_ROWS, _FEW_CLASSES = 5_000, 10
_FOLDS = 5
_LEAST_ROWS = 2 * _FOLDS
_MANY_ROWS = 10_000  # with more, "auto" holds out some rows, as in scikit-learn


def boosting_trainer(estimator: Any, table: Table, loss: Loss, can_hold_out: bool = True) -> Boosting:
    """Return the trainer for the parameters of a boosting estimator.

    `can_hold_out` is False if the initial scores come from a model fitted to all rows: the loss of no row is that of a
    new one then.
    """
    grower = Leafwise(
        max_leaf_nodes=limit("max_leaf_nodes", estimator.max_leaf_nodes),
        max_depth=limit("max_depth", estimator.max_depth),
        min_samples_leaf=integer("min_samples_leaf", estimator.min_samples_leaf, 20),
        l2_regularization=number("l2_regularization", estimator.l2_regularization),
        max_features=resolve_features(estimator.max_features, table.schema.n_features),
        monotonic_cst=monotone_signs(estimator.monotonic_cst, table.schema.names),
    )
    return Boosting(
        loss,
        grower,
        n_rounds=resolve_trees(estimator.n_estimators),
        learning_rate=number("learning_rate", estimator.learning_rate, 0.1),
        subsample=number("subsample", estimator.subsample, 1.0),
        max_bins=_bins(estimator.max_bins),
        stopping=_stopping(estimator, table.n_rows, loss.n_outputs, can_hold_out),
        seed=resolve_seed(estimator.random_state),
    )


def _bins(value: Any) -> int:
    if is_whole(value) and 2 <= value <= MOST_BINS:
        return int(value)
    expected = f"a whole number from 2 to {MOST_BINS:,}"
    raise parameter_error("max_bins", value, expected, "Pass max_bins=255, which is the default.")


def _stopping(estimator: Any, n_rows: int, n_outputs: int, can_hold_out: bool) -> EarlyStopping | None:
    if not hasattr(estimator, "early_stopping"):  # a ranker: the rows of a query must stay together
        return None
    wanted, folds = estimator.early_stopping, None
    if is_named(wanted, "auto"):
        few = _LEAST_ROWS <= n_rows <= _FEW_ROWS and n_outputs <= _FEW_CLASSES
        wanted = (few or n_rows > _MANY_ROWS) and can_hold_out
        folds = _FOLDS if few else None
    if not isinstance(wanted, bool):
        expected = "True, False or 'auto'"
        raise parameter_error(
            "early_stopping", wanted, expected, "Pass early_stopping='auto', which is the default."
        )
    if wanted and not can_hold_out:
        raise ParameterError(
            "early_stopping=True needs rows that init was not fitted to, and this init predicts the rows of its own "
            "fit; expected one with out-of-bag predictions. Pass a forest with bootstrap=True, or early_stopping=False."
        )
    stopping = EarlyStopping(
        fraction=number("validation_fraction", estimator.validation_fraction, 0.1),
        patience=integer("n_iter_no_change", estimator.n_iter_no_change, 10),
        tol=number("tol", estimator.tol, 1e-7),
        folds=folds,
    )
    return stopping if wanted else None
