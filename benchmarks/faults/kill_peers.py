"""One run of `kills.py` for a peer: train through its Dask interface, and kill a worker on the way.

    python -m benchmarks.faults.kill_peers lightgbm ROWS PATIENCE SEED

prints a line of JSON with the outcome: ``same model``, ``another model``, ``error`` or `no answer`.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import sys
import threading
import time
from typing import Any

import dask.dataframe
from distributed import Client

from benchmarks.faults.disturbed_fit import FEATURES, cluster, kill_one, warm

ROUNDS = 100  # long enough to be killed in the midst of it


def train_lightgbm(client: Client, X: Any, y: Any) -> str:
    from lightgbm.dask import DaskLGBMClassifier

    model = DaskLGBMClassifier(client=client, n_estimators=ROUNDS, n_jobs=1, verbose=-1, deterministic=True)
    return str(model.fit(X, y).booster_.model_to_string())


def train_xgboost(client: Client, X: Any, y: Any) -> str:
    from xgboost import dask as xgboost

    settings = {"tree_method": "hist", "max_depth": 6, "objective": "binary:logistic", "nthread": 1}
    rows = xgboost.DaskDMatrix(client, X, y)
    told = xgboost.train(client, settings, rows, num_boost_round=ROUNDS)
    return str(told["booster"].save_raw("json"))


TRAIN = {"lightgbm": train_lightgbm, "xgboost": train_xgboost}


def answer(train: Any, client: Client, X: Any, y: Any) -> str:
    try:
        return hashlib.sha256(train(client, X, y).encode()).hexdigest()
    except Exception as error:
        return f"error: {type(error).__name__}: {str(error).splitlines()[0]}"[:160]


def main(name: str, rows: str, patience: str, seed: str) -> None:
    rng = random.Random(seed)
    with cluster() as client:
        warm(client)
        frame = dask.dataframe.read_parquet(rows).persist()
        X, y = frame[[f"x{f}" for f in range(FEATURES)]], frame["y"]
        for _ in range(2):  # the first time everything is imported
            begin = time.perf_counter()
            reference = answer(TRAIN[name], client, X, y)
            seconds = time.perf_counter() - begin
        found: list[str] = []
        trainer = threading.Thread(
            target=lambda: found.append(answer(TRAIN[name], client, X, y)), daemon=True
        )
        begin = time.perf_counter()
        trainer.start()
        delay = rng.uniform(0.2, 0.9) * seconds
        time.sleep(delay)
        kill_one(client, rng)
        trainer.join(float(patience))
        took = time.perf_counter() - begin
        outcome = found[0] if found else f"no answer: after {took:.0f} s"
        if not outcome.startswith(("error", "no answer")):
            outcome = "same model" if outcome == reference else "another model"
        told = {"outcome": outcome, "undisturbed": round(seconds, 2), "killed_after": round(delay, 2)}
        print(json.dumps(told | {"seconds": round(took, 2)}), flush=True)
        os._exit(0)  # a trainer that hangs would hold us


if __name__ == "__main__":
    main(*sys.argv[1:])
