"""The number of examples that Hypothesis draws for a test."""

from hypothesis import settings

__all__ = ["examples"]


def examples(number: int, **options: object) -> settings:
    """Settings for a number of examples; a profile that draws fewer than 100 draws fewer of these, but at least 10."""
    in_proportion = number * settings.default.max_examples // 100
    return settings(max_examples=min(number, max(10, in_proportion)), **options)
