"""A service that answers rows with a model: probabilities, the decision and the reasons.

MODEL=model.hornbeam uvicorn fastapi_app:app --factory
"""

import math
import os
from collections import Counter
from typing import Any

from fastapi import FastAPI
from pydantic import BaseModel, ConfigDict, create_model

import hornbeam
from hornbeam.tree import Feature, Schema

UNSEEN = -2  # for the row function, a category that training did not have; in a numeric column, a number


def app() -> FastAPI:
    """Make the service of the model that the environment names."""
    return service(hornbeam.load(os.environ["MODEL"]))


def service(clf: hornbeam.TreeClassifier) -> FastAPI:
    """Make the service of a fitted tree."""
    schema, answer = clf.tree_.schema, clf.row_predictor()
    classes = [str(label) for label in schema.classes]
    row_type = row_type_of(schema)
    unseen: Counter[str] = Counter()
    api = FastAPI()

    def count_unseen(row: dict[str, Any]) -> None:
        unseen.update(feature.name for feature in schema.features if is_unseen(feature, row[feature.name]))

    @api.post("/probabilities")
    def probabilities(row: row_type) -> dict[str, float]:
        """Answer one row in microseconds."""
        values = row.model_dump()
        count_unseen(values)
        codes = tuple(code_of(feature, values[feature.name]) for feature in schema.features)
        return dict(zip(classes, answer(codes), strict=True))

    @api.post("/decisions")
    def decisions(rows: list[row_type]) -> list[dict[str, Any]]:
        """Decide rows as `predict` does, and say why."""
        values = [row.model_dump() for row in rows]
        for row in values:
            count_unseen(row)
        return [
            {
                "decision": one.prediction,
                "reasons": [str(reason) for reason in one.reasons()],
                "probabilities": dict(zip(classes, one.probability, strict=True)),
            }
            for one in clf.explain(values)
        ]

    @api.get("/unseen")
    def unseen_categories() -> dict[str, int]:
        """Count the categories of each column that training did not have: what a monitoring job reads."""
        return dict(unseen)

    return api


def row_type_of(schema: Schema) -> type[BaseModel]:
    """Make the type of a row: every column by its name and kind, and no other. FastAPI answers 422 to other rows."""
    fields: dict[str, Any] = {
        feature.name: (kind_of(feature) | None, ...) for feature in schema.features
    }  # null is a missing value
    return create_model("Row", __config__=ConfigDict(extra="forbid", strict=True), **fields)


def kind_of(feature: Feature) -> Any:
    """Return the Python type of a column's values."""
    return type(feature.categories[0]) if feature.categories else float


def is_unseen(feature: Feature, value: Any) -> bool:
    """Tell whether a value is a category that training did not have. Numbers are not categories."""
    return feature.kind != "numeric" and value is not None and value not in feature.categories


def code_of(feature: Feature, value: Any) -> float:
    """Encode a value as the row function takes it: a number as it is, a category as its position."""
    if value is None:
        return math.nan
    if feature.kind == "numeric":
        return value
    if is_unseen(feature, value):
        return math.nan if feature.kind == "ordinal" else UNSEEN
    return feature.categories.index(value)
