"""The report on a model: public function and result."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from hornbeam.checks import check_share, check_text
from hornbeam.errors import ParameterError, shown
from hornbeam.evaluation.model_comparison import ModelComparison
from hornbeam.evaluation.score_intervals import Score
from hornbeam.evaluation.stability import Stability
from hornbeam.reporting.document import Report, document
from hornbeam.reporting.markup import Markup
from hornbeam.reporting.payload import payload, safe_json
from hornbeam.reporting.reported_model import ReportedModel
from hornbeam.reporting.scored_rows import ScoredRows, score_rows
from hornbeam.reporting.sections.comparison import as_comparison, comparison_section
from hornbeam.reporting.sections.competitors import competitor_section
from hornbeam.reporting.sections.discrimination import discrimination_section
from hornbeam.reporting.sections.earlier import earlier_section
from hornbeam.reporting.sections.features import feature_section
from hornbeam.reporting.sections.groups import group_section
from hornbeam.reporting.sections.provenance import provenance_section
from hornbeam.reporting.sections.ranges import range_section
from hornbeam.reporting.sections.reliability import calibration_section, decision_section, thresholds
from hornbeam.reporting.sections.scores import score_section, scores_of
from hornbeam.reporting.sections.stability import as_stability, stability_section
from hornbeam.reporting.sections.tree import (
    leaf_section,
    row_section,
    rule_section,
    size_section,
    tree_section,
)
from hornbeam.reporting.summary import summary_sentences


class _Facts(NamedTuple):
    """What sections are made from."""

    model: Any
    reported: ReportedModel
    scored: ScoredRows | None
    scores: list[Score]
    level: float
    rules: list[str] | None
    training: Any
    refits: Stability | None
    comparison: ModelComparison | None


# In their order on the page: anchor, words of the table of contents, and the function, which may return None.
_SECTIONS: tuple[tuple[str, str, Callable[[_Facts], Markup | None]], ...] = (
    ("scores", "Scores", lambda of: score_section(of.reported, of.scored, of.scores)),
    ("tree", "Tree", lambda of: tree_section(of.reported.tree)),
    (
        "competitors",
        "Other splits",
        lambda of: competitor_section(of.reported, of.model, of.training, of.scored),
    ),
    ("row", "Try a row", lambda of: row_section(of.reported)),
    ("ranking", "ROC and deciles", lambda of: discrimination_section(of.reported, of.scored)),
    ("calibration", "Calibration", lambda of: calibration_section(of.reported, of.scored)),
    ("ranges", "Ranges", lambda of: range_section(of.reported, of.scored)),
    ("decisions", "Decisions", lambda of: decision_section(of.reported, of.scored)),
    ("groups", "Groups", lambda of: group_section(of.reported, of.scored)),
    ("earlier", "Earlier model", lambda of: earlier_section(of.reported, of.scored)),
    ("comparison", "Other models", lambda of: comparison_section(of.comparison)),
    ("leaves", "Leaves", lambda of: leaf_section(of.reported, of.level, of.scored is not None)),
    ("sizes", "Smaller trees", lambda of: size_section(of.reported.tree)),
    ("stability", "Stability", lambda of: stability_section(of.reported, of.refits)),
    ("rules", "Rules", lambda of: rule_section(of.rules)),
    ("features", "Features", lambda of: feature_section(of.reported, of.scored)),
    ("facts", "Data and settings", lambda of: provenance_section(of.reported)),
)


def _rule_list(rules: str | Iterable[object]) -> list[str]:
    if isinstance(rules, str):
        return rules.splitlines()
    if isinstance(rules, Iterable):
        return [*map(str, rules)]
    raise ParameterError(
        f"rules={shown(rules)}: expected rules, a text, or a list of texts, such as clf.rules()."
    )


def report(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    title: str = "Report on a decision tree",
    date: Any = None,
    level: float = 0.9,
    positive: Any = None,
    groups: Any = None,
    earlier: Any = None,
    today: Any = None,
    rules: str | Iterable[object] | None = None,
    training: Any = None,
    stability: Any = None,
    comparison: Any = None,
    engine: Any = None,
) -> Report:
    """Build a report on a model: one self-contained HTML page with the tree to explore.

    Parameters
    ----------
    model : TreeClassifier, TreeRegressor, SmoothedClassifier of one tree, or Tree
        What the report is about.
    X : array-like or data frame of shape (n_rows, n_features), path, paths, Source or Table, default=None
        Rows the model has not seen. None: the page has the tree and its training evidence alone, and says so. Parquet
        files are read a part at a time, and need not fit in memory.
    y : array-like of shape (n_rows,) or str, default=None
        Their labels, or numbers; of files, the name of the column.
    title : str, default="Report on a decision tree"
        What stands above it.
    date : str or date, default=None
        Printed below the title as it is. None prints none, so that the same model and rows give the same bytes.
    level : float, default=0.9
        Of the intervals of probabilities, or means.
    positive : label, default=None
        The class of interest, whose probability is shown, ranked and thresholded. None: the second of two classes; of
        more classes none, and then there is no ROC curve and no decile table.
    groups : str or array-like of shape (n_rows,), default=None
        A feature, or a value for each test row: rows, decisions, errors, calibration and cost are then compared between
        groups.
    earlier : TreeClassifier, TreeRegressor, SmoothedClassifier of one tree, or Tree, default=None
        An earlier model of the same target: scores are then compared, and the decisions that change are listed.
    today : array-like of shape (n_rows,), default=None
        The decisions in use today, a class for each test row in memory: the summary then compares the decisions of the
        model with them, by their costs if the model has costs.
    rules : str or iterable, default=None
        Rules to print, one a line or an item, instead of a rule for each leaf.
    training : tuple of X and y, Table or Source, default=None
        The rows of the fit, with their weights as a third entry of the tuple: the page then has the splits that
        competed at each node. Parquet files are passed as their paths, the name of the target, and possibly that of the
        weights; they need not fit memory.
    stability : Stability or bool, default=None
        The result of `hornbeam.evaluation.stability`: the page then has what changes between refits on other rows.
        True computes it with 20 refits, from `training` in memory.
    comparison : ModelComparison, default=None
        The result of `hornbeam.evaluation.compare`, of this model and others of any kind: the page then has their
        scores, calibration and decision curves.
    engine : Engine, default=None
        What reads and counts test rows in files; None: this thread. The page does not depend on it.

    Returns
    -------
    Report
        The page; a notebook shows it, and `save` writes it to a file.

    See Also
    --------
    hornbeam.model_card : The same facts as Markdown.
    hornbeam.evaluation.stability : What changes if the model is fitted to other rows.
    hornbeam.evaluation.compare : Several models on the same rows.
    hornbeam.save : Keeps the model itself.

    Notes
    -----
    The file holds no row of the data: of the test rows it holds counts, and of each feature the smallest, middle and
    largest value; of the training rows the thresholds and gains of competing splits. It works without a network, and
    its content security policy forbids one.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_iris
    >>> import hornbeam
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> clf = hornbeam.TreeClassifier().fit(X[::2], y[::2])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     hornbeam.report(clf, X[1::2], y[1::2], title="Iris").save(f"{folder}/report.html")
    """
    check_text("title", title)
    check_share("level", level)
    reported = ReportedModel.of(model, positive)
    scored = score_rows(reported, X, y, groups, earlier, engine, today)
    scores = [] if scored is None else scores_of(reported, scored)
    rule_list = None if rules is None else _rule_list(rules)
    refits = as_stability(stability, model, training)
    others = as_comparison(comparison)
    facts = _Facts(model, reported, scored, scores, level, rule_list, training, refits, others)
    sections = [(name, words, made) for name, words, make in _SECTIONS if (made := make(facts)) is not None]
    drift = None if scored is None else scored.drift
    data = payload(reported, level, drift, thresholds=thresholds(reported, scored))
    byline = " · ".join([*([] if date is None else [str(date)]), f"digest {reported.tree.digest[:12]}"])
    summary = summary_sentences(reported, scored, scores)
    return Report(document(title, byline, summary, sections, safe_json(data)))
