"""Damaged model files, made and loaded by the thousand: each must be refused, or be sound.

Mutants are made and loaded in worker processes, so that a crash, a hang (a second of processor time) or a hunger for
memory is counted and its mutant named, not suffered.
"""

from __future__ import annotations

import json
import mmap
import os
import resource
import signal
import struct
import time
from typing import Any

import numpy as np

from hornbeam.data.schema import Kind
from hornbeam.data.table import Table
from hornbeam.errors import StorageError
from hornbeam.estimators.shelf import pack, unpack
from hornbeam.storage import Grove, Model
from hornbeam.storage.file import decode, encode
from hornbeam.tree.route import answer
from hornbeam.typing import Floats
from hostility.mutations import mutant

PATIENCE = 1.0  # seconds of processor time for one mutant
BATCH = 500  # mutants a worker makes before it reports


def predict(model: Model | Grove) -> None:
    """Answer some rows; the answers must be numbers, and the model must be one that can be saved again."""
    schema = model.schema
    rng = np.random.default_rng(0)
    columns = []
    for feature in schema.features:
        size = len(feature.categories)
        if feature.kind is Kind.NOMINAL:
            columns.append(rng.integers(-2, size, 16, dtype=np.int32))
        else:
            columns.append(rng.choice([0.0, 1.0, 2.0, 1e300, -np.inf, np.inf, np.nan], 16))
    for tree in model.trees if columns else ():
        check(answer(tree, Table(schema, tuple(columns), None, None, 1.0, None)), not schema.is_measured)
    estimator = unpack(model)
    if model.estimator is not None and schema.is_numeric:
        classes = hasattr(estimator, "predict_proba")
        rows = np.zeros((2, schema.n_features))
        with np.errstate(over="ignore"):  # a mean that is an exponential may be larger than any number
            answers = estimator.predict_proba(rows) if classes else estimator.predict(rows)[:, None]
        assert classes or not np.isnan(answers).any(), "answers that are no numbers"
        if classes:
            check(answers, True)
    again = decode(encode(pack(estimator)))
    assert [tree.digest for tree in again.trees] == [tree.digest for tree in model.trees], (
        "not the same model once saved and loaded again"
    )


def check(answers: Floats, probabilities: bool) -> None:
    assert np.isfinite(answers).all(), "answers that are no numbers"
    if probabilities:
        assert np.abs(answers.sum(axis=1) - 1).max() < 1e-6, "answers that do not add up to 1"
        assert (answers >= 0).all(), "answers below 0"


def judge(data: bytes) -> str:
    try:
        model = decode(data)
        unpack(model)
    except StorageError:
        return "refused"
    predict(model)
    return "sound"


def work(seeds: range, progress: mmap.mmap, pipe: int) -> None:
    """In a worker: judge mutants, and keep where we are in memory that outlives us."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)  # the kernel ends what no Python handler could interrupt
    counts: dict[str, int] = {}
    slowest, bad = 0.0, []
    for seed in seeds:
        struct.pack_into("<q", progress, 0, seed)
        name, data = mutant(seed)
        signal.setitimer(signal.ITIMER_PROF, PATIENCE)
        begin = time.process_time()
        try:
            verdict = judge(data)
        except BaseException as error:
            verdict = "undeclared"
            bad.append(f"seed {seed} ({name}): {type(error).__name__}: {error}"[:300])
        slowest = max(slowest, time.process_time() - begin)
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        for key in (verdict, f"{name} {verdict}"):
            counts[key] = counts.get(key, 0) + 1
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    report = {"counts": counts, "slowest": slowest, "bad": bad, "peak": peak}
    with os.fdopen(pipe, "w") as out:
        json.dump(report, out)


class Worker:
    """A forked process with some seeds; it may die, and then says at which."""

    def __init__(self, seeds: range) -> None:
        self.seeds = seeds
        self.progress = mmap.mmap(-1, 8)
        struct.pack_into("<q", self.progress, 0, seeds.start)
        self.pipe, theirs = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            status = 1
            try:
                os.close(self.pipe)
                work(seeds, self.progress, theirs)
                status = 0
            finally:
                os._exit(status)
        os.close(theirs)

    def wait(self) -> tuple[dict, range]:
        """What it found, and the seeds that are left if it died."""
        with os.fdopen(self.pipe) as report:
            text = report.read()
        _, status = os.waitpid(self.pid, 0)
        if text and status == 0:
            return json.loads(text), range(0)
        (at,) = struct.unpack_from("<q", self.progress, 0)
        number = os.waitstatus_to_exitcode(status)
        kind = "hang" if number == -signal.SIGPROF else "crash"
        what = f"seed {at} ({mutant(at)[0]}): {kind}, exit status {number}"
        return {"counts": {kind: 1}, "bad": [what]}, range(at + 1, self.seeds.stop)


def mutants(n: int, first: int, workers: int, memory: float = 256) -> dict[str, Any]:
    """Judge mutants from the seed `first` on; a worker may grow to `memory` MB."""
    wall, spent = time.perf_counter(), _processor_seconds()
    batches = [range(at, min(at + BATCH, first + n)) for at in range(first, first + n, BATCH)]
    running: list[Worker] = []
    counts: dict[str, int] = {}
    bad: list[str] = []
    slowest = peak = 0.0
    while batches or running:
        while batches and len(running) < workers:
            running.append(Worker(batches.pop(0)))
        report, left = running.pop(0).wait()
        if left:
            batches.insert(0, left)
        for name, count in report["counts"].items():
            counts[name] = counts.get(name, 0) + count
        bad += report["bad"]
        slowest, peak = max(slowest, report.get("slowest", 0.0)), max(peak, report.get("peak", 0.0))
    verdicts = {name: counts.get(name, 0) for name in ("refused", "sound", "undeclared", "crash", "hang")}
    return {
        "bench": "mutants",
        "n": n,
        "workers": workers,
        **verdicts,
        "bad": bad,
        "seconds": time.perf_counter() - wall,
        "processor_seconds": _processor_seconds() - spent,
        "slowest_ms": 1000 * slowest,
        "peak_mb": peak,
        "ways": {name: counts[name] for name in sorted(counts) if " " in name},
        "passed": not bad and peak < memory,
    }


def _processor_seconds() -> float:
    """Of this process and of all its children that have ended."""
    spent = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in spent)
