"""Passes for engines to run. A module of its own: workers in other processes import it."""

import os
import signal
import threading
import time
from pathlib import Path
from uuid import uuid4

import numpy as np


def histogram(partitions, blocks):
    """Units by their last digit, dealt to blocks by it."""
    counts = np.zeros((blocks, 10), np.int64)
    for partition in partitions:
        counts[partition % blocks, partition % 10] += 1
    return list(counts)


def listed(block, total, blocks):
    return block, total.tolist(), blocks


def as_set(partitions, shared):
    return [frozenset(partitions)]


def union(one, other):
    return one | other


def own_threads(partitions, seconds):
    """The thread that this runs in."""
    time.sleep(seconds)
    return [frozenset([threading.get_ident()])]


def joined(block, total, shared):
    return f"{shared} {block}: {sorted(total)}"


def narrow(partitions, shared):
    return [0]


def boxed(partitions, shared):
    """Counts inside a container, for a sum that works in place on what is inside."""
    return [{"counts": histogram(partitions, 1)[0]}]


def add_boxed(one, other):
    one["counts"] += other["counts"]
    return one


class BadUnitError(Exception):
    """An error of the task's own kind, with state."""

    def __init__(self, unit, where):
        super().__init__(unit, where)
        self.unit, self.where = unit, where


def fail(partitions, shared):
    for partition in partitions:
        if partition == 2:
            raise BadUnitError(partition, "fold")
    return [0]


def fail_adding(one, other):
    raise BadUnitError(-1, "combine")


def fail_at_last(block, total, shared):
    raise BadUnitError(block, "finish")


def fail_each_time(partitions, folder):
    """Leave a file for each try."""
    (Path(folder) / f"{uuid4()}").touch()
    raise BadUnitError(0, "fold")


def run_out_of_time(partitions, shared):
    raise TimeoutError("the store did not answer")


def first_try(folder, name):
    """True once for each name, whoever asks: a folder is made by one."""
    try:
        (Path(folder) / str(name)).mkdir()
    except FileExistsError:
        return False
    return True


def fail_once(partitions, folder):
    if first_try(folder, "failed"):
        raise OSError("the store is busy")
    return [len(partitions)]


def slow(partitions, seconds):
    time.sleep(seconds)
    return [len(partitions)]


def slow_number(partitions, shared):
    time.sleep(0.05)
    return [np.array([len(partitions)])]


def die_folding(partitions, folder):
    """Count, and be killed with the unit 7 at the first try."""
    if 7 in partitions and first_try(folder, "fold"):
        os.kill(os.getpid(), signal.SIGKILL)
    return histogram(partitions, 1)


def die_adding(one, other):
    """Add up in place, and be killed half-way at the first try."""
    one["counts"] += other["counts"]
    if first_try(one["folder"], "combine"):
        os.kill(os.getpid(), signal.SIGKILL)
    return one


def boxed_with_folder(partitions, folder):
    return [{"counts": histogram(partitions, 1)[0], "folder": folder}]


def die_always(partitions, shared):
    os.kill(os.getpid(), signal.SIGKILL)
