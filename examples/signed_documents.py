"""From a raw table to signed documents: a loan, and a disease of the heart.

    python examples/signed_documents.py FOLDER     # default: ./signed-documents
    python examples/signed_documents.py --page     # also the texts of docs/guide/signed-documents.md

For each of two public tables the script fits a tree, edits it by hand, and writes what a person signs: the report, the
model card, the approval log, the scorecard, the query and the picture in two widths. The clock is fixed, so the same
versions give the same bytes.
"""

import argparse
import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import hornbeam
from hornbeam import ForestClassifier, TreeClassifier, model_card, report
from hornbeam.evaluation import compare
from hornbeam.plots import TreeDisplay

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGE = DOCS / "guide" / "signed-documents.md"
CLOCK = "1768780800"  # 19 January 2026, 00:00 UTC
WIDTHS = {"7in": (7, 3.4), "3.5in": (3.5, 4.6)}  # a page and a column, in inches
ON_THE_PAGE = {"approval-log.md": "log", "model-card.md": "card", "scorecard.md": "scorecard"}


@dataclass
class Case:
    """A table, divided by its row numbers: half for the fit, a quarter for edits, a quarter for the final scores."""

    title: str
    file: str
    rows: pd.DataFrame
    target: str
    positive: str
    missed: float  # what it costs to miss the class of interest; a false alarm costs 1
    left_out: tuple[str, ...] = ()
    groups: pd.Series | None = None
    today: Any = None  # whether a row has the class of interest by the rule in use
    said_by_the_author: tuple[str, ...] = ()
    settings: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        part = np.arange(len(self.rows)) % 4
        self.y, self.X = self.rows[self.target], self.rows.drop(columns=[self.target, *self.left_out])
        [self.other] = set(self.y.unique()) - {self.positive}
        self.train, self.held_out, self.test = (
            (self.X[at], self.y[at]) for at in (part < 2, part == 2, part == 3)
        )

    @property
    def costs(self) -> dict[tuple[str, str], float]:
        """The cost of each wrong decision."""
        return {(self.positive, self.other): self.missed}

    def fit(self) -> TreeClassifier:
        """Fit the tree."""
        return TreeClassifier(**self.settings, costs=self.costs).fit(*self.train)

    def edit(self, clf: TreeClassifier) -> Any:
        """Open the editor."""
        data = f"{self.file}, target {self.target}"
        return clf.edit(*self.train, held_out=self.held_out, author="A. Analyst", data=data)


def lending() -> tuple[Case, TreeClassifier, str]:
    """Fit and edit the tree of a lender: which applicants will not repay?"""
    rows = pd.read_csv(DOCS / "guide" / "data" / "german-credit.csv")
    case = Case(
        "Which applicants will not repay?",
        "german-credit.csv",
        rows,
        "target",
        "bad",
        5,
        left_out=("personal_status", "foreign_worker"),  # may not be used
        groups=rows["personal_status"].str.split().str[0].rename("sex"),
        today=(rows["checking_status"] == "<0") | (rows["duration"] > 24),
        said_by_the_author=(
            "Helps to decide on consumer loans of up to 20,000 marks. A person reads each refusal.",
            "Not for mortgages, not for companies, not for clients below 18.",
            "A. Analyst, credit risk.",
            "1,000 loans of a German bank (UCI, Statlog German Credit Data, CC BY 4.0). Sex and origin were left out.",
            "The loans are of 1973 to 1975. Applicants who were refused are not in the data.",
        ),
        settings={"preset": "readable", "max_leaf_nodes": 4},
    )
    clf = case.fit()
    editor = case.edit(clf)
    editor.drop_term(0, "employment", reason="rests on 34 unemployed applicants")
    editor.drop_term(0, "housing", reason="we do not judge how a client lives")
    editor.round_terms(0, "duration", digits=1, reason="a number to remember")
    editor.prune(4, reason="one rule fewer to explain")
    tried = cost_of_last(editor)
    editor.undo()
    return case, editor.finish(), editor.log(f"Pruning node 4 was tried and taken back: {tried}.")


def heart() -> tuple[Case, TreeClassifier, str]:
    """Fit and edit the tree of a clinic: who has a disease of the coronary arteries?"""
    rows = pd.read_csv(DOCS / "guide" / "data" / "heart.csv")
    case = Case(
        "Who has a disease of the coronary arteries?",
        "heart.csv",
        rows,
        "target",
        "present",
        4,
        groups=rows["sex"],
        today=(rows["cp"] == "asympt") | (rows["exang"] == "yes"),
        said_by_the_author=(
            "Helps to decide who is sent to an angiography. A physician decides.",
            "Not for patients after a heart attack, not for children.",
            "A. Analyst, cardiology.",
            "303 patients of the Cleveland Clinic (UCI, Heart Disease, CC BY 4.0).",
            "All patients were sent to an angiography, in one clinic: more are ill than elsewhere. Few are women.",
        ),
        settings={"max_leaf_nodes": 6},
    )
    clf = case.fit()
    editor = case.edit(clf)
    editor.set_threshold(3, 60, reason="a round number")
    tried = cost_of_last(editor)
    editor.undo()
    editor.set_threshold(3, 58, reason="whole years")
    editor.prune(4, reason="19 patients are too few for another test")
    return case, editor.finish(), editor.log(f"An age of 60 at node 3 was tried and taken back: {tried}.")


def cost_of_last(editor: Any) -> str:
    """Say what the last edit costs on the held-out rows."""
    [cost] = [change for change in editor.score_changes(last=True) if change.name == "cost per row"]
    before, after, change = cost.texts
    return f"the cost per row on the held-out rows was {before} before and {after} after it, {change}"


def documents(case: Case, clf: TreeClassifier, log: str) -> dict[str, str]:
    """Write all documents about a tree."""
    X, y = case.test
    today = None if case.today is None else np.where(case.today[X.index], case.positive, case.other)
    rivals = {"logistic regression": logistic(), "forest": ForestClassifier(random_state=0)}
    p = {"tree": clf.predict_proba(X)}
    p |= {name: model.fit(*case.train).predict_proba(X) for name, model in rivals.items()}
    threshold = 1 / (1 + case.missed)
    comparison = compare(y, p, positive=case.positive, costs=case.costs, thresholds=round(threshold, 3))
    groups = None if case.groups is None else case.groups[X.index]
    beside = {"positive": case.positive, "groups": groups, "today": today, "comparison": comparison}
    card = clf.scorecard(positive=case.other)
    query = card.to_sql(dialect="sqlite", table="applications", reasons=2)
    check(query, clf, card, X)
    text = model_card(clf, X, y, title=case.title, date="2026-01-19", **beside).text
    for words in case.said_by_the_author:
        text = re.sub(r"\*\*TODO \(author\):\*\* .*", words, text, count=1)
    page = report(clf, X, y, title=case.title, date="2026-01-19", training=case.train, **beside)
    pictures = {f"tree-{name}.svg": picture(clf, case.positive, size) for name, size in WIDTHS.items()}
    return {
        "report.html": page.text,
        "model-card.md": text,
        "approval-log.md": log + "\n",
        "scorecard.md": card.to_markdown() + "\n",
        "scorecard.csv": card.to_csv(),
        "predict.sql": query + "\n",
        **pictures,
    }


def logistic() -> Any:
    """Make a logistic regression that converges to the last digit."""
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    columns = make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
    )
    return make_pipeline(columns, LogisticRegression(solver="newton-cholesky", tol=1e-10))


def check(query: str, clf: TreeClassifier, card: Any, X: pd.DataFrame) -> None:
    """Run the query on the test rows: it must give the decisions and the points of Python."""
    with closing(sqlite3.connect(":memory:")) as rows:
        X.to_sql("applications", rows, index=False)
        found = pd.read_sql_query(query, rows)
    assert found["label"].tolist() == clf.predict(X).tolist()
    assert found["points"].tolist() == card.points(X).tolist()


def picture(clf: TreeClassifier, positive: str, size: tuple[float, float]) -> str:
    """Draw the tree as SVG, without the date."""
    with mpl.rc_context({"svg.hashsalt": "hornbeam"}):
        figure = Figure(figsize=size, layout="constrained")
        TreeDisplay.from_estimator(clf, positive=positive, ax=figure.subplots())
        drawn = StringIO()
        figure.savefig(drawn, format="svg", metadata={"Date": None})
    return drawn.getvalue()


@contextmanager
def fixed_clock() -> Iterator[None]:
    """Set the time that documents have."""
    before = os.environ.get("SOURCE_DATE_EPOCH")
    os.environ["SOURCE_DATE_EPOCH"] = CLOCK
    try:
        yield
    finally:
        del os.environ["SOURCE_DATE_EPOCH"]
        if before is not None:
            os.environ["SOURCE_DATE_EPOCH"] = before


def write(folder: Path) -> dict[str, dict[str, str]]:
    """Write the documents of both cases to a folder, and return them."""
    with fixed_clock():
        made = {case.__name__: documents(*case()) for case in (lending, heart)}
    for name, files in made.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        for file, text in files.items():
            (folder / name / file).write_text(text, encoding="utf-8", newline="\n")
    return made


def filled(page: str, made: dict[str, dict[str, str]]) -> str:
    """Return the page with the texts between their marks; headings of documents become bold lines."""
    for case, files in made.items():
        for file, mark in ON_THE_PAGE.items():
            text = files[file].strip().replace(hornbeam.__version__, "…")
            text = re.sub(r"^#+ (.*)$", r"**\1**", text, flags=re.MULTILINE)
            begin, end = (f"<!-- {case}-{mark}: {which} -->" for which in ("begin", "end"))
            before, _, rest = page.partition(begin)
            page = f"{before}{begin}\n\n{text}\n\n{end}{rest.partition(end)[2]}"
    return page


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path, default=Path("signed-documents"))
    parser.add_argument("--page", action="store_true", help="write the texts into the guide")
    options = parser.parse_args()
    made = write(options.folder)
    if options.page:
        PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), made), encoding="utf-8")
