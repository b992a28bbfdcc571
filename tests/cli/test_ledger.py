"""The ledger from the command line."""

import json
import os
import re
import shlex
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.cli import main
from discreet.cli.options import source_name
from discreet.errors import DoubtWarning
from discreet.ledger.words import check_name

ROWS = 400


@pytest.fixture
def folder(tmp_path, monkeypatch):
    net = dc.network("asia")
    data = net.sample(ROWS, np.random.default_rng(0))
    lines = [",".join(data), *(",".join(map(str, row)) for row in zip(*data.values(), strict=True))]
    (tmp_path / "visits.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "domain.yaml").write_text(net.domain(ROWS).to_yaml(), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DISCREET_LEDGER", "sqlite:///ledger.db")
    return tmp_path


def run(*arguments, code=0):
    result = CliRunner().invoke(main, list(map(str, arguments)))
    assert result.exit_code == code, result.output
    return result


def discover(*arguments, epsilon=0.5, code=0):
    return run("discover", "visits.csv", "--domain", "domain.yaml", "--epsilon", epsilon, *arguments, code=code)


def show():
    return json.loads(run("ledger", "show", "--json").stdout)


def test_the_whole_way(folder):
    run("ledger", "init", "--dataset", "visits", "--epsilon", 1, "--delta", 1e-6, "--owner", "maria")
    for out in ("first", "second", "out"):
        found = discover("--dataset", "visits", "--purpose", "the report", "--out", out)
    assert "of its limit (epsilon 1, delta 1e-06) is spent in 3 runs" in " ".join(found.stderr.split())
    refused = discover("--dataset", "visits", code=3)
    assert refused.stdout == ""
    assert "is left" in refused.stderr
    assert "Traceback" not in refused.stderr
    data = show()
    (visits,) = data["datasets"]
    assert (visits["dataset"], visits["owner"], visits["runs"]) == ("visits", "maria", 3)
    assert visits["limit"]["currency"] == "zCDP rho"
    assert 0.9 < visits["spent_share"] < 1
    assert visits["spent_epsilon"] < 1
    assert [e["state"] for e in data["entries"]] == ["limit", "committed", "committed", "committed", "refused"]
    text = run("ledger", "show").stdout
    for word in ("visits", "maria", "█", "░", "discover marginals (the report)", "committed", "refused", "left"):
        assert word in text
    assert max(map(len, text.splitlines())) <= 130
    checked = run("ledger", "verify", "--against", "out/release.json")
    assert "the chain is whole" in checked.stdout
    assert "out/release.json is the release of entry 8" in checked.stdout
    head = json.loads(run("ledger", "export").stdout)["head"]
    run("ledger", "verify", "--head", head)
    assert "no entry has the hash" in run("ledger", "verify", "--head", head[::-1], code=1).stdout


def test_without_a_limit_it_is_recorded_and_said(folder):
    found = discover()
    assert f"A new ledger was begun: {folder / 'ledger.db'}" in found.stderr
    said = " ".join(found.stderr.split())
    assert "'visits.csv' has no limit. 1 run so far: epsilon 0.5, delta 1e-06 in all" in said
    assert "new ledger" not in discover().stderr
    assert show()["datasets"][0]["limit"] is None
    assert "no limit declared: 2 runs" in run("ledger", "show").stdout


def test_it_can_be_turned_off(folder):
    found = discover("--no-ledger", "--out", "out")
    assert "Not recorded (--no-ledger)" in found.stderr
    assert not (folder / "ledger.db").exists()
    assert json.loads((folder / "out/release.json").read_text())["privacy"]["ledger"] is None
    assert "In no ledger" in (folder / "out/report.html").read_text()
    discover("--no-ledger", "--dataset", "visits", code=2)


def test_the_same_request_prints_the_same(folder):
    first = discover("--request", "q3", "--json", "--out", "one")
    again = discover("--request", "q3", "--json", "--out", "two")
    assert first.stdout == again.stdout
    assert (folder / "one/release.json").read_text() == (folder / "two/release.json").read_text()
    assert "nothing is spent" in again.stderr
    other = discover("--request", "q3", epsilon=0.6, code=2)
    assert "other parameters" in other.stderr
    assert show()["datasets"][0]["runs"] == 1


def test_directions_and_tests_go_into_the_same_budget(folder):
    rng = np.random.default_rng(4)
    x = rng.uniform(0, 10, 300)
    lines = ["dose,reply", *(f"{a},{b}" for a, b in zip(x, np.sqrt(x) + rng.uniform(-0.3, 0.3, 300), strict=True))]
    (folder / "rows.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    domain = dc.Domain({"dose": dc.Numeric(bounds=(0.0, 10.0)), "reply": dc.Numeric(bounds=(-1.0, 4.0))}, rows=300)
    (folder / "numbers.yaml").write_text(domain.to_yaml(), encoding="utf-8")
    common = ["rows.csv", "dose", "reply", "--domain", "numbers.yaml", "--epsilon", 0.15]
    run("ledger", "init", "--dataset", "rows.csv", "--epsilon", 1, "--delta", 1e-6)
    run("direction", *common, "--out", "way.json")
    run("test", *common, "--out", "whether.json")
    run("discover", "rows.csv", "--domain", "numbers.yaml", "--epsilon", 0.02)
    assert run("direction", *common, code=3).stdout == ""
    assert run("test", *common, code=3).stdout == ""
    assert [e["asked"]["command"] for e in (e["facts"] for e in show()["entries"]) if "asked" in e] == [
        *("direction", "test", "discover", "direction", "test")
    ]
    run("ledger", "verify", "--against", "way.json", "whether.json")


def test_pure_limits(folder):
    run("ledger", "init", "--dataset", "visits.csv", "--epsilon", 1, "--delta", 0)
    assert "ask with delta 0" in discover(code=3).stderr
    discover("--delta", 0)
    discover("--delta", 0)
    assert "100.0% spent" in run("ledger", "show").stdout
    discover("--delta", 0, code=3)


def test_limits_are_changed_and_spending_booked(folder):
    run("ledger", "limit", "--dataset", "visits.csv", "--epsilon", 1, "--json")
    assert "has a limit already" in run("ledger", "init", "--dataset", "visits.csv", "--epsilon", 2, code=2).stderr
    assert "stays so" in run("ledger", "limit", "--dataset", "visits.csv", "--epsilon", 2, "--delta", 0, code=2).stderr
    discover()
    run("ledger", "limit", "--dataset", "visits.csv", "--epsilon", 0.1, code=3)
    data = json.loads(run("ledger", "limit", "--dataset", "visits.csv", "--epsilon", 2, "--json").stdout)
    assert data["limit"]["epsilon"] == 2
    run("ledger", "spend", "--dataset", "visits.csv", "--epsilon", 0.2, "--purpose", "a histogram by hand")
    assert "booked by hand" in run("ledger", "show").stdout
    assert show()["datasets"][0]["runs"] == 2
    run("ledger", "spend", "--dataset", "visits.csv", "--epsilon", -1, "--purpose", "x", code=2)
    run("ledger", "init", "--epsilon", 1, code=2)
    run("ledger", "init", "--dataset", "x", code=2)


def test_exports_hold_every_entry(folder):
    run("ledger", "init")
    discover("--purpose", "=cmd()")
    data = json.loads(run("ledger", "export").stdout)
    assert [e["kind"] for e in data["entries"]] == ["begun", "reserved", "committed"]
    assert data["head"] == data["entries"][-1]["hash"]
    assert data["entries"][1]["cost"]["zcdp"] > 0
    rows = run("ledger", "export", "--format", "csv").stdout.splitlines()
    assert len(rows) == 4
    assert "'=cmd()" in rows[2]
    assert "rounded Gaussian" in rows[3]
    run("ledger", "export", "--out", "all.json")
    assert json.loads((folder / "all.json").read_text()) == data
    assert (
        "knows no 'visits'; did you mean 'visits.csv'" in run("ledger", "export", "--dataset", "visits", code=2).stderr
    )


def test_tampering_is_told(folder):
    import sqlite3

    from discreet.ledger.stores.sqlite import SCHEMA

    discover("--out", "out")
    with sqlite3.connect("ledger.db") as connection:
        connection.execute("DROP TRIGGER discreet_entries_no_delete")
        connection.execute("DELETE FROM discreet_entries WHERE number = 3")
        connection.execute("DROP TRIGGER discreet_releases_no_delete")
        connection.execute("DELETE FROM discreet_releases")
    assert "✗ the trigger discreet_entries_no_delete is missing" in run("ledger", "verify", code=1).stdout
    with connection:
        for sql in SCHEMA:
            if sql.startswith(("CREATE TRIGGER discreet_entries_no_d", "CREATE TRIGGER discreet_releases_no_d")):
                connection.execute(sql)
    connection.close()
    assert "the chain is whole" in run("ledger", "verify").stdout  # a cut tail leaves a whole chain
    told = run("ledger", "verify", "--against", "out/release.json", code=1)
    assert "tail was cut off" in told.stdout
    assert (
        json.loads(run("ledger", "verify", "--against", "out/release.json", "--json", code=1).stdout)["whole"] is False
    )
    (folder / "ledger.db").unlink()
    for command in (("ledger", "verify"), ("ledger", "show"), ("ledger", "init")):
        assert "'ledger.db' is gone" in run(*command, code=1).stderr
    assert (
        "only to begin another one on purpose, delete 'ledger.db.key' and 'ledger.db.lock'" in discover(code=1).stderr
    )
    assert not (folder / "ledger.db").exists()
    for name in ("ledger.db.key", "ledger.db.lock"):
        (folder / name).unlink()
    assert "no ledger" in run("ledger", "verify", code=1).stderr
    discover()
    assert "another ledger" in run("ledger", "verify", "--against", "out/release.json", code=1).stdout
    assert "cannot be read as a release" in run("ledger", "verify", "--against", "visits.csv", code=2).stderr
    discover("--no-ledger", "--out", "without")
    assert "no place in a ledger" in run("ledger", "verify", "--against", "without/release.json", code=1).stdout


def test_a_release_searched_again_stands_where_it_stood(folder):
    discover("--out", "out")
    run("discover", "out/release.json", "--search", "pc", "--out", "again")
    told = run("ledger", "verify", "--against", "again/release.json").stdout
    assert "is the release of entry 3" in told
    assert "searched again" in told
    data = json.loads((folder / "out/release.json").read_text())
    data["privacy"]["epsilon"] = 0.1
    (folder / "forged.json").write_text(json.dumps(data))
    assert "was edited (privacy was changed)" in run("ledger", "verify", "--against", "forged.json", code=1).stdout
    run("discover", "out/release.json", "--dataset", "x", code=2)


def test_a_release_that_points_at_another_entry_is_told(folder):
    """An entry that commits nothing confirms nothing: the first one, a limit, or the release's own reservation."""
    run("ledger", "limit", "--dataset", "visits.csv", "--epsilon", 5)
    discover("--out", "out")
    entries = json.loads(run("ledger", "export").stdout)["entries"]
    assert [e["kind"] for e in entries] == ["begun", "limit", "reserved", "committed"]
    data = json.loads((folder / "out/release.json").read_text())
    for entry in entries[:3]:
        data["privacy"]["ledger"] |= {"entry": entry["number"], "head": entry["hash"]}
        (folder / "forged.json").write_text(json.dumps(data))
        told = run("ledger", "verify", "--against", "forged.json", code=1).stdout
        assert f"committed as entry {entry['number']}, and that entry commits nothing" in told
        assert "is the release of" not in told


def test_a_release_with_parts_removed_or_added_is_told(folder):
    discover("--out", "out")
    whole = json.loads((folder / "out/release.json").read_text())

    def told(change, code=1):
        (folder / "forged.json").write_text(json.dumps(change))
        return run("ledger", "verify", "--against", "forged.json", code=code).stdout

    assert "is the release of entry 3" in told({**whole, "version": "9.9"}, code=0)
    for part in whole.keys() - {"version", "privacy"}:
        without = {name: value for name, value in whole.items() if name != part}
        assert f"it was cut, or is what `--json` prints ({part} is missing)" in told(without)
    found = told({**whole, "more": 1})
    assert "(more was added)" in found
    assert "searched again" not in found
    found = told({**whole, "graph": {}, "rows": 1})
    assert "graph was changed" not in found
    assert "rows was changed" in found


def test_what_is_not_private_is_not_recorded(folder):
    common = ["discover", "visits.csv", "--domain", "domain.yaml", "--method", "pc", "--not-private"]
    run(*common)
    assert not (folder / "ledger.db").exists()
    assert "not recorded" in run(*common, "--dataset", "visits", code=2).stderr


def test_where_the_ledger_is(folder, monkeypatch):
    discover("--ledger", "sqlite:///other.db")
    assert (folder / "other.db").exists()
    discover("--ledger", f"sqlite:///{folder}/third.db")
    assert (folder / "third.db").exists()
    monkeypatch.delenv("DISCREET_LEDGER")
    monkeypatch.setenv("XDG_DATA_HOME", str(folder / "home"))
    environment = {**os.environ, "HOME": str(folder / "home")}
    command = [sys.executable, "-m", "discreet", "ledger", "init"]
    subprocess.run(command, check=True, env=environment, capture_output=True)  # noqa: S603
    assert list((folder / "home").rglob("discreet/ledger.db"))
    assert "expected a file" in discover("--ledger", "mysql://x", code=2).stderr


def test_names_of_sources():
    assert source_name("some/where/visits.csv") == "visits.csv"
    assert source_name("shop.duckdb?table=visits") == "shop.duckdb:visits"
    assert source_name("a\nb.csv") == "a?b.csv"
    for odd, name in (
        (" visits.csv", "visits.csv"),
        ("a.csv\n", "a.csv"),
        ("x" * 199 + " .csv", "x" * 199),
        (" ", "data"),
    ):
        assert source_name(odd) == name == check_name(name, "dataset")


def test_a_file_with_a_blank_before_its_name(folder):
    (folder / "visits.csv").rename(folder / " visits.csv")
    run("discover", " visits.csv", "--domain", "domain.yaml", "--epsilon", 1)
    assert show()["datasets"][0]["dataset"] == "visits.csv"


def test_names_are_spelled_in_one_way_by_all_commands(folder):
    apart, as_one = "cafe\u0301", "caf\u00e9"
    discover("--dataset", apart, "--request", apart)
    for name in (apart, as_one):
        assert f"\n{as_one}   (owner" in run("ledger", "show", "--dataset", name).stdout
        assert len(json.loads(run("ledger", "show", "--dataset", name, "--json").stdout)["datasets"]) == 1
        assert len(json.loads(run("ledger", "export", "--dataset", name).stdout)["entries"]) == 2
        assert json.loads(run("ledger", "release", "--request", name).stdout)["rows"] == ROWS
    run("ledger", "show", "--dataset", "a\nb", code=2)


def test_a_password_on_the_command_line_is_never_said(folder):
    pytest.importorskip("psycopg")
    told = discover("--ledger", "postgresql://me:hunter2@127.0.0.1:1/db", code=1)
    assert "hunter2" not in told.output
    assert "cannot be reached" in told.stderr


def test_a_release_is_written_once_more(folder):
    first = discover("--out", "out")
    request = show()["entries"][0]["request"]
    assert f"Request {request}." in " ".join(first.stderr.split())
    run("ledger", "release", "--request", request, "--out", "again.json")
    assert (folder / "again.json").read_text() == (folder / "out/release.json").read_text()
    assert "holds no release" in run("ledger", "release", "--request", request[:8], code=2).stderr


def test_what_is_broken_off_says_what_is_spent(folder, monkeypatch):
    import discreet.methods.marginals
    import discreet.report.terminal

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(discreet.methods.marginals, "search", interrupted)
    told = discover("--request", "q", code=1)
    assert "Broken off: epsilon 0.5 of 'visits.csv' stays spent (request q)." in told.stderr
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("DISCREET_LEDGER", "ledger.db")
    monkeypatch.setattr(discreet.report.terminal, "summary_text", interrupted)
    told = discover("--request", "r", code=1)
    assert "The release is kept: `discreet ledger release --request r`" in told.stderr


def test_names_are_merged(folder):
    run("ledger", "init", "--dataset", "visits", "--epsilon", 2)
    with warnings.catch_warnings():
        warnings.simplefilter("always", DoubtWarning)
        assert "did you mean 'visits'?" in discover().stderr
    run("ledger", "merge", "--dataset", "visits.csv", "--into", "visits")
    assert "counted under 'visits'" in run("ledger", "show").stdout
    assert "name that" in discover(code=3).stderr
    discover("--dataset", "visits")
    run("ledger", "verify")


def test_what_a_pure_limit_cannot_count_is_shown_all_the_same(folder):
    run("ledger", "init", "--dataset", "visits.csv", "--epsilon", 1, "--delta", 0)
    run("ledger", "spend", "--dataset", "visits.csv", "--epsilon", 0.1, "--delta", 1e-8, "--purpose", "x")
    run("ledger", "show")
    run("ledger", "show", "--json")
    assert "no cost in it" in discover("--delta", 0, code=3).stderr


def follow(told):
    """Run the commands that a message advises."""
    commands = re.findall(r"`discreet ([^`]*)`", told.stderr)
    assert commands
    for command in commands:
        run(*shlex.split(command))


def test_a_change_of_a_limit_keeps_the_rest(folder):
    run("ledger", "init", "--dataset", "a", "--epsilon", 2, "--delta", 1e-9, "--approximate", 1e-10)
    run("ledger", "limit", "--dataset", "a", "--epsilon", 3)
    assert show()["datasets"][0]["limit"].items() >= {"epsilon": 3, "delta": 1e-9, "approximate": 1e-10}.items()
    run("ledger", "limit", "--dataset", "a", "--epsilon", 3, "--approximate", 0)
    assert show()["datasets"][0]["limit"].items() >= {"delta": 1e-9, "approximate": 0}.items()
    run("ledger", "limit", "--dataset", "b", "--epsilon", 3)
    assert show()["datasets"][1]["limit"].items() >= {"delta": 1e-6, "approximate": 0}.items()


@pytest.mark.parametrize("deltas", [(1.2345e-7,), (1e-6,), (5e-7, 5.0001e-7), (1e-3,)])
def test_the_limit_that_is_advised_can_be_declared(folder, deltas):
    for delta in deltas:
        run("ledger", "spend", "--dataset", "it's", "--epsilon", 0.1, "--delta", delta, "--purpose", "x")
    follow(run("ledger", "limit", "--dataset", "it's", "--epsilon", 1, code=3))
    assert show()["datasets"][0]["limit"]["epsilon"] < 2


def test_runs_without_a_pure_cost_are_advised_a_limit_with_a_delta(folder):
    discover()
    follow(run("ledger", "limit", "--dataset", "visits.csv", "--epsilon", 1, "--delta", 0, code=3))


@pytest.mark.parametrize(("delta", "code"), [(0, 3), (1e-6, 2)])
def test_a_broken_pure_limit_has_a_way_out(folder, delta, code):
    run("ledger", "init", "--dataset", "visits.csv", "--epsilon", 1, "--delta", 0)
    run("ledger", "spend", "--dataset", "visits.csv", "--epsilon", 0.1, "--delta", 1e-7, "--purpose", "x")
    told = run("ledger", "limit", "--dataset", "visits.csv", "--epsilon", 2, "--delta", delta, code=code)
    refused = discover("--delta", 0, code=3)
    assert "--into NEW" in refused.stderr
    follow(told)
    run("ledger", "limit", "--dataset", "NEW", "--epsilon", 5)
    discover("--dataset", "NEW")
    run("ledger", "verify")


def test_a_refusal_under_a_limit_that_puts_too_little_by_says_which_would_do(folder):
    run("ledger", "init", "--dataset", "visits.csv", "--epsilon", 1)
    run("ledger", "spend", "--dataset", "visits.csv", "--epsilon", 0.1, "--delta", 1e-6, "--purpose", "x")
    follow(discover(code=3))
    discover()


def test_a_refusal_in_pure_epsilon_says_what_is_spent_asked_and_left(folder):
    run("ledger", "init", "--dataset", "visits.csv", "--epsilon", 1, "--delta", 0)
    discover("--delta", 0, epsilon=0.4)
    told = " ".join(discover(code=3).stderr.split())
    assert "asks epsilon 0.5, delta 1e-06" in told
    assert "ask with delta 0 and epsilon 0.6 at most" in told
    assert "0.4 pure epsilon of 1 pure epsilon is spent" in told
    assert "0.6 pure epsilon is left" in told


def test_what_is_booked_without_a_limit_is_shown_as_it_is(folder):
    booked = ["ledger", "spend", "--dataset", "a", "--epsilon", 0.1, "--delta", 1e-6, "--purpose", "x"]
    assert "so far epsilon 0.1, delta 1e-06 in all" in run(*booked).stdout
    assert "so far epsilon 0.1, delta 1e-06 in all" in run("ledger", "show").stdout
    assert json.loads(run(*booked, "--json").stdout).items() >= {"spent_epsilon": 0.2, "at_delta": 2e-6}.items()
    assert show()["datasets"][0].items() >= {"spent_epsilon": 0.2, "at_delta": 2e-6}.items()
    run("ledger", "spend", "--dataset", "visits.csv", "--epsilon", 0.3, "--purpose", "x")
    assert "2 runs so far: epsilon 0.8, delta 1e-06 in all" in " ".join(discover().stderr.split())


def shell(command):
    """Run a line of a shell, in which `discreet` is this one; return its exit code and what it says on stderr."""
    line = command.replace("discreet", f"{sys.executable} -m discreet")
    done = subprocess.run(["/bin/bash", "-o", "pipefail", "-c", line], capture_output=True, text=True, check=False)  # noqa: S603
    assert "Traceback" not in done.stderr
    assert "something failed inside" not in done.stderr
    assert "Exception ignored" not in done.stderr
    return done.returncode, done.stderr


@pytest.mark.skipif(os.name != "posix", reason="pipes of a shell")
def test_a_reader_that_goes_away_is_no_failure(folder):
    ask = "discreet discover visits.csv --domain domain.yaml --epsilon 1 --request q"
    code, told = shell(f"{ask} | true")
    assert code == 141
    assert "The release is kept: `discreet ledger release --request q`" in told
    assert "error" not in told
    for command in ("ledger export", "ledger show", "ledger release --request q"):
        assert shell(f"discreet {command} | true") == (141, "")
    run("ledger", "release", "--request", "q", "--out", "r.json")
    assert shell("discreet synthesize r.json --rows 200000 | true") == (141, "")
    run("ledger", "verify", "--against", "r.json")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device")
def test_a_full_disk_behind_stdout_is_said(folder):
    words = "error: the output cannot be written: no space is left where it goes\n"
    code, told = shell("discreet discover visits.csv --domain domain.yaml --epsilon 1 --request q > /dev/full")
    assert code == 1
    assert "The release is kept" in told
    assert told.endswith(words)
    for command in ("--help", "ledger --help", "ledger show", "ledger release --request q"):
        assert shell(f"discreet {command} > /dev/full") == (1, words)
    assert shell("discreet ledger show > /dev/full 2> /dev/full") == (1, "")


def test_the_demo_leaves_no_record(folder):
    run("demo", "--rows", 500, "--out", "demo")
    assert not (folder / "ledger.db").exists()
