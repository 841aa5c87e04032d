"""A Cortex-M4: the compiler for it, the size of a program there, and its predictions when it runs (QEMU).

The board is Arm's MPS2 with the image AN386, a Cortex-M4 with single-precision floats. Programs run without an
operating system and speak to us by semihosting. Flash is what the linker keeps of code and constants when it is told to
keep one function; RAM is what it keeps of variables, and the stack is the memory that a run was seen to write to.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.export.chips.sources import TYPES, Source
from benchmarks.export.chips.trees import CLASSES, FEATURES
from benchmarks.synthetic import Floats

GCC = ("arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16", "-Os")
COMPILE = ("-std=c99", "-ffunction-sections", "-fdata-sections")
LINK = ("-nostartfiles", "-specs=nano.specs", "-specs=nosys.specs")
QEMU = (
    "qemu-system-arm", "-M", "mps2-an386", "-display", "none", "-serial", "none", "-monitor", "none",
    "-chardev", "stdio,id=host", "-semihosting-config", "enable=on,target=native,chardev=host",
)  # fmt: skip
FLASH, RAM = (".text", ".rodata", ".ARM.exidx"), (".data", ".bss")


@dataclass(frozen=True, slots=True)
class Run:
    """The predictions of a program: the class and the probabilities of each row, and how deep its stack went."""

    classes: NDArray[np.int32]
    probabilities: Floats
    stack: int


class Board:
    """One tree on the board; `folder` is for the compiler's files."""

    def __init__(self, source: Source, folder: Path) -> None:
        self.source, self.folder = source, folder

    def weigh(self, function: str) -> tuple[int, int]:
        """Bytes of flash and of RAM, without the stack, that a program needs to call this function alone."""
        made = self._link(self._unit, "-Wl,--gc-sections", f"-Wl,-e,{function}")
        listing = subprocess.run(
            ["arm-none-eabi-size", "-A", made], capture_output=True, text=True, check=True
        ).stdout
        size = {name: int(n) for name, n in re.findall(r"^(\.\S+) +(\d+)", listing, re.MULTILINE)}
        return sum(size.get(name, 0) for name in FLASH), sum(size.get(name, 0) for name in RAM)

    def run(self, X: Floats) -> Run:
        """Ask the board about rows; a missing value is NaN, or the least integer."""
        dtype = np.dtype(TYPES[self.source.values])
        missing = np.nan if dtype.kind == "f" else np.iinfo(dtype).min
        rows = np.where(np.isnan(X), missing, X).astype(dtype)
        answer = "float" if self.source.maker == "emlearn" else self.source.probabilities
        # Bytes, not numbers: nothing is rounded on the way.
        cells = {"rows": len(X), "features": FEATURES, "classes": CLASSES, "value": self.source.values}
        main = _MAIN.format(**cells, answer=answer, bytes=",".join(map(str, rows.tobytes())))
        (self.folder / "main.c").write_text(main)
        (self.folder / "board.ld").write_text(_MEMORY)
        program = self._link(self._compile("main.c"), self._unit, "-T", str(self.folder / "board.ld"))
        printed = subprocess.run(
            [*QEMU, "-kernel", program], capture_output=True, text=True, check=True, timeout=120
        ).stdout.split()
        raw = np.frombuffer(bytes.fromhex("".join(printed[:-1])), np.uint8).reshape(len(X), -1)
        p = raw[:, 4:].copy().view(TYPES[answer])
        return Run(
            raw[:, :4].copy().view("<i4")[:, 0], p.astype(np.float64) / self.source.one, int(printed[-1], 16)
        )

    @cached_property
    def _unit(self) -> str:
        (self.folder / "tree.c").write_text(self.source.code)
        return self._compile("tree.c")

    def _compile(self, name: str) -> str:
        include = ("-I", str(self.source.include)) if self.source.include else ()
        made = str(self.folder / f"{name}.o")
        _gcc(*COMPILE, *include, "-c", "-o", made, str(self.folder / name))
        return made

    def _link(self, *arguments: str) -> str:
        made = str(self.folder / "program.elf")
        _gcc(*LINK, "-o", made, *arguments)
        return made


def versions() -> dict[str, str]:
    """The compiler and the emulator."""
    asked = {"gcc": (GCC[0], "--version"), "qemu": (QEMU[0], "--version")}
    found: dict[str, Any] = {}
    for name, command in asked.items():
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        found[name] = re.search(r"\d+\.\d+\.\d+", text.splitlines()[0])
    return {name: match[0] for name, match in found.items()}


def _gcc(*arguments: str) -> None:
    run = subprocess.run([*GCC, *arguments], capture_output=True, text=True, check=False)
    if run.returncode:
        raise RuntimeError(run.stderr.strip()[:2000])


_MEMORY = """
MEMORY { flash : ORIGIN = 0, LENGTH = 4M  ram : ORIGIN = 0x20000000, LENGTH = 4M }
SECTIONS {
    .text : { KEEP(*(.vectors)) *(.text*) *(.rodata*) } > flash
    .ARM.exidx : { *(.ARM.exidx*) } > flash
    .data : { *(.data*) } > ram
    .bss : { *(.bss*) *(COMMON) end = .; } > ram
}
"""

# The stack below main is painted before a row is asked about, and the paint that is left says how deep it went.
_MAIN = """
#include <stdint.h>

int32_t chip_class(const {value} *x);
void chip_probabilities(const {value} *x, {answer} *p);

static const uint8_t rows[] __attribute__((aligned(8))) = {{{bytes}}};
enum {{ DEEPEST = 4096, PAINT = 0xA5 }};

static void host(int operation, const void *argument)
{{
    register int r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
}}

static void say(const void *from, int n, const char *end)
{{
    static const char digits[] = "0123456789abcdef";
    char text[64];
    int at = 0;
    for (int i = 0; i < n; ++i) {{
        const uint8_t byte = ((const uint8_t *)from)[i];
        text[at++] = digits[byte >> 4];
        text[at++] = digits[byte & 15];
    }}
    text[at] = 0;
    host(4, text);
    host(4, end);
}}

static uint8_t *top(void)
{{
    uint8_t *sp;
    __asm__ volatile("mov %0, sp" : "=r"(sp));
    return sp;
}}

static void start(void)
{{
    *(volatile uint32_t *)0xE000ED88 |= 0xF << 20; /* the floating point unit is off at reset */
    __asm__ volatile("dsb; isb");
    static {answer} p[{classes}];
    const {value} (*x)[{features}] = (const {value} (*)[{features}])rows;
    uint8_t *const sp = top();
    uint32_t most = 0;
    for (int i = 0; i < {rows}; ++i) {{
        for (volatile uint8_t *at = sp - DEEPEST; at < sp; ++at)
            *at = PAINT;
        const int32_t best = chip_class(x[i]);
        chip_probabilities(x[i], p);
        const volatile uint8_t *at = sp - DEEPEST;
        while (at < sp && *at == PAINT)
            ++at;
        if ((uint32_t)(sp - at) > most)
            most = (uint32_t)(sp - at);
        say(&best, sizeof best, "");
        say(p, sizeof p, "\\n");
    }}
    const uint8_t depth[] = {{most >> 24, most >> 16, most >> 8, most}};
    say(depth, sizeof depth, "\\n");
    host(0x18, (const void *)0x20026);
}}

__attribute__((section(".vectors"), used)) static const void *const vectors[] = {{(void *)0x20400000, (void *)start}};
"""
