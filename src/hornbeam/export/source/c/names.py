"""Names from the data as C identifiers, strings and comments."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["Identifiers", "comment", "string"]

_MAX_PART = (
    16  # prefix, feature, category and a number then have fewer than the 63 significant characters of C99
)
_MAX_LITERAL = 4000  # C99 guarantees 4,095 characters
_SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _.,:;+-=<>()[]{}#%&!@$^|~'")


class Identifiers:
    """A generator of unique identifiers that begin with `prefix` and are not `taken` by the file itself."""

    def __init__(self, prefix: str, taken: list[str]) -> None:
        self._prefix = prefix
        self._taken = set(taken)

    def new(self, *names: str) -> str:
        """Make an identifier from some names that was not made before."""
        wanted = "_".join([self._prefix, *map(_part, names)])
        found, number = wanted, 1
        while found in self._taken:
            number += 1
            found = f"{wanted}_{number}"
        self._taken.add(found)
        return found


def _part(name: str) -> str:
    letters = unicodedata.normalize("NFKD", name[:256]).encode("ascii", "ignore").decode()
    return re.sub("[^A-Z0-9]+", "_", letters.upper()).strip("_")[:_MAX_PART].strip("_") or "N"


def comment(name: str, max_letters: int = 60) -> str:
    """Write a name so that it cannot end, begin or continue a comment."""
    safe = "".join(
        c if c in _SAFE else ascii(c)[1:-1] if ord(c) > 126 else f"\\x{ord(c):02x}"
        for c in name[:max_letters]
    )
    return safe + "..." * (len(name) > max_letters)


def string(name: str) -> str:
    """Write a name as a C string of UTF-8 bytes."""
    raw = name.encode("utf-8", "surrogatepass")
    cells = [chr(b) if 32 <= b < 127 and chr(b) not in '"\\?' else f"\\{b:03o}" for b in raw]
    if len(raw) <= _MAX_LITERAL:
        return f'"{"".join(cells)}"'
    quoted = ["'\\''" if cell == "'" else f"'{cell}'" for cell in cells]
    return f"(const char[]){{{','.join(quoted)},0}}"
