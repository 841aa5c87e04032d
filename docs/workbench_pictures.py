"""Draw the pictures of the workbench: `python docs/workbench_pictures.py` needs playwright and chromium."""

import shutil
import tempfile
from pathlib import Path

import pandas as pd

import hornbeam

DOCS = Path(__file__).parent
SIZES = {"desktop": (1280, 860), "tablet": (820, 1100)}


def main() -> None:
    """Edit the tree of the loans, and take a picture at each size."""
    from playwright.sync_api import sync_playwright

    loans = pd.read_csv(DOCS / "guide" / "data" / "loans.csv")
    X, y = loans[["amount", "income", "age", "purpose", "owner"]], loans["state"]
    clf = hornbeam.TreeClassifier(max_leaf_nodes=7).fit(X[::2], y[::2])
    folder = DOCS / "_static" / "workbench"
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as place, sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        rest = X[1::2], y[1::2]
        output = Path(place, "tree.hornbeam")
        with hornbeam.workbench(
            clf, X[::2], y[::2], held_out=rest, path=output, show=False
        ) as running:
            for name, (width, height) in SIZES.items():
                page = browser.new_page(viewport={"width": width, "height": height})
                page.goto(running.url)
                page.wait_for_selector("#panel[data-node='0']")
                page.locator("g.node").nth(1).click()
                page.wait_for_selector("#panel[data-node='1']")
                if name == "desktop":
                    page.locator(".round").first.click()
                    page.wait_for_selector("#edit-list li:not(.none)")
                    page.wait_for_selector("#panel[data-node='1']")
                page.wait_for_timeout(300)
                page.screenshot(path=folder / f"{name}.png")
        browser.close()


if __name__ == "__main__":
    main()
