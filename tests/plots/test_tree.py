"""The drawn tree: readable text, branches and bars in proportion, and a count of what is folded."""

import re
import time

import numpy as np
import pandas as pd
import pytest

from hornbeam import TreeClassifier, TreeRegressor
from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.errors import DataError, ParameterError
from hornbeam.export.people.palette import CLASS_COLOURS
from hornbeam.export.slope_text import terms_text
from hornbeam.plots import TreeDisplay
from hornbeam.tree import Skeleton, with_slopes
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import path
from hornbeam.tree.words import feature_name, label_text, shortened
from support.lending import income, lending
from support.strategies import slopes_of

mpl = pytest.importorskip("matplotlib", reason="pictures need the extra plots")
mpl.use("agg")
from matplotlib import pyplot  # noqa: E402

nan = np.nan


def fitted(n_leaves, n_classes=3):
    """A tree over numeric and nominal features with this number of leaves."""
    rng = np.random.default_rng(n_leaves)
    n = 30 * n_leaves
    number = rng.normal(size=(n, 3))
    place = rng.choice(["Aberystwyth", "Berwick-upon-Tweed", "Canterbury", "Durham", "Ely"], n)
    X = [[*row, town] for row, town in zip(number.tolist(), place, strict=True)]
    y = (number[:, 0] * 2 + (place == "Ely") + rng.normal(size=n)).round().astype(int) % n_classes
    return TreeClassifier(max_leaf_nodes=n_leaves, smoothing="hgs", nominal_split="subset").fit(X, y), X


def texts(display):
    return [*display.texts_, *display.table_, *display.legend_, display.caption_]


def boxes(display):
    display.figure_.canvas.draw()
    return np.array([text.get_window_extent().extents for text in texts(display)])


def overlapping(extents):
    """Pairs of boxes that overlap by more than a pixel."""
    x0, y0, x1, y1 = extents.T
    wide = np.minimum(x1[:, None], x1) - np.maximum(x0[:, None], x0)
    high = np.minimum(y1[:, None], y1) - np.maximum(y0[:, None], y0)
    return np.argwhere(np.triu((wide > 1) & (high > 1), 1))


@pytest.mark.parametrize("n_leaves", [2, 10, 100])
def test_texts_do_not_overlap_and_are_inside_the_figure(n_leaves):
    clf, _ = fitted(n_leaves)
    display = TreeDisplay.from_estimator(clf)
    extents = boxes(display)
    written = [text.get_text() for text in texts(display)]
    assert [(written[i], written[j]) for i, j in overlapping(extents)] == []
    width, height = display.figure_.canvas.get_width_height()
    assert (extents[:, :2] >= -1).all()
    assert (extents[:, 2:] <= np.array([width, height]) + 1).all()
    assert min(text.get_fontsize() for text in display.texts_) >= 5
    # Every branch of the whole tree has its condition.
    assert display.shown_.tree is clf.tree_
    assert (
        sum(
            text.get_text().startswith(("≤ ", "> ", "in {", "not in {", "= ", "≠ "))
            for text in display.texts_
        )
        >= clf.tree_.n_nodes - 1
    )


def test_a_small_tree_has_all_its_text():
    skeleton = Skeleton.of(
        [3, 2, 0, 0, 0, 0], [0, 1, -1, -1, -1, -1], [2.449999988079071, nan, nan, nan, nan, nan],
        missing_slot=[2, 0, -1, -1, -1, -1], slot_start=[0, 0, 3, 3, 3, 3, 3], slot_of=[0, 1, 0],
    )  # fmt: skip
    features = (Feature("age"), Feature("colour", Kind.NOMINAL, ("blue", "green", "red")))
    evidence = np.array([[70, 47], [60, 10], [9, 36], [1, 1], [58, 0], [2, 10]])
    tree = Tree.raw(Schema(features, ("no", "yes")), skeleton, evidence)
    display = TreeDisplay.from_estimator(tree)
    assert [text.get_text() for text in display.texts_] == [
        "117 rows", "age", "≤ 2.45", "70 rows", "colour", "> 2.45", "missing", "in {blue, red} or missing", "= green",
    ]  # fmt: skip
    rows = [text.get_text() for text in display.table_]
    assert rows[:4] == ["class", "prob.", "90 % interval", "rows"]
    assert rows[4:8] == ["no", "1.00", "0.97 to 1.00", "58"]
    assert [text.get_text() for text in display.legend_] == ["no", "yes"]
    assert display.caption_.get_text() == "4 leaves, depth 2"
    assert "0.97 to 1.00" not in [text.get_text() for text in display.plot(intervals=False).table_]


def test_branch_widths_are_rows_and_bars_are_probabilities():
    clf, _ = fitted(10, n_classes=2)
    tree = clf.tree_
    display = TreeDisplay.from_estimator(clf)
    width = display.edges_.get_linewidths()
    wide = tree.rows / tree.rows[0] * width[0] > 0.6
    assert np.array(width)[wide] == pytest.approx((tree.rows / tree.rows[0] * width[0])[wide])
    first = [path.vertices for path in display.bars_.get_paths()[:2]]
    blue, orange = (np.ptp(corners[:, 0]) for corners in first)
    assert blue / (blue + orange) == pytest.approx(tree.belief[0, 0])
    colours = {mpl.colors.to_hex(colour) for colour in display.bars_.get_facecolors()}
    assert colours <= set(CLASS_COLOURS[:2])


def test_a_thousand_leaves_are_folded_by_rows_in_less_than_two_seconds():
    clf, _ = fitted(1000)
    display = TreeDisplay.from_estimator(clf)  # loads the fonts
    begin = time.process_time()
    display = TreeDisplay.from_estimator(clf)
    display.figure_.canvas.draw()
    assert time.process_time() - begin < 2
    folded = display.shown_
    assert folded.tree.n_leaves == 40
    cells = [text.get_text() for text in display.table_]
    hidden = [
        int(found[1].replace(",", ""))
        for text in cells
        if (found := re.fullmatch(r"\+([\d,]+) leaves", text))
    ]
    assert sorted(hidden) == sorted(folded.hidden[folded.hidden > 0].tolist())
    n_parts = (folded.hidden > 0).sum()
    assert (
        f"1,000 leaves, depth {clf.tree_.depth}; {folded.hidden.sum():,} leaves"
        in display.caption_.get_text()
    )
    assert f"into {n_parts} parts" in display.caption_.get_text()
    assert len(overlapping(boxes(display))) == 0
    assert max(display.figure_.get_size_inches()) < 30


def test_all_leaves_are_drawn_with_text_where_there_is_room():
    clf, _ = fitted(300)
    display = TreeDisplay.from_estimator(clf, max_leaves=None)
    assert display.shown_.tree is clf.tree_
    assert len(display.edges_.get_segments()) == clf.tree_.n_nodes
    assert 10 < len(display.texts_) < clf.tree_.n_nodes
    assert len(overlapping(boxes(display))) == 0
    assert max(display.figure_.get_size_inches()) < 30


def test_the_path_of_a_row_is_dark_and_never_folded():
    clf, X = fitted(300)
    display = TreeDisplay.from_estimator(clf, max_leaves=10, highlight=X[7:8])
    nodes = path(clf.tree_.skeleton, int(clf.apply(X[7:8])[0]))
    dark = [mpl.colors.to_hex(colour) == "#1a1a1a" for colour in display.edges_.get_colors()]
    assert display.shown_.node[dark].tolist() == nodes
    best = clf.predict_proba(X[7:8]).max()
    assert f"the path of a row to node {nodes[-1]}, which predicts" in display.caption_.get_text()
    assert f"{min(best, 0.99):.2f}" in display.caption_.get_text()
    with pytest.raises(DataError, match="highlight has 2 rows, expected one"):
        TreeDisplay.from_estimator(clf, highlight=X[:2])


@pytest.mark.parametrize(
    "name", ["$x$", "a\nb", "$\\frac{1}{0}$", "100 % \\LaTeX", "_hidden", "x" * 500, "<b>&amp;</b>"]
)
def test_hostile_names_are_drawn_verbatim(name):
    features = (Feature(name), Feature("colour", Kind.NOMINAL, (name, "red")))
    skeleton = Skeleton.of(
        [2, 2, 0, 0, 0], [0, 1, -1, -1, -1], [0.5, nan, nan, nan, nan],
        slot_start=[0, 0, 2, 2, 2, 2], slot_of=[0, 1],
    )  # fmt: skip
    evidence = np.array([[50, 50], [30, 20], [20, 30], [25, 5], [5, 15]])
    tree = Tree.raw(Schema(features, (name, "other")), skeleton, evidence)
    display = TreeDisplay.from_estimator(tree)
    extents = boxes(display)
    assert len(overlapping(extents)) == 0
    assert any(text.get_text().startswith(feature_name(name)[:20]) for text in display.texts_)
    assert any(text.get_text().startswith(label_text(name)[:20]) for text in display.legend_)
    assert not any(text.get_parse_math() for text in texts(display))


def test_with_many_classes_a_bar_is_the_decided_class_and_the_rest():
    clf, _ = fitted(30, n_classes=12)
    display = TreeDisplay.from_estimator(clf)
    assert [text.get_text() for text in display.legend_] == ["the class named", "all other classes"]


def test_given_axes_have_as_many_leaves_as_are_readable():
    clf, _ = fitted(100)
    figure, (_, right) = pyplot.subplots(1, 2, figsize=(16, 7), layout="constrained")
    display = TreeDisplay.from_estimator(clf, ax=right)
    assert display.ax_ is right
    assert display.figure_ is figure
    assert pyplot.get_fignums() == [figure.number]
    assert 6 <= display.shown_.tree.n_leaves < 100
    assert len(overlapping(boxes(display))) == 0
    assert len(display.texts_) >= display.shown_.tree.n_nodes


def test_a_single_leaf_is_a_tree():
    display = TreeDisplay.from_estimator(TreeClassifier().fit([[0], [0]], ["a", "b"]))
    assert display.caption_.get_text() == "1 leaf, depth 0"
    assert display.texts_[0].get_text() == "2 rows"


def test_plotting_changes_no_settings_and_opens_no_figure():
    before = dict(mpl.rcParams)
    figure, ax = pyplot.subplots()
    TreeDisplay(fitted(5)[0].tree_).plot(ax)
    assert pyplot.get_fignums() == [figure.number]
    assert dict(mpl.rcParams) == before


def test_invalid_arguments_raise():
    clf, _ = fitted(5)
    with pytest.raises(ParameterError, match="max_leaves=0"):
        TreeDisplay.from_estimator(clf, max_leaves=0)
    with pytest.raises(ParameterError, match=r"This is a list; expected a fitted TreeClassifier"):
        TreeDisplay.from_estimator([])


def test_as_many_categories_are_listed_as_fit():
    """A stump with long sets lists every category; in narrow axes as many as fit."""
    towns = [f"Town-{code:02}" for code in range(8)]
    X, y = [[town] for town in towns * 5], ([0] * 4 + [1] * 4) * 5
    clf = TreeClassifier("cart").fit(X, y)
    display = TreeDisplay.from_estimator(clf)
    written = [text.get_text() for text in display.texts_]
    assert written[2:] == [f"in {{{', '.join(towns[:4])}}}", f"in {{{', '.join(towns[4:])}}}"]
    _, ax = pyplot.subplots(figsize=(6.5, 3))
    narrow = TreeDisplay.from_estimator(clf, ax=ax)
    cut = [text.get_text() for text in narrow.texts_][2]
    assert re.fullmatch(r"in \{Town-00.*, … \d more\}", cut)


def test_every_leaf_has_the_probability_of_the_class_of_interest():
    clf, _ = fitted(10)
    display = TreeDisplay.from_estimator(clf, positive=2)
    cells = [text.get_text() for text in display.table_][4:]
    leaf = np.flatnonzero(display.shown_.tree.skeleton.is_leaf)
    assert sorted(cells[1::4]) == sorted(f"{p:.2f}" for p in display.shown_.tree.belief[leaf, 2])
    with pytest.raises(ParameterError, match=r"positive=7: expected one of the classes \[0, 1, 2\]"):
        TreeDisplay.from_estimator(clf, positive=7)


@pytest.mark.parametrize("n_leaves", [2, 16, 32])
def test_terms_of_leaves_have_room(n_leaves):
    clf, _ = fitted(n_leaves, n_classes=2)
    tree = with_slopes(clf.tree_, slopes_of(clf.tree_, np.random.default_rng(0), share=1.0))
    display = TreeDisplay.from_estimator(tree)
    written = [text.get_text() for text in display.table_]
    assert written[4] == "changes within the leaf"
    for leaf in tree.slopes.nodes.tolist():
        assert "\n".join(shortened(term, 80) for term in terms_text(tree, leaf)) in written
    extents = boxes(display)
    assert len(overlapping(extents)) == 0
    assert (extents[:, 2] <= display.figure_.canvas.get_width_height()[0] + 1).all()


def test_terms_are_left_out_where_lines_are_too_low():
    _, ax = pyplot.subplots(figsize=(8, 1.6))
    display = TreeDisplay.from_estimator(lending(), ax=ax)
    assert "changes within the leaf" not in [text.get_text() for text in display.table_]
    assert "rows" in [text.get_text() for text in display.table_]


def test_the_caption_has_the_prediction_of_the_row_with_its_terms():
    caption = TreeDisplay.from_estimator(lending(), highlight=[[3, 24, "clerk", "B"]]).caption_.get_text()
    assert caption.endswith("dark: the path of a row to node 1, where it is predicted bad 0.55")
    caption = TreeDisplay.from_estimator(income(), highlight=[[3, 24, "clerk", "B"]]).caption_.get_text()
    assert caption.endswith("where it is predicted 77.5")


# ---- axes of one column of a journal

WORST = ["worst concave points (largest)", "mean of all smoothness values", "area", "home"]


def column_tree(n_leaves, *, n_classes=2, terms=False):
    """A tree with long names of features and categories."""
    rng = np.random.default_rng(n_leaves)
    X = pd.DataFrame(rng.normal(size=(400, 3)), columns=WORST[:3])
    X["home"] = rng.choice(["owns a house", "rents", "lives with family", "unknown"], 400)
    signal = X.iloc[:, 0] + (X.home == "rents") - X.iloc[:, 1] * (X.area > 0)
    y = np.array(["benign", "malignant", "unclear"])[np.digitize(signal, [0.2, 1.5][: n_classes - 1])]
    X.iloc[::9, 2] = np.nan
    tree = TreeClassifier("cart", max_leaf_nodes=n_leaves, smoothing="laplace").fit(X, y).tree_
    return (with_slopes(tree, slopes_of(tree, rng, share=1.0)) if terms else tree), X


def assert_readable(display):
    extents = boxes(display)
    written = [text.get_text() for text in texts(display)]
    assert [(written[i], written[j]) for i, j in overlapping(extents)] == []
    inside = display.ax_.get_window_extent().extents
    assert (extents[:, :2] >= inside[:2] - 2).all()
    assert (extents[:, 2:] <= inside[2:] + 2).all()
    assert min(text.get_fontsize() for text in texts(display)) >= 5.4
    return written


@pytest.mark.parametrize("height", [2.6, 3.5])
@pytest.mark.parametrize("n_leaves", [2, 4, 6])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_column_of_a_journal_keeps_the_tests(n_leaves, n_classes, height):
    tree, X = column_tree(n_leaves, n_classes=n_classes)
    _, ax = pyplot.subplots(figsize=(3.5, height))
    positive = "malignant" if n_classes == 2 else None
    display = TreeDisplay.from_estimator(tree, positive=positive, highlight=X[:1], ax=ax)
    assert_readable(display)
    assert display.shown_.tree is tree
    signs = [re.search(r"[≤>=≠]|in \{|not in|missing", text.get_text()) for text in display.texts_]
    assert sum(sign is not None for sign in signs) >= tree.n_nodes - 1
    head = ["P(malignant)", "decision"] if positive else ["prob.", "class"]
    cells = [text.get_text() for text in display.table_]
    assert [cell for cell in cells if cell in head] == head
    assert sum(bool(re.fullmatch(r"[01]\.\d\d", cell)) for cell in cells) == tree.n_leaves
    pyplot.close(display.figure_)


@pytest.mark.parametrize(("n_leaves", "size"), [(6, (3.5, 7)), (4, (7, 3.6)), (6, (7, 4.6))])
def test_a_tall_column_has_whole_conditions_intervals_and_terms(n_leaves, size):
    """So have wide axes where the terms would leave no room for tests on branches."""
    tree, _ = column_tree(n_leaves, terms=True)
    _, ax = pyplot.subplots(figsize=size, layout="constrained")
    display = TreeDisplay.from_estimator(tree, positive="malignant", ax=ax)
    written = assert_readable(display)
    said = " ".join(text.get_text() for text in display.texts_ if "odds" not in text.get_text())
    assert "…" not in said
    assert all(
        name in said for name in np.array(WORST)[np.unique(tree.skeleton.feature[tree.skeleton.feature >= 0])]
    )
    assert sum("odds of malignant" in text for text in written) >= len(tree.slopes.nodes)
    assert "terms are left out" not in display.caption_.get_text()
    terms = [text for text in written if "odds of malignant" in text]
    assert not any("…" in text for text in terms)


def test_a_numeric_target_and_hostile_names_in_a_column():
    reg = TreeRegressor("cart", max_leaf_nodes=6).fit(*_columns_and_numbers())
    _, ax = pyplot.subplots(figsize=(3.5, 2.6))
    display = TreeDisplay.from_estimator(reg, ax=ax)
    assert_readable(display)
    assert display.table_[0].get_text() == "mean"


def _columns_and_numbers():
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.normal(size=(300, 2)), columns=["$x_1^{2}$ & " + 30 * "w", "\\frac{a}"])
    return X, 100 * X.iloc[:, 0] + 50 * rng.normal(size=300)


def test_many_leaves_in_a_column_are_folded():
    clf, _ = fitted(60)
    _, ax = pyplot.subplots(figsize=(3.5, 2.6))
    display = TreeDisplay.from_estimator(clf, ax=ax)
    assert_readable(display)
    assert (
        display.shown_.hidden.sum() + (display.shown_.hidden == 0)[display.shown_.tree.skeleton.is_leaf].sum()
        == 60
    )


def test_files_for_print_have_their_fonts(tmp_path):
    tree, _ = column_tree(6)
    figure, ax = pyplot.subplots(figsize=(3.5, 2.6))
    TreeDisplay.from_estimator(tree, positive="malignant", ax=ax)
    with mpl.rc_context({"pdf.fonttype": 42}):
        figure.savefig(tmp_path / "tree.pdf")
    assert b"/FontFile2" in (tmp_path / "tree.pdf").read_bytes()
    figure.savefig(tmp_path / "tree.svg")
    assert "<text" not in (tmp_path / "tree.svg").read_text(encoding="utf-8")  # letters are paths


def test_the_first_two_colours_differ_in_grey():
    blue, orange = (
        np.dot(mpl.colors.to_rgb(colour), [0.2126, 0.7152, 0.0722]) for colour in CLASS_COLOURS[:2]
    )
    assert abs(blue - orange) > 0.2


@pytest.mark.parametrize("width", [None, 3])
def test_leaves_of_a_number_have_the_density_of_their_rows(width):
    X, y = np.repeat([[0.0], [1.0]], 100, axis=0), np.r_[np.linspace(0, 1, 100), np.linspace(8, 10, 100)]
    model = TreeRegressor("cart", max_leaf_nodes=2, distribution=True).fit(X, y)
    ax = None if width is None else pyplot.subplots(figsize=(width, 3))[1]
    display = TreeDisplay.from_estimator(model, ax=ax)
    outlines = [[path.vertices for path in one.get_paths()] for one in display.ax_.collections]
    [(first, second)] = [each for each in outlines if len(each) == 2 and min(map(len, each)) > 40]
    left, right = first[:, 0].min(), first[:, 0].max()
    for outline, low, high in ((first, 0, 1), (second, 8, 10)):
        raised = outline[outline[:, 1] < outline[:, 1].max() - 0.1 * np.ptp(outline[:, 1]), 0]
        place = (raised - left) / (right - left) * 10
        assert low - 0.6 <= place.min() < place.max() <= high + 0.6
    assert "shapes: rows from 0.01005 to 9.98" in display.caption_.get_text().replace("\n", " ")
    plain = TreeDisplay.from_estimator(TreeRegressor("cart", max_leaf_nodes=2).fit(X, y))
    assert "shapes" not in plain.caption_.get_text()
