"""Parquet files as a source: rows that need not fit memory."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hornbeam.data.engine import Engine, LocalEngine
from hornbeam.data.files.footers import read_footers, units_of
from hornbeam.data.files.paths import Paths, files_of, need_arrow
from hornbeam.data.files.selection import Selection, select
from hornbeam.data.files.summary import FileSummary, WeightScale, summarise_files, summarise_weights
from hornbeam.data.fingerprint import fingerprint
from hornbeam.data.fixed_point import to_fixed_point
from hornbeam.data.labels import match_labels
from hornbeam.data.schema import Kind, Schema
from hornbeam.data.sources import Unit
from hornbeam.data.table import Table
from hornbeam.errors import DataError, ParameterError
from hornbeam.typing import Counts, Floats

__all__ = ["ParquetSource"]


@dataclass(frozen=True, slots=True, eq=False)
class ParquetSource:
    """Parquet files, read a row group at a time, with a schema learnt from all rows.

    Made by `open`. Small and picklable: it holds addresses and no open file.

    Parameters
    ----------
    selection : Selection
        Which columns are features, labels and weights.
    schema : Schema
        What the features and classes are.
    weighting : WeightScale
        How weights become integers.
    fingerprint : str
        Changes with the files, the columns and the schema.
    addresses : tuple of Unit
        Where the rows are.

    Examples
    --------
    >>> import tempfile, pyarrow as pa, pyarrow.parquet as pq
    >>> folder = tempfile.TemporaryDirectory()
    >>> rows = pa.table({"age": [30, 41, 52], "smokes": ["no", None, "yes"], "is": ["well", "ill", "ill"]})
    >>> pq.write_table(rows, f"{folder.name}/rows.parquet", row_group_size=2)
    >>> source = ParquetSource.open(folder.name, target="is")
    >>> source.n_rows, source.schema.names, source.schema.classes
    (3, ('age', 'smokes'), ('ill', 'well'))
    >>> [source.read(unit).columns[0] for unit in source.units()]
    [array([30., 41.]), array([52.])]
    >>> source.read(source.units()[1], [1]).columns
    (array([1], dtype=int32),)
    >>> folder.cleanup()
    """

    selection: Selection
    schema: Schema
    weighting: WeightScale
    fingerprint: str
    addresses: tuple[Unit, ...] = field(repr=False)

    @classmethod
    def open(
        cls,
        paths: Paths,
        *,
        target: str | None,
        weight: str | None = None,
        features: Sequence[str] | None = None,
        class_weight: Any = None,
        schema: Schema | None = None,
        engine: Engine | None = None,
        labelled: bool = False,
    ) -> "ParquetSource":
        """Survey some files: learn the schema and the weights that `Table.read` would from all their rows.

        Parameters
        ----------
        paths : str, Path or iterable of them
            Files, folders, patterns such as ``"rows-*.parquet"``, or addresses such as ``"s3://bucket/rows"``.
            Columns that are only in the names of folders are not read.
        target : str or None
            The column of class labels.
        weight : str, optional
            The column of row weights: zero or more; rows of weight zero are left out.
        features : sequence of str, optional
            The columns to learn from, in this order; all others by default, without the index of a pandas
            frame.
        class_weight : mapping, "balanced" or None
            A factor per class that steers the search for tests; rows of a class of factor 0 are left out.
        schema : Schema, optional
            The schema to match instead of learning one; its names are the features.
        engine : Engine, optional
            Where the survey runs; this thread by default. What it finds does not depend on it.
        labelled : bool, default False
            Leave out rows without a label, which are an error otherwise.

        Returns
        -------
        ParquetSource

        Raises
        ------
        DataError
            Files, columns, labels or weights that cannot be used, or that differ between the files.

        Notes
        -----
        The footers tell rows and types; columns of categories, the labels and the weights are read once (weights
        that are no whole numbers twice), numbers not at all. The types are those that pyarrow reads: a file
        has no categories of numbers, and an enumeration of polars is written as ordered categories.

        While a unit is read its rows are in memory, 8 bytes a number, and about half as much again to decode
        them. A unit has at most 2**20 rows and 512 MB of numbers (but 65,536 rows, however many columns). Row
        groups beyond that are read in parts, each after decoding those before it, and are in memory twice:
        `lay_down` writes such files anew, in smaller groups.
        """
        need_arrow()
        if schema is not None and features is not None:
            raise ParameterError(
                "Both features and schema were given; expected one: a schema names the features."
            )
        engine = LocalEngine() if engine is None else engine
        footers = read_footers(files_of(paths), engine)
        wanted = features if schema is None else schema.names
        selection, kinds = select(footers, target, weight, wanted, class_weight)
        selection = replace(selection, labelled=labelled)
        units = units_of(footers, selection.most_rows)
        nominal = {name: kind for name, kind in kinds.items() if schema is None and kind is not Kind.NUMERIC}
        [found] = engine.reduce(summarise_files, units, (selection, nominal), combine=FileSummary.absorb)
        weighting = summarise_weights(found, selection, class_weight, units, engine)
        if schema is None:
            learnt = tuple([found.feature(name, kind) for name, kind in kinds.items()])
            schema = Schema(learnt, () if target is None else found.labels)
        elif target is not None:
            weighting = replace(weighting, of_class=found.matched(weighting.of_class, schema.classes))
        files = [(footer.file, footer.size, footer.changed, footer.groups) for footer in footers]
        roles = (target, weight, sorted(map(repr, selection.dropped)))
        word = fingerprint(
            *map(repr, (files, roles, schema, weighting.step, weighting.unit)), weighting.of_class
        )
        return cls(selection, schema, weighting, word, tuple(_renumbered(units, found.rows)))

    @property
    def n_rows(self) -> int:
        """Rows that count."""
        return self.addresses[-1].end

    @property
    def unit(self) -> float:
        """What one step of a row's weight is worth; 1.0 when every row counts 1."""
        return self.weighting.unit

    @property
    def class_weight(self) -> Floats | None:
        """How much the rows of each class weigh in the search for tests; None if all weigh the same."""
        return self.weighting.of_class

    def units(self) -> tuple[Unit, ...]:
        """Row groups with rows that count, or parts of large ones, in the order of the files."""
        return self.addresses

    def read(self, unit: Unit, features: Sequence[int] | None = None, rows: Counts | None = None) -> Table:
        """Read the rows of one unit that count: only the features and the rows asked for."""
        schema = self.schema if features is None else self.schema.select(features)
        extract = self.selection.extract(unit, schema.names, rows)
        if extract.n_rows != unit.n_rows:
            raise DataError(
                f"Row group {unit.group} of {unit.file!r} has {extract.n_rows} rows that count; there were "
                f"{unit.n_rows} when the files were opened. Open them again."
            )
        sheet, labels, weighting = extract.sheet, extract.labels, self.weighting
        assert sheet is not None
        return Table(
            schema,
            sheet.encode(schema)[0],
            None if labels is None else match_labels(labels, schema.classes),
            None
            if weighting.step is None or extract.weight is None
            else to_fixed_point(extract.weight, weighting.step),
            weighting.unit,
            None,
            schema.names,
            weighting.of_class,
        )


def _renumbered(units: Iterable[Unit], rows: Mapping[Unit, int]) -> Iterable[Unit]:
    """The units that have rows that count, by the numbers of these."""
    begin = 0
    for unit in units:
        if end := rows[unit]:
            yield replace(unit, begin=begin, end=begin + end)
            begin += end
