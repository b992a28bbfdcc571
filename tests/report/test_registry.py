"""What a privacy office is handed: an entry that the registry would take, and a statement that claims nothing."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from datetime import date
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
import yaml

import discreet as dc
from discreet.audit import statistics as unasked
from discreet.audit.subjects import GATES, MECHANISMS, STATISTICS
from discreet.errors import ReleaseError, SettingError
from discreet.privacy.statement import Stamp
from discreet.report.deployment import _MECHANISMS, _SENSITIVITY, Deployment, _proved
from discreet.report.registry import NO_DAY, TODO, registry_entry, registry_yaml
from discreet.report.statement import statement, statement_markdown, statement_pdf
from support.released import release_of

ROWS = 600
HOSTILE = (
    "a_b",
    "*bold* `x` $y$ \\(z\\)",
    "[l](http://e.x) <script>",
    "| pipe {x} \\\\q",
    "---",
    "年龄 \"q\" 'r': #",
    "#set text(red); #panic() @ref",
    "x" * 180,
)

FIELDS = {
    "basic": {
        "name": (1, str),
        "data_curators": (1, list),
        "intended_use": (1, str),
        "data_product_type": (
            1,
            {
                "Summary statistics",
                "Machine learning model",
                "Dataset",
                "Synthetic data",
                "Interactive API",
                "SQL queries",
            },
        ),
        "data_product_region": (1, str),
        "description": (1, str),
        "publication_date": (1, date),
    },
    "dp_variant": {
        "variant_name": (2, {"Pure DP", "Approximate DP", "Zero-concentrated DP", "Renyi DP", "Custom"}),
        "data_domain": (3, str),
        "unprotected_quantities": (3, str),
    },
    "privacy_loss": {
        "privacy_unit": (2, str),
        "privacy_unit_details": (3, str),
        "privacy_parameters": (2, dict),
        "privacy_parameters_details": (3, str),
    },
    "deployment_model": {
        "model_name": (2, {"Local", "Central", "Shuffle", "Federated", "Varies"}),
        "model_name_details": (3, str),
        "actors": (3, str),
        "release_type": (2, {"One release", "Many releases"}),
        "release_type_details": (3, str),
        "data_source_type": (2, {"Static", "Dynamic"}),
        "data_source_type_details": (3, str),
        "access_type": (2, {"Interactive", "Non-interactive"}),
        "access_type_details": (3, str),
    },
    "accounting": {"post_processing": (3, str), "composition": (3, str)},
    "implementation": {
        "preprocessing_and_hyperparameter_tuning": (3, str),
        "mechanisms": (3, str),
        "justification": (3, str),
    },
    "administrative": {"sources": (1, str), "notes": (1, str), "registry_authors": (1, list)},
}
"""The registry's fields as it documents them: the tier of each, and what it takes."""


def check_entry(entry, tier):
    """Refuse what the registry would refuse, and fields that are missing in a tier."""
    assert list(entry) == ["url_slug", "status", "tier", "deployment"]
    assert (entry["status"], entry["tier"]) == ("Draft", tier)
    expected = {s: {f for f, (t, _) in fields.items() if t <= tier} for s, fields in FIELDS.items()}
    assert {s: set(fields) for s, fields in entry["deployment"].items()} == {s: f for s, f in expected.items() if f}
    for section, fields in entry["deployment"].items():
        for field, value in fields.items():
            takes = FIELDS[section][field][1]
            if isinstance(takes, set):
                assert value in takes
            elif takes is date:
                assert date.fromisoformat(value).isoformat() == value
            elif takes is list:
                assert value
                assert all(isinstance(text, str) for text in value)
            elif takes is dict:
                assert set(value) <= {"epsilon", "delta", "rho"}
                assert all(isinstance(number, float) for number in value.values())
            else:
                assert isinstance(value, str)
                assert value


def table(names):
    rng = np.random.default_rng(0)
    return {name: rng.choice(["0", "1|`*"], size=ROWS) for name in names}


def categories(names):
    return {name: dc.Categorical(categories=("0", "1|`*")) for name in names}


@pytest.fixture(scope="module")
def graph():
    domain = dc.Domain(categories(HOSTILE), rows=ROWS, unit="*visit* #x")
    known = dc.Knowledge(tiers=(HOSTILE[:3], HOSTILE[3:]))
    return Deployment.from_json(dc.discover(table(HOSTILE), domain=domain, epsilon=3.0, knowledge=known).to_json())


@pytest.fixture(scope="module")
def people():
    domain = dc.Domain(categories("ab"), rows=ROWS, unit="patient", people=dc.People("who", 3))
    rows = {**table("ab"), "who": np.arange(ROWS) // 2}
    return Deployment.from_json(dc.discover(rows, domain=domain, epsilon=3.0, delta=0).to_json())


@pytest.fixture(scope="module")
def numbers():
    x, y = np.random.default_rng(0).normal(size=(2, ROWS))
    return {"u": x, "v": x + y}, dc.Domain({name: dc.Numeric(bounds=(-5, 5)) for name in "uv"}, rows=ROWS)


@pytest.fixture(scope="module")
def directions(numbers):
    return Deployment.from_json(dc.direction(numbers[0], ("u", "v"), domain=numbers[1], epsilon=2.0).to_json())


@pytest.fixture(scope="module")
def answer(numbers):
    found = dc.test_independence(numbers[0], "u", "v", domain=numbers[1], epsilon=2.0)
    return Deployment.from_json(found.to_json())


@pytest.fixture(params=["graph", "people", "directions", "answer"])
def deployment(request):
    return request.getfixturevalue(request.param)


@pytest.mark.parametrize("tier", [1, 2, 3])
def test_an_entry_is_what_the_registry_takes(deployment, tier):
    text = registry_yaml(deployment, tier)
    entry = yaml.safe_load(text)
    check_entry(entry, tier)
    assert entry == registry_entry(deployment, tier)
    assert text.startswith("url_slug: ")  # where a script of the registry looks for it
    styles = {getattr(token, "style", None) for token in yaml.scan(text)}
    assert styles == {None, "|", '"'} - ({"|"} if tier < 3 else set())
    assert "://" not in text


def test_what_people_know_is_asked_and_never_made_up(deployment):
    text = registry_yaml(deployment)
    entry = yaml.safe_load(text)["deployment"]
    for field in ("name", "intended_use", "data_product_region"):
        assert entry["basic"][field].startswith(TODO)
    asked = [entry["basic"]["data_curators"][0], entry["administrative"]["registry_authors"][0]]
    asked += [entry["implementation"]["justification"], entry["implementation"]["mechanisms"]]
    asked += [entry["implementation"]["preprocessing_and_hyperparameter_tuning"], entry["deployment_model"]["actors"]]
    assert all(TODO in field for field in asked)
    for field in ("publication_date", "data_product_type", "release_type", "data_source_type", "url_slug"):
        assert f"# {TODO}" in next(line for line in text.splitlines() if line.strip().startswith(field))
    made = statement(deployment)
    blocks = [block for section in made["sections"] for block in section["blocks"]]
    questions = [question for block in blocks for question in block.get("asks", ())]
    assert all(question.startswith(TODO) for question in questions)
    assert dict(made["facts"])["Open questions"] == f"{len(questions)}, marked TODO"
    assert statement_markdown(deployment).count(f"> **{TODO}") == len(questions)


def test_what_a_release_knows_is_filled_in(graph, people, directions, answer):
    entry = yaml.safe_load(registry_yaml(graph))["deployment"]
    assert entry["privacy_loss"]["privacy_parameters"] == {"epsilon": 3.0, "delta": 1e-6}
    assert entry["dp_variant"]["variant_name"] == "Approximate DP"
    assert "replacing one row" in entry["privacy_loss"]["privacy_unit_details"]
    assert "rounded Gaussian noise, sigma" in entry["implementation"]["mechanisms"]
    assert "do not take constant time" in entry["implementation"]["mechanisms"]
    assert f"exactly {ROWS} rows" in entry["dp_variant"]["data_domain"]
    assert "Tiers, the earliest first: a_b" in entry["dp_variant"]["unprotected_quantities"]
    entry = yaml.safe_load(registry_yaml(people))["deployment"]
    assert entry["privacy_loss"]["privacy_parameters"] == {"epsilon": 3.0}
    assert entry["dp_variant"]["variant_name"] == "Pure DP"
    assert "all rows of one patient" in entry["privacy_loss"]["privacy_unit_details"]
    assert f"and an id; exactly {ROWS} rows are used" in entry["dp_variant"]["data_domain"]
    assert "by the column who" in entry["privacy_loss"]["privacy_unit_details"]
    assert "they count 3 times" in entry["privacy_loss"]["privacy_parameters_details"]
    assert "discreet/data/people.md" in entry["implementation"]["mechanisms"]
    assert yaml.safe_load(registry_yaml(directions))["deployment"]["basic"]["publication_date"] == NO_DAY
    assert "u and v" in registry_yaml(directions, 1)
    assert "Whether u and v are independent: one test at level 0.05" in registry_yaml(answer, 1)


def test_proofs_are_where_it_says(deployment):
    proofs = deployment.proofs()
    root = Path(str(files("discreet"))).parent
    assert all((root / path).is_file() for path in proofs.values())
    assert any("How far one row moves" in what for what in proofs)
    assert any(path.startswith("discreet/privacy/mechanisms/") for path in proofs.values())


def test_nothing_that_a_method_asks_is_without_its_proof():
    asked = [
        statistic.name
        for kind, some in STATISTICS.items()
        for statistic, _ in some
        if kind.__module__ != unasked.__name__
    ]
    blurred = [mechanism.name for some in MECHANISMS.values() for mechanism, _, _ in some]
    blurred += [gate.name for some in GATES.values() for gate in some]
    assert [name for name in asked if not _proved(_SENSITIVITY, [name])] == []
    assert [name for name in blurred if not _proved(_MECHANISMS, [name])] == []


def test_a_row_that_may_be_absent_is_said_to_be(graph):
    data = json.loads(graph.found.to_json())
    data["privacy"]["neighbors"] = "add-remove-or-replace-one-row"
    entry = yaml.safe_load(registry_yaml(Deployment.from_json(json.dumps(data))))["deployment"]
    assert "adding, removing or replacing one row" in entry["privacy_loss"]["privacy_unit_details"]
    assert f"any number of rows with values of the declared domain in 8 columns; exactly {ROWS}" in str(entry)
    assert entry["deployment_model"]["data_source_type_details"].startswith(f"One table, of which {ROWS} rows are used")
    assert "The number of rows that are used" in entry["dp_variant"]["unprotected_quantities"]
    assert "discreet/data/people.md" in entry["implementation"]["mechanisms"]


@pytest.mark.parametrize(
    ("statistic", "proof"),
    [
        ("8 contingency tables (1-way)", "counts"),
        ("36 interactions (1-way, 2-way)", "interactions"),
        ("quantiles for 4 bins of 3 numeric columns", "quantiles"),
        ("quartiles of interactions, b and their residuals", "quantiles"),
        ("margins of 28 pairs", "margins"),
        ("how well 7 candidates separate", "margins"),
        ("how many of 7 pairs are separated", "margins"),
        ("contrasts of 2 triples", "margins"),
        ("pairs that stay", "margins"),
        ("mean features of 3 columns", "pairwise_hsic"),
        ("dependence of pairs of 3 columns", "pairwise_hsic"),
        ("dependence of a and b given c, and of 239 permutations", "permutation"),
        ("sums for a fit of a and b given c", "residual_products"),
        ("product of residuals of a and b given c", "residual_products"),
        ("curves of a and b in 9 bins", "curves"),
        ("squared errors: b over a against a over b", "direction"),
        ("root of HSIC of residuals by features: b over a against a over b", "direction"),
        ("stratified Spearman of a and b", "ranks"),
        ("total variation of sieve and b", "information"),
        ("sieve", "dependence"),
    ],
)
def test_every_question_has_its_proof(graph, statistic, proof):
    data = json.loads(graph.found.to_json())
    data["privacy"]["spent"] = [{**data["privacy"]["spent"][0], "statistic": statistic}]
    found = [path for path in Deployment.from_json(json.dumps(data)).proofs().values() if "/statistics/" in path]
    assert found == [f"discreet/statistics/{proof}.md"]


def test_names_are_text_and_nothing_else(graph):
    for text in (registry_yaml(graph), statement_markdown(graph)):
        assert "a_b" in text  # readable where it can be
        for mark in ("*bold*", "`x`", "$y$", "\\(", "<script", "[l](", "http:", "{x}", "\\\\"):
            assert mark not in text
        assert "&#42;bold&#42;" in text
    lines = statement_markdown(graph).splitlines()
    assert sum(line.startswith("#") for line in lines) == 9
    row = next(line for line in lines if "pipe" in line and line.startswith("|"))
    assert row.count("|") == 3


def test_a_statement_claims_no_conformity(deployment):
    text = statement_markdown(deployment)
    assert "No conformity with either is claimed" in text
    order = ["What is protected", "Epsilon and delta", "Unit of privacy", "Mechanisms and their proofs", "Accounting"]
    order += ["Utility and bias", "Security of the implementation", "Data and their collection"]
    assert [section["title"] for section in statement(deployment)["sections"]] == order
    places = [text.index(f"## {number}. {title}") for number, title in enumerate(order, 1)]
    assert places == sorted(places)


def test_the_document_holds_the_names_as_text(deployment):
    typst = pytest.importorskip("typst", reason="pip install discreet[pdf]")
    made = statement_pdf(deployment)
    assert made is not None
    assert made.startswith(b"%PDF")
    page = files("discreet.report").joinpath("statement.typ").read_bytes()
    given = {"statement": json.dumps(statement(deployment))}
    heads = json.loads(typst.query(page, "heading", field="body", sys_inputs=given))
    assert [head["text"] for head in heads] == [section["title"] for section in statement(deployment)["sections"]]


def test_without_typst_there_is_no_document(graph, monkeypatch):
    monkeypatch.setitem(sys.modules, "typst", None)
    assert statement_pdf(graph) is None


def test_what_is_not_private_is_refused(graph):
    seeded = release_of(table("ab"), categories("ab"))
    with pytest.raises(SettingError, match="NOT PRIVATE"):
        Deployment.from_json(seeded.to_json())
    for private in (False, None, "true", 1):
        data = json.loads(graph.found.to_json())
        data["privacy"]["private"] = private
        with pytest.raises(SettingError, match="NOT PRIVATE"):
            Deployment.from_json(json.dumps(data))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"privacy": 1}', '{"privacy": {"private": true}}', "[" * 100_000])
def test_what_is_no_release_is_refused(text):
    with pytest.raises(ReleaseError):
        Deployment.from_json(text)


def test_a_ledger_that_was_not_asked_is_a_question(graph):
    data = json.loads(graph.found.to_json())
    data["privacy"]["ledger"] = vars(Stamp("l", 3, "h", "visits"))
    stamped = Deployment.from_json(json.dumps(data))
    assert "--ledger fills it in" in registry_yaml(stamped)
    asked = registry_yaml(replace(stamped, totals=("2 runs in all.",)))
    assert "--ledger fills it in" not in asked
    assert asked.count("2 runs in all.") == 2


def test_a_day_that_is_none_is_not_written(graph):
    data = json.loads(graph.found.to_json())
    data["about"]["made"] = "2026-99-99"
    made = registry_entry(Deployment.from_json(json.dumps(data)))
    assert made["deployment"]["basic"]["publication_date"] == NO_DAY
