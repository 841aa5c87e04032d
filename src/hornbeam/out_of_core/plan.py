"""The plan of a fit: in memory, on a sample, or level by level on all rows."""

from dataclasses import dataclass
from typing import Literal

from hornbeam.data.engine import Engine, LocalEngine
from hornbeam.data.sources import Source
from hornbeam.errors import ParameterError
from hornbeam.logger import bytes_text, logger
from hornbeam.recipe import FitLimits, Fitter

MEMORY = 1 << 29  # default limit of the bytes of rows in this process: 512 MB
_MANY_ROWS = 20_000_000  # above, the tree is grown on a sample, and all rows are counted
_MOST_SAMPLED = 5_000_000

# Measured by benchmarks/scale/memory.py: bytes of the process, and copies of the rows during reading and growing.
_IMPORTS = 200_000_000
_READING, _IN_MEMORY, _IN_FOREST = 4.5, 2.5, 4.5


@dataclass(frozen=True, slots=True)
class Plan:
    """The number of rows that a tree is grown on, and where they are.

    Parameters
    ----------
    mode : {"in-memory", "sample", "level-wise"}
        All rows are read into memory; or a sample is, and all rows are counted; or all stay with the engine, and the
        tree is grown level by level.
    rows : int
        Number of rows that the tree is grown on.
    memory : int
        Maximum bytes of rows in this process.

    Notes
    -----
    In memory a row takes 8 bytes per numeric feature, 4 per nominal feature, and 12 for its class and weight (16 for a
    numeric target and weight). During growing its codes take another byte per feature (two with more than 255 codes).
    Rows that fit `memory` are read into memory. Otherwise

    - up to 20 million rows are all grown on, level by level: it takes minutes;
    - with more rows, 5 million are grown on, or as many as fit: the splits of a tree need far fewer rows than its
      probabilities, and these are counted on every row.

    Fits that cannot be done level by level use a sample, whatever the number of rows: forests, and trees with a pruner
    chosen by cross-validation, a pruner that uses the training rows (`ErrorBased` that raises branches), or fractional
    rows; and trees with a teacher, which uses 20,000 rows at most.

    Examples
    --------
    >>> from hornbeam.data.sources import MemorySource
    >>> from hornbeam.tree import Table
    >>> from hornbeam.recipe import PRESETS
    >>> source = MemorySource(Table.read([[1.0], [2.0], [3.0]], ["a", "b", "b"]))
    >>> Plan.of(source, PRESETS["cart"])
    Plan(mode='in-memory', rows=3, memory=536870912)
    >>> Plan.of(source, PRESETS["cart"], memory=50).mode, Plan.of(source, PRESETS["cart"], 2).mode
    ('level-wise', 'sample')
    """

    mode: Literal["in-memory", "sample", "level-wise"]
    rows: int
    memory: int

    @classmethod
    def of(
        cls, source: Source, fitter: Fitter | None, grow_rows: int | None = None, memory: int | None = None
    ) -> "Plan":
        """Decide on the plan of a fit.

        Parameters
        ----------
        source : Source
        fitter : Recipe, CrossValidated, CrossFitted or None
            None: a forest.
        grow_rows : int, optional
            Grow on a sample of this many rows, then count all; on all rows, if there are no more. Default: all rows
            if they fit `memory` or are at most 20 million, a sample otherwise.
        memory : int, optional
            Maximum bytes of rows in this process; 2**29 by default on every machine, so that the tree does not
            depend on it.

        Raises
        ------
        ParameterError
            If all rows are to be grown on, do not fit memory, and the fit needs them in memory.
        """
        if grow_rows is not None and grow_rows < 1:
            raise ParameterError(
                f"grow_rows={grow_rows}: expected at least 1 row, or None to leave it to size."
            )
        memory = MEMORY if memory is None else memory
        fitting = max(1, memory // bytes_per_row(source))
        if grow_rows is not None and grow_rows < source.n_rows:
            return cls("sample", grow_rows, memory)
        if source.n_rows <= fitting:
            return cls("in-memory", source.n_rows, memory)
        limits = FitLimits("a forest") if fitter is None else fitter.limits
        sampled = min(fitting, limits.rows_to_grow or _MOST_SAMPLED)
        if grow_rows is None:
            if limits.needs_memory is not None or source.n_rows > _MANY_ROWS:
                return cls("sample", sampled, memory)
        elif limits.needs_memory is not None:
            raise ParameterError(
                f"grow_rows={grow_rows}: {limits.needs_memory} needs all rows in memory, and {source.n_rows:,} rows "
                f"do not fit {memory:,} bytes; expected fewer. Pass grow_rows={sampled}, or more memory."
            )
        return cls("level-wise", source.n_rows, memory)

    def peak(self, source: Source, n_threads: int = 1, *, forest: bool = False) -> int:
        """Estimate the largest memory of this process during the fit, in bytes, without the unpruned tree.

        Examples
        --------
        >>> from hornbeam.data.sources import MemorySource
        >>> from hornbeam.tree import Table
        >>> source = MemorySource(Table.read([[1.0], [2.0]], ["a", "b"]))
        >>> Plan("sample", 1_000_000, 2**29).peak(source)
        250000180
        """
        width = bytes_per_row(source)
        largest = max(partition.n_rows for partition in source.partitions())
        reading = _READING * largest * width * n_threads
        if self.mode == "level-wise":
            rows = self.memory / 2 + min(4 * self.rows, self.memory / 2)
        else:
            rows = self.rows * width * (_IN_FOREST + n_threads - 1 if forest else _IN_MEMORY)
        return int(_IMPORTS + reading + rows)

    def log(self, source: Source, engine: Engine | None, n_jobs: int, *, forest: bool = False) -> None:
        """Log the plan, with the memory that the process will need."""
        n_threads = engine.parallelism if isinstance(engine, LocalEngine) else n_jobs
        logger.info(
            "plan: %s; %s rows of %d features; rows up to %s in memory, the process about %s",
            {
                "in-memory": "read all rows, grow in memory",
                "sample": f"grow on a sample of {self.rows:,} rows, count all rows",
                "level-wise": "grow level by level on all rows",
            }[self.mode],
            f"{source.n_rows:,}",
            source.schema.n_features,
            bytes_text(self.memory),
            bytes_text(self.peak(source, n_threads, forest=forest)),
        )


def bytes_per_row(source: Source) -> int:
    """Return the bytes of a row in memory."""
    values = sum(4 if feature.is_nominal else 8 for feature in source.schema.features)
    return values + (16 if source.schema.is_regression else 12)
