"""Random forests.

1. `bootstrap`: bootstrap samples.
2. `out_of_bag`: out-of-bag predictions, and the choice of smoother and temperature.
3. `growth`: growth of single trees, by threads or by the tasks of an engine.
4. `trainer`: parameters and procedure of growing a forest.
5. `from_source`: a forest from files and other sources.
6. `forest`: the fitted model.
"""
