"""Parquet files as a source of rows that need not fit in memory."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hornbeam.checks import check_choice, check_flags
from hornbeam.data.engine import Engine, resolve_engine
from hornbeam.data.files.footers import (
    add_folder_types,
    common_types,
    folder_types,
    read_footers,
    row_group_partitions,
)
from hornbeam.data.files.paths import Paths, list_files, need_arrow
from hornbeam.data.files.scratch import WrittenRows
from hornbeam.data.files.selection import Selection, select
from hornbeam.data.files.summary import FileSummary, WeightScale, summarise_files, summarise_weights
from hornbeam.data.fixed_point import to_fixed_point
from hornbeam.data.groups import COPIES, copies_as_groups
from hornbeam.data.hashes import fingerprint
from hornbeam.data.labels import match_labels
from hornbeam.data.numeric_target import NumericTarget
from hornbeam.data.schema import Kind, Schema, default_kind
from hornbeam.data.sources import Partition
from hornbeam.data.table import Table
from hornbeam.errors import DataError, ParameterError, shown
from hornbeam.logger import logger
from hornbeam.typing import Counts, Floats


@dataclass(frozen=True, slots=True, eq=False)
class ParquetSource:
    """Parquet files, read one row group at a time, with a schema inferred from all rows.

    Made by `scan_parquet`. Small and picklable: it has addresses and no open file.

    Parameters
    ----------
    selection : Selection
        Which columns are features, target and weights.
    schema : Schema
    weight_scale : WeightScale
        How weights, and a numeric target, become integers.
    fingerprint : str
        Hash of the files, the columns and the schema.
    addresses : tuple of Partition
        The partitions of the rows that are kept.
    copies : bool, default False
        Whether rows of equal values and target are a group.
    written : WrittenRows or None, default None
        The temporary folder of the files, if a collection was written there.

    Examples
    --------
    >>> import tempfile, pyarrow as pa, pyarrow.parquet as pq
    >>> folder = tempfile.TemporaryDirectory()
    >>> rows = pa.table({"age": [30, 41, 52], "smokes": ["no", None, "yes"], "is": ["well", "ill", "ill"]})
    >>> pq.write_table(rows, f"{folder.name}/rows.parquet", row_group_size=2)
    >>> source = scan_parquet(folder.name, target="is")
    >>> source.n_rows, source.schema.names, source.schema.classes
    (3, ('age', 'smokes'), ('ill', 'well'))
    >>> [source.read(partition).columns[0] for partition in source.partitions()]
    [array([30., 41.]), array([52.])]
    >>> source.read(source.partitions()[1], [1]).columns
    (array([1], dtype=int32),)
    >>> folder.cleanup()
    """

    selection: Selection
    schema: Schema
    weight_scale: WeightScale
    fingerprint: str
    addresses: tuple[Partition, ...] = field(repr=False)
    copies: bool = False
    written: WrittenRows | None = field(default=None, repr=False)

    @property
    def n_rows(self) -> int:
        """Number of rows that are kept."""
        return self.addresses[-1].end

    @property
    def unit(self) -> float:
        """The weight of one integer step; 1.0 when every row counts 1."""
        return self.weight_scale.unit

    @property
    def class_weight(self) -> Floats | None:
        """Factor of each class in the search for splits; None if all are 1."""
        return self.weight_scale.class_factors

    @property
    def names(self) -> tuple[str, ...] | None:
        """Names of the features; None if they were generated when an array was written."""
        return self.schema.names if self.written is None or self.written.named else None

    @property
    def has_groups(self) -> bool:
        """Whether rows belong to groups, which are drawn and held out as a whole."""
        return self.copies or self.selection.group is not None

    def partitions(self) -> tuple[Partition, ...]:
        """Return the row groups, or parts of large ones, with rows that are kept, in the order of the files."""
        return self.addresses

    def read_kept(self, partition: Partition) -> Any:
        """Read the columns named by `keep` of one partition, as a pyarrow table."""
        return self.selection.read_kept(partition)

    def read(
        self, partition: Partition, features: Sequence[int] | None = None, rows: Counts | None = None
    ) -> Table:
        """Read the rows of one partition that are kept; `features` and `rows` select some."""
        schema = self.schema if features is None else self.schema.select(features)
        extract = self.selection.extract(partition, schema.names, rows)
        if extract.n_rows != partition.n_rows:
            raise DataError(
                f"Row group {partition.group} of {partition.file!r} has {extract.n_rows} rows with a weight above "
                f"zero; there were {partition.n_rows} when the files were opened. Open them again."
            )
        raw, labels, scale = extract.raw, extract.labels, self.weight_scale
        values, units = extract.values, scale.target_units
        columns = () if raw is None else raw.encode(schema)[0]
        codes = None if labels is None else match_labels(labels, schema.classes)
        group = extract.group
        if self.copies and features is None:
            group = copies_as_groups(columns, codes if values is None else values)
        return Table(
            schema,
            columns,
            codes,
            None
            if scale.step is None or extract.weight is None
            else to_fixed_point(extract.weight, scale.step),
            scale.unit,
            None,
            schema.names,
            scale.class_factors,
            None if values is None or units is None else NumericTarget(values, *units),
            group=group,
        )


def scan_parquet(
    paths: Paths,
    *,
    target: str | None,
    features: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    sample_weight: str | None = None,
    groups: str | None = None,
    class_weight: Any = None,
    schema: Schema | None = None,
    target_kind: str | None = None,
    labelled: bool = False,
    missing_columns: str = "error",
    keep: Sequence[str] = (),
    engine: Engine | None = None,
) -> ParquetSource:
    """Open Parquet files as rows that are read in parts, with the features, weights and classes of all their rows.

    Parameters
    ----------
    paths : str, Path or iterable of them
        Files, folders, patterns such as ``"rows-*.parquet"``, or addresses such as ``"s3://bucket/rows"``.
        A folder named ``year=2024`` gives the column ``year``: numbers if it is a whole number in all names, else
        text. Without a schema, such a column is left out if it has one value in all files, unless it is named here.
    target : str or None
        The column of the target: class labels, or numbers. None: no target, for predictions.
    features : sequence of str, optional
        The columns to learn from, in this order; by default all others, without the index of a pandas frame and,
        with a warning, without columns of dates, lists and other values that are no numbers or categories.
    exclude : sequence of str, default ()
        Columns that are no features; only without `features` and `schema`.
    sample_weight : str, optional
        The column of row weights: zero or more; rows of weight zero are dropped.
    groups : str, optional
        The column of groups, whose rows belong together; it is no feature. "copies": rows of equal values.
    class_weight : mapping, "balanced" or None
        A factor per class for the search for splits; rows of a class with factor 0 are dropped.
    schema : Schema, optional
        The schema to match, such as that of a tree; inferred by default. Its names are the features.
    target_kind : {"nominal", "numeric"}, optional
        Nominal for classification, numeric for regression. Default: the target of the schema, else nominal.
    labelled : bool, default False
        Drop rows without a label, which are an error otherwise.
    missing_columns : {"error", "null"}, default "error"
        What to do with a feature that some files lack: raise an error, or read it as missing values there. Such
        features follow those that all files have, sorted by name, so that the order of files does not matter.
    keep : sequence of str, default ()
        Other columns to read, which `predict_to` copies; only without `target` and `sample_weight`, so that no row is
        dropped.
    engine : Engine, optional
        Reads the files; this thread by default. The result does not depend on it.

    Returns
    -------
    Source
        Rows for `fit`, predictions and all methods that take rows. Small and picklable: it has no open file.

    Raises
    ------
    DataError
        If files, columns, labels or weights cannot be used, or differ between the files.

    Notes
    -----
    The footers give rows and types; columns of categories, the target and the weights are read once (weights
    that are not whole numbers, or beside a numeric target, twice), numeric columns not at all. The types are those
    that pyarrow reads: a file has no numeric categories, and an enumeration of polars is written as ordered
    categories.

    While a partition is read its rows are in memory, 8 bytes per value, and about half as much again to decode
    them. A partition has at most 2**20 rows and 512 MB (but at least 65,536 rows, with any number of columns).
    Larger row groups are read in parts, each after decoding those before it, and are in memory twice:
    `write_parquet` writes such files again with smaller groups.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from hornbeam import TreeClassifier, scan_parquet
    >>> folder = tempfile.TemporaryDirectory()
    >>> rows = pd.DataFrame({"id": [7, 8, 9], "age": [30, 41, 52], "is": ["well", "ill", "ill"]})
    >>> rows.to_parquet(f"{folder.name}/rows.parquet")
    >>> source = scan_parquet(folder.name, target="is", exclude=["id"])
    >>> source.n_rows, source.schema.names, source.schema.classes
    (3, ('age',), ('ill', 'well'))
    >>> TreeClassifier("cart").fit(source).predict(source).tolist()
    ['well', 'ill', 'ill']
    >>> folder.cleanup()
    """
    need_arrow()
    if schema is not None and features is not None:
        raise ParameterError(
            "Both features and schema were given; expected one: a schema names the features."
        )
    kind = default_kind(target_kind, schema)
    for role, column in {"target": target, "sample_weight": sample_weight, "groups": groups}.items():
        if column is not None and not isinstance(column, str):
            raise ParameterError(
                f"{role} is a {type(column).__name__}; expected the name of a column of the files."
            )
    for role, some in {"features": features or (), "exclude": exclude, "keep": keep}.items():
        if isinstance(some, str) or not isinstance(some, Iterable):
            raise ParameterError(
                f"{role} is {shown(some)}; expected a sequence of names, such as [{str(some)!r}]."
            )
    if exclude and (features is not None or schema is not None):
        raise ParameterError(
            "exclude was given together with features or schema, which name the features; expected one of them."
        )
    check_flags(labelled=labelled)
    check_choice("missing_columns", missing_columns, ("error", "null"))
    if keep and (target, sample_weight) != (None, None):
        raise ParameterError(
            "keep was given together with target or sample_weight, which may drop rows; expected keep alone."
        )
    engine = resolve_engine(engine)
    files = list_files(paths)
    known: dict[str | None, Sequence[Any]] = {}
    if schema is not None:
        known = {one.name: one.categories for one in schema.features}
        known[target] = schema.classes
    as_text = [name for name, values in known.items() if name and any(isinstance(one, str) for one in values)]
    group = None if groups == COPIES else groups
    needed = (
        None if schema is not None else (target, sample_weight, group, *keep, *exclude, *(features or ()))
    )
    folders = folder_types(files, as_text, needed)
    footers = add_folder_types(read_footers(files, engine), folders)
    found = {name for footer in footers for name in footer.sorts}
    common_types(footers, [name for name in (*exclude, *(features or ())) if name not in found])
    names = features if schema is None else schema.names
    numeric = target is not None and kind is Kind.NUMERIC
    selection, kinds = select(
        footers,
        target,
        sample_weight,
        names,
        class_weight,
        keep,
        group=group,
        labelled=labelled,
        numeric=numeric,
        folders=folders,
        exclude=exclude,
        fill=missing_columns == "null",
    )
    partitions = row_group_partitions(footers, selection.most_rows)
    nominal = {name: kind for name, kind in kinds.items() if schema is None and kind is not Kind.NUMERIC}
    logger.info("%d files, %d partitions: reading categories and target", len(files), len(partitions))
    [summary] = engine.reduce(summarise_files, partitions, (selection, nominal), combine=FileSummary.merge)
    scale = summarise_weights(summary, selection, class_weight, partitions, engine)
    if schema is None:
        inferred = tuple([summary.feature(name, kind) for name, kind in kinds.items()])
        classes = () if target is None or numeric else summary.labels
        schema = Schema(inferred, classes, Kind.NUMERIC if numeric else Kind.NOMINAL)
    elif target is not None and not numeric:
        scale = replace(scale, class_factors=summary.match_factors(scale.class_factors, schema.classes))
    contents = [(footer.file, footer.size, footer.changed, footer.groups) for footer in footers]
    roles = (target, sample_weight, *([groups] if groups else ()), sorted(map(repr, selection.dropped)))
    facts = (contents, roles, schema, scale.step, scale.unit, *(scale.target_units or ()))
    key = fingerprint(*map(repr, facts), scale.class_factors)
    addresses = tuple(_renumbered(partitions, summary.rows))
    return ParquetSource(selection, schema, scale, key, addresses, groups == COPIES)


def _renumbered(partitions: Iterable[Partition], rows: Mapping[Partition, int]) -> Iterable[Partition]:
    """Yield the partitions that have rows to keep, with positions among the rows that are kept."""
    begin = 0
    for partition in partitions:
        if n_rows := rows[partition]:
            yield replace(partition, begin=begin, end=begin + n_rows)
            begin += n_rows
