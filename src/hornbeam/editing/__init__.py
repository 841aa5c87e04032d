"""Edits of a tree by hand: each makes a new tree, counts the rows again and smooths it as before.

Files in reading order:

`new_branches`: skeletons for a node: a split in the words of a user, and others.
`fitted_bases`: predictions of new nodes of a tree with a teacher, and slopes, fitted to the rows.
`replace_branch`: the one edit that all edits of splits are.
`term_edits`: edits of the terms of a node.
`approval_log`: every edit with its reason, author and effect.
`editor`: an object with the current tree, undo and redo.
"""
