"""Fetch the data sets of the studies into a folder, by benchmarks/data/index.csv.

    python -m benchmarks.data.fetch DIR                     from the UCI archive
    python -m benchmarks.data.fetch DIR --mirror URL        Parquet files of the index, checked by their sha256

The archive's interface gives a table and the role and kind of each column. A set whose rows, attributes or classes are
not those of the index is refused: most of them are several files that the index joins or takes apart (column `notes`).
What is in DIR already is not fetched again. If the server cannot be reached, nothing more is tried.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
import json
import sys
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pandas as pd

from benchmarks.output import read_csv

INDEX = Path(__file__).parent / "index.csv"
ARCHIVE = "https://archive.ics.uci.edu"
NOMINAL = frozenset({"Binary", "Categorical", "Other"})
SECONDS = 60.0

type Row = dict[str, str]


class RefusedError(Exception):
    """Why a set was not taken."""


class NoNetworkError(Exception):
    """Why a server cannot be reached."""


def fetch(
    folder: Path, names: Sequence[str] | None = None, *, mirror: str | None = None, archive: str = ARCHIVE
) -> list[str]:
    """Fetch sets, and write the folder's index of all that it has; return the names of those refused.

    Raises
    ------
    NoNetworkError
        If the server cannot be reached.
    """
    folder.mkdir(parents=True, exist_ok=True)
    known = {row["name"]: row for row in read_csv(INDEX)}
    have = {row["name"]: row for row in read_csv(folder / "index.csv")} if _index(folder).exists() else {}
    if unknown := set(names or ()) - set(known):
        raise SystemExit(f"no set is called {', '.join(sorted(unknown))} in {INDEX}")
    refused = []
    for name in names or list(known):
        if name in have and (folder / have[name]["file"]).exists():
            continue
        try:
            have[name] = (
                _from_mirror(known[name], folder, mirror)
                if mirror
                else _from_archive(known[name], folder, archive)
            )
            print(f"{name}: {have[name]['n_instances']} rows", flush=True)
        except (RefusedError, urllib.error.HTTPError) as error:
            refused.append(name)
            print(f"{name}: not taken: {error}", file=sys.stderr, flush=True)
        _write_index(folder, [have[one] for one in known if one in have])
    return refused


def _from_mirror(row: Row, folder: Path, mirror: str) -> Row:
    """A file as it is; its sum must be that of the index."""
    content = _get(f"{mirror.rstrip('/')}/{row['file']}")
    if (found := hashlib.sha256(content).hexdigest()) != row["sha256"]:
        raise RefusedError(f"sha256 {found}, expected {row['sha256']}")
    (folder / row["file"]).write_bytes(content)
    return row


def _from_archive(row: Row, folder: Path, archive: str) -> Row:
    """The table of the archive as a Parquet file; rows, attributes and classes must be those of the index."""
    if not row["url"]:
        raise RefusedError("the index has no address of it")
    number = row["url"].rpartition("/")[2]
    try:
        answer = json.loads(_get(f"{archive}/api/dataset?id={number}"))
        about = answer.get("data") or {}
        if not about.get("data_url"):
            raise RefusedError(
                f"{answer.get('message') or 'the archive has no single table of it'} ({row['url']})"
            )
        frame = convert(_get(about["data_url"]), about["variables"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:  # JSON or CSV of another form
        raise RefusedError(f"the answer cannot be read: {error!r} ({row['url']})") from error
    counts = {"n_instances": len(frame), "n_classes": frame["target"].nunique()}
    attributes = sum(int(row[kind]) for kind in ("n_numeric", "n_nominal"))
    expected = {"n_instances": int(row["n_instances"]), "n_classes": int(row["n_classes"])}
    if (counts, frame.shape[1] - 1) != (expected, attributes):
        raise RefusedError(
            f"{counts['n_instances']} rows, {frame.shape[1] - 1} attributes and {counts['n_classes']} classes, "
            f"expected {expected['n_instances']}, {attributes} and {expected['n_classes']}; {row['notes']}"
        )
    path = folder / row["file"]
    frame.to_parquet(path, compression="zstd")
    nominal = sum(isinstance(kind, pd.CategoricalDtype) for kind in frame.dtypes[:-1])
    found = {"n_numeric": str(attributes - nominal), "n_nominal": str(nominal)}
    if any(row[kind] != value for kind, value in found.items()):
        print(
            f"{row['name']}: {nominal} nominal attributes, {row['n_nominal']} in the index", file=sys.stderr
        )
    return row | found | {"sha256": hashlib.sha256(path.read_bytes()).hexdigest(), "check": "fetched"}


def convert(table: bytes, variables: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """A CSV file and the roles and kinds of its columns as a frame: attributes, then the class as `target`."""
    roles = {variable["name"]: variable["role"] for variable in variables}
    targets = [name for name, role in roles.items() if role == "Target"]
    if len(targets) != 1:
        raise RefusedError(f"{len(targets)} columns are targets ({', '.join(targets)}), expected one")
    frame = pd.read_csv(io.BytesIO(table), dtype=str, na_values=["?"], skipinitialspace=True)
    kinds = {variable["name"]: variable["type"] for variable in variables}
    columns = {
        name: frame[name].astype("category") if kinds[name] in NOMINAL else pd.to_numeric(frame[name])
        for name, role in roles.items()
        if role == "Feature"
    }
    return pd.DataFrame(columns).assign(target=frame[targets[0]].astype("category"))


def _get(url: str) -> bytes:
    if not url.startswith(("https://", "http://")):
        raise RefusedError(f"the address is not of the web: {url}")
    request = urllib.request.Request(url, headers={"User-Agent": "hornbeam-benchmarks"})
    try:
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            content: bytes = answer.read()
    except urllib.error.HTTPError:  # the server responds, without this file
        raise
    except OSError as error:
        raise NoNetworkError(f"{urlsplit(url).netloc} cannot be reached: {error}") from error
    return content


def _index(folder: Path) -> Path:
    return folder / "index.csv"


def _write_index(folder: Path, rows: Sequence[Row]) -> None:
    if not rows:
        return
    with _index(folder).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """Fetch; 1 if a set is missing or the server cannot be reached."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("--sets", default=None, metavar="A,B", help="only these sets")
    parser.add_argument("--mirror", default=None, metavar="URL", help="folder with the Parquet files")
    parser.add_argument("--archive", default=ARCHIVE, metavar="URL", help="the UCI archive")
    options = parser.parse_args(arguments)
    names = options.sets.split(",") if options.sets else None
    try:
        refused = fetch(options.folder, names, mirror=options.mirror, archive=options.archive)
    except NoNetworkError as error:
        print(f"{error}; the same command goes on", file=sys.stderr)
        return 1
    if refused:
        print(f"{len(refused)} sets not taken: {', '.join(refused)}", file=sys.stderr)
    return bool(refused)


if __name__ == "__main__":
    sys.exit(main())
