"""Trees as rules: extracted, simplified, and chosen for a list."""

from hornbeam.rules.belief import smooth_rules
from hornbeam.rules.choose import choose_rules
from hornbeam.rules.extract import extract
from hornbeam.rules.rule import Rule, RuleSet
from hornbeam.rules.simplify import simplify

__all__ = ["Rule", "RuleSet", "choose_rules", "extract", "simplify", "smooth_rules"]
