"""A file is replaced whole, or stays."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import hornbeam
from hornbeam.data.schema import Schema
from hornbeam.tree import Skeleton
from hornbeam.tree.tree import Tree


def leaf(count: int) -> Tree:
    return Tree.raw(Schema((), ("no", "yes")), Skeleton.leaf(), np.array([[count, 1]]))


def test_saving_again_replaces_and_leaves_nothing_behind(tmp_path):
    path = tmp_path / "model.hornbeam"
    for count in (1, 2):
        hornbeam.save(leaf(count), path)
        assert hornbeam.load(path).digest == leaf(count).digest
        assert list(tmp_path.iterdir()) == [path]


def test_what_a_killed_process_left_is_taken_over(tmp_path):
    path, stray = tmp_path / "model.hornbeam", tmp_path / ".model.hornbeam.saving"
    stray.write_bytes(b"x" * 100_000)
    hornbeam.save(leaf(1), path)
    assert hornbeam.load(path).digest == leaf(1).digest
    assert not stray.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other permissions")
def test_a_file_keeps_its_permissions_and_a_link_its_target(tmp_path):
    path, link = tmp_path / "model.hornbeam", tmp_path / "link.hornbeam"
    hornbeam.save(leaf(1), path)
    path.chmod(0o600)
    link.symlink_to(path)
    hornbeam.save(leaf(2), link)
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o600
    assert hornbeam.load(path).digest == leaf(2).digest


def test_a_disk_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "model.hornbeam"
    hornbeam.save(leaf(1), path)

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        hornbeam.save(leaf(2), path)
    assert hornbeam.load(path).digest == leaf(1).digest
    assert list(tmp_path.iterdir()) == [path]


def test_many_may_save_to_one_path_at_once(tmp_path):
    path = tmp_path / "model.hornbeam"
    threads = [
        threading.Thread(target=lambda k=k: [hornbeam.save(leaf(k), path) for _ in range(20)])
        for k in range(1, 5)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert hornbeam.load(path).digest in {leaf(k).digest for k in range(1, 5)}
    assert list(tmp_path.iterdir()) == [path]


def test_a_tree_is_kept_without_scikit_learn(tmp_path):
    hornbeam.save(leaf(1), tmp_path / "model.hornbeam")
    code = "import sys, hornbeam; print(repr(hornbeam.load(sys.argv[1])), 'sklearn' in sys.modules)"
    command = [sys.executable, "-c", code, str(tmp_path / "model.hornbeam")]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert run.stdout == "Tree(1 node, 1 leaf, depth 0, 2 classes) False\n"
