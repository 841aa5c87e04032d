"""The workbench: a page in the browser to edit a decision tree by hand.

Files in reading order:

`operations`: edits as JSON, and the calls of the editor they stand for.
`journal`: the edits in a file, to continue after a crash.
`views`: a node, the tree and the effect of the edits as JSON.
`session`: the editor with its journal, and saving.
`page`, and the scripts and the style in `assets`: what the browser shows.
`guard`: requests that are refused. `server`: the others, and the public function `workbench`.
"""
