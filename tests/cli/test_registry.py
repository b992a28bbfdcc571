"""`discreet registry`: files for a privacy office, and what a ledger adds to them."""

from __future__ import annotations

import json
import sys

import pytest
import yaml
from click.testing import CliRunner

from discreet.cli import main


def run(*args):
    return CliRunner().invoke(main, [str(a) for a in args])


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("office")
    (folder / "data.csv").write_text("a,b\n" + "0,0\n1,1\n" * 100, encoding="utf-8")
    (folder / "domain.yaml").write_text(
        "rows: 200\ncolumns: {a: {categories: ['0', '1']}, b: {categories: ['0', '1']}}\n", encoding="utf-8"
    )
    common = (folder / "data.csv", "--domain", folder / "domain.yaml", "--epsilon", 1)
    book = ("--ledger", folder / "book.db", "--dataset", "pairs")
    made = run("discover", *common, *book, "--title", "Pairs", "--out", folder / "made")
    assert made.exit_code == 0, made.output
    asked = run("test", common[0], "a", "b", *common[1:], *book, "--out", folder / "test.json")
    assert asked.exit_code == 0, asked.output
    return folder


def test_the_entry_is_the_result(place):
    result = run("registry", place / "made" / "release.json")
    assert result.exit_code == 0, result.output
    assert yaml.safe_load(result.stdout)["deployment"]["basic"]["name"] == "Pairs"
    asked = result.stdout.count("TODO: ")
    assert f"{asked} questions in the entry are left to you" in result.stderr
    assert "deployment_model" not in run("registry", place / "made" / "release.json", "--tier", 1).stdout
    assert run("registry", place / "made" / "release.json", "--tier", 4).exit_code == 2
    assert run("registry", place / "test.json").exit_code == 0


def test_files_are_written_and_never_over_others(place, tmp_path):
    pytest.importorskip("typst", reason="pip install discreet[pdf]")
    out = tmp_path / "office"
    assert not (result := run("registry", place / "made" / "release.json", "--out", out)).stdout
    assert result.exit_code == 0, result.output
    assert sorted(path.name for path in out.iterdir()) == ["registry.yaml", "statement.md", "statement.pdf"]
    assert (out / "statement.pdf").read_bytes().startswith(b"%PDF")
    before = (out / "statement.md").read_bytes()
    (out / "registry.yaml").unlink()
    again = run("registry", place / "test.json", "--out", out)
    assert again.exit_code == 2
    assert "is not overwritten" in again.stderr
    assert (out / "statement.md").read_bytes() == before
    assert not (out / "registry.yaml").exists()


def test_without_typst_it_says_what_to_install(place, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "typst", None)
    result = run("registry", place / "made" / "release.json", "--out", tmp_path)
    assert result.exit_code == 0, result.output
    assert "pip install 'discreet[pdf]'" in result.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["registry.yaml", "statement.md"]


def test_a_ledger_tells_what_all_releases_come_to(place):
    result = run("registry", place / "made" / "release.json", "--ledger", place / "book.db")
    assert result.exit_code == 0, result.output
    told = yaml.safe_load(result.stdout)["deployment"]["accounting"]["composition"]
    assert "holds this release as entry 3" in told
    assert "2 runs, epsilon 1.46, delta 1e-06 in all" in told
    assert "No limit is declared" in told


def test_a_ledger_that_does_not_hold_the_release_is_refused(place, tmp_path):
    data = json.loads((place / "made" / "release.json").read_text("utf-8"))
    data["privacy"]["epsilon"] = 0.1
    (tmp_path / "edited.json").write_text(json.dumps(data), encoding="utf-8")
    result = run("registry", tmp_path / "edited.json", "--ledger", place / "book.db")
    assert result.exit_code == 1
    assert "it was edited" in result.stderr
    assert not result.stdout
    data["privacy"]["ledger"] = None
    (tmp_path / "none.json").write_text(json.dumps(data), encoding="utf-8")
    assert "no place in a ledger" in run("registry", tmp_path / "none.json", "--ledger", place / "book.db").stderr
    assert run("registry", place / "made" / "release.json", "--ledger", tmp_path / "other.db").exit_code == 1
    assert not (tmp_path / "other.db").exists()


def test_what_is_not_private_is_refused(place, tmp_path):
    command = ("discover", place / "data.csv", "--domain", place / "domain.yaml", "--method", "pc", "--not-private")
    assert run(*command, "--out", tmp_path).exit_code == 0
    result = run("registry", tmp_path / "not-private.json", "--out", tmp_path / "office")
    assert result.exit_code == 2
    assert "NOT PRIVATE" in result.stderr
    assert not (tmp_path / "office").exists()
