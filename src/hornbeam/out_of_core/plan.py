"""How a fit goes about it: in memory, on a sample, or level by level on all rows."""

from dataclasses import dataclass
from typing import Literal

from hornbeam.data.schema import Kind
from hornbeam.data.sources import Source
from hornbeam.errors import ParameterError
from hornbeam.growing import Missing
from hornbeam.recipe import Recipe
from hornbeam.tuning import CrossFitted, CrossValidated

__all__ = ["MEMORY", "Plan", "bytes_per_row"]

type Fitted = Recipe | CrossValidated | CrossFitted

MEMORY = 1 << 29  # what rows may take in this process, unless the caller says so: 512 MB
_MANY_ROWS = 20_000_000  # from here on a sample is grown on, and all rows are counted
_MOST_SAMPLED = 5_000_000


@dataclass(frozen=True, slots=True)
class Plan:
    """How many rows a tree is grown on, and where.

    Parameters
    ----------
    way : {"home", "sample", "level"}
        All rows come into memory; or a sample does, and all are counted; or all stay where they are.
    rows : int
        How many rows the tree is grown on.
    memory : int
        Bytes that rows may take in this process.

    Notes
    -----
    In memory a row takes 8 bytes for each number, 4 for each category, and 12 for its class and weight. While it
    is grown on, its codes take another byte a column (two beyond 255 codes). Rows that fit `memory` come
    home. Others stay, and

    - up to 20 million of them are all grown on, level by level: it takes minutes;
    - beyond, 5 million are grown on, or as many as fit: the tests of a tree are settled by far fewer rows than
      its probabilities, and these are counted on every row.

    What cannot be done level by level is done on a sample, however few rows there are: a pruner chosen on
    regrown trees, fractional rows, a numeric target.

    Examples
    --------
    >>> from hornbeam.data import MemorySource, Table
    >>> from hornbeam.recipe import PRESETS
    >>> source = MemorySource(Table.read([[1.0], [2.0], [3.0]], ["a", "b", "b"]))
    >>> Plan.of(source, PRESETS["cart"])
    Plan(way='home', rows=3, memory=536870912)
    >>> Plan.of(source, PRESETS["cart"], memory=50).way, Plan.of(source, PRESETS["cart"], 2).way
    ('level', 'sample')
    """

    way: Literal["home", "sample", "level"]
    rows: int
    memory: int

    @classmethod
    def of(
        cls, source: Source, recipe: Fitted, grow_rows: int | None = None, memory: int | None = None
    ) -> "Plan":
        """Decide.

        Parameters
        ----------
        source : Source
        recipe : Recipe, CrossValidated or CrossFitted
        grow_rows : int, optional
            So many rows are grown on; all of them, if there are no more.
        memory : int, optional
            Bytes that rows may take in this process; 2**29 by default, whatever the machine has: the tree should
            not depend on it.

        Raises
        ------
        ParameterError
            If all rows are to be grown on, do not fit memory, and must be there.
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
            return cls("home", source.n_rows, memory)
        why_home = _why_home(recipe, source)
        if grow_rows is None:
            if why_home is not None or source.n_rows > _MANY_ROWS:
                return cls("sample", min(fitting, _MOST_SAMPLED), memory)
        elif why_home is not None:
            raise ParameterError(
                f"grow_rows={grow_rows}: {why_home} all rows in memory, and {source.n_rows:,} rows do not fit "
                f"{memory:,} bytes; expected fewer. Pass grow_rows={min(fitting, _MOST_SAMPLED)}, or more memory."
            )
        return cls("level", source.n_rows, memory)


def bytes_per_row(source: Source) -> int:
    """Bytes of a row in memory.

    Examples
    --------
    >>> from hornbeam.data import MemorySource, Table
    >>> bytes_per_row(MemorySource(Table.read([[1.0, "red"]], ["a"])))
    24
    """
    values = sum(4 if feature.kind is Kind.NOMINAL else 8 for feature in source.schema.features)
    return values + 12


def _why_home(recipe: Fitted, source: Source) -> str | None:
    """What needs its rows in one place, in words; None if nothing does."""
    if source.schema.is_regression:
        return "a numeric target needs"
    inner = recipe.recipe if isinstance(recipe, CrossFitted) else recipe
    if isinstance(inner, CrossValidated):
        return "choosing a pruner on regrown trees needs"
    if inner.grower.missing is Missing.FRACTIONAL:
        return "missing='fractional' needs"
    return None
