"""`discreet demo`: the main job on bundled data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from discreet.cli.output import quiet_option, say, show, teller

if TYPE_CHECKING:
    from discreet.search.graph import Graph


@click.command()
@click.option("--network", default="asia", show_default=True, help="Bundled network to draw rows from.")
@click.option("--rows", default=100_000, show_default=True, help="Number of rows to draw.")
@click.option("--epsilon", default=1.0, show_default=True, help="Privacy budget of the demo.")
@click.option("--seed", default=0, show_default=True, help="Seed of the drawn rows (never of the privacy noise).")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Folder for the files.  [default: discreet-demo, or the next with a number]",
)
@quiet_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def demo(network: str, rows: int, epsilon: float, seed: int, out: Path | None, as_json: bool) -> None:
    """Run the main job on bundled data: graph, report, privacy statement."""
    import numpy as np

    from discreet.errors import SettingError
    from discreet.methods.discover import discover as run
    from discreet.report import check_folder, free_folder, refuse_release
    from discreet.simulation.networks import network as load_network

    if rows < 1 or seed < 0:
        raise SettingError("rows, seed: rows from 1, seed from 0")
    out = free_folder(Path("discreet-demo")) if out is None else out
    check_folder(out)
    refuse_release(out)
    net = load_network(network)
    say(f"drawing {rows:,} rows of the network {network!r}, as if they were {rows:,} people's records")
    data = net.sample(rows, np.random.default_rng(seed))
    found = run(data, domain=net.domain(rows), epsilon=epsilon, progress=teller())
    show(found, out, as_json)
    if not as_json:
        _compare(found.graph, net.dag)


def _compare(found: Graph, true: Graph) -> None:
    """Say how near a simulated network's graph came to the truth."""
    from discreet.search.graph import skeleton_f1

    right = len(found.skeleton & true.skeleton)
    say(
        f"\nThe network the rows were drawn from has {len(true.skeleton)} edges; {right} of them were found, and "
        f"{len(found.skeleton) - right} that it does not have (F1 {skeleton_f1(found, true):.2f})."
    )
