"""Every number of the learn pages comes from somewhere: a computation, a premise, a document, or a study.

Each page has a module beside this one, `numbers_PAGE.py`, with a list of claims for each section. The kinds:
computed without Hornbeam; given, a premise of an example; quoted from a document; study, read from a committed result;
recomputed, by NumPy from the predictions of a method that tunes itself or draws random numbers; fitted, a parameter
that Hornbeam's optimiser has found.
`pytest -s` prints how many numbers there are of each kind.
"""

from collections import Counter
from importlib import import_module
from numbers import Real

import pytest

from docs_learn.test_exercises import COMPUTED
from support.docs_module import DOCS
from support.page_numbers import computed, count, numbers, sections

pytest.importorskip("pandas", reason="the tables are data frames")
PAGES = ["impurity", "growing", "overfitting", "probabilities", "frontiers", "ensembles", "ranking"]


def page_sections(page):
    return sections((DOCS / "learn" / f"{page}.md").read_text(encoding="utf-8"))


def claims_of(page):
    """The claims of a page, and the results of its exercises."""
    claims = import_module(f"docs_learn.numbers_{page}").claims()
    for exercise, answer in enumerate(COMPUTED[page], 1):
        value = answer() if callable(answer) else answer
        if isinstance(value, Real):
            claims.setdefault(f"Exercise {exercise}", []).append(computed("Answer: `#`.", value))
    return claims


@pytest.mark.long
@pytest.mark.parametrize("page", PAGES)
def test_every_number(page):
    claims, text = claims_of(page), page_sections(page)
    assert claims.keys() <= text.keys()
    kinds, wrong = Counter(), []
    for name, section in text.items():
        try:
            kinds += count(section, claims.get(name, []))
        except AssertionError as error:
            wrong.append(f"{name or 'top'}: {error}")
    print(page, dict(kinds))
    assert not wrong, "\n\n".join(wrong)


def test_the_inventory_finds_wrong_numbers():
    """On one page, each number in turn gets another last digit; and each section one number more."""
    claims, text = claims_of("frontiers"), page_sections("frontiers")
    for name, section in text.items():
        for _, end in numbers(section):
            last = (int(section[end - 1]) + 3) % 10
            with pytest.raises(AssertionError):
                count(f"{section[: end - 1]}{last}{section[end:]}", claims.get(name, []))
        with pytest.raises(AssertionError, match=r"unknown origin:\n0\.4321"):
            count(f"{section}It is 0.4321.", claims.get(name, []))
