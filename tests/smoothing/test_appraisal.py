"""What rows are worth, own and borrowed."""

import numpy as np
import pytest

from hornbeam.errors import ParameterError
from hornbeam.smoothing import HGS, Appraisal, appraise, effective_size
from hornbeam.tree import believe
from worked_trees import star, worked_tree


@pytest.mark.parametrize(("own", "borrowed"), [(0.2, 0.0), (0.6, 0.0), (1.0, 0.1), (1.0, 0.5), (1.0, 0.9)])
def test_the_worth_that_made_the_opinions_is_found(own, borrowed):
    """Opinions half as far off, in squares, as leaves of that worth are: the rest both err together."""
    rng = np.random.default_rng(0)
    yes = rng.integers(0, 5, 3000)
    raw = star(np.column_stack([4 - yes, yes]))
    belief = (raw.evidence + 20) / (raw.evidence.sum(axis=1, keepdims=True) + 40)
    tree = believe(raw, belief, np.full(raw.n_nodes, 40.0))
    p = belief[:, 1]
    size = 4 * own + borrowed * 40
    off = rng.normal(size=len(p)) * np.sqrt(p * (1 - p) / (size + 1) / 2)
    opinion = np.column_stack([1 - p - off, p + off])
    found = appraise(tree, opinion)
    assert found.own == pytest.approx(own, rel=0.15)
    assert found.borrowed == pytest.approx(borrowed, rel=0.15)


def test_tiny_leaves_that_nobody_agrees_on_say_little_about_large_ones():
    """Opinions of large leaves fit what their rows claim; those of a few leaves of one row are far off."""
    tree = star(np.concatenate([np.tile([[100, 100]], (20, 1)), np.tile([[1, 0]], (5, 1))]))
    belief = tree.belief.copy()
    belief[21:] = [0.6, 0.4]
    tree, opinion = believe(tree, belief, tree.borrowed), belief.copy()
    opinion[1:21] += np.sqrt(0.25 / 201 / 2) * np.array([1, -1])
    assert appraise(tree, opinion).own == 1.0
    opinion[21:] = [0.3, 0.7]
    assert appraise(tree, opinion).own > 0.9


def test_opinions_of_inner_nodes_and_empty_leaves_are_not_read():
    tree = HGS()(worked_tree())
    opinion = tree.belief + 0.2
    elsewhere = opinion.copy()
    elsewhere[:2] = np.nan
    assert appraise(tree, elsewhere) == appraise(tree, opinion)


def test_loans_are_capped_by_the_rows_there_are():
    tree = HGS(alpha=1000.0)(worked_tree())
    assert Appraisal(1.0)(tree).borrowed is tree.borrowed  # what was borrowed stays on the books
    assert effective_size(Appraisal(1.0)(tree)).tolist() == [10.0] * 5


def test_own_rows_alone_are_certain():
    tree = HGS()(worked_tree())
    assert effective_size(tree).tolist() == tree.rows.tolist()
    appraised = Appraisal(0.5)(tree)
    np.testing.assert_allclose(effective_size(appraised), [10, 7, 5, 4.5, 4.5])
    assert str(appraised.history[-1]) == "appraisal(borrowed=0.5, own=1.0)"
    np.testing.assert_allclose(effective_size(Appraisal(0.0, own=0.5)(tree)), tree.rows / 2)
    # Smoothed again, loans are new and nobody has said what they are worth.
    assert effective_size(HGS()(appraised)).tolist() == tree.rows.tolist()


@pytest.mark.parametrize("worth", [-0.1, 1.1, float("nan")])
def test_a_worth_is_a_share(worth):
    with pytest.raises(ParameterError, match="from 0 to 1"):
        Appraisal(worth)
    with pytest.raises(ParameterError, match="above 0, up to 1"):
        Appraisal(0.5, own=worth)
