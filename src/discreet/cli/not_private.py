"""NOT PRIVATE, from the command line: runs only when asked for by name, and says loudly what it is."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import click

from discreet._version import __version__
from discreet.baselines.not_private import METHODS, PUBLISHED, REPORTED, NotPrivate, check_settings, warning_of
from discreet.baselines.not_private import discover as run
from discreet.domain import Domain
from discreet.domain.knowledge import NOTHING_KNOWN, Knowledge
from discreet.errors import SettingError
from discreet.progress import Progress


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
    from discreet.report import EXACT_FILES, check_folder

    if request.domain is None:
        raise SettingError("domain: name the domain file with --domain; `discreet domain draft` writes a first one")
    check_settings(request.method, request.given)
    if request.out is not None:
        check_folder(request.out, EXACT_FILES)
    domain = Domain.from_yaml(Path(request.domain))
    knowledge = Knowledge.from_yaml(Path(request.knowledge)) if request.knowledge else NOTHING_KNOWN
    click.echo(warning_of(request.method, request.given), err=True)
    found = run(
        request.data,
        domain=domain,
        method=request.method,
        settings=request.given,
        knowledge=knowledge,
        progress=progress,
    )
    _show(found, as_json=request.as_json)
    if request.out is not None:
        written = _write(found, request.out)
        click.echo(f"\nWritten: {', '.join(map(str, written))}\n{found.warning}", err=True)


def _show(found: NotPrivate, *, as_json: bool) -> None:
    """Print what was found, after the warning."""
    from discreet.report.terminal import graph_text, marks_for
    from discreet.report.words import found_words

    if as_json:
        click.echo(json.dumps(found.to_dict(), ensure_ascii=False))
        return
    marks = marks_for(sys.stdout)
    head = found_words(found.graph, found.domain.rows, marks.arrow, marks.line)
    click.echo(f"{found.warning}\n\n{head}\n\n{graph_text(found.graph, marks=marks)}")
    if found.outcome is not None:
        one = found.outcome
        counted = f"{one.tests:,} tests, {one.rounds:,} rounds. Epsilon {one.reported:.4g}, delta {one.delta:g}"
        click.echo(f"\n{counted}: {REPORTED}.", err=True)


def _write(found: NotPrivate, folder: Path) -> list[Path]:
    """Write the files; the warning is in each."""
    from discreet.report import EXACT_FILES, write_folder
    from discreet.search.interop import to_gml

    text = json.dumps({**found.to_dict(), "settings": dict(found.settings)}, ensure_ascii=False)
    return write_folder(folder, EXACT_FILES, (text, f"{found.svg()}\n", f"# {found.warning}\n{to_gml(found.graph)}"))


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
