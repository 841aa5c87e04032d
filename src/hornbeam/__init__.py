"""One decision tree a person can read, with class probabilities a person can trust.

This is the shop window: every public name, fetched from its floor when it is first asked for, so that
``import hornbeam`` costs nothing beyond itself.
"""

__version__ = "0.1.0.dev0"

__all__ = [
    "BoostedTreesClassifier",
    "BoostedTreesRanker",
    "BoostedTreesRegressor",
    "Costs",
    "DaskTreeClassifier",
    "DecisionRule",
    "Feature",
    "ForestClassifier",
    "ForestRegressor",
    "Grower",
    "Recipe",
    "RuleClassifier",
    "Schema",
    "Skeleton",
    "SmoothedClassifier",
    "Table",
    "Tree",
    "TreeClassifier",
    "TreeRegressor",
    "__version__",
    "diff",
    "distill",
    "errors",
    "load",
    "model_card",
    "recount",
    "report",
    "save",
    "trusted_types",
]

TYPE_CHECKING = False  # checkers read it as True; the module typing would be the one import of this file
if TYPE_CHECKING:
    from hornbeam import errors
    from hornbeam.data import Feature, Schema, Table
    from hornbeam.estimators.boosted_classifier import BoostedTreesClassifier
    from hornbeam.estimators.boosted_regressor import BoostedTreesRegressor
    from hornbeam.estimators.dask_classifier import DaskTreeClassifier
    from hornbeam.estimators.distill import distill
    from hornbeam.estimators.forest_classifier import ForestClassifier
    from hornbeam.estimators.forest_regressor import ForestRegressor
    from hornbeam.estimators.persistence.files import diff, load, save, trusted_types
    from hornbeam.estimators.ranker import BoostedTreesRanker
    from hornbeam.estimators.rule_classifier import RuleClassifier
    from hornbeam.estimators.smoothed_classifier import SmoothedClassifier
    from hornbeam.estimators.tree_classifier import TreeClassifier
    from hornbeam.estimators.tree_regressor import TreeRegressor
    from hornbeam.growing.grower import Grower
    from hornbeam.recipe import Recipe
    from hornbeam.reporting import model_card, report
    from hornbeam.smoothing.recount import recount
    from hornbeam.tree import Costs, DecisionRule, Skeleton, Tree
else:
    _HOMES = {
        "BoostedTreesClassifier": "hornbeam.estimators.boosted_classifier",
        "BoostedTreesRegressor": "hornbeam.estimators.boosted_regressor",
        "Costs": "hornbeam.tree",
        "DaskTreeClassifier": "hornbeam.estimators.dask_classifier",
        "DecisionRule": "hornbeam.tree",
        "Feature": "hornbeam.data",
        "ForestClassifier": "hornbeam.estimators.forest_classifier",
        "ForestRegressor": "hornbeam.estimators.forest_regressor",
        "Grower": "hornbeam.growing.grower",
        "BoostedTreesRanker": "hornbeam.estimators.ranker",
        "Recipe": "hornbeam.recipe",
        "RuleClassifier": "hornbeam.estimators.rule_classifier",
        "Schema": "hornbeam.data",
        "Skeleton": "hornbeam.tree",
        "SmoothedClassifier": "hornbeam.estimators.smoothed_classifier",
        "Table": "hornbeam.data",
        "Tree": "hornbeam.tree",
        "TreeClassifier": "hornbeam.estimators.tree_classifier",
        "TreeRegressor": "hornbeam.estimators.tree_regressor",
        "distill": "hornbeam.estimators.distill",
        "diff": "hornbeam.estimators.persistence.files",
        "load": "hornbeam.estimators.persistence.files",
        "model_card": "hornbeam.reporting",
        "recount": "hornbeam.smoothing.recount",
        "report": "hornbeam.reporting",
        "save": "hornbeam.estimators.persistence.files",
        "trusted_types": "hornbeam.estimators.persistence.files",
    }

    def __getattr__(name):
        from importlib import import_module

        if name == "errors":
            return import_module("hornbeam.errors")
        if name not in _HOMES:
            known = ", ".join(__all__)
            raise AttributeError(f"module 'hornbeam' has no attribute {name!r}; its public names are {known}")
        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value  # the next look-up does not come here
        return value

    def __dir__():
        return __all__
