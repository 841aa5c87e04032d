"""Scores of a model beside those of the base rate, for the commands that show them."""

from typing import Any

from hornbeam.cli.screen import laid_out

__all__ = ["scores_of", "scores_shown"]

_MEASURES = {
    "rmse": "RMSE",
    "log_loss": "log loss",
    "zero_one_loss": "0-1 loss",
    "calibration_error": "calibration error",
    "mean_cost": "mean cost",
}
_OF_NUMBERS = {"rmse": "RMSE", "mae": "mean absolute error", "r2": "R²"}


def scores_of(model: Any, X: Any, y: Any) -> dict[str, Any]:
    """Score a model on rows, and what the shares of the classes in training would have said of them."""
    import numpy as np

    from hornbeam.data.table import Table
    from hornbeam.estimators.plain import decide
    from hornbeam.evaluation import Tally
    from hornbeam.tree.costs import Costs
    from hornbeam.tree.route import answer
    from hornbeam.tree.tree import unsmoothed

    tree = model.tree
    table = Table.read(X, y, schema=tree.schema)
    belief = answer(tree, table)
    if table.measured is not None:
        return _scores_of_numbers(table.measured.values, belief[:, 0], unsmoothed(tree).item(0))
    shares = tree.evidence[0] / tree.evidence[0].sum()
    base = np.tile(shares, (table.n_rows, 1))
    codes, costs = range(tree.schema.n_classes), model.settings.get("costs")
    result: dict[str, Any] = {"rows": table.n_rows}
    for name, said in (("model", belief), ("base_rate", base)):
        tally = Tally.of(table.target, said, labels=codes)
        result[name] = {measure: getattr(tally, measure) for measure in list(_MEASURES)[:4]}
        if costs is not None:
            place = {label: code for code, label in enumerate(tree.schema.classes)}
            chosen = [place[label] for label in decide(model, said)]
            result[name]["mean_cost"] = float(
                Costs.of(costs, tree.schema.classes).matrix[table.target, chosen].mean()
            )
    return result


def _scores_of_numbers(y: Any, said: Any, mean: float) -> dict[str, Any]:
    import numpy as np

    squares = ((y - mean) ** 2).mean()
    result: dict[str, Any] = {"rows": len(y)}
    for name, answers in (("model", said), ("mean", np.full(len(y), mean))):
        off = y - answers
        explained = 1 - (off**2).mean() / squares if squares else float("nan")
        result[name] = {
            "rmse": float(np.sqrt((off**2).mean())),
            "mae": float(np.abs(off).mean()),
            "r2": explained,
        }
    return result


def scores_shown(scores: dict[str, Any]) -> str:
    """Lay the scores out as a table."""
    measures, base = (_OF_NUMBERS, "mean") if "mean" in scores else (_MEASURES, "base_rate")
    digits = ".5g" if "mean" in scores else ".4f"
    rows = [
        [words, f"{scores['model'][name]:{digits}}", f"{scores[base][name]:{digits}}"]
        for name, words in measures.items()
        if name in scores["model"]
    ]
    return laid_out([f"{scores['rows']:,} rows", "model", base.replace("_", " ")], rows)
