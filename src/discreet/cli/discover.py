"""`discreet discover`: a private causal graph of a table, or another search of a release."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

from discreet.cli.options import (
    Choice,
    Record,
    delta_option,
    engine_option,
    ledger_options,
    missing_option,
    read_domain,
    searches,
    title_option,
)
from discreet.cli.output import quiet_option, say, show, teller


def _tests() -> tuple[str, ...]:
    from discreet.methods.ci_tests import CI_TESTS

    return tuple(CI_TESTS)


SETTINGS: dict[str, tuple[Any, str]] = {
    "max-order": (int, "Largest conditioning set.  [default: 2]"),
    "search": (Choice(searches), "How the release is searched.  [default: hybrid]"),
    "alpha": (float, "Level of tests: of `--search pc` and of methods that ask.  [default: 0.01]"),
    "test": (Choice(_tests), "Test of methods that ask.  [default: total-variation]"),
    "clip": (
        click.Choice(["auto", "never"]),
        "Whether rows may be clipped where noise rules, with marginals and moments.  [default: auto]",
    ),
    "bins": (int, "Bins of numbers without any, with moments.  [default: what the noise bears]"),
    "round-epsilon": (float, "What a round of svt-pc, priv-pc or em-pc costs.  [default: a share]"),
    "edges": (int, "How many edges may stay, with flipped-*.  [default: 2 a column]"),
    "sample": (float, "Share of the rows that priv-pc's sieve looks at.  [default: all]"),
    "as": (
        click.Choice(["text", "code"]),
        "svt-pc- and priv-pc-published by the paper's text or code.  [default: code]",
    ),
}
"""Options that are settings of a method, by the names of their fields. A method refuses those it does not have."""


def settings_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the settings of methods to a command, handed over as one ``settings``; those not typed are None."""
    names = [name.replace("-", "_") for name in SETTINGS]

    @wraps(command)
    def run(*args: Any, **given: Any) -> None:
        command(*args, settings={name: given.pop(name) for name in names}, **given)

    for name, (kind, words) in reversed(SETTINGS.items()):
        run = click.option(f"--{name}", type=kind, help=words)(run)
    return run


@click.command()
@click.argument("data")
@click.option("--domain", "domain_file", help="Domain file (YAML): what is public about the table.")
@click.option("--epsilon", type=float, help="Total privacy budget. No default.")
@delta_option
@click.option(
    "--method",
    default="auto",
    show_default=True,
    help="auto: marginals, or moments if a column is a number without bins. Also em-pc, svt-pc, priv-pc, "
    "flipped-top-k, flipped-svt; pcd for numbers alone. With --not-private: pc, greedy-bic, "
    "{em,svt,priv}-pc-published, pcd-published.",
)
@click.option(
    "--knowledge",
    "knowledge_file",
    help="Background knowledge (YAML): required, forbidden, tiers. With a release, it takes the place of what the "
    "release was made with; an empty file drops that.",
)
@missing_option
@settings_options
@click.option(
    "--direct-pairs",
    is_flag=True,
    help="Keep a fifth of the budget for edges left without a direction between columns with an order: the shape of "
    "both may tell, under another assumption.",
)
@click.option("--not-private", is_flag=True, help="Allow methods WITHOUT privacy. Do not publish.")
@engine_option
@ledger_options
@title_option
@click.option(
    "--out", type=click.Path(path_type=Path), help="Folder for release.json, graph.svg, graph.gml, report.html."
)
@quiet_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def discover(
    data: str,
    domain_file: str | None,
    epsilon: float | None,
    delta: float | None,
    method: str,
    knowledge_file: str | None,
    missing: str | None,
    settings: dict[str, Any],
    direct_pairs: bool,
    not_private: bool,
    engine_pull: bool,
    record: Record,
    title: str | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Find a private causal graph of DATA: a CSV, TSV, Parquet or DuckDB file, or a table of a server.

    postgresql://user@host/database?table=NAME and spark://host:port?table=NAME are counted where they are.

    With a release.json as DATA, search that release again, with other knowledge too: no data, no domain, no budget.
    """
    from discreet.baselines.not_private import METHODS
    from discreet.cli import not_private as exact
    from discreet.errors import SettingError

    if missing is not None and not data.endswith(".json"):
        raise SettingError("missing: goes with a release; search yours again with it, which costs nothing")
    if not_private or method in METHODS:
        exact.check_method(method, not_private=not_private, epsilon=epsilon, delta=delta)
        record.refuse("what is not private is not recorded")
        if title is not None:
            raise SettingError("title: what is not private has no report; leave the option out")
        if direct_pairs:
            raise SettingError("direct-pairs: goes with marginals and moments")
        exact.discover(exact.Request(data, domain_file, method, knowledge_file, settings, out, as_json), teller())
        return

    from discreet.domain.knowledge import NOTHING_KNOWN, Knowledge
    from discreet.methods.discover import discover as run
    from discreet.methods.registry import settings_for
    from discreet.report import check_folder, refuse_release

    if out is not None:
        check_folder(out)
    knowledge = None if knowledge_file is None else Knowledge.from_yaml(Path(knowledge_file))
    if data.endswith(".json"):
        given: dict[str, Any] = {"domain": domain_file, "epsilon": epsilon, "delta": delta, "title": title}
        given["method"] = None if method == "auto" else method
        given["direct-pairs"] = direct_pairs or None
        record.refuse("to search a release again costs nothing, and is not recorded")
        _search_again(data, given, {**settings, "knowledge": knowledge, "missing": missing}, out, as_json)
        return
    if domain_file is None:
        raise SettingError(
            "domain: name the domain file with --domain; `discreet domain draft` writes a first one. Only a release, "
            "whose name ends in .json, needs none"
        )
    if epsilon is None:
        raise SettingError("epsilon: set the total privacy budget with --epsilon")
    if out is not None and not record.answered():
        refuse_release(out)
    domain = read_domain(domain_file, published=True)
    chosen = settings_for(method, domain.widest()).changed(**settings)
    with record.follow(data) as account:
        found = run(
            data,
            domain=domain,
            epsilon=epsilon,
            delta=delta,
            method=chosen,
            knowledge=NOTHING_KNOWN if knowledge is None else knowledge,
            account=account,
            title=title or "",
            direct_pairs=direct_pairs,
            engine_pull=engine_pull,
            progress=teller(),
        )
        show(found, out, as_json)


def _search_again(
    release: str, given: dict[str, Any], settings: dict[str, Any], out: Path | None, as_json: bool
) -> None:
    """Search a release again, after refusing options that it has settled."""
    from discreet.errors import SettingError
    from discreet.release.discovery import Discovery
    from discreet.release.search import search_again

    again = {"max_order", "alpha", "search", "knowledge", "missing"}
    given |= {name.replace("_", "-"): value for name, value in settings.items() if name not in again}
    if clash := [key for key, value in given.items() if value is not None]:
        raise SettingError(f"{clash[0]}: a release already has it and is searched as it is; leave the option out")
    found = search_again(
        Discovery.load(release),
        max_order=settings["max_order"],
        alpha=settings["alpha"],
        search_by=settings["search"],
        knowledge=settings["knowledge"],
        missing=settings["missing"],
    )
    show(found, out, as_json)
    say("\nNothing was spent by searching again.")
