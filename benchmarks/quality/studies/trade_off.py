"""What pruning gives and takes: tables of size, probabilities and costs, and the goals in sentences with numbers."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.quality.studies.costs import DECISIONS, MATRICES
from benchmarks.quality.studies.report import Line, Scores
from hornbeam.evaluation import Comparison
from hornbeam.evaluation.comparison import WinDrawLoss

HERO, WHOLE = "hornbeam/default", "hornbeam/every-leaf"
BY_COSTS = ", by costs"  # a method that takes the class of least expected cost
RIVALS = tuple(
    f"{name}{suffix}"
    for name in (
        "pet/cost-complexity-cv",
        "pet/cost-complexity-1se",
        "cart/cost-complexity-cv",
        "cart/cost-complexity-1se",
        "pet/error-based",
        "pet/error-based-raised",
        "c4.5/error-based-raised",
        "pet/reduced-error",
    )
    for suffix in ("", "+hgs")
)
CLASSICS = (
    "pet/cost-complexity-cv",
    "cart/cost-complexity-1se",
    "c4.5/error-based-raised",
    "pet/reduced-error",
)
LEVEL = 0.01


def cost(matrix: str, decision: str) -> Callable[[Line], float]:
    """What the decisions of a line cost a row under a matrix."""
    return lambda line: line.costs.get(f"{matrix}/{decision}", np.nan)


MORE: dict[str, Callable[[Line], float]] = {
    "leaves": operator.attrgetter("leaves"),
    "depth": operator.attrgetter("depth"),
    **{f"cost_{m}_{decision}": cost(m, decision) for m in MATRICES for decision in DECISIONS},
}


def answered(scores: Scores) -> list[str]:
    """The methods with any result."""
    rmse = scores.comparison("RMSE")
    return [name for name in scores.methods if not np.isnan(rmse.of(name)).all()]


def common(scores: Scores) -> NDArray[np.bool_]:
    """The sets where every method with any result has one."""
    return ~np.isnan(scores.comparison("RMSE").among(answered(scores)).losses).any(axis=1)


def sizes_table(scores: Scores) -> str:
    """Means over the sets where all have results, ratios of leaves, and records of the default."""
    names, kept = answered(scores), common(scores)
    tables = {measure: scores.comparison(measure) for measure in ("RMSE", "log loss", "0-1 loss")}
    shown = [table.among(names).on(kept).means() for table in tables.values()]
    leaves, depth = (scores.table(name, MORE[name]).on(kept) for name in ("leaves", "depth"))
    sizes = [table.among(names).means() for table in (leaves, depth, scores.seconds().on(kept))]
    head = [
        f"Means over the {kept.sum()} sets where all of these answered; records of {HERO} where both did.",
        "",
        "| method | leaves | median ratio | geometric mean ratio | ratio of totals | depth | "
        + " | ".join(tables)
        + f" | CPU seconds | RMSE: {HERO} against it | log loss | 0-1 loss |",
        "|---|" + "--:|" * 9 + "---|---|---|",
    ]
    rows = []
    for i in np.argsort(shown[0], kind="stable"):
        name = names[i]
        n_leaves, steps, seconds = (column[i] for column in sizes)
        ratios = " | ".join(f"{ratio:.3f}" for ratio in leaf_ratios(leaves, name))
        means = " | ".join(f"{column[i]:.4f}" for column in shown)
        records = " | ".join(
            "" if name == HERO else str(table.record(HERO, name)) for table in tables.values()
        )
        rows.append(
            f"| {name} | {n_leaves:.1f} | {ratios} | {steps:.1f} | {means} | {seconds:.3f} | {records} |"
        )
    return "\n".join([*head, *rows])


def leaf_ratios(leaves: Comparison, method: str) -> tuple[float, float, float]:
    """A method's leaves to those of the unpruned tree: the median and geometric mean of sets, and of all leaves."""
    both = leaves.among((method, WHOLE)).complete().losses
    if not len(both):
        return np.nan, np.nan, np.nan
    ratio = both[:, 0] / both[:, 1]
    total = both.sum(axis=0)
    return float(np.median(ratio)), float(np.exp(np.log(ratio).mean())), float(total[0] / total[1])


def costs_of(scores: Scores, matrix: str) -> Comparison:
    """Every method without and with the costs in its decisions; what was pruned for another matrix is left out."""
    names = [name for name in answered(scores) if not _is_for_another(name, matrix)]
    likeliest, cheapest = (
        scores.table(f"cost, {matrix}", cost(matrix, decision)).among(names) for decision in DECISIONS
    )
    both = (*names, *(name + BY_COSTS for name in names))
    return Comparison(both, likeliest.sets, np.hstack([likeliest.losses, cheapest.losses]), likeliest.measure)


def _is_for_another(method: str, matrix: str) -> bool:
    last = method.partition("+")[0].rpartition("-")[2]
    return last in MATRICES and last != matrix


def costs_table(scores: Scores, matrix: str) -> str:
    """Mean costs of both decisions, and the record of the default that knows the costs against each."""
    costs = costs_of(scores, matrix).on(common(scores))
    names = [name for name in costs.methods if not name.endswith(BY_COSTS)]
    hero = HERO + BY_COSTS
    if hero not in costs.methods:
        return f"{HERO} has not been run."
    plain, aware = np.split(costs.means(), 2)
    head = [
        f"Means over {len(costs.sets)} sets; records of `{hero}` on them.",
        "",
        "| method | cost of the likeliest class | of the cheapest | against the likeliest | against the cheapest |",
        "|---|--:|--:|---|---|",
    ]
    rows = [
        f"| {names[i]} | {plain[i]:.4f} | {aware[i]:.4f} | {costs.record(hero, names[i])} | "
        + ("" if names[i] == HERO else f"{costs.record(hero, names[i] + BY_COSTS)}")
        + " |"
        for i in np.argsort(aware, kind="stable")
    ]
    return "\n".join([*head, *rows])


def goals(scores: Scores) -> str:
    """What was hoped for, what was found, and whether that is it."""
    have = set(answered(scores))
    lines = [*_size_goals(scores, have), *_rival_goals(scores, have), *_cost_goals(scores, have)]
    return "\n".join(f"- {line}" for line in lines) or "Too little has been run."


def _size_goals(scores: Scores, have: set[str]) -> Iterable[str]:
    if not {HERO, WHOLE} <= have:
        return
    rmse, leaves = scores.comparison("RMSE"), scores.table("leaves", MORE["leaves"])
    ours, whole = rmse.among((HERO, WHOLE)).means()
    for name in (HERO, "hornbeam/within-2", "hornbeam/within-5"):
        if name in have:
            median, geometric, total = leaf_ratios(leaves, name)
            yield (
                f"Leaves of {name} to those of {WHOLE}, at most a third: median {median:.3f}, geometric mean "
                f"{geometric:.3f}, all leaves together {total:.3f}: {_verdict(total <= 1 / 3 and median <= 1 / 3)}."
            )
    yield (
        f"Mean RMSE of {HERO} and {WHOLE}, equal or better: {ours:.4f} and {whole:.4f}, "
        f"{rmse.record(HERO, WHOLE)}: {_verdict(round(ours, 4) <= round(whole, 4))}."
    )


def _rival_goals(scores: Scores, have: set[str]) -> Iterable[str]:
    rmse = scores.comparison("RMSE")
    for name in RIVALS:
        if {HERO, name} <= have:
            record = rmse.record(HERO, name)
            yield f"RMSE of {HERO} against {name}: {record}: {_verdict(_beats(record))}."


def _cost_goals(scores: Scores, have: set[str]) -> Iterable[str]:
    for matrix in MATRICES if HERO in have else ():
        costs = costs_of(scores, matrix)
        for name in (HERO, *CLASSICS):
            if name in have:
                record = costs.record(HERO + BY_COSTS, name)
                yield (
                    f"Cost, {matrix}, of {HERO}{BY_COSTS} against {name} without: {record}: {_verdict(_beats(record))}."
                )


def _beats(record: WinDrawLoss) -> bool:
    return record.wins > record.losses and record.p <= LEVEL


def _verdict(met: bool) -> str:
    return "met" if met else "missed"


def picture(scores: Scores, path: Path) -> None:
    """Size against RMSE, over the sets where all have results; what was pruned for a cost matrix is left out."""
    kept = common(scores)
    if not kept.any() or WHOLE not in answered(scores):
        return
    import matplotlib as mpl

    mpl.use("agg")
    from benchmarks.quality.studies.figures import plot_sizes

    names = [name for name in answered(scores) if not _is_for_another(name, "")]
    means = dict(zip(names, scores.comparison("RMSE").among(names).on(kept).means(), strict=True))
    leaves = scores.table("leaves", MORE["leaves"]).on(kept)
    series: dict[str, dict[str, tuple[float, float]]] = {}
    for name in names:
        group, _, method = name.partition("/")
        kind = (
            "Hornbeam"
            if group == "hornbeam"
            else "smoothed after pruning"
            if "+" in method
            else "raw frequencies"
        )
        text = method if group in ("hornbeam", "pet") else name
        series.setdefault(kind, {})[text.removesuffix("+hgs")] = leaf_ratios(leaves, name)[1], means[name]
    ax = plot_sizes(series, size="leaves, as a part of the unpruned tree's (geometric mean)")
    ax.figure.savefig(path, dpi=150)
