"""Everything that makes a promise is audited, passes, and what is broken on purpose is caught."""

from __future__ import annotations

import inspect
import json
import pkgutil
from dataclasses import replace
from importlib import import_module

import pytest
from click.testing import CliRunner

import discreet.audit.statistics
import discreet.baselines.exact
import discreet.privacy.mechanisms
import discreet.release.oracles
import discreet.search
import discreet.statistics
from discreet.audit import running
from discreet.audit.broken.methods import HARD
from discreet.audit.broken.methods import METHODS as METHODS_BROKEN
from discreet.audit.neighbours import hand_made
from discreet.audit.piles import piles
from discreet.audit.register import BROKEN, QUICK, Power, broken_cases, cases, cases_for, levels_of, sound_cases
from discreet.audit.replay import audit_method
from discreet.audit.running import STATE, Task, as_table, left_out, run, tasks
from discreet.audit.subjects import (
    COMMANDS,
    DIRECTION,
    FEW,
    GATES,
    MECHANISMS,
    ORACLES,
    STATISTICS,
    TEST,
    method_subjects,
    methods,
    subjects_of,
    variants,
)
from discreet.audit.tape import record
from discreet.cli import main
from discreet.errors import OutputError, SettingError
from discreet.methods.direction import NAMES as DIRECTIONS
from discreet.methods.registry import NAMES
from discreet.release.settings import SEARCHES, Marginals
from discreet.statistics import ranks
from discreet.statistics.dependence import Dependence

TINY = Power("tiny", runs=500, method_runs=500, tries=3, steps=5, replays=4, draws=20_000, loads=2)


def classes_with(package, attribute):
    """Return the classes of a package that have a method, without protocols and those that others are made from."""
    found = set()
    inside = [info.name for info in pkgutil.walk_packages(getattr(package, "__path__", []), package.__name__ + ".")]
    for module in map(import_module, inside or [package.__name__]):
        for cls in vars(module).values():
            if inspect.isclass(cls) and cls.__module__ == module.__name__ and hasattr(cls, attribute):
                found |= set() if inspect.isabstract(cls) or getattr(cls, "_is_protocol", False) else {cls}
    return found


def statistics():
    return classes_with(discreet.statistics, "evaluate") | classes_with(discreet.audit.statistics, "evaluate")


def test_every_statistic_has_an_audit():
    assert statistics() == set(STATISTICS), "add an example to audit/subjects.py"


def test_every_mechanism_has_an_audit():
    assert classes_with(discreet.privacy.mechanisms, "blur") == set(MECHANISMS), "add an example to audit/subjects.py"
    for cls in MECHANISMS:
        by = {case.auditor for case in cases() if case.subject == cls.__name__}
        assert by == {"exact", "black box"}


def test_every_gate_has_an_audit():
    without_blur = {cls for cls in classes_with(discreet.privacy.mechanisms, "cost") if not hasattr(cls, "blur")}
    assert without_blur == set(GATES), "add an example to audit/subjects.py"


def test_every_method_has_an_audit():
    assert set(methods()) == set(NAMES) - {"auto"} | {DIRECTION, TEST}
    for method in methods():
        mine = [case for case in cases() if case.subject == method]
        assert {case.auditor for case in mine} == {"replay", "black box"}
    assert {setting.score for setting in subjects_of(DIRECTION)} == set(DIRECTIONS)
    for method in set(methods()) - {DIRECTION, TEST}:
        mine = [case for case in cases() if case.subject == method]
        tried = variants(method_subjects(method)[0].settings)
        assert len([case for case in mine if case.auditor == "replay"]) >= 2 * len(tried)


def oracles():
    packages = (discreet.search, discreet.release.oracles, discreet.baselines.exact)
    return {cls for package in packages for cls in classes_with(package, "ask")}


def test_every_oracle_is_asked_by_an_audited_method_or_makes_no_promise():
    asked = {cls.__name__ for cls in oracles()}
    assert asked == set(ORACLES), "say in audit/subjects.py which method's audit asks it"
    assert {method for method in ORACLES.values() if method is not None} <= set(methods())


@pytest.mark.parametrize(("name", "method"), [(o, m) for o, m in ORACLES.items() if m is not None])
def test_the_audit_of_a_method_does_ask_its_oracle(name, method, monkeypatch):
    (oracle,) = (cls for cls in oracles() if cls.__name__ == name)
    asked = []
    made = oracle.__init__
    monkeypatch.setattr(oracle, "__init__", lambda self, *a, **k: (asked.append(1), made(self, *a, **k))[1])
    setting = method_subjects(method)[0]
    record(setting.release, next(hand_made(setting.domain)).first)
    assert asked


def test_a_statistic_without_an_audit_would_be_noticed(monkeypatch):
    from discreet.statistics import counts

    class Forgotten(counts.Counts):
        pass

    Forgotten.__module__ = counts.__name__
    monkeypatch.setattr(counts, "Forgotten", Forgotten, raising=False)
    assert statistics() != set(STATISTICS)


def test_a_new_search_of_a_method_would_be_audited_without_new_code():
    assert {recipe.search for recipe in variants(Marginals())} == set(SEARCHES)
    assert {recipe.max_order for recipe in variants(Marginals())} == {0, 1, 2}


def test_a_method_brings_along_what_it_uses():
    subjects = {case.subject for case in cases_for("marginals")}
    assert {"Interactions", "Counts", "Quantiles", "ShapedGaussian", "DiscreteLaplace", "Selection"} <= subjects
    assert "DiscreteGaussian" not in subjects


HEAVY = ("HSIC", "KendallResiduals", "Quartiles")
"""Subjects whose audits take longest: run by `make test-all`. What a quick audit leaves out is nightly."""

ELSEWHERE = {command.name for command in COMMANDS}
"""Audits with tests of their own, like all of the house."""


def marked(case):
    marks = [pytest.mark.slow] * case.subject.endswith(HEAVY) + [pytest.mark.nightly] * case.slow
    return pytest.param(case, marks=marks, id=f"{case.name}-{case.auditor}")


@pytest.mark.parametrize("case", [marked(c) for c in cases() if c.kind != "house" and c.name not in ELSEWHERE])
def test_the_library_keeps_its_promises(case):
    finding = case.run(TINY, 1e-6)
    assert not finding.violated, finding.evidence
    assert finding.claimed is None or finding.found <= finding.claimed * (1 + 1e-9)
    if finding.auditor == "exact" or case.kind == "statistic":
        # An audit that sees nothing shows nothing. What is proved of kernels is about twice what is ever found.
        least = {"HSIC": 0.2, "FeatureHSIC": 0.3, "SeparationHSIC": 0.2}.get(case.subject, 0.4)
        assert finding.found >= least * finding.claimed


def test_a_whole_method_that_looks_at_rows_again_is_found_out():
    setting = method_subjects("marginals")[0]

    def looking(rows):
        found = json.loads(setting.release(rows))
        if rows[:, 0].sum() % 2:
            found["graph"]["nodes"].reverse()
        return found

    pairs = [pair for pair in hand_made(FEW) if pair.first[:, 0].sum() != pair.second[:, 0].sum()][:3]
    assert audit_method("looking", looking, setting.claim, pairs).violated


def test_at_least_25_are_broken_and_each_says_who_must_catch_it():
    assert len(BROKEN) >= 25
    assert len({b.name for b in BROKEN}) == len(BROKEN)
    assert {b.catcher for b in BROKEN} == {"exact", "replay", "black box", "source"}
    for broken in BROKEN:
        assert broken.wrong
        assert broken.origin


HIDDEN = {broken.name for broken in HARD}


def test_the_level_is_shared_by_all_that_draw():
    levels = levels_of(cases())
    assert sum(levels.values()) == pytest.approx(0.001)
    assert set(levels) == {case.name for case in cases() if case.auditor in ("black box", "fit")}


def test_a_quick_audit_names_what_it_leaves_out():
    left = set(left_out(None))
    assert {task.name for task in tasks(None, quick=False) if task.group == "library"} - left == {
        task.name for task in tasks(None, quick=True) if task.group == "library"
    }
    assert all(case.auditor == "black box" or case.subject == "people" for case in cases() if case.name in left)


def test_names_are_unique():
    names = [case.name for case in cases()]
    assert len(set(names)) == len(names)


def some():
    return [t for t in tasks("marginals", quick=True) if "tiny" in t.name or "exact law" in t.name]


def test_what_is_done_is_not_done_again(tmp_path):
    said = []
    first = run(some(), folder=tmp_path, progress=said.append)
    lines = (tmp_path / STATE).read_text(encoding="utf-8").splitlines()
    assert len(lines) == len(some())
    (tmp_path / STATE).write_text("\n".join(lines[:-1]) + "\n" + lines[-1][: len(lines[-1]) // 2], encoding="utf-8")
    said.clear()
    again = run(some(), folder=tmp_path, progress=said.append)
    assert again == first
    assert said[0] == f"{len(lines) - 1} of {len(lines)} audits were done before by the same code"
    assert len(said) == 2


def test_a_folder_that_cannot_be_written_is_refused_before_anything_is_run(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    said = []
    with pytest.raises(OutputError, match="cannot be written"):
        run(some(), folder=tmp_path / "file", progress=said.append)
    assert not said


def test_other_code_is_audited_anew(tmp_path):
    run(some()[:1], folder=tmp_path, progress=lambda _: None)
    text = (tmp_path / STATE).read_text(encoding="utf-8")
    (tmp_path / STATE).write_text(text.replace('{"key": "', '{"key": "0'), encoding="utf-8")
    said = []
    run(some()[:1], folder=tmp_path, progress=said.append)
    assert len(said) == 1
    assert said[0].startswith("1 of 1: ")


def test_an_audit_that_fails_does_not_pass(monkeypatch):
    def fails(power, alpha):
        raise ValueError("broken auditor")

    case = replace(cases()[0], run=fails)
    monkeypatch.setattr(running, "_by_name", lambda group: {case.name: case})
    finding = running.run_task(Task(case.name, "library", True, 0.001))
    assert finding.violated
    assert "the audit itself failed (ValueError: broken auditor)" in finding.evidence
    assert not running.run_task(Task(case.name, "broken", True, 0.001)).violated


def test_the_table_has_claim_bound_runs_and_verdict():
    report = run(some()[:1], progress=lambda _: None)
    head, _, line = as_table(report.library)
    assert [cell.strip() for cell in head.strip("|").split("|")] == [
        "audited",
        "by",
        "promise",
        "found",
        "runs",
        "verdict",
    ]
    assert "no violation" in line


def test_a_method_that_does_not_exist_is_refused():
    with pytest.raises(SettingError, match="marginals"):
        tasks("nope", quick=True)
    for arguments in ([], ["--method", "marginals", "--all"], ["--method", "nope"]):
        result = CliRunner().invoke(main, ["audit", *arguments])
        assert result.exit_code == 2
        assert "error:" in result.stderr


@pytest.mark.slow
def test_the_command_writes_a_table_a_picture_and_json(tmp_path):
    result = CliRunner().invoke(main, ["audit", "--method", "em-pc", "--quick", "--json", "--out", str(tmp_path)])
    assert result.exit_code == 0, result.stderr
    data = json.loads(result.stdout)
    assert {audit["verdict"] for audit in data["audits"]} == {"no violation"}
    assert json.loads((tmp_path / "audit.json").read_text(encoding="utf-8")) == data
    assert (tmp_path / "audit.svg").read_text(encoding="utf-8").startswith("<svg")
    assert "no violation" in (tmp_path / "audit.md").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("case", broken_cases(), ids=lambda case: case.name)
def test_what_is_broken_is_caught(case):
    finding = case.run(QUICK, 0.001)
    assert finding.violated or case.name in HIDDEN
    assert finding.evidence or not finding.violated


@pytest.mark.slow
@pytest.mark.parametrize("case", sound_cases(), ids=lambda case: f"{case.name}-{case.auditor}")
def test_sound_twins_raise_no_alarm(case):
    assert not case.run(QUICK, 0.001).violated


@pytest.mark.nightly
def test_everything_is_sound_and_what_is_broken_is_caught(tmp_path):
    result = CliRunner().invoke(main, ["audit", "--all", "--quick", "--jobs", "2", "--json", "--out", str(tmp_path)])
    assert result.exit_code == 0, result.stderr
    data = json.loads(result.stdout)
    assert data["schema"] == 1
    assert all({"name", "claim", "found", "verdict"} <= set(audit) for audit in data["audits"])
    assert {audit["verdict"] for audit in data["audits"]} == {"no violation"}
    broken = data["broken"]
    assert broken["planted"] == len(BROKEN)
    assert broken["caught"] >= 0.95 * broken["planted"]
    assert broken["caught"] + len(broken["missed"]) == broken["planted"]
    assert set(broken["missed"]) <= HIDDEN
    assert all(audit["evidence"] for audit in broken["audits"] if audit["name"] not in broken["missed"])
    assert data["sound"]["audited"] == len(sound_cases())
    assert data["sound"]["alarms"] == []
    assert "Broken on purpose" in (tmp_path / "audit.md").read_text(encoding="utf-8")


ASKING = [broken for broken in METHODS_BROKEN if hasattr(broken.subject, "run")]


def test_there_are_planted_bugs_of_methods():
    assert len(ASKING) >= 4


@pytest.mark.nightly
@pytest.mark.parametrize("trial", range(60))
def test_planted_bugs_of_methods_are_found_in_every_one_of_sixty_trials(trial):
    broken = ASKING[trial % len(ASKING)]
    case = next(c for c in broken_cases() if c.name == broken.name)
    assert case.run(QUICK, 0.001).violated, broken.name


def test_a_bound_that_is_remembered_of_a_larger_table_is_found(monkeypatch):
    kept = {}
    real = Dependence._bound
    monkeypatch.setattr(
        Dependence, "_bound", lambda self, size: kept.setdefault((type(self), size.x, size.y), real(self, size))
    )
    case = next(c for c in cases() if c.name == "ConditionalTotalVariation, worst neighbours (2)")
    assert case.run(TINY, 1e-6).violated


def test_sums_that_overflow_where_rows_are_many_are_found(monkeypatch):
    assert not any(piles())
    monkeypatch.setattr(ranks, "MAX_CUBED", 1 << 62)
    assert "SpearmanA" in next(filter(None, piles()))
