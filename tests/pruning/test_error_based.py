"""Error-based pruning: worked numbers, the constants of both programs, and raising on a small table."""

import time

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta
from sklearn.datasets import load_breast_cancer

from hornbeam import TreeClassifier
from hornbeam.data.table import Table
from hornbeam.errors import DataError, HornbeamError, ParameterError
from hornbeam.pruning import Collapse, ErrorBased, LeafBudget, raising
from hornbeam.pruning.error_based import expected_errors
from hornbeam.tree import Skeleton
from hornbeam.tree.evidence.count import count_rows
from hornbeam.tree.skeleton import EVERY_CHILD, STOP
from support.strategies import trees
from support.worked_trees import over_leaves, rows_at, worked_tree

CANCER = load_breast_cancer(return_X_y=True)


@pytest.mark.parametrize(
    ("n", "e", "j48", "c45", "exact"),
    [
        (6, 0, 0.2063, 0.2063, 0.2063),
        (9, 0, 0.1428, 0.1428, 0.1428),
        (1, 0, 0.7500, 0.7500, 0.7500),
        (16, 1, 0.1547, 0.1567, 0.1596),
        (14, 5, 0.4829, 0.4854, 0.4835),
    ],
)
def test_worked_limits(n, e, j48, c45, exact):
    """Both programs are close to the upper limit of the binomial, and equal to it without errors."""
    assert beta.ppf(0.75, e + 1, n - e) == pytest.approx(exact, abs=5e-5)
    weight = np.array([[n - e, e]], float)
    assert expected_errors(weight)[0] / n == pytest.approx(j48, abs=5e-5)
    assert expected_errors(weight, constants="c4.5")[0] / n == pytest.approx(c45, abs=5e-5)


def test_a_leaf_where_nearly_all_rows_are_wrong():
    """One error of 1.5 rows: J48 expects all to be wrong, C4.5 two thirds of the rest."""
    tight = np.array([[0.5, 0.5, 0.5]])
    assert expected_errors(tight)[0] == pytest.approx(1.5)
    assert expected_errors(tight, constants="c4.5")[0] == pytest.approx(1 + 0.67 * 0.5)


def test_less_than_one_error_is_interpolated():
    """Fractional rows have fractional errors: half an error is half way between none and one."""
    none, one = expected_errors(np.array([[8.0, 0]])), expected_errors(np.array([[7.0, 1]]))
    assert expected_errors(np.array([[7.5, 0.5]])) == pytest.approx((none + one) / 2)


def test_leaves_without_rows_and_a_confidence_above_one_half():
    assert expected_errors(np.zeros((1, 3))).tolist() == [0]
    assert expected_errors(np.array([[3.0, 2]]), confidence=0.6).tolist() == [2]
    assert expected_errors(np.array([[3.0, 2]]), confidence=0.6, constants="c4.5") > 2


@pytest.mark.parametrize("constants", ["j48", "c4.5"])
def test_three_small_pure_leaves_are_pruned_to_one_leaf(constants):
    skeleton = Skeleton.of([2, 0, 2, 0, 0], [0, -1, 0, -1, -1], [0.5, np.nan, 1.5, np.nan, np.nan])
    tree = over_leaves(skeleton, [[6, 0], [9, 0], [0, 1]])
    assert expected_errors(tree.evidence[[1, 3, 4]].astype(float)).sum() == pytest.approx(3.273, abs=5e-4)
    assert expected_errors(tree.evidence[:1].astype(float), constants=constants)[0] == pytest.approx(
        {"j48": 2.476, "c4.5": 2.507}[constants], abs=5e-4
    )
    assert ErrorBased(constants=constants)(tree).n_nodes == 1


@given(trees(), st.floats(0.01, 0.49), st.floats(0.01, 0.49))
def test_a_lower_confidence_gives_more_expected_errors(tree, one, other):
    less, more = sorted((one, other))
    weight = tree.evidence * tree.unit
    assert (expected_errors(weight, less) >= expected_errors(weight, more) * (1 - 1e-9)).all()
    assert ErrorBased(less)(tree).n_leaves <= tree.n_leaves


def raisable():
    """The root separates two rows, which the large right branch classifies just as well."""
    x = np.column_stack([np.r_[[0.0] * 2, [1.0] * 40], np.r_[0.0, 1.0, [0.0] * 20, [1.0] * 20]])
    y = np.r_[0, 1, [0] * 20, [1] * 20].astype(np.int32)
    table = Table.read(x, y)
    skeleton = Skeleton.of([2, 0, 2, 0, 0], [0, -1, 1, -1, -1], [0.5, np.nan, 0.5, np.nan, np.nan])
    return count_rows(skeleton, table, gain=np.array([0.1, np.nan, 0.9, np.nan, np.nan])), table


def test_a_branch_is_raised_with_all_rows_of_its_parent():
    tree, table = raisable()
    pruned = ErrorBased(rows=table)(tree)
    assert pruned.skeleton.feature.tolist() == [1, -1, -1]
    assert pruned.evidence.tolist() == [[21, 21], [21, 0], [0, 21]]
    assert not pruned.skeleton.is_fractional  # no value is missing
    assert np.isnan(pruned.gain).all()  # it was that of other rows
    assert str(pruned.history[-1]) == "error-based(confidence=0.25, constants='j48', raising=True)"


@pytest.mark.parametrize("parameters", [{}, {"raising": False}])
def test_nothing_is_raised_without_a_table_or_with_raising_false(parameters):
    tree, table = raisable()
    kept = ErrorBased(rows=table if parameters else None, **parameters)(tree)
    assert kept.skeleton.feature.tolist() == [0, -1, 1, -1, -1]
    assert not dict(kept.history[-1].parameters)["raising"]


@pytest.mark.parametrize(("unit", "slot"), [(1.0, STOP), (2.0**-20, EVERY_CHILD)])
def test_missing_values_new_to_a_raised_split_stop_there_unless_rows_are_fractional(unit, slot):
    tree, table = raisable()
    x = np.column_stack(table.columns)
    x[0, 1] = np.nan  # a row of the sibling that is removed
    table = Table.read(x, table.target)
    pruned = ErrorBased(rows=table)(count_rows(tree.skeleton, table, unit=unit))
    assert pruned.skeleton.feature.tolist() == [1, -1, -1]
    assert pruned.skeleton.missing_slot[0] == slot
    assert np.array_equal(count_rows(pruned.skeleton, table, unit=unit).evidence, pruned.evidence)
    left = (pruned.evidence * pruned.unit)[1, 0]
    assert left == 20 if slot == STOP else 20 < left < 21


def test_categories_new_to_a_raised_split_get_leaves():
    """Only rows of the removed sibling are green: the raised split had no branch for them."""
    colour = np.array(["red"] * 20 + ["blue"] * 20 + ["green"] * 3, dtype=object)
    size = np.r_[[1.0] * 40, [0.0] * 3]
    y = np.r_[[0] * 20, [1] * 20, 0, 0, 1].astype(np.int32)
    table = Table.read(np.column_stack([size.astype(object), colour]), y)
    assert table.schema.features[1].categories == ("blue", "green", "red")
    skeleton = Skeleton.of(
        [2, 0, 2, 0, 0],
        [0, -1, 1, -1, -1],
        [0.5, *[np.nan] * 4],
        slot_start=[0, 0, 0, 3, 3, 3],
        slot_of=[0, -1, 1],
    )
    pruned = ErrorBased(rows=table)(count_rows(skeleton, table))
    assert pruned.skeleton.feature.tolist() == [1, -1, -1, -1]
    assert pruned.skeleton.slot_of.tolist() == [0, 2, 1]
    assert pruned.evidence.tolist() == [[22, 21], [0, 20], [20, 0], [2, 1]]


def test_the_evidence_is_that_of_a_recount():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (300, 6)).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = (np.nan_to_num(X[:, 0]) > 0) ^ (rng.random(300) < 0.3)
    table = Table.read(X, y)
    tree = TreeClassifier("c4.5", pruning="collapse").fit(X, y).tree_
    pruned = ErrorBased(rows=table)(tree)
    assert 1 < pruned.n_leaves < tree.n_leaves
    again = count_rows(pruned.skeleton, table, unit=float(tree.unit[0]))
    assert np.array_equal(again.evidence, pruned.evidence)
    assert np.array_equal(again.rows, pruned.rows)
    assert pruned.skeleton.is_fractional


def test_the_tree_is_collapsed_first():
    tree = TreeClassifier("c4.4").fit(*CANCER).tree_
    collapsed = Collapse()(tree)
    assert collapsed.n_leaves < tree.n_leaves
    for pruner in ErrorBased(), ErrorBased(rows=CANCER):
        assert pruner(tree).digest == pruner(collapsed).digest
    assert [step.name for step in ErrorBased()(tree).history[1:]] == ["laplace", "collapse", "error-based"]


# ---- in a fit ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", ["default", "c4.5", "cart", "id3"])
@pytest.mark.parametrize("missing", ["own", "learned", "fractional"])
@pytest.mark.parametrize("given", [{}, {"sample_weight": True}, {"class_weight": "balanced"}])
def test_a_fit_passes_its_rows(preset, missing, given):
    X, y = holed_rows()
    weight = np.random.default_rng(1).integers(1, 9, len(y)) / 4 if "sample_weight" in given else None
    class_weight = given.get("class_weight")
    settings = {"smoothing": None, "missing": missing, "class_weight": class_weight}
    grown = TreeClassifier(preset, pruning=None, **settings).fit(X, y, weight).tree_
    by_name = TreeClassifier(preset, pruning="error-based", **settings).fit(X, y, weight).tree_
    table = Table.read(X, y, sample_weight=weight, class_weight=class_weight)
    assert by_name.digest == ErrorBased(rows=table)(grown).digest
    if not given:
        assert by_name.digest != ErrorBased()(grown).digest  # something was raised


def holed_rows():
    """Rows from which every preset grows a tree with a branch to raise."""
    rng = np.random.default_rng(11)
    X = rng.integers(0, 6, (150, 5)).astype(float)
    y = (X[:, 0] + X[:, 1] > 5) ^ (rng.random(150) < 0.25)
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, y


@pytest.mark.parametrize("missing", ["own", "learned", "fractional"])
def test_a_loop_over_few_rows_gives_the_tree_of_whole_arrays(missing, monkeypatch):
    X, y = holed_rows()
    home = np.random.default_rng(3).choice(list("abcde"), len(y))
    rows = np.column_stack([X.astype(object), home])
    trees = []
    for few in (0, 500):
        monkeypatch.setattr(raising, "_FEW_ROWS", few)
        model = TreeClassifier("id3", pruning="error-based", smoothing=None, missing=missing)
        trees.append(model.fit(rows, y, np.arange(1, len(y) + 1) / 4).tree_)
    assert trees[0].digest == trees[1].digest
    assert trees[0].n_leaves > 2


def test_the_time_of_pruning_every_tree_of_cross_fitting():
    """Noise, where little is cut and raising is tried at every node: for each of 58 trees, a few times its growth."""
    rng = np.random.default_rng(1)
    X, y = np.arange(200.0)[:, None], rng.integers(0, 5, 200)

    def seconds(n, *preset, **parameters):
        start = time.process_time()
        for _ in range(n):
            TreeClassifier(*preset, **parameters).fit(X, y)
        return (time.process_time() - start) / n

    grown = min(seconds(20, "c4.5", pruning=None) for _ in range(3))  # 20: some clocks have steps of 16 ms
    assert min(seconds(1, pruning="error-based") for _ in range(2)) < 30 * 58 * grown


@pytest.mark.parametrize("smoothing", ["cross-fitted", "hgs"])
def test_smoothing_after_raising(smoothing):
    X, y = holed_rows()
    fitted = TreeClassifier("c4.5", smoothing=smoothing).fit(X, y)
    plain = TreeClassifier("c4.5").fit(X, y)
    assert fitted.tree_.skeleton.threshold.tobytes() == plain.tree_.skeleton.threshold.tobytes()
    assert (fitted.tree_.evidence == plain.tree_.evidence).all()
    before = fitted.tree_.digest
    fitted.update(X[:20], y[:20])
    assert fitted.tree_.rows[0] == 170
    assert fitted.forget(X[:20], y[:20]).tree_.digest == before


def test_a_pruner_of_the_user_may_use_the_rows():
    class OneLeafPerRow:
        uses_rows = True

        def with_rows(self, table):
            return LeafBudget(max(table.n_rows // 100, 1))

        def __call__(self, tree):
            raise AssertionError("called without the rows")

    assert TreeClassifier("cart", pruning=OneLeafPerRow()).fit(*CANCER).tree_.n_leaves == 5


def test_rows_of_another_table_raise():
    tree = worked_tree()
    with pytest.raises(DataError, match="not those of the tree's evidence"):
        ErrorBased(rows=rows_at(tree, {0: [1, 1]}))(tree)
    with pytest.raises(DataError, match="without a target"):
        ErrorBased(rows=Table(tree.schema, (np.zeros(3),)))(tree)


def test_rows_are_taken_in_any_form(tmp_path):
    X, y = CANCER
    tree = TreeClassifier("c4.4").fit(X, y).tree_
    frame = pd.DataFrame(X, columns=tree.schema.names).assign(y=y)
    frame.to_parquet(tmp_path / "rows.parquet")
    forms = [(X, y), (frame, y), (X, y, np.ones(len(y))), (tmp_path / "rows.parquet", "y"), Table.read(X, y)]
    assert len({ErrorBased(rows=rows)(tree).digest for rows in forms}) == 1
    assert ErrorBased(rows=forms[0])(tree).digest != ErrorBased()(tree).digest  # something was raised


@pytest.mark.parametrize("rows", [CANCER[0], [1, 2], "rows", (CANCER[0], None)])
def test_wrong_rows_raise(rows):
    with pytest.raises(HornbeamError, match="expected"):
        ErrorBased(rows=rows)(worked_tree())


def test_parameters_out_of_range_raise():
    with pytest.raises(ParameterError, match="between 0 and 1"):
        ErrorBased(0.0)
    with pytest.raises(ParameterError, match=r"'j48', 'c4\.5'"):
        ErrorBased(constants="c5.0")
