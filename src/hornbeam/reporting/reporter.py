"""The report on a model, as a value and as a file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from html import escape
from os import PathLike
from typing import Any

from hornbeam.data.files.atomic_write import replace
from hornbeam.reporting.document import document
from hornbeam.reporting.payload import payload, safe_json
from hornbeam.reporting.reported_model import ReportedModel
from hornbeam.reporting.sections.all_scores import scores_of
from hornbeam.reporting.sections.classification import calibration_section, decision_section, score_section
from hornbeam.reporting.sections.decisions import thresholds
from hornbeam.reporting.sections.discrimination import ranking_section
from hornbeam.reporting.sections.earlier import Earlier, earlier_section
from hornbeam.reporting.sections.features import feature_section
from hornbeam.reporting.sections.groups import Groups, group_section
from hornbeam.reporting.sections.provenance import fact_section
from hornbeam.reporting.sections.regression import NOTE, seen_section
from hornbeam.reporting.sections.tree import leaf_section, row_section, rule_section, tree_section
from hornbeam.reporting.summary import summary_sentences
from hornbeam.reporting.test_results import TestResults

__all__ = ["Report", "report"]


@dataclass(frozen=True, slots=True)
class Report:
    """A page of HTML about a model; a notebook shows it.

    Parameters
    ----------
    html : str
        The whole page.

    Examples
    --------
    >>> import hornbeam
    >>> found = hornbeam.report(hornbeam.TreeClassifier().fit([[0], [1]], ["no", "yes"]))
    >>> found.html[:15]
    '<!doctype html>'
    """

    html: str = field(repr=False)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the page to a file.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Report("<!doctype html>").save(f"{folder}/report.html")
        """
        replace(path, [self.html.encode()])

    def _repr_html_(self) -> str:
        """The page in a frame of its own, so that neither it nor the notebook disturbs the other."""
        frame = 'sandbox="allow-scripts allow-modals allow-popups" width="100%" height="800"'
        return f'<iframe title="Model report" {frame} srcdoc="{escape(self.html)}"></iframe>'


def report(
    model: Any,
    X_test: Any = None,
    y_test: Any = None,
    path: str | PathLike[str] | None = None,
    *,
    title: str = "Report on a decision tree",
    date: Any = None,
    level: float = 0.9,
    positive: Any = None,
    groups: Any = None,
    earlier: Any = None,
    rules: str | Iterable[object] | None = None,
) -> Report:
    """Write a report on a model: one HTML file to hand on, with the tree to explore.

    Parameters
    ----------
    model : TreeClassifier, TreeRegressor, SmoothedClassifier of one tree, or Tree
        What the report is about.
    X_test : array-like or data frame of shape (n_rows, n_features), default=None
        Rows the model has not seen. None: the page has the tree and its training evidence alone, and says so.
    y_test : array-like of shape (n_rows,), default=None
        Their labels, or numbers.
    path : str or path, default=None
        Where to write the file; None writes none.
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
    rules : str or iterable, default=None
        Rules to print, one a line or an item, instead of a rule for each leaf.

    Returns
    -------
    Report
        The page; a notebook shows it.

    See Also
    --------
    hornbeam.model_card : The same facts as Markdown.
    hornbeam.save : Keeps the model itself.

    Notes
    -----
    The file holds no row of the data: of the test rows it holds counts, and of each feature the smallest, middle and
    largest value. It works without a network, and its content security policy forbids one.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_iris
    >>> import hornbeam
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> clf = hornbeam.TreeClassifier().fit(X[::2], y[::2])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = hornbeam.report(clf, X[1::2], y[1::2], f"{folder}/report.html", title="Iris")
    ...     Path(f"{folder}/report.html").read_text() == page.html
    True
    """
    subject = ReportedModel.of(model, positive)
    trial = None if X_test is None and y_test is None else TestResults.of(subject, X_test, y_test)
    scores = [] if trial is None else scores_of(subject, trial)
    told = (
        rules.splitlines()
        if isinstance(rules, str)
        else None
        if rules is None
        else [str(rule) for rule in rules]
    )
    data = payload(
        subject, level, None if trial is None else trial.drift, thresholds=thresholds(subject, trial)
    )
    measured = subject.tree.is_regression
    sections = {
        "scores": score_section(trial, scores, NOTE, "Mean") if measured else score_section(trial, scores),
        "tree": tree_section(subject.tree),
        "row": row_section(subject),
        **({} if measured else {"ranking": ranking_section(subject, trial)}),
        "calibration": seen_section(trial) if measured else calibration_section(subject, trial),
        **({} if measured else {"decisions": decision_section(subject, trial)}),
    }
    if groups is not None:
        parts = Groups.of(groups, subject, trial)
        assert trial is not None
        sections["groups"] = group_section(subject, trial, parts)
    if earlier is not None:
        before = Earlier.of(earlier, subject, X_test, y_test)
        assert trial is not None
        sections["earlier"] = earlier_section(subject, trial, before)
    sections |= {
        "leaves": leaf_section(subject, level, trial is not None),
        "rules": rule_section(told),
        "features": feature_section(subject, trial),
        "facts": fact_section(subject),
    }
    facts = [] if date is None else [str(date)]
    byline = " · ".join([*facts, f"digest {subject.tree.digest[:12]}"])
    summary = summary_sentences(subject, trial, scores)
    page = Report(document(title, byline, summary, sections, safe_json(data)))
    if path is not None:
        page.save(path)
    return page
