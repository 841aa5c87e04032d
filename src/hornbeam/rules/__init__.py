"""Rules of a tree: extracted, simplified, chosen and ordered as in C4.5rules.

Files in reading order:

`rule`: a rule.
`coverage`: the training rows that meet conditions, as bit sets.
`simplify`: rules without conditions they do not need.
`subset`: the rules of one class with the shortest description, and description lengths.
`choose`: choice and order of the rules of all classes, and their class probabilities.
`text`: rules as text, tables and plain values.
`rule_set`: a list of rules.
`extract`: the rules of the leaves of a tree.
"""
