"""Damaged files of a ledger: flipped, cut and random bytes are refused, found by `verify`, or hit what is not used."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import product
from typing import Any

from discreet.errors import BudgetError, DiscreetError, LedgerError, RequestError
from discreet.ledger.ledger import Ledger, open_ledger
from discreet.ledger.records import Standing, Stored
from discreet.ledger.verify import Verdict, verify_ledger
from ledgers.cases import LIMITS, PRICE, Case, ViolationError, check_plain, insist, release
from ledgers.places import ASKED

HEADER, PAGE = 100, 4096


def flip_bytes(its: Case, number: int) -> str:
    """Flip a bit or change a byte: anywhere, in the header, and where pages and their indexes begin."""
    whole = its.path.read_bytes()
    pick = random.Random(number)  # noqa: S311

    def variants() -> Iterator[bytes]:
        for i in range(number):
            at = (
                pick.randrange(len(whole)),
                pick.randrange(HEADER),
                pick.randrange(len(whole) // PAGE) * PAGE + pick.randrange(16),
                pick.choice([at for at in range(len(whole)) if whole[at]]),
            )[i % 4]
            value = whole[at] ^ (1 << pick.randrange(8)) if i % 3 else (whole[at] + pick.randrange(1, 256)) % 256
            yield whole[:at] + bytes([value]) + whole[at + 1 :]

    return _try_all(its, variants())


def truncate(its: Case, number: int) -> str:
    """Cut the file short, also to nothing."""
    whole = its.path.read_bytes()
    lengths = {len(whole) * i // number for i in range(number)} | set(range(0, len(whole), PAGE)) | {1, HEADER}
    return _try_all(its, (whole[:length] for length in sorted(lengths)), harmless=False)


def lengthen(its: Case, number: int) -> str:
    """Put bytes after the end."""
    whole = its.path.read_bytes()
    return _try_all(its, (whole + os.urandom(1 + PAGE * i) for i in range(number)))


def randomize(its: Case, number: int) -> str:
    """Put something else in the file's place; or in the place of one of its pages."""
    whole = its.path.read_bytes()
    pages = range(0, len(whole), PAGE)
    other = [os.urandom(n) for n in (1, 16, 511, 512, 5000)] + [whole[:16] + os.urandom(len(whole)), b"\0" * len(whole)]
    for i in range(number):
        at = pages[i % len(pages)]
        other.append(whole[:at] + (os.urandom(PAGE) if i % 2 else b"\0" * PAGE) + whole[at + PAGE :])
    return _try_all(its, other)


DAMAGES: dict[str, Callable[[Case, int], str]] = {
    "flipped bytes": flip_bytes,
    "a file cut short": truncate,
    "bytes after the end": lengthen,
    "random bytes": randomize,
}


def _try_all(its: Case, variants: Iterable[bytes], *, harmless: bool = True) -> str:
    """Use every variant as a ledger is used, and return what became of them and what was said most."""
    whole, said, became = its.path.read_bytes(), Counter[str](), Counter[str]()
    for variant in variants:
        for file in its.path.parent.glob(f"{its.path.name}-*"):
            file.unlink()
        its.path.write_bytes(variant)
        became[_use(its, said)] += 1
    its.path.write_bytes(whole)
    its.check_unchanged()
    insist(harmless or not became["of no consequence"], "a file that was cut short is taken for whole")
    counts = ", ".join(f"{count} {what}" for what, count in sorted(became.items()))
    return f"{counts}; mostly: {said.most_common(1)[0][0]}"


def _use(its: Case, said: Counter[str]) -> str:
    """Do everything with a damaged ledger, insist that nothing false comes of it, and return how it was noticed."""
    tried: list[str] = []

    def attempt(act: Callable[[], Any]) -> Any:
        try:
            return act()
        except BudgetError:
            return None
        except DiscreetError as error:
            insist(isinstance(error, LedgerError), f"a {type(error).__name__}")
            tried.append(check_plain(str(error)))
            said[tried[-1]] += 1
        except Exception as error:
            raise ViolationError(f"untyped: {error!r}") from error
        return None

    attempt(lambda: open_ledger(its.url))
    ledger = open_ledger(its.url, begin=False)
    verdict = attempt(lambda: verify_ledger(ledger))
    _check_verdict(its, ledger, verdict)
    for name in LIMITS:
        _check_standing(its, name, attempt(partial(ledger.standing, name)), spent=0)
        if attempt(partial(_reserve, ledger, name)):
            _check_standing(its, name, attempt(partial(ledger.standing, name)), spent=1)
    for (request, body), name in product(its.kept.releases.items(), LIMITS):
        stored = attempt(partial(_ask_again, ledger, name, request))
        insist(stored is None or stored.body == body, "another release is shown")
    verdict = attempt(lambda: verify_ledger(ledger))
    _check_verdict(its, ledger, verdict)
    if tried:
        return "refused"
    return "of no consequence" if verdict is not None and not verdict.problems else "found by verify"


def _reserve(ledger: Ledger, name: str) -> bool:
    ledger.reserve(name, f"new in {name}", ASKED, PRICE)
    ledger.commit(name, f"new in {name}", release().to_json(), [])
    return True


def _ask_again(ledger: Ledger, name: str, request: str) -> Stored | None:
    try:
        return ledger.find_answer(name, request, ASKED)
    except RequestError:  # it is of the other data set
        return None


def _check_standing(its: Case, name: str, standing: Standing | None, *, spent: int) -> None:
    """Insist that a run which is granted adds to all that was spent before."""
    expected = its.spent[name]
    for _ in range(spent):
        expected = expected.plus(PRICE)
    insist(standing is None or standing.spent == expected, "what was spent is forgotten")


def _check_verdict(its: Case, ledger: Ledger, verdict: Verdict | None) -> None:
    """Insist that nothing is called whole that differs from what was there."""
    if verdict is None or verdict.problems:
        for words in () if verdict is None else verdict.problems:
            check_plain(words)
        return
    kept = ledger.read_all()
    same = kept.rows[: len(its.kept.rows)] == its.kept.rows
    insist(same and kept.releases.items() >= its.kept.releases.items(), "called whole, and it differs")
