"""The pruning note (D. Chou, Bayes Risk Pruning, 2021) in one command: its rule, word for word, on many sets.

    python -m benchmarks.quality.paper_frontier --data DIR     run, write results/frontier, and print the tables
    python -m benchmarks.quality.paper_frontier                the tables, from results/frontier

--sets A,B runs these sets alone, and --out FOLDER writes and reads another folder than results/frontier. With --write
the tables replace those of docs/papers/frontier.md.

Trees are grown as C4.5 grows them, to the end, a missing value being a branch of its own, so that every training row
is in a leaf. Each is pruned under every reading of the note's rule, from raw frequencies and from Laplace's estimate;
beside them are C4.5's pruning and Bayes risk on HGS. The first command can be stopped, and goes on where it was.
"""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Sequence
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.output import OURS
from benchmarks.pages import markdown, write_tables
from benchmarks.quality.comparison import RESULTS, lines
from benchmarks.quality.studies import runner
from benchmarks.quality.studies.cache import Cache
from benchmarks.quality.studies.families import RECIPES
from benchmarks.quality.studies.pruners import PRUNERS, Way, alone, pruned_family, unpruned
from benchmarks.quality.studies.report import Scores, provenance
from benchmarks.quality.studies.sets import Entry, index
from benchmarks.quality.studies.trade_off import MORE
from benchmarks.speed.frontiers import SIZES
from benchmarks.speed.pruning import random_tree
from benchmarks.speed.work_span import measure as simulate
from benchmarks.timing import latency
from hornbeam.evaluation import Comparison
from hornbeam.pruning import BayesRisk
from hornbeam.pruning.bottom_up import work_span
from hornbeam.smoothing import HGS, Laplace

HERE = Path(__file__).parents[1]
OUT, CACHE = RESULTS / "frontier", HERE / ".study" / "frontier"
PAGE = HERE.parent / "docs" / "papers" / "frontier.md"
COMMAND = "python -m benchmarks.quality.paper_frontier --data DIR"
GROUP, WHOLE = "c4.4", "unpruned"
READINGS = {"per-example": "the note: per example", "bayes": "cheapest class", "rate": "rate, not weighted"}
ESTIMATES = {"raw": None, "laplace": Laplace()}
TIES = {"strict": "<", "ties": "≤"}
WAYS: dict[str, Way] = {
    WHOLE: unpruned,
    **{
        f"{reading}-{ties}-{name}": alone(
            BayesRisk(reading=reading, strict=ties == "strict", estimate=estimate)
        )
        for (name, estimate), reading, ties in product(ESTIMATES.items(), READINGS, TIES)
    },
    "error-based": PRUNERS["error-based"],
    "bayes-hgs": alone(BayesRisk(estimate=HGS())),
}
OTHERS = {
    WHOLE: ["no pruning", "", ""],
    "error-based": ["C4.5: error-based", "≤", "upper limit"],
    "bayes-hgs": ["cheapest class", "≤", "HGS"],
}
GROUPS = (pruned_family(GROUP, RECIPES["c4.4"], WAYS),)
NODES, CLASSES, TURNS = 200_000, (2, 5, 10, 25, 50), 15  # of the trees that threads are tried on
NUMBERS = ("rmse", "0_1_loss", "nodes", "depth")


def run(entries: list[Entry], cache: Cache, jobs: int, out: Path) -> None:
    """Run what is not in the cache; write the scores and the summary."""
    runner.register(GROUPS)
    runner.Runner(cache, GROUPS, frozenset(GROUPS[0].names), jobs).run(entries)
    scores = Scores.gather(cache, entries, GROUPS)
    out.mkdir(parents=True, exist_ok=True)
    scores.write_csv(out / "scores.csv", {name: MORE[name] for name in ("leaves", "depth")})
    measure(out)
    measure_cores(out)
    (out / "summary.md").write_text(
        "\n\n".join(["# The pruning note", provenance(scores, [COMMAND]), *tables(out).values()]) + "\n",
        encoding="utf-8",
    )


def read(out: Path = OUT) -> dict[str, Comparison]:
    """Every number of the study, by method and set."""
    with (out / "scores.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    sets, methods = (tuple(dict.fromkeys(row[name] for row in rows)) for name in ("set", "method"))
    return {
        name: Comparison(
            tuple(method.partition("/")[2] for method in methods),
            sets,
            np.array([float(row[name] or "nan") for row in rows]).reshape(len(sets), len(methods)),
            name,
        )
        for name in NUMBERS
    }


def _words(way: str) -> list[str]:
    """The rule, the comparison, and the estimate of a way to prune."""
    if way in OTHERS:
        return OTHERS[way]
    reading, ties, estimate = way.rsplit("-", 2)
    return [READINGS[reading], TIES[ties], {"raw": "training frequencies", "laplace": "Laplace"}[estimate]]


def readings(out: Path) -> str:
    """What every reading leaves of the trees, and their errors on new rows."""
    found = read(out)
    nodes, errors = found["nodes"], found["0_1_loss"]
    whole = nodes.of(WHOLE)
    rows = []
    for way in WAYS:
        left = nodes.of(way)
        record = "" if way == WHOLE else str(errors.record(way, WHOLE))
        rows.append(
            [
                *_words(way),
                f"{left.mean():,.0f}",
                f"{np.median(left / whole):.2f}",
                f"{(left < whole).sum()}",
                f"{errors.of(way).mean():.4f}",
                record,
            ]
        )
    head = ["risk", "cut if", "probabilities", "nodes, mean", "share left, median", "sets with a cut"]
    return markdown([*head, "0-1 loss", "against no pruning"], rows, text=3)


def probabilities(out: Path) -> str:
    """RMSE of the pruned trees' probabilities: frequencies, and smoothed after pruning."""
    rmse = read(out)["rmse"]
    rows = []
    for way in WAYS:
        cells = []
        for suffix in ("", "+hgs"):
            record = "" if way == WHOLE else str(rmse.record(way + suffix, WHOLE + suffix))
            cells += [f"{rmse.of(way + suffix).mean():.4f}", record]
        rows.append([*_words(way), *cells])
    head = ["risk", "cut if", "probabilities", "RMSE, frequencies", "against no pruning"]
    return markdown([*head, "RMSE, then HGS", "against no pruning, then HGS"], rows, text=3)


def spans(out: Path) -> str:
    """Work and span of the sets' trees, a step for each node: nodes, and one more than the depth."""
    found = read(out)
    nodes, rounds = found["nodes"].of(WHOLE), found["depth"].of(WHOLE) + 1
    shown = {"nodes (work)": nodes, "frontiers (span)": rounds, "work / span": nodes / rounds}
    quantiles = {"least": 0, "lower quartile": 0.25, "median": 0.5, "upper quartile": 0.75, "most": 1}
    rows = [
        [name, *(f"{np.quantile(values, q):,.1f}" for q in quantiles.values())]
        for name, values in shown.items()
    ]
    return markdown([f"{len(nodes)} sets", *quantiles], rows)


def threads(_: Path) -> str:
    """The speed-up by two threads that work and span allow, beside the measured one."""
    measured = [line for line in lines("speed/prune-frontiers.jsonl") if "parts" in line]
    walls = {
        (line["nodes"], line["classes"], line["peer"]): line["parts"]["judge"]["wall"] for line in measured
    }
    rows = []
    for size in SIZES:
        shape = work_span(random_tree(size, 2).skeleton)
        nodes = int(shape.work)
        predicted = nodes / (nodes / 2 + shape.span)
        for classes in sorted({k for n, k, _ in walls if n == nodes}):
            one, two = (walls[nodes, classes, peer] for peer in (OURS, "threads"))
            rows.append(
                [
                    f"{round(nodes, -3):,}",
                    f"{classes}",
                    f"{shape.rounds}",
                    f"{shape.parallelism:,.0f}",
                    f"{predicted:.2f}",
                    f"{one / two:.2f}",
                    f"{1e9 * one / nodes:.0f}",
                ]
            )
    head = ["nodes", "classes", "frontiers", "work / span", "2 threads, predicted", "measured"]
    return markdown([*head, "ns per node, 1 thread"], rows, text=0)


def measure(out: Path) -> None:
    """CPU seconds of the decisions on one thread and on two, which take turns, by the number of classes."""
    with (out / "threads.jsonl").open("w", encoding="utf-8") as file:
        for classes in CLASSES:
            tree = Laplace()(random_tree(NODES, classes))
            costs = 1.0 + np.arange(classes)[:, None] - np.eye(classes)
            calls = [partial(BayesRisk(costs)._with_threads(n_jobs).cuts, tree) for n_jobs in (1, 2)]
            turns = [[latency(call, repeats=0).cpu for call in calls] for _ in range(TURNS)]
            one, two = np.min(turns, axis=0).tolist()
            facts = {"nodes": tree.n_nodes, "classes": classes, "cpu_1": one, "cpu_2": two}
            file.write(json.dumps(facts) + "\n")


def measure_cores(out: Path) -> None:
    """Processor seconds of the decisions on one thread, placed on simulated cores: no core shares its memory."""
    with (out / "cores.jsonl").open("w", encoding="utf-8") as file:
        for size, classes in product(SIZES[-2:], (2, 5)):
            tree = Laplace()(random_tree(size, classes))
            costs = 1.0 + np.arange(classes)[:, None] - np.eye(classes)
            found = simulate(lambda n, t=tree, c=costs: BayesRisk(c)._with_threads(n).cuts(t), 3 * TURNS)
            seconds = {threads: simulated for threads, (_, simulated) in found.items()}
            file.write(json.dumps({"nodes": tree.n_nodes, "classes": classes, "seconds": seconds}) + "\n")


def cores(out: Path) -> str:
    """How much faster the decisions would be on several cores, if only work and waiting counted."""
    measured = list(map(json.loads, (out / "cores.jsonl").read_text(encoding="utf-8").splitlines()))
    counts = [count for count in measured[0]["seconds"] if count != "1"]
    rows = [
        [
            f"{round(line['nodes'], -3):,}",
            f"{line['classes']}",
            *(f"{line['seconds']['1'] / line['seconds'][count]:.2f}" for count in counts),
        ]
        for line in measured
    ]
    return markdown(["nodes", "classes", *(f"{count} cores" for count in counts)], rows, text=0)


def overhead(out: Path) -> str:
    """What a second thread adds to the work."""
    measured = map(json.loads, (out / "threads.jsonl").read_text(encoding="utf-8").splitlines())
    rows = [
        [
            f"{line['classes']}",
            f"{1e3 * line['cpu_1']:.1f}",
            f"{1e3 * line['cpu_2']:.1f}",
            f"{line['cpu_2'] / line['cpu_1']:.2f}",
        ]
        for line in measured
    ]
    return markdown(["classes", "CPU ms, 1 thread", "CPU ms, 2 threads", "ratio"], rows, text=0)


def tables(out: Path = OUT) -> dict[str, str]:
    return {
        table.__name__: table(out) for table in (readings, probabilities, spans, threads, cores, overhead)
    }


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="folder with index.csv and its Parquet files")
    parser.add_argument("--max-rows", type=int, default=30_000, help="leave larger sets out")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--sets", type=lambda text: text.split(","), metavar="A,B", help="only these sets")
    parser.add_argument("--cache", type=Path, default=CACHE, help="folder of what has been run")
    parser.add_argument("--out", type=Path, default=OUT, help="folder of the results")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/papers/frontier.md")
    options = parser.parse_args(arguments)
    if options.data is not None:
        entries = [one for one in index(options.data, options.sets) if one.n_rows <= options.max_rows]
        run(entries, Cache(options.cache), options.jobs, options.out)
    made = tables(options.out)
    if options.write:
        write_tables(PAGE, **made)
    print("\n\n".join(made.values()))


if __name__ == "__main__":
    main()
