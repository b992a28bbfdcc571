"""The picture of the house is what the code imports."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def house():
    spec = importlib.util.spec_from_file_location("house_picture", ROOT / "docs" / "house.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_picture_shows_what_the_code_imports(house):
    drawn = house.PICTURE.read_text(encoding="utf-8")
    arrows = {tuple(title.split("&#45;&gt;")) for title in re.findall(r"<title>(\w+&#45;&gt;\w+)</title>", drawn)}
    assert arrows == set(house.package_graph().edges), "draw it again: python docs/house.py"
    boxes = set(re.findall(r"<title>(\w+)</title>", drawn)) - {"house"}
    assert boxes == set(house.WORDS)
    sides = dict(re.findall(r'<title>(\w+)</title>\s*<path fill="(#\w+)"', drawn))
    assert sides == {name: house.FILLS[house.side_of(name)] for name in house.WORDS}


def test_every_place_the_page_names_is_there():
    page = (ROOT / "docs" / "house.md").read_text(encoding="utf-8").partition("## Where is what")[2]
    named = re.findall(r"`([a-z_]+(?:/[a-z_]*)*(?:\.py|\.md)?)`", page)
    places = [place for place in named if "/" in place and "/x." not in place]
    assert len(places) > 15
    for place in places:
        assert (ROOT / "src" / "discreet" / place).exists(), place
