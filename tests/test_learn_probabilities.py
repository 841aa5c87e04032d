"""The worked numbers of the learn page "Probabilities", read from the page, against fractions from its ten days."""

import ast
import re
from fractions import Fraction
from math import exp, log, log2, sqrt
from pathlib import Path

import numpy as np
import pytest

from support.reference_smoothing import borrowing, exact_hdp
from support.worked_trees import A1, A2, ROOT, T0, A, B

DOCS = Path(__file__).parents[1] / "docs"
PAGE = (DOCS / "learn/probabilities.md").read_text(encoding="utf-8")
LEAVES = (A1, A2, B)  # in the order of the page
ABOVE = {ROOT: [], A: [ROOT], B: [ROOT], A1: [ROOT, A], A2: [ROOT, A]}
DRY, RAIN = 0, 1


def days():
    """The leaf and the class of every day of the page's table."""
    for humidity, cloud, weather in re.findall(r"^\.\.\. (\d+) +(\d+) (\w+)$", PAGE, re.MULTILINE):
        yield B if int(humidity) > 75 else A2 if int(cloud) > 40 else A1, ("dry", "rain").index(weather)


DAYS = list(days())
COUNTS = {
    node: [Fraction(sum(node in (leaf, *ABOVE[leaf]) and k == c for leaf, c in DAYS)) for k in (DRY, RAIN)]
    for node in ABOVE
}


def share(counts):
    return [n / sum(counts) for n in counts]


def mixed(counts, *added):
    """Frequencies after adding pairs of a number of rows and their distribution."""
    return share([n + sum(rows * p[k] for rows, p in added) for k, n in enumerate(counts)])


HALF = [Fraction(1, 2)] * 2


def hgs(leaf, alpha, prior=0, without=None):
    """Equation 4; equation 5 if a class loses a row at every node."""
    counts = {node: [n - (k == without) for k, n in enumerate(COUNTS[node])] for node in (leaf, *ABOVE[leaf])}
    return mixed(counts[leaf], *((alpha[p], share(counts[p])) for p in ABOVE[leaf]), (prior, HALF))


ONE = {ROOT: 1, A: 1}


def m_branch(leaf):
    branch = [*ABOVE[leaf], leaf]
    p = HALF
    for height, node in zip(range(len(branch), 0, -1), branch, strict=True):
        p = mixed(COUNTS[node], (1 + (1 - 1 / height) * sqrt(10), p))
        yield p[RAIN]


def answer(code):
    """The value that the page prints below a line of code."""
    return ast.literal_eval(re.search(rf"^>>> {re.escape(code)}.*\n(.+)$", PAGE, re.MULTILINE)[1])


def test_the_days_are_the_tree_of_the_fact_sheet():
    assert [COUNTS[node] for node in range(5)] == T0.evidence.tolist() == answer("tree.evidence.tolist()")


@pytest.mark.parametrize(
    ("code", "estimate"),
    [
        ("rain(Raw())", lambda leaf: share(COUNTS[leaf])),
        ("rain(Laplace())", lambda leaf: share([n + 1 for n in COUNTS[leaf]])),
        ('rain(MEstimate(m=1, base="uniform"))', lambda leaf: mixed(COUNTS[leaf], (1, HALF))),
        ('rain(MEstimate(m=2, base="root"))', lambda leaf: mixed(COUNTS[leaf], (2, share(COUNTS[ROOT])))),
        ("rain(MBranch(m=1))", lambda leaf: {RAIN: list(m_branch(leaf))[-1]}),
        ("rain(HGS(prior=0.0))", lambda leaf: hgs(leaf, ONE)),
        ("rain(HGS())", lambda leaf: hgs(leaf, ONE, prior=1)),
    ],
)
def test_printed_probabilities_of_rain(code, estimate):
    assert answer(code) == [round(float(estimate(leaf)[RAIN]), 4) for leaf in LEAVES]


def test_laplace_is_an_m_estimate():
    for counts in COUNTS.values():
        assert mixed(counts, (2, HALF)) == share([n + 1 for n in counts])


@pytest.mark.parametrize(("code", "c"), [(", concentration=1.0", 1.0), ("", None)])
def test_the_hdp_is_the_sum_over_all_seating_plans(code, c):
    exact, _, _ = exact_hdp(T0, np.zeros(5, int), c)
    printed = answer(f"[round(p, 2) for p in rain(HDP(sweeps=20_000{code}))]")
    assert printed == pytest.approx(exact[list(LEAVES), RAIN], abs=0.01)


def one_seating_plan():
    """Rain at the root, A and A1 if each dish has one table in each restaurant."""
    sent = {leaf: [min(n, 1) for n in COUNTS[leaf]] for leaf in LEAVES}
    at_a = [x + y for x, y in zip(sent[A1], sent[A2], strict=True)]
    at_root = [min(x, 1) + y for x, y in zip(at_a, sent[B], strict=True)]
    in_root = mixed(at_root, (2, HALF))
    in_a = mixed(at_a, (1, in_root))
    return [float(p[RAIN]) for p in (in_root, in_a, mixed(COUNTS[A1], (1, in_a)))]


def test_m_branch_by_hand():
    printed = re.findall(r"^- .* has height \d, .* = ([\d.]+)\$[;.]$", PAGE, re.MULTILINE)
    assert [float(p) for p in printed] == [round(p, 4) for p in m_branch(A1)]


def test_the_figure_has_the_numbers_of_the_page():
    """In each of its three parts, the probability of rain at the root, at A and at A1."""
    figure = (DOCS / "pictures/learn-probabilities-backoff.svg").read_text(encoding="utf-8")
    assert {"root  7 : 3", "A  6 : 1", "A1  4 : 0"} <= set(re.findall(r">([^<]*)</text>", figure))
    hdp, branch, at_once = np.array(re.findall(r">(0\.\d\d)</text>", figure), float).reshape(3, 3)
    assert hdp == pytest.approx(exact_hdp(T0, np.zeros(5, int))[0][[ROOT, A, A1], RAIN], abs=0.01)
    assert branch.tolist() == [round(p, 2) for p in m_branch(A1)]
    assert at_once == pytest.approx([3 / 10, 1 / 7, float(hgs(A1, ONE)[RAIN])], abs=0.005)
    assert re.findall(r">m = ([\d.]+)<", figure) == [f"{1 + (1 - 1 / h) * sqrt(10):.2f}" for h in (3, 2, 1)]


def test_left_out_days():
    p = [hgs(leaf, ONE, without=k)[k] for leaf, k in DAYS]
    assert answer("[round(p, 4) for p in left_out]") == [round(float(x), 4) for x in p]
    bits = -sum(log2(x) for x in p) / len(p)
    assert answer("round(float(-np.log2(left_out)") == round(bits, 6) == 1.089492
    assert f"The mean loss is {bits:.6f} bits" in PAGE
    squared = sum((1 - x) ** 2 for x in p) / (2 * len(p))
    assert answer('round(GradientHGS(prior=0.0, loss="squared")') == round(float(squared), 6)


def terms_of_the_gradient(inner):
    """One term of equation 7 for each leaf below a node and class."""
    for leaf in LEAVES:
        for k, n in enumerate(COUNTS[leaf]):
            if n and inner in ABOVE[leaf]:
                theta = hgs(leaf, ONE, without=k)[k]
                above = (COUNTS[inner][k] - 1) / (sum(COUNTS[inner]) - 1)
                beta = n / (theta * (sum(COUNTS[leaf]) - 1 + len(ABOVE[leaf])))
                yield n, theta, above, beta, beta * (theta - above)


def cost_and_gradient(alpha):
    """Equations 5 to 8 in floats."""
    cost, gradient = 0.0, {ROOT: 0.0, A: 0.0}
    for leaf, k in DAYS:
        theta = hgs(leaf, alpha, without=k)[k]
        size = sum(COUNTS[leaf]) - 1 + sum(alpha[p] for p in ABOVE[leaf])
        cost -= log2(theta) / 10
        for p in ABOVE[leaf]:
            q = (COUNTS[p][k] - 1) / (sum(COUNTS[p]) - 1)
            gradient[p] += float(theta - q) / (theta * size * 10 * log(2))
    return cost, gradient


def test_the_gradient_is_the_sum_of_the_terms_of_equation_7():
    _, gradient = cost_and_gradient(ONE)
    for inner, found in gradient.items():
        total = sum(term[-1] for term in terms_of_the_gradient(inner))
        assert float(total) / (10 * log(2)) == pytest.approx(float(found))


def descent():
    """Steps, the last alpha, the cost and the probabilities of rain, step by step."""
    alpha, steps, gained = {ROOT: 1.0, A: 1.0}, 0, 1.0
    cost, gradient = cost_and_gradient(alpha)
    while gained > 1e-4:
        alpha = {p: value - 0.01 * gradient[p] for p, value in alpha.items()}
        before = cost
        cost, gradient = cost_and_gradient(alpha)
        gained, steps = before - cost, steps + 1
    return steps, alpha, cost, [float(hgs(leaf, alpha)[RAIN]) for leaf in LEAVES]


def test_the_six_strengths():
    printed = re.search(r"^Borrowing\((.*)\)$", PAGE, re.MULTILINE)[1]
    strengths = {name: float(x) for name, x in re.findall(r"(\w+)=(-?[\d.]+)", printed)}
    belief, _ = borrowing(T0, **strengths)
    assert answer("rain(fitted)") == belief[list(LEAVES), RAIN].round(4).tolist()


def python_of(latex):
    """Arithmetic in LaTeX as Python code."""
    for pattern, code in (
        (r"\\cdot", "*"),
        (r"\\ln (\d+)", r"* log(\1)"),
        (r"\\sqrt\{(\d+)\}", r"sqrt(\1)"),
        (r"\be\^\{([^}]*)\}", r"exp(\1)"),
        (r"\^\{?(-?[\d.]+)\}?", r"**(\1)"),
    ):
        latex = re.sub(pattern, code, latex)
    return latex


def test_every_equation_with_numbers_holds():
    """The side of each worked equation in the text that has only numbers, computed."""
    known = {"exp": exp, "log": log, "sqrt": sqrt}
    checked = 0
    for left, right in re.findall(r"\$(?:[^$=]* = )?([^$=]*\d[^$=]*) = (-?[\d.]+)\$", PAGE):
        code = python_of(left)
        if set(re.findall(r"[A-Za-z]+", code)) <= known.keys():
            assert eval(code, known) == pytest.approx(
                float(right), abs=1.01 * 10.0 ** -len(right.split(".")[1])
            )
            checked += 1
    assert checked >= 20
