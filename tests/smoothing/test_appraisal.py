"""What borrowed rows are worth."""

import numpy as np
import pytest

from hornbeam.errors import ParameterError
from hornbeam.smoothing import HGS, Appraisal, effective_size, worth_of_borrowed
from hornbeam.tree import believe
from worked_trees import star, worked_tree


@pytest.mark.parametrize("worth", [0.1, 0.5, 0.9])
def test_the_worth_that_made_the_opinions_is_found(worth):
    """Opinions as far off as leaves of that worth are, less what both err together: a third of the square."""
    rng = np.random.default_rng(0)
    yes = rng.integers(0, 5, 3000)
    raw = star(np.column_stack([4 - yes, yes]))
    belief = (raw.evidence + 20) / (raw.evidence.sum(axis=1, keepdims=True) + 40)
    tree = believe(raw, belief, np.full(raw.n_nodes, 40.0))
    p = belief[:, 1]
    size = 4 + worth * 40
    off = rng.normal(size=len(p)) * np.sqrt(p * (1 - p) / (size + 1) / 1.5)
    opinion = np.column_stack([1 - p - off, p + off])
    assert worth_of_borrowed(tree, opinion) == pytest.approx(worth, rel=0.15)


def test_opinions_of_inner_nodes_and_empty_leaves_are_not_read():
    tree = HGS()(worked_tree())
    opinion = tree.belief + 0.2
    elsewhere = opinion.copy()
    elsewhere[:2] = np.nan
    assert worth_of_borrowed(tree, elsewhere) == worth_of_borrowed(tree, opinion)


def test_loans_are_capped_by_the_rows_there_are():
    tree = HGS(alpha=1000.0)(worked_tree())
    assert effective_size(Appraisal(1.0)(tree)).tolist() == [10.0] * 5


def test_own_rows_alone_are_certain():
    tree = HGS()(worked_tree())
    assert effective_size(tree).tolist() == tree.rows.tolist()
    appraised = Appraisal(0.5)(tree)
    np.testing.assert_allclose(effective_size(appraised), [10, 7, 5, 4.5, 4.5])
    assert str(appraised.history[-1]) == "appraisal(worth=0.5)"
    # Smoothed again, loans are new and nobody has said what they are worth.
    assert effective_size(HGS()(appraised)).tolist() == tree.rows.tolist()


@pytest.mark.parametrize("worth", [-0.1, 1.1, float("nan")])
def test_a_worth_is_a_share(worth):
    with pytest.raises(ParameterError, match="from 0 to 1"):
        Appraisal(worth)
