"""The page "Try it" of the documentation, in a real browser."""

import subprocess
import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from threading import Thread

import numpy as np
import pytest

from support.browser import axe_source
from support.docs_module import DOCS, docs_module

pytest.importorskip("pandas", reason="the demo reads loans with pandas")

# Types a row into the form and reads what is then shown, probabilities with all digits.
ASK = """(row) => {
  row.forEach((value, i) => {
    const input = document.querySelectorAll("#demo-fields input, #demo-fields select")[i];
    input.value = value;
    input.dispatchEvent(new Event("input", { bubbles: true }));
  });
  const texts = (selector) => [...document.querySelectorAll(selector)].map((found) => found.textContent);
  return {
    probabilities: [...document.querySelectorAll("#demo-classes data")].map((found) => Number(found.value)),
    intervals: texts("#demo-classes td:nth-child(3)"),
    decided: document.querySelector(".demo-verdict").firstChild.textContent.trim(),
    path: texts("#demo-path th[scope=row]").map(Number),
    drawn: [...document.querySelectorAll("#demo-tree .demo-on")].map((found) => Number(found.dataset.node)),
    nodes: document.querySelectorAll("#demo-tree .demo-node").length,
    rule: document.getElementById("demo-rule").textContent,
  };
}"""


@pytest.fixture
def served(built):
    """The address of the page on a server of this machine."""
    handler = partial(Quiet, directory=built)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/demo.html"
        server.shutdown()


class Quiet(SimpleHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/favicon.ico":  # a browser wants one; these pages have none
            self.send_response(204)
            self.end_headers()
        else:
            super().do_GET()

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def demo():
    return docs_module("demo.py")


@pytest.fixture(scope="module")
def built(demo, tmp_path_factory):
    """The page with the theme of the documentation."""
    for module in ("sphinx", "myst_parser", "sphinx_design", "pydata_sphinx_theme"):
        if find_spec(module) is None:
            pytest.skip(f"{module} is not installed: the extra 'docs' brings it")
    folder = tmp_path_factory.mktemp("demo")
    (folder / "demo.md").write_text((DOCS / "demo.md").read_text(encoding="utf-8"), encoding="utf-8")
    demo.write(folder / "_static" / "demo")
    settings = {
        "extensions": ["myst_parser", "sphinx_design"],
        "html_css_files": ["hornbeam.css"],
        "html_static_path": [str(DOCS / "_static"), "_static"],
        "html_title": "Hornbeam",
        "html_theme": "pydata_sphinx_theme",
        "master_doc": "demo",
        "myst_enable_extensions": ["colon_fence"],
        "suppress_warnings": ["myst.xref_missing"],  # there are no other pages
    }
    lines = [f"{name} = {value!r}\n" for name, value in settings.items()]
    (folder / "conf.py").write_text("".join(lines), encoding="utf-8")
    subprocess.run([sys.executable, "-m", "sphinx", "-q", folder, folder / "html"], check=True)
    return folder / "html"


def typed(rows, features):
    """Rows as a person types them: a number, the position of a category in its list, nothing if missing."""
    codes = [
        {category: code for code, category in enumerate(feature.categories)} or None for feature in features
    ]
    return [
        [
            "" if value is None or value != value else str(value if code is None else code[value])
            for value, code in zip(row, codes, strict=True)
        ]
        for row in rows.to_numpy(dtype=object).tolist()
    ]


def test_the_form_predicts_as_python(demo, built, browser):
    clf, (X, _) = demo.loan_tree(), demo.loans("new-loans")
    X = X.mask(np.random.default_rng(0).random(X.shape) < 0.1)
    with browser.visit(built / "demo.html") as page:
        found = [page.evaluate(ASK, row) for row in typed(X, clf.tree_.schema.features)]
    assert np.array_equal([answer["probabilities"] for answer in found], clf.predict_proba(X))
    assert [answer["decided"] for answer in found] == clf.predict(X).tolist()
    for answer, explained in zip(found, clf.explain(X, level=demo.LEVEL), strict=True):
        steps = explained.paths[0].steps
        assert answer["path"] == answer["drawn"] == [step.node for step in steps]
        assert answer["nodes"] == clf.tree_.n_nodes
        bounds = zip(steps[-1].low, steps[-1].high, strict=True)
        assert answer["intervals"] == [f"{low:.3f} to {high:.3f}" for low, high in bounds]
    leaves = clf.leaves().to_dict()
    rules = dict(zip(leaves["node"], leaves["rule"], strict=True))
    stopped = [answer for answer in found if answer["path"][-1] in rules]
    assert len(stopped) > 100
    for answer in stopped:
        assert answer["rule"] == f"if {rules[answer['path'][-1]]}, then {answer['decided']}"


def test_the_page_checks_the_export_from_a_server_too(served, browser):
    with browser.visit(served) as page:
        assert "200 of 200 rows" in page.inner_text("#demo-check")


def test_it_is_used_with_the_keyboard_alone(built, browser):
    with browser.visit(built / "demo.html") as page:
        page.focus("#demo-amount")
        page.keyboard.press("Control+A")
        page.keyboard.type("many")
        assert page.inner_text("#demo-problem") == "amount: “many” is not a number."
        assert page.get_attribute("#demo-amount", "aria-invalid") == "true"
        assert page.locator("#demo-tree .demo-on").count() == 0
        page.keyboard.press("Control+A")
        page.keyboard.type("20000")
        assert "amount > 8950" in page.inner_text("#demo-rule")
        for _ in range(3):
            page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.id") == "demo-purpose"
        for _ in range(2):
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        assert page.inner_text("#demo-number") == "Row 2 of 200"


@pytest.mark.parametrize("width", [390, 1280])
def test_it_fits_the_screen(width, built, browser):
    with browser.visit(built / "demo.html", width=width) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator("iframe.demo-report").is_visible() == (width > 700)


@pytest.mark.parametrize("name", ["loans", "diabetes", "tic-tac-toe"])
def test_each_report_opens_from_the_page(name, built, browser):
    with browser.visit(built / "demo.html") as page:
        page.click(f".sd-card:has(a[href='_static/demo/{name}.html'])")
        page.wait_for_selector("[role=treeitem]")
        assert page.locator("#leaf-table tbody tr").count() > 5


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_use_it(scheme, served, browser):
    axe = axe_source()
    if axe is None:
        pytest.skip("no axe.min.js: `npm install axe-core`, or say in HORNBEAM_AXE where it is")
    with browser.visit(served, scheme=scheme) as page:
        page.evaluate(axe)
        found = page.evaluate("axe.run(document.querySelector('.bd-article'))")["violations"]
    assert [(v["id"], [n["html"][:200] for n in v["nodes"]][:3]) for v in found] == []


def test_every_end_of_a_game_is_listed(demo):
    """Counts of the published set: 626 of 958 boards are won by x."""
    boards = demo.end_boards()
    assert len(boards) == 958
    assert (boards["result"] == "x wins").sum() == 626
    assert not boards.duplicated().any()
