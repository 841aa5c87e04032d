"""Random fits try every parameter of every public estimator, and their oracles find what is wrong."""

import inspect

import numpy as np
import pytest

pytest.importorskip("polars")

from benchmarks.attacks import ensembles, readable, trees
from benchmarks.attacks.fits import KINDS, judge_fit
from benchmarks.attacks.oracles import ORACLES
from benchmarks.attacks.settings import parameters, values
from benchmarks.attacks.tables import draw_rows, made_rows

import hornbeam
from hornbeam.growing.grower import Grower

pytestmark = pytest.mark.filterwarnings("ignore")  # a case may warn; its judge says what counts
ROWS = {
    "rows": 40,
    "seed": 1,
    "columns": [{"name": "x", "kind": "numbers", "seed": 2}],
    "classes": 2,
    "target": "text",
}
OF_FIT = {"X", "y", "sample_weight", "groups", "query"}  # drawn with the table
OF_FILES = {"engine", "grow_rows", "memory", "cache"}  # the areas of faults and caches have them


def drawn(n=1500):
    """The settings of many cases, by estimator."""
    found = {}
    for area in (trees, readable, ensembles):
        for seed in range(n):
            case = area.draw(np.random.default_rng(seed))
            found.setdefault(case["estimator"], set()).update(case["settings"])
    return found


def test_every_parameter_of_a_public_estimator_is_drawn():
    """A new parameter is drawn by the type in its documentation, or this test asks for a maker in `settings.py`."""
    found = drawn()
    for name, kind in KINDS.items():
        known = set(inspect.signature(kind).parameters) - OF_FIT
        assert known - set(parameters(kind)) == set(), f"{name}: parameters without documentation"
        assert known - found[name] == set(), f"{name}: parameters that no area draws"


def test_every_public_estimator_is_drawn():
    public = {name: getattr(hornbeam, name) for name in hornbeam.__all__}
    estimators = {name: kind for name, kind in public.items() if hasattr(kind, "get_params")}
    assert estimators.keys() <= KINDS.keys()
    for kind in estimators.values():
        assert set(inspect.signature(kind.fit).parameters) - {"self"} <= OF_FIT | OF_FILES


def test_every_parameter_of_a_grower_has_values():
    known = inspect.signature(Grower).parameters
    assert [name for name in known if len(values(Grower, name)) < 2] == []


def test_values_are_read_from_the_documentation():
    def new(size, how, names):
        """Do something new.

        Parameters
        ----------
        size, count : int or None, default=None
            A size.
        how : {"fast", "slow"}, default="fast"
            A way.
        names : str, default="all"
            One of "all" and "some".
        other : Widget
            A type without a maker.

        Returns
        -------
        nothing : int
        """

    assert list(parameters(new)) == ["size", "count", "how", "names", "other"]
    assert {None, 2, 30} <= set(values(new, "count"))
    assert values(new, "how") == ["fast", "slow"]
    assert values(new, "names") == ["all", "some"]
    assert values(new, "other") == []


def test_a_column_less_changes_no_other_column():
    case = draw_rows(np.random.default_rng(3), regression=False)
    case["columns"] = [{"name": name, "kind": "holes", "seed": at} for at, name in enumerate("abc")]
    fewer = made_rows(case | {"columns": case["columns"][1:]}).X
    assert fewer.equals(made_rows(case).X[["b", "c"]])


@pytest.mark.parametrize(
    "oracle", ["predictions", "files", "update", "order", "weights", "edits", "intervals"]
)
def test_an_oracle_judges_a_plain_tree(oracle):
    case = {"estimator": "TreeClassifier", "settings": {}, "table": ROWS, "oracles": [oracle], "seed": 0}
    assert judge_fit(case) is None


def test_a_wrong_model_is_found(monkeypatch):
    """Each of these oracles fails if the probabilities of a tree depend on when they are asked for."""
    calls = iter(range(10**6))
    honest = hornbeam.TreeClassifier.predict_proba

    def drifting(self, X):
        return honest(self, X) * (1 + next(calls) * 1e-6)

    monkeypatch.setattr(hornbeam.TreeClassifier, "predict_proba", drifting)
    for oracle in ("predictions", "files", "order", "update"):
        case = {
            "estimator": "TreeClassifier",
            "settings": {},
            "table": ROWS,
            "oracles": [oracle, "predictions"],
        }
        assert judge_fit(case) is not None, oracle


def test_a_raw_error_and_a_broken_limit_are_found(monkeypatch):
    case = {"estimator": "TreeClassifier", "settings": {"max_depth": 1}, "table": ROWS, "oracles": ["limits"]}
    assert judge_fit(case) is None
    honest = hornbeam.TreeClassifier.fit
    monkeypatch.setattr(
        hornbeam.TreeClassifier, "fit", lambda self, *a, **k: honest(self.set_params(max_depth=None), *a, **k)
    )
    deep = case | {
        "table": ROWS | {"classes": 2},
        "settings": {"preset": "cart", "max_depth": 1, "pruning": None},
    }
    assert "at most 1" in judge_fit(deep)
    monkeypatch.setattr(hornbeam.TreeClassifier, "fit", lambda self, *a, **k: 1 / 0)
    assert "ZeroDivisionError" in judge_fit(case)


def test_every_oracle_says_what_must_hold():
    assert all(oracle.__doc__ for _, oracle in ORACLES.values())
