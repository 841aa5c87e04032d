"""Every export takes an estimator or a tree first, everything else by its name, and refuses what is wrong."""

from inspect import signature

import pandas as pd
import pytest

from hornbeam import ForestClassifier, TreeClassifier, export
from hornbeam.errors import HornbeamError, ParameterError
from hornbeam.export import to_c, to_html, to_javascript, to_json, to_markdown, to_python

X = pd.DataFrame({"age": [20, 30, 40, 50] * 5, "colour": ["red", "blue"] * 10})
CLF = TreeClassifier().fit(X, ["no", "no", "yes", "yes"] * 5)
EXPORTS = [getattr(export, name) for name in export.__all__ if name.startswith("to_")]
OPTIONS = [
    (function, name)
    for function in EXPORTS
    for name in signature(function).parameters
    if name not in ("model", "X", "complete")
]
NEEDS = {"to_onnx": "onnx", "to_sql": "sqlglot", "to_treelite": "treelite"}


def call(function, model, **options):
    if function.__name__ in NEEDS:
        pytest.importorskip(NEEDS[function.__name__])
    rows = {"X": X} if "X" in signature(function).parameters else {}
    return function(model, **rows, **options)


@pytest.mark.parametrize("function", EXPORTS)
def test_the_model_is_first_and_options_have_names(function):
    first, *others = signature(function).parameters.values()
    assert first.name == "model"
    assert all(other.kind is other.KEYWORD_ONLY for other in others if other.name != "X")


@pytest.mark.parametrize("function", EXPORTS)
def test_what_is_not_one_tree_is_one_error(function):
    for model in (None, 3, TreeClassifier(), X, ForestClassifier(2).fit(X, X["colour"])):
        with pytest.raises(ParameterError, match="expected"):
            call(function, model)


@pytest.mark.parametrize(("function", "option"), OPTIONS)
def test_a_wrong_option_is_refused(function, option):
    with pytest.raises(HornbeamError, match=r"expected|expecting"):
        call(function, CLF, **{option: object()})


@pytest.mark.parametrize("function", [to_c, to_javascript, to_json, to_python])
def test_vectors_are_rows_like_those_of_predict(function):
    frame = function(CLF, vectors=X)
    assert frame == function(CLF.tree_, vectors=X.to_numpy()) == function(CLF, vectors=X.to_dict("records"))
    assert frame != function(CLF)


def test_a_table_has_the_probability_of_the_class_of_interest():
    own, yes = to_markdown(CLF).splitlines(), to_markdown(CLF, positive="yes").splitlines()
    assert yes[0] == own[0].replace("class | probability", "decision | `P(yes)`")
    chance = CLF.predict_proba(X[:1])[0]
    assert f"| `no` | {chance[0]:.3f} |" in own[2]
    assert f"| `no` | {chance[1]:.3f} |" in yes[2]


def test_a_page_has_intervals_of_a_level_or_none():
    low, high = CLF.predict_interval(X[:1], level=0.5)
    assert f"{low[0, 0]:.2f} to {min(high[0, 0], 0.99):.2f}, " in to_html(CLF, level=0.5)
    assert " to " not in to_html(CLF, level=None).partition("</style>")[2]
