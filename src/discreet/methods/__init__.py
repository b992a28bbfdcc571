"""Methods: each holds a room, asks it, and hands out a release. One file a method; ``registry`` names them all."""

from discreet.methods.em_pc import EmPC
from discreet.methods.flipped import FlippedSvt, FlippedTopK
from discreet.methods.pcd import Pcd
from discreet.methods.priv_pc import PrivPC
from discreet.methods.svt_pc import SvtPC
from discreet.release.settings import Marginals, Moments

__all__ = ["EmPC", "FlippedSvt", "FlippedTopK", "Marginals", "Moments", "Pcd", "PrivPC", "SvtPC"]
