"""Where the numbers of the page "Overfitting" come from."""

import csv
from collections import defaultdict

import numpy as np
from scipy.stats import beta, binomtest, norm
from sklearn.datasets import load_diabetes
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split

from hornbeam import TreeClassifier
from support.docs_module import DOCS
from support.page_numbers import computed, given, printed, recomputed, study
from support.textbook import (
    DAYS,
    Cart,
    approximate_limit,
    gini,
    id3,
    in_words,
    limit,
    limit_of_errors,
    pre_pruning_of_xor,
)
from test_learn_growing import OVERFITTING, counted, inline, learning_curve, leaves_kept

SCORES = "benchmarks/results/smoothing/scores.csv"


def sample(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 4))
    disc = (X[:, 0] - 0.5) ** 2 + (X[:, 1] - 0.5) ** 2 < 0.16
    return X, np.where(disc ^ (rng.random(n) < 0.2), "in", "out")


X, Y = sample(400, seed=0)
X_NEW, Y_NEW = sample(20_000, seed=1)
X_TRAIN, X_TEST, Y_TRAIN, Y_TEST = train_test_split(X, Y, test_size=1 / 3, random_state=0)


def errors(tree):
    """Errors on the training rows and on new rows."""
    return [1 - tree.fit(X, Y).score(X, Y), 1 - tree.score(X_NEW, Y_NEW)]


def best_of_100():
    """Accuracies of the tree of a useless feature that is best on the validation rows: there, and on the test rows."""
    rng = np.random.default_rng(0)
    useless, coin = rng.random((1150, 100)), rng.integers(0, 2, 1150)
    scores = []
    for x in useless.T[:, :, None]:
        guess = Cart().fit(x[:100], coin[:100])
        scores.append([guess.score(x[part], coin[part]) for part in (slice(100, 150), slice(150, None))])
    return max(scores)


def chosen_depth():
    choose = GridSearchCV(Cart(), {"max_depth": [1, 2, 3, 4, 6, 8, 12]})
    nested = 1 - cross_val_score(choose, X, Y, cv=5).mean()
    choose.fit(X, Y)
    return choose.best_params_["max_depth"], 1 - choose.best_score_, nested, errors(choose)[1]


def rows_by_depth():
    """Median training and validation rows of the nodes at some depths."""
    tree = Cart().fit(X_TRAIN, Y_TRAIN)
    found = []
    for level in (0, 2, 4, 6):
        held = [
            mask.sum()
            for node, mask in zip(tree.nodes, tree.reached(X_TEST), strict=True)
            if node[4] == level
        ]
        found.append(
            [level, np.median([node[5] for node in tree.nodes if node[4] == level]), np.median(held)]
        )
    return found


def reduced_error():
    """Leaves of the full tree, those left after pruning by the held-out rows, and the error on new rows."""
    tree = Cart().fit(X_TRAIN, Y_TRAIN)
    held, new = tree.reached(X_TEST), tree.reached(X_NEW)

    def best(at):
        """Validation errors, leaves and errors on new rows of the best pruning below a node."""
        feature, _, child, label, *_ = tree.nodes[at]
        name = tree.classes_[label]
        leaf = (Y_TEST[held[at]] != name).sum(), 1, (Y_NEW[new[at]] != name).sum()
        if feature < 0:
            return leaf
        below = np.add(best(child), best(child + 1))
        return leaf if leaf[0] <= below[0] else below

    _, n_leaves, missed = best(0)
    return tree.n_leaves, n_leaves, missed / len(Y_NEW)


def greedy_counterexample():
    """Claims on the nine training and five validation rows."""
    train, held = (counted(inline(OVERFITTING, name)) for name in ("T, t", "V, v"))
    wrong = leaves_kept(train, held)
    full = wrong[0, 0]
    cells = {"".join(map(str, cell)): n for cell, n in train.items()}
    leaf = {cell: f"{'ab'[n.argmax()]} 1.000 {n.max()} {'ab'[n.argmax()]}" for cell, n in cells.items()}
    assert all(n.min() == 0 for n in cells.values())
    return [
        printed(
            f"0) every row 1) x ≤ 0.5 3) z ≤ 0.5 {leaf['00']} 4) z > 0.5 {leaf['01']} "
            f"2) x > 0.5 5) z ≤ 0.5 {leaf['10']} 6) z > 0.5 {leaf['11']}"
        ),
        printed(
            f"greedy: 1 leaves, {wrong['root']} validation errors bottom-up: 2 leaves, {wrong[1, 1]} validation errors"
        ),
        computed(
            "The full tree has # errors. Cutting node 1 saves # and cutting node 2 saves #, but cutting the root "
            "saves #.",
            full,
            [full - wrong[way] for way in ((1, 0), (0, 1), "root")],
        ),
        computed("To cut nodes 1 and 2 saves #.", full - wrong[1, 1]),
    ]


def upper_limit(wrong, n):
    return approximate_limit(wrong, n) if wrong else limit(n)


def congress():
    rows = [[n, 0, limit(n), n * limit(n)] for n in (6, 9, 1)]
    one = approximate_limit(1, 16)
    return [
        given("25 % (the *confidence*, CF)"),
        given("(1 - U)^N = 0.25, \\qquad U(0, N) = 1 - 0.25^{1/N}"),
        *(computed(f"U(0, {n}) = #$", limit(n)) for n in (6, 9, 1)),
        computed("| no: democrat | # | # | # | # | | yes: democrat | # | # | # | # |", rows[:2]),
        computed("| unknown: republican | # | # | # | # |", rows[2]),
        computed("| **the three leaves** | # | # | | **#** |", 16, 0, sum(row[-1] for row in rows)),
        computed("| **one leaf: democrat** | # | # | # | **#** |", 16, 1, one, 16 * one),
        computed("exactly it is #.)", limit_of_errors(1, 16)),
        computed(">>> for pruning in (None,", 3, 1 if 16 * one <= sum(row[-1] for row in rows) else 3),
    ]


def weakest_links():
    counts = {"root": (7, 3), "A": (6, 1), "A1": (4, 0), "A2": (2, 1), "B": (1, 2)}
    share = {node: sum(n) / 10 * gini(*n) for node, n in counts.items()}
    three, two, one = share["A1"] + share["A2"] + share["B"], share["A"] + share["B"], share["root"]
    labels = ("root", "A, inner", "A1, leaf of A", "A2, leaf of A", "B, leaf of the root")
    first, root, second = share["A"] - share["A1"] - share["A2"], (one - three) / 2, one - two
    return [
        *(
            computed(f"| {label} | #, # | # | # |", n, gini(*n), share[node])
            for label, (node, n) in zip(labels, counts.items(), strict=True)
        ),
        computed("$g(A) = (# - #) / 1 = #$", share["A"], share["A2"], first),
        computed(r"$g(\text{root}) = (# - #) / 2 = #$", one, three, root),
        computed(r"$g(\text{root}) = (# - # - #) / 1 = #$", one, share["A"], share["B"], second),
        computed(">>> cart.cost_complexity_path()", [0, three, 3], [first, two, 2], [second, one, 1]),
    ]


def met(conditions, label):
    """Days that meet conditions, and those of another class."""
    days = [day for day in DAYS if all(day[f] == value for f, value in conditions)]
    return sum(day[-1] != label for day in days), len(days)


def simplified(conditions, label):
    """Remove conditions, the one with the lowest limit first, while the limit or the error rate does not rise."""
    while conditions:
        wrong, n = met(conditions, label)
        shorter = [[c for c in conditions if c != one] for one in conditions]
        best = min(shorter, key=lambda rule: upper_limit(*met(rule, label)))
        w, m = met(best, label)
        if upper_limit(w, m) > upper_limit(wrong, n) and w / m > wrong / n:
            break
        conditions = best
    return conditions


def rules_text():
    """The rules of the tennis tree as Hornbeam prints them; the bounds are quantiles of beta distributions."""
    names, text = ("outlook", "temperature", "humidity", "wind"), ""

    def facts(wrong, n):
        right = n - wrong
        high = 1 if right == n else beta.ppf(0.95, right + 0.5, wrong)
        bounds = f"({beta.ppf(0.05, right, wrong + 0.5):.3f} to {high:.3f})"
        return f"{right / n:.3f} {bounds}; covers {n} rows, {wrong} wrong; decides {n}"

    for number, (path, classes) in enumerate(id3(DAYS, range(4)).items(), 1):
        label = classes.most_common()[0][0]
        rule = simplified(list(path), label)
        words = " and ".join(in_words(names[f], value) for f, value in rule)
        text += f"{number}. if {words} then {label}, {facts(*met(rule, label))} "
    return f"{text}otherwise yes, {facts(*met([], 'yes'))}"


def record_of_the_full_tree():
    """Sets, and those on which the full tree is better, worse and equal by RMSE to four digits; the sign test."""
    scores = defaultdict(dict)
    with (DOCS.parent / SCORES).open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            scores[row["method"]][row["set"]] = round(float(row["rmse"] or "nan"), 4)
    full, default = scores["hornbeam/every-leaf"], scores["hornbeam/default"]
    better = sum(full[name] < default[name] for name in full)
    worse = sum(full[name] > default[name] for name in full)
    p = binomtest(better, better + worse).pvalue
    return len(full), better, worse, len(full) - better - worse, p


def severity():
    """Scores of the predictions of the default tree, without costs and with them."""
    X, progress = load_diabetes(return_X_y=True)
    y = 1 + np.digitize(progress, np.quantile(progress, [0.5, 0.8]))
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=1 / 3, random_state=0, stratify=y)
    tree = TreeClassifier().fit(X_train, y_train)
    steps = np.arange(1, 4)
    expected = tree.predict_proba(X_test) @ (steps[:, None] - steps) ** 2
    squares, table = [], []
    for predicted in (tree.predict(X_test), steps[expected.argmin(axis=1)]):
        right = predicted == y_test
        recall = [right[y_test == k].mean() for k in steps]
        squares.append(np.mean((predicted - y_test) ** 2))
        table += [recall, np.mean(recall), right.mean()]
    return squares, table


def default_with_and_without_pruning():
    trees = [TreeClassifier(pruning=pruning).fit(X, Y) for pruning in (None, "auto")]
    return [[len(set(tree.apply(X))), np.mean(tree.predict(X_NEW) != Y_NEW)] for tree in trees]


def claims():
    full = Cart()
    full_errors = errors(full)
    held_out = 1 - Cart().fit(X_TRAIN, Y_TRAIN).score(X_TEST, Y_TEST)
    folds = 1 - cross_val_score(Cart(), X, Y, cv=10)
    depth, inner, nested, chosen_error = chosen_depth()
    by_depth = [[d, *errors(Cart(max_depth=d))] for d in (1, 2, 4, 6, 8, 12, 16)]
    by_leaf = [[n, (tree := Cart(min_samples_leaf=n).fit(X, Y)).n_leaves, errors(tree)] for n in (1, 5, 20)]
    better, not_worse, kept = pre_pruning_of_xor()
    sets, wins, losses, draws, p = record_of_the_full_tree()
    squares, table = severity()
    two_sided = norm.ppf(0.975)
    curve = learning_curve()
    return {
        "Training accuracy misleads": [
            given("20 % of the classes are exchanged"),
            given("error below 0.2 on new rows"),
            computed(">>> tree.tree_.n_leaves, error(tree", full.n_leaves, full_errors),
            computed("No error on the # training rows, # % on new rows.", len(X), 100 * full_errors[1]),
        ],
        "Training, validation and test rows": [
            computed(">>> len(y_train), len(y_test), held_out", len(Y_TRAIN), len(Y_TEST), held_out),
            computed(">>> max(scores)", best_of_100()),
        ],
        "Folds": [
            computed(">>> float(folds.mean().round(3))", folds.mean(), folds.min(), folds.max()),
            computed('>>> print(f"{choose.best_params_}', depth, inner, nested),
            computed(">>> error(choose, X_new, y_new)", chosen_error),
            computed("on # new rows, is #.", len(X_NEW), chosen_error),
            computed(
                "about ± #, as the section", two_sided * np.sqrt(chosen_error * (1 - chosen_error) / 400)
            ),
        ],
        "Too small, too large": [computed(">>> for depth in (1, 2, 4, 6, 8, 12, 16):", by_depth)],
        "More rows": [
            study(
                "the error of Hornbeam's default is # with # rows, # with # and # with #.",
                "docs/pictures/learn-overfitting-rows.svg",
                [[error, n] for n, error in zip((100, 1600, 6400), curve, strict=True)],
            ),
            given(r"2 \cdot 0.2 \cdot 0.8"),
            computed(r"2 \cdot 0.2 \cdot 0.8 = #$", 2 * 0.2 * 0.8),
            given("has a 95 % interval"),
            computed(r"$p \pm # \sqrt", two_sided),
            computed(
                ">>> for n in (100, 400, 1600):",
                [[n, two_sided * np.sqrt(0.3 * 0.7 / n)] for n in (100, 400, 1600)],
            ),
            given("trees with errors of 0.25 and 0.30"),
        ],
        "First way: stop early": [computed(">>> for least in (1, 5, 20):", by_leaf)],
        "Second way: check each split on validation rows": [
            computed(
                "the # rows that were held out above serve for validation, and the # new",
                len(Y_TEST),
                len(Y_NEW),
            ),
            computed(">>> for level in (0, 2, 4, 6):", rows_by_depth()),
            given("with 10 % of the classes exchanged"),
            computed(">>> int(better), int(not_worse), kept", better, not_worse, kept),
            computed("passes in # of # samples if it must improve, and in # if", better, 50, not_worse),
            computed("in # it is a tie", not_worse - better),
            computed("but # samples still end", 50 - not_worse),
            computed("In all #, reduced-error pruning", kept),
        ],
        "Third way: grow, then prune": [
            computed(">>> tree.n_leaves, pruned.tree_.n_leaves, error", reduced_error()),
            *greedy_counterexample(),
        ],
        "Without validation rows: C4.5": congress(),
        "Without validation rows: CART": weakest_links(),
        "Rules from a tree": [
            computed("yes: # days, # wrong, $U(0, 2) = #$", 2, 0, limit(2)),
            computed("wrong on # of them: $U(1, 7) = #$", 1, upper_limit(1, 7)),
            computed("wrong on # of # days: $U(3, 5) = #$", met([(0, "sunny")], "yes"), upper_limit(3, 5)),
            printed(rules_text()),
        ],
        "Fourth way: keep the leaves, smooth the probabilities": [
            study(
                "Measured on # data sets: the full tree, smoothed, has better probabilities (RMSE) than the smaller "
                "default tree on # sets and worse ones on #, with # draws (sign test, p = #)",
                SCORES,
                sets,
                wins,
                losses,
                draws,
                p,
            ),
            recomputed('>>> for pruning in (None, "auto"):', default_with_and_without_pruning()),
        ],
        "More than two classes": [
            recomputed(">>> float(((plain - y_test)", squares[0]),
            recomputed(">>> float(((careful - y_test)", squares[1]),
            recomputed(">>> for predicted in (plain, careful):", table),
        ],
        "In practice": [given("`tolerance=0.02` for the smallest tree with at most 2 % more log loss")],
        "Exercise 1": [
            given("an error rate of about 0.2 to within ± 0.01"),
            computed(r"From $# \sqrt{0.2 \cdot 0.8 / n} = 0.01$", two_sided),
            given(r"\sqrt{0.2 \cdot 0.8 / n} = 0.01$"),
            computed(r"$n = # \cdot", 0.2 * 0.8),
            computed(">>> round(0.16 * 196**2)", 0.2 * 0.8 * 196**2),
        ],
        "Exercise 2": [
            given("at 25 %, to four digits? And what does it become at 10 %?"),
            given("1 - 0.25^{1/4}"),
            computed("At 10 % it is $1 - 0.1^{1/4} = #$", limit(4, 0.1)),
            given("At 10 % it is $1 - 0.1^{1/4}"),
            computed(">>> [round(1 - confidence**0.25", limit(4), limit(4, 0.1)),
        ],
        "Exercise 3": [
            computed(r"$8\,U(0, 8) = 8\,(1 - 0.25^{1/8}) = #$", 8 * limit(8)),
            given(r"8\,(1 - 0.25^{1/8})"),
            computed(
                r"$3\,U(0, 3) + 5\,U(0, 5) = # + # = #$",
                3 * limit(3),
                5 * limit(5),
                3 * limit(3) + 5 * limit(5),
            ),
            computed(">>> [round(n * (1 - 0.25", [n * limit(n) for n in (8, 3, 5)]),
        ],
        "Exercise 4": [
            computed(r"$R(\text{root}) = #$", gini(10, 10)),
            computed("$1 - # - # = #$ and half", 0.8**2, 0.2**2, gini(8, 2)),
            computed("so that $R(T) = #$ and $g = # - #$", gini(8, 2), gini(10, 10), gini(8, 2)),
            computed('>>> float(TreeClassifier("cart").fit(x, label)', gini(10, 10) - gini(8, 2)),
        ],
        "Exercise 5": [
            computed(
                "covers # days, none wrong. Without *outlook* it covers # days, # wrong, and the limit is #.",
                met([(0, "rain"), (3, "weak")], "yes")[1],
                met([(3, "weak")], "yes")[::-1],
                upper_limit(2, 8),
            ),
            computed(
                "$U(0, 3) = #$ is lower than #, and the error rate would rise from 0 to #",
                limit(3),
                upper_limit(2, 8),
                2 / 8,
            ),
            computed(">>> int(weak.sum())", met([(3, "weak")], "yes")[::-1], limit(3)),
        ],
        "Exercise 6": [
            given("its error on 400 test rows is 0.1. How wide is the 95 % interval on either side of 0.1"),
            computed(r"$#\sqrt{0.1 \cdot 0.9 / 400}$", two_sided),
            given(r"\sqrt{0.1 \cdot 0.9 / 400}$"),
            computed(">>> round(1.96 * (0.1", two_sided * np.sqrt(0.1 * 0.9 / 400)),
        ],
    }
