"""Trees and skeletons are frozen and picklable; raw belief is the frequencies."""

import copy
import pickle
from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest
from hypothesis import given

from hornbeam.data.schema import Schema
from hornbeam.errors import TreeError
from hornbeam.tree import Skeleton, Step
from hornbeam.tree.tree import Tree, raw_belief
from support.strategies import chain, trees


def arrays(value):
    return {
        f.name: getattr(value, f.name)
        for f in fields(value)
        if isinstance(getattr(value, f.name), np.ndarray)
    }


@given(trees())
def test_arrays_are_read_only_and_fields_frozen(tree):
    for value in (tree, tree.skeleton):
        for name, array in arrays(value).items():
            assert not array.flags.writeable
            assert array.flags.c_contiguous
            with pytest.raises(FrozenInstanceError):
                setattr(value, name, array)


def test_writable_arrays_are_copied():
    evidence = np.array([[3, 1]])
    tree = Tree.raw(Schema((), ("no", "yes")), Skeleton.leaf(), evidence)
    evidence[0, 0] = 99
    assert tree.evidence.tolist() == [[3, 1]]


@given(trees())
def test_pickles_and_copies_are_equal_and_frozen(tree):
    for twin in (pickle.loads(pickle.dumps(tree)), copy.deepcopy(tree), copy.copy(tree)):
        assert twin.digest == tree.digest
        assert twin.history == tree.history
        assert twin.schema == tree.schema
        for one, other in ((tree, twin), (tree.skeleton, twin.skeleton)):
            for name, array in arrays(one).items():
                np.testing.assert_array_equal(array, getattr(other, name))
                assert not getattr(other, name).flags.writeable


def test_unpickling_runs_the_checks():
    tree = Tree.raw(Schema((), ("no", "yes")), Skeleton.leaf(), np.array([[123456789, 1]]))
    data = pickle.dumps(tree)
    count = np.array([123456789]).tobytes()
    assert data.count(count) == 1
    with pytest.raises(TreeError, match=r"evidence\[0\] is \[-1, 1\]"):
        pickle.loads(data.replace(count, np.array([-1]).tobytes()))


@given(trees())
def test_raw_belief_is_the_frequency_or_that_of_the_parent(tree):
    belief = raw_belief(tree.skeleton, tree.evidence)
    for node, counts in enumerate(tree.evidence):
        if counts.sum() > 0:
            assert belief[node].tolist() == (counts / counts.sum()).tolist()
        elif node:
            assert belief[node].tolist() == belief[tree.skeleton.parent[node]].tolist()
        else:
            assert belief[0].tolist() == [1 / tree.n_classes] * tree.n_classes


def test_raw_belief_of_a_deep_chain_of_empty_nodes():
    deep = chain(10_000)
    evidence = np.zeros((deep.n_nodes, 2), np.int64)
    evidence[:2] = [[3, 1], [3, 1]]
    assert (raw_belief(deep, evidence) == [0.75, 0.25]).all()


def test_a_step_sorts_its_parameters():
    step = Step("hgs", (("tol", 0.1), ("alpha", 1.0)))
    assert step == Step.of("hgs", alpha=1.0, tol=0.1)
    assert hash(step) == hash(Step.of("hgs", tol=0.1, alpha=1.0))
    assert str(step) == "hgs(alpha=1.0, tol=0.1)"


def test_repr_has_singular_and_plural():
    tree = Tree.raw(Schema((), ("only",)), Skeleton.leaf(), np.array([[3]]))
    assert repr(tree) == "Tree(1 node, 1 leaf, depth 0, 1 class)"
    assert repr(chain(2)) == "Skeleton(5 nodes, 3 leaves, depth 2)"


def test_the_router_is_cached_and_not_pickled():
    skeleton = chain(3)
    assert skeleton.router is skeleton.router
    assert pickle.loads(pickle.dumps(skeleton)).router.n_nodes == skeleton.n_nodes
