"""The main job: from a table, a public domain and a budget to a graph with its privacy statement."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction

from discreet.domain import Domain
from discreet.domain.domain import check_domain
from discreet.domain.knowledge import NOTHING_KNOWN, Knowledge, check_knowledge
from discreet.ledger.account import Account
from discreet.methods.direct_pairs import DIRECT_SHARE, check_direct, direct_edges
from discreet.methods.registry import method_of, settings_for
from discreet.methods.session import Request, Session, promised_delta
from discreet.privacy.accounting import Currency
from discreet.progress import Progress
from discreet.release.discovery import About, Discovery
from discreet.release.settings import Settings
from discreet.room import Room


def discover(
    data: object,
    *,
    domain: Domain,
    epsilon: float,
    delta: float | None = None,
    method: str | Settings = "auto",
    knowledge: Knowledge = NOTHING_KNOWN,
    account: Account | str | None = None,
    title: str = "",
    direct_pairs: bool = False,
    engine_pull: bool = False,
    progress: Progress | None = None,
) -> Discovery:
    """Find a causal graph of a table under differential privacy.

    Parameters
    ----------
    data
        A path (CSV, TSV, Parquet, DuckDB), a table in memory (pandas, Polars, Arrow, NumPy), or one in an engine: a URL
        (``postgresql://``, ``spark://``) or an expression of Ibis.
    domain
        What is public about the table. Never read from the data.
    epsilon, delta
        The total promise. Where no delta is named it is 1e-6, and less from a million rows on; ``delta=0`` means pure
        epsilon, with Laplace noise.
    method
        ``"auto"``, a method's name, or settings of its own.
    knowledge
        Required and forbidden arrows, and tiers. Public.
    account
        Where the run is recorded, and what limits it: an ``Account``, or a data set's name in the user's own ledger.
        Without one, what else was asked of these rows is not counted.
    title
        What the release is called in its report. Public.
    direct_pairs
        Keep a fifth of the budget for edges that the graph leaves without a direction, between columns with an order:
        a fresh table of both is read as ``direction`` reads it. That rests on another assumption than arrows do, so it
        is told beside the graph (``found.directions``) and changes nothing in it. With ``marginals`` and ``moments``.
    engine_pull
        Load the rows of a server's table as codes, for what looks at rows; else they stay there, and are counted there.
    progress
        Called with a line of words at each step. They depend on public facts and released values only.

    Guarantee
    ---------
    The returned object is (epsilon, delta)-differentially private with respect to replacing any one row; or, if the
    domain names people, any one person with all their rows.

    Warns
    -----
    DoubtWarning
        If the budget, the number of rows and the domain can hardly show anything. Nothing was spent yet.

    Raises
    ------
    InputError
        If something handed in does not fit. Nothing was spent.
    BudgetError
        If the account's limit does not allow the run. Nothing was spent, and no rows were read.
    LedgerError
        If the ledger cannot be read or written. What was reserved before that stays spent.
    """
    check_domain(domain)
    delta = promised_delta(delta, domain.rows, progress)
    settings = settings_for(method, domain.widest())
    chosen = method_of(settings)
    check_knowledge(knowledge, domain)
    if direct_pairs:
        check_direct(settings)
    about = About(title, datetime.now(UTC).date().isoformat())
    request = Request(
        command="discover",
        method=settings.name,
        epsilon=epsilon,
        delta=delta,
        domain=domain,
        public={
            "knowledge": knowledge.to_dict(),
            "settings": vars(settings),
            **({"direct_pairs": True} if direct_pairs else {}),
        },
        result=Discovery,
        encode=lambda budget: chosen.encode(settings, domain, budget, knowledge),
        run=lambda room: replace(
            discover_in(room, settings, knowledge=knowledge, direct_pairs=direct_pairs, progress=progress), about=about
        ),
        currency=Currency.ZCDP if delta and chosen.in_zcdp else None,
        looks_at_rows=chosen.looks_at_rows(settings),
    )
    return Session(account=account, engine_pull=engine_pull, progress=progress).answer(data, request)


def discover_in(
    room: Room,
    settings: Settings,
    *,
    knowledge: Knowledge = NOTHING_KNOWN,
    direct_pairs: bool = False,
    progress: Progress | None = None,
) -> Discovery:
    """Find a causal graph with all that is left of a room's budget.

    If bins wait for their quantiles, these are bought first, for a tenth of it. With ``direct_pairs`` a share of it is
    kept for edges without a direction.
    """
    if direct_pairs:
        check_direct(settings)
        room.budget.keep(room.budget.left * DIRECT_SHARE)
    found = method_of(settings).run(room, settings, knowledge=knowledge, progress=progress)
    if not direct_pairs:
        return found
    room.budget.keep(Fraction(0))
    return direct_edges(room, found, progress=progress)
