"""What is saved comes back: every tree, every label, every setting, in text and in tensors."""

import json
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hornbeam
from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.errors import HornbeamWarning, StorageError
from hornbeam.estimators.persistence.files import pack, unpack
from hornbeam.pruning import BayesRisk, ReducedError
from hornbeam.smoothing import HDP, HGS
from hornbeam.storage.assembly import model_of
from hornbeam.storage.file import decode, encode
from hornbeam.storage.layout import arrays_of, fingerprint, header_of
from hornbeam.storage.limits import VERSION
from hornbeam.storage.model import Model
from hornbeam.tree import Skeleton, Step, Table
from hornbeam.tree.tree import Tree
from support.examples import examples
from support.strategies import chain, trees

pytestmark = pytest.mark.filterwarnings("ignore:Bayes-risk pruning compares")

ARRAYS = ("evidence", "unit", "rows", "gain", "belief", "borrowed")
ROUTES = (
    "parent",
    "first_child",
    "n_children",
    "feature",
    "threshold",
    "slot_start",
    "slot_of",
    "missing_slot",
)
X = [[1.0, 0.0], [2.0, 1.0], [3.0, 0.0], [4.0, np.nan], [5.0, 2.0]]


def same(one: Tree, other: Tree) -> bool:
    arrays = [(getattr(one, name), getattr(other, name)) for name in ARRAYS]
    arrays += [(getattr(one.skeleton, name), getattr(other.skeleton, name)) for name in ROUTES]
    typed = [[type(value) for f in tree.schema.features for value in f.categories] for tree in (one, other)]
    return (
        all(a.dtype == b.dtype and np.array_equal(a, b, equal_nan=True) for a, b in arrays)
        and one.schema == other.schema
        and typed[0] == typed[1]
        and one.history == other.history
        and one.digest == other.digest
    )


@given(trees(), st.booleans())
@examples(60)
def test_every_tree_comes_back(tree, as_tensors):
    data = encode(Model.of(tree), as_tensors=as_tensors)
    again = decode(data)
    assert same(again.tree, tree)
    assert encode(again, as_tensors=as_tensors) == data  # canonical


@given(trees())
@examples(30)
def test_text_keeps_to_the_published_schema(tree):
    schema = json.loads(
        resources.files("hornbeam.storage").joinpath("model-1.schema.json").read_text(encoding="utf-8")
    )
    jsonschema = pytest.importorskip("jsonschema", reason="the schema is checked with the extra test")
    jsonschema.validate(json.loads(encode(Model.of(tree))), schema)


def test_text_and_tensors_say_the_same(small):
    text, tensors = encode(Model.of(small)), encode(Model.of(small), as_tensors=True)
    length = int.from_bytes(tensors[:8], "little")
    header = json.loads(json.loads(tensors[8 : 8 + length])["__metadata__"]["hornbeam"])
    assert header["sha256"] == json.loads(text)["sha256"]
    safetensors = pytest.importorskip("safetensors.numpy", reason="another library, of the extra test")
    arrays = safetensors.load(tensors)
    assert arrays["evidence"].tolist() == small.evidence.tolist()
    assert arrays["threshold"].tolist()[0] == 30.5


@pytest.fixture
def small() -> Tree:
    skeleton = Skeleton.of([2, 0, 0], [0, -1, -1], [30.5, np.nan, np.nan])
    return Tree.raw(Schema((Feature("age"),), ("no", "yes")), skeleton, np.array([[5, 5], [4, 1], [1, 4]]))


def test_arrays_of_the_other_byte_order_make_the_same_tree_and_fingerprint(small):
    """A file has one byte order, machines have two."""
    model = Model.of(small)
    arrays = arrays_of(model)
    header = header_of(model, arrays)
    other = {name: array.astype(array.dtype.newbyteorder(">")) for name, array in arrays.items()}
    assert same(model_of(header, other).tree, small)
    assert fingerprint(header, other) == header["sha256"]


def test_a_file_changes_in_one_line_where_one_count_changes(small):
    raw = Tree.raw(small.schema, small.skeleton, np.array([[5, 6], [4, 1], [1, 5]]))
    one, other = (encode(Model.of(tree)).decode().splitlines() for tree in (small, raw))
    changed = [line for line, was in zip(other, one, strict=True) if line != was]
    assert (
        changed
        == [
            changed[0],  # sha256
            "    11,",
            "    5, 6",
            "    5, 6,",
            "    1, 5",
            *changed[5:],
        ]
    )
    assert '"sha256"' in changed[0]


def test_a_split_changed_by_hand_is_refused_or_reported(tmp_path):
    path = tmp_path / "m.json"
    hornbeam.save(hornbeam.TreeClassifier("cart").fit([[1.0], [2.0], [4.0]], ["a", "a", "b"]), path)
    document = json.loads(path.read_text())
    document["tree"]["threshold"][0] = 1.5
    path.write_text(json.dumps(document))
    with pytest.raises(StorageError, match="the file was changed since it was saved"):
        hornbeam.load(path)
    del document["sha256"]
    path.write_text(json.dumps(document))
    with pytest.warns(HornbeamWarning, match="still those of the old one") as heard:
        changed = hornbeam.load(path)
    assert heard[0].filename == __file__
    hornbeam.save(changed, path)
    hornbeam.load(path)


CATEGORIES = ("", "1", 1, 2.5, "x" * 1000, '\U0001f333\0\n"\\', float("inf"), -(2**63), 2**64 - 1, 1e-320)


def test_categories_and_labels_keep_value_and_type():
    schema = Schema((Feature("\u202e", Kind.NOMINAL, CATEGORIES),), (True, 2.0, "3", 4))
    tree = Tree.raw(schema, Skeleton.leaf(), np.array([[1, 2, 3, 4]]))
    for as_tensors in (False, True):
        again = decode(encode(Model.of(tree), as_tensors=as_tensors)).tree
        assert same(again, tree)
        assert list(map(type, again.schema.classes)) == [bool, float, str, int]


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (Schema((Feature("a\ud800"),), (0,)), "half a surrogate pair"),
        (Schema((), ("\udfff",)), "a class is .* half a surrogate pair"),
        (
            Schema((Feature("a", Kind.NOMINAL, (2**64,)),), (0,)),
            "an integer of 65 bits; expected a number of 64 bits",
        ),
        (Schema((Feature("a", Kind.NOMINAL, (10**5000,)),), (0,)), "an integer of 16610 bits"),
        (Schema((), ((1, 2),)), "of type tuple; expected a string, a number or a boolean"),
        (Schema((Feature("x" * 65_537),), (0,)), "has 65,537 characters; expected at most 65,536"),
    ],
)
def test_what_no_file_can_hold_is_refused_before_a_file_is_touched(schema, message, tmp_path):
    tree = Tree.raw(schema, Skeleton.leaf(), np.array([[1]]))
    with pytest.raises(StorageError, match=message):
        hornbeam.save(tree, tmp_path / "model.hornbeam")
    assert list(tmp_path.iterdir()) == []


def test_a_tree_too_large_for_text_is_binary_under_any_name(tmp_path):
    skeleton = chain(20_000)
    evidence = np.zeros((skeleton.n_nodes, 30), np.int64)
    tree = Tree.raw(Schema((Feature("x"),), tuple(range(30))), skeleton, evidence)
    hornbeam.save(tree, tmp_path / "model.hornbeam")
    hornbeam.save(tree, tmp_path / "model.safetensors")
    assert (tmp_path / "model.hornbeam").read_bytes() == (tmp_path / "model.safetensors").read_bytes()
    assert hornbeam.load(tmp_path / "model.hornbeam").digest == tree.digest


def test_a_tree_too_deep_is_refused():
    skeleton = chain(2**16 + 1)
    tree = Tree.raw(Schema((Feature("x"),), (0,)), skeleton, np.zeros((skeleton.n_nodes, 1), np.int64))
    with pytest.raises(StorageError, match="65,537 deep; expected at most 65,536: set max_depth"):
        encode(Model.of(tree), as_tensors=True)


LABELS = {
    "int64": np.array([0, 1, 0, 1, 2]),
    "int8": np.array([0, 1, 0, 1, 2], np.int8),
    "uint64": np.array([0, 1, 0, 1, 2**64 - 1], np.uint64),
    "bool": np.array([True, False, True, True, False]),
    "float32": np.array([0, 1, 0, 1, 2], np.float32),
    "str7": np.array(["a", "b", "a", "b", "c"], "U7"),
    "object": np.array(["a", "b", "a", "b", "c"], object),
    "string": np.array(["a", "b", "a", "b", "c"], np.dtypes.StringDType()),
}


@pytest.mark.parametrize("name", LABELS)
@pytest.mark.parametrize("suffix", ["hornbeam", "safetensors"])
def test_an_estimator_comes_back(name, suffix, tmp_path):
    clf = hornbeam.TreeClassifier(max_depth=2, class_weight="balanced").fit(X, LABELS[name])
    path = tmp_path / f"model.{suffix}"
    hornbeam.save(clf, path)
    again = hornbeam.load(path)
    assert pack(clf).learned["classes"] == name
    assert again.get_params() == clf.get_params()
    assert again.classes_.dtype == clf.classes_.dtype
    assert again.predict(X).dtype == clf.predict(X).dtype
    assert again.predict(X).tolist() == clf.predict(X).tolist()
    assert np.array_equal(again.predict_proba(X), clf.predict_proba(X))
    assert np.array_equal(again.class_weight_, clf.class_weight_)
    assert again.n_features_in_ == 2
    assert again.n_classes_ == len(clf.classes_)
    assert not hasattr(again, "feature_names_in_")
    assert same(again.tree_, clf.tree_)


def test_names_of_columns_come_back(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"age": [1.0, 2.0, 3.0], "colour": pandas.Categorical(["red", "blue", "red"])})
    clf = hornbeam.TreeClassifier().fit(frame, [0, 1, 0])
    hornbeam.save(clf, tmp_path / "model.hornbeam")
    again = hornbeam.load(tmp_path / "model.hornbeam")
    assert again.feature_names_in_.tolist() == ["age", "colour"]
    assert np.array_equal(again.predict_proba(frame), clf.predict_proba(frame))


PARAMETERS = {
    "smoothing": [HGS(2.0), HDP(sweeps=20, burn_in=2, tying="level"), None],
    "pruning": [BayesRisk([[0, 1], [5, 0]]), "collapse"],
    "class_weight": [{0: 1.0, 1: 2.5}, "balanced"],
    "monotonic_cst": [[1, 0], (1, 0), {"x0": 1}, np.array([1, 0], np.int8)],
    "costs": [[[0, 1], [5, 0]], np.array([[0.0, 1.0], [5.0, 0.0]]), {(0, 1): 5}],
    "tolerance": [0.5],
    "random_state": [3],
    "min_samples_leaf": [0.25, np.int64(2)],
    "min_impurity_decrease": [1e-300],
}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name in PARAMETERS for value in PARAMETERS[name]]
)
def test_parameters_come_back(name, value):
    clf = hornbeam.TreeClassifier(**{name: value}).fit(X, [0, 1, 0, 1, 1])
    again = getattr(unpack(decode(encode(pack(clf)))), name)
    assert type(again) is (int if isinstance(value, np.integer) else type(value))
    assert np.array_equal(again, value) if isinstance(value, np.ndarray) else again == value


def test_parameters_that_are_no_values_are_refused():
    table = Table.read(X, [0, 1, 0, 1, 1])
    for parameters, message in (
        ({"pruning": ReducedError(table)}, "ReducedError holds rows"),
        (
            {"smoothing": lambda tree: tree},
            "TreeClassifier's smoothing is .* of type function; expected a value",
        ),
        (
            {"random_state": np.random.RandomState(0)},
            "TreeClassifier's random_state is .* of type RandomState",
        ),
    ):
        with pytest.raises(StorageError, match=message):
            encode(pack(hornbeam.TreeClassifier(**parameters).fit(X, [0, 1, 0, 1, 1])))


def test_what_is_no_model_is_refused():
    with pytest.raises(
        StorageError, match="a dict cannot be saved; expected a Tree or a fitted TreeClassifier"
    ):
        pack({})
    with pytest.raises(StorageError, match="not fitted, so there is nothing to save: call fit first"):
        pack(hornbeam.TreeClassifier())


def test_history_of_any_plain_values_comes_back(small):
    steps = (Step.of("ours", a=(1, (2.0, None)), b=[True, "x"], c={1: "y", "z": float("nan")}), Step.of("ü"))
    tree = Tree.raw(small.schema, small.skeleton, small.evidence, history=steps)
    assert str(decode(encode(Model.of(tree))).tree.history) == str(steps)


@pytest.mark.parametrize("version", ["1.0"])
@pytest.mark.parametrize("suffix", ["hornbeam", "safetensors"])
def test_a_file_of_every_version_is_read_for_ever(version, suffix):
    """Written once, by the first Hornbeam of that version, and never again."""
    pandas = pytest.importorskip("pandas")
    golden = Path(__file__).with_name("golden")
    model = hornbeam.load(golden / f"{version}.{suffix}")
    expected = json.loads((golden / f"{version}.json").read_text(encoding="utf-8"))
    rows = pandas.DataFrame(expected["rows"])
    assert model.tree_.digest == expected["digest"]
    assert model.predict_proba(rows).tolist() == expected["probabilities"]
    assert model.predict(rows).tolist() == expected["classes"]
    assert model.smoothing == HGS(alpha=2.0)
    assert model.class_weight == {"no": 1.0, "yes": 1.5}


@pytest.mark.parametrize("suffix", ["hornbeam", "safetensors"])
def test_the_first_measured_tree_is_read_for_ever(suffix):
    """Of version 1.1, which brought it."""
    pandas = pytest.importorskip("pandas")
    golden = Path(__file__).with_name("golden")
    model = hornbeam.load(golden / f"1.1.{suffix}")
    expected = json.loads((golden / "1.1.json").read_text(encoding="utf-8"))
    assert model.tree_.digest == expected["digest"]
    assert model.predict(pandas.DataFrame(expected["rows"])).tolist() == expected["means"]


@pytest.mark.parametrize("suffix", ["hornbeam", "safetensors"])
@pytest.mark.parametrize("version", ["1.3", "1.5"])
def test_the_first_decision_rule_is_read_for_ever(version, suffix):
    """Of version 1.3, which brought it, and of 1.5, which brought other names of parameters."""
    pandas = pytest.importorskip("pandas")
    golden = Path(__file__).with_name("golden")
    model = hornbeam.load(golden / f"{version}.{suffix}")
    expected = json.loads((golden / f"{version}.json").read_text(encoding="utf-8"))
    rows = pandas.DataFrame(expected["rows"])
    assert model.tree_.digest == expected["digest"]
    assert model.predict_proba(rows).tolist() == expected["probabilities"]
    assert model.predict(rows).tolist() == expected["classes"]


def test_there_is_a_golden_file_of_every_version():
    golden = Path(__file__).with_name("golden")
    versions = {
        tuple(json.loads(path.read_text(encoding="utf-8"))["version"]) for path in golden.glob("*.hornbeam")
    }
    assert versions == {(VERSION[0], minor) for minor in range(VERSION[1] + 1)}


@pytest.mark.parametrize("version", ["1.0", "1.1", "1.2", "1.3", "1.4", "1.5"])
def test_files_of_every_version_are_written_in_the_present_one(version):
    golden = Path(__file__).with_name("golden")
    for suffix in ("hornbeam", "safetensors"):
        data = (golden / f"{version}.{suffix}").read_bytes()
        model = decode(data)
        now = encode(model, as_tensors=suffix == "safetensors")
        assert f'version": {list(VERSION)}' in now[:200].decode(errors="replace").replace("\\", "")
        again = decode(now)
        assert [tree.digest for tree in again.trees] == [tree.digest for tree in model.trees]
        assert encode(again, as_tensors=suffix == "safetensors") == now
        assert version != "1.5" or now == data


@pytest.mark.parametrize("name", ["1.2.safetensors", "1.2.hornbeam"])
def test_the_first_forest_and_the_first_rules_are_read_for_ever(name):
    """Of version 1.2, which brought several trees, here as tensors, and rules, here as text."""
    pandas = pytest.importorskip("pandas")
    golden = Path(__file__).with_name("golden")
    model = hornbeam.load(golden / name)
    expected = json.loads((golden / "1.2.json").read_text(encoding="utf-8"))
    rows = pandas.DataFrame(expected["rows"])
    assert type(model).__name__ == expected[name]["estimator"]
    assert getattr(model, "temperature_", 1.0) == 1.0  # files had none
    assert model.predict_proba(rows).tolist() == expected[name]["probabilities"]
    assert model.predict(rows).tolist() == expected[name]["classes"]
