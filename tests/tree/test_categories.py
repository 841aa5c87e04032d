"""The shorter list of categories describes the same set."""

from hypothesis import given
from hypothesis import strategies as st

from hornbeam.tree.categories import shorter_side


@given(st.integers(1, 40).flatmap(lambda n: st.tuples(st.just(n), st.sets(st.integers(0, n - 1)))))
def test_the_shorter_list_describes_the_same_set(drawn):
    n, codes = drawn
    listed, left_out = shorter_side(sorted(codes), n)
    assert (set(range(n)) - set(listed) if left_out else set(listed)) == codes
    assert listed == sorted(listed)
    assert len(listed) <= max(3, n - len(codes)) or not left_out
    if len(codes) > 3:
        assert len(listed) == min(len(codes), n - len(codes))
