"""A draft of an entry for the public registry of deployments of differential privacy, as YAML in three tiers.

The registry's data and schema are the public repository ``opendp/deployments-registry-data``. Strings are Markdown.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from typing import Any

from discreet.report.budget import merge_small, steps
from discreet.report.deployment import Deployment
from discreet.report.markdown import escape
from discreet.report.words import recorded_words

TIERS = (1, 2, 3)

TODO = "TODO: "
"""How a question begins that only people can answer."""

NO_DAY = "1900-01-01"
"""Stands for a day that is not known: the registry wants one."""

_TIER_OF = {
    "variant_name": 2,
    "privacy_unit": 2,
    "privacy_parameters": 2,
    "model_name": 2,
    "release_type": 2,
    "data_source_type": 2,
    "access_type": 2,
}
"""The tier of fields beyond the first; those that are not named are of the third."""

_CHECKED = {
    "url_slug": "a script of the registry makes it from name, curator and year",
    "data_product_type": "the nearest of the registry's kinds; does it fit?",
    "publication_date": "the day of publication",
    "release_type": "or many, over time?",
    "data_source_type": "or do new rows come in (Dynamic)?",
}
"""Questions beside fields whose values must have a fixed form."""

_SECTOR = "data_product_sector, one of Technology, Healthcare, Education, Government, Energy, Finance"


def registry_yaml(deployment: Deployment, tier: int = 3) -> str:
    """Return the draft of an entry as YAML, with questions where people must answer or check."""
    import yaml

    class Dumper(yaml.SafeDumper):
        """Writes what has several lines line by line, and quotes other values."""

    def write(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
        style = "|" if "\n" in text else None if re.fullmatch(r"[a-z_]+", text) else '"'
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)

    Dumper.add_representer(str, write)
    entry = registry_entry(deployment, tier)
    lines = yaml.dump(entry, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=10**9).splitlines()
    return "".join(f"{_with_question(line)}\n" for line in lines)


def _with_question(line: str) -> str:
    """Return a line with the question beside its field; text of several lines stands further in than any field."""
    field = re.match(r"(?:    )?(\w+): ", line)
    question = _CHECKED.get(field[1]) if field else None
    more = f"\n    # {TODO}{_SECTOR}" if field and field[1] == "publication_date" else ""
    return line if question is None else f"{line}  # {TODO}{question}{more}"


def registry_entry(deployment: Deployment, tier: int = 3) -> dict[str, Any]:
    """Return the draft of an entry as plain data, with the fields of a tier and of those below."""
    sections = {"basic": _basic(deployment)}
    for name, section in _further(deployment).items():
        kept = {field: value for field, value in section.items() if _TIER_OF.get(field, 3) <= tier}
        sections |= {name: kept} if kept else {}
    sections["administrative"] = {
        "sources": _ask("where the release, its report and its privacy statement can be read"),
        "notes": escape(f"Drafted by discreet {deployment.version} from the release."),
        "registry_authors": [_ask("who answers for this entry")],
    }
    return {"url_slug": "todo", "status": "Draft", "tier": tier, "deployment": sections}


def _basic(deployment: Deployment) -> dict[str, Any]:
    """Return the first tier."""
    return {
        "name": escape(deployment.title) or _ask("the name of the data product"),
        "data_curators": [_ask("the organisation that publishes it")],
        "intended_use": _ask("what the release is for"),
        "data_product_type": "Summary statistics",
        "data_product_region": _ask("which region the data describe, and whose law applies"),
        "description": escape(deployment.product()),
        "publication_date": _day(deployment.made),
    }


def _day(made: str) -> str:
    """Return a day as the registry writes it, or what stands for none."""
    try:
        return date.fromisoformat(made).isoformat()
    except ValueError:
        return NO_DAY


def _further(deployment: Deployment) -> dict[str, dict[str, Any]]:
    """Return what the second and the third tier add."""
    privacy = deployment.privacy
    delta = {"delta": privacy.delta} if privacy.delta else {}
    columns = [
        f"Column {name}: {declared}" if declared else f"Column {name}" for name, declared in deployment.columns.items()
    ]
    charges = [
        f"{step.what}: {step.mechanism} ({step.amount:.6g} {step.currency})" for step in merge_small(steps(privacy))
    ]
    return {
        "dp_variant": {
            "variant_name": deployment.variant,
            "data_domain": _points([deployment.data_domain(), *columns]),
            "unprotected_quantities": _points(deployment.unprotected()),
        },
        "privacy_loss": {
            "privacy_unit": escape(deployment.unit()),
            "privacy_unit_details": _points([deployment.adjacency()], deployment.asked_of_unit()),
            "privacy_parameters": {"epsilon": privacy.epsilon, **delta},
            "privacy_parameters_details": _points(deployment.parameters()),
        },
        "deployment_model": {
            "model_name": "Central",
            "model_name_details": "The custodian holds the rows and adds the noise; others see the release only.",
            "actors": _points(deployment.actors(), ["who these are, who sees what, and why the custodian is trusted"]),
            "release_type": "One release",
            "release_type_details": _points(
                [recorded_words(privacy), *deployment.totals],
                deployment.asked_of_others(),
            ),
            "data_source_type": "Static",
            "data_source_type_details": f"One table{deployment.size()}, as it was when the release was made.",
            "access_type": "Non-interactive",
            "access_type_details": "The release is published as a whole; nobody asks the rows.",
        },
        "accounting": {
            "post_processing": _points(deployment.after()),
            "composition": _points([deployment.composition(), *deployment.totals]),
        },
        "implementation": {
            "preprocessing_and_hyperparameter_tuning": _points(
                [deployment.tuning()], deployment.asked_of_preparation()
            ),
            "mechanisms": _points(
                [
                    *(f"Mechanism. {charge}" for charge in charges),
                    *(f"Proof. {what}: {where}" for what, where in deployment.proofs().items()),
                    f"Library. discreet {deployment.version}.",
                    f"Against floating-point leaks. {deployment.floating_point()}",
                    f"Against timing leaks. {deployment.timing()}",
                    f"Against leaks of the platform. {deployment.platform()}",
                ],
                ["how the rows themselves are protected, and who has access to them"],
            ),
            "justification": _points(
                [deployment.checked()], ["why this epsilon, delta and unit, by whom they were chosen, and how"]
            ),
        },
    }


def _ask(question: str) -> str:
    """Return a question that is marked as one."""
    return f"{TODO}{question}"


def _points(lines: Sequence[str], questions: Sequence[str] = ()) -> str:
    """Return a list in Markdown, questions last."""
    return "\n".join(f"- {line}" for line in [*map(escape, lines), *map(_ask, questions)]) + "\n"
