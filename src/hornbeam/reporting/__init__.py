"""The report on a tree as HTML, and the model card as Markdown.

Reading order: `reporter` and `card` (the two public functions), `reported_model` and `scored_rows` (their input), with
`group_column`; `sections/` (one file per topic), `summary`; then
the output: `document`, `markup`, `pictures`, `payload`.
`versions` is for bug reports.
"""
