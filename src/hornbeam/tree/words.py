"""Words of the data and numbers, as text for people: names, labels, categories, thresholds and probabilities.

Every name from the data becomes printable text on one line that cannot be mistaken for another name or for a part of a
drawing.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, isinf

import numpy as np

from hornbeam.data.schema import Feature, Kind

_EXPONENT = 1e9  # larger rounded numbers are written with an exponent
_ALWAYS_LISTED = 3  # categories


def feature_name(name: str) -> str:
    """Write the name of a feature on one line, quoted if a part of it would be invisible."""
    clear = name.isprintable() and name and name == name.strip() and name[0] not in "'\""
    return name if clear else repr(name)


def label_text(value: object) -> str:
    """Write a category or label so that it cannot be mistaken for another or for a part of a drawing."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        clear = value.isprintable() and value and value == value.strip() and not set(value) & set("{},'\"\\")
        return value if clear and not _is_ambiguous(value) else repr(value)
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in repr(value))


def plain_label(value: object) -> str | int | float | bool:
    """Convert a category or label to a plain value that source code can hold; other types to their `repr`."""
    if isinstance(value, np.generic):
        value = value.item()
    # A subclass may override `repr`: only the plain types are safe in source code.
    for kind in (bool, int, float, str):
        if isinstance(value, kind):
            return kind(value)
    return repr(value)


def _is_ambiguous(text: str) -> bool:
    if text in {"missing", "True", "False", "None"} or text.startswith(("… ", "of ")) or "or missing" in text:
        return True
    try:
        float(text)
    except ValueError:
        return False
    return True


def number_text(value: float, digits: int | None = None) -> str:
    """Write a number as the shortest decimal that is read back exactly, or rounded to about `digits` digits.

    A short number stays exact, and no digit before the point is rounded away.
    """
    exact = repr(value + 0.0).removesuffix(".0")
    if digits is None or len(exact) <= digits + 2:
        return exact
    whole = len(str(int(abs(value)))) if 1 <= abs(value) < _EXPONENT else 1
    short = f"{value:.{max(digits, whole)}g}"
    # The largest finite number, rounded up, would be infinite.
    return short if isinf(float(short)) == isinf(value) else number_text(value, digits + 1)


def threshold_text(
    feature: Feature, threshold: float, digits: int | None = None, *, single: bool = False
) -> str:
    """Write a threshold: on an ordinal feature the last category on the left, else as a number.

    `single`: values are compared as float32, so the shortest text of the same float32 is written.
    """
    if single and np.isfinite(np.float32(threshold)):
        threshold = float(str(np.float32(threshold)))
    if feature.kind is Kind.ORDINAL and 0 <= threshold < len(feature.categories):
        return label_text(feature.categories[floor(threshold)])
    return number_text(threshold, digits)


def membership_text(feature: Feature, codes: Sequence[int], max_categories: int | None = None) -> str:
    """Write that a value is in a set of categories, or, where that is shorter, not in the complement.

    Exact for every category of the feature. A category that the training data did not have is in no set, also not in
    one that is written by its complement. Lists of more than `max_categories` are cut, with the number of those left
    out. `codes` are ascending.
    """
    listed, left_out = shorter_side(codes, len(feature.categories))
    names = [label_text(feature.categories[code]) for code in listed[:max_categories]]
    if len(listed) > len(names):
        names.append(f"… {len(listed) - len(names)} more")
    elif len(listed) == 1:
        return f"≠ {names[0]}" if left_out else f"= {names[0]}"
    if not listed:
        return "known" if left_out else ""
    return f"{'not in' if left_out else 'in'} {{{', '.join(names)}}}"


def shorter_side(codes: Sequence[int], n_categories: int) -> tuple[list[int], bool]:
    """Choose the shorter list of codes: the categories of a set, or those outside it; True for those outside.

    The categories outside are listed for sets of more than three categories, if fewer are outside than inside.
    """
    if len(codes) <= _ALWAYS_LISTED or 2 * len(codes) <= n_categories:
        return list(codes), False
    inside = set(codes)
    return [code for code in range(n_categories) if code not in inside], True


def probability_text(p: float, decimals: int = 3) -> str:
    """Write a probability with three decimals, or fewer; only 1 itself is written as 1."""
    # A probability below 1 must not be written as 1.
    return f"{min(p, 1 - 10**-decimals) if p < 1 else p:.{decimals}f}"


def probability_head(label: object, max_letters: int | None = None) -> str:
    """Write what stands above, or before, the probabilities of the class of interest: P(default)."""
    name = label_text(label)
    return f"P({name if max_letters is None else shortened(name, max_letters)})"


def mean_text(value: float, decimals: int = 3) -> str:
    """Write a mean with six digits, or with four if `decimals` is below 3; digits before the point stay."""
    return number_text(value, 6 if decimals >= 3 else 4)


def pluralise(n: int, one: str, many: str | None = None) -> str:
    """Write a number with its noun."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def shortened(text: str, width: int) -> str:
    """Cut a text that is too long."""
    return text if len(text) <= width else f"{text[: width - 1]}…"
