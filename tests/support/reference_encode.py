"""Slow, obvious twins of the kernels of binning."""

import numpy as np

LOWEST = -np.finfo(np.float64).max
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, -5e-324, 2.2e-308, -LOWEST, LOWEST]


def distinct(column):
    """Sorted distinct values: -0.0 is 0.0, the lowest finite number is -inf (no cut could part them)."""
    values = column[~np.isnan(column)] + 0.0
    return np.unique(np.where(values == LOWEST, -np.inf, values))


def codes_of(columns, edges, n_codes, nominal):
    """Number of edges below each value; categories as they are; missing last."""
    codes = np.empty((len(columns[0]), len(columns)), np.int64)
    for f, column in enumerate(columns):
        if nominal[f]:
            codes[:, f] = np.where(column < 0, n_codes[f], column)
        else:
            codes[:, f] = np.where(
                np.isnan(column), n_codes[f], np.searchsorted(edges[f], column, side="left")
            )
    return codes


def key_of(value):
    """How many floats lie between zero and a float, up or down from 2**63."""
    if value == LOWEST:
        value = -np.inf
    size = int(np.abs(np.float64(value)).view(np.uint64))
    return 2**63 + (size if value > 0 else -size)


def share(counts, max_bins):
    """Bins as lists of indices: heavy entries alone, the others by equal shares of what is left."""
    total = sum(counts)
    heavy = [count * max_bins > total for count in counts]
    spare = max_bins - sum(heavy)
    left = sum(count for count, is_heavy in zip(counts, heavy, strict=True) if not is_heavy)
    bins, previous = [[]], None
    for i, count in enumerate(counts):
        light = sum(counts[j] for j in bins[-1] if not heavy[j])
        if heavy[i]:
            close = i > 0
        elif previous:
            close = spare > 0
        else:
            close = light > 0 and spare > 1 and light + count / 2 > left / spare
        if close:
            left -= light
            spare -= light > 0
            bins.append([])
        bins[-1].append(i)
        previous = heavy[i]
    return bins
