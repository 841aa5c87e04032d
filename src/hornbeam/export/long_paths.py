"""A limit on formats that repeat every test of a path for each leaf."""

from hornbeam.errors import ExportError
from hornbeam.tree import Tree
from hornbeam.tree.walk import path_tests

__all__ = ["refuse_long_paths"]

_MOST = 2_000_000  # tests: some hundred megabytes of text


def refuse_long_paths(tree: Tree, form: str) -> None:
    """Raise `ExportError` if the paths to all leaves have too many tests together, before anything is written.

    Parameters
    ----------
    tree : Tree
    form : str
        What was to be written, for the message.
    """
    tests = path_tests(tree.skeleton)
    if tests > _MOST:
        raise ExportError(
            f"The paths to the {tree.n_leaves:,} leaves of this tree have {tests:,} tests together (the deepest has "
            f"{tree.depth:,}), and {form} repeats them for every leaf; expected {_MOST:,} at most. Prune the tree, "
            "limit max_depth, or use a form that holds each test once: to_python, to_javascript, to_html, or "
            "hornbeam.save."
        )
