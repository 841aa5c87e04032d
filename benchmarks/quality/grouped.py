"""Rows that belong to groups: loss on new groups with and without `groups=`, and the coverage of 90 % intervals.

python -m benchmarks.quality.grouped run --json benchmarks/results/coverage/groups.jsonl
python -m benchmarks.quality.grouped show benchmarks/results/coverage/groups.jsonl

A group has six features and an effect of its own, a row four features of its own. New rows are of new groups. The truth
of a leaf is the mean probability, or mean, of new rows that come to it, over the effects of all groups.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.pages import read_lines
from hornbeam import TreeClassifier, TreeRegressor
from hornbeam.evaluation import log_loss
from hornbeam.smoothing.interval_calibration import interval
from hornbeam.tree import Table
from hornbeam.tree.route import route

NEW_GROUPS = 20_000
TRIALS = {100: 24, 300: 12, 1000: 5}
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(41)


@dataclass(frozen=True)
class World:
    """Size of the groups, the standard deviation of their effects, and the kind of target."""

    each: int | None
    effect: float
    numeric: bool = False

    def draw(self, n_groups: int, rng: np.random.Generator, new: bool = False) -> tuple[np.ndarray, ...]:
        """Return X, the target, its truth over all effects, and the group of each row; new groups have one row."""
        each = np.ones(n_groups, int) if new else np.full(n_groups, self.each or 1)
        if self.each is None and not new:
            each = rng.geometric(0.12, n_groups)
        group = np.repeat(np.arange(n_groups), each)
        X = np.column_stack([rng.normal(size=(n_groups, 6))[group], rng.normal(size=(len(group), 4))])
        score = 0.8 * X[:, 0] + np.where(X[:, 1] > 0, 0.9, -0.3) * X[:, 6]
        effect = self.effect * rng.normal(size=n_groups)[group]
        if self.numeric:
            return X, score + effect + rng.normal(size=len(group)), score[:, None], group
        y = (rng.random(len(group)) < 1 / (1 + np.exp(-(score + effect)))).astype(int)
        rate = 1 / (1 + np.exp(-(score[:, None] + self.effect * NODES))) @ WEIGHTS / WEIGHTS.sum()
        return X, y, np.column_stack([1 - rate, rate]), group


WORLDS = {
    "visits": World(10, 1.5),
    "mild": World(5, 0.7),
    "unequal": World(None, 1.2),
    "numbers": World(8, 1.0, numeric=True),
}


def trial(name: str, n_groups: int, seed: int) -> dict[str, Any]:
    """Fit with and without groups, and compare with the truth."""
    world, rng = WORLDS[name], np.random.default_rng(seed)
    X, y, _, group = world.draw(n_groups, rng)
    new, y_new, truth, _ = world.draw(NEW_GROUPS, rng, new=True)
    kind = TreeRegressor if world.numeric else TreeClassifier
    found: dict[str, Any] = {}
    for setting, groups in (("rows", None), ("groups", group)):
        model = kind().fit(X, y, groups=groups)
        tree = model.tree_
        node = route(tree.skeleton, Table.read(new, schema=tree.schema))
        rows = np.bincount(node, minlength=tree.n_nodes)
        leaf = tree.skeleton.is_leaf & (rows > 0)
        true = np.bincount(node, truth[:, -1], minlength=tree.n_nodes)[leaf] / rows[leaf]
        low, high = (bound[leaf, -1] for bound in interval(tree, 0.9))
        loss = (
            float(np.mean((model.predict(new) - truth[:, 0]) ** 2))
            if world.numeric
            else log_loss(y_new, model.predict_proba(new))
        )
        found[setting] = {
            "leaves": int(leaf.sum()),
            "covered": int(((low <= true) & (true <= high)).sum()),
            "width": round(float((high - low).mean()), 5),
            "loss": round(loss, 5),
        }
    base = np.full(len(new), y.mean())
    found["base"] = round(
        float(np.mean((base - truth[:, 0]) ** 2))
        if world.numeric
        else log_loss(y_new, np.column_stack([1 - base, base])),
        5,
    )
    return found


def run(options: argparse.Namespace) -> None:
    done = {(line["world"], line["groups"], line["seed"]) for line in read(options.json)}
    with options.json.open("a") as file:
        for n_groups, trials in TRIALS.items():
            for world in WORLDS:
                for seed in range(trials):
                    if (world, n_groups, seed) not in done:
                        record = {
                            "world": world,
                            "groups": n_groups,
                            "seed": seed,
                            "found": trial(world, n_groups, seed),
                        }
                        file.write(json.dumps(record) + "\n")
                        file.flush()


def read(path: Path) -> list[dict[str, Any]]:
    return read_lines(path) if path.exists() else []


def show(options: argparse.Namespace) -> None:
    cells = defaultdict(list)
    for line in read(options.json):
        cells[line["world"], line["groups"]].append(line["found"])
    print(f"{'world':9} {'groups':>6} trials | base    rows  groups | covered by rows, by groups (leaves)")
    for (world, n_groups), trials in sorted(cells.items()):
        losses = [np.mean([one["base"] for one in trials])]
        losses += [np.mean([one[name]["loss"] for one in trials]) for name in ("rows", "groups")]
        shares = [
            (sum(one[name]["covered"] for one in trials), sum(one[name]["leaves"] for one in trials))
            for name in ("rows", "groups")
        ]
        covered = "  ".join(f"{held / leaves:.3f} ({leaves})" for held, leaves in shares)
        print(f"{world:9} {n_groups:6} {len(trials):6} |", *(f"{loss:.4f}" for loss in losses), "|", covered)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    running = commands.add_parser("run", help="fit trees, and add a line for each trial to a file")
    running.add_argument("--json", type=Path, required=True)
    running.set_defaults(go=run)
    showing = commands.add_parser("show", help="print the table of a file")
    showing.add_argument("json", type=Path)
    showing.set_defaults(go=show)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    options.go(options)


if __name__ == "__main__":
    main()
