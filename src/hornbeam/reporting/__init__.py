"""The report on a tree as HTML, and the model card as Markdown.

The package is called `page` so that the name `hornbeam.report` is free for the function.
"""

from hornbeam.reporting.card import model_card
from hornbeam.reporting.reporter import Report, report

__all__ = ["Report", "model_card", "report"]
