"""Names from the data in C: as identifiers, as strings and in comments."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["Identifiers", "comment", "string"]

_LONGEST_PART = 16  # with prefix, feature, category and a number below the 63 characters that C99 tells apart
_LONGEST_LITERAL = 4000  # C99 promises 4,095 characters
_QUIET = frozenset(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _.,:;+-=<>()[]{}#%&!@$^|~'"
)


class Identifiers:
    """A source of identifiers, each given once.

    Parameters
    ----------
    prefix : str
        What every identifier begins with.
    taken : iterable of str
        Identifiers the file has for itself.

    Examples
    --------
    >>> names = Identifiers("TREE", ["TREE_NODES"])
    >>> names.new("petal width (cm)"), names.new("petal-width, cm"), names.new("nodes"), names.new("*/")
    ('TREE_PETAL_WIDTH_CM', 'TREE_PETAL_WIDTH_CM_2', 'TREE_NODES_2', 'TREE_N')
    """

    def __init__(self, prefix: str, taken: list[str]) -> None:
        self._prefix = prefix
        self._taken = set(taken)

    def new(self, *names: str) -> str:
        """Give an identifier that resembles the names and was not given before."""
        wanted = "_".join([self._prefix, *map(_part, names)])
        found, number = wanted, 1
        while found in self._taken:
            number += 1
            found = f"{wanted}_{number}"
        self._taken.add(found)
        return found


def _part(name: str) -> str:
    letters = unicodedata.normalize("NFKD", name[:256]).encode("ascii", "ignore").decode()
    return re.sub("[^A-Z0-9]+", "_", letters.upper()).strip("_")[:_LONGEST_PART].strip("_") or "N"


def comment(name: str, most: int = 60) -> str:
    r"""Write a name so that no comment can end, begin or go on because of it.

    Examples
    --------
    >>> print(comment("size */ 2"), comment("Größe"))
    size \x2a\x2f 2 Gr\xf6\xdfe
    """
    quiet = "".join(
        c if c in _QUIET else ascii(c)[1:-1] if ord(c) > 126 else f"\\x{ord(c):02x}" for c in name[:most]
    )
    return quiet + "..." * (len(name) > most)


def string(name: str) -> str:
    r"""Write a name as a C string of UTF-8 bytes.

    Examples
    --------
    >>> print(string('say "hm"??/'), string("ä"))
    "say \042hm\042\077\077/" "\303\244"
    """
    raw = name.encode("utf-8", "surrogatepass")
    cells = [chr(b) if 32 <= b < 127 and chr(b) not in '"\\?' else f"\\{b:03o}" for b in raw]
    if len(raw) <= _LONGEST_LITERAL:
        return f'"{"".join(cells)}"'
    quoted = ["'\\''" if cell == "'" else f"'{cell}'" for cell in cells]
    return f"(const char[]){{{','.join(quoted)},0}}"
