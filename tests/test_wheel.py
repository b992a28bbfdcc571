"""The wheel and the sdist as users get them: built, looked into, and run in an environment without anything else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_bytes
from pathlib import Path, PurePosixPath

import pytest

import discreet

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
NAME = f"discreet-{discreet.__version__}"
INFO = f"{NAME}.dist-info"


def _run(*words, cwd, **extra):
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | extra
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False, cwd=cwd, env=env)  # noqa: S603
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    _run(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-t", "wheel", "-d", folder, cwd=ROOT)
    return folder


@pytest.fixture(scope="module")
def wheel(built):
    with zipfile.ZipFile(built / f"{NAME}-py3-none-any.whl") as file:
        return {name: file.read(name) for name in file.namelist()}


@pytest.fixture(scope="module")
def clean(built, tmp_path_factory):
    """An environment with the wheel, what it needs, and no more."""
    folder = tmp_path_factory.mktemp("clean")
    _run(sys.executable, "-m", "venv", folder, cwd=folder)
    pip = (folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--no-compile")
    _run(*pip, "--constraint", ROOT / "constraints.txt", built / f"{NAME}-py3-none-any.whl", cwd=folder)
    return folder / "bin"


def _sources():
    """Return the package's files, as they stand in the repository."""
    files = (p for p in (ROOT / "src").rglob("*") if p.is_file() and "__pycache__" not in p.parts)
    return {p.relative_to(ROOT / "src").as_posix() for p in files}


def test_the_wheel_holds_the_package_and_no_more(wheel):
    held = {name for name in wheel if not name.startswith(f"{INFO}/")}
    assert held == _sources()
    kinds = {PurePosixPath(name).suffix for name in held if name != "discreet/report/fonts/LICENSE"}
    assert kinds == {".py", ".md", ".gz", ".npz", ".css", ".js", ".ttf", ".typ", ".typed"}
    assert {"discreet/py.typed", "discreet/report/page.css", "discreet/simulation/data/asia.bif.gz"} <= held
    assert "discreet/privacy/noise.md" in held
    licences = ("licenses/LICENSE", "licenses/src/discreet/report/fonts/LICENSE")
    expected = {f"{INFO}/{name}" for name in ("METADATA", "RECORD", "WHEEL", "entry_points.txt", *licences)}
    assert set(wheel) - held == expected


def test_the_metadata_are_true(wheel):
    said = message_from_bytes(wheel[f"{INFO}/METADATA"])
    assert (said["Name"], said["Version"]) == ("discreet", discreet.__version__)
    assert said["License-Expression"] == "MIT"
    assert said["Requires-Python"] == ">=3.11"
    assert said.get_all("Project-URL") is None
    assert said["Home-page"] is None
    kinds = said.get_all("Classifier")
    assert "Typing :: Typed" in kinds
    assert f"Programming Language :: Python :: {sys.version_info[0]}.{sys.version_info[1]}" in kinds
    assert said.get_payload().startswith("# discreet")
    assert wheel[f"{INFO}/licenses/LICENSE"] == (ROOT / "LICENSE").read_bytes()


def test_the_sdist_is_what_the_wheel_is_made_of(built):
    with tarfile.open(built / f"{NAME}.tar.gz") as file:
        held = {name.removeprefix(f"{NAME}/") for name in file.getnames()}
    assert {f"src/{name}" for name in _sources()} <= held
    assert {"pyproject.toml", "LICENSE", "README.md", "constraints.txt", "Makefile", "tests/test_wheel.py"} <= held
    strays = (".venv", "__pycache__", "cache", ".hypothesis", ".git/", ".db", ".egg-info", "discreet-demo")
    assert not [name for name in held if any(stray in name for stray in strays)]


def test_it_runs_where_nothing_else_is(clean, tmp_path):
    listed = json.loads(_run(clean / "python", "-m", "pip", "list", "--format", "json", cwd=tmp_path))
    assert not {"pytest", "pandas", "mypy", "hypothesis"} & {package["name"] for package in listed}
    _run(clean / "python", "-m", "pip", "check", cwd=tmp_path)
    assert _run(clean / "discreet", "--version", cwd=tmp_path).strip().endswith(discreet.__version__)
    for name in ("asia", "alarm", "sachs"):
        _run(clean / "python", "-c", f"import discreet; discreet.network({name!r})", cwd=tmp_path)


def test_the_demo_works_outside_the_repository(clean, tmp_path):
    ledger = {"DISCREET_LEDGER": str(tmp_path / "ledger.db")}
    out = _run(clean / "python", "-m", "discreet", "demo", cwd=tmp_path, **ledger)
    assert out.startswith("8 columns, 100,000 rows: ")
    made = {path.name for path in (tmp_path / "discreet-demo").iterdir()}
    assert {"release.json", "report.html", "graph.svg", "graph.gml"} <= made
    assert "</style>" in (tmp_path / "discreet-demo" / "report.html").read_text(encoding="utf-8")
