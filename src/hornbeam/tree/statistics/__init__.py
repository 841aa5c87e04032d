"""Statistics without a tree.

`bounds`: intervals of a rate or a mean.
`pessimism`: pessimistic error estimates of C4.5.
"""
