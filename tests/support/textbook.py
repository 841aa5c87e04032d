"""The methods of the learn pages in a few lines of plain Python, and the tables of the textbooks."""

from collections import Counter
from itertools import product
from math import comb, log2, sqrt
from statistics import mean

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import ndcg_score
from sklearn.svm import LinearSVC

TENNIS = """sunny hot high weak no,sunny hot high strong no,overcast hot high weak yes,rain mild high weak yes,
rain cool normal weak yes,rain cool normal strong no,overcast cool normal strong yes,sunny mild high weak no,
sunny cool normal weak yes,rain mild normal weak yes,sunny mild normal strong yes,overcast mild high strong yes,
overcast hot normal weak yes,rain mild high strong no"""
DAYS = [day.split() for day in TENNIS.split(",")]
OUTLOOK, HUMIDITY, WIND = 0, 2, 3


def entropy(*counts):
    return -sum(n / sum(counts) * log2(n / sum(counts)) for n in counts if n)


def gini(*counts):
    return 1 - sum((n / sum(counts)) ** 2 for n in counts)


def gain(rows, feature, impurity):
    """The gain of a feature of rows whose last cell is the class."""

    def of(part):
        return impurity(*Counter(row[-1] for row in part).values())

    parts = split_rows(rows, feature).values()
    return of(rows) - sum(len(part) / len(rows) * of(part) for part in parts)


def split_rows(rows, feature):
    """The rows of each value of a feature, in alphabetical order."""
    return {
        value: [row for row in rows if row[feature] == value] for value in sorted({r[feature] for r in rows})
    }


def ranked(rows, features):
    """Features by gain, the largest first; of equal ones the first of the table."""
    return sorted(features, key=lambda f: -round(gain(rows, f, entropy), 12))


def in_words(feature, value):
    return f"{feature} = " + ("'None'" if value == "None" else value)


def id3(rows, features, path=()):
    """The leaves of the tree of ID3: the classes of the rows for each path of pairs (feature, value)."""
    classes = Counter(sorted(row[-1] for row in rows))
    if not features or len(classes) == 1:
        return {path: classes}
    best = ranked(rows, features)[0]
    rest = [f for f in features if f != best]
    parts = split_rows(rows, best).items()
    return {p: n for value, part in parts for p, n in id3(part, rest, (*path, (best, value))).items()}


def nodes_of(leaves):
    """The nodes of a tree as paths, level by level and in alphabetical order."""
    nodes = [()]
    for node in nodes:  # the list grows until all nodes are leaves
        below = {path[: len(node) + 1] for path in leaves if path[: len(node)] == node}
        nodes += sorted(below - {node})
    return nodes


def tree_text(leaves, names):
    """A tree as Hornbeam prints it, but without lines and dots."""
    nodes = nodes_of(leaves)

    def lines(node):
        label = in_words(names[node[-1][0]], node[-1][1]) if node else "every row"
        classes = leaves.get(node, Counter()).most_common()
        share = f" {classes[0][0]} {classes[0][1] / leaves[node].total():.3f} " if classes else ""
        yield f"{nodes.index(node)}) {label}{share}" + ", ".join(f"{n} {name}" for name, n in classes)
        for child in nodes:
            if child and child[:-1] == node:
                yield from lines(child)

    return " ".join(lines(()))


def candidates_text(rows, names):
    """The table of the gains of all features, as Hornbeam prints it."""
    classes = sorted({row[-1] for row in rows})
    bits = entropy(*Counter(row[-1] for row in rows).values())
    text = (
        f"node 0: {len(rows)} rows, entropy {bits:.4f} bits rank gain split {' '.join(classes)} in each child"
    )
    for rank, feature in enumerate(ranked(rows, range(len(names))), 1):
        parts = split_rows(rows, feature)
        values = " | ".join(in_words("", value).strip() for value in parts)
        counts = (" ".join(str([r[-1] for r in part].count(c)) for c in classes) for part in parts.values())
        amount = abs(round(gain(rows, feature, entropy), 12))
        text += f" {rank}{'*' * (rank == 1)} {amount:.4f} {names[feature]} {values} {' | '.join(counts)}"
    return text


def split_information(rows, feature):
    """The entropy of the division itself."""
    return entropy(*Counter(row[feature] for row in rows).values())


def leaves_of_majority(known=()):
    """Leaves of the smallest tree of the majority of three inputs that tests them in order."""
    results = {sum(known + rest) >= 2 for rest in product((0, 1), repeat=3 - len(known))}
    return 1 if len(results) == 1 else leaves_of_majority((*known, 0)) + leaves_of_majority((*known, 1))


def best_threshold(cost, values):
    """The threshold between 0, 1, 2, ... with the least sum of costs of its two sides."""
    return min(range(1, len(values)), key=lambda i: cost(values[:i]) + cost(values[i:])) - 0.5


def short_threshold(low, high):
    """The shortest decimal in the middle half between two values: the nearest to the middle, of two the even one."""
    middle, quarter = (low + high) / 2, (high - low) / 4
    for power in range(9, -18, -1):
        value = float(f"{round(middle / 10.0**power)}e{power}")
        if abs(value - middle) <= quarter:
            return value
    return middle


class Cart(ClassifierMixin, BaseEstimator):
    """CART for numeric features, without pruning. Of equal cuts it takes that of the first feature, the lowest one.

    Nodes are in level order; `nodes` has their feature (-1 for a leaf), threshold, first child, class, depth and rows.
    """

    def __init__(self, max_depth=np.inf, min_samples_leaf=1):
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf

    def fit(self, X, y):
        self.classes_, labels = np.unique(y, return_inverse=True)
        X, ones = np.asarray(X, float), np.eye(len(self.classes_))[labels]
        self.nodes, waiting = [], [(np.arange(len(X)), 0)]
        for rows, depth in waiting:  # grows until all nodes are leaves
            counts = ones[rows].sum(axis=0)
            cut = (
                None
                if counts.max() == len(rows) or depth >= self.max_depth
                else self._best_cut(X[rows], ones[rows])
            )
            feature, threshold = cut or (-1, np.nan)
            self.nodes.append((feature, threshold, len(waiting), int(counts.argmax()), depth, len(rows)))
            if cut:
                below = X[rows, feature] <= threshold
                waiting += [(rows[below], depth + 1), (rows[~below], depth + 1)]
        return self

    def _best_cut(self, X, ones):
        best, found = 2.0**-36, None
        least, n, whole = self.min_samples_leaf, len(X), (ones.sum(axis=0) ** 2).sum() / len(X)
        sizes = np.arange(1, n)
        for feature, x in enumerate(X.T):
            order = np.argsort(x, kind="stable")
            left = ones[order].cumsum(axis=0)[:-1]
            right = ones.sum(axis=0) - left
            gains = (left**2).sum(axis=1) / sizes + (right**2).sum(axis=1) / (n - sizes) - whole
            x = x[order]
            gains[(x[1:] == x[:-1]) | (sizes < least) | (n - sizes < least)] = -1
            if len(gains) and gains.max() > best + 2.0**-36:
                best = gains.max()
                at = np.flatnonzero(gains > best - 2.0**-36)[0]
                found = feature, short_threshold(x[at], x[at + 1])
        return found

    def reached(self, X):
        """The rows that come to each node."""
        masks = [np.ones(len(X), bool)] + [None] * (len(self.nodes) - 1)
        for at, (feature, threshold, child, *_) in enumerate(self.nodes):
            if feature >= 0:
                below = X[:, feature] <= threshold
                masks[child], masks[child + 1] = masks[at] & below, masks[at] & ~below
        return masks

    def predict(self, X):
        found = np.empty(len(X), int)
        for (feature, _, _, label, *_), here in zip(self.nodes, self.reached(np.asarray(X)), strict=True):
            if feature < 0:
                found[here] = label
        return self.classes_[found]

    @property
    def n_leaves(self):
        return sum(node[0] < 0 for node in self.nodes)


def sse(values):
    return sum((value - mean(values)) ** 2 for value in values)


def bits(classes):
    return len(classes) * entropy(*Counter(classes).values())


def limit(n, confidence=0.25):
    """The rate at which no error in n rows has this probability."""
    return 1 - confidence ** (1 / n)


def limit_of_errors(errors, n):
    """The same for some errors, by bisection of the binomial distribution."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        chance = sum(comb(n, e) * middle**e * (1 - middle) ** (n - e) for e in range(errors + 1))
        low, high = (middle, high) if chance > 0.25 else (low, middle)
    return low


def auc(positive, negative):
    """The share of pairs in the right order; half of the ties."""
    pairs = list(product(positive, negative))
    return sum((p > n) + (p == n) / 2 for p, n in pairs) / len(pairs)


def m_branch(counts, m=1, rows=10):
    """Rain at the last node of a branch from the root, of pairs (rain, all)."""
    p = 0.5
    for height, (rain, n) in zip(range(len(counts), 0, -1), counts, strict=True):
        added = m * (1 + (1 - 1 / height) * sqrt(rows))
        p = (rain + added * p) / (n + added)
    return p


def queries():
    """The generator, features, grades and queries of the page "Ranking"."""
    rng = np.random.default_rng(0)
    query = np.repeat(np.arange(150), 10)
    X = rng.normal(size=(1500, 5))
    X[:, 4] = X[10 * query, 4]
    noise = rng.normal(scale=0.5, size=1500)
    return rng, X, np.digitize(X[:, 0] + X[:, 1] * X[:, 2] + 2 * X[:, 4] + noise, [0.5, 1.5, 2.5, 3.5]), query


def rank_svm():
    """NDCG of a linear ranker on the queries of the page."""
    _, X, grade, _ = queries()
    pairs = [
        X[i] - X[j]
        for q in range(75)
        for i, j in product(range(10 * q, 10 * q + 10), repeat=2)
        if grade[i] > grade[j]
    ]
    found = LinearSVC(fit_intercept=False, random_state=0)
    found.fit(np.vstack([pairs, np.negative(pairs)]), np.repeat([1, -1], len(pairs)))
    scores = (X @ found.coef_[0]).reshape(150, 10)[75:]
    grades = grade.reshape(150, 10)[75:]
    some = grades.max(axis=1) > 0  # NDCG is not defined where no document is good
    return ndcg_score(2 ** grades[some] - 1, scores[some])


def approximate_limit(errors, n):
    """C4.5's approximation by the normal distribution, with the deviation of 25 % from its table."""
    z2 = (0.84 + (0.25 - 0.84) * (0.25 - 0.2) / (0.4 - 0.2)) ** 2
    e = errors + 0.5
    return (e + z2 / 2 + sqrt(z2 * (e * (1 - e / n) + z2 / 4))) / (n + z2)


def pre_pruning_of_xor():
    """Of 50 samples of XOR: in how many the first split has fewer validation errors than a leaf, and no more errors;
    and in how many the bottom-up search keeps all four leaves.

    The first split is that of CART: the larger decrease of Gini, of equals the first feature.
    """

    def sample(n, seed):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 2, (n, 2))
        return X, (X[:, 0] ^ X[:, 1]) ^ (rng.random(n) < 0.1)

    def after(X, y, feature):
        return sum(len(s) * gini(s.sum(), len(s) - s.sum()) for s in (y[X[:, feature] == v] for v in (0, 1)))

    def wrong(seen, held):
        return int((held != (seen.mean() > 0.5)).sum())

    better = not_worse = kept = 0
    for seed in range(50):
        (A, a), (B, b) = sample(200, seed), sample(100, 1000 + seed)
        feature = min((0, 1), key=lambda f: after(A, a, f))
        sides = [(A[:, feature] == v, B[:, feature] == v) for v in (0, 1)]
        halves = [wrong(a[seen], b[held]) for seen, held in sides]
        quarters = [
            sum(wrong(a[seen & (A[:, 1 - feature] == v)], b[held & (B[:, 1 - feature] == v)]) for v in (0, 1))
            for seen, held in sides
        ]
        leaf = wrong(a, b)
        better, not_worse = better + (sum(halves) < leaf), not_worse + (sum(halves) <= leaf)
        kept += all(q < h for q, h in zip(quarters, halves, strict=True)) and sum(quarters) < leaf
    return better, not_worse, kept
