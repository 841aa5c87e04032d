"""The page in a real browser, against a real server: every edit by mouse and by keyboard, and a killed server."""

import os
import signal
import subprocess
import sys
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest
from hostile import hostile_trees, names_of
from loan_rows import loans

pytest.importorskip("playwright")
pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("pyarrow")

import hornbeam
from hornbeam import TreeClassifier, TreeRegressor, workbench
from hornbeam.tree import Slopes, with_slopes
from support.browser import axe_source

SIZES = [(1280, 900), (820, 1180)]
IN_A_TREE = 100  # names
IN_A_PROCESS = [SIZES[0], pytest.param(*SIZES[1], marks=pytest.mark.long)]


@contextmanager
def command(folder):
    """The command in a process of its own; yields it with the address of the page."""
    line = "-m hornbeam workbench loans.csv -t state -o tree.hornbeam --max-leaf-nodes 8 --author Ann --no-browser -q"
    process = subprocess.Popen(
        [sys.executable, *line.split()], cwd=folder, stdout=subprocess.PIPE, text=True, env=os.environ
    )
    try:
        yield process, process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def ready(page, node=None):
    """Wait until the panel shows a node: the chosen one."""
    page.wait_for_selector("#panel[data-node]" if node is None else f"#panel[data-node='{node}']")


def edited(page, n):
    """Wait until there are n edits, and their effect is shown."""
    if n:
        page.wait_for_selector(f"#edit-list li:nth-child({n}):last-child:not(.none)")
    else:
        page.wait_for_selector("#edit-list .none")
    ready(page)


def leaves(page):
    return int(page.locator("#scores tbody tr").first.locator("td").nth(1).inner_text())


def choose(page, node):
    page.locator("g.node").nth(node).click()
    ready(page)


@pytest.mark.parametrize(("width", "height"), IN_A_PROCESS)
def test_a_tree_is_edited_by_mouse_and_survives_a_kill(width, height, browser, tmp_path):
    X, y = loans(1500)
    X.assign(state=y).to_csv(tmp_path / "loans.csv", index=False)
    with command(tmp_path) as (process, address):
        with browser.visit(address, width=width, height=height) as page:
            ready(page, 0)
            full = leaves(page)
            page.locator("#reason").fill("the class of our rating")
            page.locator(".round").first.click()
            edited(page, 1)
            assert (
                "threshold of income at the root from 39940 to 40000"
                in page.locator("#edit-list").inner_text()
            )
            assert "the class of our rating · Ann" in page.locator("#edit-list").inner_text()
            page.locator(".candidates tr:not(.chosen) button").first.click()  # swap
            edited(page, 2)
            assert leaves(page) == 2
            page.locator("summary").click()
            page.locator("details select[name=feature]").select_option(label="late")
            page.locator("details input[name=value]").fill("1.5")
            page.locator("details button[type=submit]").click()
            edited(page, 3)
            assert "late ≤ 1.5 | > 1.5" in page.locator("#edit-list").inner_text()
            page.locator("#undo").click()
            edited(page, 2)
            page.locator("#undo").click()
            edited(page, 1)
            assert leaves(page) == full
            choose(page, 1)
            page.locator("#prune").click()
            edited(page, 2)
            page.locator("#note").fill("ask the risk team")
            page.locator("#note").blur()
            page.locator("#dial").focus()
            page.keyboard.press("ArrowLeft")
            edited(page, 3)
            page.locator("#undo").click()
            edited(page, 2)
            after = leaves(page)
            assert after < full
            assert page.evaluate("document.documentElement.scrollWidth") <= width
        process.send_signal(signal.SIGKILL)
        process.wait()
    with command(tmp_path) as (_, address), browser.visit(address, width=width, height=height) as page:
        ready(page, 0)
        edited(page, 2)
        assert page.locator("#status").inner_text() == "Restored 2 edits from the journal."
        assert leaves(page) == after
        assert page.locator("#note").input_value() == "ask the risk team"
        page.locator("#redo").click()
        edited(page, 3)
        page.locator("#undo").click()
        edited(page, 2)
        page.locator("#save").click()
        page.wait_for_selector("#facts:has-text('saved')")
        page.wait_for_selector("#status:has-text('Saved: tree.hornbeam')")
    saved = hornbeam.load(tmp_path / "tree.hornbeam")
    assert saved.tree_.n_leaves == after
    assert "ask the risk team" in (tmp_path / "tree.md").read_text(encoding="utf-8")


def held_out_bench(folder, n=1500):
    X, y = loans(n)
    half = n // 2
    clf = TreeClassifier(max_leaf_nodes=8).fit(X[:half], y[:half])
    rest = X[half:], y[half:]
    return workbench(clf, X[:half], y[:half], held_out=rest, path=folder / "tree.hornbeam", show=False)


@pytest.mark.skipif(sys.platform == "win32", reason="the browser is a script")
def test_the_private_file_opens_the_page_and_the_printed_address_does_too(browser, tmp_path):
    opened, script = tmp_path / "opened", tmp_path / "browser.sh"
    script.write_text(f'#!/bin/sh\necho "$1" > {opened}\n')
    script.chmod(0o755)
    code = (
        "import sys; from hornbeam import TreeClassifier, workbench; "
        "X, y = [[21], [34], [52], [70]], ['no', 'no', 'yes', 'yes']; "
        "running = workbench(TreeClassifier('cart').fit(X, y), X, y, path=sys.argv[1]); "
        "print(running.url, flush=True); sys.stdin.read(); running.stop()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "tree.hornbeam")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, "BROWSER": f"{script} %s"},
    )  # fmt: skip
    try:
        address = process.stdout.readline().strip()
        for place in (opened.read_text().strip(), address):
            context = browser.chromium.new_context()
            page = context.new_page()
            page.goto(place)
            ready(page, 0)
            page.reload()
            ready(page, 0)
            assert context.cookies(page.url)[0]["sameSite"] == "Strict"
            assert page.evaluate("document.cookie") == ""
            other = context.new_page()  # another tab of the same browser
            other.goto(page.url)
            ready(other, 0)
            stranger = browser.chromium.new_context()  # another browser
            assert stranger.new_page().goto(page.url).status == 403
            stranger.close()
            context.close()
        assert opened.read_text().startswith("file:")
    finally:
        process.communicate("")


def test_terms_are_set_rounded_and_dropped(browser, tmp_path):
    X, y = loans(600)
    clf = TreeClassifier("readable", max_leaf_nodes=3).fit(X, y)
    late = list(X.columns).index("late")
    term = Slopes.of([0], [late], low=[0], high=[4], centre=[1], slope=[[0, 0.4321]])
    clf.tree_ = with_slopes(clf.tree_, term)
    with (
        workbench(clf, X, y, path=tmp_path / "t.hornbeam", show=False) as running,
        browser.visit(running.url) as page,
    ):
        ready(page, 0)
        assert "× 1.54 per +1" in page.locator("#node-terms").inner_text()
        page.locator("#node-terms input[name=value]").fill("2")
        page.locator("#node-terms button[type=submit]").click()
        edited(page, 1)
        assert "× 2 per +1" in page.locator("#node-terms").inner_text()
        for n, words in enumerate(("Refit", "Round", "Drop"), 2):
            page.locator(f"#node-terms button:has-text('{words}')").click()
            edited(page, n)
        assert page.locator("#node-terms").count() == 0
        assert "removed the term of late at the root" in page.locator("#edit-list").inner_text()


def test_everything_is_done_with_the_keyboard(browser, tmp_path):
    with held_out_bench(tmp_path) as running, browser.visit(running.url) as page:
        ready(page, 0)

        def focused(selector):
            return page.evaluate(f"document.activeElement.matches({selector!r})")

        for _ in range(30):
            page.keyboard.press("Tab")
            if focused("g.node"):
                break
        assert focused("g.node")
        full = leaves(page)
        page.keyboard.press("r")
        edited(page, 1)
        assert focused("g.node")
        page.keyboard.press("ArrowRight")
        ready(page, 1)
        page.keyboard.press("p")
        edited(page, 2)
        assert leaves(page) < full
        page.keyboard.press("g")
        edited(page, 3)
        page.keyboard.press("Control+z")
        edited(page, 2)
        page.keyboard.press("Control+y")
        edited(page, 3)
        page.keyboard.press("e")
        assert not focused("g.node")
        page.keyboard.press("Control+s")
        page.wait_for_selector("#status:has-text('Saved')")
    assert (tmp_path / "tree.hornbeam").exists()


def test_an_impossible_edit_is_explained_and_changes_nothing(browser, tmp_path):
    with held_out_bench(tmp_path) as running, browser.visit(running.url, may_log="422") as page:
        ready(page, 0)
        page.locator("#panel form input[name=value]").first.fill("1000000")
        page.locator("#panel form button[type=submit]").first.click()
        page.wait_for_selector("#problem:has-text('would be empty')")
        edited(page, 0)


def test_a_tab_with_an_old_tree_changes_nothing_and_shows_the_present_one(browser, tmp_path):
    with held_out_bench(tmp_path) as running, browser.visit(running.url, may_log="409") as page:
        ready(page, 0)
        page.locator("#reason").fill("too few rows")
        running.session.apply({"do": "prune", "node": 1, "reason": "another tab"})
        page.locator(".round").first.click()
        page.wait_for_selector("#problem:has-text('Nothing was done')")
        edited(page, 1)
        assert "another tab" in page.locator("#edit-list").inner_text()
        assert leaves(page) == running.session.editor.tree.n_leaves
        assert page.locator("#reason").input_value() == "too few rows"
        page.locator(".round").first.click()
        edited(page, 2)
        assert "too few rows" in page.locator("#edit-list").inner_text()
        assert page.locator("#problem").inner_text() == ""


def test_a_click_on_an_old_tree_shows_the_present_one(browser, tmp_path):
    with held_out_bench(tmp_path) as running, browser.visit(running.url, may_log="422") as page:
        ready(page, 0)
        last = page.locator("g.node").count() - 1
        running.session.apply({"do": "prune", "node": 0})
        choose(page, last)
        page.wait_for_selector("#problem:has-text('changed in another tab')")
        edited(page, 1)
        assert leaves(page) == 1


def test_notes_of_two_tabs_are_both_kept(browser, tmp_path):
    with held_out_bench(tmp_path) as running, browser.visit(running.url, may_log="409") as page:
        ready(page, 0)
        running.session.apply({"do": "note", "text": "ask the risk team"})
        page.locator("#note").fill("ask the lawyers")
        page.keyboard.press("Control+s")  # the notes are written before
        page.wait_for_selector("#status:has-text('Saved')")
        both = "ask the risk team\nask the lawyers"
        assert running.session.state()["notes"] == page.locator("#note").input_value() == both
    assert both in (tmp_path / "tree.md").read_text(encoding="utf-8")


def test_quick_clicks_are_done_in_turn(browser, tmp_path):
    with held_out_bench(tmp_path) as running, browser.visit(running.url) as page:
        ready(page, 0)
        page.locator("#prune").click()
        edited(page, 1)
        page.locator("#grow").click()
        edited(page, 2)
        page.evaluate("for (const name of ['undo', 'undo', 'redo']) document.getElementById(name).click()")
        edited(page, 0)
        page.locator("#redo").click()
        edited(page, 1)
        # The second click was made for the tree before the first one.
        page.evaluate("for (const name of ['grow', 'grow']) document.getElementById(name).click()")
        page.wait_for_selector("#problem:has-text('changed by the edit before')")
        edited(page, 2)
        assert len(running.session.editor.edits) == 2


def test_the_automatic_tree_is_shown_beside_the_edited_one(browser, tmp_path):
    with held_out_bench(tmp_path) as running, browser.visit(running.url) as page:
        ready(page, 0)
        n = page.locator("g.node").count()
        page.locator("#prune").click()
        edited(page, 1)
        assert page.locator("g.node").count() == 1
        page.locator("#compare").click()
        page.wait_for_selector("#compare[aria-pressed=true]")
        assert page.locator("g.node").count() == n
        page.locator("#compare").click()
        page.wait_for_selector("#compare[aria-pressed=false]")
        assert page.locator("g.node").count() == 1


@pytest.mark.parametrize(("width", "height"), SIZES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_accessible(width, height, scheme, browser, tmp_path):
    axe = axe_source()
    if axe is None:
        pytest.skip("no axe.min.js: `pip install axe-playwright-python`, or say in HORNBEAM_AXE where it is")
    with held_out_bench(tmp_path) as running:
        with browser.visit(running.url, width=width, height=height, scheme=scheme) as page:
            ready(page, 0)
            page.locator(".round").first.click()
            edited(page, 1)
            page.locator("summary").click()
            page.evaluate(axe)
            found = page.evaluate("axe.run()")["violations"]
            nominal = page.locator(".candidates tr:has-text('home') button")
            nominal.click()
            edited(page, 2)
            found += page.evaluate("axe.run()")["violations"]
        assert not [(one["id"], [node["target"] for node in one["nodes"]][:3]) for one in found]


def test_a_regression_tree_is_edited(browser, tmp_path):
    X, _ = loans(400)
    target = X["income"] / 1000 + 5.0 * X["late"]
    model = TreeRegressor(max_leaf_nodes=5).fit(X, target)
    running = workbench(model, X, target, path=tmp_path / "tree.hornbeam", show=False)
    with running, browser.visit(running.url) as page:
        ready(page, 0)
        page.locator("#prune").click()
        edited(page, 1)
        assert leaves(page) == 1


def hostile_rows():
    """Rows whose columns, categories and classes have hostile names, some at a time."""
    names = list(dict.fromkeys(name for tree, _ in hostile_trees() for name in names_of(tree)))
    rng = np.random.default_rng(0)
    for begin in range(0, len(names), IN_A_TREE):
        some = names[begin : begin + IN_A_TREE]
        draws = rng.integers(0, 2, (300, len(some)))
        columns = {
            name: np.array([name, f"{name}|{name}"], object)[draw]
            for name, draw in zip(some, draws.T, strict=True)
        }
        classes = np.array([*some[-2:], "other"], object)
        yield pd.DataFrame(columns), classes[draws[:, 0] + draws[:, -1]]


@pytest.mark.long
def test_hostile_names_stay_text(browser, tmp_path):
    for at, (X, y) in enumerate(hostile_rows()):
        clf = TreeClassifier("cart", max_leaf_nodes=4).fit(X, y)
        running = workbench(clf, X, y, path=tmp_path / f"{at}.hornbeam", show=False)
        with running, browser.visit(running.url) as page:
            ready(page, 0)
            more = page.locator(".candidates + .quiet-button")
            if more.count():
                more.click()
            cells = (
                "[...document.querySelectorAll('.candidates th[scope=row]')].map((cell) => cell.textContent)"
            )
            rows = page.evaluate(cells)
            assert len(rows) == len(session_texts(running))
            assert [row[:40] for row in rows] == [text[:40] for text in session_texts(running)]
            page.locator("summary").click()
            for _ in range(2):
                page.locator("#prune").click()
                edited(page, 1)
                page.locator("#undo").click()
                edited(page, 0)
            made = (
                "document.querySelectorAll('main script, main img, main iframe, main a, main style').length"
            )
            assert page.evaluate(made) == 0


def session_texts(running):
    """The candidate splits as the session writes them; a browser cannot hold half of a surrogate pair."""
    candidates = running.session.node(0)["candidates"]
    return [one["text"] + (f" {one['rejected']}" if one["rejected"] else "") for one in candidates]
