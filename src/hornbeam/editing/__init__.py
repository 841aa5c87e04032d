"""Edits of a tree by hand: each makes a new tree, counts the rows again and smooths it as before.

Files in reading order:

`new_branches`: skeletons for a node: a split in the words of a user, and others.
`replace_branch`: the one edit that all others are.
`approval_log`: every edit with its reason, author and effect.
`editor`: an object with the current tree, undo and redo.
"""
