"""Section of a report on smaller trees: sizes with their losses on held-out rows."""

from __future__ import annotations

from hornbeam.export.wording import pluralise
from hornbeam.grid import Grid
from hornbeam.reporting.markup import Markup, element, framed
from hornbeam.reporting.sections.tree import section
from hornbeam.tree import Tree
from hornbeam.tuning import SizePath

__all__ = ["size_section"]


def size_section(tree: Tree, path: SizePath) -> Markup:
    """Write the smallest size for each of a few tolerances, and how it was found."""
    first = int(path.n_leaves[0])
    text = (
        f"When the tree was fitted, sizes from {first:,} leaves to one were compared by their {path.measure} on rows "
        "that were held out. The table has the smallest tree for each tolerance: the increase that the parameter "
        f"tolerance allows. This tree has {pluralise(tree.n_leaves, 'leaf', 'leaves')}."
    )
    rows = [
        [f"{100 * tolerance:g} %", f"{size:,}", f"{path.loss[at]:.4g}", f"{100 * path.increase[at]:.1f} %"]
        for tolerance, size in path.milestones().items()
        for at in [path.position(tolerance)]
    ]
    grid = Grid("Smallest trees", ["Tolerance", "Leaves", path.measure.capitalize(), "Increase"], rows)
    return section("sizes", "Smaller trees", element("p", text), framed(grid))
