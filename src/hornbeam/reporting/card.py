"""The model card: the content of a report as Markdown, with marked places for the author."""

from __future__ import annotations

from typing import Any

import hornbeam
from hornbeam.checks import check_text
from hornbeam.editing.approval_log import edit_grid
from hornbeam.evaluation.score_intervals import Score
from hornbeam.evaluation.stability import Stability
from hornbeam.grid import Grid, markdown_text
from hornbeam.reporting.document import Report
from hornbeam.reporting.reported_model import ReportedModel
from hornbeam.reporting.scored_rows import ScoredRows, score_rows
from hornbeam.reporting.sections.comparison import as_comparison, comparison_grids, comparison_text
from hornbeam.reporting.sections.discrimination import class_grid
from hornbeam.reporting.sections.earlier import earlier_grids, earlier_text
from hornbeam.reporting.sections.features import NO_MEDIANS, feature_grid
from hornbeam.reporting.sections.groups import group_grid, group_text
from hornbeam.reporting.sections.provenance import setting_text
from hornbeam.reporting.sections.ranges import range_grids, range_text
from hornbeam.reporting.sections.reliability import rule_sentence
from hornbeam.reporting.sections.scores import scores_of
from hornbeam.reporting.sections.stability import as_stability
from hornbeam.reporting.summary import shown, summary_sentences
from hornbeam.tree.decision import Costs
from hornbeam.tree.edit import recorded_groups
from hornbeam.tree.evidence.base_rate import base_rate
from hornbeam.tree.tree import Tree
from hornbeam.tree.words import label_text, pluralise, probability_text

_MOST_CLASSES, _FEW_ROWS = 60, 30


def model_card(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    title: str = "Model card",
    date: Any = None,
    positive: Any = None,
    groups: Any = None,
    earlier: Any = None,
    today: Any = None,
    stability: Any = None,
    comparison: Any = None,
    engine: Any = None,
) -> Report:
    """Build a model card in Markdown.

    Purpose, origin of the data and other facts unknown to the library are lines that begin with "TODO (author)".

    Parameters
    ----------
    model : TreeClassifier, TreeRegressor, SmoothedClassifier of one tree, or Tree
        What the card is about.
    X : array-like or data frame of shape (n_rows, n_features), path, paths or Source, default=None
        Rows that were not used for training. None: the card has no scores. Parquet files are read a part at a time, and
        need not fit in memory.
    y : array-like of shape (n_rows,) or str, default=None
        Their labels, or numbers; of files, the name of the column.
    title : str, default="Model card"
        The heading.
    date : str or date, default=None
        Printed as it is; None prints none.
    positive : label, default=None
        The class of interest; None: the second of two classes.
    groups : str or array-like of shape (n_rows,), default=None
        A feature, or a value for each test row, to compare groups by.
    earlier : TreeClassifier, TreeRegressor, SmoothedClassifier of one tree, or Tree, default=None
        An earlier model of the same target to compare with.
    today : array-like of shape (n_rows,), default=None
        The decisions in use today, a class for each test row in memory: the summary then compares the decisions of the
        model with them, by their costs if the model has costs.
    stability : Stability, default=None
        The result of `hornbeam.evaluation.stability`, to tell what changes between refits on other rows.
    comparison : ModelComparison, default=None
        The result of `hornbeam.evaluation.compare`, of this model and others.
    engine : Engine, default=None
        What reads and counts test rows in files; None: this thread. The card does not depend on it.

    Returns
    -------
    Report
        The card; a notebook shows it, and `save` writes it to a file. The same model and rows give the same text.

    See Also
    --------
    hornbeam.report : The same facts as a page of HTML, with the tree.

    Notes
    -----
    The sections follow Mitchell and others, "Model Cards for Model Reporting" (FAT* 2019).

    Examples
    --------
    >>> import hornbeam
    >>> clf = hornbeam.TreeClassifier().fit([[0], [1]] * 20, ["no", "yes"] * 20)
    >>> card = hornbeam.model_card(clf, [[0], [1]], ["no", "yes"], title="Does it rain?")
    >>> print(card.text.splitlines()[0], card.text.count("TODO (author)"))
    # Does it rain? 5
    """
    check_text("title", title)
    reported = ReportedModel.of(model, positive)
    scored = score_rows(reported, X, y, groups, earlier, engine, today)
    scores = [] if scored is None else scores_of(reported, scored)
    blocks = [
        f"# {markdown_text(title)}",
        *([] if date is None else [markdown_text(str(date))]),
        *map(markdown_text, summary_sentences(reported, scored, scores)),
        *_purpose(),
        *_data(reported, scored),
        *_scores(reported, scored, scores),
        *_decision(reported),
    ]
    if scored is not None and scored.groups is not None:
        parts = scored.groups
        words, grid = group_text(reported, scored, parts), group_grid(reported, scored, parts)
        blocks += [
            f"## Groups by {markdown_text(shown(parts.name))}",
            *map(markdown_text, words),
            grid.markdown(),
        ]
    if scored is not None and scored.earlier is not None:
        before = scored.earlier
        blocks += ["## Beside the earlier model", *map(markdown_text, earlier_text(reported, scored, before))]
        blocks += _titled(earlier_grids(reported, scored, before))
    if (others := as_comparison(comparison)) is not None:
        blocks += ["## Beside other models", *map(markdown_text, comparison_text(others))]
        blocks += [grid.markdown() for grid in comparison_grids(others)]
    limits = _limits(reported.tree, as_stability(stability, model))
    return Report("\n\n".join([*blocks, *limits, *_model(reported)]) + "\n", "markdown")


def _purpose() -> list[str]:
    return [
        "## Purpose",
        "**TODO (author):** what the model is used for, its users, and which decisions follow from it.",
        "**TODO (author):** what it must not be used for.",
        "**TODO (author):** the responsible person, and how to reach them.",
    ]


def _data(reported: ReportedModel, scored: ScoredRows | None) -> list[str]:
    tree = reported.tree
    rows = f"The model was trained on {pluralise(tree.rows.item(0), 'row')}"
    if (n_groups := recorded_groups(tree)) is not None:
        rows += f" of {pluralise(n_groups, 'group')}"
    rows += "." if scored is None else f" and tested on {pluralise(scored.n_rows, 'row')}."
    blocks = [
        "## Data",
        rows,
        "**TODO (author):** where the rows come from, from which time, and how test rows were set apart.",
    ]
    if not tree.is_regression:
        blocks.append(_classes(tree).markdown())
    if scored is not None and scored.table is None:
        blocks.append(NO_MEDIANS)
    blocks.append("Importance and tests of a feature are those of the tree, which the training rows gave.")
    if scored is not None:
        blocks[-1] += " Its values and missing values are those of the test rows."
    return [*blocks, feature_grid(tree, scored).markdown()]


def _classes(tree: Tree) -> Grid:
    counts, rates = tree.evidence[0] * tree.unit, base_rate(tree)
    listed = list(enumerate(tree.schema.classes[:_MOST_CLASSES]))
    rows = [
        [shown(label_text(label)), f"{counts[k]:,.6g}", probability_text(rates[k])] for k, label in listed
    ]
    return Grid("Classes", ["Class", "Training rows", "Share of training rows"], rows)


def _scores(reported: ReportedModel, scored: ScoredRows | None, scores: list[Score]) -> list[str]:
    if scored is None:
        return ["## Scores", "No test rows were given, so there are no scores."]
    heads = ["Score", "This model", "Mean" if reported.tree.is_regression else "Base rate", "Better by"]
    rows = [
        [
            score.title,
            score.with_interval(score.value, score.low, score.high),
            score.words(score.base),
            score.with_interval(score.gain, score.gain_low, score.gain_high),
        ]
        for score in scores
        if score.value == score.value
    ]
    blocks = ["## Scores", f"On {pluralise(scored.n_rows, 'test row')}, with 90 % intervals."]
    if recorded_groups(reported.tree) is not None:
        blocks[-1] += (
            " The intervals take test rows as independent: several rows of a group make them too narrow."
        )
    blocks.append(Grid("Scores", heads, rows).markdown())
    if reported.tree.n_classes > 2:
        blocks.append(class_grid(reported, scored).markdown())
    if reported.distribution is not None:
        blocks += ["### Ranges of single rows", range_text()[0]]
        blocks += [grid.markdown() for grid in range_grids(reported, scored)]
    return blocks


def _decision(reported: ReportedModel) -> list[str]:
    if reported.tree.is_regression:
        return []
    blocks = ["## Decision rule", rule_sentence(reported)]
    classes = reported.tree.schema.classes
    names = [shown(label_text(label)) for label in classes]
    weight = reported.tree.decision.class_weight
    if weight is not None and len(classes) <= _MOST_CLASSES:
        rows = [[name, f"{value:g}"] for name, value in zip(names, weight.tolist(), strict=True)]
        blocks.append(Grid("Class weights", ["Class", "Weight"], rows).markdown())
    if reported.costs is not None and len(classes) <= _MOST_CLASSES:
        matrix = Costs.of(reported.costs, classes).matrix.tolist()
        rows = [[name, *(f"{cost:g}" for cost in row)] for name, row in zip(names, matrix, strict=True)]
        blocks.append(Grid("Costs", ["True class \\ decision", *names], rows).markdown())
    return blocks


def _titled(grids: list[Grid]) -> list[str]:
    return [block for grid in grids for block in (f"### {markdown_text(grid.caption)}", grid.markdown())]


def _limits(tree: Tree, refits: Stability | None) -> list[str]:
    rows = tree.rows[tree.skeleton.is_leaf]
    few = int((rows < _FEW_ROWS).sum())
    small = (
        f"{few:,} of {pluralise(tree.n_leaves, 'leaf', 'leaves')} have fewer than {_FEW_ROWS} training rows; their "
        "predictions are the least certain."
    )
    return [
        "## Limits",
        "Scores and intervals hold for rows like the test rows. If new rows differ, measure again (`hornbeam drift`).",
        *([small] if few else []),
        *([] if refits is None else [" ".join(refits._sentences())]),
        "A row with a category that is not in the training rows is predicted by the node that tests this category.",
        "**TODO (author):** known weaknesses, groups that are not in the data, legal and ethical limits.",
    ]


def _model(reported: ReportedModel) -> list[str]:
    tree = reported.tree
    facts = {
        "Kind": reported.kind,
        "Leaves": f"{tree.n_leaves:,}",
        "Depth": f"{tree.depth}",
        "Digest": tree.digest,
        "Hornbeam": hornbeam.__version__,
    }
    edits = edit_grid(tree)
    settings = {name: setting_text(value) for name, value in reported.settings.items()}
    grids = [Grid("Model", ["Fact", "Value"], [list(pair) for pair in facts.items()], "<").markdown()]
    if settings:
        rows = [list(pair) for pair in settings.items()]
        grids += ["### Settings", Grid("Settings", ["Setting", "Value"], rows, "<").markdown()]
    grids += [f"### {edits.caption}", edits.markdown() if edits.rows else "None."]
    return ["## Model", *grids]
