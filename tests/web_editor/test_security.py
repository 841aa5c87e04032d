"""The server on this machine: requests of others are refused, and it stays alive whatever is sent."""

import json
import socket
import sys
import tempfile
from threading import Thread

import pytest
from tab import Tab

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from hornbeam import TreeClassifier, workbench

X, y = [[21], [34], [52], [70]] * 5, ["no", "no", "yes", "yes"] * 5


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    classifier = TreeClassifier("cart").fit(X, y)
    output = tmp_path_factory.mktemp("bench") / "tree.hornbeam"
    with workbench(classifier, X, y, path=output, show=False) as found:
        yield found


@pytest.fixture
def tab(running):
    return Tab(running)


@pytest.fixture
def ask(tab):
    """Send a request; return its status, headers and body."""
    send = tab.ask
    yield send
    assert send()[0] == 200  # the process is alive, and the tree is as it was
    assert json.loads(send()[2])["now"]["leaves"] == 2


def test_the_page_has_a_strict_policy(ask):
    for path in ("", "workbench.js", "workbench.css", "state"):
        status, headers, _ = ask(path=path)
        assert status == 200
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert headers["referrer-policy"] == "no-referrer"
    assert b"<script>" not in ask(path="")[2]
    assert b" style=" not in ask(path="")[2]


def test_only_this_machine_is_listened_to(running):
    addresses = {link.getsockname()[0] for server in running._server.servers for link in server.sockets}
    assert addresses == {"127.0.0.1"}


@pytest.mark.parametrize("path", ["/", "/state", "/x/state", "//state", "/%00/state", "/%C3%A4/state"])
def test_a_wrong_token_is_refused(path, ask):
    assert ask(path=path, absolute=True)[0] in (400, 403)


def test_a_token_or_path_that_is_almost_right_is_refused(running, tab, ask):
    for right in (running.url.split("/")[3], tab.base[1:-1]):
        for wrong in (right[:-1], right + "x", right.swapcase(), right[:-1] + "%00"):
            for end in ("", "state"):
                assert ask(path=f"/{wrong}/{end}", absolute=True)[0] == 403


def test_an_address_works_once(running, tab, ask):
    status, headers, body = ask(path=tab.address, absolute=True)
    assert status == 403
    assert "set-cookie" not in headers
    assert b"each opens the workbench once" in body
    assert running.url != running.url
    assert Tab(running).ask()[0] == 200


def test_addresses_can_be_made_while_requests_are_answered(tmp_path):
    interval = sys.getswitchinterval()
    with workbench(TreeClassifier("cart").fit(X, y), X, y, path=tmp_path / "a.hornbeam", show=False) as bench:
        tab = Tab(bench)
        maker = Thread(target=lambda: [bench.url for _ in range(20_000)])
        sys.setswitchinterval(1e-6)
        try:
            maker.start()
            statuses = {tab.ask()[0] for _ in range(10)}
        finally:
            sys.setswitchinterval(interval)
            maker.join()
    assert statuses == {200}


def test_a_workbench_that_cannot_open_the_browser_is_stopped(tmp_path, monkeypatch):
    output, classifier = tmp_path / "a.hornbeam", TreeClassifier("cart").fit(X, y)
    with monkeypatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
        with pytest.raises(OSError, match="none"):
            workbench(classifier, X, y, path=output)
    workbench(classifier, X, y, path=output, show=False).stop()


def test_only_a_plain_request_for_the_page_uses_a_token(running, tab):
    address = running.url.partition(tab.host)[2]
    for method, path, headers in (
        ("HEAD", address, {}),
        ("POST", address, {}),
        ("GET", address + "state", {}),
        ("GET", address[:-1], {}),
        ("GET", address, {"Host": "example.org"}),
        ("GET", address, {"Origin": "http://example.org"}),
    ):
        assert tab.ask(method, path, absolute=True, **headers)[0] in (403, 421)
    # A file that forwards to the address is another site.
    status, headers, _ = tab.ask(path=address, absolute=True, Origin=None, Sec_Fetch_Site="cross-site")
    assert status == 200
    parts = headers["set-cookie"].split("; ")
    assert {"HttpOnly", "SameSite=Strict", f"Path={tab.base}"} == set(parts[1:])


def test_a_request_without_the_cookie_is_refused(tab, ask):
    name, _, value = tab.cookie.partition("=")
    for wrong in (None, "", name, f"{name}=", f"{name}={value}x", f"{name}={value[:-1]}", f"other={value}",
                  f"{name}={value}; {name}={value}", f"{name}={value.swapcase()}"):  # fmt: skip
        for path in ("", "state", "workbench.js"):
            assert ask(path=path, Cookie=wrong)[0] == 403
        assert ask("POST", "apply", b'{"do": "prune", "node": 0}', Cookie=wrong)[0] == 403
    assert ask(Cookie=f"a=b; {tab.cookie}; c=d")[0] == 200  # of other servers on this machine


def closed(link):
    """Wait until the server closes a connection; it is reset if the server has not read all of it."""
    try:
        return link.recv(1000) == b""
    except ConnectionResetError:
        return True


def test_half_open_connections_do_not_block_the_page(running, ask):
    links = []
    try:
        for n in range(160):
            link = socket.create_connection(("127.0.0.1", running.port), timeout=20)
            links.append(link)
            link.sendall(b"GET / HTTP/1.1\r\nHost: ")
            if n in (79, 99, 119, 139, 159):  # after a burst, and after single ones
                assert ask()[0] == 200
        for link in links:  # each is closed: at once, or after ten seconds
            assert closed(link)
        assert ask()[0] == 200
    finally:
        for link in links:
            link.close()


def test_an_unexpected_error_is_answered_and_the_session_goes_on(running, tab, ask, monkeypatch, caplog):
    def fail(_):
        raise OverflowError(f"{7 * 11 * 13 * 17}")  # a value of the data

    tab.load()
    with monkeypatch.context() as patched:
        patched.setattr("hornbeam.web_editor.session.Session._edit", lambda *_: fail(0))
        status, answer = tab.do("prune", node=0)
    assert status == 500
    assert answer["error"] == "An error in Hornbeam (OverflowError): nothing was changed. Please report it."
    assert "in fail" in caplog.text
    assert "17017" not in caplog.text


@pytest.mark.parametrize(
    "host", ["example.org", "example.org:80", "127.0.0.1", "127.0.0.1:1", "", None, "[::1]"]
)
def test_a_wrong_host_is_refused(host, ask):
    assert ask(Host=host)[0] in (400, 421)


@pytest.mark.parametrize(
    "origin", ["http://example.org", "null", "https://127.0.0.1", "http://127.0.0.1:1", ""]
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_wrong_origin_is_refused(origin, method, ask):
    assert ask(method, "apply", b'{"do": "prune", "node": 0}', Origin=origin)[0] == 403


def test_a_write_without_an_origin_is_refused(ask):
    assert ask("POST", "apply", b'{"do": "prune", "node": 0}', Origin=None)[0] == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_request_of_another_site_is_refused(site, ask):
    assert ask(Sec_Fetch_Site=site, Origin=None)[0] == 403


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", None]
)
def test_a_form_of_another_page_is_refused(kind, ask):
    assert ask("POST", "apply", b'{"do": "prune", "node": 0}', Content_Type=kind)[0] == 415


@pytest.mark.parametrize(
    "path",
    ["../state", "..%2f..%2fetc%2fpasswd", "%2e%2e/%2e%2e/etc/passwd", "workbench.js/../../x", "assets/", "\\..\\x",
     "workbench.css%00.html", "tree.hornbeam", "tree.journal", "//etc/passwd"],
)  # fmt: skip
def test_no_file_can_be_reached(path, ask):
    status, _, body = ask(path=path)
    assert status in (400, 403, 404)
    assert b"root:" not in body


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"\xff\xfe", b"[" * 500_000, b"NaN", b'{"do": 1e999}', b"null", b"7", b'"prune"', b'{"do": "prune"}',
     b'{"do": "prune", "node": 1e400}', b'{"do": "threshold", "node": 0, "value": NaN}', b"9" * 5000,
     b'{"do": "prune", "node": 0, "reason": "\\ud800"}'],
)  # fmt: skip
@pytest.mark.parametrize("path", ["apply", "node"])
def test_a_malformed_body_is_refused(body, path, ask):
    digest = json.loads(ask()[2])["digest"]
    body = body.replace(b'{"do"', f'{{"digest": "{digest}", "do"'.encode())
    assert ask("POST", path, body)[0] in (400, 422)


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_other_methods_are_refused(method, ask):
    assert ask(method, "apply", b"{}")[0] in (400, 405)


@pytest.mark.parametrize("length", ["100000000", "9" * 30, "-1", "x"])
def test_a_body_that_is_announced_as_too_large_is_not_read(length, ask):
    assert ask("POST", "apply", b"{}", Content_Length=length)[0] in (400, 413)


def test_a_hundred_megabytes_are_not_kept(running, tab, ask):
    host, path = tab.host, tab.base
    with socket.create_connection(("127.0.0.1", running.port), timeout=20) as link:
        head = (
            f"POST {path}apply HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nCookie: {tab.cookie}\r\n"
        )
        link.sendall(f"{head}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
        chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
        sent = 0
        try:
            for _ in range(1600):  # 100 MB
                link.sendall(chunk)
                sent += 1
            answer = link.recv(100)
        except OSError:  # the server closed the connection
            answer = b""
    assert sent < 1600 or answer.startswith(b"HTTP/1.1 413")


def test_a_web_socket_is_refused(ask):
    status = ask(
        Upgrade="websocket", Connection="Upgrade", Sec_WebSocket_Key="x" * 24, Sec_WebSocket_Version="13"
    )[0]
    assert status != 101
