"""Ways to damage a model file: bits, numbers, lines and pieces, at random but by the seed."""

from __future__ import annotations

import random
import re
import struct

WORDS = [
    b"null",
    b"true",
    b"NaN",
    b"Infinity",
    b"-1",
    b"1e999",
    b"1.5",
    b'"x"',
    b"[]",
    b"{}",
    b"-0.0",
    b"0",
    b"2",
    b'"inf"',
]
GIANTS = [
    b"2147483647",
    b"-2147483648",
    b"4294967296",
    b"9223372036854775807",
    b"18446744073709551615",
    b"9" * 400,
    b"1e308",
]


def flip_bits(data: bytearray, rng: random.Random) -> None:
    for _ in range(rng.choice([1, 1, 2, 8])):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def number(data: bytearray, rng: random.Random) -> re.Match[bytes] | None:
    return re.compile(rb"-?[0-9]+").search(data, rng.randrange(len(data)))


def swap_digits(data: bytearray, rng: random.Random) -> None:
    for _ in range(rng.choice([1, 1, 3])):
        if found := number(data, rng):
            at = rng.randrange(*found.span())
            data[at] = rng.choice(b"0123456789")


def replace_number(data: bytearray, rng: random.Random) -> None:
    if found := number(data, rng):
        data[found.start() : found.end()] = rng.choice(WORDS)


def make_giant(data: bytearray, rng: random.Random) -> None:
    counts = list(re.finditer(rb'"n_[a-z]+\\?": *([0-9]+)|"(?:shape|data_offsets)": *\[([0-9]+)', data))
    found = rng.choice(counts) if counts and rng.random() < 0.5 else number(data, rng)
    if found:
        group = found.lastindex or 0
        data[found.start(group) : found.end(group)] = rng.choice(GIANTS)


def truncate(data: bytearray, rng: random.Random) -> None:
    del data[rng.randrange(len(data)) :]


def cut_out(data: bytearray, rng: random.Random) -> None:
    begin = rng.randrange(len(data))
    del data[begin : begin + rng.choice([1, 2, 8, 100])]


def splice(data: bytearray, rng: random.Random) -> None:
    other = rng.choice(FILES)
    begin, at = rng.randrange(len(other)), rng.randrange(len(data))
    length = rng.choice([1, 8, 64, len(other)])
    data[at : at + rng.choice([0, length])] = other[begin : begin + length]


def repeat_line(data: bytearray, rng: random.Random) -> None:
    """A key again, with the same value or another's."""
    lines = data.split(b"\n")
    source, target = rng.randrange(len(lines)), rng.randrange(len(lines))
    line = lines[source]
    if rng.random() < 0.5 and b": " in lines[target]:
        line = lines[target].partition(b": ")[0] + b": " + rng.choice(WORDS) + b","
    lines.insert(target, line)
    data[:] = b"\n".join(lines)


def swap_lines(data: bytearray, rng: random.Random) -> None:
    lines = data.split(b"\n")
    one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    data[:] = b"\n".join(lines)


def nest(data: bytearray, rng: random.Random) -> None:
    at, opening = rng.randrange(len(data)), rng.choice([b"[", b'{"a":'])
    data[at:at] = opening * rng.choice([1, 20, 5000])


def disturb_array(data: bytearray, rng: random.Random) -> None:
    """Eight bytes of a tensor, or a number of a text, become another number of this file."""
    if data[:1] == b"{":
        one, other = number(data, rng), number(data, rng)
        if one and other:
            data[one.start() : one.end()] = bytes(other[0])
        return
    body = 8 + int.from_bytes(data[:8], "little")
    if body + 16 < len(data):
        at = rng.randrange(body, len(data) - 8) // 4 * 4
        value = rng.choice(
            [0, 1, -1, 2**31 - 1, 2**62, 2**63 - 1, -(2**63), 0x7FF0000000000000, 0x7FF8000000000000]
        )
        data[at : at + 8] = struct.pack("<q", value)


MUTATIONS = [
    flip_bits,
    swap_digits,
    replace_number,
    make_giant,
    truncate,
    cut_out,
    splice,
    repeat_line,
    swap_lines,
    nest,
    disturb_array,
]
FILES: list[bytes] = []


def mutant(seed: int) -> tuple[str, bytes]:
    rng = random.Random(seed)
    data = bytearray(rng.choice(FILES))
    mutate = rng.choice(MUTATIONS)
    mutate(data, rng)
    if rng.random() < 0.1 and data:
        flip_bits(data, rng)
    return mutate.__name__, bytes(data)
