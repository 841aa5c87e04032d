"""The format as it is published: the page and the JSON Schema say what files have, all of it."""

import json
import re
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

import hornbeam
from hornbeam.estimators.persistence.files import pack
from hornbeam.storage.file import encode
from hornbeam.storage.layout import ARRAYS, OF_COLLECTION, OF_SLOPES
from hornbeam.storage.limits import VERSION

pytestmark = pytest.mark.filterwarnings("ignore:Bayes-risk pruning compares")

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "storage.md"
SCHEMA = json.loads(
    resources.files("hornbeam.storage").joinpath("model-1.schema.json").read_text(encoding="utf-8")
)
TYPES = {"<i4": "int32", "<i8": "int64", "<f8": "float64"}

X, Y = np.array([[0.0, 1.0], [1.0, np.nan], [2.0, 0.0], [3.0, 1.0]]), ["no", "no", "yes", "yes"]
ESTIMATORS = [
    hornbeam.TreeClassifier(),
    hornbeam.TreeClassifier("c4.5", smoothing=hornbeam.smoothing.HGS(2.0), costs=[[0, 1], [5, 0]]),
    hornbeam.TreeRegressor("cart", pruning=hornbeam.pruning.CostComplexity(0.1)),
    hornbeam.RuleClassifier(hornbeam.TreeClassifier("cart", smoothing=hornbeam.smoothing.HGS(2.0))),
    hornbeam.TreeClassifier(
        "cart", class_weight={"no": 1.0, "yes": 2.5}, pruning=hornbeam.pruning.BayesRisk()
    ),
]


def cells(line):
    return [cell.strip() for cell in line.strip("|\n ").split("|")]


def test_the_page_names_every_key_and_every_array():
    text = PAGE.read_text(encoding="utf-8")
    lines = [
        cells(line)
        for line in text[text.index("## The format") : text.index("### Trees with slopes")].splitlines()
        if line.startswith("| `")
    ]
    arrays = {line[0].strip("`"): line[1:3] for line in lines if len(line) == 4}
    keys = {key for line in lines if len(line) == 2 for key in re.findall("`([a-z0-9_]+)`", line[0])}
    said = json.loads(encode(pack(ESTIMATORS[1].fit(X, Y))))  # with costs: a decision
    assert keys == set(said)
    assert list(arrays) == list(said["tree"]) == list(ARRAYS), "in the order of the fingerprint"
    per = {"n_nodes": "nodes", "n_slots": "slots", "n_channels": "channels", "n_outputs": "outputs"}
    for name, array in ARRAYS.items():
        assert arrays[name] == [TYPES[array.dtype], " × ".join(per[size] for size in array.per)]


def test_the_page_names_the_version():
    text = PAGE.read_text(encoding="utf-8")
    version = ".".join(map(str, VERSION))
    assert f"it is now {version}." in text
    assert f"## The format, version {version}\n" in text


def test_the_page_names_the_arrays_of_slopes():
    text = PAGE.read_text(encoding="utf-8")
    part = text[text.index("### Trees with slopes") : text.index("### Several trees")]
    lines = [cells(line) for line in part.splitlines() if line.startswith("| `")]
    per = {"n_terms": "terms", "n_outputs": "outputs"}
    assert [(line[0].strip("`"), *line[1:3]) for line in lines] == [
        (name, TYPES[array.dtype], " × ".join(per[size] for size in array.per))
        for name, array in OF_SLOPES.items()
    ], "in the order of the fingerprint"


def test_the_page_names_what_several_trees_have_beside():
    text = PAGE.read_text(encoding="utf-8")
    part = text[text.index("### Several trees") :]
    lines = [cells(line) for line in part.splitlines() if line.startswith("| `")]
    arrays = {line[0].strip("`"): line[1:3] for line in lines if len(line) == 4}
    own = {name: array for name, array in OF_COLLECTION.items() if ARRAYS.get(name) != array}
    per = {"n_trees": "trees", "n_channels": "channels"}
    assert arrays == {
        name: [TYPES[array.dtype], " × ".join(per[size] for size in array.per)] for name, array in own.items()
    }


def test_the_schema_asks_for_the_same():
    assert set(SCHEMA["required"]) | {"sha256", "decision", "n_terms"} == set(SCHEMA["properties"])
    assert SCHEMA["properties"]["tree"]["required"] == list(ARRAYS)
    assert SCHEMA["allOf"][0]["then"]["properties"]["tree"]["required"] == list(OF_SLOPES)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_estimators_keep_to_the_schema(estimator):
    jsonschema = pytest.importorskip("jsonschema", reason="the schema is checked with the extra test")
    target = [-1.0, 0.5, 2.0, 3.5] if isinstance(estimator, hornbeam.TreeRegressor) else Y
    jsonschema.validate(json.loads(encode(pack(estimator.fit(X, target)))), SCHEMA)
