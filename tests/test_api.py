"""The door: every public name is there, and the README's example is short."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

import discreet
from discreet._moved import MOVED

ROOT = Path(__file__).parent.parent


def test_all_is_complete():
    assert sorted(discreet.__all__) == discreet.__all__
    assert set(discreet._HOMES) | {"__version__"} == set(discreet.__all__)
    assert len(discreet.__all__) <= 32
    for name in discreet.__all__:
        assert getattr(discreet, name) is not None
    assert set(discreet.__all__) <= set(dir(discreet))
    with pytest.raises(AttributeError, match="nothing"):
        discreet.nothing  # noqa: B018


def test_every_public_callable_has_a_docstring():
    for name in discreet.__all__:
        if callable(getattr(discreet, name)):
            assert getattr(discreet, name).__doc__, name


def test_the_readme_example_is_short():  # that it runs is for test_docs
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 1
    assert len(blocks[0].splitlines()) <= 20


def test_the_version_is_said_once():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## {discreet.__version__}" in changelog
    assert f"version: {discreet.__version__}" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


@pytest.mark.parametrize("old", sorted(MOVED))
def test_a_path_that_was_printed_before_leads_to_the_same_things(old):
    now = importlib.import_module(f"discreet.{MOVED[old]}")
    then = importlib.import_module(f"discreet.{old}")
    names = [name for name in vars(now) if not name.startswith("_")]
    assert names
    assert all(getattr(then, name) is getattr(now, name) for name in names)


def test_old_paths_by_name():
    from discreet.networks.nonlinear import nonlinear
    from discreet.published import discover_published
    from discreet.published.halves import half_direction

    from discreet import interop
    from discreet.search.interop import to_dowhy

    assert interop.to_dowhy is to_dowhy
    assert all(map(callable, (nonlinear, discover_published, half_direction)))
