"""Atomic writing: permissions are kept, links are not followed, and waiting for a lock ends after a timeout."""

import errno
import fcntl
import os
import stat
import subprocess
import sys

import pytest

from hornbeam.data.files.atomic_write import is_abandoned, open_atomic, write_atomic
from hornbeam.errors import StorageError

# Keeps the lock of a file until its input ends.
HOLDER = """
import fcntl, os, sys
handle = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
fcntl.flock(handle, fcntl.LOCK_EX)
print("locked", flush=True)
sys.stdin.read()
"""


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "model.hornbeam"
    path.write_bytes(b"old")
    return path


@pytest.fixture
def temporary(path):
    return path.with_name(".model.hornbeam.saving")


@pytest.mark.parametrize("private", [0o600, 0o640, 0o644])
def test_the_new_file_is_private_until_it_is_complete(path, temporary, private):
    path.chmod(private)
    before = os.umask(0)
    try:
        with open_atomic(path) as file:
            assert mode(temporary) == 0o600
            file.write(b"new")
            file.flush()
            assert mode(temporary) == 0o600
    finally:
        os.umask(before)
    assert (path.read_bytes(), mode(path)) == (b"new", private)
    assert not temporary.exists()


def test_a_new_file_has_the_default_permissions(tmp_path):
    before = os.umask(0o027)
    try:
        write_atomic(tmp_path / "new", [b"new"])
    finally:
        os.umask(before)
    assert mode(tmp_path / "new") == 0o640


def test_a_hard_link_at_the_temporary_name_is_not_written_through(tmp_path, path, temporary):
    other = tmp_path / "other"
    other.write_bytes(b"mine")
    temporary.hardlink_to(other)
    write_atomic(path, [b"new"])
    assert (other.read_bytes(), path.read_bytes()) == (b"mine", b"new")
    assert not temporary.exists()


@pytest.mark.parametrize("make", ["link", "broken link", "folder", "pipe"])
def test_anything_but_a_regular_file_at_the_temporary_name_is_refused(tmp_path, path, temporary, make):
    other = tmp_path / "other"
    if make == "folder":
        temporary.mkdir()
    elif make == "pipe":
        os.mkfifo(temporary)
    else:
        temporary.symlink_to(other)
    if make == "link":
        other.write_bytes(b"mine")
    with pytest.raises(StorageError, match=r"saving' is not a regular file; .* Delete it, then save again"):
        write_atomic(path, [b"new"])
    assert path.read_bytes() == b"old"
    assert other.exists() == (make == "link")
    if make == "link":
        assert other.read_bytes() == b"mine"


def test_a_lock_of_another_process_raises_an_error_after_the_timeout(path, temporary):
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(temporary)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert holder.stdout.readline() == "locked\n"
        message = r"saving' has been in use by another process for 0.1 seconds: .* Wait for it or end it"
        with pytest.raises(StorageError, match=message), open_atomic(path, timeout=0.1):
            pass
        assert path.read_bytes() == b"old"
    finally:
        holder.communicate()
    write_atomic(path, [b"new"])  # its lock ended with it
    assert path.read_bytes() == b"new"
    assert not temporary.exists()


def test_a_lock_on_the_renamed_file_does_not_block(path, temporary):
    """A process that waits for the lock of the temporary file gets that of the renamed one."""
    with open_atomic(path) as file:
        file.write(b"new")
        waiting = temporary.open("rb")
    with waiting:
        fcntl.flock(waiting, fcntl.LOCK_EX)
        write_atomic(path, [b"newer"])
    assert path.read_bytes() == b"newer"


def test_an_error_leaves_only_the_old_file(path, temporary):
    with pytest.raises(KeyboardInterrupt), open_atomic(path) as file:  # noqa: PT012
        file.write(b"half")
        raise KeyboardInterrupt
    assert path.read_bytes() == b"old"
    assert not temporary.exists()


def refuse_locks(monkeypatch, number):
    def flock(handle, operation):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", flock)


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS])
def test_files_are_written_without_locks_if_the_file_system_has_none(path, temporary, monkeypatch, number):
    refuse_locks(monkeypatch, number)
    write_atomic(path, [b"new"])
    assert path.read_bytes() == b"new"
    assert not temporary.exists()


def test_without_locks_the_file_of_another_process_is_kept_and_named(path, temporary, monkeypatch):
    refuse_locks(monkeypatch, errno.ENOLCK)
    temporary.write_bytes(b"half")
    assert not is_abandoned(temporary)
    with (
        pytest.raises(StorageError, match="If there is no such process, delete the file"),
        open_atomic(path, timeout=0.0),
    ):
        pass
    assert (temporary.read_bytes(), path.read_bytes()) == (b"half", b"old")


def test_an_error_of_the_lock_leaves_no_temporary_file(path, temporary, monkeypatch):
    refuse_locks(monkeypatch, errno.EIO)
    with pytest.raises(OSError, match=os.strerror(errno.EIO)):
        write_atomic(path, [b"new"])
    assert path.read_bytes() == b"old"
    assert not temporary.exists()


def test_a_group_that_cannot_be_kept_gets_no_permissions(path, monkeypatch):
    """A user namespace without the group gives EINVAL."""
    others = [group for group in (*os.getgroups(), 54321) if group != path.stat().st_gid]
    try:
        os.chown(path, -1, others[0])
    except PermissionError:
        pytest.skip("needs a user with two groups, or root")
    path.chmod(0o664)

    def fchown(handle, user, group):
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))

    monkeypatch.setattr(os, "fchown", fchown)
    write_atomic(path, [b"new"])
    assert (path.read_bytes(), mode(path)) == (b"new", 0o604)
