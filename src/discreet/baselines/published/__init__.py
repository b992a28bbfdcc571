"""NOT PRIVATE: methods as published, to reproduce what was reported about them.

Priv-PC and SVT-PC: Wang, Pang, Song 2020, by their text or by their code (``reading``). EM-PC: Xu, Yuan, Wu 2017, by
the code of the former. Their noise and their accounting are made again as they are, and promise nothing: see
``REASONS``.
The methods `svt-pc` and `priv-pc` of this library are the repaired ones. Direction of cause by halves (Kusner, Sun,
Sridharan, Weinberger 2016) is in ``direction``.
"""

from discreet.baselines.published.discover import discover_published, pc_without_noise
from discreet.baselines.published.outcome import METHODS, PCD, REASONS, Outcome

__all__ = ["METHODS", "PCD", "REASONS", "Outcome", "discover_published", "pc_without_noise"]
