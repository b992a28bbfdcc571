"""The file of a release: read whole, if it is not too large."""

from __future__ import annotations

from pathlib import Path

from discreet.domain.yaml import MAX_BYTES
from discreet.errors import ReleaseError

MAX_RELEASE_BYTES = 64 * MAX_BYTES


def read_release(path: str | Path) -> str:
    """Return the text of a release file, or say why it cannot be read."""
    if not isinstance(path, str | Path):
        raise ReleaseError("release: the path of a release.json")
    try:
        if Path(path).stat().st_size > MAX_RELEASE_BYTES:
            raise ReleaseError(f"the release file is larger than {MAX_RELEASE_BYTES // 2**20} MiB")
        return Path(path).read_text(encoding="utf-8")
    except (OSError, ValueError):
        hint = "; it is a folder, name the release.json in it" if Path(path).is_dir() else ""
        raise ReleaseError(f"the release file {str(path)!r} cannot be read{hint}") from None
