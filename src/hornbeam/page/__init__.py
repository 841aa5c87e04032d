"""The report: one page of HTML about a tree, for those who must sign it.

The package is called `page` so that the name `hornbeam.report` is free for the function.
"""

from hornbeam.page.reporter import Report, report

__all__ = ["Report", "report"]
