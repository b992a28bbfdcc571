"""Sets all proofs as one numbered document: `make proofs`, or `python docs/proofs.py site/theory/proofs.pdf`.

The proofs are the Markdown files beside the code. Each is a part; its sections and the paragraphs that begin in bold
are numbered through, so that "Claim 8.3" is the third of part 8. The table in front is made of the code: what a class
guarantees and where it says that this is proved, which tests look at it, who audits it.
"""

from __future__ import annotations

import inspect
import posixpath
import re
import sys
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import yaml
from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from discreet.audit.register import cases
from discreet.audit.subjects import DIRECTION, GATES, MECHANISMS, STATISTICS, TEST, methods

ROOT = Path(__file__).parent.parent
SOURCE = "src/discreet/"

PARTS = (
    "docs/theory/index.md",
    "privacy/accounting.md",
    "privacy/noise.md",
    "privacy/mechanisms/additive.md",
    "privacy/mechanisms/exponential.md",
    "privacy/mechanisms/sparse_vector.md",
    "privacy/mechanisms/noisy_rank.md",
    "statistics/counts.md",
    "statistics/interactions.md",
    "statistics/clipped.md",
    "statistics/quantiles.md",
    "statistics/dependence.md",
    "statistics/ranks.md",
    "statistics/information.md",
    "statistics/margins.md",
    "statistics/curves.md",
    "statistics/direction.md",
    "statistics/kernels.md",
    "statistics/pairwise_hsic.md",
    "statistics/permutation.md",
    "statistics/residual_products.md",
    "data/people.md",
    "ledger/prices.md",
    "ledger/keys.md",
    "release/oracles/released.md",
    "release/oracles/smooth.md",
    "audit/exact.md",
    "audit/replay.md",
    "audit/blackbox.md",
    "docs/theory/published.md",
    "docs/theory/open-questions.md",
    "search/structural.md",
)
"""The parts in their order. New ones come last, so that numbers stay what they were."""

GREEK = {
    "alpha": "α",
    "beta": "β",
    "gamma": "γ",
    "delta": "δ",
    "Delta": "Δ",
    "epsilon": "ε",
    "eps": "ε",
    "eta": "η",
    "lambda": "λ",
    "mu": "μ",
    "phi": "φ",
    "Phi": "Φ",
    "pi": "π",
    "psi": "ψ",
    "rho": "ρ",
    "sigma": "σ",
    "tau": "τ",
    "theta": "θ",
}
SIGNS = {"<=": "≤", ">=": "≥", "!=": "≠", "->": "→", "+-": "±", " (x) ": " ⊗ ", " - ": " − ", "...": "…"}
SIGN = re.compile("|".join(map(re.escape, SIGNS)))
MINUS = re.compile(r"(?<![\w)\]])-(?=[\w(|√])|(?<=\b[a-z])-(?=\d)|(?<=_)-(?=\W)")
TILDE = re.compile(r"(?<=\w)~")
NORM = re.compile(r"\|\|([^|]+)\|\|")
WORD = re.compile(r"(?<![A-Za-z])(" + "|".join(GREEK) + r")(?![A-Za-z])")
ROOTS = re.compile(r"\bsqrt ?(?=[(\w])")
SUM, PRODUCT = re.compile(r"\bsum(?=_)"), re.compile(r"\bprod(?=_)")
PRIME = re.compile(r"(?<=[A-Za-z0-9)\]\u0303°])(?<![A-Za-z]{2})'(?![A-Za-z])")
RAISED = re.compile(r"(?:(?<=[\w)\]|'’′\u0303°∑∏‖])|^)([\^_])(?=[({\w−+-])(?!(?<=[A-Za-z]{3}_)[A-Za-z]{2})")
TOKEN = re.compile(r"[-−+]?(?:\w+(?:\.\d+)?|(?=\s|$|[,.;)]))")
QUOTE = re.compile(r'"([^"]*)"')

INTRODUCTION = (
    "For every statistic and mechanism: how far one row moves it, or what it costs; the number of the proof; where it "
    "is in the code; which tests look at it; which auditors do. Names are those of the code, and of the audits "
    "(discreet audit NAME). What audit/ holds is there for the auditors and to compare with: no method releases it."
)
OF_METHODS = (
    "A method keeps its budget because of what it is made of: costs are those of the mechanisms above, are charged "
    "before anything is computed, and add up as part 2 proves, whatever is asked next. In brackets: how many audits."
)

LAYOUT = """
#set document(title: {title}, author: {author}, date: datetime(year: {year}, month: {month}, day: {day}))
#set page(paper: "a4", margin: (x: 22mm, y: 24mm))
#set text(font: ("Libertinus Serif", "New Computer Modern Math"), size: 10pt, lang: "en", region: "GB")
#set par(justify: true, leading: 0.62em, spacing: 0.95em)
#show raw: set text(font: "DejaVu Sans Mono", size: 0.82em)
#show raw.where(block: true): it => block(fill: luma(245), inset: 6pt, radius: 2pt, width: 100%, it)
#show link: set text(fill: rgb("#00595c"))
#show heading: set par(justify: false)
#show heading.where(level: 1): it => block(above: 2.6em, below: 1em, text(size: 1.2em, it))
#show heading.where(level: 2): it => block(above: 1.5em, below: 0.8em, it)
#set table(stroke: (x, y) => (bottom: if y == 0 {{ 0.7pt }} else {{ 0.3pt + luma(190) }}), inset: (x: 3pt, y: 4pt))
#show table: set par(justify: false)
#show table: set text(size: 8pt, hyphenate: true)
#set table.cell(breakable: false)
#show table.cell.where(y: 0): strong
#let display(body) = block(inset: (left: 2em), body)
#let beside(body) = block(below: 1.2em, sticky: true, text(size: 8.5pt, fill: luma(90), body))

#align(center)[
  #v(5cm)
  #text(size: 30pt, weight: "bold")[Proofs] \\
  #v(4mm)
  #text(size: 15pt)[#{title}]
  #v(14mm)
  #{author} \\
  Version {version}, {date}
  #v(14mm)
  #block(width: 11.5cm)[#set par(justify: false)
    What is promised, and why it holds: {count} parts, made of the files beside the code of this version, with the
    table of everything that makes a promise: claim, proof, code, test and audit.]
  #v(1fr)
  #block(width: 11.5cm, align(left)[#set text(size: 9pt); #set par(justify: false)
    *To cite:* #{author}. _Proofs of #{title}._ Version {version}, {date}. Sections and paragraphs are cited by their
    number, as in "Claim 8.3"; parts keep their numbers in later versions.])
  #v(1cm)
]
#set page(numbering: "1", header: context if here().page() > 2 {{
  text(size: 8pt, fill: luma(110))[discreet {version} #h(1fr) Proofs]
}})
#pagebreak()
#outline(title: [Contents], depth: 1)
#pagebreak()
"""


def text(value: str) -> str:
    """Return text as typst takes it, whatever is in it."""
    return '#"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") + '";' if value else ""


def formula(value: str) -> str:
    """Return text with signs, Greek letters, and what is raised or lowered, as typst."""
    value = SUM.sub("∑", PRODUCT.sub("∏", ROOTS.sub("√", NORM.sub(r"‖\1‖", value))))
    value = SIGN.sub(lambda match: SIGNS[match[0]], QUOTE.sub(r"“\1”", value))
    value = TILDE.sub("\u0303", value)
    value = MINUS.sub("−", PRIME.sub("′", WORD.sub(lambda match: GREEK[match[0]], value))).replace("'", "’")
    return _raised(value)


def _raised(value: str) -> str:
    found = RAISED.search(value)
    if found is None:
        return text(value)
    start = found.end()
    if value[start] in "({":
        end = _closing(value, start)
        inner = value[start + 1 : end - 1] if value[start] == "{" or found[1] == "^" else value[start:end]
    else:
        token = TOKEN.match(value, start)
        end = token.end() if token and token.end() > start else start + 1
        inner = value[start:end]
        if found[1] == "_" and "_" in inner:
            end = start + inner.index("_")
            inner = value[start:end]
    kind = "super" if found[1] == "^" else "sub"
    return f"{text(value[: found.start()])}#{kind}[{_raised(inner)}]{_raised(value[end:])}"


def _closing(value: str, start: int) -> int:
    """Return the place behind the bracket that closes the one at the start."""
    depth = 0
    for i in range(start, len(value)):
        depth += (value[i] in "({") - (value[i] in ")}")
        if depth == 0:
            return i + 1
    return len(value)


def slug(title: str) -> str:
    """Return the anchor of a heading, as file browsers make it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def _plain(node: SyntaxTreeNode) -> str:
    """Return the words of a node."""
    if node.type in ("text", "code_inline"):
        return node.content
    return " " if node.type == "softbreak" else "".join(map(_plain, node.children))


@dataclass
class Part:
    """One file as a part of the document."""

    number: int
    path: str
    numbers: dict[str, str] = field(default_factory=dict)
    """The number of every section and of every paragraph that begins in bold, by its first words."""

    @property
    def tree(self) -> SyntaxTreeNode:
        """The file, parsed."""
        written = (ROOT / self.path).read_text(encoding="utf-8")
        return SyntaxTreeNode(MarkdownIt("commonmark", {"html": True}).enable("table").parse(written))

    @property
    def title(self) -> str:
        """Its first heading."""
        return _plain(self.tree.children[0])

    def count(self) -> None:
        """Number sections and paragraphs."""
        for node in self.tree.children[1:]:
            if lead := lead_of(node):
                self.numbers.setdefault(lead, f"{self.number}.{len(self.numbers) + 1}")

    def find(self, words: str) -> str:
        """Return the number of the first that begins with some words."""
        for lead, number in self.numbers.items():
            if lead.startswith(words) or slug(lead) == words:
                return number
        raise SystemExit(f"{self.path}: nothing begins with {words!r}")


def lead_of(node: SyntaxTreeNode) -> str:
    """Return the words of a section or of a paragraph that begins in bold, or none; a proof belongs to its claim."""
    if node.type == "paragraph":
        spans = [span for span in node.children[0].children if span.type != "text" or span.content]
        return _plain(node) if spans[0].type == "strong" and _plain(spans[0]) != "Proof." else ""
    return _plain(node) if node.type == "heading" else ""


@cache
def parts() -> tuple[Part, ...]:
    """Return all parts, numbered."""
    made = tuple(Part(i, path if path.startswith("docs/") else SOURCE + path) for i, path in enumerate(PARTS, start=1))
    for part in made:
        part.count()
    return made


def part_of(path: str) -> Part | None:
    """Return the part that a file is, if it is one."""
    return next((part for part in parts() if part.path == path), None)


class Writer:
    """Writes one part as typst."""

    def __init__(self, part: Part) -> None:
        self.part = part

    def write(self) -> str:
        """Return the whole part."""
        first, *others = self.part.tree.children
        beside = f"#beside[{text(self.part.path)}]" if self.part.path.startswith(SOURCE) else ""
        head = f"= {self.part.number}#h(0.7em){self.line(first)} {label(self.part.number)}\n{beside}\n"
        return head + "\n\n".join(map(self.set, others))

    def set(self, node: SyntaxTreeNode) -> str:
        """Return a block, or a piece of a line."""
        way = getattr(self, f"set_{node.type}", None)
        if way is None:
            raise SystemExit(f"{self.part.path}: no way to set {node.type}")
        set_so: str = way(node)
        return set_so

    def line(self, node: SyntaxTreeNode) -> str:
        """Return what is within a line."""
        return "".join(map(self.set, node.children))

    def blocks(self, node: SyntaxTreeNode) -> str:
        """Return what is within a block."""
        return "\n\n".join(map(self.set, node.children))

    set_inline = line

    def set_heading(self, node: SyntaxTreeNode) -> str:
        """Return a section, with its number."""
        number = self.part.numbers[_plain(node)]
        return f"== {number}#h(0.6em){self.line(node)} {label(number)}"

    def set_paragraph(self, node: SyntaxTreeNode) -> str:
        """Return a paragraph, with a number if it begins in bold."""
        number = self.part.numbers.get(lead_of(node))
        return (f"#strong[{number}] {label(number)}#h(0.4em)" if number else "") + self.line(node)

    def set_code_block(self, node: SyntaxTreeNode) -> str:
        """Return displayed formulas: what is indented."""
        lines = [re.split(r"\s{3,}", line.strip()) for line in node.content.rstrip().split("\n")]
        return "#display[" + " \\ ".join("#h(2em)".join(map(formula, line)) for line in lines) + "]"

    def set_fence(self, node: SyntaxTreeNode) -> str:
        """Return code."""
        return f"#raw({literal(node.content.rstrip())}, block: true, lang: {literal(node.info)})"

    def set_bullet_list(self, node: SyntaxTreeNode) -> str:
        """Return a list."""
        return f"#list({', '.join(f'[{self.blocks(item)}]' for item in node.children)})"

    def set_ordered_list(self, node: SyntaxTreeNode) -> str:
        """Return a list with numbers."""
        return f"#enum({', '.join(f'[{self.blocks(item)}]' for item in node.children)})"

    def set_table(self, node: SyntaxTreeNode) -> str:
        """Return a table, with columns as wide as what they hold."""
        rows = [row.children for group in node.children for row in group.children]
        widths = [max(len(_plain(row[j])) for row in rows) for j in range(len(rows[0]))]
        return grid([[self.line(cell) for cell in row] for row in rows], widths)

    def set_html_block(self, node: SyntaxTreeNode) -> str:
        """Return nothing: comments, which mark what tests do with a block."""
        if not node.content.startswith("<!--"):
            raise SystemExit(f"{self.part.path}: HTML other than comments")
        return ""

    def set_text(self, node: SyntaxTreeNode) -> str:
        """Return words and formulas."""
        return formula(node.content)

    def set_softbreak(self, node: SyntaxTreeNode) -> str:
        """Return a space."""
        return " "

    def set_strong(self, node: SyntaxTreeNode) -> str:
        """Return bold words."""
        return f"#strong[{self.line(node)}]"

    def set_em(self, node: SyntaxTreeNode) -> str:
        """Return words in italics."""
        return f"#emph[{self.line(node)}]"

    def set_code_inline(self, node: SyntaxTreeNode) -> str:
        """Return code within a line; the name of a proof becomes its number."""
        part = self.named(node.content)
        return reference(part.number, f"part {part.number}") if part else f"#raw({literal(node.content)})"

    def named(self, words: str) -> Part | None:
        """Return the part that is named by its file."""
        if not words.endswith(".md"):
            return None
        beside = posixpath.normpath(posixpath.join(posixpath.dirname(self.part.path), words))
        return part_of(beside) or next((part for part in parts() if part.path.endswith(f"/{words}")), None)

    def set_link(self, node: SyntaxTreeNode) -> str:
        """Return a link: to another part, with its number, or to a file of the repository, with its path."""
        target, words = str(node.attrs["href"]), self.line(node)
        if "://" in target:
            return f"#link({literal(target)})[{words}]"
        path, _, anchor = target.partition("#")
        whole = posixpath.normpath(posixpath.join(posixpath.dirname(self.part.path), path)) if path else self.part.path
        part = part_of(whole)
        if part is None:
            return words if whole in words else f"{words} (#raw({literal(whole)}))"
        number = part.find(anchor) if anchor else part.number
        return reference(number, f"{words} ({number})")


def label(number: int | str) -> str:
    """Return the label of a numbered part, section or paragraph."""
    return f"<n-{str(number).replace('.', '-')}>"


def reference(number: int | str, words: str) -> str:
    """Return a link to what has a number."""
    return f"#link({label(number)})[{words}]"


def literal(value: str) -> str:
    """Return a string of typst."""
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def grid(cells: list[list[str]], lengths: list[int]) -> str:
    """Return a table of typst whose first row is its header."""
    shares = ", ".join(f"{max(length, 11) ** 0.6:.2f}fr" for length in lengths)
    head, *body = ["[" + "], [".join(row) + "]" for row in cells]
    return f"#table(columns: ({shares}), table.header({head}),\n" + ",\n".join(body) + ")"


@dataclass(frozen=True)
class Promise:
    """A class that makes a promise, with where it is proved, tested and audited."""

    name: str
    claim: str
    proofs: tuple[str, ...]
    code: str
    tests: tuple[str, ...]
    auditors: tuple[str, ...]


def promise_of(kind: type) -> Promise:
    """Return what a class promises, by its docstring; to lack a claim, a proof, a test or an audit is an error."""
    code = Path(inspect.getfile(kind)).resolve().relative_to(ROOT).as_posix()
    words = _sections(inspect.getdoc(kind) or "")
    named = re.match(r"``([\w./]+\.md)``(?:, (\w[^.:]*))?", words.get("Proof", ""))
    part = part_of(posixpath.normpath(posixpath.join(posixpath.dirname(code), named[1]))) if named else None
    if part is None or named is None or "Guarantee" not in words:
        raise SystemExit(f"{code}: {kind.__name__} does not say what it guarantees and where that is proved")
    found = Promise(
        kind.__name__,
        words["Guarantee"],
        tuple(map(part.find, named[2].split(" and "))) if named[2] else (str(part.number),),
        code,
        tests_of(kind, code, part),
        tuple(dict.fromkeys(case.auditor for case in cases() if case.subject == kind.__name__)),
    )
    if not found.tests or not found.auditors:
        raise SystemExit(f"{code}: {kind.__name__} has no {'audit' if found.tests else 'test'}")
    return found


def _sections(docstring: str) -> dict[str, str]:
    """Return the sections of a docstring by their titles."""
    pieces = re.split(r"^(\w+)\n-+$", docstring, flags=re.MULTILINE)
    return {title: " ".join(body.split()) for title, body in zip(pieces[1::2], pieces[2::2], strict=True)}


def tests_of(kind: type, code: str, part: Part) -> tuple[str, ...]:
    """Return the tests of a class: those of its module, else those that its proof names, else those that name it."""
    mirrored = f"tests/{posixpath.dirname(code.removeprefix(SOURCE))}/test_{Path(code).name}"
    if (ROOT / mirrored).is_file() and not mirrored.startswith("tests/audit/"):
        return (mirrored,)
    naming = [path for path, words in _tests().items() if re.search(rf"\b{kind.__name__}\b", words)]
    proof = (ROOT / part.path).read_text(encoding="utf-8")
    return tuple([path for path in naming if path in proof] or naming)


@cache
def _tests() -> dict[str, str]:
    """Return all tests but those of the auditors, whose work has a column of its own."""
    found = sorted((ROOT / "tests").rglob("test_*.py"))
    texts = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in found}
    return {path: words for path, words in texts.items() if not path.startswith("tests/audit/")}


def table_of_promises() -> str:
    """Return the table in front of the document."""
    pieces = [f"= {text('What is promised, and where it is proved')} <promises>"]
    pieces.append(formula(INTRODUCTION))
    for title, kinds in (("Mechanisms", [*MECHANISMS, *GATES]), ("Statistics", [*STATISTICS])):
        rows = [[text(word) for word in ("name", "claim", "proof", "code", "test", "audit")]]
        rows += [_row(promise_of(kind)) for kind in kinds]
        pieces += [f"== {title}", grid(rows, [22, 110, 4, 25, 25, 10])]
    rows = [[text(word) for word in ("method", "test", "audit")]]
    rows += [[files((name,)), files(_method_tests(name)), text(_audits(name))] for name in methods()]
    pieces += ["== Methods", formula(OF_METHODS), grid(rows, [14, 60, 25])]
    return "\n\n".join(pieces)


def _row(promise: Promise) -> list[str]:
    pieces = promise.claim.split("``")
    pieces[::2] = map(formula, pieces[::2])
    pieces[1::2] = [f"#raw({literal(piece)})" for piece in pieces[1::2]]
    proofs = ", ".join(reference(number, number) for number in promise.proofs)
    paths = [files(each) for each in ((promise.code.removeprefix(SOURCE),), promise.tests)]
    return [files((promise.name,)), "".join(pieces), proofs, *paths, text(", ".join(promise.auditors))]


def files(paths: tuple[str, ...]) -> str:
    """Return paths and names that may be broken behind a slash or an underscore, or before a capital letter."""
    broken = [re.sub(r"(?<=[/_])|(?<=[a-z])(?=[A-Z])", "\u200b", path.removeprefix("tests/")) for path in paths]
    return ", ".join(f"#raw({literal(path)})" for path in broken)


def _method_tests(name: str) -> tuple[str, ...]:
    """Return the tests of methods that name a method."""
    stem = {DIRECTION: "direction", TEST: "examine"}.get(name, name)
    pattern = re.compile(rf"[\"']{re.escape(name)}[\"']|\b{stem}\(")
    mine = [(path, words) for path, words in _tests().items() if path.startswith("tests/methods/")]
    found = tuple(path for path, words in mine if pattern.search(words))
    if not found:
        raise SystemExit(f"{name} has no test")
    return found


def _audits(name: str) -> str:
    mine = [case.auditor for case in cases() if case.subject == name]
    return ", ".join(f"{auditor} ({mine.count(auditor)})" for auditor in dict.fromkeys(mine))


def document() -> str:
    """Return the whole document as typst."""
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    day = cited["date-released"]
    front = LAYOUT.format(
        title=literal(cited["title"]),
        author=literal(", ".join(author["name"] for author in cited["authors"])),
        version=cited["version"],
        date=f"{day.day} {day:%B} {day.year}",
        year=day.year,
        month=day.month,
        day=day.day,
        count=len(parts()),
    )
    return "\n\n".join([front, table_of_promises(), *(Writer(part).write() for part in parts())])


def compile_pdf() -> bytes:
    """Return the document as PDF, with the fonts that typst brings along."""
    import typst

    made: bytes = typst.compile(document().encode(), ignore_system_fonts=True)
    return made


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(compile_pdf())
    sys.stdout.write(f"{path}\n")
