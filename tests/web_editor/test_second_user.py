"""A second user of the machine: cannot learn the address, read the files, or reach the session."""

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

OWNER = """
import sys
from hornbeam import TreeClassifier, workbench
X, y = [[21], [34], [52], [70]], ["no", "no", "yes", "yes"]
with workbench(TreeClassifier("cart").fit(X, y), X, y, path=sys.argv[1]) as running:
    running.session.apply({"do": "note", "text": "ask " + "the risk team"})
    running.session.apply({"do": "prune", "node": 0})
    print(running.url, flush=True)
    sys.stdin.read()
"""
# What any user can see: command lines, files, and what the server sends without a cookie.
OTHER = r"""
cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' '\n'
for file in {files}; do cat "$file" 2>/dev/null && echo "READ $file"; done
{python} -c "
import http.client
for path in ('/', '/state', '/workbench.js'):
    link = http.client.HTTPConnection('127.0.0.1', {port}, timeout=20)
    link.request('GET', path)
    print('STATUS', link.getresponse().status)
"
echo END
"""


@pytest.fixture
def folder():
    """A folder that every user can enter, unlike those of pytest."""
    found = Path(tempfile.mkdtemp())
    found.chmod(0o755)
    yield found
    shutil.rmtree(found)


@pytest.mark.skipif(
    sys.platform == "win32" or os.getuid() != 0 or shutil.which("su") is None or not Path("/proc/1").exists(),
    reason="only root becomes another user, and /proc shows command lines",
)
def test_another_user_finds_no_token_and_no_notes(folder):
    opened, browser = folder / "opened", folder / "browser.sh"
    browser.write_text(
        f'#!/bin/sh\necho "$1" > {opened}.part\nmv {opened}.part {opened}\nexec > /dev/null 2>&1\nsleep 60\n'
    )
    browser.chmod(0o755)
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(folder / "tree.hornbeam")],
        env={**os.environ, "BROWSER": f"{browser} %s &"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        umask=0,
    )
    try:
        address = owner.stdout.readline().strip()
        end = time.monotonic() + 60
        while not opened.exists() and time.monotonic() < end:  # the browser starts in the background
            time.sleep(0.05)
        page = Path(unquote(urlparse(opened.read_text().strip()).path))
        content = page.read_text()
        token = content.partition("url=http://127.0.0.1:")[2].split("/")[1]
        assert len(token) == 32
        files = [page, folder / "tree.journal", folder / ".tree.journal.in-use"]
        assert all(file.exists() for file in files)
        script = OTHER.format(
            files=" ".join(map(shlex.quote, map(str, files))),
            python=shlex.quote(shutil.which("python3", path="/usr/bin:/bin") or sys.executable),
            port=urlparse(address).port,
        )
        seen = subprocess.run(
            ["su", "-s", "/bin/sh", "nobody", "-c", script], capture_output=True, text=True, check=False
        ).stdout
    finally:
        owner.communicate("")
    assert seen.endswith("END\n")
    assert str(page) in seen  # the command line of the browser can be read
    assert token not in seen
    assert not any(f"READ {file}" in seen for file in files)
    assert "ask the risk team" not in seen
    assert seen.count("STATUS 403") == 3
    assert not page.exists()
