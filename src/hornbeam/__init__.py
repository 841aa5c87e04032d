"""Readable decision trees with well calibrated probabilities.

All public names are here. Each is imported on first use, so that ``import hornbeam`` imports nothing else.

The packages, from bottom to top: `kernels`, `data`, `tree`, `growing`, `pruning`, `smoothing`, `storage`,
`interop`, `export`, `engines`, `rules`, `tuning`, `out_of_core`, `ensembles`, `explain`, `evaluation`, `plots`,
`estimators`, `reporting`, `web_editor`, `results`, `datasets`, `cli`.
"""

__version__ = "0.1.0rc2.dev0"

__all__ = [
    "AdaBoostClassifier",
    "BoostedTreesClassifier",
    "BoostedTreesRanker",
    "BoostedTreesRegressor",
    "ForestClassifier",
    "ForestRegressor",
    "RuleClassifier",
    "SmoothedClassifier",
    "Tree",
    "TreeClassifier",
    "TreeRegressor",
    "__version__",
    "diff",
    "errors",
    "example_table",
    "load",
    "model_card",
    "report",
    "save",
    "scan_parquet",
    "show_versions",
    "workbench",
    "write_parquet",
]

# Type checkers read __init__.pyi.
_MODULES = {
    "AdaBoostClassifier": ".estimators.adaboost_classifier",
    "BoostedTreesClassifier": ".estimators.boosted_classifier",
    "BoostedTreesRanker": ".estimators.ranker",
    "BoostedTreesRegressor": ".estimators.boosted_regressor",
    "ForestClassifier": ".estimators.forest_classifier",
    "ForestRegressor": ".estimators.forest_regressor",
    "RuleClassifier": ".estimators.rule_classifier",
    "SmoothedClassifier": ".estimators.smoothed_classifier",
    "Tree": ".tree.tree",
    "TreeClassifier": ".estimators.tree_classifier",
    "TreeRegressor": ".estimators.tree_regressor",
    "diff": ".estimators.persistence.files",
    "example_table": ".datasets",
    "load": ".estimators.persistence.files",
    "model_card": ".reporting.card",
    "report": ".reporting.reporter",
    "save": ".estimators.persistence.files",
    "scan_parquet": ".data.files.parquet",
    "show_versions": ".reporting.versions",
    "workbench": ".web_editor.server",
    "write_parquet": ".data.files.parquet_writer",
}


def __getattr__(name):
    import hornbeam.errors
    from hornbeam.lazy import lazy_attribute

    return hornbeam.errors if name == "errors" else lazy_attribute(globals(), _MODULES, name)


def __dir__():
    return __all__
