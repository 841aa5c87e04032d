"""Where the numbers of the page "Probabilities" come from."""

import re
from itertools import pairwise
from math import exp, log, log2, sqrt

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from support.page_numbers import computed, fitted, given, printed
from support.reference_smoothing import borrowing, exact_hdp
from support.textbook import auc, entropy, short_threshold
from support.worked_trees import A1, A2, ROOT, T0, A, B
from test_learn_probabilities import (
    COUNTS,
    DAYS,
    HALF,
    LEAVES,
    ONE,
    PAGE,
    RAIN,
    cost_and_gradient,
    descent,
    hgs,
    m_branch,
    mixed,
    one_seating_plan,
    share,
    terms_of_the_gradient,
)

TABLE = np.array(re.findall(r"^\.\.\. (\d+) +(\d+) \w+$", PAGE, re.MULTILINE), int)
STRENGTHS = {
    name: float(x)
    for name, x in re.findall(r"(\w+)=(-?[\d.]+)", re.search(r"^Borrowing\((.*)\)$", PAGE, re.MULTILINE)[1])
}


def laplace(counts):
    return share([n + 1 for n in counts])


ESTIMATES = {  # of rain, by the name of the smoother
    "raw": [share(COUNTS[leaf])[RAIN] for leaf in LEAVES],
    "laplace": [laplace(COUNTS[leaf])[RAIN] for leaf in LEAVES],
    "m-estimate": [mixed(COUNTS[leaf], (1, HALF))[RAIN] for leaf in LEAVES],
    "m-branch": [list(m_branch(leaf))[-1] for leaf in LEAVES],
    "hdp": exact_hdp(T0, np.zeros(5, int))[0][list(LEAVES), RAIN],
    "hgs": [hgs(leaf, ONE, prior=1)[RAIN] for leaf in LEAVES],
    "borrowing": borrowing(T0, **STRENGTHS)[0][list(LEAVES), RAIN],
}


def tree_of_the_days():
    """CART's tree by scikit-learn, as Hornbeam prints it."""
    tree = DecisionTreeClassifier(min_samples_leaf=3, random_state=0).fit(TABLE, [k for _, k in DAYS]).tree_
    assert (tree.feature[0], tree.feature[1], tree.children_left[4]) == (0, 1, -1)
    cuts = []
    for node, column, rows in ((0, 0, TABLE), (1, 1, TABLE[TABLE[:, 0] <= tree.threshold[0]])):
        below = rows[:, column] <= tree.threshold[node]
        cuts.append(short_threshold(rows[below, column].max(), rows[~below, column].min()))
    text = [f"dry {int(COUNTS[leaf][0])} rain {int(COUNTS[leaf][1])}" for leaf in LEAVES]
    assert text == ["dry 4 rain 0", "dry 2 rain 1", "dry 1 rain 2"]
    return printed(
        f"0) every row 1) humidity ≤ {cuts[0]:g} 3) cloud ≤ {cuts[1]:g} dry {1:.3f} 4 dry "
        f"4) cloud > {cuts[1]:g} dry {2 / 3:.3f} 2 dry, 1 rain 2) humidity > {cuts[0]:g} rain {2 / 3:.3f} 2 rain, 1 dry"
    )


def m_branch_by_hand():
    steps = list(m_branch(A1))
    added = [1 + (1 - 1 / height) * sqrt(10) for height in (3, 2, 1)]
    return [
        computed(
            r"$m_u = #$ and $(3 + # \cdot #) / (10 + #) = #$", added[0], added[0], 0.5, added[0], steps[0]
        ),
        computed(
            r"$m_u = #$ and $(1 + # \cdot #) / (7 + #) = #$", added[1], added[1], steps[0], added[1], steps[1]
        ),
        computed(r"$m_u = 1$ and $(0 + 1 \cdot #) / (4 + 1) = #$", steps[1], steps[2]),
        computed(">>> rain(MBranch(m=1))", ESTIMATES["m-branch"]),
    ]


def gradient():
    cost, slopes = cost_and_gradient(ONE)
    terms = [[float(x) for x in term] for term in terms_of_the_gradient(A)]
    total = sum(term[-1] for term in terms)
    names = ("A1, dry", "A2, dry", "A2, rain")
    steps, alpha, left, rain = descent()
    squared = sum((1 - hgs(leaf, ONE, without=k)[k]) ** 2 for leaf, k in DAYS) / 20
    return (
        cost,
        [slopes[ROOT], slopes[A]],
        [
            *(
                computed(f"| {name} | # | # | # | # | # |", term)
                for name, term in zip(names, terms, strict=True)
            ),
            computed(r"The sum is #, and $# / (10 \ln 2) = #$", total, total, total / (10 * log(2))),
            computed(">>> steps, alpha[:2]", steps, [alpha[ROOT], alpha[A]], left),
            computed(">>> rain(published)", rain),
            computed('>>> round(GradientHGS(prior=0.0, loss="squared")', squared),
        ],
    )


def default_by_hand():
    """A1 by the formula, from the six numbers that the default has found."""
    s = STRENGTHS
    bits = [entropy(7, 3), entropy(6, 1)]
    root = exp(s["scale"] + s["size"] * log(10) + s["impurity"] * bits[0])
    a = exp(s["scale"] + s["size"] * log(7) + s["depth"] * log(2) + s["impurity"] * bits[1])
    zero, own = exp(s["prior"]), 4 * 4 ** s["own"]
    p = (0.3 * root + a / 7 + zero / 2) / (own + root + a + zero)
    return [
        fitted(
            "Borrowing(scale=#, size=#, depth=#, impurity=#, prior=#, own=#)",
            "maximum likelihood of held-out rows, by Hornbeam's optimiser",
            list(s.values()),
        ),
        computed(">>> rain(fitted)", ESTIMATES["borrowing"]),
        computed(
            r"$\alpha_{root} = e^{# + # \ln 10 + # \cdot #} = #$",
            s["scale"],
            s["size"],
            s["impurity"],
            bits[0],
            root,
        ),
        computed(
            r"$\alpha_A = e^{# + # \ln 7 + # \ln 2 + # \cdot #} = #$",
            s["scale"],
            s["size"],
            s["depth"],
            s["impurity"],
            bits[1],
            a,
        ),
        computed(r"$\alpha_0 = e^{#} = #$", s["prior"], zero),
        computed(r"$4 \cdot 4^{#} = #$", s["own"], own),
        computed(
            r"(0 + # \cdot # + # / 7 + # / 2) / (# + #) = #", root, 0.3, a, zero, own, root + a + zero, p
        ),
        computed("close to the # of the root", 3 / 10),
        *(computed(f"{name} # # #", estimate) for name, estimate in ESTIMATES.items()),
    ]


def roc():
    """Rainy and dry days found by a falling threshold; the areas; the mean loss of each estimate in bits."""
    steps, found = (
        [(0, 0)],
        {leaf: [sum(leaf == at and k == c for at, k in DAYS) for c in (1, 0)] for leaf in LEAVES},
    )
    for leaf in (B, A2, A1):
        steps.append((steps[-1][0] + found[leaf][0], steps[-1][1] + found[leaf][1]))
    area = sum((t + s) / 6 * (f - g) / 7 for (s, g), (t, f) in pairwise(steps))
    lines = []
    for name in ("raw", "laplace", "hgs", "borrowing"):
        p = dict(zip(LEAVES, map(float, ESTIMATES[name]), strict=True))
        pairs = auc([p[leaf] for leaf, k in DAYS if k], [p[leaf] for leaf, k in DAYS if not k])
        bits = -sum(log2(p[leaf] if k else 1 - p[leaf]) for leaf, k in DAYS) / 10
        lines.append(computed(f"{name} AUC # bits #", pairs, bits))
        assert abs(pairs - area) < 1e-12
    raw = dict(zip(LEAVES, ESTIMATES["raw"], strict=True))
    titles = (["no leaf"], ["B (#)", raw[B]], ["B, A2 (#)", raw[A2]], ["B, A2, A1 (#)", raw[A1]])
    return [
        *(
            computed(f"| {title} | # of # | # of # |", shown, step[0], 3, step[1], 7)
            for (title, *shown), step in zip(titles, steps, strict=True)
        ),
        computed(r"\tfrac{18}{21} = #.", area),
        computed("equal to 1: #. Together", 6 + 1 / 2),
        *lines,
        given("0.2 means 20 %"),
    ]


def claims():
    cost, slopes, downhill = gradient()
    left_out = [hgs(leaf, ONE, without=k)[k] for leaf, k in DAYS]
    plan = one_seating_plan()
    frauds = (0 + 1) / (4 + 2), (0 + 2 * 0.01) / (4 + 2)
    root_base = [mixed(COUNTS[leaf], (2, share(COUNTS[ROOT])))[RAIN] for leaf in LEAVES]
    by_hgs = [hgs(leaf, ONE)[RAIN] for leaf in LEAVES]
    branch_b = list(m_branch(B))
    laplace_bits = -(4 * log2(5 / 6) + 2 * log2(3 / 5) + 2 * log2(2 / 5) + 2 * log2(3 / 5)) / 10
    return {
        "Why a probability": [
            given('A weather forecast is "30 % rain"'),
            tree_of_the_days(),
            computed(">>> tree.evidence.tolist()", [COUNTS[node] for node in range(5)]),
        ],
        "Why 0 and 1 are wrong": [
            computed("$0 / 4 = #$", ESTIMATES["raw"][0]),
            given("probability 0.8"),
            computed("$#^4 = #$", 0.8, 0.8**4),
        ],
        "Add a few rows": [
            computed("$(0 + 1) / (4 + 2) = #$. By the m-estimate", ESTIMATES["laplace"][0]),
            computed("$(0 + 1/2) / (4 + 1) = #$", ESTIMATES["m-estimate"][0]),
            computed(">>> rain(Raw())", ESTIMATES["raw"]),
            computed(">>> rain(Laplace())", ESTIMATES["laplace"]),
            computed('>>> rain(MEstimate(m=1, base="uniform"))', ESTIMATES["m-estimate"]),
            computed('>>> rain(MEstimate(m=2, base="root"))', root_base),
            computed("fraud is $(0 + 1) / (4 + 2) = #$", frauds[0]),
            given(r"2 \cdot 0.01"),
            computed(r"\cdot 0.01) / (4 + 2) = #$", frauds[1]),
        ],
        "M-branch": m_branch_by_hand(),
        "The Chinese restaurant: HDP": [
            computed(r"- the root: $(2 + 2 \cdot #) / (4 + 2) = #$", 0.5, plan[0]),
            computed(r"- A: $(1 + 1 \cdot #) / (3 + 1) = #$", plan[0], plan[1]),
            computed(r"- A1: $(0 + 1 \cdot #) / (4 + 1) = #$", plan[1], plan[2]),
            computed(
                ">>> [round(p, 2) for p in rain(HDP(sweeps=20_000, concentration=1.0))]",
                exact_hdp(T0, np.zeros(5, int), 1.0)[0][list(LEAVES), RAIN],
            ),
            computed(">>> [round(p, 2) for p in rain(HDP(sweeps=20_000))]", ESTIMATES["hdp"]),
        ],
        "All ancestors at once: HGS": [
            computed("$(0 + 3/10 + 1/7) / (4 + 2) = #$", by_hgs[0]),
            computed("$(0 + 3/10 + 1/7 + 1/2) / (4 + 3) = #$", ESTIMATES["hgs"][0]),
            computed(">>> rain(HGS(prior=0.0))", by_hgs),
            computed(">>> rain(HGS())", ESTIMATES["hgs"]),
        ],
        "How many rows to add? Leave one out": [
            computed(">>> [round(p, 4) for p in left_out]", left_out),
            computed(">>> round(float(-np.log2(left_out)", cost),
            computed("The mean loss is # bits", cost),
            computed("$(1 - 1 + 2/9 + 0) / (3 - 1 + 2) = #$", hgs(A2, ONE, without=RAIN)[RAIN]),
            computed(">>> round(value, 6), gradient", cost, slopes),
        ],
        "One step downhill": downhill,
        "Held-out rows: the default of Hornbeam": default_by_hand(),
        "The order alone: ROC and AUC": roc(),
        "Exercise 1": [
            computed("$(2 + #) / 4 = #$", 3 / 10, by_hgs[2]),
            computed(r"$m_u = 1 + \sqrt{10}/2 = #$", 1 + sqrt(10) / 2),
            computed(r"$(3 + # \cdot #) / # = #$", 1 + sqrt(10) / 2, 0.5, 11 + sqrt(10) / 2, branch_b[0]),
            computed("B gets $(2 + #) / 4 = #$", branch_b),
            computed(
                ">>> [round(rain(s)[2], 4)",
                [ESTIMATES[name][2] for name in ("raw", "laplace")],
                by_hgs[2],
                branch_b[1],
            ),
        ],
        "Exercise 2": [computed("$(1 + 1) / (10 + 2) = #$", 2 / 12)],
        "Exercise 3": [
            computed(r"$(0 + 2 \cdot # + 2/7) / (4 + 4) = #$", 3 / 10, hgs(A1, {ROOT: 2, A: 2})[RAIN]),
            computed(">>> rain(HGS(alpha=2.0", hgs(A1, {ROOT: 2, A: 2})[RAIN]),
        ],
        "Exercise 4": [
            computed("first leaf has # and the second #", 1, 9 / 10),
            computed("nine count ½: #.", auc([1] + 9 * [0.9], [0.9])),
            computed("so #. Laplace takes", auc([2 / 3] + 9 * [10 / 12], [10 / 12])),
            computed(
                ">>> [roc_auc_score(rainy",
                auc([1] + 9 * [0.9], [0.9]),
                auc([2 / 3] + 9 * [10 / 12], [10 / 12]),
            ),
        ],
        "Exercise 5": [computed(">>> round(float(-(n * np.log2(p))", laplace_bits)],
        "Exercise 6": [
            given(r"2 \cdot 0.01"),
            computed(r"\cdot 0.01) / (20 + 2) = #$", 0.02 / 22),
            computed("$1/22 = #$", 1 / 22),
        ],
    }
