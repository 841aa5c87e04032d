"""The JavaScript in the guide, which doctest does not run."""

import doctest
import re
import subprocess
from pathlib import Path

from source_runners import needs_node

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "exports.md"


@needs_node
def test_the_comments_in_the_guides_script_are_its_results(tmp_path):
    text = GUIDE.read_text(encoding="utf-8")
    before, _, after = text.partition("```javascript\n")
    names = {}
    for example in doctest.DocTestParser().get_examples(before):
        exec(compile(example.source, "guide", "single"), names)
    (tmp_path / "doses.js").write_text(names["script"], encoding="ascii")
    script, _, _ = after.partition("```")
    checks, n = re.subn(r"^(.+); // (.+)$", r"assert.deepStrictEqual(\1, \2);", script, flags=re.MULTILINE)
    assert n == 4
    program = tmp_path / "main.js"
    program.write_text(f'const assert = require("assert");\n{checks}', encoding="utf-8")
    run = subprocess.run(["node", str(program)], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
