"""The study of rules on a small set, stopped and taken up again."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from benchmarks.quality import rules as study
from benchmarks.quality.studies import j48
from benchmarks.quality.studies.sets import Fold, index, load

from hornbeam import RuleClassifier, TreeClassifier


@pytest.fixture
def options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Namespace:
    """A noisy set of two classes, and no Weka."""
    monkeypatch.setattr(j48, "ARCHIVE", tmp_path / "no.jar")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.random(80).round(2), "c": pd.Categorical(rng.choice(["u", "v"], 80))})
    said = (frame["a"] > 0.5).to_numpy() ^ (rng.random(80) < 0.15)
    frame["target"] = pd.Categorical.from_codes(said.astype(int), ["no", "yes"])
    frame.to_parquet(tmp_path / "noisy.parquet")
    (tmp_path / "index.csv").write_text("name,n_instances,n_classes,file\nnoisy,80,2,noisy.parquet\n")
    return Namespace(data=tmp_path, out=tmp_path / "out", sets=None, max_rows=3000, folds=2)


def test_it_counts_what_the_estimators_get_wrong(options: Namespace):
    fold = Fold(load(index(options.data)[0]), 0)
    found = {record["method"]: record for record in study.run(fold)}
    assert list(found) == ["tree", "pruned", "rules"]
    (train, test), y = fold.frames(), fold.y_train
    grown, pruned = TreeClassifier("c4.5", pruning="collapse"), TreeClassifier("c4.5")
    for method, estimator in (("tree", grown), ("pruned", pruned), ("rules", RuleClassifier())):
        fitted = estimator.fit(train, y)
        assert found[method]["errors"] == (fitted.predict(test) != fold.y_test).sum()
    assert found["tree"]["rules"] == grown.tree_.n_leaves


def test_it_goes_on_where_it_was_stopped(options: Namespace):
    study.study(Namespace(**vars(options) | {"folds": 1}))
    first = (options.out / "rules.jsonl").read_text(encoding="utf-8")
    study.study(options)
    lines = (options.out / "rules.jsonl").read_text(encoding="utf-8")
    assert lines.startswith(first)
    assert [json.loads(line)["fold"] for line in lines.splitlines()] == [0, 0, 0, 1, 1, 1]
    told = study.report(study.read(options.out / "rules.jsonl"))
    assert told.startswith("1 sets")
    assert "| rules | 1 |" in told
