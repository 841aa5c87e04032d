"""The trees as C, by Hornbeam and by others, behind two functions with the same signature.

``chip_class(x)`` gives the code of the class of a row, ``chip_probabilities(x, p)`` its probabilities. What a way needs
first, such as bins, happens inside them and is weighed and timed with the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike

from benchmarks.export.chips.trees import CLASSES, FEATURES, Model
from hornbeam.export import to_c

TYPES: dict[str, DTypeLike] = {
    "double": np.float64, "float": np.float32, "int16_t": np.int16, "uint16_t": np.uint16, "uint8_t": np.uint8,
}  # fmt: skip
BOUNDS = {"double": 0.0, "float": 2.0**-25, "uint16_t": 1 / 65_535, "uint8_t": 1 / 255}
"""How far a probability of ours may be from the tree's."""


@dataclass(frozen=True, slots=True)
class Source:
    """A tree in C: its writer and form, the types of a row's values and of probabilities, and what `one` is."""

    maker: str
    layout: str
    values: str
    probabilities: str
    complete: bool
    code: str
    one: int = 1
    bound: float | None = None
    include: Path | None = None

    @property
    def facts(self) -> dict[str, object]:
        """What tells it from the others."""
        names = ("maker", "layout", "values", "probabilities", "complete")
        return {name: getattr(self, name) for name in names}


EMLEARN = (("inline", "float"), ("inline", "int16_t"), ("loadable", "int16_t"))
"""The layouts of emlearn, nested ifs and tables, and the values they take."""


def all_sources(model: Model) -> Iterator[Source]:
    """Every layout, ours with every kind of probability for floats and with 8 bits for integers."""
    kinds = [("float", "float"), ("float", "uint16"), ("float", "uint8"), ("int16", "uint8")]
    for layout, (values, kind), complete in product(("if", "table", "bins"), kinds, (True, False)):
        yield ours(model, layout, values, kind, complete)
    for (layout, values), bits in product(EMLEARN, (0, 8)):
        yield emlearn(model, layout, values, bits)


def ours(model: Model, layout: str, values: str, kind: str, complete: bool) -> Source:
    """The tree in our C; `complete` for rows without missing values."""
    code = to_c(model.tree, layout=layout, input=values, probability=kind, complete=complete)
    value, probability = (name + "_t" * ("int" in name) for name in (values, kind))
    body = _BINNED if layout == "bins" else _DIRECT
    call = body.format(value=value, probability=probability, features=FEATURES)
    one = {"uint8": 255, "uint16": 65_535}.get(kind, 1)
    return Source("hornbeam", layout, value, probability, complete, code + call, one, BOUNDS[probability])


def emlearn(model: Model, layout: str, value: str, bits: int) -> Source:
    """The twin in the C of emlearn, which knows no missing values: classes alone, or `bits` of probability."""
    import emlearn

    made = emlearn.convert(model.twin, method=layout, dtype=value, leaf_bits=bits)
    call = _EMLEARN.format(value=value, features=FEATURES, classes=CLASSES)
    kind = f"uint{bits}_t" if bits else "class"
    include = Path(emlearn.__file__).parent
    return Source("emlearn", layout, value, kind, True, made.save(name="them") + call, include=include)


_DIRECT = """
int32_t chip_class(const {value} *x) {{ return tree_class(x); }}
void chip_probabilities(const {value} *x, {probability} *p) {{ tree_probabilities(x, p); }}
"""

_BINNED = """
int32_t chip_class(const {value} *x) {{ tree_value bins[{features}]; tree_bin(x, bins); return tree_class(bins); }}
void chip_probabilities(const {value} *x, {probability} *p)
{{
    tree_value bins[{features}];
    tree_bin(x, bins);
    tree_probabilities(bins, p);
}}
"""

_EMLEARN = """
int32_t chip_class(const {value} *x) {{ return them_predict(x, {features}); }}
void chip_probabilities(const {value} *x, float *p) {{ them_predict_proba(x, {features}, p, {classes}); }}
"""
