"""Bayes-risk pruning: worked numbers, the theorem, and two implementations that agree."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from hornbeam import TreeClassifier
from hornbeam.data.schema import Feature, Schema
from hornbeam.errors import ParameterError, SchemaError
from hornbeam.estimators.parameters.recipes import tree_fitter
from hornbeam.kernels.sweep import PruneSweep
from hornbeam.pruning import BayesRisk, MinimumError, ReducedError
from hornbeam.pruning.bottom_up import bottom_up, stopping_at_inner
from hornbeam.smoothing import Laplace
from hornbeam.tree import Costs, Table
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import pull_up
from support.examples import examples
from support.strategies import schemas, skeletons, tables, trees
from support.worked_trees import binary, over_leaves, rows_at, worked_tree

READINGS = ["bayes", "per-example", "rate"]
ASYMMETRIC = [[0, 1], [5, 0]]
seeds = st.integers(0, 2**32 - 1)


def risks(tree, **parameters):
    """The risk of every node as a leaf."""
    pruner = BayesRisk(**parameters)
    first_child, n_children = np.full(tree.n_nodes, -1, np.int32), np.zeros(tree.n_nodes, np.int32)
    sweep = PruneSweep(first_child, n_children, pruner._risks(tree, pruner._costs_for(tree)))
    sweep.decide(0, len(sweep.cut))
    return sweep.value


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({}, [4, 1, 1, 0, 1]),
        ({"reading": "per-example"}, [4.8, 5 / 3, 1.5, 0, 4 / 3]),
        ({"reading": "rate"}, [0.4, 1 / 6, 0.25, 0, 1 / 3]),
        ({"costs": ASYMMETRIC}, [6, 5, 1, 0, 2]),
    ],
)
def test_worked_risks(parameters, expected):
    assert risks(worked_tree(), **parameters) == pytest.approx(expected)


def test_worked_risks_under_laplace():
    assert risks(Laplace()(worked_tree())) == pytest.approx([4 + 1 / 6, 1.5, 4 / 3, 0.6, 1.2])


@pytest.mark.parametrize(
    ("smoother", "parameters", "a", "root"),
    [
        (None, {}, (1, 1), (4, 2)),
        (None, {"reading": "per-example"}, (5 / 3, 4 / 3), (4.8, 4 / 3 + 1.5)),
        (None, {"reading": "rate"}, (1 / 6, 1 / 3), (0.4, 1 / 6 + 0.25)),
        (Laplace(), {}, (1.5, 1.8), (4 + 1 / 6, 2 + 5 / 6)),
        (None, {"costs": ASYMMETRIC}, (5, 2), (6, 3)),
    ],
)
def test_worked_comparisons(smoother, parameters, a, root):
    """A node's own risk compared with that of its pruned subtree."""
    tree = worked_tree() if smoother is None else smoother(worked_tree())
    risk, cut = risks(tree, **parameters), BayesRisk(**parameters).cuts(tree)
    assert (risk[1], risk[3] + risk[4]) == pytest.approx(a)
    kept = risk[1] if cut[1] else risk[3] + risk[4]
    assert (risk[0], kept + risk[2]) == pytest.approx(root)
    assert [bool(cut[1]), bool(cut[0])] == [a[0] <= a[1], root[0] <= root[1]]


def test_worked_predictions_under_costs():
    """The root, B and A2 predict the second class, A1 the first; A is a tie at 5."""
    costs, tree = Costs(ASYMMETRIC), worked_tree()
    assert costs.cheapest(tree.belief)[[0, 2, 3, 4]].tolist() == [1, 1, 0, 1]
    assert tree.evidence[1].sum() * costs.expected(tree.belief)[1] == pytest.approx([5, 5])


@pytest.mark.parametrize("method", ["frontier", "sequential"])
@pytest.mark.parametrize(
    ("smoother", "parameters", "n_nodes"),
    [
        (None, {}, 3),  # A is a tie, and ties go to the smaller tree
        (None, {"strict": True}, 5),
        (None, {"reading": "per-example"}, 5),
        (None, {"reading": "rate"}, 1),
        (Laplace(), {}, 3),
        (None, {"costs": ASYMMETRIC}, 5),
    ],
)
def test_worked_prunings(smoother, parameters, n_nodes, method):
    tree = worked_tree() if smoother is None else smoother(worked_tree())
    assert BayesRisk(**parameters, method=method)(tree).n_nodes == n_nodes


def test_three_rows_of_two_classes():
    """A common example of the method: [yes, no, no]."""
    leaf = BayesRisk(reading="rate")(worked_tree())
    three = Tree.raw(leaf.schema, leaf.skeleton, np.array([[1, 2]]))
    assert risks(three) == pytest.approx([1])
    assert risks(three, reading="per-example") == pytest.approx([4 / 3])


NOTE = [1, 2, 9, 3, 6, 10, 11, 4, 5, 7, 8]
"""The nodes of the note's example, as it numbers them, in level order."""


def note_tree():
    """The tree of the note, which gives no counts; with these its nodes 3 and 6 are cut, as in its text."""
    skeleton = binary([2, 2, 2, 2, 2, 0, 0, 0, 0, 0, 0])
    return over_leaves(skeleton, [[9, 0], [1, 8], [3, 1], [2, 1], [1, 4], [1, 3]])


@pytest.mark.parametrize("method", ["frontier", "sequential"])
@pytest.mark.parametrize("parameters", [{}, {"reading": "per-example", "strict": True}])
def test_the_root_of_the_note_is_compared_with_the_leaves_left(parameters, method):
    """Nodes 3 and 6 become leaves; then node 2 is compared with 3 and 6, and node 1 with 3, 6, 10 and 11."""
    tree = Laplace()(note_tree())
    pruner = BayesRisk(**parameters, method=method)
    assert {NOTE[node] for node in np.flatnonzero(pruner.cuts(tree))} == {3, 6}
    risk = dict(zip(NOTE, risks(tree, **parameters), strict=True))
    shape = tree.skeleton.first_child, tree.skeleton.n_children
    slack, relative = pruner._margin
    sweep = PruneSweep(*shape, pruner._risks(tree, pruner._costs_for(tree)), slack=slack, relative=relative)
    sweep.decide(0, len(sweep.cut))
    value = dict(zip(NOTE, sweep.value, strict=True))
    assert value[2] == pytest.approx(risk[3] + risk[6])
    assert value[1] == pytest.approx(risk[3] + risk[6] + risk[10] + risk[11])
    # What it would be compared with before nodes 3 and 6 are cut is more.
    assert value[1] < sum(risk[leaf] for leaf in (4, 5, 7, 8, 10, 11)) - 0.2
    assert risk[1] > value[1]
    assert sorted(pruner(tree).evidence[pruner(tree).skeleton.is_leaf].tolist()) == [
        [1, 8],
        [2, 7],
        [5, 2],
        [9, 0],
    ]


def test_the_other_readings_on_the_tree_of_the_note():
    """From training frequencies the strict rule cuts nothing, and unweighted rates leave the root."""
    for reading in ("bayes", "per-example"):
        assert BayesRisk(reading=reading, strict=True)(note_tree()).n_nodes == 11
    assert BayesRisk(reading="rate")(note_tree()).n_nodes == 1


def test_the_estimator_passes_its_threads(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.random((200, 3)), rng.integers(0, 3, 200)
    table = Table.read(X, y)
    found = [
        tree_fitter(TreeClassifier("c4.4", pruning="bayes-risk", n_jobs=n_jobs), table).pruner
        for n_jobs in (None, 1, 2)
    ]
    assert [pruner._threads for pruner in found] == [1, 1, 2]
    monkeypatch.setattr("hornbeam.pruning.bottom_up._SLICE", 1)  # threads also for small trees
    one, two = (TreeClassifier("c4.4", pruning="bayes-risk", n_jobs=n).fit(X, y).tree_ for n in (1, 2))
    assert one.digest == two.digest


@examples(1000, suppress_health_check=[HealthCheck.too_slow])
@given(trees(), seeds, st.sampled_from(READINGS), st.booleans())
def test_frontiers_give_the_sequential_tree(tree, seed, reading, strict):
    rng = np.random.default_rng(seed)
    k = tree.n_classes
    costs = rng.choice([rng.random((k, k)), rng.integers(-2, 4, (k, k)), 1.0 - np.eye(k)])
    sequential = BayesRisk(costs, reading=reading, strict=strict, method="sequential")(tree)
    for n_jobs in (1, 2):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("hornbeam.pruning.bottom_up._SLICE", 1)  # threads also for small trees
            pruned = BayesRisk(costs, reading=reading, strict=strict)._with_threads(n_jobs)(tree)
        assert pruned.digest == sequential.digest
        assert pruned.history == sequential.history


@pytest.mark.parametrize("reading", READINGS)
def test_both_methods_round_cancelling_risks_the_same(reading):
    """Negative and positive costs may cancel to rounding errors, which then decide in both methods."""
    k = 10
    for seed in range(50):
        costs = np.random.default_rng(seed).integers(-2, 4, (k, k))
        skeleton = worked_tree().skeleton
        tree = Tree.raw(Schema((Feature("x"),), tuple(range(k))), skeleton, np.zeros((5, k), np.int64))
        one = BayesRisk(costs, reading=reading, strict=True, method="sequential")
        assert np.array_equal(one.cuts(tree), BayesRisk(costs, reading=reading, strict=True).cuts(tree))


@given(trees(), seeds, st.data())
def test_frontiers_give_the_sequential_tree_on_a_pruning_set(tree, seed, data):
    table = data.draw(tables(tree.schema))
    costs = np.random.default_rng(seed).random((tree.n_classes, tree.n_classes))
    for reading in READINGS:
        one = BayesRisk(costs, table, reading, method="sequential")(tree)
        assert BayesRisk(costs, table, reading)(tree).digest == one.digest


@given(schemas(), st.data(), seeds)
def test_the_literal_rule_never_prunes_on_raw_frequencies(schema, data, seed):
    """Risk is concave in the counts: that of a parent is never strictly less than the sum of its children's."""
    skeleton = data.draw(skeletons(schema))
    rng = np.random.default_rng(seed)
    leaves = rng.integers(0, 6, (skeleton.n_nodes, schema.n_classes)) * skeleton.is_leaf[:, None]
    tree = Tree.raw(schema, skeleton, pull_up(skeleton, leaves))
    costs = rng.integers(0, 9, (schema.n_classes, schema.n_classes))
    assert BayesRisk(costs, strict=True)(tree).n_nodes == tree.n_nodes
    assert BayesRisk(reading="per-example", strict=True)(tree).n_nodes == tree.n_nodes


@given(trees())
def test_laplace_makes_it_minimum_error_pruning(tree):
    pruned = BayesRisk()(Laplace()(tree))
    assert Laplace()(MinimumError()(tree)).digest == pruned.digest


def test_a_pruning_set_with_equal_costs_is_reduced_error_pruning():
    tree = worked_tree()
    table = rows_at(tree, {0: [2, 1], 1: [0, 2], 2: [1, 3]})
    assert BayesRisk(held_out=table)(tree).digest == ReducedError(table)(tree).digest
    # A row of class 1 predicted as 0 costs 10; predictions are those of the belief.
    assert risks(tree, held_out=table, costs=[[0, 1], [10, 0]]) == pytest.approx([3, 2, 1, 10, 0])


def test_rows_that_stop_cost_the_same_on_both_sides():
    skeleton = worked_tree().skeleton
    counts = np.array([12, 6, 4, 3, 2])
    assert stopping_at_inner(skeleton, counts).tolist() == [2, 1, 0, 0, 0]
    # As leaves both children cost nothing, but rows of cost 3 stop at the root, whose leaf costs 4 in all.
    assert not bottom_up(skeleton, np.array([4.0, 1, 0, 0, 0]), np.array([3.0, 0, 0, 0, 0]))[0]
    assert bottom_up(skeleton, np.array([4.0, 1, 0, 0, 0]), np.array([4.0, 0, 0, 0, 0]))[0]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"costs": [[0, 1]]}, "square"),
        ({"costs": [[0, np.nan], [1, 0]]}, r"costs\[0\]\[1\] is nan"),
        ({"reading": "gini"}, "one of 'bayes"),
        ({"method": "magic"}, "one of 'frontier"),
    ],
)
def test_parameters_out_of_range_raise(parameters, message):
    with pytest.raises(ParameterError, match=message):
        BayesRisk(**parameters)


def test_costs_for_other_classes_and_tables_of_other_schemas_raise():
    with pytest.raises(ParameterError, match=r"costs of shape \(3, 3\): expected \(2, 2\)"):
        BayesRisk(np.zeros((3, 3)))(worked_tree())
    other = Laplace()(worked_tree())
    table = rows_at(other, {0: [1, 1]})
    foreign = type(table)(
        type(table.schema)(table.schema.features, ("no", "yes")), table.columns, table.target
    )
    with pytest.raises(SchemaError, match=r"schema=tree\.schema"):
        BayesRisk(held_out=foreign)(other)
