"""Weka's J48 as C4.4: unpruned, with Laplace's estimate. The Java machine starts once a process, through JPype."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.quality.studies.methods import Group, Outcome, timed
from benchmarks.quality.studies.sets import Fold, StudySet

ARCHIVE = Path(os.environ.get("WEKA_JAR", "/usr/share/java/weka.jar"))
OPTIONS = "-U -A"


@lru_cache(maxsize=1)
def java() -> Any:
    """The running machine, with one thread for its own chores."""
    import jpype

    if not ARCHIVE.exists():
        raise FileNotFoundError(f"no Weka at {ARCHIVE}; name the archive in WEKA_JAR")
    quiet = ("-XX:+UseSerialGC", "-XX:CICompilerCount=2", "-Xmx3g", "-Djava.awt.headless=true")
    jpype.startJVM(jpype.getDefaultJVMPath(), *quiet, classpath=[str(ARCHIVE)])
    return jpype


@lru_cache(maxsize=1)
def instances(data: StudySet) -> Any:
    """All rows as Weka reads them."""
    jpype = java()
    reader = jpype.JClass("java.io.StringReader")(arff(data))
    rows = jpype.JClass("weka.core.Instances")(reader)
    rows.setClassIndex(rows.numAttributes() - 1)
    return rows


def run(fold: Fold, wanted: frozenset[str]) -> Iterator[Outcome]:
    """J48 on the same rows; it knows all classes and values, as Weka's header declares them."""
    jpype = java()
    rows = instances(fold.data)
    train = jpype.JClass("weka.core.Instances")(rows, len(fold.train))
    for row in fold.train.tolist():
        train.add(rows.instance(row))
    tree = jpype.JClass("weka.classifiers.trees.J48")()
    tree.setOptions(OPTIONS.split())
    _, seconds = timed(lambda: tree.buildClassifier(train))
    said = np.array([tree.distributionForInstance(rows.instance(row)) for row in fold.test.tolist()])
    yield Outcome("j48", said, seconds, int(tree.measureTreeSize()))


def arff(data: StudySet) -> str:
    """A set in Weka's own format; numbers are written so that they read back as the same double."""
    header, cells = [], []
    for i, (_, column) in enumerate(data.X.items()):
        if isinstance(column.dtype, pd.CategoricalDtype):
            values = [f"v{code}" for code in range(len(column.cat.categories))]
            header.append(f"@attribute a{i} {{{','.join(values)}}}")
            cells.append(np.array([*values, "?"])[column.cat.codes.to_numpy()].tolist())
        else:
            header.append(f"@attribute a{i} numeric")
            cells.append(
                ["?" if value != value else repr(value) for value in column.to_numpy(float).tolist()]
            )
    header.append(f"@attribute class {{{','.join(f'c{k}' for k in range(len(data.classes)))}}}")
    cells.append([f"c{code}" for code in data.y.tolist()])
    lines = [",".join(row) for row in zip(*cells, strict=True)]
    return "\n".join(["@relation set", *header, "@data", *lines, ""])


J48 = Group("weka", ("j48",), run)
