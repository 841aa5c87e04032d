"""Trees as rules: extracted, simplified, and chosen for a list."""

from hornbeam.rules.belief import believe
from hornbeam.rules.choose import choose
from hornbeam.rules.extract import extract
from hornbeam.rules.rule import Rule, RuleSet
from hornbeam.rules.simplify import simplify

__all__ = ["Rule", "RuleSet", "believe", "choose", "extract", "simplify"]
