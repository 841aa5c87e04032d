"""Log loss at half the price: prices of columns beside a subset of columns and CatBoost's penalties.

    python -m benchmarks.quality.prices --data DIR      # five sets of medical tests, five of ten folds
    python -m benchmarks.quality.prices --write         # the table of docs/guide/costs.md, from the results

The price is what the columns that a row is tested on cost, in dollars. Prices are those of Turney (1995, Journal of
Artificial Intelligence Research 2): a price of each test, and one that tests of a group share, such as a blood sample.
Half the price is half of the mean price of the default tree on the training rows of a fold. Every choice is made on
training rows:

tree with prices   the weight of a price with the least held-out loss (`size_path_`) among those within half the price
columns            a default tree on up to five columns that are added one by one, the one that lowers the held-out loss
                   most as long as the mean price of its tree is within half the price
CatBoost           200 trees of depth 4 with `per_object_feature_penalties`; of several coefficients, the one with the
                   least loss on a fifth of the training rows among those whose columns, all that any tree tests, cost
                   at most half the price. It cannot share prices: its penalty of a column is that of the first one
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from benchmarks.pages import markdown, read_lines, write_tables
from benchmarks.quality.studies.sets import StudySet, index, load
from hornbeam import TreeClassifier
from hornbeam.evaluation import log_loss

OUT = Path(__file__).parents[1] / "results" / "prices" / "sets.jsonl"
PAGE = Path(__file__).parents[2] / "docs" / "guide" / "costs.md"
N_FOLDS, MAX_ROWS, MOST_COLUMNS = 5, 2_000, 5
WEIGHTS = (0.0, *(round(0.02 * 1.5**step, 4) for step in range(19)), 1e6)  # with the last no column pays
COEFFICIENTS = (0.003, 0.01, 0.015, 0.02, 0.03, 0.05, 0.07, 0.1, 0.3, 1.0, 10.0)

type Prices = dict[str, Any]
type Rows = NDArray[np.intp]


def _blood(tests: dict[str, float], free: list[str]) -> Prices:
    """Tests of one blood sample, which costs 2.10, and other columns at one dollar each."""
    return dict.fromkeys(free, 1.0) | tests | {"blood sample": (2.1, list(tests))}


_HEART = {
    **dict.fromkeys(("age", "sex", "cp", "trestbps", "thalach", "thal", "exang", "oldpeak", "slope"), 1.0),
    "chol": 5.17,
    "fbs": 3.1,
    "restecg": 15.5,
    "ca": 100.9,
    "blood sample": (2.1, ["chol", "fbs"]),
    "nuclear imaging": (101.9, ["thalach", "thal"]),
    "stress test": (86.3, ["exang", "oldpeak", "slope"]),
}
_HEPATITIS = (
    "AGE SEX STEROID ANTIVIRALS FATIGUE MALAISE ANOREXIA LIVER_BIG LIVER_FIRM SPLEEN_PALPABLE SPIDERS ASCITES VARICES "
    "HISTOLOGY"
)
_THYROID = (
    "age sex on_thyroxine query_on_thyroxine on_antithyroid sick pregnant thyroid_surgery I131 query_hypothyroid "
    "query_hyperthyroid lithium goitre tumor hypopituitary psych"
)
PRICES: dict[str, Prices] = {
    "heart-c": _HEART,
    "hepatitis": _blood(
        {"BILIRUBIN": 5.17, "ALK_PHOSPHATE": 5.17, "SGOT": 5.17, "ALBUMIN": 5.17, "PROTIME": 6.2},
        _HEPATITIS.split(),
    ),
    "pima-diabetes": _blood(
        {"plas": 15.51, "insu": 20.68},
        ["preg", "pres", "skin", "mass", "pedi", "age"],  # codespell:ignore
    ),
    "liver-disorders": _blood(
        {"mcv": 5.17, "alkphos": 5.17, "sgpt": 5.17, "sgot": 5.17, "gammagt": 7.76}, ["drinks"]
    ),
    # The index FTI is computed from TT4 and T4U.
    "ann-thyroid": {
        **dict.fromkeys(_THYROID.split(), 1.0),
        "TSH": 20.68,
        "T3": 9.31,
        "TT4": (12.41, ["TT4", "FTI"]),
        "T4U": (9.31, ["T4U", "FTI"]),
        "blood sample": (2.1, ["TSH", "T3", "TT4", "T4U", "FTI"]),
    },
}


def items(prices: Prices) -> list[tuple[float, list[str]]]:
    """Each price with the columns that need it."""
    return [given if isinstance(given, tuple) else (given, [name]) for name, given in prices.items()]


def cost(prices: Prices, columns: list[str]) -> float:
    """What these columns cost together."""
    return sum(price for price, names in items(prices) if set(names) & set(columns))


def of_columns(prices: Prices, columns: list[str]) -> Prices:
    """The prices of some columns."""
    kept = [(price, [name for name in names if name in columns]) for price, names in items(prices)]
    return {f"item {at}": (price, names) for at, (price, names) in enumerate(kept) if names}


def fit(data: StudySet, train: Rows, prices: Prices, weight: float, columns: list[str]) -> Any:
    """Fit a tree to some columns; prices are recorded."""
    model = TreeClassifier(feature_costs=of_columns(prices, columns), feature_cost_weight=weight)
    return model.fit(data.X[columns].iloc[train], data.y[train])


def held_out(model: Any) -> tuple[float, float]:
    """Held-out loss of a tree, and the mean price on its training rows."""
    path = model.size_path_
    return float(path.loss[0]), float(path.price[0])


def score(data: StudySet, test: Rows, model: Any, columns: list[str]) -> list[float]:
    """Log loss and mean price on test rows."""
    X = data.X[columns].iloc[test]
    loss = log_loss(data.y[test], model.predict_proba(X), labels=np.arange(len(data.classes)))
    return [float(loss), float(model.path_costs(X).mean())]


def search_columns(data: StudySet, train: Rows, prices: Prices, most: float) -> Any:
    """Add columns one by one while the held-out loss falls and the mean price is at most `most`."""
    chosen: list[str] = []
    best: Any = None
    loss = np.inf
    while len(chosen) < MOST_COLUMNS:
        found = []
        for name in data.X.columns.difference(chosen, sort=False):
            model = fit(data, train, prices, 0.0, [*chosen, name])
            one, price = held_out(model)
            if price <= most:
                found.append((one, name, model))
        if not found or min(found, key=lambda one: one[0])[0] >= loss - 1e-6:
            break
        loss, name, best = min(found, key=lambda one: one[0])
        chosen.append(name)
    return best, chosen


def boosted(data: StudySet, train: Rows, prices: Prices, coefficient: float) -> Any:
    """Fit CatBoost with penalties; its columns and their price."""
    from catboost import CatBoostClassifier

    X, nominal = for_catboost(data.X)
    penalties = {name: cost(prices, [name]) for name in X.columns}
    model = CatBoostClassifier(
        iterations=200,
        depth=4,
        learning_rate=0.05,
        per_object_feature_penalties=penalties,
        penalties_coefficient=coefficient / 100,
        thread_count=1,
        random_seed=0,
        verbose=False,
        allow_writing_files=False,
        cat_features=nominal,
    )
    model.fit(X.iloc[train], data.y[train])
    used = [name for name, share in zip(X.columns, model.get_feature_importance(), strict=True) if share > 0]
    return model, cost(prices, used)


def for_catboost(X: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Nominal columns as text."""
    nominal = [name for name in X if not pd.api.types.is_numeric_dtype(X[name])]
    text = {name: X[name].astype(object).where(X[name].notna(), "missing").astype(str) for name in nominal}
    return X.assign(**text), nominal


def catboost_scores(data: StudySet, train: Rows, test: Rows, prices: Prices, most: float) -> list[float]:
    """Log loss and price of CatBoost within a price; of the rates of the classes if no coefficient gives one."""
    fitted, chosen = train_test_split(train, test_size=0.2, random_state=0, stratify=data.y[train])
    X, labels, found = for_catboost(data.X)[0], np.arange(len(data.classes)), []
    for coefficient in COEFFICIENTS:
        model, price = boosted(data, fitted, prices, coefficient)
        if price <= most:
            loss = log_loss(data.y[chosen], model.predict_proba(X.iloc[chosen]), labels=labels)
            found.append((float(loss), coefficient))
    for _, coefficient in sorted(found):
        model, price = boosted(data, train, prices, coefficient)
        if price <= most:
            return [
                float(log_loss(data.y[test], model.predict_proba(X.iloc[test]), labels=labels)),
                price,
            ]
    rates = np.bincount(data.y[train], minlength=len(labels)) / len(train)
    return [float(log_loss(data.y[test], np.tile(rates, (len(test), 1)), labels=labels)), 0.0]


def measure(data: StudySet) -> dict[str, Any]:
    """Losses and prices of a set by method, means over folds; and those of every weight of a price."""
    prices, names = PRICES[data.name.partition("@")[0]], list(data.X.columns)
    every: list[Any] = []
    by_method: dict[str, list[Any]] = {"default": [], "prices": [], "columns": [], "catboost": []}
    for train, test in data.folds[:N_FOLDS]:
        models = [fit(data, train, prices, weight, names) for weight in WEIGHTS]
        losses = [held_out(model) for model in models]
        scores = [score(data, test, model, names) for model in models]
        most = losses[0][1] / 2
        within = [at for at, (_, price) in enumerate(losses) if price <= most]
        every.append(scores)
        by_method["default"].append(scores[0])
        by_method["prices"].append(scores[min(within, key=lambda at: losses[at][0])])
        model, chosen = search_columns(data, train, prices, most)
        by_method["columns"].append(scores[-1] if model is None else score(data, test, model, chosen))
        by_method["catboost"].append(catboost_scores(data, train, test, prices, most))
    rows = len(data.y)
    found = {name: _mean(scores) for name, scores in by_method.items()}
    return {"set": data.name, "rows": rows, **found, "weights": dict(zip(WEIGHTS, _mean(every), strict=True))}


def _mean(scores: list[Any]) -> Any:
    """Mean over the folds."""
    return np.mean(scores, axis=0).round(4).tolist()


def table(records: list[dict[str, Any]]) -> str:
    """One row per set: log loss, and mean price in brackets."""

    def cell(pair: list[float]) -> str:
        return f"{pair[0]:.3f} ({pair[1]:.2f})"

    methods = ("default", "prices", "columns", "catboost")
    rows = [[one["set"].partition("@")[0], *(cell(one[name]) for name in methods)] for one in records]
    head = ["set", "default tree", "with prices, half", "columns, half", "CatBoost's penalties, half"]
    return markdown(head, rows)


def read() -> list[dict[str, Any]]:
    """Read the committed results."""
    return read_lines(OUT)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="folder with the data sets")
    parser.add_argument("--write", action="store_true", help="put the table into the guide")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.data is not None:
        OUT.parent.mkdir(parents=True, exist_ok=True)
        with OUT.open("w", encoding="utf-8") as file:
            for entry in index(options.data, list(PRICES), MAX_ROWS):
                file.write(json.dumps(measure(load(entry))) + "\n")
                file.flush()
    print(table(read()))
    if options.write:
        write_tables(PAGE, prices=table(read()))


if __name__ == "__main__":
    main()
