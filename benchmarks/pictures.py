"""Pictures of reports for the documentation: asia and alarm, 100,000 rows, epsilon 1, as a desktop browser shows them.

python benchmarks/pictures.py [docs/pictures]

Needs the extra `browser` and Chromium or Chrome. The noise is fresh every time, and so is what is found.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright

import discreet as dc

ROWS = 100_000
WIDTHS = {"asia": 900, "alarm": 1280}
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]


def main(folder: Path) -> None:
    """Make the reports and take their pictures."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        sys.exit("no Chromium or Chrome on this machine")
    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as started, tempfile.TemporaryDirectory() as release:
        browser = started.chromium.launch(executable_path=path, args=FLAGS)
        for name, width in WIDTHS.items():
            net = dc.network(name)
            table = net.sample(ROWS, np.random.default_rng(0))
            dc.discover(table, domain=net.domain(ROWS), epsilon=1.0).save(Path(release) / name)
            page = browser.new_page(viewport={"width": width, "height": 1000}, color_scheme="light")
            page.goto((Path(release) / name / "report.html").as_uri())
            out = folder / f"report-{name}.png"
            box = page.locator("main > div").first.bounding_box() or {"y": 0, "height": 1000}
            tall = box["y"] + box["height"] + 24
            page.screenshot(path=out, full_page=True, clip={"x": 0, "y": 0, "width": width, "height": tall})
            print(f"{out}: {out.stat().st_size // 1000} kB")
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/pictures"))
