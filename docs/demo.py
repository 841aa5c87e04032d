"""Files of the page ``demo``: an exported tree for its form, and three reports.

The build of the documentation writes them (`conf.py`); ``python docs/demo.py`` does so by hand.
"""

import json
from pathlib import Path

import pandas as pd
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

from hornbeam import TreeClassifier, TreeRegressor, report
from hornbeam.export import to_javascript, to_json
from hornbeam.export.wording import branches, rule_texts
from hornbeam.tree.words import label_text

DOCS = Path(__file__).parent
TARGET = DOCS / "_static" / "demo"
COLUMNS = ["amount", "income", "age", "purpose", "owner"]
LEVEL = 0.9  # of the intervals


def loans(name: str) -> tuple[pd.DataFrame, pd.Series]:
    """Read a file of loans: features and state."""
    rows = pd.read_csv(DOCS / "guide" / "data" / f"{name}.csv")
    return rows[COLUMNS], rows["state"]


def loan_tree() -> TreeClassifier:
    """Fit the tree of the form."""
    return TreeClassifier(max_depth=4).fit(*loans("loans"))


def facts(clf: TreeClassifier) -> dict:
    """Collect what the form shows beside the predictions of the exported tree."""
    tree = clf.tree_
    first, n_children = tree.skeleton.first_child, tree.skeleton.n_children
    because = ["every row"] * tree.n_nodes
    for node in range(tree.n_nodes):
        if n_children[node]:
            children = slice(first[node], first[node] + n_children[node])
            because[children] = branches(tree, node)
    nodes = clf.leaves(level=LEVEL, inner=True)
    features = json.loads(to_json(clf))["features"]
    for given, feature in zip(features, tree.schema.features, strict=True):
        given["words"] = [label_text(category) for category in feature.categories]
    return {
        "level": LEVEL,
        "features": features,
        "parent": tree.skeleton.parent.tolist(),
        "because": because,
        "rule": rule_texts(tree, range(tree.n_nodes)),
        "rows": tree.rows.tolist(),
        "belief": tree.belief.tolist(),
        "low": nodes.low.tolist(),
        "high": nodes.high.tolist(),
    }


def end_boards() -> pd.DataFrame:
    """List the 958 boards on which a game of tic-tac-toe can end, with whether x has won."""
    lines = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8)]
    lines += [(0, 4, 8), (2, 4, 6)]
    found, todo = {}, {" " * 9}
    while todo:
        board = todo.pop()
        player = "xo"[board.count("x") - board.count("o")]
        won = {board[a] for a, b, c in lines if board[a] == board[b] == board[c]} - {
            " "
        }
        if won or " " not in board:
            found[board] = "x wins" if won == {"x"} else "x does not win"
        else:
            free = [i for i in range(9) if board[i] == " "]
            todo |= {board[:i] + player + board[i + 1 :] for i in free}
    squares = [f"{row} {column}" for row in ("top", "middle", "bottom")
               for column in ("left", "centre", "right")]  # fmt: skip
    rows = [["empty" if mark == " " else mark for mark in board] for board in found]
    boards = pd.DataFrame(rows, columns=squares).assign(result=list(found.values()))
    return boards.sort_values(squares, ignore_index=True)


def reports() -> dict[str, str]:
    """Make the reports."""
    X, progress = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    X, X_test, y, y_test = train_test_split(X, progress, test_size=0.4, random_state=0)
    diabetes = TreeRegressor().fit(X, y)
    games = end_boards()
    train, test = train_test_split(games, test_size=0.4, random_state=0)
    squares = list(games.columns[:-1])
    tic_tac_toe = TreeClassifier().fit(train[squares], train["result"])
    made = {
        "loans": report(
            loan_tree(),
            *loans("new-loans"),
            title="Loans: good or bad?",
            positive="bad",
        ),
        "diabetes": report(
            diabetes, X_test, y_test, title="Diabetes: progression in one year"
        ),
        "tic-tac-toe": report(
            tic_tac_toe,
            test[squares],
            test["result"],
            title="Tic-tac-toe: has x won?",
            positive="x wins",
        ),
    }
    return {name: page.text for name, page in made.items()}


def write(folder: Path = TARGET) -> None:
    """Write the scripts of the form and the reports."""
    clf = loan_tree()
    files = {f"{name}.html": html for name, html in reports().items()}
    files["loans.js"] = to_javascript(
        clf, name="loanTree", vectors=loans("new-loans")[0]
    )
    files["loans-facts.js"] = f"const loanFacts = {json.dumps(facts(clf))};\n"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    write()
