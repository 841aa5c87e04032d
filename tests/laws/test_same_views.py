"""Every view of a tree shows the probability of the class of interest and the decision of `predict`."""

import json
import re
import shutil
import subprocess

import numpy as np
import pytest

from hornbeam import TreeClassifier
from hornbeam.export import to_dot, to_html, to_markdown, to_svg, to_text
from hornbeam.reporting.document import read_scripts
from hornbeam.reporting.payload import payload, safe_json
from hornbeam.reporting.reported_model import ReportedModel

NAMES = np.array(["paid", "default", "paid late"])


def risky_model(seed):
    """A tree of two or three classes with random costs, a class of interest, and the rows of its fit."""
    rng = np.random.default_rng(seed)
    classes = NAMES[: 2 + seed % 2]
    X = rng.integers(0, 10, (150, 3)).astype(float)
    chance = 1 / (1 + np.exp(-(X[:, 0] - 5) + rng.normal(size=150)))
    y = np.where(rng.random(150) < chance, classes[1], rng.choice(np.delete(classes, 1), 150))
    costs = {(a, b): float(rng.integers(1, 9)) for a in classes for b in classes if a != b}
    clf = TreeClassifier("cart", max_leaf_nodes=int(rng.integers(2, 8)), smoothing="laplace", costs=costs)
    return clf.fit(X, y), str(rng.choice(classes)), X


def expected(clf, positive, X, decimals):
    """For each leaf the decision and the probability of the class of interest, of a row that ends there."""
    leaf, at = np.unique(clf.apply(X), return_index=True)
    p = clf.predict_proba(X[at])[:, list(clf.classes_).index(positive)]
    return {
        int(node): (str(decided), f"{value:.{decimals}f}")
        for node, decided, value in zip(leaf, clf.predict(X[at]), p, strict=True)
    }


@pytest.fixture(scope="module", params=range(50))
def model(request):
    return risky_model(request.param)


def test_the_decision_is_not_always_the_most_probable_class():
    differs = 0
    for seed in range(50):
        clf, _, X = risky_model(seed)
        differs += (clf.predict(X) != clf.classes_[clf.predict_proba(X).argmax(axis=1)]).any()
    assert differs > 25


def test_text_markdown_dot_and_svg(model):
    clf, positive, X = model
    wanted = expected(clf, positive, X, 3)
    head = re.escape(f"P({positive})")

    lines = re.findall(rf"(\d+)\) .* ··+ (.+?) +{head} ([\d.]+)  ", to_text(clf, positive=positive))
    assert {int(node): (decided, p) for node, decided, p in lines} == wanted

    names, _, *rows = [line[2:-2].split(" | ") for line in to_markdown(clf, positive=positive).splitlines()]
    assert names[2:4] == ["decision", f"`P({positive})`"]
    assert {int(row[0]): (row[2].strip("`"), row[3]) for row in rows} == wanted

    labels = re.findall(rf'n(\d+) \[label="(.+), {head} ([\d.]+)\\n', to_dot(clf, positive=positive))
    assert {int(node): (decided, p) for node, decided, p in labels} == wanted

    boxes = re.findall(rf">([^<>]+), {head} ([\d.]+)<", to_svg(clf, positive=positive, max_width=60))
    assert boxes == [wanted[node] for node in sorted(wanted)]


def test_html_and_the_drawn_tree(model):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    from hornbeam.plots import TreeDisplay

    clf, positive, X = model
    wanted = expected(clf, positive, X, 2)
    downwards = [int(line.split(" | ")[0][2:]) for line in to_markdown(clf).splitlines()[2:]]
    page = to_html(clf, positive=positive)
    found = re.findall(rf"<b>([^<>]+)</b> {re.escape(f'P({positive})')} ([\d.]+) <small>", page)
    assert found == [wanted[node] for node in downwards]

    display = TreeDisplay.from_estimator(clf, positive=positive)
    cells = [text.get_text() for text in display.table_]
    assert cells[:2] == ["decision", f"P({positive})"]
    assert list(zip(cells[4::4], cells[5::4], strict=True)) == [wanted[node] for node in downwards]
    pyplot.close(display.figure_)


def test_the_rules_of_the_leaves(model):
    clf, positive, X = model
    wanted = expected(clf, positive, X, 3)
    leaves = clf.leaves(positive=positive)
    found = re.findall(rf"then (.+), {re.escape(f'P({positive})')} ([\d.]+) \(", leaves.as_rules())
    assert dict(zip(leaves.node.tolist(), found, strict=True)) == wanted


@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")
def test_the_report_and_the_workbench():
    """Both draw with these scripts."""
    models = [risky_model(seed) for seed in range(50)]
    asked = [safe_json(payload(ReportedModel.of(clf, positive), 0.9)) for clf, positive, _ in models]
    body = (
        "(data) => {"
        + read_scripts(("model", "words"))
        + "return childrenOf(0).length ? Array.from({ length: N }, (_, node) => node).filter(isLeaf)"
        ".map((node) => [node, answerOf(node), shortAnswerOf(node)]) : []; }"
    )
    script = f"console.log(JSON.stringify([{','.join(asked)}].map({body})))"
    said = json.loads(
        subprocess.run(["node", "-"], input=script.encode(), capture_output=True, check=True).stdout
    )
    for (clf, positive, X), lines in zip(models, said, strict=True):
        wanted = expected(clf, positive, X, 3)
        assert lines == [
            [node, f"P({positive}) {p}, decision {decided}", f"{p} → {decided}"]
            for node, (decided, p) in sorted(wanted.items())
        ]
