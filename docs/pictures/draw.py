"""All pictures of the documentation: ``python docs/pictures/draw.py`` writes them beside this file.

Each module here other than this one and `svg` has a mapping ``PICTURES`` from the name of a file to the function that
draws it.
"""

import sys
from importlib import import_module
from pathlib import Path

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER))
MODULES = [
    path.stem
    for path in sorted(FOLDER.glob("*.py"))
    if path.stem not in {"draw", "svg"}
]
PICTURES = {
    name: draw
    for module in MODULES
    for name, draw in import_module(module).PICTURES.items()
}


def main() -> None:
    """Write every picture."""
    for name, draw in PICTURES.items():
        (FOLDER / f"{name}.svg").write_text(draw(), encoding="utf-8")


if __name__ == "__main__":
    main()
