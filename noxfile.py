"""Every chore has one name: ``nox -l`` lists them, ``nox -s lint`` runs one.

The continuous integration runs the same chores in plain virtual environments (``.ci/run``).
"""

import shutil
import subprocess
from pathlib import Path

import nox

nox.needs_version = ">=2025.2"
nox.options.default_venv_backend = "venv"
nox.options.error_on_external_run = True
nox.options.sessions = ["lint", "types", "floors", "tests"]

NEWEST, OLDEST = "3.13", "3.12"
DOCTESTS = ["README.md", "docs", "--pyargs", "hornbeam"]
PARALLEL = ["--numprocesses=auto", "--dist=worksteal"]
# Only floors 1 to 3 call kernels; a new folder of tests is sanitized until it is listed here.
ABOVE = [
    "attacks",
    "benchmarks",
    "cli",
    "engines",
    "estimators",
    "evaluation",
    "explain",
    "export",
    "integrations",
    "interop",
    "parity",
    "plots",
    "reporting",
]


@nox.session(python=NEWEST)
def lint(session: nox.Session) -> None:
    """Check style, spelling and docstrings."""
    session.install("clang-format", "clang-tidy", "codespell", "nanobind", "numpydoc", "ruff")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("codespell")
    session.run("numpydoc", "lint", *map(str, sorted(Path("src").rglob("*.py"))))
    session.run("clang-format", "--dry-run", "--Werror", *map(str, sorted(Path("native").rglob("*.?pp"))))
    nanobind = session.run("python", "-m", "nanobind", "--include_dir", silent=True).strip()
    python = session.run(
        "python", "-c", "import sysconfig; print(sysconfig.get_path('include'))", silent=True
    ).strip()
    system = [f"-isystem{path}" for path in (nanobind, f"{nanobind}/../ext/robin_map/include", python)]
    sources = map(str, sorted(Path("native").rglob("*.cpp")))
    session.run("clang-tidy", "--quiet", *sources, "--", "-std=c++17", "-Inative", *system)


@nox.session(python=NEWEST)
def types(session: nox.Session) -> None:
    """Check the types, strictly."""
    session.install(".[cli,frames,onnx,sql,treelite]", "mypy")
    session.run("mypy")


@nox.session(python=NEWEST)
def floors(session: nox.Session) -> None:
    """Check that imports only go down the floors."""
    session.install(".", "import-linter")
    session.run("lint-imports")


@nox.session(python=[OLDEST, NEWEST])
def tests(session: nox.Session) -> None:
    """Run the tests and the doctests; arguments go to pytest."""
    session.install(".[test]")
    session.run("pytest", *(session.posargs or [*PARALLEL, "tests", *DOCTESTS]))


@nox.session(python=OLDEST)
def tests_oldest(session: nox.Session) -> None:
    """Run the tests with the oldest scikit-learn, NumPy and narwhals we support."""
    session.install(".[test-core]", "scikit-learn==1.6.*", "numpy==2.0.*", "narwhals==2.0.1")
    # Old libraries warn about newer ones; that is not our news.
    quiet = ["-W", "ignore::DeprecationWarning", "-W", "ignore::FutureWarning"]
    session.run("pytest", *quiet, *(session.posargs or [*PARALLEL, "tests"]))


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
    """Open reports in a real browser, 10,000 hostile names among them; needs chromium, and axe-core for its checks."""
    session.install(".[test]", "playwright")
    env = {"HORNBEAM_EXPORT_NAMES": "10000"}
    session.run("pytest", "tests/reporting", *session.posargs, env=env)


@nox.session(python=NEWEST)
def integrations(session: nox.Session) -> None:
    """Log every estimator to MLflow and load it again, and serve one from a real server."""
    session.install(".[test]", "mlflow>=3.5")
    session.run("pytest", "tests/integrations", *session.posargs)


@nox.session(python=OLDEST)
def spark(session: nox.Session) -> None:
    """Try the engines' contract on two executors of Spark; needs Java."""
    session.install(".[spark,test-core]")
    session.run("pytest", "tests/engines", *(session.posargs or ["-k", "spark"]))


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
    session.install(
        ".[test-core]",
        "--config-settings=cmake.define.HORNBEAM_SANITIZE=ON",
        "--config-settings=build-dir=build/sanitize",
        "--config-settings=install.strip=false",
    )
    # libstdc++ goes along so that the sanitizer finds the real __cxa_throw.
    libraries = [_compiler_library(name) for name in ("libasan.so", "libubsan.so", "libstdc++.so")]
    env = {
        "LD_PRELOAD": " ".join(libraries),
        "ASAN_OPTIONS": "detect_leaks=0",  # the interpreter itself keeps memory to the end
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    }
    session.run(
        "pytest",
        *(session.posargs or [*PARALLEL, "tests", *(f"--ignore=tests/{folder}" for folder in ABOVE)]),
        env=env,
    )


def _compiler_library(name: str) -> str:
    run = subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True)
    return str(Path(run.stdout.strip()).resolve())


@nox.session(python=NEWEST)
def examples(session: nox.Session) -> None:
    """Run every example, without a screen."""
    session.install(".[test]")
    for example in sorted(Path("examples").resolve().glob("*.py")):
        with session.chdir(session.create_tmp()):  # what it writes is not ours to keep
            session.run("python", str(example), env={"MPLBACKEND": "Agg"})


@nox.session(python=NEWEST)
def docs(session: nox.Session) -> None:
    """Build the documentation; every warning is an error."""
    session.install(".[docs]")
    session.run(
        "sphinx-build", "-W", "--keep-going", "-b", "html", "docs", "docs/_build/html", *session.posargs
    )


# The stable ABI is built with the oldest interpreter it promises to serve.
@nox.session(python=OLDEST)
def build(session: nox.Session) -> None:
    """Build the source archive, and from it the wheel; check the stable ABI."""
    session.install("abi3audit", "build")
    shutil.rmtree("dist", ignore_errors=True)
    session.run("python", "-m", "build")
    session.run("abi3audit", "--strict", *map(str, Path("dist").glob("*.whl")))


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
