"""The table of rankers in the guide has the numbers of the committed results."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
METHODS = {  # as the guide calls them, best first
    "the function behind the grades": "truth",
    "mean of LambdaMART and pointwise boosting": "average of two",
    "LambdaMART, bagged by query, 10 times": "hornbeam, bagged",
    "**LambdaMART (`BoostedTreesRanker`)**": "hornbeam",
    "LightGBM's LambdaMART": "lightgbm",
    "pointwise boosting (`BoostedTreesRegressor`)": "pointwise boosting",
    "LightGBM's LambdaMART, plain gradients": "lightgbm, plain",
    "LambdaMART, `normalize=False`": "hornbeam, plain",
    "mean of LambdaMART, pointwise boosting and forest": "average of three",
    "pointwise forest (`ForestRegressor`)": "pointwise forest",
}


def test_the_guide_has_the_numbers_of_the_file():
    lines = (ROOT / "benchmarks/results/boosting/ranking.jsonl").read_text(encoding="utf-8").splitlines()
    found: dict[str, list[dict[str, float]]] = {}
    for line in map(json.loads, lines):
        found.setdefault(line["method"], []).append(line)
    measured = {
        method: np.array(
            [[line["ndcg@10"], line["cpu"]] for line in sorted(turns, key=lambda line: line["turn"])]
        )
        for method, turns in found.items()
    }
    rows = []
    for name, method in METHODS.items():
        scores, seconds = measured[method].T
        gap = scores - measured["hornbeam"][:, 0]
        mean, error = gap.mean(), gap.std(ddof=1) / len(gap) ** 0.5
        own, bold = method == "hornbeam", "**" if method == "hornbeam" else ""
        cells = [
            name,
            bold + f"{scores.mean():.3f}".lstrip("0") + bold,
            "" if own else f"{mean:+.3f} ± {error:.3f}".replace("0.", "."),
            "" if own else f"{(gap > 0).sum()}-{(gap < 0).sum()}",
            "" if method == "truth" else f"{seconds.mean():.1f}",
        ]
        rows.append("| " + " | ".join(cells) + " |")
    guide = (ROOT / "docs/guide/boosting.md").read_text(encoding="utf-8")
    shown = [" ".join(line.split()) for line in guide.splitlines()]
    positions = [shown.index(" ".join(row.split())) for row in rows]
    assert positions == sorted(positions)
