"""The benchmarks that run in one process, where peers take turns: grow, bin, predict, small, threads."""

from __future__ import annotations

import subprocess
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.output import Report
from benchmarks.speed.converted_models import M2cgen, OnnxRuntime, Treelite
from benchmarks.speed.peers import (
    YDF,
    Call,
    HistGradientBoosting,
    Hornbeam,
    Job,
    LightGBM,
    Peer,
    Sklearn,
    SklearnBinned,
    SklearnGini,
    XGBoost,
    YDFHistogram,
)
from benchmarks.synthetic import Floats, Labels, make
from benchmarks.timing import Runner, Stopwatch, describe, latency, race

Facts = dict[str, object]
Peers = tuple[type[Peer], ...]

GROWERS: Peers = (
    Hornbeam, Sklearn, SklearnGini, SklearnBinned, LightGBM, XGBoost, YDF, YDFHistogram, HistGradientBoosting,
)  # fmt: skip
BINNERS: Peers = tuple(peer for peer in GROWERS if peer.bins)
PREDICTORS: Peers = (
    Hornbeam, Sklearn, LightGBM, XGBoost, YDF, HistGradientBoosting, Treelite, OnnxRuntime, M2cgen,
)  # fmt: skip
THREADED: Peers = (Hornbeam, LightGBM, XGBoost, YDFHistogram, HistGradientBoosting)
SMALL: Peers = (Hornbeam, Sklearn, SklearnGini)


def grow(options: Namespace, report: Report) -> None:
    """From the raw float64 array to the fitted tree, with binning and growing also apart."""
    X, y = make(options.rows, options.classes, options.features)

    def fit(peer: Peer, watch: Stopwatch) -> Facts:
        return {"leaves": peer.n_leaves(peer.timed_fit(X, y, watch))}

    _compare(GROWERS, fit, options, report)


def bin_(options: Namespace, report: Report) -> None:
    """From the raw float64 array to the codes or data set that the library grows on."""
    X, y = make(options.rows, options.classes, options.features)

    def bin_once(peer: Peer, watch: Stopwatch) -> Facts:
        with watch("bin"):
            peer.bin(X, y)
        return {}

    _compare(BINNERS, bin_once, options, report)


def predict(options: Namespace, report: Report) -> None:
    """Probabilities of many rows by one tree of a given size; with --single the latency of one row."""
    job = Job(options.classes, leaves=options.leaves, threads=options.threads)
    train = make(options.train_rows, options.classes, options.features)
    X, y = make(1 if options.single else options.rows, options.classes, options.features, seed=1)
    runners: dict[tuple[str | None, str], Runner] = {}
    for peer in field(PREDICTORS, options, job, report):
        try:
            with threadpool_limits(options.threads):
                model = peer.fit(*train)
            facts: Facts = {"leaves": peer.n_leaves(model)}
            if options.single:
                for way, call in peer.single(model, X).items():
                    runners[way, peer.name] = _limited(options.threads, partial(_ask, call, facts))
            else:
                score = partial(_score, peer, model, X, y, facts)
                runners[None, peer.name] = _limited(options.threads, score)
        except Exception as error:
            report.add_error(peer.name, describe(error))
    for (case, name), result in race(runners, repeats=options.repeats, patience=options.patience).items():
        if not (result.error or options.single):
            result.facts["million_rows_per_cpu_second"] = len(y) / result.best().cpu / 1e6
        report.add_result(name, result, case)


def small(options: Namespace, report: Report) -> None:
    """Latency of fitting and predicting 150 rows of 4 features, 3 classes, and 1,000 rows."""
    runners: dict[tuple[str, str], Runner] = {}
    for rows, classes, features in ((150, 3, 4), (1000, options.classes, options.features)):
        X, y = make(rows, classes, features)
        for peer in field(SMALL, options, Job(classes, options.depth), report):
            model = peer.fit(X, y)
            runners[f"fit {rows}", peer.name] = partial(_ask, partial(peer.fit, X, y), {})
            runners[f"predict {rows}", peer.name] = partial(_ask, partial(peer.predict, model, X), {})
    for (case, name), result in race(runners, repeats=options.repeats).items():
        report.add_result(name, result, case)


def threads(options: Namespace, report: Report) -> None:
    """Wall seconds of a fit with 1 and with 2 (--threads) threads, alone and beside a busy process."""
    X, y = make(options.rows, options.classes, options.features)
    runners: dict[tuple[str, int], Runner] = {}
    for n in (1, options.threads):
        for peer in field(THREADED, options, Job(options.classes, options.depth, threads=n), report):
            runners[peer.name, n] = _limited(n, partial(_fit, peer, X, y))
    for company, neighbour in (("idle", nullcontext), ("busy", _busy_neighbour)):
        with neighbour():
            results = race(runners, repeats=options.repeats, patience=options.patience)
        for (name, n), result in results.items():
            report.add_result(name, result, f"{company} x{n}")


def field(peers: Peers, options: Namespace, job: Job, report: Report) -> list[Peer]:
    """The chosen peers that can start, each warmed up on a few rows; the others are reported."""
    ready = []
    for kind in chosen(peers, options.peers):
        try:
            peer = kind(job)
            with threadpool_limits(job.threads):
                peer.fit(*make(500, job.classes, options.features))
            ready.append(peer)
        except Exception as error:
            report.add_error(kind.name, describe(error))
    return ready


def chosen(peers: Peers, names: list[str] | None) -> Peers:
    """The peers that were asked for: "ydf" stands for every peer whose name starts so."""
    return tuple(peer for peer in peers if not names or any(peer.name.startswith(name) for name in names))


def _compare(
    peers: Peers, run: Callable[[Peer, Stopwatch], Facts], options: Namespace, report: Report
) -> None:
    job = Job(options.classes, options.depth, threads=options.threads)
    ready = field(peers, options, job, report)
    runners = {peer.name: _limited(job.threads, partial(run, peer)) for peer in ready}
    for name, result in race(runners, repeats=options.repeats, patience=options.patience).items():
        report.add_result(name, result)


def _limited(n: int, runner: Runner) -> Runner:
    """Cap the native thread pools too: not every library has a setting of its own."""

    def run(watch: Stopwatch) -> Facts:
        with threadpool_limits(n):
            return runner(watch)

    return run


def _fit(peer: Peer, X: Floats, y: Labels, watch: Stopwatch) -> Facts:
    with watch("fit"):
        peer.fit(X, y)
    return {}


def _ask(call: Call, facts: Facts, watch: Stopwatch) -> Facts:
    watch.record("call", latency(call))
    return facts


def _score(peer: Peer, model: Any, X: Floats, y: Labels, facts: Facts, watch: Stopwatch) -> Facts:
    with watch("predict"):
        found = peer.predict(model, X)
    return {**facts, "accuracy": _accuracy(np.asarray(found), y)}


def _accuracy(found: Floats, y: Labels) -> float:
    """Share of right predictions, which shows that every peer did the same work."""
    found = found.reshape(len(y), -1)
    winner = found[:, 0] > 0.5 if found.shape[1] == 1 else found.argmax(axis=1)
    return float(np.mean(winner == y))


@contextmanager
def _busy_neighbour() -> Iterator[None]:
    neighbour = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        neighbour.kill()
        neighbour.wait()
