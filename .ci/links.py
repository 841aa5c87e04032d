"""Check the links of the built documentation: pages, anchors, pictures, scripts and downloads.

``python .ci/links.py FOLDER`` reads files only; with ``--external`` it also requests the pages of other hosts.
"""

import argparse
import sys
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.parse import unquote, urldefrag, urlsplit
from urllib.request import Request, urlopen

LINKS = {"href", "src", "poster"}
ANYWHERE = {"", "top"}  # anchors that every page has
TEMPLATE = "webpack-macros.html"  # of the theme, copied with its files
AT_ONCE = 8  # requests


class Page(HTMLParser):
    """The links and anchors of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.anchors: set[str] = set(ANYWHERE)
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in LINKS and value is not None:
                self.links.add(value)
            elif name == "srcset" and value:
                self.links |= {part.split()[0] for part in value.split(",")}
            elif value and (name == "id" or (tag, name) == ("a", "name")):
                self.anchors.add(value)


def dead_links(root: Path) -> tuple[list[str], dict[str, set[Path]]]:
    """Return what is wrong with links inside the folder, and the pages that link to each outside address."""
    root = root.resolve()
    paths = (path for path in sorted(root.rglob("*.html")) if path.name != TEMPLATE)
    pages = {path: Page(path) for path in paths}
    wrong, outside = [], defaultdict(set)
    for path, page in pages.items():
        for link in sorted(page.links):
            parts = urlsplit(link)
            if parts.scheme in ("http", "https"):
                outside[urldefrag(link).url].add(path.relative_to(root))
            elif not parts.scheme and not parts.netloc:
                problem = _problem(path, unquote(parts.path), unquote(parts.fragment), pages, root)
                if problem:
                    wrong.append(f"{path.relative_to(root)}: {link}: {problem}")
    return wrong, dict(outside)


def _problem(path: Path, target: str, anchor: str, pages: dict[Path, Page], root: Path) -> str | None:
    """Tell what is wrong with a link from a page to a file of the folder."""
    found = (path.parent / target).resolve() if target else path
    if found.is_dir():
        found /= "index.html"
    if not found.is_relative_to(root):
        return "outside the documentation"
    if not found.is_file():
        return "no such file"
    if found in pages and anchor not in pages[found].anchors:
        return "no such anchor"
    return None


def unreachable(address: str) -> str | None:
    """Request an address; return what went wrong."""
    # Only http and https addresses come here.
    request = Request(address, headers={"User-Agent": "Mozilla/5.0 (link check)"})  # noqa: S310
    try:
        with urlopen(request, timeout=30):  # noqa: S310
            return None
    except HTTPError as error:
        with error:  # it holds the connection
            return None if error.code in (403, 429) else str(error)  # refused to programs only
    except (URLError, TimeoutError, ConnectionError) as error:
        return str(error)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--external", action="store_true", help="also request pages of other hosts")
    arguments = parser.parse_args()
    wrong, outside = dead_links(arguments.folder)
    if arguments.external:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for (address, pages), problem in zip(
                outside.items(), pool.map(unreachable, outside), strict=True
            ):
                if problem:
                    wrong.append(f"{min(pages)}: {address}: {problem}")
    print("\n".join(wrong))
    print(f"{len(wrong)} dead links; {len(outside)} addresses of other hosts")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
