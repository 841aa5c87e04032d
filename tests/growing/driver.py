"""A process that grows one tree with a checkpoint and prints its digest: made to be killed."""

import sys
import time

import numpy as np

from hornbeam.data import LocalEngine
from hornbeam.data.encoded_rows import EncodedRows
from hornbeam.growing import Grower
from hornbeam.kernels.subtree import Rows
from strategies_growing import bins_of, random_table

__all__ = ["SlowRows", "main"]


class SlowRows(EncodedRows):
    """Rows that take their time, so that there is a moment to die in."""

    __slots__ = ()

    def read(self, unit):
        time.sleep(0.002)
        return super().read(unit)


def main(checkpoint: str) -> None:
    """Grow the tree, tell when work begins, and print the digest."""
    table = random_table(5, n_rows=400, noise=0.8, weights="whole")
    bins = bins_of(table)
    source = SlowRows(Rows(bins.encode(table), table.target.astype(np.uint16), table.weight), block=50)
    print("growing", flush=True)
    # A small budget, for many passes: batches, blocks, and rounds of small nodes.
    tree = Grower().grow_by_level(
        source, bins, table.schema, LocalEngine(), home_rows=30, budget=4000, checkpoint=checkpoint
    )
    print(tree.digest, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
