"""Published mechanisms, statistics and methods that do not keep their promise, made again in small."""

from __future__ import annotations

from discreet.audit.broken import Broken
from discreet.audit.broken.kernels import KERNELS
from discreet.audit.broken.ranks import DISTANCES, RANKS
from discreet.audit.broken.reproduced import REPRODUCED

PUBLISHED: tuple[Broken, ...] = RANKS + DISTANCES + KERNELS + REPRODUCED
