"""Damaged model files and killed savers: what a loader and a saver must survive.

    python benchmarks/hostile.py mutants --n 100000      # 0 crashes, 0 hangs, only StorageError
    python benchmarks/hostile.py kills --n 300           # the old file or the new one, never a broken one

Mutants are made and loaded in worker processes, so that a crash, a hang (a second of processor time) or a hunger for
memory is counted and its mutant named, not suffered: ``--only SEED`` makes that one again. Exit status 1 if
anything but a sound model or a `StorageError` was seen.
"""

from __future__ import annotations

import argparse
import json
import mmap
import os
import random
import re
import resource
import signal
import struct
import sys
import tempfile
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np

import hornbeam
from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.data.table import Table
from hornbeam.errors import StorageError
from hornbeam.estimators.shelf import pack, unpack
from hornbeam.recipe import PRESETS, Recipe
from hornbeam.storage import Model
from hornbeam.storage.file import decode, encode
from hornbeam.tree.route import answer

PATIENCE = 1.0  # seconds of processor time for one mutant
BATCH = 500  # mutants a worker makes before it reports


# ------------------------------------------------------------------------------------------------ what is damaged


def models() -> list[Model]:
    """Small models with every kind of test, label and setting."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 20, (120, 4)) / 4
    X[rng.random(X.shape) < 0.1] = np.nan
    y = np.nan_to_num(X[:, 0] + X[:, 1] > 5).astype(int)
    nominal = tuple(f"category {c}" for c in range(6))
    features = (
        Feature("x"),
        Feature("colour", Kind.NOMINAL, nominal),
        Feature("size", Kind.ORDINAL, (1, 2.5, True + 3)),
    )
    columns = (
        rng.choice([0.0, 1.5, 2.0, np.inf, np.nan], 200),
        rng.integers(-1, 6, 200, dtype=np.int32),
        rng.choice([0.0, 1.0, 2.0, np.nan], 200),
    )
    target = rng.integers(0, 3, 200, dtype=np.int32)
    mixed = Table(Schema(features, ("a", "b", "ü")), columns, target, None, 1.0, None)
    few = {"max_depth": 4}
    return [
        pack(hornbeam.TreeClassifier(**few).fit(X, y)),
        pack(
            hornbeam.TreeClassifier("c4.5", smoothing=hornbeam.smoothing.HGS(2.0), **few).fit(
                X, y.astype(str)
            )
        ),
        pack(hornbeam.TreeClassifier("cart", class_weight={0: 1.0, 1: 2.5}, **few).fit(X, y)),
        *(Model(small(PRESETS[name]).fit(mixed)) for name in ("pet", "c4.5", "cart")),
        Model(PRESETS["pet"].fit(Table.read([[0.0]], ["only"]))),
    ]


def small(recipe: Recipe) -> Recipe:
    return replace(recipe, grower=replace(recipe.grower, max_depth=3))


def files() -> list[bytes]:
    """Each model as text and as tensors, with its fingerprint and, so that damage gets further, without."""
    sound = [encode(model, as_tensors=tensors) for model in models() for tensors in (False, True)]
    return sound + [unsigned(data) for data in sound]


def unsigned(data: bytes) -> bytes:
    if data[:1] == b"{":
        return re.sub(rb' *"sha256": "[0-9a-f]+",\n', b"", data)
    length = int.from_bytes(data[:8], "little")
    head = re.sub(rb'\\"sha256\\": \\"[0-9a-f]+\\", ', b"", data[8 : 8 + length])
    return len(head).to_bytes(8, "little") + head + data[8 + length :]


# --------------------------------------------------------------------------------------------------- how it is damaged

WORDS = [
    b"null",
    b"true",
    b"NaN",
    b"Infinity",
    b"-1",
    b"1e999",
    b"1.5",
    b'"x"',
    b"[]",
    b"{}",
    b"-0.0",
    b"0",
    b"2",
    b'"inf"',
]
GIANTS = [
    b"2147483647",
    b"-2147483648",
    b"4294967296",
    b"9223372036854775807",
    b"18446744073709551615",
    b"9" * 400,
    b"1e308",
]


def flip_bits(data: bytearray, rng: random.Random) -> None:
    for _ in range(rng.choice([1, 1, 2, 8])):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def number(data: bytearray, rng: random.Random) -> re.Match[bytes] | None:
    return re.compile(rb"-?[0-9]+").search(data, rng.randrange(len(data)))


def swap_digits(data: bytearray, rng: random.Random) -> None:
    for _ in range(rng.choice([1, 1, 3])):
        if found := number(data, rng):
            at = rng.randrange(*found.span())
            data[at] = rng.choice(b"0123456789")


def replace_number(data: bytearray, rng: random.Random) -> None:
    if found := number(data, rng):
        data[found.start() : found.end()] = rng.choice(WORDS)


def make_giant(data: bytearray, rng: random.Random) -> None:
    counts = list(re.finditer(rb'"n_[a-z]+\\?": *([0-9]+)|"(?:shape|data_offsets)": *\[([0-9]+)', data))
    found = rng.choice(counts) if counts and rng.random() < 0.5 else number(data, rng)
    if found:
        group = found.lastindex or 0
        data[found.start(group) : found.end(group)] = rng.choice(GIANTS)


def truncate(data: bytearray, rng: random.Random) -> None:
    del data[rng.randrange(len(data)) :]


def cut_out(data: bytearray, rng: random.Random) -> None:
    begin = rng.randrange(len(data))
    del data[begin : begin + rng.choice([1, 2, 8, 100])]


def splice(data: bytearray, rng: random.Random) -> None:
    other = rng.choice(FILES)
    begin, at = rng.randrange(len(other)), rng.randrange(len(data))
    length = rng.choice([1, 8, 64, len(other)])
    data[at : at + rng.choice([0, length])] = other[begin : begin + length]


def repeat_line(data: bytearray, rng: random.Random) -> None:
    """A key again, with the same value or another's."""
    lines = data.split(b"\n")
    source, target = rng.randrange(len(lines)), rng.randrange(len(lines))
    line = lines[source]
    if rng.random() < 0.5 and b": " in lines[target]:
        line = lines[target].partition(b": ")[0] + b": " + rng.choice(WORDS) + b","
    lines.insert(target, line)
    data[:] = b"\n".join(lines)


def swap_lines(data: bytearray, rng: random.Random) -> None:
    lines = data.split(b"\n")
    one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    data[:] = b"\n".join(lines)


def nest(data: bytearray, rng: random.Random) -> None:
    at, opening = rng.randrange(len(data)), rng.choice([b"[", b'{"a":'])
    data[at:at] = opening * rng.choice([1, 20, 5000])


def disturb_array(data: bytearray, rng: random.Random) -> None:
    """Eight bytes of a tensor, or a number of a text, become another number of this file."""
    if data[:1] == b"{":
        one, other = number(data, rng), number(data, rng)
        if one and other:
            data[one.start() : one.end()] = bytes(other[0])
        return
    body = 8 + int.from_bytes(data[:8], "little")
    if body + 16 < len(data):
        at = rng.randrange(body, len(data) - 8) // 4 * 4
        value = rng.choice(
            [0, 1, -1, 2**31 - 1, 2**62, 2**63 - 1, -(2**63), 0x7FF0000000000000, 0x7FF8000000000000]
        )
        data[at : at + 8] = struct.pack("<q", value)


MUTATIONS = [
    flip_bits,
    swap_digits,
    replace_number,
    make_giant,
    truncate,
    cut_out,
    splice,
    repeat_line,
    swap_lines,
    nest,
    disturb_array,
]
FILES: list[bytes] = []


def mutant(seed: int) -> tuple[str, bytes]:
    rng = random.Random(seed)
    data = bytearray(rng.choice(FILES))
    mutate = rng.choice(MUTATIONS)
    mutate(data, rng)
    if rng.random() < 0.1 and data:
        flip_bits(data, rng)
    return mutate.__name__, bytes(data)


# ------------------------------------------------------------------------------------------------------ what is asked


def predict(model: Model) -> None:
    """Answer some rows; the answers must be probabilities, and the model must be one that can be saved again."""
    tree = model.tree
    rng = np.random.default_rng(0)
    columns = []
    for feature in tree.schema.features:
        size = len(feature.categories)
        if feature.kind is Kind.NOMINAL:
            columns.append(rng.integers(-2, size, 16, dtype=np.int32))
        else:
            columns.append(rng.choice([0.0, 1.0, 2.0, 1e300, -np.inf, np.inf, np.nan], 16))
    if columns:
        answers = answer(tree, Table(tree.schema, tuple(columns), None, None, 1.0, None))
        assert np.isfinite(answers).all(), "answers that are no numbers"
        assert np.abs(answers.sum(axis=1) - 1).max() < 1e-6, "answers that do not add up to 1"
        assert (answers >= 0).all(), "answers below 0"
    estimator = unpack(model)
    if estimator is not tree and tree.schema.is_numeric:
        estimator.predict_proba(np.zeros((2, tree.schema.n_features)))
    again = decode(encode(pack(estimator)))
    assert again.tree.digest == tree.digest, "not the same model once saved and loaded again"


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


def mutants(n: int, first: int, workers: int, memory: float = 256) -> bool:
    begin = time.perf_counter()
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
    for name in sorted(name for name in counts if " " in name):
        print(f"  {name:<28}{counts[name]:>8,}")
    print(*bad[:20], sep="\n")
    seconds = time.perf_counter() - begin
    print(
        f"{n:,} mutants in {seconds:.1f} s: {counts.get('refused', 0):,} refused, {counts.get('sound', 0):,} sound, "
        f"{counts.get('undeclared', 0)} undeclared errors, {counts.get('crash', 0)} crashes, "
        f"{counts.get('hang', 0)} hangs; slowest {1000 * slowest:.0f} ms, largest process {peak:.0f} MB"
    )
    return not bad and peak < memory


# ------------------------------------------------------------------------------------------------------------ savers


def kills(n: int, seed: int = 0) -> bool:
    """Kill processes that save to one path, one after the other; what is there must always load."""
    rng = random.Random(seed)
    numbers = np.random.default_rng(seed)
    X, y = numbers.random((1500, 5)), numbers.integers(0, 3, 1500)
    fits = [hornbeam.TreeClassifier(smoothing=None).fit(X[begin:], y[begin:]) for begin in (0, 700)]
    digests = [fit.tree_.digest for fit in fits]
    seen: dict[str, int] = {}
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        for round_ in range(n):
            path = Path(folder) / ("model.safetensors" if round_ % 3 == 0 else "model.hornbeam")
            if not path.exists():
                hornbeam.save(fits[0], path)
            child = os.fork()
            if child == 0:
                try:
                    turn = 0
                    while True:
                        turn += 1
                        hornbeam.save(fits[turn % 2], path)
                finally:
                    os._exit(1)
            time.sleep(rng.random() * 0.1)
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            try:
                found = "sound" if hornbeam.load(path).tree_.digest in digests else "other"
            except (StorageError, OSError) as error:
                found = f"broken: {error}"
            seen[found] = seen.get(found, 0) + 1
        stray = len(list(Path(folder).iterdir())) - len(list(Path(folder).glob("model.*")))
    print(f"{n} kills in {time.perf_counter() - begin:.1f} s: {seen}, {stray} stray files for 2 paths")
    return set(seen) == {"sound"} and stray <= 2


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["mutants", "kills"])
    parser.add_argument("--n", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--memory", type=float, default=256, help="MB a worker may grow to")
    parser.add_argument("--only", type=int, help="judge the mutant of this seed, here")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # of forking, of column names: not what is asked here
    if arguments.what == "kills":
        return not kills(arguments.n, arguments.seed)
    FILES.extend(files())
    if arguments.only is not None:
        name, data = mutant(arguments.only)
        print(name, data[:2000], judge(data))
        return 0
    return not mutants(arguments.n, arguments.seed, arguments.workers, arguments.memory)


if __name__ == "__main__":
    sys.exit(main())
