"""Gradient boosting.

1. `losses`: the `Loss` protocol, and losses with Newton leaf values.
2. `quantile_loss`: the pinball loss, with quantiles as leaf values.
3. `lambdamart`: the ranking loss LambdaMART.
4. `gradients`: gradients and hessians in fixed point.
5. `early_stopping`: the stopping rule, and the validation loss per round.
6. `trainer`: parameters, the rows of each round, and the boosting loop.
7. `boosted_trees`: the fitted model.
"""
