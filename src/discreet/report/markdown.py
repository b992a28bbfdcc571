"""Text in Markdown: every character stands for itself, whatever a column or a data set is called."""

from __future__ import annotations

import re

from discreet.report.layout import visible

_MARKS = re.compile(r"[\\`*\[\]<>&|$~!{}@]|(?<![^\W_])_|_(?![^\W_])|:(?=//)|(?<=www)\.|^[#+=-]", re.IGNORECASE)
"""What begins markup, a formula or a link; an underscore within a word does not."""


def escape(text: str) -> str:
    """Return a line of text as Markdown: marks as entities, which no reader takes for markup."""
    return _MARKS.sub(lambda mark: f"&#{ord(mark[0])};", visible(text))
