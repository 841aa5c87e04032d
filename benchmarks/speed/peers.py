"""The libraries we measure ourselves against, one small class each, and Hornbeam behind the same face.

A peer is set up with a `Job` (creating it imports the library), then ``grow(bin(X, y))`` takes it from the
raw array to a fitted model, ``predict`` from a raw array to probabilities. All get the same float64 array and
whatever they convert it to is in their time. A library without a step of its own for it has ``bins = False``.

Boosters grow one tree per class when there are more than two: one round is the nearest they have to one tree.
"""

from __future__ import annotations

import importlib
import logging
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from benchmarks.synthetic import Floats, Labels
from benchmarks.timing import Stopwatch

MAX_BINS = 255

Call = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Job:
    """What every library has to do."""

    classes: int = 2
    depth: int | None = None  # None: until the leaves are pure
    leaves: int | None = None  # None: as many as it takes
    threads: int = 1


class NotInstalledError(ImportError):
    """A peer that is not there is reported, and the others go on."""

    def __init__(self, module: str) -> None:
        super().__init__(f"{module.partition('.')[0]} is not installed: pip install hornbeam[bench]")


class Peer:
    """A library that grows trees."""

    name: ClassVar[str]
    entry: ClassVar[str]  # the import statement of a user of this library
    bins: ClassVar[bool] = True
    modules: ClassVar[tuple[str, ...]] = ()

    def __init__(self, job: Job) -> None:
        self.job = job
        for module in self.modules:
            try:
                importlib.import_module(module)
            except ModuleNotFoundError as error:
                raise NotInstalledError(module) from error

    def bin(self, X: Floats, y: Labels) -> Any:
        """Everything the library does with the data before it looks for a split."""
        return X, y

    def grow(self, binned: Any) -> Any:
        """One tree (boosters: one round) from what `bin` returned."""
        raise NotImplementedError

    def fit(self, X: Floats, y: Labels) -> Any:
        """The way of a user, from the raw array to the model."""
        return self.grow(self.bin(X, y))

    def timed_fit(self, X: Floats, y: Labels, watch: Stopwatch) -> Any:
        """Fit with a lap for each part."""
        if not self.bins:
            with watch("grow"):
                return self.grow((X, y))
        with watch("bin"):
            binned = self.bin(X, y)
        with watch("grow"):
            return self.grow(binned)

    def n_leaves(self, model: Any) -> int:
        """Leaves of all the trees of the model."""
        raise NotImplementedError

    def predict(self, model: Any, X: Floats) -> Any:
        """Probabilities, in the library's own layout."""
        raise NotImplementedError

    def single(self, model: Any, row: Floats) -> dict[str, Call]:
        """Ways to ask for one row (float64[1, features]): the usual one and, where it exists, a lean one."""
        return {"usual": lambda: self.predict(model, row)}


class Sklearn(Peer):
    """scikit-learn's exact tree on the raw values."""

    name = "sklearn-entropy"
    entry = "from sklearn.tree import DecisionTreeClassifier"
    modules: ClassVar[tuple[str, ...]] = ("sklearn.tree",)
    bins = False
    criterion: ClassVar[str] = "entropy"

    def grow(self, binned: Any) -> Any:
        from sklearn.tree import DecisionTreeClassifier

        return DecisionTreeClassifier(
            criterion=self.criterion, max_depth=self.job.depth, max_leaf_nodes=self.job.leaves, random_state=0
        ).fit(*binned)

    def n_leaves(self, model: Any) -> int:
        return int(model.get_n_leaves())

    def predict(self, model: Any, X: Floats) -> Any:
        return model.predict_proba(X)

    def single(self, model: Any, row: Floats) -> dict[str, Call]:
        lean, row32 = model.tree_, row.astype(np.float32)
        return {**super().single(model, row), "lean": lambda: lean.predict(row32)}


class SklearnGini(Sklearn):
    """The same by Gini impurity, its default."""

    name = "sklearn-gini"
    criterion = "gini"


class SklearnBinned(Sklearn):
    """The same tree on 255 quantile codes, which makes its sorting cheaper."""

    name = "sklearn-binned"
    modules = ("sklearn.tree", "sklearn.ensemble")
    bins = True

    def bin(self, X: Floats, y: Labels) -> Any:
        return _bin_mapper(self.job.threads).fit_transform(X).astype(np.float32), y


class HistGradientBoosting(Peer):
    """One iteration of scikit-learn's histogram booster."""

    name = "histgb"
    entry = "from sklearn.ensemble import HistGradientBoostingClassifier"
    modules = ("sklearn.ensemble",)

    def bin(self, X: Floats, y: Labels) -> Any:
        mapper = _bin_mapper(self.job.threads)
        return X, y, mapper, mapper.fit_transform(X)

    def grow(self, binned: Any) -> Any:
        from sklearn.ensemble import HistGradientBoostingClassifier

        X, y, mapper, codes = binned

        class Prebinned(HistGradientBoostingClassifier):  # type: ignore[misc]
            """Takes the codes it is given, so that growing can be timed alone."""

            def _bin_data(self, *_: Any, **__: Any) -> Any:
                self._bin_mapper = mapper
                return codes

        return Prebinned(
            max_iter=1,
            learning_rate=1.0,
            max_depth=self.job.depth,
            max_leaf_nodes=self.job.leaves,
            min_samples_leaf=1,
            early_stopping=False,
            random_state=0,
        ).fit(X, y)

    def n_leaves(self, model: Any) -> int:
        return int(sum(tree.get_n_leaf_nodes() for trees in model._predictors for tree in trees))

    def predict(self, model: Any, X: Floats) -> Any:
        return model.predict_proba(X)


def _bin_mapper(threads: int) -> Any:
    from sklearn.ensemble._hist_gradient_boosting.binning import _BinMapper

    return _BinMapper(n_bins=MAX_BINS + 1, random_state=0, n_threads=threads)


class LightGBM(Peer):
    """One round of LightGBM."""

    name = "lightgbm"
    entry = "import lightgbm"
    modules = ("lightgbm",)
    most_leaves = 131_072  # its own limit

    def _settings(self, rows: int) -> dict[str, Any]:
        job = self.job
        # It prepares memory for every leaf it might grow and is slowed by that. Measured best: a limit little
        # above the need (these labels leave 5 to 10 rows a leaf) and a small pool of histograms.
        full = min(self.most_leaves, max(64, rows // 4))
        return {
            "objective": "binary" if job.classes == 2 else "multiclass",
            "num_class": 1 if job.classes == 2 else job.classes,
            "num_leaves": job.leaves or (min(full, 2**job.depth) if job.depth else full),
            "histogram_pool_size": 128,
            "max_depth": job.depth or -1,
            "min_data_in_leaf": 1,
            "min_sum_hessian_in_leaf": 0.0,
            "learning_rate": 1.0,
            "max_bin": MAX_BINS,
            "feature_pre_filter": False,
            "num_threads": job.threads,
            "seed": 0,
            "verbosity": -1,
        }

    def bin(self, X: Floats, y: Labels) -> Any:
        import lightgbm

        return lightgbm.Dataset(X, y, params=self._settings(len(y))).construct()

    def grow(self, binned: Any) -> Any:
        import lightgbm

        return lightgbm.train(self._settings(binned.num_data()), binned, num_boost_round=1)

    def n_leaves(self, model: Any) -> int:
        return sum(map(int, re.findall(r"^num_leaves=(\d+)", model.model_to_string(), re.MULTILINE)))

    def predict(self, model: Any, X: Floats) -> Any:
        return model.predict(X, num_threads=self.job.threads)


class XGBoost(Peer):
    """One round of XGBoost's histogram method."""

    name = "xgboost"
    entry = "import xgboost"
    modules = ("xgboost",)

    def _settings(self) -> dict[str, Any]:
        job = self.job
        many = {"objective": "multi:softprob", "num_class": job.classes}
        return {
            **({"objective": "binary:logistic"} if job.classes == 2 else many),
            "tree_method": "hist",
            "grow_policy": "lossguide" if job.leaves else "depthwise",
            "max_leaves": job.leaves or 0,
            "max_depth": job.depth or 0,
            "max_bin": MAX_BINS,
            "min_child_weight": 0,
            "lambda": 0,
            "learning_rate": 1.0,
            "nthread": job.threads,
            "seed": 0,
            "verbosity": 0,
        }

    def bin(self, X: Floats, y: Labels) -> Any:
        import xgboost

        return xgboost.QuantileDMatrix(X, y, max_bin=MAX_BINS, nthread=self.job.threads)

    def grow(self, binned: Any) -> Any:
        import xgboost

        return xgboost.train(self._settings(), binned, num_boost_round=1)

    def n_leaves(self, model: Any) -> int:
        return sum(tree.count("leaf=") for tree in model.get_dump())

    def predict(self, model: Any, X: Floats) -> Any:
        return model.inplace_predict(X)


class YDF(Peer):
    """YDF's CART without the pruning, every value a candidate."""

    name = "ydf-exact"
    entry = "import ydf"
    modules = ("ydf",)
    discretize: ClassVar[bool] = False

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        import ydf

        ydf.verbose(0)
        logging.getLogger("absl").setLevel(logging.ERROR)

    def bin(self, X: Floats, y: Labels) -> Any:
        import ydf

        return ydf.create_vertical_dataset(
            {"x": X, "label": y},
            columns=[("label", ydf.Semantic.CATEGORICAL)],
            include_all_columns=True,
            discretize_numerical_columns=self.discretize,
            num_discretized_numerical_bins=MAX_BINS,
            label="label",
            label_classes=[str(label) for label in range(self.job.classes)],  # else by frequency
        )

    def grow(self, binned: Any) -> Any:
        import ydf

        best_first = {"growing_strategy": "BEST_FIRST_GLOBAL", "max_num_nodes": self.job.leaves}
        return ydf.CartLearner(
            label="label",
            max_depth=self.job.depth + 1 if self.job.depth else -1,  # a lone root has depth 1 there
            min_examples=1,
            validation_ratio=0.0,
            num_threads=self.job.threads,
            **(best_first if self.job.leaves else {}),
        ).train(binned)

    def n_leaves(self, model: Any) -> int:
        return (int(model.num_nodes()) + 1) // 2

    def predict(self, model: Any, X: Floats) -> Any:
        return model.predict({"x": X}, num_threads=self.job.threads)


class YDFHistogram(YDF):
    """The same on 255 discretised values."""

    name = "ydf-histogram"
    discretize = True


class Hornbeam(Peer):
    """Ourselves, through the estimator; the parts are measured beside it and are not added to it."""

    name = "hornbeam"
    entry = "from hornbeam import TreeClassifier"
    modules = ("hornbeam",)

    def fit(self, X: Floats, y: Labels) -> Any:
        from hornbeam import TreeClassifier

        limits = {"max_depth": self.job.depth, "max_leaf_nodes": self.job.leaves}
        return TreeClassifier(
            criterion="entropy",
            smoothing=None,
            pruning=None,
            max_bins=MAX_BINS,
            n_jobs=self.job.threads,
            **{name: limit for name, limit in limits.items() if limit},
        ).fit(X, y)

    def timed_fit(self, X: Floats, y: Labels, watch: Stopwatch) -> Any:
        with watch("fit"):
            model = self.fit(X, y)
        hornbeam_parts(X, y, self.job, watch)
        return model

    def bin(self, X: Floats, y: Labels) -> Any:
        return hornbeam_parts(X, y, self.job, Stopwatch(), grow=False)

    def n_leaves(self, model: Any) -> int:
        return int(model.tree_.n_leaves)

    def predict(self, model: Any, X: Floats) -> Any:
        return model.predict_proba(X)

    def single(self, model: Any, row: Floats) -> dict[str, Call]:
        score = model.row_predictor()
        row = row.ravel()
        return {**super().single(model, row[None]), "lean": lambda: score(row)}


def hornbeam_parts(X: Floats, y: Labels, job: Job, watch: Stopwatch, *, grow: bool = True) -> Any:
    """Run the layers below the estimator, a lap for each."""
    from hornbeam.data.binning.bins import Bins
    from hornbeam.data.engine import LocalEngine
    from hornbeam.data.sources import MemorySource
    from hornbeam.data.table import Table
    from hornbeam.growing.criterion import Criterion
    from hornbeam.growing.grower import Grower

    with watch("read", extra=True):
        table = Table.read(X, y)
    with watch("bin", extra=True):
        bins = Bins.fit(MemorySource(table), LocalEngine(job.threads), max_bins=MAX_BINS)
        codes = bins.encode(table, job.threads)
    if not grow:
        return codes
    with watch("grow", extra=True):
        return Grower(Criterion.ENTROPY, max_depth=job.depth).grow(table, bins, codes, n_jobs=job.threads)
