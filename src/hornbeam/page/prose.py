"""The model in three sentences, made from the facts."""

from __future__ import annotations

import numpy as np

from hornbeam.export.words import feature_name, several, shortened, word
from hornbeam.page.scores import Score
from hornbeam.page.subject import Subject
from hornbeam.page.trial import Trial
from hornbeam.tree import Tree

__all__ = ["lender", "listed", "sentences", "shown"]

_MOST_NAMES, _MOST_LETTERS = 5, 40


def sentences(subject: Subject, trial: Trial | None, scores: list[Score]) -> list[str]:
    """Say what the model is, what its probabilities rest on, and how good they were.

    Parameters
    ----------
    subject : Subject
    trial : Trial, optional
    scores : list of Score
        Those of the trial.

    Returns
    -------
    list of str
        Three sentences.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> tree = TreeClassifier(smoothing="laplace").fit([[0], [0], [1], [1]], ["no", "no", "yes", "yes"])
    >>> for sentence in sentences(Subject.of(tree), None, []):
    ...     print(sentence)
    This is one decision tree of 2 leaves that says how probable each of 2 classes is (no, yes); it was made ...
    Each probability rests on the 2 training rows of its leaf, and on what the nodes above lend it: ...
    No test rows were given, so nothing on this page says how good it is on rows it has not seen.
    """
    return [_what(subject.tree), _ground(subject.tree), _worth(trial, scores)]


def _what(tree: Tree) -> str:
    schema = tree.schema
    asked = np.unique(tree.skeleton.feature[tree.skeleton.feature >= 0])
    classes = listed([shown(word(label)) for label in schema.classes])
    says = (
        "answers with a number"
        if tree.is_measured
        else f"says how probable each of {tree.n_classes} classes is ({classes})"
    )
    first = ""
    if tree.depth:
        root = shown(feature_name(schema.features[tree.skeleton.feature[0]].name))
        first = f", {root} first"
    return (
        f"This is one decision tree of {several(tree.n_leaves, 'leaf', 'leaves')} that {says}; "
        f"it was made from {several(tree.rows.item(0), 'row')} and asks "
        f"{len(asked)} of {several(schema.n_features, 'feature')}{first}, with at most "
        f"{several(tree.depth, 'question')} to a row."
    )


def _ground(tree: Tree) -> str:
    leaf = tree.skeleton.is_leaf
    rows, borrowed = tree.rows[leaf], tree.borrowed[leaf]
    least, most = rows.min(), rows.max()
    span = f"{least:,}" if least == most else f"{least:,} to {most:,}"
    what = "mean" if tree.is_measured else "probability"
    own = f"Each {what} rests on the {span} training rows of its leaf"
    if not borrowed.any():
        return f"{own}, and on nothing else."
    middle = float(np.median(borrowed))
    return f"{own}, and on what {lender(tree)} lend it: in the median leaf, as much as {middle:,.1f} rows would say."


def lender(tree: Tree) -> str:
    """Name those who lend to the leaves of a tree, in the plural.

    Examples
    --------
    >>> from hornbeam import TreeClassifier
    >>> lender(TreeClassifier().fit([[0], [1]], ["no", "yes"]).tree_)
    'the nodes above'
    """
    distilled = any(step.name == "distill" for step in tree.history)
    return "the answers of its teacher" if distilled else "the nodes above"


def _worth(trial: Trial | None, scores: list[Score]) -> str:
    if trial is None:
        return "No test rows were given, so nothing on this page says how good it is on rows it has not seen."
    by_name = {score.name: score for score in scores}
    if "R²" in by_name:
        return _worth_of_numbers(trial, by_name["root mean squared error"], by_name["R²"])
    loss, hits = by_name["log loss"], by_name["accuracy"]
    verdict = "better than" if loss.convincing else "not clearly better than"
    return (
        f"On {several(trial.n_rows, 'test row')} the class it holds most probable came {100 * hits.value:.1f} % of the "
        f"time, the commonest class {100 * hits.base:.1f} %, and its log loss of {loss.value:.3f} is {verdict} the "
        f"{loss.base:.3f} of the base rate."
    )


def _worth_of_numbers(trial: Trial, error: Score, explained: Score) -> str:
    verdict = "better than" if error.convincing else "not clearly better than"
    share = "" if np.isnan(explained.value) else f" (R² {explained.words(explained.value)})"
    return (
        f"On {several(trial.n_rows, 'test row')} its root mean squared error of {error.words(error.value)} is "
        f"{verdict} the {error.words(error.base)} of the training mean{share}."
    )


def shown(name: str) -> str:
    """Cut a name that is too long for a sentence.

    Examples
    --------
    >>> len(shown("x" * 10_000))
    40
    """
    return shortened(name, _MOST_LETTERS)


def listed(names: list[str]) -> str:
    """List some names, and how many more there are.

    Examples
    --------
    >>> listed(list("abc")), listed(list("abcdefgh"))
    ('a, b, c', 'a, b, c, d, e and 3 more')
    """
    if len(names) <= _MOST_NAMES:
        return ", ".join(names)
    return f"{', '.join(names[:_MOST_NAMES])} and {len(names) - _MOST_NAMES} more"
