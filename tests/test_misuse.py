"""Every public function and method refuses a wrong model, wrong rows and wrong options with a `HornbeamError`.

The calls come from the reference and from the signatures: each is made with good arguments but one. A new function
with a required parameter that has no value in `GOOD` fails here until it has.
"""

import inspect
from functools import cache

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

import hornbeam
import hornbeam.pruning
import hornbeam.smoothing
from hornbeam import evaluation
from hornbeam.errors import HornbeamError
from hornbeam.tree import Slopes, with_slopes
from support.api import documented, members, public
from support.estimators import ESTIMATORS, X, Y, fitted

pytest.importorskip("matplotlib")
pytestmark = pytest.mark.filterwarnings("ignore")

CLF = hornbeam.TreeClassifier("cart", max_depth=2).fit(X, Y)
FOREST = hornbeam.ForestClassifier(2).fit(X, Y)
PROBA = CLF.predict_proba(X)
#: Good values by the names of parameters, or of a function and its parameter.
GOOD = {
    "model": CLF,
    "estimator": CLF,
    "tree": CLF.tree_,
    "old": CLF,
    "new": CLF,
    "before": CLF,
    "after": CLF,
    "X": X,
    "y": Y,
    "y_true": Y,
    "y_proba": PROBA,
    "y_score": PROBA[:, 1],
    "predicted": {"tree": PROBA},
    "y_pred": CLF.predict(X),
    "costs": {(0, 1): 2, (1, 0): 1},
    "path": "rows",
    "paths": "rows.parquet",
    "target": "y",
    "rows": X,
    "node": 0,
    "step": None,
    "mask": np.zeros(CLF.tree_.n_nodes, bool),
    "belief": CLF.tree_.belief,
    "slopes": CLF.tree_.slopes,
    "reason": "a test",
    "threshold": 0.5,
    "categories": [["a"], ["b"]],
    "share": 0.5,
    "tolerance": 0.1,
    "n": 1,
    "n_leaves": 2,
    "method": "a",
    "other": "b",
    "methods": ("a", "b"),
    "sets": ("one", "two", "three"),
    "Comparison.on.sets": [True, True, False],
    "losses": np.eye(3)[:, :2],
    "split": "x0",
    "feature": "x0",
    "effect": 2.0,
    "features": CLF.tree_.schema.features,
    "Feature.name": "age",
}
MODELS = {"model", "estimator", "old", "new", "before", "after", "tree"}
WRONG_MODELS = {"an object": object(), "a text": "model", "another model": LogisticRegression().fit(X, Y)}
WRONG_ROWS = {
    "an object": object(),
    "a number": 3,
    "no such file": "no-such-file.parquet",
    "three dimensions": np.zeros((2, 2, 2)),
}
#: Parameters that other libraries check, or that are called.
ELSEWHERE = {"ax", "on_progress", "on_finish", "client", "spark", "date", "name"}
#: Classes that need a cluster, or arrays that make a tree: their own tests have their wrong parameters.
PARTS = {"DaskEngine", "RayEngine", "SparkEngine", "Tree", "Skeleton", "Slopes", "Condition", "Step", "Costs"}
PARTS |= {"DecisionRule", "Table", "Forest", "BoostedTrees", "VotingTrees", "ImportedTree"}
#: Parts whose methods take rows.
ENSEMBLES = {"Forest", "BoostedTrees", "VotingTrees"}
#: Parameters of pruners that are read when they prune.
READ_LATER = {"X", "y", "sample_weight", "engine", "held_out", "estimate", "rows"}
#: Functions that take every classifier.
ANY_CLASSIFIER = {
    "ReliabilityDisplay.from_estimator",
    "ProbabilityDisplay.from_estimator",
    "scores",
    "stability",
}
#: Namespaces of objects that are passed to an estimator, which calls their methods.
PASSED = {"hornbeam.smoothing", "hornbeam.pruning", "hornbeam.ensembles", "hornbeam.engines"}
STEPS = {"hornbeam.smoothing", "hornbeam.pruning"}
PRUNERS = {name for module, name in documented() if module == "hornbeam.pruning"}
#: Classes that only methods make.
MADE = {"hornbeam.results", "hornbeam.plots"}


def with_terms():
    """A tree whose root has a term, for its editor."""
    term = Slopes.of([0], [0], low=[0], high=[1], centre=[0.5], slope=np.eye(CLF.tree_.n_classes)[:1])
    return hornbeam.TreeClassifier.from_tree(with_slopes(CLF.tree_, term))


@cache
def objects():
    """An object of each class with methods: estimators, and what their methods return."""
    rules, explanations, splits = CLF.rules(), CLF.explain(X), CLF.candidate_splits(X, Y)
    score = PROBA[:, 1]
    found = [
        *(fitted(clone(one)) for one in ESTIMATORS.values()),
        CLF.tree_,
        FOREST.forest_,
        hornbeam.BoostedTreesClassifier(n_estimators=2).fit(X, Y).boosted_,
        hornbeam.AdaBoostClassifier(2).fit(X, Y).voting_,
        CLF.tree_.schema,
        CLF.tree_.skeleton,
        CLF.leaves(),
        CLF.drift(X, Y),
        CLF.unseen(X),
        CLF.shap_values(X),
        CLF.counterfactuals(X[:3]),
        CLF.scorecard(positive=1),
        with_terms().edit(X, Y),
        CLF.cost_complexity_path(),
        hornbeam.TreeClassifier().fit(X, Y).size_path_,
        fitted(hornbeam.TreeRegressor(distribution=True)).predict_distribution(X),
        hornbeam.diff(CLF, CLF),
        hornbeam.report(CLF, X, Y),
        rules,
        rules[0],
        explanations,
        explanations[0],
        splits,
        splits[0],
        evaluation.lift_table(Y, score, positive=1),
        evaluation.reliability_curve(Y, score, positive=1),
        evaluation.ks_statistic(Y, score, positive=1),
        evaluation.scores(CLF, X, Y),
        evaluation.compare(Y, {"tree": PROBA}),
        evaluation.score_changes(CLF, CLF, X, Y),
        hornbeam.RuleClassifier().fit(X, Y).explain(X),
        evaluation.stability(hornbeam.TreeClassifier("cart", max_depth=2), X, Y, n_refits=2),
        evaluation.Comparison(("a", "b"), ("one", "two", "three"), np.eye(3)[:, :2]),
    ]
    return {type(one).__name__: one for one in found}


def callables():
    """Name, how to find the function, and its signature, of everything public that can be called."""
    for module, name in documented():
        thing = public(module, name)
        if not isinstance(thing, type):
            yield name, lambda thing=thing: thing, inspect.signature(thing)
            continue
        if (
            issubclass(thing, BaseException)
            or getattr(thing, "_is_protocol", False)
            or name in PARTS - ENSEMBLES
        ):
            continue
        if module not in MADE and name not in PARTS and not hasattr(thing, "fit"):
            yield name, lambda thing=thing: thing, inspect.signature(thing)
        for member, value in members(thing).items() if module not in PASSED or name in ENSEMBLES else ():
            if isinstance(value, classmethod | staticmethod):
                bound = getattr(thing, member)
                yield f"{name}.{member}", lambda bound=bound: bound, inspect.signature(bound)
            elif inspect.isfunction(value) and module != "hornbeam.plots":
                yield (
                    f"{name}.{member}",
                    lambda name=name, member=member: getattr(objects()[name], member),
                    inspect.signature(value),
                )


def cases():
    """One wrong argument each."""
    for name, find, signature in callables():
        for one in signature.parameters.values():
            if one.name in ELSEWHERE | {"self"} or one.kind is one.VAR_KEYWORD:
                continue
            wrongs = {"an object": object()}
            if isinstance(one.default, str) and one.name != "table":  # which may be several names
                wrongs["an array"] = np.array([one.default, one.default])
            if name in PRUNERS and one.name in READ_LATER:
                continue
            if one.name in MODELS:
                wrongs = dict(list(WRONG_MODELS.items())[: 2 if name in ANY_CLASSIFIER else None])
            elif one.name == "X":
                wrongs = WRONG_ROWS
            for kind, wrong in wrongs.items():
                yield pytest.param(name, find, one.name, wrong, id=f"{name}-{one.name}-{kind}")


@pytest.mark.parametrize(("name", "find", "parameter", "wrong"), list(cases()))
def test_a_wrong_argument_is_refused(name, find, parameter, wrong, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    function = find()
    positional, named = [], {}
    for one in inspect.signature(function).parameters.values():
        if one.name == parameter:
            value = wrong
        elif one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD) or (
            one.default is not one.empty and not (one.name in ("X", "y") and name in ("report", "model_card"))
        ):
            continue
        else:
            value = GOOD.get(f"{name}.{one.name}", GOOD.get(one.name, GOOD))
            assert value is not GOOD, f"no good value for {one.name} of {name}"
        if one.kind in (one.POSITIONAL_ONLY, one.VAR_POSITIONAL):
            positional.append(value)
        else:
            named[one.name] = value
    with pytest.raises(HornbeamError):
        function(*positional, **named)


@pytest.mark.parametrize("name", [name for module, name in documented() if module in STEPS])
def test_a_smoother_or_pruner_takes_a_tree_or_its_estimator(name):
    kind = public("hornbeam.smoothing" if hasattr(hornbeam.smoothing, name) else "hornbeam.pruning", name)
    if getattr(kind, "_is_protocol", False):
        pytest.skip("a protocol")
    step = {"ReducedError": lambda: kind(X, Y), "LeafBudget": lambda: kind(2)}.get(name, kind)()
    assert step(CLF).digest == step(CLF.tree_).digest
    for wrong in (*WRONG_MODELS.values(), FOREST):
        with pytest.raises(HornbeamError):
            step(wrong)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_a_wrong_parameter_is_refused_by_fit(kind):
    estimator, accepted = ESTIMATORS[kind], []
    for name in estimator.get_params(deep=False):
        try:
            fitted(clone(estimator).set_params(**{name: object()}))
        except HornbeamError:
            continue
        except Exception as error:  # noqa: BLE001 (listed)
            accepted.append(f"{name}: {error!r}")
        else:
            accepted.append(name)
    assert accepted == []


@pytest.mark.parametrize("more", [{"preset": "readable"}, {"teacher": "ensemble"}])
def test_a_wrong_parameter_is_refused_with_a_teacher(more):
    for name in set(hornbeam.TreeClassifier().get_params()) - set(more):
        with pytest.raises(HornbeamError, match=name):
            hornbeam.TreeClassifier(**more, **{name: object()}).fit(X, Y)
