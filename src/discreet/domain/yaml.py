"""Reading what people declare: YAML in which every scalar stays text until it is asked to be more."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.errors import InputError

Node = Any
"""A nested structure of dict, list and scalars, as YAML or JSON give it."""

MAX_BYTES = 16 * 1024 * 1024
_INTEGER = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
Wrong = type[InputError]
"""The error that is raised: about a domain, or about knowledge."""


def load_yaml(source: str | Path, wrong: Wrong, what: str) -> Node:
    """Read YAML text or a YAML file with all scalars as text, refusing repeated keys."""
    import yaml

    class TextLoader(yaml.BaseLoader):
        """Keeps ``no``, ``01`` and ``1.0`` as they were written."""

        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
            keys = [key.value for key, _ in node.value]
            if len({str(key) for key in keys}) != len(keys):
                raise wrong(f"the {what} file names something twice near line {node.start_mark.line + 1}")
            return super().construct_mapping(node, deep)

    try:
        return yaml.load(text_of(source, wrong, what), Loader=TextLoader)  # noqa: S506 - TextLoader builds text, lists and dicts only
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise wrong(f"the {what} file is not YAML: see line {line}") from None
    except (yaml.YAMLError, RecursionError):
        raise wrong(f"the {what} file is not YAML") from None


def text_of(source: str | Path, wrong: Wrong, what: str) -> str:
    """Return a text that holds a line break as it is, and read any other as a path."""
    return source if isinstance(source, str) and "\n" in source else read_text(source, wrong, what)


def read_text(path: str | Path, wrong: Wrong, what: str) -> str:
    """Read a small text file, or say why not."""
    if not isinstance(path, str | Path):
        raise wrong(f"{what}: a path, or the text itself")
    try:
        with Path(path).open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "no such name"
        raise wrong(f"the {what} file {str(path)!r} cannot be read: {why or 'error'}") from None
    if len(raw) > MAX_BYTES:
        raise wrong(f"the {what} file is larger than {MAX_BYTES // 2**20} MiB")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise wrong(f"the {what} file is not UTF-8 text") from None


def dump_yaml(data: Mapping[str, Any]) -> str:
    """Write YAML in which every text that could be taken for something else is quoted."""
    import yaml

    return str(yaml.safe_dump(data, sort_keys=False, allow_unicode=True, default_flow_style=None, width=110))


def as_mapping(node: Node, wrong: Wrong, what: str) -> Mapping[str, Node]:
    """Return a mapping with text keys."""
    if not isinstance(node, Mapping) or not all(isinstance(key, str) for key in node):
        raise wrong(f"{what}: expected `name: value` pairs")
    return node


def as_list(node: Node, wrong: Wrong, what: str) -> list[Node]:
    """Return a list."""
    if not isinstance(node, list | tuple):
        raise wrong(f"{what}: expected a list")
    return list(node)


def as_text(node: Node, wrong: Wrong, what: str) -> str:
    """Return a text."""
    if not isinstance(node, str):
        raise wrong(f"{what}: expected text (in Python, write labels as strings)")
    return node


def as_labels(node: Node, wrong: Wrong, what: str) -> tuple[str, ...]:
    """Return a list of labels."""
    return tuple(as_text(item, wrong, what) for item in as_list(node, wrong, what))


def as_int(node: Node, wrong: Wrong, what: str) -> int:
    """Return a whole number."""
    if isinstance(node, int) and not isinstance(node, bool):
        return node
    if isinstance(node, str) and _INTEGER.fullmatch(node.replace("_", "")) and len(node) < 20:
        return int(node.replace("_", ""))
    raise wrong(f"{what}: expected a whole number")


def as_number(node: Node, wrong: Wrong, what: str) -> float:
    """Return a number."""
    if isinstance(node, int | float) and not isinstance(node, bool):
        return float(node)
    if isinstance(node, str) and _NUMBER.fullmatch(node):
        return float(node)
    raise wrong(f"{what}: expected a number")


def as_bool(node: Node, wrong: Wrong, what: str) -> bool:
    """Return a truth value."""
    if isinstance(node, bool):
        return node
    if isinstance(node, str) and node.lower() in ("true", "false", "yes", "no"):
        return node.lower() in ("true", "yes")
    raise wrong(f"{what}: expected true or false")


def parse_number(label: str) -> Fraction | None:
    """Return the number a label is written as, exactly, or None."""
    if not _NUMBER.fullmatch(label) or len(label) > 40:
        return None
    rough = float(label)
    tiny = rough == 0 and any(digit in label.lower().partition("e")[0] for digit in "123456789")
    return None if tiny or not math.isfinite(rough) else Fraction(label)


def refuse_unknown(node: Mapping[str, Node], known: Iterable[str], wrong: Wrong, what: str) -> None:
    """Refuse keys that mean nothing here: they are most often spelling mistakes."""
    strange = [key for key in node if key not in tuple(known)]
    if strange:
        raise wrong(f"{what}: unknown key {strange[0]!r}; known are {', '.join(known)}")
