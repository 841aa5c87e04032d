"""The tree as a frozen value: splits, counts, predictions and the decision rule."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.data.schema import Schema
from hornbeam.kernels.elementary import row_sums
from hornbeam.tree.arrays import read_only
from hornbeam.tree.check import check_tree
from hornbeam.tree.decision import DecisionRule
from hornbeam.tree.digest import digest
from hornbeam.tree.evidence.means import means
from hornbeam.tree.level_order import nearest_with_rows
from hornbeam.tree.skeleton import Skeleton, summary
from hornbeam.tree.slopes import Slopes
from hornbeam.typing import Counts, Floats


@dataclass(frozen=True, slots=True)
class Step:
    """An entry of a tree's history: the name of a step and its parameters, sorted by name.

    Examples
    --------
    >>> step = Step.of("m-branch", m=2.0, base="root")
    >>> print(step)
    m-branch(base='root', m=2.0)
    >>> step == Step("m-branch", (("m", 2.0), ("base", "root")))
    True
    """

    name: str
    parameters: tuple[tuple[str, Any], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", tuple(sorted(self.parameters, key=lambda pair: pair[0])))

    @classmethod
    def of(cls, name: str, /, **parameters: Any) -> Self:
        """Make a step from keyword arguments.

        Examples
        --------
        >>> Step.of("hgs", alpha=1.0)
        Step(name='hgs', parameters=(('alpha', 1.0),))
        """
        return cls(name, tuple(parameters.items()))

    def __str__(self) -> str:
        return f"{self.name}({', '.join(f'{name}={value!r}' for name, value in self.parameters)})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Tree:
    """A decision tree as a frozen value: a skeleton with evidence and belief for every node; printed, its text.

    Every step makes a new tree (`hornbeam.tree.edit`); smoothing changes `belief` and leaves `evidence` as counted.
    Writable arrays are copied, read-only ones are kept; every invariant is checked (`hornbeam.tree.check`).

    Parameters
    ----------
    schema : Schema
        Names, kinds and categories of the features, and the ``K`` classes or a numeric target.
    skeleton : Skeleton
        Shape and splits.
    evidence : int64 array of shape (n, K)
        Weighted count of each class at each node, in steps of `unit`. In regression, shape (n, 3): weight, weighted sum
        and weighted sum of squares of the target.
    unit : float64 array of shape (K,), or (3,)
        Value of one step of evidence; 1.0 for plain counts.
    rows : int64 array of shape (n,)
        Unweighted rows that reached each node.
    gain : float64 array of shape (n,)
        Gain of each split; NaN on leaves or if unknown.
    belief : float64 array of shape (n, K)
        Class probabilities of each node. In regression, shape (n, 1): the mean.
    borrowed : float64 array of shape (n,)
        Pseudo-counts that each node borrowed from its ancestors.
    history : iterable of Step, default ()
        The steps that made this tree, first to last.
    decision : DecisionRule, optional
        How probabilities become a class. Default: the most probable class.
    slopes : Slopes, optional
        Terms of nodes that change the belief with the values of the rows that pass them. Default: none.

    See Also
    --------
    Tree.raw : the tree before smoothing.

    Examples
    --------
    >>> import numpy as np
    >>> from hornbeam.tree import Feature, Schema
    >>> schema = Schema((Feature("age"),), ("no", "yes"))
    >>> skeleton = Skeleton.of([2, 0, 0], [0, -1, -1], [30.0, np.nan, np.nan])
    >>> tree = Tree.raw(schema, skeleton, np.array([[5, 5], [4, 1], [1, 4]]))
    >>> tree
    Tree(3 nodes, 2 leaves, depth 1, 2 classes)
    >>> print(tree)
    0) every row
    ├─ 1) age ≤ 30 ·· no   0.800  4 no, 1 yes
    └─ 2) age > 30 ·· yes  0.800  4 yes, 1 no
    >>> tree.belief.tolist()
    [[0.5, 0.5], [0.8, 0.2], [0.2, 0.8]]
    >>> tree.digest[:8]
    '42e8814f'
    """

    schema: Schema
    skeleton: Skeleton
    evidence: Counts
    unit: Floats
    rows: Counts
    gain: Floats
    belief: Floats
    borrowed: Floats
    history: tuple[Step, ...] = ()
    decision: DecisionRule = field(default_factory=DecisionRule)
    slopes: Slopes = field(default_factory=Slopes.none)
    _digest: str | None = field(init=False, default=None)
    _decided: NDArray[np.intp] | None = field(init=False, default=None)
    _path_slopes: Slopes | None = field(init=False, default=None)
    _few_rows: Any = field(init=False, default=None)  # `hornbeam.tree.few_rows`

    def __post_init__(self) -> None:
        arrays = {name: getattr(self, name) for name in _ARRAYS}
        check_tree(self.schema, self.skeleton, self.decision, self.slopes, **arrays)
        for name, array in arrays.items():
            object.__setattr__(self, name, read_only(array))
        object.__setattr__(self, "history", tuple(self.history))
        if not len(self.slopes):
            object.__setattr__(self, "slopes", Slopes.none(self.schema.n_outputs))

    @classmethod
    def _unchecked(cls, **fields: Any) -> Self:
        """Make a tree of these fields, unchecked: from kernels, and for edits that break no invariant."""
        made = object.__new__(cls)
        for name in _ARRAYS:
            object.__setattr__(made, name, read_only(fields[name]))
        for name in ("schema", "skeleton", "history"):
            object.__setattr__(made, name, fields[name])
        object.__setattr__(made, "decision", fields["decision"] if "decision" in fields else DecisionRule())
        slopes = fields["slopes"] if "slopes" in fields else Slopes.none(made.schema.n_outputs)
        object.__setattr__(made, "slopes", slopes)
        for name in ("_digest", "_decided", "_path_slopes", "_few_rows"):
            object.__setattr__(made, name, None)
        return made

    def _edited(self, **changes: Any) -> Self:
        """Copy with some fields changed, unchecked: for edits that break no invariant or check it themselves."""
        return self._unchecked(**{name: getattr(self, name) for name in _FIELDS} | changes)

    @classmethod
    def raw(
        cls,
        schema: Schema,
        skeleton: Skeleton,
        evidence: Counts,
        *,
        unit: float | Floats = 1.0,
        rows: Counts | None = None,
        gain: Floats | None = None,
        history: Iterable[Step] = (),
        decision: DecisionRule | None = None,
        slopes: Slopes | None = None,
    ) -> Self:
        """Make a tree without smoothing: its belief is the frequencies or means of its evidence.

        Parameters
        ----------
        schema, skeleton, evidence
            As of the tree.
        unit : float or float64 array of shape (3,), default 1.0
            Value of one step of evidence, for every class; in regression, for each column.
        rows : int64 array of shape (n,), optional
            Default: the evidence, for rows of weight 1.
        gain : float64 array of shape (n,), optional
            Default: unknown.
        history : iterable of Step, default ()
        decision : DecisionRule, optional
            Default: the most probable class.
        slopes : Slopes, optional
            Default: none.

        Examples
        --------
        >>> import numpy as np
        >>> Tree.raw(Schema((), ("no", "yes")), Skeleton.leaf(), np.array([[3, 1]])).belief.tolist()
        [[0.75, 0.25]]
        """
        fields = _raw_fields(schema, skeleton, evidence, unit, rows, gain)
        return cls(
            **fields,
            history=tuple(history),
            decision=DecisionRule() if decision is None else decision,
            slopes=Slopes.none() if slopes is None else slopes,
        )

    @classmethod
    def _grown(
        cls,
        schema: Schema,
        skeleton: Skeleton,
        evidence: Counts,
        *,
        unit: float | Floats,
        rows: Counts,
        gain: Floats,
        history: tuple[Step, ...],
    ) -> Self:
        """Make a tree without smoothing from what a kernel has grown or counted, unchecked."""
        return cls._unchecked(
            **_raw_fields(schema, skeleton, evidence, unit, rows, gain), history=tuple(history)
        )

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return self.skeleton.n_nodes

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return self.skeleton.n_leaves

    @property
    def depth(self) -> int:
        """Number of splits from the root to the deepest leaf."""
        return self.skeleton.depth

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return self.schema.n_classes

    @property
    def is_regression(self) -> bool:
        """Whether the target is numeric, and belief a mean."""
        return self.schema.is_regression

    @property
    def weight(self) -> Counts:
        """Weight of the rows at each node, in steps of ``unit[0]``."""
        return node_weight(self.schema, self.evidence)

    @property
    def weight_in_rows(self) -> Floats:
        """Weight of the rows at each node; the number of rows if each has weight 1."""
        return self.weight_at(slice(None))

    def weight_at(self, nodes: list[int] | NDArray[np.integer[Any]] | slice) -> Floats:
        """Return the entries of `weight_in_rows` of some nodes, without computing the others."""
        weight: Floats = node_weight(self.schema, self.evidence[nodes]) * self.unit[0]
        return weight

    @property
    def features_used(self) -> list[int]:
        """Positions of the features of splits and terms, ascending."""
        used = np.union1d(self.skeleton.feature, self.slopes.feature)
        return [int(feature) for feature in used if feature >= 0]

    @property
    def predicts_by_node(self) -> bool:
        """Whether all rows of a node have one prediction: no node has terms, no row goes to every child."""
        return not (len(self.slopes) or self.skeleton.is_fractional)

    @property
    def path_slopes(self) -> Slopes:
        """The terms that a row which stops at a node has, node by node: those of all nodes of the path (`Slopes`)."""
        found = self._path_slopes
        if found is None:
            found = self.slopes.on_paths(self.skeleton)
            object.__setattr__(self, "_path_slopes", found)
        return found

    @property
    def decided(self) -> NDArray[np.intp]:
        """Code of the class decided at each node; 0 in regression, the column of the mean.

        Terms are left out: a row with terms on its path may be decided otherwise.
        """
        if self._decided is None:
            decided = np.zeros(self.n_nodes, np.intp) if self.is_regression else self.decision(self.belief)
            object.__setattr__(self, "_decided", read_only(decided))
        return self._decided  # type: ignore[return-value]

    @property
    def digest(self) -> str:
        """Content hash: trees with equal digests give equal predictions (`hornbeam.tree.digest`)."""
        if self._digest is None:
            s = self.skeleton
            splits = (s.parent, s.first_child, s.n_children, s.feature, s.threshold, s.slot_start)
            slots = (s.slot_of.astype(np.int32, copy=False), s.missing_slot)
            arrays = (*splits, *slots, self.evidence, self.unit, self.belief, self.borrowed)
            loss = self.decision.loss
            slopes = self.slopes.arrays if len(self.slopes) else ()
            hashed = digest(self.schema, arrays, None if loss is None else loss.matrix, slopes)
            object.__setattr__(self, "_digest", hashed)
        return self._digest  # type: ignore[return-value]

    def __str__(self) -> str:
        from hornbeam.export.people.text import to_text  # a higher layer, which has the words of all splits

        return to_text(self)

    def __repr__(self) -> str:
        k = self.n_classes
        target = "a number" if self.is_regression else f"{k} class{'es' * (k != 1)}"
        return f"Tree({summary(self.skeleton)}, {target})"

    def __reduce__(self) -> tuple[type[Self], tuple[Any, ...]]:
        arrays = (getattr(self, name) for name in _ARRAYS)
        return type(self), (self.schema, self.skeleton, *arrays, self.history, self.decision, self.slopes)


_ARRAYS = ("evidence", "unit", "rows", "gain", "belief", "borrowed")
_FIELDS = ("schema", "skeleton", *_ARRAYS, "history", "decision", "slopes")


def _raw_fields(
    schema: Schema,
    skeleton: Skeleton,
    evidence: Counts,
    unit: float | Floats,
    rows: Counts | None,
    gain: Floats | None,
) -> dict[str, Any]:
    n, units = skeleton.n_nodes, np.full(schema.n_channels, unit)
    return {
        "schema": schema,
        "skeleton": skeleton,
        "evidence": evidence,
        "unit": units,
        "rows": node_weight(schema, evidence) if rows is None else rows,
        "gain": np.full(n, np.nan) if gain is None else gain,
        "belief": _unsmoothed(schema, skeleton, evidence, units),
        "borrowed": np.zeros(n),
    }


def unsmoothed(tree: Tree) -> Floats:
    """Compute the belief of a tree before smoothing: frequencies, or means."""
    return _unsmoothed(tree.schema, tree.skeleton, tree.evidence, tree.unit)


def _unsmoothed(schema: Schema, skeleton: Skeleton, evidence: Counts, unit: Floats) -> Floats:
    if schema.is_regression:
        return means(skeleton.parent, evidence, unit)[:, None]
    return raw_belief(skeleton, evidence)


def node_weight(schema: Schema, evidence: Counts) -> Counts:
    """Weight of the rows at each node: the sum over classes, or the first column in regression."""
    return evidence[:, 0] if schema.is_regression else row_sums(evidence)


def raw_belief(skeleton: Skeleton, evidence: Counts) -> Floats:
    """Divide class counts by their sum.

    A node without evidence has the frequencies of its parent; a root without evidence has equal frequencies.
    """
    total = row_sums(evidence)
    if total[0] == 0:  # then every node is empty
        return np.full(evidence.shape, 1 / evidence.shape[1])
    if not total.all():
        source = nearest_with_rows(skeleton.parent, total)
        evidence, total = evidence[source], total[source]
    belief: Floats = evidence / total[:, None]
    return belief
