"""The command line: what people type, what they get back, and what they are told when it does not work."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.cli import main
from discreet.domain import Domain
from discreet.errors import DoubtWarning

ROWS = 5_000
SECRET = "SECRET-4711"


def run(*args):
    return CliRunner().invoke(main, [str(a) for a in args])


@pytest.fixture
def files(tmp_path):
    net = dc.network("cancer")
    frame = pd.DataFrame(net.sample(ROWS, np.random.default_rng(0)))
    frame.to_csv(tmp_path / "data.csv", index=False)
    (tmp_path / "domain.yaml").write_text(net.domain(ROWS).to_yaml())
    return tmp_path, frame


def test_discover_prints_the_graph_and_says_what_was_promised(files):
    folder, _ = files
    result = run(
        "discover", folder / "data.csv", "--domain", folder / "domain.yaml", "--epsilon", 2, "--out", folder / "o"
    )
    assert result.exit_code == 0
    assert result.stdout.startswith("5 columns, 5,000 rows")
    assert "What that promises, to whom, and what not: report.html." in result.stderr
    assert "Promised:" in (again := run("discover", folder / "o" / "release.json").stderr)
    assert "report.html" not in again
    assert "Promised:" not in result.stdout
    assert {p.name for p in (folder / "o").iterdir()} == {"release.json", "graph.svg", "graph.gml", "report.html"}


def test_json_is_one_object_on_stdout(files):
    folder, _ = files
    result = run("discover", folder / "data.csv", "--domain", folder / "domain.yaml", "--epsilon", 2, "--json")
    assert json.loads(result.stdout)["privacy"]["epsilon"] == 2
    assert result.exit_code == 0


def test_a_release_is_searched_again_without_data(files):
    folder, _ = files
    run("discover", folder / "data.csv", "--domain", folder / "domain.yaml", "--epsilon", 2, "--out", folder / "o")
    again = run("discover", folder / "o" / "release.json", "--json", "--max-order", 0)
    assert json.loads(again.stdout)["schema"] == 2
    clash = run("discover", folder / "o" / "release.json", "--epsilon", 1)
    assert clash.exit_code == 2
    assert "epsilon" in clash.stderr


def test_a_release_has_its_name(files):
    folder, _ = files
    (folder / "release.txt").write_text("my release")
    for args in (["discover", folder / "release.txt"], ["synthesize", folder / "release.txt", "--rows", 5]):
        result = run(*args)
        assert result.exit_code == 2
        assert ".json" in result.stderr


def test_knowledge_file(files):
    folder, _ = files
    (folder / "k.yaml").write_text("required: [[Xray, Dyspnoea]]\n")
    result = run(
        *("discover", folder / "data.csv", "--domain", folder / "domain.yaml", "--epsilon", 2, "--json"),
        *("--knowledge", folder / "k.yaml", "--delta", 0, "--method", "marginals", "--alpha", 0.05),
    )
    edges = json.loads(result.stdout)["graph"]["edges"]
    assert ("Xray", "Dyspnoea", True, None) in [(e["from"], e["to"], e["directed"], e["confidence"]) for e in edges]


def test_draft_says_that_it_looked_and_can_be_used(files):
    folder, frame = files
    frame["age"] = np.linspace(17, 93, ROWS)
    frame["name"] = [f"person {i}" for i in range(ROWS)]
    frame.loc[3, "Smoker"] = None
    frame.to_csv(folder / "wide.csv", index=False)
    result = run("domain", "draft", folder / "wide.csv")
    assert result.exit_code == 0
    assert "LOOKING AT THE DATA" in result.stderr
    assert result.stdout.startswith("# DRAFT")
    assert "left out: 'name'" in result.stdout
    assert "person 1" not in result.stdout
    draft = Domain.from_yaml(result.stdout)
    assert draft["Smoker"].levels == ("False", "True", "missing")
    assert draft["age"].bounds == (10, 100)
    (folder / "draft.yaml").write_text(result.stdout)
    with warnings.catch_warnings():
        warnings.simplefilter("always", DoubtWarning)
        checked = run("domain", "check", folder / "wide.csv", "--domain", folder / "draft.yaml")
    assert checked.exit_code == 0
    assert "still carries the notice of a draft" in checked.stderr


def test_check_is_loud_where_most_of_a_column_is_foreign_and_refuses_what_a_run_would(tmp_path):
    frame = pd.DataFrame({"x": ["JA", "NEIN"] * 30, "y": ["a", "b"] * 30})
    frame.to_csv(tmp_path / "t.csv", index=False)
    many = ", ".join(f"c{i}" for i in range(60))
    (tmp_path / "d.yaml").write_text(
        f"rows: 60\ncolumns:\n  x: {{categories: [ja, nein], other: else}}\n  y: {{categories: [a, b, {many}]}}\n"
    )
    checked = run("domain", "check", tmp_path / "t.csv", "--domain", tmp_path / "d.yaml")
    assert checked.exit_code == 0
    assert "LOOK AT THIS COLUMN: more than half of it is foreign" in checked.stderr
    (tmp_path / "d.yaml").write_text(
        f"rows: 60\ncolumns:\n  x: {{categories: [JA, NEIN, {many}]}}\n  y: {{categories: [a, b, {many}]}}\n"
    )
    options = ("--domain", tmp_path / "d.yaml")
    for command in (
        ("domain", "check", tmp_path / "t.csv"),
        ("plan", "--epsilon", 1),
        ("discover", tmp_path / "t.csv"),
    ):
        refused = run(*command, *options, *(("--epsilon", 1) if command[0] == "discover" else ()))
        assert refused.exit_code == 2
        assert "'x' (62), 'y' (62). Declare fewer categories or bins, at most 21 levels each" in refused.stderr


def test_a_draft_that_nobody_judged_is_refused_before_anything_is_spent(files):
    folder, _ = files
    text = run("domain", "draft", folder / "data.csv").stdout
    (folder / "draft.yaml").write_text(text)
    options = ("--domain", folder / "draft.yaml", "--epsilon", 1)
    asked = {
        "discover": (),
        "direction": ("Smoker", "Cancer"),
        "test": ("Smoker", "Cancer"),
    }
    for command, columns in asked.items():
        result = run(command, folder / "data.csv", *columns, *options)
        assert result.exit_code == 2, command
        assert "Judge every line" in result.stderr
        assert "ledger was begun" not in result.stderr
    judged = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("#"))
    (folder / "draft.yaml").write_text(judged)
    assert run("discover", folder / "data.csv", *options).exit_code == 0


def test_text_among_numbers_is_counted_and_told_by_column(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n2026-11-17,x\n50,x\n-3,x\n")
    (tmp_path / "d.yaml").write_text("rows: 3\ncolumns: {a: {bounds: [0, 10]}, b: {categories: [x]}}")
    told = run("domain", "check", tmp_path / "t.csv", "--domain", tmp_path / "d.yaml")
    assert told.exit_code == 2
    assert "column 'a': 1 values outside the declaration without a place. Are they written otherwise" in told.stderr
    assert "column 'a': 2 values beyond the bounds" in told.stderr
    assert "2026" not in told.output
    (tmp_path / "d.yaml").write_text("rows: 3\ncolumns: {a: {bounds: [0, 10], other: text}, b: {categories: [x]}}")
    told = run("domain", "check", tmp_path / "t.csv", "--domain", tmp_path / "d.yaml")
    assert told.exit_code == 0
    assert "column 'a': 1 of 3 values are foreign and go to 'text'" in told.stderr


def test_the_custodian_is_told_what_goes_where(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\nu,x\n,y\nq,z\nu,\n")
    (tmp_path / "d.yaml").write_text(
        "rows: 4\ncolumns:\n  a: {categories: [u], missing: none, other: none}\n"
        "  b: {categories: [x, y], other: y, missing: x}\n"
    )
    told = run("domain", "check", tmp_path / "t.csv", "--domain", tmp_path / "d.yaml", "--json")
    assert json.loads(told.stdout)["placed"] == [
        {"column": "a", "kind": "missing", "place": "none", "values": 1},
        {"column": "a", "kind": "foreign", "place": "none", "values": 1},
        {"column": "b", "kind": "missing", "place": "x", "values": 1},
        {"column": "b", "kind": "foreign", "place": "y", "values": 1},
    ]


def test_check_names_columns_and_never_values(files):
    folder, frame = files
    frame.loc[3, "Smoker"] = SECRET
    frame.loc[4, "Xray"] = None
    frame["extra"] = 1
    frame.drop(columns="Cancer").iloc[:-1].to_csv(folder / "bad.csv", index=False)
    result = run("domain", "check", folder / "bad.csv", "--domain", folder / "domain.yaml")
    assert result.exit_code == 2
    for words in ("'Smoker': 1 values outside", "'Xray': 1 missing", "'Cancer': declared", "rows:", "extra"):
        assert words in result.stderr
    assert SECRET not in result.output
    as_json = run("domain", "check", folder / "bad.csv", "--domain", folder / "domain.yaml", "--json")
    assert not json.loads(as_json.stdout)["fits"]
    assert as_json.exit_code == 2
    fits = run("domain", "check", folder / "data.csv", "--domain", folder / "domain.yaml", "--json")
    empty = {"problems": [], "ignored": [], "clipped": {}, "placed": []}
    assert json.loads(fits.stdout) == {"schema": 1, "fits": True, **empty}


def bad_inputs():
    yield "missing column", lambda f, d: f.drop(columns="Cancer"), {}, "Cancer"
    yield "unknown category", lambda f, d: f.assign(Cancer=SECRET), {}, "Cancer"
    yield "NaN", lambda f, d: f.assign(Cancer=np.nan), {}, "Cancer"
    yield "one row short", lambda f, d: f.iloc[1:], {}, "rows"
    yield "no rows", lambda f, d: f.iloc[:0], {}, "no rows"
    yield "negative epsilon", None, {"--epsilon": "-1"}, "epsilon"
    yield "infinite epsilon", None, {"--epsilon": "inf"}, "epsilon"
    yield "not a number", None, {"--epsilon": "nan"}, "epsilon"
    yield "zero epsilon", None, {"--epsilon": "0"}, "epsilon"
    yield "text for epsilon", None, {"--epsilon": "much"}, "epsilon"
    yield "no epsilon", None, {"--epsilon": None}, "epsilon"
    yield "delta of 1", None, {"--delta": "1"}, "delta"
    yield "delta of 1/n", None, {"--delta": str(1 / ROWS)}, "delta"
    yield "no domain", None, {"--domain": None}, "domain"
    yield "absent domain", None, {"--domain": "nowhere.yaml"}, "domain"
    yield "unknown method", None, {"--method": "magic"}, "method"
    yield "order too large", None, {"--max-order": "5"}, "max-order"
    yield "alpha", None, {"--alpha": "2"}, "alpha"
    yield "absent knowledge", None, {"--knowledge": "nowhere.yaml"}, "knowledge"


@pytest.mark.parametrize(("frame", "options", "words"), [b[1:] for b in bad_inputs()], ids=[b[0] for b in bad_inputs()])
def test_bad_input_gets_a_clear_line_and_exit_2(files, frame, options, words):
    folder, good = files
    if frame is not None:
        frame(good, folder).to_csv(folder / "data.csv", index=False)
    given = {"--domain": str(folder / "domain.yaml"), "--epsilon": "1", "--out": str(folder / "o"), **options}
    args = [part for key, value in given.items() if value is not None for part in (key, value)]
    result = run("discover", folder / "data.csv", *args)
    assert result.exit_code == 2, result.output
    assert words in result.stderr
    assert SECRET not in result.output
    assert "Traceback" not in result.output
    assert not result.stdout
    assert not list((folder / "o").glob("*"))


@pytest.mark.parametrize("content", [b"", b"\x00\xff\xfe" * 500, b'{"a": 1}', b"a,b\n1\n2,3,4\n"])
@pytest.mark.parametrize("name", ["x.csv", "x.parquet", "x.duckdb", "x.json", "x.xlsx", "x"])
def test_files_that_are_not_tables(files, name, content):
    folder, _ = files
    (folder / name).write_bytes(content)
    args = [] if name.endswith("json") else ["--domain", folder / "domain.yaml", "--epsilon", "1"]
    result = run("discover", folder / name, *args)
    assert result.exit_code == 2, result.output
    assert result.stderr.splitlines()[-1].startswith("error: ")


def test_an_unexpected_failure_shows_no_traceback(files, monkeypatch):
    folder, _ = files

    def broken(*args, **kwargs):
        raise ValueError(SECRET)

    monkeypatch.setattr("discreet.methods.session.load", broken)
    result = run("discover", folder / "data.csv", "--domain", folder / "domain.yaml", "--epsilon", 1)
    assert result.exit_code == 1
    assert SECRET not in result.output
    assert "ValueError" in result.stderr


def test_demo(tmp_path):
    result = run("demo", "--rows", 20_000, "--out", tmp_path / "demo", "--network", "cancer")
    assert result.exit_code == 0
    assert "5 columns" in result.stdout
    assert "edges; " in result.stderr
    assert (tmp_path / "demo" / "report.html").is_file()
    assert run("demo", "--network", "nowhere", "--out", tmp_path / "demo").exit_code == 2
    assert run("demo", "--rows", 0, "--out", tmp_path / "demo").exit_code == 2


def test_help_needs_no_heavy_import():
    heavy = {"numpy", "scipy", "duckdb", "opendp", "pandas", "pyarrow", "flint", "networkx", "yaml"}
    code = f"import sys, discreet.cli; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout.strip() == "[]"
    assert "discover" in run("--help").stdout


@pytest.mark.parametrize("how", [{"PYTHONIOENCODING": "latin-1"}, {"LC_ALL": "C", "PYTHONUTF8": "0"}])
def test_a_terminal_that_knows_no_arrows(files, how):
    folder, _ = files
    args = ["discover", "data.csv", "--domain", "domain.yaml", "--epsilon", "1"]
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-m", "discreet", *args],
        capture_output=True,
        check=False,
        cwd=folder,
        env={**os.environ, **how},
    )
    assert done.returncode == 0
    assert done.stdout.startswith(b"5 columns")


def test_a_closed_stderr(files):
    folder, _ = files
    command = f"{sys.executable} -m discreet discover data.csv --domain domain.yaml --epsilon 1 --out o --json 2>&-"
    done = subprocess.run(["/bin/sh", "-c", command], stdout=subprocess.PIPE, check=False, cwd=folder)  # noqa: S603
    assert done.returncode == 0
    assert json.loads(done.stdout)["schema"] == 2
    assert (folder / "o" / "report.html").is_file()


def test_a_method_for_a_release_is_refused(files):
    folder, _ = files
    run("discover", folder / "data.csv", "--domain", folder / "domain.yaml", "--epsilon", 2, "--out", folder / "o")
    assert run("discover", folder / "o" / "release.json", "--method", "magic").exit_code == 2


def test_file_names_that_no_system_takes(files):
    folder, _ = files
    for name in ("x" * 300 + ".csv", "a\0b.csv"):
        assert run("discover", name, "--domain", folder / "domain.yaml", "--epsilon", 1).exit_code == 2


def test_drafts_of_odd_numbers(tmp_path):
    frame = pd.DataFrame({"x": [0.5, np.nan, np.inf, 1.5] * 10, "y": [-1e308, 1e308] * 20, "z": [1.0, np.nan] * 20})
    frame["w"] = ["missing", None] * 20
    frame.to_parquet(tmp_path / "t.parquet")
    result = run("domain", "draft", tmp_path / "t.parquet")
    assert result.exit_code == 0
    (tmp_path / "d.yaml").write_text(result.stdout)
    assert run("domain", "check", tmp_path / "t.parquet", "--domain", tmp_path / "d.yaml").exit_code == 0


def test_as_a_process(files):
    folder, _ = files
    args = ["discover", "data.csv", "--domain", "domain.yaml", "--epsilon", "1", "--json"]
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-m", "discreet", *args], capture_output=True, text=True, check=False, cwd=folder
    )
    assert done.returncode == 0
    assert json.loads(done.stdout)["rows"] == ROWS


def test_the_custodian_is_told_how_many_values_are_clipped(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,x\n50,x\n-3,x\n")
    (tmp_path / "d.yaml").write_text("rows: 3\ncolumns: {a: {bounds: [0, 10]}, b: {categories: [x]}}")
    told = run("domain", "check", tmp_path / "t.csv", "--domain", tmp_path / "d.yaml")
    assert told.exit_code == 0
    assert "column 'a': 2 values beyond the bounds" in told.stderr
    as_json = run("domain", "check", tmp_path / "t.csv", "--domain", tmp_path / "d.yaml", "--json")
    assert json.loads(as_json.stdout)["clipped"] == {"a": 2}


def test_quiet_leaves_results_and_warnings(files, tmp_path):
    folder, _ = files
    base = ("discover", folder / "data.csv", "--domain", folder / "domain.yaml", "--no-ledger", "--quiet")
    found = run(*base, "--epsilon", 2, "--out", tmp_path / "o")
    assert found.exit_code == 0
    assert found.stdout.startswith("5 columns, 5,000 rows")
    assert found.stderr == ""
    assert (tmp_path / "o" / "release.json").is_file()
    with warnings.catch_warnings():
        warnings.simplefilter("always", DoubtWarning)
        doubted = run(*base, "--epsilon", 20)
    assert doubted.stderr.startswith("warning: epsilon 20 promises hardly anything")
    assert run(*base).stderr.startswith("error: epsilon")


def test_progress_is_a_few_lines_without_a_clock(files):
    folder, _ = files
    found = run("discover", folder / "data.csv", "--domain", folder / "domain.yaml", "--epsilon", 2, "--no-ledger")
    told = found.stderr.split("\n\n")[0].splitlines()
    assert told[0].startswith("Not recorded")
    assert [line.split()[0] for line in told[1:]] == ["reading", "measuring", "searching"]


def test_a_release_is_never_overwritten(files, monkeypatch):
    folder, _ = files
    monkeypatch.chdir(folder)
    monkeypatch.setenv("DISCREET_LEDGER", str(folder / "ledger.db"))
    base = ("discover", "data.csv", "--domain", "domain.yaml", "--epsilon", 2)
    assert run(*base, "--request", "q3", "--out", "o").exit_code == 0
    kept = (folder / "o" / "release.json").read_bytes()
    for request in ((), ("--request", "q4")):
        refused = run(*base, *request, "--out", "o")
        assert refused.exit_code == 2
        assert "name another folder" in refused.stderr
        assert "Promised" not in refused.stderr
    book = json.loads(run("ledger", "show", "--json").stdout)
    assert book["datasets"][0]["runs"] == 1
    assert run(*base, "--request", "q3", "--out", "o").exit_code == 0  # the same release, shown again
    assert (folder / "o" / "release.json").read_bytes() == kept
    assert run("discover", "o/release.json", "--search", "pc", "--out", "o").exit_code == 0  # the same tables
    assert json.loads((folder / "o" / "release.json").read_text())["measurements"] == json.loads(kept)["measurements"]
    assert run(*base, "--out", "other").exit_code == 0
    again = run("discover", "o/release.json", "--out", "other")
    assert again.exit_code == 2
    assert "not overwritten" in again.stderr


def test_an_answer_is_never_overwritten(files, monkeypatch):
    folder, _ = files
    monkeypatch.chdir(folder)
    monkeypatch.setenv("DISCREET_LEDGER", str(folder / "ledger.db"))
    base = ("test", "data.csv", "Smoker", "Cancer", "--domain", "domain.yaml", "--epsilon", 1, "--out", "a.json")
    assert run(*base, "--request", "one").exit_code == 0
    kept = (folder / "a.json").read_bytes()
    assert run(*base).exit_code == 2
    assert run(*base, "--request", "one").exit_code == 0
    assert (folder / "a.json").read_bytes() == kept
    (folder / "a.json").write_text("something else")
    assert run(*base, "--request", "one").exit_code == 2
    assert (folder / "a.json").read_text() == "something else"


def test_a_refused_run_leaves_no_folder(files):
    folder, _ = files
    base = ("discover", folder / "data.csv", "--domain", folder / "domain.yaml", "--out", folder / "deep" / "o")
    assert run(*base, "--epsilon", 0).exit_code == 2
    assert run(*base, "--epsilon", 2, "--method", "nothing").exit_code == 2
    assert not (folder / "deep").exists()


def test_a_demo_takes_the_next_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        assert run("demo", "--network", "cancer", "--rows", 500, "-q").exit_code == 0
    assert {path.name for path in tmp_path.iterdir()} == {"discreet-demo", "discreet-demo-2"}


def test_a_release_is_searched_with_other_knowledge(files):
    folder, _ = files
    (folder / "k.yaml").write_text("forbidden: [[Smoker, Xray], [Xray, Smoker]]\n")
    (folder / "empty.yaml").write_text("")
    release = folder / "o" / "release.json"
    given = ("discover", folder / "data.csv", "--domain", folder / "domain.yaml", "--epsilon", 2)
    run(*given, "--knowledge", folder / "k.yaml", "--out", folder / "o")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        again = run("discover", release, "--knowledge", folder / "empty.yaml", "--out", folder / "p")
    assert again.exit_code == 0
    assert "warning: Smoker and Xray: not measured" in again.stderr
    assert json.loads((folder / "p" / "release.json").read_text())["knowledge"]["forbidden"] == []
    required = run("discover", release, "--knowledge", folder / "k.yaml", "--missing", "leave-out", "--json")
    assert required.exit_code == 0
    rows = run(*given, "--missing", "leave-out")
    assert (rows.exit_code, "goes with a release" in rows.stderr) == (2, True)


def test_a_crash_leaves_no_memory_behind():
    resource = pytest.importorskip("resource")
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    if hard == 0:
        pytest.skip("no core could be written anyway")
    lines = (
        "import resource",
        f"resource.setrlimit(resource.RLIMIT_CORE, ({min(hard, 1 << 20) if hard > 0 else 1 << 20}, {hard}))",
        "from click.testing import CliRunner",
        "from discreet.cli import main",
        "assert CliRunner().invoke(main, ['domain', 'check', 'nowhere.csv', '--domain', 'none.yaml']).exit_code == 2",
        "print(resource.getrlimit(resource.RLIMIT_CORE))",
    )
    done = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout.strip() == str((0, hard))
