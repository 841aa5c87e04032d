"""Evidence: weights of the classes at each node, or weight, sum and squares of a numeric target.

`means`: means and variances from the evidence of a regression tree.
`fractional`: counting when rows with a missing value are split over every child.
`count`: counting of all evidence, from a table or a source.
`standardised`: a numeric target in the form of two classes.
`base_rate`: class frequencies, and probabilities for other base rates.
`update`: more rows, fewer rows, decay.
"""
