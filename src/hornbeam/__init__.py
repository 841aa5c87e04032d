"""Readable decision trees with well calibrated probabilities.

All public names are here. Each is imported on first use, so that ``import hornbeam`` imports nothing else.

The packages, from bottom to top: `kernels`, `data`, `tree`, `growing`, `pruning`, `smoothing`, `rules`, `storage`,
`interop`, `export`, `engines`, `tuning`, `out_of_core`, `ensembles`, `explain`, `evaluation`, `plots`, `estimators`,
`reporting`, `web_editor`, `cli`.
"""

__version__ = "0.1.0rc1"

__all__ = [
    "BoostedTreesClassifier",
    "BoostedTreesRanker",
    "BoostedTreesRegressor",
    "Costs",
    "DaskForestClassifier",
    "DaskForestRegressor",
    "DaskTreeClassifier",
    "DaskTreeRegressor",
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
    "candidate_splits",
    "diff",
    "distill",
    "errors",
    "impurity",
    "load",
    "model_card",
    "recount",
    "report",
    "save",
    "scorecard",
    "show_versions",
    "trusted_types",
    "workbench",
]

# Type checkers read __init__.pyi.
_MODULES = {
    "BoostedTreesClassifier": ".estimators.boosted_classifier",
    "BoostedTreesRanker": ".estimators.ranker",
    "BoostedTreesRegressor": ".estimators.boosted_regressor",
    "Costs": ".tree",
    "DaskForestClassifier": ".estimators.dask_names",
    "DaskForestRegressor": ".estimators.dask_names",
    "DaskTreeClassifier": ".estimators.dask_names",
    "DaskTreeRegressor": ".estimators.dask_names",
    "DecisionRule": ".tree",
    "Feature": ".data",
    "ForestClassifier": ".estimators.forest_classifier",
    "ForestRegressor": ".estimators.forest_regressor",
    "Grower": ".growing.grower",
    "Recipe": ".recipe",
    "RuleClassifier": ".estimators.rule_classifier",
    "Schema": ".data",
    "Skeleton": ".tree",
    "SmoothedClassifier": ".estimators.smoothed_classifier",
    "Table": ".data",
    "Tree": ".tree",
    "TreeClassifier": ".estimators.tree_classifier",
    "TreeRegressor": ".estimators.tree_regressor",
    "candidate_splits": ".explain.candidates.list_splits",
    "diff": ".estimators.persistence.files",
    "distill": ".estimators.distill",
    "impurity": ".growing.impurity",
    "load": ".estimators.persistence.files",
    "model_card": ".reporting",
    "recount": ".smoothing.replay",
    "report": ".reporting",
    "save": ".estimators.persistence.files",
    "scorecard": ".explain.scorecard",
    "show_versions": ".reporting.versions",
    "trusted_types": ".estimators.persistence.files",
    "workbench": ".web_editor",
}


def __getattr__(name):
    import hornbeam.errors
    from hornbeam.lazy import lazy_attribute

    return hornbeam.errors if name == "errors" else lazy_attribute(globals(), _MODULES, name)


def __dir__():
    return __all__
