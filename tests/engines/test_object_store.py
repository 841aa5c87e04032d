"""Rows in an S3 server of this machine: the same tree, every prediction once, no credentials shown, faults survived."""

import itertools
import logging
import pickle
import re
import socket
import time
from urllib.parse import unquote

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("moto.server")
import pyarrow as pa
import pyarrow.parquet as pq
from benchmarks.faults.object_store import CREDENTIALS, Proxy, address, random_faults, s3_server
from pyarrow.fs import FileSelector, FileSystem

import hornbeam
from hornbeam import TreeClassifier
from hornbeam.data.engine import LocalEngine
from hornbeam.data.files import stores
from hornbeam.data.files.addresses import Address
from hornbeam.data.files.parquet import scan_parquet
from hornbeam.data.files.paths import list_files
from hornbeam.data.files.target_folder import TargetFolder
from hornbeam.engines import DaskEngine
from hornbeam.errors import DataError, HornbeamError
from hornbeam.out_of_core.fit import fit
from hornbeam.out_of_core.plan import Plan
from hornbeam.recipe import PRESETS
from support.recording_engines import Counting

N, GROUP = 1500, 250
KEY, SECRET = CREDENTIALS.values()
STREAMED = {"memory": 20_000}  # less than the rows need: they are read again in each pass


def frame():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(
        {"dose": rng.normal(size=N).round(2), "ward": rng.choice(["north", "east", "west"], N)}
    )
    rows["number"] = np.arange(N)
    rows["year"] = np.repeat([2022, 2023, 2024], N // 3)
    ill = (rows["dose"] > 0.3) ^ (rows["ward"] == "east") ^ (rows["year"] == 2023)
    rows["is"] = np.where(ill ^ (rng.random(N) < 0.1), "ill", "well")
    return rows


ROWS = frame()
PLAIN = ROWS.drop(columns=["year", "number"])


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """A folder of two files, and one of folders by year."""
    folder = tmp_path_factory.mktemp("rows")
    for part, begin in enumerate([0, 750]):
        end = N if part else 750
        to = folder / "plain" / f"part {part}.parquet"
        to.parent.mkdir(exist_ok=True)
        ROWS.drop(columns="year")[begin:end].to_parquet(to, row_group_size=GROUP, index=False)
    for year, some in ROWS.groupby("year"):
        to = folder / "by year" / f"year={year}" / "part-0.parquet"
        to.parent.mkdir(parents=True)
        some.drop(columns=["year", "number"]).to_parquet(to, row_group_size=GROUP, index=False)
    return folder


@pytest.fixture(scope="module")
def port(rows):
    """The port of a server that has these folders."""
    with pytest.MonkeyPatch.context() as patch, s3_server() as port:
        for name, text in CREDENTIALS.items():
            patch.setenv(name, text)
        store, bucket = FileSystem.from_uri(address("", port))
        for file in rows.rglob("*.parquet"):
            with store.open_output_stream(f"{bucket.rstrip('/')}/{file.relative_to(rows)}") as sink:
                sink.write(file.read_bytes())
        yield port


@pytest.fixture
def new_folder(port, request):
    """A function from a port to the address of a folder of the store that is not in use."""
    return lambda port=port: address(re.sub(r"\W", "-", request.node.name), port)


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(stores, "WAITS", (0.01, 0.02, 0.02, 0.02))


def with_credentials(text):
    return text.replace("s3://", f"s3://{KEY}:{SECRET}@")


def read_store(folder):
    """The files of a folder of the store, and their bytes."""
    store, path = FileSystem.from_uri(folder)
    files = {}
    for info in store.get_file_info(FileSelector(path, recursive=True)):
        with store.open_input_stream(info.path) as file:
            files[info.base_name] = file.read()
    return files


def read_predictions(folder):
    files = read_store(folder)
    tables = [
        pq.read_table(pa.BufferReader(files[name])) for name in sorted(files) if name.endswith("parquet")
    ]
    return pa.concat_tables(tables).to_pandas()


def tree_of(paths, **options):
    source = scan_parquet(paths, target="is", features=["dose", "ward"])
    return TreeClassifier("cart", max_depth=4).fit(source, **options).tree_


@pytest.fixture(scope="module")
def model():
    return TreeClassifier().fit(PLAIN.drop(columns="is"), PLAIN["is"])


# ---- the same tree, every prediction --------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, STREAMED], ids=["in memory", "streamed"])
def test_the_tree_of_a_store_is_that_of_the_disk(rows, port, options):
    stored = TreeClassifier().fit(address("plain", port), "is", **options)
    assert stored.feature_names_in_.tolist() == ["dose", "ward", "number"]
    assert stored.tree_.digest == TreeClassifier().fit(rows / "plain", "is", **options).tree_.digest
    one = address("plain/part%200.parquet", port)
    np.testing.assert_array_equal(stored.predict_proba(one), stored.predict_proba(ROWS[:750]))


@pytest.mark.parametrize(
    ("pattern", "files"),
    [
        ("plain/part*.parquet", ["plain/part 0.parquet", "plain/part 1.parquet"]),
        ("plain/part%20[1-9]*", ["plain/part 1.parquet"]),
        (
            "by%20year/year=202[24]/*.parquet",
            [f"by year/year={year}/part-0.parquet" for year in (2022, 2024)],
        ),
        ("**/part-0.parquet", [f"by year/year={year}/part-0.parquet" for year in (2022, 2023, 2024)]),
    ],
)
def test_a_pattern_names_the_files_it_matches(rows, port, pattern, files):
    assert list_files(rows / unquote(pattern)) == [str(rows / file) for file in files]
    found = list_files(with_credentials(address(pattern, port)))
    assert [unquote(file) for file in found] == [f"s3://bucket/{file}" for file in files]
    stored, local = (TreeClassifier("cart").fit(paths, "is") for paths in (found, rows / unquote(pattern)))
    assert stored.tree_.digest == local.tree_.digest


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("s3://bucket/plain/x*.parquet", r"No files match 's3://bucket/plain/x\*\.parquet'"),
        ("s3://bucket/none/*.parquet", "There is nothing at 's3://bucket/none'"),
        ("s3://bucket/none.parquet", "There is nothing at 's3://bucket/none.parquet'"),
        ("s3://none/rows.parquet", "There is no bucket 'none' at 's3://none/rows.parquet'"),
        ("s3://none/rows/*.parquet", "There is no bucket 'none' at 's3://none/rows'"),
        ("s3://none", "There is no bucket 'none' at 's3://none'"),
    ],
)
def test_what_a_store_does_not_have_is_named(port, text, message):
    options = address("", port).partition("?")[2]
    with pytest.raises(DataError, match=message):
        list_files(f"{text}?{options}")


def test_a_store_that_never_answered_is_not_waited_for():
    """One attempt of pyarrow, which repeats the request for six seconds."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))  # and does not listen
        begin = time.monotonic()
        with pytest.raises(
            DataError, match=r"'s3://nobody/rows' cannot be reached: .*connect.* Check the address"
        ):
            list_files(
                f"s3://nobody/rows?region=us-east-1&scheme=http&endpoint_override=127.0.0.1:{free.getsockname()[1]}"
            )
        assert time.monotonic() - begin < 15


def test_files_of_a_store_that_cannot_be_reached_are_not_taken_for_damaged():
    """Else each file of earlier predictions would be waited for, one after the other."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))  # and does not listen
        place = f"127.0.0.1:{free.getsockname()[1]}"
        folder = TargetFolder.of(f"s3://nobody/to?region=us-east-1&scheme=http&endpoint_override={place}")
        with pytest.raises(DataError, match="'s3://nobody/to' cannot be reached"):
            folder.content("part-00000000.parquet")


def test_a_page_with_a_wrong_checksum_is_refused_at_once(port, monkeypatch):
    """The file is damaged, not the store: no attempt is repeated."""
    monkeypatch.setattr(stores, "WAITS", ())
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"x": ROWS["dose"], "is": ROWS["is"]}), sink, write_page_checksum=True)
    content = bytearray(sink.getvalue())
    content[200] ^= 1
    store, bucket = FileSystem.from_uri(address("", port))
    with store.open_output_stream(f"{bucket.rstrip('/')}/damaged.parquet") as file:
        file.write(bytes(content))
    with pytest.raises(DataError, match=r"damaged\.parquet' cannot be read as Parquet: .*page integrity"):
        TreeClassifier().fit(address("damaged.parquet", port), "is")


@pytest.mark.long
def test_workers_of_dask_read_the_store_and_write_to_it(rows, port, model, dask_processes, new_folder):
    """The credentials are in the address: these workers may lack them in their environment."""
    X, to = with_credentials(address("plain", port)), with_credentials(new_folder())
    source = scan_parquet(X, target="is", features=["dose", "ward"], engine=DaskEngine(dask_processes))
    estimator = TreeClassifier("cart", max_depth=4)
    classifier = estimator.fit(source, engine=DaskEngine(dask_processes), **STREAMED)
    assert classifier.tree_.digest == tree_of(rows / "plain", **STREAMED).digest
    written = model.predict_to(X, to, keep=["number"], engine=DaskEngine(dask_processes))
    assert written.n_rows == N
    assert read_predictions(to)["number"].tolist() == list(range(N))


def test_predictions_in_a_store_are_complete_and_continued(port, model, new_folder):
    X, to = address("plain", port), new_folder()
    written = model.predict_to(X, to, keep=["number"])
    assert (written.n_rows, written.n_written, len(written.files)) == (N, N, 6)
    found = read_predictions(to)
    np.testing.assert_array_equal(found[["p_ill", "p_well"]], model.predict_proba(PLAIN.drop(columns="is")))
    store, path = FileSystem.from_uri(to)
    for name in ("_manifest.json", written.files[1], written.files[4]):
        store.delete_file(f"{path}/{name}")
    again = model.predict_to(with_credentials(X), with_credentials(to), keep=["number"])
    assert again.n_written == 2 * GROUP
    pd.testing.assert_frame_equal(read_predictions(to), found)
    assert model.predict_to(X, to, keep=["number"]).n_written == 0


# ---- columns in folder names ------------------------------------------------------------------------------


def test_folder_names_are_columns_on_disk_and_in_a_store(rows, port):
    expected = TreeClassifier().fit(PLAIN.drop(columns="is").assign(year=ROWS["year"]), PLAIN["is"])
    assert 2 in expected.tree_.skeleton.feature, "the tree uses the year"
    for paths in (rows / "by year", address("by%20year", port)):
        classifier = TreeClassifier().fit(paths, "is")
        assert classifier.feature_names_in_.tolist() == ["dose", "ward", "year"]
        assert classifier.tree_.digest == expected.tree_.digest
        X = ROWS[["dose", "ward", "year"]]
        np.testing.assert_array_equal(classifier.predict_proba(paths), expected.predict_proba(X))


# ---- no credentials ----------------------------------------------------------------------------------------


def test_credentials_are_in_no_file_log_or_message(port, tmp_path, model, new_folder, caplog):
    caplog.set_level(logging.DEBUG)
    X, to = with_credentials(address("plain", port)), with_credentials(new_folder())
    source = scan_parquet(X, target="is", features=["dose", "ward"])
    plan = Plan.of(source, PRESETS["default"], memory=20_000)
    options = {"plan": plan, "cache": tmp_path / "cache", "checkpoint": tmp_path / "checkpoint"}
    tree = fit(source, PRESETS["default"], LocalEngine(n_tasks=3), **options)
    hornbeam.save(tree, tmp_path / "tree.hornbeam")
    hornbeam.save(TreeClassifier().fit(X, "is"), tmp_path / "model.hornbeam")
    written = model.predict_to(X, to)
    messages = []
    for call in (
        lambda: TreeClassifier().fit(X, "no column"),
        lambda: TreeClassifier().fit(X.replace("plain", "nothing"), "is"),
        lambda: TreeClassifier().fit(X.replace("region=", "no option="), "is"),
        lambda: TreeClassifier().fit(source, "is", "dose"),
        lambda: TreeClassifier("cart").fit(source).predict_to(X, to),
        lambda: model.predict_to(X, to, keep=["no column"]),
    ):
        with pytest.raises(HornbeamError) as caught:
            call()
        error = caught.value
        while error is not None:
            messages.append(str(error))
            error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    files = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    texts = [
        repr(source),
        repr(source.partitions()),
        repr(written),
        str(written.path),
        caplog.text,
        *messages,
    ]
    kept = [*files, *read_store(to).values(), *(text.encode() for text in texts)]
    assert len(files) >= 3
    assert not [one[:200] for one in kept if SECRET.encode() in one or KEY.encode() in one]
    same = scan_parquet(address("plain", port), target="is", features=["dose", "ward"])
    assert source.fingerprint == same.fingerprint, "a new key does not make other rows"


def test_an_address_keeps_its_credentials_when_it_is_pickled():
    sent = pickle.loads(pickle.dumps(Address("s3://key:secret@bucket/rows?region=r").below("a b")))
    assert (sent, sent.full) == ("s3://bucket/rows/a%20b", "s3://key:secret@bucket/rows/a%20b?region=r")
    assert Address(sent).full == sent.full


def test_an_address_keeps_its_credentials_on_the_command_line(port):
    rows = pytest.importorskip("hornbeam.cli.rows")
    given = with_credentials(address("plain", port))
    path = rows.FilePath().convert(given, None, None)
    assert path.full == given
    assert all(file.full.startswith(f"s3://{KEY}:{SECRET}@bucket/plain/part") for file in list_files(path))


def test_the_command_line_shows_no_credentials(port, tmp_path, new_folder):
    testing = pytest.importorskip("click.testing")
    from hornbeam.cli.group import hornbeam as command

    X, model = with_credentials(address("by%20year", port)), str(tmp_path / "model.hornbeam")
    printed = ""
    for words, works in (
        (["fit", X, "--target", "is", "-o", model], True),
        (["score", model, X, "--target", "is"], True),
        (["predict", model, X, "-o", with_credentials(new_folder())], True),
        (["fit", X, "--target", "none", "-o", model], False),
    ):
        done = testing.CliRunner().invoke(command, words)
        assert (done.exit_code == 0) == works, done.output
        printed += done.output
    assert hornbeam.load(model).feature_names_in_.tolist() == ["dose", "ward", "year"]
    assert len(read_predictions(new_folder())) == N
    assert "s3://bucket/by%20year" in printed
    assert SECRET not in printed


# ---- faults -------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_a_fit_and_predictions_through_a_faulty_store(rows, port, model, new_folder):
    """A short version of `benchmarks.faults.faulty_store`; a request that hangs does so for a second."""
    with Proxy(port, random_faults(seed=3), hang=1.0) as proxy:
        assert tree_of(address("plain", proxy.port)).digest == tree_of(rows / "plain").digest
        to = new_folder(proxy.port)
        written = model.predict_to(address("plain", proxy.port), to, keep=["number"])
    assert written.n_rows == N
    assert read_predictions(new_folder())["number"].tolist() == list(range(N))
    assert {"busy", "reset", "cut"} <= set(proxy.faults), proxy.faults


@pytest.mark.usefixtures("quick")
def test_an_answer_that_pyarrow_does_not_repeat_is_repeated(rows, port):
    """A response without the size of the file, because it was cut in its header."""
    expected = tree_of(rows / "plain").digest
    with Proxy(
        port, lambda asked: "cut" if asked.method == "HEAD" and asked.earlier % 2 == 0 else None
    ) as proxy:
        assert tree_of(address("plain", proxy.port)).digest == expected
        assert proxy.faults["cut"] > 5


@pytest.mark.usefixtures("quick")
def test_the_error_after_the_last_attempt_names_file_and_attempts(port):
    with (
        Proxy(
            port, lambda asked: "cut" if asked.method == "HEAD" and "part" in asked.target else None
        ) as proxy,
        pytest.raises(
            DataError, match=r"'s3://bucket/plain/part%200.parquet' cannot be reached: .* after 5 attempts"
        ),
    ):
        TreeClassifier().fit(address("plain/part%200.parquet", proxy.port), "is")
    assert max(asked.earlier for asked in proxy.requests) < 8


@pytest.mark.parametrize("method", ["HEAD", "GET", "PUT"])
def test_what_was_refused_is_not_repeated(port, model, method, new_folder):
    def denied(asked):
        wanted = {
            "PUT": asked.method in ("PUT", "POST"),
            "GET": asked.reads_object,
            "HEAD": asked.method == "HEAD",
        }
        return "denied" if wanted[method] else None

    with (
        Proxy(port, denied) as proxy,
        pytest.raises(DataError, match=r"(?i)access.denied.* Check the address") as caught,
    ):
        model.predict_to(
            with_credentials(address("plain", proxy.port)), with_credentials(new_folder(proxy.port))
        )
    assert proxy.faults["denied"] == 1
    assert KEY not in str(caught.value)


def test_a_file_that_is_gone_is_not_repeated(port):
    with (
        Proxy(port) as proxy,
        pytest.raises(DataError, match=r"There is nothing at 's3://bucket/plain/none.parquet'"),
    ):
        TreeClassifier().fit(address("plain/none.parquet", proxy.port), "is")
    assert len(proxy.requests) == 3, "the file, a folder of this name, the bucket"


# ---- how often rows are read --------------------------------------------------------------------------------


class Watching(Counting):
    """An engine that notes the requests of each pass."""

    def __init__(self, proxy):
        super().__init__()
        self.proxy, self.passes = proxy, []

    def reduce(self, *arguments, **options):
        begin = len(self.proxy.requests)
        result = super().reduce(*arguments, **options)
        self.passes.append(self.proxy.requests[begin:])
        return result


@pytest.mark.long
def test_a_pass_reads_every_row_group_once(rows, port):
    sizes = {
        f"/bucket/{path.relative_to(rows)}".replace(" ", "%20"): path.stat().st_size
        for path in rows.rglob("*.parquet")
    }
    with Proxy(port) as proxy:
        engine = Watching(proxy)
        source = scan_parquet(address("plain", proxy.port), target="is", engine=engine)
        TreeClassifier("cart", max_depth=3).fit(source, engine=engine, cache=False, **STREAMED)
    n_full = 0
    for requests in engine.passes:
        spans = sorted(
            (asked.target, *map(int, asked.range.removeprefix("bytes=").split("-")))
            for asked in requests
            if asked.reads_object
        )
        data = [span for span in spans if span[2] < sizes[span[0]] - 1]  # the others are footers
        assert len(data) in (0, N // GROUP)
        assert all(a[0] != b[0] or a[2] < b[1] for a, b in itertools.pairwise(data)), "no byte twice"
        n_full += bool(data)
    assert n_full > 3
