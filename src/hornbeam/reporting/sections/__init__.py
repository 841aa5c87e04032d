"""The sections of a report, one file per topic.

Each section is a function from the model (and the scored rows) to markup; the model card uses the same grids.
`hornbeam.reporting.reporter` lists them in the order of the page.
"""
