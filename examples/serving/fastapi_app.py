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

UNSEEN = -2  # the code of a category that training did not have


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

    def encoded(row: dict[str, Any]) -> tuple[float, ...]:
        """Numbers as they are, categories as their codes."""
        codes = [code_of(feature, row[feature.name]) for feature in schema.features]
        unseen.update(
            feature.name for feature, code in zip(schema.features, codes, strict=True) if code == UNSEEN
        )
        return tuple(codes)

    @api.post("/probabilities")
    def probabilities(row: row_type) -> dict[str, float]:
        """Answer one row in microseconds."""
        return dict(zip(classes, answer(encoded(row.model_dump())), strict=True))

    @api.post("/decisions")
    def decisions(rows: list[row_type]) -> list[dict[str, Any]]:
        """Decide rows as `predict` does, and say why."""
        values = [row.model_dump() for row in rows]
        X = [[row[name] for name in schema.names] for row in values]
        for row in values:
            encoded(row)
        labels = clf.predict(X).tolist()
        reasons = [[str(reason) for reason in one.reasons()] for one in clf.explain(X)]
        pairs = zip(labels, reasons, clf.predict_proba(X).tolist(), strict=True)
        return [
            {"decision": label, "reasons": why, "probabilities": dict(zip(classes, p, strict=True))}
            for label, why, p in pairs
        ]

    @api.get("/unseen")
    def unseen_categories() -> dict[str, int]:
        """Count the values of each column that training did not have: what a monitoring job reads."""
        return dict(unseen)

    return api


def row_type_of(schema: hornbeam.Schema) -> type[BaseModel]:
    """Make the type of a row: every column by its name and kind, and no other. FastAPI answers 422 to other rows."""
    fields: dict[str, Any] = {
        feature.name: (kind_of(feature) | None, ...) for feature in schema.features
    }  # null is a missing value
    return create_model("Row", __config__=ConfigDict(extra="forbid", strict=True), **fields)


def kind_of(feature: hornbeam.Feature) -> Any:
    """Return the Python type of a column's values."""
    return type(feature.categories[0]) if feature.categories else float


def code_of(feature: hornbeam.Feature, value: Any) -> float:
    """Encode a value as the row function takes it."""
    if value is None:
        return math.nan
    if feature.kind == "numeric":
        return value
    unseen = math.nan if feature.kind == "ordinal" else UNSEEN
    return feature.categories.index(value) if value in feature.categories else unseen
