"""Random forests.

1. `bootstrap`: bootstrap samples.
2. `out_of_bag`: out-of-bag predictions, and the choice of smoother and temperature.
3. `trainer`: parameters and procedure of growing a forest.
4. `forest`: the fitted model.
"""
