"""What changed is said, what did not is not."""

from dataclasses import replace

import numpy as np
from hypothesis import given

import hornbeam
from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.smoothing import HGS, Laplace
from hornbeam.storage.difference import Difference, compare
from hornbeam.storage.file import decode, encode
from hornbeam.storage.model import Model
from hornbeam.tree import Skeleton
from hornbeam.tree.tree import Tree
from support.examples import examples
from support.strategies import chain, trees

COLOUR = Feature("colour", Kind.NOMINAL, ("blue", "green", "red"))
SCHEMA = Schema((Feature("age"), COLOUR), ("no", "yes"))


def tree(
    threshold=30.0,
    missing=-1,
    slots=(0, 1, -1),
    evidence=((9, 6), (6, 4), (3, 2), (4, 2), (2, 2)),
    schema=SCHEMA,
):
    nan = np.nan
    skeleton = Skeleton.of(
        [2, 2, 0, 0, 0],
        [0, 1, -1, -1, -1],
        [threshold, nan, nan, nan, nan],
        missing_slot=[missing, -1, -1, -1, -1],
        slot_start=[0, 0, 3, 3, 3, 3],
        slot_of=slots,
    )
    return Tree.raw(schema, skeleton, np.array(evidence))


@given(trees())
@examples(40)
def test_a_model_does_not_differ_from_itself_saved_and_loaded(given_tree):
    found = compare(Model.of(given_tree), decode(encode(Model.of(given_tree))))
    assert not found
    assert str(found) == "no difference"


def test_a_moved_threshold():
    found = hornbeam.diff(tree(), tree(threshold=31.5, missing=0))
    was, now = "age <= 30.0 / age > 30.0", "age <= 31.5 / age > 31.5"
    change = f"every row: {was} (missing values stop), now {now} (missing values go with age <= 31.5)"
    assert found == Difference(structure=(change,))


def test_every_category_is_named_though_the_models_know_different_ones():
    """One set is all but 'c0' in both models, and yet not the same set."""

    def of(n):
        feature = Feature("colour", Kind.NOMINAL, tuple(f"c{code}" for code in range(n)))
        slots = {"slot_start": [0, n, n, n], "slot_of": [0] + [1] * (n - 1)}
        skeleton = Skeleton.of([2, 0, 0], [0, -1, -1], [np.nan] * 3, **slots)
        return Tree.raw(Schema((feature,), ("no", "yes")), skeleton, np.array([[2, 2], [1, 1], [1, 1]]))

    found = hornbeam.diff(of(30), of(31))
    (change,) = found.structure
    assert all(change.count(f"'c{code}'") == 2 for code in range(30))
    assert change.count("'c30'") == 1
    assert "…" not in str(found)
    assert "not in" not in str(found)


def test_a_category_that_moved_and_the_counts_below():
    evidence = ((9, 6), (6, 4), (3, 2), (2, 2), (4, 2))
    found = hornbeam.diff(tree(), tree(slots=(1, 0, 0), evidence=evidence))
    assert str(found) == (
        "structure age <= 30.0: colour in {'blue'} / colour in {'green'} (missing values stop), "
        "now colour in {'green', 'red'} / colour in {'blue'} (missing values stop)"
    )


def test_counts_and_probabilities_by_path():
    more = ((9, 8), (6, 4), (3, 4), (4, 2), (2, 2))
    found = hornbeam.diff(tree(), tree(evidence=more))
    assert found.evidence == ("every row: [9, 6], now [9, 8]", "age > 30.0: [3, 2], now [3, 4]")
    assert found.belief[1] == "age > 30.0: [0.6, 0.4], now [0.428571, 0.571429]"
    assert not found.structure


def test_belief_within_the_tolerance_is_the_same():
    borrows = hornbeam.diff(tree(), Laplace()(tree()), atol=0.5).belief
    assert borrows[0] == "every row: borrows 0 rows, now 2"
    assert hornbeam.diff(tree(), Laplace()(tree())).history == ("added laplace()",)
    assert not hornbeam.diff(tree(), Laplace()(tree()), atol=10.0).belief


def test_schemas():
    other = Schema((Feature("age"), replace(COLOUR, categories=("blue", "green", "pink"))), ("no", True))
    assert hornbeam.diff(tree(), tree(schema=other)).schema == (
        "feature 'colour': nominal ['blue', 'green', 'red'], now nominal ['blue', 'green', 'pink']",
        "classes: ['no', 'yes'], now ['no', True]",
    )
    renamed = Schema((Feature("years"), COLOUR), ("no", "yes"))
    assert hornbeam.diff(tree(), tree(schema=renamed)).schema == (
        "feature 'age' is gone",
        "feature 'years' is new",
    )


def test_settings_of_estimators():
    X, y = [[0.0], [1.0], [2.0]], [0, 1, 1]
    old, new = (hornbeam.TreeClassifier(smoothing=HGS(alpha)).fit(X, y) for alpha in (1.0, 2.0))
    found = hornbeam.diff(old, new)
    assert found.settings == ("smoothing: HGS(alpha=1.0, prior=1.0), now HGS(alpha=2.0, prior=1.0)",)
    assert hornbeam.diff(old, old.tree_).settings[0] == "estimator: TreeClassifier, now None"


def test_long_reports_are_cut():
    skeleton = chain(3000)
    schema = Schema((Feature("x"),), ("no", "yes"))
    empty = np.zeros((skeleton.n_nodes, 2), np.int64)
    one = Tree.raw(schema, skeleton, empty)
    found = hornbeam.diff(one, Laplace()(Tree.raw(schema, skeleton, empty + 0)))
    assert len(found.belief) == skeleton.n_nodes
    assert "belief    … 5,981 more" in str(found)
    assert found.belief[-1].startswith("… and x > 2988.0 and ")
