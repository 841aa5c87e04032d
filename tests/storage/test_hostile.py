"""Damaged and hostile files: refused by name, quickly and in little memory."""

import json
import os
import pickle
import re
import socket
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import hornbeam
from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.errors import SchemaError, StorageError, TreeError
from hornbeam.estimators.persistence.files import pack, unpack
from hornbeam.smoothing import HGS
from hornbeam.smoothing.registry import SMOOTHERS
from hornbeam.smoothing.replay import smoothers_of
from hornbeam.storage.file import decode, encode
from hornbeam.storage.model import Model
from hornbeam.storage.text import parse
from hornbeam.tree import Skeleton, Step
from hornbeam.tree.edit import with_belief
from hornbeam.tree.tree import Tree
from support.model_documents import document_of, load_document

pytestmark = pytest.mark.filterwarnings("ignore:the file has no sha256")

SANITIZED = "asan" in os.environ.get("LD_PRELOAD", "")

SCHEMA = Schema((Feature("age"), Feature("colour", Kind.NOMINAL, ("blue", "red"))), ("no", "yes"))
SKELETON = Skeleton.of(
    [2, 2, 0, 0, 0],
    [0, 1, -1, -1, -1],
    [30.0, *[np.nan] * 4],
    slot_start=[0, 0, 2, 2, 2, 2],
    slot_of=[0, 1],
)
TREE = Tree.raw(SCHEMA, SKELETON, np.array([[5, 5], [4, 1], [1, 4], [4, 0], [0, 1]]))


document, load = partial(document_of, TREE), load_document


def test_the_document_is_sound_as_it_is():
    assert load(document()).tree.digest == TREE.digest


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "lightgbm"}, "format is 'lightgbm'; expected 'hornbeam'"),
        ({"version": [2, 0]}, "version is 2.0; this Hornbeam reads 1.x"),
        ({"version": [1]}, "version is [1]; expected two numbers"),
        ({"version": [True, False]}, "version is [True, False]"),
        ({"version": "1.0"}, "version is '1.0'"),
        ({"kind": "forest"}, "kind is 'forest'; expected 'tree'"),
        ({"extra": 1}, "'extra' is no key of version 1.5"),
        ({"n_nodes": 10**9}, "n_nodes is 1000000000; expected a whole number from 0 to 16,777,216"),
        ({"n_nodes": 4}, "n_children has 5 entries; expected a list of 4"),
        ({"n_nodes": True}, "n_nodes is True"),
        ({"n_nodes": 2**24, "n_classes": 2**16}, "n_nodes times n_classes is 1,099,511,627,776"),
        ({"n_classes": -1}, "n_classes is -1"),
        ({"n_features": 3}, "features has 2 entries; expected a list of 3"),
        ({"n_slots": 3, "slot_of": [0, 1, 0]}, "n_slots is 3; expected 2, one for each category"),
        ({"features": {}}, "features is {}"),
        ({"features": [{"name": "a", "kind": "numeric"}] * 2}, "Two columns are named 'a'"),
        ({"features": [{"name": "a", "kind": "wild"}, {}]}, "a feature is {'kind': 'wild', 'name': 'a'}"),
        ({"features": [{"name": 1, "kind": "numeric"}, {}]}, "a feature's name is 1; expected a string"),
        ({"classes": ["no", "no"]}, "The class 'no' is listed twice"),
        ({"classes": ["no", None]}, "a class is None"),
        ({"classes": ["no", {"float": "1"}]}, "a class is {'float': '1'}"),
        ({"classes": ["no", "\ud800"]}, "half a surrogate pair"),
        ({"history": {}}, "history is {}"),
        ({"history": [{"step": "x"}]}, "history is {'step': 'x'}; expected a step"),
        ({"estimator": "TreeClassifier"}, "estimator is 'TreeClassifier'; expected null"),
        ({"sha256": "0" * 64}, "the file was changed since it was saved"),
        ({"sha256": 1}, "the file was changed since it was saved"),
        ({"tree": []}, "tree is []; expected the arrays n_children, feature"),
        ({"feature": [0, 2, -1, -1, -1]}, "feature runs from -1 to 2"),
        ({"feature": [0, 0, -1, -1, -1]}, "n_slots is 2; expected 0"),
        ({"feature": [0, True, -1, -1, -1]}, "feature[1] is True; expected a whole number"),
        ({"feature": [0, 1.0, -1, -1, -1]}, "feature[1] is 1.0; expected a whole number"),
        ({"feature": [0, 2**31, -1, -1, -1]}, "feature has numbers from -1 to 2147483648; expected 32 bits"),
        ({"rows": [10, 5, 5, 4, 2**63]}, "rows has numbers from 4 to 9223372036854775808; expected 64 bits"),
        ({"threshold": ["nan", *[None] * 4]}, "threshold[0] is 'nan'; expected a number, null"),
        ({"threshold": [[], *[None] * 4]}, "threshold[0] is []"),
        ({"threshold": [True, *[None] * 4]}, "threshold[0] is True"),
        ({"n_children": [2, 0, 2, 0, 0]}, "feature[2] is -1, expected 0 or more where"),
        ({"n_children": [5, 0, 0, 0, 0]}, "n_children adds up to 5, expected 4"),
        ({"n_children": [-1, 5, 0, 0, 0]}, "n_children[0] is -1"),
        ({"n_children": [0, 2, 2, 0, 0]}, "children enough to reach the next node"),
        ({"belief": [1.0, 1.0] * 5}, "belief[0] is [1.0, 1.0], expected probabilities that add up to 1"),
        ({"belief": [None, 1.0] * 5}, "belief[0] is [nan, 1.0], expected no probability below 0"),
        ({"evidence": [2**62] * 10}, "evidence adds up to 1.84e+19, expected at most 4.61e+18"),
        ({"unit": [0.0, 0.0]}, "unit is [0.0, 0.0]"),
        ({"n_children": 5}, "n_children is 5; expected a list of 5"),
    ],
)
def test_a_wrong_document_is_refused_by_name(changes, message):
    with pytest.raises(StorageError, match=re.escape(message)):
        load(document(**changes))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "line 1 is no JSON"),
        (b"[1]", "the file holds [1]; expected a JSON object"),
        (b'{"a": NaN}', "NaN is no JSON"),
        (b'{"a": -Infinity}', "-Infinity is no JSON"),
        (b'{"a": 1e999}', "the number 1e999 is too long, or beyond every float"),
        (b'{"a": 0.' + b"0" * 10**6 + b"1}", "is too long"),
        (b'{"a": ' + b"9" * 10**6 + b"}", "does not fit 64 bits"),
        (b'{"a": 1, "b": {"c": 1, "c": 1}}', "'c' is given twice"),
        (b'{"a": "\xff"}', "byte 7 is no UTF-8"),
        (b"[" * 10**5, "nested too deep"),
        (b'{"a":' * 10**5, "nested too deep"),
        (b'{"a": 1} {', "line 1 is no JSON: Extra data"),
    ],
)
def test_what_is_hardly_json_is_refused(data, message):
    with pytest.raises(StorageError, match=re.escape(message)):
        parse(data)


WORST = """
import re
from hornbeam.storage.text import parse
from hornbeam.errors import StorageError
for data in (
    b"[" + b"[]," * (2**18 - 1),
    b"[" + b"{}," * (2**18 - 1),
    b"[" + b"1.5," * 2**21,
    b'["' + b'ab","' * 2**21,
    '["\U0001f333'.encode() + b"a" * (2**24 - 10) + b'"]',
):
    try:
        parse(data)
    except StorageError as error:
        assert "expected at most" not in str(error), error
    else:
        raise AssertionError
# The peak of this program alone: ru_maxrss begins with that of the process it was forked from.
print(int(re.search(r"VmHWM:[^0-9]*([0-9]+)", open("/proc/self/status").read())[1]) / 1024)
"""


@pytest.mark.skipif(SANITIZED, reason="the sanitizer needs memory of its own")
@pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="the memory of a process is read from /proc"
)
def test_no_text_within_the_limits_takes_much_memory():
    run = subprocess.run([sys.executable, "-c", WORST], capture_output=True, text=True, check=True)
    assert float(run.stdout) < 256


def test_texts_beyond_the_limits_are_refused_unread():
    for data, message in (
        (b" " * (2**24 + 1), "16,777,217 bytes"),
        (b"," * (2**21 + 1), "2,097,153 values"),
        (b"[" * (2**18 + 1), "262,145 lists and objects"),
    ):
        with pytest.raises(StorageError, match=message):
            parse(data)


def test_many_repeated_categories_are_found_at_once():
    values = [str(i) for i in range(65_534)]
    feature = {"name": "colour", "kind": "nominal", "categories": [*values[:-1], values[-2]]}
    said = document(features=[{"name": "age", "kind": "numeric"}, feature])
    begin = time.process_time()
    with pytest.raises(StorageError, match="lists the category '65532' twice"):
        load(said)
    assert time.process_time() - begin < 1


def tensors(change):
    """The tree as tensors, its safetensors header changed."""
    data = encode(Model.of(TREE), as_tensors=True)
    length = int.from_bytes(data[:8], "little")
    entries = json.loads(data[8 : 8 + length])
    change(entries)
    head = json.dumps(entries).encode()
    return len(head).to_bytes(8, "little") + head + data[8 + length :]


def test_tensors_that_are_not_padded_are_read():
    assert decode(tensors(lambda entries: None)).tree.digest == TREE.digest
    for spaces in range(8):
        data = tensors(lambda entries, spaces=spaces: entries["__metadata__"].update(other=" " * spaces))
        tree = decode(data).tree
        assert tree.digest == TREE.digest
        assert tree.evidence.flags.aligned


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda entries: entries.pop("__metadata__"), "__metadata__ has no text 'hornbeam'"),
        (lambda entries: entries.pop("belief"), "expected n_children, feature"),
        (lambda entries: entries.update(extra=entries["belief"]), "there is an array 'extra'"),
        (lambda entries: entries["belief"].update(shape=[2, 5]), "'shape': [2, 5]"),
        (lambda entries: entries["belief"].update(shape=[5.0, 2.0], dtype="I64"), "'dtype': 'I64'"),
        (lambda entries: entries["belief"].update(data_offsets=[0, 2**40]), "begins at byte 0; expected"),
        (
            lambda entries: entries["belief"].update(data_offsets=[-8, 8]),
            "expected dtype, shape and data_offsets",
        ),
        (lambda entries: entries.update(belief=entries["gain"]), "'belief' begins at byte"),
    ],
)
def test_wrong_tensors_are_refused_by_name(change, message):
    with pytest.raises(StorageError, match=re.escape(message)):
        decode(tensors(change))


def test_tensors_cut_short_or_long_are_refused():
    data = encode(Model.of(TREE), as_tensors=True)
    for wrong, message in (
        (data[:-1], "the arrays end at byte"),
        (data + b"\0", "the arrays end at byte"),
        (data[:40], "it is not whole"),
        (data[:5] + b"\0\0", "it is not whole"),
        (b"\0" * 100, "line 1 is no JSON"),
        (b"\xff" * 7 + b"\0" + data[8:], "it is not whole"),
    ):
        with pytest.raises(StorageError, match=message):
            decode(wrong)


def test_a_newer_minor_version_may_add_what_it_likes():
    said = document(version=[1, 7], colour="blue")
    said["tree"]["extra"] = [1, 2]
    assert load(said).tree.digest == TREE.digest


def test_a_newer_minor_version_may_add_parameters_to_a_step():
    said = json.loads(encode(Model.of(HGS(2.0)(TREE))))
    said.pop("sha256")
    said["history"][-1]["parameters"]["colour"] = "blue"
    with pytest.raises(StorageError, match="'hgs' with 'colour', a parameter that this step does not have"):
        load(said)
    said["version"] = [1, 99]
    model = load(said)
    assert smoothers_of(model.tree.history) == (HGS(2.0),)
    assert decode(encode(model)).tree.history == model.tree.history  # it can be saved again


@pytest.mark.parametrize("as_tensors", [False, True])
def test_a_step_that_has_the_name_of_a_smoother_by_accident_is_not_saved(as_tensors):
    tree = with_belief(TREE, TREE.belief, TREE.borrowed, Step.of("hierarchical-shrinkage", lam=3.0))
    with pytest.raises(
        StorageError, match=r"'hierarchical-shrinkage' with 'lam', .* choose another name for a step"
    ):
        encode(Model.of(tree), as_tensors=as_tensors)


FITTED = pack(hornbeam.TreeClassifier().fit([[0.0], [1.0]], [0, 1]))


@pytest.mark.parametrize(
    ("part", "changes", "message"),
    [
        ("settings", {"smoothing": {"step": "Popen", "parameters": {}}}, "there is no step 'Popen'"),
        ("settings", {"smoothing": {"step": "HGS", "parameters": {"alpha": "x"}}}, "cannot be made"),
        ("settings", {"smoothing": {"step": "HGS", "parameters": {"beta": 1}}}, "cannot be made"),
        ("settings", {"__class__": "os.system"}, "has no parameter '__class__'"),
        ("settings", {"n_jobs": 0}, "n_jobs=0: expected None"),
        ("settings", {"class_weight": {"dict": [[0, 1], [0.0, 2]]}}, "has the key 0.0 twice"),
        ("settings", {"class_weight": {"dict": [[0]]}}, "expected a key and a value"),
        ("settings", {"class_weight": {"array": [1, 300], "dtype": "int8"}}, "is no array of int8"),
        ("settings", {"class_weight": {"array": [[1], [2, 3]], "dtype": "int8"}}, "is no array of int8"),
        ("settings", {"class_weight": {"array": ["1"], "dtype": "int8"}}, "is no array of int8"),
        ("settings", {"class_weight": {"array": [1], "dtype": "object"}}, "expected a string, a number"),
        ("settings", {"class_weight": {"eval": "1"}}, "expected a string, a number or a boolean"),
        ("learned", {"classes": "U3"}, "the classes do not fit an array of 'U3'"),
        ("learned", {"classes": "bool"}, "the classes do not fit an array of 'bool'"),
        ("learned", {"classes": "str9999999"}, "the classes do not fit an array of 'str9999999'"),
        ("learned", {"named": 1}, "expected to have learned"),
        ("learned", {"class_weight": [1.0]}, "expected 2 numbers, 0 or more and finite"),
        ("learned", {"class_weight": [1.0, -1.0]}, "expected 2 numbers, 0 or more and finite"),
        ("learned", {"class_weight": 3.0}, "expected 2 numbers, 0 or more and finite"),
        ("learned", {"shares": 3}, "expected 1 whole numbers, one per node"),
        (
            "learned",
            {"shares": {"array": [1, 2], "dtype": "int64"}},
            "expected 1 whole numbers, one per node",
        ),
        ("learned", {"shares": {"array": [1], "dtype": "int32"}}, "expected 1 whole numbers, one per node"),
        ("learned", {"shares": {"array": [-1], "dtype": "int64"}}, "0 or more and below 2**50"),
        ("learned", {"shares": {"array": [2**50], "dtype": "int64"}}, "0 or more and below 2**50"),
        ("settings", {"costs": [[0, 1, 2]]}, "costs"),
    ],
)
def test_a_wrong_estimator_is_refused_by_name(part, changes, message):
    said = json.loads(encode(FITTED))
    del said["sha256"]
    said["estimator"][part].update(changes)
    with pytest.raises(StorageError, match=re.escape(message)):
        unpack(load(said))


FORCED = {"tuple": [{"tuple": [0, 2, 1.5, {"tuple": []}, -1]}, None, None]}


@pytest.mark.parametrize(
    ("step", "changes", "message"),
    [
        ("grow", {"max_depth": "int8"}, "max_depth='int8': expected a whole number of at least 1"),
        ("grow", {"max_depth": 2.5}, "max_depth=2.5: expected a whole number"),
        ("grow", {"min_samples_leaf": 2**62}, "min_samples_leaf=4611686018427387904: expected"),
        ("grow", {"min_weight_leaf": {"float": "inf"}}, "min_weight_leaf=inf"),
        ("grow", {"min_samples_missing": {"tuple": [1]}}, "min_samples_missing=(1,)"),
        ("grow", {"design_effect": {"array": [1.0, 1.0], "dtype": "float64"}}, "design_effect=array"),
        ("grow", {"corrected": 1}, "corrected=1: expected True or False"),
        ("grow", {"criterion": [1]}, "criterion=[1]"),
        ("grow", {"colour": "blue"}, "unexpected keyword argument 'colour'"),
        ("grow", {"monotonic_cst": "up"}, "monotonic_cst='up'"),
        ("grow", {"monotonic_cst": {"tuple": [1, 0]}}, "2 entries for 1 features"),
        ("grow", {"interaction_cst": 3}, "interaction_cst=3"),
        ("grow", {"forbidden_below": {"tuple": [{"tuple": [0, 7]}]}}, "names feature 7"),
        ("grow", {"feature_costs": 3}, "feature_costs=3: expected pairs"),
        (
            "grow",
            {"feature_costs": {"tuple": [{"tuple": [-1.0, {"tuple": [0]}]}]}},
            "expected pairs of a price",
        ),
        ("grow", {"feature_costs": {"tuple": [{"tuple": [1.0, {"tuple": [7]}]}]}}, "a price of feature 7"),
        ("grow", {"forced_splits": True}, "the forced splits are no tree"),
        ("grow", {"forced_splits": {"tuple": [{"tuple": [0, 2]}]}}, "the forced splits are no tree"),
        (
            "grow",
            {"forced_splits": {"tuple": [{"tuple": ["n", 2, 1.5, {"tuple": []}, -1]}, None, None]}},
            "no tree",
        ),
        (
            "grow",
            {"forced_splits": FORCED, "max_depth": 1, "monotonic_cst": {"tuple": [1]}},
            "monotone constraint",
        ),
        ("recount", {"class_weight": "balanced"}, "a number for each class"),
        ("recount", {"class_weight": {"tuple": [1.0]}}, "a number for each class"),
        ("size-path", {"loss": None}, "expected decreasing numbers of leaves"),
        ("size-path", {"n_leaves": {"tuple": [1, 2]}}, "expected decreasing numbers of leaves"),
        ("size-path", {"price": {"tuple": []}}, "expected decreasing numbers of leaves"),
    ],
)
def test_a_step_that_cannot_be_repeated_is_refused(step, changes, message):
    """Candidates, edits and reports read these steps: what loads can be used."""
    clf = hornbeam.TreeClassifier(class_weight={0: 1.0, 1: 2.0}).fit(
        [[0.0], [1.0], [2.0], [3.0]] * 9, [0, 0, 1, 1] * 9
    )
    said = json.loads(encode(pack(clf)))
    del said["sha256"]
    unpack(load(said))
    next(one for one in said["history"] if one["step"] == step)["parameters"].update(changes)
    with pytest.raises(StorageError, match=re.escape(message)):
        unpack(load(said))


def test_parameters_of_growing_that_a_newer_version_added_are_ignored():
    said = json.loads(encode(FITTED))
    said["history"][0]["parameters"]["colour"] = "blue"
    del said["sha256"]
    said["version"] = [1, 99]
    assert "colour" not in dict(load(said).tree.history[0].parameters)


@pytest.mark.parametrize(
    "changes", [{"max_bins": "many"}, {"max_bins": [1]}, {"max_bins": 2.5}, {"preset": [1]}]
)
def test_settings_that_candidates_read_are_checked(changes):
    said = json.loads(encode(FITTED))
    del said["sha256"]
    said["estimator"]["settings"].update(changes)
    with pytest.raises(StorageError, match=rf"{min(changes)}.*expected"):
        unpack(load(said))


def test_settings_nested_without_end_are_refused():
    nested = []
    for _ in range(20):
        nested = [nested]
    said = json.loads(encode(FITTED))
    said["estimator"]["settings"]["class_weight"] = nested
    with pytest.raises(StorageError, match="nested more than 16 deep"):
        load(said)


def test_an_estimator_nobody_knows_is_refused():
    said = json.loads(encode(FITTED))
    said["estimator"]["name"] = "os.system"
    said.pop("sha256")
    with pytest.raises(StorageError, match=r"the estimator is a 'os.system'; expected TreeClassifier"):
        unpack(load(said))


def test_the_error_names_the_file(tmp_path):
    path = tmp_path / "model.hornbeam"
    path.write_bytes(b"{")
    with pytest.raises(StorageError, match=r"model\.hornbeam: line 1 is no JSON"):
        hornbeam.load(path)
    with pytest.raises(StorageError, match="this is a device; expected a regular file"):
        hornbeam.load(os.devnull)


# ---------------------------------------------------------------------------------------------------------- pickle


def repickled(thing, **fields):
    """A pickle of `thing` with other values in it."""
    made, arguments = thing.__reduce__()
    names = [name for name in thing.__slots__ if not name.startswith("_")]
    arguments = [fields.get(name, value) for name, value in zip(names, arguments, strict=False)]

    class Forged:
        def __reduce__(self):
            return made, tuple(arguments)

    return pickle.dumps(Forged())


def test_a_pickle_passes_the_same_checks():
    wrapped = np.array([0, 2**31 - 1, -(2**31), -1, 2, 2], np.int32)  # every difference seems positive
    for forged, error in (
        (repickled(SKELETON, slot_start=wrapped), TreeError),
        (repickled(TREE, belief=np.full((5, 2), np.nan)), TreeError),
        (repickled(TREE, evidence=np.full((5, 2), 2**62)), TreeError),
        (repickled(SCHEMA, classes=("a", "a")), SchemaError),
        (repickled(SCHEMA.features[1], categories=(1, 1)), SchemaError),
    ):
        with pytest.raises(error):
            pickle.loads(forged)


def test_pickles_of_estimators_work():
    clf = hornbeam.TreeClassifier().fit([[0.0], [1.0]], [0, 1])
    again = pickle.loads(pickle.dumps(clf))
    assert again.tree_.digest == clf.tree_.digest
    assert pickle.loads(pickle.dumps(SCHEMA)) == SCHEMA


# ------------------------------------------------------------------------------------------- what is no sound file


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pipes in folders")
def test_a_pipe_is_refused_without_waiting_for_it(tmp_path):
    path = tmp_path / "model.hornbeam"
    os.mkfifo(path)
    with pytest.raises(StorageError, match=r"model\.hornbeam: this is a pipe; expected a regular file"):
        hornbeam.load(path)


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(StorageError, match="this is a folder; expected a regular file"):
        hornbeam.load(tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no sockets in folders")
def test_a_socket_is_refused(tmp_path):
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(tmp_path / "socket"))
        with pytest.raises(StorageError, match="this is a socket; expected a regular file"):
            hornbeam.load(tmp_path / "socket")


def test_the_header_of_a_large_file_is_refused_before_the_rest_is_read(tmp_path):
    path = tmp_path / "model.safetensors"
    path.touch()
    os.truncate(path, 2**32 - 1)  # takes no room on the disk
    begin = time.process_time()
    with pytest.raises(StorageError, match="is no JSON"):
        hornbeam.load(path)
    with path.open("r+b") as file:
        file.write((2**31).to_bytes(8, "little"))
    with pytest.raises(StorageError, match="the header has 2,147,483,648 bytes; expected at most 16,777,216"):
        hornbeam.load(path)
    assert time.process_time() - begin < 0.5


def test_arrays_that_are_shorter_than_the_header_says_are_refused():
    data = encode(FITTED, as_tensors=True)
    with pytest.raises(StorageError, match="the file has"):
        decode(data[:-8])


# --------------------------------------------------------------------------------------------------------- history


@pytest.fixture(scope="module")
def smoothed():
    """A file of each kind of smoother, as JSON values."""
    X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]] * 5, [0, 0, 1, 1] * 5
    made = {
        "hdp": hornbeam.TreeClassifier(smoothing=hornbeam.smoothing.HDP(sweeps=50, burn_in=10)).fit(X, y),
        "monotone": hornbeam.TreeClassifier("cart", monotonic_cst=[1, 0]).fit(X, y),
        "number": hornbeam.TreeRegressor(smoothing="hierarchical-shrinkage").fit(X, y),
    }
    for name in SMOOTHERS.keys() - {"raw", "hdp", "borrowing"}:
        made[name] = hornbeam.TreeClassifier(smoothing=name).fit(X, y)
    made["interval-calibration"] = hornbeam.TreeClassifier().fit(X, y)
    return {name: encode(pack(model)) for name, model in made.items()}


WRONG = [
    (
        "interval-calibration",
        "interval-calibration",
        {"own": 1.0},
        "missing 1 required positional argument: 'borrowed'",
    ),
    (
        "interval-calibration",
        "interval-calibration",
        {"own": 1e300, "borrowed": 1e300},
        "borrowed=1e+300: expected a number from 0 to 1",
    ),
    (
        "interval-calibration",
        "interval-calibration",
        {"own": -1.0, "borrowed": 0.5},
        "own=-1.0: expected a number above 0, at most 1",
    ),
    ("interval-calibration", "interval-calibration", {"own": "1", "borrowed": 0.5}, "own='1'"),
    ("interval-calibration", "interval-calibration", {"own": True, "borrowed": 0.5}, "own=True"),
    (
        "interval-calibration",
        "interval-calibration",
        {"own": 1.0, "borrowed": 0.5, "b": 1},
        "'interval-calibration' with 'b', a parameter that this step does not have",
    ),
    ("interval-calibration", "borrowing", {"scale": {"float": "nan"}}, "scale=nan"),
    ("hdp", "hdp", {"sweeps": 2**62}, "expected a whole number from 1 to 1,000,000"),
    ("hdp", "hdp", {"sweeps": 150.5}, "sweeps=150.5"),
    ("hdp", "hdp", {"random_state": -1}, "random_state=-1"),
    ("hdp", "hdp", {"tying": 3}, "tying=3"),
    ("hdp", "hdp", {"root_concentration": None}, "root_concentration=None"),
    ("hgs", "hgs", {"alpha": "x"}, "alpha='x': expected a number of rows from 0 to 1e+100"),
    ("hgs", "hgs", {"alpha": 1e308}, "alpha=1e+308"),
    ("gradient-hgs", "gradient-hgs", {"tol": -1}, "tol=-1"),
    ("gradient-hgs", "gradient-hgs", {"loss": "hinge"}, "loss='hinge': expected 'log' or 'squared'"),
    ("leave-one-out-hgs", "leave-one-out-hgs", {"tol": {"array": [0.5], "dtype": "float64"}}, "tol=array"),
    ("m-branch", "m-branch", {"m": 0}, "m=0: expected a number of rows above 0, at most 1e+100"),
    (
        "m-estimate",
        "m-estimate",
        {"base": {"tuple": [0.5, 0.25, 0.25]}},
        "base has 3 probabilities: expected 2",
    ),
    ("m-estimate", "m-estimate", {"base": 3}, "which cannot be made"),
    ("laplace", "laplace", {"m": 3}, "'laplace' with 'm'"),
    ("hierarchical-shrinkage", "hierarchical-shrinkage", {"strength": None}, "strength=None"),
    ("monotone", "monotone", {"signs": {"tuple": [1]}}, "there are 1 signs; expected 2, one per column"),
    ("monotone", "monotone", {"signs": {"tuple": [1, 7]}}, "a sign=7: expected a whole number from -1 to 1"),
    ("monotone", "monotone", {"signs": 1}, "expected a tuple"),
]


@pytest.mark.parametrize(("file", "step", "parameters", "message"), WRONG)
def test_a_smoother_in_the_history_that_cannot_be_made_is_refused(smoothed, file, step, parameters, message):
    said = json.loads(smoothed[file])
    said.pop("sha256")
    load(said)
    [place] = [at for at, one in enumerate(said["history"]) if one["step"] == step][-1:]
    said["history"][place]["parameters"] = parameters
    with pytest.raises(StorageError, match=re.escape(message)):
        load(said)


def test_a_smoother_of_classes_is_refused_in_a_tree_of_numbers(smoothed):
    said = json.loads(smoothed["number"])
    said.pop("sha256")
    said["history"].append({"step": "hgs", "parameters": {"alpha": 1.0}})
    with pytest.raises(StorageError, match="'hgs', which is for classification trees alone"):
        load(said)


def test_monotone_beliefs_of_three_classes_are_refused():
    model = pack(hornbeam.TreeClassifier().fit([[0.0], [1.0], [2.0]] * 5, [0, 1, 2] * 5))
    said = json.loads(encode(model))
    said.pop("sha256")
    said["history"].append({"step": "monotone", "parameters": {"signs": {"tuple": [1]}}})
    with pytest.raises(StorageError, match="the tree has 3 classes"):
        load(said)


def test_steps_of_others_stay_in_the_history():
    """Nothing is computed from them."""
    said = json.loads(encode(Model.of(TREE)))
    said.pop("sha256")
    said["history"] = [{"step": "ours", "parameters": {"anything": [1, None, "x"]}}]
    assert str(load(said).tree.history[0]) == "ours(anything=[1, None, 'x'])"


@pytest.mark.parametrize("classes", [7, None, [], {"dict": []}])
@pytest.mark.parametrize("kind", ["ForestClassifier", "BoostedTreesClassifier", "TreeClassifier"])
def test_a_type_of_classes_that_is_no_name_is_refused(kind, classes):
    model = pack(getattr(hornbeam, kind)(max_depth=1).fit([[0.0], [1.0]] * 9, [0, 1] * 9))
    learned = dict(model.learned) | {"classes": classes}
    with pytest.raises(StorageError, match="type of the classes"):
        unpack(replace(model, learned=learned))
