"""Progress: a bar in a terminal, a few lines elsewhere, and steps that public facts fix."""

from __future__ import annotations

import ast
import io
from pathlib import Path

import numpy as np
import pytest

import discreet as dc
from discreet.progress import ERASE, MEASURE, SEARCH, Bar, Step, tell


class Terminal(io.TextIOWrapper):
    """A stream that says it is a terminal."""

    def isatty(self):
        return True


def terminal(encoding="utf-8"):
    return Terminal(io.BytesIO(), encoding=encoding, newline="")


def written(stream):
    stream.flush()
    return stream.buffer.getvalue().decode(stream.encoding)


@pytest.mark.parametrize(("encoding", "half"), [("utf-8", "█" * 12 + "░" * 12), ("ascii", "#" * 12 + "-" * 12)])
def test_a_terminal_has_one_line_that_is_written_over(monkeypatch, encoding, half):
    stream = terminal(encoding)
    monkeypatch.setattr("sys.stderr", stream)
    bar = Bar()
    tell(bar, "searching", 0.5)
    tell(bar, "a step that leads back", 0.1)
    tell(bar, "a note")
    tell(bar, "finished", 1.0)
    lines = written(stream).split(ERASE)
    assert lines == ["", f"{half}  searching", f"{half}  a step that leads back", "a note\n", ""]


def test_a_line_is_never_wider_than_the_terminal(monkeypatch):
    stream = terminal()
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("COLUMNS", "40")
    tell(Bar(), "words " * 40, 0.2)
    assert len(written(stream).removeprefix(ERASE)) == 39


def test_elsewhere_a_few_lines(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    bar = Bar()
    for i in range(36):
        tell(bar, f"network {i + 1} of 36", (i + 1) / 36)
    said = stream.getvalue().splitlines()
    assert said[0] == "network 1 of 36"
    assert 4 <= len(said) <= 8
    monkeypatch.setattr("sys.stderr", None)
    tell(bar, "nobody listens", 0.5)


def test_steps_do_not_depend_on_the_rows():
    net = dc.network("cancer")
    told = []
    for seed in range(2):
        steps = []
        data = net.sample(3_000, np.random.default_rng(seed))
        dc.discover(data, domain=net.domain(3_000), epsilon=5.0, method="svt-pc", progress=steps.append)
        told.append([step.share for step in steps if isinstance(step, Step)])
    orders = [SEARCH.at(i, 3) for i in range(3)]
    for shares in told:
        assert shares[0] == 0
        assert set(shares) <= {0.0, MEASURE.at(), MEASURE.at(1, 2), *orders, 1.0}
        assert shares == sorted(shares)
        assert shares[-1] == 1


def test_a_run_that_breaks_off_ends_its_bar():
    steps = []
    with pytest.raises(dc.InputError):
        dc.discover({"a": [1]}, domain=dc.network("cancer").domain(9), epsilon=1.0, progress=steps.append)
    assert (steps[-1], steps[-1].share) == ("broken off", 1)


def test_a_notebook_has_one_output_that_is_updated(monkeypatch):
    display = pytest.importorskip("IPython.display")
    shown = []

    class Handle:
        def update(self, html):
            shown.append(html.data)

    def first(html, *, display_id):
        assert display_id
        shown.append(html.data)
        return Handle()

    monkeypatch.setattr(display, "display", first)
    kernel = type("Shell", (), {"kernel": object()})
    monkeypatch.setattr("builtins.get_ipython", kernel, raising=False)
    bar = Bar()
    for words, share in (("<b>", 0.25), ("a note", None), ("finished", 1.0), ("finished", 1.0)):
        tell(bar, words, share)
    assert len(shown) == 3
    assert '<progress max="1" value="0.250"></progress> &lt;b&gt;' in shown[0]
    assert shown[-1] == "<div><div>a note</div></div>"


CLOCKS = {"time", "timeit", "datetime", "resource"}
TIMED = ("experiments/", "audit/", "cli/audit.py", "simulation/forecast.py")
"""What measures time on rows that were made up."""

ASKED = ("now(", "today(", "time(", "monotonic", "perf_counter", "process_time", "getrusage", "timer(")
"""How a clock is asked; a date alone may be read and written."""

DATED = {"ledger/ledger.py": '.isoformat(timespec="seconds")', "methods/discover.py": ".date().isoformat()"}
"""What notes when something was asked: a ledger, which stays with the custodian, and a release its day."""


def test_no_run_on_rows_looks_at_a_clock():
    home = Path(dc.__file__).parent
    for path in home.rglob("*.py"):
        name, text = path.relative_to(home).as_posix(), path.read_text(encoding="utf-8")
        if name.startswith(TIMED):
            continue
        nodes = list(ast.walk(ast.parse(text)))
        imported = {a.name.split(".")[0] for n in nodes if isinstance(n, ast.Import) for a in n.names}
        imported |= {str(n.module).split(".")[0] for n in nodes if isinstance(n, ast.ImportFrom)}
        if imported & CLOCKS and any(asked in text for asked in ASKED):
            assert text.count("datetime.now(") == text.count(f"datetime.now(UTC){DATED[name]}") == 1, name
            assert not any(asked in text for asked in ASKED[1:]), name
