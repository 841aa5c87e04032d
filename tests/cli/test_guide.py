"""The guide prints what the commands print.

To write the outputs of the page anew: ``HORNBEAM_WRITE_GUIDE=1 pytest tests/cli/test_guide.py``.
"""

import os
import re
import shlex
import stat
import subprocess
import sys
from pathlib import Path
from shutil import which

import pytest

PAGE = Path(__file__).parents[2] / "docs/guide/command-line.md"
# What another machine's logarithms may change: the last digits of numbers, and the digest of a model.
BITS = re.compile(r"\d+\.\d{5,}(e-\d+)?|\b[0-9a-f]{12}\b")
BLOCK = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)


def rounded(number: re.Match[str]) -> str:
    return f"{float(number[0]):.4f}" if "." in number[0] else "digest"


@pytest.mark.long
@pytest.mark.skipif(which("bash") is None, reason="needs bash")
def test_the_guide_is_true(run, tmp_path):
    shim = tmp_path / "bin" / "hornbeam"
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m hornbeam "$@"\n')
    shim.chmod(shim.stat().st_mode | stat.S_IXUSR)

    def output(command: str) -> str:
        words = shlex.split(command)
        if words[0] == "hornbeam" and not {"|", "||", "&&"} & set(words):
            return run(*words[1:]).output
        path = os.pathsep.join([str(shim.parent), os.environ["PATH"]])
        done = subprocess.run(
            ["bash", "-c", command],
            check=False,
            env=os.environ | {"PATH": path},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        return done.stdout

    def printed(block: re.Match[str]) -> str:
        commands = [line[2:] for line in block[0].splitlines() if line.startswith("$ ")]
        return "".join(f"$ {command}\n{output(command)}" for command in commands)

    written = PAGE.read_text(encoding="utf-8")
    found = BLOCK.sub(printed, written)
    if os.environ.get("HORNBEAM_WRITE_GUIDE"):
        PAGE.write_text(found)
    else:
        assert BITS.sub(rounded, found) == BITS.sub(rounded, written)
