"""The package stays within the sizes of `tests/budget.toml`."""

import pytest

from support.budget import FILES_PER_FOLDER, TABLE, faults, limits, lowered, sizes, write

ADVICE = "Make it smaller, or raise `most` in tests/budget.toml and write the reason beside it."


def test_the_package_is_within_its_budget():
    found = faults(sizes(), limits())
    assert not found, "\n".join([*found, ADVICE])


def line(most, lowest=None, reason=""):
    return {"most": most, "lowest": most if lowest is None else lowest, "reason": reason}


@pytest.mark.parametrize(
    ("found", "allowed", "fault"),
    [
        ({"lines of src": 11}, {"lines of src": line(10)}, "11, expected at most 10"),
        ({"lines of src": 9}, {"lines of src": line(10, 8)}, "rose from 8 to 10 without a reason"),
        ({"files of src/a": FILES_PER_FOLDER + 1}, {}, "expected at most 16"),
        ({"files of src/a": 17}, {"files of src/a": line(17)}, "more than 16 files without a reason"),
    ],
)
def test_a_size_above_its_limit_and_a_rise_without_a_reason_are_found(found, allowed, fault):
    [text] = faults(found, allowed)
    assert fault in text


def test_a_reason_permits_a_rise():
    found = {"lines of src": 10, "files of src/a": 17}
    allowed = {
        "lines of src": line(10, 8, "a format"),
        "files of src/a": line(17, 17, "one file per command"),
    }
    assert faults(found, allowed) == []


def test_limits_are_lowered_and_never_raised():
    found = {"lines of src": 9, "noqa in src": 30, "files of src/a": 17}
    allowed = {
        "lines of src": line(12, 9, "a format"),
        "noqa in src": line(20),
        "files of src/a": line(18, 18, "one file per command"),
        "files of src/b": line(17, 17, "was large"),
    }
    assert lowered(found, allowed) == {
        "lines of src": line(9),
        "noqa in src": line(20),
        "files of src/a": line(17, 17, "one file per command"),
    }


def test_the_table_is_written_as_it_is_read(tmp_path):
    copy = tmp_path / "budget.toml"
    copy.write_bytes(TABLE.read_bytes())
    write(limits(), copy)
    assert copy.read_text(encoding="utf-8") == TABLE.read_text(encoding="utf-8")
