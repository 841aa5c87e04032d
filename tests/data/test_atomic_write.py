"""Atomic writing: permissions are kept, links are not followed, and waiting for a lock ends after a timeout."""

import errno
import os
import stat
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import pytest

from hornbeam.data.files.atomic_write import is_abandoned, open_atomic, write_atomic
from hornbeam.errors import StorageError

if sys.platform != "win32":
    import fcntl

posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has other permissions, links and locks")

# Writes a file and does not end.
HOLDER = """
import sys
from hornbeam.data.files.atomic_write import open_atomic
with open_atomic(sys.argv[1]) as file:
    file.write(b"half")
    file.flush()
    print("locked", flush=True)
    sys.stdin.read()
"""
# Replaces a file many times.
WRITER = """
import sys
from hornbeam.data.files.atomic_write import write_atomic
for number in range(40):
    write_atomic(sys.argv[1], [sys.argv[2].encode() * 1000])
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


@posix
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


@posix
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
    if sys.platform == "win32" and make != "folder":
        pytest.skip("needs rights that users do not have, or does not exist")
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
        [sys.executable, "-c", HOLDER, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert holder.stdout.readline() == "locked\n"
        assert not is_abandoned(temporary)
        message = (
            r"saving(\.lock)?' has been in use by another process for 0.1 seconds: .* Wait for it or end it"
        )
        with pytest.raises(StorageError, match=message), open_atomic(path, timeout=0.1):
            pass
        assert path.read_bytes() == b"old"
    finally:
        holder.kill()
        holder.communicate()
    assert is_abandoned(temporary)
    write_atomic(path, [b"new"])  # its lock ended with it
    assert path.read_bytes() == b"new"
    assert list(path.parent.iterdir()) == [path]


@posix
def test_the_timeout_begins_anew_with_each_process_that_gets_the_lock(tmp_path, path, temporary, monkeypatch):
    """Where many processes save to one path, one of them may wait longer than the timeout."""
    now, owners = 0.0, []

    def next_owner():
        owners.append((tmp_path / "owner").open("wb"))
        fcntl.flock(owners[-1], fcntl.LOCK_EX)
        (tmp_path / "owner").rename(temporary)

    def sleep(seconds):
        nonlocal now
        now += seconds
        if now > 10:  # the last owner ends
            owners[-1].close()
        elif now > len(owners):  # each has it for one second
            next_owner()

    clock = SimpleNamespace(monotonic=lambda: now, sleep=sleep)
    monkeypatch.setattr("hornbeam.data.files.atomic_write.time", clock)
    next_owner()
    with open_atomic(path, timeout=2.0) as file:
        file.write(b"new")
    assert len(owners) == 10
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]
    for owner in owners:
        owner.close()


def test_processes_that_replace_the_same_file_do_not_disturb_each_other(path):
    """No process deletes the file of another one, not even on Windows, where a file is closed before it is renamed."""
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(path), name]) for name in "abc"]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    assert path.read_bytes() in [name * 1000 for name in (b"a", b"b", b"c")]
    assert list(path.parent.iterdir()) == [path]


def test_on_windows_a_file_that_another_program_has_open_is_replaced_when_it_closes_it(path, monkeypatch):
    if sys.platform == "win32":
        reader = path.open("rb")
        threading.Timer(0.3, reader.close).start()
    else:  # a rename that is refused at first
        begin, replace = time.monotonic(), os.replace

        def refusing(source, target):
            if time.monotonic() < begin + 0.3:
                raise PermissionError(errno.EACCES, "Access is denied")
            replace(source, target)

        monkeypatch.setattr(os, "replace", refusing)
        monkeypatch.setattr(sys, "platform", "win32")
    write_atomic(path, [b"new"])
    assert path.read_bytes() == b"new"
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize(("seconds", "saved"), [(0.3, True), (9.0, False)])
def test_on_windows_the_name_of_a_deleted_file_may_be_in_use_for_a_while(path, monkeypatch, seconds, saved):
    begin, opened = time.monotonic(), os.open

    def refusing(name, flags, *mode):
        if flags & os.O_CREAT and time.monotonic() < begin + seconds:
            raise PermissionError(errno.EACCES, "Access is denied")
        return opened(name, flags, *mode)

    monkeypatch.setattr("hornbeam.data.files.atomic_write._OPEN_ELSEWHERE", 1.0)
    monkeypatch.setattr(os, "open", refusing)
    monkeypatch.setattr(sys, "platform", "win32")
    if saved:
        write_atomic(path, [b"new"])
    else:
        with pytest.raises(PermissionError, match="Access is denied"):
            write_atomic(path, [b"new"])
    assert path.read_bytes() == (b"new" if saved else b"old")
    assert list(path.parent.iterdir()) == [path]


def test_on_windows_a_file_that_stays_open_raises_an_error_and_is_unchanged(path, monkeypatch):
    def refusing(source, target):
        raise PermissionError(errno.EACCES, "Access is denied")

    monkeypatch.setattr("hornbeam.data.files.atomic_write._OPEN_ELSEWHERE", 0.1)
    monkeypatch.setattr(os, "replace", refusing)
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(PermissionError, match="Access is denied"):
        write_atomic(path, [b"new"])
    assert path.read_bytes() == b"old"
    assert list(path.parent.iterdir()) == [path]


@posix
def test_a_lock_on_the_renamed_file_does_not_block(path, temporary):
    """A process that waits for the lock of the temporary file gets that of the renamed one."""
    with open_atomic(path) as file:
        file.write(b"new")
        waiting = temporary.open("rb")
    with waiting:
        fcntl.flock(waiting, fcntl.LOCK_EX)
        write_atomic(path, [b"newer"])
    assert path.read_bytes() == b"newer"


def test_the_file_of_a_killed_process_is_replaced_without_waiting(path, temporary):
    temporary.write_bytes(b"half")
    with open_atomic(path, timeout=0.0) as file:
        file.write(b"new")
    assert path.read_bytes() == b"new"
    assert list(path.parent.iterdir()) == [path]


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


@posix
@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS])
def test_files_are_written_without_locks_if_the_file_system_has_none(path, temporary, monkeypatch, number):
    refuse_locks(monkeypatch, number)
    write_atomic(path, [b"new"])
    assert path.read_bytes() == b"new"
    assert not temporary.exists()


@posix
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


@posix
def test_an_error_of_the_lock_leaves_no_temporary_file(path, temporary, monkeypatch):
    refuse_locks(monkeypatch, errno.EIO)
    with pytest.raises(OSError, match=os.strerror(errno.EIO)):
        write_atomic(path, [b"new"])
    assert path.read_bytes() == b"old"
    assert not temporary.exists()


@posix
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
