"""Where the numbers of the page "Pruning by frontiers" come from."""

from math import ceil

from support.page_numbers import computed, given, printed, quoted
from test_learn_frontiers import CHILDREN, LEAVES, below, comparisons, counts, height, risk

BOTTOM_UP = (3, 6, 9, 2, 1)


def cuts(value):
    """The nodes that are cut if their own value is at most the sum of the values of their leaves."""
    cut = set()
    for node in BOTTOM_UP:
        if value(node) <= sum(value(leaf) for leaf in below(node, cut)) + 1e-12:
            cut.add(node)
    return cut


def visible(cut):
    """The nodes that are left."""
    nodes, waiting = [], [1]
    for node in waiting:  # grows
        nodes.append(node)
        waiting += () if node in cut else CHILDREN.get(node, ())
    return nodes


def cheapest_class(node):
    """Rows times the probability of a mistake, by Laplace's estimate, for the class where it is least."""
    n = counts(node)
    return n.sum() * (1 - (n.max() + 1) / (n.sum() + 2))


def depth(node):
    return next((depth(parent) + 1 for parent, children in CHILDREN.items() if node in children), 0)


def layers(distance):
    """The nodes by height or by depth, in the order of pruning."""
    nodes = sorted([*CHILDREN, *LEAVES])
    return [[node for node in nodes if distance(node) == d] for d in range(4)]


def claims():
    raw, nothing = comparisons(0)
    laplace, cut = comparisons(1)
    by_height, by_depth = layers(height), layers(depth)[::-1]
    sizes = list(map(len, by_height))
    chain = [6, 1, 1, 1, 1, 1]
    prototype = "a prototype of the loop, measured once and not committed"
    return {
        "The risk of a node": [computed(">>> risk(three, frequencies(three))", 4, 3)],
        "The rule": [computed(">>> counts[3], counts[2], counts[1]", [counts(node) for node in (3, 2, 1)])],
        "From training frequencies, nothing is cut": [printed(raw)],
        "With Laplace's estimate": [
            printed(laplace),
            computed(">>> sorted(cut), leaves(1, cut)", sorted(cut), below(1, cut)),
        ],
        "Rates instead of sums": [
            given("with a rate of 0.3"),
            computed("then have # together", 0.3 + 0.3),
            computed(
                '>>> BayesRisk(reading="rate")', len(visible(cuts(lambda n: risk(n, 0) / counts(n).sum())))
            ),
            computed('>>> BayesRisk(reading="per-example", strict=True)(tree)', len(visible(nothing))),
            computed(">>> [order[node] for node in np.flatnonzero(literal", sorted(cut)),
        ],
        "Frontiers": [
            computed(">>> for here, end in pairwise(begin.tolist()):", by_height),
            computed(">>> for level in (3, 2, 1, 0):", by_depth),
        ],
        "Work and span": [
            computed(">>> sizes.tolist(), int(sizes.sum())", sizes, sum(sizes), len(sizes)),
            computed(">>> float(sizes.sum() / len(sizes))", sum(sizes) / len(sizes)),
        ],
        "In parallel with joblib": [
            computed(">>> [order[node] for node in np.flatnonzero(cut)]", sorted(cut))
        ],
        "In practice": [
            computed(">>> [order[node] for node in np.flatnonzero(BayesRisk", sorted(cuts(cheapest_class))),
            quoted("one thread took # ms", prototype, 12.1),
            quoted("two threads took # ms by height, and # ms by depth", prototype, 29.3, 11.9),
        ],
        "Exercise 1": [computed(">>> sizes.tolist(), int(sizes.sum())", chain, sum(chain), len(chain))],
        "Exercise 2": [computed(">>> risk((5, 5)", 5 / 2 + 5 / 2, 1)],
        "Exercise 3": [
            computed(r"\frac16 = #$", 4 / 6),
            computed(">>> risk((4, 0)", 2, 3),
        ],
        "Exercise 4": [computed(">>> (2**10 - 1) / 10", sum(2**d for d in range(10)) / 10)],
        "Exercise 5": [computed(">>> sum(-(-nodes // 2)", sum(ceil(n / 2) for n in sizes))],
        "Exercise 6": [computed(">>> sum(-(-nodes // 2)", sum(ceil(len(layer) / 2) for layer in by_depth))],
    }
