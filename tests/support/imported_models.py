"""Random data, and the rows that tell two ways of routing apart, for trees of other libraries."""

import os

import numpy as np

# Values beyond it are infinite to libraries that round to float32, and some refuse them.
LARGEST = float(np.finfo(np.float32).max)
# The continuous integration looks at a few models of each library; `nox -s interop` at a hundred.
N_MODELS = int(os.environ.get("HORNBEAM_INTEROP_MODELS", "25"))


def numbers(rng, n_rows, n_features, *, missing=0.1):
    """Columns of all sizes, with ties, zeros and missing values."""
    X = rng.normal(size=(n_rows, n_features)) * 10.0 ** rng.integers(-3, 4, n_features)
    rounded = rng.random(n_features) < 0.4
    X[:, rounded] = np.round(X[:, rounded], 1)
    X[rng.random(X.shape) < 0.1] = 0.0
    X[rng.random(X.shape) < rng.choice([0.0, missing])] = np.nan
    return X


def labels(rng, X, n_classes):
    """Classes that depend on some columns, with noise."""
    signal = np.nan_to_num(X, nan=-1.0) / (1e-9 + np.nanstd(X, axis=0))
    score = signal @ rng.normal(size=X.shape[1]) + rng.normal(size=len(X))
    return np.searchsorted(np.quantile(score, np.arange(1, n_classes) / n_classes), score)


def around(values):
    """Each value, and its neighbours in float64 and in float32."""
    values = np.asarray(values, np.float64)
    with np.errstate(over="ignore"):
        near = _neighbours(values.astype(np.float32)).astype(np.float64)
        return _neighbours(np.concatenate([values, near]))


def _neighbours(values):
    infinity = values.dtype.type(np.inf)
    return np.concatenate([values, np.nextafter(values, infinity), np.nextafter(values, -infinity)])


def probes(rng, X, skeleton, specials=(), categories=(), *, largest=np.inf):
    """Rows of X, each with one value replaced: by a threshold or a neighbour, or by something special.

    `specials` go into numeric columns, `categories` into the columns of nominal tests; no threshold beyond
    `largest` does.
    """
    numeric = ~np.isnan(skeleton.threshold)
    rows = [X]
    for feature in range(X.shape[1]):
        here = skeleton.feature == feature
        if (here & ~numeric & ~skeleton.is_leaf).any():
            values = np.asarray(categories, np.float64)
        else:
            near = around(np.unique(skeleton.threshold[here & numeric]))
            values = np.concatenate([near[np.abs(near) <= largest], specials])
        if len(values):
            picked = X[rng.integers(0, len(X), 2 * len(values))].copy()
            picked[:, feature] = np.tile(values, 2)
            rows.append(picked)
    return np.concatenate(rows)
