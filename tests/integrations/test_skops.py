"""skops, which MLflow uses to save models: the class of the estimator is the only Hornbeam type to trust."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import hornbeam
from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.errors import SchemaError, StorageError
from hornbeam.interop import trusted_types
from hornbeam.interop.input_conventions import InputConventions

sio = pytest.importorskip("skops.io")


def own_name(estimator):
    return f"{type(estimator).__module__}.{type(estimator).__name__}"


def types_to_trust(estimator):
    """The class, that of its teacher, and what skops does not trust of scikit-learn's tree in new versions."""
    wrapped = isinstance(estimator, hornbeam.SmoothedClassifier)
    inside = sio.get_untrusted_types(data=sio.dumps(estimator.estimator_)) if wrapped else []
    if hasattr(getattr(estimator, "teacher", None), "fit"):
        inside = [own_name(estimator.teacher)]
    return sorted([own_name(estimator), *inside])


def test_the_class_is_the_only_type_to_trust(fitted):
    assert sio.get_untrusted_types(data=sio.dumps(fitted)) == types_to_trust(fitted)


def test_the_public_list_names_every_estimator(fitted):
    assert own_name(fitted) in trusted_types()


def test_skops_keeps_predictions_and_attributes(fitted, same_predictions):
    again = sio.loads(sio.dumps(fitted), trusted=types_to_trust(fitted))
    same_predictions(again)
    assert type(again) is type(fitted)
    assert vars(again).keys() == vars(fitted).keys()
    assert repr(again) == repr(fitted)


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_pickles_and_copies_keep_predictions_and_attributes(fitted, same_predictions, way):
    again = way(fitted)
    same_predictions(again)
    assert vars(again).keys() == vars(fitted).keys()
    assert repr(again) == repr(fitted)


def test_a_loaded_estimator_can_be_saved_cloned_and_fitted(tmp_path, fitted, rows):
    again = sio.loads(sio.dumps(fitted), trusted=types_to_trust(fitted))
    assert repr(clone(again)) == repr(clone(fitted))
    if not isinstance(fitted, hornbeam.SmoothedClassifier):
        for name, model in {"before": fitted, "after": again}.items():
            hornbeam.save(model, tmp_path / name)
        assert (tmp_path / "before").read_bytes() == (tmp_path / "after").read_bytes()


def test_out_of_bag_predictions_are_kept(recwarn):
    X, y = np.arange(40.0).reshape(-1, 1), np.arange(40) // 10
    forest = hornbeam.ForestClassifier(n_estimators=20, oob_score=True).fit(X, y)
    again = sio.loads(sio.dumps(forest), trusted=[own_name(forest)])
    np.testing.assert_array_equal(again.oob_decision_function_, forest.oob_decision_function_)
    assert again.oob_score_ == forest.oob_score_


def test_an_unfitted_estimator_stays_unfitted():
    clf = hornbeam.TreeClassifier(max_depth=3)
    again = sio.loads(sio.dumps(clf), trusted=[own_name(clf)])
    assert repr(again) == repr(clf)
    assert not hasattr(again, "tree_")


def test_inside_a_pipeline_and_a_search():
    X, y = np.arange(40.0).reshape(-1, 1), (np.arange(40) // 10) % 2
    pipe = make_pipeline(FunctionTransformer(), hornbeam.TreeClassifier())
    search = GridSearchCV(pipe, {"treeclassifier__max_depth": [1, 3]}, cv=2).fit(X, y)
    data = sio.dumps(search)
    untrusted = sio.get_untrusted_types(data=data)  # skops does not trust scikit-learn's folds either
    assert [one for one in untrusted if not one.startswith("sklearn.")] == [
        own_name(hornbeam.TreeClassifier())
    ]
    again = sio.loads(data, trusted=untrusted)
    np.testing.assert_array_equal(again.predict_proba(X), search.predict_proba(X))


class Ours(hornbeam.TreeClassifier):
    """A subclass outside of Hornbeam."""


def test_a_subclass_is_restored_as_itself():
    clf = Ours(max_depth=2).fit([[0.0], [1.0]], ["no", "yes"])
    clf.remark = "for the auditors"
    again = pickle.loads(pickle.dumps(clf))
    assert type(again) is Ours
    assert again.tree_.digest == clf.tree_.digest
    assert again.remark == clf.remark


def test_objects_that_no_model_file_can_hold_are_pickled():
    odd = frozenset({1})
    clf = hornbeam.TreeClassifier(random_state=np.random.RandomState(0)).fit([[0.0], [1.0]], ["no", "yes"])
    clf.smoothing = odd
    again = pickle.loads(pickle.dumps(clf))
    assert again.smoothing == odd
    assert again.tree_.digest == clf.tree_.digest


def test_a_damaged_model_in_a_state_is_refused():
    clf = hornbeam.TreeClassifier().fit([[0.0], [1.0]], ["no", "yes"])
    state = clf.__getstate__()
    damaged = state | {"_model": state["_model"].replace(b"hornbeam", b"hornbean")}
    with pytest.raises(StorageError):
        hornbeam.TreeClassifier.__new__(hornbeam.TreeClassifier).__setstate__(damaged)


def test_forged_input_conventions_do_not_change_categories():
    """A state is not trusted: its treatment of zeros must not change the codes of a nominal feature."""
    reading = InputConventions(
        Schema((Feature("ward", "nominal", ("east", "west")),)), zero_is_missing=frozenset({0})
    )
    [codes] = reading.read([["east"], ["west"]]).columns
    assert codes.dtype == np.int32


def test_a_feature_kind_may_be_a_string():
    feature = Feature("age", "ordinal", ("young", "old"))
    assert feature.kind is Kind.ORDINAL
    assert Schema((feature,), target_kind="numeric").is_regression
    with pytest.raises(SchemaError, match=r"'age' has the kind 'real'; expected one of \['numeric'"):
        Feature("age", "real")
    with pytest.raises(SchemaError, match="target has the kind 'real'"):
        Schema((feature,), target_kind="real")
