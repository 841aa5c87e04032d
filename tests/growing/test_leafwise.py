"""Growing best first on gradients: the same trees as `Grower`, and what the kernel refuses."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam import BoostedTreesClassifier
from hornbeam.data.binning.bins import Bins
from hornbeam.data.encoded_rows import EncodedTable
from hornbeam.data.engine import LocalEngine
from hornbeam.data.numeric_target import NumericTarget
from hornbeam.data.schema import Kind
from hornbeam.data.sources import MemorySource
from hornbeam.data.table import Table
from hornbeam.ensembles.boosting.gradients import GradientScale
from hornbeam.errors import ParameterError
from hornbeam.growing.criterion import Criterion, Missing
from hornbeam.growing.grower import Grower
from hornbeam.growing.leafwise import Leafwise, build_trees
from hornbeam.kernels import _native
from hornbeam.tree.route import route
from support.examples import examples
from support.strategies_growing import regression_tables

ARRAYS = ("n_children", "feature", "threshold", "slot_start", "slot_of", "missing_slot")


def grow(table, bins, grower, n_jobs=1):
    encoded = EncodedTable.for_gradients(table, bins)
    gradients = GradientScale.of(table).fixed_point(table.numeric_target.values, None)
    terms = grower.terms(encoded)
    return grower.grow(terms, gradients, None, table.n_rows, key=0, n_jobs=n_jobs), encoded


def newton_tree(grown, encoded):
    [tree] = build_trees([(grown, grown.newton(0.0))], encoded)
    return tree


@given(st.data())
@examples(60)
def test_with_hessians_of_one_the_tree_is_the_regression_tree(data):
    """A Newton step is then a mean, so both kernels grow the same tree."""
    table = data.draw(regression_tables(max_rows=80))
    if table.weight is not None and table.unit != 1.0:
        table = replace(
            table, weight=None, unit=1.0, numeric_target=NumericTarget.of(table.numeric_target.values)
        )
    bins = Bins.fit(MemorySource(table), LocalEngine(), max_bins=16)
    leaves, depth = data.draw(st.sampled_from([None, 2, 5])), data.draw(st.sampled_from([None, 3]))
    grown, encoded = grow(table, bins, Leafwise(leaves, depth, min_samples_leaf=1, corrected=False))
    tree = newton_tree(grown, encoded)
    other = Grower(Criterion.SQUARED_ERROR, missing=Missing.LEARNED, max_depth=depth, max_leaf_nodes=leaves)
    expected = other.grow(table, bins)
    for name in ARRAYS:
        np.testing.assert_array_equal(
            getattr(tree.skeleton, name), getattr(expected.skeleton, name), err_msg=name
        )
    np.testing.assert_allclose(tree.belief, expected.belief, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(grown.newton(0.0)[grown.node], tree.belief[route(tree.skeleton, table), 0])


@given(
    n=st.integers(1, 400),
    exponent=st.integers(-40, 40),
    ulps=st.integers(-3, 3),
    times=st.sampled_from([None, 1, 3, 7]),
)
@examples(200)
def test_steps_fit_where_the_sum_of_equal_rows_is_about_a_power_of_two(n, exponent, ulps, times):
    """The sum of rounded floats can reach a power of two that the product of number and value stays below."""
    value = 2.0**exponent / (n * (times or 1))
    for _ in range(abs(ulps)):
        value = np.nextafter(value, np.inf if ulps > 0 else 0.0)
    table = Table.read(np.arange(n, dtype=float)[:, None], np.zeros(n), target_kind=Kind.NUMERIC)
    encoded = EncodedTable.for_gradients(table, Bins.fit(MemorySource(table), LocalEngine()))
    scale = GradientScale(None if times is None else np.full(n, times, np.int32), None, n * (times or 1))
    gradients = scale.fixed_point(np.full(n, value), np.full(n, value))
    grower = Leafwise(min_samples_leaf=1)
    grown = grower.grow(grower.terms(encoded), gradients, None, n, key=0)
    np.testing.assert_allclose(grown.sums[0], n * (times or 1) * value, rtol=1e-9)


@pytest.mark.parametrize("n_rows", [192, 768, 3072])
def test_twelve_balanced_classes_are_boosted(n_rows):
    """Their hessians, a twelfth each, add up to a power of two."""
    X = np.random.default_rng(0).normal(size=(n_rows, 3))
    model = BoostedTreesClassifier(n_estimators=1).fit(X, np.arange(n_rows) % 12)
    assert np.isfinite(model.predict_proba(X)).all()


def test_growing_does_not_change_the_shared_rules():
    X = np.random.default_rng(0).normal(size=(100, 2))
    table = Table.read(X, X[:, 0], target_kind=Kind.NUMERIC)
    bins, grower = Bins.fit(MemorySource(table), LocalEngine()), Leafwise()
    encoded = EncodedTable.for_gradients(table, bins)
    terms = grower.terms(encoded)
    before = terms.rules.__getstate__()
    gradients = GradientScale.of(table).fixed_point(table.numeric_target.values, None)
    grower.grow(terms, gradients, None, 100, key=0)
    assert terms.rules.__getstate__() == before


def test_parameters_out_of_range_are_refused():
    for wrong in (
        {"max_leaf_nodes": 1},
        {"max_depth": 0},
        {"min_samples_leaf": 0},
        {"l2_regularization": -1.0},
    ):
        with pytest.raises(ParameterError, match="expected"):
            Leafwise(**wrong)


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ({"numerator": np.zeros(2)}, "one numerator per row"),
        ({"denominator": np.zeros(2)}, "one denominator per row"),
        ({"times": np.zeros(2, np.int32)}, "one number of times per row"),
        ({"order": np.array([0, 1, 3], np.int32)}, "rows of the table"),
        ({"n_train": 0}, "from 1 training row"),
        ({"n_train": 4}, "from 1 training row"),
        ({"shift": 0}, "a shift and threads"),
        ({"n_threads": 0}, "a shift and threads"),
        ({"rules": _native.Rules()}, "learned directions"),
        ({"least_denominator": -1.0}, "0 or more"),
        ({"dispersion": np.nan}, "0 or more"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(what, message):
    rules = _native.Rules()
    rules.missing = _native.Missing.learned
    columns = _native.Columns(np.array([2], np.int32), np.zeros(1, np.uint8), None, None, 1)
    rows = _native.BoostingRows(np.array([[0], [1], [2]], np.uint8), columns)
    with pytest.raises(ValueError, match="one code per feature"):
        _native.BoostingRows(np.zeros((3, 2), np.uint8), columns)
    sound = {
        "numerator": np.zeros(3),
        "denominator": None,
        "times": None,
        "order": np.arange(3, dtype=np.int32),
        "n_train": 3,
        "rules": rules,
        "numerator_scale": 1.0,
        "denominator_scale": 1.0,
        "shift": 2,
        "least_denominator": 0.0,
        "dispersion": 0.0,
        "max_leaves": 0,
        "key": 0,
        "n_threads": 1,
    }
    assert len(rows.grow(**sound)) == 2
    with pytest.raises(ValueError, match=message):
        rows.grow(**sound | what)


def grown_digest(n_rows, n_jobs):
    X = np.random.default_rng(0).normal(size=(n_rows, 2))
    table = Table.read(X, X[:, 0] * X[:, 1], target_kind=Kind.NUMERIC)
    grown, encoded = grow(table, Bins.fit(MemorySource(table), LocalEngine()), Leafwise(), n_jobs)
    return newton_tree(grown, encoded).digest


def test_a_thousand_threads_grow_the_same_tree():
    assert grown_digest(100_000, n_jobs=1000) == grown_digest(100_000, n_jobs=1)  # a thread for 4096 rows


def test_threads_that_the_system_refuses_do_not_change_the_tree():
    """A new process with memory for a few stacks only, which are so large that plenty is left for all other memory."""
    resource = pytest.importorskip("resource")
    if not Path("/proc/self/statm").exists():
        pytest.skip("the memory of a process is read from /proc")
    if "asan" in os.environ.get("LD_PRELOAD", ""):
        pytest.skip("the sanitizer ends a process that is short of memory")
    if -1 < resource.getrlimit(resource.RLIMIT_STACK)[1] < 2**32:
        pytest.skip("the system does not allow stacks of 4 GB")
    code = """
import resource
from pathlib import Path
from growing.test_leafwise import grown_digest

alone = grown_digest(50_000, n_jobs=1)
taken = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (taken + 5 * 2**31, taken + 5 * 2**31))
assert grown_digest(50_000, n_jobs=200) == alone  # 12 threads, of which two get their stack
"""

    def stacks_of_4_gigabytes():
        resource.setrlimit(resource.RLIMIT_STACK, (2**32, resource.getrlimit(resource.RLIMIT_STACK)[1]))

    subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        timeout=60,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        preexec_fn=stacks_of_4_gigabytes,
    )
