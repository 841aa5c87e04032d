"""C4.5's rules, slow and obvious: one row, one rule, one subset at a time.

A rule is a pair of a list of tests and a class. Rows are lists of values as a table holds them; weights are in rows.
"""

from itertools import product
from math import factorial, isnan, log2, sqrt

import numpy as np

__all__ = ["beliefs", "chosen", "shortened"]

CF, Z = (
    0.25,
    0.84 + (0.25 - 0.84) * (0.25 - 0.20) / (0.40 - 0.20),
)  # C4.5's table has 0.84 at 20 %, 0.25 at 40 %


class Rows:
    """The rows of a table, by value."""

    def __init__(self, table):
        self.rows = list(zip(*(column.tolist() for column in table.columns), strict=True))
        self.nominal = [column.dtype == np.int32 for column in table.columns]
        self.y = table.target.tolist()
        steps = [1] * len(self.y) if table.weight is None else table.weight.tolist()
        self.steps, self.unit = steps, table.unit
        self.n_classes = table.schema.n_classes
        self.sizes = [len(feature.categories) for feature in table.schema.features]
        self.all = range(len(self.y))
        self.n, self.n_of_class = self.weight(self.all), self.tally(self.all)

    def meets(self, row, test):
        value = row[test.column]
        missing = value == -1 if self.nominal[test.column] else isnan(value)
        if missing:
            return test.missing
        if test.among is not None and value not in test.among:
            return False
        if test.above is not None and not value > test.above:
            return False
        return test.at_most is None or value <= test.at_most

    def covered(self, tests):
        return [i for i, row in enumerate(self.rows) if all(self.meets(row, test) for test in tests)]

    def weight(self, rows):
        return sum(self.steps[i] for i in rows) * self.unit

    def of_class(self, rows, k):
        return self.weight(i for i in rows if self.y[i] == k)

    def tally(self, rows):
        return [self.of_class(rows, k) for k in range(self.n_classes)]


def limit(n, e):
    """The upper limit of e errors in n, as C4.5 has it."""
    none_seen = n * (1 - CF ** (1 / n))
    if e < 1 - 1e-6:
        return none_seen + e * (above_one(n, 1.0) - none_seen)
    return above_one(n, e)


def above_one(n, e):
    if e + 0.5 >= n:
        return e + 0.67 * max(n - e, 0.0)
    f = (e + 0.5) / n
    root = sqrt(f / n - f * f / n + Z * Z / (4 * n * n))
    return n * (f + Z * Z / (2 * n) + Z * root) / (1 + Z * Z / n)


def rates(data, tests, k):
    """The pessimistic and the actual error rate."""
    rows = data.covered(tests)
    n = data.weight(rows)
    if n == 0:
        return default_error(data, k), 0.0
    e = n - data.of_class(rows, k)
    return limit(n, e) / n, e / n


def default_error(data, k):
    return 1 - (data.n_of_class[k] + 1) / (data.n + 2)


def without(tests, i):
    return tests[:i] + tests[i + 1 :]


def shortened(table, rules):
    """Drop tests; give (tests, class, expected error) of the rules that are worth it, with repeats."""
    data, found = Rows(table), []
    for tests, k, weight in rules:
        tests = list(tests)
        if weight < 1:
            continue
        while tests:
            here = rates(data, tests, k)
            less = [rates(data, without(tests, i), k) for i in range(len(tests))]
            if not any(one[0] <= here[0] or one[1] <= here[1] for one in less):
                break
            least = min(one[0] for one in less)
            tests = without(tests, max(i for i, one in enumerate(less) if one[0] == least))
        if tests and here[0] < default_error(data, k):
            found.append((tests, k, here[0]))
    return found


def feature_bits(data):
    bits = []
    for f, nominal in enumerate(data.nominal):
        values = [row[f] for row in data.rows]
        if nominal:
            shares = [
                data.weight(i for i in data.all if values[i] == code) / data.n
                for code in range(data.sizes[f])
            ]
            bits.append(sum(-p * log2(p) for p in shares if p > 0))
        else:
            different = len({value for value in values if not isnan(value)})
            bits.append(1 + log2(different) / 2 if different > 1 else 0.0)
    return bits


def rule_bits(data, tests):
    branch = feature_bits(data)
    name = sum(-b / sum(branch) * log2(b / sum(branch)) for b in branch if b > 0)
    total = 0.0
    for test in tests:
        many = test.among is not None and len(test.among) > 1
        total += name + (data.sizes[test.column] if many else branch[test.column])
    return total + log2(len(tests)) - log2(factorial(len(tests)))


def biased(n, e, expected):
    if expected <= 1e-6:
        return 0.0 if e <= 1e-6 else 1e6
    if expected >= n - 1e-6:
        return 0.0 if abs(e - n) <= 1e-6 else 1e6
    return -e * log2(expected / n) - (n - e) * log2(1 - expected / n)


def exceptions(n, fires, wrong, missed):
    if fires > 0.5 * n:
        return log2(n) + biased(fires, wrong, 0.5 * (wrong + missed)) + biased(n - fires, missed, missed)
    return log2(n) + biased(fires, wrong, wrong) + biased(n - fires, missed, 0.5 * (wrong + missed))


def code_length(data, k, subset, cover, bits):
    """Half the bits of the rules, whose order is free, and the bits of their exceptions."""
    on = set().union(*(cover[r] for r in subset))
    fires = right = 0
    for i in on:
        fires += data.steps[i]
        right += data.steps[i] * (data.y[i] == k)
    wrong, missed = (fires - right) * data.unit, data.n_of_class[k] - right * data.unit
    told = sum(bits[r] for r in subset) - log2(factorial(len(subset)))
    return 0.5 * told + exceptions(data.n, fires * data.unit, wrong, missed)


def best_subset(data, k, cover, bits, seed):
    """The first of the subsets of least cost: of all, or of those that eleven climbs end at."""
    names = list(cover)

    def cost(subset):
        return code_length(data, k, subset, cover, bits)

    if len(names) <= 10:
        # The first rule changes fastest.
        ends = [picked(names, taken[::-1]) for taken in product((False, True), repeat=len(names))]
    else:
        rng = np.random.default_rng([seed, k])
        starts = [picked(names, rng.random(len(names)) < trial / 10) for trial in range(11)]
        ends = [climb(names, start, cost) for start in starts]
    best, least = [], float("inf")
    for subset in ends:
        bits_here = cost(subset)
        if bits_here < least - 1e-9:
            best, least = subset, bits_here
    return best


def picked(names, taken):
    return [name for name, wanted in zip(names, taken, strict=True) if wanted]


def climb(names, subset, cost):
    while True:
        now, best, least = cost(subset), None, float("inf")
        for r in names:
            other = [s for s in names if (s in subset) != (s == r)]
            bits = cost(other)
            if bits < least:
                best, least = other, bits
        if not least < now - 1e-9:
            return subset
        subset = best


def chosen(table, rules, seed=0):
    """Choose and order rules (tests, class, expected error); give their positions, and the default class."""
    data = Rows(table)
    cover = [set(data.covered(tests)) for tests, _, _ in rules]
    bits = [rule_bits(data, tests) for tests, _, _ in rules]
    kept = {}
    for k in range(data.n_classes):
        own = [r for r, rule in enumerate(rules) if rule[1] == k]
        if own:
            kept[k] = best_subset(data, k, {r: cover[r] for r in own}, bits, seed)
    order, left = [], set(data.all)
    while any(kept.values()):
        wrong = {
            k: data.weight(i for i in left if data.y[i] != k and any(i in cover[r] for r in some))
            for k, some in kept.items()
            if some
        }
        k = min(wrong, key=lambda k: (wrong[k], k))
        order += sorted(kept.pop(k), key=lambda r: (rules[r][2], r))
        left -= set().union(*(cover[r] for r in order))
    silent = data.tally(left)
    default = max(range(data.n_classes), key=lambda k: (silent[k], data.n_of_class[k], -k))
    return without_worse(data, rules, cover, order, default), default


def without_worse(data, rules, cover, order, default):
    """Drop, one at a time, the first rule that does more harm than what would decide without it."""
    while True:
        for r in order:
            gain = 0
            for i in data.all:
                fires = [s for s in order if i in cover[s]]
                if fires and fires[0] == r:
                    mine = rules[r][1]
                    others = rules[fires[1]][1] if len(fires) > 1 else default
                    gain += data.steps[i] * ((mine == data.y[i]) - (others == data.y[i]))
            if gain < 0:
                order = [s for s in order if s != r]
                break
        else:
            return order


def beliefs(table, rules, alpha=1.0):
    """What each rule (tests, class) of a list, and last the default, think of the rows they decide."""
    data, found = Rows(table), []
    left = set(data.all)
    for tests, k in rules:
        mine = [i for i in sorted(left) if i in data.covered(tests)]
        left -= set(mine)
        weight = [w + 1 / data.n_classes for w in data.tally(mine)]
        tests = list(tests)
        while True:
            circle = data.tally(data.covered(tests))
            if sum(circle) > 0:
                weight = [w + alpha * c / sum(circle) for w, c in zip(weight, circle, strict=True)]
            if not tests:
                break
            less = [rates(data, without(tests, i), k)[0] for i in range(len(tests))]
            tests = without(tests, max(i for i, one in enumerate(less) if one == min(less)))
        found.append([w / sum(weight) for w in weight])
    return found
