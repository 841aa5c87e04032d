"""No message and no traceback contains values of the rows: logs are read by more people than data."""

import traceback
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import is_regressor

from hornbeam import (
    AdaBoostClassifier,
    BoostedTreesClassifier,
    BoostedTreesRanker,
    BoostedTreesRegressor,
    ForestClassifier,
    ForestRegressor,
    RuleClassifier,
    SmoothedClassifier,
    TreeClassifier,
    TreeRegressor,
)

NAME, NUMBER = "Zaphod-Quux", 481516.2342
SECRETS = ("Zaphod", "481516")

ESTIMATORS = [
    TreeClassifier(),
    TreeRegressor(),
    ForestClassifier(2),
    ForestRegressor(2),
    BoostedTreesClassifier(n_estimators=2),
    BoostedTreesRegressor(n_estimators=2),
    BoostedTreesRanker(n_estimators=2),
    AdaBoostClassifier(3),
    RuleClassifier(),
    SmoothedClassifier(),
]

GOOD = np.arange(24.0).reshape(12, 2)
TARGET = [0, 1] * 6

ROWS = {  # wrong inputs instead of rows of two numbers
    "one row as a list": [NUMBER, NUMBER],
    "one row with a name": [NAME, NUMBER],
    "one row as an array": np.array([NUMBER, NUMBER]),
    "one row of text": np.array([NAME, NAME]),
    "one row of a frame": pd.DataFrame({"x0": [NUMBER], "x1": [NAME]}).iloc[0],
    "a series": pl.Series([NUMBER, NUMBER]),
    "a dict of columns": {"x0": [NUMBER, NUMBER], "x1": [NAME, NAME]},
    "a dict that lacks a column": {"name": NAME, "x1": NUMBER},
    "dicts with text": [{"x0": NAME, "x1": NUMBER}],
    "rows of different lengths": [[NUMBER, NUMBER], [NAME]],
    "three dimensions": np.full((2, 2, 2), NUMBER),
    "text where numbers were": [[NAME, NUMBER]] * 12,
    "a frame with text": pd.DataFrame({"a": [NAME] * 12, "b": [NUMBER] * 12}),
    "too many columns": np.full((12, 3), NUMBER),
    "objects": [[object(), NUMBER]] * 12,
    "complex numbers": np.full((12, 2), NUMBER * 1j),
    "a word": np.array(NAME),
    "a set": {NAME, NUMBER},
    "a structured array": np.array([(NUMBER, NAME)], dtype=[("x0", float), ("x1", "U20")]),
}


# Inputs that scikit-learn's tree refuses itself.
THEIRS = ("text where numbers were", "a frame with text", "complex numbers", "objects")


def log_of(use):
    """Errors and warnings as in a log; None if there are none."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            use()
        except Exception as error:  # noqa: BLE001
            lines = traceback.format_exception(error)
        else:
            return None
    return "".join(lines) + "".join(str(warning.message) for warning in caught)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
@pytest.mark.parametrize("case", ROWS)
def test_messages_about_rows_contain_no_values(estimator, case):
    rows, fitted = ROWS[case], estimator.fit(GOOD, TARGET)
    messages = [log_of(lambda: fitted.predict(rows))]
    if not (isinstance(estimator, SmoothedClassifier) and case in THEIRS):
        messages.append(log_of(lambda: fitted.fit(rows, TARGET)))
    assert any(messages)
    for message in filter(None, messages):
        assert not any(secret in message for secret in SECRETS), message


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
def test_messages_about_targets_and_weights_contain_no_values(estimator):
    messages = [log_of(lambda: estimator.fit(GOOD, [[NUMBER] * 2] * 12))]
    if not isinstance(estimator, SmoothedClassifier):  # scikit-learn reads its targets and weights
        messages.append(log_of(lambda: estimator.fit(GOOD, [NAME, NUMBER] * 6)))
    if is_regressor(estimator):
        messages.append(log_of(lambda: estimator.fit(GOOD, [NAME] * 12)))
    if not isinstance(estimator, (BoostedTreesRanker, SmoothedClassifier)):
        messages.append(log_of(lambda: estimator.fit(GOOD, TARGET, sample_weight=[NAME] * 12)))
    for message in messages:
        assert message is not None
        assert not any(secret in message for secret in SECRETS), message
