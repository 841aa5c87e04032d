"""
What a mistake costs
====================

A lender loses 50 of every 100 lent to a client who defaults, and 10 of interest where a client is refused who
would have repaid. A tree that knows these costs lends to fewer clients, at the same probabilities.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from hornbeam import TreeClassifier
from hornbeam.tree import Costs

LABELS = ["defaults", "repays"]
BLUE, ORANGE, GREY = "#2166ac", "#d95f02", "#7f7f7f"


def loans(n, seed):
    """Clients and what became of their loans; amounts and incomes are in thousands."""
    rng = np.random.default_rng(seed)
    income = rng.lognormal(3.5, 0.5, n).round()
    amount = (income * rng.uniform(0.1, 1.5, n)).round()
    years = rng.integers(1, 8, n)
    home = rng.choice(["owns", "rents"], n, p=[0.4, 0.6])
    late = rng.poisson(0.5, n)
    risk = -3.6 + 1.2 * amount / income + 0.15 * years + 0.6 * (home == "rents") + 0.8 * late
    outcome = np.where(rng.random(n) < 1 / (1 + np.exp(-risk)), "defaults", "repays")
    clients = {"income": income, "amount": amount, "years": years, "home": home, "late": late}
    return pd.DataFrame(clients), outcome


# %%
# Two answers, two costs
# ----------------------
# To refuse costs 10 where the client would have repaid, to lend costs 50 where he does not. Both grow with a
# probability, and cross where it is 1/6: from there on refusing is cheaper. Without costs the line is at 1/2,
# and the bars between are loans that should not have been given.

costs = Costs.of({("defaults", "repays"): 50, ("repays", "defaults"): 10}, LABELS)
X, outcome = loans(4000, seed=0)
X_new, outcome_new = loans(4000, seed=1)
tree = TreeClassifier().fit(X, outcome)
p_default = tree.predict_proba(X_new)[:, 0]

grid = np.linspace(0, 1, 201)
refuse, lend = costs.expected(np.column_stack([grid, 1 - grid])).T

figure, (above, below) = plt.subplots(
    2, 1, sharex=True, figsize=(7, 5), height_ratios=[3, 2], layout="constrained"
)
above.plot(grid, lend, color=ORANGE)
above.plot(grid, refuse, color=BLUE)
above.text(0.66, 35.5, "lend", color=ORANGE, ha="right")
above.text(0.66, 5.5, "refuse", color=BLUE, ha="right")
above.set(ylabel="expected cost of 100 lent", ylim=(0, 51))
below.hist(p_default, bins=np.linspace(0, 1, 49), color=GREY)
below.set(xlabel="probability that the client defaults", ylabel="clients", xlim=(0, 1))
for axes in (above, below):
    axes.axvline(1 / 6, color="black", linewidth=1)
    axes.axvline(1 / 2, color="black", linewidth=1, linestyle=":")
    axes.spines[["top", "right"]].set_visible(False)
above.text(1 / 6 + 0.01, 46, "1/6: with costs", va="center")
above.text(1 / 2 + 0.01, 46, "1/2: without", va="center")
above.set_title("Refuse from where the lines cross, not from one half", loc="left")
plt.show()

# %%
# The bill
# --------
# What 100 lent cost on average, over new clients of six samples, as a default becomes dearer. Deciding by costs saves
# nearly all there is to save; a tree pruned by the same costs keeps the splits that its decisions need.

prices = np.array([10, 20, 30, 40, 50, 60, 70, 80])
bills = {"without costs": [], "decided with costs": [], "pruned and decided with costs": []}
for sample in range(6):
    X, outcome = loans(4000, seed=sample)
    X_new, outcome_new = loans(4000, seed=100 + sample)
    plain = TreeClassifier(pruning="bayes-risk").fit(X, outcome)
    for price in prices:
        matrix = np.array([[0, price], [10, 0]])
        costly = TreeClassifier(pruning="bayes-risk", costs=matrix).fit(X, outcome)
        decisions = plain.predict(X_new), plain.predict(X_new, costs=matrix), costly.predict(X_new)
        for paid, decided in zip(bills.values(), decisions, strict=True):
            true, predicted = np.searchsorted(LABELS, outcome_new), np.searchsorted(LABELS, decided)
            paid.append(matrix[true, predicted].mean())

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for (name, paid), colour in zip(bills.items(), (GREY, BLUE, ORANGE), strict=True):
    mean = np.reshape(paid, (-1, len(prices))).mean(axis=0)
    axes.plot(prices, mean, "o-", color=colour, markersize=4, label=name)
axes.axhline(10 * (outcome_new == "repays").mean(), color="black", linewidth=1)
axes.text(10, 7.7, "lend to nobody", va="bottom")
axes.set(xlabel="cost of a default, for 100 lent", ylabel="mean cost of 100 lent", ylim=(0, 18))
axes.spines[["top", "right"]].set_visible(False)
axes.legend(frameon=False, loc="upper left")
axes.set_title("Deciding by costs saves most; pruning by them keeps it", loc="left")
plt.show()
