"""The sections of a report, one file per topic.

Each section is a function from the model (and the scored rows) to markup; the model card uses the same grids.
Reading order: `tree` (tree, leaves, rules, one row), `classification` and `regression` (scores, calibration,
decisions), `scores` and `all_scores`, `discrimination`, `decisions`, `features`, `groups`, `earlier`,
`competitors`, `stability`, `provenance`.
"""
