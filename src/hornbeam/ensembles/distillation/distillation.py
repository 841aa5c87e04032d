"""One tree from many: what a teacher answers to rows nobody saw, in the leaves of a single tree."""

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

_UNIT = 2.0**-20  # steps of a row that go to a class
_SMALLEST = 0.01  # probabilities below do not steer the choice of tests: with many classes most of them are
_TEACHER_ROWS = 30.0  # real rows that weigh as much as the teacher
_ROUNDING = 1e-3  # by which a sum of probabilities may be off 1: some teachers count in float32
_MAX_BINS = 255
_AT_A_TIME = 10_000  # rows that the teacher is asked about: a question costs it a moment, a row memory


@dataclass(frozen=True, slots=True)
class Distillation:
    """Everything that makes a tree from a table and somebody who knows more about it.

    Parameters
    ----------
    fidelity : float, default 0.98
        How much of what the largest tree tells apart must be kept by the tree that is returned: the decrease of the
        squared distance to the teacher, as a share.
    min_rows : float, default 5.0
        Rows that each leaf must hold, new ones included.
    mixing : SyntheticRows
        How new rows are drawn.
    max_leaf_nodes : int or None, default None
        Leaves at most; where `fidelity` asks for more, it is not reached.

    Notes
    -----
    The tree is grown on probabilities instead of classes: a row that the teacher gives 0.7 and 0.3 counts as 0.7 rows
    of one class and 0.3 of the other, and Gini's criterion is then the squared distance to the teacher. Cost-complexity
    pruning finds the smallest subtree that is faithful enough. Real rows are counted at its nodes: they are its
    evidence, and the teacher's mean answer in a leaf speaks with the weight of thirty of them.

    Examples
    --------
    >>> table = Table.read([[float(x)] for x in range(8)], ["no"] * 4 + ["yes"] * 4)
    >>> def ask(rows):
    ...     yes = 0.1 + 0.8 * (table.columns[0][rows[:, 0]] > 3)
    ...     return np.column_stack([1 - yes, yes])
    >>> tree = Distillation().fit(table, ask)
    >>> tree.evidence.tolist(), tree.belief[1:].round(2).tolist()
    ([[4, 4], [4, 0], [0, 4]], [[0.91, 0.09], [0.09, 0.91]])
    """

    fidelity: float = 0.98
    min_rows: float = 5.0
    mixing: SyntheticRows = field(default_factory=SyntheticRows)
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
        ask: Callable[[NDArray[np.intp]], Floats],
        held_out: Floats | None = None,
        n_jobs: int = 1,
    ) -> Tree:
        """Teach a tree.

        Parameters
        ----------
        table : Table
            Real rows with their classes.
        ask : callable
            The teacher: gets whole numbers of shape (n, n_features), the row of the table that each value of n new
            rows comes from, and returns the class probabilities of these.
        held_out : float64 array of shape (n_rows, n_classes), optional
            The teacher's class probabilities of rows that it was not fitted to; NaN or 0 where there are none. They
            choose the temperature of the teacher's probabilities.
        n_jobs : int, default 1
            Threads.

        Returns
        -------
        Tree
        """
        if table.target is None:
            raise DataError("The table has no target. Read it with y to distil a tree from it.")
        turns = np.concatenate(list(self.mixing.mix(table, n_jobs)))
        real = np.broadcast_to(np.arange(table.n_rows)[:, None], (table.n_rows, turns.shape[1]))
        known = _teacher_predictions(ask, real, table.schema.n_classes)
        temperature = 1.0
        if held_out is not None:
            # All trees of a small forest may have seen a row.
            heard = (np.nan_to_num(held_out) != 0).any(axis=1, keepdims=True)
            known = _checked(np.where(heard, held_out, known), known.shape)
            temperature = choose_temperature(known, table.target, table.weight)
        answers = np.concatenate([known, _teacher_predictions(ask, turns, table.schema.n_classes)])
        answers = apply_temperature(answers, temperature)
        rows = _with_synthetic_rows(table, np.concatenate([real, turns]))
        student = self._grow(rows, answers, n_jobs)
        tree = count_rows(student.skeleton, table, gain=student.gain)
        step = Step.of("distill", fidelity=self.fidelity, temperature=temperature, rows=len(answers))
        teacher = _leaf_means(student, rows, answers)
        evidence = tree.evidence * tree.unit
        weight = row_sums(evidence)[:, None]
        belief = (evidence + _TEACHER_ROWS * teacher) / (weight + _TEACHER_ROWS)
        return with_belief(tree, belief, np.full(tree.n_nodes, _TEACHER_ROWS), step)

    def _grow(self, rows: Table, answers: Floats, n_jobs: int) -> Tree:
        """Grow on the teacher's answers, and keep the smallest subtree that is faithful, or the largest allowed."""
        soft = _softened(rows, answers)
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
    ask: Callable[[NDArray[np.intp]], Floats], rows: NDArray[np.intp], n_classes: int
) -> Floats:
    """What the teacher says of all the rows, some thousands at a time."""
    parts = [ask(rows[start : start + _AT_A_TIME]) for start in range(0, len(rows), _AT_A_TIME)]
    return _checked(np.concatenate(parts), (len(rows), n_classes))


def _checked(answers: Floats, shape: tuple[int, ...]) -> Floats:
    """The answers themselves, if they are probabilities of as many rows and classes as were asked about."""
    if answers.shape != shape:
        raise DataError(
            f"the teacher answered {shape[0]} rows with an array of shape {answers.shape}, expected {shape}: a row "
            "each, and a column for each class."
        )
    wrong = ~((answers >= 0).all(axis=1) & (np.abs(answers.sum(axis=1) - 1) < _ROUNDING))
    if wrong.any():
        raise DataError(
            f"the teacher answered {answers[wrong.argmax()].tolist()}; expected probabilities, which are not negative "
            "and sum to 1. Pass one that gives such."
        )
    return answers


def _with_synthetic_rows(table: Table, rows: NDArray[np.intp]) -> Table:
    """New rows without classes; each weighs as much as the row most of whose values it has."""
    columns = tuple(column[rows[:, number]] for number, column in enumerate(table.columns))
    weight = None if table.weight is None else np.tile(table.weight, len(rows) // table.n_rows)
    return Table(table.schema, columns, weight=weight, unit=table.unit)


def _steps(rows: Table, answers: Floats) -> Counts:
    """The steps of each row that go to each class; the mean row has all of a unit."""
    weight = np.ones(rows.n_rows) if rows.weight is None else rows.weight / rows.weight.mean()
    return np.rint(answers * weight[:, None] / _UNIT).astype(np.int64)


def _softened(rows: Table, answers: Floats) -> Table:
    """Each row once for each class that it may well be, and of the weight of its probability."""
    likely = np.where(answers >= _SMALLEST, answers, 0.0)
    steps = _steps(rows, likely / likely.sum(axis=1, keepdims=True))
    row, code = np.nonzero(steps)
    return replace(rows.take(row), target=code.astype(np.int32), weight=steps[row, code], unit=_UNIT)


def _leaf_means(tree: Tree, rows: Table, answers: Floats) -> Floats:
    """The teacher's mean answer at every node, and a row of each ancestor's: what it knows is nowhere impossible."""
    stop = route(tree.skeleton, rows)
    stops = [np.bincount(stop, steps, minlength=tree.n_nodes) for steps in _steps(rows, answers).T]
    evidence = pull_up(tree.skeleton, np.column_stack(stops).astype(np.int64))
    return HGS(prior=0.0)(Tree.raw(tree.schema, tree.skeleton, evidence, unit=_UNIT)).belief
