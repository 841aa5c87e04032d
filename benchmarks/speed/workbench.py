"""Measure in the browser how long the workbench takes from a click to the finished page.

    python -m benchmarks.speed.workbench --rows 100000

Needs playwright and chromium. A choice ends when the panel of the node is shown. An edit ends when the edited tree and
its scores are shown; the panel of the node follows, which is ``threshold_panel`` and so on. The clock is that of the
page, so that other programs on the machine make it slower.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from statistics import median

import numpy as np

import hornbeam

MOST_HELD_OUT = 50_000  # as the command

# Clicks, and waits until the panel is shown anew; the panel is replaced after each response.
CLICK = """async ([selector, at]) => {
  const target = document.querySelectorAll(selector)[at];
  const begin = performance.now();
  const busy = () => document.getElementById("panel").getAttribute("aria-busy") !== "false"
    || document.getElementById("node-forms").childElementCount === 0;
  const forms = document.getElementById("node-forms").firstElementChild;
  target.dispatchEvent(new MouseEvent("click", { bubbles: true }));
  await new Promise((done) => {
    const look = () => {
      const fresh = document.getElementById("node-forms").firstElementChild !== forms;
      if (fresh && !busy()) requestAnimationFrame(done); else requestAnimationFrame(look);
    };
    look();
  });
  return performance.now() - begin;
}"""


def rows_of(n: int, n_features: int):
    """Rows with a target that depends on a few of the features."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, n_features))
    X[:, n_features // 2 :] = np.round(X[:, n_features // 2 :] * 2)
    score = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * X[:, -1]
    return X, np.where(score + rng.normal(size=n) > 0.3, "yes", "no")


def measure(url: str, rounds: int) -> dict[str, list[float]]:
    """Click, and return the milliseconds of each action."""
    from playwright.sync_api import sync_playwright

    found: dict[str, list[float]] = defaultdict(list)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(url)
        page.wait_for_selector("#panel[data-node='0']", timeout=120_000)

        def click(name: str | None, selector: str, at: int = 0) -> None:
            taken = page.evaluate(CLICK, [selector, at])
            if name == "choose":
                found[name].append(round(taken, 1))
            elif name is not None:
                found[name].append(float(page.evaluate("document.documentElement.dataset.milliseconds")))
                found[f"{name}_panel"].append(round(taken, 1))

        for _ in range(rounds):
            for node in (1, 2, 0):
                click("choose", "g.node", node)
            if page.locator(".round").count():  # a round threshold has no rounder one
                click("threshold", ".round")
                click("undo", "#undo")
            click("swap", ".candidates button")
            click("undo", "#undo")
            click(None, "g.node", 1)
            click("prune", "#prune")
            click("undo", "#undo")
            click(None, "g.node", 0)
        browser.close()
    return found


def main() -> None:
    """Fit, start the workbench, click, and print one line of JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--features", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    n_held = min(options.rows // 5, MOST_HELD_OUT)
    X, y = rows_of(options.rows + n_held, options.features)
    held, kept = (X[:n_held], y[:n_held]), (X[n_held:], y[n_held:])
    begin = time.perf_counter()
    # Bins as of the default preset, whose cross-fitting would take most of the time.
    clf = hornbeam.TreeClassifier("cart", max_bins=255, max_leaf_nodes=30, smoothing="hgs", n_jobs=-1)
    clf.fit(*kept)
    fitted = time.perf_counter() - begin
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder, "tree.hornbeam")
        with hornbeam.workbench(clf, *kept, held_out=held, path=output, show=False) as running:
            found = measure(running.url, options.rounds)
    result = {
        "rows": options.rows,
        "features": options.features,
        "fit_s": round(fitted, 1),
        "median_ms": {name: median(values) for name, values in found.items()},
        "largest_ms": {name: max(values) for name, values in found.items()},
        "data_mb": round(X.nbytes / 1e6),
        "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
