"""Several models compared on the same rows: scores, paired differences and intervals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from hornbeam.checks import check_choice, check_share
from hornbeam.data.groups import read_groups
from hornbeam.data.labels import read_labels
from hornbeam.data.weights import read_sample_weight
from hornbeam.errors import DataError, HornbeamError, ParameterError, shown
from hornbeam.evaluation.calibration import ReliabilityCurve, curve_of_entries
from hornbeam.evaluation.discrimination import ks_statistic
from hornbeam.evaluation.estimates import (
    Estimate,
    area_estimate,
    mean_estimate,
    recalibration,
)
from hornbeam.evaluation.scores import class_codes, label_array, losses, read_probabilities
from hornbeam.grid import Grid, Result
from hornbeam.tree.decision import Costs, class_code
from hornbeam.tree.words import label_text, pluralise
from hornbeam.typing import Bools, Counts, Floats, Label

ALL_ROWS, ALERT_ALL = "all rows", "alert for every row"
AREA, KS, NET_BENEFIT, ALERTS = "area under the curve", "KS", "net benefit", "alerts per 1,000"
_MOST_SUBGROUPS = 30
_FEW_GROUPS = 30
_SPANS = {AREA: (0.0, 1.0), "Gini": (-1.0, 1.0)}  # their intervals lie within
_CURVES = ("calibration", "decision curve")
#: What the best value of a score is.
BEST = {
    "log loss": "less",
    "Brier score": "less",
    AREA: "more",
    "Gini": "more",
    KS: "more",
    "calibration in the large": "0",
    "calibration slope": "1",
    "cost per row": "less",
    NET_BENEFIT: "more",
}
_SAID = {"less": "Lower is better", "more": "Higher is better", "0": "Best at 0", "1": "Best at 1"}


@dataclass(frozen=True, slots=True, repr=False)
class ModelScore:
    """A score of a model on some rows, and its difference from that of the reference."""

    subgroup: str
    rows: int
    score: str
    threshold: float | None
    model: str
    value: float
    low: float
    high: float
    difference: float
    difference_low: float
    difference_high: float

    @property
    def name(self) -> str:
        """The score with its threshold."""
        return self.score if self.threshold is None else f"{self.score} at {self.threshold:g}"

    @property
    def texts(self) -> tuple[str, str, str, str]:
        """The value, its interval, the difference from the reference, and its interval; empty for NaN."""
        value = (self.value, self.low, self.high)
        moved = (self.difference, self.difference_low, self.difference_high)
        return *_texts(value, ""), *_texts(moved, "+")

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return asdict(self)

    def __repr__(self) -> str:
        value, around, moved, moved_around = self.texts
        parts = [f"{self.name} of {self.model}: {value}"]
        parts += [f"({around})"] * bool(around) + [f"difference {moved}"] * bool(moved)
        return " ".join(parts + [f"({moved_around})"] * bool(moved_around))


def _texts(numbers: tuple[float, float, float], sign: str) -> tuple[str, str]:
    """Format a number and its interval, with as many digits for all three."""
    largest = max((abs(number) for number in numbers if number == number), default=0.0)
    digits = ".4f" if largest < 10 else ".1f" if largest < 1000 else ",.0f"
    middle, low, high = (f"{number:{sign}{digits}}".replace("-", "−") for number in numbers)
    known = [number == number for number in numbers]
    return middle if known[0] else "", f"{low} to {high}" if all(known) else ""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ModelComparison(Result[ModelScore]):
    """Scores of models on the same rows, with differences from one of them; printed, a line per score and model.

    Parameters
    ----------
    scores : tuple of ModelScore
        Each has a `subgroup` and its number of `rows`, the name of the `score`, its `threshold` or None, the `model`,
        its `value` with the ends `low` and `high` of its interval, and the `difference` from the reference with
        `difference_low` and `difference_high`. NaN where something is not defined.
    reference : str
        The model that others are compared with.
    level : float
        Level of the intervals.

    Examples
    --------
    >>> from hornbeam.evaluation import compare
    >>> y = [0, 0, 1, 0, 1, 1, 0, 1]
    >>> steep, flat = [0.1, 0.2, 0.7, 0.4, 0.6, 0.9, 0.3, 0.4], [0.4, 0.3, 0.6, 0.5, 0.5, 0.6, 0.3, 0.5]
    >>> found = compare(y, {"steep": steep, "flat": flat})
    >>> [(one.score, one.model, round(one.difference, 3)) for one in found[:4] if one.model == "flat"]
    [('log loss', 'flat', 0.155), ('Brier score', 'flat', 0.122)]
    """

    _COLUMNS: ClassVar = tuple(ModelScore.__annotations__)
    _ENTRIES: ClassVar = "scores"

    scores: tuple[ModelScore, ...]
    reference: str
    level: float
    _rows: ComparedRows = field(repr=False)

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models, the reference first."""
        return tuple(self._rows.predicted)

    @property
    def positive(self) -> str | None:
        """Name of the class of interest, or None."""
        code = self._rows.positive
        return None if code is None else label_text(self._rows.classes[code])

    def plot(self, *panels: str, figure: Any = None) -> Any:
        """Draw differences from the reference with their intervals, calibration, and net benefit at all thresholds.

        Parameters
        ----------
        *panels : str
            What to draw: names of scores, ``"calibration"`` and ``"decision curve"``. By default all that there is.
        figure : matplotlib figure or subfigure, optional
            Where to draw; a new figure if not given.

        Returns
        -------
        matplotlib figure

        Examples
        --------
        >>> from hornbeam.evaluation import compare
        >>> figure = compare([0, 1] * 20, {"tree": [0.2, 0.7] * 20}).plot("calibration", "decision curve")
        """
        known = [*dict.fromkeys(one.name for one in self.scores if one.subgroup == ALL_ROWS)]
        curves = _CURVES if self._rows.positive is not None else ()
        for panel in panels:
            check_choice("panels", panel, (*known, *curves))
        main = [name for name in known if name in ("log loss", "Brier score", AREA, "cost per row")]
        from hornbeam.plots.comparison import draw_models

        return draw_models(self, panels or (*main, *curves), figure)

    def _grid(self) -> Grid:
        """Return the table to read."""
        return self._table(self.scores)

    def _table(self, entries: Iterable[ModelScore], *, repeated: bool = False) -> Grid:
        """Return a line per entry, with the name of a score in its first line or `repeated` in all."""
        entries = [*entries]
        parts = len({one.subgroup for one in entries}) > 1
        percent = f"{100 * self.level:g} % interval"
        header = [self._rows.words, *["subgroup"] * parts, "model", "value", percent]
        header += [f"minus {self.reference}", percent] if len(self.models) > 1 else []
        rows: list[list[str]] = []
        last = ""
        for one in entries:
            name = one.name if repeated or one.name != last else ""
            cells = [name, *[one.subgroup] * parts, one.model, *one.texts]
            rows.append(cells[: len(header)])
            last = one.name
        return Grid("Models on the same rows", header, rows, "<<" + "<" * parts + ">", self._note)

    def _subgroup_table(self) -> Grid | None:
        """Return a line per subgroup and model, with a column per score; None without subgroups."""
        found: dict[tuple[str, int, str], dict[str, str]] = {}
        for one in self.scores:
            if one.subgroup != ALL_ROWS and one.model != ALERT_ALL and one.score in BEST:
                value, around = one.texts[:2]
                line = found.setdefault((one.subgroup, one.rows, one.model), {})
                line[one.name] = f"{value} ({around})" if around else value
        if not found:
            return None
        names = [*next(iter(found.values()))]
        rows = [[part, f"{n:,}", model, *map(cells.get, names)] for (part, n, model), cells in found.items()]
        title = f"Subgroups, with {100 * self.level:g} % intervals"
        return Grid(title, ["subgroup", "rows", "model", *names], rows, "<><>")

    @property
    def _note(self) -> str:
        """How to read the scores."""
        used = dict.fromkeys(one.score for one in self.scores)
        words = [
            f"{said}: {', '.join(names)}"
            for best, said in _SAID.items()
            if (names := [name for name in used if BEST.get(name) == best])
        ]
        n_groups = self._rows.n_groups
        if n_groups is not None and n_groups < _FEW_GROUPS:
            words.append(f"There are only {pluralise(n_groups, 'group')}, so intervals are rough")
        return "\n".join(f"{line}." for line in words)

    def _curves(self) -> Iterator[tuple[str, ReliabilityCurve]]:
        """Return the reliability curve of each model."""
        rows = self._rows
        for name, p in rows.predicted.items():
            yield name, curve_of_entries(rows.observed, p[:, rows.positive], rows.weight, level=self.level)

    def _net_benefits(self, n: int = 99) -> tuple[Floats, dict[str, Floats]]:
        """Return thresholds, and the net benefit of each model and of an alert for every row at each."""
        thresholds = np.arange(1, n + 1) / (n + 1)
        rows = self._rows
        every = {name: p[:, rows.positive] for name, p in rows.predicted.items()}
        every[ALERT_ALL] = np.ones(len(rows.target))
        return thresholds, {
            name: np.array([rows.net_benefit(p, at).value for at in thresholds]) for name, p in every.items()
        }


@dataclass(frozen=True, slots=True, eq=False)
class ComparedRows:
    """Rows with their classes and the probabilities of each model.

    `target` has class codes, `positive` is the code of the class of interest, if there is one; `predicted` the
    probabilities of all classes.
    """

    classes: tuple[Label, ...]
    positive: int | None
    target: NDArray[np.intp]
    weight: Floats
    group: Counts | None
    predicted: dict[str, Floats]
    costs: Costs | None
    thresholds: tuple[float, ...]

    @property
    def observed(self) -> Bools:
        """Whether each row has the class of interest."""
        observed: Bools = self.target == self.positive
        return observed

    @property
    def n_groups(self) -> int | None:
        """Number of groups of rows that belong together, if they are known."""
        return None if self.group is None else len(np.unique(self.group))

    @property
    def words(self) -> str:
        """Number of rows and groups."""
        of = "" if self.n_groups is None else f" of {pluralise(self.n_groups, 'group')}"
        return pluralise(len(self.target), "row") + of

    def take(self, kept: Bools) -> Self:
        """Return some of the rows."""
        costs = self.costs
        if costs is not None and costs.matrix.ndim == 3:
            costs = Costs(costs.matrix[kept])
        group = None if self.group is None else self.group[kept]
        predicted = {name: p[kept] for name, p in self.predicted.items()}
        return type(self)(
            self.classes, self.positive, self.target[kept], self.weight[kept], group, predicted, costs,
            self.thresholds,
        )  # fmt: skip

    def estimates(self, predicted: Floats) -> dict[tuple[str, float | None], Estimate]:
        """Estimate all scores of the probabilities of a model."""
        target, weight = self.target, self.weight
        each = losses(predicted, target, target)
        found: dict[tuple[str, float | None], Estimate] = {
            (name, None): mean_estimate(each[name], weight) for name in ("log loss", "Brier score")
        }
        if self.positive is not None:
            p, observed = predicted[:, self.positive], self.observed
            area = area_estimate(observed, p, weight)
            found[AREA, None] = area
            found["Gini", None] = Estimate(2 * area.value - 1, 2 * area.influence)
            found[KS, None] = self._ks(p)
            large, slope = recalibration(observed, p, weight)
            found |= {("calibration in the large", None): large, ("calibration slope", None): slope}
        if self.costs is not None:
            paid = self._paid(self.costs)
            decided = self.costs.cheapest(predicted)
            values = paid[np.arange(len(target)), decided]
            found["cost per row", None] = mean_estimate(values, weight, np.ptp(paid, axis=1))
        for at in self.thresholds:
            p = predicted[:, self.positive]
            found[NET_BENEFIT, at] = self.net_benefit(p, at)
            found[ALERTS, at] = mean_estimate(np.where(p >= at, 1000.0, 0.0), weight, np.full(len(p), 1000.0))
        return found

    def net_benefit(self, p: Floats, threshold: float) -> Estimate:
        """Estimate the share of true alerts minus that of false ones, times the odds of the threshold."""
        worth: Floats = np.where(self.observed, 1.0, -threshold / (1 - threshold))
        return mean_estimate(np.where(p >= threshold, worth, 0.0), self.weight, np.abs(worth))

    def _paid(self, costs: Costs) -> Floats:
        """Return the cost of each decision for each row."""
        matrix, target = costs.matrix, self.target
        paid: Floats = matrix[target] if matrix.ndim == 2 else matrix[np.arange(len(target)), target]
        return paid

    def _ks(self, p: Floats) -> Estimate:
        """Estimate KS without an influence: no interval that was tried holds."""
        observed = self.observed
        value = np.nan
        if observed.any() and not observed.all():
            value = ks_statistic(observed, p, sample_weight=self.weight).value
        return Estimate(value, np.zeros(len(p)))

    def scores(self, subgroup: str, reference: str, level: float) -> Iterator[ModelScore]:
        """Score all models, and subtract the reference."""
        found = {name: self.estimates(p) for name, p in self.predicted.items()}
        base, n_rows = found[reference], len(self.target)
        for key in base:
            for name, estimates in found.items():
                own, difference = estimates[key], (np.nan,) * 3
                if name != reference:
                    difference = self._interval(own - base[key], level)
                    if not np.isnan(own.value) and np.array_equal(
                        self.predicted[name], self.predicted[reference]
                    ):
                        difference = (0.0,) * 3
                around = self._interval(own, level, _SPANS.get(key[0]))
                yield ModelScore(subgroup, n_rows, *key, name, *around, *difference)
            if key[0] == NET_BENEFIT:
                every = self.net_benefit(np.ones(len(self.target)), key[1] or 0.5)
                moved = self._interval(every - base[key], level)
                yield ModelScore(subgroup, n_rows, *key, ALERT_ALL, *self._interval(every, level), *moved)

    def _interval(
        self, estimate: Estimate, level: float, span: tuple[float, float] | None = None
    ) -> tuple[float, float, float]:
        return estimate.value, *estimate.bounds(level, self.group, span)


def compare(
    y: Any,
    predicted: Mapping[str, Any],
    *,
    positive: Label | None = None,
    labels: Any = None,
    groups: Any = None,
    subgroups: Any = None,
    costs: Any = None,
    thresholds: Any = (),
    reference: str | None = None,
    sample_weight: Any = None,
    level: float = 0.9,
) -> ModelComparison:
    """Compare the probabilities of several models on the same rows, with intervals.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        The true classes of rows that no model was fitted to.
    predicted : mapping of str to array-like
        The probabilities of each model by its name: of shape (n_rows, n_classes), or those of the class of interest, of
        shape (n_rows,). The models may be of any kind and of any library; one model alone is scored too.
    positive : label, optional
        The class of interest; by default the second of two classes. Of more than two classes only log loss, Brier score
        and cost are compared if this is None.
    labels : sequence, optional
        Class of each column of probabilities; default: the sorted classes of `y`.
    groups : array-like of shape (n_rows,), optional
        The group of each row, such as a patient with several visits: intervals are then those of independent groups.
    subgroups : array-like of shape (n_rows,), optional
        A value of each row: all scores are also computed for the rows of each value, of which there may be 30.
    costs : mapping or array-like, optional
        Cost of each decision, as in `mean_cost`. The decision is the one of least expected cost for each model.
    thresholds : float or sequence of float, optional
        Probabilities from which on a row is an alert: the net benefit and the alerts per 1,000 rows are then compared.
    reference : str, optional
        The model that others are compared with; default: the first.
    sample_weight : array-like of shape (n_rows,), optional
        Weight of each row.
    level : float, default 0.9
        Level of the intervals, each for itself.

    Returns
    -------
    ModelComparison

    See Also
    --------
    score_changes : Two models of Hornbeam on the same rows, which may be in files.
    Comparison : Methods over many data sets.

    Notes
    -----
    All intervals take the models as they are. The standard error of a difference is that of the paired differences of
    the rows, or of their sums over groups; for the area under the curve it is that of DeLong and others
    :cite:p:`delong1988`. Student's t has few degrees of freedom where few rows matter. The guide says how often these
    intervals hold, and where they do not.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hornbeam import ForestClassifier, TreeClassifier
    >>> from hornbeam.evaluation import compare
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> models = {"tree": TreeClassifier(), "forest": ForestClassifier(20, random_state=0)}
    >>> p = {name: model.fit(X[::2], y[::2]).predict_proba(X[1::2]) for name, model in models.items()}
    >>> compare(y[1::2], p, costs={(0, 1): 10})
    284 rows                  model     value      90 % interval  minus tree       90 % interval
    log loss                  tree     0.3328   0.2279 to 0.4377
                              forest   0.2040   0.1027 to 0.3054     −0.1288  −0.2242 to −0.0333
    Brier score               tree     0.1576   0.1101 to 0.2052
                              forest   0.0995   0.0635 to 0.1356     −0.0581  −0.0904 to −0.0258
    area under the curve      tree     0.9342   0.9017 to 0.9565
                              forest   0.9824   0.9658 to 0.9910     +0.0481  +0.0252 to +0.0710
    Gini                      tree     0.8685   0.8035 to 0.9131
                              forest   0.9647   0.9316 to 0.9820     +0.0962  +0.0504 to +0.1420
    KS                        tree     0.8219
                              forest   0.8755                        +0.0536
    calibration in the large  tree    −0.0326  −0.8323 to 0.7671
                              forest  −0.5925  −1.4377 to 0.2527     −0.5599  −1.0397 to −0.0802
    calibration slope         tree     0.5939   0.4916 to 0.6963
                              forest   0.5349   0.3876 to 0.6823     −0.0590  −0.1927 to +0.0747
    cost per row              tree     0.3415   0.1941 to 0.4890
                              forest   0.2394   0.0925 to 0.3864     −0.1021  −0.2637 to +0.0595
    Lower is better: log loss, Brier score, cost per row.
    Higher is better: area under the curve, Gini, KS.
    Best at 0: calibration in the large.
    Best at 1: calibration slope.
    """
    check_share("level", level)
    given: Any = predicted  # of any type
    if not (isinstance(given, Mapping) and given and all(isinstance(name, str) for name in given)):
        raise ParameterError(
            f"predicted={shown(predicted)}: expected the probabilities of each model by its name, such as "
            '{"tree": tree.predict_proba(X)}.'
        )
    if reference is not None:
        check_choice("reference", reference, predicted)
    first = next(iter(predicted)) if reference is None else reference
    ordered = {first: predicted[first], **predicted}
    rows = _read(y, ordered, positive, labels, groups, costs, thresholds, sample_weight)
    kept = rows.weight > 0
    if not kept.any():
        raise DataError("there are no rows with a weight; expected at least one.")
    found = [*rows.take(kept).scores(ALL_ROWS, first, level)]
    for word, mask in _parts(subgroups, len(kept)):
        if (mask & kept).any():
            found += rows.take(mask & kept).scores(word, first, level)
    names = [*dict.fromkeys(one.name for one in found)]
    found.sort(key=lambda one: names.index(one.name))  # a score of all subgroups together
    return ModelComparison(tuple(found), first, level, rows.take(kept))._from_rows(
        y, *predicted.values(), subgroups
    )


def _read(
    y: Any,
    predicted: dict[str, Any],
    positive: Label | None,
    labels: Any,
    groups: Any,
    costs: Any,
    thresholds: Any,
    sample_weight: Any,
) -> ComparedRows:
    """Check the arguments of `compare`, and number the classes."""
    read = read_labels(y)
    classes, target = tuple(read.classes.tolist()), read.codes.astype(np.intp)
    if labels is not None:
        classes = tuple(label_array(labels).tolist())
        target = class_codes(read.classes[read.codes], classes)
    shapes = {np.ndim(p) for p in predicted.values()}
    if shapes == {1} and positive is not None and len(classes) != 2:
        target = (target == class_code(classes, positive)).astype(np.intp)
        classes = (f"not {label_text(positive)}", positive)
    code = None
    if positive is not None:
        code = class_code(classes, positive)
    elif len(classes) == 2:
        code = 1
    read_p = {name: _probabilities(name, p, len(target), len(classes), code) for name, p in predicted.items()}
    at = _thresholds(thresholds)
    if at and code is None:
        raise ParameterError(
            f"thresholds={shown(thresholds)} of {len(classes)} classes: expected positive=, the class of interest."
        )
    return ComparedRows(
        classes,
        code,
        target,
        np.ones(len(target)) if sample_weight is None else read_sample_weight(sample_weight, len(target)),
        None if groups is None else read_groups(groups, len(target)),
        read_p,
        None if costs is None else Costs.of(costs, classes, len(target)),
        at,
    )


def _probabilities(name: str, values: Any, n_rows: int, n_classes: int, positive: int | None) -> Floats:
    """Read the probabilities of a model, a column for each class."""
    try:
        p = read_probabilities(values)
    except HornbeamError as error:
        raise DataError(f"{name!r}: {error}") from None
    if p.shape != (n_rows, n_classes):
        raise DataError(
            f"{name!r}: probabilities of shape {np.shape(values)} beside {n_rows} rows of {n_classes} classes; "
            f"expected {n_classes} columns, or the probabilities of one class: then name it, positive=."
        )
    return p[:, ::-1] if np.ndim(values) == 1 and positive == 0 else p


def _thresholds(values: Any) -> tuple[float, ...]:
    """Read thresholds between 0 and 1."""
    listed = [values] if np.ndim(values) == 0 else list(values)
    for one in listed:
        check_share("thresholds", one)
    return tuple(sorted({float(one) for one in listed}))


def _parts(subgroups: Any, n_rows: int) -> Iterator[tuple[str, Bools]]:
    """Yield the rows of each subgroup with its name."""
    if subgroups is None:
        return
    codes = read_groups(subgroups, n_rows)
    values = np.asarray(subgroups, dtype=object)
    numbers, first = np.unique(codes, return_index=True)
    if len(numbers) > _MOST_SUBGROUPS:
        raise ParameterError(
            f"subgroups has {len(numbers):,} different values; expected {_MOST_SUBGROUPS} at most. Put them into fewer "
            "first, ages into ranges for example."
        )
    for code in sorted(numbers, key=lambda code: str(values[first[code]])):
        yield label_text(values[first[code]]), codes == code
