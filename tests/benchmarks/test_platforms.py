"""The tables of platforms are those of the committed results, and all digests in them are equal."""

import pytest
from benchmarks.machines import platforms


@pytest.mark.parametrize("name", platforms.PAGES)
def test_the_page_has_the_table_of_the_file(name):
    table = platforms.tables(platforms.read())[name]
    assert table in platforms.PAGES[name].read_text(encoding="utf-8")


def test_every_digest_is_equal_and_no_test_failed():
    for line in platforms.read():
        assert line["digests"].keys() == {"passed"}, line["platform"]
        assert "failed" not in line["tests"], line["platform"]


def test_every_script_exists():
    for command in platforms.PLATFORMS.values():
        for word in command.split():
            assert not word.endswith(".sh") or (platforms.ROOT / word).is_file(), word
