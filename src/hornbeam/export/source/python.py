"""A tree as a Python module without imports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hornbeam.export.source.lookup_tables import LookupTables
from hornbeam.export.source.vectors import TestVectors
from hornbeam.export.wording import wrapped
from hornbeam.tree.tree import Tree
from hornbeam.tree.unwrap import HasTree, with_quantiles
from hornbeam.tree.words import plain_label
from hornbeam.typing import Label

_PUBLIC = ("CLASSES", "FEATURES", "QUANTILES")  # tables whose names have no underscore


def to_python(model: Tree | HasTree, *, quantiles: Sequence[float] | None = None, vectors: Any = None) -> str:
    """Write a tree as the source of a Python module without imports.

    Parameters
    ----------
    model : Tree, or fitted TreeClassifier or TreeRegressor
    quantiles : sequence of float, optional
        Levels, such as ``[0.1, 0.5, 0.9]``: the quantiles of `TreeRegressor.predict_quantile`, beside the mean, of a
        `TreeRegressor` that was fitted with ``distribution=True``.
    vectors : array-like or data frame of shape (n_rows, n_features), optional
        Rows to ship with the code: its function ``check()`` counts those with another prediction than the tree's, and
        running the module as a script fails if there are any.

    Returns
    -------
    str
        ASCII source with ``node(row)``, ``probabilities(row)`` and ``predict(row)``. A row has one value per feature:
        numbers, categories by value, None or NaN where missing. Nodes and probabilities are the tree's, bit for bit,
        also if missing values go to every child. For a numeric target ``predict(row)`` is the mean, and there are no
        probabilities; ``quantiles(row)`` has the value of each of ``QUANTILES``.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> clf = TreeClassifier("cart").fit([[0]] * 5 + [[1]] * 5, ["ill"] * 4 + ["well"] * 5 + ["ill"])
    >>> module = {}
    >>> exec(to_python(clf), module)
    >>> module["probabilities"]([0.9]), module["predict"]([0.1]), module["node"]([None])
    ([0.2, 0.8], 'ill', 0)
    """
    tree = with_quantiles(model, quantiles)
    flat, features, loss = LookupTables.of(tree), tree.schema.features, tree.decision.loss
    walk, shares, terms = flat.source_tables()
    codes = [_dictionary(feature.categories) if not feature.is_numeric else "None" for feature in features]
    unknown = ["UNKNOWN" if feature.is_nominal else "None" for feature in features]
    tables = {
        **(
            {}
            if tree.is_regression
            else {"CLASSES": [_literal(plain_label(label)) for label in tree.schema.classes]}
        ),
        "FEATURES": [_literal(feature.name) for feature in features],
        "CODES": codes,
        "UNKNOWN": unknown,
        **(walk | {"THRESHOLD": ["None" if t != t else _literal(t) for t in walk["THRESHOLD"]]}),
        "BELIEF": flat.belief.tolist(),
    }
    if flat.fractional:
        tables |= shares
    elif len(tree.slopes):
        tables |= terms | {"SCORE": [f"({', '.join(map(_literal, row))},)" for row in terms["SCORE"]]}
    elif not tree.is_regression:
        tables["DECIDED"] = flat.decided.tolist()
    if tree.schema.quantiles:
        tables["QUANTILES"] = list(tree.schema.quantiles)
    if loss is not None and (flat.fractional or len(tree.slopes)):
        tables["LOSS"] = loss.matrix.tolist()
    written = "\n".join(
        f"{name if name in _PUBLIC else f'_{name}'} = (\n{wrapped(items)}\n)"
        for name, items in tables.items()
    )
    about = _ABOUT_REGRESSION if tree.is_regression else _ABOUT
    source = about + _SOURCE.replace("$ROOT", "0" if flat.n_inner else "-1").replace("$TABLES", written)
    if len(tree.slopes):
        source += _SCORES
        if tree.is_regression:
            source += _SCORED_MEAN + _SCORED_QUANTILES * bool(tree.schema.quantiles)
        else:
            source += _LARGEST_SCORE if loss is None else _LEAST_COST.replace("$SLACK", repr(loss.slack))
            source += _SOFTMAX
    elif tree.is_regression:
        source += _MEAN + _QUANTILES * bool(tree.schema.quantiles)
    elif not flat.fractional:
        source += _PREDICT + _PROBABILITIES
    else:
        source += _SHARED_PREDICT if loss is None else _LEAST_COST.replace("$SLACK", repr(loss.slack))
        source += _SHARED_PROBABILITIES
    if vectors is None:
        return source
    prediction = "probabilities(row)"
    if tree.is_regression:
        prediction = "[predict(row), *quantiles(row)]" if tree.schema.quantiles else "[predict(row)]"
    labels = () if tree.is_regression else tree.schema.classes
    return source + _check(TestVectors.of(tree, vectors), prediction, labels)


def _dictionary(categories: tuple[object, ...]) -> str:
    pairs = [f"{_literal(plain_label(category))}: {code}" for code, category in enumerate(categories)]
    return f"{{\n{wrapped(pairs, indent='        ')}\n    }}"


def _literal(value: str | int | float | bool) -> str:
    """Write a plain value; the `repr` of infinity is an undefined name."""
    return f"float('{value}')" if isinstance(value, float) and value - value != 0 else ascii(value)


def _check(vectors: TestVectors, prediction: str, classes: tuple[Label, ...]) -> str:
    rows = [f"({', '.join(map(_cell, row))},)" for row in vectors.values()]
    decided = [
        _literal(plain_label(classes[code])) if classes else "None" for code in vectors.decided.tolist()
    ]
    expected = zip(rows, vectors.nodes.tolist(), vectors.probabilities.tolist(), decided, strict=True)
    table = wrapped(f"({row}, {node}, {p}, {label})" for row, node, p, label in expected)
    differs = f"{prediction} != expected" + (" or predict(row) != label" if classes else "")
    # In this order: names may hold "$DIFFERS".
    return _CHECK.replace("$DIFFERS", differs).replace("$VECTORS", table)


def _cell(value: str | float | None) -> str:
    return "None" if value is None else _literal(value)


_ABOUT_REGRESSION = '''"""A decision tree, exported by Hornbeam.

node(row) is the node where a row stops, and predict(row) its mean. A row has one value for each of FEATURES: a
number, or a category by value; None or NaN where it is missing.
"""
'''

_ABOUT = '''"""A decision tree, exported by Hornbeam.

node(row) is the node where a row stops, probabilities(row) the probabilities of CLASSES there, and predict(row) the
class that the model decides for. A row has one value for each of FEATURES: a number, or a category by value; None or
NaN where it is missing.
"""
'''

_SOURCE = '''
UNKNOWN = -1
$TABLES


def _read(row):
    values = []
    for value, codes, unknown in zip(row, _CODES, _UNKNOWN, strict=True):
        if value is None or value != value:
            values.append(None)
        else:
            values.append(float(value) if codes is None else codes.get(value, unknown))
    return values


def _stop(values, at=$ROOT):
    while at >= 0:
        value, threshold = values[_FEATURE[at]], _THRESHOLD[at]
        if value is None:
            at = _LEAD[_START[at + 1] - 1]
        elif threshold is not None:
            at = _LEAD[_START[at] + (value > threshold)]
        else:
            at = ~at if value == UNKNOWN else _LEAD[_START[at] + value]
    return ~at


def node(row):
    """The node where a row stops."""
    return _NODE[_stop(_read(row))]


'''

_PREDICT = '''def predict(row):
    """The class that the model decides for."""
    return CLASSES[_DECIDED[_stop(_read(row))]]


'''

_SHARED_PREDICT = '''def predict(row):
    """The most probable class of a row."""
    p = probabilities(row)
    return CLASSES[p.index(max(p))]


'''

_LEAST_COST = '''def predict(row):
    """The class of least expected cost; costs that differ by $SLACK at most are equal, and the first class wins."""
    costs = [0.0] * len(CLASSES)
    for p, losses in zip(probabilities(row), _LOSS, strict=True):
        costs = [cost + p * loss for cost, loss in zip(costs, losses, strict=True)]
    least = min(costs) + $SLACK
    return next(label for label, cost in zip(CLASSES, costs, strict=True) if cost <= least)


'''

_MEAN = '''def predict(row):
    """The mean of the node where a row stops."""
    return _BELIEF[_stop(_read(row))][0]
'''

_SCORES = '''def _scores(values, place):
    """The score of each class, or the mean: that of the leaf, and its terms for the values of the row."""
    scores = list(_SCORE[place])
    for i in range(_TERM_START[place], _TERM_START[place + 1]):
        value, category = values[_TERM_FEATURE[i]], _CATEGORY[i]
        if value is None:
            continue
        known = float(value == category) if category >= 0 else min(max(value, _LOW[i]), _HIGH[i])
        distance = known - _CENTRE[i]
        scores = [score + slope * distance for score, slope in zip(scores, _SLOPE[i], strict=True)]
    return scores


'''

_QUANTILES = '''

def quantiles(row):
    """The value of each of QUANTILES at the node where a row stops."""
    return list(_BELIEF[_stop(_read(row))][1:])
'''

_SCORED_QUANTILES = '''

def quantiles(row):
    """The value of each of QUANTILES at the node where a row stops, changed by the terms of the leaf."""
    values = _read(row)
    return _scores(values, _stop(values))[1:]
'''

_SCORED_MEAN = '''def predict(row):
    """The mean of the node where a row stops, changed by the terms of the leaf."""
    values = _read(row)
    return _scores(values, _stop(values))[0]
'''

_LARGEST_SCORE = '''def predict(row):
    """The most probable class of a row: the first one of the largest score."""
    values = _read(row)
    scores = _scores(values, _stop(values))
    return CLASSES[scores.index(max(scores))]


'''

_SOFTMAX = '''def _exp(x):
    """exp(x) for x <= 0, with the same bits everywhere."""
    if x < -745.1332191019412:
        return 0.0
    k = (x * 1.4426950408889634 + 6755399441055744.0) - 6755399441055744.0
    high, low = x - k * 0.6931471803691238, k * 1.9082149292705877e-10
    r = high - low
    series = 1 / 6227020800
    for factorial in (479001600, 39916800, 3628800, 362880, 40320, 5040, 720, 120, 24, 6, 2):
        series = 1 / factorial + r * series
    power, factor, n = 1.0 + (r + (((high - r) - low) + r * r * series)), 0.5, int(-k)
    while n > 0:
        if n & 1:
            power *= factor
        factor *= factor
        n >>= 1
    return power


def probabilities(row):
    """The probability of each class for a row: exp(score), divided by the sum."""
    values = _read(row)
    place = _stop(values)
    scores = _scores(values, place)
    if _TERM_START[place] == _TERM_START[place + 1]:
        return scores
    largest, total = max(scores), 0.0
    powers = [_exp(score - largest) for score in scores]
    for power in powers:
        total += power
    return [power / total for power in powers]
'''

_PROBABILITIES = '''def probabilities(row):
    """The probability of each class for a row."""
    return list(_BELIEF[_stop(_read(row))])
'''

_SHARED_PROBABILITIES = '''def probabilities(row):
    """The probability of each class for a row; a missing value may go to every branch, with a share for each."""
    values = _read(row)
    total = [0.0] * len(CLASSES)
    waiting = [(0, 1.0)]
    while waiting:
        at, share = waiting.pop()
        place = _stop(values, at)
        shared = ()
        if place < len(_FEATURE) and values[_FEATURE[place]] is None:
            shared = range(_SHARED[place + 1] - 1, _SHARED[place] - 1, -1)
        if shared:
            waiting += [(_SHARED_LEAD[i], share * _SHARE[i]) for i in shared]
        else:
            total = [sum_ + share * p for sum_, p in zip(total, _BELIEF[place], strict=True)]
    return total
'''

_CHECK = '''

VECTORS = (
$VECTORS
)


def check():
    """The number of rows of VECTORS with another node or another prediction than the tree's."""
    return sum(node(row) != stop or $DIFFERS for row, stop, expected, label in VECTORS)


if __name__ == "__main__":
    raise SystemExit(f"{check()} rows differ" if check() else 0)
'''
