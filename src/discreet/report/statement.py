"""A statement for a privacy office, in the order in which NIST SP 800-226 asks: as Markdown, and as PDF by Typst.

The order is that of the publication's outline. Nothing here claims that a release conforms to it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from discreet.errors import OutputError
from discreet.report.budget import merge_small, steps
from discreet.report.deployment import Deployment
from discreet.report.layout import visible
from discreet.report.markdown import escape
from discreet.report.registry import TODO
from discreet.report.words import not_promised_words, promised_words, recorded_words

NO_CLAIM = (
    "The order follows the outline of NIST SP 800-226, Guidelines for Evaluating Differential Privacy Guarantees. "
    "Numbers of sections are those of its initial public draft of December 2023; the final text of March 2025 was not "
    "compared. No conformity with either is claimed. What is filled in comes from the release, its ledger and the code "
    "of discreet; what only people can answer is a question, marked TODO."
)

NO_TYPST = "statement.pdf was not made: it takes Typst, which pip install 'discreet[pdf]' brings"

Block = Mapping[str, Any]
"""A part of a section: paragraphs, questions, or a table, whose first line is its head."""


def statement(deployment: Deployment) -> dict[str, Any]:
    """Return the statement as plain data: a title, facts, and sections of blocks."""
    privacy = deployment.privacy
    facts = {
        "Release": deployment.title or deployment.kind,
        "Promise": f"epsilon {privacy.epsilon:g}, delta {privacy.delta:g} ({deployment.variant})",
        "Unit of privacy": deployment.unit(),
        "Rows": f"{deployment.rows:,}{' used' * privacy.chosen} (public)",
        "Method": deployment.method,
        **({"Made on": deployment.made} if deployment.made else {}),
        "Software": f"discreet {deployment.version}",
        "Recorded": recorded_words(privacy),
    }
    told = _sections(deployment)
    asked = sum(len(block.get("asks", ())) for _, _, blocks in told for block in blocks)
    sections = [{"title": title, "asks": asks, "blocks": blocks} for title, asks, blocks in told]
    facts["Open questions"] = f"{asked}, marked TODO"
    plain = {"title": "Privacy statement", "facts": list(facts.items()), "note": NO_CLAIM, "sections": sections}
    seen: dict[str, Any] = _each_text(plain)
    return seen


def _sections(deployment: Deployment) -> list[tuple[str, str, list[Block]]]:
    """Return the sections: what each is called, where the publication asks it, and what is answered."""
    privacy = deployment.privacy
    charges = [
        (
            step.what,
            step.mechanism,
            f"{step.amount:.6g} {step.currency}",
            "" if step.share is None else f"{step.share:.1%}",
        )
        for step in merge_small(steps(privacy))
    ]
    columns = list(deployment.columns.items())
    return [
        (
            "What is protected",
            "2.1",
            [
                _say(deployment.product(), *promised_words(privacy, deployment.rows)),
                _say("What is not promised:"),
                _list(not_promised_words(privacy, deployment.truth())),
                _ask("what the release is for, and who publishes it"),
            ],
        ),
        (
            "Epsilon and delta",
            "2.2, 2.3",
            [_say(*deployment.parameters()), _ask("why this epsilon and delta, who chose them, and how")],
        ),
        (
            "Unit of privacy",
            "2.4",
            [_say(deployment.unit() + ".", deployment.adjacency()), _ask(*deployment.asked_of_unit())],
        ),
        (
            "Mechanisms and their proofs",
            "3.1, 3.4",
            [
                _table(("What was asked", "Mechanism", "Charge", "Share"), charges),
                _say("Proofs are files of the library's package:"),
                _table(("What is proved", "Where"), list(deployment.proofs().items())),
                _say(deployment.checked()),
            ],
        ),
        (
            "Accounting",
            "2.6, 4.1",
            [
                _say(deployment.composition(), recorded_words(privacy), *deployment.totals),
                _say("Published without noise:"),
                _list(deployment.unprotected()),
                _say("After the noise, at no further cost:"),
                _list(deployment.after()),
                _ask(*deployment.asked_of_others()),
            ],
        ),
        (
            "Utility and bias",
            "3.2, 3.3",
            [
                _list(deployment.utility()),
                _say(
                    "Noise is the same for all groups, and so weighs most on small ones: what holds for them is missed "
                    "first."
                ),
                _ask("which groups are small, and what it means for them if nothing is seen"),
            ],
        ),
        (
            "Security of the implementation",
            "4.1 to 4.4",
            [
                _say("Central model; the release is published as a whole, and nobody asks the rows."),
                _list(deployment.actors()),
                _table(
                    ("Leak", "Measure"),
                    [
                        ("Floating-point numbers", deployment.floating_point()),
                        ("Timing", deployment.timing()),
                        ("Platform", deployment.platform()),
                    ],
                ),
                _ask("how the rows are protected where they are stored and computed on, and who has access to them"),
            ],
        ),
        (
            "Data and their collection",
            "4.5",
            [
                _say(deployment.data_domain()),
                _table(("Column", "Declared"), columns)
                if any(declared for _, declared in columns)
                else _say(
                    f"Columns: {', '.join(deployment.columns)}. What was declared of them is not in the release."
                ),
                _say(deployment.tuning()),
                _ask(
                    "how the data were collected, on what ground, and whether all of them are needed",
                    *deployment.asked_of_preparation(),
                ),
            ],
        ),
    ]


def statement_markdown(deployment: Deployment) -> str:
    """Return the statement as Markdown."""
    made = statement(deployment)
    parts = [f"# {made['title']}", _markdown_table([("Fact", ""), *made["facts"]]), made["note"]]
    for number, section in enumerate(made["sections"], 1):
        parts.append(f"## {number}. {section['title']}\n\n*SP 800-226, {section['asks']}*")
        parts += [_markdown(block) for block in section["blocks"]]
    return "\n\n".join(parts) + "\n"


def statement_pdf(deployment: Deployment) -> bytes | None:
    """Return the statement as PDF; None where Typst is not installed."""
    try:
        import typst
    except ImportError:
        return None
    page = files("discreet.report").joinpath("statement.typ").read_bytes()
    try:
        made: bytes = typst.compile(page, sys_inputs={"statement": json.dumps(statement(deployment))})
    except (typst.TypstError, RuntimeError, OSError):
        raise OutputError("out: statement.pdf could not be set; the Markdown says the same") from None
    return made


def _say(*texts: str) -> Block:
    return {"says": list(texts)}


def _list(texts: Sequence[str]) -> Block:
    return {"lists": list(texts)}


def _ask(*questions: str) -> Block:
    return {"asks": [f"{TODO}{question}" for question in questions]}


def _table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> Block:
    return {"lines": [list(line) for line in (head, *lines)]}


def _markdown(block: Block) -> str:
    """Return a block as Markdown."""
    if "lines" in block:
        return _markdown_table(block["lines"])
    if "asks" in block:
        return "\n>\n".join(f"> **{escape(text)}**" for text in block["asks"])
    if "lists" in block:
        return "\n".join(f"- {escape(text)}" for text in block["lists"])
    return "\n\n".join(map(escape, block["says"]))


def _markdown_table(lines: Sequence[Sequence[str]]) -> str:
    rows = [f"| {' | '.join(map(escape, line))} |" for line in lines]
    return "\n".join([rows[0], f"|{' --- |' * len(lines[0])}", *rows[1:]])


def _each_text(node: Any) -> Any:
    """Return plain data whose texts hold nothing that no page may hold."""
    if isinstance(node, str):
        return visible(node)
    if isinstance(node, Mapping):
        return {key: _each_text(value) for key, value in node.items()}
    return [_each_text(value) for value in node]
