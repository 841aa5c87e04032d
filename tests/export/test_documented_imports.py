"""Examples of exports, converters and commands import public modules only."""

import re
from pathlib import Path

import pytest

import hornbeam

SOURCE = Path(hornbeam.__file__).parent
GUIDE = Path(__file__).parents[2] / "docs/guide"
PUBLIC = {
    "ensembles",
    "engines",
    "errors",
    "evaluation",
    "export",
    "interop",
    "plots",
    "pruning",
    "results",
    "smoothing",
    "tree",
}
FUNCTIONS = [
    path
    for folder in ("export", "interop", "cli/commands")
    for path in (SOURCE / folder).rglob("*.py")
    if re.search(
        r"^def (to|from)_|^def trusted_types|^@click|^class ImportedTree",
        path.read_text(encoding="utf-8"),
        re.MULTILINE,
    )
]
PAGES = [GUIDE / f"{name}.md" for name in ("exports", "exports-data", "interop", "serve", "command-line")]
EXAMPLE = re.compile(r"^\s*(?:>>>|\.\.\.) (?:from|import) hornbeam\.([\w.]+)", re.MULTILINE)


@pytest.mark.parametrize("path", [*FUNCTIONS, *PAGES], ids=lambda path: path.stem)
def test_examples_import_public_modules(path):
    assert set(EXAMPLE.findall(path.read_text(encoding="utf-8"))) <= PUBLIC
