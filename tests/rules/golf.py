"""Quinlan's golf data, and its tree."""

from dataclasses import replace

from hornbeam.recipe import PRESETS
from hornbeam.tree import Table

__all__ = ["GOLF", "NAMES", "ROWS", "TREE", "by_name"]

NAMES = ["outlook", "temperature", "humidity", "windy"]
ROWS = [
    line.split()
    for line in """\
sunny hot high false no
sunny hot high true no
overcast hot high false yes
rainy mild high false yes
rainy cool normal false yes
rainy cool normal true no
overcast cool normal true yes
sunny mild high false no
sunny cool normal false yes
rainy mild normal false yes
sunny mild normal true yes
overcast mild high true yes
overcast hot normal false yes
rainy mild high true no""".splitlines()
]
GOLF = Table.read([row[:-1] for row in ROWS], [row[-1] for row in ROWS], feature_names=NAMES)
TREE = replace(PRESETS["c4.5"], pruner=None).fit(GOLF)


def by_name(rule):
    """The conditions of a rule by name and value, and its class."""
    tests = {c.feature.name: c.feature.categories[c.among[0]] for c in rule.conditions}
    return tests, rule.prediction
