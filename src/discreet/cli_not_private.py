"""NOT PRIVATE, from the command line: runs only when asked for by name, and says loudly what it is."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import click

from discreet._version import __version__
from discreet.domain import Domain
from discreet.errors import SettingError
from discreet.graph import Graph
from discreet.knowledge import NOTHING_KNOWN, Knowledge
from discreet.published import METHODS as COUNTING
from discreet.published import PCD, REASONS, Outcome

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
    max_order: int | None
    search: str | None
    alpha: float | None
    out: Path | None
    as_json: bool
    round_epsilon: float | None = None
    sample: float | None = None

    @property
    def warning(self) -> str:
        """What is said loudly: of a published method, why its noise protects nobody."""
        if self.method not in PUBLISHED:
            return WARNING
        return f"{self.stamp} Why: {REASONS[self.method]}."

    @property
    def stamp(self) -> str:
        """The warning in one line of a picture."""
        if self.method not in PUBLISHED:
            return WARNING
        return f"NOT PRIVATE: the noise of `{self.method}` protects nobody. Do not publish it."

    def settings(self) -> dict[str, Any]:
        """Return the method's settings, after refusing those that it does not have."""
        if self.search is not None:
            raise SettingError(f"search: it is for releases, and the method `{self.method}` makes none")
        if self.method in PUBLISHED:
            return self._published()
        for name, value in (("round-epsilon", self.round_epsilon), ("sample", self.sample)):
            if value is not None:
                raise SettingError(f"{name}: the method `{self.method}` adds no noise and has none")
        given = {"max_order": self.max_order, "alpha": self.alpha}
        if self.method == "greedy-bic":
            if clash := [key for key, value in given.items() if value is not None]:
                raise SettingError(f"{clash[0].replace('_', '-')}: the method `greedy-bic` tests nothing and has none")
            return {"max_parents": 5, "restarts": 40, "seed": 0}
        if self.max_order is not None and self.max_order < 0:
            raise SettingError("max-order: a whole number from 0")
        return {"alpha": 0.01 if self.alpha is None else self.alpha, "max_order": self.max_order}

    def _published(self) -> dict[str, Any]:
        if self.method == PCD:
            return self._pcd()
        from discreet.published.running import Settings

        asked = {"round_epsilon": self.round_epsilon, "alpha": self.alpha, "sample": self.sample}
        given = {name: value for name, value in asked.items() if value is not None}
        checked = Settings(self.method, max_order=self.max_order, **given)
        return {name: getattr(checked, name) for name in (*asked, "max_order", "constant", "delta")}

    def _pcd(self) -> dict[str, Any]:
        from discreet.published.pcd import Settings

        if self.sample is not None:
            raise SettingError(f"sample: the method `{PCD}` has no such setting")
        checked = Settings(
            epsilon=1.0 if self.round_epsilon is None else self.round_epsilon,
            alpha=0.05 if self.alpha is None else self.alpha,
            max_order=self.max_order,
        )
        names = ("alpha", "max_order", "permutations", "lam")
        return {"round_epsilon": checked.epsilon, **{name: getattr(checked, name) for name in names}}


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


def refuse_private_settings(**settings: object) -> None:
    """Refuse settings that only private methods have."""
    for name, value in settings.items():
        if value is not None:
            raise SettingError(f"{name.replace('_', '-')}: only private methods that ask have it")


def discover(request: Request, progress: Callable[[str], None]) -> None:
    """Run a method that is not private, print what it found and write the files."""
    from discreet.not_private import greedy_bic, pc
    from discreet.published import discover_published
    from discreet.report import EXACT_FILES, check_folder

    if request.domain is None:
        raise SettingError("domain: name the domain file with --domain; `discreet domain draft` writes a first one")
    settings = request.settings()
    if request.out is not None:
        check_folder(request.out, EXACT_FILES)
    domain = Domain.from_yaml(Path(request.domain))
    knowledge = Knowledge.from_yaml(Path(request.knowledge)) if request.knowledge else NOTHING_KNOWN
    click.echo(request.warning, err=True)
    if request.method == PCD:
        from discreet.published.pcd import discover_pcd

        outcome = discover_pcd(request.data, domain, knowledge=knowledge, progress=progress, **settings)
        _show(outcome.graph, request, domain, settings, outcome)
        return
    if request.method in PUBLISHED:
        outcome = discover_published(
            request.data, domain, request.method, knowledge=knowledge, progress=progress, **settings
        )
        _show(outcome.graph, request, domain, settings, outcome)
        return
    run: Callable[..., Graph] = pc if request.method == "pc" else greedy_bic
    graph = run(request.data, domain, knowledge=knowledge, progress=progress, **settings)
    _show(graph, request, domain, settings)


def _show(
    graph: Graph, request: Request, domain: Domain, settings: dict[str, Any], outcome: Outcome | None = None
) -> None:
    from discreet.report.terminal import graph_text, marks_for

    result: dict[str, Any] = {
        "schema": 1,
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
        result["reported"] = _reported(outcome)
    if request.as_json:
        click.echo(json.dumps(result, ensure_ascii=False))
    else:
        head = f"{len(graph.nodes)} columns, {domain.rows:,} rows: {len(graph.skeleton)} edges"
        drawn, arrow = graph_text(graph, marks=marks_for(sys.stdout)), marks_for(sys.stdout).arrow
        click.echo(f"{request.warning}\n\n{head}, {len(graph.directed)} with a direction ({arrow})\n\n{drawn}")
        if outcome is not None:
            click.echo(f"\n{_reported_text(outcome)}", err=True)
    if request.out is not None:
        text = json.dumps({**result, "settings": settings}, ensure_ascii=False)
        written = _write(graph, text, request, request.out)
        click.echo(f"\nWritten: {', '.join(map(str, written))}\n{request.warning}", err=True)


def _reported(outcome: Outcome) -> dict[str, Any]:
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
    from discreet.interop import to_gml
    from discreet.report import EXACT_FILES, write_whole
    from discreet.report.svg import graph_svg

    picture = graph_svg(graph, stamp=request.stamp) + "\n"
    texts = (text, picture, f"# {request.warning}\n{to_gml(graph)}")
    return [write_whole(folder / name, content) for name, content in zip(EXACT_FILES, texts, strict=True)]


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
    """Say which of two columns causes the other as published, which protects one half of the rows; return JSON."""
    from discreet.published.halves import Settings, half_direction

    if len(pairs) > 1:
        raise SettingError("columns: one pair at a time; halves are drawn anew for each, and a row may be in several")
    half: Literal["test half", "training half"] = "test half" if protects == "test-half" else "training half"
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
    settings = {"sensitivities": source, "draws": 2, "width": Settings.width, "ridge": Settings.ridge}
    private = {"private": False, "epsilon": None, "delta": None, "protects": half, "warning": warning}
    promised = {"epsilon": epsilon, "delta": found[0].delta, "to": half, "holds": score != "iqr"}
    result = {"schema": 1, "method": "direction as published", "pairs": lines, "privacy": private}
    result |= {"promised": promised, "settings": settings, "rows": domain.rows, "version": __version__}
    text = json.dumps(
        {**result, "promised": promised, "settings": settings, "rows": domain.rows, "version": __version__},
        ensure_ascii=False,
    )
    told = ["no direction is told" if one.cause is None else f"{one.cause} is the cause" for one in found]
    shown = [f"  {x} and {y}: {words}" for (x, y), words in zip(pairs, told, strict=True)]
    click.echo(text if as_json else "\n".join([warning, "", *shown]))
    return text
