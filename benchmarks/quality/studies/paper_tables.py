"""The tables of the HGS paper, from the committed scores; `paper_claims` has its claims."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from benchmarks.data.fetch import INDEX
from benchmarks.output import read_csv
from benchmarks.pages import markdown
from benchmarks.quality.comparison import RESULTS
from benchmarks.quality.studies.forest import SIZES
from benchmarks.quality.studies.paper_methods import (
    CHOSEN,
    FEW_SWEEPS,
    FORESTS,
    N_TREES,
    TUNED,
    TUNING_ROWS,
    TYING_ROWS,
    TYINGS,
)
from benchmarks.quality.studies.report import Line, Scores
from hornbeam.evaluation import Comparison
from hornbeam.typing import Floats

OUT = RESULTS / "paper_hgs"
HGS = "c4.4/hgs"
TITLES = {
    "c4.4/raw": "raw (MLE)",
    "c4.4/laplace": "Laplace",
    "c4.4/m-estimate": "M-estimation",
    "c4.4/m-branch": "M-branch",
    "c4.4/hdp": "HDP",
    HGS: "**HGS**",
}
OTHERS = tuple(name for name in TITLES if name != HGS)
SMALL, LARGE = 1_000, 10_000
RARE = 0.05
HDP = "c4.4/hdp"
PRUNED, UNPRUNED = "c4.5/error-based-raised", "c4.5/unpruned"

type Value = Callable[[Line], float]


@dataclass(frozen=True)
class Paper:
    """All scores that the paper's tables and figures need."""

    scores: Scores  # the six methods
    tuning: Scores  # HGS with other settings, on smaller sets
    tying: Scores  # HDP with other settings, on smaller sets
    diversity: Scores  # of forests, on smaller sets
    smoothing: Scores  # the study of probabilities, for its forests
    pruning: Scores  # the study of pruning
    large: Scores | None = None  # the six methods on larger sets, where they have been run

    @classmethod
    def read(cls, out: Path = OUT) -> Paper:
        own = (out / f"{name}.csv" for name in ("scores", "tuning", "tying", "diversity"))
        studies = (RESULTS / name / "scores.csv" for name in ("smoothing", "pruning"))
        large = out / "large.csv"
        return cls(
            *map(Scores.read_csv, (*own, *studies)), large=Scores.read_csv(large) if large.exists() else None
        )

    @cached_property
    def rmse(self) -> Comparison:
        return self.scores.comparison("RMSE")

    @cached_property
    def errors(self) -> Comparison:
        return self.scores.comparison("0-1 loss")

    @cached_property
    def seconds(self) -> Comparison:
        """CPU seconds of training a fold: growing and smoothing."""
        return self.scores.seconds()

    @cached_property
    def rows(self) -> Floats:
        return np.array(self.scores.n_rows, float)

    @cached_property
    def with_large(self) -> tuple[Comparison, Floats]:
        """RMSE and rows of all sets, the larger ones too."""
        if self.large is None:
            return self.rmse, self.rows
        more = self.large.comparison("RMSE").among(self.rmse.methods)
        losses = np.vstack([self.rmse.losses, more.losses])
        rows = np.concatenate([self.rows, np.array(self.large.n_rows, float)])
        return replace(self.rmse, sets=(*self.rmse.sets, *more.sets), losses=losses), rows

    @cached_property
    def rarest(self) -> Floats:
        """The share of the rarest class of every set; NaN for sets that are not in the index."""
        known = {row["name"]: float(row["rarest_class"]) for row in read_csv(INDEX)}
        return np.array([known.get(entry.name, np.nan) for entry in self.scores.entries])

    def ratio(self, other: str) -> Floats:
        """How many times the seconds of HGS another method takes, on every set where both are measurable."""
        ours, theirs = self.seconds.of(HGS), self.seconds.of(other)
        known = (ours > 0) & (theirs > 0)
        ratios: Floats = theirs[known] / ours[known]
        return ratios

    def beside(self, published: str, others: Scores, value: Value) -> Comparison:
        """One of the six methods and all of another table, on the sets of that table."""
        known = dict(zip(self.rmse.sets, self.scores.table("", value).of(published), strict=True))
        table = others.table("RMSE", value)
        one = np.array([known.get(name, np.nan) for name in table.sets])
        return replace(
            table, methods=(published, *table.methods), losses=np.column_stack([one, table.losses])
        )

    @cached_property
    def forests(self) -> Comparison:
        """RMSE of one HGS tree and of the study of probabilities, which has forests of every size."""
        return self.beside(HGS, self.smoothing, rmse_of)


def rmse_of(line: Line) -> float:
    return np.nan if line.tally is None else line.tally.rmse


def strata(paper: Paper) -> dict[str, np.ndarray]:
    """The sets by size, as in the paper, and those with a rare class."""
    rows = paper.rows
    return {
        f"more than {LARGE:,} rows": rows > LARGE,
        f"{SMALL:,} to {LARGE:,}": (rows >= SMALL) & (rows <= LARGE),
        f"fewer than {SMALL:,}": rows < SMALL,
        f"rarest class under {RARE:.0%}": paper.rarest < RARE,
        "others": paper.rarest >= RARE,
    }


def table1(paper: Paper) -> str:
    """Wins, draws and losses of HGS against the five others."""
    rows = [
        [TITLES[name], str(paper.rmse.record(HGS, name)), str(paper.errors.record(HGS, name))]
        for name in OTHERS
    ]
    return markdown(["HGS against", "RMSE", "0-1 loss"], rows, text=3)


def table2(paper: Paper) -> str:
    """Means over the sets with their standard errors, and seconds."""
    raw = paper.seconds.of("c4.4/raw")
    rows = []
    for name, title in TITLES.items():
        training = paper.seconds.of(name)
        smoothing = np.maximum(training - raw, 0.0)  # raw leaves are the growing of the tree alone
        means = [
            f"{np.nanmean(c.of(name)):.4f} ± {_error(c.of(name)):.3f}" for c in (paper.rmse, paper.errors)
        ]
        times = [
            f"{statistic(values) * 1e3:.1f}"
            for values in (training, smoothing)
            for statistic in (np.nanmedian, np.nanmean)
        ]
        rows.append([title, *means, *times[:2], *(times[2:] if name != "c4.4/raw" else ["", ""])])
    head = ["method", "RMSE", "0-1 loss", "training, ms: median", "mean", "smoothing, ms: median", "mean"]
    return markdown(head, rows)


def _error(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return float(known.std(ddof=1) / np.sqrt(len(known)))


def best(paper: Paper) -> str:
    """On how many sets each method is the best of the six; methods that are equal to four decimals share it."""
    shared, alone = best_counts(paper.rmse), best_counts(paper.rmse, alone=True)
    rows = [[TITLES[name], f"{shared[name]}", f"{alone[name]}"] for name in TITLES]
    return markdown(["method", "best, alone or shared", "alone"], rows)


def best_counts(losses: Comparison, *, alone: bool = False) -> dict[str, int]:
    """On how many sets each method has the least loss, to the decimals of a draw."""
    rounded = np.round(losses.complete().losses, losses.decimals)
    wins = rounded == rounded.min(axis=1, keepdims=True)
    if alone:
        wins &= wins.sum(axis=1, keepdims=True) == 1
    return dict(zip(losses.methods, map(int, wins.sum(axis=0)), strict=True))


def by_size(paper: Paper) -> str:
    """Records of HGS, and means, by the size of the sets and the share of the rarest class."""
    rows = []
    parts = {title: paper.rmse.on(chosen) for title, chosen in strata(paper).items()}
    if paper.large is not None:
        every, sizes = paper.with_large
        parts = {f"more than {LARGE:,}, with the larger sets": every.on(sizes > LARGE), **parts}
    for title, part in parts.items():
        if not part.sets:
            continue
        means = dict(zip(part.methods, part.means(), strict=True))
        first = min(means, key=lambda name: means[name])
        records = [str(part.record(HGS, name)) for name in OTHERS]
        rows.append([title, f"{len(part.sets)}", *records, f"{TITLES[first].strip('*')} {means[first]:.4f}"])
    head = ["sets", "number", *(TITLES[name] for name in OTHERS), "least mean RMSE"]
    return markdown(head, rows, text=len(head))


def tuning(paper: Paper) -> str:
    """Section 4.2: learning rate and precision."""
    rmse = paper.beside(HGS, paper.tuning, rmse_of).complete()
    steps = paper.beside(HGS, paper.tuning, lambda line: line.steps)
    rows = []
    for (b, eps), name in {CHOSEN: "", **TUNED}.items():
        method = f"tuning/{name}" if name else HGS
        taken = steps.of(method)
        counts = [f"{np.nanmedian(taken):.0f}", f"{np.nanmean(taken):.1f}", f"{np.nanmax(taken):,.0f}"]
        record = str(rmse.record(HGS, method)) if name else ""
        more = f"{int((taken > 1).sum())}"
        rows.append([f"{b:g}", f"{eps:g}", f"{rmse.of(method).mean():.4f}", record, *counts, more])
    head = ["b", "epsilon", "RMSE", "the chosen setting against it", "steps: median", "mean", "most"]
    return markdown([*head, "sets with more than one step"], rows, text=2)


def descents(paper: Paper) -> str:
    """The sets where the published descent takes more than one step, beside a descent that stops at once."""
    steps = paper.scores.table("steps", lambda line: line.steps).of(HGS)
    beside = paper.beside(HGS, paper.tuning, rmse_of)
    stopped = dict(zip(beside.sets, beside.of(f"tuning/{TUNED[0.001, 1e-3]}"), strict=True))
    rows = []
    for entry, mean, rmse in zip(paper.scores.entries, steps, paper.rmse.of(HGS), strict=True):
        if mean > 1:
            start = f"{stopped[entry.name]:.4f}" if entry.name in stopped else ""
            sizes = [f"{entry.n_rows:,}", f"{entry.n_classes}"]
            rows.append([entry.name, *sizes, f"{mean:,.0f}", f"{rmse:.4f}", start])
    return markdown(
        ["set", "rows", "classes", "steps, mean of ten folds", "RMSE", "RMSE after one step"], rows
    )


def settings(paper: Paper) -> str:
    """The loss of HGS, and tying and sweeps of the HDP, against the published choice."""
    groups: list[tuple[str, Scores, dict[str, str]]] = [
        (HGS, paper.tuning, {HGS: "HGS, log loss (published)", "tuning/hgs-squared": "HGS, squared loss"}),
        (
            HDP,
            paper.tying,
            {HDP: "HDP, tying single, 1,000 sweeps (published)"}
            | {f"tying/{name}": f"HDP, tying {tying}" for tying, name in TYINGS.items()}
            | {f"tying/hdp-{FEW_SWEEPS}": f"HDP, tying single, {FEW_SWEEPS} sweeps"},
        ),
    ]
    rows = []
    for published, scores, titles in groups:
        rmse = paper.beside(published, scores, rmse_of).complete()
        seconds = paper.beside(published, scores, lambda line: line.seconds)
        for method, title in titles.items():
            record = "" if method == published else str(rmse.record(published, method))
            time = f"{np.nanmedian(seconds.of(method)) * 1e3:.1f}"
            rows.append([title, f"{len(rmse.sets)}", f"{rmse.of(method).mean():.4f}", record, time])
    return markdown(
        ["setting", "sets", "RMSE", "the published choice against it", "training, ms: median"], rows
    )


def forest_sizes(paper: Paper) -> str:
    """Forests, raw and smoothed, and one HGS tree against each."""
    losses = paper.forests
    rows = []
    for size in SIZES:
        raw, smoothed = f"sklearn-forest/rf-{size}", f"sklearn-forest/rf-{size}-hgs"
        means = [f"{np.nanmean(losses.of(name)):.4f}" for name in (raw, smoothed)]
        records = [str(losses.record(*pair)) for pair in ((smoothed, raw), (HGS, raw))]
        rows.append([f"{size}", *means, *records])
    head = ["trees", "RF", "RF with HGS", "RF with HGS against RF", "one HGS tree against RF"]
    return markdown(head, rows, text=0)


def variance(paper: Paper) -> str:
    """What HGS does to the trees of a forest: their own error, their variance, and the error of their mean."""

    def mean(method: str, value: Callable[[Line], float]) -> float:
        return float(np.nanmean(paper.diversity.table("", value).of(f"forest/{method}")))

    values: dict[str, Callable[[Line], float]] = {
        "Brier score of a tree": lambda line: line.costs.get("tree_brier", np.nan),
        "variance of the trees": lambda line: line.costs.get("variance", np.nan),
        "Brier score of the forest": lambda line: line.tally.brier_score if line.tally else np.nan,
    }
    titles = dict(zip(FORESTS, (f"RF, {N_TREES} trees", "the same with HGS"), strict=True))
    rows = [[title, *(f"{mean(name, of):.4f}" for of in values.values())] for name, title in titles.items()]
    return markdown(["forest", *values], rows)


def pruned(paper: Paper) -> str:
    """C4.5's pruning beside smoothing, on the trees of the study of pruning."""
    titles = {
        PRUNED: "pruned, raw leaves",
        UNPRUNED: "unpruned, raw leaves",
        f"{UNPRUNED}+laplace": "unpruned, Laplace (C4.4)",
        f"{UNPRUNED}+hgs": "unpruned, HGS",
        f"{PRUNED}+hgs": "pruned, then HGS",
    }
    measures = {measure: paper.pruning.comparison(measure) for measure in ("RMSE", "0-1 loss")}
    rows = []
    for method, title in titles.items():
        means = [f"{np.nanmean(table.of(method)):.4f}" for table in measures.values()]
        records = ["" if method == PRUNED else str(t.record(method, PRUNED)) for t in measures.values()]
        rows.append([title, *means, *records])
    head = ["C4.5 tree", "RMSE", "0-1 loss", "RMSE: against pruned, raw", "0-1 loss: against it"]
    return markdown(head, rows)


TABLES: Sequence[Callable[[Paper], str]] = (
    table1, table2, best, by_size, tuning, descents, settings, forest_sizes, variance, pruned,
)  # fmt: skip


def sets_sentence(paper: Paper) -> str:
    """How many sets, of which sizes."""
    rows = paper.rows
    large, small = int((rows > LARGE).sum()), int((rows < SMALL).sum())
    tuned, tied = (
        len({line.entry.name for line in scores.lines if line.tally})
        for scores in (paper.tuning, paper.tying)
    )
    return (
        f"{len(rows)} sets of {int(rows.min())} to {int(rows.max()):,} rows: {large} of more than {LARGE:,} rows, "
        f"{len(rows) - large - small} of {SMALL:,} to {LARGE:,}, {small} of fewer. "
        f"Settings of HGS: {tuned} sets of up to {TUNING_ROWS:,} rows; tying: {tied} of up to {TYING_ROWS:,}."
    )
