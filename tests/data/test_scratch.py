"""Temporary folders and drafts of a killed process are deleted by the next one, and no others."""

import errno
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from hornbeam.data.files.scratch import _lock_name, open_draft, remove_drafts, scratch_folder

OWNER = """
import sys
from contextlib import suppress
from pathlib import Path
from hornbeam.data.files.scratch import open_draft, scratch_folder
with scratch_folder(sys.argv[1]) as folder, open_draft(Path(sys.argv[1], "rows.arrow")) as draft:
    Path(folder, "codes").mkdir()
    draft.write(b"half")
    draft.flush()
    print(folder, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def owner(tmp_path):
    """Start a process with a scratch folder and a draft in the folder of the test; yield it and its folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    folder = Path(process.stdout.readline().strip())
    yield process, folder
    process.kill()
    process.communicate()


def drafts(folder):
    return [path for path in folder.glob(".rows.arrow*") if path.suffix != ".lock"]


def test_folders_and_drafts_of_a_killed_process_are_deleted(tmp_path, owner):
    process, left = owner
    with scratch_folder(tmp_path):
        assert left.is_dir()  # its owner is running
    remove_drafts(tmp_path, "rows.arrow")
    assert len(drafts(tmp_path)) == 1
    process.kill()
    process.wait()
    with scratch_folder(tmp_path) as folder:
        assert [path.name for path in tmp_path.glob("hornbeam-*")] == [Path(folder).name]
    remove_drafts(tmp_path, "rows.arrow")
    assert list(tmp_path.iterdir()) == []


def test_folders_without_a_lock_of_this_machine_are_kept(tmp_path):
    """They belong to another program, or to a process on another machine."""
    for name, mark in (
        ("hornbeam-a", "notes"),
        ("hornbeam-b", ".in-use.another-machine"),
        ("other", _lock_name()),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / mark).touch()
    (tmp_path / "hornbeam-rescued.safetensors").touch()
    if sys.platform != "win32":
        (tmp_path / "hornbeam-link").symlink_to(tmp_path / "other")
    before = sorted(tmp_path.iterdir())
    with scratch_folder(tmp_path):
        pass
    assert sorted(tmp_path.iterdir()) == before
    assert (tmp_path / "other" / _lock_name()).exists()


def test_a_folder_is_deleted_after_an_error(tmp_path):
    with pytest.raises(KeyboardInterrupt), scratch_folder(tmp_path) as folder:  # noqa: PT012
        Path(folder, "codes").mkdir()
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_a_draft_is_deleted_after_an_error_and_the_old_file_is_kept(tmp_path):
    path = tmp_path / "rows.arrow"
    path.write_bytes(b"old")
    with pytest.raises(OSError, match="full"), open_draft(path) as file:  # noqa: PT012
        file.write(b"half")
        raise OSError("full")
    assert [path.name for path in tmp_path.iterdir()] == ["rows.arrow"]
    assert path.read_bytes() == b"old"


def test_files_are_closed_before_they_are_renamed_on_windows(tmp_path, monkeypatch):
    """Simulates Windows with a rename that refuses open files."""

    def refusing(rename):
        def checked(source, target):
            found = Path(source).stat()
            for handle in range(256):
                with suppress(OSError):
                    if os.path.samestat(os.fstat(handle), found):
                        raise AssertionError("the file is still open")
            rename(source, target)

        return checked

    monkeypatch.setattr(os, "rename", refusing(os.rename))
    monkeypatch.setattr(os, "replace", refusing(os.replace))
    monkeypatch.setattr(sys, "platform", "win32")
    with scratch_folder(tmp_path) as folder, open_draft(Path(folder, "rows")) as file:
        file.write(b"abc")
        assert (Path(folder) / _lock_name()).exists()


@pytest.mark.skipif(sys.platform == "win32", reason="an open file is locked on every file system of Windows")
def test_without_locks_folders_are_created_and_others_are_kept(tmp_path, monkeypatch):
    import fcntl

    def flock(handle, operation):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", flock)
    other = tmp_path / "hornbeam-other" / _lock_name()
    other.parent.mkdir()
    other.touch()
    with scratch_folder(tmp_path) as folder, open_draft(Path(folder, "rows")) as file:
        file.write(b"abc")
    assert list(tmp_path.iterdir()) == [other.parent]
