"""What a privacy office asks of a release: facts that it holds, in words, and questions that only people can answer.

The entry of the registry and the statement are made of these. Nothing is invented: what is not in the release, in its
ledger or in the code of this library is a question.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.domain import UNIT
from discreet.errors import ReleaseError, SettingError
from discreet.privacy.accounting import Currency
from discreet.privacy.explain import Promise
from discreet.privacy.statement import Privacy
from discreet.release.answer import NOT_PROOF, Answer
from discreet.release.direction import Directions
from discreet.release.discovery import CHANGED, Discovery
from discreet.release.file import read_release
from discreet.report.budget import balance, whole_budget
from discreet.report.words import (
    GRAPH_IS_NOT_TRUTH,
    clipped_words,
    cut_short_words,
    declared_words,
    knowledge_words,
    summary_words,
    weakest_words,
)

MOST_PAIRS = 12
"""Pairs of columns that are named."""

_SENSITIVITY = (
    (r"\d+ contingency tables", "contingency tables", "counts"),
    (r"\d+ interactions", "interactions", "interactions"),
    (r"(quantiles for|quartiles of) ", "quantiles", "quantiles"),
    (r"(margins|contrasts) of |how (well|many) |pairs that stay", "margins of pairs", "margins"),
    (r"(mean features|dependence of pairs) of ", "kernels of all pairs", "pairwise_hsic"),
    (r"dependence of .* permutations$", "dependence among permutations", "permutation"),
    (r"(sums for a fit|product of residuals) of ", "products of residuals", "residual_products"),
    (r"curves of ", "curves", "curves"),
    (r"(squared errors|.* of residuals.*): ", "the difference of two directions", "direction"),
    (r"stratified (Kendall|Spearman)", "statistics of ranks", "ranks"),
    (r"(total variation|information) of ", "total variation and information", "information"),
    (r"sieve$", "what a gate compares", "dependence"),
)
_MECHANISMS = (
    (r"(rounded|discrete) ", "additive noise", "additive"),
    (r"exponential mechanism", "choices", "exponential"),
    (r"above threshold", "gates", "sparse_vector"),
    (r"noisy rank", "a rank among permutations", "noisy_rank"),
)
"""How lines of what was spent begin, what they are about, and the file of the proof."""

_ADDED = {
    Currency.PURE.value: "epsilon itself: the epsilons of all questions add up",
    Currency.ZCDP.value: "zero-concentrated differential privacy: the rho of all questions add up",
    Currency.GDP.value: "Gaussian differential privacy: the squares of mu of all questions add up",
}


@dataclass(frozen=True)
class Deployment:
    """A private release as a privacy office sees it.

    Parameters
    ----------
    found
        The release: a graph, directions of pairs, or the answer of a test.
    version
        The version of this library that wrote it.
    totals
        What its ledger tells of all releases from the same rows, in words; empty if none was asked.
    """

    found: Discovery | Directions | Answer
    version: str
    totals: tuple[str, ...] = ()

    @classmethod
    def from_json(cls, text: str) -> Deployment:
        """Read a release of any kind; what is not private is refused."""
        try:
            data = json.loads(text)
            private = data["privacy"]["private"]
        except (ValueError, TypeError, KeyError, RecursionError):
            raise ReleaseError("not a release: expected what discover, direction or test write with --out") from None
        if private is not True:
            raise SettingError("release: it is NOT PRIVATE and promises nothing to anybody; there is nothing to state")
        return cls(_read(data, text), str(data.get("version", "")))

    @classmethod
    def load(cls, path: str | Path) -> Deployment:
        """Read a release file of any kind."""
        return cls.from_json(read_release(path))

    @property
    def privacy(self) -> Privacy:
        """The promise."""
        return self.found.privacy

    @property
    def rows(self) -> int:
        """The public number of rows."""
        return self.found.domain.rows if isinstance(self.found, Discovery) else self.found.rows

    @property
    def title(self) -> str:
        """What its custodian calls it; empty if they did not say."""
        return self.found.about.title if isinstance(self.found, Discovery) else ""

    @property
    def made(self) -> str:
        """The day on which it was made; empty if it is not in the release."""
        return self.found.about.made if isinstance(self.found, Discovery) else ""

    @property
    def kind(self) -> str:
        """What it is, in short."""
        return {Discovery: "Causal graph", Directions: "Directions between columns", Answer: "Test of independence"}[
            type(self.found)
        ]

    @property
    def method(self) -> str:
        """How it was made, in short."""
        if isinstance(self.found, Discovery):
            return self.found.method
        if isinstance(self.found, Directions):
            return f"direction, score {', '.join(sorted({pair.score for pair in self.found.pairs}))}"
        return f"test, {self.found.test}"

    @property
    def variant(self) -> str:
        """The kind of differential privacy that is promised, by the names of the registry."""
        return "Approximate DP" if self.privacy.delta else "Pure DP"

    @property
    def columns(self) -> dict[str, str]:
        """The columns, and what was declared of each where the release holds it."""
        found = self.found
        if isinstance(found, Discovery):
            return {name: declared_words(column) for name, column in found.domain.columns.items()}
        if isinstance(found, Directions):
            return dict.fromkeys((name for pair in found.pairs for name in (pair.x, pair.y)), "")
        return dict.fromkeys((found.x, found.y, *found.given), "")

    @property
    def _quantiles(self) -> bool:
        """Whether it was asked of the rows where bins are cut."""
        return any(spending.statistic.startswith("quantiles for ") for spending in self.privacy.spent)

    def product(self) -> str:
        """Return what was published."""
        found = self.found
        if isinstance(found, Discovery):
            tables = ", with the noisy tables in which it was found" if found.measurements else ""
            return f"A causal graph found under differential privacy{tables}: {summary_words(found)}."
        if isinstance(found, Directions):
            pairs = [f"{pair.x} and {pair.y}" for pair in found.pairs]
            more = f"; and {len(pairs) - MOST_PAIRS:,} more" if len(pairs) > MOST_PAIRS else ""
            named = "; ".join(pairs[:MOST_PAIRS])
            return f"Which of two columns causes the other, found under differential privacy: {named}{more}."
        given = f" given {', '.join(found.given)}" if found.given else ""
        return (
            f"Whether {found.x} and {found.y} are independent{given}: one test at level {found.alpha:g}, under "
            "differential privacy."
        )

    def data_domain(self) -> str:
        """Return which tables are protected."""
        columns = "1 column" if len(self.columns) == 1 else f"{len(self.columns)} columns"
        bins = " Bins at quantiles are no part of it: they were released with noise." if self._quantiles else ""
        size, used = f"of exactly {self.rows:,} rows ", ""
        if self.privacy.max_rows is not None:
            size, used = "of any number of rows ", f", and an id; exactly {self.rows:,} rows are used"
        elif self.privacy.absent:
            size, used = "of any number of rows ", f"; exactly {self.rows:,} rows are used"
        return (
            f"All tables {size}with values of the declared domain in {columns}{used}. Every value is given its "
            f"declared place by a fixed rule, row by row, or the run stops before anything is spent.{bins}"
        )

    def size(self) -> str:
        """Return how large the table is, as far as that is public."""
        return f", of which {self.rows:,} rows are used" if self.privacy.chosen else f" of {self.rows:,} rows"

    def unit(self) -> str:
        """Return whom the promise is made to, in short."""
        privacy = self.privacy
        if privacy.max_rows is not None:
            return f"{privacy.unit}: all their rows together, of which {_rows(privacy.max_rows)} at most"
        return "One row" if privacy.unit == UNIT else f"One row, which stands for one {privacy.unit}"

    def adjacency(self) -> str:
        """Return exactly which tables are adjacent."""
        privacy, rows = self.privacy, self.rows
        if privacy.absent:
            return (
                "Adjacent are two tables of which one becomes the other by adding, removing or replacing one row. "
                f"{rows:,} rows are used in all: of more a part is drawn by a fresh secret key, and missing ones are "
                "made up from a public list. So adjacent tables differ in one at most of those that are used. The "
                "number of rows of the table itself is not told (unbounded differential privacy, add or remove one, "
                "and replace one at the same cost)."
            )
        if privacy.max_rows is None:
            return (
                f"Adjacent are two tables of {rows:,} rows of which one becomes the other by replacing one row with "
                "any other row of the data domain. The distance of two tables is the smallest number of rows to "
                "be replaced; adjacent are those at distance 1. The number of rows is the same in both, and public "
                "(bounded differential privacy, replace one)."
            )
        whose = ""
        if isinstance(self.found, Discovery) and self.found.domain.people is not None:
            whose = f" People are told apart by the column {self.found.domain.people.id}."
        return (
            f"Adjacent are two tables of which one becomes the other by taking out all rows of one {privacy.unit}, or "
            f"none, and putting in any rows under one id that nobody else has, or none.{whose} Of each {privacy.unit} "
            f"{_rows(privacy.max_rows)} at most are used, drawn by a fresh secret key; {rows:,} rows are used in all, "
            "and missing ones are made up from a public list. So adjacent tables differ in "
            f"{_rows(privacy.max_rows)} at most of those that are used, whose number is public."
        )

    def asked_of_unit(self) -> list[str]:
        """Return what people must say of the unit."""
        if self.privacy.max_rows is not None:
            return [f"whether a {self.privacy.unit} can have two ids"]
        return ["whether one person can stand behind several rows; each is then protected by itself only"]

    def parameters(self) -> list[str]:
        """Return the promise in the terms in which it was counted."""
        privacy = self.privacy
        lines = [balance(privacy)]
        limit = whole_budget(privacy)
        if limit is not None and privacy.delta:
            currency = privacy.spent[0].currency
            spent = math.fsum(spending.amount for spending in privacy.spent)
            lines.append(
                f"Counted in {currency}: {spent:.6g} was spent of {limit:.6g}, the most that implies epsilon "
                f"{privacy.epsilon:g} and delta {privacy.delta:g}; the conversion is certified and rounded towards "
                "privacy."
            )
        if privacy.max_rows not in (None, 1):
            times = f"{privacy.max_rows:,}" + (" squared" if privacy.delta else "")
            lines.append(f"Amounts are for one row; for all rows of one {privacy.unit} they count {times} times.")
        if Promise.of(privacy, self.method).mu is not None:
            lines.append("All noise is paid for as Gaussian, so that the whole curve holds, not only this point of it.")
        return lines

    def proofs(self) -> dict[str, str]:
        """Return what is proved where, as files of the library's package."""
        privacy = self.privacy
        asked = _proved(_SENSITIVITY, [spending.statistic for spending in privacy.spent])
        blurred = _proved(_MECHANISMS, [spending.mechanism for spending in privacy.spent])
        return {
            **{f"How far one row moves {what}": f"discreet/statistics/{file}.md" for what, file in asked},
            **{f"What {what} may cost": f"discreet/privacy/mechanisms/{file}.md" for what, file in blurred},
            "That noise is sampled exactly": "discreet/privacy/noise.md",
            "How charges add up": "discreet/privacy/accounting.md",
            **({"How many rows one person moves": "discreet/data/people.md"} if self.privacy.chosen else {}),
            **({} if privacy.ledger is None else {"How runs add up": "discreet/ledger/prices.md"}),
        }

    def unprotected(self) -> list[str]:
        """Return what is published without noise: public facts, and nothing that was read off the rows."""
        found = self.found
        lines = [
            f"The number of rows{' that are used' * self.privacy.chosen}, {self.rows:,}, and the declared domain: "
            "columns, categories, bounds, declared bins.",
            f"The promise, the unit, the method ({self.method}), its settings, what was asked, and the scale of noise.",
        ]
        if isinstance(found, Discovery) and (known := knowledge_words(found)):
            lines.append("Background knowledge. " + " ".join(known))
        names = [f"the title, {self.title}"] if self.title else []
        names += [f"the day, {self.made}"] if self.made else []
        if stamp := self.privacy.ledger:
            names.append("its place in a ledger" + (f", under the name {stamp.dataset}" if stamp.dataset else ""))
        lines += [f"About the run: {', '.join(names)}."] if names else []
        return [*lines, "Nothing else: every number that depends on the rows was released with noise and charged."]

    def composition(self) -> str:
        """Return how the questions of the run add up."""
        how = "; ".join(_ADDED.get(c, c) for c in dict.fromkeys(s.currency for s in self.privacy.spent))
        return (
            "Adaptive sequential composition under a limit that is fixed before the first question (a privacy filter): "
            "each charge is an exact fraction, is booked before anything is computed, stays booked if that fails, and "
            f"is refused beyond the limit. {'Counted in ' + how + '.' if how else 'No question was asked.'}"
        )

    def after(self) -> list[str]:
        """Return what was done with the noisy answers: post-processing, which costs nothing."""
        found = self.found
        if isinstance(found, Directions):
            wanted = ", ".join(f"{w:g}" for w in sorted({pair.wanted for pair in found.pairs}))
            if all(pair.table for pair in found.pairs):
                return [
                    "Networks that learned from simulated pairs read the noisy tables; no direction is told that is "
                    f"right with a probability below {wanted} over such pairs, or where a table shows no dependence."
                ]
            return [
                "The sign of the noisy margin is the direction; none is told below a probability of "
                f"{wanted} that noise did not turn it round, or where the noisy curves show too little."
            ]
        if isinstance(found, Answer):
            return [f"The noisy answer is compared with what independence would lead to, at level {found.alpha:g}."]
        given = ", ".join(f"{k.replace('_', ' ')} {v}" for k, v in found.settings.items() if v is not None)
        lines = [f"The search for the graph, its directions and their confidence. Settings: {given}."]
        if found.settings.get("knowledge") == CHANGED:
            lines.append("The release was searched again with other background knowledge than it was made with.")
        if found.directions:
            lines.append("Networks that learned from simulated pairs read fresh tables of edges without a direction.")
        return [*lines, "Pictures, tables, strengths and rows drawn from the release, if any were published."]

    def tuning(self) -> str:
        """Return what was chosen before the rows were asked, and how."""
        charged = " Where bins are cut was asked privately, and charged." if self._quantiles else ""
        return (
            "The settings of the library were chosen on networks drawn at random and are fixed in its code. Nothing "
            "was tuned on these rows beyond what was charged; what is asked later follows from earlier noisy answers "
            f"and public facts alone.{charged}"
        )

    def asked_of_preparation(self) -> list[str]:
        """Return what people must say of what went before."""
        return [
            "how categories, bounds, the number of rows and background knowledge were found; what was read off the "
            "data is not covered by the promise",
            "what was done with the data before: cleaning, selection, a look at them, other analyses",
        ]

    def asked_of_others(self) -> list[str]:
        """Return what people must say of other releases; a ledger may know some."""
        known = self.privacy.ledger is None or self.totals
        tells = [] if known else ["what all releases from these rows come to; --ledger fills it in"]
        return [*tells, "other uses or publications of the same data, with or without noise, past or planned"]

    def actors(self) -> list[str]:
        """Return who is trusted with what."""
        return [
            "Custodian: trusted; holds the rows, runs the library on a machine they trust, and publishes the release.",
            "Readers of the release: not trusted, whatever they know and however long they compute.",
        ]

    def checked(self) -> str:
        """Return how the library itself is checked."""
        return (
            "Proofs stand beside the code and are tested by brute force over adjacent tables; discreet audit --all "
            "looks for violations of every claim. Audits can find errors, and cannot prove that there are none."
        )

    def floating_point(self) -> str:
        """Return what is done against leaks through floating-point numbers."""
        return (
            "Statistics are whole numbers, or are rounded to a public grid before noise, with the rounding in their "
            "sensitivity. Noise is whole numbers from exact samplers (discrete Laplace and discrete Gaussian by "
            "OpenDP; rounded Gaussian and exponential choices by discreet), fed by the operating system's entropy "
            "alone. Conversions are certified in ball arithmetic and rounded towards privacy."
        )

    def timing(self) -> str:
        """Return what is done against leaks through running times: nothing."""
        return (
            "None: counting and sampling do not take constant time, and neither memory nor power is hidden. The "
            "release is not interactive. Nobody but the custodian should start or time runs."
        )

    def platform(self) -> str:
        """Return what is done against leaks by other ways out of the machine."""
        return (
            "Errors name columns and settings, never values; messages of database engines are dropped; nothing is "
            "logged. Whoever reads the memory of the process reads the rows."
        )

    def utility(self) -> list[str]:
        """Return what the release can show, and what it cannot."""
        found = self.found
        if isinstance(found, Discovery):
            sure = []
            if found.confidence:
                sure = ["Edges and arrowheads have a confidence, calibrated on networks drawn at random."]
            elif found.graph.marked:
                sure = ["No confidence of edges is stated."]
            weakest = weakest_words(found)
            seen = weakest if weakest.startswith("Not stated") else f"Weakest dependence that stands out. {weakest}"
            return [seen, *sure, *clipped_words(found), *cut_short_words(found)]
        if isinstance(found, Directions):
            told = sum(pair.cause is not None for pair in found.pairs)
            return [f"A direction is told for {told} of {_pairs(len(found.pairs))}; for others it is left open."]
        level = "is controlled" if found.level.controlled else "is NOT controlled"
        return [f"The level of the test {level}: {found.level.found}"]

    def truth(self) -> str:
        """Return what it would take for the answer to be true."""
        if isinstance(self.found, Discovery):
            return GRAPH_IS_NOT_TRUTH
        if isinstance(self.found, Directions):
            return f"That a direction is true. {self.found.note}"
        return f"That the answer is true. {NOT_PROOF}"


def _read(data: Mapping[str, Any], text: str) -> Discovery | Directions | Answer:
    """Read a release by what it holds."""
    if "pairs" in data:
        return Directions.from_json(text)
    return Answer.from_json(text) if "independent" in data else Discovery.from_json(text)


def _rows(number: int) -> str:
    return "one row" if number == 1 else f"{number:,} rows"


def _pairs(number: int) -> str:
    return "1 pair" if number == 1 else f"{number:,} pairs"


def _proved(proofs: Sequence[tuple[str, str, str]], names: Sequence[str]) -> list[tuple[str, str]]:
    """Return what some names are about, with the files of the proofs."""
    return [(what, file) for start, what, file in proofs if any(re.match(start, name) for name in names)]
