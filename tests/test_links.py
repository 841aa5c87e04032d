"""The check of the documentation's links."""

import runpy
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest


@pytest.fixture(scope="module")
def links():
    return runpy.run_path(str(Path(__file__).parents[1] / ".ci" / "links.py"))


@pytest.fixture
def site(tmp_path):
    """A site, in which every link that has 'dead' in its name is dead."""
    (tmp_path / "guide").mkdir()
    (tmp_path / "index.html").write_text(
        '<h1 id="start">Start</h1><a href="#start"></a><a href="#">up</a><a href="guide/page.html?v=1#the%20end"></a>'
        '<a href="guide/page.html#dead"></a><img src="dead.png" srcset="picture.png 1x, dead-2.png 2x">'
        '<a href="guide/"></a><a href="https://example.org/a#b"></a><a href="mailto:nobody@example.org"></a>',
        encoding="utf-8",
    )
    (tmp_path / "picture.png").touch()
    (tmp_path / "guide" / "index.html").touch()
    (tmp_path / "guide" / "page.html").write_text(
        '<a id="the end"></a><a href="../index.html#start"></a><script src="../../dead.js"></script>',
        encoding="utf-8",
    )
    return tmp_path


def test_dead_links_are_found_and_no_others(links, site):
    wrong, outside = links["dead_links"](site)
    assert [line.split(": ", 1) for line in wrong] == [
        [str(Path("guide/page.html")), "../../dead.js: outside the documentation"],
        ["index.html", "dead-2.png: no such file"],
        ["index.html", "dead.png: no such file"],
        ["index.html", "guide/page.html#dead: no such anchor"],
    ]
    assert outside == {"https://example.org/a": {Path("index.html")}}


def test_addresses_of_a_server_are_requested(links, site):
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=site)) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        assert links["unreachable"](f"{address}/index.html") is None
        assert "404" in links["unreachable"](f"{address}/dead.html")
        server.shutdown()
    assert links["unreachable"](f"{address}/index.html")
