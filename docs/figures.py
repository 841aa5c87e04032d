"""Tables of the interactive figures on the learn pages, as JavaScript; the figures are in ``_static/learn/figures.js``.

The build of the documentation writes them (`conf.py`).
"""

import json
from pathlib import Path

from hornbeam import example_table

TARGET = Path(__file__).parent / "_static" / "learn" / "tables.js"
NAMES = ("restaurant", "pizza", "tennis", "things", "hours", "points")


def table(name: str) -> dict[str, list]:
    """Return the names of the columns and the rows of a table, the class last."""
    X, y = example_table(name)
    columns = [*(X[feature].tolist() for feature in X.columns), y.tolist()]
    return {"columns": [*X.columns, y.name], "rows": list(zip(*columns, strict=True))}


def write(target: Path = TARGET) -> None:
    """Write the tables."""
    tables = json.dumps({name: table(name) for name in NAMES})
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(
        f"const learnTables = {tables};\n", encoding="utf-8", newline="\n"
    )
