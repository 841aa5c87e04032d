"""The tables of platforms are those of the committed results, and all digests in them are equal."""

import subprocess
import sys

from benchmarks.machines import platforms


def test_the_page_has_the_table_of_the_file():
    assert platforms.table(platforms.read()) in platforms.PAGE.read_text(encoding="utf-8")


def test_every_digest_is_equal_and_no_test_failed():
    for line in platforms.read():
        assert line["digests"].keys() == {"passed"}, line["platform"]
        assert "failed" not in line["tests"], line["platform"]


def test_every_script_exists():
    for command in platforms.PLATFORMS.values():
        for word in command.split():
            assert not word.endswith(".sh") or (platforms.ROOT / word).is_file(), word


def test_the_command_needs_no_installed_hornbeam():
    """`nox -s platforms` has the tools of wheels alone: each platform builds its own Hornbeam."""
    code = "import sys; sys.modules['hornbeam'] = None; import benchmarks.machines.platforms"
    subprocess.run([sys.executable, "-c", code], cwd=platforms.ROOT, check=True)
