"""A tree as JavaScript for browsers and servers, without dependencies."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from hornbeam.errors import ExportError, ParameterError
from hornbeam.export.checks import is_name
from hornbeam.export.source.lookup_tables import LookupTables
from hornbeam.export.source.vectors import TestVectors
from hornbeam.export.wording import wrapped
from hornbeam.tree.tree import Tree
from hornbeam.tree.unwrap import HasTree, with_quantiles
from hornbeam.tree.words import plain_label
from hornbeam.typing import Label

_EXACT = 2**53  # larger whole numbers are rounded in JavaScript


def to_javascript(
    model: Tree | HasTree,
    *,
    name: str = "hornbeamTree",
    quantiles: Sequence[float] | None = None,
    vectors: Any = None,
) -> str:
    """Write a tree as a JavaScript file that defines one object.

    Parameters
    ----------
    model : Tree, or fitted TreeClassifier or TreeRegressor
    name : str, default "hornbeamTree"
        The constant that holds the object in a page; in Node the file exports the object.
    quantiles : sequence of float, optional
        Levels, such as ``[0.1, 0.5, 0.9]``: the quantiles of `TreeRegressor.predict_quantile`, beside the mean, of a
        `TreeRegressor` that was fitted with ``distribution=True``.
    vectors : array-like or data frame of shape (n_rows, n_features), optional
        Rows to ship with the code: ``check()`` counts those with another prediction than the tree's.

    Returns
    -------
    str
        ASCII source of an object with ``node(row)``, ``probabilities(row)`` and ``predict(row)``. A row has one value
        per feature: numbers, categories by value; null, undefined or NaN where missing. Nodes and probabilities are
        the tree's, bit for bit, also if missing values go to every child. For a numeric target ``predict(row)`` is the
        mean, and there are no probabilities; ``quantiles(row)`` has the value of each of ``QUANTILES``. The source can
        stand inside a script element of a page.

    Raises
    ------
    ExportError
        If a category or class is a whole number that JavaScript would round.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> clf = TreeClassifier("cart").fit([[0]] * 5 + [[1]] * 5, ["ill"] * 4 + ["well"] * 5 + ["ill"])
    >>> source = to_javascript(clf, name="doses")
    >>> print(source.splitlines()[-1])
    if (typeof module !== "undefined") module.exports = doses;
    """
    tree = with_quantiles(model, quantiles)
    if not is_name(name, r"[A-Za-z_$][A-Za-z0-9_$]*") or name in _RESERVED:
        raise ParameterError(
            f"name is {name!r}; expected a JavaScript identifier of ASCII letters, digits, _ and $ that is not a "
            "reserved word, e.g. 'tree'."
        )
    flat, features = LookupTables.of(tree), tree.schema.features
    walk, shares, terms = flat.source_tables()
    codes = [_map(feature.categories) if not feature.is_numeric else "null" for feature in features]
    classes = (
        {}
        if tree.is_regression
        else {"CLASSES": [_literal(plain_label(label)) for label in tree.schema.classes]}
    )
    tables = {
        **classes,
        "FEATURES": [_literal(feature.name) for feature in features],
        "CODES": codes,
        "UNKNOWN": ["-1" if feature.is_nominal else "null" for feature in features],
        **(walk | {"THRESHOLD": [_literal(t) for t in walk["THRESHOLD"]]}),
        **shares,
        "BELIEF": flat.belief.tolist(),
    }
    loss = tree.decision.loss
    if loss is not None:
        tables["LOSS"] = loss.matrix.tolist()
    if len(tree.slopes):
        tables |= terms | {"SCORE": [json.dumps(row) for row in terms["SCORE"]]}
    if tree.schema.quantiles:
        tables["QUANTILES"] = list(tree.schema.quantiles)
    written = "\n".join(f"  const {key} = [\n{wrapped(items)}\n  ];" for key, items in tables.items())
    about, functions, prediction, public = _REGRESSION if tree.is_regression else _CLASSIFICATION
    if tree.schema.quantiles:
        prediction, public = "[predict(row), ...quantiles(row)]", f"{public}, QUANTILES, quantiles"
    probabilities = _PROBABILITIES
    if len(tree.slopes):
        probabilities = _SCORES + _SOFTMAX
        functions = _SCORES + _SCORED_MEAN if tree.is_regression else probabilities + _LARGEST_SCORE
    if tree.schema.quantiles:
        functions += _SCORED_QUANTILES if len(tree.slopes) else _QUANTILES
    if loss is not None:
        functions = probabilities + _LEAST_COST.replace("$SLACK", repr(loss.slack))
    labels = () if tree.is_regression else tree.schema.classes
    check = "" if vectors is None else _check(TestVectors.of(tree, vectors), prediction, labels)
    parts = {"NAME": name, "ROOT": "0" if flat.n_inner else "-1", "TABLES": written, "ABOUT": about}
    parts |= {"CHECK": check, "PUBLIC": public + (", VECTORS, check" if check else "")}
    # One pass, so that a name that contains a placeholder is not replaced.
    source = _SOURCE.replace("$FUNCTIONS", functions)
    return re.sub(r"\$([A-Z]+)", lambda found: parts[found[1]], source)


def _map(categories: tuple[object, ...]) -> str:
    pairs = [f"[{_literal(plain_label(category))}, {code}]" for code, category in enumerate(categories)]
    return f"new Map([\n{wrapped(pairs, indent='      ')}\n    ])"


def _literal(value: str | float | bool | None) -> str:
    if isinstance(value, int) and abs(value) > _EXACT:
        raise ExportError(
            f"The category or class {value} has no exact JavaScript number; expected at most 2**53. "
            "Make these values strings before fitting."
        )
    # "</script" would end the script element of a page, also inside a string.
    return json.dumps(value).replace("<", "\\u003c")


def _check(vectors: TestVectors, prediction: str, classes: tuple[Label, ...]) -> str:
    rows = [f"[{', '.join(map(_literal, row))}]" for row in vectors.values()]
    decided = [
        _literal(plain_label(classes[code])) if classes else "null" for code in vectors.decided.tolist()
    ]
    expected = zip(rows, vectors.nodes.tolist(), vectors.probabilities.tolist(), decided, strict=True)
    table = wrapped(f"[{row}, {node}, {p}, {label}]" for row, node, p, label in expected)
    label = " ||\n      predict(row) !== label" if classes else ""
    return _CHECK.replace("$PREDICTION", prediction).replace("$LABEL", label).replace("$VECTORS", table)


_RESERVED = frozenset({
    "arguments", "await", "break", "case", "catch", "class", "const", "continue", "debugger", "default",
    "delete", "do", "else", "enum", "eval", "export", "extends", "false", "finally", "for", "function",
    "if", "implements", "import", "in", "instanceof", "interface", "let", "module", "new", "null",
    "package", "private", "protected", "public", "return", "static", "super", "switch", "this", "throw",
    "true", "try", "typeof", "var", "void", "while", "with", "yield",
})  # fmt: skip

_SOURCE = """"use strict";
// A decision tree, exported by Hornbeam.
//
$ABOUT A row has one value for each of FEATURES: a number, or
// a category by value; null, undefined or NaN where it is missing.
const $NAME = (() => {
$TABLES

  function read(row) {
    if (row.length !== FEATURES.length) {
      throw new RangeError(`a row has ${FEATURES.length} values, found ${row.length}`);
    }
    return Array.from(row, (value, f) => {
      if (value === null || value === undefined || Number.isNaN(value)) return null;
      if (CODES[f] === null) return Number(value);
      const code = CODES[f].get(value);
      return code === undefined ? UNKNOWN[f] : code;
    });
  }

  function stop(values, at) {
    while (at >= 0) {
      const value = values[FEATURE[at]];
      if (value === null) at = LEAD[START[at + 1] - 1];
      else if (!Number.isNaN(THRESHOLD[at])) at = LEAD[START[at] + (value > THRESHOLD[at] ? 1 : 0)];
      else at = value < 0 ? ~at : LEAD[START[at] + value];
    }
    return ~at;
  }

  function node(row) {
    return NODE[stop(read(row), $ROOT)];
  }

$FUNCTIONS$CHECK
  return { $PUBLIC };
})();
if (typeof module !== "undefined") module.exports = $NAME;
"""

_PROBABILITIES = """  // A missing value may go to every branch, with a share for each.
  function probabilities(row) {
    const values = read(row);
    const total = new Array(CLASSES.length).fill(0);
    const waiting = [[$ROOT, 1]];
    while (waiting.length > 0) {
      const [at, share] = waiting.pop();
      const place = stop(values, at);
      const shared = place < FEATURE.length && values[FEATURE[place]] === null;
      const first = shared ? SHARED[place] : 0;
      const last = shared ? SHARED[place + 1] : 0;
      for (let i = last - 1; i >= first; --i) waiting.push([SHARED_LEAD[i], share * SHARE[i]]);
      if (first === last) BELIEF[place].forEach((p, k) => { total[k] += share * p; });
    }
    return total;
  }
"""

_SCORES = """  // The score of each class, or the mean: that of the leaf, and its terms for the values of the row.
  function scores(values, place) {
    const score = SCORE[place].slice();
    for (let i = TERM_START[place]; i < TERM_START[place + 1]; ++i) {
      const value = values[TERM_FEATURE[i]];
      if (value === null) continue;
      let known = value < LOW[i] ? LOW[i] : value > HIGH[i] ? HIGH[i] : value;
      if (CATEGORY[i] >= 0) known = value === CATEGORY[i] ? 1 : 0;
      const distance = known - CENTRE[i];
      SLOPE[i].forEach((slope, k) => { score[k] += slope * distance; });
    }
    return score;
  }

"""

_QUANTILES = """
  // The value of each of QUANTILES.
  function quantiles(row) {
    return BELIEF[stop(read(row), $ROOT)].slice(1);
  }
"""

_SCORED_QUANTILES = """
  // The value of each of QUANTILES.
  function quantiles(row) {
    const values = read(row);
    return scores(values, stop(values, $ROOT)).slice(1);
  }
"""

_SCORED_MEAN = """  function predict(row) {
    const values = read(row);
    return scores(values, stop(values, $ROOT))[0];
  }
"""

_SOFTMAX = """  // exp(x) for x <= 0, with the same bits everywhere.
  function exp(x) {
    if (x < -745.1332191019412) return 0;
    const k = (x * 1.4426950408889634 + 6755399441055744) - 6755399441055744;
    const high = x - k * 0.6931471803691238;
    const low = k * 1.9082149292705877e-10;
    const r = high - low;
    let series = 1 / 6227020800;
    for (const factorial of [479001600, 39916800, 3628800, 362880, 40320, 5040, 720, 120, 24, 6, 2]) {
      series = 1 / factorial + r * series;
    }
    let power = 1 + (r + (((high - r) - low) + r * r * series));
    let factor = 0.5;
    for (let n = -k; n > 0; n >>= 1) {
      if (n & 1) power *= factor;
      factor *= factor;
    }
    return power;
  }

  function probabilities(row) {
    const values = read(row);
    const place = stop(values, $ROOT);
    const score = scores(values, place);
    if (TERM_START[place] === TERM_START[place + 1]) return score;
    const largest = Math.max(...score);
    const powers = score.map((one) => exp(one - largest));
    const total = powers.reduce((sum, power) => sum + power, 0);
    return powers.map((power) => power / total);
  }
"""

_LARGEST_SCORE = """
  // The first class of the largest score.
  function predict(row) {
    const values = read(row);
    const score = scores(values, stop(values, $ROOT));
    return CLASSES[score.indexOf(Math.max(...score))];
  }
"""

_MOST_PROBABLE = """
  function predict(row) {
    const p = probabilities(row);
    return CLASSES[p.indexOf(Math.max(...p))];
  }
"""

_LEAST_COST = """
  // The class of least expected cost; costs that differ by $SLACK at most are equal, and the first class wins.
  function predict(row) {
    const costs = new Array(CLASSES.length).fill(0);
    probabilities(row).forEach((p, k) => LOSS[k].forEach((loss, j) => { costs[j] += p * loss; }));
    const least = Math.min(...costs) + $SLACK;
    return CLASSES[costs.findIndex((cost) => cost <= least)];
  }
"""

_MEAN = """  function predict(row) {
    return BELIEF[stop(read(row), $ROOT)][0];
  }
"""

_CLASSIFICATION = (
    """// node(row) is the node where a row stops, probabilities(row) the probabilities of CLASSES there, and
// predict(row) the class that the model decides for.""",
    _PROBABILITIES + _MOST_PROBABLE,
    "probabilities(row)",
    "CLASSES, FEATURES, node, probabilities, predict",
)
_REGRESSION = (
    "// node(row) is the node where a row stops, and predict(row) its mean.",
    _MEAN,
    "[predict(row)]",
    "FEATURES, node, predict",
)

_CHECK = """
  const VECTORS = [
$VECTORS
  ];

  // The number of rows of VECTORS with another node or another prediction than the tree's.
  function check() {
    return VECTORS.filter(([row, stop, expected, label]) =>
      node(row) !== stop || $PREDICTION.some((p, k) => p !== expected[k])$LABEL).length;
  }
"""
