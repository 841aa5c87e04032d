"""Distillation: one tree fitted to the predictions of a teacher for real and synthetic rows."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.table import Table
from hornbeam.ensembles.distillation.synthetic_rows import SyntheticRows
from hornbeam.ensembles.temperature import apply_temperature, choose_temperature
from hornbeam.errors import DataError, ParameterError
from hornbeam.growing import Criterion, Grower
from hornbeam.kernels.sums import row_sums
from hornbeam.pruning.cost_complexity import CostComplexity, cost_complexity_path
from hornbeam.recipe import Recipe
from hornbeam.smoothing import HGS
from hornbeam.tree.edit import count_rows, with_belief
from hornbeam.tree.route import route
from hornbeam.tree.tree import Step, Tree
from hornbeam.tree.walk import pull_up
from hornbeam.typing import Counts, Floats

__all__ = ["Distillation"]

_UNIT = 2.0**-20  # step size of the class weights of a row
_SMALLEST = (
    0.01  # smaller probabilities are ignored in the choice of splits: with many classes most are smaller
)
_TEACHER_ROWS = 30.0  # pseudo-count of the teacher in each leaf
_ROUNDING = 1e-3  # tolerance of sums of probabilities: some teachers compute in float32
_MAX_BINS = 255
_BATCH = 10_000  # rows per call of the teacher: each call costs time, each row memory


@dataclass(frozen=True, slots=True)
class Distillation:
    """Parameters and procedure of distilling a teacher model into one tree.

    Parameters
    ----------
    fidelity : float, default 0.98
        Share of the largest tree's decrease of the squared distance to the teacher that the returned tree keeps.
    min_rows : float, default 5.0
        Minimum number of rows per leaf, synthetic rows included.
    synthetic_rows : SyntheticRows
        Parameters of the synthetic rows.
    max_leaf_nodes : int or None, default None
        Maximum number of leaves; it takes precedence over `fidelity`.

    Notes
    -----
    The tree is grown on probabilities instead of classes: a row with the probabilities 0.7 and 0.3 counts as 0.7 rows
    of one class and 0.3 of the other, and Gini's criterion is then the squared distance to the teacher. Cost-complexity
    pruning finds the smallest subtree that reaches `fidelity`. The evidence of its nodes is that of the real rows, and
    the mean prediction of the teacher in a leaf is added with a pseudo-count of thirty rows.

    Examples
    --------
    >>> table = Table.read([[float(x)] for x in range(8)], ["no"] * 4 + ["yes"] * 4)
    >>> def teacher(rows):
    ...     yes = 0.1 + 0.8 * (table.columns[0][rows[:, 0]] > 3)
    ...     return np.column_stack([1 - yes, yes])
    >>> tree = Distillation().fit(table, teacher)
    >>> tree.evidence.tolist(), tree.belief[1:].round(2).tolist()
    ([[4, 4], [4, 0], [0, 4]], [[0.91, 0.09], [0.09, 0.91]])
    """

    fidelity: float = 0.98
    min_rows: float = 5.0
    synthetic_rows: SyntheticRows = field(default_factory=SyntheticRows)
    max_leaf_nodes: int | None = None

    def __post_init__(self) -> None:
        if not 0 < self.fidelity <= 1:
            raise ParameterError(f"fidelity={self.fidelity!r}: expected a number above 0, and 1 at most.")
        if self.max_leaf_nodes is not None and self.max_leaf_nodes < 2:
            raise ParameterError(
                f"max_leaf_nodes={self.max_leaf_nodes!r}: expected at least 2, or None for no limit."
            )

    def fit(
        self,
        table: Table,
        teacher: Callable[[NDArray[np.intp]], Floats],
        held_out: Floats | None = None,
        n_jobs: int = 1,
    ) -> Tree:
        """Distil a teacher into a tree.

        Parameters
        ----------
        table : Table
            Real rows with their classes.
        teacher : callable
            From an integer array of shape (n, n_features), the row of the table that each value of n rows comes from,
            to the class probabilities of these rows.
        held_out : float64 array of shape (n_rows, n_classes), optional
            Class probabilities from a teacher not fitted to the row; NaN or 0 where there are none. The temperature of
            the teacher is chosen by them.
        n_jobs : int, default 1
            Threads.

        Returns
        -------
        Tree
        """
        if table.target is None:
            raise DataError("The table has no target. Read it with y to distil a tree from it.")
        synthetic = np.concatenate(list(self.synthetic_rows.draw(table, n_jobs)))
        real = np.broadcast_to(np.arange(table.n_rows)[:, None], (table.n_rows, synthetic.shape[1]))
        real_predictions = _teacher_predictions(teacher, real, table.schema.n_classes)
        temperature = 1.0
        if held_out is not None:
            # In a small forest, some rows are in every bootstrap sample and have no held-out prediction.
            known = (np.nan_to_num(held_out) != 0).any(axis=1, keepdims=True)
            real_predictions = _checked(np.where(known, held_out, real_predictions), real_predictions.shape)
            temperature = choose_temperature(real_predictions, table.target, table.weight)
        synthetic_predictions = _teacher_predictions(teacher, synthetic, table.schema.n_classes)
        predictions = apply_temperature(
            np.concatenate([real_predictions, synthetic_predictions]), temperature
        )
        rows = _recombined(table, np.concatenate([real, synthetic]))
        student = self._grow(rows, predictions, n_jobs)
        tree = count_rows(student.skeleton, table, gain=student.gain)
        step = Step.of("distill", fidelity=self.fidelity, temperature=temperature, rows=len(predictions))
        teacher_means = _node_means(student, rows, predictions)
        evidence = tree.evidence * tree.unit
        weight = row_sums(evidence)[:, None]
        belief = (evidence + _TEACHER_ROWS * teacher_means) / (weight + _TEACHER_ROWS)
        return with_belief(tree, belief, np.full(tree.n_nodes, _TEACHER_ROWS), step)

    def _grow(self, rows: Table, predictions: Floats, n_jobs: int) -> Tree:
        """Grow on the predictions, and keep the smallest subtree of enough fidelity, or the largest allowed."""
        soft = _softened(rows, predictions)
        recipe = Recipe(_MAX_BINS, Grower(Criterion.GINI, min_weight_leaf=self.min_rows))
        tree = recipe.grower.grow(soft, recipe.bin(soft, n_jobs), n_jobs=n_jobs)
        path = cost_complexity_path(tree)
        explained = path.impurities[-1] - path.impurities
        faithful = np.flatnonzero(explained >= self.fidelity * explained[0])
        chosen = faithful[-1]
        if self.max_leaf_nodes is not None:
            chosen = max(chosen, np.flatnonzero(path.n_leaves <= self.max_leaf_nodes)[0])
        return CostComplexity(path.alphas[chosen])(tree)


def _teacher_predictions(
    teacher: Callable[[NDArray[np.intp]], Floats], rows: NDArray[np.intp], n_classes: int
) -> Floats:
    """Call the teacher on all rows, in batches."""
    batches = [teacher(rows[start : start + _BATCH]) for start in range(0, len(rows), _BATCH)]
    return _checked(np.concatenate(batches), (len(rows), n_classes))


def _checked(predictions: Floats, shape: tuple[int, ...]) -> Floats:
    """Return the predictions if they are probabilities of this shape."""
    if predictions.shape != shape:
        raise DataError(
            f"the teacher returned an array of shape {predictions.shape} for {shape[0]} rows, expected {shape}: "
            "a row for each row, and a column for each class."
        )
    wrong = ~((predictions >= 0).all(axis=1) & (np.abs(predictions.sum(axis=1) - 1) < _ROUNDING))
    if wrong.any():
        raise DataError(
            f"the teacher returned {predictions[wrong.argmax()].tolist()}; expected probabilities, which are not "
            "negative and sum to 1. Pass a teacher that returns probabilities."
        )
    return predictions


def _recombined(table: Table, rows: NDArray[np.intp]) -> Table:
    """Build rows without classes from values of others; each weighs as much as the row most of them come from."""
    columns = tuple(column[rows[:, number]] for number, column in enumerate(table.columns))
    weight = None if table.weight is None else np.tile(table.weight, len(rows) // table.n_rows)
    return Table(table.schema, columns, weight=weight, unit=table.unit)


def _class_steps(rows: Table, predictions: Floats) -> Counts:
    """Split the weight of each row over the classes, in steps of `_UNIT`; the mean weight of a row is 1."""
    weight = np.ones(rows.n_rows) if rows.weight is None else rows.weight / rows.weight.mean()
    return np.rint(predictions * weight[:, None] / _UNIT).astype(np.int64)


def _softened(rows: Table, predictions: Floats) -> Table:
    """Repeat each row once per probable class, weighted by the probability of the class."""
    likely = np.where(predictions >= _SMALLEST, predictions, 0.0)
    steps = _class_steps(rows, likely / likely.sum(axis=1, keepdims=True))
    row, code = np.nonzero(steps)
    return replace(rows.take(row), target=code.astype(np.int32), weight=steps[row, code], unit=_UNIT)


def _node_means(tree: Tree, rows: Table, predictions: Floats) -> Floats:
    """Compute the mean prediction at every node, smoothed with a row of each ancestor so that none is 0."""
    node = route(tree.skeleton, rows)
    ended = [np.bincount(node, steps, minlength=tree.n_nodes) for steps in _class_steps(rows, predictions).T]
    evidence = pull_up(tree.skeleton, np.column_stack(ended).astype(np.int64))
    return HGS(prior=0.0)(Tree.raw(tree.schema, tree.skeleton, evidence, unit=_UNIT)).belief
