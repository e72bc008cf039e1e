"""What sizes of batches pay on a device."""

from dataclasses import dataclass

import torch


@dataclass(frozen=True, slots=True)
class Pays:
    """More than this in a step makes it longer without making the device do more in a second."""

    read_lines: int
    speak_lines: int
    speak_frames: int


# One line has work enough for all cores, and a second one would only make the first one wait.
ON_A_CPU = Pays(read_lines=8, speak_lines=1, speak_frames=1)
# Not measured: by reckoning, some 20 ms of an H100 at a fifth of what its tensor cores can do.
ON_A_GPU = Pays(read_lines=64, speak_lines=64, speak_frames=6_400)


def pays_on(device: torch.device) -> Pays:
    return ON_A_CPU if device.type == "cpu" else ON_A_GPU
