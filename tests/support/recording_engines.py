"""Engines that look on, or that treat parts as a cluster would."""

import pickle
from operator import iadd

import numpy as np

from hornbeam.data.engine import LocalEngine

__all__ = ["Counting", "Measuring", "Travelling", "sent"]


class Counting:
    """A local engine that counts its reductions."""

    def __init__(self, engine=None) -> None:
        self.engine = LocalEngine() if engine is None else engine
        self.n_calls = 0

    @property
    def parallelism(self) -> int:
        return self.engine.parallelism

    def reduce(self, *arguments, **options):
        self.n_calls += 1
        return self.engine.reduce(*arguments, **options)

    def close(self) -> None:
        self.engine.close()


class Measuring(Counting):
    """A local engine that measures the arrays each task hands on, reduction by reduction."""

    def __init__(self, engine=None) -> None:
        super().__init__(engine)
        self.task_bytes: list[list[int]] = []

    def reduce(self, task, partitions, shared, **options):
        sizes: list[int] = []

        def weighed(partitions, shared):
            parts = task(partitions, shared)
            sizes.append(n_bytes(parts))
            return parts

        self.task_bytes.append(sizes)
        return super().reduce(weighed, partitions, shared, **options)


class Travelling:
    """As a cluster: some tasks get no partitions, whatever is handed on is pickled, and blocks are finished apart."""

    def __init__(self, parallelism: int = 3) -> None:
        self.parallelism = parallelism

    def reduce(self, task, partitions, shared, *, combine=iadd, blocks=1, finish=None):
        groups = [partitions[::3], [], partitions[1::3], partitions[2::3]]
        parts = [sent(task)(sent(group), sent(shared)) for group in groups]
        results = []
        for block in range(blocks):
            total = sent(parts[0][block])
            for part in parts[1:]:
                total = combine(total, sent(part[block]))
            results.append(sent(total if finish is None else sent(finish)(block, total, sent(shared))))
        return results

    def close(self) -> None:
        """Nothing to give back."""


def sent(thing):
    """What arrives at the other end."""
    return pickle.loads(pickle.dumps(thing))


def n_bytes(thing) -> int:
    """Bytes of all arrays in lists and tuples."""
    if isinstance(thing, np.ndarray):
        return thing.nbytes
    return sum(map(n_bytes, thing)) if isinstance(thing, list | tuple) else 0
