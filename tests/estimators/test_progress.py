"""scikit-learn's callbacks (1.9 and later): progress in order, and every task that begins also ends."""

import re

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hornbeam import TreeClassifier
from hornbeam.errors import ParameterError

callback = pytest.importorskip("sklearn.callback", reason="scikit-learn has callbacks from 1.9 on")

X, y = load_iris(return_X_y=True)


class Recorder:
    """A callback that records its calls."""

    def __init__(self):
        self.events = []
        self.early = 0  # subtasks reported during growth
        self.last = {}

    def setup(self, estimator, context):
        self.events.append("setup")

    def teardown(self, estimator, context):
        self.events.append("teardown")

    def on_fit_task_begin(self, estimator, context, *, X=None, y=None, metadata=None):
        self.events.append(("begin", context.task_name, context.task_id))

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, metadata=None, fitted_estimator=None):
        self.events.append(("end", context.task_name, context.task_id))
        self.early += not hasattr(estimator, "tree_")
        self.last = {"X": X, "y": y, "metadata": metadata, "fitted_estimator": fitted_estimator}


class Propagated(Recorder):
    """A recorder that is propagated to the estimators of a search."""

    max_propagation_depth = None


class Stopper(Recorder):
    """A callback that raises at the tenth subtask."""

    def on_fit_task_end(self, estimator, context, *, X=None):
        super().on_fit_task_end(estimator, context)
        if context.task_id == 9:
            raise StopIteration("enough")


def open_tasks(events):
    """Tasks without an end; a subtask must end before its task."""
    stack = []
    for event in events:
        match event:
            case ("begin", *task):
                stack.append(task)
            case ("end", *task):
                assert stack.pop() == task
    return stack


def test_a_fit_reports_a_hundred_subtasks_in_order():
    recorder = Recorder()
    TreeClassifier().set_callbacks(recorder).fit(X, y)
    subtasks = [(event, "rows done", part) for part in range(100) for event in ("begin", "end")]
    assert recorder.events == ["setup", ("begin", "fit", 0), *subtasks, ("end", "fit", 0), "teardown"]


def test_the_end_of_a_fit_reports_data_weights_and_the_fitted_estimator():
    recorder, weight = Recorder(), np.arange(150) % 2
    classifier = TreeClassifier().set_callbacks(recorder).fit(X, y, sample_weight=weight)
    assert recorder.last["X"] is X
    assert recorder.last["y"] is y
    assert recorder.last["metadata"]["sample_weight"] is weight
    assert recorder.last["fitted_estimator"].tree_ is classifier.tree_


def test_progress_is_reported_during_growth_and_only_rises():
    rng = np.random.default_rng(0)
    many, noise = rng.normal(size=(300_000, 6)), rng.integers(2, size=300_000)
    recorder = Recorder()
    TreeClassifier(max_bins=64).set_callbacks(recorder).fit(many, noise)
    parts = [task for event, name, task in recorder.events[1:-1] if (event, name) == ("end", "rows done")]
    assert parts == list(range(100))
    assert open_tasks(recorder.events) == []
    assert 0 < recorder.early < 100


@pytest.mark.parametrize(
    "break_it",
    [
        lambda classifier: classifier.set_params(criterion="gin").fit(X, y),
        lambda classifier: classifier.fit(X, y[:5]),
        lambda classifier: classifier.fit(X, None),
        lambda classifier: classifier.set_params(pruning=lambda tree: None).fit(X, y),
    ],
)
def test_a_failed_fit_ends_its_tasks(break_it):
    recorder = Recorder()
    with pytest.raises(ValueError, match=r"expected|inconsistent|requires y"):
        break_it(TreeClassifier().set_callbacks(recorder))
    assert recorder.events[0] == "setup"
    assert recorder.events[-1] == "teardown"
    assert ("begin", "fit", 0) in recorder.events
    assert open_tasks(recorder.events) == []
    assert recorder.last["fitted_estimator"] is None


def test_an_error_of_a_callback_is_raised():
    stopper = Stopper()
    classifier = TreeClassifier().set_callbacks(stopper)
    with pytest.raises(StopIteration, match="enough"):
        classifier.fit(X, y)
    assert stopper.events[-1] == "teardown"
    assert ("end", "rows done", 10) not in stopper.events


def test_callbacks_do_not_change_the_tree():
    watched = TreeClassifier().set_callbacks(Recorder()).fit(X, y)
    assert watched.tree_.digest == TreeClassifier().fit(X, y).tree_.digest


def test_a_search_reports_every_tree():
    recorder = Propagated()
    grid = {"max_depth": [1, 2]}
    GridSearchCV(TreeClassifier(), grid, cv=3).set_callbacks(recorder).fit(X, y)
    trees = 2 * 3 + 1
    assert sum(event == ("end", "rows done", 99) for event in recorder.events) == trees
    assert recorder.events.count("setup") == recorder.events.count("teardown") == 1
    assert open_tasks(recorder.events) == []


def test_a_search_continues_after_failed_fits():
    recorder = Propagated()
    grid = {"max_depth": [0, 1]}
    failed, unscored = "(?s)3 fits failed.*max_depth=0: expected", "non-finite"
    with pytest.warns(FitFailedWarning, match=failed), pytest.warns(UserWarning, match=unscored):
        GridSearchCV(TreeClassifier(), grid, cv=3).set_callbacks(recorder).fit(X, y)
    assert sum(event == ("end", "rows done", 99) for event in recorder.events) == 3 + 1
    assert open_tasks(recorder.events) == []


def test_the_progress_bar_reaches_the_end(capsys):
    pytest.importorskip("rich")
    TreeClassifier().set_callbacks(callback.ProgressBar()).fit(X, y)
    assert re.search(r"TreeClassifier - fit .*100%", capsys.readouterr().out)


def test_the_progress_bar_shows_every_tree_of_a_search(capsys):
    pytest.importorskip("rich")
    search = GridSearchCV(make_pipeline(StandardScaler(), TreeClassifier()), {}, cv=2)
    search.set_callbacks(callback.ProgressBar(max_propagation_depth=None)).fit(X, y)
    shown = capsys.readouterr().out
    assert len(re.findall("100%", shown.split("GridSearchCV - fit")[-1])) >= 3


def test_the_progress_bar_survives_a_failed_fit(capsys):
    pytest.importorskip("rich")
    with pytest.raises(ParameterError):
        TreeClassifier(criterion="gin").set_callbacks(callback.ProgressBar()).fit(X, y)


def test_scores_are_monitored():
    monitor = callback.ScoringMonitor(scoring="accuracy")
    classifier = TreeClassifier().set_callbacks(monitor).fit(X, y)
    [line] = monitor.get_logs().data
    assert line["accuracy"] == classifier.score(X, y)
