"""Two changes to files of Windows, so that Wine and MinGW can use what Python needs.

    python wine.py define python3.dll > python3.def   # exported names, from which dlltool makes the import library
    python wine.py complete ucrtbase.dll               # parts of complex numbers, which Wine 10 leaves out

NumPy calls `crealf` when it is imported; the C library of Wine 10 ends the process there. The functions take a number
in a register (float) or by address (double), and return a part of it.
"""

import sys
from pathlib import Path

import pefile

PARTS = {
    "crealf": "66 0f 6e c1 c3",  # movd xmm0, ecx; ret
    "cimagf": "48 c1 e9 20 66 0f 6e c1 c3",  # shr rcx, 32; movd xmm0, ecx; ret
    "creall": "f2 0f 10 01 c3",  # movsd xmm0, [rcx]; ret
    "cimag": "f2 0f 10 41 08 c3",  # movsd xmm0, [rcx + 8]; ret
    "cimagl": "f2 0f 10 41 08 c3",
}


def main(what: str, path: Path) -> None:
    library = pefile.PE(data=path.read_bytes())
    exported = {
        symbol.name.decode(): symbol.address
        for symbol in library.DIRECTORY_ENTRY_EXPORT.symbols
        if symbol.name
    }
    if what == "define":
        print(f"LIBRARY {path.name}", "EXPORTS", *exported, sep="\n")
    else:
        for name, code in PARTS.items():
            library.set_bytes_at_rva(exported[name], bytes.fromhex(code))
        library.write(str(path))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
