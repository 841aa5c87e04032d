"""Statistics that need no tree.

`bounds`: intervals of a rate or a mean.
`pessimism`: pessimistic error estimates of C4.5.
"""
