"""Rules of a tree: extracted, simplified, chosen and ordered as in C4.5rules.

Files in reading order:

`rule`: a rule, and a list of rules.
`extract`: the rules of the leaves.
`coverage`: the training rows that meet conditions, as bit sets.
`simplify`: rules without conditions they do not need.
`subset`: the rules of one class with the shortest description, and description lengths.
`choose`: choice and order of the rules of all classes, and their class probabilities.
"""

from hornbeam.rules.choose import choose_rules
from hornbeam.rules.extract import extract
from hornbeam.rules.rule import Rule, RuleSet
from hornbeam.rules.simplify import simplify

__all__ = ["Rule", "RuleSet", "choose_rules", "extract", "simplify"]
