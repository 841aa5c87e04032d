"""The claims of the HGS paper, each with what was measured here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.quality.comparison import markdown
from benchmarks.quality.studies.forest import SIZES
from benchmarks.quality.studies.paper_methods import FEW_SWEEPS, TUNED, TYINGS
from benchmarks.quality.studies.paper_tables import (
    HDP,
    HGS,
    OTHERS,
    PRUNED,
    RARE,
    UNPRUNED,
    Paper,
    best_counts,
    rmse_of,
)
from hornbeam.evaluation.comparison import Comparison, WinDrawLoss

M_BRANCH, M_ESTIMATE, LAPLACE = "c4.4/m-branch", "c4.4/m-estimate", "c4.4/laplace"
LEVEL = 0.05
N_LARGEST = 20


class Claim(NamedTuple):
    """A claim of the paper, what was measured, whether it holds, and why."""

    words: str
    here: str
    holds: bool
    why: str


def best_of_six(paper: Paper) -> Claim:
    counts, alone = best_counts(paper.rmse), best_counts(paper.rmse, alone=True)
    n_sets = len(paper.rmse.complete().sets)
    return Claim(
        "HGS has the best RMSE of the six methods on more than 90 of 143 sets",
        f"{counts[HGS]} of {n_sets}, {alone[HGS]} of them alone; HDP {counts[HDP]}, M-branch {counts[M_BRANCH]}",
        counts[HGS] / n_sets > 90 / 143,
        "Every ancestor counts as one row, so that small leaves borrow much and large ones little.",
    )


def better_rmse(paper: Paper) -> Claim:
    records = [paper.rmse.record(HGS, name) for name in OTHERS]
    return Claim(
        "HGS is significantly better than all five on RMSE",
        _records(records),
        all(map(_better, records)),
        "Raw leaves, Laplace and M-estimation ignore the ancestors; M-branch and HDP use them one level at a time.",
    )


def better_errors(paper: Paper) -> Claim:
    records = [paper.errors.record(HGS, name) for name in OTHERS]
    return Claim(
        "HGS is better than all five on 0-1 loss",
        _records(records),
        all(record.wins > record.losses for record in records),
        "The ancestors decide where the leaf has few rows or a tie.",
    )


def cost_of_one_level(paper: Paper) -> Claim:
    ratio = 1 / paper.ratio(LAPLACE)
    return Claim(
        "Training with HGS takes about as long as with a single-level method",
        f"median {np.median(ratio):.2f} times Laplace; {int((ratio > 2).sum())} of {len(ratio)} sets take more "
        f"than twice as long, the slowest {ratio.max():,.0f} times",
        bool(np.median(ratio) < 1.5),
        "The descent stops after one step, except on a few sets of very few rows or of many classes.",
    )


def faster_than_hdp(paper: Paper) -> Claim:
    ratio = paper.ratio(HDP)
    return Claim(
        "HGS is about 5 times faster than HDP",
        f"median {np.median(ratio):.1f} times, from {ratio.min():.2f} to {ratio.max():.0f}; "
        f"of the mean seconds {_means_ratio(paper, HDP):.1f} times",
        bool(np.median(ratio) >= 5),
        "A thousand sweeps of the tree against a few; a set with a thousand steps of the descent makes the mean.",
    )


def faster_than_m_branch(paper: Paper) -> Claim:
    ratio = paper.ratio(M_BRANCH)
    return Claim(
        "HGS is about 9 times faster than M-branch",
        f"median {np.median(ratio):.2f} times",
        bool(np.median(ratio) >= 9),
        "M-branch needs one sweep from the root; a program that walks the branch again for every leaf is slower.",
    )


def m_branch_beats_m_estimation(paper: Paper) -> Claim:
    record = paper.rmse.record(M_BRANCH, M_ESTIMATE)
    return Claim("M-branch is better than M-estimation", str(record), _better(record), _ANCESTORS)


def hdp_beats_m_estimation(paper: Paper) -> Claim:
    record = paper.rmse.record(HDP, M_ESTIMATE)
    return Claim("HDP is better than M-estimation", str(record), _better(record), _ANCESTORS)


def hdp_and_m_branch(paper: Paper) -> Claim:
    record = paper.rmse.record(HDP, M_BRANCH)
    return Claim(
        "HDP is comparable to M-branch",
        f"HDP is better: {record}",
        record.p > LEVEL,
        "HDP learns how much to borrow from the rows; M-branch has a formula.",
    )


def hdp_scatter(paper: Paper) -> Claim:
    gaps = [paper.rmse.of(HGS) - paper.rmse.of(name) for name in (HDP, M_BRANCH)]
    hdp, m_branch = (float(np.nanstd(gap)) for gap in gaps)
    sizes = Comparison((HDP, M_BRANCH), paper.rmse.sets, np.abs(np.column_stack(gaps)))
    record = sizes.record(M_BRANCH, HDP)  # the method with the smaller difference wins
    return Claim(
        "The differences of HGS and HDP scatter more than those of HGS and M-branch (Figure 2)",
        f"standard deviation {hdp:.4f} (HDP) and {m_branch:.4f} (M-branch); sets where HDP is further from HGS, "
        f"equal, nearer: {record}",
        hdp > m_branch,
        "HDP is between M-branch and HGS on the mean, so nearer to HGS; ours is the mean of 900 sweeps.",
    )


def hdp_on_large_sets(paper: Paper) -> Claim:
    rows = paper.rows
    part = paper.rmse.on(rows >= np.sort(rows)[-min(N_LARGEST, len(rows))])
    three = best_counts(part.among((HGS, M_BRANCH, HDP)))
    return Claim(
        "HDP is better than HGS and M-branch on 14 of the 20 largest sets",
        f"{three[HDP]} of {len(part.sets)}; against HGS {part.record(HDP, HGS)}, "
        f"against M-branch {part.record(HDP, M_BRANCH)}",
        three[HDP] >= 14,
        "Leaves of large sets need less smoothing: HDP draws level with HGS, but is not ahead of it.",
    )


def tuning(paper: Paper) -> Claim:
    names = (HGS, *(f"tuning/{name}" for name in TUNED.values()))
    rmse = paper.beside(HGS, paper.tuning, rmse_of).among(names).complete()
    rounded = np.round(rmse.losses, rmse.decimals)
    same = int((rounded == rounded[:, :1]).all(axis=1).sum())
    most = float(np.abs(rmse.losses - rmse.losses[:, :1]).max())
    return Claim(
        "b = .01 or .001 and epsilon = .001 or .0001 give the same results",
        f"the same RMSE to four decimals on {same} of {len(rmse.sets)} sets of up to 2,000 rows; "
        f"largest difference {most:.4f}",
        same == len(rmse.sets),
        "Where the gain of the first step is below epsilon, all four stop there; on the few sets where it is not, "
        "b and epsilon decide whether a thousand steps follow.",
    )


def squared_loss(paper: Paper) -> Claim:
    rmse, squared = paper.beside(HGS, paper.tuning, rmse_of), "tuning/hgs-squared"
    record, most = rmse.record(HGS, squared), float(np.nanmax(np.abs(rmse.of(HGS) - rmse.of(squared))))
    steps = float(np.nanmax(paper.tuning.table("steps", lambda line: line.steps).of(squared)))
    return Claim(
        "A squared leave-one-out loss gives similar results",
        f"log against squared loss {record}; largest difference {most:.4f}",
        record.p > LEVEL,
        f"With the squared loss no descent takes more than {steps:.0f} step{'s' * (steps > 1)}, so alpha stays next "
        "to 1, as it does with the log loss on most sets.",
    )


def tying(paper: Paper) -> Claim:
    rmse = paper.beside(HDP, paper.tying, rmse_of)
    records = {name: rmse.record(HDP, f"tying/{method}") for name, method in TYINGS.items()}
    fewer = rmse.record(HDP, f"tying/hdp-{FEW_SWEEPS}")
    return Claim(
        "HDP is run with 1,000 iterations and a single concentration, as trials suggested",
        "; ".join(f"against tying {name} {record}" for name, record in records.items())
        + f"; against {FEW_SWEEPS} sweeps {fewer}",
        all(map(_better, records.values())),
        "A concentration for each level, parent or node has too few rows to be learned from; "
        f"{FEW_SWEEPS} sweeps would do.",
    )


def always_faster(paper: Paper) -> Claim:
    ratio = paper.ratio(HDP)
    record = WinDrawLoss(int((ratio > 1).sum()), int((ratio == 1).sum()), int((ratio < 1).sum()))
    return Claim(
        "HGS trains faster than HDP at almost every size (Figure 3)",
        f"faster, equal, slower: {record}",
        record.wins / len(ratio) > 0.9,
        "Both are linear in the nodes; HDP sweeps a thousand times.",
    )


def hurts_forests(paper: Paper) -> Claim:
    losses = paper.forests
    gaps = {
        size: float(np.nanmean(losses.of(f"{_RF}{size}-hgs") - losses.of(f"{_RF}{size}"))) for size in SIZES
    }
    worse = [size for size, gap in gaps.items() if gap > 0]
    return Claim(
        "HGS makes random forests worse from more than three trees on (Figure 4)",
        f"mean RMSE worse with HGS from {worse[0]} trees on; of 10 trees, HGS against none: "
        f"{losses.record(f'{_RF}10-hgs', f'{_RF}10')}",
        gaps[3] < 0 and worse == [size for size in SIZES if size >= worse[0]] and worse[0] <= 10,
        "The curves cross two trees later; the mean of many trees is smooth without it.",
    )


def diversity(paper: Paper) -> Claim:
    found = paper.diversity.table("variance", lambda line: line.costs.get("variance", np.nan))
    raw, smoothed = (found.of(name) for name in found.methods)
    record = WinDrawLoss(
        int((smoothed < raw).sum()), int((smoothed == raw).sum()), int((smoothed > raw).sum())
    )
    return Claim(
        "because smoothing reduces the diversity of the trees",
        f"mean variance of ten trees {np.nanmean(raw):.3f} raw, {np.nanmean(smoothed):.3f} with HGS; "
        f"lower, equal, higher: {record}",
        _better(record),
        "The error of a forest is that of its trees minus their variance: HGS lowers both.",
    )


def against_forests(paper: Paper) -> Claim:
    losses = paper.forests
    records = {size: losses.record(HGS, f"{_RF}{size}") for size in (5, 7, 10)}
    return Claim(
        "One HGS tree is better than or close to a random forest of 7 trees, and comparable to one of 10",
        "; ".join(f"RF-{size}: {record}" for size, record in records.items()),
        not (records[7].wins < records[7].losses and records[7].p <= LEVEL),
        "scikit-learn's forests are better than one tree from seven trees on; one C4.4 tree with HGS equals five.",
    )


def line_of_one_tree(paper: Paper) -> Claim:
    mean = float(np.nanmean(paper.rmse.of(HGS)))
    return Claim(
        "One C4.5 tree with HGS has a mean RMSE of .24",
        f"{mean:.4f}",
        abs(mean - 0.24) < 0.012,
        "Other sets, the same order: the paper's standard error is .012.",
    )


def error_bars(paper: Paper) -> Claim:
    bars = [
        np.nanstd(table.of(HGS), ddof=1) / np.sqrt((~np.isnan(table.of(HGS))).sum())
        for table in (paper.rmse, paper.errors)
    ]
    return Claim(
        "The standard errors over the sets are .012 (RMSE) and .015 (0-1 loss)",
        f"{bars[0]:.3f} and {bars[1]:.3f}",
        bool(np.allclose(bars, (0.012, 0.015), atol=0.003)),
        "They tell how different the sets are, not how different the methods: the sign test is paired.",
    )


def smoothing_beats_pruning(paper: Paper) -> Claim:
    rmse = paper.pruning.comparison("RMSE")
    record = rmse.record(f"{UNPRUNED}+hgs", PRUNED)
    return Claim(
        "Smoothing beats pruning",
        f"unpruned with HGS against pruned by C4.5 with raw leaves: {record}, mean RMSE "
        f"{_mean(rmse, f'{UNPRUNED}+hgs')} and {_mean(rmse, PRUNED)}; Laplace instead of HGS: "
        f"{rmse.record(f'{UNPRUNED}+laplace', PRUNED)}",
        _better(record),
        "A pruned tree keeps raw frequencies in its leaves.",
    )


def pruning_hurts_probabilities(paper: Paper) -> Claim:
    rmse, errors = (paper.pruning.comparison(measure) for measure in ("RMSE", "0-1 loss"))
    record = rmse.record(PRUNED, UNPRUNED)
    return Claim(
        "A pruned C4.5 tree classifies better but estimates probabilities worse than an unpruned one",
        f"0-1 loss, pruned against unpruned: {errors.record(PRUNED, UNPRUNED)}; RMSE of raw leaves: {record}, "
        f"mean {_mean(rmse, PRUNED)} pruned and {_mean(rmse, UNPRUNED)} unpruned; both with HGS: "
        f"{rmse.record(f'{PRUNED}+hgs', f'{UNPRUNED}+hgs')}",
        record.losses > record.wins,
        "With raw leaves pruning helps, since it makes leaves larger; after smoothing the sentence is true.",
    )


def imbalanced_sets(paper: Paper) -> Claim:
    part = paper.rmse.on(paper.rarest < RARE)
    records = [part.record(HGS, name) for name in (LAPLACE, M_ESTIMATE)]
    return Claim(
        "Single-level smoothing ignores the context of a leaf, above all where classes are imbalanced",
        f"on the {len(part.sets)} sets whose rarest class has under {RARE:.0%} of the rows: HGS against Laplace "
        f"{records[0]}, against M-estimation {records[1]}",
        all(map(_better, records)),
        "Laplace adds a row for each class, far too many for a rare one; M-estimation adds one row in all.",
    )


def m_estimation_for_imbalance(paper: Paper) -> Claim:
    part = paper.rmse.on(paper.rarest < RARE)
    record = part.record(M_ESTIMATE, LAPLACE)
    return Claim(
        "M-estimation is the one to recommend for imbalanced classes",
        f"against Laplace on these sets: {record}",
        _better(record),
        "It adds one row in all, Laplace one for each class.",
    )


CLAIMS: Sequence[Callable[[Paper], Claim]] = (
    best_of_six, better_rmse, better_errors, cost_of_one_level, faster_than_hdp, faster_than_m_branch, always_faster,
    m_branch_beats_m_estimation, hdp_beats_m_estimation, hdp_and_m_branch, hdp_scatter, hdp_on_large_sets,
    imbalanced_sets, m_estimation_for_imbalance, tuning, squared_loss, tying, hurts_forests, diversity, against_forests,
    line_of_one_tree, error_bars, smoothing_beats_pruning, pruning_hurts_probabilities,
)  # fmt: skip

_ANCESTORS = "A parent tells more about a leaf than the uniform distribution."
_RF = "sklearn-forest/rf-"


def claims(paper: Paper) -> str:
    """All claims as a table."""
    rows = []
    for of in CLAIMS:
        words, here, holds, why = of(paper)
        rows.append([words, here, "confirmed" if holds else "**refuted**", why])
    return markdown(["the paper", "here", "verdict", "why"], rows, text=4)


def _records(records: Sequence[WinDrawLoss]) -> str:
    names = ("raw", "Laplace", "M-estimation", "M-branch", "HDP")
    return "<br>".join(f"{name} {record}" for name, record in zip(names, records, strict=True))


def _better(record: WinDrawLoss) -> bool:
    return record.wins > record.losses and record.p <= LEVEL


def _mean(table: Comparison, method: str) -> str:
    return f"{np.nanmean(table.of(method)):.4f}".lstrip("0")


def _means_ratio(paper: Paper, other: str) -> float:
    both = paper.seconds.among((HGS, other)).means()
    return float(both[1] / both[0])
