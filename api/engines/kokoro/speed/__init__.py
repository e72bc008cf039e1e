"""A loaded model comes in; afterwards it computes the same as fast as the device at hand can. Nothing goes out.

quicken      what is tried on which device
selfcheck    what is said to try it
snake        a CPU: the residual blocks as machine code (`engines/computing/native`), in fp32 or in int8
cuda/        an NVIDIA GPU: a fused norm, fewer bits, recorded steps
"""

from api.engines.computing.likeness import spectral_distance_db
from api.engines.kokoro.speed.quicken import quicken, trial_lines
from api.engines.kokoro.speed.selfcheck import self_check

__all__ = ["quicken", "self_check", "spectral_distance_db", "trial_lines"]
