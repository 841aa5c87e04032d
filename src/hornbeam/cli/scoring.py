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


def scores_of(model: Any, X: Any, y: Any) -> dict[str, Any]:
    """Score a model on rows, and what the shares of the classes in training would have said of them."""
    import numpy as np

    from hornbeam.data.table import Table
    from hornbeam.estimators.plain import decide
    from hornbeam.evaluation import Tally
    from hornbeam.tree.costs import Costs
    from hornbeam.tree.route import answer

    tree = model.tree
    table = Table.read(X, y, schema=tree.schema)
    belief = answer(tree, table)
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


def scores_shown(scores: dict[str, Any]) -> str:
    """Lay the scores out as a table."""
    rows = [
        [words, f"{scores['model'][name]:.4f}", f"{scores['base_rate'][name]:.4f}"]
        for name, words in _MEASURES.items()
        if name in scores["model"]
    ]
    return laid_out([f"{scores['rows']:,} rows", "model", "base rate"], rows)
