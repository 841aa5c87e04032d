"""Slow, obvious twins of the smoothers: one branch, one row, one seating plan at a time."""

from itertools import product
from math import lgamma, log

import numpy as np

from hornbeam.tree.walk import evidence_stopping, path

__all__ = ["borrowing", "exact_hdp", "leave_one_out_cost", "left_out_rows", "m_branch", "stirling"]


def m_branch(tree, m):
    """Ferri, Flach and Hernández-Orallo's estimate, walking down the branch of every node."""
    weight = tree.evidence * tree.unit
    whole = weight[0].sum()
    belief = np.empty(weight.shape)
    for end in range(tree.n_nodes):
        branch = path(tree.skeleton, end)
        p = np.full(tree.n_classes, 1 / tree.n_classes)
        for j, node in enumerate(branch, start=1):
            height = len(branch) + 1 - j
            lent = m * (1 + (1 - 1 / height) * np.sqrt(whole))
            p = (weight[node] + lent * p) / (weight[node].sum() + lent)
        belief[end] = p
    return belief


def left_out_rows(tree, alpha, prior):
    """Take each row out of every node it passed, and smooth what is left: its node, its class, all probabilities.

    A class of a single row has no probability without a prior: such rows are not scored.
    """
    own = evidence_stopping(tree.skeleton, tree.evidence)
    for node in range(tree.n_nodes):
        for label in range(tree.n_classes):
            for _ in range(own[node, label]):
                line = path(tree.skeleton, node)
                left = tree.evidence[line].astype(float)
                left[:, label] -= 1
                estimate, size = left[-1] + prior / tree.n_classes, left[-1].sum() + prior
                for ancestor, counts in zip(line[:-1], left[:-1], strict=True):
                    if counts.sum() > 0:
                        estimate = estimate + alpha[ancestor] * counts / counts.sum()
                        size += alpha[ancestor]
                if estimate[label] > 0:
                    yield node, label, estimate / size


def leave_one_out_cost(tree, alpha, prior, loss="log"):
    """The mean loss of the class of each left-out row: in bits, or half the square of what is missing to 1."""
    p = np.array([estimate[label] for _, label, estimate in left_out_rows(tree, alpha, prior)])
    losses = -np.log2(p) if loss == "log" else (1 - p) ** 2 / 2
    return losses.mean() if len(p) else 0.0


def stirling(n, t):
    """Unsigned Stirling numbers of the first kind."""
    if n == 0 or t == 0:
        return int(n == t)
    return stirling(n - 1, t - 1) + (n - 1) * stirling(n - 1, t)


def exact_hdp(tree, groups, concentration=None, root_concentration=2.0):
    """Sum over every seating plan of a tiny tree; a sampled concentration is summed over a fine grid.

    Returns the posterior means of the probabilities, of the concentration of every node, and of the number of
    tables. A group may not appear twice on a path unless all nodes share it.
    """
    n, k = tree.n_nodes, tree.n_classes
    own, parent = evidence_stopping(tree.skeleton, tree.evidence), tree.skeleton.parent
    # A point and a weight for every value the concentration may have; the prior is Gamma(2, rate K).
    grid = np.array([concentration]) if concentration else np.exp(np.linspace(log(1e-4), log(1e3), 1500))
    prior = np.zeros(1) if concentration else 2 * np.log(grid) - k * grid
    rising = {size: sum((np.log(grid + i) for i in range(size)), np.zeros(len(grid))) for size in range(60)}
    shared = len(set(groups[1:])) <= 1
    weights, beliefs, concentrations, totals = [], [], [], []
    for tables in _plans(own, parent, n - 1, np.zeros((n, k), int)):
        customers = own.copy()
        np.add.at(customers, parent[1:], tables[1:])
        size = customers.sum(axis=1)
        log_weight = _root(customers[0], root_concentration)
        for u, j in product(range(1, n), range(k)):
            log_weight += log(stirling(customers[u, j], tables[u, j]))
        density = {}
        for group in set(groups[1:]):
            density[group] = prior.copy()
            for u in np.flatnonzero(groups == group):
                if u > 0:
                    density[group] += tables[u].sum() * np.log(grid) - rising[size[u]]
        for group, values in density.items():
            top = values.max()
            mass = np.exp(values - top)
            log_weight += top + log(mass.sum())
            density[group] = mass / mass.sum()
        weights.append(log_weight)
        totals.append(tables[1:].sum())
        theta, means = _predict(customers, size, parent, groups, density, grid, shared, root_concentration)
        beliefs.append(theta)
        concentrations.append(means)
    weight = np.exp(np.array(weights) - max(weights))
    weight /= weight.sum()
    return (
        np.tensordot(weight, beliefs, 1),
        np.tensordot(weight, concentrations, 1),
        float(weight @ totals),
    )


def _plans(own, parent, u, tables):
    """Every legal number of tables, children before parents."""
    if u == 0:
        yield tables
        return
    customers = own[u] + tables[1:][parent[1:] == u].sum(axis=0)
    for choice in product(*(range(min(c, 1), c + 1) for c in customers)):
        seated = tables.copy()
        seated[u] = choice
        yield from _plans(own, parent, u - 1, seated)


def _root(customers, c):
    """Log probability of the root's customers with its own distribution integrated out."""
    k, n = len(customers), customers.sum()
    return sum(lgamma(c / k + x) - lgamma(c / k) for x in customers) - lgamma(c + n) + lgamma(c)


def _predict(customers, size, parent, groups, density, grid, shared, root_concentration):
    k = customers.shape[1]
    root = (customers[0] + root_concentration / k) / (size[0] + root_concentration)
    theta, means = [root[:, None] * np.ones(len(grid) if shared else 1)], [root_concentration]
    for u in range(1, len(parent)):
        mass = density[groups[u]]
        lent = grid / (size[u] + grid) if shared else np.array([mass @ (grid / (size[u] + grid))])
        seen = customers[u] / max(size[u], 1)
        theta.append(seen[:, None] * (1 - lent) + lent * theta[parent[u]])
        means.append(mass @ grid)
    average = density[groups[1]] if shared and len(parent) > 1 else np.ones(theta[0].shape[1])
    return np.array([values @ average for values in theta]), np.array(means)


def borrowing(tree, scale, size, depth, impurity, prior, own):
    """Lend to every node, walking its path from the root."""
    weight, k = tree.evidence * tree.unit, tree.n_classes
    belief, borrowed = np.empty(weight.shape), np.empty(tree.n_nodes)
    for node in range(tree.n_nodes):
        lent, share = np.full(k, np.exp(prior) / k), np.full(k, 1 / k)
        line = path(tree.skeleton, node)
        for level, ancestor in enumerate(line[:-1]):
            rows = weight[ancestor].sum()
            share = weight[ancestor] / rows if rows > 0 else share
            entropy = -(share[share > 0] * np.log(share[share > 0])).sum() / (np.log(k) if k > 1 else 1)
            power = scale + size * np.log(max(rows, 1)) + depth * np.log(1 + level) + impurity * entropy
            lent = lent + np.exp(np.clip(power, -10, 12)) * share
        rows = weight[node].sum()
        factor = np.exp(np.clip(own * np.log(max(rows, 1)), -10, 12))
        belief[node] = (factor * weight[node] + lent) / (factor * rows + lent.sum())
        borrowed[node] = lent.sum() / factor
    return belief, borrowed
