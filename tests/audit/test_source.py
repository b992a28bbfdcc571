"""The reader of sources: every rule can be broken, the broken modules are caught, and their sound twins are not."""

from __future__ import annotations

import ast

import pytest

from discreet.audit.broken import Code
from discreet.audit.broken.code import CODE
from discreet.audit.source import breaches, check_code, project_trees, rules
from discreet.errors import SettingError

BAD = [
    ("only the room evaluates and blurs", "release.x", "def f(s, t):\n    return s.evaluate(t)"),
    ("only the room evaluates and blurs", "audit.source", "def f(m, x, n):\n    return m.blur(x, n)"),
    ("only the room evaluates and blurs", "release.x", "def f(s, t):\n    return getattr(s, 'evaluate')(t)"),
    ("nobody reaches into the room", "methods.x", "def f(room):\n    return room._table"),
    ("only noise draws from entropy", "privacy.mechanisms.x", "import secrets"),
    ("only noise draws from entropy", "privacy.mechanisms.x", "from os import urandom as u\nu(8)"),
    ("only noise draws from entropy", "room", "import random\nr = random.SystemRandom()"),
    ("only noise draws from entropy", "methods.x", "import opendp.prelude as dp"),
    ("choices are drawn with the bits of noise", "privacy.mechanisms.x", "from discreet.privacy import choosing as c\n"
     "c.invert_choice([1], 1.0, f)"),
    ("only mechanisms ask for noise", "release.x", "def f(noise):\n    return noise.discrete_laplace(1.0, 3)"),
    ("nobody imports the predictable noise", "room", "def f():\n    from discreet import testing"),
    ("generators are passed in", "search.x", "import numpy as np\nnp.random.normal(size=3)"),
    ("generators are passed in", "search.x", "from numpy.random import default_rng as g\ng()"),
    ("generators are passed in", "release.x", "import random\nrandom.random()"),
    ("generators are passed in", "release.x", "import numpy as np\nx = np.random.default_rng(0).normal()"),
    ("generators are passed in", "audit.x", "import numpy\nnumpy.random.seed(0)"),
    ("nobody brings a seed", "search.x", "from numpy.random import SeedSequence\nmake = SeedSequence"),
    ("nobody brings a seed", "search.x", "def f(g):\n    return g(seed=3)"),
    ("nobody brings a seed", "privacy.mechanisms.x", "def f(exact, seed):\n    return exact"),
    ("nobody brings a seed", "search.x", "def f(rng):\n    rng.seed(1)"),
    ("no floating point noise", "privacy.mechanisms.x", "def f(x, rng):\n    return x + rng.standard_normal(3)"),
    ("no floating point noise", "privacy.x", "from scipy import stats\nstats.laplace.rvs(scale=2.0)"),
    ("no floating point noise", "room", "from random import gauss as g\ng(0, 1)"),
    ("no generators where noise is made", "privacy.x", "import numpy as np\ndef f(rng: np.random.Generator): ..."),
    ("no generators where noise is made", "privacy.mechanisms.x", "def f(x, rng):\n    return x + rng.geometric(0.5)"),
    ("no generators where noise is made", "room", "import random"),
    ("no noise from hashes or clocks", "privacy.mechanisms.x", "from time import time_ns"),
    ("no noise from hashes or clocks", "privacy.mechanisms.x", "def f(exact):\n    return hash(exact.tobytes())"),
    ("nothing is printed or logged where rows are", "data.x", "import logging.config"),
    ("nothing is printed or logged where rows are", "release.release", "print('x')"),
    ("nothing is printed or logged where rows are", "privacy.x", "from sys import stderr\nstderr.write('x')"),
    ("nothing is printed or logged where rows are", "privacy.mechanisms.x", "import warnings"),
    ("rows are not copied or kept", "data.x", "from copy import deepcopy"),
    ("rows are not copied or kept", "room", "import numpy as np\ndef f(x):\n    np.save('x', x)"),
    ("no cache holds data", "room", "import functools\n@functools.lru_cache(None)\ndef f(x): ..."),
    ("no cache holds data", "statistics.x", "from functools import cache as c\n@c\ndef evaluate(self, table): ..."),
    ("no cache holds data", "data.x", "seen = None\ndef f(x):\n    global seen\n    seen = x"),
    ("no assert guards anything", "room", "def f(x):\n    assert x"),
    ("statistics are total", "statistics.x", "class S:\n    def evaluate(self, table):\n        raise ValueError"),
    ("errors do not quote errors", "data.x", "try:\n    f()\nexcept OSError as e:\n    text = str(e)"),
    ("errors do not quote errors", "room", "try:\n    f()\nexcept OSError:\n    raise KeyError('x')"),
    ("nothing is imported by a name made up at run time", "release.x", "from importlib import import_module as i"),
    ("nothing is imported by a name made up at run time", "release.x", "f = __import__"),
    ("nothing is imported by a name made up at run time", "release.x", "import sys\nsys.modules['discreet.room']"),
    ("nobody reaches into the room", "release.oracles.x", "def f(room):\n    return getattr(room, '_table')"),
    ("nobody reaches into the room", "search.x", "def f(room):\n    return vars(room)['_table']"),
    ("nobody reaches into the room", "release.x", "class A(B):\n    def f(self):\n        return self._table"),
    ("nobody reaches into the room", "release.x", "def f(room):\n    room.budget._spent = 0"),
    ("rows are not copied or kept", "statistics.x", "def f(v):\n    open('seen', 'a').write(str(v))"),
    ("rows are not copied or kept", "privacy.mechanisms.x", "import os"),
    ("rows are not copied or kept", "data.memory", "def f(frame):\n    frame.to_csv('kept')"),
    ("imports say where they lead", "release.x", "from . import room"),
    ("imports say where they lead", "release.x", "from discreet.room import *"),
    ("imports say where they lead", "release.x", "from discreet import Room"),
    ("imports say where they lead", "release.x", "import discreet"),
    ("what is not on the side of the rows has no path to them", "search.x", "def f():\n    import discreet.room as r"),
    ("what is not on the side of the rows has no path to them", "report.x", "from discreet.data import memory"),
    ("what is not on the side of the rows has no path to them", "search.graph", "TYPE_CHECKING = True\n"
     "if TYPE_CHECKING or 1:\n    from discreet.methods.quantile_bins import settle"),
    ("what follows a release draws no privacy noise", "release.x", "from discreet.privacy.noise import ExactNoise"),
    ("what follows a release opens no ledger", "report.x", "from discreet.ledger.ledger import open_ledger"),
    ("what is imported is there", "methods.x", "from discreet.recipes.old import Marginals"),
    ("folders import what the plan allows", "effects", "x = 1"),
    ("folders import what the plan allows", "search.x", "from discreet.release.search import look"),
    ("folders import what the plan allows", "statistics.x", "from discreet.privacy.budget import Cost"),
    ("folders import what the plan allows", "audit.x", "from discreet.report import html"),
    ("exact answers are reached through one door", "release.x", "from discreet.baselines.exact import GTest"),
    ("only the command reaches the auditors", "methods.x", "from discreet.audit import table_of"),
    ("only the command reaches the auditors", "experiments.x", "from discreet.audit import claims"),
    ("only the command reaches the auditors", "audit.replay", "from discreet.audit.broken.code import CODE"),
    ("auditors see made up rows only", "audit.register", "from discreet.data.load import load"),
]  # fmt: skip

INTENDED = {
    "fixed-seed": "generators are passed in",
    "seed-from-rows": "nobody brings a seed",
    "noise-from-a-hash": "no noise from hashes or clocks",
    "one-seed-for-all": "no generators where noise is made",
    "float-laplace": "no floating point noise",
    "float-gaussian": "no floating point noise",
    "own-entropy": "only noise draws from entropy",
    "uncharged-look": "only the room evaluates and blurs",
    "predictable-noise": "nobody imports the predictable noise",
    "asserted-budget": "no assert guards anything",
    "effects-from-rows": "what is not on the side of the rows has no path to them",
    "borrowed-sieve": "exact answers are reached through one door",
    "peeking-oracle": "what is not on the side of the rows has no path to them",
    "diagnostics-beside": "what is not on the side of the rows has no path to them",
    "logged-counts": "nothing is printed or logged where rows are",
    "raising-statistic": "statistics are total",
    "pickled-answers": "rows are not copied or kept",
    "cached-table": "no cache holds data",
    "quoted-datum": "errors do not quote errors",
    "behind-the-charge": "nobody reaches into the room",
    "hidden-import": "nothing is imported by a name made up at run time",
}

ALLOWED = [
    ("audit.register", "from discreet.audit.broken.code import CODE"),
    ("audit.tape", "def f(s, t, m, n):\n    return m.blur(s.evaluate(t), n)"),
    ("audit.blackbox", "import numpy as np\nrng = np.random.default_rng(1)"),
    ("audit.broken.x", "import numpy as np\ndef f(noise):\n    return noise.discrete_laplace(1.0, 3)"),
    ("cli.audit", "from discreet.audit.source import source_finding"),
    ("room", "from scipy import special\nfrom collections.abc import Generator\nspecial.gamma(3.0)\nx: Generator"),
    ("data.x", "try:\n    f()\nexcept OSError as e:\n    raise KeyError(type(e).__name__) from None"),
    ("search.graph", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from discreet.room import Room"),
]

BROKEN = {broken.name: broken for broken in CODE}


def test_every_rule_has_a_reason_and_can_be_broken():
    assert {rule for rule, _, _ in BAD} == set(rules())
    assert all(reason.endswith(".") for reason in rules().values())


@pytest.mark.parametrize(("rule", "module", "text"), BAD)
def test_a_bad_module_is_found(rule, module, text):
    found = check_code(Code(f"discreet.{module}", text))
    assert rule in {breach.rule for breach in found}
    assert {breach.module for breach in found} == {f"discreet.{module}"}


@pytest.mark.parametrize(("module", "text"), ALLOWED)
def test_what_is_allowed_is_not_found(module, text):
    assert not check_code(Code(f"discreet.{module}", text))


def test_the_broken_modules_are_all_known():
    assert len(CODE) == len(BROKEN)
    assert set(BROKEN) == set(INTENDED)
    assert {broken.catcher for broken in CODE} == {"source"}


@pytest.mark.parametrize("name", sorted(INTENDED))
def test_a_broken_module_is_caught_by_the_rule_meant_for_it(name):
    subject = BROKEN[name].subject
    compile(subject.text, name, "exec")
    assert INTENDED[name] in {breach.rule for breach in check_code(subject)}


def mended(name: str, module: str, *changes: tuple[str, str]) -> Code:
    text = BROKEN[name].subject.text
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return Code(f"discreet.{module}", text)


TWINS = {
    "logged-counts": (
        "statistics.logged",
        ("import logging\n", ""),
        ("log = logging.getLogger(__name__)\n", ""),
        ('        log.debug("%s: %s", self.column, counted)\n', ""),
    ),
    "raising-statistic": (
        "statistics.varied",
        ("        if (counted > 0).sum() < 2:\n", ""),
        ('            raise TableError(f"column {self.column!r} is constant")\n', ""),
    ),
    "float-laplace": (
        "privacy.mechanisms.additive",
        ("exact / self.rows", "exact"),
        ("rng.laplace(0.0, self.scale / self.rows, len(exact))", "rng.discrete_laplace(self.scale, len(exact))"),
    ),
    "peeking-oracle": (
        "release.oracles.orienting",
        ("from discreet.room import Room", "from discreet.release.oracles.released import Released as Room"),
        ("self._room._table.counts([(x, y), (x,)])", "self._room.weigh([(x, y, given), (x, x, given)])"),
    ),
    "predictable-noise": (
        "methods.quickly",
        ("from discreet.testing import SeededNoise\n", ""),
        ("    noise = SeededNoise(0)\n", ""),
        ("    noise.__class__.private = property(lambda self: True)\n", ""),
        (", noise=noise", ""),
    ),
    "quoted-datum": (
        "data.numbers",
        ("ValueError as error", "ValueError"),
        ("{error}", "not a number"),
        ("from error", "from None"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(TWINS))
def test_a_sound_twin_is_not_caught(name):
    module, *changes = TWINS[name]
    assert not check_code(mended(name, module, *changes))


def test_a_module_in_place_of_another_is_read_instead_of_it():
    assert not check_code(Code("discreet.room", '"""Empty."""'))


def test_the_auditors_are_not_reached_by_way_of_the_command_either():
    texts = {
        "discreet.cli.audit": "from discreet.audit import source",
        "discreet.data.draft": "import discreet.cli.audit",
    }
    found = breaches(project_trees() | {name: ast.parse(text) for name, text in texts.items()})
    rule = "only the command reaches the auditors"
    assert {b.module for b in found if b.rule == rule} == {"discreet.data.draft"}


def test_what_is_not_python_is_refused():
    with pytest.raises(SettingError, match="not Python"):
        check_code(Code("discreet.room", "def"))
