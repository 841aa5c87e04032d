"""Which feature is taken where none says anything, and what a column of noise does to a model.

    python -m benchmarks.quality.selection bias --tables 2000      # pure noise: how often each feature is at the root
    python -m benchmarks.quality.selection columns --data DIR      # a useless column beside real ones: log loss
    python -m benchmarks.quality.selection report                  # the tables, from results/selection

`bias` draws 1,000 rows of two classes and five features that have nothing to do with them: numbers of 10 and of 1,000
values, categories of 2, 20 and 200 values. A fair choice takes each of them in a fifth of the tables. scikit-learn gets
categories as their codes. R's `ctree` (package partykit) takes part where `Rscript` is installed.

`columns` adds to each set a unique id, an id that is unique in nine rows of ten, and noise of 50, 300 and 3,000 values,
one at a time, and fits on three quarters of the rows, at most 15,000.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

from hornbeam import BoostedTreesClassifier, ForestClassifier, TreeClassifier
from hornbeam.growing.grower import Grower
from hornbeam.recipe import PRESETS, Recipe
from hornbeam.tree import Table

OUT = Path(__file__).parents[1] / "results" / "selection"
FEATURES = {"number 10": (10, False), "number 1000": (1000, False)} | {
    f"category {n}": (n, True) for n in (2, 20, 200)
}
SETS = (
    "adult",
    "bank-marketing",
    "credit-g",
    "credit-a",
    "credit-default",
    "online-shoppers",
    "magic",
    "car",
    "spambase",
)
ROWS = 20_000


# ---- bias ------------------------------------------------------------------------------------------------------------


def noise_table(seed: int, n: int = 1000) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    columns = {}
    for name, (n_values, nominal) in FEATURES.items():
        values = rng.integers(0, n_values, n)
        columns[name] = (
            pd.Categorical(values, categories=range(n_values)) if nominal else values.astype(float)
        )
    return pd.DataFrame(columns), rng.integers(0, 2, n)


def root_of_hornbeam(X: pd.DataFrame, y: np.ndarray, grower: Grower) -> int:
    return int(Recipe(grower=grower).fit(Table.read(X, y)).skeleton.feature[0])


def root_of_sklearn(X: pd.DataFrame, y: np.ndarray) -> int:
    codes = X.astype({name: int for name, (_, nominal) in FEATURES.items() if nominal}).to_numpy(float)
    return int(DecisionTreeClassifier(max_depth=1, random_state=0).fit(codes, y).tree_.feature[0])


def root_of_lightgbm(X: pd.DataFrame, y: np.ndarray) -> int:
    import lightgbm

    model = lightgbm.LGBMClassifier(
        n_estimators=1, num_leaves=2, min_child_samples=1, verbose=-1, n_jobs=1, deterministic=True
    ).fit(X, y)
    return int(np.argmax(model.booster_.feature_importance("split")))


def bias(n_tables: int) -> Iterator[dict[str, object]]:
    corrected, plain = Grower(max_depth=1, corrected=True), Grower(max_depth=1)
    methods: dict[str, Callable[[pd.DataFrame, np.ndarray], int]] = {
        "hornbeam": lambda X, y: root_of_hornbeam(X, y, corrected),
        "hornbeam, by gain": lambda X, y: root_of_hornbeam(X, y, plain),
        "scikit-learn CART": root_of_sklearn,
        "LightGBM": root_of_lightgbm,
    }
    counts = {name: np.zeros(len(FEATURES)) for name in methods}
    for seed in range(n_tables):
        X, y = noise_table(seed)
        for name, root in methods.items():
            counts[name][root(X, y)] += 1
    if shutil.which("Rscript"):
        counts["R ctree"] = roots_of_ctree(min(n_tables, 500))
    for name, count in counts.items():
        tables = min(n_tables, 500) if name == "R ctree" else n_tables
        yield {
            "method": name,
            "tables": tables,
            **dict(zip(FEATURES, (count / count.sum()).round(3).tolist(), strict=True)),
        }


def roots_of_ctree(n_tables: int) -> np.ndarray:
    """The feature of the smallest p-value, as ctree chooses it whatever its level."""
    script = """
    suppressMessages(library(partykit)); folder <- commandArgs(TRUE)[1]
    for (file in list.files(folder, pattern = "csv$", full.names = TRUE)) {
      d <- read.csv(file); d$y <- factor(d$y); for (k in 3:5) d[[k]] <- factor(d[[k]])
      control <- ctree_control(mincriterion = 0, maxdepth = 1, testtype = "Univariate")
      root <- tryCatch(split_node(node_party(ctree(y ~ ., d, control = control))), error = function(e) NULL)
      cat(if (is.null(root)) NA else root$varid, "\\n")
    }"""
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(n_tables):
            X, y = noise_table(seed)
            X.set_axis(list("abcde"), axis=1).assign(y=y).to_csv(Path(folder) / f"{seed:05}.csv", index=False)
        program = Path(folder, "roots.R")
        program.write_text(script, encoding="utf-8")
        said = subprocess.run(["Rscript", program, folder], capture_output=True, text=True, check=True).stdout
    # The target is the first variable of R's model.
    roots = [int(root) - 2 for root in said.split() if root != "NA"]
    return np.bincount(roots, minlength=len(FEATURES)).astype(float)


# ---- columns ---------------------------------------------------------------------------------------------------------


def loans(n: int) -> pd.DataFrame:
    """Clients that are late by a formula, and two columns of noise."""
    rng = np.random.default_rng(0)
    late, income = rng.poisson(0.5, n), rng.lognormal(10.8, 0.5, n).round(2)
    p = 1 / (1 + np.exp(2 - 0.9 * late + (income - 49_000) / 40_000))
    noise = {"site": rng.integers(0, 2, n), "age": rng.integers(18, 80, n)}
    return pd.DataFrame(
        {"late": late, "income": income, **noise, "target": np.where(rng.random(n) < p, "bad", "good")}
    )


def useless(n: int) -> dict[str, pd.Categorical]:
    rng = np.random.default_rng(1)
    ids = np.arange(n)
    mostly = np.where(rng.random(n) < 0.1, rng.integers(0, n, n), ids)
    values = {"unique id": ids, "90 % unique id": mostly}
    values |= {f"noise {k}": rng.integers(0, k, n) for k in (50, 300, 3000)}
    return {name: pd.Categorical([f"v{value}" for value in numbers]) for name, numbers in values.items()}


def lightgbm_model() -> object:
    import lightgbm

    return lightgbm.LGBMClassifier(verbose=-1, n_jobs=1)


class TreeByGain(TreeClassifier):
    """The default tree with features compared by their gain."""

    def fit(self, X: pd.DataFrame, y: pd.Series) -> TreeByGain:
        from hornbeam.tuning.cross_fitted import CrossFitted

        recipe = PRESETS["default"]
        grower = Grower(recipe.grower.criterion)
        tree = CrossFitted(Recipe(grower=grower, smoother=recipe.smoother)).fit(Table.read(X, y))
        self.tree_ = tree
        return self

    def predict_proba(self, X: pd.DataFrame) -> np.ndarray:
        from hornbeam.tree.route import predict_rows

        return predict_rows(self.tree_, Table.read(X, schema=self.tree_.schema))


MODELS: dict[str, Callable[[], object]] = {
    "tree": TreeClassifier,
    "tree, by gain": TreeByGain,
    "forest": lambda: ForestClassifier(n_estimators=30, random_state=0),
    "boosting": BoostedTreesClassifier,
    "LightGBM": lightgbm_model,
}


def columns(data: Path, sets: list[str]) -> Iterator[dict[str, object]]:
    for name in sets:
        frame = loans(ROWS) if name == "loans" else pd.read_parquet(data / f"{name}.parquet")
        frame = frame.sample(min(len(frame), ROWS), random_state=0).reset_index(drop=True)
        y = frame.pop("target").astype(str)
        train, test = train_test_split(np.arange(len(y)), random_state=0, stratify=y)
        extra = useless(len(y))
        for model, make in MODELS.items():
            record: dict[str, object] = {"set": name, "rows": len(train), "model": model}
            for column in ("none", *extra):
                X = frame if column == "none" else frame.assign(useless=extra[column])
                said = make().fit(X.iloc[train], y.iloc[train]).predict_proba(X.iloc[test])  # type: ignore[attr-defined]
                record[column] = round(float(log_loss(y.iloc[test], said, labels=sorted(y.unique()))), 4)
            yield record


# ---- tables ----------------------------------------------------------------------------------------------------------


def report() -> None:
    for name in ("bias", "columns"):
        path = OUT / f"{name}.jsonl"
        if path.exists():
            frame = pd.DataFrame(json.loads(line) for line in path.read_text().splitlines())
            print(frame.to_string(index=False), "\n")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=("bias", "columns", "report"))
    parser.add_argument("--tables", type=int, default=2000)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--sets", default=",".join([*SETS, "loans"]))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.command == "report":
        return report()
    OUT.mkdir(parents=True, exist_ok=True)
    work = (
        bias(options.tables) if options.command == "bias" else columns(options.data, options.sets.split(","))
    )
    with (OUT / f"{options.command}.jsonl").open("w", encoding="utf-8") as file:
        for record in work:
            print(record, flush=True)
            file.write(json.dumps(record) + "\n")
            file.flush()
    return None


if __name__ == "__main__":
    main()
