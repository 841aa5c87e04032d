"""Gradient boosting.

1. `losses`: the `Loss` protocol, and losses with Newton leaf values.
2. `quantile_loss`: the pinball loss, with quantiles as leaf values.
3. `lambdamart`: the ranking loss LambdaMART.
4. `gradients`: gradients and hessians in fixed point.
5. `row_sampler`: row subsampling, and the held-out rows of early stopping.
6. `early_stopping`: the stopping rule, and the validation loss per round.
7. `trainer`: parameters and the boosting loop.
8. `boosted_trees`: the fitted model.
"""
