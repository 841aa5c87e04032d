"""Sizes of the package, with a limit for each in `tests/budget.toml`.

python tests/support/budget.py            # each size and its limit
python tests/support/budget.py --lower    # limits above today's sizes become today's sizes; none is raised
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "tests/budget.toml"
FILES_PER_FOLDER = 16
_LINE = '"{name}" = {{ most = {most}, lowest = {lowest}, reason = "{reason}" }}'


def sizes(root: Path = ROOT) -> dict[str, int]:
    """Measure every size; a folder is listed if it has more files than a folder may have without a reason."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    paths = sorted((root / "src").rglob("*.py"))
    source = "".join(path.read_text(encoding="utf-8") for path in paths)
    folders = Counter(path.parent.relative_to(root).as_posix() for path in paths)
    ruff, contracts = project["ruff"]["lint"], project["importlinter"]["contracts"]
    return {
        "lines of src": source.count("\n"),
        "files of src": len(paths),
        "noqa in src": len(re.findall("# noqa", source)),
        "type: ignore in src": len(re.findall("# type: ignore", source)),
        "rules that ruff ignores": sum(map(len, [ruff["ignore"], *ruff["per-file-ignores"].values()])),
        "ignored imports of import-linter": _entries(contracts, "ignore_imports"),
        "allowed importers of import-linter": _entries(contracts, "allowed_importers"),
        "overrides of mypy": len(project["mypy"]["overrides"]),
        **{f"files of {folder}": n for folder, n in sorted(folders.items()) if n > FILES_PER_FOLDER},
    }


def _entries(contracts: list[dict[str, Any]], name: str) -> int:
    return sum(len(contract.get(name, [])) for contract in contracts)


def limits(path: Path = TABLE) -> dict[str, Any]:
    """Read the table: for each size its limit, the lowest limit it ever had, and the reason of a rise."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


def faults(found: dict[str, int], allowed: dict[str, Any]) -> list[str]:
    """One line per size above its limit and per rise without a reason."""
    lines = []
    for name, size in found.items():
        most = allowed[name]["most"] if name in allowed else FILES_PER_FOLDER
        if size > most:
            lines.append(f"{name}: {size:,}, expected at most {most:,}")
    for name, line in allowed.items():
        if line["most"] > line["lowest"] and not line["reason"]:
            lines.append(
                f"{name}: the limit rose from {line['lowest']:,} to {line['most']:,} without a reason"
            )
        elif name.startswith("files of src/") and not line["reason"]:
            lines.append(f"{name}: more than {FILES_PER_FOLDER} files without a reason")
    return lines


def lowered(found: dict[str, int], allowed: dict[str, Any]) -> dict[str, Any]:
    """Lower the limits to the sizes found; a folder that needs no line any more loses it."""
    result = {}
    for name, line in allowed.items():
        folder = name.startswith("files of src/")
        if folder and name not in found:
            continue
        most = min(line["most"], found[name])
        risen = most > line["lowest"]
        reason = line["reason"] if risen or folder else ""
        result[name] = {"most": most, "lowest": min(most, line["lowest"]), "reason": reason}
    return result


def write(table: dict[str, Any], path: Path = TABLE) -> None:
    """Write the table under the comment at the head of the file."""
    head = path.read_text(encoding="utf-8").split('\n"')[0]
    lines = [_LINE.format(name=name, **line) for name, line in table.items()]
    path.write_text("\n".join([head, *lines, ""]), encoding="utf-8")


def main(arguments: list[str]) -> None:
    """Print the sizes, or lower the limits."""
    found, allowed = sizes(), limits()
    if arguments == ["--lower"]:
        allowed = lowered(found, allowed)
        write(allowed)
    for name, size in found.items():
        most = allowed[name]["most"] if name in allowed else FILES_PER_FOLDER
        sys.stdout.write(f"{size:7,} of {most:7,}  {name}\n")
    sys.stdout.write("".join(f"{line}\n" for line in faults(found, allowed)))


if __name__ == "__main__":
    main(sys.argv[1:])
