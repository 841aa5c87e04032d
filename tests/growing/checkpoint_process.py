"""A process that grows one tree with a checkpoint and prints its digest; the test kills it."""

import sys
import time

import numpy as np

from hornbeam.data.encoded_rows import EncodedRows
from hornbeam.data.engine import LocalEngine
from hornbeam.growing.grower import Grower
from hornbeam.kernels.subtree import Rows
from support.strategies_growing import bins_of, random_table

__all__ = ["SlowRows", "main"]


class SlowRows(EncodedRows):
    """Rows that are slow to read, so that the process can be killed during a pass."""

    __slots__ = ()

    def read(self, unit):
        time.sleep(0.002)
        return super().read(unit)


def main(checkpoint: str) -> None:
    """Print a line when work begins, grow the tree, and print its digest."""
    table = random_table(5, n_rows=400, noise=0.8, weights="whole")
    bins = bins_of(table)
    source = SlowRows(Rows(bins.encode(table), table.target.astype(np.uint16), table.weight), block=50)
    print("growing", flush=True)
    # A small budget, for many passes: batches, blocks, and rounds of small nodes.
    tree = Grower().grow_by_level(
        source, bins, table.schema, LocalEngine(), gather_rows=30, budget=4000, checkpoint=checkpoint
    )
    print(tree.digest, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
