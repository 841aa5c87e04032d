"""Public names for type checkers; `__init__.py` imports them on first use."""

from hornbeam import errors as errors
from hornbeam.data.files.parquet import scan_parquet as scan_parquet
from hornbeam.data.files.parquet_writer import write_parquet as write_parquet
from hornbeam.datasets import example_table as example_table
from hornbeam.estimators.adaboost_classifier import AdaBoostClassifier as AdaBoostClassifier
from hornbeam.estimators.boosted_classifier import BoostedTreesClassifier as BoostedTreesClassifier
from hornbeam.estimators.boosted_regressor import BoostedTreesRegressor as BoostedTreesRegressor
from hornbeam.estimators.forest_classifier import ForestClassifier as ForestClassifier
from hornbeam.estimators.forest_regressor import ForestRegressor as ForestRegressor
from hornbeam.estimators.persistence.files import diff as diff
from hornbeam.estimators.persistence.files import load as load
from hornbeam.estimators.persistence.files import save as save
from hornbeam.estimators.ranker import BoostedTreesRanker as BoostedTreesRanker
from hornbeam.estimators.rule_classifier import RuleClassifier as RuleClassifier
from hornbeam.estimators.smoothed_classifier import SmoothedClassifier as SmoothedClassifier
from hornbeam.estimators.tree_classifier import TreeClassifier as TreeClassifier
from hornbeam.estimators.tree_regressor import TreeRegressor as TreeRegressor
from hornbeam.reporting.card import model_card as model_card
from hornbeam.reporting.reporter import report as report
from hornbeam.reporting.versions import show_versions as show_versions
from hornbeam.tree.tree import Tree as Tree
from hornbeam.web_editor.server import workbench as workbench

__version__: str
