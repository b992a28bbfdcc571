"""NOT PRIVATE, from the command line: runs only when asked for by name, and says loudly what it is."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import click

from discreet._version import __version__
from discreet.baselines.published import METHODS as COUNTING
from discreet.baselines.published import PCD, Outcome
from discreet.baselines.published.outcome import reason_for
from discreet.domain import Domain
from discreet.domain.knowledge import NOTHING_KNOWN, Knowledge
from discreet.errors import SettingError
from discreet.progress import WHOLE, Progress, tell
from discreet.search.graph import Graph

PUBLISHED = (*COUNTING, PCD)
METHODS = ("pc", "greedy-bic", *PUBLISHED)
"""Methods that answer from exact counts, or whose noise does not keep what it promises."""

WARNING = "NOT PRIVATE: this graph is made of exact answers about the rows and promises nothing. Do not publish it."

REPORTED = "what the paper's own accounting would report; it does not hold"


@dataclass(frozen=True)
class Request:
    """What was typed."""

    data: str
    domain: str | None
    method: str
    knowledge: str | None
    given: Mapping[str, Any]
    out: Path | None
    as_json: bool

    @property
    def warning(self) -> str:
        """What is said loudly: of a published method, why its noise protects nobody."""
        if self.method not in PUBLISHED:
            return WARNING
        return f"{self.stamp} Why: {reason_for(self.method, self.given.get('as') or 'code')}."

    @property
    def stamp(self) -> str:
        """The warning in one line of a picture."""
        if self.method not in PUBLISHED:
            return WARNING
        return f"NOT PRIVATE: the noise of `{self.method}` protects nobody. Do not publish it."

    def settings(self) -> dict[str, Any]:
        """Return the method's settings, after refusing those that it does not have."""
        given = {name: value for name, value in self.given.items() if value is not None}
        if "search" in given:
            raise SettingError(f"search: it is for releases, and the method `{self.method}` makes none")
        has = _SETTINGS[self.method]
        for name in given:
            if name not in has:
                raise SettingError(f"{name.replace('_', '-')}: the method `{self.method}` has no such setting")
        return self._check(given)

    def _check(self, given: Mapping[str, Any]) -> dict[str, Any]:
        if self.method == "greedy-bic":
            return {"max_parents": 5, "restarts": 40, "seed": 0}
        if self.method == "pc":
            if given.get("max_order", 0) < 0:
                raise SettingError("max-order: a whole number from 0")
            return {"alpha": given.get("alpha", 0.01), "max_order": given.get("max_order")}
        if self.method == PCD:
            from discreet.baselines.published.pcd import PcdSettings

            checked = PcdSettings(
                epsilon=given.get("round_epsilon", 1.0),
                alpha=given.get("alpha", 0.05),
                max_order=given.get("max_order"),
            )
            names = ("alpha", "max_order", "permutations", "lam")
            return {"round_epsilon": checked.epsilon, **{name: getattr(checked, name) for name in names}}
        from discreet.baselines.published.discover import Settings

        named = {"reading" if name == "as" else name: value for name, value in given.items()}
        counting = Settings(self.method, **named)
        kept = ("round_epsilon", "alpha", "sample", "max_order", "reading", "delta")
        return {name: getattr(counting, name) for name in kept}


_TESTING = frozenset({"alpha", "max_order"})
_SETTINGS: dict[str, frozenset[str]] = {
    "pc": _TESTING,
    "greedy-bic": frozenset(),
    **dict.fromkeys(COUNTING, _TESTING | {"round_epsilon", "sample", "as"}),
    PCD: _TESTING | {"round_epsilon"},
}
"""Settings that each method has."""


def check_method(method: str, *, not_private: bool, epsilon: float | None, delta: float | None) -> None:
    """Refuse what is not private unless it was asked for, and a budget or a private method if it was."""
    if not not_private:
        raise SettingError(
            f"method: {method!r} is not private: {_why(method)}. Use it with --not-private, and publish nothing of "
            "what it finds"
        )
    if method not in METHODS:
        raise SettingError(f"method: with --not-private it is one of {', '.join(METHODS)}, not {method!r}")
    for name, value in (("epsilon", epsilon), ("delta", delta)):
        if value is not None:
            raise SettingError(f"{name}: what is not private has no budget; leave out --{name} or --not-private")


def _why(method: str) -> str:
    return "its published promise does not hold" if method in PUBLISHED else "it answers from exact counts"


def discover(request: Request, progress: Progress | None) -> None:
    """Run a method that is not private, print what it found and write the files."""
    from discreet.baselines.exact import greedy_bic, pc
    from discreet.baselines.published import discover_published
    from discreet.baselines.published.pcd import discover_pcd
    from discreet.report import EXACT_FILES, check_folder

    if request.domain is None:
        raise SettingError("domain: name the domain file with --domain; `discreet domain draft` writes a first one")
    settings = request.settings()
    if request.out is not None:
        check_folder(request.out, EXACT_FILES)
    domain = Domain.from_yaml(Path(request.domain))
    knowledge = Knowledge.from_yaml(Path(request.knowledge)) if request.knowledge else NOTHING_KNOWN
    click.echo(request.warning, err=True)
    if request.method in PUBLISHED:
        published = discover_pcd if request.method == PCD else partial(discover_published, method=request.method)
        outcome = published(request.data, domain, knowledge=knowledge, progress=progress, **settings)
        tell(progress, "finished", WHOLE.end)
        _show(outcome.graph, request, domain, settings, outcome)
        return
    run: Callable[..., Graph] = pc if request.method == "pc" else greedy_bic
    graph = run(request.data, domain, knowledge=knowledge, progress=progress, **settings)
    tell(progress, "finished", WHOLE.end)
    _show(graph, request, domain, settings)


def _show(
    graph: Graph, request: Request, domain: Domain, settings: dict[str, Any], outcome: Outcome | None = None
) -> None:
    from discreet.report.terminal import graph_text, marks_for
    from discreet.report.words import found_words

    result: dict[str, Any] = {
        "schema": 2,
        "method": request.method,
        "graph": graph.to_dict(),
        "privacy": {
            "epsilon": None,
            "delta": None,
            "neighbors": None,
            "unit": domain.unit,
            "private": False,
            "spent": [],
            "warning": request.warning,
        },
        "rows": domain.rows,
        "version": __version__,
    }
    if outcome is not None:
        result["reported"] = _reported_dict(outcome)
    if request.as_json:
        click.echo(json.dumps(result, ensure_ascii=False))
    else:
        marks = marks_for(sys.stdout)
        head = found_words(graph, domain.rows, marks.arrow, marks.line)
        click.echo(f"{request.warning}\n\n{head}\n\n{graph_text(graph, marks=marks)}")
        if outcome is not None:
            click.echo(f"\n{_reported_text(outcome)}", err=True)
    if request.out is not None:
        text = json.dumps({**result, "settings": settings}, ensure_ascii=False)
        written = _write(graph, text, request, request.out)
        click.echo(f"\nWritten: {', '.join(map(str, written))}\n{request.warning}", err=True)


def _reported_dict(outcome: Outcome) -> dict[str, Any]:
    """Return what the paper would say about a run, and that it does not hold."""
    return {
        "epsilon": outcome.reported,
        "delta": outcome.delta,
        "rounds": outcome.rounds,
        "tests": outcome.tests,
        "holds": False,
        "note": REPORTED,
    }


def _reported_text(outcome: Outcome) -> str:
    return (
        f"{outcome.tests:,} tests, {outcome.rounds:,} rounds. Epsilon {outcome.reported:.4g}, delta {outcome.delta:g}: "
        f"{REPORTED}."
    )


def _write(graph: Graph, text: str, request: Request, folder: Path) -> list[Path]:
    """Write the files; the warning is in each."""
    from discreet.report import EXACT_FILES, write_folder
    from discreet.report.svg import graph_svg
    from discreet.search.interop import to_gml

    picture = graph_svg(graph, stamp=request.stamp) + "\n"
    texts = (text, picture, f"# {request.warning}\n{to_gml(graph)}")
    return write_folder(folder, EXACT_FILES, texts)


def direction_of_half(
    data: str,
    pairs: Sequence[tuple[str, str]],
    domain: Domain,
    protects: str,
    score: str,
    epsilon: float,
    *,
    as_json: bool,
) -> str:
    """Say which of two columns causes the other by halves of the rows, as published; return JSON."""
    from discreet.baselines.published.direction import HalfSettings, Protects, half_direction

    if len(pairs) > 1:
        raise SettingError("columns: one pair at a time; halves are drawn anew for each, and a row may be in several")
    halves: dict[str, Protects]
    halves = {"test-half": "test half", "training-half": "training half", "both-halves": "both halves"}
    half = halves[protects]
    source: Literal["paper", "proved"] = "proved" if score in ("reci", "root-hsic") else "paper"
    found = [
        half_direction(data, x, y, domain, protects=half, score=score, epsilon=epsilon, sensitivities=source)
        for x, y in pairs
    ]
    warning = f"NOT PRIVATE: {found[0].reason}"
    click.echo(warning, err=True)
    lines = [
        {"x": x, "y": y, "cause": one.cause, "margin": one.margin, "abstained": one.abstained, "score": score}
        for (x, y), one in zip(pairs, found, strict=True)
    ]
    settings: dict[str, str | float] = {"sensitivities": source, "draws": 2, "epsilon_is": HalfSettings.epsilon_is}
    settings |= {"width": HalfSettings.width, "ridge": HalfSettings.ridge}
    private = {"private": False, "epsilon": None, "delta": None, "protects": half, "warning": warning}
    promised = {"epsilon": epsilon, "delta": found[0].delta, "to": half, "holds": score != "iqr"}
    result = {"schema": 1, "method": "direction as published", "pairs": lines, "privacy": private}
    result |= {"promised": promised, "settings": settings, "rows": domain.rows, "version": __version__}
    text = json.dumps(result, ensure_ascii=False)
    told = ["no direction is told" if one.cause is None else f"{one.cause} is the cause" for one in found]
    shown = [f"  {x} and {y}: {words}" for (x, y), words in zip(pairs, told, strict=True)]
    click.echo(text if as_json else "\n".join([warning, "", *shown]))
    return text
