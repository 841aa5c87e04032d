"""Distillation: one tree fitted to the predictions of a teacher for real and synthetic rows."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.hashes import value_hash
from hornbeam.data.row_order import target_bits, unit_ranks
from hornbeam.data.schema import Schema
from hornbeam.data.table import Table
from hornbeam.ensembles.distillation.node_terms import NodeModel, NodeTerms
from hornbeam.ensembles.distillation.search_rows import (
    GREEDY_BINS,
    UNIT,
    SearchRows,
    class_steps,
    grow_soft,
    relative_weights,
    shifted,
    soft_rows,
    with_means,
)
from hornbeam.ensembles.distillation.small_tree import SmallTree
from hornbeam.ensembles.distillation.synthetic_rows import SyntheticRows
from hornbeam.ensembles.temperature import apply_temperature, choose_temperature
from hornbeam.errors import DataError, ParameterError
from hornbeam.growing.grower import Grower
from hornbeam.growing.settings import CONSTRAINTS, make_path_rules, monotone_array, path_lists
from hornbeam.kernels.elementary import dot, log, row_dots
from hornbeam.kernels.lookahead import LeafRules
from hornbeam.kernels.subtree import PathRules
from hornbeam.pruning.cost_complexity import CostComplexity, cost_complexity_path
from hornbeam.recipe import Recipe
from hornbeam.smoothing.hgs import HGS
from hornbeam.smoothing.interval_calibration import calibrate_taught_tree
from hornbeam.smoothing.teacher_prior import DISTILLED, belief_beside_terms, belief_with_prior
from hornbeam.tree.edit import with_belief, with_slopes
from hornbeam.tree.evidence.count import count_rows
from hornbeam.tree.route import predict_rows, route
from hornbeam.tree.skeleton import Skeleton
from hornbeam.tree.tree import Step, Tree
from hornbeam.tree.walk import pull_up, with_least_rows
from hornbeam.tuning.simulation import GroupDependence
from hornbeam.typing import Floats

type _RowTeacher = Callable[[NDArray[np.intp]], Floats]

MOST_SEARCHED = 64  #: leaves of a tree that is found by lookahead
_TEACHER_ROWS = 30.0  # pseudo-count of the teacher in each leaf
_ROUNDING = 1e-3  # tolerance of sums of probabilities: some teachers compute in float32
_DEPTH = 64  # no limit
_LEAST_SPLIT = 2.0  # rows of a node that is split, unless more are wanted
_HELD_OUT = 0.15  # of the synthetic rows: the form of the terms is chosen on these
_MOST_HELD_OUT = 4_000
_GLOBAL_TERMS = 8  # what they leave, the second tree is grown on
_ROWS_PER_LEAF = 10  # of a tree without a limit of leaves
_LEAST_LEAVES = 16  # that such a tree may have in any case
_LEAST_GLOBAL = 3e-4  # of the distance to the teacher, that each of these explains
_LEAST_PROBABILITY = 1e-6  # of a prediction that is compared with the teacher
_MOST_VALUES = 20_000_000  # of the rows with differences, which count once for each class
_BATCH = 10_000  # rows per call of the teacher: each call costs time, each row memory


@dataclass(frozen=True, slots=True)
class Distillation:
    """Parameters and procedure of distilling a teacher model into one tree.

    Parameters
    ----------
    fidelity : float, default 0.98
        Share of the largest tree's decrease of the squared distance to the teacher that the returned tree keeps.
    min_rows : float, default 5.0
        Minimum number of rows per leaf, synthetic rows included, of a tree of more than 64 leaves.
    synthetic_rows : SyntheticRows
        Parameters of the synthetic rows.
    max_leaf_nodes : int or None, default None
        Maximum number of leaves. Up to 64, the tree is found by a search with lookahead (`SmallTree`) and `fidelity`
        has no effect; beyond, it is the largest of the best subtrees within the limit. None: a leaf for each ten
        different rows, or groups, and 16 at least.
    max_depth : int or None, default None
        Maximum depth.
    slopes : int, default 0
        Most terms of the tree (`NodeTerms`) for each of its leaves, from 0 to 3.
    root_terms : bool, default False
        Whether a tree of more than 64 leaves, without `slopes`, has up to eight terms at its root.
    min_share : float, default 0.0
        Minimum share of the rows of each leaf, by weight: of real rows in a searched tree, of all in a larger one.
    min_real_rows : float, default 1.0
        Minimum number of real rows of each leaf, by weight. With 1, a tree of more than 64 leaves may have leaves
        without real rows.
    min_split_rows : float, default 2.0
        Minimum number of real rows of a node that is split, by weight.
    max_bins : int or None, default 255
        Maximum number of codes of a numeric feature of a tree of more than 64 leaves, as in `Recipe`.
    grower : Grower
        Nominal splits, missing values and the least gain of a tree of more than 64 leaves; monotone constraints and
        rules of paths of a searched one. A feature with a monotone constraint has terms and no splits, and a node has
        terms of the features that may split it.

    Notes
    -----
    The tree is grown on probabilities instead of classes: a row with the probabilities 0.7 and 0.3 counts as 0.7 rows
    of one class and 0.3 of the other, and Gini's criterion is then the squared distance to the teacher. Cost-complexity
    pruning finds the smallest subtree that reaches `fidelity`. With terms, a second tree is grown on what eight terms
    of all rows leave, and of both the one nearer to the teacher on held-out synthetic rows is kept. The evidence of its
    nodes is that of the real rows, and the mean prediction of the teacher in a leaf is added with a pseudo-count of
    thirty rows.

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
    max_depth: int | None = None
    slopes: int = 0
    root_terms: bool = False
    min_share: float = 0.0
    min_real_rows: float = 1.0
    min_split_rows: float = _LEAST_SPLIT
    max_bins: int | None = GREEDY_BINS
    grower: Grower = field(default_factory=Grower)

    def __post_init__(self) -> None:
        if not 0 < self.fidelity <= 1:
            raise ParameterError(f"fidelity={self.fidelity!r}: expected a number above 0, and 1 at most.")
        if self.max_leaf_nodes is not None and self.max_leaf_nodes < 2:
            raise ParameterError(
                f"max_leaf_nodes={self.max_leaf_nodes!r}: expected at least 2, or None for no limit."
            )
        if self._constraints and (self.max_leaf_nodes is None or self.max_leaf_nodes > MOST_SEARCHED):
            raise ParameterError(
                f"{', '.join(self._constraints)}: a tree with a teacher keeps constraints up to "
                f"max_leaf_nodes={MOST_SEARCHED}, found {self.max_leaf_nodes}. Set max_leaf_nodes=16, say."
            )
        if "monotonic_cst" in self._constraints and self.slopes == 0:
            raise ParameterError(
                "monotonic_cst: with a teacher a feature with a constraint has terms and no splits; expected slopes "
                "from 1 to 3, found 0."
            )

    def check_schema(self, schema: Schema) -> None:
        """Raise `ParameterError` if the constraints do not fit the features, or the classes."""
        monotone_array(self.grower.monotonic_cst, schema)
        self._path_rules(schema)

    @property
    def _constraints(self) -> dict[str, Any]:
        """The constraints that are set, by name."""
        values = {name: getattr(self.grower, name) for name in CONSTRAINTS}
        if not any(self.grower.monotonic_cst or ()):
            del values["monotonic_cst"]
        return {name: value for name, value in values.items() if value}

    def fit(
        self,
        table: Table,
        teacher: _RowTeacher,
        held_out: Floats | None = None,
        n_jobs: int = 1,
        *,
        count: Callable[[Tree], Tree] | None = None,
        teacher_name: str | None = None,
    ) -> Tree:
        """Distil a teacher into a tree.

        Parameters
        ----------
        table : Table
            Real rows with their classes, or with a numeric target.
        teacher : callable
            From an integer array of shape (n, n_features), the row of the table that each value of n rows comes from,
            to the class probabilities of these rows, or to their means in one column.
        held_out : float64 array of shape (n_rows, n_classes), optional
            Class probabilities from a teacher not fitted to the row; NaN or 0 where there are none. The temperature of
            the teacher is chosen by them. For a numeric target, one column of means.
        n_jobs : int, default 1
            Threads.
        count : callable, optional
            Replaces the evidence of the tree, that of `table`, by that of more rows.
        teacher_name : str, optional
            Written to the history of the tree.

        Returns
        -------
        Tree
        """
        if table.target is None and table.numeric_target is None:
            raise DataError("The table has no target. Read it with y to distil a tree from it.")
        synthetic = np.concatenate(list(self.synthetic_rows.draw(table, n_jobs)))
        real = np.broadcast_to(np.arange(table.n_rows)[:, None], (table.n_rows, synthetic.shape[1]))
        known = _known_predictions(teacher, real, held_out, table.schema)
        temperature = 1.0
        if held_out is not None and table.target is not None:
            temperature = choose_temperature(known, table.target, table.weight)
        new = _teacher_predictions(teacher, synthetic, table.schema)
        predictions = apply_temperature(np.concatenate([known, new]), temperature)
        rows = recombined(table, np.concatenate([real, synthetic]))
        if table.weight is not None:
            # A synthetic row weighs as much as the row that most of its values come from.
            weight = np.tile(table.weight, len(predictions) // table.n_rows)
            rows = replace(rows, weight=weight, unit=table.unit)
        student = self._student(table, rows, predictions, n_jobs)
        tree = count_rows(student.skeleton, table, gain=student.gain)
        if count is not None:
            tree = count(tree)
        named: dict[str, Any] = {} if teacher_name is None else {"teacher": teacher_name}
        if not self._is_searched:
            named |= {"leaves": tree.n_leaves, "max_leaf_nodes": self._most_leaves(table)}
        step = Step.of(
            DISTILLED,
            fidelity=self.fidelity,
            temperature=temperature,
            rows=len(predictions),
            **named,
            **self._constraints,
        )
        tree = with_belief(tree, _belief(tree, rows, predictions), np.full(tree.n_nodes, _TEACHER_ROWS), step)
        if student.model is not None and len(student.model.slopes):
            tree = with_model(tree, student.model)
        calibration = calibrate_taught_tree(tree)
        if table.group is not None and held_out is not None:
            unit = unit_ranks(value_hash(table.columns, target_bits(table)), table)
            calibration = GroupDependence.of(table, predictions[: table.n_rows], unit).limit(calibration)
        return calibration(tree)

    def _student(self, table: Table, rows: Table, predictions: Floats, n_jobs: int) -> "_Student":
        """Find the splits and the terms.

        Up to 64 leaves the splits are found by lookahead, else they are those of the smallest subtree of enough
        fidelity. The first rows are those of `table`: of these, each leaf has a minimum.
        """
        counted = np.arange(rows.n_rows) < table.n_rows
        if not (self.slopes or self.root_terms) or table.schema.n_classes == 1:
            if not self._is_searched:
                return self._grow(table, rows, predictions, n_jobs)
            search = SearchRows.of(rows, predictions, n_jobs, counted)
            return self._find(0, search, table, n_jobs)
        held_out = _held_out(table.n_rows, rows.n_rows)
        known = np.arange(held_out[0])
        taught, labels, unseen = rows.take(known), predictions[known], rows.take(held_out)
        search = SearchRows.of(taught, labels, n_jobs, counted[known])
        real = table, table.truth, _n_units(table)
        root = Skeleton.leaf()
        terms = replace(self._terms(root, table.schema), most_terms=_GLOBAL_TERMS, least_share=_LEAST_GLOBAL)
        everywhere = terms.fit(root, search, *real)
        if self._is_searched:
            left = search.with_differences(_predictions(table, root, everywhere, search.table, n_jobs))
            goals = (self.slopes, search), (0, left)
            students = [self._find(slopes, goal, table, n_jobs) for slopes, goal in goals]
        else:
            students = [
                self._grow(table, taught, labels, n_jobs),
                self._grow_beside(everywhere, table, taught, labels, n_jobs),
            ]
        known_terms = everywhere.slopes if self.slopes == 0 else None
        losses = []
        for number, (skeleton, gain, _) in enumerate(students):
            terms = self._terms(skeleton, table.schema)
            model = terms.fit(skeleton, search, *real, selected=known_terms)
            found = _predictions(table, skeleton, model, unseen, n_jobs)
            students[number] = _Student(skeleton, gain, model)
            losses.append(_distance(found, predictions[held_out], relative_weights(unseen)))
        return students[int(np.argmin(losses))]

    @property
    def _is_searched(self) -> bool:
        """Whether the splits are found by lookahead."""
        return self.max_leaf_nodes is not None and self.max_leaf_nodes <= MOST_SEARCHED

    def _most_leaves(self, table: Table) -> int:
        """Return the largest number of leaves of a tree for these real rows."""
        return self.max_leaf_nodes or max(_LEAST_LEAVES, _n_units(table) // _ROWS_PER_LEAF)

    def _find(self, slopes: int, search: SearchRows, table: Table, n_jobs: int) -> "_Student":
        """Search for a tree with this many terms in each leaf."""
        small = SmallTree(
            self._most_leaves(table),
            _DEPTH if self.max_depth is None else self.max_depth,
            min_counted=self.min_real_rows,
            min_share=self.min_share,
            leaf=LeafRules(slopes),
            paths=self._column_rules(search),
        )
        skeleton = small.grow(search, n_jobs)
        if self.min_split_rows > _LEAST_SPLIT:
            skeleton, _ = self._enough(skeleton, table, 0.0)
        return _Student(skeleton)

    def _path_rules(self, schema: Schema) -> PathRules | None:
        """Return which features may follow each other on a path; None: all may."""
        grower = self.grower
        return make_path_rules(
            schema, grower.interaction_cst, grower.forbidden_below, once_per_path=grower.once_per_path
        )

    def _column_rules(self, search: SearchRows) -> PathRules | None:
        """Return the rules for the columns of a search, of which those with a monotone constraint split no node."""
        if not self._constraints:
            return None
        schema, grower = search.table.schema, self.grower
        groups, below = path_lists(
            schema, grower.interaction_cst, grower.forbidden_below, once_per_path=grower.once_per_path
        )
        column = {feature: number for number, feature in enumerate(search.features.tolist())}
        signs = grower.monotonic_cst or [0] * schema.n_features
        known = {tuple(column[f] for f in group if f in column and not signs[f]) for group in groups}
        return PathRules(
            len(column), sorted(known), [[column[f] for f in below[above] if f in column] for above in column]
        )

    def _terms(self, skeleton: Skeleton, schema: Schema) -> NodeTerms:
        """Make the settings of the terms of a tree."""
        signs, n_leaves = monotone_array(self.grower.monotonic_cst, schema), skeleton.n_leaves
        if signs is not None:  # these features have terms in the place of the splits that they must not have
            n_leaves = self.max_leaf_nodes or n_leaves
        paths = self._path_rules(schema)
        return NodeTerms(self.slopes * min(n_leaves, MOST_SEARCHED), signs=signs, paths=paths)

    def _grow(
        self,
        table: Table,
        rows: Table,
        labels: Floats,
        n_jobs: int,
        scale: float = 1.0,
        explained: float = 0.0,
    ) -> "_Student":
        """Grow a tree of any size, and prune it.

        Labels were divided by `scale`; `explained` is the squared distance that terms explain, in the same scale.
        """
        least = max(self.min_rows, self.min_share * rows.n_rows)
        gain = self.grower.min_impurity_decrease / (scale * scale)
        grower = replace(
            self.grower, min_weight_leaf=least, max_depth=self.max_depth, min_impurity_decrease=gain
        )
        soft = soft_rows(rows, labels)
        tree = grow_soft(soft, Recipe(self.max_bins, grower), n_jobs)
        if self.min_real_rows > 1 or self.min_split_rows > _LEAST_SPLIT:
            skeleton, source = self._enough(tree.skeleton, table, self.min_real_rows)
            tree = count_rows(skeleton, soft, gain=np.append(tree.gain, np.nan)[source])
        path = cost_complexity_path(tree)
        kept = explained + path.impurities[-1] - path.impurities
        chosen = np.flatnonzero(kept >= self.fidelity * kept[0])[-1]
        chosen = max(chosen, np.flatnonzero(path.n_leaves <= self._most_leaves(table))[0])
        student = CostComplexity(path.alphas[chosen])(tree)
        return _Student(student.skeleton, student.gain)

    def _grow_beside(
        self, everywhere: NodeModel, table: Table, rows: Table, labels: Floats, n_jobs: int
    ) -> "_Student":
        """Grow a tree on what terms of all rows leave of the labels."""
        some = _thinned(rows.n_rows, labels.shape[1] * table.schema.n_features)
        rows, labels = rows.take(some), labels[some]
        left = labels - _predictions(table, Skeleton.leaf(), everywhere, rows, n_jobs)
        explained = max(_variance(rows, labels) - _variance(rows, left), 0.0)
        goal, scale = shifted(left)
        return self._grow(table, rows, goal, n_jobs, scale, explained / (scale * scale))

    def _enough(self, skeleton: Skeleton, table: Table, least: float) -> tuple[Skeleton, NDArray[np.intp]]:
        """Take out splits and branches of too few real rows; also return where each node comes from."""
        weight = count_rows(skeleton, table).weight_in_rows
        weight *= table.n_rows / weight[0]
        return with_least_rows(skeleton, weight, self.min_split_rows, least)


class _Student(NamedTuple):
    """The splits of a tree, their gains if they are known, and its terms, if it has any."""

    skeleton: Skeleton
    gain: Floats | None = None
    model: NodeModel | None = None


def with_model(tree: Tree, model: NodeModel) -> Tree:
    """Give a tree the terms of a model, and its predictions of the nodes."""
    belief = belief_beside_terms(tree, model.belief)
    return with_slopes(with_belief(tree, belief, tree.borrowed), model.slopes)


def _held_out(n_real: int, n_rows: int) -> NDArray[np.intp]:
    """Return the last synthetic rows, at most 4,000."""
    n = min(max(1, int(_HELD_OUT * (n_rows - n_real))), _MOST_HELD_OUT)
    return np.arange(n_rows - n, n_rows)


def _thinned(n_rows: int, n_values: int) -> NDArray[np.intp]:
    """Draw rows at equal distances: all, unless they have too many values."""
    n = min(n_rows, max(1, _MOST_VALUES // n_values))
    return np.arange(n) * n_rows // n


def _n_units(table: Table) -> int:
    """Count the groups of the rows, or the different rows."""
    return table.n_groups or len(np.unique(value_hash(table.columns, target_bits(table))))


def _predictions(table: Table, skeleton: Skeleton, model: NodeModel, rows: Table, n_jobs: int) -> Floats:
    """Predict rows with the terms of a model."""
    tree = with_belief(count_rows(skeleton, table), model.belief)
    return predict_rows(with_slopes(tree, model.slopes), rows, n_jobs)


def _variance(rows: Table, labels: Floats) -> float:
    """Compute the mean squared distance of labels to their mean."""
    weight = relative_weights(rows) / rows.n_rows
    error = labels - np.array([dot(weight, np.ascontiguousarray(column)) for column in labels.T])
    return dot(weight, row_dots(error, error))


def _distance(predictions: Floats, labels: Floats, weight: Floats) -> float:
    """Compute the mean cross-entropy of soft labels, or the mean squared error."""
    if labels.shape[1] == 1:
        loss = np.square(predictions[:, 0] - labels[:, 0])
    else:
        loss = -row_dots(labels, log(np.maximum(predictions, _LEAST_PROBABILITY)))
    return dot(weight, loss) / len(labels)


def _known_predictions(
    teacher: _RowTeacher, real: NDArray[np.intp], held_out: Floats | None, schema: Schema
) -> Floats:
    """Return the held-out predictions of the real rows, or those of the teacher where there are none."""
    if held_out is None:
        return _teacher_predictions(teacher, real, schema)
    # In a small forest, some rows are in every bootstrap sample and have no held-out prediction.
    known = np.array(held_out)
    found = ~np.isnan(known) if schema.is_regression else np.nan_to_num(known) != 0
    unknown = np.flatnonzero(~found.any(axis=1))
    if len(unknown):
        known[unknown] = _teacher_predictions(teacher, real[unknown], schema)
    return _checked(known, (len(real), schema.n_outputs), schema)


def _teacher_predictions(teacher: _RowTeacher, rows: NDArray[np.intp], schema: Schema) -> Floats:
    """Call the teacher on all rows, in batches."""
    batches = [teacher(rows[start : start + _BATCH]) for start in range(0, len(rows), _BATCH)]
    return _checked(np.concatenate(batches), (len(rows), schema.n_outputs), schema)


def _checked(predictions: Floats, shape: tuple[int, int], schema: Schema) -> Floats:
    """Return the predictions if they have this shape and are probabilities, or finite means."""
    if predictions.shape != shape:
        raise DataError(
            f"the teacher returned an array of shape {predictions.shape} for {shape[0]} rows, expected {shape}: "
            "a row for each row, and a column for each class."
        )
    if schema.is_regression:
        if not np.isfinite(predictions).all():
            raise DataError("the teacher returned a mean that is not finite; expected finite numbers.")
        return predictions
    wrong = ~((predictions >= 0).all(axis=1) & (np.abs(predictions.sum(axis=1) - 1) < _ROUNDING))
    if wrong.any():
        raise DataError(
            f"the teacher returned {predictions[wrong.argmax()].tolist()}; expected probabilities, which are not "
            "negative and sum to 1. Pass a teacher that returns probabilities."
        )
    return predictions


def recombined(table: Table, rows: NDArray[np.intp]) -> Table:
    """Build rows without a target from values of others, by the row that each value comes from."""
    columns = tuple(column[rows[:, number]] for number, column in enumerate(table.columns))
    return Table(table.schema, columns)


def _belief(tree: Tree, rows: Table, predictions: Floats) -> Floats:
    """Average the evidence of each node and the mean prediction of the teacher, which counts as thirty rows."""
    if tree.is_regression:
        means = count_rows(tree.skeleton, with_means(rows, predictions)).belief
    else:
        means = _node_means(tree, rows, predictions)
    return belief_with_prior(tree, _TEACHER_ROWS * means, _TEACHER_ROWS)


def _node_means(tree: Tree, rows: Table, predictions: Floats) -> Floats:
    """Compute the mean prediction at every node, smoothed with a row of each ancestor so that none is 0."""
    node = route(tree.skeleton, rows)
    ended = [np.bincount(node, steps, minlength=tree.n_nodes) for steps in class_steps(rows, predictions).T]
    evidence = pull_up(tree.skeleton, np.column_stack(ended).astype(np.int64))
    return HGS(prior=0.0)(Tree.raw(tree.schema, tree.skeleton, evidence, unit=UNIT)).belief
