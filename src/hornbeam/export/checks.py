"""Checks of the arguments of an export: length of paths, limits and names."""

import re
from typing import Any

from hornbeam.errors import ExportError
from hornbeam.tree.evidence.fractional import child_shares
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import path_tests

_MAX_PATH_TESTS = 2_000_000  # some hundred megabytes of text


def check_path_tests(tree: Tree, form: str) -> None:
    """Raise `ExportError` if a format that repeats all tests of a path for each leaf would be too long."""
    tests = path_tests(tree.skeleton)
    if tests > _MAX_PATH_TESTS:
        raise ExportError(
            f"The paths to the {tree.n_leaves:,} leaves of this tree have {tests:,} tests together (the deepest has "
            f"{tree.depth:,}), and {form} repeats them for every leaf; expected {_MAX_PATH_TESTS:,} at most. Prune "
            "the tree, limit max_depth, or use a form that holds each test once: to_python, to_javascript, to_html, "
            "or hornbeam.save."
        )


def check_not_fractional(tree: Tree, target: str) -> None:
    """Raise `ExportError` if some missing value goes to every child, which `target` cannot express."""
    shares = child_shares(tree)
    if shares:
        raise ExportError(
            f"Node {min(shares)} sends a missing value to every child, in proportion to the evidence; {target} cannot "
            "express that. Export to SQL, or grow the tree with missing='own' or missing='learned'."
        )


def check_no_slopes(tree: Tree, target: str) -> None:
    """Raise `ExportError` if a tree has slopes, which `target` cannot express."""
    if len(tree.slopes):
        raise ExportError(
            f"Node {tree.slopes.node[0]} has slopes, so its prediction changes with the values of a row; {target} has "
            "one prediction for each leaf. Export to Python, JavaScript, C, SQL, ONNX, PMML or JSON, or fit the tree "
            "without slopes."
        )


def is_name(text: Any, pattern: str) -> bool:
    """Whether an argument is a text that matches a pattern of ASCII letters."""
    return isinstance(text, str) and re.fullmatch(pattern, text, re.ASCII) is not None


def check_text(text: str) -> None:
    """Raise `ExportError` if a text is not valid Unicode: a file cannot hold half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ExportError(
            f"{text!r} is not valid Unicode, expected text a file can hold. Rename it."
        ) from error
