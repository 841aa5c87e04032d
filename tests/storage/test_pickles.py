"""Pickles are recognised, and neither opened nor written."""

import pickle

import joblib
import pytest

from hornbeam import ForestClassifier, TreeClassifier, load, save
from hornbeam.errors import StorageError


@pytest.fixture
def clf():
    return TreeClassifier().fit([[0.0], [1.0]] * 5, [0, 1] * 5)


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_a_pickle_is_not_opened(clf, tmp_path, protocol):
    path = tmp_path / "m.hornbeam"
    path.write_bytes(pickle.dumps(clf, protocol))
    with pytest.raises(StorageError, match=r"this is a pickle .*does not open pickles.*hornbeam.save"):
        load(path)
    joblib.dump(clf, path)
    with pytest.raises(StorageError, match="this is a pickle"):
        load(path)


@pytest.mark.parametrize("name", ["m.pkl", "m.pickle", "m.joblib", "m.JOBLIB"])
def test_a_name_of_a_pickle_is_refused_with_names_to_use(clf, tmp_path, name):
    with pytest.raises(StorageError, match=r"name of a pickle.*use .*m\.hornbeam.* or .*m\.safetensors"):
        save(clf, tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_every_length_of_a_header_is_still_no_pickle(tmp_path):
    forest = ForestClassifier(2).fit([[0.0], [1.0]] * 5, [0, 1] * 5)
    save(forest, tmp_path / "m.safetensors")
    data = (tmp_path / "m.safetensors").read_bytes()
    length = int.from_bytes(data[:8], "little")
    wider = (
        -(-(length - 0x480) // 0x10000) * 0x10000 + 0x480
    )  # padded so that the file begins as a pickle does
    if wider < length:
        wider += 0x10000
    padded = wider.to_bytes(8, "little") + data[8 : 8 + length] + b" " * (wider - length) + data[8 + length :]
    assert padded[:2] == b"\x80\x04"
    (tmp_path / "padded.safetensors").write_bytes(padded)
    assert load(tmp_path / "padded.safetensors").forest_.digest == forest.forest_.digest
