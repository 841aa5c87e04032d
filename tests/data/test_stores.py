"""Which errors of a store are repeated, how often, and after which waits."""

import pytest

from hornbeam.data.files import stores
from hornbeam.data.files.stores import in_store, open_parquet, read_file, read_in_turn
from hornbeam.errors import DataError

ADDRESS = "file:///rows/a.parquet"
SEEN = "When reading information for key 'denied/404/a.parquet' in bucket 'signature': AWS Error "


@pytest.fixture
def waits(monkeypatch):
    waited = []
    monkeypatch.setattr(stores, "sleep", waited.append)
    return waited


class Failing:
    """A call that fails a number of times with an error."""

    def __init__(self, error, times):
        self.error, self.left, self.n_calls = error, times, 0

    def __call__(self, store, path):
        self.n_calls += 1
        if self.left:
            self.left -= 1
            raise self.error
        return path


@pytest.mark.parametrize(
    "text",
    [
        f"{SEEN}SLOW_DOWN during GetObject operation: Please reduce your request rate.",
        f"{SEEN}UNKNOWN (HTTP status 503) during HeadObject operation: No response body.",
        f"{SEEN}NETWORK_CONNECTION during GetObject operation: curlCode: 18, Transferred a partial file",
        f"{SEEN}NO_SUCH_UPLOAD during CompleteMultipartUpload operation: The upload does not exist",
        "could not connect to 127.0.0.1:404",
    ],
)
def test_transient_errors_are_repeated_with_growing_waits(text, waits):
    call = Failing(OSError(text), 4)
    assert in_store(ADDRESS, call) == "/rows/a.parquet"
    assert waits == [1, 2, 4, 8]


def test_the_last_error_tells_the_number_of_attempts(waits):
    call = Failing(OSError("the store is busy."), 9)
    with pytest.raises(
        DataError, match=r"'file:///rows/a.parquet' cannot be reached: the store is busy, after 5 "
    ):
        in_store(ADDRESS, call)
    assert (call.n_calls, waits) == (5, [1, 2, 4, 8])


@pytest.mark.parametrize(
    "text",
    [
        f"{SEEN}ACCESS_DENIED during HeadObject operation: No response body.",
        f"{SEEN}INVALID_ACCESS_KEY_ID during GetObject operation: The key does not exist in our records.",
        f"{SEEN}SIGNATURE_DOES_NOT_MATCH during GetObject operation: Check your key.",
        f"{SEEN}UNKNOWN (HTTP status 403) during HeadObject operation: No response body.",
        f"{SEEN}NO_SUCH_BUCKET during ListObjectsV2 operation: The specified bucket does not exist",
        "GetToken(): ManagedIdentityCredential: Authentication did not succeed",
    ],
)
def test_lasting_errors_are_not_repeated(text, waits):
    call = Failing(OSError(text), 1)
    with pytest.raises(
        DataError, match=r"cannot be reached.* Check the address, the network and the credentials"
    ):
        in_store(ADDRESS, call)
    assert (call.n_calls, waits) == (1, [])


def test_files_that_are_absent_or_damaged_are_not_repeated(tmp_path, waits):
    damaged = tmp_path / "damaged.parquet"
    damaged.write_bytes(b"PAR1 and so on")
    for path, message in ((damaged, "cannot be read as Parquet"), (tmp_path / "absent", "There is no file")):
        with pytest.raises(DataError, match=message):
            read_file(path.as_uri(), open_parquet)
    assert waits == []


@pytest.mark.parametrize("content", [b"", b"PAR1 and so on"])
def test_the_message_about_a_damaged_file_has_whole_sentences(tmp_path, content):
    damaged = tmp_path / "damaged.parquet"
    damaged.write_bytes(content)
    with pytest.raises(DataError, match=r"[a-z]\. Write it again, or leave it out\.$"):
        read_file(str(damaged), open_parquet)


def test_errors_on_a_disk_are_not_repeated(waits):
    call = Failing(OSError("input/output error"), 1)
    with pytest.raises(OSError, match="input/output error"):
        in_store("/rows/a.parquet", call)
    assert (call.n_calls, waits) == (1, [])


def test_parts_are_read_on_after_a_transient_error(tmp_path, waits):
    """The error comes while the second part is read, twice; no part is lost or repeated."""
    (tmp_path / "letters").write_bytes(b"abc")
    tries = []

    def read(opened):
        tries.append(opened)
        for letter in opened.read().decode():
            if letter == "b" and len(tries) < 3:
                raise OSError("connection reset")
            yield letter

    assert list(read_in_turn((tmp_path / "letters").as_uri(), read)) == ["a", "b", "c"]
    assert waits == [1, 2]
