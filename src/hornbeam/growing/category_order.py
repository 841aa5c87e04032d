"""One order of many categories for the whole tree, and the share of its gains that new rows keep.

Each node could order its categories by its own rows, which then also judge the split. Where categories have few rows
that order is mostly chance. Here the order is found once, from the rows of the whole tree, and the means of categories
are shrunk towards the mean of all rows, by as much as their variance exceeds what chance explains (empirical Bayes).
"""

from collections.abc import Sequence

import numpy as np

from hornbeam.data.encoded_rows import EncodedSource
from hornbeam.data.engine import Engine
from hornbeam.data.sources import Partition
from hornbeam.kernels import levelwise, subtree
from hornbeam.kernels.elementary import dot
from hornbeam.kernels.subtree import GrowthSpec, Rows
from hornbeam.typing import Bools, Counts, Floats, Indices

_MANY = 20  # per class but one: with K classes an order holds one of K - 1 directions
_POSITIONS = 255  # finer orders say nothing more, and cost time
_POWER_STEPS = 24
_SURE = 16  # squared: below four standard deviations the means may differ by chance alone


def order_in_memory(rows: Rows, spec: GrowthSpec) -> GrowthSpec:
    """Add the order of features with many categories, from all rows."""
    features = _features(spec)
    return _with_order(spec, features, _count(rows, spec, features)) if features else spec


def order_by_level(source: EncodedSource, spec: GrowthSpec, engine: Engine) -> GrowthSpec:
    """Add the order of features with many categories; one pass over the rows, if there are such features."""
    features = _features(spec)
    if not features:
        return spec
    [counts] = engine.reduce(_count_partitions, source.partitions(), (source, spec, features))
    return _with_order(spec, features, counts)


def many_categories(nominal: Bools, n_codes: Indices, n_classes: int) -> list[int]:
    """Return the nominal features whose many categories have one order for the whole tree."""
    return np.flatnonzero(nominal & (n_codes >= _least(n_classes))).tolist()


def _features(spec: GrowthSpec) -> list[int]:
    """Return the features to order: none where gains are compared, and none where rows are divided among children."""
    rules = spec.rules
    subsets = rules.nominal == subtree.Nominal.subset and rules.missing != subtree.Missing.fractional
    if not (rules.corrected and subsets):
        return []
    return many_categories(spec.nominal > 0, spec.n_codes, spec.n_classes)


def _least(n_classes: int) -> int:
    return _MANY * max(n_classes - 1, 1)


# ---- counts, which add up --------------------------------------------------------------------------------------


def _count_partitions(
    partitions: Sequence[Partition], shared: tuple[EncodedSource, GrowthSpec, list[int]]
) -> list[Counts]:
    """Task: the counts of all features, added up over partitions."""
    source, spec, features = shared
    size = sum(int(spec.n_codes[f] + 1) * (spec.n_channels + 1) for f in features) + levelwise.SQUARE_PARTS
    total = np.zeros(size, np.int64)
    for partition in partitions:
        total += _count(source.read(partition), spec, features)
    return [total]


def _count(rows: Rows, spec: GrowthSpec, features: list[int]) -> Counts:
    """Evidence and rows of each code of each feature, then the sum of squares of a numeric target in parts."""
    counts = []
    for f in features:
        one = rows._replace(codes=rows.codes[:, f : f + 1].copy())
        alone = spec.some(f, f + 1)
        cells = subtree.empty_cells(one, alone)
        subtree.histogram(one, alone, 0, rows.n_rows, cells)
        evidence, n_rows = subtree.channels(cells, alone)
        counts.append(np.column_stack([evidence, n_rows]).ravel())
    squares = np.zeros(levelwise.SQUARE_PARTS, np.int64)
    if spec.sums:
        levelwise.add_squares(rows, np.zeros(rows.n_rows, np.int32), np.zeros(1, np.int32), squares)
    return np.concatenate([*counts, squares])


# ---- the order -------------------------------------------------------------------------------------------------


def _with_order(spec: GrowthSpec, features: list[int], counts: Counts) -> GrowthSpec:
    """Return the specification with the order of each feature of which enough categories occur."""
    position = np.full(spec.n_cells, -1, np.int32)
    reliability = np.full(len(spec.nominal), -1.0)
    begin = 0
    for f in features:
        n_codes, width = int(spec.n_codes[f]), spec.n_channels + 1
        end = begin + (n_codes + 1) * width
        known = counts[begin : end - width].reshape(n_codes, width)
        begin = end
        if np.count_nonzero(known[:, -1]) < _least(spec.n_classes):
            continue
        mean, everywhere, variance = _means(known, counts[-levelwise.SQUARE_PARTS :], spec)
        place, reliability[f] = order_categories(
            _independent_rows(known, spec), mean - everywhere, variance, known[:, -1] > 0
        )
        start = int(spec.offsets[f])
        position[start : start + n_codes] = place
    if (reliability < 0).all():
        return spec
    return spec.with_order(position, reliability)


def _independent_rows(known: Counts, spec: GrowthSpec) -> Floats:
    """Independent rows of each category, as the S-values count them."""
    rules, weight = spec.rules, known[:, 0] if spec.sums else known[:, :-1].sum(axis=1)
    by_rows = rules.rows_per_row > 0
    n: Floats = np.multiply(*(known[:, -1], rules.rows_per_row) if by_rows else (weight, rules.rows_per_step))
    return n


def _means(known: Counts, squares: Counts, spec: GrowthSpec) -> tuple[Floats, float, float]:
    """Mean of the target in each category, in all of them, and its variance over rows.

    The target is a number; or 1 for the second of two classes; or the coordinate of the class along a direction.
    """
    weight = known[:, 0] if spec.sums else known[:, :-1].sum(axis=1)
    total = max(int(weight.sum()), 1)
    if spec.sums:
        step = spec.rules.numerator_unit / spec.rules.unit
        evidence = known[:, :2].sum(axis=0)
        amounts, sums = known[:, 1] * step, float(evidence[1]) * step
        variance = levelwise.variance_of_squares(squares, spec, evidence)
    else:
        counts = known[:, :-1]
        along = np.array([0.0, 1.0] if spec.n_classes == 2 else principal_direction(counts))
        shares = counts.sum(axis=0) / total
        amounts = _project(counts, along.tolist())
        mean = dot(shares, along)
        sums = mean * total
        variance = dot(shares, (along - mean) * (along - mean))
    everywhere = sums / total
    means = np.divide(amounts, weight, out=np.full(len(weight), everywhere), where=weight > 0)
    return means, everywhere, variance


def _project(counts: Counts, along: Sequence[float]) -> Floats:
    """Sum of the classes' coordinates; one class after the other, so that all machines round the same way."""
    sums = np.zeros(len(counts))
    for k, x in enumerate(along):
        if x:
            sums += counts[:, k] * x
    return sums


def principal_direction(counts: Counts) -> list[float]:
    """Return the direction in which the class shares of categories differ most, weighted by their rows.

    Exact sums, in any order of categories: the power iteration gives the same bits everywhere.
    """
    weight = counts.sum(axis=1).astype(np.float64)
    share = counts[weight > 0] / weight[weight > 0, None]
    weight = weight[weight > 0]
    total = dot(weight, np.ones(len(weight)))
    centred = [share[:, k] - dot(weight, share[:, k]) / total for k in range(counts.shape[1])]
    spread = [dot(weight, x * x) for x in centred]
    along = [0.0] * len(spread)
    along[int(np.argmax(np.round(np.array(spread) / total, 9)))] = 1.0
    for _ in range(_POWER_STEPS):
        projected = np.zeros(len(weight))
        for x, column in zip(along, centred, strict=True):
            projected += x * column
        ahead = [dot(weight * projected, column) for column in centred]
        largest = max(map(abs, ahead))
        if largest == 0:
            break
        along = [round(x / largest, 12) + 0.0 for x in ahead]
    return along


def order_categories(
    n_rows: Floats, deviation: Floats, variance: float, present: Bools
) -> tuple[Indices, float]:
    """Order categories by their shrunk means, in at most 255 positions of nearly equal size.

    `n_rows` are the independent rows of each category, `deviation` its mean minus the mean of all rows, `variance` that
    of the target over rows. Returns the position of each category, -1 if it is not `present`, and the reliability, a
    factor of gains: 0 if the means differ no more than by chance, near 1 if chance plays no part.

    The variance between categories is what the means differ by beyond chance (method of moments). With k, the ratio of
    the variance of rows to it, the mean of n rows is shrunk by n / (n + k). At the cut that separates the shrunk means
    best, shrinkage leaves a share r of the difference. New rows keep r**2 of the gain. The leaves count the rows that
    found the order, so their frequencies differ from those of new rows too; therefore the factor is r**3. It is
    multiplied by 1 - 16 / z**2, where z is by how many standard deviations the means differ more than by chance.
    """
    n, apart = n_rows[present], deviation[present]
    total = dot(n, np.ones(len(n)))
    most = len(n) - 1
    degrees = total - dot(n, n) / total - most if total > 0 else 0.0
    excess = dot(n * apart, apart) - most * variance
    position = np.full(len(n_rows), -1, np.int32)
    by_chance = 2 * most * variance * variance  # the variance of the excess
    if degrees <= 0 or excess <= 0:
        position[present] = 0
        return position, 0.0
    between = excess / degrees
    shrunk = apart * (n / (n + max(variance - between, 0.0) / between))
    order = np.argsort(shrunk, kind="stable")
    place, kept = _cut(n[order], apart[order], shrunk[order])
    position[np.flatnonzero(present)[order]] = place
    return position, kept * kept * kept * max(0.0, 1 - _SURE * by_chance / (excess * excess))


def _cut(n: Floats, apart: Floats, shrunk: Floats) -> tuple[Indices, float]:
    """Return positions of sorted categories, and the share of the difference that shrinkage leaves at the best cut."""
    before = np.cumsum(n) - n
    total = before[-1] + n[-1]
    new = np.append(True, shrunk[1:] > shrunk[:-1])
    bin_of = np.floor(before * (_POSITIONS / total)).astype(np.int32)
    bin_of = bin_of[np.maximum.accumulate(np.where(new, np.arange(len(n)), 0))]  # equal means stay together
    place = np.cumsum(np.append(False, bin_of[1:] > bin_of[:-1])).astype(np.int32)
    left = before[1:]
    moved, raw = np.cumsum(n * shrunk), np.cumsum(n * apart)
    moved, raw = moved[:-1] - moved[-1] * (left / total), raw[:-1] - raw[-1] * (left / total)
    allowed = new[1:] & (raw != 0) & (left > 0) & (left < total)
    if not allowed.any():
        return place, 0.0
    gain = np.where(allowed, moved * moved / np.where(allowed, left * (total - left), 1.0), -1.0)
    best = int(gain.argmax())
    return place, float(min(max(moved[best] / raw[best], 0.0), 1.0))
