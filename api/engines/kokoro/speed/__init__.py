"""A loaded model comes in; afterwards it computes the same as fast as the device at hand can. Nothing goes out.

quicken      what is tried on which device
selfcheck    a way is taken only if it sounds the same on the weights that were loaded
likeness     how far two sounds are apart
native/      a CPU: the residual blocks as machine code
cuda/        an NVIDIA GPU: a fused norm, fewer bits, recorded steps
"""

from api.engines.kokoro.speed.likeness import spectral_distance_db
from api.engines.kokoro.speed.quicken import quicken, trial_lines
from api.engines.kokoro.speed.selfcheck import SelfCheck

__all__ = ["SelfCheck", "quicken", "spectral_distance_db", "trial_lines"]
