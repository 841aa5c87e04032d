"""Probabilities of trees at 4 to 32 leaves and at depth 3 to 5: with slopes, without, and of other libraries.

Settings of the readable trees were chosen on the sets of `TUNED`; all other sets are blind.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from benchmarks.pages import write_tables
from benchmarks.quality.studies.cache import Cache
from benchmarks.quality.studies.methods import Group, Outcome, timed
from benchmarks.quality.studies.report import Line, Scores, gaps_table, provenance
from benchmarks.quality.studies.sets import N_FOLDS, Entry, Fold
from benchmarks.quality.studies.size_peers import DEPTHS, LEAVES, PEERS, SIZES, limit
from benchmarks.quality.studies.trade_off import answered
from hornbeam import TreeClassifier
from hornbeam.ensembles.canonical_rows import CanonicalRows
from hornbeam.ensembles.distillation import taught
from hornbeam.ensembles.distillation.teacher import TeacherResult, fit_teacher
from hornbeam.evaluation import Comparison

# fmt: off
TUNED = frozenset([
    "abalone", "ann-thyroid", "balance-scale", "banknote", "blood-transfusion", "breast-w", "car",
    "cardiotocography", "climate-crashes", "cmc", "credit-a", "credit-g", "ecoli",
    "electrical-grid", "glass", "heart-c", "ilpd", "ionosphere", "kr-vs-kp", "mammographic",
    "maternal-risk", "messidor", "obesity", "page-blocks", "pima-diabetes", "qsar-biodeg",
    "satimage", "segment", "spambase", "steel-plates", "tic-tac-toe", "vehicle", "waveform-21",
    "wall-following", "wdbc", "wilt", "wine-quality-red", "yeast", "website-phishing",
    "user-knowledge",
])
# fmt: on
PAGE = Path(__file__).parents[3] / "docs" / "guide" / "small-trees.md"
SLOPES = {"leaves-32": 3}  # at each size; 2 elsewhere
MORE: dict[str, Callable[[Line], float]] = {
    name: operator.attrgetter(name) for name in ("leaves", "depth", "numbers")
}


class SharedTeacher:
    """Fits the teacher of a fold once, for the trees of all sizes; `seconds` is what the last one took."""

    def __init__(self) -> None:
        self._rows = b""
        self._result: TeacherResult | None = None
        self.seconds = 0.0

    def __call__(self, rows: CanonicalRows, seed: int, n_jobs: int) -> TeacherResult | None:
        if self._rows != rows.row_hash.tobytes():
            self._rows = rows.row_hash.tobytes()
            self._result, self.seconds = timed(lambda: fit_teacher(rows, seed, n_jobs))
        return self._result


def readable(size: str, slopes: int) -> TreeClassifier:
    """The preset at a size: at most depth 7 up to 16 leaves, and at most 2^d leaves at depth d."""
    limits = limit(size)
    if depth := limits.get("max_depth"):
        return TreeClassifier("readable", slopes=slopes, max_depth=depth, max_leaf_nodes=2**depth)
    limits["max_depth"] = 7 if limits["max_leaf_nodes"] <= 16 else 64
    return TreeClassifier("readable", slopes=slopes, **limits)


def taught_trees(fold: Fold, wanted: frozenset[str]) -> Iterator[Outcome]:
    """The preset at every size, with slopes and without; the seconds of each include the teacher's."""
    taught.fit_teacher = teacher = SharedTeacher()
    train, test = fold.frames()
    for method in _TAUGHT:
        if method in wanted:
            size, _, constant = method.partition("+")
            model = readable(size, 0 if constant else SLOPES.get(size, 2))
            before = teacher.seconds
            _, seconds = timed(lambda model=model: model.fit(train, fold.y_train))
            shared = teacher.seconds if teacher.seconds == before else 0.0
            yield _of_tree(method, model, fold.spread(model.predict_proba(test)), seconds + shared)


def plain_trees(fold: Fold, wanted: frozenset[str]) -> Iterator[Outcome]:
    """The default growth at every size, and without a limit."""
    train, test = fold.frames()
    for method in _PLAIN:
        if method in wanted:
            model = TreeClassifier(**({} if method == "default" else limit(method)))
            _, seconds = timed(lambda model=model: model.fit(train, fold.y_train))
            yield _of_tree(method, model, fold.spread(model.predict_proba(test)), seconds)


def taught_default(fold: Fold, wanted: frozenset[str]) -> Iterator[Outcome]:
    """The default tree with a teacher; the seconds include the teacher's."""
    train, test = fold.frames()
    for method in wanted:
        model = TreeClassifier(teacher="ensemble")
        _, seconds = timed(lambda model=model: model.fit(train, fold.y_train))
        yield _of_tree(method, model, fold.spread(model.predict_proba(test)), seconds)


def _of_tree(method: str, model: TreeClassifier, answer: np.ndarray, seconds: float) -> Outcome:
    """An outcome with the numbers a reader meets: a split has one, a leaf one per class but the last, a term two."""
    tree = model.tree_
    numbers = (
        tree.n_nodes - tree.n_leaves + tree.n_leaves * (tree.schema.n_classes - 1) + 2 * len(tree.slopes)
    )
    return Outcome(
        method, answer, seconds, tree.n_nodes, leaves=tree.n_leaves, depth=tree.depth, numbers=numbers
    )


_TAUGHT = (*SIZES, *(f"{size}+constant" for size in SIZES))
_PLAIN = ("default", *SIZES)
GROUPS = (
    Group("readable", _TAUGHT, taught_trees),
    Group("plain", _PLAIN, plain_trees),
    Group("taught", ("default",), taught_default),
    *PEERS,
)
READ = (
    *("logistic/logistic", "weka/lmt", *(f"linear-tree/depth-{depth}" for depth in DEPTHS)),
    *(f"{group}/depth-{depth}" for group in ("streed", "contree") for depth in DEPTHS),
    *(f"{group}/leaves-16" for group in ("hstree", "figs", "licketysplit", "cart")),
    "ebm/ebm",
)
CEILINGS = (
    "forest-100/forest-100",
    "lightgbm/lightgbm",
    "lightgbm-stopped/lightgbm-stopped",
    "logistic/logistic",
    "mlp/mlp",
    "ebm/ebm",
    "weka/lmt",
    "plain/default",
    "taught/default",
)


def at_size(scores: Scores, size: str) -> list[str]:
    """The methods of a size with results on some set, and the ceilings."""
    wanted = [name for name in scores.methods if name.partition("/")[2].partition("+")[0] == size]
    rmse = scores.comparison("RMSE")
    ceilings = [name for name in CEILINGS if name in scores.methods]
    return [name for name in (*wanted, *ceilings) if not np.isnan(rmse.of(name)).all()]


def size_table(scores: Scores, size: str) -> str:
    """Means at one size over the sets where the readable trees have results, and the record of the tree with slopes.

    A method without results on some of these sets is compared on its own sets: the mean shown is that of the
    readable tree plus the mean difference there.
    """
    hero = f"readable/{size}"
    names = at_size(scores, size)
    tables = {measure: scores.comparison(measure) for measure in ("RMSE", "log loss", "0-1 loss")}
    known = ~np.isnan(tables["RMSE"].of(hero))
    sizes = {name: scores.table(name, MORE[name]) for name in ("leaves", "numbers")}
    columns = [size, "sets", *tables, "leaves", "numbers", "CPU seconds"]
    records = [f"RMSE: {hero} against it", "log loss", "0-1 loss"]
    head = [
        f"| {' | '.join([*columns, *records])} |",
        "|---|" + "--:|" * (len(columns) - 1) + "---|" * len(records),
    ]
    rows = []
    for name in names:
        both = known & ~np.isnan(tables["RMSE"].of(name))
        means = [
            table.of(hero)[known].mean() + (table.of(name) - table.of(hero))[both].mean()
            for table in tables.values()
        ]
        records = ["" if name == hero else str(table.record(hero, name)) for table in tables.values()]
        counts = [_mean(table.of(name)[both]) for table in sizes.values()]
        seconds = f"{np.median(scores.seconds().of(name)[both]):.2f}"
        cells = [name, str(both.sum()), *(f"{mean:.4f}" for mean in means), *counts, seconds, *records]
        rows.append((means[0], "| " + " | ".join(cells) + " |"))
    return "\n".join([*head, *(row for _, row in sorted(rows))])


def beside_table(scores: Scores, hero: str = "readable/leaves-16", other: str = "ebm/ebm") -> str:
    """Log loss and numbers of two methods on each set where both have results, best for the first one first.

    A loss within 3 % of the other, or below it, has a mark.
    """
    loss, numbers = scores.comparison("log loss"), scores.table(hero, MORE["numbers"])
    theirs = scores.table(other, MORE["numbers"]).of(other)
    a, b = loss.of(hero), loss.of(other)
    both = np.flatnonzero(~np.isnan(a) & ~np.isnan(b))
    near = a <= 1.03 * b
    means = f"log loss {a[both].mean():.4f} and {b[both].mean():.4f}, {loss.record(hero, other)}"
    read = f"{numbers.of(hero)[both].mean():,.0f} and {theirs[both].mean():,.0f}"
    lines = [
        f"{len(both)} sets: {means}, within 3 % or below on {near[both].sum()}; numbers {read}.",
        "",
        f"| set | rows | {hero} | {other} | within 3 % | numbers | numbers of {other} |",
        "|---|--:|--:|--:|---|--:|--:|",
    ]
    for at in both[np.argsort((a / np.maximum(b, 1e-9))[both], kind="stable")]:
        entry = scores.entries[at]
        lines.append(
            f"| {entry.name} | {entry.n_rows:,} | {a[at]:.4f} | {b[at]:.4f} | {'yes' if near[at] else ''} | "
            f"{numbers.of(hero)[at]:,.0f} | {theirs[at]:,.0f} |"
        )
    return "\n".join(lines)


def peers_table(scores: Scores, hero: str = "readable/leaves-16") -> str:
    """Means of each other model that can be read, and of the readable tree on the same sets; then the records."""
    tables = {measure: scores.comparison(measure) for measure in ("log loss", "RMSE", "0-1 loss")}
    numbers = scores.table("numbers", MORE["numbers"])
    pairs = [text for name in (*tables, "numbers") for text in (name, "readable")]
    records = [f"{measure}: {hero} against it" for measure in tables]
    lines = [
        f"| {' | '.join(['method', 'sets', *pairs, 'CPU seconds', *records])} |",
        "|---|" + "--:|" * (len(pairs) + 2) + "---|" * len(records),
    ]
    known = ~np.isnan(tables["RMSE"].of(hero))
    for name in (name for name in READ if name in scores.methods):
        both = known & ~np.isnan(tables["RMSE"].of(name))
        if both.any():
            means = [f"{t.of(m)[both].mean():.4f}" for t in tables.values() for m in (name, hero)]
            counts = [_mean(numbers.of(m)[both]) for m in (name, hero)]
            seconds = f"{np.median(scores.seconds().of(name)[both]):.2f}"
            won = [str(t.record(hero, name)) for t in tables.values()]
            lines.append(f"| {' | '.join([name, str(both.sum()), *means, *counts, seconds, *won])} |")
    return "\n".join(lines)


def _mean(values: np.ndarray) -> str:
    return "" if np.isnan(values).all() else f"{np.nanmean(values):.1f}"


# Rows of the guide's tables: a name, the group, and the end of the method's name.
SHOWN = {
    "readable, with slopes": ("readable", ""),
    "readable, constant leaves": ("readable", "+constant"),
    "default growth": ("plain", ""),
    "HSTreeCV (imodels)": ("hstree", ""),
    "CART": ("cart", ""),
}
UNLIMITED = {
    "default tree": "plain/default",
    "forest of 100 trees": "forest-100/forest-100",
    "LightGBM": "lightgbm/lightgbm",
}


def guide_table(scores: Scores) -> str:
    """RMSE at 4 to 32 leaves and of any size, where all have results; folded, the other losses and the records."""
    rmse, *others = [scores.comparison(measure) for measure in ("RMSE", "log loss", "0-1 loss")]
    sizes = {label: [f"{group}/leaves-{n}{end}" for n in LEAVES] for label, (group, end) in SHOWN.items()}
    everything = [name for names in sizes.values() for name in names] + list(UNLIMITED.values())
    kept = ~np.isnan(rmse.among(everything).losses).any(axis=1)

    def losses(table: Comparison) -> str:
        lines = [
            f"| {kept.sum()} sets, {table.measure} | {' | '.join(f'{n} leaves' for n in LEAVES)} | any size |",
            "|---|" + "--:|" * (len(LEAVES) + 1),
        ]
        for label, names in sizes.items():
            means = " | ".join(f"{table.of(name)[kept].mean():.4f}" for name in names)
            lines.append(f"| {label} | {means} | |")
        for label, name in UNLIMITED.items():
            lines.append(f"| {label} {'| ' * len(LEAVES)}| {table.of(name)[kept].mean():.4f} |")
        return "\n".join(lines)

    records = [
        f"| wins-draws-losses by RMSE, readable | {' | '.join(f'{n} leaves' for n in LEAVES)} |",
        "|---|" + "---|" * len(LEAVES),
    ]
    for label, other in (("default growth", "plain/leaves-{}"), ("the default tree", "plain/default")):
        for end, name in (("", "with slopes"), ("+constant", "constant leaves")):
            pairs = [str(rmse.on(kept).record(f"readable/leaves-{n}{end}", other.format(n))) for n in LEAVES]
            records.append(f"| {name}, against {label} | {' | '.join(pairs)} |")
    folded = "\n\n".join([*map(losses, others), "\n".join(records)])
    return f"{losses(rmse)}\n\n:::{{dropdown}} Log loss, 0-1 loss, wins and losses\n{folded}\n:::"


# Rows of the guide's table of other models that can be read.
BESIDE = {
    "logistic model trees (Weka's LMT)": "weka/lmt",
    "logistic regressions in leaves of depth 3 (linear-tree)": "linear-tree/depth-3",
    "optimal tree of depth 3 (STreeD)": "streed/depth-3",
    "optimal tree of depth 3 (ConTree)": "contree/depth-3",
}


def guide_peers(scores: Scores, hero: str = "readable/leaves-16") -> str:
    """Losses and numbers of each model and of the readable tree on the sets where both have results, and records."""
    loss, rmse = (scores.comparison(measure) for measure in ("log loss", "RMSE"))
    numbers = scores.table("numbers", MORE["numbers"])
    columns = ["the model, then the readable tree", "sets", "log loss", "", "RMSE", "", "numbers to read", ""]
    lines = [
        f"| {' | '.join([*columns, 'readable by log loss', 'by RMSE'])} |",
        "|---|" + "--:|" * (len(columns) - 1) + "---|---|",
    ]
    for label, name in BESIDE.items():
        both = ~np.isnan(rmse.of(name)) & ~np.isnan(rmse.of(hero))
        means = [f"{table.of(one)[both].mean():.3f}" for table in (loss, rmse) for one in (name, hero)]
        counts = [f"{numbers.of(one)[both].mean():.0f}" for one in (name, hero)]
        won = [str(table.record(hero, name)) for table in (loss, rmse)]
        lines.append(f"| {' | '.join([label, str(both.sum()), *means, *counts, *won])} |")
    return "\n".join(lines)


def run_methods(scores: Scores) -> Scores:
    """The methods that have been run on any set."""
    names = answered(scores)
    return Scores(scores.entries, tuple(names), tuple(line for line in scores.lines if line.method in names))


def part(scores: Scores, blind: bool) -> Scores:
    """The sets on which settings were chosen, or the others."""
    kept = tuple(entry for entry in scores.entries if (entry.name not in TUNED) == blind)
    return Scores(kept, scores.methods, tuple(line for line in scores.lines if line.entry in kept))


RULES = """The first folds of ten stratified ones, shuffled with a fixed seed; the folds of a set are pooled. RMSE is
the root of the Brier score divided by the number of classes. Log loss in nats; the probability of the class that came
counts as 1e-15 at least. Losses equal to four decimals are a draw; the two-sided sign test drops draws. Seconds are
medians of CPU seconds of training a fold, single-threaded; those of readable trees include the teacher. Numbers: one
for each split, one less than classes for each leaf, two for each term; one for each coefficient of a logistic model.
The trees of `linear-tree` are cut from the one of depth 5, whose seconds all of them have.

`readable` has two slopes a leaf (three at 32 leaves), `+constant` none; `plain` is the default growth with that limit.
`forest-100`, `lightgbm`, `mlp` (100 units, scaled columns), `ebm`, `weka/lmt`, `plain/default` and
`taught/default`, the default tree with the teacher, have no limit. Where a method did not answer on all sets, its mean
is that of the readable tree plus the mean difference on the sets where both answered."""


def report(
    cache: Cache, entries: Iterable[Entry], out: Path, commands: Sequence[str], *, keep: bool = False
) -> None:
    """Write scores.csv, summary.md and the figure, from as many folds as were run on any set."""
    entries = list(entries)
    groups = [group.name for group in GROUPS]
    n_folds = sum(
        any(cache.read(entry.key, name, k) for entry in entries for name in groups) for k in range(N_FOLDS)
    )
    scores = Scores.gather(cache, entries, GROUPS, n_folds)
    scores = run_methods(scores.keep(out / "scores.csv", []) if keep else scores)
    if not scores.entries:
        raise SystemExit(f"nothing has been run in {cache.folder}")
    out.mkdir(parents=True, exist_ok=True)
    scores.write_csv(out / "scores.csv", MORE)
    (out / "summary.md").write_text(summary(scores, commands, n_folds), encoding="utf-8")
    picture(scores, out / "sizes.png")
    write_guide(scores)
    print(f"{len(scores.entries)} sets in {out}")


def write_guide(scores: Scores) -> None:
    """Put the tables into the guide."""
    tables = {name: guide_table(part(scores, name == "blind")) for name in ("blind", "tuned")}
    write_tables(PAGE, **tables, peers=guide_peers(scores))


def summary(scores: Scores, commands: Sequence[str], n_folds: int) -> str:
    """All tables: blind sets, sets of the settings, all sets, and where methods had no result."""
    parts = [
        "# Small trees at fixed sizes",
        f"{provenance(scores, commands)} Folds: {n_folds} of 10.",
        RULES,
    ]
    for title, some in (("All", scores), ("Blind", part(scores, True)), ("Tuned", part(scores, False))):
        parts.append(f"## {title}: {len(some.entries)} sets")
        parts += [size_table(some, size) for size in SIZES if f"readable/{size}" in scores.methods]
    if "readable/leaves-16" in scores.methods:
        for title, some in (("all", scores), ("blind", part(scores, True)), ("tuned", part(scores, False))):
            parts += [
                f"## Sixteen leaves beside other models that can be read: {title} sets",
                peers_table(some),
            ]
    if "ebm/ebm" in scores.methods:
        parts += ["## Beside explainable boosting, set by set", beside_table(scores)]
    return "\n\n".join([*parts, "## Without an answer", gaps_table(scores)]) + "\n"


DRAWN = {
    label: SHOWN[label] for label in ("readable, with slopes", "readable, constant leaves", "default growth")
}
LINES = {
    "default tree, any size": "plain/default",
    "forest of 100 trees": "forest-100/forest-100",
    "explainable boosting (EBM)": "ebm/ebm",
}


def picture(scores: Scores, path: Path) -> None:
    """Draw log loss against the numbers that a reader meets, with lines for models that are not read."""
    import matplotlib.pyplot as plt

    loss = scores.comparison("log loss")
    names = [f"{group}/leaves-{n}{end}" for group, end in DRAWN.values() for n in LEAVES]
    kept = ~np.isnan(loss.among([*names, "plain/default", "forest-100/forest-100"]).losses).any(axis=1)
    figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
    for label, (group, end) in DRAWN.items():
        sizes = [f"{group}/leaves-{n}{end}" for n in LEAVES]
        numbers = [scores.table(name, MORE["numbers"]).of(name)[kept].mean() for name in sizes]
        means = [loss.of(name)[kept].mean() for name in sizes]
        axes.plot(numbers, means, marker="o", label=label)
        for n, x, y in zip(LEAVES, numbers, means, strict=True):
            axes.annotate(f"{n}", (x, y), (0, 5), textcoords="offset points", color="0.3", ha="center")
    for label, name in LINES.items():
        mean = loss.of(name)[kept].mean() if name in scores.methods else np.nan
        if np.isnan(mean):
            continue
        axes.axhline(mean, color="0.5", linewidth=1)
        axes.annotate(
            label,
            (1.0, mean),
            (-4, 3),
            xycoords=axes.get_yaxis_transform(),
            textcoords="offset points",
            ha="right",
            color="0.3",
        )
    ticks = (30, 50, 100, 200, 300)
    axes.set(xscale="log", xlabel="numbers to read, mean (at each point: leaves)")
    axes.set_xticks(ticks, map(str, ticks))
    axes.minorticks_off()
    axes.set_ylabel(f"log loss, mean of {kept.sum()} sets")
    axes.legend(frameon=False)
    figure.savefig(path, dpi=150)
    plt.close(figure)
