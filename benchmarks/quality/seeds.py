"""How much another random_state changes the probabilities of the default tree.

    python -m benchmarks.quality.seeds --data DIR        # the 40 smallest sets, ten seeds, one and five deals of folds

Two thirds of the rows are learned from, the others are asked. The number is the standard deviation of a row's
probability over the seeds, root mean square over rows and classes.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path

import numpy as np
from sklearn.model_selection import train_test_split

from benchmarks.quality.studies.sets import index, load
from hornbeam.recipe import PRESETS
from hornbeam.tree import Table
from hornbeam.tree.route import predict_rows
from hornbeam.tuning.cross_fitted import CrossFitted

OUT = Path(__file__).parents[1] / "results" / "seeds" / "seeds.jsonl"
REPEATS = (1, 5)


def deviation(data: object, repeats: int, n_seeds: int) -> tuple[float, float]:
    """Deviation over seeds, and the RMSE of all predictions."""
    train, test = train_test_split(np.arange(len(data.y)), test_size=1 / 3, random_state=0)
    table = Table.read(data.X.iloc[train], data.y[train])
    rows = Table.read(data.X.iloc[test], schema=table.schema)
    fitter = [CrossFitted(PRESETS["default"], repeats=repeats, seed=seed) for seed in range(n_seeds)]
    said = np.array([predict_rows(one.fit(table), rows) for one in fitter])
    truth = data.y[test][:, None] == np.array(table.schema.classes)[None]
    return float(np.sqrt(said.var(axis=0, ddof=1).mean())), float(np.sqrt(((said - truth) ** 2).mean()))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", type=int, default=40)
    parser.add_argument("--seeds", type=int, default=10)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    records = []
    for entry in index(options.data)[: options.sets]:
        record = {"set": entry.name, "rows": entry.n_rows}
        for repeats in REPEATS:
            spread, rmse = deviation(load(entry), repeats, options.seeds)
            record |= {f"deviation, {repeats}": round(spread, 5), f"RMSE, {repeats}": round(rmse, 5)}
        records.append(record)
        print(record, flush=True)
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    means = {name: round(float(np.mean([r[name] for r in records])), 5) for name in records[0] if "," in name}
    print(len(records), "sets, means:", means)


if __name__ == "__main__":
    main()
