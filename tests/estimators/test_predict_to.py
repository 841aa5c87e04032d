"""`predict_to` writes the predictions of all rows once, in order, whatever interrupts it."""

import json
import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam import (
    BoostedTreesClassifier,
    BoostedTreesRanker,
    BoostedTreesRegressor,
    ForestClassifier,
    ForestRegressor,
    RuleClassifier,
    TreeClassifier,
    TreeRegressor,
    save,
)
from hornbeam.data.engine import LocalEngine
from hornbeam.data.files.parquet import scan_parquet
from hornbeam.data.sources import MemorySource
from hornbeam.errors import DataError, EngineError, ParameterError, StorageError
from hornbeam.tree import Table

pytest.importorskip("pyarrow")
import pyarrow.parquet as pq

N = 900
RNG = np.random.default_rng(0)
ROWS = pd.DataFrame(
    {
        "dose": RNG.normal(size=N).round(2),
        "ward": RNG.choice(["north", "east", "west", None], N),
        "noise": RNG.normal(size=N),
    }
)
ROWS.loc[RNG.random(N) < 0.1, "dose"] = np.nan
LABELS = np.where((ROWS["dose"] > 0.3) ^ (ROWS["ward"] == "east") ^ (RNG.random(N) < 0.1), "ill", "well")
NUMBERS = ROWS["noise"].to_numpy() + (ROWS["dose"] > 0)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    rows = ROWS.assign(number=np.arange(N), name=[f"row {at}" for at in range(N)])
    for part, (begin, end) in enumerate([(0, 400), (400, 401), (401, N)]):
        rows[begin:end].to_parquet(folder / f"{part}.parquet", row_group_size=130)
    return folder


def read(folder):
    """All rows of a folder, in the order of the file names."""
    return pd.concat([pq.read_table(file).to_pandas() for file in sorted(folder.glob("*.parquet"))])


@pytest.mark.parametrize(
    "estimator",
    [
        TreeClassifier("cart", smoothing="hgs"),
        TreeClassifier("c4.5"),  # sends missing values to all branches
        TreeClassifier(slopes=2, max_depth=2),
        TreeClassifier(costs={("ill", "well"): 3.0}, max_depth=3),
        ForestClassifier(n_estimators=3, class_weight="balanced"),
        BoostedTreesClassifier(n_estimators=3),
        RuleClassifier(),
    ],
    ids=lambda estimator: repr(estimator).replace("/", "-"),
)
def test_classifiers_write_what_they_predict_in_memory(estimator, files, tmp_path):
    some = slice(150) if getattr(estimator, "slopes", 0) == 2 else slice(N)
    estimator.fit(ROWS[some], LABELS[some])
    written = estimator.predict_to(files, tmp_path / "to", keep=["number", "name"])
    found = read(tmp_path / "to")
    assert list(found) == list(written.columns) == ["number", "name", "prediction", "p_ill", "p_well"]
    assert found["number"].tolist() == list(range(N))
    assert found["name"].tolist() == [f"row {at}" for at in range(N)]
    assert found["prediction"].tolist() == estimator.predict(ROWS).tolist()
    np.testing.assert_array_equal(found[["p_ill", "p_well"]], estimator.predict_proba(ROWS))


@pytest.mark.parametrize(
    "estimator",
    [TreeRegressor("cart"), ForestRegressor(n_estimators=3), BoostedTreesRegressor(n_estimators=3)],
    ids=lambda estimator: type(estimator).__name__,
)
def test_regressors_write_what_they_predict_in_memory(estimator, files, tmp_path):
    estimator.fit(ROWS, NUMBERS)
    estimator.predict_to(files, tmp_path)
    np.testing.assert_array_equal(read(tmp_path)["prediction"], estimator.predict(ROWS))


def test_a_ranker_writes_its_scores(files, tmp_path):
    ranker = BoostedTreesRanker(n_estimators=3).fit(
        ROWS, RNG.integers(0, 3, N), np.repeat(np.arange(N // 9), 9)
    )
    ranker.predict_to(files, tmp_path)
    np.testing.assert_array_equal(read(tmp_path)["prediction"], ranker.predict(ROWS))


@pytest.mark.parametrize("preset", ["cart", "c4.5"])
def test_leaves_intervals_and_reasons_are_those_of_the_methods(preset, files, tmp_path):
    clf = TreeClassifier(preset, max_depth=3).fit(ROWS, LABELS)
    clf.predict_to(files, tmp_path, leaf=True, level=0.8, reasons=2)
    found, (low, high) = read(tmp_path), clf.predict_interval(ROWS, level=0.8)
    np.testing.assert_array_equal(found["leaf"], clf.apply(ROWS))
    np.testing.assert_array_equal(found[["low_ill", "low_well"]], low)
    np.testing.assert_array_equal(found[["high_ill", "high_well"]], high)
    expected = [[str(reason) for reason in row.reasons(n=2)] for row in clf.explain(ROWS)]
    texts = found[["reason_1", "reason_2"]].astype(object).to_numpy()
    assert [[text for text in row if isinstance(text, str)] for row in texts] == expected


def test_quantiles_are_columns(files, tmp_path):
    reg = TreeRegressor(distribution=True).fit(ROWS, NUMBERS)
    reg.predict_to(files, tmp_path / "to", leaf=True, quantiles=[0.1, 0.5])
    found = read(tmp_path / "to")
    assert list(found) == ["prediction", "q10", "q50", "leaf"]
    np.testing.assert_array_equal(found[["q10", "q50"]], reg.predict_quantile(ROWS, [0.1, 0.5]))
    with pytest.raises(StorageError):  # other columns
        reg.predict_to(files, tmp_path / "to", leaf=True, quantiles=[0.1, 0.6])


def test_reasons_and_intervals_of_a_mean(files, tmp_path):
    reg = TreeRegressor("cart", max_depth=2).fit(ROWS, NUMBERS)
    reg.predict_to(files, tmp_path, level=0.9, reasons=1)
    found = read(tmp_path)
    assert list(found) == ["prediction", "low", "high", "reason_1"]
    np.testing.assert_array_equal(found["high"], reg.predict_interval(ROWS)[1].ravel())
    assert found["reason_1"].tolist() == [str(row.reasons()[0]) for row in reg.explain(ROWS)]


def test_rows_with_fewer_reasons_have_missing_values(files, tmp_path):
    """Also where no row of a file has as many: the type of the column is the same in all files."""
    clf = TreeClassifier("cart", max_depth=2).fit(ROWS, LABELS)
    clf.predict_to(files, tmp_path, reasons=4)
    expected = [[str(reason) for reason in row.reasons()] for row in clf.explain(ROWS)]
    found = read(tmp_path)[[f"reason_{at}" for at in (1, 2, 3, 4)]].astype(object).to_numpy()
    assert [[text for text in row if isinstance(text, str)] for row in found] == expected
    assert len({str(pq.read_schema(file)) for file in tmp_path.glob("*.parquet")}) == 1


def test_labels_keep_their_type(tmp_path):
    X = [[0.0], [1.0]] * 5
    for name, labels in (("whole", [3, 7]), ("truth", [False, True]), ("real", [0.0, 1.0])):
        clf = TreeClassifier("cart").fit(X, labels * 5)
        clf.predict_to(np.array(X), tmp_path / name)
        assert read(tmp_path / name)["prediction"].tolist() == labels * 5


@given(
    st.lists(st.integers(1, 40), min_size=1, max_size=4),
    st.integers(1, 50),
    st.integers(1, 5),
    st.booleans(),
    st.data(),
)
def test_units_row_groups_and_engines_do_not_matter(sizes, group, tasks, reverse, data):
    """Any division into files and row groups, any lost files of an earlier call."""
    import tempfile
    from pathlib import Path

    rows = ROWS[: sum(sizes)].assign(number=np.arange(sum(sizes)))
    with tempfile.TemporaryDirectory() as place:
        begin = 0
        for at, size in enumerate(sizes):
            rows[begin : begin + size].to_parquet(f"{place}/{at}.parquet", row_group_size=group)
            begin += size
        to = Path(place, "to")
        paths = [f"{place}/{at}.parquet" for at in range(len(sizes))]
        engine = LocalEngine(n_jobs=2, n_tasks=tasks, reverse=reverse)
        written = TREE.predict_to(paths, to, keep=["number"], engine=engine)
        assert len(written.files) == sum(-(-size // group) for size in sizes)
        first = {file.name: file.read_bytes() for file in to.iterdir()}
        lost = data.draw(st.lists(st.sampled_from([*written.files, "_manifest.json"]), unique=True))
        for name in lost:
            (to / name).unlink()
        again = TREE.predict_to(paths, to, keep=["number"])
        assert {file.name: file.read_bytes() for file in to.iterdir()} == first
        assert again.n_written == sum(
            part["rows"] for part in json.loads(first["_manifest.json"])["parts"] if part["file"] in lost
        )
        found = read(to)
        assert found["number"].tolist() == rows["number"].tolist()
        np.testing.assert_array_equal(found["p_ill"], TREE.predict_proba(rows[list(ROWS)])[:, 0])


TREE = TreeClassifier("cart", max_depth=4).fit(ROWS, LABELS)


def test_the_manifest_lists_files_rows_and_digests(files, tmp_path):
    TREE.predict_to(files, tmp_path)
    manifest = json.loads((tmp_path / "_manifest.json").read_text())
    assert manifest["model"] == TREE.tree_.digest
    assert manifest["rows"] == N == sum(part["rows"] for part in manifest["parts"])
    assert [part["of"]["group"] for part in manifest["parts"]] == [0, 1, 2, 3, 0, 0, 1, 2, 3]
    for part in manifest["parts"]:
        file = tmp_path / part["file"]
        assert (file.stat().st_size, pq.read_metadata(file).num_rows) == (part["bytes"], part["rows"])


def test_only_the_columns_that_the_tree_uses_are_read(tmp_path):
    used = TreeClassifier("cart", max_depth=1).fit(ROWS, LABELS)
    [name] = used._used_features()
    ROWS[[name]].to_parquet(tmp_path / "rows.parquet")
    used.predict_to(tmp_path / "rows.parquet", tmp_path / "to")
    np.testing.assert_array_equal(read(tmp_path / "to")["p_ill"], used.predict_proba(ROWS)[:, 0])
    with pytest.raises(DataError, match="has no column"):
        TREE.predict_to(tmp_path / "rows.parquet", tmp_path / "more")


def test_a_tree_without_splits_predicts_all_rows(files, tmp_path):
    stump = TreeClassifier("cart", min_samples_leaf=N).fit(ROWS, LABELS)
    assert stump.tree_.n_leaves == 1
    assert stump.predict_to(files, tmp_path).n_rows == N == len(read(tmp_path))


def test_sources_and_rows_in_memory(files, tmp_path):
    expected = TREE.predict_proba(ROWS)[:, 0]
    source = scan_parquet(files, target=None, schema=TREE.tree_.schema)
    blocks = MemorySource(Table.read(ROWS, schema=TREE.tree_.schema), block=100)
    for name, X, n_files in (("source", source, 9), ("blocks", blocks, 9), ("frame", ROWS, 1)):
        assert len(TREE.predict_to(X, tmp_path / name).files) == n_files
        np.testing.assert_array_equal(read(tmp_path / name)["p_ill"], expected)


def test_a_source_with_other_categories_is_refused(files, tmp_path):
    """Its codes would be taken for other categories."""
    other = scan_parquet(files / "1.parquet", target=None, features=list(ROWS))
    for predict in (TREE.predict_proba, lambda X: TREE.predict_to(X, tmp_path / "to")):
        with pytest.raises(ParameterError, match="the feature 'ward' has other categories"):
            predict(other)
    narrow = scan_parquet(files, target=None, features=["ward"])
    with pytest.raises(ParameterError, match="the feature 'dose' is absent"):
        TREE.predict_to(narrow, tmp_path / "to")


def test_folders_of_something_else_are_refused(files, tmp_path):
    TREE.predict_to(files, tmp_path / "to")
    other = TreeClassifier("cart", max_depth=2).fit(ROWS, LABELS)
    before = {file.name: file.read_bytes() for file in (tmp_path / "to").iterdir()}
    for call, what in (
        (lambda: other.predict_to(files, tmp_path / "to"), "another job: model, "),
        (lambda: TREE.predict_to(files / "0.parquet", tmp_path / "to"), "source differ"),
        (lambda: TREE.predict_to(files, tmp_path / "to", leaf=True), "leaf, columns differ"),
        (lambda: TREE.predict_to(files, tmp_path / "to", keep=["name"]), "columns differ"),
        (lambda: TREE.predict_to(ROWS, files), "3 other Parquet files"),
    ):
        with pytest.raises(StorageError, match=what):
            call()
    assert {file.name: file.read_bytes() for file in (tmp_path / "to").iterdir()} == before
    (tmp_path / "to" / "mine.parquet").touch()
    with pytest.raises(StorageError, match="1 other Parquet files, 'mine"):
        TREE.predict_to(files, tmp_path / "to")
    (tmp_path / "to" / "_job.json").write_text("[")
    with pytest.raises(StorageError, match="damaged"):
        TREE.predict_to(files, tmp_path / "to")
    with pytest.raises(StorageError, match="is a file"):
        TREE.predict_to(files, tmp_path / "to" / "mine.parquet")


def truncate(file):
    file.write_bytes(file.read_bytes()[:-1])


def replace_by_a_link(file):
    (file.parent.parent / "else").write_bytes(file.read_bytes())
    file.unlink()
    file.symlink_to(file.parent.parent / "else")


def replace_by_a_folder(file):
    file.unlink()
    file.mkdir()


def replace_by_a_pipe(file):
    file.unlink()
    os.mkfifo(file)


@pytest.mark.parametrize(
    "damage",
    [
        lambda file: file.write_bytes(b""),
        lambda file: file.write_bytes(b"PAR1garbage"),
        lambda file: file.write_bytes(file.read_bytes()[:-308] + b"\xff" * 300 + file.read_bytes()[-8:]),
        truncate,
        lambda file: pq.write_table(pq.read_table(file).slice(1), file),
        lambda file: pq.write_table(pq.read_table(file).drop_columns("p_ill"), file),
    ],
    ids=["empty", "garbage", "damaged footer", "truncated", "one row less", "one column less"],
)
def test_parts_that_are_not_complete_are_written_again(damage, files, tmp_path):
    to = tmp_path / "to"
    TREE.predict_to(files, to)
    before = {file.name: file.read_bytes() for file in to.iterdir()}
    damage(to / "part-00000005.parquet")
    (to / "_manifest.json").write_text("[")
    assert TREE.predict_to(files, to).n_written == 130
    assert {file.name: file.read_bytes() for file in to.iterdir()} == before


@pytest.mark.skipif(sys.platform == "win32", reason="links and pipes")
@pytest.mark.parametrize("replace", [replace_by_a_link, replace_by_a_folder, replace_by_a_pipe])
@pytest.mark.parametrize("name", ["part-00000005.parquet", "other.parquet", "_job.json", "_manifest.json"])
def test_links_folders_and_pipes_are_refused_and_not_followed(replace, name, files, tmp_path):
    to = tmp_path / "to"
    TREE.predict_to(files, to)
    (to / name).touch()
    replace(to / name)
    before = (tmp_path / "else").read_bytes() if replace is replace_by_a_link else None
    with pytest.raises(StorageError, match=f"'{name}' in .* is not a regular file"):
        TREE.predict_to(files, to)
    assert before is None or (tmp_path / "else").read_bytes() == before


@pytest.mark.parametrize("text", ["[]", "null", "3", '"x"', "{", "[" * 100_000, '{"format": NaN}'])
def test_forged_descriptions_of_the_job_are_refused(text, files, tmp_path):
    TREE.predict_to(files, tmp_path)
    (tmp_path / "_job.json").write_text(text)
    with pytest.raises(StorageError, match=r"damaged|another job"):
        TREE.predict_to(files, tmp_path)


def test_changed_files_are_another_source(tmp_path):
    ROWS.to_parquet(tmp_path / "rows.parquet")
    TREE.predict_to(tmp_path / "rows.parquet", tmp_path / "to")
    ROWS[::-1].to_parquet(tmp_path / "rows.parquet")
    with pytest.raises(StorageError, match="source differ"):
        TREE.predict_to(tmp_path / "rows.parquet", tmp_path / "to")


def test_columns_to_keep_are_checked_before_anything_is_written(files, tmp_path):
    for keep, error, what in (
        (["absent"], DataError, "has no column 'absent'"),
        ("name", ParameterError, r"such as \['name'\]"),
        (["name", "name"], ParameterError, "two columns 'name'"),
    ):
        with pytest.raises(error, match=what):
            TREE.predict_to(files, tmp_path / "to", keep=keep)
    with pytest.raises(ParameterError, match="X is not files"):
        TREE.predict_to(ROWS, tmp_path / "to", keep=["dose"])
    renamed = ROWS.assign(p_ill=1.0)
    renamed.to_parquet(tmp_path / "rows.parquet")
    with pytest.raises(ParameterError, match="two columns 'p_ill'"):
        TREE.predict_to(tmp_path / "rows.parquet", tmp_path / "to", keep=["p_ill"])
    for reasons in (-1, 1.5, "a"):
        with pytest.raises(ParameterError, match=r"reasons=.*: expected a whole number from 0"):
            TREE.predict_to(files, tmp_path / "to", reasons=reasons)
    with pytest.raises(ParameterError, match="level"):
        TREE.predict_to(files, tmp_path / "to", level=2.0)
    assert not (tmp_path / "to").exists()


class Careless(LocalEngine):
    """An engine that leaves out the last of the files to write."""

    def reduce(self, task, partitions, shared, **options):
        writes = isinstance(partitions[0], tuple)
        return super().reduce(task, partitions[:-1] if writes else partitions, shared, **options)


def test_files_that_are_missing_at_the_end_are_noticed(files, tmp_path):
    with pytest.raises(EngineError, match=r"1 of 9 files, 'part-00000008\.parquet' first"):
        TREE.predict_to(files, tmp_path, engine=Careless())
    assert not (tmp_path / "_manifest.json").exists()


def test_boosted_trees_with_init_are_refused(files, tmp_path):
    clf = BoostedTreesClassifier(n_estimators=2, init=TREE).fit(ROWS, LABELS)
    with pytest.raises(ParameterError, match="starts from a fitted TreeClassifier"):
        clf.predict_to(files, tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_killed_processes_lose_and_repeat_no_row(tmp_path):
    """The command is killed at random moments while it writes; the next one continues."""
    pytest.importorskip("click")
    rng, n_groups = random.Random(0), 120
    rows = ROWS.assign(number=np.arange(N))
    rows.to_parquet(tmp_path / "rows.parquet", row_group_size=N // n_groups)
    n_groups = -(-N // (N // n_groups))
    save(TREE, tmp_path / "model.hornbeam")
    command = [sys.executable, "-m", "hornbeam", "predict", str(tmp_path / "model.hornbeam")]
    command += [str(tmp_path / "rows.parquet"), "-o", f"{tmp_path}/to/", "--keep", "number", "--jobs", "2"]
    to, kills, seen = tmp_path / "to", 0, 0
    for _ in range(2):
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        wanted = seen + rng.randrange(1, 40)
        while process.poll() is None and len(list(to.glob("part-*"))) < wanted:
            time.sleep(0.005)
        time.sleep(rng.random() * 0.01)
        if process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
            kills += 1
        process.wait()
        seen = len(list(to.glob("part-*")))
        assert kills == 0 or not (to / "_manifest.json").exists() or seen == n_groups
    assert kills > 0
    subprocess.run(command, check=True, capture_output=True)
    assert sorted(file.name for file in to.iterdir()) == [
        "_job.json",
        "_manifest.json",
        *(f"part-{at:08d}.parquet" for at in range(n_groups)),
    ]
    found = read(to)
    assert found["number"].tolist() == list(range(N))
    np.testing.assert_array_equal(found["p_ill"], TREE.predict_proba(ROWS)[:, 0])
