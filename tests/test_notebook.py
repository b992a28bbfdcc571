"""In a bare Jupyter kernel, without widgets, everything that reads a table works."""

from __future__ import annotations

import importlib.util
import logging

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")

CELL = """
import numpy as np
import discreet as dc

domain = dc.Domain({name: dc.Categorical(categories=("0", "1")) for name in "ab"}, rows=500)
rows = {name: np.array(["0", "1"] * 250) for name in "ab"}
found = dc.discover(rows, domain=domain, epsilon=5.0, progress=dc.Bar())
print(found.graph.skeleton == {frozenset("ab")})
found
"""


@pytest.mark.filterwarnings("default")
def test_a_discovery_in_a_bare_kernel(caplog):
    assert importlib.util.find_spec("ipywidgets") is None, "this test is about kernels without widgets"
    caplog.set_level(logging.CRITICAL)
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELL)])
    nbclient.NotebookClient(book, timeout=120, kernel_name="python3").execute()
    bar, said, shown = book.cells[0].outputs  # one output for the whole run, which is emptied at its end
    assert bar["data"]["text/html"] == "<div></div>"
    assert said["text"] == "True\n"
    assert "<svg" in shown["data"]["text/html"]
