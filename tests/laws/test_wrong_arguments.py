"""Public functions with models and rows of a wrong kind: a result, or a `HornbeamError`, never an error of Python."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import hornbeam
from hornbeam import evaluation, export, interop, plots, tree
from hornbeam.data.schema import Kind
from hornbeam.editing.editor import TreeEditor
from hornbeam.errors import HornbeamError
from hornbeam.explain.candidates.list_splits import candidate_splits
from hornbeam.explain.scorecard import scorecard
from hornbeam.tree import Table
from support.estimators import ESTIMATORS, NUMBERS, X, Y, fitted

pytest.importorskip("matplotlib")

CLF = hornbeam.TreeClassifier("cart", max_depth=2).fit(X, Y)
TREE = CLF.tree_
ROWS = Table.read(X, Y, schema=TREE.schema)
FRAME = pd.DataFrame(X, columns=list("abc"))

MODELS = {name: fitted(model) for name, model in ESTIMATORS.items()} | {
    "slopes": hornbeam.TreeClassifier("readable", max_leaf_nodes=3).fit(X, Y),
    "tree": TREE,
    "regression tree": hornbeam.TreeRegressor("cart").fit(X, NUMBERS).tree_,
    "unfitted": hornbeam.TreeClassifier(),
    "pipeline": make_pipeline(StandardScaler(), hornbeam.TreeClassifier()).fit(X, Y),
    "scikit-learn": DecisionTreeClassifier(max_depth=2).fit(X, Y),
    "scikit-learn regressor": DecisionTreeRegressor(max_depth=2).fit(X, NUMBERS),
    "rule set": CLF.rules(),
    "table": ROWS,
    "frame": FRAME,
    "array": X,
    "none": None,
    "number": 3,
    "text": "model.hornbeam",
    "list": [1, 2],
    "dict": {"a": 1},
    "class": hornbeam.TreeClassifier,
}
WRONG_ROWS = {
    "none": None,
    "number": 3,
    "text": "rows",
    "list": [1, 2],
    "other columns": X[:, :2],
    "other table": Table.read(X[:, :2], Y),
    "no target": Table.read(X, schema=TREE.schema),
    "numeric target": Table.read(X, NUMBERS, target_kind=Kind.NUMERIC),
    "numbers for classes": (X, NUMBERS),
    "swapped": (Y, X),
    "model": CLF,
    "tree": TREE,
    "frame": FRAME,
    "words": np.full((60, 3), "word"),
    "empty": X[:0],
}

OF_A_MODEL = {
    **{
        name: getattr(export, name)
        for name in export.__all__
        if name.startswith(("to_", "rules_"))
        and name not in ("to_matrix", "to_onnx", "to_treelite", "to_shap")
    },
    "to_sklearn": interop.to_sklearn,
    "scorecard": scorecard,
    "from_tree": hornbeam.TreeClassifier.from_tree,
    "collapse": lambda model: tree.collapse(model, np.zeros(3, bool)),
    "with_belief": lambda model: tree.with_belief(model, np.full((3, 2), 0.5)),
    "with_slopes": lambda model: tree.with_slopes(model, tree.Slopes.none(2)),
    "report": hornbeam.report,
    "model_card": hornbeam.model_card,
    "diff": lambda model: hornbeam.diff(CLF, model),
    "TreeDisplay": plots.TreeDisplay.from_estimator,
    "LeafDisplay": plots.LeafDisplay.from_estimator,
}
OF_A_MODEL_AND_ROWS = {
    "to_matrix": export.to_matrix,
    "score_changes": lambda model, rows: evaluation.score_changes(model, TREE, rows),
}
OF_A_MODEL_X_AND_Y = {
    "report": hornbeam.report,
    "model_card": hornbeam.model_card,
    "candidate_splits": candidate_splits,
    "candidate_splits of a tree": lambda model, X, y: hornbeam.TreeClassifier.from_tree(
        model
    ).candidate_splits(X, y),
    "TreeEditor": TreeEditor._of,
    "recount": lambda model, X, y: hornbeam.TreeClassifier.from_tree(model).recount(X, y),
    "ReliabilityDisplay": plots.ReliabilityDisplay.from_estimator,
}


@pytest.fixture(autouse=True)
def _quiet():
    import matplotlib.pyplot as plt

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
    plt.close("all")


def raw_errors(calls):
    """List the calls that raise an error of Python."""
    found = []
    for name, call in calls.items():
        try:
            call()
        except HornbeamError:
            pass
        except Exception as error:  # noqa: BLE001 (whatever is not ours is listed)
            found.append(f"{name}: {type(error).__name__}: {error}")
    return found


@pytest.mark.parametrize("name", OF_A_MODEL)
def test_a_wrong_model_is_refused(name):
    use = OF_A_MODEL[name]
    assert raw_errors({kind: lambda model=model: use(model) for kind, model in MODELS.items()}) == []


@pytest.mark.parametrize("name", OF_A_MODEL_AND_ROWS)
def test_a_wrong_model_or_wrong_rows_are_refused(name):
    use = OF_A_MODEL_AND_ROWS[name]
    calls = {kind: lambda model=model: use(model, ROWS) for kind, model in MODELS.items()}
    assert raw_errors(calls) == []
    assert raw_errors({kind: lambda rows=rows: use(TREE, rows) for kind, rows in WRONG_ROWS.items()}) == []


@pytest.mark.parametrize("name", OF_A_MODEL_X_AND_Y)
def test_a_wrong_model_or_wrong_x_and_y_are_refused(name):
    use = OF_A_MODEL_X_AND_Y[name]
    calls = {kind: lambda model=model: use(model, X, Y) for kind, model in MODELS.items()}
    for kind, rows in WRONG_ROWS.items():
        wrong = rows if isinstance(rows, tuple) else (rows, Y)
        calls[f"rows {kind}"] = lambda wrong=wrong: use(CLF, *wrong)
    assert raw_errors(calls) == []


@pytest.mark.parametrize("name", WRONG_ROWS)
def test_wrong_rows_of_results_are_refused(name):
    rows, card, found = WRONG_ROWS[name], scorecard(CLF, positive=1), CLF.rules()
    uses = {"points": card.points, "predict_proba": found.predict_proba, "apply": found.apply}
    for method in ("explain", "shap_values", "counterfactuals", "predict_interval", "unseen", "drift"):
        uses[method] = getattr(CLF, method)
    pair = rows if isinstance(rows, tuple) else (rows, Y)
    uses |= {"simplify": lambda _: found.simplify(*pair), "choose": lambda _: found.choose(*pair)}
    assert raw_errors({kind: lambda use=use: use(rows) for kind, use in uses.items()}) == []


def test_an_estimator_stands_for_its_tree_and_a_frame_for_its_table():
    clf = hornbeam.TreeClassifier("cart", max_depth=2).fit(FRAME, Y)
    own, table = clf.tree_, Table.read(FRAME, schema=clf.tree_.schema)
    np.testing.assert_array_equal(clf.rules().predict_proba(FRAME), clf.rules().predict_proba(table))
    card = scorecard(clf, positive=1)
    np.testing.assert_array_equal(card.points(FRAME), card.points(table))
    np.testing.assert_array_equal(export.to_matrix(clf, FRAME), X)
    scored = Table.read(FRAME, Y, schema=own.schema)
    expected = evaluation.log_loss(Y, clf.predict_proba(FRAME))
    assert evaluation.scores(clf, scored).model["log_loss"] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: hornbeam.TreeClassifier().fit(Y, X), "X and y are swapped"),
        (lambda: hornbeam.TreeRegressor().fit(NUMBERS, X), "X and y are swapped"),
        (lambda: evaluation.score_changes(Y, NUMBERS, NUMBERS), "fitted classifier or regressor"),
        (lambda: plots.LeafDisplay.from_estimator(MODELS["regressor"]), "distribution=True"),
        (lambda: plots.ReliabilityDisplay.from_estimator(MODELS["regressor"], X, Y), "expected a classifier"),
        (lambda: hornbeam.report(MODELS["scikit-learn"], X, Y), r"hornbeam\.interop"),
    ],
)
def test_the_error_says_what_to_pass(call, words):
    with pytest.raises(HornbeamError, match=words):
        call()


@pytest.mark.parametrize("slopes", [None, False])
def test_no_slopes_may_be_said_in_three_ways(slopes):
    found, expected = (hornbeam.TreeClassifier(slopes=one).fit(X, Y).tree_.digest for one in (slopes, 0))
    assert found == expected
