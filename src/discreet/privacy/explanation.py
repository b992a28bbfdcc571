"""What epsilon and delta promise, and what they do not, in plain words with numbers."""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass
from html import escape
from typing import Any, Protocol, runtime_checkable

from discreet.domain import Domain
from discreet.errors import SettingError
from discreet.privacy.accounting import check_guarantee, delta_for
from discreet.privacy.explain import CHANCES, GROUPS, Alike, Promise, numbers
from discreet.privacy.explain import alike as told_by_others
from discreet.privacy.statement import Privacy

WIDTH = 96


@runtime_checkable
class Kept(Protocol):
    """A release: what it promises, and the method that kept it."""

    @property
    def privacy(self) -> Privacy:
        """The privacy statement."""

    @property
    def method(self) -> str:
        """The method that was run."""

    @property
    def domain(self) -> Domain:
        """What is public about the table."""


@dataclass(frozen=True)
class Explanation:
    """A promise put into words: print it, or let a notebook show it.

    Parameters
    ----------
    promise
        Epsilon and delta.
    rows
        Number of rows of the table, if it is known.
    like
        What others tell who are like you, if that was asked.
    """

    promise: Promise
    rows: int | None = None
    like: Alike | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as plain data."""
        return numbers(self.promise, self.rows, self.like)

    def __str__(self) -> str:
        """Return the whole text."""
        return _text(self.promise, self.rows, self.like)

    def _repr_html_(self) -> str:
        """Show the text in a notebook."""
        return f'<pre style="font-family:monospace">{escape(str(self))}</pre>'


def explain(
    epsilon: float | Kept,
    delta: float | None = None,
    *,
    rows: int | None = None,
    correlation: float | None = None,
    alike: int | None = None,
) -> Explanation:
    """Say what epsilon and delta promise to a person in the data, and what they do not.

    Parameters
    ----------
    epsilon, delta
        The promise. Where no delta is named it is what a run would take. A release in place of epsilon is explained by
        the method that was run.
    rows
        Number of rows of the table, if it is known.
    correlation
        Share of cases, 0.5 to 1, in which another row has the same value as yours.
    alike
        With ``correlation``: how many such rows there are besides yours; by default 1.
    """
    if isinstance(epsilon, Kept) and rows is None:
        rows = epsilon.domain.rows
    if rows is not None and (not isinstance(rows, int) or rows < 1):
        raise SettingError("rows: a whole number from 1")
    promise = _promise(epsilon, delta, rows)
    check_guarantee(promise.epsilon, promise.delta, rows)
    if correlation is not None and promise.plain:
        raise SettingError(f"correlation: not known for `{promise.method}`, which keeps epsilon and delta alone")
    if alike is not None and correlation is None:
        raise SettingError("alike: say with --correlation how alike they are")
    if rows is not None and isinstance(alike, int) and alike >= rows:
        raise SettingError("alike: fewer than there are rows, since yours is one of them")
    like = None if correlation is None else told_by_others(promise, correlation, 1 if alike is None else alike)
    return Explanation(promise, rows, like)


def _promise(epsilon: float | Kept, delta: float | None, rows: int | None) -> Promise:
    """Return what is explained: two numbers, or what a release keeps."""
    if not isinstance(epsilon, Kept):
        return Promise(epsilon, delta_for(rows) if delta is None else delta)
    if delta is not None:
        raise SettingError("delta: the release has it; leave it out")
    if not epsilon.privacy.private:
        raise SettingError("release: it is NOT PRIVATE, made with predictable noise for a test; it promises nothing")
    return Promise.of(epsilon.privacy, epsilon.method)


def _text(promise: Promise, rows: int | None, like: Alike | None) -> str:
    sections = {
        "What your row can change": _effect(promise),
        "What can be learned about you by somebody who knows all other rows": []
        if promise.plain
        else _beliefs(promise),
        "What delta is": _delta(promise, rows) if promise.delta else [],
        "What is not promised": [*_others(promise, like), *_more(promise)],
    }
    title = f"What epsilon {promise.epsilon:g} and delta {promise.delta:g} promise, and what they do not"
    if promise.delta or promise.method:
        title += "\n\n" + _fold(_for_whom(promise))
    return "\n\n".join([title, *(f"{head}\n" + "\n\n".join(text) for head, text in sections.items() if text)])


def _for_whom(promise: Promise) -> str:
    if promise.method is not None:
        guess = (
            f"a best guess between two rows, one of them yours, is right in at most {_percent(promise.guess)} of cases"
        )
        kept = f"epsilon and delta, and nothing beyond: {guess} (a coin in 50%)" if promise.plain else "epsilon alone"
        kept = kept if promise.mu is None else "more than epsilon and delta say, since its noise is Gaussian"
        whose = "" if promise.people is None else f" The promise is made to all rows of one {promise.people} together:"
        whose += " read `your rows` for `your row`." if whose else ""
        return f"Numbers are for `{promise.method}`, the method that was run. It keeps {kept}.{whose}"
    return (
        "Numbers are for the usual method, `marginals`, whose noise is Gaussian and keeps more than epsilon and delta "
        "say. Methods that ask (`em-pc`, `svt-pc` and the like) keep epsilon and delta, and nothing beyond: for them "
        "the last column of the first table holds, a best guess between two rows is right in at most "
        f"{_percent(promise.guess_by_definition)} of "
        "cases; the table of beliefs, the epsilons for several rows and the guesses for rows alike are not for them."
    )


def _effect(promise: Promise) -> list[str]:
    powers = (
        f"{_times(promise)} (e to the power epsilon{'' if promise.factor < 1e6 else '; no protection worth the name'})"
    )
    beside = f", plus {promise.delta:g}" if promise.delta else ""
    words = (
        f"Suppose somebody overwrites your row, with anything at all, before anything is computed. Whatever may come "
        f"out, and whatever anybody does because of it, has at most {powers} the chance with your own row that it "
        f"has with the other one{beside}; and the same the other way round. It holds against everybody, whatever "
        f"they know, and for all that is ever made of the release. In the language of causes: "
        f"do(your row = anything) changes the risk of any outcome by no more than that factor{beside}, whether or not "
        f"rows depend on each other (Tschantz, Sen and Datta 2020: Definitions 7 and 8, Proposition 4)."
    )
    absent = (
        "Not to take part is to have another in your place, a row that says nothing about you: every value missing "
        "where the domain has a level for that, or one made up without you. (That there is a row is not hidden; the "
        "number of rows is public, unless the domain says `unit: {max_rows: 1}`.) At epsilon 0 and delta 0 your row "
        "could change nothing at all (noninterference), nor could anybody's: nothing would be learned."
    )
    lines = [["With another row in your place", "With yours, at most"]]
    lines += [[_percent(p), _percent(promise.chance_here(p))] for p in CHANCES]
    told = [_fold(words), _fold(absent), _fold("The chance of anything:") + "\n" + _table(lines)]
    if promise.mu is None:
        return told
    lines[0].append("By epsilon and delta alone")
    for line, p in zip(lines[1:], CHANCES, strict=True):
        line.append(_percent(promise.chance(p)))
    note = (
        f"What the noise of `{promise.method or 'marginals'}` keeps is the curve of Gaussian differential privacy with "
        f"mu = {promise.mu:.4g}: that is the second column."
    )
    return [*told[:-1], _fold("The chance of anything:") + "\n" + _table(lines), _fold(note)]


def _beliefs(promise: Promise) -> list[str]:
    but = f", in all but a share {promise.delta:g} of cases" if promise.delta else ""
    words = f"How sure they are of anything about your row before and after they see the release, whatever it is{but}:"
    lines = [["Before", "After, at most"], *([_percent(p), _percent(promise.belief(p))] for p in CHANCES)]
    guess = (
        f"Shown the release and two rows, one of them yours and each as likely as the other, their best guess, "
        f"over all that may be released, is right in at most {_percent(promise.guess)} of cases. A coin is right in "
        "50%."
    )
    odds = "" if promise.odds is None else f": the odds of anything differ by at most {_times_of(promise.odds)}"
    semantic = (
        "Whoever knows less may learn more than that, through rows like yours (below). But the promise limits, "
        "whatever they know, how far their belief is from the one they would have had another row stood in your "
        f"place{odds}. "
        "That is how Bayesians read it (semantic privacy, Kasiviswanathan and Smith)."
    )
    return [_fold(words) + "\n" + _table(lines), _fold(guess), _fold(semantic)]


def _delta(promise: Promise, rows: int | None) -> list[str]:
    words = (
        f"{promise.delta:g} is the most by which the chance of anything may exceed {_times(promise)} its chance with "
        f"another row: one number for all outcomes together, not for each. It is not the chance that your row gets "
        f"published. The definition alone would allow even that, but the noise of this program does not do it: it "
        f"blurs every answer in every run, and where the factor is exceeded, it is mostly by little."
    )
    if rows is not None:
        words += (
            f" Delta must stay below 1 / rows = {1 / rows:.3g}, so that even the definition alone lets less than one "
            f"row through on average: here {rows * promise.delta:.2g} of {rows:,}."
        )
    return [_fold(words)]


def _others(promise: Promise, like: Alike | None) -> list[str]:
    general = (
        "That nothing is learned about you. If the release shows that smokers fall ill more often, whoever knows that "
        "you smoke learns something about you, and would have learned it without your row. The promise is about what "
        "your row causes, not about what can be inferred from others who resemble you."
    )
    if like is None:
        hint = (
            " How much that may be if some rows are known to resemble yours (your family, your ward, your class) is "
            "told with --correlation, the share of cases in which another row has the same value as yours, and "
            "--alike, the number of such rows."
        )
        return [_point(general + hint)]
    others = "one other row has" if like.rows == 1 else f"each of {like.rows:,} other rows, independently, has"
    beside = f", plus {like.delta:.2g}" if like.delta else ""
    bound = (
        f"an outcome may have up to {_power(like.epsilon)} the chance given one of your values that it has given the "
        f"other{beside}."
    )
    if like.delta >= 1:
        bound = "epsilon and delta alone set no useful limit to what the release may tell about your value."
    exact = "" if promise.delta else " The factor is exact: a count with geometric noise reaches it."
    words = (
        f" If {others} the same value as yours (of two values) in {100 * like.share:.4g}% of cases, {bound}{exact} "
        f"The best guess which of the two values is yours is then right in at most {_percent(like.guess)} of cases; "
        f"without such rows {_percent(promise.guess)}; with them, but with your own row overwritten, "
        f"{_percent(like.guess_without_you)}."
    )
    return [_point(general + words)]


def _more(promise: Promise) -> list[str]:
    again = (
        "The same for further releases. Each one from the same rows adds to the cost; the promise is kept only if "
        "epsilon and delta are the total of all of them."
    )
    if promise.people is not None:
        return [
            _point(f"The same for several at once, such as a family: each {promise.people} by itself."),
            _point(again),
        ]
    if promise.plain:
        return [_point("The same for several rows at once: one row is what is promised about."), _point(again)]
    told = ", ".join(f"epsilon {_up(promise.group(k), 2)} for {k} rows" for k in GROUPS)
    what, same = ("mu", " at the same delta") if promise.delta else ("epsilon", "")
    family = (
        f"The same for several rows at once. If one person or one family stands behind several rows, {what} "
        f"counts once for each: {told}{same}. Where the domain tells people apart (`unit: {{id: ..., max_rows: ...}}`) "
        "the promise is made to all rows of a person: read `your rows` for `your row` above."
    )
    return [_point(family), _point(again)]


def _times(promise: Promise) -> str:
    return _times_of(promise.epsilon)


def _times_of(loss: float) -> str:
    factor = math.exp(min(loss, 700))
    return f"{_up(factor, 3 if factor < 1.5 else 2)} times" if factor < 1e6 else f"e^{loss:g} times"


def _power(loss: float) -> str:
    return f"{_up(math.exp(loss), 2)} times (epsilon {_up(loss, 3)})" if loss < 13 else f"e^{_up(loss, 1)} times"


def _up(bound: float, digits: int) -> str:
    """Return an upper bound, rounded up."""
    return f"{math.ceil(bound * 10**digits - 1e-9) / 10**digits:,.{digits}f}"


def _percent(share: float) -> str:
    """Return a share that is an upper bound, rounded up."""
    return f"{math.ceil(min(share, 1) * 1000 - 1e-6) / 10:g}%"


def _table(lines: list[list[str]]) -> str:
    wide = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "\n".join(
        "    " + "   ".join(f"{cell:<{w}}" for cell, w in zip(line, wide, strict=True)).rstrip() for line in lines
    )


def _fold(text: str) -> str:
    return textwrap.fill(text, WIDTH, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)


def _point(text: str) -> str:
    return textwrap.fill(text, WIDTH, initial_indent="  - ", subsequent_indent="    ", break_on_hyphens=False)
