"""NOT PRIVATE, from the command line: runs only when asked for by name, and says loudly what it is."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from discreet._version import __version__
from discreet.domain import Domain
from discreet.errors import SettingError
from discreet.graph import Graph
from discreet.knowledge import NOTHING_KNOWN, Knowledge

METHODS = ("pc", "greedy-bic")
"""Methods that answer from exact counts."""

WARNING = "NOT PRIVATE: this graph is made of exact answers about the rows and promises nothing. Do not publish it."


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

    def settings(self) -> dict[str, Any]:
        """Return the method's settings, after refusing those that it does not have."""
        if self.search is not None:
            raise SettingError(f"search: it is for releases, and the method `{self.method}` makes none")
        given = {"max_order": self.max_order, "alpha": self.alpha}
        if self.method == "greedy-bic":
            if clash := [key for key, value in given.items() if value is not None]:
                raise SettingError(f"{clash[0].replace('_', '-')}: the method `greedy-bic` tests nothing and has none")
            return {"max_parents": 5, "restarts": 40, "seed": 0}
        if self.max_order is not None and self.max_order < 0:
            raise SettingError("max-order: a whole number from 0")
        return {"alpha": 0.01 if self.alpha is None else self.alpha, "max_order": self.max_order}


def check_method(method: str, *, not_private: bool, epsilon: float | None, delta: float | None) -> None:
    """Refuse what is not private unless it was asked for, and a budget or a private method if it was."""
    if not not_private:
        raise SettingError(
            f"method: {method!r} is not private: it answers from exact counts. Use it with --not-private, and publish "
            "nothing of what it finds"
        )
    if method not in METHODS:
        raise SettingError(f"method: with --not-private it is one of {', '.join(METHODS)}, not {method!r}")
    for name, value in (("epsilon", epsilon), ("delta", delta)):
        if value is not None:
            raise SettingError(f"{name}: what is not private has no budget; leave out --{name} or --not-private")


def refuse_private_settings(**settings: object) -> None:
    """Refuse settings that only private methods have."""
    for name, value in settings.items():
        if value is not None:
            raise SettingError(f"{name.replace('_', '-')}: only svt-pc and priv-pc have it")


def discover(request: Request, progress: Callable[[str], None]) -> None:
    """Run a method that is not private, print what it found and write the files."""
    from discreet.not_private import greedy_bic, pc
    from discreet.report import EXACT_FILES, check_folder

    if request.domain is None:
        raise SettingError("domain: name the domain file with --domain; `discreet domain draft` writes a first one")
    settings = request.settings()
    if request.out is not None:
        check_folder(request.out, EXACT_FILES)
    domain = Domain.from_yaml(Path(request.domain))
    knowledge = Knowledge.from_yaml(Path(request.knowledge)) if request.knowledge else NOTHING_KNOWN
    click.echo(WARNING, err=True)
    run: Callable[..., Graph] = pc if request.method == "pc" else greedy_bic
    graph = run(request.data, domain, knowledge=knowledge, progress=progress, **settings)
    _show(graph, request, domain, settings)


def _show(graph: Graph, request: Request, domain: Domain, settings: dict[str, Any]) -> None:
    from discreet.report.text import graph_text

    result = {
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
            "warning": WARNING,
        },
        "rows": domain.rows,
        "version": __version__,
    }
    if request.as_json:
        click.echo(json.dumps(result, ensure_ascii=False))
    else:
        head = f"{len(graph.nodes)} columns, {domain.rows:,} rows: {len(graph.skeleton)} edges"
        click.echo(f"{WARNING}\n\n{head}, {len(graph.directed)} with a direction (──▶)\n\n{graph_text(graph)}")
    if request.out is not None:
        text = json.dumps({**result, "settings": settings}, ensure_ascii=False)
        written = _write(graph, text, request.out)
        click.echo(f"\nWritten: {', '.join(map(str, written))}\n{WARNING}", err=True)


def _write(graph: Graph, text: str, folder: Path) -> list[Path]:
    """Write the files; the warning is in each."""
    from discreet.cli import hushed
    from discreet.interop import to_gml
    from discreet.report import EXACT_FILES, write_whole
    from discreet.report.svg import graph_svg

    with hushed():
        picture = graph_svg(graph, stamp=WARNING)
    texts = (text, picture, f"# {WARNING}\n{to_gml(graph)}")
    return [write_whole(folder / name, content) for name, content in zip(EXACT_FILES, texts, strict=True)]
