"""The bundled networks, their reader and their sampler."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.errors import NetworkError
from discreet.simulation.networks import names, network, read_bif

SIZES = {
    "alarm": (37, 46),
    "asia": (8, 8),
    "cancer": (5, 4),
    "child": (20, 25),
    "earthquake": (5, 4),
    "sachs": (11, 17),
    "survey": (6, 6),
}

SMALL = """
network test { property author nobody; }
variable a { type discrete [ 2 ] { yes, no }; }
variable b { type discrete [ 3 ] { x, y, z }; } // a comment
probability ( a ) { table 0.25, 0.75; }
probability ( b | a ) {
  (no) 0.2, 0.3, 0.5;
  (yes) 1.0, 0.0, 0.0;
}
"""


def test_all_seven_are_there():
    assert {n: (len(network(n).nodes), len(network(n).dag.directed)) for n in names()} == SIZES


def test_a_small_file(tmp_path):
    (tmp_path / "small.bif").write_text(SMALL)
    small = read_bif(tmp_path / "small.bif")
    assert small.nodes["b"].table.tolist() == [[1, 0, 0], [0.2, 0.3, 0.5]]
    assert small.dag.directed == {("a", "b")}
    assert small.domain(7)["b"].levels == ("x", "y", "z")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[ 3 ]", "[ 2 ]"),
        ("probability ( a ) { table 0.25, 0.75; }", ""),
        ("0.25, 0.75", "0.25, 0.25"),
        ("0.25, 0.75", "0.25"),
        ("0.25, 0.75", "0.25, x"),
        ("(no)", "(maybe)"),
        ("( b | a )", "( b | c )"),
        ("(no) 0.2, 0.3, 0.5;", ""),
        ("variable", "varible"),
    ],
)
def test_damaged_files_are_refused(tmp_path, old, new):
    (tmp_path / "bad.bif").write_text(SMALL.replace(old, new))
    with pytest.raises(NetworkError):
        read_bif(tmp_path / "bad.bif")


def test_cycles_and_unknown_names_are_refused(tmp_path):
    with pytest.raises(NetworkError, match="asia"):
        network("nowhere")
    two = SMALL.replace("probability ( a ) { table 0.25, 0.75; }", "probability ( a | b ) { default 0.5, 0.5; }")
    (tmp_path / "cycle.bif").write_text(two)
    with pytest.raises(NetworkError, match="cycle"):
        read_bif(tmp_path / "cycle.bif").sample_codes(5, np.random.default_rng(0))


@pytest.mark.parametrize("name", sorted(SIZES))
def test_samples_follow_the_tables(name):
    """Every conditional frequency lies within 6 standard errors of its probability."""
    rows = 50_000
    net = network(name)
    codes = net.sample_codes(rows, np.random.default_rng(4))
    for node_name, node in net.nodes.items():
        at = np.zeros(rows, dtype=int)
        for parent in node.parents:
            at = at * len(net.nodes[parent].levels) + codes[parent]
        for config in range(len(node.table)):
            here = codes[node_name][at == config]
            p = node.table[config]
            expected, seen = len(here) * p, np.bincount(here, minlength=len(p))
            assert np.all(np.abs(seen - expected) <= 6 * np.sqrt(expected * (1 - p)) + 3)


def test_labels_and_codes_agree():
    net = network("survey")
    codes = net.sample_codes(100, np.random.default_rng(1))
    labels = net.sample(100, np.random.default_rng(1))
    assert list(labels) == list(net.nodes)
    for name, node in net.nodes.items():
        assert [node.levels[c] for c in codes[name]] == labels[name].tolist()


def test_networks_are_drawn_by_name():
    for name in ("drawn:12:3", "skew:12:3"):
        one, again = network(name), network(name)
        assert len(one.nodes) == 12
        for node, same in zip(one.nodes.values(), again.nodes.values(), strict=True):
            assert node.parents == same.parents
            np.testing.assert_array_equal(node.table, same.table)
            np.testing.assert_allclose(node.table.sum(axis=1), 1)
    for wrong in ("drawn:x", "skew:1:0", "skew:5", "skew:5:-1"):
        with pytest.raises(NetworkError):
            network(wrong)


def test_skewed_networks_have_common_levels():
    codes = network("skew:40:1").sample_codes(20_000, np.random.default_rng(0))
    common = [np.bincount(code).max() / len(code) for code in codes.values()]
    even = network("drawn:40:1").sample_codes(20_000, np.random.default_rng(0))
    assert np.median(common) > 0.8 > np.median([np.bincount(code).max() / len(code) for code in even.values()])
