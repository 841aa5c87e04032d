"""What a notebook shows of an estimator: once it is fitted, its tree, and below it what scikit-learn shows."""

from typing import Any

from sklearn import get_config
from sklearn.utils import estimator_html_repr

__all__ = ["HtmlRepr"]

_STYLE = 'style="font:13px/1.7 system-ui,sans-serif;cursor:pointer"'


class HtmlRepr:
    """Shows the fitted tree in notebooks; ``sklearn.set_config(display="text")`` turns all pages off.

    scikit-learn asks for `_html_repr` since 1.7; before, for the other two.
    """

    def _html_repr(self) -> str:
        own: str = estimator_html_repr(self)
        tree = getattr(self, "tree_", None)
        if tree is None:
            return own
        from hornbeam.explain import interval  # loaded for those who look
        from hornbeam.export.people.html import to_html

        page = to_html(tree, title=type(self).__name__, bounds=interval(tree))
        return f"<div>{page}<details><summary {_STYLE}>Parameters</summary>{own}</details></div>"

    def _repr_html_inner(self) -> str:
        return self._html_repr()

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        shown = {"text/plain": repr(self)}
        if get_config()["display"] == "diagram":
            shown["text/html"] = self._html_repr()
        return shown
