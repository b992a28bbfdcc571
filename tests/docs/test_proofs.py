"""The proofs as one document: every promise has a proof, a test and an audit, and every number stays in its place."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

import pytest

from discreet.audit.subjects import GATES, MECHANISMS, STATISTICS
from discreet.statistics.counts import Counts
from discreet.statistics.direction import KendallResiduals
from discreet.statistics.permutation import PermutedHSIC

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def proofs():
    pytest.importorskip("markdown_it", reason="pip install discreet[docs]")
    spec = importlib.util.spec_from_file_location("proofs_document", ROOT / "docs" / "proofs.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def written(proofs):
    return proofs.document()


@pytest.mark.parametrize("kind", [*STATISTICS, *MECHANISMS, *GATES], ids=lambda kind: kind.__name__)
def test_every_promise_has_a_proof_a_test_and_an_audit(kind, proofs):
    promise = proofs.promise_of(kind)
    assert promise.claim
    assert promise.proofs
    assert promise.auditors
    assert all((ROOT / path).is_file() for path in (promise.code, *promise.tests))
    inside = [number for number in promise.proofs if "." in number]
    assert inside or promise.code.startswith("src/discreet/audit/"), "say which claim, behind the name of the proof"


def test_numbers_are_those_of_the_claims(proofs):
    assert proofs.promise_of(Counts).proofs == ("8.3",)
    part = proofs.part_of("src/discreet/statistics/counts.md")
    assert next(lead for lead, number in part.numbers.items() if number == "8.3").startswith("Claim. The vector")
    assert proofs.promise_of(Counts).tests == ("tests/privacy/mechanisms/test_additive.py",)
    assert len(proofs.promise_of(PermutedHSIC).proofs) == 2
    direction = proofs.part_of("src/discreet/statistics/direction.md").numbers
    (number,) = proofs.promise_of(KendallResiduals).proofs
    assert next(lead for lead, found in direction.items() if found == number).startswith("Kendall.")


class Silent:
    """Promises nothing."""


class Elsewhere:
    """Says that it is proved in a file that is no part.

    Guarantee
    ---------
    All is well.

    Proof
    -----
    ``nowhere.md``, Claim.
    """


class Unaudited(Counts):
    """Is not in the register.

    Guarantee
    ---------
    All is well.

    Proof
    -----
    ``../../src/discreet/statistics/counts.md``, Claim.
    """


class Vague(Unaudited):
    """Names no claim that there is.

    Guarantee
    ---------
    All is well.

    Proof
    -----
    ``../../src/discreet/statistics/counts.md``, Theorem of everything.
    """


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [(Silent, "does not say"), (Elsewhere, "does not say"), (Vague, "nothing begins"), (Unaudited, "no audit")],
)
def test_what_lacks_something_is_an_error(kind, wrong, proofs):
    with pytest.raises(SystemExit, match=wrong):
        proofs.promise_of(kind)


def test_a_promise_without_a_test_is_an_error(proofs, monkeypatch):
    monkeypatch.setattr(proofs, "_tests", dict)
    with pytest.raises(SystemExit, match="no test"):
        proofs.promise_of(Counts)
    with pytest.raises(SystemExit, match="no test"):
        proofs.table_of_promises()


def test_every_proof_is_a_part(proofs):
    beside = {path.relative_to(ROOT).as_posix() for path in (ROOT / "src").rglob("*.md")}
    theory = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs" / "theory").glob("*.md")}
    assert {part.path for part in proofs.parts()} == beside | theory, "add it to the end of docs/proofs.py"


def test_every_link_leads_to_one_number(written):
    labels = re.findall(r"(?<!\()<(n-[\d-]+)>", written)
    assert len(labels) == len(set(labels)) > 200
    assert set(re.findall(r"#link\(<(n-[\d-]+)>\)", written)) <= set(labels)


@pytest.mark.parametrize(
    ("words", "seen"),
    [
        ("x <= sqrt(2K)", '#"x ≤ √(2K)";'),
        ("e^epsilon", '#"e";#super[#"ε";]'),
        ("mu_i^2", '#"μ";#sub[#"i";]#super[#"2";]'),
        ("e^{eps_i}", '#"e";#super[#"ε";#sub[#"i";]]'),
        ("exp^(-(a + b)/2) c", '#"exp";#super[#"−(a + b)/2";]#" c";'),
        ("T_(k) - 1", '#"T";#sub[#"(k)";]#" − 1";'),
        ("threshold_scale", '#"threshold_scale";'),
        ("D' and Kendall's", '#"D′ and Kendall’s";'),
        ("||C|| but ||a| - |b||", '#"‖C‖ but ||a| − |b||";'),
        ('a \\ "b" #c', '#"a \\\\ “b” #c";'),
    ],
)
def test_formulas(words, seen, proofs):
    assert proofs.formula(words) == seen


@pytest.mark.slow
def test_the_document_is_a_pdf(proofs):
    pytest.importorskip("typst", reason="pip install discreet[pdf]")
    made = proofs.compile_pdf()
    assert made.startswith(b"%PDF-")
    assert made == proofs.compile_pdf()
