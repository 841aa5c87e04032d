"""Record the trees Weka's J48 grows, split for split, as test data.

Weka must be at hand when recording, never when testing:

    python tests/parity/record_j48.py --data UCI_FOLDER --weka weka.jar --out tests/parity/j48
"""

from __future__ import annotations

import argparse
import datetime
import gzip
import hashlib
import json
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from dataset import Dataset
from small_sets import small_sets

HERE = Path(__file__).parent

# -L changes no tree: it only keeps the pruning set's weights at the nodes so that they can be read.
OPTIONS = {
    "unpruned": "-U -M 2",
    "pruned": "-C 0.25 -M 2",
    "reduced_error": "-R -N 3 -Q 1 -M 2 -L",
    "unpruned_minimum_1": "-U -M 1",
    "unpruned_minimum_5": "-U -M 5",
}
UCI_MODES = ("unpruned", "pruned", "reduced_error")
MOST_ROWS = 12_000
MOST_CHARACTERS = 150_000


@dataclass(frozen=True)
class Weka:
    """A compiled J48Dump beside the Weka archive it reflects on."""

    archive: Path
    classes: Path

    @classmethod
    def compile(cls, archive: Path, classes: Path) -> Weka:
        source = HERE / "J48Dump.java"
        output("javac", "-cp", str(archive), "-d", str(classes), str(source))
        return cls(archive, classes)

    def trees(self, data: Dataset, modes: tuple[str, ...]) -> dict[str, dict[str, Any]]:
        """Build J48 on all rows once per mode."""
        arff = self.classes / "set.arff"
        arff.write_text(arff_of(data), encoding="utf-8")
        path = f"{self.archive}:{self.classes}"
        printed = output("java", "-Xss64m", "-cp", path, "J48Dump", str(arff), *(OPTIONS[m] for m in modes))
        trees = dict(zip(modes, map(json.loads, printed.splitlines()), strict=True))
        for tree in trees.values():
            assert tree.pop("attributes") == declared(data), (
                f"{data.name}: Weka read other names than written"
            )
        return trees

    def provenance(self) -> dict[str, str]:
        version = output("java", "-cp", str(self.archive), "weka.core.Version").splitlines()[0]
        java = output("java", "--version").splitlines()[0]
        today = datetime.datetime.now(datetime.UTC).date().isoformat()
        return {"weka": version, "java": java, "date": today}


def output(*command: str) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout


def command_line(mode: str) -> str:
    """What would print the same tree, rounded."""
    return f"weka.classifiers.trees.J48 {OPTIONS[mode]} -no-cv -t SET.arff"


def declared(data: Dataset) -> list[list[str]]:
    """Name and values of every attribute, class last, as J48Dump prints them."""
    columns = [[a.name, *(a.values or ())] for a in data.attributes]
    return [*columns, ["target", *data.classes]]


def quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("%", "\\%") + "'"


def arff_of(data: Dataset) -> str:
    """The set in Weka's own format; numbers are written so that they read back as the same double."""
    names = [quoted(name) for name, *_ in declared(data)]
    kinds = [a.values and [quoted(v) for v in a.values] for a in data.attributes]
    kinds.append([quoted(label) for label in data.classes])
    header = [
        f"@attribute {name} {'numeric' if values is None else '{' + ','.join(values) + '}'}"
        for name, values in zip(names, kinds, strict=True)
    ]
    cells = [
        ["?" if np.isnan(v) else repr(v) if values is None else values[int(v)] for v in column.tolist()]
        for values, column in zip(kinds, [*data.columns, data.target.astype(float)], strict=True)
    ]
    rows = [",".join(row) for row in zip(*cells, strict=True)]
    return "\n".join([f"@relation {quoted(data.name)}", *header, "@data", *rows, ""])


def uci_sets(folder: Path) -> Iterator[tuple[Dataset, str]]:
    """Every set of the collection small enough to record, with the checksum of its file."""
    for path in sorted(folder.glob("*.parquet")):
        data = Dataset.of_parquet(path)
        if data.n_rows <= MOST_ROWS:
            yield data, hashlib.sha256(path.read_bytes()).hexdigest()


def compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def write_packed(path: Path, recording: dict[str, Any]) -> None:
    """Same recording, same bytes: the compressed file carries no time of its own."""
    path.write_bytes(gzip.compress(compact(recording).encode(), compresslevel=9, mtime=0))


def record_uci(weka: Weka, folder: Path, out: Path) -> None:
    """One file per mode; the data stay in the collection, known by their checksum."""
    recordings: dict[str, dict[str, Any]] = {mode: {} for mode in UCI_MODES}
    for data, checksum in uci_sets(folder):
        for mode, tree in weka.trees(data, UCI_MODES).items():
            del tree["probabilities"]
            about = {"sha256": checksum, "rows": data.n_rows, "missing": data.has_missing}
            entry = {**about, "header": data.header(), "tree": tree}
            size = len(compact(entry))
            print(f"{data.name:24} {mode:14} {len(tree['feature']):6} nodes {size:8} characters", flush=True)
            if size <= MOST_CHARACTERS:
                recordings[mode][data.name] = entry
    for mode, sets in recordings.items():
        recording = {"command": command_line(mode), **weka.provenance(), "sets": sets}
        write_packed(out / f"{mode}.json.gz", recording)


def record_small(weka: Weka, out: Path) -> None:
    """The sets stored with their rows, in one file a person can read."""
    modes = tuple(OPTIONS)
    sets = [
        f"{compact(data.name)}: "
        + compact({"header": data.header(), "rows": data.rows(), "trees": weka.trees(data, modes)})
        for data in small_sets()
    ]
    about = {"commands": {mode: command_line(mode) for mode in modes}, **weka.provenance()}
    lines = ",\n".join(f"{compact(key)}: {compact(value)}" for key, value in about.items())
    text = "{\n" + lines + ',\n"sets": {\n' + ",\n".join(sets) + "\n}}\n"
    (out / "small.json").write_text(text, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description="Record the trees Weka's J48 grows as test data.")
    parser.add_argument(
        "--data", type=Path, help="folder of the UCI collection; without it the small sets only"
    )
    parser.add_argument("--weka", type=Path, required=True, help="the Weka archive, weka.jar")
    parser.add_argument("--out", type=Path, default=HERE / "j48")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        weka = Weka.compile(options.weka, Path(scratch))
        record_small(weka, options.out)
        if options.data is not None:
            record_uci(weka, options.data, options.out)


if __name__ == "__main__":
    main()
