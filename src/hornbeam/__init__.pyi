"""Public names for type checkers; `__init__.py` imports them on first use."""

from hornbeam import errors as errors
from hornbeam.data import Feature as Feature
from hornbeam.data import Schema as Schema
from hornbeam.data import Table as Table
from hornbeam.estimators.boosted_classifier import BoostedTreesClassifier as BoostedTreesClassifier
from hornbeam.estimators.boosted_regressor import BoostedTreesRegressor as BoostedTreesRegressor
from hornbeam.estimators.dask_names import DaskForestClassifier as DaskForestClassifier
from hornbeam.estimators.dask_names import DaskForestRegressor as DaskForestRegressor
from hornbeam.estimators.dask_names import DaskTreeClassifier as DaskTreeClassifier
from hornbeam.estimators.dask_names import DaskTreeRegressor as DaskTreeRegressor
from hornbeam.estimators.distill import distill as distill
from hornbeam.estimators.forest_classifier import ForestClassifier as ForestClassifier
from hornbeam.estimators.forest_regressor import ForestRegressor as ForestRegressor
from hornbeam.estimators.persistence.files import diff as diff
from hornbeam.estimators.persistence.files import load as load
from hornbeam.estimators.persistence.files import save as save
from hornbeam.estimators.persistence.files import trusted_types as trusted_types
from hornbeam.estimators.ranker import BoostedTreesRanker as BoostedTreesRanker
from hornbeam.estimators.rule_classifier import RuleClassifier as RuleClassifier
from hornbeam.estimators.smoothed_classifier import SmoothedClassifier as SmoothedClassifier
from hornbeam.estimators.tree_classifier import TreeClassifier as TreeClassifier
from hornbeam.estimators.tree_regressor import TreeRegressor as TreeRegressor
from hornbeam.explain.candidates.list_splits import candidate_splits as candidate_splits
from hornbeam.explain.scorecard import scorecard as scorecard
from hornbeam.growing.grower import Grower as Grower
from hornbeam.growing.impurity import impurity as impurity
from hornbeam.recipe import Recipe as Recipe
from hornbeam.reporting import model_card as model_card
from hornbeam.reporting import report as report
from hornbeam.reporting.versions import show_versions as show_versions
from hornbeam.smoothing.replay import recount as recount
from hornbeam.tree import Costs as Costs
from hornbeam.tree import DecisionRule as DecisionRule
from hornbeam.tree import Skeleton as Skeleton
from hornbeam.tree import Tree as Tree
from hornbeam.web_editor import workbench as workbench

__version__: str
